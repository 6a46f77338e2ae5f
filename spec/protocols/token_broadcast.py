"""Is reliable broadcast had from a token alone? Figures 2 and 5 of the RBP report, before messages are ordered.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels", 2002, section 3.1.1, figure 2
(the token carries the messages), figure 5 (it carries identifiers, and what is missing is asked for).

What is modelled: `send` is unreliable (budget `losses`), `SEND`, which passes the token, is reliable, so the token is a place and a list and
is never lost. deliveredQ_p is `delivered_queue[p]`, recvQ_p `received[p]`, token.delivered `listed`. An identifier and its message are one
`Message`, since nothing here renames a message. "One" and "some" in the text is a choice: the parameter of an action.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import (
    Between,
    In,
    Map,
    Reading,
    Repair,
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
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process, ReliableBroadcast

OWN_COPY = "whether the sender's own copy of `send (m) to all` is there at once, or travels and may be lost like the others"


@record
class Data:
    """(m), on its way to one process."""

    to: Process
    message: Message


class Figure2(Losses[Data], Group):
    """Token-based reliable broadcast, figure 2."""

    own_copy: Reading = reading("at once", "by network", about=OWN_COPY)

    start_token: Repair = repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
    deliver_once: Repair = repair("line 20: a message that the token already brought is not delivered again", answers="RBC-01")
    recover_all: Repair = repair("lines 8-10: every missing message of the token is delivered, not one", answers="RBC-03")

    received: Map[Process, Set[Message]] = everywhere(Set())
    delivered_queue: Map[Process, Set[Message]] = everywhere(Set())
    token_to: Process | None = None
    listed: Set[Message] = Set()
    broadcasts: Annotated[int, Between(0, "messages")] = 0
    lister: Map[Message, Process | None] = everywhere(None)
    returned: Set[Message] = Set()

    @initial
    def start(self) -> None:
        """Lines 5-6: the token is empty. Nothing in the figure lets anybody receive it first."""
        if self.start_token:
            self.token_to = Process(0)

    def successor(self, p: Process) -> Process:
        """S + 1 mod n."""
        return Process((p.index + 1) % self.processes)

    def hand_over(self, p: Process, m: Message) -> None:
        """Deliver and remember."""
        self.delivered_queue[p] |= {m}
        emit(Deliver(p, m))

    def take_in(self, p: Process, m: Message) -> None:
        """Lines 18-21."""
        self.received[p] |= {m}
        if not self.deliver_once or m not in self.delivered_queue[p]:
            self.hand_over(p, m)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Lines 1-3: send (m) to all."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.network |= {Data(q, m) for q in self.each(Process) if q != p or self.own_copy == "by network"}
        if self.own_copy == "at once":
            self.take_in(p, m)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Lines 18-21: store, deliver, remember."""
        self.network -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_token(self, p: Process, missing: Message | None) -> None:
        """Lines 7-13: deliver what is missing, list what is not listed, pass the token on. `missing` is the m' of line 8, None if there is none."""
        require(self.token_to == p)
        if missing is None:
            require(all(m in self.delivered_queue[p] for m in self.listed))
        else:
            require(missing in self.listed and missing not in self.delivered_queue[p])
        self.returned |= {m for m in self.listed if self.lister[m] == p}
        if self.recover_all:
            for m in self.each(Message):
                if m in self.listed and m not in self.delivered_queue[p]:
                    self.hand_over(p, m)
        elif missing is not None:
            self.hand_over(p, missing)
        for m in self.each(Message):
            if m in self.delivered_queue[p] and m not in self.listed:
                self.lister[m] = p
        self.listed |= self.delivered_queue[p]
        self.token_to = self.successor(p)

    @invariant
    def ReturnMeansDelivered(self) -> bool:
        """When the token returns to the process that listed m, all have delivered m."""
        return all(m in self.delivered_queue[p] for m in self.returned for p in self.each(Process))

    @witness
    def TokenListsAll(self) -> bool:
        """The token lists every message that there is: its list is as long as the history."""
        return len(self.listed) == self.messages

    @witness
    def TokenReturns(self) -> bool:
        """The token has been around after listing something."""
        return len(self.returned) > 0

    @witness
    def AllDelivered(self) -> bool:
        """Everything was broadcast and is delivered everywhere."""
        return self.broadcasts == self.messages and all(len(self.delivered_queue[p]) == self.messages for p in self.each(Process))


class Figure2Judged(Figure2, ReliableBroadcast):
    """Figure 2, judged by reliable broadcast."""


@record
class Notice:
    """delivered(id(m)), on its way to one process."""

    to: Process
    message: Message


@record
class Request:
    """request(id(m)), on its way to one process."""

    to: Process
    sender: Process
    message: Message


class Stage(Enum):
    """Where the token holder stands: before line 8, in the loop of lines 10-13, before line 15."""

    checking, waiting, passing = range(3)


class Figure5(Losses[Data | Notice | Request], Group):
    """Token-based reliable broadcast with identifiers, figure 5."""

    own_copy: Reading = reading("at once", "by network", about=OWN_COPY)

    start_token: Repair = repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
    deliver_once: Repair = repair("lines 13 and 25: a message that is in deliveredQ is not delivered again", answers="RBC-05")
    recover_all: Repair = repair("lines 8-14: every missing message of the token is recovered before it is passed, not one", answers="RBC-06")

    received: Map[Process, Set[Message]] = everywhere(Set())
    delivered_queue: Map[Process, Set[Message]] = everywhere(Set())
    token_to: Process | None = None
    holder: Process | None = None
    stage: Stage = Stage.checking
    wanted: Message | None = None
    listed: Set[Message] = Set()
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @initial
    def start(self) -> None:
        """Lines 5-6: the token is empty. Nothing in the figure lets anybody receive it first."""
        if self.start_token:
            self.token_to = Process(0)

    def successor(self, p: Process) -> Process:
        """S + 1 mod n."""
        return Process((p.index + 1) % self.processes)

    def take_in(self, p: Process, m: Message) -> None:
        """Lines 23-26: store, deliver, remember."""
        self.received[p] |= {m}
        if not self.deliver_once or m not in self.delivered_queue[p]:
            self.delivered_queue[p] |= {m}
            emit(Deliver(p, m))

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Lines 1-3: send (m) to all."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.network |= {Data(q, m) for q in self.each(Process) if q != p or self.own_copy == "by network"}
        if self.own_copy == "at once":
            self.take_in(p, m)

    @action(fairness="weak")
    def receive_token(self, p: Process) -> None:
        """Line 7."""
        require(self.token_to == p)
        self.token_to = None
        self.holder = p
        self.stage = Stage.checking

    @action(fairness="weak")
    def check(self, p: Process, missing: Message | None) -> None:
        """Lines 8-9: is some listed message m' not delivered? `missing` is that m', None if there is none."""
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
        """Lines 10-12: ask all for m', until it is there."""
        m = self.wanted
        require(self.holder == p and self.stage is Stage.waiting and m is not None and m not in self.received[p])
        if m is not None:
            self.network |= {Request(q, p, m) for q in self.each(Process) if q != p}

    @action(fairness="weak")
    def deliver_missing(self, p: Process) -> None:
        """Lines 12-14: m' has arrived (and line 25 has delivered it); deliver it."""
        m = self.wanted
        require(self.holder == p and self.stage is Stage.waiting and m is not None and m in self.received[p])
        self.wanted = None
        self.stage = Stage.checking if self.recover_all else Stage.passing
        if m is not None and (not self.deliver_once or m not in self.delivered_queue[p]):
            self.delivered_queue[p] |= {m}
            emit(Deliver(p, m))

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """Lines 15-18: list and announce what is new, pass the token on."""
        require(self.holder == p and self.stage is Stage.passing)
        self.network |= {Notice(q, m) for m in self.delivered_queue[p] if m not in self.listed for q in self.each(Process) if q != p}
        self.listed |= self.delivered_queue[p]
        self.holder = None
        self.token_to = self.successor(p)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Lines 23-26."""
        self.network -= {packet}
        self.take_in(packet.to, packet.message)

    @action(fairness="weak")
    def receive_notice(self, packet: Annotated[Notice, In("network")]) -> None:
        """Lines 27-29: ask once for the announced message. The list of line 28 is the token's, which a receiver has not got."""
        self.network -= {packet}
        if packet.message not in self.received[packet.to]:
            self.network |= {Request(q, packet.to, packet.message) for q in self.each(Process) if q != packet.to}

    @action(fairness="weak")
    def receive_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Lines 30-32: whoever has the message sends it."""
        self.network -= {packet}
        if packet.message in self.received[packet.to]:
            self.network |= {Data(packet.sender, packet.message)}

    @invariant
    def ListedWherePassed(self) -> bool:
        """Nobody holds the token at line 15 with a listed message that it has not delivered."""
        return all(
            self.holder != p or self.stage is not Stage.passing or all(m in self.delivered_queue[p] for m in self.listed) for p in self.each(Process)
        )

    @witness
    def Recovered(self) -> bool:
        """The holder waits for a message that it missed."""
        return self.stage is Stage.waiting

    @witness
    def AllDelivered(self) -> bool:
        """Everything was broadcast and is delivered everywhere."""
        return self.broadcasts == self.messages and all(len(self.delivered_queue[p]) == self.messages for p in self.each(Process))


class Figure5Judged(Figure5, ReliableBroadcast):
    """Figure 5, judged by reliable broadcast."""
