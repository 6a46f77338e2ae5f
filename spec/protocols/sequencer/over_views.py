"""SEQUENCER over the machine of view synchrony: below it is only the machine, with FIFO order of each
sender's multicasts.

`over_flush` shows that the repair `flush` does what the machine may do; this is the other direction
(`services.view_layer`). `Membership` determines the members of views. Half of the `messages` names are left
for messages that are multicast again. The own copy of a coordinator is delivered at once, as in reading
`loopback`.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design": "I
decided not to implement this, because this implies flushing".
"""

from __future__ import annotations

from antiphon.spec.lang import Map, action, constraint, environment, everywhere, initial, require, witness
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Data
from antiphon.spec.services import Message, Process, TotalOrderBroadcast
from antiphon.spec.services.view_layer import LAYER_FAULTS, ViewSynchronousLayer


class SequencerOverViews(SequencerBounded, ViewSynchronousLayer):
    """SEQUENCER, whose multicasts are messages of the machine of view synchrony. `packet_of[m]` is the packet
    that m stands for.
    """

    packet_of: Map[Message, Data | None] = everywhere(None)

    @initial
    def found(self) -> None:
        """Found the group, in SEQUENCER and in the machine of view synchrony."""
        super().found()
        self.machine_found()

    @constraint("send")
    def has_names(self) -> bool:
        """Bound: a message is sent only if two names are left for it."""
        return 2 * self.broadcasts + 2 <= self.messages

    @constraint("receive_data", "admit", "reform", "suspect", "leave", "hand_over")
    def is_left_out(self) -> bool:
        """Bound: these steps never happen, since views change for crashes only, and the machine of view
        synchrony excludes nobody else.
        """
        return False

    @action
    def send(self, p: Process, m: Message) -> None:
        """Send m, unless p's view is ending."""
        require(self.machine_may_send(p))
        super().send(p, m)

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Return True if p takes a FORWARD of q: not while p's view is ending."""
        return super().may_take_forward(p, q) and self.machine_may_send(p)

    def multicast(self, sender: Process, packet: Data) -> None:
        """Multicast a packet as a message of the machine of view synchrony."""
        self.packet_of[Message(self.named)] = packet
        self.name_multicast(sender)

    def loop_back(self, p: Process, packet: Data) -> None:
        """Deliver the coordinator's own copy at once, before any other message."""
        self.unwrap(p, packet)

    @action(fairness="weak")
    def hear_next(self, p: Process, m: Message) -> None:
        """Receive m, which the machine of view synchrony delivers to p."""
        require(self.may_hear_next(p, m))
        self.machine_note_delivery(p, m)
        packet = self.packet_of[m]
        if packet is not None:
            self.unwrap(p, packet)

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """Change the view at p when the machine of view synchrony allows it."""
        require(self.may_install(p))
        require(self.machine_may_install(p, self.formed, self.members[self.formed]))
        super().change_view(p)

    def install(self, p: Process) -> None:
        """Install the view at p, and record in the abstract machine that p has installed it."""
        super().install(p)
        self.machine_note_installation(p, self.formed, self.members[self.formed])

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, in SEQUENCER and in the machine of view synchrony."""
        super().crash(p)
        self.machine_dead[p] = True


class SequencerOverViewsChecked(SequencerOverViews, TotalOrderBroadcast, mutations=LAYER_FAULTS):
    """SEQUENCER over the machine of view synchrony, judged by total order broadcast."""

    @witness
    def HeardInTheNextView(self) -> bool:
        """Witness: two processes have gone on after a crash, and have delivered a message of the
        next view.
        """
        return any(
            p != q and self.delivered[p][m] and self.delivered[q][m]
            and any(
                self.machine_delivery_view[p][k] == 2 and self.machine_delivery_view[q][k] == 2
                for k in self.each(Message)
            )
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )  # fmt: skip
