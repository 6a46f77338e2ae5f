"""Repairs of figure 29: for each the printed text, its replacement, and the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import emit, guard, repair
from antiphon.spec.protocols.vsc.figure29 import ViewChange
from antiphon.spec.services.events import Crash, Message, Process, View


@repair("step 3: View_k is p_k and those heard from", answers="VSC-03")
class NameItself(ViewChange):
    """Repair of figure 29, step 3. Printed: `View_k is the set (p_i ∪ the processes from which unstable_i was
    received)`, where p_i is not p_k. Repaired: View_k contains p_k itself.
    """

    def is_named(self, p: Process, named: Process) -> bool:
        return named == p


@repair("step 1: unstable_k carries i, as messages do, and step 2 waits for those of i", answers="VSC-05")
class TagUnstable(ViewChange):
    """Repair of figure 29, steps 1 and 2. Printed: `send unstable_k to all`, `wait until receive unstable_i
    from p_i`, without the number of the view. Repaired: unstable_k carries i, and step 2 waits for the sets
    of view i.
    """

    def set_read(self, p: Process, q: Process) -> View:
        return self.in_view[p]

    def note_unread(self, p: Process, q: Process, heard: bool) -> None:
        """Do nothing: a late set belongs to an earlier view."""


@repair("from step 1 on nothing is received that unstable_k does not have", answers="VSC-05")
class StopReceiving(ViewChange):
    """Repair of figure 29, step 1. Printed: `Upon reception of (i,m) by p_k while in view v_i(g)`, which
    lasts until step 7, so messages are received after unstable_k was sent. Repaired: nothing more is received
    from step 1 on.
    """

    def takes_messages(self, p: Process) -> bool:
        return not self.is_changing(p)


@repair("VSCast: p_k has its own message at once, so that unstable_k has it", answers="VSC-06")
class OwnCopy(ViewChange):
    """Repair of VSCast. Printed: `send (i,m) to all in v_i(g)`, so the sender's own copy comes later, and may
    be missing in unstable_k. Repaired: the sender has its message at once.
    """

    def send_to_all(self, p: Process, m: Message) -> None:
        super().send_to_all(p, m)
        self.network -= {packet for packet in self.network if packet.to == p and packet.message == m}
        self.take(p, m)


@repair("VSCast waits from step 1 until the next view is installed", answers="VSC-06")
class BlockSender(ViewChange):
    """Repair of VSCast. Printed: no condition. Repaired: a process does not multicast from step 1 until it
    has installed the next view.
    """

    def may_send(self, p: Process) -> bool:
        return not self.is_changing(p)


@repair("step 7: `else suicide`, as section 4.3.4 has it", answers="VSC-08")
class Suicide(ViewChange):
    """Repair of figure 29, step 7. Printed: `if p_k ∈ View, then install View as the next view`, without an
    `else`. Repaired: `else suicide`, as in section 4.3.4.
    """

    def stay_out(self, p: Process) -> None:
        super().stay_out(p)
        self.network -= {packet for packet in self.network if packet.to == p}
        emit(Crash(p))

    def is_gone(self, p: Process) -> bool:
        """Return True if p has crashed, or killed itself."""
        return super().is_gone(p) or self.left_out[p]

    @guard
    def is_alive(self, p: Process) -> bool:
        """Return True if p has not killed itself."""
        return not self.left_out[p]


REPAIRS = (NameItself, TagUnstable, StopReceiving, OwnCopy, BlockSender, Suicide)
"""All repairs of figure 29."""
