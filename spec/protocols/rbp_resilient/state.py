"""What does a process of figure 25 remember, and what can it tell from it? Packets, constants, repairs, variables and the questions of the lines.

What is read how stands in the package's docstring.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Crashes, Losses
from antiphon.spec.lang import Between, Const, Map, Repair, Set, budget, everywhere, gate, record, repair
from antiphon.spec.services import Message, Process

Number = Annotated[int, Between(1, "messages + 1 + passes")]
"""A sequence number that is assigned."""

LastNumber = Annotated[int, Between(0, "messages + 1 + passes")]


@record
class Sequenced:
    """An element of seqQ, and with its body one of stableQ: (B, seqnum). None is the NULL message."""

    message: Message | None
    number: Number


@record
class Data:
    """(m, B, TL), on its way to one process."""

    to: Process
    message: Message


@record
class Ack:
    """ACK(B, seqnum, toknext, TL), on its way to one process. It names the successor of its sender."""

    to: Process
    sender: Process
    message: Message | None
    number: Number


@record
class Numbered:
    """An acknowledgement that is told again (line 43). It passes no token."""

    to: Process
    message: Message | None
    number: Number


class ResilientState(Losses[Data | Ack | Numbered], Crashes):
    """The state of figure 25, and what its lines ask about it."""

    processes = 2
    messages = 1
    passes: Const[int] = 4
    resilience: Const[int] = 0
    suspicions: Const[int] = 0
    strays: Const[int] = 0
    timeouts: Const[int] = 0
    unlimited: Const[bool] = False
    passive: Const[bool] = True
    late: Const[bool] = False
    urgent: Const[bool] = False
    assigned: Const[bool] = False
    patient: Const[bool] = False
    brief: Const[bool] = True

    ring_from_one: Repair = repair("line 7: the successor of p_n is p1; `p + 1 mod n` names p0", answers="RBP-02")
    start_rotation: Repair = repair("lines 10-11: p1 sends the first ACK to all, so that its successor gets the token", answers="RBP-01")
    track_numbers: Repair = repair("ts_p is the highest number up to which p knows all numbers, whatever told it", answers="RBP-04")
    handled_replies: Repair = repair("lines 43, 66, 69: what is sent again has a shape that is received", answers="RBP-05")
    old_token: Repair = repair(
        "lines 42-43: a token that was accepted before is not accepted again; it is answered with the numbers that followed it",
        answers="RBP-06",
        builds_on=("track_numbers", "handled_replies"),
    )
    skip_null: Repair = repair("lines 32 and 45: NULL has no body to ask for or to wait for", answers="RBP-11")
    pass_over_null: Repair = repair("lines 74-82: NULL needs no body to become stable, and is passed over in delivery", answers="RBP-43")
    await_all_bodies: Repair = repair("lines 45-48: the token is accepted when the bodies of all numbers up to its own are there", answers="RBP-37")
    await_successor: Repair = repair("lines 55 and 62: only a higher number ends the loop, not any ACK of the successor", answers="RBP-38")
    store_late_body: Repair = repair("lines 20-24: a body that arrives after its number is stored", answers="RBP-39")
    leave_after_reformation: Repair = repair(
        "lines 40, 50, 57, 63 and 71: whoever calls Reformation leaves the handler and does nothing more for the old list", answers="RBP-18"
    )
    filter_versions: Repair = repair("lines 25-27: an ACK of another token list is dropped before anything is recorded", answers="RBP-19")
    stable_bound: Repair = repair("line 75: `<=`, so that messages up to ts_p - n + 1 are stable, as the text has it", answers="RBP-22")
    keep_collected: Repair = repair(
        "lines 20 and 26: what was collected is still known by its number and its identifier, and not taken in again", answers="RBP-42"
    )

    received: Map[Process, Set[Message]] = everywhere(Set())
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())
    stable: Map[Process, Set[Sequenced]] = everywhere(Set())
    collected: Map[Process, Set[Message]] = everywhere(Set())
    last_number: Map[Process, LastNumber] = everywhere(0)
    last_delivered: Map[Process, LastNumber] = everywhere(0)
    pending: Map[Process, Message | None] = everywhere(None)
    arriving: Map[Process, Sequenced | None] = everywhere(None)
    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Sequenced | None] = everywhere(None)
    reforming: Map[Process, bool] = everywhere(False)
    installed: Map[Process, bool] = everywhere(True)
    broadcasts: Annotated[int, Between(0, "messages")] = 0
    expired: Annotated[int, Between(0, "timeouts")] = 0
    suspected: Annotated[int, Between(0, "suspicions")] = 0
    strayed: Annotated[int, Between(0, "strays")] = 0

    # Who knows what ----------------------------------------------------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """toknext_p, line 7. As printed, p_k's is p_(k + 1 mod n), and there is no p0."""
        if self.ring_from_one:
            return Process((p.index + 1) % self.processes)
        number = (p.index + 2) % self.processes
        return Process(number - 1) if number > 0 else None

    def predecessor(self, p: Process) -> Process:
        """The process before p in the ring, which sent the ACK that names p."""
        return Process((p.index + self.processes - 1) % self.processes)

    def limit(self) -> int:
        """The highest number of the exploration."""
        return self.messages + 1 + self.passes

    def has_body(self, p: Process, m: Message | None) -> bool:
        """M is in recvQ_p. NULL is in no queue; repaired, it needs none."""
        if m is None:
            return self.skip_null
        return m in self.received[p]

    def is_numbered(self, p: Process, m: Message) -> bool:
        """Line 20: some (B, seqnum) is in seqQ_p; repaired, or was."""
        return any(item.message == m for item in self.numbered[p]) or (self.keep_collected and m in self.collected[p])

    def knows(self, p: Process, k: Number) -> bool:
        """P knows what has number k, or knew it until it was delivered."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k for item in self.numbered[p])
            or any(item.number == k for item in self.stable[p])
        )

    def has_message(self, p: Process, k: Number) -> bool:
        """P knows what has number k and has its body, or had them until it was delivered."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k and (item.message is None or self.has_body(p, item.message)) for item in self.numbered[p])
            or any(item.number == k for item in self.stable[p])
        )

    def highest_known(self, p: Process) -> LastNumber:
        """The highest number that p knows, 0 when there is none."""
        return max((k for k in self.each(Number) if self.knows(p, k)), default=0)

    def contiguous(self, p: Process) -> LastNumber:
        """The highest number up to which p knows all numbers."""
        return max((k for k in self.each(Number) if all(self.knows(p, j) for j in self.each(Number) if j <= k)), default=0)

    def was_accepted(self, p: Process, k: Number) -> bool:
        """P has accepted the token with number k: it holds it, or knows what followed."""
        return (self.holding[p] and self.last_number[p] == k) or self.highest_known(p) > k

    def is_active(self, p: Process) -> bool:
        """P is up, and in the normal phase."""
        return not self.down[p] and not (self.leave_after_reformation and self.reforming[p])

    def is_there(self, p: Process, m: Message | None) -> bool:
        """Line 74: (m', B) is in recvQ_p. NULL never is; repaired, it need not be."""
        if m is None:
            return self.pass_over_null
        return m in self.received[p]

    # Who can do what ---------------------------------------------------------------------------------------------------------------------

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Lines 74-75. The printed test leaves one number more than the text."""
        reached = item.number + self.processes - 1 if self.stable_bound else item.number + self.processes
        return (
            item in self.numbered[p]
            and self.is_there(p, item.message)
            and reached <= self.last_number[p]
            and (self.resilience == 0 or item.number <= self.last_delivered[p])
        )

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Line 79; or, with `resilience`, as soon as so many processes have acknowledged."""
        if item.number != self.last_delivered[p] + 1:
            return False
        if self.resilience == 0:
            return item in self.stable[p]
        return item in self.numbered[p] and self.is_there(p, item.message) and item.number + self.resilience - 1 <= self.last_number[p]

    def can_accept(self, p: Process) -> bool:
        """Lines 38 and 48: the number of the token is reached and its body is there."""
        token = self.arriving[p]
        if token is None or self.holding[p]:
            return False
        return (
            self.last_number[p] >= token.number
            and self.has_body(p, token.message)
            and (not self.await_all_bodies or all(self.has_body(p, item.message) for item in self.numbered[p] if item.number <= token.number))
        )

    def has_number_left(self, p: Process) -> bool:
        """Whether the bound of the exploration allows p to give another number."""
        return budget(self.last_number[p] < self.limit())

    def can_sequence(self, p: Process) -> bool:
        """Line 51: p holds the token, and some message has no number."""
        return self.holding[p] and any(not self.is_numbered(p, m) for m in self.received[p]) and self.has_number_left(p)

    def is_busy(self, p: Process) -> bool:
        """P can do something alone."""
        return self.is_active(p) and (
            self.can_accept(p)
            or self.can_sequence(p)
            or any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p] | self.numbered[p])
        )

    def is_idle(self) -> bool:
        """Nobody can do anything alone, or it does not matter."""
        return not self.urgent or not any(self.is_busy(q) for q in self.each(Process))

    def is_first(self, p: Process) -> bool:
        """No process before p can do anything alone, or it does not matter."""
        return not self.urgent or not any(self.is_busy(q) for q in self.each(Process) if q < p)

    def may_expire(self) -> bool:
        """Whether the bound of the exploration allows another round of a loop."""
        return self.is_idle() and budget(self.unlimited or self.expired < self.timeouts)

    def expire(self) -> None:
        """Counts a round, when rounds are limited."""
        if not self.unlimited:
            self.expired += 1

    def needs_data(self, q: Process, m: Message) -> bool:
        """Whether (m, B) is sent again to q."""
        missing = m not in self.received[q] and not self.is_numbered(q, m) and Data(q, m) not in self.network
        return not self.down[q] and (not self.patient or missing)

    def needs_ack(self, q: Process, p: Process, item: Sequenced) -> bool:
        """Whether the ACK that p sent is sent again to q."""
        if self.down[q] or q == p:
            return False
        missing = not self.knows(q, item.number) or (self.successor(p) == q and self.arriving[q] is None and not self.was_accepted(q, item.number))
        return not self.patient or (missing and Ack(q, p, item.message, item.number) not in self.network)

    def is_wanted(self) -> bool:
        """Line 51's timeout: a message that was broadcast is not delivered by all that are up, or it does not matter."""
        return not self.brief or any(
            m.index < self.broadcasts and m not in self.collected[q] and not self.down[q] for m in self.each(Message) for q in self.each(Process)
        )

    def learn(self, p: Process, item: Sequenced) -> None:
        """Line 26: (B, seqnum) into seqQ_p; what waited for it goes on (line 16, and lines 55 and 62 as repaired)."""
        if not self.keep_collected or not (item.number <= self.last_delivered[p] or any(old.number == item.number for old in self.stable[p])):
            self.numbered[p] |= {item}
        if self.track_numbers:
            self.last_number[p] = self.contiguous(p)
        if self.pending[p] == item.message:
            self.pending[p] = None
        sent = self.passed[p]
        if self.await_successor and sent is not None and item.number > sent.number:
            self.passed[p] = None

    def awaits_sequencer(self, p: Process) -> bool:
        """Lines 36-38 and 46-48: p was named, and waits for numbers or bodies."""
        return self.arriving[p] is not None and not self.can_accept(p) and not self.holding[p]

    def is_blocked(self) -> bool:
        """No process that is active holds the token, waits for it or waits for its acceptance, and no packet carries it to one."""
        return not any(
            self.is_active(p) and (self.holding[p] or self.arriving[p] is not None or self.passed[p] is not None) for p in self.each(Process)
        ) and not any(self.carries_token(packet) for packet in self.network)

    def carries_token(self, packet: Data | Ack | Numbered) -> bool:
        """The packet brings the token to an active process that has not accepted it."""
        if isinstance(packet, Ack):
            return self.successor(packet.sender) == packet.to and self.is_active(packet.to) and not self.was_accepted(packet.to, packet.number)
        return False

    @gate
    def in_the_list(self, p: Process) -> bool:
        """As repaired, a process that has called Reformation does nothing more for the old list."""
        return not (self.leave_after_reformation and self.reforming[p])
