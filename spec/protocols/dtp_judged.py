"""What must be true of DTP? What the paper says of its variables, its lemma, its bounds, and total order broadcast.

Source: J. Kim and C. Kim, 1997, sections 3 and 4. `DtpJudged` is what the ledger checks; `DtpCrashing` lets processes stop, which the paper leaves
to a membership protocol.
"""

from __future__ import annotations

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import expect, invariant, obligation, on, witness
from antiphon.spec.protocols.dtp import Dtp
from antiphon.spec.protocols.dtp_packets import Lowered, Number
from antiphon.spec.services import Deliver, Message, Process, TotalOrderBroadcast


class DtpProperties(Dtp):
    """The protocol with its own properties."""

    @invariant
    def OneHolder(self) -> bool:
        """Section 4.1: at most one LTM whose S.Token is HOLD."""
        return not any(self.holding[p] and self.holding[q] for p in self.each(Process) for q in self.each(Process) if p != q)

    @invariant
    def UniqueNumbers(self) -> bool:
        """Theorem 1: a gsn belongs to one update, whoever knows it."""
        return not any(self.differ(p, q, k) for k in self.each(Number) for p in self.each(Process) for q in self.each(Process) if p < q)

    def differ(self, p: Process, q: Process, k: Number) -> bool:
        """P and q know different updates with gsn k."""
        a = self.acks[p][k]
        b = self.acks[q][k]
        return a is not None and b is not None and a.message != b.message

    @invariant
    def AcknowledgedOnce(self) -> bool:
        """Lemma 1: no update has two gsns."""
        return not any(
            self.is_same(p, k, q, x)
            for k in self.each(Number)
            for x in self.each(Number)
            if k < x
            for p in self.each(Process)
            for q in self.each(Process)
        )

    def is_same(self, p: Process, k: Number, q: Process, x: Number) -> bool:
        """P knows an update with gsn k that q knows with gsn x."""
        a = self.acks[p][k]
        b = self.acks[q][x]
        return a is not None and b is not None and a.message == b.message

    @invariant
    def StatusIsObtained(self) -> bool:
        """Section 3: hgsn_i is the gsn of a message that LTM_i has delivered; with F > 0, obtained."""
        return not any(self.misses_message(p, k) and k <= self.status[p][p] for p in self.each(Process) for k in self.each(Number))

    @invariant
    def StatusIsKnown(self) -> bool:
        """R_i[k] is never ahead of hgsn_k."""
        return all(self.status[p][q] <= self.status[q][q] for p in self.each(Process) for q in self.each(Process))

    @invariant
    def NoGapAtHolder(self) -> bool:
        """The holder, once recovered, misses no MSG before the outstanding one of a sender."""
        return all(
            not (self.holding[p] and self.is_recovered(p)) or self.expected[q][q] <= self.expected[p][q] + 1
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @invariant
    def AnswerAtHand(self) -> bool:
        """A recovered holder has the ACK for the outstanding MSG of a sender, or has it unacknowledged, or never got it."""
        return not any(
            self.holding[p] and self.is_recovered(p) and self.awaiting[q] and q != p and self.lacks_answer(p, q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    def lacks_answer(self, p: Process, q: Process) -> bool:
        """P received the last MSG of q, and has neither it nor an ACK for it."""
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
        """Section 1: stable messages are immediately removed from the local buffers."""
        return not any(
            not self.misses_message(p, k) and self.acks[p][k] is not None and all(self.status[p][j] >= k for j in self.each(Process))
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def MessageBound(self) -> bool:
        """Section 4.2: BUF_i holds 2n - 1 MSGs at most."""
        return all(len(self.buffer[p]) < 2 * self.processes for p in self.each(Process))

    @invariant
    def AckBound(self) -> bool:
        """Section 4.2: BUF_i holds n - 1 ACK messages at most."""
        return all(sum(1 for k in self.each(Number) if self.acks[p][k] is not None) < self.processes for p in self.each(Process))

    @invariant
    def StableInTime(self) -> bool:
        """Section 4.2: a MSG is stable at a process that knows the acknowledgements of the n - 1 MSGs after it."""
        return all(
            self.status[p][p] < k + self.processes - 1 or k <= self.status[p][j]
            for p in self.each(Process)
            for j in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def StableAfterNulls(self) -> bool:
        """Timeout: NULLs bound the stability time: after n - 1 of them, when all have arrived, nothing acknowledged is unstable (as repaired)."""
        return len(self.network) > 0 or not any(
            self.holding[p] and self.turn[p] % (self.nulls + 1) >= self.processes - 1 and any(self.has_acks(q) for q in self.each(Process))
            for p in self.each(Process)
        )

    def has_acks(self, p: Process) -> bool:
        """BUF_p holds an ACK."""
        return any(self.acks[p][k] is not None for k in self.each(Number))

    def has_obtained(self, q: Process, m: Message) -> bool:
        """MSG(U, U_id, h) has come to q, or q sent it."""
        j = self.source[m]
        return j is not None and self.expected[q][j] > self.lsn[m]

    @obligation
    def TokenHeld(self) -> bool:
        """Some process is HOLD."""
        return any(self.holding[p] for p in self.each(Process))

    @obligation
    def Acknowledged(self) -> bool:
        """S.ACK is DONE everywhere: every MSG that was sent is acknowledged, and its sender knows."""
        return all(not self.awaiting[p] for p in self.each(Process))

    @witness
    def HeldByNull(self) -> bool:
        """A process holds the token by an ACK of NULL after the last gsn, so that this gsn's ACK does not name it (as repaired)."""
        return any(self.holding[p] and self.status[p][p] > 0 and self.turn[p] % (self.nulls + 1) > 0 for p in self.each(Process))

    @witness
    def TokenPassed(self) -> bool:
        """A process that did not have it at first holds the token."""
        return any(self.holding[p] for p in self.each(Process) if p.index > 0)

    @witness
    def AllStable(self) -> bool:
        """Everything was multicast, acknowledged, delivered and removed everywhere."""
        return self.broadcasts == self.messages and all(len(self.handed[p]) == self.messages and len(self.buffer[p]) == 0 for p in self.each(Process))

    @witness
    def AllDelivered(self) -> bool:
        """Everything was multicast, acknowledged and delivered everywhere."""
        return self.broadcasts == self.messages and all(len(self.handed[p]) == self.messages for p in self.each(Process))


class DtpJudged(DtpProperties, TotalOrderBroadcast):
    """DTP, judged by its own properties and by total order broadcast."""

    @on(Deliver)
    def judge_delivery(self, event: Deliver) -> None:
        """Updates of one process are delivered in the order in which it multicast them, and when F + 1 processes have obtained them."""
        m = event.message
        if m is not None:
            expect(all(self.delivered[event.process][x] for x in self.each(Message) if x < m and self.source[x] == self.source[m]), "SenderOrder")
            expect(sum(1 for q in self.each(Process) if self.has_obtained(q, m)) > self.resilience, "Obtained")
            expect(self.resilience + 1 < self.processes or all(self.has_obtained(q, m) for q in self.each(Process)), "SafeDelivery")

    @on(Lowered)
    def judge_status(self, event: Lowered) -> None:
        """R_i[j] never goes down."""
        expect(event.process == event.peer, "MonotoneStatus")


class DtpCrashing(DtpProperties, Crashes, TotalOrderBroadcast):
    """DTP while processes stop and nobody changes the group."""

    @invariant
    def SurvivorHolds(self) -> bool:
        """Section 4.2: what a process that is up may have lost, and any process has delivered, is in the BUF of a process that is up."""
        return all(
            not any(self.delivered[p][m] for p in self.each(Process))
            or all(self.down[q] or self.has_obtained(q, m) for q in self.each(Process))
            or any(not self.down[q] and m in self.buffer[q] for q in self.each(Process))
            for m in self.each(Message)
        )
