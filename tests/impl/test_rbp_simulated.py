"""Simulated groups under loss, duplication and reordering deliver everything, once, in one order,
reproducibly.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.impl import tracing
from antiphon.impl.protocols.rbp import Message, rbp
from antiphon.impl.tracing import RecordingTracer
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

ROUGH = Faults(loss=0.3, duplication=0.2, delay_ms=(1.0, 30.0))


def run(network: SimulatedNetwork[Message], messages: int) -> None:
    """Broadcast so many messages from all members in turn, and run until they are delivered everywhere."""
    members = len(network.endpoints)
    for k in range(messages):
        network.broadcast(k % members, f"{k % members}:{k // members + 1}".encode())
    assert network.run_until_delivered(messages), network


def assert_total_order_broadcast(network: SimulatedNetwork[Message], messages: int) -> None:
    """Agreement, total order, integrity and validity of a finished run (section 2.1)."""
    first = network.deliveries[0]
    assert all(delivered == first for delivered in network.deliveries), network
    assert len(first) == messages
    assert len({(d.source, d.id) for d in first}) == messages
    assert all(d.payload == f"{d.source}:{d.id}".encode() for d in first)
    assert all(a.number < b.number for a, b in pairwise(first))
    assert {(d.source, d.id) for d in first} == {
        (k % len(network.endpoints), k // len(network.endpoints) + 1) for k in range(messages)
    }
    for endpoint in network.endpoints:
        assert not endpoint.admission.dropped


@pytest.mark.parametrize("members", [2, 3, 4, 5])
@pytest.mark.parametrize("faults", [Faults(), Faults(0.1, 0.05, (1.0, 10.0)), ROUGH])
def test_all_members_deliver_the_same_sequence(members: int, faults: Faults) -> None:
    """Claims MSQ-02 and RBP-14, on the repaired figure 16."""
    network = SimulatedNetwork(rbp(), members, seed=members, faults=faults)
    run(network, 200)
    assert_total_order_broadcast(network, 200)
    for source in range(members):
        ids = [d.id for d in network.deliveries[0] if d.source == source]
        assert ids == sorted(ids)
    if faults == ROUGH:
        assert min(network.lost, network.duplicated, network.reordered) > 0


@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32),
    members=st.integers(2, 5),
    messages=st.integers(1, 25),
    loss=st.floats(0.0, 0.5),
    duplication=st.floats(0.0, 0.5),
    longest_ms=st.floats(1.0, 200.0),
)
def test_no_seed_breaks_the_order(
    seed: int, members: int, messages: int, loss: float, duplication: float, longest_ms: float
) -> None:
    network = SimulatedNetwork(rbp(), members, seed=seed, faults=Faults(loss, duplication, (1.0, longest_ms)))
    run(network, messages)
    assert_total_order_broadcast(network, messages)
    for endpoint in network.endpoints:
        assert not endpoint.core.violations


def traced(seed: int) -> list[tracing.Event]:
    tracer = RecordingTracer()
    run(SimulatedNetwork(rbp(), 3, seed=seed, faults=ROUGH, tracer=tracer), 30)
    return tracer.events


def test_the_same_seed_gives_the_same_events_and_another_one_others() -> None:
    assert traced(11) == traced(11)
    assert traced(11) != traced(12)


def test_events_tell_the_causal_order() -> None:
    """Each received datagram was sent before; each delivery at a process follows its broadcast."""
    sent: set[tuple[int, int]] = set()
    known: set[tuple[int, int]] = set()
    for event in traced(5):
        if isinstance(event, tracing.Send):
            assert event.datagram not in sent
            sent.add(event.datagram)
        elif isinstance(event, tracing.Receive):
            assert event.datagram in sent
        elif isinstance(event, tracing.Broadcast):
            known.add(event.identifier)
        elif isinstance(event, tracing.Deliver):
            assert event.identifier in known


def test_without_faults_a_step_is_two_messages() -> None:
    """Claims MSQ-08 and RBP-25: one message and one ACK, which also acknowledges, accepts and passes the
    token.
    """
    network = SimulatedNetwork(rbp(), 4, seed=0)
    run(network, 100)
    assert network.transmissions == {"data": 100, "ack": 101}  # and the NULL message's ACK
    assert network.datagrams == {"data": 300, "ack": 303}


@pytest.mark.parametrize("members", [3, 4, 5])
@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_bodies_are_requested_about_once_for_each_lost_copy(members: int, loss: float) -> None:
    """Claim RBC-07: with loss p, about p(n-1) negative acknowledgements a message; without loss none."""
    requests = 0
    for seed in (1, 2, 3):
        network = SimulatedNetwork(rbp(), members, seed=seed, faults=Faults(loss=loss, delay_ms=(1.0, 1.0)))
        run(network, 2_000)
        requests += network.transmissions["request"]
    expected = 3 * 2_000 * loss * (members - 1)
    assert 0.85 * expected <= requests <= 1.15 * expected


def test_a_run_that_cannot_finish_says_so() -> None:
    network = SimulatedNetwork(rbp(), 2, seed=0, faults=Faults(loss=1.0))
    network.broadcast(0, b"m")
    assert not network.run_until_delivered(1, limit_ms=5_000.0)
    assert network.now <= 5_000.0
    assert "seed=0" in repr(network)


@pytest.mark.parametrize("faults", [Faults(loss=1.1), Faults(duplication=-0.1), Faults(delay_ms=(2.0, 1.0))])
def test_impossible_faults_are_refused(faults: Faults) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        SimulatedNetwork(rbp(), 2, seed=0, faults=faults)
