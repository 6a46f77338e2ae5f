"""SEQUENCER with a flush beside the machine of view synchrony: each multicast is sent, received and dropped
as the machine allows.

Horus' MBRSHIP with its flush as messages (`horus.flush`) refines the same machine. So the repair `flush` is
an ordinary flush, and the properties that SEQUENCER has with it hold over Horus' flush as well. A multicast
gets the machine's names one after the other: a message that is multicast again by a new coordinator gets a
second name, so that of `messages` names half are left for messages that are sent.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design": "I
decided not to implement this, because this implies flushing".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Map, Seq, constraint, environment, everywhere, initial
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Data
from antiphon.spec.services import Message, Process
from antiphon.spec.services.view_machine import ViewSynchronousFollower


class SequencerOverFlush(SequencerBounded, ViewSynchronousFollower):
    """SEQUENCER beside the machine of view synchrony. `names[s]` are the machine's names for the multicasts
    of s.
    """

    names: Map[Process, Annotated[Seq[Message], AtMost("messages + room")]] = everywhere(())
    named: Annotated[int, Between(0, "messages")] = 0

    @initial
    def found(self) -> None:
        """Found the group, in SEQUENCER and in the machine of view synchrony."""
        super().found()
        self.machine_found()

    @constraint("send")
    def has_names(self) -> bool:
        """Bound: a message is sent only if two names are left for it."""
        return 2 * self.broadcasts + 2 <= self.messages

    def multicast(self, sender: Process, packet: Data) -> None:
        """Multicast a message, and submit it to the machine of view synchrony."""
        m = Message(self.named)
        self.named += 1
        self.names[sender] += (m,)
        super().multicast(sender, packet)
        self.follow_broadcast(sender, m)

    def hear(self, sender: Process, to: Process) -> None:
        """Receive a multicast, and deliver it in the machine of view synchrony."""
        self.follow_delivery(to, self.names[sender][self.heard[sender][to]])
        super().hear(sender, to)

    def install(self, p: Process) -> None:
        """Install the view at p, in SEQUENCER and in the machine of view synchrony."""
        super().install(p)
        self.follow_installation(p, self.formed, self.members[self.formed])

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, in SEQUENCER and in the machine of view synchrony."""
        super().crash(p)
        self.follow_crash(p)

    @environment
    def leave(self, p: Process) -> None:
        """Stop p, in SEQUENCER and, as a crash, in the machine of view synchrony."""
        super().leave(p)
        self.follow_crash(p)
