"""Totem's single ring as processes that exchange messages: the token travels from member to member, and
updates to all others.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 5, the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal, Ciarfella
1995). `algorithm` has the same paragraph without its messages.

| paper                                             | here                                                  |
|---------------------------------------------------|-------------------------------------------------------|
| the token, `seq`                                  | `token[p]`, a `Token` in flight; their `seq`          |
| `its own message delivery information`            | `told[p]` of the token: what p had delivered          |
| (an update that was entrusted to the LTM)         | `waiting[p]`                                          |
| (updates that wait for an earlier one)            | `early[p]`                                            |
| `the stability of messages`                       | `stable[p]`: up to where p knows that all delivered   |
| (own numbers that were not stable at the last visit) | `own[p]`                                           |

What is modelled: what a process knows is in its own variables or in messages, so that an implementation can
be compared with it step by step. Messages come in any order, once each: the layers below send lost ones
again, as the paragraph speaks of no retransmission. Membership is left out, as in `algorithm`.

What is decided here, because the paragraph is silent:
1. `Subject to the constraints imposed by the flow control mechanism`: at most `visit_max` updates a visit,
   and none while the holder has `unstable_max` updates of its own that it does not know to be stable.
2. `If LTM has no messages to multicast, it immediately passes the token`: but after a rotation in which
   nobody had something to multicast or to deliver, the holder may first rest (`pass_idle` is a timer). It
   multicasts the updates that come meanwhile.
"""

from __future__ import annotations

from typing import Annotated

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
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count, Number
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


@record
class Held:
    """Content of the token: the last number that was given, and the number up to which each process had
    delivered.
    """

    seq: Count
    told: Map[Process, Count]


@record
class Token:
    """Token on its way to the next process."""

    to: Process
    seq: Count
    told: Map[Process, Count]


@record
class Update:
    """An update with its number, on its way to one process."""

    to: Process
    number: Number
    message: Message


Packet = Token | Update


class TotemRing(Group):
    """Totem's single ring, with a state for each member."""

    visit_max: Const[int] = 1
    unstable_max: Const[int] = 1

    network: Set[Packet] = Set()
    token: Map[Process, Held | None] = everywhere(None)
    visit: Map[Process, Annotated[int, Between(0, "visit_max")]] = everywhere(0)
    waiting: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    early: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    status: Map[Process, Count] = everywhere(0)
    stable: Map[Process, Count] = everywhere(0)
    own: Map[Process, Set[Number]] = everywhere(Set())
    broadcasts: Count = 0

    @initial
    def found(self) -> None:
        """Begin with the token at process 0 and no number given."""
        self.token[Process(0)] = Held(0, Map({p: 0 for p in self.each(Process)}))

    def least(self, p: Process, held: Held) -> int:
        """Return the number up to which all have delivered, by the token and by p's own delivery."""
        return min(self.status[q] if q == p else held.told[q] for q in self.each(Process))

    def may_multicast(self, p: Process, held: Held) -> bool:
        """Return True if p may multicast now, `subject to the constraints imposed by the flow control
        mechanism`.
        """
        unstable = sum(1 for k in self.own[p] if k > self.least(p, held))
        return len(self.waiting[p]) > 0 and self.visit[p] < self.visit_max and unstable < self.unstable_max

    def rests(self, p: Process, held: Held) -> bool:
        """Return True if p may rest: no update waits at p, and by the token all processes have delivered
        everything.
        """
        return len(self.waiting[p]) == 0 and all(held.told[q] == held.seq for q in self.each(Process))

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast an update by p, which `defers multicasting updates until it has hold of the token`."""
        require(m.index == self.broadcasts)
        self.broadcasts += 1
        self.waiting[p] += (m,)
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def receive_token(self, packet: Annotated[Token, In("network")]) -> None:
        """Receive the token, which `circulates among LTMs as a point-to-point message`."""
        self.network -= {packet}
        self.token[packet.to] = Held(packet.seq, packet.told)

    @action(fairness="weak")
    def multicast(self, p: Process) -> None:
        """Multicast a waiting update: the holder `increments the seq field … and sets the sequence number of
        the message to this value`.
        """
        held = self.token[p]
        require(held is not None and self.may_multicast(p, held))
        if held is not None:
            m = self.waiting[p][0]
            number = held.seq + 1
            self.waiting[p] = self.waiting[p][1:]
            self.token[p] = Held(number, held.told)
            self.visit[p] += 1
            self.own[p] |= {number}
            self.network |= {Update(q, number, m) for q in self.each(Process) if q != p}
            self.take_in(p, number, m)

    @action(fairness="weak")
    def receive_update(self, packet: Annotated[Update, In("network")]) -> None:
        """Receive an update with its number."""
        self.network -= {packet}
        self.take_in(packet.to, packet.number, packet.message)

    def take_in(self, p: Process, number: Number, m: Message) -> None:
        """Take an update in, and deliver up to the first missing number (`a single sequence of message
        sequence numbers`).
        """
        self.early[p][number] = m
        for k in self.each(Number):
            following = self.early[p][k]
            if k == self.status[p] + 1 and following is not None:
                self.early[p][k] = None
                self.status[p] = k
                emit(Deliver(p, following))

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """Pass the token: p `transmits the token with its own message delivery information to the
        next LTM`.
        """
        held = self.token[p]
        require(held is not None and not self.may_multicast(p, held) and not self.rests(p, held))
        if held is not None:
            self.transmit(p, held)

    @action(fairness="weak")
    def pass_idle(self, p: Process) -> None:
        """Pass the token after a rest: `when no LTM has a message to multicast, the token continues to
        circulate`.
        """
        held = self.token[p]
        require(held is not None and self.rests(p, held))
        if held is not None:
            self.transmit(p, held)

    def transmit(self, p: Process, held: Held) -> None:
        """Transmit the token to the next process of the ring; p learns from it which updates are stable."""
        following = Process((p.index + 1) % self.processes)
        self.stable[p] = self.least(p, held)
        self.own[p] -= {k for k in self.own[p] if k <= self.least(p, held)}
        self.token[p] = None
        self.visit[p] = 0
        self.network |= {Token(following, held.seq, held.told | {p: self.status[p]})}
