"""Reformation between two token lists of figure 25: what calls it, what stands still meanwhile, and what
the new list
begins with.

Source: Barchet-Estefanel 2002, section 3.2.1, figures 17 to 21 and 23 to 25. It is the text of figures 23
and 24 with
that of figure 25 for its normal phase, one call of Reformation at a time for each process:
1. Lines 39, 49, 56, 63 and 70 of figure 25 call Reformation: the process becomes an originator, and so
does one that
   gave up and restarts.
2. A process that is in Reformation does nothing else. Its token, its loops and what is on its way to it
belong to the
   old list, and go with it when it commits the new one.
3. A packet has the version of its sender's list; who is on another list drops it. One that was sent before
its sender
   went on to the new list is lost to those that did not.
4. The new token site has everything up to its `recent` number, with its message. What comes after that is
given up,
   also by the site: nobody could give it to the others.
5. The ring, and how many acknowledgements make a message stable, are those of the list.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import Map, Set, action, constraint, environment, everywhere, witness
from antiphon.spec.protocols.rbp_resilient.bounds import Assigned, Patient, RbpFinite, Urgent
from antiphon.spec.protocols.rbp_resilient.figure25 import LastNumber as KnownNumber
from antiphon.spec.protocols.rbp_resilient.figure25 import Number, Sequenced
from antiphon.spec.protocols.rbp_resilient.repairs import REPAIRS as REPAIRS_25
from antiphon.spec.protocols.rbp_resilient.repairs import LeaveAfterReformation, RingFromOne, StableBound
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, ListName, Reformation
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class Cause(Enum):
    """Which lines of figure 25 called Reformation."""

    sequencer, successor, inactivity = range(3)


class Role(Enum):
    """What a process was when it failed."""

    simple, next_sequencer, sequencer = range(3)


REPAIRS = tuple(r for r in REPAIRS_25 if r not in (RingFromOne, LeaveAfterReformation, StableBound))
"""Those of figure 25 that do not speak of the ring, of n or of the call of Reformation, which are the
list's here.
"""


class RbpReforming(RbpFinite, Reformation, repairs=REPAIRS, restrictions=(Urgent, Assigned, Patient)):
    """Figure 25, and figures 23 and 24 where it calls Reformation."""

    called_by: Map[Process, Cause | None] = everywhere(None)
    failed_as: Map[Process, Role | None] = everywhere(None)

    # The ring of a list -------------------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """The process after p on its list."""
        later = next((q for q in self.each(Process) if q > p and q in self.members(self.current[p])), None)
        first = next((q for q in self.each(Process) if q in self.members(self.current[p])), None)
        return later if later is not None else first

    def predecessor(self, p: Process) -> Process:
        """The process whose successor p is."""
        before = next(
            (
                q
                for q in self.each(Process)
                if self.current[q] == self.current[p]
                and self.successor(q) == p
                and q in self.members(self.current[p])
            ),
            None,
        )
        return before if before is not None else p

    def is_stable(self, p: Process, k: Number) -> bool:
        """Line 75, as the text has it, for the n of the list."""
        return k <= self.last_number[p] - len(self.members(self.current[p])) + 1

    def take_ack(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Lines 26-48, of an acknowledgement of p's list."""
        if self.current[sender] == self.current[p]:
            super().take_ack(p, sender, item)

    # Calling Reformation ------------------------------------------------------------------------------------

    def is_active(self, p: Process) -> bool:
        """P is up, and works in its list."""
        return super().is_active(p) and not self.reforming[p]

    def give_up_sequencer(self, p: Process) -> None:
        """Lines 39 and 49, and nothing after them."""
        self.reforming[p] = True
        self.arriving[p] = None
        self.catching_up[p] = False

    @constraint(
        "broadcast", "resend", "obtain_number", "obtain_body", "accept", "pass_null", "sequence",
        "resend_token",
        "settle", "deliver", "detect_sequencer", "detect_successor", "detect_inactivity",
    )  # fmt: skip
    def works_alone(self, p: Process) -> bool:
        """P is not in Reformation, which is blocking (section 3.2.3)."""
        return self.works(p) and not self.reforming[p]

    @constraint("invite")
    def is_called(self, p: Process) -> bool:
        """Figure 25 has called Reformation, or p restarts."""
        return self.reforming[p]

    @action(fairness="weak")
    def detect_sequencer(self, p: Process) -> None:
        """Lines 38-40 and 48-50."""
        super().detect_sequencer(p)
        self.called_by[p] = Cause.sequencer

    @action(fairness="weak")
    def detect_successor(self, p: Process) -> None:
        """Lines 55-57 and 62-64."""
        super().detect_successor(p)
        self.called_by[p] = Cause.successor

    @action(fairness="weak")
    def detect_inactivity(self, p: Process) -> None:
        """Lines 70-71."""
        super().detect_inactivity(p)
        self.called_by[p] = Cause.inactivity

    def join(self, j: Process, a: Attempt) -> None:
        """J stops working for the old list."""
        super().join(j, a)
        self.reforming[j] = True

    @environment
    def crash(self, p: Process) -> None:
        """P stops for ever."""
        super().crash(p)
        self.failed_as[p] = self.role(p)

    def role(self, p: Process) -> Role:
        """What p is: the sequencer gave the highest number of its list, the next one is named by it."""
        top = max((self.highest_known(q) for q in self.each(Process)), default=0)
        gave = self.passed[p]
        if (gave is not None and gave.number == top) or self.holding[p]:
            return Role.sequencer
        names = any(
            self.successor(q) == p and q != p and self.is_last_sent(q, top) for q in self.each(Process)
        )
        return Role.next_sequencer if names else Role.simple

    def is_last_sent(self, q: Process, top: KnownNumber) -> bool:
        """Q sends the ACK with the highest number."""
        sent = self.passed[q]
        return sent is not None and sent.number == top

    # What Reformation asks ----------------------------------------------------------------------------------

    def recent(self, p: Process) -> int:
        """The number up to which p has all numbers and their messages."""
        return max(
            (k for k in self.each(Number) if all(self.has_all(p, j) for j in self.each(Number) if j <= k)),
            default=0,
        )

    def has_all(self, p: Process, k: Number) -> bool:
        """P knows what has number k, and has its message, or had it until it was collected."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k for item in self.stable[p])
            or any(item.number == k and self.has_body(p, item.body) for item in self.numbered[p])
        )

    def list_told(self, p: Process) -> ListName:
        """The list that p's knowledge is from."""
        return self.current[p]

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """The new token site is up and on the list, and still has what j misses."""
        return any(
            self.is_site(s, a)
            and (s == j or (not self.down[s] and (self.belongs[s] == a or self.current[s] == a)))
            and all(
                k > self.recent(s) or self.has_all(j, k) or any(item.number == k for item in self.numbered[s])
                for k in self.each(Number)
            )
            for s in self.each(Process)
        )

    def recover(self, j: Process, a: Attempt) -> None:
        """J has what the new token site has, and nothing else."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(j, s)

    def take_over(self, j: Process, s: Process) -> None:
        """J has the numbers of s, with their messages, as far as it has not collected them."""
        known = self.numbered[j] | self.numbered[s]
        self.last_number[j] = self.recent(s)
        self.numbered[j] = Set() | {
            item
            for item in known
            if item.number <= self.last_number[j]
            and item.number > self.last_delivered[j]
            and not any(old.number == item.number for old in self.stable[j])
        }
        self.received[j] |= {
            body for body in self.received[s] if any(item.body == body for item in self.numbered[j])
        }
        if any(item.body == self.pending[j] for item in self.numbered[j]):
            self.pending[j] = None

    def before_commit(self, p: Process, a: Attempt) -> None:
        """The originator recovers too."""
        self.recover(p, a)

    def end(self, p: Process, a: Attempt) -> None:
        """P works in the new list; what was the old one's is gone."""
        super().end(p, a)
        self.reforming[p] = False
        self.arriving[p] = None
        self.catching_up[p] = False
        self.holding[p] = False
        self.passed[p] = None
        self.network -= {packet for packet in self.network if packet.to == p}

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """An originator that is the new token site holds the token at once."""
        a = self.belongs[p]
        super().generate_token(p)
        if self.is_site(p, a):
            self.holding[p] = True

    @action(fairness="weak")
    def accept_token(self, k: Process) -> None:
        """`Accept the token and Starts Acknowledging Messages`."""
        super().accept_token(k)
        self.holding[k] = True


class RbpReformingChecked(RbpReforming, TotalOrderBroadcast):
    """RBP with Reformation, judged by total order broadcast, and the runs of section 3.2.1."""

    def goes_on_without(self, p: Process) -> bool:
        """P has failed, and all that are up have delivered a message in a list without p."""
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
        """The originator of the valid list was called for this."""
        return any(
            self.tokens[a] and self.has_begun(p, a) and self.called_by[p] is cause
            for a in self.each(Attempt)
            for p in self.each(Process)
        )

    @witness
    def SimpleProcessFails(self) -> bool:
        """Figure 17: a simple process fails, and the list goes on without it when it should become the next
        sequencer.
        """
        return self.is_called_for(Cause.successor) and any(
            self.failed_as[p] is Role.simple and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def NextSequencerFails(self) -> bool:
        """Figures 18 and 19: the next sequencer fails, and the sequencer calls Reformation."""
        return self.is_called_for(Cause.successor) and any(
            self.failed_as[p] is Role.next_sequencer and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def TokenIsLost(self) -> bool:
        """Figure 20: the sequencer fails, the token does not arrive, and inactivity calls Reformation."""
        return (
            self.is_called_for(Cause.inactivity)
            and all(self.called_by[p] is not Cause.sequencer for p in self.each(Process))
            and any(
                self.failed_as[p] is Role.sequencer and self.goes_on_without(p) for p in self.each(Process)
            )
        )

    @witness
    def NextMissesMessages(self) -> bool:
        """Figure 21: the sequencer fails, and the next one, which misses messages, calls Reformation."""
        return self.is_called_for(Cause.sequencer) and any(
            self.failed_as[p] is Role.sequencer and self.goes_on_without(p) for p in self.each(Process)
        )

    @witness
    def SequencerAndNextFail(self) -> bool:
        """Multiple failures: sequencer and next sequencer fail, and inactivity calls Reformation."""
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
