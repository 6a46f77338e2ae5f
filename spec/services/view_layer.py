"""Machine of view synchrony as the layer below a protocol: it delivers and installs everything that the
machine may, and nothing else.

`ViewSynchronousFollower` checks that a protocol does only what the machine may do; this module does the
opposite, and lets the machine do everything that it may. A safety property that holds over the machine holds
over every layer that refines it. Horus' MBRSHIP with its flush as messages is such a layer
(`FlushedViewSynchrony`), and keeps the order of each sender (`FlushFifo`).

The machine has numbered messages. The protocol makes each of its multicasts the next of them
(`name_multicast`), and its own action delivers what `may_hear_next` allows. A sender delivers its own message
at once. Each planted fault breaks one promise of the layer, to show which protocols need the promise.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, instance, mutation
from antiphon.spec.services.events import Installed, Message, Process, View
from antiphon.spec.services.view_machine import ViewSynchronousState


class ViewSynchronousLayer(instance(ViewSynchronousState, "machine")):  # type: ignore[misc]
    """Machine of view synchrony, which delivers the messages of one sender in a view in the order of sending.

    `named` is the number of multicasts so far: multicast k is the machine's message k.
    """

    named: Annotated[int, Between(0, "messages")] = 0

    def name_multicast(self, sender: Process) -> None:
        """Give the machine's next message to a multicast: its sender submits and delivers it at once."""
        m = Message(self.named)
        self.named += 1
        self.machine_note_submission(sender, m)
        self.machine_note_delivery(sender, m)

    def may_hear_next(self, p: Process, m: Message) -> bool:
        """Return True if p may receive m next: the machine of view synchrony may deliver m at p, and m is in
        turn.
        """
        is_possible: bool = self.machine_may_deliver(p, m)
        return is_possible and self.is_in_turn(p, m)

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered all messages that m's sender sent in the view before m."""
        return not any(
            k < m
            and self.machine_author[k] == self.machine_author[m]
            and self.machine_sending_view[k] == self.machine_sending_view[m]
            and self.machine_delivery_view[p][k] == 0
            for k in self.each(Message)
        )


@mutation("a process goes on with what it has")
class GoesOn(ViewSynchronousLayer):
    """Planted fault in the layer of view synchrony: a process goes on to the next view with whatever it has.
    Breaks View Synchrony.
    """

    def machine_has_the_same(self, p: Process, w: View) -> bool:
        """Return True: p may go on whatever it has delivered (fault)."""
        return True

    def machine_is_too_late(self, p: Process, m: Message) -> bool:
        """Return False: the machine never refuses a message as too late (fault)."""
        return False


@mutation("who goes on first leaves behind what others have delivered")
class Hasty(ViewSynchronousLayer):
    """Planted fault in the layer of view synchrony: the first process to go on ignores what others have
    delivered.
    """

    def machine_has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Return False: no other process counts as having delivered m."""
        return False


@mutation("multicasts of one sender are delivered in any order")
class AnyOrder(ViewSynchronousLayer):
    """Planted fault in the layer of view synchrony: messages of one sender are delivered in any order. Breaks
    FIFO order.
    """

    def is_in_turn(self, p: Process, m: Message) -> bool:
        """Return True: without an order among messages any message may be delivered next."""
        return True


LAYER_FAULTS = (GoesOn, Hasty, AnyOrder)
"""Faults that can be planted into the layer."""
