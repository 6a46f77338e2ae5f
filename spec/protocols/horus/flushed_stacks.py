"""Stacks over MBRSHIP with its flush as messages: an application, judged by view synchrony and as FIFO
broadcast; TOTAL, judged by view synchrony and as total order broadcast; and both with FRAG:NAK:COM below.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, emit, on, witness
from antiphon.spec.protocols.horus.flush import MbrshipFlushed
from antiphon.spec.protocols.horus.flush_over_frag import HorusFlush
from antiphon.spec.protocols.horus.group import NewView
from antiphon.spec.protocols.horus.ordered_stacks import OverMbrship
from antiphon.spec.protocols.horus.properties import (
    FifoBroadcast,
    FragChecked,
    NakChecked,
    TotalChecked,
)
from antiphon.spec.services.events import Install, Message, Process
from antiphon.spec.services.order import TotalOrderBroadcast
from antiphon.spec.services.views import ViewSynchrony


class Installing(MbrshipFlushed):
    """MBRSHIP that reports each view change to the services, when the application has everything of its last
    view.
    """

    @on(NewView)
    def tell_members(self, call: NewView) -> None:
        """Emit `Install` for the next view of a process, with the view's members."""
        p = call.process
        emit(Install(p, self.view[p], Set(q for q in self.each(Process) if q not in self.left[p])))


class OverFlush(OverMbrship, Installing):
    """Application that delivers messages in the order of their arrival."""


class FlushViews(OverFlush, ViewSynchrony):
    """MBRSHIP with its flush, judged as view-synchronous communication."""

    @witness
    def DeliveredLater(self) -> bool:
        """Witness: two members have delivered a message in a later view."""
        return any(
            self.delivered_in[p][m] == 2 and self.delivered_in[q][m] == 2
            for m in self.each(Message)
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )


class FlushFifo(OverFlush, FifoBroadcast):
    """MBRSHIP with its flush, judged as FIFO broadcast."""


class FlushTotal(TotalChecked, MbrshipFlushed, TotalOrderBroadcast):
    """TOTAL over MBRSHIP with its flush, judged as total order broadcast."""


class FlushTotalViews(TotalChecked, Installing, ViewSynchrony):
    """TOTAL over MBRSHIP with its flush, judged as view-synchronous communication."""


class HorusFlushChecked(HorusFlush, TotalChecked, FragChecked, NakChecked, TotalOrderBroadcast):
    """The whole stack with its flush as messages, judged as total order broadcast."""


class HorusFlushViews(HorusFlush, Installing, TotalChecked, FragChecked, NakChecked, ViewSynchrony):
    """The whole stack with its flush as messages, judged as view-synchronous communication."""
