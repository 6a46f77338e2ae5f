"""Groups of DTP on a simulated network that loses, repeats and reorders deliver everything in one order."""

from __future__ import annotations

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

LOSSY = Faults(loss=0.25, duplication=0.2, delay_ms=(1.0, 60.0))


class TestDtp(CoreSuite):
    """MSG and ACK, and who is named may still be on the way to be told; MSG and pass back off to 400 ms."""

    core = "antiphon.impl.protocols.dtp:dtp"
    times = Times(delivered_ms=3.0, waiting_ms=400.0, recovered_ms=1_000.0, circulating=2)
    members = 2

    @pytest.mark.deep
    def test_it_keeps_to_its_times(self) -> None:
        super().test_it_keeps_to_its_times()

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()


@pytest.mark.parametrize("seed", range(10))
def test_everything_is_delivered_everywhere_in_one_order(seed: int) -> None:
    """Groups have two to six members, some with a resilience; all are silent at the end."""
    members = 2 + seed % 5
    resilience = seed // 5 * (members - 1)
    network = SimulatedNetwork(dtp(resilience=resilience), members, seed=seed, faults=LOSSY)
    for number in range(8 * members):
        network.broadcast(number % members, b"%d" % number)
    assert network.run_until_delivered(8 * members)
    first, *others = network.deliveries
    assert [delivery.number for delivery in first] == list(range(1, 8 * members + 1))
    assert all(delivered == first for delivered in others)
    assert not any(endpoint.core.violations for endpoint in network.endpoints)


@pytest.mark.parametrize("resilience", [0, 1, 2])
def test_a_delivery_waits_for_as_many_others_as_asked(resilience: int) -> None:
    """Section 4.2, Adjusting degree of fault tolerance: F + 1 processes have obtained what one delivers.

    With process 2 cut off nothing that needs all three is delivered.
    """
    network = SimulatedNetwork(dtp(resilience=resilience), 3, seed=1)
    network.cut((sender, to) for sender in range(3) for to in range(3) if 2 in (sender, to))
    network.broadcast(0, b"one")
    network.run_for(2_000.0)
    delivered = [len(deliveries) for deliveries in network.deliveries]
    assert delivered == ([0, 0, 0] if resilience == 2 else [1, 1, 0])
    network.heal()
    assert network.run_until_delivered(1)


def test_what_is_stable_is_forgotten() -> None:
    """After the last message as many NULLs go round as there are members, and every BUF is empty."""
    network = SimulatedNetwork(dtp(silence_ms=10.0), 4, seed=3)
    for number in range(400):
        network.broadcast(number % 4, b"%d" % number)
    assert network.run_until_delivered(400)
    network.run_for(500.0)
    for endpoint in network.endpoints:
        snapshot = endpoint.core.snapshot()
        assert (snapshot.buffer, snapshot.acks) == ((), ())
