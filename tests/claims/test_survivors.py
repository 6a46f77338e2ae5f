"""A reason why no check notices a mutant is about a mutant that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from antiphon.conformance.ledger import program_of
from antiphon.conformance.ledger.strength import held, is_text
from antiphon.model.mutation import mutants_of
from antiphon.spec.claims import all_claims
from antiphon.spec.claims.survivors import REASONS, reason_of
from antiphon.spec.lang import Program


def programs_with(owner: str) -> Iterator[Program]:
    """The programs of the ledger's checks that hold, of which a class of this name is a part."""
    for _, check in held(all_claims()):
        if any(part.__name__ == owner for part in check.spec.__mro__):
            yield program_of(check)


@pytest.mark.parametrize("named", REASONS)
def test_the_mutant_of_a_reason_is_one_of_a_program_in_the_ledger(named: str) -> None:
    owner = named.partition(".")[0]
    found = (
        str(mutant)
        for program in programs_with(owner)
        for mutant in mutants_of(program, lambda part: is_text(part) or part.__name__ == owner)
    )
    assert any(reason_of(name) == REASONS[named] for name in found if name.startswith(f"{owner}."))


def test_the_line_of_a_mutant_is_no_part_of_its_name() -> None:
    named, reason = next(iter(REASONS.items()))
    assert reason_of(re.sub(": ", ", line 7: ", named, count=1)) == reason
    assert reason_of(named.replace("dropped", "moved").replace("shifted", "moved")) == ""
