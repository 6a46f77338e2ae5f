"""Chandra and Toueg's consensus: coordinators take turns, and what a majority adopted in a round stays.

Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 6.2, figure 6: the algorithm that uses any detector of class eventually S. Phases
and variables are those of the figure; the figure has no line numbers.

| figure | here |
|---|---|
| estimate_p, ts_p, r_p | `estimate[p]`, `timestamp[p]`, `round[p]` |
| state_p | `taken[p]`: p has decided once it has R-delivered a decision |
| c_p = (r_p mod n) + 1, of processes 1 to n | `coordinator(r)`, of processes 0 to n - 1 |
| D_p | `is_suspected(p, q)`, which the environment says |

Channels are reliable, and messages of other rounds are kept: the set of sent messages only grows, and a
process has received as many of them as it needs to go on. As in the figure, the coordinator also sends its
messages to itself. Each phase of a round is one step, together with the wait before it, since the lines of a
phase touch only the process's own state and the messages.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    Set,
    action,
    budget,
    emit,
    everywhere,
    record,
    require,
)
from antiphon.spec.services.broadcast import Casting
from antiphon.spec.services.consensus import Decide, Propose, Proposing, Value
from antiphon.spec.services.events import Process

Round = Annotated[int, Between(1, "rounds")]
"""Number of a round, r in the figure."""

Stamp = Annotated[int, Between(0, "rounds")]
"""Timestamp of an estimate: the round in which it was adopted, or 0 before the first."""


class Phase(Enum):
    """Phase of a process: no proposal yet (idle), head of the loop (looping), waiting in phase 2, 3 or 4."""

    idle, looping, gathering, waiting, counting = range(5)


@record
class Estimate:
    """Phase 1: (p, r_p, estimate_p, ts_p), to the coordinator of the round."""

    process: Process
    round: Round
    value: Value
    timestamp: Stamp


@record
class Proposal:
    """Phase 2: (c, r, estimate_c), to all. The round r determines its coordinator c."""

    round: Round
    value: Value


@record
class Reply:
    """Phase 3: (p, r_p, ack) or (p, r_p, nack), to the coordinator of the round."""

    process: Process
    round: Round
    ack: bool


class ChandraToueg(Proposing, Casting[Value]):
    """The consensus algorithm of figure 6.

    The message that is R-broadcast is (p, r_p, estimate_p, decide); it carries the estimate alone, since
    nobody reads the rest.
    """

    rounds: Const[int] = 2

    estimate: Map[Process, Value | None] = everywhere(None)
    timestamp: Map[Process, Stamp] = everywhere(0)
    round: Map[Process, Stamp] = everywhere(0)
    phase: Map[Process, Phase] = everywhere(Phase.idle)
    estimates: Set[Estimate] = Set()
    proposals: Set[Proposal] = Set()
    replies: Set[Reply] = Set()

    # Whom and how many --------------------------------------------------------------------------------------

    def coordinator(self, r: Round) -> Process:
        """Return the process that coordinates round r."""
        return Process(r % self.processes)

    def is_majority(self, some: Set[Process]) -> bool:
        """Return True if `some` has at least (n + 1) / 2 processes, rounded up."""
        return 2 * len(some) > self.processes

    def is_suspected(self, p: Process, q: Process) -> bool:
        """Return True if p's detector suspects q: q is in the figure's D_p."""
        return False

    def has_decided(self, p: Process) -> bool:
        """Return True if p has decided (state_p = decided in the figure)."""
        return len(self.taken[p]) > 0

    # The procedure propose(v_p) -----------------------------------------------------------------------------

    @action
    def propose(self, p: Process, v: Value) -> None:
        """Propose v: it becomes p's estimate, with timestamp 0."""
        require(self.phase[p] is Phase.idle)
        self.estimate[p] = v
        self.phase[p] = Phase.looping
        emit(Propose(p, v))

    @action
    def begin_round(self, p: Process) -> None:
        """Begin the next round (the loop, and phase 1): an undecided p sends its estimate to the next
        coordinator.
        """
        require(self.phase[p] is Phase.looping and not self.has_decided(p))
        require(budget(self.round[p] < self.rounds))
        r = self.round[p] + 1
        self.round[p] = r
        value = self.estimate[p]
        if value is not None:
            self.estimates |= {Estimate(p, r, value, self.timestamp[p])}
        self.phase[p] = Phase.gathering if p == self.coordinator(r) else Phase.waiting

    def has_sent_estimate(self, q: Process, r: Round) -> bool:
        """Return True if q has sent its estimate of round r."""
        return any(item.process == q and item.round == r for item in self.estimates)

    def is_newest(self, item: Estimate, heard: Set[Process]) -> bool:
        """Return True if no estimate of the same round from a process in `heard` has a greater timestamp than
        `item`.
        """
        return all(
            other.timestamp <= item.timestamp
            for other in self.estimates
            if other.round == item.round and other.process in heard
        )

    @action
    def gather(self, p: Process, heard: Set[Process], chosen: Estimate) -> None:
        """Phase 2: propose, as coordinator, one of the newest of the estimates that came from a majority."""
        require(self.phase[p] is Phase.gathering and self.is_majority(heard))
        require(all(self.has_sent_estimate(q, self.round[p]) for q in heard))
        require(chosen in self.estimates and chosen.round == self.round[p] and chosen.process in heard)
        require(self.is_newest(chosen, heard))
        self.estimate[p] = chosen.value
        self.proposals |= {Proposal(chosen.round, chosen.value)}
        self.phase[p] = Phase.waiting

    def after_reply(self, p: Process) -> Phase:
        """Return p's phase after its reply: waiting for replies (phase 4) for the coordinator, the head of
        the loop for any other process.
        """
        r = self.round[p]
        return Phase.counting if r >= 1 and p == self.coordinator(r) else Phase.looping

    @action
    def adopt(self, p: Process, proposal: Proposal) -> None:
        """Phase 3: adopt the coordinator's proposal, which has come, as p's estimate, and send ack."""
        require(self.phase[p] is Phase.waiting)
        require(proposal in self.proposals and proposal.round == self.round[p])
        self.estimate[p] = proposal.value
        self.timestamp[p] = proposal.round
        self.replies |= {Reply(p, proposal.round, True)}
        self.phase[p] = self.after_reply(p)

    @action
    def refuse(self, p: Process) -> None:
        """Phase 3: p suspects the coordinator, and sends nack."""
        r = self.round[p]
        require(self.phase[p] is Phase.waiting and r >= 1)
        require(self.is_suspected(p, self.coordinator(r)))
        self.replies |= {self.reply_to_suspected(p, r)}
        self.phase[p] = self.after_reply(p)

    def reply_to_suspected(self, p: Process, r: Round) -> Reply:
        """Return nack, the reply of p, which suspects the coordinator of round r."""
        return Reply(p, r, False)

    @action
    def count(self, p: Process, heard: Set[Process]) -> None:
        """Phase 4: replies of a majority have come. If a majority has adopted, the coordinator R-broadcasts
        the decision.
        """
        r = self.round[p]
        require(self.phase[p] is Phase.counting and self.is_majority(heard))
        require(all(any(item.process == q and item.round == r for item in self.replies) for q in heard))
        value = self.estimate[p]
        if value is not None and self.is_majority(
            Set(q for q in heard if any(item == Reply(q, r, True) for item in self.replies))
        ):
            self.r_broadcast(p, value)
        self.phase[p] = Phase.looping

    # The other task -----------------------------------------------------------------------------------------

    def r_deliver(self, p: Process, m: Value) -> None:
        """Decide upon R-delivery of a decision, unless p has decided before."""
        if not self.has_decided(p):
            emit(Decide(p, m))
        super().r_deliver(p, m)
