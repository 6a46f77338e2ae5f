"""Faults do what they say, within their budgets: a loss removes, a duplicate arrives twice, a crashed process
takes no step.
"""

from __future__ import annotations

from typing import Annotated, Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.explore import state_graph
from antiphon.model.trace import ReplayError, replay
from antiphon.model.verdict import Outcome
from antiphon.spec.environment import Crashes, Duplications, Losses
from antiphon.spec.lang import (
    Between,
    In,
    Map,
    Spec,
    Step,
    action,
    emit,
    everywhere,
    invariant,
    program,
    record,
    require,
    witness,
)
from antiphon.spec.protocols.rbp.figure16 import Ack, Packet
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process, ReliableBroadcast

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


@record
class Note:
    """A message on its way."""

    to: Process
    message: Message


class Post(Group):
    """Each message is sent once, to everybody; whoever receives it delivers it."""

    broadcasts: Annotated[int, Between(0, "messages")] = 0
    arrivals: Map[Process, Map[Message, Annotated[int, Between(0, 4)]]] = everywhere(everywhere(0))

    @witness
    def Twice(self) -> bool:
        """Some message arrived twice."""
        return any(self.arrivals[p][m] == 2 for p in self.each(Process) for m in self.each(Message))

    @witness
    def Everywhere(self) -> bool:
        """All messages arrived everywhere."""
        return all(self.arrivals[p][m] > 0 for p in self.each(Process) for m in self.each(Message))


class LossyPost(Losses[Note], Post):
    """The post over channels that lose."""

    @action
    def write(self, p: Process, m: Message) -> None:
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.network |= {Note(q, m) for q in self.each(Process)}

    @action(fairness="weak")
    def read(self, packet: Annotated[Note, In("network")]) -> None:
        self.network -= {packet}
        self.arrivals[packet.to][packet.message] += 1
        emit(Deliver(packet.to, packet.message))

    @invariant
    def WithinBudget(self) -> bool:
        return self.lost <= self.losses

    @invariant
    def NothingIsLostOtherwise(self) -> bool:
        """Sent messages are in flight, have arrived, or are counted as lost."""
        sent = self.broadcasts * self.processes
        arrived = sum(self.arrivals[p][m] for p in self.each(Process) for m in self.each(Message))
        return sent == len(self.network) + arrived + self.lost

    @witness
    def AllLost(self) -> bool:
        return self.lost == self.losses and len(self.network) == 0 and self.broadcasts == self.messages


class RepeatingPost(Duplications[Note], LossyPost):
    """A lossy post that also repeats."""

    @invariant
    def NothingIsLostOtherwise(self) -> bool:
        """A copy that is out counts once more."""
        sent = self.broadcasts * self.processes + self.duplicated - len(self.copies)
        arrived = sum(self.arrivals[p][m] for p in self.each(Process) for m in self.each(Message))
        return sent == len(self.network) + arrived + self.lost

    @invariant
    def RepeatsWithinBudget(self) -> bool:
        return len(self.copies) <= self.duplicated and self.duplicated <= self.duplications


class CrashingPost(Crashes, LossyPost):
    """A lossy post whose members crash: the guard keeps a member that is down from writing, and from reading
    its own messages.
    """

    @witness
    def MostAreDown(self) -> bool:
        return sum(1 for p in self.each(Process) if self.down[p]) == self.crashes

    @invariant
    def CrashesWithinBudget(self) -> bool:
        return sum(1 for p in self.each(Process) if self.down[p]) <= self.crashes


class LossyPostJudged(LossyPost, ReliableBroadcast):
    pass


class RepeatingPostJudged(RepeatingPost, ReliableBroadcast):
    pass


class CrashingPostJudged(CrashingPost, ReliableBroadcast):
    pass


class RepeatedRbp(Duplications[Packet], RbpChecked):
    """Figure 16 over channels that repeat as well."""


def outcomes(spec: type[Spec], **constants: Any) -> dict[str, str]:
    report = check(program(spec, **constants))
    assert report.exploration.complete
    return {verdict.property: verdict.outcome.value for verdict in report.verdicts}


@pytest.mark.parametrize("losses", [0, 1, 2])
def test_losses_stay_within_their_budget_and_use_it_up(losses: int) -> None:
    found = outcomes(LossyPost, processes=2, messages=1, losses=losses)
    assert found == {
        "WithinBudget": "holds", "NothingIsLostOtherwise": "holds", "AllLost": "holds", "Twice": "unknown",
        "Everywhere": "holds",
    }  # fmt: skip


def test_a_lost_note_breaks_agreement_and_none_lost_does_not() -> None:
    assert outcomes(LossyPostJudged, processes=2, messages=1, losses=1)["UniformAgreement"] == "violated"
    assert outcomes(LossyPostJudged, processes=2, messages=1, losses=0)["UniformAgreement"] == "holds"


@pytest.mark.parametrize("duplications", [0, 1, 2])
def test_duplicates_arrive_twice_within_their_budget(duplications: int) -> None:
    found = outcomes(RepeatingPostJudged, processes=2, messages=1, losses=0, duplications=duplications)
    assert found["RepeatsWithinBudget"] == found["NothingIsLostOtherwise"] == "holds"
    assert found["Twice"] == ("holds" if duplications else "unknown")
    assert found["UniformIntegrity"] == ("violated" if duplications else "holds")


def test_a_crashed_process_neither_writes_nor_reads() -> None:
    p, q, m = Process(0), Process(1), Message(0)
    bound = program(CrashingPostJudged, processes=2, messages=1, losses=0, crashes=1)
    start = bound.reference.initial()[0]
    crash, write, read = Step("crash", (p,)), Step("write", (p, m)), Step("read", (Note(p, m),))
    with pytest.raises(ReplayError, match=r"step 2, write.* is not enabled: .*requires self.is_up"):
        replay(bound, start, [crash, write])
    with pytest.raises(ReplayError, match=r"step 3, read.* is not enabled"):
        replay(bound, start, [write, crash, read])
    with pytest.raises(ReplayError, match=r"step 2, crash.* is not enabled"):
        replay(bound, start, [crash, Step("crash", (q,))])
    assert len(replay(bound, start, [crash, Step("write", (q, m)), Step("read", (Note(q, m),))])) == 3


@pytest.mark.parametrize("crashes", [0, 1, 2])
def test_crashes_stay_within_their_budget_and_excuse_only_the_crashed(crashes: int) -> None:
    """Without losses the correct ones agree, and Validity speaks of correct senders."""
    found = outcomes(CrashingPostJudged, processes=3, messages=1, losses=0, crashes=crashes)
    assert found["CrashesWithinBudget"] == found["MostAreDown"] == "holds"
    assert found["UniformAgreement"] == found["Validity"] == found["UniformIntegrity"] == "holds"


def test_losses_and_crashes_together_break_uniform_agreement() -> None:
    assert (
        outcomes(CrashingPostJudged, processes=3, messages=1, losses=1, crashes=1)["UniformAgreement"]
        == "violated"
    )


SAFETY = (
    "UniformIntegrity",
    "UniformTotalOrder",
    "UniformPrefixOrder",
    "UniqueNumbers",
    "OneHolder",
    "HolderHasAll",
    "SenderOrder",
)


def test_repeated_packets_do_not_harm_the_repaired_figure_16() -> None:
    """Barchet-Estefanel 2002, section 3.1.3: what arrives twice changes seqQ and recvQ once (RBP-09)."""
    bound = program(RepeatedRbp, repairs="all", processes=2, messages=1, losses=0, duplications=1, timeouts=1)
    report = check(bound, properties=[*SAFETY, "AllDelivered"])
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}
    assert dict(report.exploration.fired)["arrive_again"] > 0


def test_a_repeated_ack_makes_two_holders_of_the_unrepaired_figure_16() -> None:
    """Section 3.1.3, lines 38-39 (RBP-06): no loop needs to send the ACK again where the network does."""
    repairs = [
        item.name
        for item in program(RbpChecked).declaration.constants
        if item.repair and item.name != "old_token"
    ]
    bound = program(
        RepeatedRbp, repairs=repairs, processes=2, messages=2, losses=0, duplications=1, timeouts=0
    )
    verdict = check(bound, properties=["OneHolder"])["OneHolder"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    copied = next(step.arguments[0] for step in verdict.trace.steps if step.action == "duplicate")
    assert isinstance(copied, Ack)


@pytest.mark.parametrize("engine", ["generated", "reference"])
def test_a_member_that_is_down_reads_nothing(engine: str) -> None:
    """The guard follows the packet's receiver, in the compiled reading as in CPython's."""
    bound = program(CrashingPostJudged, processes=2, messages=1, losses=0, crashes=1)
    graph = state_graph(bound, engine=engine)
    down = bound.variables.index("down")
    reads = [
        (data["state"][down], edge["step"].arguments[0].to.index)
        for node, data in graph.nodes(data=True)
        for _, _, edge in graph.out_edges(node, data=True)
        if edge["step"].action == "read"
    ]
    assert reads
    assert not any(stopped[receiver] for stopped, receiver in reads)
    assert any(any(stopped) for stopped, _ in reads)
