"""The smallest machine of total order broadcast has its properties, and each of its faults breaks its own."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.services.sequence import SequenceChecked

check = Reports.private().check
"""What this code has explored before is read."""

ORDER = {"TotalOrder", "UniformTotalOrder", "PrefixOrder", "UniformPrefixOrder"}


def broken(**faults: bool) -> set[str]:
    report = check(program(SequenceChecked, processes=3, messages=2, **faults))
    return {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS}


def test_the_machine_gives_every_property() -> None:
    assert broken() == set()


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ("backwards", ORDER),
        ("again", {"Integrity", "UniformIntegrity"}),
        ("passed_over", {"Agreement", "UniformAgreement"}),
        ("not_accepted", {"Validity"}),
        ("taken_to_the_grave", {"UniformAgreement"}),
    ],
)
def test_a_fault_breaks_one_property_and_what_it_implies(fault: str, names: set[str]) -> None:
    assert broken(**{fault: True}) == names
