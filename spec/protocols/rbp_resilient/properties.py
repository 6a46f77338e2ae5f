"""Properties of figure 25: order, stability, resilience, the notice of a failure; and the states that must be
reached.
"""

from __future__ import annotations

from antiphon.spec.lang import action, expect, invariant, obligation, witness
from antiphon.spec.protocols.rbp_resilient.bounds import RbpResilientBounded
from antiphon.spec.protocols.rbp_resilient.faults import SelectLast
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, LastNumber, Number, Sequenced
from antiphon.spec.services import Message, Process, TotalOrderBroadcast


class RbpResilientProperties(RbpResilientBounded):
    """RBP with failures, without Reformation, with its properties."""

    # Properties: order and tokens ---------------------------------------------------------------------------

    @invariant
    def UniqueNumbers(self) -> bool:
        """Invariant: a number belongs to one message, a message has one number, among all that is not
        delivered yet.
        """
        return all(
            (a.number != b.number or a.body == b.body)
            and (a.body is None or a.body != b.body or a.number == b.number)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p] | self.stable[p]
            for b in self.numbered[q] | self.stable[q]
        )

    @invariant
    def OneHolder(self) -> bool:
        """Invariant: at most one process holds the token."""
        return not any(
            self.holding[p] and self.holding[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p != q
        )

    @invariant
    def NamedByNeighbour(self) -> bool:
        """Invariant: the sequencer that a process watches precedes it in the ring: the token that named the
        process has a number given by that sequencer.
        """
        return all(
            self.arriving[p] != token or (token.number - 1) % self.processes == self.predecessor(p).index
            for p in self.each(Process)
            for token in self.each(Sequenced)
        )

    def has_message(self, p: Process, k: Number) -> bool:
        """Return True if p knows the message of number k and has its body, or had them until delivery."""
        return (
            k <= self.last_delivered[p]
            or any(
                item.number == k and (item.body is None or self.has_body(p, item.body))
                for item in self.numbered[p]
            )
            or any(item.number == k for item in self.stable[p])
        )

    @invariant
    def HolderHasAll(self) -> bool:
        """Invariant: the process that may acknowledge has every message numbered before (sections 1 and
        3.2.2).
        """
        return all(
            not self.holding[p] or k > self.last_number[p] or self.has_message(p, k)
            for p in self.each(Process)
            for k in self.each(Number)
        )

    # Properties: stability and resilience -------------------------------------------------------------------

    def holders(self, k: Number) -> int:
        """Return the number of processes, up or not, that have the message with number k."""
        return sum(1 for q in self.each(Process) if self.has_message(q, k))

    @invariant
    def StableAtAll(self) -> bool:
        """Invariant: where a process knows number k, all have every message up to k - n + 1 (section
        3.2.2).
        """
        return all(
            k + self.processes - 1 > self.last_number[p] or self.holders(k) == self.processes
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def CollectedAtAll(self) -> bool:
        """Invariant: nobody can ask for a message that a process has collected: all have it."""
        return all(
            body not in self.collected[p] or self.is_at_all(body)
            for p in self.each(Process)
            for body in self.each(Body)
        )

    def is_at_all(self, body: Body) -> bool:
        """Return True if every process has the body, or had it until it was removed."""
        return all(body in self.received[q] or body in self.collected[q] for q in self.each(Process))

    def has_delivered(self, p: Process, body: Body) -> bool:
        """Return True if p has delivered the body."""
        if body in self.collected[p]:
            return not any(item.body == body for item in self.stable[p])
        return self.resilience > 0 and any(
            item.body == body and item.number <= self.last_delivered[p] for item in self.numbered[p]
        )

    def has_ordered(self, q: Process, body: Body) -> bool:
        """Return True if q has the body and its number, or had them until delivery."""
        if body in self.received[q]:
            return any(item.body == body for item in self.numbered[q])
        return body in self.collected[q]

    def is_held_by(self, body: Body) -> int:
        """Return the number of processes, up or not, that have the body and its number."""
        return sum(1 for q in self.each(Process) if self.has_ordered(q, body))

    @invariant
    def HeldByEnough(self) -> bool:
        """Invariant: as many processes hold a delivered message as the resiliency demands, all processes if
        it is total (section 3.2.2).
        """
        enough = self.resilience if self.resilience > 0 else self.processes
        return all(
            not self.has_delivered(p, body) or self.is_held_by(body) >= enough
            for p in self.each(Process)
            for body in self.each(Body)
        )

    @invariant
    def HeldByAnother(self) -> bool:
        """Invariant: a message that one process has delivered is held by another process too (section 4.2,
        figure 26).
        """
        return all(
            not self.has_delivered(p, body) or self.is_held_by(body) > 1
            for p in self.each(Process)
            for body in self.each(Body)
        )

    @invariant
    def DeliveredSurvives(self) -> bool:
        """Invariant: a message that any process has delivered is held by some process that is up (section
        4.2).
        """
        return all(
            not self.has_delivered(p, body)
            or any(not self.down[q] and self.has_ordered(q, body) for q in self.each(Process))
            for p in self.each(Process)
            for body in self.each(Body)
        )

    @invariant
    def OneTurnBuffered(self) -> bool:
        """Invariant: the buffer of a process holds at most n numbers, one turn of the token, when the process
        misses nothing and nothing waits for removal (section 4.4).
        """
        return all(
            any(self.can_settle(p, item) for item in self.numbered[p])
            or self.highest_known(p) > self.last_number[p]
            or len(self.numbered[p]) <= self.processes
            for p in self.each(Process)
        )

    @invariant
    def OneTurnBufferedByAll(self) -> bool:
        """Invariant: the bound of `OneTurnBuffered`, for every process, whether or not it misses
        something.
        """
        return all(
            any(self.can_settle(p, item) for item in self.numbered[p])
            or len(self.numbered[p]) <= self.processes
            for p in self.each(Process)
        )

    @invariant
    def BufferedUntilNamed(self) -> bool:
        """Invariant: the buffer of a process that misses the number after its own holds at most the n - 1
        numbers up to its own, and the n - 2 numbers that the other processes give until the token is back.
        """
        return all(
            any(self.can_settle(p, item) for item in self.numbered[p])
            or len(self.numbered[p]) <= self.processes
            or len(self.numbered[p]) <= 2 * self.processes - 3
            for p in self.each(Process)
        )

    # Properties: what happens in the end --------------------------------------------------------------------

    def is_used_up(self) -> bool:
        """Return True if the exploration's numbers are used up, or nobody is up."""
        return any(self.knows(p, self.limit()) for p in self.each(Process)) or all(
            self.down[p] for p in self.each(Process)
        )

    def is_noticed(self) -> bool:
        """Return True if a live process has called Reformation."""
        return any(self.reforming[p] and not self.down[p] for p in self.each(Process))

    @obligation
    def EverybodyDelivers(self) -> bool:
        """Obligation: each process that is up delivers every broadcast."""
        return all(
            m.index >= self.broadcasts
            or self.down[p]
            or any(body.message == m and self.has_delivered(p, body) for body in self.each(Body))
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @obligation
    def Returns(self) -> bool:
        """Obligation: the procedure TO-broadcast ends: its message is acknowledged (line 16)."""
        return all(self.pending[p] is None or self.down[p] for p in self.each(Process))

    @obligation
    def GoesOnOrNoticed(self) -> bool:
        """Obligation: in the end the token has reached the last number of the exploration (with `brief`, all
        messages are removed), or a live process has called Reformation.
        """
        return self.is_noticed() or self.is_used_up() or not self.is_wanted()

    @obligation
    def NoVainWait(self) -> bool:
        """Obligation: no process that is up waits for ever for a neighbour that has failed, be it its
        sequencer or its successor.
        """
        return self.is_used_up() or not any(
            not self.down[p]
            and not self.reforming[p]
            and (
                (self.awaits_sequencer(p) and self.down[self.predecessor(p)])
                or (
                    self.passed[p] is not None
                    and any(self.successor(p) == q and self.down[q] for q in self.each(Process))
                )
            )
            for p in self.each(Process)
        )

    def highest_given(self) -> LastNumber:
        """Return the highest number that any process knows, or 0."""
        return max(
            (k for k in self.each(Number) if any(self.knows(q, k) for q in self.each(Process))), default=0
        )

    def is_simple(self, s: Process) -> bool:
        """Return True if s is a simple process: neither the sequencer that gave the highest number nor the
        next sequencer, and no live process waits for s to accept the token.
        """
        top = self.highest_given()
        last = Process((top + self.processes - 1) % self.processes)
        named = Process(top % self.processes)
        return s != last and s != named and not any(self.awaits(q, s) for q in self.each(Process))

    @obligation
    def ReachesTheFailed(self) -> bool:
        """Obligation: a failed simple process becomes the next sequencer in the end; until then the token
        goes round without it.
        """
        return (
            not any(self.down[s] and self.is_simple(s) for s in self.each(Process))
            or self.is_noticed()
            or self.is_used_up()
        )

    @invariant
    def SimpleUnwatched(self) -> bool:
        """Invariant: no process waits for a simple process that has failed (section 3.2.1 a)."""
        return not any(
            self.down[s]
            and self.is_simple(s)
            and not self.down[p]
            and self.awaits_sequencer(p)
            and self.predecessor(p) == s
            for s in self.each(Process)
            for p in self.each(Process)
        )

    # Witnesses ----------------------------------------------------------------------------------------------

    @witness
    def TokenAccepted(self) -> bool:
        """Witness: a process holds the token."""
        return any(self.holding[p] for p in self.each(Process))

    @witness
    def SomethingDelivered(self) -> bool:
        """Witness: a process has delivered a message, not only passed over NULL."""
        return any(self.has_delivered(p, body) for p in self.each(Process) for body in self.each(Body))

    @invariant
    def WaitsNoMore(self) -> bool:
        """Invariant of the repaired text: a process that knows a number after that of its own ACK does not
        wait for its successor to accept any more.
        """
        return not any(self.waits_in_vain(p) for p in self.each(Process))

    def waits_in_vain(self, p: Process) -> bool:
        """Return True if p waits for its successor, although p has a number higher than that of its own
        ACK.
        """
        sent = self.passed[p]
        return sent is not None and any(item.number > sent.number for item in self.numbered[p])

    @witness
    def NotYetStable(self) -> bool:
        """Witness that the bound of stability is tight: a process knows number k, and some process lacks the
        message of number k - n + 2.
        """
        return any(
            k + self.processes - 2 == self.last_number[p] and self.holders(k) < self.processes
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every message was broadcast, and every process has delivered and removed every message."""
        return self.broadcasts == self.messages and all(
            any(
                body.message == m and body in self.collected[p] and self.has_delivered(p, body)
                for body in self.each(Body)
            )
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def DeliveredAtTheBound(self) -> bool:
        """Witness: a process has delivered a message and those after it up to k - n + 1, where k is the
        highest number that any process knows.
        """
        return any(
            len(self.collected[p]) > 0
            and len(self.stable[p]) == 0
            and all(
                self.highest_known(q) < self.last_delivered[p] + self.processes for q in self.each(Process)
            )
            for p in self.each(Process)
        )

    @witness
    def TokenLost(self) -> bool:
        """Witness, section 3.2.1 c and d: a process has failed, the token is lost, and no live process waits
        for a failed one.
        """
        return (
            self.is_blocked()
            and not self.is_noticed()
            and any(self.down[p] for p in self.each(Process))
            and not self.is_used_up()
        )

    @witness
    def BothFailed(self) -> bool:
        """Witness, section 3.2.1 d: after the token was passed, the sequencer (which gave the highest number)
        and the next one have failed, and no live process waits for either.
        """
        top = self.highest_given()
        return (
            top > 1
            and self.down[Process((top + self.processes - 1) % self.processes)]
            and self.down[Process(top % self.processes)]
            and self.is_blocked()
            and not self.is_noticed()
            and not self.is_used_up()
        )

    @witness
    def NextFailedBefore(self) -> bool:
        """Witness, figure 18: the sequencer waits, and the next one failed before it accepted."""
        return any(
            self.awaits(p, q) and self.down[q] and not self.has_acknowledged(p, q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def NextFailedAfter(self) -> bool:
        """Witness, figure 19: the sequencer waits, and the next one accepted, acknowledged, and failed."""
        return any(
            self.awaits(p, q) and self.down[q] and self.has_acknowledged(p, q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def NextSilent(self) -> bool:
        """Witness, figure 19: the sequencer waits, and the next one is up, accepted and acknowledged, but its
        ACK was lost.
        """
        return any(
            self.awaits(p, q) and not self.down[q] and self.has_acknowledged(p, q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    def awaits(self, p: Process, q: Process) -> bool:
        """Return True if p is up and waits for q to accept the token."""
        return not self.down[p] and self.passed[p] is not None and self.successor(p) == q

    def has_acknowledged(self, p: Process, q: Process) -> bool:
        """Return True if q has given a higher number than that of the ACK that p repeats."""
        sent = self.passed[p]
        return sent is not None and self.highest_known(q) > sent.number

    @witness
    def NextMissesMessages(self) -> bool:
        """Witness, figure 21: the sequencer has failed, and the next one, which was named, lacks messages
        that it needs to accept.
        """
        return any(
            not self.down[p] and self.awaits_sequencer(p) and self.down[self.predecessor(p)]
            for p in self.each(Process)
        )


class RbpResilientChecked(RbpResilientProperties, TotalOrderBroadcast):
    """RBP with failures, without Reformation, checked against total order broadcast."""


class RbpResilientOrdered(RbpResilientChecked, mutations=(SelectLast,)):
    """RBP with failures, checked for a message that is overtaken by messages broadcast later."""

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Sequence a message (line 59, `first`), and check that no message broadcast earlier is without a
        number at p.
        """
        super().sequence(p)
        given = self.passed[p]
        expect(
            not any(
                given is not None
                and given.body is not None
                and one.message < given.body.message
                and not self.is_numbered(p, one)
                for one in self.received[p]
            ),
            "OldestFirst",
        )
