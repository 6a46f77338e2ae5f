"""iRBP: figure 25 is its normal phase, what that needs of figure 25, and the chapter on what is repaired."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.refinement import PROPERTY
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.claims import claim_of
from antiphon.spec.lang import program
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.irbp.refinement import Figure25Normal
from antiphon.spec.refinement import refinement_stated_by

reports = Reports.private()
"""What this code has explored before is read."""

PAIR: dict[str, Any] = {
    "processes": 2, "messages": 2, "losses": 1, "crashes": 1, "passes": 2, "highest": 5, "numbers": 5,
    "unlimited": True, "urgent": True, "assigned": True, "patient": True,
}  # fmt: skip
RING: dict[str, Any] = PAIR | {
    "processes": 3, "messages": 1, "losses": 0, "crashes": 0, "passes": 3,
}  # fmt: skip


def refine(*without: str, **constants: Any) -> Report:
    """Figure 25 with all repairs but these, seen as the normal phase."""
    refinement = refinement_stated_by(Figure25Normal)
    assert refinement is not None
    bound = program(Figure25Normal, repairs="all", without=without, **constants)
    return reports.check_refinement(bound, refinement)


def test_figure_25_with_its_repairs_is_the_normal_phase() -> None:
    report = refine(**PAIR)
    assert report[PROPERTY].outcome is Outcome.HOLDS
    assert report.exploration.complete
    steps = ("broadcast", "receive", "hear", "pass_null", "sequence", "settle", "deliver", "crash")
    assert all(f"{action} " in report.notes[0] for action in steps)


@pytest.mark.parametrize(
    ("without", "constants", "length", "guard"),
    [
        ("await_all_bodies", RING, 27, "self.holds_token(p)"),
        ("leave_after_reformation", PAIR | {"suspicions": 1}, 12, "self.holds_token(p)"),
    ],
)
def test_without_a_repair_figure_25_is_no_such_phase(
    without: str, constants: dict[str, Any], length: int, guard: str
) -> None:
    verdict = refine(without, **constants)[PROPERTY]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert (len(verdict.trace), guard in verdict.reason) == (length, True)


def test_the_chapter_for_implementers_names_every_repair_and_claims_that_exist() -> None:
    page = (Path(__file__).parents[2] / "docs" / "irbp-repaired.md").read_text(encoding="utf-8")
    answers = {
        item.name: item.repair.answers for item in program(IrbpChecked).declaration.constants if item.repair
    }
    changes = {
        row.split("|")[2].strip(" `"): row.split("|")[4].strip()
        for row in page.splitlines()
        if "| IRB-" in row
    }
    assert changes == answers
    for name in answers:
        assert f"\n| `{name}` |" in page, f"{name} left out"
    for claim in re.findall(r"IRB-\d\d", page):
        assert claim_of(claim).id == claim
