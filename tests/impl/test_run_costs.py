"""Costs of the same runs for each protocol: datagrams, messages by kind, steps, and virtual time.

A protocol that asks for what it has, repeats what has come, or waits too long breaks no promise, and costs
more. So do many faults that break promises in other runs. Each row of `golden` is a whole run, which is the
same on every machine. A row that changes says that something is sent, or comes, at another time: look for the
reason, and write the rows anew with `--rewrite`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.impl.layers import Layers
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

Golden = Callable[[str, str], None]

SMALL, LARGE = 20, 30_000
"""Numbers of bytes of a message: of one that shares a datagram with many, and of one that does not."""


def group(protocol: str, seed: int, members: int, faults: Faults) -> SimulatedNetwork[object]:
    """Members with layers, whose core is that of the protocol."""
    return SimulatedNetwork(implementation(protocol), members, seed=seed, faults=faults, layers=Layers())


def talk(network: SimulatedNetwork[object], messages: int, every_ms: float, size: int) -> None:
    """Let the members broadcast in turn."""
    members = len(network.endpoints)
    for k in range(messages):
        payload = b"%d" % k + bytes(size)
        network.script(1 + every_ms * k, lambda k=k, payload=payload: network.broadcast(k % members, payload))


def rough(protocol: str, seed: int) -> SimulatedNetwork[object]:
    """A network that loses, repeats and reorders; messages come quickly."""
    network = group(protocol, seed, 3 + seed % 2, Faults(0.25, 0.1, (1.0, 40.0)))
    talk(network, 60, 5.0, SMALL)
    network.run_for(320.0)
    assert network.run_until_delivered(60)
    return network


def cut_off(protocol: str, seed: int) -> SimulatedNetwork[object]:
    """Three seconds in which process 0 hears nobody, and process 1 does not hear it."""
    network = group(protocol, seed, 3, Faults(delay_ms=(1.0, 3.0)))
    talk(network, 20, 10.0, SMALL)
    network.script(50.0, lambda: network.cut([(0, 1), (1, 0), (2, 0)]))
    network.script(3_050.0, network.heal)
    network.run_for(3_060.0)
    assert network.run_until_delivered(20)
    return network


def stopped(protocol: str, seed: int) -> SimulatedNetwork[object]:
    """A second in which one process is stopped, with messages that fill datagrams."""
    network = group(protocol, seed, 3, Faults(loss=0.02, delay_ms=(1.0, 3.0)))
    talk(network, 60, 5.0, LARGE)
    network.script(50.0, lambda: network.pause(2))
    network.script(1_050.0, lambda: network.resume(2))
    network.run_for(1_060.0)
    assert network.run_until_delivered(60)
    return network


RUNS = ((rough, 1), (rough, 2), (rough, 3), (cut_off, 1), (stopped, 1))

REST_MS = 1_000.0


@pytest.mark.parametrize("protocol", known_protocols())
def test_a_run_costs_what_it_has_cost(protocol: str, golden: Golden) -> None:
    rows = []
    for run, seed in RUNS:
        network = run(protocol, seed)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(network.transmissions.items()))
        sent, steps = network.sent, network.steps
        told = f"{sent} datagrams in {network.now:.0f} ms and {steps} steps: {kinds}"
        network.run_for(REST_MS)
        then = f"{network.sent - sent} in {REST_MS:.0f} ms and {network.steps - steps} steps"
        rows.append(f"{run.__name__} {seed}: {told}; then {then}\n")
    golden(f"costs-{protocol}.txt", "".join(rows))
