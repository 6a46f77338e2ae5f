"""Checks of a core's memory: it keeps per message what its protocol says, and nothing else grows.

Two measures, each from a run of its own, compare two moments at which the group is at rest: the containers
reachable from the endpoints that hold more than before, by their paths; and the bytes that Python has
allocated in addition, for each message and member. A core that needs queues gets them from its layers. This
module must not know any protocol.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections import deque
from collections.abc import Iterator
from typing import Any

from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Implementation, Network
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

PAYLOAD_BYTES = 100


def growing(implementation: Implementation[Any], *, members: int = 3, messages: int = 2_000) -> set[str]:
    """Return the paths of the containers that grow with the number of messages: by more than one element for
    each hundred.
    """
    network = _rested(implementation, members, messages)
    before = _sizes(network)
    _deliver(network, messages)
    return {path for path, size in _sizes(network).items() if size > before.get(path, 0) + messages // 100}


def bytes_kept(implementation: Implementation[Any], *, members: int = 3, messages: int = 2_000) -> float:
    """Measure the memory that a member allocates for each message, including the payload of `PAYLOAD_BYTES`.

    The measurement makes the run several times as slow.
    """
    network = _rested(implementation, members, messages)
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        start, _ = tracemalloc.get_traced_memory()
        _deliver(network, messages)
        gc.collect()
        end, _ = tracemalloc.get_traced_memory()
    finally:
        if not tracing:
            tracemalloc.stop()
    return (end - start) / messages / members


def _rested(implementation: Implementation[Any], members: int, messages: int) -> SimulatedNetwork[Any]:
    """Return a group at rest that has delivered a quarter of `messages`, over a network that loses and
    repeats messages.
    """
    faults = Faults(loss=0.05, duplication=0.1, delay_ms=(1.0, 5.0))
    layers = Layers() if implementation.network is Network.FIFO else None
    network = SimulatedNetwork(implementation, members, seed=1, faults=faults, layers=layers)
    _deliver(network, messages // 4)
    return network


def check_memory(
    implementation: Implementation[Any],
    *,
    kept: frozenset[str],
    bytes_max: float,
    members: int = 3,
    messages: int = 2_000,
) -> None:
    """Check that exactly the containers of these paths grow, by at most `bytes_max` bytes for each message
    and member.

    Raises:
        AssertionError: other containers grow, or these do not, or by more.
    """
    found = growing(implementation, members=members, messages=messages)
    if found != kept:
        more, less = sorted(found - kept), sorted(kept - found)
        raise AssertionError(f"what grows with every message: {more} beyond what is stated, {less} does not")
    size = bytes_kept(implementation, members=members, messages=messages)
    if size > bytes_max:
        raise AssertionError(f"{size:.0f} bytes a message and member; stated are {bytes_max:.0f}")


def _deliver(network: SimulatedNetwork[Any], messages: int) -> None:
    members = len(network.endpoints)
    for number in range(messages):
        network.broadcast(number % members, number.to_bytes(PAYLOAD_BYTES, "big"))
    if not network.run_until_delivered(messages, limit_ms=network.now + 600_000.0):
        raise AssertionError(f"{network}: not delivered in ten minutes")
    for delivered in network.deliveries:
        delivered.clear()
    network.run_for(10_000.0)


def _sizes(network: SimulatedNetwork[Any]) -> dict[str, int]:
    """Return the sizes of the containers of all members, by path."""
    sizes: dict[str, int] = {}
    for endpoint in network.endpoints:
        for path, size in _containers(endpoint, "endpoint", set()):
            sizes[path] = sizes.get(path, 0) + size
    return sizes


def _containers(value: object, path: str, seen: set[int]) -> Iterator[tuple[str, int]]:
    """Yield each container reachable from `value`, by its path, with the number of its elements."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, dict | list | set | frozenset | deque):
        yield path, len(value)
        if len(value) < 100:
            parts = value.values() if isinstance(value, dict) else value
            for part in parts:
                yield from _containers(part, f"{path}[]", seen)
    elif isinstance(value, bytes | bytearray | str):
        yield path, len(value)
    elif type(value).__module__.startswith("antiphon.") or hasattr(value, "__dict__"):
        for name, part in vars(value).items() if hasattr(value, "__dict__") else ():
            yield from _containers(part, f"{path}.{name}", seen)
