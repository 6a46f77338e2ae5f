"""The stacks below MBRSHIP: NAK:COM and FRAG:NAK:COM, each under an application that broadcasts, over a
network that loses.

A stack is a specification like any other: layers are composed by inheritance, and meet at the calls of
`boundaries`. The application is the topmost layer. Message k is broadcast by process k mod `senders`, so that
a place among its sender's casts tells which message it is.
"""

from __future__ import annotations

from antiphon.spec.environment import Duplications, Losses
from antiphon.spec.lang import (
    Const,
    Map,
    Set,
    action,
    emit,
    environment,
    everywhere,
    expect,
    invariant,
    obligation,
    on,
    require,
    witness,
)
from antiphon.spec.protocols.horus.boundaries import (
    ComView,
    Envelope,
    FragCast,
    FragReceive,
    NakCast,
    NakLost,
    NakReceive,
    Unit,
)
from antiphon.spec.protocols.horus.nak import Unnumbered
from antiphon.spec.protocols.horus.properties import FifoBroadcast, FragChecked, NakChecked
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


class Senders(Group):
    """Group in which only the first `senders` processes broadcast, in turn."""

    senders: Const[int] = 1

    def sender(self, m: Message) -> Process:
        """Return the process that broadcasts m."""
        return Process(m.index % self.senders)

    def message(self, unit: Unit) -> Message:
        """Return the message that a unit stands for: the one at its place among the messages of its
        author.
        """
        return Message((unit.place - 1) * self.senders + unit.author.index)


class OverNak(Senders, NakChecked):
    """An application over NAK:COM."""

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast the next message of p: hand it to NAK, and deliver p's own copy at once."""
        require(p == self.sender(m) and self.cast[p] == m.index // self.senders and self.room(p) >= 1)
        emit(Broadcast(p, m))
        emit(NakCast(p))
        emit(Deliver(p, m))

    @on(NakReceive)
    def hand_over(self, call: NakReceive) -> None:
        """Deliver a message that NAK hands up."""
        emit(Deliver(call.process, self.message(call.unit)))

    @witness
    def AllCast(self) -> bool:
        """Witness: every message was cast."""
        return sum(self.cast[p] for p in self.each(Process)) == self.messages


class OverFrag(Senders, FragChecked):
    """An application over FRAG. Every message is as large as a message can be.

    `harmed[p]` are the messages of which p lost a fragment; only the judgement looks at it.
    """

    harmed: Map[Process, Set[Unit]] = everywhere(Set())

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast the next message of p: hand it to FRAG, and deliver p's own copy at once."""
        require(
            p == self.sender(m)
            and self.handed[p] == m.index // self.senders
            and self.room(p) >= self.fragments
        )
        emit(Broadcast(p, m))
        emit(FragCast(p, self.fragments))
        emit(Deliver(p, m))

    @on(FragReceive)
    def hand_over(self, call: FragReceive) -> None:
        """Deliver a message that FRAG hands up; None stands for a message that nobody broadcast."""
        unit = call.unit
        emit(Deliver(call.process, self.message(unit) if unit is not None else None))

    @on(NakLost)
    def note_harm(self, call: NakLost) -> None:
        """Record that p lost a fragment of the message."""
        q = call.origin
        self.harmed[call.process] |= {Unit(q, self.pieces[q][call.place - 1].message)}


class NakStack(OverNak, Losses[Envelope], FifoBroadcast):
    """NAK:COM over a network that loses and reorders, judged as FIFO broadcast."""

    @on(NakReceive)
    def judge_author(self, call: NakReceive) -> None:
        """Check that the origin which NAK reports is the process that cast the message."""
        expect(call.origin == call.unit.author, "TrueSource")


class FragOverCom(OverFrag, Unnumbered, FifoBroadcast):
    """FRAG:COM, without NAK, over a network that only reorders: a stack that is not well-formed."""

    @witness
    def AllArrived(self) -> bool:
        """Witness: every message was delivered everywhere."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


class NakStackRepeated(NakStack, Duplications[Envelope]):
    """NAK:COM over a network that loses, reorders and duplicates, judged as FIFO broadcast."""


class FragStack(OverFrag, NakChecked, Losses[Envelope], FifoBroadcast):
    """FRAG:NAK:COM over a network that loses and reorders, judged as FIFO broadcast."""

    @on(FragReceive)
    def judge_author(self, call: FragReceive) -> None:
        """Check that the origin which FRAG reports is the process that cast the message."""
        unit = call.unit
        expect(unit is None or call.origin == unit.author, "TrueSource")

    @obligation
    def OnlyHarmedLost(self) -> bool:
        """Obligation: a message of which p lost no fragment is delivered by p."""
        return all(
            self.delivered[p][m]
            or self.origin[m] is None
            or any(self.message(unit) == m for unit in self.harmed[p])
            for p in self.each(Process)
            for m in self.each(Message)
        )


class DestinationSets(OverNak, FifoBroadcast):
    """NAK:COM where the members' destination sets change, each by itself, up to `changes` times in all."""

    changes: Const[int] = 1

    @environment
    def shrink(self, p: Process, member: Process) -> None:
        """Remove `member` from p's view; no other process gets a message about it."""
        require(p != member and member not in self.outside[p])
        require(sum(len(self.outside[q]) for q in self.each(Process)) < self.changes)
        emit(ComView(p, member))

    @invariant
    def ConsistentViews(self) -> bool:
        """Invariant: members that have each other in their views have the same view."""
        return all(
            self.outside[p] == self.outside[q] or q in self.outside[p] or p in self.outside[q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @on(NakReceive)
    def judge_source(self, call: NakReceive) -> None:
        """Require that a message from below was sent by a member of the view."""
        expect(call.unit.author not in self.outside[call.process], "FromTheView")
