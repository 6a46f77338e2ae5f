"""The causal machine keeps FIFO and causal order; each fault breaks one of them, and what that implies."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.services.causal_machine import CausalChecked

check = Reports.private().check
"""What this code has explored before is read."""

ORDER = ("Fifo", "Causal", "ReliableFifo", "ReliableCausal")


def broken(messages: int = 2, **faults: bool) -> set[str]:
    report = check(
        program(CausalChecked, processes=3, messages=messages, views=1, **faults),
        properties=[*ORDER, "Chain"],
    )
    return {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}


def test_the_machine_keeps_every_order() -> None:
    assert broken() == set()


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ("own_sender_only", {"Causal", "ReliableCausal"}),
        ("unordered", set(ORDER)),
        ("with_gaps", {"ReliableFifo", "ReliableCausal"}),
        ("gaps_between_senders", {"ReliableCausal"}),
    ],
)
def test_a_fault_breaks_one_order_and_what_it_implies(fault: str, names: set[str]) -> None:
    assert broken(**{fault: True}) == names
