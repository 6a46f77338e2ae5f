"""Repairs of figure 2: each changes one line, and names the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import initial, repair
from antiphon.spec.protocols.token_broadcast.figure2 import Figure2
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(Figure2):
    """Repair of figure 2, line 7. Printed: "Upon reception of token from s-1 mod n", and nothing gives
    anybody the first token. Repaired: the token starts at p0.
    """

    @initial
    def start(self) -> None:
        """Put the token on its way to the first process."""
        self.token_to = Process(0)


@repair("line 20: a message that the token already brought is not delivered again", answers="RBC-01")
class DeliverOnce(Figure2):
    """Repair of figure 2, line 20. Printed: "deliver (m)", even if deliveredQ has m. Repaired: a message that
    the token already brought is not delivered again.
    """

    def hand_over(self, p: Process, m: Message) -> None:
        """Deliver m only if it is not in deliveredQ."""
        if m not in self.delivered_queue[p]:
            super().hand_over(p, m)


@repair("lines 8-10: every missing message of the token is delivered, not one", answers="RBC-03")
class RecoverAll(Figure2):
    """Repair of figure 2, lines 8-10. Printed: "if there is an m' in token.delivered", which delivers one
    message. Repaired: every missing message of the token is delivered.
    """

    def catch_up(self, p: Process, missing: Message | None) -> None:
        """Deliver each message of the token's list that p has not delivered."""
        for m in self.each(Message):
            if m in self.listed and m not in self.delivered_queue[p]:
                self.hand_over(p, m)


REPAIRS = (StartToken, DeliverOnce, RecoverAll)
