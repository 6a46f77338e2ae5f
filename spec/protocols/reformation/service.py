"""The service between the two halves of RBP: token lists, each with one order that goes on from what the
lists before it have made stable.

The normal phase and Reformation are checked alone against it, and then together:
1. `NormalPhaseService` is what Reformation assumes of the normal phase: a site knows a prefix of the order of
    its list; a site that knows all of it gives the next number; the part that all of the list know is stable.
2. `ReformationService` is what the normal phase assumes of Reformation: a site promises a version number, and
   with it to work in no list of a lower one; a list is formed of a majority that has promised its version; it
   begins with everything that a list of a lower version has made stable; its site brings that to the others;
   numbers are given in it when all of it have agreed.
3. `TokenListService` is both. That it gives total order is checked like any protocol
   (`TokenListServiceChecked`).

The service has no packets, no circulating token, no timers, no votes and no refusals. A site stands still
while it has promised a version and committed none.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.2.3: "There must be only one valid token list", "No message committed by the old token list is
lost", "the process with the greatest knowledge from the previous list"; section 3.2.2.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Map,
    Seq,
    Set,
    action,
    budget,
    emit,
    everywhere,
    mutation,
    require,
    witness,
)
from antiphon.spec.protocols.reformation.figures23_24 import (
    Attempt,
    LastNumber,
    ListName,
    Lists,
    TokenList,
)
from antiphon.spec.services import TotalOrderBroadcast
from antiphon.spec.services.events import (
    Broadcast,
    Deliver,
    Install,
    Installed,
    Message,
    Process,
    View,
)

Order = Annotated[Seq[Message | None], AtMost("numbers")]
"""Messages with the numbers 1, 2, ... of a list. None: NULL."""


class TokenLists(Lists):
    """Common state of both halves: lists, their orders, and each site's knowledge of them."""

    order: Map[ListName, Order] = everywhere(())

    def is_agreed(self, a: ListName) -> bool:
        """Return True if all of list a have agreed to it; in this class only the first list counts as
        agreed.
        """
        return a == 0

    def known_in(self, p: Process, a: ListName) -> int:
        """Return how much p knew of the order of list a when it last worked there; in this class nothing."""
        return 0

    def stable_up_to(self, a: ListName) -> int:
        """Return the number up to which every member of list a knows the order of the list's messages."""
        return min((self.known_in(q, a) for q in self.each(Process) if q in self.members(a)), default=0)

    def stable_for(self, p: Process) -> int:
        """Return the highest number that is stable in p's list; 0 in a list that p has not joined."""
        return max((self.stable_up_to(a) for a in self.each(ListName) if p in self.members(a)), default=0)

    def brought_by(self, s: Process) -> Order:
        """Return the order with which a list begins whose token site is s: what s knows of the order of its
        last list.
        """
        return self.order[self.list_of(s)][: max(0, self.known_in(s, self.list_of(s)))]


class NormalPhaseService(TokenLists):
    """Normal phase, reduced to what Reformation assumes of it."""

    known: Map[Process, Map[ListName, LastNumber]] = everywhere(everywhere(0))
    last_delivered: Map[Process, LastNumber] = everywhere(0)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    def known_in(self, p: Process, a: ListName) -> int:
        """Return how much p knew of the order of list a when it last worked there."""
        return self.known[p][a]

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast m at p: hand m to the service."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))

    @action
    def sequence(self, p: Process, m: Message) -> None:
        """Give the next number at p, which knows all of its list's order, to a message without one."""
        require(self.may_give(p) and m.index < self.broadcasts and m not in self.order[self.list_of(p)])
        self.give(p, m)

    @action
    def pass_null(self, p: Process) -> None:
        """Give the next number at p to NULL."""
        require(self.may_give(p))
        self.give(p, None)

    def may_give(self, p: Process) -> bool:
        """Return True if p may give the next number of its list: p works, all members have agreed to the
        list, and p knows its whole order.
        """
        a = self.list_of(p)
        return (
            self.works(p)
            and self.is_agreed(a)
            and self.known[p][a] == len(self.order[a])
            and budget(len(self.order[a]) < self.numbers)
        )

    def give(self, p: Process, m: Message | None) -> None:
        """Give m the next number of p's list."""
        a = self.list_of(p)
        self.order[a] += (m,)
        self.known[p][a] = len(self.order[a])

    @action(fairness="weak")
    def learn(self, p: Process, k: LastNumber) -> None:
        """Learn the numbers of p's list up to k."""
        a = self.list_of(p)
        require(self.works(p) and self.known[p][a] < k and k <= len(self.order[a]))
        self.known[p][a] = k

    @action(fairness="weak")
    def deliver(self, p: Process) -> None:
        """Deliver the stable messages, and skip NULL."""
        a = self.list_of(p)
        require(self.works(p) and self.last_delivered[p] < self.known[p][a])
        require(self.last_delivered[p] < self.stable_for(p))
        m = self.order[a][self.last_delivered[p]]
        self.last_delivered[p] += 1
        if m is not None:
            emit(Deliver(p, m))

    def begin_in(self, p: Process, a: Attempt) -> None:
        """Begin at p in list a with exactly the messages that the list's token site brings."""
        self.known[p][a] = len(self.order[a])


class ReformationService(TokenLists):
    """Reformation, reduced to what the normal phase assumes of it."""

    new_list: Map[Attempt, TokenList | None] = everywhere(None)
    version_of: Map[Attempt, Installed] = everywhere(0)
    promised: Map[Process, View] = everywhere(1)
    current: Map[Process, ListName] = everywhere(0)
    joined: Map[Attempt, Set[Process]] = everywhere(Set())

    # Lists --------------------------------------------------------------------------------------------------

    def list_of(self, p: Process) -> ListName:
        """Return the list that p has committed last; 0 is the first."""
        return self.current[p]

    def version(self, a: ListName) -> int:
        """Return the version of a list, 0 where none has formed; the first has 1."""
        return 1 if a == 0 else self.version_of[a]

    def works(self, p: Process) -> bool:
        """Return True if p has promised no other version than that of its list."""
        return self.promised[p] == self.version(self.current[p])

    def members(self, a: ListName) -> Set[Process]:
        """Return the sites of a list; all are on the first."""
        if a == 0:
            return Set() | {q for q in self.each(Process)}
        made = self.new_list[a]
        return made.members if made is not None else Set()

    def is_site(self, p: Process, a: ListName) -> bool:
        """Return True if p is the token site of list a; of the first list p1 is."""
        if a == 0:
            return p == Process(0)
        made = self.new_list[a]
        return made is not None and made.site == p

    def is_agreed(self, a: ListName) -> bool:
        """Return True if all of list a have committed it."""
        return a == 0 or (self.version(a) > 0 and self.members(a) <= self.joined[a])

    # Steps --------------------------------------------------------------------------------------------------

    @action
    def promise(self, p: Process, v: View) -> None:
        """Promise version v: p works in no list with a lower version any more, and commits none."""
        require(v > self.promised[p])
        self.promised[p] = v

    @action
    def form(self, a: Attempt, members: Set[Process], site: Process, v: View) -> None:
        """Form list a, whose members have promised its version v; its order begins with what `site` knows."""
        require(self.new_list[a] is None and v > 1)
        require(not any(self.version_of[b] == v for b in self.each(Attempt)))
        require(self.has_majority(members) and site in members)
        require(all(self.promised[q] >= v for q in members))
        require(self.keeps_the_stable(self.brought_by(site), v))
        self.new_list[a] = TokenList(members, site)
        self.version_of[a] = v
        self.order[a] = self.brought_by(site)

    def has_majority(self, members: Set[Process]) -> bool:
        """Return True if the sites are a majority of all (`The list must have a majority of the
        processes`).
        """
        return 2 * len(members) > self.processes

    def keeps_the_stable(self, beginning: Order, v: View) -> bool:
        """Return True if the beginning of a list of version v contains every message that is stable in a list
        of a lower version (`No message committed by the old token list is lost`).
        """
        return all(
            self.version(c) == 0
            or self.version(c) >= v
            or self.begins_alike(self.order[c], beginning, self.stable_at_most(c))
            for c in self.each(ListName)
        )

    def begins_alike(self, a: Order, b: Order, k: LastNumber) -> bool:
        """Return True if the first k messages of a are those of b."""
        return a[:k] == b[:k]

    def stable_at_most(self, c: ListName) -> int:
        """Return a number such that list c can become stable at most up to it: its members that have promised
        a higher version know the list's order only that far.
        """
        return min(
            (
                self.known_in(q, c)
                for q in self.each(Process)
                if q in self.members(c) and self.promised[q] > self.version(c)
            ),
            default=0,
        )

    @action
    def commit(self, p: Process, a: Attempt) -> None:
        """Commit list a at p, which has promised no higher version; p takes over what the list's token site
        has.
        """
        require(p in self.members(a) and self.promised[p] == self.version(a))
        require(self.version(self.current[p]) < self.version(a))
        require(any(self.is_site(s, a) and self.can_bring(s, a) for s in self.each(Process)))
        self.begin_in(p, a)
        self.current[p] = a
        self.joined[a] |= {p}
        emit(Install(p, self.version(a), self.members(a)))

    def can_bring(self, s: Process, a: Attempt) -> bool:
        """Return True if s can bring others up to date as token site of list a: s has not gone on to a later
        list.
        """
        return self.promised[s] == self.version(a) or self.current[s] == a

    def begin_in(self, p: Process, a: Attempt) -> None:
        """Begin at p in list a with exactly the messages that the list's token site brings; a hook for the
        normal phase, which does nothing without one.
        """


@mutation("a list begins with what its site knows, whatever was stable")
class AnyBeginning(ReformationService):
    """Planted fault in the service of Reformation: a list begins with what its new token site knows, stable
    messages or not. Correct, section 3.2.3: `No message committed by the old token list is lost`.
    """

    def keeps_the_stable(self, beginning: Order, v: View) -> bool:
        """Return True: any beginning of a list is allowed."""
        return True


@mutation("a list is formed of any sites")
class AnyMembers(ReformationService):
    """Planted fault in the service of Reformation: a list is formed of any sites. Correct, section 3.2.3:
    `The list must have a majority of the processes`.
    """

    def has_majority(self, members: Set[Process]) -> bool:
        """Return True: any set of sites counts as a majority."""
        return True


@mutation("a site that has promised goes on in its list")
class WorkOn(ReformationService):
    """Planted fault in the service of Reformation: a site that has promised a new list goes on in its old
    one. Correct, section 3.2.3: `the reformation phase is blocking`.
    """

    def works(self, p: Process) -> bool:
        """Return True: a site always works."""
        return True


class TokenListService(ReformationService, NormalPhaseService):
    """Service of token lists: both halves."""

    def begin_in(self, p: Process, a: Attempt) -> None:
        """Begin at p in list a with exactly the messages that the list's token site brings."""
        self.known[p][a] = len(self.order[a])

    @witness
    def Delivered(self) -> bool:
        """Witness: a site has delivered a message, or passed over NULL."""
        return any(self.last_delivered[p] > 0 for p in self.each(Process))


class TokenListServiceChecked(
    TokenListService, TotalOrderBroadcast, mutations=(AnyBeginning, AnyMembers, WorkOn)
):
    """The service, judged by total order broadcast."""

    @witness
    def DeliveredInTwoLists(self) -> bool:
        """Witness: one site delivered a message in the first list, and another site in a later one."""
        return any(
            self.current[p] != self.current[q] and self.last_delivered[p] > 0 and self.last_delivered[q] > 0
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message, in a list that Reformation formed."""
        return all(
            self.current[p] > 0 and self.delivered[p][m]
            for p in self.each(Process)
            for m in self.each(Message)
        )
