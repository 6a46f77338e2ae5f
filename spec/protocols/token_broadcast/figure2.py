"""Broadcast is made reliable by a token that carries every message that was delivered.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 3.1.1, figure 2, printed lines 1-21.

What is modelled: `send` is unreliable (budget `losses`); `SEND`, which passes the token, is reliable, so that
the token is a place and a list and is never lost. "There is an m'" in line 8 is a choice: the parameter of an
action.

| figure | here | figure | here |
|---|---|---|---|
| recvQ_p | `received[p]` | token on its way to p | `token_to == p` |
| deliveredQ_p | `delivered_queue[p]` | token.delivered | `listed` |

What is abstracted, and why that is sound: lines 7-13 are one step, since they touch nothing but the token and
its holder's own state. The subscript s of a receiver's queue in lines 19 and 21 is read as p.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import Between, In, Map, Set, action, emit, everywhere, record, require
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


@record
class Data:
    """Message (m), on its way to one process."""

    to: Process
    message: Message


class Figure2(Losses[Data], Group):
    """Token-based reliable broadcast, figure 2."""

    received: Map[Process, Set[Message]] = everywhere(Set())
    delivered_queue: Map[Process, Set[Message]] = everywhere(Set())
    token_to: Process | None = None
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

    # Lines 4-13, the token holder (lines 5-6: the token lists nothing) -------------------------------------

    def successor(self, p: Process) -> Process:
        """Return the next holder of the token, s + 1 mod n (line 13)."""
        return Process((p.index + 1) % self.processes)

    @action(fairness="weak")
    def receive_token(self, p: Process, missing: Message | None) -> None:
        """Receive the token (lines 7-13); `missing` is the m' of line 8, None if there is none."""
        require(self.token_to == p)
        if missing is None:
            require(all(m in self.delivered_queue[p] for m in self.listed))
        else:
            require(missing in self.listed and missing not in self.delivered_queue[p])
        self.catch_up(p, missing)
        self.listed |= self.delivered_queue[p]
        self.token_to = self.successor(p)

    def catch_up(self, p: Process, missing: Message | None) -> None:
        """Deliver, at p, the message `missing` of the token that p has not delivered yet, if there is one (m'
        of lines 8-10).
        """
        if missing is not None:
            self.hand_over(p, missing)

    # Lines 14-21, the destinations (lines 15-17: the queues are empty) -------------------------------------

    def hand_over(self, p: Process, m: Message) -> None:
        """Deliver a message and remember it (lines 9-10 and 20-21)."""
        self.delivered_queue[p] |= {m}
        emit(Deliver(p, m))

    def take_in(self, p: Process, m: Message) -> None:
        """Store, deliver and remember a message (lines 18-21)."""
        self.received[p] |= {m}
        self.hand_over(p, m)

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive a message (line 18)."""
        self.network -= {packet}
        self.take_in(packet.to, packet.message)
