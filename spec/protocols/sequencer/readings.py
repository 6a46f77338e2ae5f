"""Readings of open sentences on UNICAST and NAKACK; the first meaning of each is that of the text."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment.fifo import LooseUnicast
from antiphon.spec.lang import In, action, ambiguity, require
from antiphon.spec.protocols.sequencer.design import Data, Forward, Number, Sequencer
from antiphon.spec.protocols.sequencer.shallow_copy import SequencerCopy
from antiphon.spec.services import Message, Process

unicast = ambiguity(
    "unicast", "fifo", about="whether two messages from one process to another arrive in the order of sending"
)


@unicast.reading("unordered")
class UnicastUnordered(Sequencer, LooseUnicast[Forward]):
    """Reading of SEQUENCER: UNICAST keeps no order, since the document asks it for retransmission only."""

    @action(fairness="weak")
    def receive_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """Receive a FORWARD at the coordinator, in any order: Multicast(M,S)."""
        p = packet.to
        require(self.may_take_forward(p, packet.sender))
        self.loose -= {packet}
        self.multicast_data(p, packet.sender, packet.number, packet.message)

    @action(fairness="weak")
    def refuse_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """Refuse a FORWARD ("If not coord: error and return")."""
        require(self.is_refused(packet.to))
        self.loose -= {packet}


loopback = ambiguity(
    "loopback",
    "at once",
    about="whether the coordinator receives its own multicast as it sends it, or later, as everybody else",
)


@loopback.reading("queued")
class LoopbackQueued(Sequencer):
    """Reading of SEQUENCER: a sender's own copy comes back by NAKACK, not at once."""

    def loop_back(self, p: Process, packet: Data) -> None:
        """Do nothing: the own copy comes later, by NAKACK."""


self_unicast = ambiguity(
    "self_unicast",
    "at once",
    about="whether what a new coordinator sends to the new coordinator arrives as it is sent, or through "
    "UNICAST",
)


@self_unicast.reading("queued")
class SelfUnicastQueued(Sequencer):
    """Reading of SEQUENCER: a new coordinator's message to itself is queued like any other."""

    def resend_to_itself(self, p: Process, k: Number, m: Message) -> None:
        """Send the message to p itself by UNICAST."""
        self.unicast_to(p, p, Forward(p, p, k, m))


from_left = ambiguity(
    "from_left",
    "taken",
    about="whether UNICAST passes up what was sent by a process that is not in the view of the receiver any "
    "more",
)


@from_left.reading("refused")
class FromLeftRefused(Sequencer):
    """Reading of SEQUENCER: UNICAST drops connections to members that left."""

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Return True if p takes a FORWARD of q: p is the coordinator, q sends to p, and q is in p's view."""
        return super().may_take_forward(p, q) and q in self.current_members(p)


READINGS = (unicast, loopback, self_unicast, from_left)

relabelling = ambiguity(
    "relabelling",
    "copy",
    about="whether SEQUENCER sets the sender's address on a copy of the message, as the text demands, or on "
    "the message",
)


@relabelling.reading("in place")
class RelabellingInPlace(SequencerCopy):
    """Reading of SEQUENCER: the coordinator relabels the message itself, not a copy, though the text warns:
    "otherwise we would change the original message".
    """

    def relabel(self, p: Process) -> None:
        """Write B's name as the sender into the message that NAKACK keeps at p, not into a copy."""
        self.window[p] = Process(1)
