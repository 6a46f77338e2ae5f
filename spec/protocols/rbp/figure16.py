"""RBP without failures, as figure 16 prints it: a moving sequencer, with one message for four functions.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels", 2002,
section 3.1.3, figure 16, printed lines 1-63. The protocol is Chang and Maxemchuk's (1984). docs/figure-16.md has the
figure and this file side by side. What departs from the print stands in repairs.py, other readings of it in readings.py,
what bounds an exploration in bounds.py: none of it is known here.

| figure 16       | here                                                                            |
|-----------------|---------------------------------------------------------------------------------|
| p1..pn          | `Process(0)` .. `Process(n - 1)`                                                |
| recvQ_p         | `received[p]`, a sequence without repetition                                    |
| seqQ_p          | `numbered[p]`, a set                                                            |
| lastdelivered_p | `last_delivered[p]`                                                             |
| toknext_p       | `successor(p)`                                                                  |
| message id_p    | `message_id[p]`                                                                 |
| ts_p            | `last_number[p]`                                                                |
| B, ⊥            | `Identifier(source, number)`, None                                              |
| lines 12-15     | p stands there while `pending[p]` is the message that it sends                  |
| lines 33-44     | p stands there while `arriving[p]` is the token; in 34-36 while `catching_up[p]` |
| line 45         | p stands there while `holding[p]`                                               |
| lines 47-49     | p stands there while `passed[p]` is the ACK that it sent last                   |

What is abstracted, and why that is sound:
1. A loop `do ... until` is an action for its first round, one for each later round, and a condition that ends it. When
   a round begins is left open, so a timer of any length is one of its runs.
2. `send` is unreliable: packets in flight are a set, from which they are received in any order, or lost.
3. "to all" includes oneself. The own copy is received in the step that sends it: nothing can lose or delay it.
4. If a process that waits to accept a token (lines 33-44) receives another one, it waits to accept that one.
5. The loop of lines 42-44 begins together with that of 34-36 and not after it. To ask earlier for a body changes nothing
   but when the answer comes, and both loops end before line 45.
6. What no `when receive` takes changes nothing when it arrives, so it is not kept (lines 21, 39, 53 and 57).

What is decided, because the figure is silent:
1. The sender `q` of an ACK is the predecessor of the process that it names; of (m, B) the source of B. Requests carry
   their sender.
2. `request(B)` and `request_retransmission(B)` are one message.
3. A request goes to the process that assigned the number which shows that something is missing, and so has everything
   up to it. (Lines 29, 31, 35 and 43 name nobody.)
4. `retransmits_acks(seqnum, nts_p)` of line 39, which is defined nowhere, as nts_p is, sends what follows seqnum in
   seqQ_p in the shape of line 57 to q.
5. Messages are named in the order in which they are broadcast.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Map,
    Seq,
    Set,
    action,
    emit,
    everywhere,
    initial,
    record,
    require,
)
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process

Number = Annotated[int, Between(1, "messages + 1 + spare")]
"""A sequence number that is assigned."""

LastNumber = Annotated[int, Between(0, "messages + 1 + spare")]

LocalNumber = Annotated[int, Between(0, "messages + spare")]
"""Number of identifiers that a process has made."""


@record
class Identifier:
    """Identifier B of a message: its source, and the number that the source gave it."""

    source: Process
    number: Annotated[int, Between(1, "messages + spare")]


@record
class Body:
    """An element of recvQ: the message and its identifier."""

    message: Message
    identifier: Identifier


@record
class Sequenced:
    """Element of seqQ: (B, seqnum), an identifier and its number. `identifier` None: the NULL message."""

    identifier: Identifier | None
    number: Number


@record
class Data:
    """Packet (m, B): message m with its identifier B, on its way to one process."""

    to: Process
    body: Body


@record
class Ack:
    """Packet ACK(B, seqnum, toknext) to one process. `next_holder` gets the token; None: nobody (line 5)."""

    to: Process
    identifier: Identifier | None
    number: Number
    next_holder: Process | None


@record
class Numbered:
    """Packet (B, seqnum) of lines 21 and 57: the number of a message. It passes no token."""

    to: Process
    identifier: Identifier | None
    number: Number


@record
class Request:
    """Packet request(B) or request_retransmission(B). B is NULL when the text asks for the body of NULL."""

    to: Process
    sender: Process
    identifier: Identifier | None


@record
class RequestNumbers:
    """Packet request_sn(first, last): a request for numbers, on its way to one process."""

    to: Process
    sender: Process
    first: Number
    last: Number


Packet = Data | Ack | Numbered | Request | RequestNumbers


class Rbp(Losses[Packet], Group):
    """RBP without failures, figure 16."""

    spare: Const[int] = 0
    """Number of identifiers and numbers beyond those that the messages need."""

    received: Map[Process, Annotated[Seq[Body], AtMost("messages + spare")]] = everywhere(())  # line 2
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())  # line 3
    last_number: Map[Process, LastNumber] = everywhere(0)  # line 7
    last_delivered: Map[Process, LastNumber] = everywhere(0)  # line 4
    message_id: Map[Process, LocalNumber] = everywhere(0)  # line 6
    pending: Map[Process, Body | None] = everywhere(None)
    arriving: Map[Process, Sequenced | None] = everywhere(None)
    catching_up: Map[Process, bool] = everywhere(False)
    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Sequenced | None] = everywhere(None)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # Lines 1-9: initialization ----------------------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """Return the successor of p (line 5, `toknext_p ← p + 1 (mod n)`). p_k is `Process(k - 1)`, and there
        is no p0.
        """
        number = (p.index + 2) % self.processes
        return Process(number - 1) if number > 0 else None

    @initial
    def start(self) -> None:
        """Send the first token (lines 8-9): `if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1`."""
        first = Process(0)
        self.network |= {Ack(first, None, self.last_number[first] + 1, self.successor(first))}

    # Lines 11-15: procedure TO-broadcast ------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message (lines 11-14, first round). The procedure is busy until line 15 ends it."""
        require(m.index == self.broadcasts and self.pending[p] is None)
        self.broadcasts += 1
        self.send_message(p, m, self.message_id[p] + 1)  # line 13
        emit(Broadcast(p, m))

    @action(fairness="weak", per="p")
    def resend(self, p: Process) -> None:
        """Send p's pending message again (lines 12-15, another round of the loop)."""
        own = self.pending[p]
        require(own is not None)
        if own is not None:
            self.send_message(p, own.message, self.id_of_next_round(p))

    def id_of_next_round(self, p: Process) -> int:
        """Return the identifier for the next round: line 13, `message id_p ← message id_p + 1`, is inside the
        loop, so each round takes a new one.
        """
        return self.message_id[p] + 1

    def send_message(self, p: Process, m: Message, k: LocalNumber) -> None:
        """Send (m, B) to all (line 14), where the identifier B is made of p and its number k."""
        body = Body(m, Identifier(p, k))
        self.message_id[p] = k
        self.pending[p] = body
        self.take_message(p, body)
        self.network |= {Data(q, body) for q in self.each(Process) if q != p}

    def ends_broadcast(self, p: Process, item: Sequenced) -> bool:
        """Return True if an ACK ends the broadcast (line 15, `until receive ACK(B, -, -, -)`): none does,
        since every ACK has three fields and this one four.
        """
        return False

    # Lines 17-23: task 1, a message is received -----------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive a message (lines 18-23)."""
        p = packet.to
        require(self.can_receive(p))
        self.network -= {packet}
        self.take_message(p, packet.body)  # line 18

    def can_receive(self, p: Process) -> bool:
        """Return True if p can receive: always, since tasks are concurrent (line 17)."""
        return True

    def take_message(self, p: Process, body: Body) -> None:
        """Take the message of `body` at p (lines 19-23). The `else` of line 22 is aligned with the `if` of
        line 20.
        """
        if self.is_numbered(p, body.identifier):  # line 19
            if self.is_toknext(p):  # line 20
                self.tell_number(p, body.identifier)  # line 21
            else:  # line 22
                self.add_message(p, body)  # line 23

    def is_numbered(self, p: Process, b: Identifier) -> bool:
        """Return True if seqQ_p has a pair (B, seqnum) (line 19)."""
        return any(item.identifier == b for item in self.numbered[p])

    def is_toknext(self, p: Process) -> bool:
        """Return True if `p = toknext` (line 20). At this line no ACK was received whose field toknext could
        be; p has only its own toknext_p, so that is compared.
        """
        return self.successor(p) == p

    def tell_number(self, p: Process, b: Identifier) -> None:
        """Send the number of B to the source of B (line 21, `send (B, seqnum) to q`)."""
        for item in self.numbered[p]:
            if item.identifier == b and b.source != p:
                self.send_number(b.source, item)

    def send_number(self, q: Process, item: Sequenced) -> None:
        """Send a number (lines 21 and 57, `send (B, seqnum) to q`). No `when receive` takes this shape."""

    def add_message(self, p: Process, body: Body) -> None:
        """Add a message to recvQ_p (line 23, `recvQ_p ← recvQ_p + (m, B)`), unless it is there, as the
        comments of figure 12 have it.
        """
        if not self.has_body(p, body.identifier):
            self.received[p] += (body,)

    def has_body(self, p: Process, b: Identifier | None) -> bool:
        """Return True if B is in recvQ_p; NULL is in no queue."""
        return any(body.identifier == b for body in self.received[p])

    # Lines 25-40: an ACK is received ----------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Receive an ACK (lines 25-44): record it, ask for what is missing, take the token if it names p."""
        p = packet.to
        item = Sequenced(packet.identifier, packet.number)
        require(self.can_receive(p) or self.is_from_successor(p, packet))
        self.network -= {packet}  # line 25
        self.learn(p, item)  # line 26
        if self.is_from_successor(p, packet):
            self.hear_successor(p)  # line 49
        if packet.next_holder != p:  # line 27
            if packet.number > self.last_number[p] + 1:  # line 28
                self.ask_for_numbers(p, packet.number)  # line 29
            if not self.has_body(p, packet.identifier):  # line 30
                self.ask_for_body(p, packet.identifier, packet.number)  # line 31
        else:  # line 32
            self.take_token(p, item)

    def learn(self, p: Process, item: Sequenced) -> None:
        """Record a number (line 26, `seqQ_p ← seqQ_p + (B, seqnum)`); the loop that waits for this
        ACK ends.
        """
        self.numbered[p] |= {item}
        if self.ends_broadcast(p, item):
            self.pending[p] = None

    def take_token(self, p: Process, item: Sequenced) -> None:
        """Take the token (lines 33-44): p is the next holder, and waits until it has all earlier numbers and
        bodies.
        """
        if item.number > self.last_number[p] + 1:  # line 33
            self.ask_for_numbers(p, item.number)  # line 35
            self.catching_up[p] = True
        else:  # line 37
            self.catching_up[p] = False
            if self.last_number[p] > item.number:  # line 38
                self.retransmits_acks(p, item.number)  # line 39
            else:
                self.last_number[p] = item.number  # line 40
        if not self.has_body(p, item.identifier):  # line 41
            self.ask_for_body(p, item.identifier, item.number)  # line 43
        self.arriving[p] = item

    def retransmits_acks(self, p: Process, seqnum: Number) -> None:
        """Answer an old token (line 39, `retransmits_acks(seqnum, nts_p)`), to the process that sent it."""
        self.tell_what_followed(p, self.predecessor(p), seqnum)

    def tell_what_followed(self, p: Process, q: Process, seqnum: Number) -> None:
        """Send to q each number after seqnum that p knows (line 39)."""
        for item in self.numbered[p]:
            if item.number > seqnum and q != p:
                self.send_number(q, item)

    def predecessor(self, p: Process) -> Process:
        """Return the process before p in the ring."""
        return Process((p.index + self.processes - 1) % self.processes)

    def ask_for_numbers(self, p: Process, k: Number) -> None:
        """Ask for numbers (lines 29 and 35, `request_sn(ts_p + 1, seqnum)`)."""
        self.network |= {RequestNumbers(q, p, self.last_number[p] + 1, k) for q in self.each(Process) if self.is_asked(p, q, k)}

    def ask_for_body(self, p: Process, b: Identifier | None, k: Number) -> None:
        """Ask for a body that number k showed to be missing (lines 31 and 43, `request_retransmission(B)` and
        `request(B)`).
        """
        self.network |= {Request(q, p, b) for q in self.each(Process) if self.is_asked(p, q, k)}

    def is_asked(self, p: Process, q: Process, k: Number) -> bool:
        """Return True if p asks q about a missing message or number, which number k showed to be missing: q
        is the sequencer that gave k.
        """
        return q != p and q == self.sequencer_of(k)

    def sequencer_of(self, k: Number) -> Process:
        """Return the process that assigns number k: each holder assigns one, and p1 assigns the first."""
        return Process((k - 1) % self.processes)

    # Lines 33-49: the next holder waits, holds, sequences and passes on -----------------------------------------------

    @action(fairness="weak", per="p")
    def repeat_request(self, p: Process) -> None:
        """Repeat p's request for missing numbers or bodies (lines 34-36 and 42-44, another round)."""
        goal = self.awaited_number(p)
        require(goal > self.last_number[p] or any(self.awaits_body(p, item) for item in self.numbered[p]))
        if goal > self.last_number[p]:
            self.ask_for_numbers(p, goal)  # line 35
        for item in self.numbered[p]:
            if self.awaits_body(p, item):
                self.ask_for_body(p, item.identifier, self.highest_known(p))  # line 43

    def awaited_number(self, p: Process) -> LastNumber:
        """Return the number of the token for which p waits, until ts_p is that number (line 36); 0 if p waits
        for none.
        """
        token = self.arriving[p]
        return token.number if token is not None else 0

    def awaits_body(self, p: Process, item: Sequenced) -> bool:
        """Return True if p waits for the body of the token (line 44)."""
        return self.arriving[p] == item and not self.has_body(p, item.identifier)

    def highest_known(self, p: Process) -> LastNumber:
        """Return the highest number in seqQ_p, or 0."""
        return max((item.number for item in self.numbered[p]), default=0)

    @action(fairness="weak", per="p")
    def accept(self, p: Process) -> None:
        """Accept the token, when the loops of lines 36 and 44 have ended."""
        require(self.can_accept(p))
        self.arriving[p] = None
        self.catching_up[p] = False
        self.holding[p] = True

    def can_accept(self, p: Process) -> bool:
        """Return True if the loops have ended (lines 36 and 44): `until (ts_p = seqnum)`, `until (B ∈
        recvQ_p)`.
        """
        token = self.arriving[p]
        if token is None or self.holding[p]:
            return False
        return (not self.catching_up[p] or self.last_number[p] == token.number) and self.has_body(p, token.identifier)

    @action(fairness="weak", per="p")
    def sequence(self, p: Process) -> None:
        """Number the first message without a number, and pass the token (lines 45-48, first round)."""
        require(self.can_sequence(p))
        body = next((item for item in self.received[p] if not self.is_numbered(p, item.identifier)), None)  # line 46
        if body is not None:
            self.holding[p] = False
            self.send_token(p, body.identifier, self.last_number[p] + 1)

    def can_sequence(self, p: Process) -> bool:
        """Return True if p has a message to number (line 45, `wait until (recvQ_p - seqQ_p ≠ ε)`, printed
        with a backslash).
        """
        return self.holding[p] and any(not self.is_numbered(p, body.identifier) for body in self.received[p])

    @action(fairness="weak", per="p")
    def resend_token(self, p: Process) -> None:
        """Send the token of p again (lines 47-49, another round of the loop)."""
        sent = self.passed[p]
        require(sent is not None)
        if sent is not None:
            self.send_token(p, sent.identifier, self.number_of_next_round(p))

    def number_of_next_round(self, p: Process) -> int:
        """Return the number for the next round: line 48, with `ts_p + 1`, is inside the loop, so the number
        is computed in each round.
        """
        return self.last_number[p] + 1

    def send_token(self, p: Process, b: Identifier | None, k: Number) -> None:
        """Send ACK(B, ts_p + 1, toknext_p) to all (line 48). For the sender's own copy, of lines 25-31 only
        line 26 has an effect.
        """
        item = Sequenced(b, k)
        self.learn(p, item)
        self.passed[p] = item
        self.network |= {Ack(q, b, k, self.successor(p)) for q in self.each(Process) if q != p}

    def is_from_successor(self, p: Process, packet: Ack) -> bool:
        """Return True for an ACK from toknext_p (line 49), that is, one that names the successor of p's
        successor.
        """
        after = self.successor(p)
        return self.passed[p] is not None and after is not None and packet.next_holder == self.successor(after)

    def hear_successor(self, p: Process) -> None:
        """End the wait at an ACK of the successor (line 49, `until receive ACK from toknext_p`)."""
        self.passed[p] = None

    # Lines 51-57: requests are answered -------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Receive a request for a body; a process that has it sends it (lines 51-53)."""
        p = packet.to
        require(self.can_receive(p))
        self.network -= {packet}  # line 51
        for body in self.received[p]:
            if body.identifier == packet.identifier:  # line 52
                self.send_body(packet.sender, body)  # line 53

    def send_body(self, q: Process, body: Body) -> None:
        """Send a body without its identifier (line 53, `send m' to q`). No `when receive` takes
        this shape.
        """

    @action(fairness="weak", per="packet")
    def receive_request_numbers(self, packet: Annotated[RequestNumbers, In("network")]) -> None:
        """Receive a request for numbers, and send each known one between first and last (lines 55-57)."""
        p = packet.to
        require(self.can_receive(p))
        self.network -= {packet}  # line 55
        for item in self.numbered[p]:
            if packet.first <= item.number and item.number <= packet.last:  # line 56
                self.send_number(packet.sender, item)  # line 57

    # Lines 59-63: task 2 ----------------------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Deliver the message with the next number (lines 60-63)."""
        require(self.can_deliver(p, item))  # line 61
        self.hand_over(p, item)  # line 62
        self.last_delivered[p] = item.number  # line 63

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if p can deliver (line 61, `∃ m' s.t. (B, lastdelivered_p + 1) ∈ seqQ_p`). Nothing says
        that m' is the message of B, or is there.
        """
        return item in self.numbered[p] and item.number == self.last_delivered[p] + 1

    def hand_over(self, p: Process, item: Sequenced) -> None:
        """Hand a message to the application (line 62, `deliver (m')`); None if there is no body."""
        body = next((stored for stored in self.received[p] if stored.identifier == item.identifier), None)
        emit(Deliver(p, body.message if body is not None else None))
