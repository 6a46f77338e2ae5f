"""The service between the two halves of RBP: token lists, each with one order that goes on from what the
lists before it have made stable.

The normal phase and Reformation are checked alone against it, and then together:
1. `NormalPhaseService` is what Reformation assumes of the normal phase: a site knows a prefix of the order of
   its list; who knows all of it gives the next number; what all of the list know is stable.
2. `ReformationService` is what the normal phase assumes of Reformation: a site promises a version number, and
   with it to work in no list of a lower one; a list is formed of a majority that has promised its version; it
   begins with everything that a list of a lower version has made stable; its site brings that to the others;
   numbers are given in it when all of it have agreed.
3. `TokenListService` is both. That it gives total order is checked like any protocol
   (`TokenListServiceChecked`).

It knows no packet, no token that goes round, no timer, no vote and no refusal. A site stands still while it
has promised a version and committed none.

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
    """Common state of both halves: lists, their orders, and what a site knows of them."""

    order: Map[ListName, Order] = everywhere(())

    def is_agreed(self, a: ListName) -> bool:
        """All of list a have agreed to it."""
        return a == 0

    def known_in(self, p: Process, a: ListName) -> int:
        """Return how much p knew of the order of list a when it worked there last."""
        return 0

    def stable_up_to(self, a: ListName) -> int:
        """The number up to which all of list a know its order."""
        return min((self.known_in(q, a) for q in self.each(Process) if q in self.members(a)), default=0)

    def stable_for(self, p: Process) -> int:
        """The highest number that is stable in a list of p: in one that it has not joined it knows none."""
        return max((self.stable_up_to(a) for a in self.each(ListName) if p in self.members(a)), default=0)

    def brought_by(self, s: Process) -> Order:
        """Return the beginning of a list whose site is s."""
        return self.order[self.list_of(s)][: max(0, self.known_in(s, self.list_of(s)))]


class NormalPhaseService(TokenLists):
    """Assumptions of Reformation about the normal phase."""

    known: Map[Process, Map[ListName, LastNumber]] = everywhere(everywhere(0))
    last_delivered: Map[Process, LastNumber] = everywhere(0)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    def known_in(self, p: Process, a: ListName) -> int:
        """Return how much p knew of the order of list a when it worked there last."""
        return self.known[p][a]

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """P hands m to the service."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))

    @action
    def sequence(self, p: Process, m: Message) -> None:
        """P, which knows all of the order of its list, gives the next number to a message that has none."""
        require(self.may_give(p) and m.index < self.broadcasts and m not in self.order[self.list_of(p)])
        self.give(p, m)

    @action
    def pass_null(self, p: Process) -> None:
        """P gives the next number to NULL."""
        require(self.may_give(p))
        self.give(p, None)

    def may_give(self, p: Process) -> bool:
        """P works in a list that all have agreed to, and knows its order."""
        a = self.list_of(p)
        return (
            self.works(p)
            and self.is_agreed(a)
            and self.known[p][a] == len(self.order[a])
            and budget(len(self.order[a]) < self.numbers)
        )

    def give(self, p: Process, m: Message | None) -> None:
        """The next number of p's list is m's."""
        a = self.list_of(p)
        self.order[a] += (m,)
        self.known[p][a] = len(self.order[a])

    @action(fairness="weak")
    def learn(self, p: Process, k: LastNumber) -> None:
        """P hears the numbers of its list up to k."""
        a = self.list_of(p)
        require(self.works(p) and self.known[p][a] < k and k <= len(self.order[a]))
        self.known[p][a] = k

    @action(fairness="weak")
    def deliver(self, p: Process) -> None:
        """Deliver what is stable, and pass over NULL."""
        a = self.list_of(p)
        require(self.works(p) and self.last_delivered[p] < self.known[p][a])
        require(self.last_delivered[p] < self.stable_for(p))
        m = self.order[a][self.last_delivered[p]]
        self.last_delivered[p] += 1
        if m is not None:
            emit(Deliver(p, m))

    def begin_in(self, p: Process, a: Attempt) -> None:
        """P has of list a what its site brings, and nothing else."""
        self.known[p][a] = len(self.order[a])


class ReformationService(TokenLists):
    """Assumptions of the normal phase about Reformation."""

    new_list: Map[Attempt, TokenList | None] = everywhere(None)
    version_of: Map[Attempt, Installed] = everywhere(0)
    promised: Map[Process, View] = everywhere(1)
    current: Map[Process, ListName] = everywhere(0)
    joined: Map[Attempt, Set[Process]] = everywhere(Set())

    # Lists --------------------------------------------------------------------------------------------------

    def list_of(self, p: Process) -> ListName:
        """The list that p has committed last; 0 is that of the beginning."""
        return self.current[p]

    def version(self, a: ListName) -> int:
        """The version of a list, 0 where none has formed. That of the beginning has 1."""
        return 1 if a == 0 else self.version_of[a]

    def works(self, p: Process) -> bool:
        """P has promised no other version than that of its list."""
        return self.promised[p] == self.version(self.current[p])

    def members(self, a: ListName) -> Set[Process]:
        """The sites of a list. All are on that of the beginning."""
        if a == 0:
            return Set() | {q for q in self.each(Process)}
        made = self.new_list[a]
        return made.members if made is not None else Set()

    def is_site(self, p: Process, a: ListName) -> bool:
        """P is the token site of list a: p1 in the beginning."""
        if a == 0:
            return p == Process(0)
        made = self.new_list[a]
        return made is not None and made.site == p

    def is_agreed(self, a: ListName) -> bool:
        """All of list a have committed it."""
        return a == 0 or (self.version(a) > 0 and self.members(a) <= self.joined[a])

    # Steps --------------------------------------------------------------------------------------------------

    @action
    def promise(self, p: Process, v: View) -> None:
        """P works in no list with a lower version than v any more, and commits none."""
        require(v > self.promised[p])
        self.promised[p] = v

    @action
    def form(self, a: Attempt, members: Set[Process], site: Process, v: View) -> None:
        """List a is formed of sites that have promised its version; it begins with what its site knows."""
        require(self.new_list[a] is None and v > 1)
        require(not any(self.version_of[b] == v for b in self.each(Attempt)))
        require(self.has_majority(members) and site in members)
        require(all(self.promised[q] >= v for q in members))
        require(self.keeps_the_stable(self.brought_by(site), v))
        self.new_list[a] = TokenList(members, site)
        self.version_of[a] = v
        self.order[a] = self.brought_by(site)

    def has_majority(self, members: Set[Process]) -> bool:
        """`The list must have a majority of the processes`: of all."""
        return 2 * len(members) > self.processes

    def keeps_the_stable(self, beginning: Order, v: View) -> bool:
        """`No message committed by the old token list is lost`, of whatever list of a lower version."""
        return all(
            self.version(c) == 0
            or self.version(c) >= v
            or self.begins_alike(self.order[c], beginning, self.stable_at_most(c))
            for c in self.each(ListName)
        )

    def begins_alike(self, a: Order, b: Order, k: LastNumber) -> bool:
        """The first k of a are those of b."""
        return a[:k] == b[:k]

    def stable_at_most(self, c: ListName) -> int:
        """The number up to which list c is stable or may become so: those of it who have promised a higher
        version know as much.
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
        """P, which has promised no higher version, goes on in list a with what the list's site brings."""
        require(p in self.members(a) and self.promised[p] == self.version(a))
        require(self.version(self.current[p]) < self.version(a))
        require(any(self.is_site(s, a) and self.can_bring(s, a) for s in self.each(Process)))
        self.begin_in(p, a)
        self.current[p] = a
        self.joined[a] |= {p}
        emit(Install(p, self.version(a), self.members(a)))

    def can_bring(self, s: Process, a: Attempt) -> bool:
        """S, the site of list a, has not gone on to a later one."""
        return self.promised[s] == self.version(a) or self.current[s] == a

    def begin_in(self, p: Process, a: Attempt) -> None:
        """P has of list a what its site brings, and nothing else."""


@mutation("a list begins with what its site knows, whatever was stable")
class AnyBeginning(ReformationService):
    """Section 3.2.3: `No message committed by the old token list is lost`."""

    def keeps_the_stable(self, beginning: Order, v: View) -> bool:
        """Always."""
        return True


@mutation("a list is formed of any sites")
class AnyMembers(ReformationService):
    """Section 3.2.3: `The list must have a majority of the processes`."""

    def has_majority(self, members: Set[Process]) -> bool:
        """Always."""
        return True


@mutation("a site that has promised goes on in its list")
class WorkOn(ReformationService):
    """Section 3.2.3: `the reformation phase is blocking`."""

    def works(self, p: Process) -> bool:
        """Always."""
        return True


class TokenListService(ReformationService, NormalPhaseService):
    """Both halves."""

    def begin_in(self, p: Process, a: Attempt) -> None:
        """P has of list a what its site brings, and nothing else."""
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
        """A message was delivered in the first list by one, in a later one by another."""
        return any(
            self.current[p] != self.current[q] and self.last_delivered[p] > 0 and self.last_delivered[q] > 0
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def AllDelivered(self) -> bool:
        """All have delivered every message in a list that was formed."""
        return all(
            self.current[p] > 0 and self.delivered[p][m]
            for p in self.each(Process)
            for m in self.each(Message)
        )
