"""Readings of open sentences on UNICAST and NAKACK; the meaning of the text itself comes first."""

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
    """The document asks UNICAST for retransmission, not for order."""

    @action(fairness="weak")
    def receive_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """FORWARD, at the coordinator: Multicast(M,S)."""
        p = packet.to
        require(self.may_take_forward(p, packet.sender))
        self.loose -= {packet}
        self.multicast_data(p, packet.sender, packet.number, packet.message)

    @action(fairness="weak")
    def refuse_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """FORWARD, "If not coord: error and return"."""
        require(self.is_refused(packet.to))
        self.loose -= {packet}


loopback = ambiguity(
    "loopback",
    "at once",
    about="whether the coordinator receives its own multicast as it sends it, or later, as everybody else",
)


@loopback.reading("queued")
class LoopbackQueued(Sequencer):
    """The own copy comes back by NAKACK."""

    def loop_back(self, p: Process, packet: Data) -> None:
        """Do nothing: it comes later."""


self_unicast = ambiguity(
    "self_unicast",
    "at once",
    about="whether what a new coordinator sends to the new coordinator arrives as it is sent, or through "
    "UNICAST",
)


@self_unicast.reading("queued")
class SelfUnicastQueued(Sequencer):
    """A new coordinator's message to itself takes its time."""

    def resend_to_itself(self, p: Process, k: Number, m: Message) -> None:
        """By UNICAST."""
        self.unicast_to(p, p, Forward(p, p, k, m))


from_left = ambiguity(
    "from_left",
    "taken",
    about="whether UNICAST passes up what was sent by a process that is not in the view of the receiver any "
    "more",
)


@from_left.reading("refused")
class FromLeftRefused(Sequencer):
    """UNICAST drops the connections of members that left."""

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Q is in p's view."""
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
    """Reading: the text warns of this: "otherwise we would change the original message"."""

    def relabel(self, p: Process) -> None:
        """NAKACK's message names B."""
        self.window[p] = Process(1)
