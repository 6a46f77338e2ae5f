"""Reliable broadcast by a token that carries identifiers; missing messages are requested.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.1.1, figure 5, printed lines 1-32.

What is modelled: `send` is unreliable (budget `losses`); `SEND`, which passes the token, is reliable, so that
the token is a place and a list and is never lost. "There is an m'" in line 8 is a choice: the parameter of an
action. An identifier and its message are one `Message`, since nothing here renames a message.

| figure | here | figure | here |
|---|---|---|---|
| recvQ_p | `received[p]` | token on its way to p | `token_to == p` |
| deliveredQ_p | `delivered_queue[p]` | p in lines 7-18 | `holder == p`, and `stage` |
| token.delivered | `listed` | m' of lines 8-14 | `wanted` |

What is abstracted, and why that is sound: in the loop of lines 10-12 `stage` says where the holder is; a
round of it is an action (`request`), which may come late or never, so that there are more runs here than in
print and none is missing. Requests and notices "to all" do not go to their sender, where they would change
nothing: it misses what it asks for, and has what it announces.

Two misprints are read so: the subscript s of a receiver's queue is p, and m in line 11 is line 8's m'.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import Between, In, Map, Set, action, emit, everywhere, record, require
from antiphon.spec.protocols.token_broadcast.figure2 import Data
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


@record
class Notice:
    """Packet delivered(id(m)): a notice that m was delivered, on its way to one process."""

    to: Process
    message: Message


@record
class Request:
    """Packet request(id(m)): a request for message m, on its way to one process."""

    to: Process
    sender: Process
    message: Message


class Stage(Enum):
    """Stage of the token holder: test (line 8), wait for a message (lines 10-13), or listing (line 15)."""

    checking, waiting, passing = range(3)


class Figure5(Losses[Data | Notice | Request], Group):
    """Token-based reliable broadcast with identifiers, figure 5."""

    received: Map[Process, Set[Message]] = everywhere(Set())
    delivered_queue: Map[Process, Set[Message]] = everywhere(Set())
    token_to: Process | None = None
    holder: Process | None = None
    stage: Stage = Stage.checking
    wanted: Message | None = None
    listed: Set[Message] = Set()
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # Lines 1-3, the sender ----------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message (lines 1-3)."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.send_to_all(p, m)

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send (m) to all (line 3); the sender's own copy is there at once (reading `own_copy`)."""
        self.network |= {Data(q, m) for q in self.each(Process) if q != p}
        self.take_in(p, m)

    # Lines 4-18, the token holder (lines 5-6: the token lists nothing) -------------------------------------

    def successor(self, p: Process) -> Process:
        """Return the next holder of the token, s + 1 mod n (line 18)."""
        return Process((p.index + 1) % self.processes)

    @action(fairness="weak")
    def receive_token(self, p: Process) -> None:
        """Receive the token (line 7)."""
        require(self.token_to == p)
        self.token_to = None
        self.holder = p
        self.stage = Stage.checking

    @action(fairness="weak")
    def check(self, p: Process, missing: Message | None) -> None:
        """Check whether some listed m' was not delivered (lines 8-9); `missing` is such a message, or
        None.
        """
        require(self.holder == p and self.stage is Stage.checking)
        if missing is None:
            require(all(m in self.delivered_queue[p] for m in self.listed))
            self.stage = Stage.passing
        else:
            require(missing in self.listed and missing not in self.delivered_queue[p])
            self.wanted = missing
            self.stage = Stage.waiting

    @action(fairness="weak")
    def request(self, p: Process) -> None:
        """Ask all for m' until p has it (lines 10-12)."""
        m = self.wanted
        require(self.holder == p and self.stage is Stage.waiting)
        require(m is not None and m not in self.received[p])
        if m is not None:
            self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}

    @action(fairness="weak")
    def deliver_missing(self, p: Process) -> None:
        """Deliver, at p, the message m' that p waited for (lines 12-14). It has arrived, and line 25 has
        delivered it already.
        """
        m = self.wanted
        require(self.holder == p and self.stage is Stage.waiting)
        require(m is not None and m in self.received[p])
        self.wanted = None
        self.stage = self.stage_after_one()
        if m is not None:
            self.hand_over(p, m)

    def stage_after_one(self) -> Stage:
        """Return the stage of the holder after it has recovered one m': line 15, since line 8 is an `if`."""
        return Stage.passing

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """List and announce new messages, and pass the token (lines 15-18)."""
        require(self.holder == p and self.stage is Stage.passing)
        new = {m for m in self.delivered_queue[p] if m not in self.listed}
        self.network |= {Notice(q, m) for m in new for q in self.each(Process) if q != p}
        self.listed |= self.delivered_queue[p]
        self.holder = None
        self.token_to = self.successor(p)

    # Lines 19-32, the destinations (lines 20-22: the queues are empty) -------------------------------------

    def hand_over(self, p: Process, m: Message) -> None:
        """Deliver a message and remember it (lines 13-14 and 25-26)."""
        self.delivered_queue[p] |= {m}
        emit(Deliver(p, m))

    def take_in(self, p: Process, m: Message) -> None:
        """Store, deliver and remember a message (lines 24-26)."""
        self.received[p] |= {m}
        self.hand_over(p, m)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive a message (line 23)."""
        self.network -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_notice(self, packet: Annotated[Notice, In("network")]) -> None:
        """Receive a notice that a message was broadcast, and ask once for a missed message (lines 27-29)."""
        p = packet.to
        self.network -= {packet}
        for m in self.each(Message):
            if self.is_missed(p, m, packet) and m not in self.received[p]:
                self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}

    def is_missed(self, p: Process, m: Message, packet: Notice) -> bool:
        """Return True for the announced message, since p does not have the token's list (lines 28-29, reading
        `missed`).
        """
        return m == packet.message

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Receive a request; a process that has the message sends it (lines 30-32)."""
        self.network -= {packet}
        if packet.message in self.received[packet.to]:
            self.network |= {Data(packet.sender, packet.message)}
