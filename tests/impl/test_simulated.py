"""Scripted events in a simulated network: stopped members, and datagrams whose fates the caller chooses."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.impl.protocols.rbp import Message, rbp
from antiphon.impl.transport.simulated import SimulatedNetwork

Network = SimulatedNetwork[Message]


def test_a_stopped_member_does_nothing_and_then_takes_what_has_arrived() -> None:
    network: Network = SimulatedNetwork(rbp(), 3, seed=1)
    network.run_for(10.0)
    network.pause(2)
    sent = network.endpoints[2].datagrams.total()
    network.broadcast(2, b"stopped")
    network.broadcast(0, b"going")
    network.run_for(500.0)
    assert network.deliveries[2] == []
    assert network.endpoints[2].datagrams.total() == sent
    assert network.lost == 0
    network.resume(2)
    assert network.run_until_delivered(2)
    assert {delivery.payload for delivery in network.deliveries[2]} == {b"stopped", b"going"}


def test_the_clock_of_a_stopped_member_goes_on_and_its_timers_are_due_when_it_does() -> None:
    network: Network = SimulatedNetwork(rbp(), 2, seed=1)
    network.run_for(10.0)
    network.pause(1)
    network.broadcast(1, b"late")
    network.run_for(1_000.0)
    network.resume(1)
    assert network.clock(1) == 1_010.0
    deadline = network.endpoints[1].next_deadline()
    assert deadline is not None
    assert deadline > 1_010.0


def test_to_stop_twice_or_to_go_on_unstopped_changes_nothing() -> None:
    network: Network = SimulatedNetwork(rbp(), 2, seed=1, starts_ms=(0.0, 50.0))
    network.pause(1)  # it has not started
    network.resume(0)
    network.pause(0)
    network.pause(0)
    network.resume(0)
    network.broadcast(1, b"one")
    assert network.run_until_delivered(1)


def test_the_caller_may_say_what_becomes_of_each_datagram() -> None:
    asked: list[tuple[int, int, float]] = []

    def carriage(sender: int, to: int, now: float) -> Sequence[float]:
        asked.append((sender, to, now))
        return ((), (5.0,), (5.0, 7.0))[len(asked) % 3]

    network: Network = SimulatedNetwork(rbp(), 2, seed=1, carriage=carriage)
    for number in range(5):
        network.broadcast(number % 2, b"%d" % number)
    assert network.run_until_delivered(5)
    assert len(asked) == network.sent
    assert network.lost == len([place for place in range(1, network.sent + 1) if place % 3 == 0])
    assert network.duplicated == len([place for place in range(1, network.sent + 1) if place % 3 == 2])
    assert asked[0] == (0, 1, 0.0)


def test_a_script_acts_at_its_time_before_what_was_not_known_when_it_was_written() -> None:
    network: Network = SimulatedNetwork(rbp(), 2, seed=1)
    acted: list[float] = []
    network.script(20.0, lambda: acted.append(network.now))
    network.script(10.0, lambda: network.broadcast(0, b"at ten"))
    network.script(11.0, lambda: acted.append(len(network.deliveries[1])))
    network.run_for(30.0)
    assert acted == [0, 20.0]
    assert [delivery.payload for delivery in network.deliveries[1]] == [b"at ten"]
