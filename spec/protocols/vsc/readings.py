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
    """Reading: no process sends to itself, nor waits for itself."""

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
    """Reading: a message that comes too early is not received at all."""

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
    """Reading: a message that comes too late is delivered late."""

    def arrives(self, packet: Data) -> bool:
        return packet.view <= self.in_view[packet.to] and self.takes_messages(packet.to)

    def is_delivered(self, packet: Data) -> bool:
        return packet.message not in self.handed[packet.to]

    def is_over(self, p: Process, packet: Data) -> bool:
        return False


READINGS = (to_all, early, late)
