"""SEQUENCER over the machine of view synchrony: the machine is all that it has below it, with FIFO order of
each sender's multicasts.

`over_flush` shows that the repair `flush` does what the machine may do; this is the other direction
(`services.view_layer`). Who is in a view `Membership` says. Half of the `messages` names are left for what is
multicast again. The own copy of a coordinator is delivered at once, as `loopback` has it.

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
    """SEQUENCER, whose multicasts are messages of the machine. `packet_of[m]` is what m stands for."""

    packet_of: Map[Message, Data | None] = everywhere(None)

    @initial
    def found(self) -> None:
        """Both begin."""
        super().found()
        self.machine_found()

    @constraint("send")
    def has_names(self) -> bool:
        """Two names are left for a message."""
        return 2 * self.broadcasts + 2 <= self.messages

    @constraint("receive_data", "admit", "reform", "suspect", "leave", "hand_over")
    def is_left_out(self) -> bool:
        """The machine delivers; views change for crashes."""
        return False

    @action
    def send(self, p: Process, m: Message) -> None:
        """Not while p's view ends."""
        require(self.machine_may_send(p))
        super().send(p, m)

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """Not while p's view ends."""
        return super().may_take_forward(p, q) and self.machine_may_send(p)

    def multicast(self, sender: Process, packet: Data) -> None:
        """The machine has a message."""
        self.packet_of[Message(self.named)] = packet
        self.name_multicast(sender)

    def loop_back(self, p: Process, packet: Data) -> None:
        """The own copy comes first."""
        self.unwrap(p, packet)

    @action(fairness="weak")
    def hear_next(self, p: Process, m: Message) -> None:
        """The machine delivers m to p."""
        require(self.may_hear_next(p, m))
        self.machine_note_delivery(p, m)
        packet = self.packet_of[m]
        if packet is not None:
            self.unwrap(p, packet)

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """P goes on when the machine may."""
        require(self.may_install(p))
        require(self.machine_may_install(p, self.formed, self.members[self.formed]))
        super().change_view(p)

    def install(self, p: Process) -> None:
        """Before it sends anything again."""
        super().install(p)
        self.machine_note_installation(p, self.formed, self.members[self.formed])

    @environment
    def crash(self, p: Process) -> None:
        """P stops for ever."""
        super().crash(p)
        self.machine_dead[p] = True


class SequencerOverViewsChecked(SequencerOverViews, TotalOrderBroadcast, mutations=LAYER_FAULTS):
    """SEQUENCER over the machine, judged by total order broadcast."""

    @witness
    def HeardInTheNextView(self) -> bool:
        """Two have gone on after a crash, and have delivered a message of the next view."""
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
