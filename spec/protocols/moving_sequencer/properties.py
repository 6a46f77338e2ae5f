"""Properties of figure 12: total order broadcast, and that each number belongs to one message.

`MovingSequencerCrashing` lets processes stop, of which the figure says nothing.
"""

from __future__ import annotations

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import environment, invariant, witness
from antiphon.spec.protocols.moving_sequencer.bounds import MovingSequencerBounded
from antiphon.spec.protocols.moving_sequencer.figure12 import Stage
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class MovingSequencerProperties(MovingSequencerBounded):
    """The moving sequencer, checked against its own properties."""

    @invariant
    def UniqueNumbers(self) -> bool:
        """Invariant: a number belongs to one message, and a message has one number (section 3.1.2)."""
        return all(
            (a.number == b.number) == (a.message == b.message)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @invariant
    def UniqueMessages(self) -> bool:
        """Invariant: a number belongs to one message."""
        return all(
            a.number != b.number or a.message == b.message
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @witness
    def TokenHeld(self) -> bool:
        """Witness: a process holds the token."""
        return self.holder is not None

    @witness
    def NumberMissed(self) -> bool:
        """Witness: a token holder waits for a number that it missed."""
        return self.stage is Stage.waiting_numbers

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was broadcast, and every process has delivered every message."""
        return self.broadcasts == self.messages and all(
            self.next_deliver[p] == self.messages + 1 for p in self.each(Process)
        )

    @witness
    def NothingInFlight(self) -> bool:
        """Witness: everything is delivered everywhere, and no packet is in flight."""
        return self.AllDelivered() and len(self.network) == 0 and len(self.sent) == 0


class MovingSequencerChecked(MovingSequencerProperties, TotalOrderBroadcast):
    """The moving sequencer, checked against total order broadcast and its own properties."""


class MovingSequencerCrashing(MovingSequencerChecked, Crashes):
    """The moving sequencer among processes that stop by crashes, which no process notices."""

    @environment
    def crash(self, p: Process) -> None:
        """Stop p; the token is lost if p has it or would get it, and so is everything sent to p."""
        super().crash(p)
        if self.holder == p:
            self.holder = None
        if self.token_to == p:
            self.token_to = None
        self.sent -= {packet for packet in self.sent if packet.to == p}
        self.network -= {packet for packet in self.network if packet.to == p}

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send the message to all processes but the stopped ones."""
        super().send_to_all(p, m)
        self.sent -= {packet for packet in self.sent if self.down[packet.to]}

    def may_deliver(self, p: Process, m: Message) -> bool:
        """Return True if p has not stopped, and may deliver."""
        return not self.down[p] and super().may_deliver(p, m)

    @witness
    def OthersDeliver(self) -> bool:
        """Witness: a process has stopped before it delivered everything, and all others have delivered
        everything.
        """
        return any(self.down[p] for p in self.each(Process)) and all(
            self.down[p] != (self.next_deliver[p] == self.messages + 1) for p in self.each(Process)
        )
