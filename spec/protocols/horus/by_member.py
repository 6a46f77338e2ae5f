"""The stack TOTAL:MBRSHIP:FRAG:NAK:COM by steps that each member can decide from its own state, while the
view stays.

NAK is that of `local_status`, and a cast that has no room in NAK's window waits in NAK. In `repairs` the
application waits instead (`await_room`); here it waits too, while the window is full. But a message of
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
    """NAK with a queue of casts that wait for room in its window."""

    backlog: Map[Process, LastPlace] = everywhere(0)

    def room(self, p: Process) -> int:
        """Return how many casts p may hand down: as many as numbers are left when the waiting casts have
        theirs.
        """
        return self.casts - self.cast[p] - self.backlog[p]

    def is_full(self, p: Process) -> bool:
        """Return True if p's buffer has no room for another cast."""
        return self.cast[p] - self.oldest[p] + 1 >= self.buffer

    @on(NakCast)
    def number(self, call: NakCast) -> None:
        """Put a cast into the queue before the window, and number as many waiting casts as there is room
        for.
        """
        self.backlog[call.process] += 1
        self.flow(call.process)

    def flow(self, p: Process) -> None:
        """Move casts of p from the backlog to the network, numbered and buffered, as long as the buffer has
        room.
        """
        for k in self.each(Place):
            if self.backlog[p] > 0 and not self.is_full(p) and k == self.cast[p] + 1:
                self.backlog[p] -= 1
                self.cast[p] = k
                emit(ComCast(p, Data(Unit(p, k))))

    def release(self, p: Process) -> None:
        """Release the casts that every other member has acknowledged, which makes room for waiting ones."""
        super().release(p)
        self.flow(p)

    @obligation
    def NothingWaits(self) -> bool:
        """Obligation: every cast got its number."""
        return all(self.backlog[p] == 0 for p in self.each(Process))

    @witness
    def Waits(self) -> bool:
        """Witness: a cast waits for room."""
        return any(self.backlog[p] > 0 for p in self.each(Process))


class TotalByMember(TotalChecked, MbrshipAlone):
    """TOTAL:MBRSHIP over queues under an application, where each member uses its own state only."""


class HorusByMember(Backlog, TotalChecked, FragChecked, Horus):
    """TOTAL:MBRSHIP:FRAG:NAK:COM under an application, where each member uses its own state only."""

    def can_send(self, p: Process) -> bool:
        """Return True if p can send a message of the application: NAK's buffer has room for a cast, and
        numbers are left for this message and for everything that waits.
        """
        return not self.is_full(p) and self.room(p) >= self.fragments * (len(self.waiting[p]) + 1)


class HorusByMemberChecked(HorusByMember, TotalOrderBroadcast):
    """The stack of `HorusByMember`, judged as total order broadcast."""

    @obligation
    def AllDelivered(self) -> bool:
        """Obligation: every broadcast is delivered everywhere, if enough casts are left for passing the
        token.
        """
        return all(
            self.delivered[p][m] or any(self.room(q) == 0 for q in self.each(Process))
            for p in self.each(Process)
            for m in self.each(Message)
            if m.index < self.broadcasts
        )
