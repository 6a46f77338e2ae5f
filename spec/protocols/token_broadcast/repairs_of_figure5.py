"""The repairs of figure 5: each changes one line, and says which claim it answers."""

from __future__ import annotations

from antiphon.spec.lang import initial, repair
from antiphon.spec.protocols.token_broadcast.figure5 import Figure5, Stage
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(Figure5):
    """Line 7: "Upon reception of token from s-1 mod n", and lines 5-6 give it to nobody."""

    @initial
    def start(self) -> None:
        """The token is on its way to the first process."""
        self.token_to = Process(0)


@repair("lines 13 and 25: a message that is in deliveredQ is not delivered again", answers="RBC-05")
class DeliverOnce(Figure5):
    """Lines 13 and 25: "deliver (m')" and "deliver (m)", whatever deliveredQ says."""

    def hand_over(self, p: Process, m: Message) -> None:
        """Only what is not in deliveredQ."""
        if m not in self.delivered_queue[p]:
            super().hand_over(p, m)


@repair(
    "lines 8-14: every missing message of the token is recovered before it is passed, not one",
    answers="RBC-09",
)
class RecoverAll(Figure5):
    """Line 8: "if there is an id(m') in token.delivered"."""

    def stage_after_one(self) -> Stage:
        """Line 8 is asked again."""
        return Stage.checking


REPAIRS = (StartToken, DeliverOnce, RecoverAll)
