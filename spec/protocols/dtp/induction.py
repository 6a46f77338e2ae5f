"""Proof by induction that the bounds of DTP as repaired are true (DTP-22, DTP-23).

The invariants imply one another, so that Z3 proves `AckBound`, `StableInTime` and `OnlyTheLatest` for runs of
every length and every order of arrival: `antiphon check antiphon.spec.protocols.dtp.induction:DtpBounds
--prove --repair all`.

The variables that are added change no step: `passer[t]` made pass t and named `named[t]`, `last` is the last
pass, and `numbered[k]` the update with gsn k, of which there are `assigned`.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, initial, invariant
from antiphon.spec.protocols.dtp.packets import Ack, AskMessage, AskNumber, Msg, Null, Number, Pass, Status
from antiphon.spec.protocols.dtp.properties import DtpProperties
from antiphon.spec.protocols.dtp.repairs import CarryStatus, Turn
from antiphon.spec.services import Message, Process


class DtpBounds(DtpProperties, CarryStatus):
    """DTP as repaired, with a record of its passes, and the invariants of the proof."""

    passer: Map[Turn, Process | None] = everywhere(None)
    named: Map[Turn, Process | None] = everywhere(None)
    numbered: Map[Number, Message | None] = everywhere(None)
    last: Turn = 0
    assigned: Status = 0

    @initial
    def start(self) -> None:
        """Begin with the token at process 0, which is recorded as if process 0 had passed it to itself."""
        super().start()
        self.passer[0] = Process(0)
        self.named[0] = Process(0)

    def pass_token(self, p: Process, sent: Pass) -> None:
        """Pass the token, and record the pass."""
        super().pass_token(p, sent)
        turn = self.turn[p]
        self.last = turn
        self.passer[turn] = p
        self.named[turn] = sent.next_holder
        if sent.message is not None:
            self.numbered[sent.number] = sent.message
            self.assigned = sent.number

    # The passes ---------------------------------------------------------------------------------------------

    def gsn_of(self, t: Turn) -> int:
        """Return the last gsn at the time of pass t."""
        return t // (self.nulls + 1)

    @invariant
    def LastPass(self) -> bool:
        """Invariant: the last pass came after the last gsn was assigned, and no process knows of a later
        pass.
        """
        return (
            self.gsn_of(self.last) == self.assigned
            and self.passer[self.last] is not None
            and all(t <= self.last or self.passer[t] is None for t in self.each(Turn))
            and all(self.turn[p] <= self.last for p in self.each(Process))
        )

    @invariant
    def EachHasANumber(self) -> bool:
        """Invariant: each gsn up to the last was assigned by its own pass, to an update that was
        multicast.
        """
        return all(
            (self.numbered[k] is not None) == (k <= self.assigned)
            and (k > self.assigned or self.passer[k * (self.nulls + 1)] is not None)
            for k in self.each(Number)
        ) and not any(
            self.numbered[k] == m and self.source[m] is None
            for m in self.each(Message)
            for k in self.each(Number)
        )

    @invariant
    def OneNumber(self) -> bool:
        """Invariant: no update has two gsns."""
        return not any(
            self.numbered[k] == m and self.numbered[x] == m
            for m in self.each(Message)
            for k in self.each(Number)
            for x in self.each(Number)
            if x < k
        )

    @invariant
    def LeastIsNamed(self) -> bool:
        """Invariant: a process that passes the token knows all gsns, and names the least active of the other
        processes.
        """
        return all(
            (self.passer[t] is None) == (self.named[t] is None)
            and all(
                (self.passer[t] != p or self.told[t][p] == self.gsn_of(t))
                and all(
                    self.named[t] != p or self.passer[t] == q or self.told[t][p] <= self.told[t][q]
                    for q in self.each(Process)
                )
                for p in self.each(Process)
            )
            for t in self.each(Turn)
        )

    @invariant
    def Staircase(self) -> bool:
        """Invariant: after each pass, for every i, i + 1 processes are at most i behind the last gsn, since
        each pass raises the least entry.
        """
        return all(
            self.passer[t] is None
            or sum(1 for p in self.each(Process) if self.told[t][p] + i.index >= self.gsn_of(t)) > i.index
            for t in self.each(Turn)
            for i in self.each(Process)
        )

    # The token ----------------------------------------------------------------------------------------------

    @invariant
    def HolderIsNamed(self) -> bool:
        """Invariant: the holder of the token was named by the last pass, and knows of that pass."""
        return all(
            not self.holding[p] or (self.turn[p] == self.last and self.named[self.last] == p)
            for p in self.each(Process)
        )

    @invariant
    def NamedKnows(self) -> bool:
        """Invariant: a process that was named by a pass, other than the last, knows of that pass."""
        return all(
            t >= self.last or self.named[t] != p or self.turn[p] >= t
            for t in self.each(Turn)
            for p in self.each(Process)
        )

    @invariant
    def HolderKnowsAll(self) -> bool:
        """Invariant: for each gsn the holder has the ACK, with or without the update, or knows that it lacks
        the ACK.
        """
        return all(
            not self.holding[p]
            or k > self.assigned
            or k <= self.status[p][p]
            or self.acks[p][k] is not None
            or k <= self.sought[p]
            for p in self.each(Process)
            for k in self.each(Number)
        )

    @invariant
    def ArrivedIsNew(self) -> bool:
        """Invariant: an update that a process is about to acknowledge is in the process's BUF and has no gsn,
        and the process holds the token.
        """
        return all(
            self.arrived[p] != m
            or (
                self.holding[p]
                and self.is_recovered(p)
                and m in self.buffer[p]
                and not any(self.numbered[k] == m for k in self.each(Number))
            )
            for p in self.each(Process)
            for m in self.each(Message)
        )

    # What is on its way, and what is kept -------------------------------------------------------------------

    def agrees(self, sender: Process, next_holder: Process, turn: Turn) -> bool:
        """Return True if pass `turn` was made by `sender` and named `next_holder`."""
        return self.passer[turn] == sender and self.named[turn] == next_holder

    @invariant
    def AcksAgree(self) -> bool:
        """Invariant: every ACK in flight belongs to a pass."""
        return all(
            self.numbered[packet.number] == packet.message
            and self.agrees(packet.sender, packet.next_holder, packet.number * (self.nulls + 1))
            for packet in self.network
            if isinstance(packet, Ack)
        )

    @invariant
    def NullsAgree(self) -> bool:
        """Invariant: every ACK of NULL in flight belongs to a pass."""
        return all(
            self.agrees(packet.sender, packet.next_holder, packet.number * (self.nulls + 1) + packet.nulls)
            for packet in self.network
            if isinstance(packet, Null)
        )

    @invariant
    def BuffersAgree(self) -> bool:
        """Invariant: every ACK in a BUF belongs to a pass."""
        return all(self.keeps_pass(p, k) for p in self.each(Process) for k in self.each(Number))

    def keeps_pass(self, p: Process, k: Number) -> bool:
        """Return True if BUF_p has no ACK with gsn k, or if that ACK belongs to a pass."""
        item = self.acks[p][k]
        return item is None or (
            self.numbered[k] == item.message
            and self.agrees(item.sender, item.next_holder, k * (self.nulls + 1))
        )

    @invariant
    def RepeatedAgree(self) -> bool:
        """Invariant: every ACK that is sent again belongs to a pass."""
        return all(self.repeats_pass(p) for p in self.each(Process))

    def repeats_pass(self, p: Process) -> bool:
        """Return True if p sends no ACK again, or if that ACK belongs to a pass that p made."""
        sent = self.passed[p]
        if sent is None:
            return True
        m = sent.message
        return self.agrees(p, sent.next_holder, sent.number * (self.nulls + 1) + sent.nulls) and (
            m is None or (sent.number > 0 and sent.nulls == 0 and self.numbered[sent.number] == m)
        )

    # What the processes know of one another -----------------------------------------------------------------

    @invariant
    def NothingAhead(self) -> bool:
        """Invariant: no reported value of hgsn_j is ahead of hgsn_j, and no hgsn is ahead of the last gsn."""
        return (
            all(self.status[j][j] <= self.assigned for j in self.each(Process))
            and all(self.told[t][j] <= self.status[j][j] for t in self.each(Turn) for j in self.each(Process))
            and all(
                self.source[m] != j or self.stamp[m] <= self.status[j][j]
                for m in self.each(Message)
                for j in self.each(Process)
            )
            and all(
                packet.status <= self.status[packet.sender][packet.sender]
                for packet in self.network
                if isinstance(packet, AskMessage | AskNumber)
            )
        )

    @invariant
    def KnowsWhatIsTold(self) -> bool:
        """Invariant: a process that has the ACK of a gsn, its update, or news of a pass, knows everything
        that the pass reported.
        """
        return all(
            j == p
            or (
                self.status[p][j] >= self.told[self.turn[p]][j]
                and all(
                    (self.acks[p][k] is None and k > self.status[p][p])
                    or self.status[p][j] >= self.told[k * (self.nulls + 1)][j]
                    for k in self.each(Number)
                )
            )
            for p in self.each(Process)
            for j in self.each(Process)
        )

    # What was obtained --------------------------------------------------------------------------------------

    @invariant
    def Numbering(self) -> bool:
        """Invariant: updates are numbered by their senders one by one, and nobody is ahead of a sender."""
        return (
            sum(self.expected[q][q] - 1 for q in self.each(Process)) == self.broadcasts
            and all(
                self.expected[p][q] <= self.expected[q][q]
                for p in self.each(Process)
                for q in self.each(Process)
            )
            and all((self.source[m] is None) == (m.index >= self.broadcasts) for m in self.each(Message))
            and all(
                self.source[m] != q or self.lsn[m] < self.expected[q][q]
                for m in self.each(Message)
                for q in self.each(Process)
            )
            and not any(
                self.source[m] is not None and self.source[m] == self.source[x] and self.lsn[m] == self.lsn[x]
                for m in self.each(Message)
                for x in self.each(Message)
                if x < m
            )
        )

    @invariant
    def OnlyTheMulticast(self) -> bool:
        """Invariant: messages in BUF were received or sent by the process; messages in flight or requested
        were multicast.
        """
        return all(
            (m not in self.buffer[p] or self.has_obtained(p, m))
            and (m not in self.missed[p] or self.source[m] is not None)
            for p in self.each(Process)
            for m in self.each(Message)
        ) and all(
            self.source[packet.message] is not None
            for packet in self.network
            if isinstance(packet, Msg | AskMessage)
        )

    @invariant
    def OneWithoutANumber(self) -> bool:
        """Invariant: each sender has at most one update without a gsn, its last, and only while it waits for
        the ACK.
        """
        return all(
            self.source[m] != q
            or any(self.numbered[k] == m for k in self.each(Number))
            or (self.awaiting[q] and self.lsn[m] == self.expected[q][q] - 1)
            for m in self.each(Message)
            for q in self.each(Process)
        )

    @invariant
    def Obtained(self) -> bool:
        """Invariant: p has received everything up to hgsn_p: each of these updates is in BUF_p with its ACK,
        or was removed with it. The process lacks the next update, and has delivered nothing beyond.
        """
        return all(self.obtains(p, k) for p in self.each(Process) for k in self.each(Number))

    def obtains(self, p: Process, k: Number) -> bool:
        """Return True if the invariant `Obtained` holds for gsn k at p."""
        item = self.acks[p][k]
        if k <= self.status[p][p]:
            return all(
                self.numbered[k] != m
                or (self.has_obtained(p, m) and (m in self.buffer[p]) == (item is not None))
                for m in self.each(Message)
            )
        if k == self.status[p][p] + 1 and item is not None and item.message in self.buffer[p]:
            return False
        return k not in self.handed[p]

    # The true bound -----------------------------------------------------------------------------------------

    @invariant
    def OnlyTheLatest(self) -> bool:
        """Invariant: the gsns of the MSGs in BUF_i are less than n - 1 below hgsn_i and less than n above it:
        2n - 2 gsns. With one MSG without a gsn for each sender, BUF_i holds 3n - 2 MSGs at most.
        """
        return not any(
            self.numbered[k] == m
            and m in self.buffer[p]
            and not (self.status[p][p] < k + self.processes - 1 and k < self.status[p][p] + self.processes)
            for p in self.each(Process)
            for k in self.each(Number)
            for m in self.each(Message)
        )
