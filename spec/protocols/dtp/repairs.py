"""Repairs of DTP: each class departs from one printed sentence of section 4, and says which claim it answers.

Source: J. Kim and C. Kim, 1997, section 4. What each docstring quotes is the line that it departs from.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Map, constraint, everywhere, repair
from antiphon.spec.protocols.dtp.packets import Ack, Null, Number, Pass, Status
from antiphon.spec.protocols.dtp.readings import UpToGap
from antiphon.spec.protocols.dtp.section4 import Dtp
from antiphon.spec.services import Message, Process

Turn = Annotated[int, Between(0, "(messages + spare + 1) * (nulls + 1)")]
"""A pass of the token: passes are numbered in the order in which they happen."""


@repair(
    "every pass of the token has a number; only a pass with a new number gives the token", answers="DTP-01"
)
class NumberPasses(Dtp):
    """Repair of DTP, Receiving ACK. Printed: `If i = m, then LTM_i recognizes that it has become the token
    holder`, so any copy of an ACK gives the token. Repaired: passes of the token are numbered, and only a new
    pass gives the token.

    `turn[p]` is the number of the last pass that p knows: by its gsn, then by the NULLs since that gsn.
    """

    turn: Map[Process, Turn] = everywhere(0)

    def gives_token(self, p: Process, seen: Pass) -> bool:
        """Return True only for a pass that p does not know yet."""
        return super().gives_token(p, seen) and self.turn_of(seen) > self.turn[p]

    def take_pass(self, p: Process, sender: Process, seen: Pass) -> None:
        """Take the pass of the token at p, and remember its number."""
        super().take_pass(p, sender, seen)
        self.turn[p] = max(self.turn[p], self.turn_of(seen))

    def pass_token(self, p: Process, sent: Pass) -> None:
        """Pass the token with the next pass number: that of another NULL, or of the first pass after a
        gsn.
        """
        super().pass_token(p, sent)
        self.turn[p] = self.turn[p] + 1 if sent.message is None else self.turn_of(sent)

    def next_null(self, p: Process) -> int:
        """Return one more than the number of NULLs that were passed since the last gsn."""
        return self.turn[p] % (self.nulls + 1) + 1

    def turn_of(self, sent: Pass) -> int:
        """Return the place of a pass of the token in the order of all passes: by the gsn, then by the number
        of NULLs since the gsn.
        """
        return sent.number * (self.nulls + 1) + sent.nulls

    @constraint("pass_null")
    def has_null_left(self, p: Process) -> bool:
        """Return True if fewer than `nulls` NULLs were passed since the last gsn."""
        return self.next_null(p) <= self.nulls


@repair("an ACK with g > R_i[i] + 1 is kept like the next one, and is not assigned again", answers="DTP-03")
class KeepEarlyAck(UpToGap):
    """Repair of DTP, Receiving ACK. Printed: `LTM_i puts ACK into BUF_i if g = R_i[i] + 1`, so an ACK that
    comes early is lost. Repaired: an early ACK is kept too, and its update is not numbered again.
    """

    def take_early_ack(self, p: Process, packet: Ack) -> None:
        """Put an early ACK into BUF, as the next expected ACK is put there."""
        self.take_ack(p, packet)


@repair("a MSG that comes to the holder is acknowledged only if it has no ACK in BUF", answers="DTP-04")
class AcknowledgeNew(Dtp):
    """Repair of DTP, Receiving MSG. Printed: `If LTM_i holds the token, it performs for the MSG the
    procedure`, also for a repeated MSG. Repaired: the holder acknowledges a MSG only if BUF has no ACK for
    it.
    """

    def answers(self, p: Process, m: Message) -> bool:
        """Return True only for a message to which no ACK has given a gsn."""
        return self.is_new(p, m)


@repair("R_i[i] becomes g when U with gsn g has been obtained, not when its ACK comes", answers="DTP-05")
class AdvanceOnDelivery(UpToGap):
    """Repair of DTP, Receiving ACK. Printed: `it updates both R_i[t] and R_i[i] to g`, before U is looked for
    in BUF. Repaired: R_i[i] becomes g only when p has the update with gsn g.
    """

    def may_cover(self, p: Process, k: Number) -> bool:
        """Return True if R_p[p] may become k: BUF has not only the ACK with gsn k, but also its update."""
        item = self.acks[p][k]
        return super().may_cover(p, k) and item is not None and item.message in self.buffer[p]

    def put_message(self, p: Process, m: Message) -> None:
        """Put the message into BUF; updates after it that waited for it count as obtained."""
        super().put_message(p, m)
        self.catch_up(p)


@repair("neither a MSG nor an ACK lowers R_i[j]", answers="DTP-10")
class MonotoneStatus(Dtp):
    """Repair of DTP. Printed: a MSG `changes R_i[j] to h`, an ACK `updates both R_i[t] and R_i[i] to g`, a
    NULL `updates R_i[j] to g`, so an old packet lowers R_i[j]. Repaired: R_i[j] never goes down.
    """

    def change_status(self, p: Process, j: Process, h: Status) -> None:
        """Raise R_p[j], what p knows of j's hgsn, to h, and never lower it."""
        self.status[p][j] = max(self.status[p][j], h)


@repair("stable messages are removed whenever R_i changes, not only when h > R_i[j]", answers="DTP-11")
class CollectAlways(Dtp):
    """Repair of DTP, Removing stable messages. Printed: `it checks if h > R_i[j]. If so, it … removes the
    stable MSGs`. Repaired: stable messages are removed whenever R_i changes.
    """

    def finish(self, p: Process, heard: bool) -> None:
        """Deliver the updates that R_p covers, and remove stable ones."""
        self.deliver_covered(p)
        self.remove_stable(p)


@repair("nobody names itself", answers="DTP-12")
class PassToAnother(Dtp):
    """Repair of DTP, Update arrival. Printed: `R_i[m] = min({R_i[k] | 1 <= k <= n})`, which allows m = i
    while all R are equal. Repaired: a process never names itself as the next holder.
    """

    def is_candidate(self, p: Process, m: Process, own: Status) -> bool:
        """Return True if m is the least active of the other processes."""
        return m != p and all(
            self.known(p, m, own) <= self.known(p, k, own) for k in self.each(Process) if k != p
        )


@repair(
    "TRST ends with an ACK of a later pass, and with no other", answers="DTP-13", builds_on=(NumberPasses,)
)
class EndByNumber(NumberPasses):
    """Repair of DTP, Receiving ACK and Timeout. Printed: `if g >= R_i[i] + 1 or i = m` and `R_i[i] + 1 <= g'
    or x = m`. Repaired: a process stops repeating its pass (TRST) at an ACK of a later pass, and at no other.
    """

    def ends_transfer(self, p: Process, sender: Process, seen: Pass) -> bool:
        """Return True for an ACK of a later pass than the one that p made."""
        sent = self.passed[p]
        return sent is not None and self.turn_of(seen) > self.turn_of(sent)


@repair(
    "in TRST, a REQ of the process that was named last is answered, also if it was named with NULL",
    answers="DTP-14",
)
class AnswerNamed(Dtp):
    """Repair of DTP, request in TRST. Printed: p answers j `if m = j in ACK(i, U_id, R_i[i], m) stored in
    BUF_i`. Repaired: p answers the process that it named last, be it in an ACK of an update or of NULL.
    """

    def is_successor(self, p: Process, j: Process) -> bool:
        """Return True if p named j last."""
        sent = self.passed[p]
        return sent is not None and sent.next_holder == j


@repair(
    "every ACK, also of NULL, carries R_t of its sender, so that those who know it know what its sender knew",
    answers="DTP-23",
    builds_on=(NumberPasses,),
)
class CarryStatus(NumberPasses):
    """Repair of DTP, section 4.2. Printed: `ACK consists of ACK's sender ID, U_id, gsn, and the next token
    holder's ID`. Repaired: every ACK carries the sender's R too, so that its receivers learn what the sender
    knew.

    `told[k]` is what pass k of the token carries. Why n - 1 ACKs and 3n - 2 MSGs are enough then:

    1. A holder has the pass that named it, so that no entry of its R is below that of the holder before it.
       Its own entry, which was the least there, is now the last gsn. After gsn g each pass raises one entry
       that was below g, and there are n - 1: after n - 1 passes the holder's least entry is at least g.
    2. A process that has obtained gsn s has the ACK of s: by 1. no entry of its R is below s - n + 1, so that
       s - n + 1 is stable at it (DTP-23). If g is the highest gsn of its ACKs, g - n + 1 is stable at it in
       the same way, so that BUF holds n - 1 ACKs.
    3. The highest gsn that was assigned is at most s + n - 1, by 1. with s for the least entry. So BUF holds
       at most the MSGs from s - n + 2 to s + n - 1, 2n - 2 of them, where s is hgsn of its process, and of
       each sender one MSG without a gsn (DTP-22).
    """

    told: Map[Turn, Map[Process, Status]] = everywhere(everywhere(0))

    def pass_token(self, p: Process, sent: Pass) -> None:
        """Pass the token, and record R_p for the receivers."""
        super().pass_token(p, sent)
        for j in self.each(Process):
            self.told[self.turn[p]][j] = self.status[p][j]

    def hear_ack(self, p: Process, packet: Ack) -> None:
        """Raise the entry of the ACK's sender in R_p, and the entries of the other processes to what the
        sender knew.
        """
        super().hear_ack(p, packet)
        self.hear_told(p, packet.number * (self.nulls + 1))

    def hear_null(self, p: Process, packet: Null) -> None:
        """Raise the entry of the NULL's sender in R_p, and the entries of the other processes to what the
        sender knew.
        """
        super().hear_null(p, packet)
        self.hear_told(p, packet.number * (self.nulls + 1) + packet.nulls)

    def hear_told(self, p: Process, turn: Turn) -> None:
        """Raise each entry of R_p, a known hgsn, to the value that pass `turn` carries."""
        for j in self.each(Process):
            if j != p:
                self.status[p][j] = max(self.status[p][j], self.told[turn][j])


@repair("with F > 0 the processes k are counted, not the different values R_i[k]", answers="DTP-28")
class CountProcesses(Dtp):
    """Repair of DTP, Degree of fault tolerance. Printed: `|{R_i[k] | R_i[k] >= g}| >= F + 1`, which counts
    different values. Repaired: the processes k are counted.
    """

    def is_resilient(self, p: Process, g: Number) -> bool:
        """Return True if at least F + 1 processes have obtained the update with gsn g."""
        return sum(1 for k in self.each(Process) if self.status[p][k] >= g) > self.resilience


REPAIRS = (
    NumberPasses,
    KeepEarlyAck,
    AcknowledgeNew,
    AdvanceOnDelivery,
    MonotoneStatus,
    CollectAlways,
    PassToAnother,
    EndByNumber,
    AnswerNamed,
    CarryStatus,
    CountProcesses,
)
