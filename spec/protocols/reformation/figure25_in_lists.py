"""Figure 25 in one of several token lists: the ring, the bound of stability, what comes from another list,
and what a list begins with.

Source: Barchet-Estefanel 2002, sections 3.2.2 and 3.2.3, figure 25. Who makes the lists is not said here:
figures 23 and 24 do (over_figure25.py), or the service of token lists (over_lists.py).
1. The ring, and how many acknowledgements make a message stable, are those of the list.
2. A packet has the version of its sender's list; who is on another list drops it. One that was sent before
   its sender went on to the new list is lost to those that did not. A process asks its own list for what it
   misses. (Line 19 compares the version of a message too. Here a message is taken whichever list it was
   sent in: without a number it is in no list.)
3. A process that is in Reformation does nothing else (section 3.2.3: "the reformation phase is blocking").
   Its token, its loops and what is on its way to it belong to the old list, and go with it when it commits
   the new one.
4. The new token site has everything up to its `complete_up_to` number, with its message. What comes after
   that is given up, also by the site: nobody could give it to the others.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, constraint, everywhere, mutation, repair
from antiphon.spec.protocols.rbp_resilient.bounds import RbpFinite
from antiphon.spec.protocols.rbp_resilient.figure25 import Ack, Data, Number, Numbered, Sequenced
from antiphon.spec.protocols.rbp_resilient.figure25 import LastNumber as KnownNumber
from antiphon.spec.protocols.rbp_resilient.repairs import REPAIRS as REPAIRS_25
from antiphon.spec.protocols.rbp_resilient.repairs import LeaveAfterReformation, RingFromOne, StableBound
from antiphon.spec.protocols.reformation.figures23_24 import ListName, Lists
from antiphon.spec.services import Process


class Figure25InLists(RbpFinite, Lists):
    """Figure 25, where the token list may change."""

    begins_after: Map[Process, KnownNumber] = everywhere(0)
    previous: Map[Process, ListName] = everywhere(0)

    # The ring of a list -------------------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """The process after p on its list."""
        later = next((q for q in self.each(Process) if q > p and q in self.members(self.list_of(p))), None)
        first = next((q for q in self.each(Process) if q in self.members(self.list_of(p))), None)
        return later if later is not None else first

    def predecessor(self, p: Process) -> Process:
        """The process whose successor p is."""
        before = next(
            (
                q
                for q in self.each(Process)
                if self.is_with(q, p) and self.successor(q) == p and q in self.members(self.list_of(p))
            ),
            None,
        )
        return before if before is not None else p

    def is_with(self, q: Process, p: Process) -> bool:
        """Q is on the list of p."""
        return self.list_of(q) == self.list_of(p)

    def is_stable(self, p: Process, k: Number) -> bool:
        """Line 75, as the text has it, for the n of the list."""
        return k <= self.last_number[p] - len(self.members(self.list_of(p))) + 1

    def take_ack(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Lines 26-48, of an acknowledgement of p's list."""
        if self.is_with(sender, p):
            super().take_ack(p, sender, item)

    def tells(self, q: Process, p: Process) -> bool:
        """Q answers a request of p: it works in p's list."""
        return super().tells(q, p) and self.is_with(q, p)

    # Reformation is blocking --------------------------------------------------------------------------------

    def is_active(self, p: Process) -> bool:
        """P is up, and works in its list."""
        return super().is_active(p) and not self.reforming[p]

    def give_up_sequencer(self, p: Process) -> None:
        """Lines 39 and 49, and nothing after them."""
        self.reforming[p] = True
        self.arriving[p] = None
        self.catching_up[p] = False

    def is_free(self, p: Process) -> bool:
        """P is not in Reformation."""
        return self.works(p) and not self.reforming[p]

    @constraint(
        "broadcast", "resend", "obtain_number", "obtain_body", "accept", "pass_null", "sequence",
        "resend_token", "settle", "deliver", "detect_sequencer", "detect_successor", "detect_inactivity",
        "suspect_sequencer", "suspect_successor",
    )  # fmt: skip
    def works_alone(self, p: Process) -> bool:
        """P is not in Reformation, which is blocking (section 3.2.3)."""
        return self.is_free(p)

    @constraint("receive_data")
    def takes_message(self, packet: Data) -> bool:
        """Its receiver is not in Reformation."""
        return self.is_free(packet.to)

    @constraint("receive_ack")
    def takes_acknowledgement(self, packet: Ack) -> bool:
        """Its receiver is not in Reformation."""
        return self.is_free(packet.to)

    @constraint("receive_numbered")
    def takes_number(self, packet: Numbered) -> bool:
        """Its receiver is not in Reformation."""
        return self.is_free(packet.to)

    # What a list begins with --------------------------------------------------------------------------------

    def complete_up_to(self, p: Process) -> KnownNumber:
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

    def can_take_over(self, j: Process, s: Process, a: ListName) -> bool:
        """S, the site of list a, still has what j misses."""
        return all(
            k > self.complete_up_to(s)
            or self.has_already(j, k, s, a)
            or any(item.number == k for item in self.numbered[s])
            for k in self.each(Number)
        )

    def has_already(self, j: Process, k: Number, s: Process, a: ListName) -> bool:
        """J has number k, and does not miss it."""
        return self.has_all(j, k)

    def comes_from(self, s: Process, a: ListName) -> ListName:
        """The list before a in which s was last."""
        return self.previous[s] if self.list_of(s) == a else self.list_of(s)

    def take_over(self, j: Process, s: Process, a: ListName) -> None:
        """J has the numbers of s, with their messages, as far as it has not collected them."""
        top = self.complete_up_to(s)
        known = self.kept(j, s, a) | self.numbered[s]
        self.previous[j] = self.list_of(j)
        self.last_number[j] = top
        self.numbered[j] = Set() | {
            item
            for item in known
            if item.number <= top
            and item.number > self.last_delivered[j]
            and not any(old.number == item.number for old in self.stable[j])
        }
        self.received[j] |= {
            body for body in self.received[s] if any(item.body == body for item in self.numbered[j])
        }
        if any(item.body == self.pending[j] for item in self.numbered[j]):
            self.pending[j] = None

    def kept(self, j: Process, s: Process, a: ListName) -> Set[Sequenced]:
        """Figure 24, phase II: `Recover all missing messages`. Nothing is said of what only j has."""
        return self.numbered[j]

    def begin_list(self, p: Process) -> None:
        """P works in the new list; what was the old one's is gone."""
        self.reforming[p] = False
        self.arriving[p] = None
        self.catching_up[p] = False
        self.holding[p] = False
        self.passed[p] = None
        self.begins_after[p] = self.last_number[p]
        self.network -= {packet for packet in self.network if packet.to == p}


@repair(
    "figure 24, phase II: a slave also gives up what it has under numbers that the new token site has "
    "otherwise, or has collected in another list",
    answers="REF-12",
)
class DropTheRest(Figure25InLists):
    """Printed: `Recover all missing messages`."""

    def kept(self, j: Process, s: Process, a: ListName) -> Set[Sequenced]:
        """Return the messages that s has collected, if both have them from one list."""
        return Set() | {
            item
            for item in self.numbered[j]
            if self.comes_from(s, a) == self.list_of(j)
            and not any(other.number == item.number for other in self.numbered[s])
        }

    def has_already(self, j: Process, k: Number, s: Process, a: ListName) -> bool:
        """Return True if j has k already: with another list than that of s it may be another message, unless
        it is stable.
        """
        return self.has_all(j, k) and (
            self.comes_from(s, a) == self.list_of(j)
            or k <= self.last_delivered[j]
            or any(item.number == k for item in self.stable[j])
        )


@repair(
    "line 75: what a list begins with is stable when a number has been given in it, so that all of it have "
    "agreed",
    answers="RBP-23",
)
class CountInTheList(Figure25InLists):
    """Printed: `if seqnum' < (ts_p - n + 1) then`, of whichever list the numbers up to ts_p are."""

    def is_stable(self, p: Process, k: Number) -> bool:
        """A number of p's list is known, or there was no other list."""
        return super().is_stable(p, k) and (
            self.begins_after[p] == 0 or self.last_number[p] > self.begins_after[p]
        )


@mutation("a process goes on with the token of the old list when Reformation returns")
class KeepOldToken(Figure25InLists):
    """Figure 25, lines 40 and 50: line 51 follows (RBP-18)."""

    def begin_list(self, p: Process) -> None:
        """The token stays."""
        token = self.arriving[p] is not None or self.holding[p]
        super().begin_list(p)
        self.holding[p] = token


@mutation("an ACK of another list is taken")
class TakeAnyList(Figure25InLists):
    """Figure 25, lines 25-27: the version of the list (RBP-19)."""

    def is_with(self, q: Process, p: Process) -> bool:
        """Always."""
        return True


MUTATIONS = (KeepOldToken, TakeAnyList)
"""Both of them."""

REPAIRS = (
    *(r for r in REPAIRS_25 if r not in (RingFromOne, LeaveAfterReformation, StableBound)),
    DropTheRest,
    CountInTheList,
)
"""Repairs of figure 25 that do not speak of the ring, of n or of the call of Reformation, which are the
list's here; and those that lists ask for.
"""
