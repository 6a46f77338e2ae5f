"""Figure 32 message by message, with which an implementation is walked, is figure 32."""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.refinement import check_refinement
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.irbp.by_message import IrbpByMessageChecked
from antiphon.spec.protocols.irbp.by_message_refinement import IRBP_BY_MESSAGE, Mapped
from antiphon.spec.refinement import Refinement
from antiphon.spec.services import Process

check = Reports.private().check

QUIET: dict[str, Any] = {"processes": 3, "messages": 0, "highest": 2, "crashes": 1, "false_suspicions": 0}
TWO: dict[str, Any] = {"processes": 2, "messages": 1, "highest": 4, "crashes": 0, "false_suspicions": 1}
CRASH: dict[str, Any] = {**QUIET, "messages": 1, "highest": 4, "detected_at_once": True}
WRONG: dict[str, Any] = {**CRASH, "crashes": 0, "false_suspicions": 1, "detected_at_once": False}

SAFETY = (
    "UniformPrefixOrder", "UniformTotalOrder", "UniformIntegrity", "BroadcastOnce", "ViewAgreement",
    "ViewSynchrony", "SendingViewDelivery", "SameViewDelivery", "PrimaryPartition", "MajorityInList",
    "FreshNumber", "OldBuffersEmpty", "SentIsSent",
)  # fmt: skip
ENDS = ("Agreement", "UniformAgreement", "ViewChangesEnd")
WITNESSES = ("ExcludedLives", "SequencedLater", "StableByDecision", "AllDelivered")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("constants", "states", "reached"),
    [
        (TWO, 1_032, {"StableByDecision", "SequencedLater"}),
        pytest.param(CRASH, 3_860, {"StableByDecision", "AllDelivered"}, marks=pytest.mark.deep),
        pytest.param(WRONG, 289_212, {"ExcludedLives", "StableByDecision"}, marks=pytest.mark.deep),
    ],
)
def test_it_keeps_what_figure_32_keeps(constants: dict[str, Any], states: int, reached: set[str]) -> None:
    bound = program(IrbpByMessageChecked, repairs="all", assigned=True, views=2, **constants)
    report = check(bound, properties=(*SAFETY, *ENDS, *WITNESSES), engine="native")
    assert report.exploration.states == states
    for name in (*SAFETY, *ENDS, *reached):
        assert report[name].outcome is Outcome.HOLDS, name


def refined(refinement: Refinement, **constants: Any) -> Outcome:
    """Return the verdict on each transition being a step, or some steps, of figure 32."""
    spec = refinement.concrete
    bound = program(spec, repairs="all", assigned=True, announced=True, views=2, **constants)
    return check_refinement(bound, refinement)["Refinement"].outcome


@pytest.mark.deep
@pytest.mark.parametrize(
    "constants",
    [
        TWO,
        {**QUIET, "detected_at_once": True},
        pytest.param(CRASH, marks=pytest.mark.deep),
        pytest.param({**TWO, "messages": 2, "highest": 5}, marks=pytest.mark.deep),
        pytest.param({**WRONG, "highest": 3}, marks=pytest.mark.deep),
    ],
)
def test_each_of_its_steps_is_one_of_figure_32_or_some_in_a_row(constants: dict[str, Any]) -> None:
    assert refined(IRBP_BY_MESSAGE, **constants) is Outcome.HOLDS


class Silent(Mapped):
    """Step 6 is left out: what was agreed is not delivered."""

    def deliver_all(self, p: Process) -> None:
        """Skip the delivery."""


@pytest.mark.deep
def test_a_list_that_is_installed_before_its_messages_are_delivered_is_not_figure_32() -> None:
    silent = Refinement(Silent, IRBP_BY_MESSAGE.abstract, explain=IRBP_BY_MESSAGE.explain)
    assert refined(silent, **TWO) is Outcome.VIOLATED
