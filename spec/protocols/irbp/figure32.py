"""iRBP's view change, as figure 32 prints it: reports, one agreement on list and messages, suicide.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, sections 4.4.1 and 4.4.2, figure 32, printed steps 1-7. What departs from the print stands in
repairs.py, what bounds an exploration in bounds.py: neither is known here.

| figure 32             | here                                                                              |
|-----------------------|-----------------------------------------------------------------------------------|
| TL_i                  | `listed[i]`; p uses the list of `version[p]`                                      |
| R-Broadcast (reformation, i) | `called[i]`                                                                |
| where p stands        | `phase[p]`: `changing` after step 1, `agreeing` after 2, `adopting` after 6        |
| seqQ_k, as it was sent | `reported[k]`                                                                    |
| initial_k, (TL, Msg)  | `proposal[k]`, `decision[i]`                                                      |

What is folded, and why that is sound:
1. R-broadcast is a service: all correct processes R-deliver a call, or none. A call that nobody R-delivers is
   as one that was not made.
2. Channels of a view change are reliable (the report runs it over TCP, section 5.1). Who has sent its seqQ is
   heard by p now or later; step 2 says which of them p has heard when it goes on: all that it does not
   suspect.
3. Consensus is a service: the value of one proposal is decided, and all that are up learn it. It is decided
   when a majority of TL_i has proposed, and while a majority is up (section 5.2.2: Chandra and Toueg's
   algorithm, which needs both). It may be the proposal of a process that has crashed since. Nobody
   sees a proposal that comes after the decision.
4. The failure detector says whom a process suspects (`spec/environment/detectors.py`): crashed processes, and
   up to `false_suspicions` times a process that has not crashed.

What is decided, because the figure is silent:
1. The new sequencer is the first of the token list (section 4.4.1: "we can select, for example, the first
   process in the token list").
2. stableQ holds what has its number in Msg; it is delivered when the body is there.
3. Numbers go on: ts_p and lastdelivered_p are what they were, since no step changes them.
4. Between steps 6 and 7 task 2 may deliver.
5. The p_i of step 2 are those of TL_i, p_k among them.
6. The steps are taken in their order, so that a process that still waits in step 2 adopts no decision.
7. A call or a report for TL_i that comes to a process before it has installed TL_i is kept until then. Each
   is sent once, and a fast process sends it while others still change to TL_i: reading `early`.
8. No step names recvQ. Its messages are sent again after step 7, by everybody who has it, with the new list:
   figure 25 sends it until there is a number (line 15) or to whoever asks (line 66), with the sender's list.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.environment.detectors import FalseSuspicions
from antiphon.spec.lang import Map, Set, action, emit, everywhere, guard, record, require
from antiphon.spec.protocols.irbp.normal_phase import Data, NormalPhase, Sequenced
from antiphon.spec.services import Crash, Install, Message, Process, View


class Phase(Enum):
    """Phase of a process: normal, or after its report (step 1), proposal (steps 2-4) or adoption (step 6)."""

    normal, changing, agreeing, adopting = range(4)


@record
class Proposal:
    """Pair (TL, Msg): a new token list and numbered messages; `bodies` are sent with them only as
    repaired.
    """

    members: Set[Process]
    messages: Set[Sequenced]
    bodies: Set[Message]


class ViewChange(NormalPhase, FalseSuspicions):
    """iRBP with regular views: figure 32 over the normal phase."""

    left: Map[Process, bool] = everywhere(False)
    called: Map[View, bool] = everywhere(False)
    phase: Map[Process, Phase] = everywhere(Phase.normal)
    reported: Map[Process, Set[Sequenced]] = everywhere(Set())
    proposal: Map[Process, Proposal | None] = everywhere(None)
    decision: Map[View, Proposal | None] = everywhere(None)

    # Suspicions and suicide ---------------------------------------------------------------------------------

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if p watches q: a process watches the members of its list."""
        return p != q and q in self.token_list(p) and not self.left[q]

    @guard
    def has_not_left(self, p: Process) -> bool:
        """Return True if p has not killed itself."""
        return not self.left[p]

    def is_gone(self, p: Process) -> bool:
        """Return True if p has crashed, or killed itself."""
        return self.down[p] or self.left[p]

    def is_active(self, p: Process) -> bool:
        """Return True if p takes part in the normal phase: it has neither crashed nor killed itself."""
        return super().is_active(p) and not self.left[p]

    # Upon suspicion, upon R-Deliver -------------------------------------------------------------------------

    @action(fairness="weak")
    def call(self, p: Process, q: Process) -> None:
        """Call a view change at p, upon suspicion of process q in TL_i: R-Broadcast (reformation, i)."""
        require(self.phase[p] == Phase.normal and not self.called[self.version[p]])
        require(q in self.token_list(p) and self.suspected[p][q] and self.has_view_left(p))
        self.called[self.version[p]] = True

    def has_view_left(self, p: Process) -> bool:
        """Return True: the number of views is unlimited; a bound of the exploration may limit it."""
        return True

    @action(fairness="weak")
    def report(self, p: Process) -> None:
        """Report upon the first R-Deliver (reformation, i), step 1: send seqQ_k to all."""
        require(self.phase[p] == Phase.normal and self.called[self.version[p]])
        self.phase[p] = Phase.changing
        self.send_report(p)

    def send_report(self, p: Process) -> None:
        """Send the report (step 1): `send seqQ_k to all`."""
        self.reported[p] = self.numbered[p]

    # Steps 2-5: reports are awaited, a list and messages proposed, one proposal decided ---------------------

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process]) -> None:
        """Propose (steps 2-4) the list and the messages that follow from the reports of `heard`."""
        require(self.is_waiting(p) and self.may_propose(p, heard))
        self.phase[p] = Phase.agreeing
        if p in self.token_list(p) and self.decision[self.version[p]] is None:
            self.proposal[p] = self.initial_value(p, heard)

    def is_waiting(self, p: Process) -> bool:
        """Return True if p is in step 2, in which it waits for reports."""
        return self.phase[p] == Phase.changing

    def may_propose(self, p: Process, heard: Set[Process]) -> bool:
        """Return True if p may propose (step 2): `∀ p_i, wait until receive seqQ_i from p_i or p_i
        suspected`.
        """
        return (p in heard or p not in self.token_list(p)) and all(
            (q in self.token_list(p) and self.has_reported(q, p))
            if q in heard
            else q not in self.token_list(p) or self.suspected[p][q]
            for q in self.each(Process)
        )

    def has_reported(self, q: Process, p: Process) -> bool:
        """Return True if q has sent seqQ_q in the view change that p is in, even if q has finished it."""
        return self.version[q] > self.version[p] or (
            self.version[q] == self.version[p] and self.phase[q] != Phase.normal
        )

    def initial_value(self, p: Process, heard: Set[Process]) -> Proposal:
        """Return the value to propose (step 3): TL_k, `all processes that sent their seqQ`, and Msgs_k."""
        return Proposal(self.members_of(p, heard), self.messages_of(p, heard), self.bodies_of(heard))

    def members_of(self, p: Process, heard: Set[Process]) -> Set[Process]:
        """Return TL_k (step 3): `all processes that sent their seqQ`."""
        return heard

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        """Return Msgs_k (step 3): `the union of the seqQ sets received`."""
        return Set() | {item for q in heard for item in self.reported[q]}

    def bodies_of(self, heard: Set[Process]) -> Set[Message]:
        """Return the bodies that were reported (step 1): none, since seqQ holds identifiers and
        numbers only.
        """
        return Set()

    @action(fairness="weak")
    def decide(self, p: Process) -> None:
        """Decide p's proposal by the consensus among TL_i (step 4)."""
        v = self.version[p]
        proposed = self.proposal[p]
        require(proposed is not None and self.decision[v] is None)
        require(self.has_majority_proposed(p) and self.is_majority_up(p))
        self.decision[v] = proposed
        for q in self.each(Process):
            self.proposal[q] = None

    def has_majority_proposed(self, p: Process) -> bool:
        """Return True if a majority of TL_i has begun the consensus (step 4, `consensus among TL_i
        processes`).
        """
        members = self.token_list(p)
        return 2 * sum(1 for q in members if self.takes_part(q, p)) > len(members)

    def takes_part(self, q: Process, p: Process) -> bool:
        """Return True if q has begun the consensus that p is in."""
        return self.version[q] == self.version[p] and self.proposal[q] is not None

    def is_majority_up(self, p: Process) -> bool:
        """Return True if a majority of TL_i is up, without which no consensus ends (step 4)."""
        members = self.token_list(p)
        return 2 * sum(1 for q in members if not self.is_gone(q)) > len(members)

    # Steps 6-7 ----------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision (steps 5-6): `stableQ ← Msg, seqQ ← {}`."""
        require(self.phase[p] == Phase.agreeing)
        decided = self.decision[self.version[p]]
        require(decided is not None)
        if decided is not None:
            self.phase[p] = Phase.adopting
            self.take(p, decided)

    def take(self, p: Process, decided: Proposal) -> None:
        """Take the messages of the decision as p's stable messages (step 6, `stableQ ← Msg`)."""
        self.take_bodies(p, decided.bodies)
        self.stable[p] = self.stable_after(p, decided.messages)
        self.numbered[p] = Set()

    def take_bodies(self, p: Process, bodies: Set[Message]) -> None:
        """Take the bodies that came with the decision (step 6); as printed there are none, so nothing
        happens.
        """

    def stable_after(self, p: Process, messages: Set[Sequenced]) -> Set[Sequenced]:
        """Return stableQ_p after the decision (step 6): as printed, Msg itself (`stableQ ← Msg`)."""
        return messages

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """Install the list (step 7): `if p_k ∈ TL, then "install" TL as the next view TL_{i+1}, else
        suicide`.
        """
        require(self.phase[p] == Phase.adopting and self.may_install(p))
        decided = self.decided(p)
        if decided is not None:
            if p in decided.members:
                self.enter(p, decided.members)
            else:
                self.leave(p)

    def decided(self, p: Process) -> Proposal | None:
        """Return the decision that p has adopted."""
        return self.decision[self.version[p]]

    def may_install(self, p: Process) -> bool:
        """Return True if p may install the list: step 7 follows step 6."""
        return True

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Enter TL_{i+1} (step 7); its first member is the new sequencer."""
        self.go_on(p, members)
        self.begins[p] = self.first_of(members) == p
        self.announce(p, members)

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Install the new list at p, which goes back to the normal phase."""
        v = self.version[p] + 1
        self.listed[v] = members
        self.version[p] = v
        self.phase[p] = Phase.normal
        self.clear_up(p)

    def announce(self, p: Process, members: Set[Process]) -> None:
        """Tell the application of the new view."""
        emit(Install(p, self.version[p], members))

    def clear_up(self, p: Process) -> None:
        """Treat p's queues for the new list (step 7): as printed recvQ_p is kept, and its messages are sent
        again.
        """
        self.keep_received(p)

    def keep_received(self, p: Process) -> None:
        """Keep recvQ_p; p sends its messages again with TL_{i+1} (figure 25, lines 15 and 66)."""
        self.send_again(p)

    def send_again(self, p: Process) -> None:
        """Send the messages in recvQ_p with the list that p uses now."""
        self.data |= {Data(m, self.version[p]) for m in self.received[p]}

    def leave(self, p: Process) -> None:
        """Leave the group (step 7, `else suicide`)."""
        self.left[p] = True
        emit(Crash(p))

    # Task 2, where Msg came without bodies ------------------------------------------------------------------

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if p can deliver (line 79): after stableQ ← Msg p may have a number without
        its body.
        """
        return super().can_deliver(p, item) and self.had_body(p, item.message)

    def had_body(self, p: Process, m: Message | None) -> bool:
        """Return True if p has the body of m, or keeps it with stableQ."""
        return m is None or m in self.received[p] or m in self.collected[p]
