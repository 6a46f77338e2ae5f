"""Figure 25 in one of several token lists: its ring, its bound of stability, packets of other lists, and the
messages with which a list begins.

Source: Barchet-Estefanel 2002, sections 3.2.2 and 3.2.3, figure 25. Lists are made elsewhere: by figures 23
and 24 (over_figure25.py), or by the service of token lists (over_lists.py).
1. The ring, and the number of acknowledgements that make a message stable, are those of the list.
2. A packet has the version of its sender's list; a process on another list drops it. Once its sender has
   gone on to another list, a packet is lost to processes that have not. A process asks its own list for what
   it misses. (Line 19 compares the version of a message too. Here a message is taken whichever list it was
   sent in: without a number it is in no list.)
3. A process that is in Reformation does nothing else (section 3.2.3: "the reformation phase is blocking").
   Its token, its loops and the packets to it belong to the old list, and vanish when it commits the new one.
4. The new token site has everything up to its `complete_up_to` number, with bodies. Everything after that is
   given up, also by the site: nobody could give it to the others.
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
        """Return the process after p on p's list."""
        later = next((q for q in self.each(Process) if q > p and q in self.members(self.list_of(p))), None)
        first = next((q for q in self.each(Process) if q in self.members(self.list_of(p))), None)
        return later if later is not None else first

    def predecessor(self, p: Process) -> Process:
        """Return the process before p on p's list."""
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
        """Return True if q is on the list of p."""
        return self.list_of(q) == self.list_of(p)

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if number k is stable at p (line 75, in the form of the report's text), with n the size
        of p's list.
        """
        return k <= self.last_number[p] - len(self.members(self.list_of(p))) + 1

    def take_ack(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Take an acknowledgement of p's list (lines 26-48)."""
        if self.is_with(sender, p):
            super().take_ack(p, sender, item)

    def tells(self, q: Process, p: Process) -> bool:
        """Return True if q answers a request of p as in figure 25, and both work in the same list."""
        return super().tells(q, p) and self.is_with(q, p)

    # Reformation is blocking --------------------------------------------------------------------------------

    def is_active(self, p: Process) -> bool:
        """Return True if p is up, and works in its list."""
        return super().is_active(p) and not self.reforming[p]

    def give_up_sequencer(self, p: Process) -> None:
        """Call Reformation because of the sequencer (lines 39 and 49), and do nothing after it."""
        self.reforming[p] = True
        self.arriving[p] = None
        self.catching_up[p] = False

    def is_free(self, p: Process) -> bool:
        """Return True if p is not in Reformation."""
        return self.works(p) and not self.reforming[p]

    @constraint(
        "broadcast", "resend", "obtain_number", "obtain_body", "accept", "pass_null", "sequence",
        "resend_token", "settle", "deliver", "detect_sequencer", "detect_successor", "detect_inactivity",
        "suspect_sequencer", "suspect_successor",
    )  # fmt: skip
    def works_alone(self, p: Process) -> bool:
        """Bound: p is not in Reformation, which is blocking (section 3.2.3)."""
        return self.is_free(p)

    @constraint("receive_data")
    def takes_message(self, packet: Data) -> bool:
        """Bound: the receiver of the message is not in Reformation."""
        return self.is_free(packet.to)

    @constraint("receive_ack")
    def takes_acknowledgement(self, packet: Ack) -> bool:
        """Bound: the receiver of the acknowledgement is not in Reformation."""
        return self.is_free(packet.to)

    @constraint("receive_numbered")
    def takes_number(self, packet: Numbered) -> bool:
        """Bound: the receiver of the number is not in Reformation."""
        return self.is_free(packet.to)

    # What a list begins with --------------------------------------------------------------------------------

    def complete_up_to(self, p: Process) -> KnownNumber:
        """Return the number up to which p has all numbers and their messages."""
        return max(
            (k for k in self.each(Number) if all(self.has_all(p, j) for j in self.each(Number) if j <= k)),
            default=0,
        )

    def has_all(self, p: Process, k: Number) -> bool:
        """Return True if p knows the message of number k, and has its body or had it until it was removed."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k for item in self.stable[p])
            or any(item.number == k and self.has_body(p, item.body) for item in self.numbered[p])
        )

    def can_take_over(self, j: Process, s: Process, a: ListName) -> bool:
        """Return True if s, the token site of list a, still has everything that j lacks."""
        return all(
            k > self.complete_up_to(s)
            or self.has_already(j, k, s, a)
            or any(item.number == k for item in self.numbered[s])
            for k in self.each(Number)
        )

    def has_already(self, j: Process, k: Number, s: Process, a: ListName) -> bool:
        """Return True if j has number k, and need not recover it."""
        return self.has_all(j, k)

    def comes_from(self, s: Process, a: ListName) -> ListName:
        """Return the list from which s came to list a: the last one in which s was."""
        return self.previous[s] if self.list_of(s) == a else self.list_of(s)

    def take_over(self, j: Process, s: Process, a: ListName) -> None:
        """Take over, at j, the numbers and messages of s that j has not removed."""
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
        """Return the entries of j's own that j keeps (figure 24, phase II, `Recover all missing messages`):
        all of them, since the figure says nothing of entries that only j has.
        """
        return self.numbered[j]

    def begin_list(self, p: Process) -> None:
        """Begin the new list at p; p's token, loops and packets of the old list are gone."""
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
    """Repair of figure 24, phase II. Printed: `Recover all missing messages`, and nothing about superfluous
    ones. Repaired: a slave also drops its messages under numbers that the new token site has with another
    message, or has deleted in another list.
    """

    def kept(self, j: Process, s: Process, a: ListName) -> Set[Sequenced]:
        """Return the entries of j that j keeps: those under numbers that s no longer has in seqQ, if s comes
        from the list that j is on; else none.
        """
        return Set() | {
            item
            for item in self.numbered[j]
            if self.comes_from(s, a) == self.list_of(j)
            and not any(other.number == item.number for other in self.numbered[s])
        }

    def has_already(self, j: Process, k: Number, s: Process, a: ListName) -> bool:
        """Return True if j has the message that s has under number k: both come from one list, or the number
        is stable at j.
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
    """Repair of figure 25, line 75, in changing lists. Printed: `if seqnum' < (ts_p - n + 1) then`, with
    numbers of any list. Repaired: the messages with which a list begins are stable only when a number has
    been given in that list.
    """

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if the number is stable, and p's list has given a number of its own or is the first
        list.
        """
        return super().is_stable(p, k) and (
            self.begins_after[p] == 0 or self.last_number[p] > self.begins_after[p]
        )


@mutation("a process goes on with the token of the old list when Reformation returns")
class KeepOldToken(Figure25InLists):
    """Planted fault (RBP-18): a process goes on with the token of the old list when Reformation returns.
    Correct code drops the old token (figure 25, lines 40 and 50).
    """

    def begin_list(self, p: Process) -> None:
        """Begin the new list at p without dropping the token of the old one."""
        token = self.arriving[p] is not None or self.holding[p]
        super().begin_list(p)
        self.holding[p] = token


@mutation("an ACK of another list is taken")
class TakeAnyList(Figure25InLists):
    """Planted fault (RBP-19): an ACK of another list is taken. Correct code compares the version of the list
    (figure 25, lines 25-27).
    """

    def is_with(self, q: Process, p: Process) -> bool:
        """Return True: every ACK counts as one of p's list."""
        return True


MUTATIONS = (KeepOldToken, TakeAnyList)
"""Both planted faults."""

REPAIRS = (
    *(r for r in REPAIRS_25 if r not in (RingFromOne, LeaveAfterReformation, StableBound)),
    DropTheRest,
    CountInTheList,
)
"""Repairs of figure 25 that are needed in lists, and the repairs of this module. Left out are the repairs of
the ring, of the bound with n, and of the call of Reformation: `Figure25InLists` has its own text for these.
"""
