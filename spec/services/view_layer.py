"""The machine of view synchrony as the layer below a protocol: whatever the machine may deliver and install,
it delivers and installs, and nothing else.

`ViewSynchronousFollower` says that a protocol does what the machine may do; this is the other direction. What
holds over the machine holds over every layer that refines it, as far as it is safety, and Horus' MBRSHIP with
its flush as messages is one (`FlushedViewSynchrony`), which keeps the order of each sender (`FlushFifo`).

The protocol gives every multicast a name of the machine, one after the other; its own action hears what
`may_hear_next` allows. The own copy of a sender is delivered at once. Each fault breaks one promise of the
layer, so that a protocol that needs the promise is seen to need it.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, instance, mutation
from antiphon.spec.services.events import Installed, Message, Process, View
from antiphon.spec.services.view_machine import ViewSynchronousState


class ViewSynchronousLayer(instance(ViewSynchronousState, "machine")):  # type: ignore[misc]
    """The machine, which delivers what one process has sent in a view in the order in which it was sent.

    `named` is how many multicasts have a name: the first has that of the first message, and so on.
    """

    named: Annotated[int, Between(0, "messages")] = 0

    def name_multicast(self, sender: Process) -> None:
        """The machine has another message, which its sender has delivered."""
        m = Message(self.named)
        self.named += 1
        self.machine_note_submission(sender, m)
        self.machine_note_delivery(sender, m)

    def may_hear_next(self, p: Process, m: Message) -> bool:
        """The machine may deliver m to p."""
        is_possible: bool = self.machine_may_deliver(p, m)
        return is_possible and self.is_in_turn(p, m)

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """P has delivered what the sender of m has sent before it in the view."""
        return not any(
            k < m
            and self.machine_author[k] == self.machine_author[m]
            and self.machine_sending_view[k] == self.machine_sending_view[m]
            and self.machine_delivery_view[p][k] == 0
            for k in self.each(Message)
        )


@mutation("a process goes on with what it has")
class GoesOn(ViewSynchronousLayer):
    """Without View Synchrony."""

    def machine_has_the_same(self, p: Process, w: View) -> bool:
        """Whatever p has delivered."""
        return True

    def machine_is_too_late(self, p: Process, m: Message) -> bool:
        """Whatever the others have taken along."""
        return False


@mutation("who goes on first leaves behind what others have delivered")
class Hasty(ViewSynchronousLayer):
    """The first does not ask the others."""

    def machine_has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Planted fault: no process is asked."""
        return False


@mutation("multicasts of one sender are delivered in any order")
class AnyOrder(ViewSynchronousLayer):
    """Without FIFO order."""

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """Always."""
        return True


LAYER_FAULTS = (GoesOn, Hasty, AnyOrder)
"""Faults that can be planted into the layer."""
