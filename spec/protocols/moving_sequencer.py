"""How does a sequencer move? Figure 12 of the RBP report: the holder of the token numbers one message and passes the token on.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels", 2002, section 3.1.2, figure 12,
printed lines 1-37 (31, 33 and 34 are printed twice; the second set is cited as 31', 33', 34').

What is modelled: `SEND` (the message itself, the token) is reliable, `send` (numbers, requests, replies) is not. rcvQ_p is `received[p]`,
seqQ_p `numbered[p]`, nextdeliver_p `next_deliver[p]`, token.seqnum `token_number`. The own copy of `SEND (m) to all` and of line 19's
`send ... to all` is there at once, since nothing can lose it. The loops of lines 8-15 are where the holder stands (`stage`); their rounds are
the actions `request_numbers` and `request_body`. `urgent` explores the runs in which deliveries and the tests of lines 8, 11 and 12 happen as
soon as they can: they read and write one process's own state and the token it holds, so postponing them only postpones what follows there.
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
    Reading,
    Repair,
    Seq,
    Set,
    action,
    emit,
    everywhere,
    initial,
    invariant,
    reading,
    record,
    repair,
    require,
    witness,
)
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process, TotalOrderBroadcast

Number = Annotated[int, Between(1, "messages + spare")]
"""A sequence number that is assigned."""


@record
class Sequenced:
    """An element of seqQ: (id(m), seqnum)."""

    message: Message
    number: Number


@record
class Data:
    """(m), on its way to one process."""

    to: Process
    message: Message


@record
class Notice:
    """(id(m); seqnum), on its way to one process."""

    to: Process
    item: Sequenced


@record
class Request:
    """request(id(m))."""

    to: Process
    sender: Process
    message: Message


@record
class RequestNumbers:
    """request_sn(first, last)."""

    to: Process
    sender: Process
    first: Annotated[int, Between(0, "messages + spare + 1")]
    last: Annotated[int, Between(0, "messages + spare + 1")]


class Stage(Enum):
    """Where the holder stands: before line 8, in the loop of 9-11, before line 12, before line 17."""

    numbers, waiting_numbers, bodies, sequencing = range(4)


class MovingSequencer(Losses[Data | Notice | Request | RequestNumbers], Group):
    """The moving sequencer, figure 12."""

    spare: Const[int] = 0
    urgent: Const[bool] = False

    already_sequenced: Reading = reading(
        "own seqQ", "nothing", about="line 17 excludes `token.sequenced`, which is no field of the token: the holder's seqQ is meant, or nothing"
    )
    recording: Reading = reading(
        "always", "when missing", about="whether line 31 stands outside the `if` of line 29, as the text says, or inside, as it is aligned"
    )

    start_token: Repair = repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
    wait_for_missing_number: Repair = repair(
        "lines 8 and 11: nextdeliver is the next number, so a missed number shows as token.seqnum >= nextdeliver", answers="MSQ-02"
    )
    answer_last: Repair = repair("line 33': the last number asked for is answered too", answers="MSQ-03", builds_on=("wait_for_missing_number",))
    await_body: Repair = repair("line 35: delivery waits for the message itself", answers="MSQ-05")
    pass_idle_token: Repair = repair(
        "line 17: a holder with nothing to sequence passes the token, so that whoever missed the last number finds out", answers="MSQ-09"
    )

    received: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())
    next_deliver: Map[Process, Annotated[int, Between(1, "messages + spare + 1")]] = everywhere(1)
    sent: Set[Data] = Set()
    token_to: Process | None = None
    holder: Process | None = None
    stage: Stage = Stage.numbers
    token_number: Annotated[int, Between(0, "messages + spare")] = 0
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # Helpers -----------------------------------------------------------------------------------------------------------------------------

    @initial
    def start(self) -> None:
        """Lines 5-6: the token's number is 0. Nothing in the figure lets anybody receive it first."""
        if self.start_token:
            self.token_to = Process(0)

    def successor(self, p: Process) -> Process:
        """S + 1 mod n."""
        return Process((p.index + 1) % self.processes)

    def misses_number(self, p: Process) -> bool:
        """Lines 8 and 11."""
        if self.wait_for_missing_number:
            return self.token_number >= self.next_deliver[p]
        return self.token_number > self.next_deliver[p]

    def is_missing(self, p: Process, m: Message) -> bool:
        """M has a number in seqQ_p and is not in recvQ_p (line 12)."""
        return m not in self.received[p] and any(item.message == m for item in self.numbered[p])

    def may_sequence(self, p: Process, m: Message) -> bool:
        """M is not in the set that line 17 excludes."""
        return self.already_sequenced == "nothing" or not any(item.message == m for item in self.numbered[p])

    def can_deliver(self, p: Process) -> bool:
        """Line 35."""
        return any(item.number == self.next_deliver[p] and (not self.await_body or item.message in self.received[p]) for item in self.numbered[p])

    def can_check(self, p: Process) -> bool:
        """Lines 8, 11 and 12: p holds the token, and a test would let it go on."""
        return self.holder == p and (
            self.stage is Stage.numbers
            or (self.stage is Stage.waiting_numbers and not self.misses_number(p))
            or (self.stage is Stage.bodies and not any(self.is_missing(p, m) for m in self.each(Message)))
        )

    def is_idle(self) -> bool:
        """Nobody can deliver or test, or it does not matter."""
        return not self.urgent or not any(self.can_deliver(q) or self.can_check(q) for q in self.each(Process))

    def is_first(self, p: Process) -> bool:
        """No process before p can deliver or test, or it does not matter."""
        return not self.urgent or not any(self.can_deliver(q) or self.can_check(q) for q in self.each(Process) if q < p)

    def take_in(self, p: Process, m: Message) -> None:
        """Lines 26-27."""
        if m not in self.received[p]:
            self.received[p] += (m,)

    # Lines 1-3 ---------------------------------------------------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Lines 1-3: SEND (m) to all."""
        require(m.index == self.broadcasts and self.is_idle())
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.sent |= {Data(q, m) for q in self.each(Process) if q != p}
        self.take_in(p, m)

    # Lines 4-20 --------------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_token(self, p: Process) -> None:
        """Line 7."""
        require(self.token_to == p and self.is_idle())
        self.token_to = None
        self.holder = p
        self.stage = Stage.numbers

    @action(fairness="weak")
    def check_numbers(self, p: Process) -> None:
        """Lines 8 and 11: is a number missing that blocks delivery?"""
        require(self.holder == p and (self.stage is Stage.numbers or self.stage is Stage.waiting_numbers))
        require(self.is_first(p) and not (self.urgent and self.can_deliver(p)))
        if self.misses_number(p):
            require(self.stage is Stage.numbers)
            self.stage = Stage.waiting_numbers
        else:
            self.stage = Stage.bodies

    @action(fairness="weak")
    def request_numbers(self, p: Process) -> None:
        """Line 10: request_sn(nextdeliver, token.seqnum) to all."""
        require(self.holder == p and self.stage is Stage.waiting_numbers and self.misses_number(p) and self.is_idle())
        self.network |= {RequestNumbers(q, p, self.next_deliver[p], self.token_number) for q in self.each(Process) if q != p}

    @action(fairness="weak")
    def request_body(self, p: Process, m: Message) -> None:
        """Lines 12-15: ask all for a numbered message that is not there."""
        require(self.holder == p and self.stage is Stage.bodies and self.is_missing(p, m) and self.is_idle())
        self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}

    @action(fairness="weak")
    def have_bodies(self, p: Process) -> None:
        """Line 12: no numbered message is missing. Line 16 adds to seqQ what is there already."""
        require(self.holder == p and self.stage is Stage.bodies and self.is_first(p) and not (self.urgent and self.can_deliver(p)))
        require(not any(self.is_missing(p, m) for m in self.each(Message)))
        self.stage = Stage.sequencing

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Lines 17-20: the first message that is not sequenced gets the next number, all are told, the token passes on."""
        require(self.holder == p and self.stage is Stage.sequencing and self.is_idle())
        m = next((item for item in self.received[p] if self.may_sequence(p, item)), None)
        require(m is not None and self.token_number < self.messages + self.spare)
        if m is not None:
            item = Sequenced(m, self.token_number + 1)
            self.token_number += 1
            self.numbered[p] |= {item}
            self.network |= {Notice(q, item) for q in self.each(Process) if q != p}
        self.holder = None
        self.token_to = self.successor(p)

    @action(fairness="weak")
    def pass_idle(self, p: Process) -> None:
        """Only as repaired: nothing to sequence, the token passes on."""
        require(self.pass_idle_token and self.holder == p and self.stage is Stage.sequencing and self.is_idle())
        require(not any(self.may_sequence(p, m) for m in self.received[p]))
        self.holder = None
        self.token_to = self.successor(p)

    # Lines 21-34' ------------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_sent(self, packet: Annotated[Data, In("sent")]) -> None:
        """Lines 26-27, for what was sent reliably."""
        require(self.is_idle())
        self.sent -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Lines 26-27, for a reply to a request."""
        require(self.is_idle())
        self.network -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_notice(self, packet: Annotated[Notice, In("network")]) -> None:
        """Lines 28-31: ask once for a message that is not there; record the number."""
        p = packet.to
        m = packet.item.message
        require(self.is_idle())
        self.network -= {packet}
        missing = m not in self.received[p]
        if missing:
            self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}
        if missing or self.recording == "always":
            self.numbered[p] |= {packet.item}

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Lines 32-34: whoever has the message sends it."""
        require(self.is_idle())
        self.network -= {packet}
        if packet.message in self.received[packet.to]:
            self.network |= {Data(packet.sender, packet.message)}

    @action(fairness="weak")
    def receive_request_numbers(self, packet: Annotated[RequestNumbers, In("network")]) -> None:
        """Lines 31', 33' and 34': the known numbers from first to last, as printed without last."""
        require(self.is_idle())
        self.network -= {packet}
        self.network |= {
            Notice(packet.sender, item)
            for item in self.numbered[packet.to]
            if packet.first <= item.number and (item.number < packet.last or (self.answer_last and item.number == packet.last))
        }

    # Lines 35-37 -------------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def deliver(self, p: Process, m: Message) -> None:
        """Lines 35-37: the message whose number is next is delivered; as printed, whether or not it is there."""
        k = self.next_deliver[p]
        require(self.is_first(p) and k <= self.messages + self.spare and any(item.message == m and item.number == k for item in self.numbered[p]))
        require(not self.await_body or m in self.received[p])
        self.next_deliver[p] = k + 1
        emit(Deliver(p, m if m in self.received[p] else None))

    # Properties --------------------------------------------------------------------------------------------------------------------------

    @invariant
    def UniqueNumbers(self) -> bool:
        """A number belongs to one message, and a message has one number (section 3.1.2)."""
        return all(
            (a.number == b.number) == (a.message == b.message)
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @invariant
    def UniqueMessages(self) -> bool:
        """A number belongs to one message."""
        return all(
            a.number != b.number or a.message == b.message
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.numbered[p]
            for b in self.numbered[q]
        )

    @witness
    def TokenHeld(self) -> bool:
        """Somebody holds the token."""
        return self.holder is not None

    @witness
    def NumberMissed(self) -> bool:
        """A holder waits for a number that it missed."""
        return self.stage is Stage.waiting_numbers

    @witness
    def AllDelivered(self) -> bool:
        """Everything was broadcast, numbered and delivered everywhere."""
        return self.broadcasts == self.messages and all(self.next_deliver[p] == self.messages + 1 for p in self.each(Process))


class MovingSequencerJudged(MovingSequencer, TotalOrderBroadcast):
    """The moving sequencer, judged by total order broadcast."""
