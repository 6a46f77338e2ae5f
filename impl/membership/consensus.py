"""Consensus among the members of one list: coordinators take turns, and what a majority adopted stays.

All members decide one and the same value, which one of them has proposed. Everybody decides while fewer than
half of the members fail, if in the end some live member is suspected by nobody.

| figure 6                       | here                                       |
|--------------------------------|--------------------------------------------|
| estimate_p, ts_p, r_p          | `_estimate`, `_timestamp`, `_round`        |
| c_p = (r_p mod n) + 1          | `coordinator(round)`, of members 0 to n-1  |
| state_p = decided              | `decision` is not None                     |
| phase 1                        | `begin_round`                              |
| phases 2 to 4, with their waits | `gather`, `adopt` or `refuse`, `count`    |
| R-broadcast of a decision      | `Decide`, sent on to all by whoever gets it |
| D_p                            | `suspect`                                  |

1. Channels are reliable: what is sent to a member that is up comes. Messages of later rounds are kept, those
   of earlier ones have no reader any more.
2. A step is taken as soon as it can be: `settle` does. So a coordinator proposes when a majority has sent
   estimates, and who has the proposal adopts it, suspected or not.
3. Who has decided takes no more steps: all that are up get the decision from it.

No clock and no socket. Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable
distributed systems", Journal of the ACM 43(2), 1996, section 6.2, figure 6.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from msgspec import Meta, Struct

from antiphon.impl.protocols.core import NATURAL_MAX, Natural, Send

__all__ = [
    "Ack",
    "Consensus",
    "Decide",
    "Estimate",
    "Message",
    "Nack",
    "Phase",
    "Proposal",
    "Snapshot",
    "coordinator",
]

V = TypeVar("V")


def coordinator(round_: int, members: int) -> int:
    """Return the coordinator of a round."""
    return round_ % members


class Estimate(Struct, Generic[V], frozen=True, array_like=True, tag="estimate"):
    """Message of phase 1: (p, r_p, estimate_p, ts_p), to the coordinator of the round."""

    round: Natural
    value: V
    timestamp: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class Proposal(Struct, Generic[V], frozen=True, array_like=True, tag="proposal"):
    """Message of phase 2: (c_p, r_p, estimate_c), to all."""

    round: Natural
    value: V


class Ack(Struct, frozen=True, array_like=True, tag="ack"):
    """Message of phase 3: the sender has adopted the proposal of this round."""

    round: Natural


class Nack(Struct, frozen=True, array_like=True, tag="nack"):
    """Message of phase 3: the sender suspects the coordinator of this round."""

    round: Natural


class Decide(Struct, Generic[V], frozen=True, array_like=True, tag="decide"):
    """Message of phase 4 and the second task: the value that is decided, R-broadcast."""

    value: V


Message = Estimate[V] | Proposal[V] | Ack | Nack | Decide[V]


class Phase(IntEnum):
    """Phase of a member in its round."""

    IDLE = 0
    """The member has proposed nothing."""
    LOOPING = 1
    """The member begins the next round."""
    GATHERING = 2
    """The member coordinates the round, and waits for estimates of a majority."""
    WAITING = 3
    """The member waits for the proposal, or for a suspicion of the coordinator."""
    COUNTING = 4
    """The member coordinates the round, and waits for answers of a majority."""


class Snapshot(NamedTuple, Generic[V]):
    """Whole state of a member in one consensus."""

    phase: Phase
    round: int
    estimate: V | None
    timestamp: int
    decision: V | None
    suspected: frozenset[int]
    estimates: tuple[tuple[int, int, Estimate[V]], ...]
    """Estimates for the round or a later one: round, sender, message; sorted."""
    proposals: tuple[tuple[int, V], ...]
    """Proposals for the round or a later one: round and value."""
    replies: tuple[tuple[int, int, bool], ...]
    """Replies for the round or a later one: round, sender, and True for an adoption."""


class Consensus(Generic[V]):
    """Member `me` of the members 0..members-1 in one consensus.

    `receive`, `suspect` and `propose` change what the member knows; `settle` takes the steps of the algorithm
    that this makes possible.
    """

    def __init__(self, me: int, members: int) -> None:
        """Begin as a member that has proposed nothing."""
        self.me = me
        self.members = members
        self.decision: V | None = None
        """The value that is decided, once this member knows it."""
        self.suspected: frozenset[int] = frozenset()
        """Members that this one suspects (D_p)."""
        self.phase = Phase.IDLE
        self._estimate: V | None = None
        self._timestamp = 0
        self._round = 0
        self._estimates: dict[tuple[int, int], Estimate[V]] = {}
        """Estimates by round and sender."""
        self._proposals: dict[int, V] = {}
        self._replies: dict[tuple[int, int], bool] = {}
        """Replies by round and sender: True for an adoption."""
        self._outputs: list[Send[Message[V]]] = []

    def coordinator(self, round_: int) -> int:
        """Return the coordinator of a round."""
        return coordinator(round_, self.members)

    @property
    def round(self) -> int:
        """Return the present round of this member, from 1; 0 before it has proposed."""
        return self._round

    # What comes in ------------------------------------------------------------------------------------------

    def propose(self, value: V) -> None:
        """Propose this initial value; a second proposal, or one after the decision, has no effect."""
        if self.phase is Phase.IDLE and self.decision is None:
            self._estimate = value
            self.phase = Phase.LOOPING

    def suspect(self, suspected: frozenset[int]) -> None:
        """Suspect these members from now on, and no others."""
        self.suspected = suspected

    def receive(self, sender: int, message: Message[V]) -> None:
        """Handle a message of another member. Adopt a decision, and send it on to all, at once."""
        if self.decision is not None:
            return
        if isinstance(message, Decide):
            self._decide(message.value)
        elif message.round >= self._round:
            self._keep(sender, message)

    def settle(self) -> None:
        """Take steps until none is left."""
        steps = (self.begin_round, self.gather, self.adopt, self.refuse, self.count)
        while any(step() for step in steps):
            pass

    def outputs(self) -> list[Send[Message[V]]]:
        """Return, once, the messages to send, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    # The steps: each says whether it was taken --------------------------------------------------------------

    def begin_round(self) -> bool:
        """Begin the next round (phase 1): send its coordinator the estimate. Return False if impossible."""
        if self.phase is not Phase.LOOPING or self._estimate is None or self.decision is not None:
            return False
        self._round = round_ = self._round + 1
        self._estimates = {key: sent for key, sent in self._estimates.items() if key[0] >= round_}
        self._proposals = {key: value for key, value in self._proposals.items() if key >= round_}
        self._replies = {key: adopted for key, adopted in self._replies.items() if key[0] >= round_}
        self.phase = Phase.GATHERING if self.coordinator(round_) == self.me else Phase.WAITING
        self._to(self.coordinator(round_), Estimate(round_, self._estimate, self._timestamp))
        return True

    def gather(self) -> bool:
        """Propose an estimate with the largest timestamp among those of a majority (phase 2); of several,
        that of the first member. Return False if the step is not possible.
        """
        heard = {sender: sent for (at, sender), sent in self._estimates.items() if at == self._round}
        if self.phase is not Phase.GATHERING or self.decision is not None or len(heard) < self._majority:
            return False
        newest = min(heard, key=lambda sender: (-heard[sender].timestamp, sender))
        self._estimate = heard[newest].value
        self.phase = Phase.WAITING
        proposal = Proposal(self._round, self._estimate)
        self._to_others(proposal)
        self._keep(self.me, proposal)
        return True

    def adopt(self) -> bool:
        """Adopt the proposal of this round, if it has arrived (phase 3). Return False if the step is not
        possible.
        """
        if self.phase is not Phase.WAITING or self.decision is not None or self._round not in self._proposals:
            return False
        self._estimate, self._timestamp = self._proposals[self._round], self._round
        self._reply(Ack(self._round))
        return True

    def refuse(self) -> bool:
        """Refuse the round, if its proposal has not arrived and its coordinator is suspected (phase 3).
        Return False if the step is not possible.
        """
        if self.phase is not Phase.WAITING or self.decision is not None or self._round in self._proposals:
            return False
        if self.coordinator(self._round) not in self.suspected:
            return False
        self._reply(Nack(self._round))
        return True

    def count(self) -> bool:
        """Count the replies of a majority (phase 4); if all of them are acks, decide. Return False if the
        step is not possible.
        """
        replies = [adopted for (at, _), adopted in self._replies.items() if at == self._round]
        if self.phase is not Phase.COUNTING or self.decision is not None or len(replies) < self._majority:
            return False
        self.phase = Phase.LOOPING
        if sum(replies) >= self._majority:
            assert self._estimate is not None, "a coordinator has an estimate"
            self._decide(self._estimate)
        return True

    @property
    def _majority(self) -> int:
        return self.members // 2 + 1

    def _reply(self, reply: Ack | Nack) -> None:
        coordinator = self.coordinator(self._round)
        self._to(coordinator, reply)
        self.phase = Phase.COUNTING if coordinator == self.me else Phase.LOOPING

    def _decide(self, value: V) -> None:
        """Decide, and send the decision to all members, so that it reaches all that are up or none."""
        self.decision = value
        self._estimates, self._proposals, self._replies = {}, {}, {}
        self._to_others(Decide(value))

    # What is sent, and kept ---------------------------------------------------------------------------------

    def _to(self, process: int, message: Estimate[V] | Ack | Nack) -> None:
        if process == self.me:
            self._keep(self.me, message)
        else:
            self._outputs.append(Send(process, message))

    def _keep(self, sender: int, message: Estimate[V] | Proposal[V] | Ack | Nack) -> None:
        """Store a message, unless the member has sent one of its kind in its round before. Store a proposal
        only from the coordinator of its round.
        """
        match message:
            case Estimate():
                self._estimates.setdefault((message.round, sender), message)
            case Proposal():
                if sender == self.coordinator(message.round):
                    self._proposals.setdefault(message.round, message.value)
            case Ack() | Nack():
                self._replies.setdefault((message.round, sender), isinstance(message, Ack))

    def _to_others(self, message: Message[V]) -> None:
        self._outputs += [Send(process, message) for process in range(self.members) if process != self.me]

    # Snapshots ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot[V]:
        """Return the whole state: members with equal snapshots behave equally."""
        return Snapshot(
            self.phase, self._round, self._estimate, self._timestamp, self.decision, self.suspected,
            tuple((at, sender, self._estimates[at, sender]) for at, sender in sorted(self._estimates)),
            tuple((at, self._proposals[at]) for at in sorted(self._proposals)),
            tuple((at, sender, self._replies[at, sender]) for at, sender in sorted(self._replies)),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot[Any]) -> None:
        """Set the state to a snapshot; unsent messages are dropped."""
        self.phase, self._round, self._estimate, self._timestamp, self.decision = snapshot[:5]
        self.suspected = snapshot.suspected
        self._estimates = {(at, sender): sent for at, sender, sent in snapshot.estimates}
        self._proposals = dict(snapshot.proposals)
        self._replies = {(at, sender): adopted for at, sender, adopted in snapshot.replies}
        self._outputs = []
