"""Figure 12 is checked against total order broadcast, and each number against one message."""

from __future__ import annotations

from antiphon.spec.lang import invariant, witness
from antiphon.spec.protocols.moving_sequencer.bounds import MovingSequencerBounded
from antiphon.spec.protocols.moving_sequencer.figure12 import Stage
from antiphon.spec.services import Process, TotalOrderBroadcast


class MovingSequencerChecked(MovingSequencerBounded, TotalOrderBroadcast):
    """The moving sequencer and what must be true of it."""

    @invariant
    def UniqueNumbers(self) -> bool:
        """A number belongs to one message, and a message has one number (section 3.1.2)."""
        return all(
            (a.number == b.number) == (a.message == b.message)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @invariant
    def UniqueMessages(self) -> bool:
        """A number belongs to one message."""
        return all(
            a.number != b.number or a.message == b.message
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @witness
    def TokenHeld(self) -> bool:
        """Somebody holds the token."""
        return self.holder is not None

    @witness
    def NumberMissed(self) -> bool:
        """A holder waits for a number that it missed."""
        return self.stage is Stage.waiting_numbers

    @witness
    def AllDelivered(self) -> bool:
        """Everything was broadcast, numbered and delivered everywhere."""
        return self.broadcasts == self.messages and all(
            self.next_deliver[p] == self.messages + 1 for p in self.each(Process)
        )

    @witness
    def NothingInFlight(self) -> bool:
        """Everything is delivered everywhere, and what was sent for it has arrived."""
        return self.AllDelivered() and len(self.network) == 0 and len(self.sent) == 0
