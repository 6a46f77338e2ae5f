"""Figures 32 and 34 message by message, with which members are walked, keep order and view synchrony."""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.irbp.two_views_by_message import Choice, TwoViewsByMessageChecked
from antiphon.spec.services import Process

check = Reports.private().check

TWO: dict[str, Any] = {"processes": 2, "messages": 1, "highest": 4, "crashes": 0, "false_suspicions": 1}
OUTSIDE: dict[str, Any] = {
    "processes": 3, "messages": 1, "highest": 3, "crashes": 1, "false_suspicions": 0, "outside": 1,
    "nobody_given_up": True,
}  # fmt: skip

SAFETY = (
    "UniformPrefixOrder", "UniformTotalOrder", "UniformIntegrity", "BroadcastOnce", "ViewAgreement",
    "ViewSynchrony", "SameViewDelivery", "PrimaryPartition", "MajorityInList", "FreshNumber",
    "OldBuffersEmpty", "SentIsSent",
)  # fmt: skip
WITNESSES = ("ExternalLives", "ExternalReturns", "OfferTaken", "StableByDecision")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("constants", "states", "reached"),
    [(TWO, 1_014, {"StableByDecision"}), (OUTSIDE, 92_810, set(WITNESSES))],
)
def test_it_keeps_order_and_view_synchrony(
    constants: dict[str, Any], states: int, reached: set[str]
) -> None:
    bound = program(TwoViewsByMessageChecked, repairs="all", assigned=True, views=2, **constants)
    report = check(bound, properties=(*SAFETY, *WITNESSES), engine="native")
    assert report.exploration.states == states
    for name in (*SAFETY, *reached):
        assert report[name].outcome is Outcome.HOLDS, name


class Silent(TwoViewsByMessageChecked):
    """Step 6 is left out: what was agreed is not delivered."""

    def deliver_agreed(self, p: Process, decided: Choice) -> None:
        """Go on as if all were delivered."""
        self.last_delivered[p] = decided.settled


@pytest.mark.deep
def test_a_list_that_begins_before_its_messages_are_delivered_breaks_view_synchrony() -> None:
    bound = program(Silent, repairs="all", assigned=True, views=2, misjudgements=1, **TWO)
    report = check(bound, properties=("ViewSynchrony",), engine="native")
    assert report["ViewSynchrony"].outcome is Outcome.VIOLATED
