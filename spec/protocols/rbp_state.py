"""What does a process of figure 16 remember, and what can it tell from it? Packets, constants, repairs, variables and the questions of the lines.

What is read how stands in the docstring of `rbp.py`.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import AtMost, Between, Const, Map, Reading, Repair, Seq, Set, budget, everywhere, reading, record, repair
from antiphon.spec.services import Group, Message, Process

Number = Annotated[int, Between(1, "messages + 1 + spare")]
"""A sequence number that is assigned."""

LastNumber = Annotated[int, Between(0, "messages + 1 + spare")]


@record
class Identifier:
    """B: the source of a message and the number that the source gave it."""

    source: Process
    number: Annotated[int, Between(1, "messages + spare")]


@record
class Body:
    """An element of recvQ: the message and its identifier."""

    message: Message
    identifier: Identifier


@record
class Sequenced:
    """An element of seqQ: (B, seqnum). None is the NULL message."""

    identifier: Identifier | None
    number: Number


@record
class Data:
    """(m, B), on its way to one process."""

    to: Process
    body: Body


@record
class Ack:
    """ACK(B, seqnum, toknext), on its way to one process. `next_holder` None: the arithmetic of line 5 named nobody."""

    to: Process
    identifier: Identifier | None
    number: Number
    next_holder: Process | None


@record
class Numbered:
    """(B, seqnum): a number told again. It passes no token."""

    to: Process
    identifier: Identifier | None
    number: Number


@record
class Request:
    """request(B), request_retransmission(B). B is NULL when the text asks for the body of NULL."""

    to: Process
    sender: Process
    identifier: Identifier | None


@record
class RequestNumbers:
    """request_sn(first, last)."""

    to: Process
    sender: Process
    first: Number
    last: Number


Packet = Data | Ack | Numbered | Request | RequestNumbers


class RbpState(Losses[Packet], Group):
    """The state of figure 16, and what its lines ask about it."""

    spare: Const[int] = 0
    timeouts: Const[int] = 1
    unlimited: Const[bool] = False
    urgent: Const[bool] = False
    assigned: Const[bool] = False
    patient: Const[bool] = False

    nesting: Reading = reading(
        "comment",
        "printed",
        about="which `if` the `else` of line 22 belongs to: the test of line 19 (a message not yet numbered is stored), or, as it is aligned "
        "in print, that of line 20",
    )
    waiting: Reading = reading(
        "concurrent", "blocking", about="whether a process that waits inside `when receive` (lines 34-49) receives other messages meanwhile"
    )
    asked: Reading = reading(
        "the sequencer",
        "all",
        about="whom a request goes to (lines 29, 31, 35, 43 name nobody; figure 12 says `to all`): the process that assigned the number which "
        "shows that something is missing, and so has everything up to it, or everybody",
    )
    answering: Reading = reading(
        "named",
        "current",
        about="who tells the sender of an old token what followed: the process that the token names (line 38), or the current sequencer (text)",
    )

    ring_from_one: Repair = repair("line 5: the successor of p_n is p1; `p + 1 mod n` names p0", answers="RBP-02")
    start_rotation: Repair = repair("lines 8-9: p1 sends the first ACK to all, so that its successor gets the token", answers="RBP-01")
    one_identifier: Repair = repair("lines 12-13: the identifier is taken once, before the loop", answers="RBP-03")
    track_numbers: Repair = repair(
        "ts_p is the highest number up to which p knows all numbers, whatever told it; a number is computed once, before the loop of line 47",
        answers="RBP-04",
    )
    handled_replies: Repair = repair(
        "lines 21, 53, 57: replies have shapes that are received: (m', B), and (B, seqnum), which is put in seqQ", answers="RBP-05"
    )
    old_token: Repair = repair(
        "lines 38-39: a token that was accepted before is not accepted again; it is answered with the numbers that followed it",
        answers="RBP-06",
        builds_on=("track_numbers", "handled_replies"),
    )
    holder_answers: Repair = repair(
        "line 20: `if p = toknext`, where no toknext is in scope, means that p holds the token; p's own toknext is never p",
        answers="RBP-08",
        builds_on=("handled_replies",),
    )
    skip_null: Repair = repair("lines 30, 41, 61: NULL has no body to ask for, to wait for, or to deliver", answers="RBP-11")
    await_body: Repair = repair("line 61: delivery waits for the body", answers="RBP-12")
    await_all_bodies: Repair = repair("lines 41-44: the token is accepted when the bodies of all numbers up to its own are there", answers="RBP-37")
    await_successor: Repair = repair("line 49: only a higher number ends the loop, not any ACK of the successor", answers="RBP-38")
    store_late_body: Repair = repair("lines 19-23: a body that arrives after its number is stored", answers="RBP-39")
    repeat_requests: Repair = repair("lines 28-31: whoever misses something asks again, not only the next holder", answers="RBP-40")

    received: Map[Process, Annotated[Seq[Body], AtMost("messages + spare")]] = everywhere(())
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())
    last_number: Map[Process, LastNumber] = everywhere(0)
    last_delivered: Map[Process, LastNumber] = everywhere(0)
    message_id: Map[Process, Annotated[int, Between(0, "messages + spare")]] = everywhere(0)
    pending: Map[Process, Body | None] = everywhere(None)
    arriving: Map[Process, Sequenced | None] = everywhere(None)
    catching_up: Map[Process, bool] = everywhere(False)
    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Sequenced | None] = everywhere(None)
    broadcasts: Annotated[int, Between(0, "messages")] = 0
    expired: Annotated[int, Between(0, "timeouts")] = 0

    # Helpers -----------------------------------------------------------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """toknext_p, line 5. As printed, p_k's is p_(k + 1 mod n), and there is no p0."""
        if self.ring_from_one:
            return Process((p.index + 1) % self.processes)
        number = (p.index + 2) % self.processes
        return Process(number - 1) if number > 0 else None

    def predecessor(self, p: Process) -> Process:
        """The process before p in the ring, to which p answers about an old token."""
        return Process((p.index + self.processes - 1) % self.processes)

    def has_body(self, p: Process, b: Identifier | None) -> bool:
        """B is in recvQ_p. NULL is in no queue; repaired, it needs none."""
        if b is None:
            return self.skip_null
        return any(body.identifier == b for body in self.received[p])

    def is_numbered(self, p: Process, b: Identifier) -> bool:
        """Some (B, seqnum) is in seqQ_p."""
        return any(item.identifier == b for item in self.numbered[p])

    def knows_number(self, p: Process, k: Number) -> bool:
        """Some (B, k) is in seqQ_p."""
        return any(item.number == k for item in self.numbered[p])

    def highest_known(self, p: Process) -> LastNumber:
        """The highest number in seqQ_p, 0 when there is none."""
        return max((item.number for item in self.numbered[p]), default=0)

    def contiguous(self, p: Process) -> LastNumber:
        """The highest number up to which p knows all numbers."""
        return max((k for k in self.each(Number) if all(self.knows_number(p, j) for j in self.each(Number) if j <= k)), default=0)

    def can_deliver(self, p: Process) -> bool:
        """Line 61."""
        return any(
            item.number == self.last_delivered[p] + 1 and (not self.await_body or self.has_body(p, item.identifier)) for item in self.numbered[p]
        )

    def can_accept(self, p: Process) -> bool:
        """Lines 36 and 44: the number of the token is reached and its body is there."""
        token = self.arriving[p]
        if token is None or self.holding[p]:
            return False
        return (
            (not self.catching_up[p] or self.last_number[p] == token.number)
            and self.has_body(p, token.identifier)
            and (not self.await_all_bodies or all(self.has_body(p, item.identifier) for item in self.numbered[p] if item.number <= token.number))
        )

    def can_sequence(self, p: Process) -> bool:
        """Line 45: p holds the token, and some message has no number."""
        return (
            self.holding[p]
            and self.last_number[p] < self.messages + 1 + self.spare
            and any(not self.is_numbered(p, body.identifier) for body in self.received[p])
        )

    def is_idle(self) -> bool:
        """Nobody can accept, sequence or deliver, or it does not matter."""
        return not self.urgent or not any(self.can_deliver(q) or self.can_accept(q) or self.can_sequence(q) for q in self.each(Process))

    def is_first(self, p: Process) -> bool:
        """No process before p can accept, sequence or deliver, or it does not matter."""
        return not self.urgent or not any(self.can_deliver(q) or self.can_accept(q) or self.can_sequence(q) for q in self.each(Process) if q < p)

    def may_receive(self, p: Process) -> bool:
        """Blocking reading: a process inside a wait of lines 34-49 receives nothing."""
        return self.is_idle() and self.may_take(p)

    def may_take(self, p: Process) -> bool:
        """Whether p is not inside a wait, or the wait does not block."""
        return self.waiting == "concurrent" or (self.arriving[p] is None and not self.holding[p] and self.passed[p] is None)

    def may_expire(self) -> bool:
        """Whether the bound of the exploration allows another round of a loop."""
        return self.is_idle() and budget(self.unlimited or self.expired < self.timeouts) and (not self.patient or self.expired < self.lost)

    def expire(self) -> None:
        """Counts a round, when rounds are limited."""
        if not self.unlimited:
            self.expired += 1

    def learn(self, p: Process, item: Sequenced) -> None:
        """Line 26: (B, seqnum) into seqQ_p; what waited for it goes on (line 15, and line 49 as repaired)."""
        self.numbered[p] |= {item}
        if self.track_numbers:
            self.last_number[p] = self.contiguous(p)
        own = self.pending[p]
        if own is not None and own.identifier == item.identifier:
            self.pending[p] = None
        sent = self.passed[p]
        if self.await_successor and sent is not None and item.number > sent.number:
            self.passed[p] = None

    def sequencer_of(self, k: Number) -> Process:
        """The process that assigns number k: each holder assigns one, and p1 assigns the first."""
        return Process((k - 1) % self.processes)

    def is_asked(self, p: Process, q: Process, k: Number) -> bool:
        """Whether p's request about what number k showed to be missing goes to q."""
        return q != p and (self.asked == "all" or q == self.sequencer_of(k))

    def ask_for_body(self, p: Process, item: Sequenced, k: Number) -> None:
        """request(B), lines 31 and 43; number k showed that it is missing."""
        self.network |= {Request(q, p, item.identifier) for q in self.each(Process) if self.is_asked(p, q, k)}

    def ask_for_numbers(self, p: Process, k: Number) -> None:
        """request_sn(ts_p + 1, k), lines 29 and 35."""
        self.network |= {RequestNumbers(q, p, self.last_number[p] + 1, k) for q in self.each(Process) if self.is_asked(p, q, k)}
