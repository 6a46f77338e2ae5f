"""Each line of a document serves some check of its claim: without the line that check is refuted."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import program_of
from antiphon.conformance.ledger.strength import is_text
from antiphon.model.mutation import Mutant, Trial, mutants_of
from antiphon.spec.claims import Check, claim_of

LINES = [
    ("RBC-01", "UniformAgreement", "Figure2.send_to_all", "update left out: `self.network"),
    ("RBC-01", "UniformAgreement", "Figure2.send_to_all", "guard negated"),
    ("RBC-01", "UniformAgreement", "Figure2.receive_data", "never happens"),
    ("RBC-01", "UniformAgreement", "Figure2.receive_data", "handler silent"),
    ("RBC-01", "UniformAgreement", "Figure2.receive_data", "field ignored"),
    ("RBC-01", "UniformIntegrity", "Figure2.receive_data", "update left out: `self.network"),
    ("RBC-01", "UniformAgreement", "Figure2.receive_data", "update left out: `self.take_in"),
    ("RBC-01", "UniformIntegrity", "Figure2.receive_token", "guard dropped: `missing in self.listed`"),
    ("MSQ-01", "AllDelivered", "MovingSequencer.misses_number", "guard dropped"),
    ("MSQ-02", "UniformPrefixOrder", "AwaitBody.may_deliver", "guard dropped: `m in self.received"),
    ("MSQ-02", "Validity", "MovingSequencer.receive_sent", "field ignored: `packet.message`"),
    ("MSQ-02", "NothingInFlight", "MovingSequencer.receive_notice", "update left out: `self.network -="),
    ("MSQ-06", "UniformAgreement", "MovingSequencer.receive_request", "handler silent"),
    ("MSQ-09", "UniformAgreement", "MovingSequencer.sequence", "guard negated: `q != p`"),
    ("MSQ-10", "AllDelivered", "RecordingWhenMissing.record_number", "update left out"),
    ("SEQ-06", "UniqueTags", "Sequencer.send", "update left out: `self.last_number"),
    ("SEQ-17", "UniformIntegrity", "SequencerCopy.send", "update left out: `emit(Broadcast"),
    ("TOT-03", "OneSequencer", "Total.next_of_view", "guard dropped: `self.first_listed"),
    ("TOT-03", "OneSequencer", "Total.change_view", "guard dropped: `is_new`"),
    ("HOR-09", "VirtualSynchrony", "Total.send_numbered", "update left out: `emit(GroupCast"),
    ("HOR-09", "SameView", "Total.broadcast", "guard dropped: `not self.flushed"),
    ("HOR-12", "WhoWaitsSends", "Total.pass_token", "never happens"),
    ("HOR-12", "WhoWaitsSends", "OracleByRank.is_chosen", "guard negated: `q == "),
    ("X-10", "AllDelivered", "BroadcastMachine.deliver", "never happens"),
    ("X-10", "AllDelivered", "BroadcastMachine.deliver", "update left out: `emit(Deliver"),
    ("X-10", "BroadcastOnce", "BroadcastMachine.submit", "guard dropped"),
    ("X-10", "AllDelivered", "OrderingMachine.enter", "guard negated: `not self.gone"),
]
"""A claim, a property that some of its checks hold, the place of a change, and the change."""


@pytest.mark.sampled(20)
@pytest.mark.parametrize(
    ("name", "property", "place", "change"), LINES, ids=[" ".join(case) for case in LINES]
)
def test_a_line_that_is_changed_breaks_a_check_that_holds(
    name: str, property: str, place: str, change: str
) -> None:
    recorded = [item for item in claim_of(name).checks if isinstance(item, Check) and not item.deep]
    asked = [item for item in recorded if item.outcome == "holds" and item.property == property]
    assert any(breaks(item, place, change) for item in asked)


def breaks(recorded: Check, place: str, change: str) -> bool:
    """Return True if the change is one of the check's program, and breaks the check."""
    bound = program_of(recorded)

    def is_meant(mutant: Mutant) -> bool:
        return mutant.place.startswith(f"{place},") and str(mutant.change).startswith(change)

    def is_written(part: type) -> bool:
        return is_text(part) or part.__module__ == bound.spec.__module__

    found = [mutant for mutant in mutants_of(bound, is_written) if is_meant(mutant)]
    return any(
        recorded.property in Trial(bound, [recorded.property]).ask(mutant).broken for mutant in found
    )
