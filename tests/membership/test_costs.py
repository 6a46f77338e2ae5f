"""Datagrams that a group sends: when nothing happens, for each message, and when its members change.

Work that is done again costs messages and breaks no property. Each bound is a little above the cost of today.
"""

from __future__ import annotations

from collections import Counter

import pytest

from antiphon.impl.membership.datagrams import HEAD, DatagramKind
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.registry import LISTED
from antiphon.impl.transport.simulated_members import SimulatedMembers

TOKEN = ("irbp", "rbp-reforming")
"""Protocols whose token goes round while nobody broadcasts."""


def founded(protocol: str, processes: int = 3, at_first: int = 3) -> SimulatedMembers:
    """A group in its first view, which has come to rest."""
    simulation = SimulatedMembers(processes, 1, protocol=protocol)
    simulation.found(range(at_first))
    simulation.run(3_000.0)
    return simulation


def sent(simulation: SimulatedMembers, ms: float) -> Counter[str]:
    """Datagrams sent in so many milliseconds from now, by kind."""
    before = Counter(simulation.transmissions)
    simulation.run(simulation.now + ms)
    return simulation.transmissions - before


@pytest.mark.parametrize("protocol", LISTED)
def test_a_group_at_rest_sends_heartbeats_and_its_token_alone(protocol: str) -> None:
    simulation = founded(protocol)
    steps = simulation.steps
    found = sent(simulation, 2_000.0)
    beats = 2_000.0 / LOCAL.heartbeat_ms * 6
    assert found["beat"] + found["endpoint"] <= 1.3 * beats
    assert found["endpoint"] <= (110 if protocol in TOKEN else 0)
    assert found.keys() <= {"beat", "endpoint"}
    assert simulation.steps - steps <= 2.2 * found.total(), "wake-ups, each datagram's arrival among them"


@pytest.mark.parametrize(
    ("protocol", "each"),
    [("irbp", 11), ("rbp-reforming", 11), ("sequencer", 10), ("total", 8), ("horus", 21), ("vsc", 9)],
)
def test_a_message_costs_so_many_datagrams(protocol: str, each: int) -> None:
    """One each 50 ms, among three members."""
    simulation = founded(protocol)
    for k in range(40):
        simulation.at(simulation.now + 50 * k, lambda k=k: simulation.say(k % 3, b"%d" % k))
    found = sent(simulation, 2_000.0)
    assert found["endpoint"] <= 40 * each
    assert found.keys() <= {"beat", "endpoint"}
    assert len(simulation.life(0).deliveries) >= 38


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", LISTED)
def test_a_join_costs_a_welcome_of_each_member_for_each_request(protocol: str) -> None:
    simulation = founded(protocol, 4)
    simulation.at(simulation.now + 1, lambda: simulation.begin(3))
    found = sent(simulation, 2_000.0)
    assert 3 <= found["join"] <= 6
    assert 3 <= found["welcome"] <= 2 * found["join"]
    assert found["link"] <= 40
    assert found["exists"] + found["ended"] <= 8
    assert sent(simulation, 2_000.0).keys() <= {"beat", "endpoint"}, "and nothing of it later"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", LISTED)
def test_a_crash_costs_two_changes_of_the_list_and_nothing_later(protocol: str) -> None:
    simulation = founded(protocol)
    simulation.crash(2)
    found = sent(simulation, 2 * LOCAL.exclude_ms)
    assert found["link"] <= 85
    assert found.keys() <= {"beat", "endpoint", "link"}
    assert sent(simulation, 2_000.0).keys() <= {"beat", "endpoint"}
    assert simulation.life(0).machine.changes <= 2


def test_a_process_that_is_on_no_list_is_told_so_ten_times_a_second_at_most() -> None:
    simulation = founded("irbp")
    member, stranger = simulation.life(0), b"s" * 16
    beat = HEAD.pack(DatagramKind.BEAT, 1)
    told = 0
    for ms in range(1_000):
        now = simulation.clock(0) + ms
        member.machine.datagram_received(stranger, ("10.0.0.9", 7_009), beat, now)
        told += sum(data[0] == DatagramKind.SUPERSEDED for _, data in member.machine.datagrams_to_send())
    assert 9 <= told <= 10


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", LISTED)
def test_pairs_that_do_not_hear_each_other_change_the_list_a_few_times_a_second(protocol: str) -> None:
    simulation = founded(protocol)
    simulation.cut.add((0, 2))
    found = sent(simulation, 4_000.0)
    assert simulation.life(1).machine.changes <= 24
    assert found["link"] <= 1_200


def test_a_member_wakes_when_the_change_of_its_list_asks_for_it() -> None:
    """Waiting times of a reformation would else end with the next heartbeat."""
    simulation = founded("rbp-reforming")
    seen = []

    def look() -> None:
        for process in (0, 1):
            machine = simulation.life(process).machine
            assert machine.epoch is not None
            asked, wakes = machine.epoch.change.next_deadline(), machine.epoch.next_deadline()
            if asked is not None and machine.epoch.change.called:
                assert wakes is not None
                assert wakes <= asked
                seen.append(asked)

    simulation.crash(2)
    for ms in range(1_000):
        simulation.at(simulation.now + ms, look)
    simulation.run(simulation.now + 1_000.0)
    assert len(set(seen)) > 2
