"""Readings of `send (m) to all` in figures 2 and 5, and of line 28 of figure 5, besides the text itself."""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.token_broadcast.figure2 import Data, Figure2
from antiphon.spec.protocols.token_broadcast.figure5 import Figure5, Notice
from antiphon.spec.services import Message, Process

OWN_COPY = (
    "whether the sender's own copy of `send (m) to all` is there at once, or travels and may be lost like "
    "the others"
)

own_copy_of_figure_2 = ambiguity("own_copy", "at once", about=OWN_COPY)
own_copy_of_figure_5 = ambiguity("own_copy", "at once", about=OWN_COPY)


@own_copy_of_figure_2.reading("by network")
class OwnCopyByNetwork2(Figure2):
    """Reading of figure 2, line 3: the sender is one of `all`, so its own copy travels through the
    network.
    """

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send a copy to each process, p included."""
        self.network |= {Data(q, m) for q in self.each(Process)}


@own_copy_of_figure_5.reading("by network")
class OwnCopyByNetwork5(Figure5):
    """Reading of figure 5, line 3: the sender is one of `all`, so its own copy travels through the
    network.
    """

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send a copy to each process, p included."""
        self.network |= {Data(q, m) for q in self.each(Process)}


missed = ambiguity(
    "missed",
    "the announced",
    about="lines 28-29 go through token.delivered, which a receiver has not got, and ask for id(m): for the "
    "announced message, if it is not there, or for every message of the token's list that is not there",
)


@missed.reading("the listed")
class MissedListed(Figure5):
    """Reading of figure 5, lines 28-29 (`for all m' in token.delivered, not in recvQ_p`): a process can tell
    from the token which messages it misses.
    """

    def is_missed(self, p: Process, m: Message, packet: Notice) -> bool:
        """Return True for every message that the token lists."""
        return m in self.listed
