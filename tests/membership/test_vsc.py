"""View-synchronous multicast: between two views all that go on deliver the same, in whatever order."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import Busy
from antiphon.impl.layers import Layers
from antiphon.impl.membership.consensus import Estimate, Proposal
from antiphon.impl.membership.member import Blocked, Excluded, Left
from antiphon.impl.membership.view_change import Kind, ViewChange
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.flush import Body, Report, covered_from
from antiphon.impl.protocols.vsc import Ack, Core, Data, Settings, Stable, VscViolation
from antiphon.impl.transport.simulated_members import SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises
from .queues import NOW, Queues


class Members(Queues):
    """Cores of view-synchronous multicast."""

    def __init__(self, count: int, settings: Settings | None = None) -> None:
        super().__init__([Core(me, count, settings or Settings()) for me in range(count)])


def names(deliveries: list[Delivery]) -> list[tuple[int, int]]:
    """Sources and counts of the deliveries."""
    return [(one.source, one.id) for one in deliveries]


def test_a_message_is_delivered_when_it_arrives() -> None:
    members = Members(3)
    members.say(0)
    assert names(members.delivered[0]) == [(0, 1)]
    members.say(1)
    members.carry(0, 2)
    members.carry(1, 2)
    members.carry(0, 1)
    assert names(members.delivered[2]) == [(0, 1), (1, 1)]
    assert names(members.delivered[1]) == [(1, 1), (0, 1)]
    assert [one.number for one in members.delivered[1]] == [1, 2]


def test_at_rest_nobody_keeps_or_says_anything() -> None:
    members = Members(3)
    for count in range(30):
        members.say(count % 3)
    members.run()
    for core in members.cores:
        assert core.snapshot().unstable == ()
        assert core.snapshot().stable == (10, 10, 10)
    for me in range(3):
        members.collect(me)
    assert not any(members.queues.values())


def test_what_comes_in_one_step_is_acknowledged_once_and_told_once() -> None:
    members = Members(2)
    for _ in range(3):
        members.say(0)
    members.carry(0, 1, 3)
    assert list(members.queues[1, 0]) == [Ack(3)]
    members.carry(1, 0)
    assert list(members.queues[0, 1]) == [Stable(3)]


def test_a_source_has_only_so_much_on_its_way() -> None:
    members = Members(3, Settings(unstable_bytes=1_000))
    for _ in range(3):
        members.say(0, bytes(300))
    assert members.cores[0].busy
    with pytest.raises(Busy):
        members.cores[0].broadcast(b"m", NOW)
    assert {wait.of for wait in members.cores[0].waits()} == {1, 2}
    members.carry(0, 1, 3)
    members.carry(1, 0)
    assert members.cores[0].busy, "member 2 has nothing"
    members.run()
    assert not members.cores[0].busy
    assert members.cores[0].waits() == ()


def test_what_is_stable_is_not_reported() -> None:
    members = Members(2)
    members.say(0, b"old")
    members.run()
    members.say(0, b"new")
    assert members.cores[0].report() == Report(2, (1, 0), (), (Body(Identifier(0, 2), b"new"),))
    assert members.cores[1].report() == Report(1, (1, 0), (), ())


@pytest.mark.parametrize(
    "agreed",
    [
        Report(0, (0, 0), (), ()),
        Report(2, (1, 1), (), ()),
        Report(1, (0, 0), (), (Body(Identifier(1, 1), b""),)),
    ],
    ids=["it has more", "it has less", "it has another one"],
)
def test_who_has_something_else_cannot_go_on(agreed: Report) -> None:
    members = Members(2)
    members.say(0)
    assert members.cores[0].adopt(agreed) is None


@given(st.integers(0, 10**9))
def test_all_that_report_go_on_with_the_same_messages(seed: int) -> None:
    """A run by chance, an end at any time, any majority reports."""
    chance = random.Random(seed)
    count = chance.randrange(2, 6)
    members = Members(count)
    for step in range(chance.randrange(60)):
        if chance.random() < 0.3:
            members.say(chance.randrange(count), f"{step}".encode())
        elif pairs := [pair for pair, queue in members.queues.items() if queue]:
            members.carry(*chance.choice(pairs), chance.choice([1, 1, 5]))
    reporters = chance.sample(range(count), chance.randrange(count // 2 + 1, count + 1))
    reports = [members.cores[me].report() for me in reporters]
    agreed = members.cores[reporters[0]].merge(reports, missing=False)
    sets = []
    for me, report in zip(reporters, reports, strict=True):
        assert report.settled + 1 >= covered_from(agreed), "nobody that reports is left out"
        adopted = members.cores[me].adopt(agreed)
        assert adopted is not None
        mine = [*members.delivered[me], *adopted]
        for source in range(count):
            ids = [one.id for one in mine if one.source == source]
            assert ids == list(range(1, len(ids) + 1))
        assert [one.number for one in mine] == list(range(1, agreed.settled + 1))
        sets.append({(one.source, one.id, one.payload) for one in mine})
    assert all(some == sets[0] for some in sets)
    for me in reporters:
        assert (me, members.cores[me].snapshot().received[me]) in {
            (source, number) for source, number, _ in sets[0]
        } | {(me, 0)}
    assert not any(core.violations for core in members.cores)


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (Data(1, b""), VscViolation.NUMBER_LEFT_OUT),
        (Data(3, b""), VscViolation.NUMBER_LEFT_OUT),
        (Ack(2), VscViolation.NOT_SENT),
        (Stable(2), VscViolation.NOT_RECEIVED),
    ],
)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    message: Any, wrong: VscViolation
) -> None:
    members = Members(2)
    members.say(0)
    members.say(1)
    members.carry(1, 0)
    before = members.cores[0].snapshot()
    members.cores[0].receive(1, message, NOW)
    assert members.cores[0].snapshot()._replace(violations=()) == before
    assert members.cores[0].violations == {wrong: 1}
    assert (members.cores[0].broken is wrong) == (wrong is VscViolation.NUMBER_LEFT_OUT)


def test_a_core_becomes_what_it_was() -> None:
    members = Members(3)
    for me in (0, 1, 2, 1):
        members.say(me)
    members.carry(1, 0)
    for me, core in enumerate(members.cores):
        other = Core(me, 3)
        other.restore(core.snapshot(), NOW)
        assert other.snapshot() == core.snapshot()
        assert repr(other) == repr(core)
    with pytest.raises(ValueError, match="needs no group"):
        Core(0, 2, Settings(unstable_bytes=0))


def test_a_change_without_external_members_waits_until_who_is_silent_is_given_up() -> None:
    report = Report(0, (0, 0, 0), (), ())
    change, other = (ViewChange(me, 3, external=False) for me in (0, 1))
    for each in (change, other):
        each.call(Kind.REGULAR)
        each.report(report)
    change.suspect(frozenset({2}), frozenset())
    for to, message in other.outputs():
        if to == 0:
            change.receive(1, message)
    assert not change.complete
    change.suspect(frozenset({2}), frozenset({2}))
    assert change.complete
    change.suspect(frozenset(), frozenset())
    change.propose(Core(0, 3).merge)
    values = [message.value for _, message in change.outputs() if isinstance(message, Estimate | Proposal)]
    assert values
    assert {value.kind for value in values} == {Kind.REGULAR}, "though it is heard again"


# Whole groups -----------------------------------------------------------------------------------------------


def talking(simulation: SimulatedMembers, until: float, every: float = 25.0, size: int = 0) -> None:
    """Let every process broadcast again and again."""
    count = 0
    when = simulation.now
    while when < until:
        for process in range(len(simulation.addresses)):
            count += 1
            payload = f"{process}:{count}".encode() + bytes(size)
            simulation.at(when, lambda process=process, payload=payload: simulation.say(process, payload))
        when += every


def founded(processes: int, seed: int = 1) -> SimulatedMembers:
    """A group of so many processes in its first view."""
    simulation = SimulatedMembers(processes, seed, protocol="vsc")
    simulation.found(range(processes))
    simulation.run(300.0)
    assert all(len(simulation.life(process).views) == 1 for process in range(processes))
    return simulation


@pytest.mark.parametrize("crashed", [0, 2])
def test_nobody_waits_for_a_member_that_has_crashed(crashed: int) -> None:
    simulation = founded(3)
    talking(simulation, 6_000.0)
    simulation.at(1_000.0, lambda: simulation.crash(crashed))
    simulation.run(7_000.0)
    rest = {0, 1, 2} - {crashed}
    for process in rest:
        life = simulation.life(process)
        assert [member.name for member in life.views[-1].failed] == [f"p{crashed}"]
        (other,) = rest - {process}
        at = [
            when
            for when, delivery in zip(life.delivered_at, life.deliveries, strict=True)
            if delivery.source.name == f"p{other}"
        ]
        assert max(after - before for before, after in pairwise(at)) < 100, "they go on until the view"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, rest)


def test_a_suspicion_has_no_effect() -> None:
    simulation = founded(3)
    talking(simulation, 4_000.0)
    simulation.at(1_000.0, lambda: simulation.pause(1, 700.0))
    simulation.run(5_000.0)
    assert simulation.life(0).machine.suspicions["suspected", "silent"] > 0
    assert [life.machine.changes for life in simulation.all_lives] == [0, 0, 0]
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_little_waits_for_a_member_that_is_stopped() -> None:
    simulation = founded(3)
    talking(simulation, 3_000.0, 5.0, size=2**14)
    simulation.at(500.0, lambda: simulation.pause(2, 2_000.0))
    simulation.run(2_400.0)
    for process in (0, 1):
        epoch = simulation.life(process).machine.epoch
        assert epoch is not None
        kept = epoch.endpoint.core.snapshot().unstable  # type: ignore[union-attr]
        assert sum(len(payload) for _, payload in kept) < 3 * 2**20
        assert simulation.life(process).machine.untaken == 0
    simulation.run(6_000.0)
    assert len(simulation.life(0).deliveries) > 2 * 2**20 // 2**14
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


@pytest.mark.deep
def test_a_minority_gets_no_view_and_comes_back() -> None:
    simulation = founded(5)
    talking(simulation, 6_000.0, 50.0)
    simulation.at(1_000.0, lambda: simulation.part({0, 1}, {2, 3, 4}))
    simulation.run(5_000.0)
    assert any(isinstance(event, Blocked) for event in simulation.life(0).events)
    assert len(simulation.life(0).views) == 1
    assert len(simulation.life(3).views) == 2
    simulation.heal()
    simulation.run(10_000.0)
    assert isinstance(simulation.lives[0][0].events[-1], Excluded)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, set(range(5)))


def test_members_leave_and_join() -> None:
    simulation = founded(3)
    talking(simulation, 3_000.0)
    simulation.at(1_000.0, lambda: simulation.leave(2))
    simulation.at(1_800.0, lambda: simulation.begin_again(2))
    simulation.run(5_000.0)
    assert isinstance(simulation.lives[2][0].events[-1], Left)
    assert [view.number for view in simulation.life(0).views] == [1, 2, 3]
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def test_a_message_in_pieces_comes_whole_although_a_member_crashes() -> None:
    simulation = founded(3)
    for step in range(20):
        for process in range(3):
            payload = b"%d:%d" % (process, step) + bytes(3 * Layers().datagram_bytes)
            simulation.at(500.0 + 90 * step, lambda p=process, payload=payload: simulation.say(p, payload))
    simulation.at(1_000.0, lambda: simulation.crash(1))
    simulation.run(7_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 2})
