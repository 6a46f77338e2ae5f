"""The mutants' answers are kept as data; the page is rendered from them, and nothing reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from antiphon.conformance.ledger.strength import (
    FamilyStrength,
    GuardTally,
    Section,
    Strength,
    Survivor,
    Tally,
    UnnoticedGuard,
    document,
    page,
    strength,
)
from antiphon.conformance.ledger.strength.results import verdict_of
from antiphon.spec.claims import Check, Claim, claim_of
from antiphon.spec.lang import Between, Spec, action, invariant, require

DOCS = Path(__file__).parents[2] / "docs"
DATA = DOCS / "ledger-strength.json"


class Stairs(Spec):
    """Stairs of three steps that are climbed."""

    height: Annotated[int, Between(0, 3)] = 0

    @action
    def climb(self) -> None:
        """One step up."""
        require(self.height < 2)
        self.height += 1

    @invariant
    def BelowTheTop(self) -> bool:
        """Height below three: the climb never reaches the top."""
        return self.height < 3

    @invariant
    def NotNegative(self) -> bool:
        """Height at least zero."""
        return self.height * self.height >= self.height


def claim(*checks: Check) -> Claim:
    """A record with these checks."""
    return replace(claim_of("MSQ-01"), checks=checks)


QUICK = Check(Stairs, "BelowTheTop", "holds")
OTHER = Check(Stairs, "NotNegative", "holds")


def section_of(claims: Claim, found: FamilyStrength | None = None) -> Section:
    return Section(document.digest([claims]), found or strength([claims]))


def row(**counts: int | str) -> Strength:
    whole = {"claim": "X-1", "property": "P", "program": "Q, literal; ", "verdict": "holds"} | counts
    return msgspec.convert(whole, Strength)


EVERYTHING = FamilyStrength(
    family="msq",
    sample=6,
    seed=7,
    left_out=1_200,
    tally=Tally(tried=9, seen=3, killed=2, survivors=[Survivor("A.b, line 3: a \u201cguard\u201d | and", 2)]),
    checks=(row(touch=3, **{"break": 1}, keep=2, by="A.b: gone"), row(verdict="refused: nothing")),
    guards=GuardTally(
        changes=2,
        noticed=1,
        unnoticed=(
            UnnoticedGuard(
                mutant="A.c | d", file="a.py", cited="Line 1", same=True, to_the_end=1, programs=2
            ),
        ),
    ),
)
"""A value in every field."""


def test_the_page_is_what_the_data_render() -> None:
    """`antiphon claims --mutants --write docs/ledger-strength.json` renders it anew, whatever is stale."""
    sections = document.read(DATA)
    assert len(sections) == 15
    assert DATA.with_suffix(".md").read_text(encoding="utf-8") == page.page(sections)
    assert DATA.read_text(encoding="utf-8") == document.encoded(sections)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "strength.json"
    assert document.read(file) == {}
    sections = {"msq": Section("0" * 64, EVERYTHING), "rbc": Section("1" * 64, strength([claim(QUICK)]))}
    file.write_text(document.encoded(sections), encoding="utf-8")
    assert document.read(file) == sections


def test_a_row_of_the_data_is_a_line() -> None:
    lines = document.encoded({"msq": Section("0" * 64, EVERYTHING)}).splitlines()
    rows = [line.strip().rstrip(",") for line in lines if line.startswith("    {")]
    assert [msgspec.json.decode(line, type=Strength) for line in rows[:2]] == list(EVERYTHING.checks)


def test_what_is_no_such_document_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "strength.json"
    file.write_text('{"msq": {"digest": "0"}}')
    with pytest.raises(msgspec.DecodeError, match="strength"):
        document.read(file)


def test_a_count_has_one_name_in_code_data_and_page() -> None:
    (header,) = [line for line in page.section(EVERYTHING).splitlines() if line.startswith("| claim |")]
    columns = header.strip("| ").split(" | ")
    assert columns == list(msgspec.to_builtins(EVERYTHING.checks[0]))
    assert columns == [name.rstrip("_") for name in Strength.__struct_fields__]
    assert set(page.COUNTS) < set(columns)


def test_the_page_has_every_row_with_its_mutants_by_number() -> None:
    text = page.section(EVERYTHING)
    assert "| X-1 | P | Q, literal;  | 3 | 1 | 2 | 0 | 0 | 0 | 1 | holds |\n" in text
    assert "| X-1 | P | Q, literal;  |  |  |  |  |  |  |  | **refused: nothing** |\n" in text
    assert "\n1. A.b: gone\n" in text
    assert "2 checks asked: 1 can fail, 0 cannot, 0 undecided, 1 refused; 9 mutants: 3 can be seen" in text
    assert "Asked of 6 mutants a program (seed 7); 1,200 checks left out." in text
    assert "| A.c \\| d | Line 1 | the same | 1 of 2 |  |" in text
    assert "**No reason.**" in text


@pytest.mark.parametrize(
    ("touch", "breaking", "left", "trivial", "verdict"),
    [
        (3, 1, 2, "", "holds"),
        (0, 1, 0, "", "holds"),
        (3, 0, 2, "", "unknown: undecided"),
        (0, 0, 2, "", "unknown: undecided"),
        (3, 0, 0, "", "unknown: cannot fail"),
        (0, 0, 0, "", "unknown: no mutant touches it"),
        (0, 0, 0, "it is so", "refused: it is so"),
    ],
)
def test_a_check_holds_only_if_a_mutant_breaks_it(
    touch: int, breaking: int, left: int, trivial: str, verdict: str
) -> None:
    assert verdict_of(touch=touch, breaking=breaking, left=left, trivial=trivial) == verdict


# Stale sections ---------------------------------------------------------------------------------------------


def test_a_section_is_stale_where_the_records_or_the_specification_changed() -> None:
    section = section_of(claim(QUICK))
    assert not document.is_stale(section, [claim(QUICK)])
    assert document.is_stale(None, [claim(QUICK)])
    assert document.is_stale(section, [claim(QUICK, OTHER)])
    assert document.is_stale(section, [claim(OTHER)])
    assert document.is_stale(section, [replace(claim(QUICK), id="MSQ-02")])


def test_a_check_that_becomes_deep_makes_no_section_stale() -> None:
    """A mutant that breaks it breaks it still."""
    later = replace(QUICK, deep=True)
    section = section_of(claim(QUICK, OTHER))
    assert [item.property for item in section.strength.checks] == ["BelowTheTop", "NotNegative"]
    assert not document.is_stale(section, [claim(later, OTHER)])


@pytest.mark.deep
def test_a_deep_check_that_becomes_quick_makes_a_section_stale_that_left_it_out() -> None:
    earlier = claim(replace(QUICK, deep=True), OTHER)
    without, whole = section_of(earlier), section_of(earlier, strength([earlier], deep=True))
    assert (without.strength.left_out, whole.strength.left_out) == (1, 0)
    assert not document.is_stale(without, [earlier])
    assert document.is_stale(without, [claim(QUICK, OTHER)])
    assert not document.is_stale(whole, [claim(QUICK, OTHER)])
