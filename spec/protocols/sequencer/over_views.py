"""SEQUENCER over the machine of view synchrony: whatever the machine may deliver and install, it delivers and
installs, and nothing else.

`over_flush` shows that the repair `flush` does what the machine may do; this is the other direction. The
machine is all that SEQUENCER has below it, with FIFO order of each sender's multicasts, and Horus' MBRSHIP
with its flush as messages is such a machine (`FlushedViewSynchrony`) in such an order (`FlushFifo`). So what
holds here holds over those messages, as far as it is safety. Who is in a view `Membership` says.

What is multicast gets a name of the machine, one after the other; half of the `messages` names are left for
what is multicast again. The own copy of a coordinator is delivered at once, as `loopback` has it.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design": "I
decided not to implement this, because this implies flushing".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Map,
    action,
    constraint,
    environment,
    everywhere,
    initial,
    instance,
    mutation,
    require,
    witness,
)
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Data
from antiphon.spec.services import Message, Process, TotalOrderBroadcast
from antiphon.spec.services.events import Installed, View
from antiphon.spec.services.view_machine import ViewSynchronousState


class SequencerOverViews(SequencerBounded, instance(ViewSynchronousState, "machine")):  # type: ignore[misc]
    """SEQUENCER, whose multicasts are messages of the machine. `packet_of[m]` is what m stands for."""

    packet_of: Map[Message, Data | None] = everywhere(None)
    named: Annotated[int, Between(0, "messages")] = 0

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
        m = Message(self.named)
        self.named += 1
        self.packet_of[m] = packet
        self.machine_note_submission(sender, m)

    def loop_back(self, p: Process, packet: Data) -> None:
        """The own copy comes first."""
        self.machine_note_delivery(p, Message(self.named - 1))
        self.unwrap(p, packet)

    @action(fairness="weak")
    def hear_next(self, p: Process, m: Message) -> None:
        """The machine delivers m to p."""
        require(self.machine_may_deliver(p, m) and self.is_in_turn(p, m))
        self.machine_note_delivery(p, m)
        packet = self.packet_of[m]
        if packet is not None:
            self.unwrap(p, packet)

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """P has delivered what the sender of m has sent before it in the view."""
        return not any(
            k < m
            and self.machine_author[k] == self.machine_author[m]
            and self.machine_sending_view[k] == self.machine_sending_view[m]
            and self.machine_delivery_view[p][k] == 0
            for k in self.each(Message)
        )

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


@mutation("a process goes on with what it has")
class GoesOn(SequencerOverViews):
    """Without View Synchrony."""

    def machine_has_the_same(self, p: Process, w: View) -> bool:
        """Whatever p has delivered."""
        return True

    def machine_is_too_late(self, p: Process, m: Message) -> bool:
        """Whatever the others have taken along."""
        return False


@mutation("who goes on first leaves behind what others have delivered")
class Hasty(SequencerOverViews):
    """The first does not ask the others."""

    def machine_has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Nobody is asked."""
        return False


@mutation("multicasts of one sender are delivered in any order")
class AnyOrder(SequencerOverViews):
    """Without FIFO order."""

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """Always."""
        return True


class SequencerOverViewsChecked(SequencerOverViews, TotalOrderBroadcast, mutations=(GoesOn, Hasty, AnyOrder)):
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
