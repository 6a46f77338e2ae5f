"""Pinwheel: like CM, but every message says how far its sender has delivered, so that stability is known
sooner.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, second paragraph, and section 5, second paragraph: hgsn is piggybacked
in all messages, a process may have `window` (m) outstanding updates, and the holder acknowledges one or more
of them.

What is modelled: as in `chang_maxemchuk.algorithm`, and `heard[p][q]`, R_p[q]. A MSG carries the hgsn that
its sender had when it multicast the MSG, an ACK its own gsn; p updates `heard` from what it receives for the
first time. What is decided here: the token is passed by a step of its own, after one ACK or more, or none
after a silence. The paper does not say when a holder passes an idle token; if it never did, a token could
wait where no update comes. A process that sends an ACK has obtained the update, and delivers it in a step of
its own.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, action, everywhere, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count, Number, Sequence
from antiphon.spec.services import Message, Process


class Notifying(Sequence):
    """Common part of Pinwheel and of Pinwheel over queues: positive notification, several outstanding
    updates, several acknowledgements for each holder.
    """

    window: Const[int] = 2

    heard: Map[Process, Map[Process, Count]] = everywhere(everywhere(0))
    stamp: Map[Message, Count] = everywhere(0)
    sender: Map[Number, Process | None] = everywhere(None)
    holder: Process = Process(0)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Multicast an update with hgsn_p (`Each LTM_i piggybacks hgsn_i in messages it sends out`)."""
        super().broadcast(p, m)
        self.stamp[m] = self.piggybacked(p)

    def piggybacked(self, p: Process) -> Count:
        """Return `hgsn_i`, the gsn that was delivered to P_i last."""
        return self.status[p]

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """Give the next gsn to m, as the holder, which has every update acknowledged so far."""
        require(p == self.holder and self.has_all(p) and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)
        self.sender[self.assigned] = p
        self.hear(p, p, self.assigned)

    def pass_on(self, p: Process) -> None:
        """Pass the token to the next process of the cycle."""
        self.holder = Process((p.index + 1) % self.processes)

    def obtain(self, p: Process, m: Message) -> None:
        """Note that p has received m, and note the hgsn of its sender (`maintains hgsn_j it has received from
        LTM_j`).
        """
        super().obtain(p, m)
        q = self.source[m]
        if q is not None:
            self.hear(p, q, self.stamp[m])

    def learn(self, p: Process) -> None:
        """Learn, at p, the next gsn, and with it the hgsn of its giver (`the gsn assigned to the message by
        LTM_i is equal to hgsn_i`).
        """
        super().learn(p)
        q = self.sender[self.acknowledged[p]]
        if q is not None:
            self.hear(p, q, self.acknowledged[p])

    def advance(self, p: Process, k: Number) -> None:
        """Deliver at p as the protocol of Chang and Maxemchuk (CM) does, and update p's own hgsn to k."""
        super().advance(p, k)
        self.hear(p, p, k)

    def hear(self, p: Process, q: Process, h: Count) -> None:
        """Raise R_p[q], what p knows of q's hgsn, to h; a lower h changes nothing."""
        self.heard[p][q] = max(self.heard[p][q], h)


class Pinwheel(Notifying):
    """Pinwheel, the protocol with the token passed in a step of its own."""

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """Pass the token after any number of acknowledgements, also after none."""
        require(p == self.holder)
        self.pass_on(p)
