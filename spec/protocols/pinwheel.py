"""How does Pinwheel know sooner what is stable? Whoever sends anything says how far it has delivered.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, sections 3
(second paragraph) and 5 (second), which describe the protocol of Cristian and Mishra (1995) to compare with: as CM, but hgsn is piggybacked in
all messages, a process may have `window` outstanding updates, and the holder acknowledges one or more of them.

What is modelled: as in `chang_maxemchuk`, and `heard[p][q]`, R_p[q]. A MSG or an ACK of q that arrives is `hear`: it carries the hgsn that q had
when it sent it, or a lower one when it comes late. The token is passed by a step of its own, after one ACK or more, or none after a silence (not
in the paper's words, which leave open when a holder of Pinwheel passes an idle token; without it a token can wait where no update comes).
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, action, everywhere, invariant, require, witness
from antiphon.spec.protocols.chang_maxemchuk import Count, Number, Sequence
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class Pinwheel(Sequence):
    """Pinwheel: positive notification, several outstanding updates, several acknowledgements a holder."""

    window: Const[int] = 2

    heard: Map[Process, Map[Process, Count]] = everywhere(everywhere(0))
    holder: Process = Process(0)

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """The holder that has all that is acknowledged gives the next gsn; its own hgsn follows when it delivers."""
        require(p == self.holder and self.has_all(p) and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """The next process of the cycle has the token."""
        require(p == self.holder)
        self.holder = Process((p.index + 1) % self.processes)

    @action(fairness="weak")
    def hear(self, p: Process, q: Process, h: Count) -> None:
        """A message of q arrives at p with the hgsn of q piggybacked: R_p[q]; an old one changes nothing."""
        require(h <= self.status[q] and h > self.heard[p][q])
        self.heard[p][q] = h

    @invariant
    def StableIsDelivered(self) -> bool:
        """What LTM_i takes for stable, `g <= min({R_i[k] | 1 <= k <= n})`, everybody has delivered."""
        return all(
            not all(self.heard[p][q] >= g for q in self.each(Process)) or all(self.status[q] >= g for q in self.each(Process))
            for p in self.each(Process)
            for g in self.each(Number)
        )

    @witness
    def StableEarly(self) -> bool:
        """The first update is known to be stable before n - 1 others are acknowledged."""
        return self.assigned < self.processes and any(all(self.heard[p][q] >= 1 for q in self.each(Process)) for p in self.each(Process))


class PinwheelJudged(Pinwheel, TotalOrderBroadcast):
    """Pinwheel, judged by total order broadcast."""
