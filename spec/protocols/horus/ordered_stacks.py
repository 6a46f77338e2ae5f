"""The stacks with MBRSHIP: MBRSHIP alone, TOTAL over it, the full stack, each judged by its promises."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    action,
    emit,
    everywhere,
    expect,
    invariant,
    leads_to,
    on,
    require,
)
from antiphon.spec.protocols.horus.boundaries import FragCast, FragReceive, NakCast, NakReceive, Unit
from antiphon.spec.protocols.horus.bounds import Strides
from antiphon.spec.protocols.horus.full_stack import Horus
from antiphon.spec.protocols.horus.group import (
    GroupCast,
    GroupReceive,
    GroupView,
    NewView,
    Number,
    Token,
    Unordered,
)
from antiphon.spec.protocols.horus.mbrship import MbrshipAlone, Members
from antiphon.spec.protocols.horus.properties import (
    FifoBroadcast,
    FragChecked,
    NakChecked,
    TotalChecked,
    ViewSynchrony,
)
from antiphon.spec.services import Broadcast, Deliver, Message, Process, TotalOrderBroadcast


class OverMbrship(Members, Strides):
    """Application over MBRSHIP that delivers messages in the order of their arrival."""

    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast message m of p, and deliver it to p at once."""
        require(m.index == self.broadcasts and not self.flushed[p])
        self.broadcasts += 1
        emit(Broadcast(p, m))
        emit(GroupCast(p, Unordered(m)))
        emit(Deliver(p, m))

    @on(GroupReceive)
    def take(self, call: GroupReceive) -> None:
        """Deliver a message that MBRSHIP hands up."""
        body = call.body
        if isinstance(body, Unordered):
            emit(Deliver(call.process, body.message))

    @on(GroupView)
    def enter(self, call: GroupView) -> None:
        """Give the application the upcall for its next view."""
        emit(NewView(call.process))


class MbrshipViews(OverMbrship, MbrshipAlone, FifoBroadcast, ViewSynchrony):
    """The abstract MBRSHIP alone, judged as FIFO broadcast with virtual synchrony."""


class MbrshipOrder(OverMbrship, MbrshipAlone, TotalOrderBroadcast):
    """The abstract MBRSHIP alone, judged as total order broadcast. MBRSHIP does not order, so the judge must
    find a violation.
    """


class TotalStack(TotalChecked, MbrshipAlone, TotalOrderBroadcast):
    """TOTAL over the abstract MBRSHIP, judged as total order broadcast."""

    @invariant
    def SourceKept(self) -> bool:
        """Invariant: TOTAL keeps an undelivered message under the name of the process that broadcast it."""
        return all(self.is_true(p, k) for p in self.each(Process) for k in self.each(Number))

    def is_true(self, p: Process, k: Number) -> bool:
        """Return True if the message that p keeps with number k, if any, was broadcast by its source."""
        item = self.numbered[p][k]
        return item is None or item.source == self.origin[item.message]


class TotalViews(TotalChecked, MbrshipAlone, FifoBroadcast, ViewSynchrony):
    """TOTAL over the abstract MBRSHIP, judged as FIFO broadcast with virtual synchrony: properties that TOTAL
    passes on from below.
    """


class TotalLive(TotalChecked, MbrshipAlone):
    """TOTAL over the abstract MBRSHIP, with the liveness promise that a waiting member can send in the end.
    On fair runs a token that can be passed is passed.
    """

    def waits(self, p: Process) -> bool:
        """Return True if p has a message to send, and no token."""
        return len(self.waiting[p]) > 0

    def has_sent(self, p: Process) -> bool:
        """Return True if p has no message waiting to be sent, or p has failed."""
        return len(self.waiting[p]) == 0 or self.down[p]

    WhoWaitsSends = leads_to("waits", "has_sent")


class FragOverTotal(TotalChecked, FragChecked, MbrshipAlone):
    """FRAG:TOTAL over the abstract MBRSHIP: TOTAL orders fragments; message k of the application consists of
    the fragments from k * `fragments` on.

    A second FRAG, on top, is not needed for anything; the stack is here because a layer must pass on what
    holds below it. `unit[m]` is what FRAG calls the fragment that TOTAL calls m.
    """

    stride: Const[int] = 1

    unit: Map[Message, Unit | None] = everywhere(None)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message of the application, as large as a message can be."""
        require(
            m.index * self.fragments == self.broadcasts and (m.index + 1) * self.fragments <= self.messages
        )
        require(
            p.index == m.index * self.stride % self.processes and not self.flushed[p] and self.can_send(p)
        )
        emit(Broadcast(p, m))
        emit(FragCast(p, self.fragments))

    @on(NakCast)
    def order(self, call: NakCast) -> None:
        """Take a cast of FRAG as a message of TOTAL, to be ordered."""
        p = call.process
        m = Message(self.broadcasts)
        self.broadcasts += 1
        self.cast[p] += 1
        self.unit[m] = Unit(p, self.cast[p])
        self.waiting[p] += (m,)
        self.send_numbered(p)

    def hand_up(self, p: Process, q: Process, m: Message) -> None:
        """Hand up to FRAG a message that TOTAL delivers: it is a fragment."""
        unit = self.unit[m]
        if unit is not None:
            emit(NakReceive(p, q, unit))

    @on(FragReceive)
    def deliver_whole(self, call: FragReceive) -> None:
        """Deliver a message of the application that FRAG hands up; None stands for a message that nobody
        broadcast.
        """
        emit(
            Deliver(
                call.process,
                next((self.whole(m) for m in self.each(Message) if self.begins(m, call.unit)), None),
            )
        )

    def begins(self, m: Message, whole: Unit | None) -> bool:
        """Return True if m is the first fragment of `whole`, a message of FRAG."""
        return whole is not None and self.unit[m] == Unit(
            whole.author, (whole.place - 1) * self.fragments + 1
        )

    def whole(self, m: Message) -> Message:
        """Return the application message that fragment m belongs to."""
        return Message(m.index // self.fragments)


class FragOverTotalOrder(FragOverTotal, TotalOrderBroadcast):
    """FRAG:TOTAL:MBRSHIP, judged as total order broadcast."""


class FragOverTotalViews(FragOverTotal, FifoBroadcast, ViewSynchrony):
    """FRAG:TOTAL:MBRSHIP, judged as FIFO broadcast with virtual synchrony."""


class HorusChecked(Horus, TotalChecked, FragChecked, NakChecked, TotalOrderBroadcast):
    """The whole stack, checked against total order broadcast, and against correct sources in upcalls."""

    @on(GroupReceive)
    def judge_source(self, call: GroupReceive) -> None:
        """Check that the origin which MBRSHIP reports is the process that broadcast the message."""
        body = call.body
        if not isinstance(body, Token):
            expect(call.origin == self.origin[body.message], "TrueSource")


class HorusViews(Horus, TotalChecked, FragChecked, NakChecked, FifoBroadcast, ViewSynchrony):
    """The whole stack, judged as FIFO broadcast with virtual synchrony."""
