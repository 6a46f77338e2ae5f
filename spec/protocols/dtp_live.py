"""Is every update delivered in the end, as Theorem 2 says? A promise about fair runs, on top of DTP.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, section 4.3.

What is assumed to be fair stands in the marks of the actions (`dtp`): each process that can go on by itself goes on in the end, its timeouts
come, and a packet that is in flight, and can be received all the time, is received. Losses need never happen. It stands apart from `DtpJudged`,
since a promise is judged on the whole state graph, and means nothing where timers are limited.
"""

from __future__ import annotations

from antiphon.spec.lang import leads_to
from antiphon.spec.protocols.dtp_judged import DtpJudged
from antiphon.spec.services import Message, Process


class DtpLive(DtpJudged):
    """DTP, with the promise of Theorem 2."""

    def is_broadcast(self, m: Message) -> bool:
        """The application has handed over m."""
        return self.origin[m] is not None

    def is_delivered_by_all(self, m: Message) -> bool:
        """Every process has delivered m."""
        return all(self.delivered[p][m] for p in self.each(Process))

    EveryMessageDelivered = leads_to("is_broadcast", "is_delivered_by_all")
