"""Simulated groups under loss, duplication and reordering deliver everything, once, in one order,
reproducibly.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.impl import tracing
from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import PAYLOAD_BYTES_MAX, Delivery, Identifier, Implementation, Send, Wait
from antiphon.impl.protocols.rbp import MESSAGES, Message, rbp
from antiphon.impl.protocols.rbp.messages import Data
from antiphon.impl.tracing import RecordingTracer
from antiphon.impl.transport.simulated import Clock, Faults, SimulatedNetwork

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


@pytest.mark.sampled(4)
@pytest.mark.parametrize("members", [3, 2, 4, 5])
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


SIZES = (0, 1, 31, 32, 255, 256, PAYLOAD_BYTES_MAX - 1, PAYLOAD_BYTES_MAX)
"""Payloads from empty to the limit, with the lengths around which MessagePack changes its header."""


@pytest.mark.parametrize("members", [5, 9])
def test_many_senders_with_deep_queues_and_payloads_of_every_size(members: int) -> None:
    """Every member has forty messages waiting before anything is sent."""
    network = SimulatedNetwork(rbp(), members, seed=members, faults=ROUGH)
    sent: list[list[bytes]] = [[] for _ in range(members)]
    for k in range(40):
        for member in range(members):
            payload = bytes([member, k] * (SIZES[(k + member) % len(SIZES)] // 2 + 1))[
                : SIZES[(k + member) % len(SIZES)]
            ]
            sent[member].append(payload)
            network.broadcast(member, payload)
    assert network.run_until_delivered(40 * members), network
    first = network.deliveries[0]
    assert all(delivered == first for delivered in network.deliveries), network
    assert [delivery.number for delivery in first] == list(range(2, 40 * members + 2))
    for member in range(members):
        own = [delivery for delivery in first if delivery.source == member]
        assert [delivery.payload for delivery in own] == sent[member]
        assert [delivery.id for delivery in own] == list(range(1, 41))
    assert not any(endpoint.admission.dropped or endpoint.core.violations for endpoint in network.endpoints)


@pytest.mark.deep
@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32),
    members=st.integers(2, 7),
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("members", [3, 4, 5])
@pytest.mark.parametrize("loss", [0.02, 0.0])
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


@pytest.mark.parametrize(
    "faults",
    [
        Faults(loss=1.1),
        Faults(loss=-0.1),
        Faults(duplication=1.1),
        Faults(duplication=-0.1),
        Faults(delay_ms=(2.0, 1.0)),
        Faults(delay_ms=(-1.0, 1.0)),
    ],
)
def test_impossible_faults_are_refused(faults: Faults) -> None:
    with pytest.raises(ValueError, match="probabilities"):
        SimulatedNetwork(rbp(), 2, seed=0, faults=faults)


# The network itself: what receivers got, not what it says that it did ---------------------------------------


class Heard:
    """A core that sends on what its member broadcasts and writes down what it receives, and when."""

    def __init__(self, me: int, members: int) -> None:
        self.me, self.members = me, members
        self.heard: list[tuple[int, int, float]] = []
        self.ticks: list[float] = []
        self.started: float | None = None
        self.deadline: float | None = None
        self.busy = False
        self.progress = 0
        self.broken: Violation | None = None
        self._count = 0
        self._outputs: list[Send[Data]] = []
        self.violations: Counter[Violation] = Counter()

    def start(self, now: float) -> None:
        self.started = now

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        del now
        self._count += 1
        name = Identifier(self.me, self._count)
        message = Data(name, payload)
        self._outputs += [Send(to, message) for to in range(self.members) if to != self.me]
        return name

    def receive(self, sender: int, message: Data, now: float) -> None:
        self.heard.append((sender, message.identifier.id, now))

    def settle(self, now: float) -> list[Delivery]:
        del now
        return []

    def waits(self) -> tuple[Wait, ...]:
        return ()

    def tick(self, now: float) -> None:
        if self.deadline is not None and now >= self.deadline:
            self.ticks.append(now)
            self.deadline = None

    def next_deadline(self) -> float | None:
        return self.deadline

    def outputs(self) -> list[Send[Data]]:
        outputs, self._outputs = self._outputs, []
        return outputs

    def snapshot(self) -> int:
        return self._count

    def restore(self, snapshot: int, now: float) -> None:
        del now
        self._count = snapshot


def listening(members: int, **settings: Any) -> tuple[SimulatedNetwork[Data], list[Heard]]:
    """A network of members that only listen and talk, and these."""
    cores: list[Heard] = []

    def core(me: int, members: int, tracer: tracing.Tracer) -> Heard:
        del tracer
        cores.append(Heard(me, members))
        return cores[-1]

    network = SimulatedNetwork(Implementation(MESSAGES, core), members, seed=3, **settings)  # type: ignore[arg-type, var-annotated]
    return network, cores


def talk(network: SimulatedNetwork[Data], messages: int, apart_ms: float = 0.0) -> None:
    """Process 0 sends so many messages, and all of them arrive or are lost."""
    for _ in range(messages):
        network.broadcast(0, b"")
        network.run_for(apart_ms)
    network.run_for(1_000.0)


def test_a_network_without_faults_delivers_everything_once_in_order_after_its_delay() -> None:
    network, cores = listening(3, faults=Faults(delay_ms=(7.0, 7.0)))
    talk(network, 50, apart_ms=1.0)
    for core in cores[1:]:
        assert core.heard == [(0, k + 1, k + 7.0) for k in range(50)]
    assert (network.sent, network.lost, network.duplicated, network.reordered) == (100, 0, 0, 0)


def test_a_network_may_take_no_time_at_all() -> None:
    network, cores = listening(2, faults=Faults(delay_ms=(0.0, 0.0)))
    assert (network.now, network.steps) == (0.0, 0)
    talk(network, 3, apart_ms=1.0)
    assert cores[1].heard == [(0, k + 1, float(k)) for k in range(3)]
    assert network.steps == 3


def test_a_network_is_idle_when_nobody_waits_and_nobody_is_busy() -> None:
    network, cores = listening(3)
    assert network.idle
    cores[1].busy = True
    assert not network.idle
    network.broadcast(1, b"")
    cores[1].busy = False
    assert not network.idle


def test_receivers_miss_the_share_that_the_network_loses() -> None:
    network, cores = listening(3, faults=Faults(loss=0.3))
    talk(network, 500)
    got = [{k for _, k, _ in core.heard} for core in cores[1:]]
    assert all(300 <= len(ids) <= 400 for ids in got)
    assert got[0] != got[1]
    assert network.lost == 1_000 - sum(map(len, got))


def test_receivers_get_some_datagrams_twice() -> None:
    network, cores = listening(2, faults=Faults(duplication=0.3))
    talk(network, 500)
    copies = Counter(k for _, k, _ in cores[1].heard)
    assert set(copies) == set(range(1, 501))
    assert set(copies.values()) == {1, 2}
    twice = sum(count == 2 for count in copies.values())
    assert 100 <= twice <= 200
    assert network.duplicated == twice
    assert network.reordered == 0  # a copy that comes with its original overtakes nothing


def test_a_network_may_duplicate_everything_and_lose_everything() -> None:
    network, cores = listening(2, faults=Faults(duplication=1.0))
    talk(network, 20)
    assert Counter(k for _, k, _ in cores[1].heard) == dict.fromkeys(range(1, 21), 2)
    network, cores = listening(2, faults=Faults(loss=1.0))
    talk(network, 20)
    assert (cores[1].heard, network.lost) == ([], 20)


def test_when_nothing_can_happen_a_run_is_over() -> None:
    network, _ = listening(2)
    assert not network.run(until=lambda: False)


def test_a_run_ends_at_its_limits_and_not_before() -> None:
    network, cores = listening(2, faults=Faults(delay_ms=(5.0, 5.0)))
    for _ in range(5):
        network.broadcast(0, b"")
    assert not network.run(until=lambda: False, limit_ms=4.999)
    assert network.steps == 0
    assert not network.run(until=lambda: False, limit_ms=5.0, limit_steps=3)
    assert (network.steps, len(cores[1].heard)) == (3, 3)
    assert not network.run(until=lambda: False, limit_ms=5.0)
    assert len(cores[1].heard) == 5


def test_a_run_goes_on_until_every_source_knows() -> None:
    network = SimulatedNetwork(rbp(), 3, seed=0)
    for _ in range(3):
        network.broadcast(1, b"")
    assert network.run_until_delivered(1)
    assert network.idle
    assert [len(delivered) for delivered in network.deliveries][1] == 3


def test_whether_a_datagram_comes_twice_says_nothing_about_its_delay() -> None:
    network, cores = listening(2, faults=Faults(duplication=0.5, delay_ms=(2.0, 40.0)))
    talk(network, 200, apart_ms=1.0)
    copies = Counter(k for _, k, _ in cores[1].heard)
    alone = [at - (k - 1) for _, k, at in cores[1].heard if copies[k] == 1]
    assert min(alone) < 6.0
    assert max(alone) > 36.0


def test_a_deadline_rings_whatever_rounding_does_to_it() -> None:
    """A deadline is converted to the network's time and back by a clock's rate; this one loses a little by
    rounding.
    """
    offset, rate, deadline = 35395.95342227919, 0.9619150472195371, 128327.0019221304
    assert offset + rate * ((deadline - offset) / rate) < deadline
    network, (core, _) = listening(2, clocks=[Clock(offset, rate)])
    core.deadline = deadline
    network.broadcast(0, b"")
    assert network.run(until=lambda: bool(core.ticks), limit_steps=10)
    assert core.ticks == [deadline]


def test_a_copy_has_a_delay_of_its_own() -> None:
    network, cores = listening(2, faults=Faults(duplication=1.0, delay_ms=(2.0, 40.0)))
    talk(network, 100, apart_ms=1.0)
    delays = [[at - (k - 1) for _, k, at in cores[1].heard if k == number] for number in range(1, 101)]
    assert all(len(both) == 2 and 2.0 <= min(both) < max(both) <= 40.0 for both in delays)


def test_receivers_get_datagrams_late_and_in_another_order() -> None:
    network, cores = listening(2, faults=Faults(delay_ms=(2.0, 40.0)))
    talk(network, 500, apart_ms=1.0)
    ids = [k for _, k, _ in cores[1].heard]
    assert sorted(ids) == list(range(1, 501))
    overtaken = sum(k < max(ids[:position]) for position, k in enumerate(ids) if position)
    assert overtaken > 200
    assert network.reordered == overtaken
    delays = [at - (k - 1) for _, k, at in cores[1].heard]
    assert 2.0 <= min(delays) < 4.0
    assert 38.0 < max(delays) <= 40.0


def test_a_cut_link_loses_everything_one_way_until_it_is_healed() -> None:
    network, cores = listening(3)
    network.cut([(0, 1)])
    network.broadcast(0, b"")
    network.broadcast(1, b"")
    network.run_for(10.0)
    assert [[sender for sender, _, _ in core.heard] for core in cores] == [[1], [], [0, 1]]
    network.heal()
    network.broadcast(0, b"")
    network.run_for(10.0)
    assert [(sender, k) for sender, k, _ in cores[1].heard] == [(0, 2)]


def test_who_starts_late_hears_nothing_before_and_sends_nothing_before() -> None:
    network, cores = listening(2, starts_ms=[0.0, 50.0])
    network.broadcast(0, b"")
    network.broadcast(1, b"")
    network.run_for(49.0)
    assert cores[1].started is None
    assert cores[0].heard == cores[1].heard == []
    assert (network.sent, network.lost) == (1, 1)
    network.run_for(10.0)
    assert cores[1].started == 50.0
    network.broadcast(0, b"")
    network.run_for(10.0)
    assert (cores[0].heard, [k for _, k, _ in cores[1].heard]) == ([(1, 1, 51.0)], [2])


def test_half_a_millisecond_late_is_late() -> None:
    network, cores = listening(2, starts_ms=[0.0, 0.5])
    network.run_for(1.0)
    assert [core.started for core in cores] == [0.0, 0.5]


def test_every_member_reads_its_own_clock_and_a_jump_rings_what_is_due() -> None:
    network, cores = listening(3, clocks=[Clock(), Clock(1e6, 2.0), Clock(-500.0, 0.5)])
    assert [core.started for core in cores] == [0.0, 1e6, -500.0]
    network.run_for(100.0)
    assert [network.clock(member) for member in range(3)] == [100.0, 1e6 + 200.0, -450.0]
    for member, core in enumerate(cores):
        core.deadline = network.clock(member) + 30.0
        network.broadcast(member, b"")
    network.run_for(16.0)
    assert [core.ticks for core in cores] == [[], [1e6 + 230.0], []]
    network.jump(2, 1_000.0)
    assert cores[2].ticks == [-450.0 + 8.0 + 1_000.0]
    network.run_for(14.0)
    assert cores[0].ticks == [130.0]


def test_a_clock_may_jump_before_its_member_starts() -> None:
    network, cores = listening(2, starts_ms=[0.0, 50.0])
    cores[1].deadline = 10.0
    network.jump(1, 1_000.0)
    assert (cores[1].started, cores[1].ticks) == (None, [])
    network.run_for(60.0)
    assert (cores[1].started, cores[1].ticks) == (1_050.0, [1_050.0])


def test_a_clock_that_stands_still_is_refused() -> None:
    with pytest.raises(ValueError, match="a clock goes forward"):
        SimulatedNetwork(rbp(), 2, seed=0, clocks=[Clock(rate=0.0)])
