"""SEQUENCER and TOTAL on lists, message by message, with which their cores are walked, keep what figure 32
keeps.
"""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Spec, program
from antiphon.spec.protocols.irbp.normal_phase import LastNumber
from antiphon.spec.protocols.sequencer.on_lists import SequencerOnListsChecked
from antiphon.spec.protocols.total.on_lists import TotalOnListsChecked
from antiphon.spec.services import Process

check = Reports.private().check

TWO: dict[str, Any] = {
    "processes": 2, "messages": 2, "highest": 2, "crashes": 0, "false_suspicions": 1, "views": 2,
}  # fmt: skip
CRASH: dict[str, Any] = {**TWO, "processes": 3, "messages": 1, "highest": 1, "crashes": 1} | {
    "false_suspicions": 0, "detected_at_once": True,
}  # fmt: skip

SAFETY = (
    "UniformPrefixOrder", "UniformTotalOrder", "UniformIntegrity", "BroadcastOnce", "ViewAgreement",
    "ViewSynchrony", "SendingViewDelivery", "SameViewDelivery", "PrimaryPartition", "MajorityInList",
    "OldBuffersEmpty", "SentIsSent", "DeliveredIsEverywhere",
)  # fmt: skip
ENDS = ("Agreement", "UniformAgreement", "ViewChangesEnd")
WITNESSES = ("StableByAcknowledgements", "StableByDecision", "AllDelivered")


@pytest.mark.deep
@pytest.mark.parametrize("spec", [SequencerOnListsChecked, TotalOnListsChecked])
@pytest.mark.parametrize("constants", [TWO, CRASH])
def test_it_keeps_what_figure_32_keeps(spec: type[Spec], constants: dict[str, Any]) -> None:
    bound = program(spec, repairs="all", assigned=True, **constants)
    report = check(bound, properties=(*SAFETY, *ENDS, *WITNESSES), engine="native")
    for name in (*SAFETY, *ENDS, *WITNESSES):
        assert report[name].outcome is Outcome.HOLDS, name


class Hasty(SequencerOnListsChecked):
    """The coordinator takes for stable what one other member has."""

    def all_have(self, p: Process) -> LastNumber:
        """Return the number up to which one other member has everything."""
        return max((self.acknowledged[p][q] for q in self.token_list(p) if q != p), default=0)


@pytest.mark.deep
def test_what_one_has_delivered_and_not_all_have_is_not_everywhere() -> None:
    bound = program(Hasty, repairs="all", assigned=True, **CRASH)
    report = check(bound, properties=("DeliveredIsEverywhere",), engine="native")
    assert report["DeliveredIsEverywhere"].outcome is Outcome.VIOLATED
