"""Pinwheel over queues, like CM in `chang_maxemchuk.queues`: an ACK says whether it passes the token to the
next of the cycle.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, second paragraph, and section 5: "the token holder to acknowledge one
or more multicast messages".

What is decided here: the last ACK that a holder can give passes the token. A token that nobody needs stays
where it is, for every update comes to its holder.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, action, everywhere, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.chang_maxemchuk.bounds import InTurn
from antiphon.spec.protocols.chang_maxemchuk.queues import InQueues
from antiphon.spec.protocols.pinwheel.algorithm import Notifying
from antiphon.spec.services import Message, Process


class PinwheelInQueues(InQueues, Notifying):
    """Pinwheel over queues; `token[p]` is the token holder according to the ACKs that p has."""

    passes: Map[Number, bool] = everywhere(False)
    token: Map[Process, Process] = everywhere(Process(0))

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """Give the next gsn to m, as the holder, which has every update acknowledged so far; the last ACK
        passes the token.
        """
        require(self.is_first(p, m))
        super().acknowledge(p, m)
        if all(self.is_numbered(other) for other in self.obtained[p]):
            self.passes[self.assigned] = True
            self.pass_on(p)
        self.token[p] = self.holder
        self.collect(p)

    def learn(self, p: Process) -> None:
        """Learn, at p, the next ACK, which also names the token holder."""
        super().learn(p)
        k = self.acknowledged[p]
        t = self.sender[k]
        if t is not None:
            self.token[p] = Process((t.index + 1) % self.processes) if self.passes[k] else t

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if all have gsn k, as far as p knows: `g <= min({R_i[k] | 1 <= k <= n})`."""
        return all(self.heard[p][q] >= k for q in self.each(Process))


class PinwheelBounded(PinwheelInQueues, InTurn):
    """Pinwheel over queues with known senders."""
