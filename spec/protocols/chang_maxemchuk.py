"""How does the token of CM make updates stable? It goes round, and who acknowledges has everything that was acknowledged before.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, section 3,
first paragraph, which describes the protocol of Chang and Maxemchuk (1984) to compare with. (The same protocol in another description, with its
packets, is `rbp`.)

What is modelled: who has which update, who knows how many ACKs, and who holds the token. What is lost is what arrives late: an update or an ACK
that was multicast comes to a process at any time, first or repeated, and nothing says how. An ACK passes the token to the next process of the
path; "LTM_t is allowed to acknowledge a new message after receiving all the messages already acknowledged". A process has one outstanding update.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Map, Set, Spec, action, emit, everywhere, invariant, obligation, require, witness
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process, TotalOrderBroadcast

Number = Annotated[int, Between(1, "messages")]
"""gsn."""

Count = Annotated[int, Between(0, "messages")]


class Sequence(Group, Spec):
    """Updates, the numbers that they got, and what each process has of both."""

    window: Const[int] = 1

    obtained: Map[Process, Set[Message]] = everywhere(Set())
    order: Map[Number, Message | None] = everywhere(None)
    acknowledged: Map[Process, Count] = everywhere(0)
    status: Map[Process, Count] = everywhere(0)
    source: Map[Message, Process | None] = everywhere(None)
    broadcasts: Count = 0
    assigned: Count = 0

    def is_numbered(self, m: Message) -> bool:
        """M has a gsn."""
        return any(self.order[k] == m for k in self.each(Number))

    def has_number(self, p: Process, k: Number) -> bool:
        """P has the update with gsn k."""
        m = self.order[k]
        return m is not None and m in self.obtained[p]

    def has_all(self, p: Process) -> bool:
        """P has all that is numbered."""
        return self.acknowledged[p] == self.assigned and all(self.has_number(p, k) for k in self.each(Number) if k <= self.assigned)

    def outstanding(self, p: Process) -> int:
        """How many updates of p have no number that p knows."""
        return sum(1 for m in self.each(Message) if self.source[m] == p and not self.is_known(p, m))

    def is_known(self, p: Process, m: Message) -> bool:
        """P knows a number of m."""
        return any(self.order[k] == m and k <= self.acknowledged[p] for k in self.each(Number))

    def give_number(self, p: Process, m: Message) -> None:
        """The next number is for m; p knows it."""
        self.assigned += 1
        self.order[self.assigned] = m
        self.acknowledged[p] = self.assigned

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """MSG(U, U_id) to all, while fewer than `window` updates of p are outstanding."""
        require(m.index == self.broadcasts and self.outstanding(p) < self.window)
        self.broadcasts += 1
        self.source[m] = p
        self.obtained[p] |= {m}
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def receive_message(self, p: Process, m: Message) -> None:
        """A MSG arrives, for the first time or when it is sent again."""
        require(self.source[m] is not None and m not in self.obtained[p])
        self.obtained[p] |= {m}

    @action(fairness="weak")
    def receive_ack(self, p: Process) -> None:
        """The next ACK arrives."""
        require(self.acknowledged[p] < self.assigned)
        self.acknowledged[p] += 1

    @action(fairness="weak")
    def deliver(self, p: Process, k: Number) -> None:
        """Updates are delivered according to their gsns."""
        m = self.order[k]
        require(k == self.status[p] + 1 and k <= self.acknowledged[p] and m is not None and m in self.obtained[p])
        self.status[p] = k
        if m is not None:
            emit(Deliver(p, m))

    @obligation
    def AllAssigned(self) -> bool:
        """Every update gets a number."""
        return self.assigned == self.broadcasts

    @witness
    def AllDelivered(self) -> bool:
        """Everything was multicast, numbered and delivered everywhere."""
        return self.broadcasts == self.messages and all(self.status[p] == self.messages for p in self.each(Process))


class ChangMaxemchuk(Sequence):
    """CM: each ACK passes the token along the path."""

    def holder(self) -> Process:
        """The path is the order of the processes; each ACK takes one step."""
        return Process(self.assigned % self.processes)

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """`ACK(t, U_id, g)`, after receiving all the messages already acknowledged."""
        require(p == self.holder() and self.has_all(p) and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)

    def holders(self, k: Number) -> int:
        """How many processes have the update with gsn k."""
        return sum(1 for p in self.each(Process) if self.has_number(p, k))

    @invariant
    def HoldersGrow(self) -> bool:
        """After U and L subsequent updates are acknowledged, L + 1 processes have obtained U (L < n)."""
        return all(k > self.assigned or self.holders(k) > min(self.assigned - k, self.processes - 1) for k in self.each(Number))

    @invariant
    def StableAfterRound(self) -> bool:
        """After U and n - 1 subsequent updates are acknowledged, all processes have U."""
        return all(k + self.processes - 1 > self.assigned or self.holders(k) == self.processes for k in self.each(Number))

    @witness
    def HoldersNoMore(self) -> bool:
        """After n - 2 subsequent acknowledgements one process need not have U."""
        return any(k + self.processes - 2 == self.assigned and self.holders(k) == self.processes - 1 for k in self.each(Number))


class ChangMaxemchukJudged(ChangMaxemchuk, TotalOrderBroadcast):
    """CM, judged by total order broadcast."""
