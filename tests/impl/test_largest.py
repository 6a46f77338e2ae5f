"""The largest that a member may send goes through every protocol, and comes whole."""

from __future__ import annotations

import pytest

from antiphon.impl.errors import PayloadTooLarge
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import PAYLOAD_BYTES_MAX, Network
from antiphon.impl.protocols.horus import horus
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.replication import REQUEST_BYTES_MAX, require_size
from antiphon.impl.transport.simulated import SimulatedNetwork


@pytest.mark.parametrize("protocol", known_protocols())
def test_the_largest_payload_and_a_message_of_many_pieces_come_whole(protocol: str) -> None:
    """With a bare core, where that needs no queues, and with layers, which cut a message."""
    made = implementation(protocol)
    whole = bytes(range(256)) * 2_000
    for layers in (Layers(), *([None] if made.network is Network.LOSSY else [])):
        network = SimulatedNetwork(made, 3, seed=1, layers=layers)
        for process in range(3):
            network.broadcast(process, whole if layers else whole[:PAYLOAD_BYTES_MAX])
        assert network.run_until_delivered(3, limit_ms=10_000.0)
        for delivered in network.deliveries:
            assert {one.payload for one in delivered} == {whole if layers else whole[:PAYLOAD_BYTES_MAX]}


@pytest.mark.parametrize("fragments", [1, 2, 3, 7])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_message_may_have_as_many_fragments_as_its_size_asks_for(fragments: int, more: int) -> None:
    """FRAG refuses one fragment too many, and none that a correct member sends."""
    network = SimulatedNetwork(horus(fragment_bytes=62_000 // fragments + more), 2, seed=1)
    for size in (62_000, 63_799, PAYLOAD_BYTES_MAX):
        network.broadcast(0, bytes(size))
    assert network.run_until_delivered(3, limit_ms=10_000.0)
    assert not any(endpoint.violations for endpoint in network.endpoints)


def test_the_largest_request_is_one_and_no_byte_more() -> None:
    require_size("a request", bytes(REQUEST_BYTES_MAX))
    with pytest.raises(PayloadTooLarge):
        require_size("a request", bytes(REQUEST_BYTES_MAX + 1))
