"""Repairs of figure 25: for each the printed text, its replacement, and the claim that demands it."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, Map, Set, action, everywhere, guard, initial, repair, require
from antiphon.spec.protocols.rbp_resilient.figure25 import (
    Ack,
    Body,
    LastNumber,
    Number,
    Numbered,
    RbpResilient,
    Sequenced,
)
from antiphon.spec.services import Process


class Collecting(RbpResilient):
    """Figure 25 with a record of the messages that left the queues, for properties and one repair."""

    collected: Map[Process, Set[Body]] = everywhere(Set())

    def drop_body(self, p: Process, body: Body | None) -> None:
        super().drop_body(p, body)
        if body is not None:
            self.collected[p] |= {body}


@repair("line 7: the successor of p_n is p1; `p + 1 mod n` names p0", answers="RBP-02")
class RingFromOne(RbpResilient):
    """Repair of figure 25, line 7. Printed: `toknext_p ← p + 1 (mod n)`, which gives p0, though the processes
    are p1 to p_n. Repaired: the successor of p_n is p1.
    """

    def successor(self, p: Process) -> Process | None:
        return Process((p.index + 1) % self.processes)


@repair("lines 10-11: p1 sends the first ACK to all, so that its successor gets the token", answers="RBP-01")
class StartRotation(RbpResilient):
    """Repair of figure 25, lines 10 and 11. Printed: `if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1`, so
    nobody but p1 gets the first token. Repaired: p1 sends the first ACK to all.
    """

    @initial
    def start(self) -> None:
        first = Process(0)
        self.send_token(first, None, self.last_number[first] + 1)


@repair("lines 13-14: the identifier is taken once, before the loop", answers="RBP-47")
class OneIdentifier(RbpResilient):
    """Repair of figure 25, lines 13 and 14. Printed: `do message id_p ← message id_p + 1; send(m, B, TL_p) to
    all until ...`, so each repetition has a new identifier. Repaired: the identifier is taken once, before
    the loop.
    """

    def name_of_next_round(self, own: Body) -> int:
        return own.name


@repair(
    "lines 11, 22 and 61: every ACK carries the TL_p that line 25 asks for, as that of line 54 does",
    answers="RBP-45",
)
class TagEveryAck(RbpResilient):
    """Repair of figure 25, lines 11, 22 and 61. Printed: `send ACK(B, ts_p + 1, toknext_p) to all`, but `when
    receive ACK(B, seqnum, toknext, TL_p)` needs four fields. Repaired: every ACK carries TL_p.
    """

    def carries_version(self, body: Body | None) -> bool:
        return True

    def send_first_ack(self, first: Process) -> None:
        self.network |= {Ack(first, first, None, self.last_number[first] + 1)}


@repair("ts_p is the highest number up to which p knows all numbers, whatever told it", answers="RBP-04")
class TrackNumbers(RbpResilient):
    """Repair of figure 25's ts_p. Printed: ts_p changes in line 44 only, and lines 54 and 61 compute `ts_p +
    1` in each round. Repaired: ts_p is always the highest number up to which p knows all numbers.
    """

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        self.last_number[p] = self.contiguous(p)
        self.leave_loop(p)

    def contiguous(self, p: Process) -> LastNumber:
        """Return the highest number up to which p knows all numbers."""
        return max(
            (k for k in self.each(Number) if all(self.knows(p, j) for j in self.each(Number) if j <= k)),
            default=0,
        )

    def number_of_next_round(self, p: Process, sent: Sequenced) -> int:
        return sent.number


@repair("lines 43, 66, 69: what is sent again has a shape that is received", answers="RBP-05")
class HandledReplies(RbpResilient):
    """Repair of figure 25, lines 43, 66 and 69. Printed: `send m' to q`, `send (B, seqnum) to q`, but `when
    receive` takes only (m, B, TL), ACKs and requests. Repaired: a message that is sent again has a form that
    is received.

    A request and its answer are one step of the process that misses something and the process that has it. A
    request or an answer that is lost is one that was not made, and an answer that comes late is an ACK or a
    message that was sent twice.
    """

    def send_number(self, q: Process, item: Sequenced) -> None:
        self.network |= {Numbered(q, item.body, item.number)}

    @action(fairness="weak")
    def receive_numbered(self, packet: Annotated[Numbered, In("network")]) -> None:
        """Receive the number of a message that was sent again (line 43)."""
        self.network -= {packet}
        self.learn(packet.to, Sequenced(packet.body, packet.number))

    @action(fairness="weak")
    def obtain_number(self, p: Process, item: Sequenced) -> None:
        """Obtain a missing number (lines 31, 37 and 67-69): p misses a number below one that it knows, and
        some process sends it.
        """
        require(self.installed[p] and item.number < self.highest_known(p) and not self.knows(p, item.number))
        require(any(self.tells(q, p) and item in self.numbered[q] for q in self.each(Process)))
        self.learn(p, item)

    @action(fairness="weak")
    def obtain_body(self, p: Process, body: Body) -> None:
        """Obtain a missing body (lines 33, 47 and 64-66): p misses the body of a number that it knows, and
        some process has it.
        """
        require(
            self.installed[p]
            and body not in self.received[p]
            and any(item.body == body for item in self.numbered[p])
        )
        require(not self.is_old(p, body))
        require(any(self.tells(q, p) and body in self.received[q] for q in self.each(Process)))
        self.take_message(p, body)


@repair(
    "lines 42-43: a token that was accepted before is not accepted again; it is answered with the numbers "
    "that followed it",
    answers="RBP-06",
    builds_on=(TrackNumbers, HandledReplies),
)
class OldToken(RbpResilient):
    """Repair of figure 25, lines 42 and 43. Printed: `if ts_p > seqnum then retransmits_acks (seqnum,
    nts_p)`, after which line 45 goes on with the old token. Repaired: an old token is answered, and not
    accepted again.
    """

    def take_token(self, p: Process, sender: Process, item: Sequenced) -> None:
        if self.was_accepted(p, item.number):
            self.retransmits_acks(p, sender, item.number)
        else:
            super().take_token(p, sender, item)


@repair("lines 32 and 45: NULL has no body to ask for or to wait for", answers="RBP-11")
class SkipNull(RbpResilient):
    """Repair of figure 25, lines 32 and 45. Printed: `if B ∉ recvQ_p then request (B)`, for every B.
    Repaired: NULL has no body that is asked for or waited for.
    """

    def has_body(self, p: Process, body: Body | None) -> bool:
        return body is None or super().has_body(p, body)


@repair("lines 74-82: NULL needs no body to become stable, and is passed over in delivery", answers="RBP-43")
class PassOverNull(RbpResilient):
    """Repair of figure 25, lines 74-82. Printed: `while ∃(B, seqnum') ∈ seqQ_p s.t. (m', B) ∈ recvQ_p do`,
    which NULL never fulfils. Repaired: NULL needs no body to become stable, and delivery passes over it.
    """

    def is_there(self, p: Process, body: Body | None) -> bool:
        return body is None or super().is_there(p, body)


@repair(
    "lines 45-48: the token is accepted when the bodies of all numbers up to its own are there",
    answers="RBP-37",
)
class AwaitAllBodies(RbpResilient):
    """Repair of figure 25, lines 45-48. Printed: `until (B ∈ recvQ_p)`, for the B of the token only.
    Repaired: the token is accepted when p has the bodies of all numbers up to that of the token.
    """

    def can_accept(self, p: Process) -> bool:
        token = self.arriving[p]
        return super().can_accept(p) and all(
            self.has_body(p, item.body)
            for item in self.numbered[p]
            if token is not None and item.number <= token.number
        )


@repair("lines 55 and 62: only a higher number ends the loop, not any ACK of the successor", answers="RBP-38")
class AwaitSuccessor(RbpResilient):
    """Repair of figure 25, lines 55 and 62. Printed: `until receive ACK from toknext_p`, so any ACK of the
    successor ends the loop. Repaired: only an ACK with a higher number ends it.
    """

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        sent = self.passed[p]
        if sent is not None and item.number > sent.number:
            self.passed[p] = None

    def hear_successor(self, p: Process) -> None:
        """Do nothing: an ACK of toknext_p by itself does not end the loop."""


@repair("lines 20-24: a body that arrives after its number is stored", answers="RBP-39")
class StoreLateBody(RbpResilient):
    """Repair of figure 25, lines 20-24. Printed: `if ∃(B, seqnum') ∈ seqQ_p then ... else recvQ_p ← recvQ_p +
    (m, B)`, so a body is lost if its number came first. Repaired: such a body is stored too.
    """

    def is_old(self, p: Process, body: Body) -> bool:
        return super().is_old(p, body) and not any(item.body == body for item in self.numbered[p])


@repair(
    "lines 40, 50, 57, 63 and 71: whoever calls Reformation leaves the handler and does nothing more for "
    "the old list",
    answers="RBP-18",
)
class LeaveAfterReformation(RbpResilient):
    """Repair of figure 25, lines 40, 50, 57, 63 and 71. Printed: `if failure(q) then Reformation()`, after
    which the next line follows. Repaired: a process that calls Reformation leaves the handler, and does
    nothing more for the old list.
    """

    def give_up_sequencer(self, p: Process) -> None:
        super().give_up_sequencer(p)
        self.holding[p] = False

    def is_active(self, p: Process) -> bool:
        return super().is_active(p) and not self.reforming[p]

    @guard
    def in_the_list(self, p: Process) -> bool:
        """Return True if p has not called Reformation."""
        return not self.reforming[p]


@repair("lines 25-27: an ACK of another token list is dropped before anything is recorded", answers="RBP-19")
class FilterVersions(RbpResilient):
    """Repair of figure 25, lines 25-27. Printed: line 26 records the ACK before line 27 compares the list,
    and line 27 guards only `reset activityTimeOut`. Repaired: an ACK of another token list is dropped before
    anything is recorded.
    """

    def records_ack(self, of_same_list: bool) -> bool:
        return of_same_list


@repair("line 75: `<=`, so that messages up to ts_p - n + 1 are stable, as the text has it", answers="RBP-22")
class StableBound(RbpResilient):
    """Repair of figure 25, line 75. Printed: `if seqnum' < (ts_p - n + 1) then`. Repaired: `<=`, so that
    messages up to ts_p - n + 1 are stable, as the text of the report says.
    """

    def is_stable(self, p: Process, k: Number) -> bool:
        return k <= self.last_number[p] - self.processes + 1


@repair(
    "lines 20 and 26: what was collected is still known by its number and its identifier, and not taken in "
    "again",
    answers="RBP-42",
)
class KeepCollected(Collecting):
    """Repair of figure 25, lines 20 and 26. Printed: both look into seqQ_p and recvQ_p only, from which lines
    77-78 remove messages. Repaired: a removed message is still recognised by its number and identifier, and
    not taken in again.
    """

    def is_numbered(self, p: Process, body: Body) -> bool:
        return super().is_numbered(p, body) or body in self.collected[p]

    def record(self, p: Process, item: Sequenced) -> None:
        if not self.is_over(p, item):
            super().record(p, item)

    def is_over(self, p: Process, item: Sequenced) -> bool:
        """Return True if p has delivered this number, or knows that it is stable."""
        return item.number <= self.last_delivered[p] or any(
            old.number == item.number for old in self.stable[p]
        )


REPAIRS = (
    RingFromOne, StartRotation, OneIdentifier, TagEveryAck, TrackNumbers, HandledReplies, OldToken, SkipNull,
    PassOverNull, AwaitAllBodies, AwaitSuccessor, StoreLateBody, LeaveAfterReformation, FilterVersions,
    StableBound,
    KeepCollected,
)  # fmt: skip
"""All repairs of figure 25."""
