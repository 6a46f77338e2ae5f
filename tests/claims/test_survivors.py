"""A reason why no check notices a mutant is about a mutant that there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields

import pytest

from antiphon.conformance.ledger import program_of
from antiphon.conformance.ledger.strength import checks_that_hold, is_text
from antiphon.model.mutation import mutants_of
from antiphon.model.refinement import check_refinement
from antiphon.model.verdict import Outcome
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import all_claims
from antiphon.spec.claims.survivors import REASONS, reason_of
from antiphon.spec.lang import Program, program
from antiphon.spec.lang.variants import offered
from antiphon.spec.protocols.rbp.refinement import RbpOrdering
from antiphon.spec.refinement import Refinement


def programs_with(owner: str) -> Iterator[Program]:
    """The programs of the ledger's checks that hold, of which a class of this name is a part, or a repair."""
    for _, check in checks_that_hold(all_claims()):
        if any(part.__name__ == owner for part in (*check.spec.__mro__, *offered(check.spec).repairs)):
            yield program_of(check)


@pytest.mark.sampled(3)
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


class _Mutated(Refinement):
    """A refinement whose abstract machine has another text."""

    def bind(self, bound: Program) -> tuple[Program, Program]:
        """The protocol, and the machine in which no number stands for no message."""
        protocol, machine = super().bind(bound)
        named = "OrderingMachine.assign: alternative dropped: `item.message is None`"
        changes = mutants_of(machine, lambda part: part.__name__ == "OrderingMachine")
        return protocol, next(item for item in changes if item.name == named).of(machine)


def test_the_reason_about_numbers_of_no_message_is_what_rbp_needs() -> None:
    stated = refinement_of(RbpOrdering)
    assert stated is not None
    mutated = _Mutated(**{item.name: getattr(stated, item.name) for item in fields(stated)})
    bound = program(RbpOrdering, repairs="all", processes=2, messages=1)
    (verdict,) = check_refinement(bound, mutated).verdicts
    assert verdict.outcome is Outcome.VIOLATED
    assert "assign(Assigned(1, 1, none)) is not enabled" in verdict.reason
