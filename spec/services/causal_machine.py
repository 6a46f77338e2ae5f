"""Reliable causal broadcast as a machine: a message waits for everything that happened before it.

It is the machine `unordered` with a record of which message happened before which. Checks (`CausalChecked`)
show that it keeps FIFO and causal order, in views too, with a planted fault for each property.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, emit, everywhere, mutation, require, witness
from antiphon.spec.services.causal import CausalOrder, ReliableOrderInViews
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process, Views


class CausalMachine(Views):
    """Machine of causal broadcast: submit, deliver.

    State: `sender_of[m]` who submitted m, `before[m]` what happened before m: what its sender had submitted
    or delivered, and what happened before that; `taken[p]` what p delivered.
    """

    sender_of: Map[Message, Process | None] = everywhere(None)
    before: Map[Message, Set[Message]] = everywhere(Set())
    taken: Map[Process, Set[Message]] = everywhere(Set())

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Hand m to the service at p."""
        require(self.sender_of[m] is None)
        known = {k for k in self.each(Message) if k in self.taken[p] or self.sender_of[k] == p}
        self.sender_of[m] = p
        self.before[m] |= known | {j for k in known for j in self.before[k]}
        emit(Broadcast(p, m))

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, if p has delivered everything that happened before m."""
        require(self.sender_of[m] is not None and m not in self.taken[p] and self.may_follow(p, m))
        self.taken[p] |= {m}
        emit(Deliver(p, m))

    def may_follow(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered everything that happened before m."""
        return self.before[m] <= self.taken[p]

    def own_before(self, m: Message) -> Set[Message]:
        """Return the messages that the sender of m submitted before it."""
        return Set() | {k for k in self.before[m] if self.sender_of[k] == self.sender_of[m]}

    def has_own_before(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered those of its own messages that happened before m."""
        return all(k in self.taken[p] or self.sender_of[k] != p for k in self.before[m])

    @witness
    def Chain(self) -> bool:
        """Witness: a process has delivered a message that at least two other messages happened before."""
        return any(
            len(self.before[m]) > 1 and m in self.taken[p]
            for m in self.each(Message)
            for p in self.each(Process)
        )


@mutation("a message waits for those of its own sender only")
class OwnSenderOnly(CausalMachine):
    """Planted fault in the causal machine: a message waits for those of its own sender only. Breaks `Causal`
    and `ReliableCausal`.
    """

    def may_follow(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered all that the sender of m submitted before m."""
        return self.own_before(m) <= self.taken[p]


@mutation("a message waits for nothing")
class Unordered(CausalMachine):
    """Planted fault in the causal machine: a message waits for nothing. Breaks `Fifo`, and with it all other
    properties.
    """

    def may_follow(self, p: Process, m: Message) -> bool:
        """Return True: p may deliver any message at once."""
        return True


@mutation("what a message waits for is passed over instead")
class WithGaps(CausalMachine):
    """Planted fault in the causal machine: a message that comes too late is skipped, instead of being waited
    for. Breaks `ReliableFifo` and `ReliableCausal`.
    """

    def may_follow(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered nothing that m happened before, and m skips none of p's own
        messages.
        """
        return self.has_own_before(p, m) and not any(m in self.before[k] for k in self.taken[p])


@mutation("what another sent is passed over, what the sender itself sent is waited for")
class GapsBetweenSenders(CausalMachine):
    """Planted fault in the causal machine: messages of other senders may be skipped; only those of the sender
    itself are waited for. Breaks `ReliableCausal`.
    """

    def may_follow(self, p: Process, m: Message) -> bool:
        """Return True if p may deliver m where gaps are allowed: p has delivered the earlier messages of m's
        sender and its own that happened before m, and no message that m happened before.
        """
        return (
            self.own_before(m) <= self.taken[p]
            and self.has_own_before(p, m)
            and not any(m in self.before[k] for k in self.taken[p])
        )


class CausalChecked(
    CausalMachine,
    CausalOrder,
    ReliableOrderInViews,
    mutations=(OwnSenderOnly, Unordered, WithGaps, GapsBetweenSenders),
):
    """The machine in one view, judged by FIFO and causal order, with gaps and without."""
