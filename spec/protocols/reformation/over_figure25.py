"""Reformation between two token lists of figure 25: what calls it, and the named runs of section 3.2.1.

Source: Barchet-Estefanel 2002, section 3.2.1, figures 17 to 21 and 23 to 25. This module joins the text of
figures 23 and 24 with that of figure 25 as their normal phase (figure25_in_lists.py); each process makes one
call of Reformation at a time:
1. Lines 39, 49, 56, 63 and 70 of figure 25 call Reformation: the process becomes an originator, and so does
   one that gave up and restarts.
2. `suspicions` calls come without a failure: of lines 38-40, 48-50, 55-57 and 62-64, where a process waits,
   and of line 70 at any moment, since inactivity is a timeout.
3. A vote tells the number up to which its sender has everything (`committed=sequenced`).
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import (
    Map,
    action,
    constraint,
    environment,
    everywhere,
    invariant,
    require,
    witness,
)
from antiphon.spec.protocols.rbp_resilient.bounds import Assigned, Urgent
from antiphon.spec.protocols.rbp_resilient.bounds import Patient as PatientPackets
from antiphon.spec.protocols.rbp_resilient.figure25 import LastNumber as KnownNumber
from antiphon.spec.protocols.rbp_resilient.figure25 import Number
from antiphon.spec.protocols.reformation.faults import AnyNumber
from antiphon.spec.protocols.reformation.figure25_in_lists import MUTATIONS, Figure25InLists
from antiphon.spec.protocols.reformation.figure25_in_lists import REPAIRS as REPAIRS_IN_LISTS
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Reformation
from antiphon.spec.protocols.reformation.readings import leaving, majority
from antiphon.spec.protocols.reformation.repairs import (
    ModifyAtEveryRestart,
    MostRecentList,
    OriginatorRecovers,
    OwnVersions,
)
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class Cause(Enum):
    """Cause of a call of Reformation, by the lines of figure 25 that call it."""

    sequencer, successor, inactivity = range(3)


class Role(Enum):
    """Role of a process when it failed."""

    simple, next_sequencer, sequencer = range(3)


class OverFigure25(Figure25InLists, Reformation):
    """Figure 25, and figures 23 and 24 where it calls Reformation."""

    @constraint("invite")
    def is_called(self, p: Process) -> bool:
        """Return True if figure 25 has called Reformation, or p restarts."""
        return self.reforming[p]

    @environment
    def suspect_inactivity(self, p: Process) -> None:
        """Suspect inactivity wrongly (lines 70-71), while a sequencer is active."""
        require(self.suspected < self.suspicions and self.is_free(p) and not self.is_blocked())
        self.suspected += 1
        self.reforming[p] = True

    def join(self, j: Process, a: Attempt) -> None:
        """Join the reformation list of attempt a at j; j stops working for its old list."""
        super().join(j, a)
        self.reforming[j] = True

    # What Reformation asks ----------------------------------------------------------------------------------

    def recent(self, p: Process) -> int:
        """Return the number up to which p has all numbers and their messages."""
        return self.complete_up_to(p)

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """Return True if the new token site is up and on the list, and still has what j lacks."""
        return any(
            self.is_site(s, a)
            and (s == j or (not self.down[s] and (self.belongs[s] == a or self.current[s] == a)))
            and self.can_take_over(j, s, a)
            for s in self.each(Process)
        )

    def recover(self, j: Process, a: Attempt) -> None:
        """Recover, at j, everything that the new token site has."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(j, s, a)

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation of attempt a at p: p works in the new list, and begins it with a fresh state of
        figure 25.
        """
        super().end(p, a)
        self.begin_list(p)

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """Generate the New Token; an originator that is the new token site holds it at once."""
        a = self.belongs[p]
        super().generate_token(p)
        if self.is_site(p, a):
            self.holding[p] = True

    @action(fairness="weak")
    def accept_token(self, k: Process) -> None:
        """Accept the New Token (`Accept the token and Starts Acknowledging Messages`)."""
        super().accept_token(k)
        self.holding[k] = True


REPAIRS = (*REPAIRS_IN_LISTS, ModifyAtEveryRestart, OwnVersions, MostRecentList, OriginatorRecovers)
"""All repairs that the two texts need together."""


class RbpReforming(
    OverFigure25,
    repairs=REPAIRS,
    readings=(majority, leaving),
    mutations=(*MUTATIONS, AnyNumber),
    restrictions=(Urgent, Assigned, PatientPackets),
):
    """Figure 25, and figures 23 and 24 where it calls Reformation, within bounds."""


class RbpReformingChecked(RbpReforming, TotalOrderBroadcast):
    """RBP with Reformation, judged by total order broadcast."""

    @invariant
    def StableInList(self) -> bool:
        """Invariant: all members of a list have a message that a member takes for stable, or had it until
        they removed it.
        """
        return not any(
            self.is_free(p)
            and k <= self.last_number[p]
            and self.is_stable(p, k)
            and any(self.complete_up_to(q) < k for q in self.members(self.list_of(p)))
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def OneHolderInList(self) -> bool:
        """Invariant: at most one process of a list holds the list's token."""
        return not any(
            p != q and self.holding[p] and self.holding[q] and self.is_free(p) and self.is_free(q)
            and self.list_of(p) == self.list_of(q)
            for p in self.each(Process)
            for q in self.each(Process)
        )  # fmt: skip

    @invariant
    def OneBodyANumber(self) -> bool:
        """Invariant: among the processes that work in one list a number belongs to one message, or to
        NULL.
        """
        return not any(
            a.number == b.number and a.body != b.body
            for p in self.each(Process)
            for q in self.each(Process)
            if self.is_free(p) and self.is_free(q) and self.list_of(p) == self.list_of(q)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @witness
    def DeliveredInTheNewList(self) -> bool:
        """Witness: all live processes have delivered every message, in a list that Reformation made."""
        return all(
            self.down[p] or (self.current[p] > 0 and all(self.delivered[p][m] for m in self.each(Message)))
            for p in self.each(Process)
        )


class RbpReformingRuns(RbpReformingChecked):
    """Witnesses for the failures of section 3.2.1, each from the failure to the new list."""

    called_by: Map[Process, Cause | None] = everywhere(None)
    failed_as: Map[Process, Role | None] = everywhere(None)

    @action(fairness="weak")
    def detect_sequencer(self, p: Process) -> None:
        """Detect the failure of the sequencer (lines 38-40 and 48-50), and record the cause."""
        super().detect_sequencer(p)
        self.called_by[p] = Cause.sequencer

    @action(fairness="weak")
    def detect_successor(self, p: Process) -> None:
        """Detect the failure of the successor (lines 55-57 and 62-64), and record the cause."""
        super().detect_successor(p)
        self.called_by[p] = Cause.successor

    @action(fairness="weak")
    def detect_inactivity(self, p: Process) -> None:
        """Detect inactivity (lines 70-71), and record the cause."""
        super().detect_inactivity(p)
        self.called_by[p] = Cause.inactivity

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, and record its role."""
        super().crash(p)
        self.failed_as[p] = self.role(p)

    def role(self, p: Process) -> Role:
        """Return the role of p in its list: sequencer if it gave the highest number, next sequencer if that
        number names it, else simple.
        """
        top = max((self.highest_known(q) for q in self.each(Process)), default=0)
        gave = self.passed[p]
        if (gave is not None and gave.number == top) or self.holding[p]:
            return Role.sequencer
        names = any(
            self.successor(q) == p and q != p and self.is_last_sent(q, top) for q in self.each(Process)
        )
        return Role.next_sequencer if names else Role.simple

    def is_last_sent(self, q: Process, top: KnownNumber) -> bool:
        """Return True if the ACK by which q passed the token last has number `top`."""
        sent = self.passed[q]
        return sent is not None and sent.number == top

    def goes_on_without(self, p: Process) -> bool:
        """Return True if p has failed, and all live processes have delivered a message in a list
        without p.
        """
        return self.down[p] and any(
            self.tokens[a]
            and p not in self.members(a)
            and all(
                self.down[q] or (self.current[q] == a and self.delivered[q][m]) for q in self.each(Process)
            )
            for a in self.each(Attempt)
            for m in self.each(Message)
        )

    def is_called_for(self, cause: Cause) -> bool:
        """Return True if the originator of the valid list called Reformation for this cause."""
        return any(
            self.tokens[a] and self.has_begun(p, a) and self.called_by[p] is cause
            for a in self.each(Attempt)
            for p in self.each(Process)
        )

    @witness
    def SimpleProcessFails(self) -> bool:
        """Witness, figure 17: a simple process fails, and the list goes on without it when it should become
        the next sequencer.
        """
        return self.is_called_for(Cause.successor) and any(
            self.failed_as[p] is Role.simple and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def NextSequencerFails(self) -> bool:
        """Witness, figures 18 and 19: the next sequencer fails, and the sequencer calls Reformation."""
        return self.is_called_for(Cause.successor) and any(
            self.failed_as[p] is Role.next_sequencer and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def TokenIsLost(self) -> bool:
        """Witness, figure 20: the sequencer fails, the token does not arrive, and inactivity calls
        Reformation.
        """
        return (
            self.is_called_for(Cause.inactivity)
            and all(self.called_by[p] is not Cause.sequencer for p in self.each(Process))
            and any(
                self.failed_as[p] is Role.sequencer and self.goes_on_without(p) for p in self.each(Process)
            )
        )

    @witness
    def NextMissesMessages(self) -> bool:
        """Witness, figure 21: the sequencer fails, and the next one, which lacks messages, calls
        Reformation.
        """
        return self.is_called_for(Cause.sequencer) and any(
            self.failed_as[p] is Role.sequencer and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def SequencerAndNextFail(self) -> bool:
        """Witness, multiple failures: sequencer and next sequencer fail, and inactivity calls Reformation."""
        return self.is_called_for(Cause.inactivity) and any(
            self.failed_as[p] is Role.sequencer
            and self.failed_as[q] is Role.next_sequencer
            and any(
                self.tokens[a]
                and all(self.down[r] or self.current[r] == a for r in self.each(Process))
                and any(self.holding[r] and self.current[r] == a for r in self.each(Process))
                for a in self.each(Attempt)
            )
            for p in self.each(Process)
            for q in self.each(Process)
        )
