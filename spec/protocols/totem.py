"""How does the single ring of Totem order? The token carries the sequence number, and only its holder multicasts.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, section 5,
the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal, Ciarfella 1995) and its footnote. Membership, flow control and retransmission lists
are left out: an update that was multicast comes to a process at any time, first or repeated.

What is modelled: `seq` of the token is `assigned`; `info[p]` is the delivery information of p in the token, written when p passes it on; `seen[p]`
is the least of them that p saw at its last visit, up to which it takes updates for stable. `visits` counts passes of the token, `instant`
explores the runs in which what was multicast arrives and is delivered before the token moves.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Map, Set, action, emit, everywhere, invariant, require, witness
from antiphon.spec.protocols.chang_maxemchuk import Count, Number
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process, TotalOrderBroadcast


class Totem(Group):
    """The ordering of the single-ring protocol."""

    visits: Const[int] = 8
    instant: Const[bool] = False

    obtained: Map[Process, Set[Number]] = everywhere(Set())
    order: Map[Number, Message | None] = everywhere(None)
    status: Map[Process, Count] = everywhere(0)
    assigned: Count = 0
    holder: Process = Process(0)
    passes: Annotated[int, Between(0, "visits")] = 0
    sent_at: Map[Number, Annotated[int, Between(0, "visits")]] = everywhere(0)
    info: Map[Process, Count] = everywhere(0)
    seen: Map[Process, Count] = everywhere(0)

    def least(self) -> int:
        """Up to which number everybody said that it had delivered."""
        return min(self.info[p] for p in self.each(Process))

    @action
    def multicast(self, p: Process, m: Message) -> None:
        """The holder increments `seq` and multicasts the update under it, one or more at a visit."""
        require(p == self.holder and m.index == self.assigned)
        number = self.assigned + 1
        self.assigned += 1
        self.order[number] = m
        self.sent_at[number] = self.passes
        self.obtained[p] |= {number}
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def receive_message(self, p: Process, k: Number) -> None:
        """An update arrives with its number, for the first time or again."""
        require(k <= self.assigned and k not in self.obtained[p])
        self.obtained[p] |= {k}

    @action(fairness="weak")
    def deliver(self, p: Process, k: Number) -> None:
        """A single sequence of numbers is the total order."""
        m = self.order[k]
        require(k == self.status[p] + 1 and k in self.obtained[p] and m is not None)
        self.status[p] = k
        if m is not None:
            emit(Deliver(p, m))

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """The token goes to the next process with the delivery information of p; also when p had nothing to multicast."""
        require(p == self.holder and self.passes < self.visits)
        require(not self.instant or all(self.status[q] == self.assigned for q in self.each(Process)))
        self.info[p] = self.status[p]
        self.seen[p] = self.least()
        self.holder = Process((p.index + 1) % self.processes)
        self.passes += 1

    @invariant
    def StableIsDelivered(self) -> bool:
        """What a process takes for stable, everybody has delivered."""
        return all(self.seen[p] <= self.status[q] for p in self.each(Process) for q in self.each(Process))

    @invariant
    def StableInTwoRotations(self) -> bool:
        """The footnote: an update is known to be stable everywhere after two rotations of the token (where everything arrives at once)."""
        return not self.instant or all(
            k > self.assigned or self.passes < self.sent_at[k] + 2 * self.processes or all(self.seen[p] >= k for p in self.each(Process))
            for k in self.each(Number)
        )

    @witness
    def UnstableBefore(self) -> bool:
        """Two passes before the end of the second rotation some process need not know it yet."""
        return any(
            k <= self.assigned and self.passes == self.sent_at[k] + 2 * self.processes - 2 and any(self.seen[p] < k for p in self.each(Process))
            for k in self.each(Number)
        )

    @witness
    def AllDelivered(self) -> bool:
        """Everything was multicast and delivered everywhere."""
        return self.assigned == self.messages and all(self.status[p] == self.messages for p in self.each(Process))


class TotemJudged(Totem, TotalOrderBroadcast):
    """The ordering of Totem, judged by total order broadcast."""
