"""Properties of figures 2 and 5: reliable broadcast, and the token's list compared with the deliveries."""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, everywhere, invariant, witness
from antiphon.spec.protocols.token_broadcast.bounds import Figure2Bounded, Figure5Bounded
from antiphon.spec.protocols.token_broadcast.figure5 import Stage
from antiphon.spec.services import Message, Process, ReliableBroadcast


class Figure2Checked(Figure2Bounded, ReliableBroadcast):
    """Properties of figure 2.

    `lister` remembers who listed a message, `returned` the messages whose lister has had the token again.
    """

    lister: Map[Message, Process | None] = everywhere(None)
    returned: Set[Message] = Set()

    @action(fairness="weak")
    def receive_token(self, p: Process, missing: Message | None) -> None:
        """Receive the token at p (lines 7-13), and record which messages p lists now, and that those which it
        listed earlier have come back.
        """
        super().receive_token(p, missing)
        self.returned |= {m for m in self.each(Message) if self.lister[m] == p}
        for m in self.each(Message):
            if m in self.listed and self.lister[m] is None:
                self.lister[m] = p

    @invariant
    def ReturnMeansDelivered(self) -> bool:
        """Invariant: when the token returns to the process that listed m, all have delivered m."""
        return all(m in self.delivered_queue[p] for m in self.returned for p in self.each(Process))

    @witness
    def TokenListsAll(self) -> bool:
        """Witness: the token lists every message that can be broadcast."""
        return len(self.listed) == self.messages

    @witness
    def TokenReturns(self) -> bool:
        """Witness: the token has returned to a process that had put a message on the token's list."""
        return len(self.returned) > 0

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was broadcast, and every process has delivered every message."""
        return self.broadcasts == self.messages and all(
            len(self.delivered_queue[p]) == self.messages for p in self.each(Process)
        )


class Figure5Checked(Figure5Bounded, ReliableBroadcast):
    """Properties of figure 5."""

    @invariant
    def ListedWherePassed(self) -> bool:
        """Invariant: no process holds the token at line 15 with a listed message that it has not
        delivered.
        """
        return all(
            self.holder != p
            or self.stage is not Stage.passing
            or all(m in self.delivered_queue[p] for m in self.listed)
            for p in self.each(Process)
        )

    @witness
    def Recovered(self) -> bool:
        """Witness: the holder waits for a message that it missed."""
        return self.stage is Stage.waiting

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was broadcast, and every process has delivered every message."""
        return self.broadcasts == self.messages and all(
            len(self.delivered_queue[p]) == self.messages for p in self.each(Process)
        )
