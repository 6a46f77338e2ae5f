"""Properties of DTP: the paper's sentences on its variables and bounds, and total order broadcast.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, sections 3 and 4.

`DtpChecked` is what the ledger checks. `DtpCrashing` lets processes stop, which the paper leaves to a
membership protocol. `DtpLive` has the promise of Theorem 2, apart from the others, since a promise is judged
on the whole state graph and means nothing where timers are limited. What is assumed to be fair stands in the
marks of the actions (`section4`): each process that can go on by itself goes on in the end, its timeouts
come, and a packet that is in flight, and can be received all the time, is received. Losses need never happen.
"""

from __future__ import annotations

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import expect, invariant, leads_to, obligation, on, witness
from antiphon.spec.protocols.dtp.bounds import DtpBounded
from antiphon.spec.protocols.dtp.packets import Number, Status
from antiphon.spec.protocols.dtp.readings import Remembering
from antiphon.spec.services import Deliver, Message, Process, TotalOrderBroadcast


class DtpProperties(DtpBounded):
    """Properties of DTP: those that DTP's own text states, and those of the service."""

    @invariant
    def OneHolder(self) -> bool:
        """Invariant, section 4.1: at most one LTM whose S.Token is HOLD."""
        return not any(
            self.holding[p] and self.holding[q]
            for p in self.each(Process)
            for q in self.each(Process)
            if p != q
        )

    @invariant
    def UniqueNumbers(self) -> bool:
        """Invariant, theorem 1: a gsn belongs to one update at all processes."""
        return not any(
            self.differ(p, q, k)
            for k in self.each(Number)
            for p in self.each(Process)
            for q in self.each(Process)
            if p < q
        )

    def differ(self, p: Process, q: Process, k: Number) -> bool:
        """Return True if p and q know different updates with gsn k."""
        a = self.acks[p][k]
        b = self.acks[q][k]
        return a is not None and b is not None and a.message != b.message

    @invariant
    def AcknowledgedOnce(self) -> bool:
        """Invariant, lemma 1: no update has two gsns."""
        return not any(
            self.is_same(p, k, q, x)
            for k in self.each(Number)
            for x in self.each(Number)
            if k < x
            for p in self.each(Process)
            for q in self.each(Process)
        )

    def is_same(self, p: Process, k: Number, q: Process, x: Number) -> bool:
        """Return True if p knows an update with gsn k that q knows with gsn x."""
        a = self.acks[p][k]
        b = self.acks[q][x]
        return a is not None and b is not None and a.message == b.message

    @invariant
    def StatusIsObtained(self) -> bool:
        """Invariant, section 3: hgsn_i is the gsn of a message that LTM_i has delivered, or, with F > 0, of
        one that it has obtained.
        """
        return not any(
            self.misses_message(p, k) and k <= self.status[p][p]
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def StatusIsKnown(self) -> bool:
        """Invariant: R_i[k], what LTM_i knows of hgsn_k, is never ahead of hgsn_k."""
        return all(
            self.status[p][q] <= self.status[q][q] for p in self.each(Process) for q in self.each(Process)
        )

    @invariant
    def NoGapAtHolder(self) -> bool:
        """Invariant: the holder, once recovered, misses no MSG before the outstanding one of a sender."""
        return all(
            not (self.holding[p] and self.is_recovered(p)) or self.expected[q][q] <= self.expected[p][q] + 1
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def AnswerAtHand(self) -> bool:
        """Invariant: for a sender's outstanding MSG a recovered holder has the ACK, or has the MSG, or never
        got the MSG.
        """
        return not any(
            self.holding[p]
            and self.is_recovered(p)
            and self.awaiting[q]
            and q != p
            and self.lacks_answer(p, q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    def lacks_answer(self, p: Process, q: Process) -> bool:
        """Return True if p received the last MSG of q, and has neither the MSG nor an ACK for it."""
        return any(
            self.source[m] == q
            and self.lsn[m] == self.expected[q][q] - 1
            and self.lsn[m] < self.expected[p][q]
            and m not in self.buffer[p]
            and not self.is_acknowledged(p, m)
            for m in self.each(Message)
        )

    @invariant
    def StableRemoved(self) -> bool:
        """Invariant, section 1: stable messages are immediately removed from the local buffers."""
        return not any(
            not self.misses_message(p, k)
            and self.acks[p][k] is not None
            and all(self.status[p][j] >= k for j in self.each(Process))
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def MessageBound(self) -> bool:
        """Invariant, section 4.2: BUF_i holds 2n - 1 MSGs at most."""
        return all(len(self.buffer[p]) < 2 * self.processes for p in self.each(Process))

    @invariant
    def TrueMessageBound(self) -> bool:
        """Invariant: BUF_i holds 3n - 2 MSGs at most: 2n - 2 with a gsn, and one of each process without."""
        return all(len(self.buffer[p]) < 3 * self.processes - 1 for p in self.each(Process))

    @invariant
    def AckBound(self) -> bool:
        """Invariant, section 4.2: BUF_i holds n - 1 ACK messages at most."""
        return all(
            sum(1 for k in self.each(Number) if self.acks[p][k] is not None) < self.processes
            for p in self.each(Process)
        )

    @invariant
    def StableInTime(self) -> bool:
        """Invariant of section 4.2: a MSG is stable at a process that knows the ACKs of the n - 1 MSGs after
        it.
        """
        return all(
            self.status[p][p] < k + self.processes - 1 or k <= self.status[p][j]
            for p in self.each(Process)
            for j in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def StableAfterNulls(self) -> bool:
        """Invariant, paragraph Timeout: when n - 1 NULLs have arrived, every acknowledged message is stable
        (as repaired).
        """
        return len(self.network) > 0 or not any(
            self.holding[p]
            and self.next_null(p) >= self.processes
            and any(self.has_acks(q) for q in self.each(Process))
            for p in self.each(Process)
        )

    def has_acks(self, p: Process) -> bool:
        """Return True if BUF_p holds an ACK."""
        return any(self.acks[p][k] is not None for k in self.each(Number))

    def has_obtained(self, q: Process, m: Message) -> bool:
        """Return True if q has received or sent the message."""
        j = self.source[m]
        return j is not None and self.expected[q][j] > self.lsn[m]

    @obligation
    def TokenHeld(self) -> bool:
        """Obligation: some process holds the token (its S.Token is HOLD)."""
        return any(self.holding[p] for p in self.each(Process))

    @obligation
    def Acknowledged(self) -> bool:
        """Obligation: S.ACK is DONE everywhere: every MSG that was sent is acknowledged, and its sender
        knows.
        """
        return all(not self.awaiting[p] for p in self.each(Process))

    @obligation
    def Recovers(self) -> bool:
        """Obligation: a process that knows of a loss gets the lost message."""
        return all(self.is_recovered(p) or not self.takes_part(p) for p in self.each(Process))

    def takes_part(self, p: Process) -> bool:
        """Return True if p has not failed."""
        return True

    @witness
    def NotYetStable(self) -> bool:
        """Witness that the bound is tight: a process knows the ACKs of n - 2 MSGs after some MSG, and cannot
        know that this MSG is stable.
        """
        return any(
            k + self.processes - 2 == self.status[p][p] and self.status[p][j] < k
            for p in self.each(Process)
            for j in self.each(Process)
            for k in self.each(Number)
        )

    @witness
    def HeldByNull(self) -> bool:
        """Witness: a process holds the token because of an ACK of NULL, not because of the ACK of the last
        gsn (as repaired).
        """
        return any(
            self.holding[p] and self.status[p][p] > 0 and self.next_null(p) > 1 for p in self.each(Process)
        )

    @witness
    def TokenPassed(self) -> bool:
        """Witness: a process holds the token that did not hold it at first."""
        return any(self.holding[p] for p in self.each(Process) if p.index > 0)

    @witness
    def AllStable(self) -> bool:
        """Witness: everything was multicast, acknowledged, delivered and removed everywhere."""
        return self.broadcasts == self.messages and all(
            len(self.handed[p]) == self.messages and len(self.buffer[p]) == 0 for p in self.each(Process)
        )

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every update was multicast and acknowledged, and every process has delivered every
        update.
        """
        return self.broadcasts == self.messages and all(
            len(self.handed[p]) == self.messages for p in self.each(Process)
        )


class DtpChecked(DtpProperties, TotalOrderBroadcast):
    """DTP, checked against its own properties and total order broadcast."""

    @on(Deliver)
    def judge_delivery(self, event: Deliver) -> None:
        """Check that the updates of a process are delivered in the order in which it multicast them, and each
        only when F + 1 processes have obtained it.
        """
        m = event.message
        if m is not None:
            expect(
                all(
                    self.delivered[event.process][x]
                    for x in self.each(Message)
                    if x < m and self.source[x] == self.source[m]
                ),
                "SenderOrder",
            )
            expect(
                sum(1 for q in self.each(Process) if self.has_obtained(q, m)) > self.resilience, "Obtained"
            )
            expect(
                self.resilience + 1 < self.processes
                or all(self.has_obtained(q, m) for q in self.each(Process)),
                "SafeDelivery",
            )

    def change_status(self, p: Process, j: Process, h: Status) -> None:
        """Set R_p[j], what p knows of j's hgsn, to h, and check that R_p[j] does not go down."""
        before = self.status[p][j]
        super().change_status(p, j, h)
        expect(self.status[p][j] >= before, "MonotoneStatus")


class DtpOrdered(DtpChecked, Remembering):
    """DTP, with the property that no update is overtaken by one that came later."""

    def reset(self, p: Process, m: Message) -> None:
        """Acknowledge m, and check that no message without an ACK came into BUF_p before m."""
        super().reset(p, m)
        expect(
            not any(
                x in self.buffer[p] and not self.is_acknowledged(p, x) and self.is_before(p, x, m)
                for x in self.each(Message)
            ),
            "OldestFirst",
        )


class DtpCrashing(DtpProperties, Crashes, TotalOrderBroadcast):
    """DTP while processes stop and nobody changes the group."""

    def takes_part(self, p: Process) -> bool:
        """Return True if p is up."""
        return not self.down[p]

    @invariant
    def SurvivorHolds(self) -> bool:
        """Invariant, section 4.2: a delivered update that some live process has lost is in the BUF of a live
        process.
        """
        return all(
            not any(self.delivered[p][m] for p in self.each(Process))
            or all(self.down[q] or self.has_obtained(q, m) for q in self.each(Process))
            or any(not self.down[q] and m in self.buffer[q] for q in self.each(Process))
            for m in self.each(Message)
        )


class DtpLive(DtpChecked):
    """DTP, with the liveness promise of Theorem 2."""

    def is_broadcast(self, m: Message) -> bool:
        """Return True if the application has handed over m."""
        return self.origin[m] is not None

    def is_delivered_by_all(self, m: Message) -> bool:
        """Return True if every process has delivered m."""
        return all(self.delivered[p][m] for p in self.each(Process))

    EveryMessageDelivered = leads_to("is_broadcast", "is_delivered_by_all")
