"""Which stacks with MBRSHIP are checked? MBRSHIP alone, TOTAL over it, and the whole tower, each judged by what it promises."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, action, emit, leads_to, on, require
from antiphon.spec.protocols.horus.group import GroupCast, GroupReceive, GroupView, NewView, Unordered
from antiphon.spec.protocols.horus.judges import FifoBroadcast, ViewSynchrony
from antiphon.spec.protocols.horus.mbrship import Mbrship, MbrshipAlone
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.protocols.horus.tower import Horus
from antiphon.spec.services import Broadcast, Deliver, Message, Process, TotalOrderBroadcast


class OverMbrship(Mbrship):
    """An application over MBRSHIP: it delivers what comes as it comes."""

    stride: Const[int] = 0

    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """A message of p, delivered by p at once."""
        require(m.index == self.broadcasts and not self.flushed[p])
        require(self.stride == 0 or p.index == m.index * self.stride % self.processes)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        emit(GroupCast(p, Unordered(m)))
        emit(Deliver(p, m))

    @on(GroupReceive)
    def take(self, call: GroupReceive) -> None:
        """What MBRSHIP hands up."""
        body = call.body
        if isinstance(body, Unordered):
            emit(Deliver(call.process, body.message))

    @on(GroupView)
    def enter(self, call: GroupView) -> None:
        """The next view."""
        emit(NewView(call.process))


class MbrshipViews(OverMbrship, MbrshipAlone, FifoBroadcast, ViewSynchrony):
    """The abstract MBRSHIP alone, judged as FIFO broadcast with virtual synchrony."""


class MbrshipOrder(OverMbrship, MbrshipAlone, TotalOrderBroadcast):
    """The abstract MBRSHIP alone, judged as total order broadcast, which it is not."""


class TotalStack(Total, MbrshipAlone, TotalOrderBroadcast):
    """TOTAL over the abstract MBRSHIP, judged as total order broadcast."""


class TotalViews(Total, MbrshipAlone, FifoBroadcast, ViewSynchrony):
    """TOTAL over the abstract MBRSHIP, judged as FIFO broadcast with virtual synchrony: what it passes on of what it stands on."""


class TotalLive(Total, MbrshipAlone):
    """TOTAL over the abstract MBRSHIP, with the promise that who waits can send in the end, on fair runs: a token that can be passed is passed on."""

    def waits(self, p: Process) -> bool:
        """P has a message to send, and no token."""
        return len(self.waiting[p]) > 0

    def has_sent(self, p: Process) -> bool:
        """P has sent it, or has failed."""
        return len(self.waiting[p]) == 0 or self.down[p]

    WhoWaitsSends = leads_to("waits", "has_sent")


class HorusJudged(Horus, TotalOrderBroadcast):
    """The whole stack, judged as total order broadcast."""


class HorusViews(Horus, FifoBroadcast, ViewSynchrony):
    """The whole stack, judged as FIFO broadcast with virtual synchrony."""
