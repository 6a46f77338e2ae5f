"""Figure 29 message by message, with which an implementation is walked, keeps what figure 29 keeps."""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Set, program
from antiphon.spec.protocols.vsc.by_message import VscByMessageChecked
from antiphon.spec.services.events import Message, Process

check = Reports.private().check

TWO: dict[str, Any] = {"processes": 2, "messages": 2, "crashes": 0, "false_suspicions": 1}
CRASH: dict[str, Any] = {"processes": 3, "messages": 1, "crashes": 1, "false_suspicions": 0}
BOTH: dict[str, Any] = {**CRASH, "messages": 2}
WRONG: dict[str, Any] = {**CRASH, "crashes": 0, "false_suspicions": 1}

PROMISES = (
    "ViewAgreement", "SelfInclusion", "LocalMonotonicity", "SendingViewDelivery", "SameViewDelivery",
    "ViewSynchrony", "BroadcastOnce", "UniformIntegrity", "InitialView", "PrimaryPartition", "VscTermination",
)  # fmt: skip
WITNESSES = ("SecondView", "LeftOut", "DeliveredByDecision", "Stabilised", "SentLater")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("constants", "states", "reached"),
    [
        (TWO, 2_025, {"SecondView", "DeliveredByDecision", "Stabilised"}),
        (CRASH, 2_676, {"SecondView", "DeliveredByDecision", "Stabilised", "SentLater"}),
        pytest.param(BOTH, 31_934, {"DeliveredByDecision", "SentLater"}, marks=pytest.mark.deep),
        pytest.param(WRONG, 90_104, {"LeftOut", "DeliveredByDecision"}, marks=pytest.mark.deep),
    ],
)
def test_it_keeps_what_figure_29_keeps(constants: dict[str, Any], states: int, reached: set[str]) -> None:
    bound = program(VscByMessageChecked, repairs="all", assigned=True, **constants)
    report = check(bound, properties=(*PROMISES, *WITNESSES), engine="native")
    assert report.exploration.states == states
    for name in (*PROMISES, *reached):
        assert report[name].outcome is Outcome.HOLDS, name


class Forgetful(VscByMessageChecked):
    """Msg leaves out what one process has received."""

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Message]:
        """Keep the messages of all that are heard."""
        whole = super().messages_of(p, heard)
        return Set(m for m in whole if all(self.is_in_set(p, q, m) for q in heard))


@pytest.mark.deep
def test_msg_that_leaves_out_what_one_has_breaks_view_synchrony() -> None:
    bound = program(Forgetful, repairs="all", assigned=True, **CRASH)
    report = check(bound, properties=("ViewSynchrony",), engine="native")
    assert report["ViewSynchrony"].outcome is Outcome.VIOLATED
