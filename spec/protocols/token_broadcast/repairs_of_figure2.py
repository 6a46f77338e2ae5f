"""The repairs of figure 2: each changes one line, and says which claim it answers."""

from __future__ import annotations

from antiphon.spec.lang import initial, repair
from antiphon.spec.protocols.token_broadcast.figure2 import Figure2
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(Figure2):
    """Line 7: "Upon reception of token from s-1 mod n", and lines 5-6 give it to nobody."""

    @initial
    def start(self) -> None:
        """The token is on its way to the first process."""
        self.token_to = Process(0)


@repair("line 20: a message that the token already brought is not delivered again", answers="RBC-01")
class DeliverOnce(Figure2):
    """Line 20: "deliver (m)", whatever deliveredQ says."""

    def hand_over(self, p: Process, m: Message) -> None:
        """Only what is not in deliveredQ."""
        if m not in self.delivered_queue[p]:
            super().hand_over(p, m)


@repair("lines 8-10: every missing message of the token is delivered, not one", answers="RBC-03")
class RecoverAll(Figure2):
    """Line 8: "if there is an m' in token.delivered"."""

    def catch_up(self, p: Process, missing: Message | None) -> None:
        """Each m' of the list that was not yet delivered."""
        for m in self.each(Message):
            if m in self.listed and m not in self.delivered_queue[p]:
                self.hand_over(p, m)


REPAIRS = (StartToken, DeliverOnce, RecoverAll)
