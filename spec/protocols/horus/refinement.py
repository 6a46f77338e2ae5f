"""Refinement of Horus' TOTAL to an ordering machine whose places are a view and a number; messages without a
number come after the numbered ones.

The order of a view has the token's numbers first, then the messages which the flush sent, by the rank of
their source. The order may have gaps: members that stay deliver the messages after a number that none of
them has, and a member that a view leaves behind goes on in its own view. So every place is a series of its
own, with one number. The first delivery of a message fixes its place (`given`, which no step of the protocol
reads): it assigns, learns and delivers in one step, a later delivery learns and delivers in one step. What
only crashed members delivered is forgotten: TOTAL promises them nothing. TOTAL stands on the abstract
MBRSHIP, or on the full stack: steps of the layers below TOTAL are stutters. A fault of a lower layer is seen
only if it changes an order, or delivers a message that nobody broadcast.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Map, Seq, Set, everywhere, on, record
from antiphon.spec.protocols.horus.boundaries import FragReceive
from antiphon.spec.protocols.horus.bounds import FragBounded, NakBounded, TotalBounded
from antiphon.spec.protocols.horus.flush import MbrshipFlushed, Packet
from antiphon.spec.protocols.horus.flush_over_frag import HorusFlush
from antiphon.spec.protocols.horus.flushed_stacks import OverFlush
from antiphon.spec.protocols.horus.full_stack import Horus
from antiphon.spec.protocols.horus.group import GroupCast, Number, Ordered, Unordered
from antiphon.spec.protocols.horus.mbrship import MbrshipAlone
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import (
    Broadcast,
    Crash,
    Deliver,
    Install,
    Message,
    Process,
    View,
)
from antiphon.spec.services.ordering import Assigned, OrderingMachine, OrderingView, Position, steps_between
from antiphon.spec.services.view_machine import SynchronyOfEvents, ViewSynchronousMachine, steps_told

Place = Annotated[int, Between(1, "2 * messages")]
"""A place in the order of a view: the token's numbers, then the messages that the flush sent."""


@record
class Sent:
    """A message that was cast: in which view, and with which number if it had one."""

    view: View
    number: Number | None


@record
class Given:
    """A message that was delivered, by its place in the order of the view in which it was sent."""

    view: View
    place: Place
    message: Message


class Places(Total, OrderingView):
    """TOTAL over any MBRSHIP with helpers that compute, from its state, the state of the abstract ordering
    machine that it refines.
    """

    sent: Map[Message, Sent | None] = everywhere(None)
    given: Map[Process, Set[Given]] = everywhere(Set())

    @on(GroupCast)
    def note_sent(self, call: GroupCast) -> None:
        """Record the view in which a message is sent, and its number."""
        body = call.body
        if isinstance(body, Ordered):
            self.sent[body.message] = Sent(self.view[call.process], body.number)
        elif isinstance(body, Unordered):
            self.sent[body.message] = Sent(self.view[call.process], None)

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Record a delivery at its place: at its number, or behind all numbers and earlier deliveries of its
        view.
        """
        p = event.process
        m = event.message
        was = self.sent[m] if m is not None else None
        if m is not None and was is not None:
            behind = sum(1 for item in self.given[p] if item.view == was.view and item.place > self.messages)
            self.given[p] |= {
                Given(
                    was.view,
                    was.number
                    if was.number is not None
                    else min(self.messages + behind + 1, 2 * self.messages),
                    m,
                )
            }

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def gone(self, p: Process) -> bool:
        """Return True if p has crashed."""
        return self.down[p]

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the messages that p has delivered, with their places in the order."""
        return Set() | {
            Assigned(2 * self.messages * (item.view - 1) + item.place, 1, item.message)
            for item in self.given[p]
            if not self.down[p]
        }

    def history(self) -> Set[Assigned]:
        """Return the messages that any live process has delivered, with their places in the order."""
        return Set() | {item for p in self.each(Process) for item in self.learned(p)}

    def at(self, p: Process) -> Position:
        """Return the last place at which p delivered."""
        last = max(
            (2 * self.messages * (item.view - 1) + item.place for item in self.given[p] if not self.down[p]),
            default=0,
        )
        return Position(max(last, 1), min(last, 1))


class HorusTotalOrdering(Places, TotalBounded, MbrshipAlone):
    """TOTAL over the abstract MBRSHIP with helpers that compute, from its state, the state of the abstract
    ordering machine that it refines.
    """


HORUS_TOTAL = Refinement(
    HorusTotalOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "2 * views * messages", "numbers": 1, "forgets": True},
    bounds={"processes": 3, "messages": 2, "crashes": 1},
)


class HorusOrdering(Places, Horus, TotalBounded, FragBounded, NakBounded):
    """TOTAL:MBRSHIP:FRAG:NAK:COM with helpers that compute, from its state, the state of the abstract
    ordering machine that it refines.
    """


HORUS = Refinement(
    HorusOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "2 * views * messages", "numbers": 1, "forgets": True},
    bounds={
        "processes": 2, "messages": 1, "casts": 3, "buffer": 3, "crashes": 1, "patient": True,
        "oracle": "one that waits",
    },
)  # fmt: skip


class FlushedTotalOrdering(Places, TotalBounded, MbrshipFlushed):
    """TOTAL over MBRSHIP with its flush, and helpers that compute, from its state, the state of the abstract
    ordering machine that it refines.
    """


FLUSHED_TOTAL = Refinement(
    FlushedTotalOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": "2 * views * messages", "numbers": 1, "forgets": True},
    bounds={"processes": 3, "messages": 2, "crashes": 1, "stride": 1, "oracle": "one that waits"},
)


class TotalOverChannels(TotalBounded, MbrshipFlushed):
    """TOTAL over MBRSHIP with its flush, over channels that are reliable and in order."""


@record
class Way:
    """Sequence of packets on their way between two members: at most as many as a channel holds."""

    packets: Annotated[Seq[Packet], AtMost("2 * messages + 6")]


class HorusFlushOverChannels(
    HorusFlush, TotalBounded, FragBounded, NakBounded, refines=TotalOverChannels
):
    """The whole stack with helpers that compute, from its state, the state of `TotalOverChannels` that it
    refines: FRAG:NAK:COM implements the reliable channels of `TotalOverChannels`.

    A channel holds first the packets that FRAG has handed up and the receiver has not handled, then those
    that were cast and have not come. It is empty if the receiver is down or has left the sender behind.
    `came[p][q]` is how many messages of q FRAG has handed to p.
    """

    came: Map[Process, Map[Process, Annotated[int, Between(0, "casts")]]] = everywhere(everywhere(0))

    @on(FragReceive)
    def count(self, call: FragReceive) -> None:
        """Count one more message that FRAG handed up."""
        self.came[call.process][call.origin] += 1

    def channel(self, q: Process, p: Process) -> Annotated[Seq[Packet], AtMost("2 * messages + 6")]:  # type: ignore[override]
        """Return the packets of q that p has yet to receive, in order; none if p is down or has left q
        behind.
        """
        if self.down[p] or q in self.left[p] or q in self.leaving[p]:
            return ()
        coming = tuple(letter.packet for letter in self.letters[q][self.came[p][q] :] if p in letter.to)
        return Way(self.channel[q][p] + coming).packets  # type: ignore[index]


class FlushedViewSynchrony(OverFlush, SynchronyOfEvents, refines=ViewSynchronousMachine):
    """MBRSHIP with its flush, and helpers that compute, from its state, the state of the abstract machine of
    view synchrony that it refines.

    Take it with `one_failure`: a second failure may come when only some members have installed a view, which
    no flush survives.
    """


FLUSHED_VIEWS = Refinement(
    FlushedViewSynchrony,
    ViewSynchronousMachine,
    (Broadcast, Deliver, Install, Crash),
    steps_told,
    bounds={"processes": 3, "messages": 2, "crashes": 1, "suspicions": 1, "one_failure": True},
)
