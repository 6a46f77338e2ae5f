"""Groups whose cores stand within layers: all deliver the messages of all in one order, over any network."""

from __future__ import annotations

import pytest

from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.layers import Layers
from antiphon.impl.layers.links import WINDOW
from antiphon.impl.layers.packing import Packing, unpack
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, Network, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message, rbp
from antiphon.impl.protocols.rbp.messages import Data
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.tracing import RecordingTracer
from antiphon.impl.transport.endpoint import Endpoint, LayersViolation
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

MEMBERS = 3
SMALL = Layers(datagram_bytes=400, buffer_bytes=2_000, queue_bytes=2_000)
ROUGH = Faults(loss=0.15, duplication=0.15, delay_ms=(1.0, 20.0))
CORES = {
    "rbp": rbp(),
    "rbp over links": rbp()._replace(network=Network.FIFO),
}


def agreed(network: SimulatedNetwork[Message], sent: list[list[bytes]]) -> list[Delivery]:
    """Deliveries of all members: equal, every message once, each source's in its order."""
    assert network.run_until_delivered(sum(map(len, sent))), network
    first = network.deliveries[0]
    assert all(delivered == first for delivered in network.deliveries), network
    for source, payloads in enumerate(sent):
        own = [one for one in first if one.source == source]
        assert [one.payload for one in own] == payloads, network
        assert [one.id for one in own] == list(range(1, len(own) + 1)), network
    assert [one.number for one in first] == list(range(1, len(first) + 1)), network
    assert not any(endpoint.violations or endpoint.admission.dropped for endpoint in network.endpoints)
    return first


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("core", CORES)
def test_messages_of_all_sizes_come_to_all_in_one_order(core: str, seed: int) -> None:
    network = SimulatedNetwork(CORES[core], MEMBERS, seed=seed, faults=ROUGH, layers=SMALL)
    sent: list[list[bytes]] = [[] for _ in range(MEMBERS)]
    for k in range(60):
        payload = b"%d:" % k + bytes((k * 37) % 500)
        sent[k % MEMBERS].append(payload)
        network.broadcast(k % MEMBERS, payload)
        if k % 9 == 0:
            network.run_for(7.0)
    agreed(network, sent)


def test_many_messages_cost_few_datagrams() -> None:
    """Without faults 3,000 messages of 64 bytes need fewer datagrams than a hundredth of their number."""
    network = SimulatedNetwork(rbp(), MEMBERS, seed=1, layers=Layers())
    sent: list[list[bytes]] = [[b"%064d" % k for k in range(1_000)] for _ in range(MEMBERS)]
    for payloads in zip(*sent, strict=True):
        for process, payload in enumerate(payloads):
            network.broadcast(process, payload)
    agreed(network, sent)
    assert network.sent < 60


def test_links_fall_silent_when_everything_is_delivered() -> None:
    """A core over links has no timer of its own here; nothing is sent for ever, and nobody wakes up."""
    network = SimulatedNetwork(CORES["rbp over links"], MEMBERS, seed=1, faults=ROUGH, layers=SMALL)
    network.broadcast(0, b"m")
    agreed(network, [[b"m"], [], []])
    network.run_for(60_000.0)
    before = network.sent
    network.run_for(60_000.0)
    told = network.sent - before
    carriers = [endpoint._carrier for endpoint in network.endpoints]
    at_rest = network.run(
        until=lambda: all(carrier.next_deadline() is None for carrier in carriers),
        limit_ms=network.now + 5_000.0,
    )
    assert at_rest, "between two of the token's messages nothing is on its way"
    assert told < 5_000, f"{told} datagrams of figure 16's token, which is never at rest, and nothing else"


def test_a_broadcast_is_refused_while_as_much_waits_as_may_and_taken_later() -> None:
    network = SimulatedNetwork(rbp(), MEMBERS, seed=1, layers=SMALL)
    endpoint = network.endpoints[0]
    while not endpoint.busy:
        endpoint.broadcast(bytes(300), network.now)
    with pytest.raises(Busy):
        endpoint.broadcast(bytes(300), network.now)
    network.run_for(1.0)
    network.run(until=lambda: not endpoint.busy)
    assert not endpoint.busy
    endpoint.broadcast(bytes(300), network.now)


class Shouting(Core):
    """A core that waits for nobody: it delivers its own at once, and sends it to all."""

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Deliver a message at once, and send it."""
        self._message_id += 1
        name = Identifier(self.me, self._message_id)
        self._to_others(Data(name, payload))
        self._own = [Delivery(*name, name.id, payload)]
        return name

    def settle(self, now: float) -> list[Delivery]:
        """Return the deliveries of `broadcast`."""
        own, self._own = getattr(self, "_own", []), []
        return own

    def outputs(self) -> list[Send[Message]]:
        """Return the bodies among the outputs."""
        return [send for send in super().outputs() if isinstance(send.message, Data)]


def test_a_member_that_takes_nothing_stops_who_sends_to_it() -> None:
    """A core that waits for nobody: only the queue's bound keeps its sender from filling the memory."""
    made = Implementation(
        MESSAGES, lambda me, members, tracer: Shouting(me, members, tracer=tracer), Network.FIFO
    )
    endpoint = Endpoint(made, "g", 0, 2, layers=SMALL)
    endpoint.start(0.0)
    taken = 0
    while not endpoint.busy and taken < 10_000:
        endpoint.broadcast(bytes(200), 0.0)
        endpoint.datagrams_to_send()
        taken += 1
    under_way = WINDOW * SMALL.datagram_bytes + SMALL.queue_bytes + SMALL.buffer_bytes
    assert taken * 200 < under_way + 1_000


def test_a_tracer_is_told_the_applications_messages_and_not_the_batches() -> None:
    tracer = RecordingTracer()
    network = SimulatedNetwork(rbp(), 2, seed=1, tracer=tracer, layers=SMALL)
    for payload in (b"a", b"b", b"c"):
        network.broadcast(0, payload)
    assert network.run_until_delivered(3)
    broadcasts = [event.payload for event in tracer.events if isinstance(event, tracing.Broadcast)]
    delivers = [event for event in tracer.events if isinstance(event, tracing.Deliver)]
    assert broadcasts == [b"a", b"b", b"c"]
    for process in range(2):
        own = [(one.identifier, one.number, one.payload) for one in delivers if one.process == process]
        assert own == [((0, k), k, payload) for k, payload in enumerate((b"a", b"b", b"c"), 1)]


def test_a_payload_that_is_no_batch_is_a_violation_of_its_source() -> None:
    """A bare member among layered ones: the others ignore it alike."""
    endpoints = [Endpoint(rbp(), "g", me, 2, layers=SMALL if me else None) for me in range(2)]
    mail: list[tuple[int, Send[bytes]]] = []
    for endpoint in endpoints:
        endpoint.start(0.0)
    endpoints[0].broadcast(b"bare", 0.0)
    for _ in range(10):
        for me, endpoint in enumerate(endpoints):
            mail += [(me, Send(to, data)) for to, data in endpoint.datagrams_to_send()]
        while mail:
            sender, (to, data) = mail.pop(0)
            endpoints[to].datagram_received(sender, data, 0.0)
    assert endpoints[1].deliveries() == []
    assert endpoints[1].violations == {LayersViolation.NO_BATCH: 1}


def test_the_default_protocols_are_known_to_the_layers() -> None:
    for name in ("rbp", "dtp"):
        network = SimulatedNetwork(implementation(name), MEMBERS, seed=2, faults=ROUGH, layers=SMALL)
        sent = [[b"%d:%d" % (me, k) for k in range(20)] for me in range(MEMBERS)]
        for me, payloads in enumerate(sent):
            for payload in payloads:
                network.broadcast(me, payload)
        agreed(network, sent)


@pytest.mark.parametrize("name", known_protocols())
def test_around_every_core_a_member_that_stands_still_stops_the_others_before_they_keep_much(
    name: str,
) -> None:
    """A member that broadcasts too much is refused, keeps a bounded part, and goes on afterwards."""
    layers = Layers(datagram_bytes=1_400, buffer_bytes=4_000, queue_bytes=8_000, untaken_bytes=20_000)
    network = SimulatedNetwork(implementation(name), MEMBERS, seed=1, layers=layers)
    network.run_for(100.0)
    network.pause(2)
    taken = 0
    for _ in range(3_000):
        for process, endpoint in enumerate(network.endpoints[:2]):
            if not endpoint.busy:
                network.broadcast(process, bytes(100))
                taken += 1
        network.run_for(5.0)
    assert all(endpoint.busy for endpoint in network.endpoints[:2]), network.endpoints
    assert 40 <= taken <= 400, "some 100 bytes each: what buffers and queues have room for"
    network.resume(2)
    assert network.run_until_delivered(taken, limit_ms=network.now + 60_000.0), network


def test_no_pack_is_larger_than_a_datagram() -> None:
    """Two items fill it to the last byte, with four bytes of length before each and the mark."""
    for size in range(1, 60):
        packing = Packing(100, b"head")
        for _ in range(7):
            packing.send(1, bytes(size))
        packs = [data for _, data in packing.outputs(0.0)]
        assert max(map(len, packs)) <= 100 + len(b"head"), size
        assert sum(len(items) for data in packs if not isinstance(items := unpack(data[4:]), str)) == 7
