"""Members that send and hear nothing, and pairs of which one hears the other: the group goes on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from antiphon.impl.membership.detector import LOCAL, Detector, Reason, Timeouts
from antiphon.impl.membership.member import Blocked, Unblocked, View
from antiphon.impl.membership.membership import Membership
from antiphon.impl.registry import LISTED
from antiphon.impl.transport.simulated_members import SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises

A, B = b"a" * 16, b"b" * 16
TIMES = Timeouts(heartbeat_ms=10, suspect_ms=50, exclude_ms=200)


def founded(protocol: str, loss: float = 0.0) -> SimulatedMembers:
    """Three members in their first view; 0 and 1 broadcast in turn, each 25 ms from 1 s on."""
    simulation = SimulatedMembers(3, 1, protocol=protocol, loss=loss)
    simulation.found(range(3))
    simulation.run(900.0)
    for k in range(240):
        simulation.at(1_000.0 + 25 * k, lambda k=k: simulation.want(k % 2, b"%d" % k))
    return simulation


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", LISTED)
def test_a_group_goes_on_without_a_member_that_hears_nothing_and_it_comes_back(protocol: str) -> None:
    simulation = founded(protocol)
    simulation.at(1_000.0, lambda: simulation.cut.update({(0, 2), (1, 2)}))
    simulation.run(1_000.0 + LOCAL.exclude_ms + 3 * LOCAL.suspect_ms)
    for process in (0, 1):
        views = simulation.life(process).views
        assert [sorted(member.name for member in view.members) for view in views] == [
            ["p0", "p1", "p2"], ["p0", "p1"],
        ]  # fmt: skip
        at = simulation.life(process).delivered_at
        assert max(after - before for before, after in pairwise(at)) < 400.0
    assert [type(event) for event in simulation.life(2).events] == [View, Blocked]
    simulation.heal()
    simulation.run(9_000.0)
    assert len(simulation.life(2).views[-1].members) == 3, "as another run"
    assert len(simulation.lives[2]) == 2
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})
    assert len(simulation.life(0).deliveries) == 240


@pytest.mark.sampled(6)
@pytest.mark.parametrize("protocol", LISTED)
@pytest.mark.parametrize("loss", [0.2, 0.0])
def test_a_short_deafness_costs_no_member(protocol: str, loss: float) -> None:
    """The first datagram that comes again ends it on both sides."""
    simulation = founded(protocol, loss)
    simulation.at(1_000.0, lambda: simulation.cut.update({(0, 2), (1, 2)}))
    simulation.at(2_500.0, simulation.heal)
    simulation.run(9_000.0)
    for process in range(3):
        assert [view.number for view in simulation.life(process).views] == [1]
    events = [event for event in simulation.life(2).events if isinstance(event, Blocked | Unblocked)]
    assert [type(event) for event in events] == [Blocked, Unblocked]
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})
    assert len(simulation.life(2).deliveries) == 240


@pytest.mark.sampled(6)
@pytest.mark.parametrize("protocol", LISTED)
def test_one_that_does_not_hear_one_other_holds_up_nobody_for_long(protocol: str) -> None:
    simulation = founded(protocol)
    simulation.at(1_000.0, lambda: simulation.cut.add((0, 2)))
    simulation.run(9_000.0)
    assert len(simulation.life(1).deliveries) >= 200
    keeps_its_promises(simulation)


@pytest.mark.parametrize("protocol", ["irbp", "sequencer", "vsc"])
def test_as_it_was_a_member_that_hears_nothing_stops_the_group_or_stays_in_it(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted fault: a heartbeat does not say whom its sender hears."""
    monkeypatch.setattr(Detector, "hears", lambda detector, member: True)
    simulation = founded(protocol)
    simulation.at(1_000.0, lambda: simulation.cut.update({(0, 2), (1, 2)}))
    simulation.run(7_000.0)
    assert len(simulation.life(0).views) == 1
    assert (len(simulation.life(0).deliveries) < 10) == (protocol != "vsc")


def watching() -> Detector:
    """A detector that has watched A and B since 0."""
    detector = Detector(TIMES)
    detector.watch([A, B], 0.0)
    return detector


def changes(detector: Detector, begin: int, end: int, *, deaf: bool) -> list[str]:
    """Hear both each 5 ms; with `deaf` A says that it does not hear this one. What changes, and when."""
    found = []
    for now in range(begin, end):
        if now % 5 == 0:
            detector.heartbeat(A, now, hears=not deaf)
            detector.heard(A, now)
            detector.heard(B, now)
        detector.tick(now)
        found += [f"{now} {one.of.decode()[0]} {one.kind}: {one.reason}" for one in detector.news()]
    return found


def test_the_silence_of_a_deaf_member_begins_when_it_first_says_so() -> None:
    detector = watching()
    assert changes(detector, 0, 100, deaf=False) == []
    assert changes(detector, 100, 400, deaf=True) == [
        f"150 a suspected: {Reason.DEAF}", f"300 a given up: {Reason.DEAF}",
    ]  # fmt: skip
    assert changes(detector, 400, 500, deaf=False) == [f"400 a trusted: {Reason.HEARD}"]


def test_a_heartbeat_that_says_so_is_forgotten_soon() -> None:
    """The one that says the contrary may be lost."""
    detector = watching()
    detector.heartbeat(A, 20.0, hears=False)
    for now in range(20, 300):
        if now % 5 == 0:
            detector.heard(A, now)
            detector.heard(B, now)
        detector.tick(now)
    assert detector.news() == []


def test_who_is_not_heard_gets_heartbeats_whatever_else_it_gets_and_one_when_it_is_heard_again() -> None:
    detector = watching()
    beats = []
    for now in range(200):
        if now >= 100:
            detector.heard(A, now)
        detector.heard(B, now)
        detector.sent(A, now)
        detector.sent(B, now)
        due = detector.tick(now)
        assert B not in due
        if A in due:
            beats.append((now, detector.hears(A)))
    told = [now for now, hears in beats if not hears]
    assert told == list(range(told[0], 100, 10))
    assert 50 <= told[0] <= 60
    assert [now for now, hears in beats if hears] == [100]


def test_an_earlier_version_sends_no_body_and_is_believed_to_hear() -> None:
    simulation = founded("irbp")
    life = simulation.life(0)
    other = simulation.life(1).member
    assert isinstance(life.machine, Membership)
    beat = bytes([2]) + (1).to_bytes(8, "big")
    life.machine.datagram_received(other.incarnation, other.address, beat, simulation.clock(0))
    assert life.machine.detector.hears(other.incarnation)
    assert life.machine.detector.suspected == frozenset()
