"""Does every message of RBP get everywhere in the end, or can one starve? A promise about fair runs, on top of the moving sequencer of figure 16.

What is assumed to be fair stands in the marks of the actions (`rbp.py`): a process that can go on by itself goes on in the end, and so does
each packet: what is in flight, and can be received all the time, is received. Losses need never happen. A promise for each kind of step, and not
for each packet, would be too weak: the copies of one message could be received for ever while another one waits.

It stands apart from `RbpJudged`, since a promise is judged on the whole state graph, and means nothing where timers are limited.
"""

from __future__ import annotations

from antiphon.spec.lang import leads_to
from antiphon.spec.protocols.rbp import RbpJudged
from antiphon.spec.services import Message, Process


class RbpLive(RbpJudged):
    """RBP without failures, with the promise that what is broadcast is delivered everywhere."""

    def is_broadcast(self, m: Message) -> bool:
        """The application has broadcast m."""
        return self.origin[m] is not None

    def is_delivered(self, m: Message) -> bool:
        """Every process has delivered m."""
        return all(self.delivered[p][m] for p in self.each(Process))

    NoMessageStarves = leads_to("is_broadcast", "is_delivered")
