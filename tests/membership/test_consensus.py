"""Consensus on every schedule that a seed draws: all decide one value that somebody has proposed."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

import pytest

from antiphon.impl.membership.consensus import Ack, Consensus, Decide, Estimate, Message, Nack, Proposal
from antiphon.impl.protocols.core import Send


class Run:
    """Members that propose their own numbers, over channels that lose nothing and keep no order."""

    def __init__(self, members: int, crashes: int, seed: int, kind: type[Consensus[int]] = Consensus) -> None:
        self.random = random.Random(seed)
        self.members = [kind(me, members) for me in range(members)]
        self.crashes = self.random.sample(range(members), crashes)
        self.down: set[int] = set()
        self.flying: list[tuple[int, int, Message[int]]] = []
        self.proposed: set[int] = set()

    def go(self, steps: int = 4000) -> None:
        """Take steps; suspicions are wrong at first, and right in the end."""
        waiting = deque(self.random.sample(range(len(self.members)), len(self.members)))
        for step in range(steps):
            settled = step > steps // 2
            what = self.random.random()
            if waiting and (what < 0.05 or settled):
                self._propose(waiting.popleft())
            elif self.crashes and what < 0.07:
                self.down.add(self.crashes.pop())
            elif what < 0.35:
                self._suspect(self.random.randrange(len(self.members)), settled)
            elif self.flying:
                self._receive(self.flying.pop(self.random.randrange(len(self.flying))))
            if settled and not self.crashes and not self.flying:
                for member in range(len(self.members)):
                    self._suspect(member, settled)
                if not self.flying:
                    return

    def _propose(self, member: int) -> None:
        if member not in self.down:
            self.proposed.add(member)
            self.members[member].propose(member)
            self._send(member)

    def _suspect(self, member: int, settled: bool) -> None:
        some = self.down if settled else {q for q in range(len(self.members)) if self.random.random() < 0.4}
        if member not in self.down:
            self.members[member].suspect(frozenset(some) - {member})
            self._send(member)

    def _receive(self, arrived: tuple[int, int, Message[int]]) -> None:
        sender, to, message = arrived
        if to not in self.down:
            self.members[to].receive(sender, message)
            self._send(to)

    def _send(self, member: int) -> None:
        self.members[member].settle()
        outputs: list[Send[Message[int]]] = self.members[member].outputs()
        cut = len(outputs) if self.random.random() > 0.05 or not self.crashes else self.random.randrange(9)
        if cut < len(outputs) and member in self.crashes:  # it ends in the midst of sending
            self.crashes.remove(member)
            self.down.add(member)
            outputs = outputs[:cut]
        self.flying += [(member, to, message) for to, message in outputs]

    @property
    def decisions(self) -> set[int | None]:
        """Decisions of the members that are up."""
        return {one.decision for place, one in enumerate(self.members) if place not in self.down}

    @property
    def ever_decided(self) -> set[int]:
        """Decisions of all members, also of those that are down."""
        return {one.decision for one in self.members if one.decision is not None}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("members", [3, 1, 2, 4, 5])
def test_all_that_are_up_decide_one_value_that_somebody_proposed(
    members: int, often: Callable[[int, int], int]
) -> None:
    for seed in range(often(60, 150)):
        run = Run(members, seed % ((members + 1) // 2), seed)
        run.go()
        assert len(run.decisions) == 1, f"seed {seed}: {run.decisions}"
        assert run.decisions <= run.proposed, f"seed {seed}: {run.decisions} of {run.proposed}"
        assert run.ever_decided == run.decisions, f"seed {seed}: {run.ever_decided}"


class IgnoresTimestamps(Consensus[int]):
    """A coordinator that proposes any estimate, not the newest."""

    def gather(self) -> bool:
        for (at, sender), estimate in self._estimates.items():
            self._estimates[at, sender] = Estimate(at, estimate.value, sender)
        return super().gather()


class AcknowledgesSuspected(Consensus[int]):
    """A member that suspects the coordinator, and acknowledges all the same."""

    def _reply(self, reply: Ack | Nack) -> None:
        super()._reply(Ack(reply.round))


class CountsLess(Consensus[int]):
    """A member to which half of the members are a majority."""

    @property
    def _majority(self) -> int:
        return self.members // 2


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("kind", "first"), [(IgnoresTimestamps, 1_590), (AcknowledgesSuspected, 10), (CountsLess, 0)]
)
def test_each_rule_is_needed(kind: type[Consensus[int]], first: int) -> None:
    for seed in range(first, first + 3_000):
        run = Run(3, 1, seed, kind)
        run.go()
        if len(run.ever_decided) > 1:
            return
    pytest.fail("two decisions were never seen")


def test_a_decision_of_one_member_is_the_proposal_of_the_next_round() -> None:
    """Member 1 decides with member 2, and its decision reaches nobody. The coordinator of round 2 then hears
    of two values: the earlier member's own one, and the one that was adopted in round 1.
    """
    members = [Consensus[str](me, 3) for me in range(3)]
    for member, value in zip(members, "abc", strict=True):
        member.propose(value)

    def moved(member: int, to: int) -> None:
        """Take the steps of a member, and pass on what it sends to another one."""
        members[member].settle()
        for receiver, message in members[member].outputs():
            if receiver == to:
                members[to].receive(member, message)

    moved(2, 1)
    moved(1, 2)
    moved(2, 1)
    moved(1, 1)
    assert members[1].decision == "b"
    members[0].suspect(frozenset({1}))
    moved(0, 2)
    members[2].settle()
    moved(2, 0)
    moved(0, 2)
    moved(2, 0)
    assert [member.decision for member in members] == ["b", "b", "b"]


def test_three_members_decide_in_one_round_if_nobody_is_suspected() -> None:
    run = Run(3, 0, 1)
    for member in range(3):
        run._propose(member)
    assert {type(message) for _, _, message in run.flying} == {Estimate}
    while run.flying:
        run._receive(run.flying.pop(0))
    assert len(run.decisions) == 1
    assert {one.round for one in run.members} <= {1, 2}


def test_a_second_proposal_and_a_late_one_have_no_effect() -> None:
    one = Consensus[int](0, 1)
    one.propose(7)
    one.propose(8)
    one.settle()
    assert one.decision == 7
    late = Consensus[int](1, 3)
    late.receive(0, Decide(5))
    late.propose(9)
    late.settle()
    assert late.decision == 5
    assert [type(message) for _, message in late.outputs()] == [Decide, Decide]


def test_a_proposal_counts_only_from_the_coordinator_of_its_round() -> None:
    member = Consensus[int](2, 3)
    member.propose(2)
    member.receive(0, Proposal(1, 9))  # round 1 is member 1's
    member.settle()
    assert Ack(1) not in [message for _, message in member.outputs()]


def test_an_acknowledgement_among_refusals_decides_nothing() -> None:
    """Phase 4: of a majority of answers all have to be acknowledgements, its own among them."""
    member = Consensus[int](1, 3)
    member.propose(4)
    member.settle()
    member.receive(0, Estimate(1, 3, 0))
    member.settle()
    assert Proposal in [type(message) for _, message in member.outputs()]
    member.receive(0, Nack(1))
    member.settle()
    assert member.decision is None
    assert member.round > 1
