"""Repairs of figure 16: for each the printed text, its replacement, and the claim that demands it."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, action, initial, present, repair, require
from antiphon.spec.protocols.rbp.figure16 import (
    Body,
    Data,
    Identifier,
    LastNumber,
    Number,
    Numbered,
    Rbp,
    Sequenced,
)
from antiphon.spec.services import Process


@repair("line 5: the successor of p_n is p1; `p + 1 mod n` names p0", answers="RBP-02")
class RingFromOne(Rbp):
    """Repair of RBP, line 5. Printed: `toknext_p ← p + 1 (mod n)`, which gives p0, though the processes are
    p1 to p_n. Repaired: the successor of p_n is p1.
    """

    def successor(self, p: Process) -> Process | None:
        return Process((p.index + 1) % self.processes)


@repair("lines 8-9: p1 sends the first ACK to all, so that its successor gets the token", answers="RBP-01")
class StartRotation(Rbp):
    """Repair of RBP, lines 8 and 9. Printed: `if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1`, so nobody
    but p1 gets the first token. Repaired: p1 sends the first ACK to all, so that its successor gets the
    token.
    """

    @initial
    def start(self) -> None:
        first = Process(0)
        self.send_token(first, None, self.last_number[first] + 1)


@repair("lines 12-13: the identifier is taken once, before the loop", answers="RBP-03")
class OneIdentifier(Rbp):
    """Repair of RBP, lines 12 and 13. Printed: `do message id_p ← message id_p + 1; send (m, B) to all until
    ...`, so each repetition has a new identifier. Repaired: the identifier is taken once, before the loop.
    """

    def id_of_next_round(self, p: Process) -> int:
        return self.message_id[p]


@repair("line 15: the ACK that is awaited has the three fields of every ACK that is sent", answers="RBP-44")
class AwaitThreeFields(Rbp):
    """Repair of RBP, line 15. Printed: `until receive ACK(B, -, -, -)`, with four fields, which no sent ACK
    has. Repaired: the awaited ACK has the three fields of every ACK that is sent.
    """

    def ends_broadcast(self, p: Process, item: Sequenced) -> bool:
        own = self.pending[p]
        return own is not None and own.identifier == item.identifier


@repair(
    "ts_p is the highest number up to which p knows all numbers, whatever told it; a number is computed "
    "once, before the loop of line 47",
    answers="RBP-04",
)
class TrackNumbers(Rbp):
    """Repair of RBP's ts_p. Printed: ts_p changes in line 40 only, at the process that an ACK names, and line
    48 computes `ts_p + 1` in each round. Repaired: ts_p is always the highest number up to which p knows all
    numbers, and a new number is computed once.
    """

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        self.last_number[p] = self.contiguous(p)

    def contiguous(self, p: Process) -> LastNumber:
        """Return the highest number up to which p knows all numbers."""
        return max(
            (
                k
                for k in self.each(Number)
                if all(self.knows_number(p, j) for j in self.each(Number) if j <= k)
            ),
            default=0,
        )

    def knows_number(self, p: Process, k: Number) -> bool:
        """Return True if seqQ_p has an entry (B, k)."""
        return any(item.number == k for item in self.numbered[p])

    def number_of_next_round(self, p: Process) -> int:
        return present(self.passed[p]).number


@repair(
    "lines 21, 53, 57: replies have shapes that are received: (m', B), and (B, seqnum), which is put in seqQ",
    answers="RBP-05",
)
class HandledReplies(Rbp):
    """Repair of RBP, lines 21, 53 and 57. Printed: `send (B, seqnum) to q`, `send m' to q`, but `when
    receive` takes only (m, B), ACKs and requests. Repaired: replies have forms that are received.
    """

    def send_number(self, q: Process, item: Sequenced) -> None:
        self.network |= {Numbered(q, item.identifier, item.number)}

    def send_body(self, q: Process, body: Body) -> None:
        self.network |= {Data(q, body)}

    @action(fairness="weak", per="packet")
    def receive_numbered(self, packet: Annotated[Numbered, In("network")]) -> None:
        """Receive the number of a message that was sent again."""
        p = packet.to
        require(self.can_receive(p))
        self.network -= {packet}
        self.learn(p, Sequenced(packet.identifier, packet.number))


@repair(
    "lines 38-39: a token that was accepted before is not accepted again; it is answered with the numbers "
    "that followed it",
    answers="RBP-06",
    builds_on=(TrackNumbers, HandledReplies),
)
class OldToken(Rbp):
    """Repair of RBP, lines 38 and 39. Printed: `if ts_p > seqnum then retransmits_acks (seqnum, nts_p)`,
    after which line 41 goes on with the old token. Repaired: an old token is answered, and not accepted
    again.
    """

    def take_token(self, p: Process, item: Sequenced) -> None:
        if (self.holding[p] and self.last_number[p] == item.number) or self.highest_known(p) > item.number:
            self.retransmits_acks(p, item.number)
        else:
            super().take_token(p, item)


@repair(
    "line 20: `if p = toknext`, where no toknext is in scope, means that p holds the token; p's own "
    "toknext is never p",
    answers="RBP-08",
    builds_on=(HandledReplies,),
)
class HolderAnswers(Rbp):
    """Repair of RBP, line 20. Printed: `if p = toknext then`, where no toknext is in scope, and p's own is
    never p. Repaired: the test asks whether p holds the token.
    """

    def is_toknext(self, p: Process) -> bool:
        return self.holding[p]


@repair("lines 30, 41, 61: NULL has no body to ask for, to wait for, or to deliver", answers="RBP-11")
class SkipNull(Rbp):
    """Repair of RBP, lines 30, 41 and 61. Printed: `if B ∉ recvQ_p then request (B)` and `deliver (m')`, for
    every B. Repaired: NULL has no body that is asked for, waited for, or delivered.
    """

    def has_body(self, p: Process, b: Identifier | None) -> bool:
        return b is None or super().has_body(p, b)

    def hand_over(self, p: Process, item: Sequenced) -> None:
        if item.identifier is not None:
            super().hand_over(p, item)


@repair("line 61: delivery waits for the body", answers="RBP-12")
class AwaitBody(Rbp):
    """Repair of RBP, line 61. Printed: `while ∃ m' s.t. (B, lastdelivered_p + 1) ∈ seqQ_p do deliver (m')`,
    whether or not p has the body. Repaired: delivery waits for the body.
    """

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        return super().can_deliver(p, item) and self.has_body(p, item.identifier)


@repair(
    "lines 41-44: the token is accepted when the bodies of all numbers up to its own are there",
    answers="RBP-37",
)
class AwaitAllBodies(Rbp):
    """Repair of RBP, lines 41-44. Printed: `until (B ∈ recvQ_p)`, for the B of the token only. Repaired: the
    token is accepted when p has the bodies of all numbers up to that of the token.
    """

    def can_accept(self, p: Process) -> bool:
        token = self.arriving[p]
        return super().can_accept(p) and all(
            self.has_body(p, item.identifier)
            for item in self.numbered[p]
            if token is not None and item.number <= token.number
        )


@repair("line 49: only a higher number ends the loop, not any ACK of the successor", answers="RBP-38")
class AwaitSuccessor(Rbp):
    """Repair of RBP, line 49. Printed: `until receive ACK from toknext_p`, so any ACK of the successor ends
    the loop. Repaired: only an ACK with a higher number ends it.
    """

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        sent = self.passed[p]
        if sent is not None and item.number > sent.number:
            self.passed[p] = None

    def hear_successor(self, p: Process) -> None:
        """Do nothing: an ACK of toknext_p by itself does not end the loop."""


@repair("lines 19-23: a body that arrives after its number is stored", answers="RBP-39")
class StoreLateBody(Rbp):
    """Repair of RBP, lines 19-23. Printed: `if ∃ (B, seqnum) in seqQ_p ... else recvQ_p ← recvQ_p + (m, B)`,
    so a body is lost if its number came first. Repaired: such a body is stored too.
    """

    def take_message(self, p: Process, body: Body) -> None:
        super().take_message(p, body)
        self.add_message(p, body)


@repair("lines 28-31: whoever misses something asks again, not only the next holder", answers="RBP-40")
class RepeatRequests(Rbp):
    """Repair of RBP, lines 28-31. Printed: lines 35 and 43 repeat their request in a loop, lines 29 and 31
    ask once. Repaired: every process that misses something asks again.
    """

    def awaited_number(self, p: Process) -> LastNumber:
        return self.highest_known(p)

    def awaits_body(self, p: Process, item: Sequenced) -> bool:
        return not self.has_body(p, item.identifier)


REPAIRS = (
    RingFromOne, StartRotation, OneIdentifier, AwaitThreeFields, TrackNumbers, HandledReplies, OldToken,
    HolderAnswers,
    SkipNull, AwaitBody, AwaitAllBodies, AwaitSuccessor, StoreLateBody, RepeatRequests,
)  # fmt: skip
"""All repairs of figure 16; together they make the protocol that `impl` implements."""
