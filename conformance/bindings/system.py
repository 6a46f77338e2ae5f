"""A whole system is one value: the snapshots of its processes and the datagrams in flight.

The specification's set of packets holds equal packets once. So does `flight`: of two datagrams that stand for
the same packet the least is kept. This file knows no protocol; a binding does.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from antiphon.conformance.bindings.binding import Binding
from antiphon.spec.lang import Step
from antiphon.spec.lang.types import MapOf


class System(NamedTuple):
    """The processes' snapshots in order, and in flight the packets with their datagrams."""

    processes: tuple[Hashable, ...]
    flight: frozenset[tuple[object, bytes]]


def start(binding: Binding) -> System:
    """All processes fresh, and what they send at once."""
    flight: dict[object, bytes] = {}
    snapshots = []
    for me in range(binding.members):
        effect = binding.start(me)
        snapshots.append(effect.after)
        send(flight, effect.sent)
    return System(tuple(snapshots), frozenset(flight.items()))


def perform(binding: Binding, system: System, step: Step) -> tuple[System, tuple[object, ...]]:
    """The system after a step, and the events.

    Raises:
        Refused: the process would not take it.
    """
    stimulus = binding.stimulus(step)
    flight = dict(system.flight)
    datagram = None
    if stimulus.packet is not None:
        datagram = flight.pop(stimulus.packet) if stimulus.consumed else flight[stimulus.packet]
    me = stimulus.process
    if me is None:
        return System(system.processes, frozenset(flight.items())), ()
    effect = binding.perform(me, system.processes[me], step, datagram)
    send(flight, effect.sent)
    processes = (*system.processes[:me], effect.after, *system.processes[me + 1 :])
    return System(processes, frozenset(flight.items())), effect.events


def drive(binding: Binding, system: System, step: Step, after: System) -> None:
    """The step once more, by a process that a shell drives; and what a shell sees of where it ends.

    Raises:
        Misreports: the process reports something else than it does.
    """
    stimulus = binding.stimulus(step)
    me = stimulus.process
    if me is None:
        return
    datagram = None if stimulus.packet is None else dict(system.flight)[stimulus.packet]
    binding.drive(me, system.processes[me], step, datagram)
    binding.drive(me, after.processes[me], None, None)


def offers(binding: Binding, system: System) -> frozenset[Step]:
    """The internal steps that some process would take."""
    return frozenset(
        step for me, snapshot in enumerate(system.processes) for step in binding.offers(me, snapshot)
    )


def project(binding: Binding, system: System) -> Mapping[str, object]:
    """The values of the specification's variables that the system stands for; exempt ones may be absent."""
    views = [binding.project(me, snapshot) for me, snapshot in enumerate(system.processes)]
    values: dict[str, object] = {binding.channel: frozenset(packet for packet, _ in system.flight)}
    for name in views[0]:
        shares = tuple(view[name] for view in views)
        values[name] = (
            shares if isinstance(binding.program.domains[name].type, MapOf) else binding.join(name, shares)
        )
    return values


def send(flight: dict[object, bytes], sent: tuple[tuple[object, bytes], ...]) -> None:
    """Put datagrams in flight; of equal packets the least stays."""
    for packet, datagram in sent:
        flight[packet] = min(datagram, flight.get(packet, datagram))
