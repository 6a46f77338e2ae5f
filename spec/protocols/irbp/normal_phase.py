"""Normal phase of RBP as a view change sees it: each process's messages and numbers, and the stable messages.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.2.2 and figure 25, with the repairs that figure 25 needs (`rbp_resilient.repairs`): all of
them are part of this text. Two refinements state that figure 25 with its repairs is this normal phase
(`refinement.Figure25Normal`), and that this normal phase gives total order (`refinement.NORMAL_PHASE`).

| figure 25           | here                                                                                |
|---------------------|-------------------------------------------------------------------------------------|
| TL_p                | `token_list(p)`, the list of the version `version[p]`                               |
| (m, B, TL)          | `Data(m, version)`: a message keeps its identifier (lines 13-14 repaired)           |
| ACK(B, seqnum, toknext, TL) | `Ack(version, sender, message, number)`, which names its sender's successor  |
| recvQ_p, seqQ_p, stableQ_p | `received[p]`, `numbered[p]`, `stable[p]`                                    |
| lastdelivered_p, ts_p | `last_delivered[p]`, `last_number[p]`                                             |
| lines 13-16         | p stands there while `pending[p]` is the message that it sends                      |
| lines 35-51         | p has the token, as soon as it knows what it needs: `holds_token(p)`                |

What is folded, and why that is sound:
1. What was once sent to all may reach anybody at any time, and need not: `data` and `acks` only grow. Loss,
   duplication, delay, repetition, a request and its answer are all that a process hears something now, later
   or never. What is *sent again* as long as it is missed comes in the end (`hear`, `receive`); what only its
   crashed sender could send again may still arrive (`hear_late`, `receive_late`), or never.
2. To accept the token and to number are one step: what lies between them nobody sees (lines 48-51), and
   nobody else may number meanwhile.
3. The first member of the first list holds the token at the start. With `announced` that member has already
   passed the token on by NULL with number 1, as in lines 10-11.
4. Detection of failures and the call of Reformation (lines 38-40, 48-50, 55-57, 62-64, 70-71) are not here.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Map,
    Set,
    action,
    emit,
    environment,
    everywhere,
    initial,
    record,
    require,
)
from antiphon.spec.services import Broadcast, Deliver, Message, Process, View, Views

Number = Annotated[int, Between(1, "highest")]
"""A sequence number that is assigned."""

LastNumber = Annotated[int, Between(0, "highest")]


@record
class Sequenced:
    """Element of seqQ or stableQ: (B, seqnum), a message and its number. `message` None: the NULL message."""

    message: Message | None
    number: Number


@record
class Data:
    """Message (m, B, TL), sent to all with token list TL. `message` stands for m and for its identifier B."""

    message: Message
    version: View


@record
class Ack:
    """Packet ACK(B, seqnum, toknext, TL), sent to all: B gets a number, the sender's successor the token."""

    version: View
    sender: Process
    message: Message | None
    number: Number


class NormalPhase(Crashes, Views):
    """RBP between two view changes. Numbers go on from one token list to the next."""

    highest: Const[int] = 4
    """The highest number of an exploration."""

    announced: Const[bool] = False
    """Switch: the rotation begins with NULL, as in figure 25, lines 10-11."""

    listed: Map[View, Set[Process]] = everywhere(Set())
    version: Map[Process, View] = everywhere(1)
    data: Set[Data] = Set()
    acks: Set[Ack] = Set()
    received: Map[Process, Set[Message]] = everywhere(Set())  # line 2
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())  # line 3
    stable: Map[Process, Set[Sequenced]] = everywhere(Set())  # line 4
    last_delivered: Map[Process, LastNumber] = everywhere(0)  # line 5
    last_number: Map[Process, LastNumber] = everywhere(0)  # line 8
    collected: Map[Process, Set[Message]] = everywhere(Set())
    pending: Map[Process, Message | None] = everywhere(None)
    begins: Map[Process, bool] = everywhere(False)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # The token list -----------------------------------------------------------------------------------------

    @initial
    def start(self) -> None:
        """Begin with all processes in the first list, and the token at its first member (lines 7-11)."""
        self.listed[1] |= {p for p in self.each(Process)}
        first = Process(0)
        self.begins[first] = True
        if self.announced:
            self.send_number(first, None)

    def is_active(self, p: Process) -> bool:
        """Return True if p is up, and takes part in the normal phase."""
        return not self.down[p]

    def token_list(self, p: Process) -> Set[Process]:
        """Return the list that p uses, TL_p."""
        return self.listed[self.version[p]]

    def first_of(self, members: Set[Process]) -> Process | None:
        """Return the first process of a token list."""
        return next((q for q in self.each(Process) if q in members), None)

    def predecessor(self, p: Process) -> Process:
        """Return the process before p in the ring of its list, whose ACK names p."""
        members = self.token_list(p)
        return next(
            (q for q in self.each(Process) if q in members and self.is_next(members, q, p)),
            p,
        )

    def is_next(self, members: Set[Process], q: Process, p: Process) -> bool:
        """Return True if p follows q in the ring (line 7): no member of the list lies between them."""
        if q < p:
            return not any(q < r and r < p for r in members)
        return not any(r > q or r < p for r in members)

    # Lines 12-24: a message is broadcast and received -------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast m (lines 12-15): it is sent to all until it is acknowledged, and p broadcasts nothing
        else meanwhile.
        """
        require(m.index == self.broadcasts and self.pending[p] is None and self.is_active(p))
        self.broadcasts += 1
        self.pending[p] = m
        self.received[p] |= {m}
        self.data |= {Data(m, self.version[p])}
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def receive(self, p: Process, m: Message) -> None:
        """Receive a message (lines 18-24, 64-66) that some process sends again as long as p lacks it."""
        require(self.is_missing(p, m) and self.is_sent_again(p, m))
        self.received[p] |= {m}

    @environment
    def receive_late(self, p: Process, m: Message) -> None:
        """Receive a late copy of a message (lines 18-24) that no process would send again."""
        require(self.is_missing(p, m) and not self.down[p] and not self.is_sent_again(p, m))
        self.received[p] |= {m}

    def is_missing(self, p: Process, m: Message) -> bool:
        """Return True if m was sent to the list of p, and p has not received it (lines 19-23)."""
        return (
            self.is_active(p)
            and self.was_sent(p, m)
            and m not in self.received[p]
            and m not in self.collected[p]
        )

    def was_sent(self, p: Process, m: Message) -> bool:
        """Return True if m was sent to the list of p (line 19, `TL_q = TL_p`)."""
        return Data(m, self.version[p]) in self.data

    def is_sent_again(self, p: Process, m: Message) -> bool:
        """Return True if m is sent again to p (lines 13-16 and 64-66): its sender waits for the ACK, or p
        knows the number and asks.
        """
        return any(
            self.is_with(q, p)
            and (self.pending[q] == m or (self.is_numbered(p, m) and m in self.received[q]))
            for q in self.each(Process)
        )

    def is_with(self, q: Process, p: Process) -> bool:
        """Return True if q is another process than p, is up, and uses p's list."""
        return q != p and self.is_active(q) and self.version[q] == self.version[p]

    def is_numbered(self, p: Process, m: Message) -> bool:
        """Return True if seqQ_p has a number of m."""
        return any(item.message == m for item in self.numbered[p])

    # Lines 25-48: an ACK is received ------------------------------------------------------------------------

    @action(fairness="weak")
    def hear(self, p: Process, ack: Annotated[Ack, In("acks")]) -> None:
        """Receive a number (lines 25-26, 36-38, 67-69) that some process sends again as long as p
        lacks it.
        """
        require(self.is_news(p, ack) and self.is_told_again(p, ack))
        self.learn(p, Sequenced(ack.message, ack.number))

    @environment
    def hear_late(self, p: Process, ack: Annotated[Ack, In("acks")]) -> None:
        """Receive a late copy of an ACK (lines 25-26) that no process would send again."""
        require(self.is_news(p, ack) and not self.down[p] and not self.is_told_again(p, ack))
        self.learn(p, Sequenced(ack.message, ack.number))

    def is_news(self, p: Process, ack: Ack) -> bool:
        """Return True if the ACK belongs to p's list, and p does not know its number (lines 25-27)."""
        return self.is_active(p) and self.is_of_list(p, ack) and not self.knows(p, ack.number)

    def is_of_list(self, p: Process, ack: Ack) -> bool:
        """Return True if the ACK belongs to p's list (line 27, `TL_q = TL_p`)."""
        return ack.version == self.version[p]

    def is_told_again(self, p: Process, ack: Ack) -> bool:
        """Return True if the number is sent again to p (lines 60-62 and 67-69): the sender of its ACK waits
        for a higher number, or p knows a higher number and asks.
        """
        return any(
            self.is_with(q, p)
            and (
                (q == ack.sender and self.highest_known(q) == ack.number)
                or (self.highest_known(p) > ack.number and self.knows(q, ack.number))
            )
            for q in self.each(Process)
        )

    def learn(self, p: Process, item: Sequenced) -> None:
        """Record a number (lines 26 and 44); it may end a broadcast (line 16, `until receive ACK (B, seqnum,
        toknext, TL_p)`).
        """
        self.numbered[p] |= {item}
        self.last_number[p] = max(self.last_number[p], self.contiguous(p))
        if item.message is not None and self.pending[p] == item.message:
            self.pending[p] = None

    def knows(self, p: Process, k: Number) -> bool:
        """Return True if p knows the message of number k, or knew it until delivery."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k for item in self.numbered[p])
            or any(item.number == k for item in self.stable[p])
        )

    def contiguous(self, p: Process) -> LastNumber:
        """Return the highest number up to which p knows all numbers without a gap."""
        return max(
            (k for k in self.each(Number) if all(self.knows(p, j) for j in self.each(Number) if j <= k)),
            default=0,
        )

    def highest_known(self, p: Process) -> LastNumber:
        """Return the highest number that p knows, or 0."""
        return max((k for k in self.each(Number) if self.knows(p, k)), default=0)

    # Lines 35-63: the token is accepted, and passed on with the next number ---------------------------------

    @action(fairness="weak")
    def pass_null(self, p: Process) -> None:
        """Give ts_p + 1 to NULL (lines 51-55), when there is nothing to sequence."""
        require(self.holds_token(p) and self.unnumbered(p) is None)
        self.send_number(p, None)

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Give ts_p + 1 to the first message without a number (lines 58-62)."""
        m = self.unnumbered(p)
        require(m is not None and self.holds_token(p))
        self.send_number(p, m)

    def unnumbered(self, p: Process) -> Message | None:
        """Return the message to sequence (line 59): `first msg s.t. (m, B) ∈ recvQ_p and (B) ∉ seqQ_p`."""
        return next(
            (m for m in self.each(Message) if m in self.received[p] and not self.is_numbered(p, m)), None
        )

    def holds_token(self, p: Process) -> bool:
        """Return True if p holds the token (lines 29-48): the last ACK names p, which has every number and
        body up to it.
        """
        return (
            self.is_active(p)
            and self.is_named(p)
            and all(self.has_body(p, item.message) for item in self.numbered[p])
        )

    def is_named(self, p: Process) -> bool:
        """Return True if the ACK with the highest number that p knows names p as next holder, and p knows all
        numbers below.
        """
        return self.begins[p] or any(
            self.is_of_list(p, ack)
            and ack.sender == self.predecessor(p)
            and ack.number == self.highest_known(p)
            and ack.number == self.last_number[p]
            for ack in self.acks
        )

    def has_body(self, p: Process, m: Message | None) -> bool:
        """Return True if recvQ_p has the body (lines 45-48); NULL has none."""
        return m is None or m in self.received[p]

    def send_number(self, p: Process, m: Message | None) -> None:
        """Send ACK(B, ts_p + 1, toknext_p, TL_p) to all (lines 54 and 61)."""
        k = self.last_number[p] + 1
        self.begins[p] = False
        self.acks |= {Ack(self.version[p], p, m, k)}
        self.learn(p, Sequenced(m, k))

    # Lines 72-82: task 2 ------------------------------------------------------------------------------------

    @action(fairness="weak")
    def settle(self, p: Process, item: Sequenced) -> None:
        """Make a message stable that all members have (lines 74-78); it leaves recvQ and seqQ."""
        require(self.can_settle(p, item))
        self.stable[p] |= {item}  # line 76
        self.numbered[p] -= {item}  # line 77
        self.drop_body(p, item.message)  # line 78

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can become stable at p (lines 74-75)."""
        return (
            self.is_active(p)
            and item in self.numbered[p]
            and self.has_body(p, item.message)
            and self.is_stable(p, item.number)
        )

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if number k is stable at p, with n members (line 75, `seqnum' <= ts_p - n + 1`)."""
        return k <= self.last_number[p] - len(self.token_list(p)) + 1

    def drop_body(self, p: Process, m: Message | None) -> None:
        """Remove the message from recvQ_p for good (line 78)."""
        if m is not None:
            self.received[p] -= {m}
            self.collected[p] |= {m}

    def settled(self, p: Process) -> LastNumber:
        """Return the highest number that is stable at p, or was until its delivery."""
        return max(self.last_delivered[p], max((item.number for item in self.stable[p]), default=0))

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Deliver the next stable message (lines 79-82)."""
        require(self.can_deliver(p, item))  # line 79
        self.stable[p] -= {item}  # line 81
        self.last_delivered[p] = item.number  # line 82
        if item.message is not None:
            emit(Deliver(p, item.message))  # line 80

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if p can deliver the item (line 79): `∃ m' s.t. (m', lastdelivered_p + 1) ∈
        stableQ_p`.
        """
        return item in self.stable[p] and item.number == self.last_delivered[p] + 1
