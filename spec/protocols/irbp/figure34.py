"""iRBP's i-view change, as figure 34 prints it: acknowledgements, one agreement on the list, and nobody dies.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, sections 4.4.3 and 4.4.4, figure 34, printed steps 1-6. Steps that it shares with figure 32 are those of
`figure32`; the differences are:

| figure 34, section 4.4.3       | here                                                                   |
|--------------------------------|------------------------------------------------------------------------|
| R-Broadcast (i-view, i)        | `called[i]`                                                            |
| step 1: "send ack to all"      | p is `changing`, and has sent nothing else                             |
| step 3: "(TL_k)"               | a `Proposal` without messages                                          |
| step 6: "install" TL           | `enter`; seqQ, stableQ and recvQ are what they were                    |
| core, external                 | in `token_list(p)` or not                                              |

"While all broadcasts are sent to the whole group, the token is passed only among the 'core' members"; an
external process "receives all broadcasts, and can send messages to the group", and an external that missed
something asks for it. In this module all views are i-views; `two_views` adds regular views.

What is decided, because the figure is silent on a process that is external already when the call comes:
1. "Upon R-Deliver (i-view, i) by p_k": it sends its ack as any other, and waits for those of TL_i.
2. "execute consensus among TL_i processes": it proposes nothing, and learns the decision.
3. It is in a later list if that is decided (`iviews.acknowledging` says when it may be).
4. Step 6 has no `else`: whoever is not in TL ends there, with the old list (`iviews.GoOnOutside` repairs it).
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, require
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal, ViewChange
from antiphon.spec.services import Process


class IViewChange(ViewChange):
    """iRBP with i-views: figure 34 over the normal phase."""

    def is_core(self, p: Process) -> bool:
        """Return True if p is in the token list that it knows."""
        return p in self.token_list(p)

    def holds_token(self, p: Process) -> bool:
        """Return True if p holds the token, which is passed among the core only (section 4.4.3)."""
        return self.is_core(p) and super().holds_token(p)

    def exchanges_queues(self) -> bool:
        """Return False: acks carry no queues (section 4.4.4, `we can optimize the i-view algorithm by
        skipping this step`).
        """
        return False

    @action(fairness="weak")
    def report(self, p: Process) -> None:
        """Report upon the first R-Deliver (i-view, i), step 1: send ack to all."""
        require(self.phase[p] == Phase.normal and self.called[self.version[p]])
        self.phase[p] = Phase.changing
        self.acknowledge(p)

    def acknowledge(self, p: Process) -> None:
        """Send p's ack for the i-view (step 1): `send ack to all`."""
        if self.exchanges_queues():
            self.send_report(p)

    def initial_value(self, p: Process, heard: Set[Process]) -> Proposal:
        """Return the value to propose (step 3): `initial_k contain (TL_k)`, and no messages."""
        if self.exchanges_queues():
            return super().initial_value(p, heard)
        return Proposal(self.members_of(p, heard), Set(), Set())

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision (step 5): `let (TL) be the consensus decision`. The queues stay."""
        if self.exchanges_queues():
            super().adopt(p)
        else:
            require(self.phase[p] == Phase.agreeing and self.decision[self.version[p]] is not None)
            self.phase[p] = Phase.adopting

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """Install the list (step 6): `if p_k ∈ TL, then "install" TL as the next view TL_{i+1}`."""
        require(self.phase[p] == Phase.adopting and self.may_install(p))
        decided = self.decided(p)
        require(decided is not None and (p in decided.members or self.has_else(p)))
        if decided is not None:
            if p in decided.members:
                self.enter(p, decided.members)
            else:
                self.stay_outside(p, decided.members)

    def has_else(self, p: Process) -> bool:
        """Return True if step 6 has an `else` for p; as printed it has none."""
        return False

    def stay_outside(self, p: Process, members: Set[Process]) -> None:
        """Run the `else` of step 6 for p, which is outside the new list, if step 6 has an `else`."""

    def end_outside(self, p: Process) -> None:
        """Hook that is called when p has become external; it does nothing, and a bound forgets state of p in
        it.
        """

    def may_return(self, q: Process, p: Process) -> bool:
        """Return True if q is up, not in TL_i, and has sent its ack."""
        return not self.is_gone(q) and q not in self.token_list(p) and self.has_reported(q, p)

    def is_regular(self, p: Process) -> bool:
        """Return False: no view change of p leads to a regular view, since all views are i-views."""
        return False

    def clear_up(self, p: Process) -> None:
        """Keep the queues (section 4.4.4: `the installation of an i-view does not require garbage
        collection`).
        """
        if self.is_regular(p):
            super().clear_up(p)
        else:
            self.send_again(p)

    def take(self, p: Process, decided: Proposal) -> None:
        """Take Msg of the decision, and stop sending a message of p that the decision made stable."""
        super().take(p, decided)
        self.stop_sending(p)

    def stop_sending(self, p: Process) -> None:
        """End p's wait for a number (line 16) if the message that p sends is stable."""
        if any(item.message is not None and item.message == self.pending[p] for item in self.stable[p]):
            self.pending[p] = None
