"""A sequencer moves with the token: its holder numbers one message and passes the token on.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.1.2, figure 12, printed lines 1-37 (31, 33 and 34 are printed twice; the second set is cited
as 31', 33', 34').

What is modelled: `SEND` (the message itself, the token) is reliable, `send` (numbers, requests, replies) is
not.

| figure | here | figure | here |
|---|---|---|---|
| rcvQ_p | `received[p]` | token on its way to p | `token_to == p` |
| seqQ_p | `numbered[p]` | p in lines 7-20 | `holder == p`, and `stage` |
| nextdeliver_p | `next_deliver[p]` | token.seqnum | `token_number` |

What is abstracted, and why that is sound: a process's own copy of line 3's `SEND (m) to all` and of line 19's
`send ... to all` is there at once, since nothing can lose it. In the loops of lines 8-15 `stage` says where
the holder stands; a round of a loop is an action (`request_numbers`, `request_body`), which may come late or
never, so that there are more runs here than in print and none is missing. Requests "to all" do not go to
their sender, where they would change nothing: it misses what it asks for. An identifier and its message are
one `Message`.

Two misprints are read so: the subscript s of a receiver's queue is p, and m in line 14 is the m' of line 12.
"""

from __future__ import annotations

from enum import Enum
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
    record,
    require,
)
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process

Number = Annotated[int, Between(1, "messages + spare")]
"""A sequence number that is assigned."""


@record
class Sequenced:
    """Element of seqQ: (id(m), seqnum), a message and its number."""

    message: Message
    number: Number


@record
class Data:
    """Message (m), on its way to one process."""

    to: Process
    message: Message


@record
class Notice:
    """Packet (id(m); seqnum): the number of message m, on its way to one process."""

    to: Process
    item: Sequenced


@record
class Request:
    """Packet request(id(m)): a request for message m, on its way to one process."""

    to: Process
    sender: Process
    message: Message


@record
class RequestNumbers:
    """Packet request_sn(first, last): a request for numbers, on its way to one process."""

    to: Process
    sender: Process
    first: Annotated[int, Between(0, "messages + spare + 1")]
    last: Annotated[int, Between(0, "messages + spare + 1")]


class Stage(Enum):
    """Stage of the token holder: test for numbers (line 8), wait for numbers (lines 9-11), wait for messages
    (lines 12-15), or numbering (lines 17-20).
    """

    numbers, waiting_numbers, bodies, sequencing = range(4)


class MovingSequencer(Losses[Data | Notice | Request | RequestNumbers], Group):
    """The moving sequencer, figure 12. `spare` is how many numbers there are in excess of one for each
    message.
    """

    spare: Const[int] = 0

    received: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())
    next_deliver: Map[Process, Annotated[int, Between(1, "messages + spare + 1")]] = everywhere(1)
    sent: Set[Data] = Set()
    token_to: Process | None = None
    holder: Process | None = None
    stage: Stage = Stage.numbers
    token_number: Annotated[int, Between(0, "messages + spare")] = 0
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # Lines 1-3, the sender ----------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message (lines 1-3)."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.send_to_all(p, m)
        self.take_in(p, m)

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send the message to all by SEND, which is reliable (line 3; reading `sending`)."""
        self.sent |= {Data(q, m) for q in self.each(Process) if q != p}

    # Lines 4-20, the sequencer (lines 5-6: the token's number is 0) ----------------------------------------

    def successor(self, p: Process) -> Process:
        """Return the next holder of the token, s + 1 mod n (line 20)."""
        return Process((p.index + 1) % self.processes)

    @action(fairness="weak")
    def receive_token(self, p: Process) -> None:
        """Receive the token (line 7)."""
        require(self.token_to == p)
        self.token_to = None
        self.holder = p
        self.stage = Stage.numbers

    def misses_number(self, p: Process) -> bool:
        """Return True if p misses a number: token.seqnum > nextdeliver (lines 8 and 11)."""
        return self.token_number > self.next_deliver[p]

    @action(fairness="weak")
    def check_numbers(self, p: Process) -> None:
        """Check whether a number is missing that blocks delivery (lines 8 and 11)."""
        require(self.holder == p and (self.stage is Stage.numbers or self.stage is Stage.waiting_numbers))
        if self.misses_number(p):
            require(self.stage is Stage.numbers)
            self.stage = Stage.waiting_numbers
        else:
            self.stage = Stage.bodies

    @action(fairness="weak")
    def request_numbers(self, p: Process) -> None:
        """Ask all other processes for the numbers from nextdeliver to token.seqnum, while p misses one:
        request_sn(nextdeliver, token.seqnum), lines 9-11.
        """
        require(self.holder == p and self.stage is Stage.waiting_numbers and self.misses_number(p))
        first = self.next_deliver[p]
        self.network |= {RequestNumbers(q, p, first, self.token_number) for q in self.each(Process) if q != p}

    def is_missing(self, p: Process, m: Message) -> bool:
        """Return True if m has a number in seqQ_p and is not in rcvQ_p (line 12)."""
        return m not in self.received[p] and any(item.message == m for item in self.numbered[p])

    @action(fairness="weak")
    def request_body(self, p: Process, m: Message) -> None:
        """Ask all other processes for m, a message that has a number at p but was not received (lines
        12-15).
        """
        require(self.holder == p and self.stage is Stage.bodies and self.is_missing(p, m))
        self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}

    @action(fairness="weak")
    def have_bodies(self, p: Process) -> None:
        """Go on when no numbered message is missing (line 12); line 16 adds nothing new to seqQ."""
        require(self.holder == p and self.stage is Stage.bodies)
        require(not any(self.is_missing(p, m) for m in self.each(Message)))
        self.stage = Stage.sequencing

    def may_sequence(self, p: Process, m: Message) -> bool:
        """Return True if m is not in token.sequenced, for which the holder's seqQ stands (line 17; reading
        `already_sequenced`).
        """
        return not any(item.message == m for item in self.numbered[p])

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Number the first message without a number, tell all, and pass the token (lines 17-20)."""
        require(self.holder == p and self.stage is Stage.sequencing)
        m = next((item for item in self.received[p] if self.may_sequence(p, item)), None)
        require(m is not None)
        if m is not None:
            item = Sequenced(m, self.token_number + 1)
            self.token_number += 1
            self.numbered[p] |= {item}
            self.network |= {Notice(q, item) for q in self.each(Process) if q != p}
        self.pass_token(p)

    def pass_token(self, p: Process) -> None:
        """Pass the token to s + 1 mod n by SEND (line 20)."""
        self.holder = None
        self.token_to = self.successor(p)

    # Lines 21-34', the destinations (lines 22-25: the queues are empty, nextdeliver is 1) ------------------

    def take_in(self, p: Process, m: Message) -> None:
        """Add a message to rcvQ, a sequence in which each message occurs once (line 27)."""
        if m not in self.received[p]:
            self.received[p] += (m,)

    @action(fairness="weak")
    def receive_sent(self, packet: Annotated[Data, In("sent")]) -> None:
        """Receive a message that was sent reliably (lines 26-27)."""
        self.sent -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive the reply to a request (lines 26-27)."""
        self.network -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_notice(self, packet: Annotated[Notice, In("network")]) -> None:
        """Receive the number of a message (lines 28-31): ask once for the message if it is missing, and
        record the number.
        """
        p = packet.to
        m = packet.item.message
        self.network -= {packet}
        if m not in self.received[p]:
            self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}
        self.record_number(p, packet.item)

    def record_number(self, p: Process, item: Sequenced) -> None:
        """Record a number, whether or not its message is there (line 31; reading `recording`)."""
        self.numbered[p] |= {item}

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Receive a request for a message; a process that has it sends it (lines 32-34)."""
        self.network -= {packet}
        if packet.message in self.received[packet.to]:
            self.network |= {Data(packet.sender, packet.message)}

    def is_asked_for(self, number: Number, packet: RequestNumbers) -> bool:
        """Return True if the number is requested: first <= seqnum < last (line 33')."""
        return packet.first <= number and number < packet.last

    @action(fairness="weak")
    def receive_request_numbers(self, packet: Annotated[RequestNumbers, In("network")]) -> None:
        """Receive a request for numbers, and send the known ones among them (lines 31', 33' and 34')."""
        self.network -= {packet}
        known = {item for item in self.numbered[packet.to] if self.is_asked_for(item.number, packet)}
        self.network |= {Notice(packet.sender, item) for item in known}

    # Lines 35-37 -------------------------------------------------------------------------------------------

    def may_deliver(self, p: Process, m: Message) -> bool:
        """Return True if seqQ_p has m with number nextdeliver_p (line 35)."""
        return any(item.message == m and item.number == self.next_deliver[p] for item in self.numbered[p])

    @action(fairness="weak")
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver the message with the next number, whether or not p has it (lines 35-37)."""
        require(self.may_deliver(p, m))
        self.next_deliver[p] = self.next_deliver[p] + 1
        emit(Deliver(p, m if m in self.received[p] else None))
