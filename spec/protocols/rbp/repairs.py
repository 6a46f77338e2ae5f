"""The repairs of figure 16: what is printed, what is put in its place, and the claim that asks for it."""

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
    """Printed: `toknext_p ← p + 1 (mod n)`."""

    def successor(self, p: Process) -> Process | None:
        return Process((p.index + 1) % self.processes)


@repair("lines 8-9: p1 sends the first ACK to all, so that its successor gets the token", answers="RBP-01")
class StartRotation(Rbp):
    """Printed: `if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1`."""

    @initial
    def start(self) -> None:
        first = Process(0)
        self.send_token(first, None, self.last_number[first] + 1)


@repair("lines 12-13: the identifier is taken once, before the loop", answers="RBP-03")
class OneIdentifier(Rbp):
    """Printed: `do message id_p ← message id_p + 1; send (m, B) to all until ...`."""

    def id_of_next_round(self, p: Process) -> int:
        return self.message_id[p]


@repair("line 15: the ACK that is awaited has the three fields of every ACK that is sent", answers="RBP-44")
class AwaitThreeFields(Rbp):
    """Printed: `until receive ACK(B, -, -, -)`."""

    def ends_broadcast(self, p: Process, item: Sequenced) -> bool:
        own = self.pending[p]
        return own is not None and own.identifier == item.identifier


@repair(
    "ts_p is the highest number up to which p knows all numbers, whatever told it; a number is computed "
    "once, before the loop of line 47",
    answers="RBP-04",
)
class TrackNumbers(Rbp):
    """Printed: ts_p changes in line 40 only, at the process that an ACK names; line 48 computes `ts_p + 1` in
    each round.
    """

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        self.last_number[p] = self.contiguous(p)

    def contiguous(self, p: Process) -> LastNumber:
        """The highest number up to which p knows all numbers."""
        return max(
            (
                k
                for k in self.each(Number)
                if all(self.knows_number(p, j) for j in self.each(Number) if j <= k)
            ),
            default=0,
        )

    def knows_number(self, p: Process, k: Number) -> bool:
        """Some (B, k) is in seqQ_p."""
        return any(item.number == k for item in self.numbered[p])

    def number_of_next_round(self, p: Process) -> int:
        return present(self.passed[p]).number


@repair(
    "lines 21, 53, 57: replies have shapes that are received: (m', B), and (B, seqnum), which is put in seqQ",
    answers="RBP-05",
)
class HandledReplies(Rbp):
    """Printed: `send (B, seqnum) to q`, `send m' to q`; `when receive` takes (m, B), ACKs and requests."""

    def send_number(self, q: Process, item: Sequenced) -> None:
        self.network |= {Numbered(q, item.identifier, item.number)}

    def send_body(self, q: Process, body: Body) -> None:
        self.network |= {Data(q, body)}

    @action(fairness="weak", per="packet")
    def receive_numbered(self, packet: Annotated[Numbered, In("network")]) -> None:
        """A number is told again."""
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
    """Printed: `if ts_p > seqnum then retransmits_acks (seqnum, nts_p)`, after which line 41 goes on with the
    old token.
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
    """Printed: `if p = toknext then`."""

    def is_toknext(self, p: Process) -> bool:
        return self.holding[p]


@repair("lines 30, 41, 61: NULL has no body to ask for, to wait for, or to deliver", answers="RBP-11")
class SkipNull(Rbp):
    """Printed: `if B ∉ recvQ_p then request (B)`, `deliver (m')`, of every B."""

    def has_body(self, p: Process, b: Identifier | None) -> bool:
        return b is None or super().has_body(p, b)

    def hand_over(self, p: Process, item: Sequenced) -> None:
        if item.identifier is not None:
            super().hand_over(p, item)


@repair("line 61: delivery waits for the body", answers="RBP-12")
class AwaitBody(Rbp):
    """Printed: `while ∃ m' s.t. (B, lastdelivered_p + 1) ∈ seqQ_p do deliver (m')`."""

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        return super().can_deliver(p, item) and self.has_body(p, item.identifier)


@repair(
    "lines 41-44: the token is accepted when the bodies of all numbers up to its own are there",
    answers="RBP-37",
)
class AwaitAllBodies(Rbp):
    """Printed: `until (B ∈ recvQ_p)`, of the B of the token."""

    def can_accept(self, p: Process) -> bool:
        token = self.arriving[p]
        return super().can_accept(p) and all(
            self.has_body(p, item.identifier)
            for item in self.numbered[p]
            if token is not None and item.number <= token.number
        )


@repair("line 49: only a higher number ends the loop, not any ACK of the successor", answers="RBP-38")
class AwaitSuccessor(Rbp):
    """Printed: `until receive ACK from toknext_p`."""

    def learn(self, p: Process, item: Sequenced) -> None:
        super().learn(p, item)
        sent = self.passed[p]
        if sent is not None and item.number > sent.number:
            self.passed[p] = None

    def hear_successor(self, p: Process) -> None:
        """An ACK of toknext_p by itself says nothing."""


@repair("lines 19-23: a body that arrives after its number is stored", answers="RBP-39")
class StoreLateBody(Rbp):
    """Printed: `if ∃ (B, seqnum) in seqQ_p ... else recvQ_p ← recvQ_p + (m, B)`, whichever `if` it is."""

    def take_message(self, p: Process, body: Body) -> None:
        super().take_message(p, body)
        self.add_message(p, body)


@repair("lines 28-31: whoever misses something asks again, not only the next holder", answers="RBP-40")
class RepeatRequests(Rbp):
    """Printed: loops around lines 35 and 43, none around 29 and 31."""

    def awaited_number(self, p: Process) -> LastNumber:
        return self.highest_known(p)

    def awaits_body(self, p: Process, item: Sequenced) -> bool:
        return not self.has_body(p, item.identifier)


REPAIRS = (
    RingFromOne, StartRotation, OneIdentifier, AwaitThreeFields, TrackNumbers, HandledReplies, OldToken,
    HolderAnswers,
    SkipNull, AwaitBody, AwaitAllBodies, AwaitSuccessor, StoreLateBody, RepeatRequests,
)  # fmt: skip
"""All of them: together they make the protocol that is implemented."""
