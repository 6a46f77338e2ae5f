"""Readings of sentences of figure 29 that have several meanings; figure29.py has the printed one."""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.vsc.figure29 import Data, ViewChange
from antiphon.spec.services.events import Process

to_all = ambiguity(
    "to_all",
    "and itself",
    about="whether `send ... to all` means the sender too, so that p_k receives its own (i,m) and its own "
    "unstable_k, or the others, for which speaks that step 3 adds a process to those heard from",
)


@to_all.reading("the others")
class ToAllTheOthers(ViewChange):
    """Reading of figure 29: a process does not send to itself, and does not wait for itself."""

    def is_one_of_all(self, p: Process, q: Process) -> bool:
        return q != p


early = ambiguity(
    "early",
    "kept",
    about="whether a message that arrives before its receiver has installed its view is received in that "
    "view, or is gone: the handler is for `reception of (i,m) by p_k while in view v_i(g)`",
)


@early.reading("gone")
class EarlyGone(ViewChange):
    """Reading of figure 29: a message that comes before its receiver installs the message's view is lost."""

    def arrives(self, packet: Data) -> bool:
        return super().arrives(packet) or packet.view > self.in_view[packet.to]


late = ambiguity(
    "late",
    "never",
    about="whether a message that its receiver does not take before it installs the next view is never "
    "received, as the figure has it, or in the next view",
)


@late.reading("in the next view")
class LateInTheNextView(ViewChange):
    """Reading of figure 29: a message that comes after its receiver has left the message's view is delivered
    in the receiver's next view.
    """

    def arrives(self, packet: Data) -> bool:
        return packet.view <= self.in_view[packet.to] and self.takes_messages(packet.to)

    def is_delivered(self, packet: Data) -> bool:
        return packet.message not in self.handed[packet.to]

    def is_over(self, p: Process, packet: Data) -> bool:
        return False


READINGS = (to_all, early, late)
