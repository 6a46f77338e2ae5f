"""Pinwheel: as CM, and whoever sends anything says how far it has delivered, so stability is known sooner.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, second paragraph, and section 5, second paragraph: hgsn is piggybacked
in all messages, a process may have `window` (m) outstanding updates, and the holder acknowledges one or more
of them.

What is modelled: as in `chang_maxemchuk.algorithm`, and `heard[p][q]`, R_p[q]. A MSG or an ACK of q that
arrives is `hear`: it carries the hgsn that q had when it sent it, or a lower one when it comes late.
What is decided here: the token is passed by a step of its own, after one ACK or more, or none after a
silence. When a holder passes an idle token the paper does not say; if never, a token could wait where no
update comes.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, action, everywhere, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count, Sequence
from antiphon.spec.services import Message, Process


class Pinwheel(Sequence):
    """Pinwheel: positive notification, several outstanding updates, several acknowledgements a holder."""

    window: Const[int] = 2

    heard: Map[Process, Map[Process, Count]] = everywhere(everywhere(0))
    holder: Process = Process(0)

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """The holder that has all that is acknowledged gives the next gsn; its hgsn follows on delivery."""
        require(p == self.holder and self.has_all(p) and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """The next process of the cycle has the token."""
        require(p == self.holder)
        self.holder = Process((p.index + 1) % self.processes)

    @action(fairness="weak")
    def hear(self, p: Process, q: Process, h: Count) -> None:
        """`Each LTM_i piggybacks hgsn_i in messages it sends out`: R_p[q]; an old one changes nothing."""
        require(h <= self.status[q] and h > self.heard[p][q])
        self.heard[p][q] = h
