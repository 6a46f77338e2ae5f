"""Consensus among the members of one list: coordinators take turns, and what a majority adopted stays.

All that propose decide one and the same value, which one of them has proposed. While fewer than half of the
members fail, and in the end some member that is up is suspected by nobody, everybody decides.

| figure 6                       | here                                       |
|--------------------------------|--------------------------------------------|
| estimate_p, ts_p, r_p          | `_estimate`, `_timestamp`, `_round`        |
| c_p = (r_p mod n) + 1          | `coordinator(round)`, of members 0 to n-1  |
| state_p = decided              | `decision` is not None                     |
| phases 1 to 4                  | `_begin`, `_gather`, `_answer`, `_count`   |
| R-broadcast of a decision      | `Decide`, sent on to all by whoever gets it |
| D_p                            | `suspect`, `trust`                         |

1. Channels are reliable: what is sent to a member that is up comes. Messages of later rounds are kept, those
   of earlier ones have no reader any more.
2. One member alone decides what it proposes.
3. A coordinator that suspects nobody waits for a majority, not for all.

No clock and no socket. Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable
distributed systems", Journal of the ACM 43(2), 1996, section 6.2, figure 6.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from antiphon.impl.protocols.core import NATURAL_MAX, Natural, Send

__all__ = ["Ack", "Consensus", "Decide", "Estimate", "Message", "Nack", "Proposal"]

V = TypeVar("V")


class Estimate(Struct, Generic[V], frozen=True, array_like=True, tag="estimate"):
    """Phase 1: (p, r_p, estimate_p, ts_p), to the coordinator of the round."""

    round: Natural
    value: V
    timestamp: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class Proposal(Struct, Generic[V], frozen=True, array_like=True, tag="proposal"):
    """Phase 2: (c_p, r_p, estimate_c), to all."""

    round: Natural
    value: V


class Ack(Struct, frozen=True, array_like=True, tag="ack"):
    """Phase 3: the sender has adopted the proposal of this round."""

    round: Natural


class Nack(Struct, frozen=True, array_like=True, tag="nack"):
    """Phase 3: the sender suspects the coordinator of this round."""

    round: Natural


class Decide(Struct, Generic[V], frozen=True, array_like=True, tag="decide"):
    """Phase 4 and the second task: the value that is decided, R-broadcast."""

    value: V


Message = Estimate[V] | Proposal[V] | Ack | Nack | Decide[V]


class Consensus(Generic[V]):
    """Member `me` of the members 0..members-1 in one consensus."""

    def __init__(self, me: int, members: int) -> None:
        """Nothing is proposed yet."""
        self.me = me
        self.members = members
        self.decision: V | None = None
        """The value that is decided, once this member knows it."""
        self.suspected: frozenset[int] = frozenset()
        """D_p."""
        self._estimate: V | None = None
        self._timestamp = 0
        self._round = 0
        self._waits = False
        """Whether this member stands in phase 3: it waits for the proposal of the round."""
        self._estimates: defaultdict[int, dict[int, Estimate[V]]] = defaultdict(dict)
        self._proposals: dict[int, V] = {}
        self._replies: defaultdict[int, dict[int, bool]] = defaultdict(dict)
        self._proposed: set[int] = set()
        """The rounds in which this member, their coordinator, has proposed."""
        self._counted: set[int] = set()
        """The rounds in which it has counted the answers."""
        self._outputs: list[Send[Message[V]]] = []

    def coordinator(self, round_: int) -> int:
        """The coordinator of a round."""
        return round_ % self.members

    @property
    def round(self) -> int:
        """The round in which this member stands, from 1; 0 before it has proposed."""
        return self._round

    def propose(self, value: V) -> None:
        """Take part with this initial value; a second one, or one after the decision, has no effect."""
        if self._estimate is None and self.decision is None:
            self._estimate = value
            self._begin()

    def suspect(self, suspected: frozenset[int]) -> None:
        """Suspect these members from now on, and no others."""
        self.suspected = suspected
        self._go_on()

    def receive(self, sender: int, message: Message[V]) -> None:
        """Handle a message of another member."""
        match message:
            case Estimate():
                self._estimates[message.round].setdefault(sender, message)
            case Proposal():
                if sender == self.coordinator(message.round):
                    self._proposals.setdefault(message.round, message.value)
            case Ack():
                self._replies[message.round].setdefault(sender, True)
            case Nack():
                self._replies[message.round].setdefault(sender, False)
            case Decide():
                self._decide(message.value)
        self._go_on()

    def outputs(self) -> list[Send[Message[V]]]:
        """Hand over, once, what is to be sent, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    # The rounds ---------------------------------------------------------------------------------------------

    @property
    def _majority(self) -> int:
        return self.members // 2 + 1

    def _begin(self) -> None:
        """Phase 1: send the estimate to the coordinator of the next round."""
        if self.members == 1 and self._estimate is not None:
            self._decide(self._estimate)
            return
        self._estimates.pop(self._round, None)  # nobody reads them any more
        self._proposals.pop(self._round, None)
        self._replies.pop(self._round, None)
        self._round += 1
        self._waits = True
        assert self._estimate is not None, "who takes part has an estimate"
        estimate = Estimate(self._round, self._estimate, self._timestamp)
        self._to(self.coordinator(self._round), estimate)
        self._go_on()

    def _go_on(self) -> None:
        """Do what can be done now; `_begin` comes back here for the next round."""
        if self.decision is not None or self._estimate is None:
            return
        self._gather()
        if self._waits:
            self._answer()
        self._count()

    def _gather(self) -> None:
        """Phase 2: the coordinator proposes the newest of the estimates of a majority."""
        round_ = self._round
        heard = self._estimates[round_]
        if self.coordinator(round_) != self.me or round_ in self._proposed or len(heard) < self._majority:
            return
        self._proposed.add(round_)
        newest = max(heard.values(), key=lambda estimate: estimate.timestamp)
        self._estimate = newest.value
        self._to_all(Proposal(round_, newest.value))

    def _answer(self) -> None:
        """Phase 3: adopt the proposal of the round, or give up its coordinator; then go on."""
        round_ = self._round
        coordinator = self.coordinator(round_)
        if round_ in self._proposals:
            self._estimate, self._timestamp = self._proposals[round_], round_
            self._to(coordinator, Ack(round_))
        elif coordinator in self.suspected:
            self._to(coordinator, Nack(round_))
        else:
            return
        self._waits = False
        if coordinator != self.me:
            self._begin()

    def _count(self) -> None:
        """Phase 4: the coordinator has the answers of a majority, and knows whether all of them adopted."""
        round_ = self._round
        replies = self._replies[round_]
        if self.coordinator(round_) != self.me or self._waits or round_ in self._counted:
            return
        if len(replies) < self._majority:
            return
        self._counted.add(round_)
        assert self._estimate is not None, "a coordinator has an estimate"
        if sum(replies.values()) >= self._majority:
            self._decide(self._estimate)
        else:
            self._begin()

    def _decide(self, value: V) -> None:
        """Decide, once, and send the decision on to all: so it comes to all that are up, or to nobody."""
        if self.decision is None:
            self.decision = value
            self._to_others(Decide(value))

    # What is sent -------------------------------------------------------------------------------------------

    def _to(self, process: int, message: Message[V]) -> None:
        if process == self.me:
            self._keep(message)
        else:
            self._outputs.append(Send(process, message))

    def _keep(self, message: Message[V]) -> None:
        """Note what this member has sent to itself."""
        match message:
            case Estimate():
                self._estimates[message.round][self.me] = message
            case Proposal():
                self._proposals[message.round] = message.value
            case Ack() | Nack():
                self._replies[message.round][self.me] = isinstance(message, Ack)
            case _:
                raise AssertionError(f"{message} is for others")

    def _to_all(self, message: Message[V]) -> None:
        self._to_others(message)
        self._keep(message)

    def _to_others(self, message: Message[V]) -> None:
        self._outputs += [Send(process, message) for process in range(self.members) if process != self.me]
