"""The stack TOTAL:MBRSHIP:FRAG:NAK:COM as its members can do it while the view stays.

Besides what `local_status` says of NAK, a cast that has no room in NAK's window waits there. In `repairs` the
application waits instead (`await_room`); it still does here, while the window is full. But a message of
several fragments goes down whole, and so do all messages that waited for the token, and the token itself:
TOTAL cannot see how much room there is below FRAG. `backlog[p]` counts the casts of p that wait.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "window-based flow control may be implemented".
"""

from __future__ import annotations

from antiphon.spec.lang import Map, emit, everywhere, obligation, on, witness
from antiphon.spec.protocols.horus.boundaries import ComCast, Data, LastPlace, NakCast, Place, Unit
from antiphon.spec.protocols.horus.full_stack import Horus
from antiphon.spec.protocols.horus.local_status import LocalStatus
from antiphon.spec.protocols.horus.mbrship import MbrshipAlone
from antiphon.spec.protocols.horus.properties import FragChecked, TotalChecked
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class Backlog(LocalStatus):
    """NAK with a queue before its window."""

    backlog: Map[Process, LastPlace] = everywhere(0)

    def room(self, p: Process) -> int:
        """As many as there are numbers for."""
        return self.casts - self.cast[p] - self.backlog[p]

    def is_full(self, p: Process) -> bool:
        """The buffer has no room for another cast."""
        return self.cast[p] - self.oldest[p] + 1 >= self.buffer

    @on(NakCast)
    def number(self, call: NakCast) -> None:
        """A cast waits, if only for its turn."""
        self.backlog[call.process] += 1
        self.flow(call.process)

    def flow(self, p: Process) -> None:
        """As many casts as there is room for get a sequence number and are buffered."""
        for k in self.each(Place):
            if self.backlog[p] > 0 and not self.is_full(p) and k == self.cast[p] + 1:
                self.backlog[p] -= 1
                self.cast[p] = k
                emit(ComCast(p, Data(Unit(p, k))))

    def release(self, p: Process) -> None:
        """Release what all have, which makes room."""
        super().release(p)
        self.flow(p)

    @obligation
    def NothingWaits(self) -> bool:
        """Every cast got its number."""
        return all(self.backlog[p] == 0 for p in self.each(Process))

    @witness
    def Waits(self) -> bool:
        """A cast waits for room."""
        return any(self.backlog[p] > 0 for p in self.each(Process))


class TotalByMember(TotalChecked, MbrshipAlone):
    """TOTAL:MBRSHIP over queues under an application: nobody sees more than its own."""


class HorusByMember(Backlog, TotalChecked, FragChecked, Horus):
    """TOTAL:MBRSHIP:FRAG:NAK:COM under an application, each member by itself."""

    def can_send(self, p: Process) -> bool:
        """NAK has room for a cast; there are numbers for all that waits, too."""
        return not self.is_full(p) and self.room(p) >= self.fragments * (len(self.waiting[p]) + 1)


class HorusByMemberChecked(HorusByMember, TotalOrderBroadcast):
    """The former, judged as total order broadcast."""

    @obligation
    def AllDelivered(self) -> bool:
        """Obligation: every broadcast is delivered everywhere, if the casts that there are suffice for the
        token.
        """
        return all(
            self.delivered[p][m] or any(self.room(q) == 0 for q in self.each(Process))
            for p in self.each(Process)
            for m in self.each(Message)
            if m.index < self.broadcasts
        )
