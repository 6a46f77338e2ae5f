"""Repairs of figure 5: each changes one line, and names the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import initial, repair
from antiphon.spec.protocols.token_broadcast.figure5 import Figure5, Stage
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(Figure5):
    """Repair of figure 5, line 7. Printed: "Upon reception of token from s-1 mod n", and nothing gives
    anybody the first token. Repaired: the token starts at p0.
    """

    @initial
    def start(self) -> None:
        """Put the token on its way to the first process."""
        self.token_to = Process(0)


@repair("lines 13 and 25: a message that is in deliveredQ is not delivered again", answers="RBC-05")
class DeliverOnce(Figure5):
    """Repair of figure 5, lines 13 and 25. Printed: "deliver (m')" and "deliver (m)", even if deliveredQ has
    the message. Repaired: a message in deliveredQ is not delivered again.
    """

    def hand_over(self, p: Process, m: Message) -> None:
        """Deliver m only if it is not in deliveredQ."""
        if m not in self.delivered_queue[p]:
            super().hand_over(p, m)


@repair(
    "lines 8-14: every missing message of the token is recovered before it is passed, not one",
    answers="RBC-09",
)
class RecoverAll(Figure5):
    """Repair of figure 5, lines 8-14. Printed: "if there is an id(m') in token.delivered", which recovers one
    message. Repaired: every missing message of the token is recovered before the token is passed.
    """

    def stage_after_one(self) -> Stage:
        """Return the stage of line 8, so that the holder tests again for a missing message."""
        return Stage.checking


REPAIRS = (StartToken, DeliverOnce, RecoverAll)
