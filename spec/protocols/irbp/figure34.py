"""iRBP's i-view change, as figure 34 prints it: acknowledgements, one agreement on the list, and nobody dies.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, sections 4.4.3 and 4.4.4, figure 34, printed steps 1-6. Steps that it shares with figure 32 are those of
`figure32`; what differs stands here:

| figure 34, section 4.4.3       | here                                                                   |
|--------------------------------|------------------------------------------------------------------------|
| R-Broadcast (i-view, i)        | `called[i]`                                                            |
| step 1: "send ack to all"      | p is `changing`; `send_report` sends nothing else                      |
| step 3: "(TL_k)"               | a `Proposal` without messages                                          |
| step 6: "install" TL           | `enter`; seqQ, stableQ and recvQ are what they were                    |
| core, external                 | in `token_list(p)` or not                                              |

"While all broadcasts are sent to the whole group, the token is passed only among the 'core' members"; an
external process "receives all broadcasts, and can send messages to the group", and an external that missed
something asks for it. A regular view is another algorithm; here all views are i-views.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, require
from antiphon.spec.protocols.irbp.figure32 import Phase, ViewChange
from antiphon.spec.protocols.irbp.normal_phase import Sequenced
from antiphon.spec.services import Message, Process


class IViewChange(ViewChange):
    """iRBP with i-views: figure 34 over the normal phase."""

    def is_core(self, p: Process) -> bool:
        """P is in the token list that it knows."""
        return p in self.token_list(p)

    def holds_token(self, p: Process) -> bool:
        """Section 4.4.3: the token is passed among the core."""
        return self.is_core(p) and super().holds_token(p)

    def exchanges_queues(self) -> bool:
        """Section 4.4.4: `we can optimize the i-view algorithm by skipping this step`."""
        return False

    def send_report(self, p: Process) -> None:
        """Step 1: `send ack to all`."""
        if self.exchanges_queues():
            super().send_report(p)

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        """Step 3: `initial_k contain (TL_k)`, and no messages."""
        return super().messages_of(p, heard) if self.exchanges_queues() else Set()

    def bodies_of(self, heard: Set[Process]) -> Set[Message]:
        """Step 3: nor bodies."""
        return super().bodies_of(heard) if self.exchanges_queues() else Set()

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Step 5: `let (TL) be the consensus decision`. The queues stay."""
        if self.exchanges_queues():
            super().adopt(p)
        else:
            require(self.phase[p] == Phase.changing and self.decision[self.version[p]] is not None)
            self.phase[p] = Phase.adopting

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """Step 6: `if p_k ∈ TL, then "install" TL as the next view TL_{i+1}`."""
        require(self.phase[p] == Phase.adopting and self.may_install(p))
        decided = self.decision[self.version[p]]
        if decided is not None:
            if p in decided.members:
                self.enter(p, decided.members)
            else:
                self.stay_outside(p, decided.members)

    def stay_outside(self, p: Process, members: Set[Process]) -> None:
        """Step 6 has no `else`: p is external, and lives."""
        v = self.version[p] + 1
        self.listed[v] = members
        self.version[p] = v
        self.phase[p] = Phase.normal
        self.keep_received(p)
