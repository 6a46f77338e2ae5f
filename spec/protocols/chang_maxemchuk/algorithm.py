"""CM, with a token that circulates: a process that acknowledges with it has all earlier acknowledged updates.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 3, first paragraph. (The same protocol in another description, with its
packets, is `rbp`.)

What is modelled: who has which update, who knows how many ACKs, and who holds the token. A process has one
outstanding update. What is abstracted: a lost packet is one that arrives late. An update or an ACK that was
multicast comes to a process at any time. The model does not say whether it is a first or a repeated copy,
since the paragraph does not. Updates are numbered in the order in which they are multicast.

| paper                | here                                                                    |
|----------------------|-------------------------------------------------------------------------|
| MSG(U, U_id)         | `source`, `obtained`: who sent U, and which processes have it           |
| ACK(t, U_id, g)      | `order[g]`, `acknowledged`: the U of g, and how many ACKs a process has |
| the holder, LTM_t    | `holder()`                                                              |
| delivered up to      | `status`                                                                |
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Map, Set, action, emit, everywhere, require
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process

Number = Annotated[int, Between(1, "messages")]
"""Number of an update, gsn in the paper."""

Count = Annotated[int, Between(0, "messages")]


class Sequence(Group):
    """Sequence of numbered updates, and what each process has received: the common part of CM and
    Pinwheel.
    """

    window: Const[int] = 1

    obtained: Map[Process, Set[Message]] = everywhere(Set())
    order: Map[Number, Message | None] = everywhere(None)
    acknowledged: Map[Process, Count] = everywhere(0)
    status: Map[Process, Count] = everywhere(0)
    source: Map[Message, Process | None] = everywhere(None)
    broadcasts: Count = 0
    assigned: Count = 0

    def is_numbered(self, m: Message) -> bool:
        """Return True if m has a gsn."""
        return any(self.order[k] == m for k in self.each(Number))

    def has_number(self, p: Process, k: Number) -> bool:
        """Return True if p has the update with gsn k."""
        m = self.order[k]
        return m is not None and m in self.obtained[p]

    def has_all(self, p: Process) -> bool:
        """Return True if p has all updates that were acknowledged so far (`receiving all the messages already
        acknowledged`).
        """
        return self.acknowledged[p] == self.assigned and all(
            self.has_number(p, k) for k in self.each(Number) if k <= self.assigned
        )

    def outstanding(self, p: Process) -> int:
        """Return the number of updates that p has multicast and knows no number for."""
        return sum(1 for m in self.each(Message) if self.source[m] == p and not self.is_known(p, m))

    def is_known(self, p: Process, m: Message) -> bool:
        """Return True if p knows a number of m."""
        return any(self.order[k] == m and k <= self.acknowledged[p] for k in self.each(Number))

    def give_number(self, p: Process, m: Message) -> None:
        """Give the next number to m (`ACK(t, U_id, g)`), which p knows at once."""
        self.assigned += 1
        self.order[self.assigned] = m
        self.acknowledged[p] = self.assigned

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Multicast m (`it multicasts the message MSG(U, U_id)`); at most `window` updates of p are without a
        known number.
        """
        require(m.index == self.broadcasts and self.outstanding(p) < self.window)
        self.broadcasts += 1
        self.source[m] = p
        self.obtained[p] |= {m}
        emit(Broadcast(p, m))
        self.after_broadcast(p, m)

    def after_broadcast(self, p: Process, m: Message) -> None:
        """Hook that is called after p has multicast m; this class does nothing in it."""

    @action(fairness="weak")
    def receive_message(self, p: Process, m: Message) -> None:
        """Receive at p a copy of m, the first or a later one; p lacks m so far."""
        require(self.source[m] is not None and m not in self.obtained[p])
        self.obtain(p, m)

    def obtain(self, p: Process, m: Message) -> None:
        """Note that p has received m."""
        self.obtained[p] |= {m}

    @action(fairness="weak")
    def receive_ack(self, p: Process) -> None:
        """Receive the next ACK at p, in the order of gsns."""
        require(self.acknowledged[p] < self.assigned)
        self.learn(p)

    def learn(self, p: Process) -> None:
        """Count the next ACK as received by p, which then knows one gsn more."""
        self.acknowledged[p] += 1

    @action(fairness="weak")
    def deliver(self, p: Process, k: Number) -> None:
        """Deliver the next update (`delivers messages in an orderly way … according to their gsns`)."""
        m = self.order[k]
        require(
            k == self.status[p] + 1 and k <= self.acknowledged[p] and m is not None and m in self.obtained[p]
        )
        self.advance(p, k)
        if m is not None:
            emit(Deliver(p, m))
        self.after_deliver(p)

    def advance(self, p: Process, k: Number) -> None:
        """Note that p has delivered up to gsn k."""
        self.status[p] = k

    def after_deliver(self, p: Process) -> None:
        """Hook that is called after p has delivered an update; this class does nothing in it."""


class ChangMaxemchuk(Sequence):
    """CM: each ACK passes the token along the path."""

    def holder(self) -> Process:
        """Return the token holder: the token goes to the next process with each ACK (`the token is circulated
        along the predefined path`).
        """
        return Process(self.assigned % self.processes)

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """Acknowledge an update as token holder (`LTM_t acknowledges … after receiving all the messages
        already acknowledged`).
        """
        require(p == self.holder() and self.has_all(p) and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)
