"""The repairs of figure 29: what is printed, what is put in its place, and the claim that asks for it."""

from __future__ import annotations

from antiphon.spec.lang import emit, guard, repair
from antiphon.spec.protocols.vsc.figure29 import ViewChange
from antiphon.spec.services.events import Crash, Message, Process, View


@repair("step 3: View_k is p_k and those heard from", answers="VSC-03")
class NameItself(ViewChange):
    """Printed: `View_k is the set (p_i ∪ the processes from which unstable_i was received)`."""

    def is_named(self, p: Process, named: Process) -> bool:
        return named == p


@repair("step 1: unstable_k carries i, as messages do, and step 2 waits for those of i", answers="VSC-05")
class TagUnstable(ViewChange):
    """Printed: `send unstable_k to all`, `wait until receive unstable_i from p_i`."""

    def set_read(self, p: Process, q: Process) -> View:
        return self.in_view[p]

    def note_unread(self, p: Process, q: Process, heard: bool) -> None:
        """Do nothing: a late set is of an earlier view."""


@repair("from step 1 on nothing is received that unstable_k does not have", answers="VSC-05")
class StopReceiving(ViewChange):
    """Printed: `Upon reception of (i,m) by p_k while in view v_i(g)`, which p_k is until step 7."""

    def takes_messages(self, p: Process) -> bool:
        return not self.is_changing(p)


@repair("VSCast: p_k has its own message at once, so that unstable_k has it", answers="VSC-06")
class OwnCopy(ViewChange):
    """Printed: `send (i,m) to all in v_i(g)`, of which p_k receives its copy when it arrives."""

    def send_to_all(self, p: Process, m: Message) -> None:
        super().send_to_all(p, m)
        self.network -= {packet for packet in self.network if packet.to == p and packet.message == m}
        self.take(p, m)


@repair("VSCast waits from step 1 until the next view is installed", answers="VSC-06")
class BlockSender(ViewChange):
    """Printed: no condition."""

    def may_send(self, p: Process) -> bool:
        return not self.is_changing(p)


@repair("step 7: `else suicide`, as section 4.3.4 has it", answers="VSC-08")
class Suicide(ViewChange):
    """Printed: `if p_k ∈ View, then install View as the next view`."""

    def stay_out(self, p: Process) -> None:
        super().stay_out(p)
        self.network -= {packet for packet in self.network if packet.to == p}
        emit(Crash(p))

    def is_gone(self, p: Process) -> bool:
        """P has crashed, or killed itself."""
        return super().is_gone(p) or self.left_out[p]

    @guard
    def is_alive(self, p: Process) -> bool:
        """P has not killed itself."""
        return not self.left_out[p]


REPAIRS = (NameItself, TagUnstable, StopReceiving, OwnCopy, BlockSender, Suicide)
"""All of them."""
