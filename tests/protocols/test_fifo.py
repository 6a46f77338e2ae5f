"""Queues keep the order of sending, logs are read in order and without gaps, and only what is said to be lost
is lost.
"""

from __future__ import annotations

from typing import Annotated, Any

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.environment.fifo import FifoLosses, FifoMulticast, LooseUnicast, Unicast
from antiphon.spec.lang import (
    AtMost,
    Between,
    In,
    Map,
    Seq,
    Spec,
    action,
    everywhere,
    invariant,
    obligation,
    program,
    record,
    require,
    witness,
)
from antiphon.spec.services import Group, Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


@record
class Note:
    """A message on its way."""

    to: Process
    message: Message


class Writer(Group):
    """The first process writes messages in order; `got` is what arrived, in the order of arrival."""

    written: Annotated[int, Between(0, "messages")] = 0
    got: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())

    @invariant
    def InOrder(self) -> bool:
        """Arrivals are in the order of writing."""
        return all(
            not any(m < n for m in self.got[p][1:] for n in self.got[p] if n == self.got[p][0])
            if len(self.got[p]) > 0
            else True
            for p in self.each(Process)
        )

    @obligation
    def Complete(self) -> bool:
        """Written messages arrive at all other members."""
        return all(len(self.got[p]) == self.written for p in self.each(Process) if p.index > 0)

    @witness
    def AllArrived(self) -> bool:
        """Everything was written and arrived."""
        return self.written == self.messages and all(
            len(self.got[p]) == self.messages for p in self.each(Process) if p.index > 0
        )


class Queued(FifoLosses[Note], Writer):
    """Over a queue for each pair."""

    @action
    def write(self, m: Message) -> None:
        require(m.index == self.written)
        self.written += 1
        for q in self.each(Process):
            if q.index > 0:
                self.push(Process(0), q, Note(q, m))

    @action(fairness="weak")
    def read(self, p: Process) -> None:
        require(self.has_packet(Process(0), p))
        packet = self.channel[Process(0)][p][0]
        self.take(Process(0), p)
        self.got[p] += (packet.message,)


class Posted(Unicast[Note], Writer):
    """Over unicasts, in order."""

    @action
    def write(self, m: Message) -> None:
        require(m.index == self.written)
        self.written += 1
        for q in self.each(Process):
            if q.index > 0:
                self.unicast_to(Process(0), q, Note(q, m))

    @action(fairness="weak")
    def read(self, p: Process) -> None:
        require(self.has_packet(Process(0), p))
        packet = self.channel[Process(0)][p][0]
        self.take(Process(0), p)
        self.got[p] += (packet.message,)


class PostedLoosely(LooseUnicast[Note], Posted):
    """Over unicasts without an order."""

    @action(fairness="weak")
    def read_any(self, packet: Annotated[Note, In("loose")]) -> None:
        self.loose -= {packet}
        self.got[packet.to] += (packet.message,)


class Logged(FifoMulticast[Note], Writer):
    """Over a log that everybody reads."""

    @action
    def write(self, m: Message) -> None:
        require(m.index == self.written)
        self.written += 1
        self.multicast(Process(0), Note(Process(0), m))

    @action(fairness="weak")
    def read(self, p: Process) -> None:
        require(self.has_multicast(Process(0), p))
        packet = self.log[Process(0)][self.heard[Process(0)][p]]
        self.hear(Process(0), p)
        self.got[p] += (packet.message,)


def outcomes(spec: type[Spec], **constants: Any) -> dict[str, str]:
    report = check(program(spec, **constants))
    assert report.exploration.complete
    return {verdict.property: verdict.outcome.value for verdict in report.verdicts}


GOOD = {"InOrder": "holds", "Complete": "holds", "AllArrived": "holds"}


def test_a_queue_and_a_log_keep_the_order() -> None:
    assert outcomes(Queued, processes=3, messages=2, losses=0) == GOOD
    assert outcomes(Logged, processes=3, messages=2) == GOOD
    assert outcomes(Posted, processes=3, messages=2) == GOOD


def test_a_lossy_queue_keeps_the_order_of_what_is_left() -> None:
    assert outcomes(Queued, processes=2, messages=3, losses=1) == GOOD | {"Complete": "violated"}


def test_unordered_unicasts_overtake_and_lose_nothing() -> None:
    assert outcomes(PostedLoosely, processes=2, messages=2) == GOOD | {"InOrder": "violated"}


def test_each_receiver_reads_a_log_at_its_own_pace() -> None:
    report = check(program(Logged, processes=3, messages=2), properties=["AllArrived"])
    assert report["AllArrived"].outcome is Outcome.HOLDS
    assert report["AllArrived"].trace is not None
    assert len(report["AllArrived"].trace) == 6
