"""Whole system as one value: the snapshots of its processes, the datagrams in flight and in links.

The specification's set of packets holds equal packets once. `flight` does too: of two datagrams that stand
for the same packet only the least stays. A link holds all its datagrams, in order. This module knows no
protocol; a binding does.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from antiphon.conformance.compare.bindings.binding import Binding, Effect, Refused, is_own
from antiphon.conformance.compare.bindings.links import Content
from antiphon.model.notation import compact
from antiphon.spec.lang import Step


class System(NamedTuple):
    """System: the processes' snapshots in order, the datagrams of the set's packets, the contents of each
    link.
    """

    processes: tuple[Hashable, ...]
    flight: frozenset[tuple[object, bytes]]
    links: tuple[Content, ...] = ()


def start(binding: Binding) -> System:
    """Return the system of fresh processes, with the datagrams that they send at the start."""
    flight: dict[object, bytes] = {}
    links = [link.empty for link in binding.links]
    snapshots = []
    for me in range(binding.members):
        effect = binding.start(me)
        snapshots.append(effect.after)
        send(flight, effect.sent)
        _queue(binding, links, effect)
    return System(tuple(snapshots), frozenset(flight.items()), tuple(links))


def perform(binding: Binding, system: System, step: Step) -> tuple[System, tuple[object, ...]]:
    """Return the system after a step, and the events.

    Raises:
        Refused: the process would not take the step.
    """
    stimulus = binding.stimulus(step)
    me = stimulus.process
    datagram = given(binding, system, step)
    flight, links = dict(system.flight), list(system.links)
    if stimulus.packet is not None and stimulus.consumed:
        del flight[stimulus.packet]
    if stimulus.link is not None:
        at = binding.links.index(stimulus.link)
        links[at] = stimulus.link.take(links[at], -1 if me is None else me)
    if me is None:
        return System(system.processes, frozenset(flight.items()), tuple(links)), ()
    effect = binding.perform(me, system.processes[me], step, datagram)
    send(flight, effect.sent)
    _queue(binding, links, effect)
    processes = (*system.processes[:me], effect.after, *system.processes[me + 1 :])
    return System(processes, frozenset(flight.items()), tuple(links)), effect.events


def given(binding: Binding, system: System, step: Step) -> bytes | None:
    """Return the datagram that a step takes from the network, or None.

    Raises:
        Refused: the datagram is not there.
    """
    stimulus = binding.stimulus(step)
    if stimulus.packet is not None:
        flight = dict(system.flight)
        if stimulus.packet not in flight:
            raise Refused(f"{compact(stimulus.packet)} is not in flight: no process has sent it")
        return flight[stimulus.packet]
    if stimulus.link is not None:
        content = system.links[binding.links.index(stimulus.link)]
        try:
            return stimulus.link.head(content, -1 if stimulus.process is None else stimulus.process)
        except IndexError:
            raise Refused(f"nothing is in {stimulus.link}: no process has sent it") from None
    return None


def drive(binding: Binding, system: System, step: Step, after: System) -> None:
    """Take the step a second time through a shell, on the process that it concerns, and check that the
    process ends in the same state.

    Raises:
        Misreports: the process reports something else than it does.
    """
    me = binding.stimulus(step).process
    if me is None:
        return
    binding.drive(me, system.processes[me], step, given(binding, system, step))
    binding.drive(me, after.processes[me], None, None)


def offers(binding: Binding, system: System) -> frozenset[Step]:
    """Return the internal steps that some process would take."""
    return frozenset(
        step for me, snapshot in enumerate(system.processes) for step in binding.offers(me, snapshot)
    )


def project(binding: Binding, system: System) -> Mapping[str, object]:
    """Return the values of the specification's variables for the system; exempt variables may be absent."""
    views = [binding.project(me, snapshot) for me, snapshot in enumerate(system.processes)]
    values: dict[str, object] = {}
    if binding.channel:
        values[binding.channel] = frozenset(packet for packet, _ in system.flight)
    for variable, parts in _parts(binding, system).items():
        values[variable] = _nested(parts)
    for name in views[0]:
        shares = tuple(view[name] for view in views)
        values[name] = (
            shares if is_own(binding, name) else binding.join(name, shares)
        )
    return values


def send(flight: dict[object, bytes], sent: tuple[tuple[object, bytes], ...]) -> None:
    """Put datagrams in flight; of datagrams for equal packets the least stays."""
    for packet, datagram in sent:
        flight[packet] = min(datagram, flight.get(packet, datagram))


def _queue(binding: Binding, links: list[Content], effect: Effect) -> None:
    """Append datagrams to the links to which an effect sends them."""
    for link, packet, datagram in effect.queued:
        at = binding.links.index(link)
        links[at] = link.put(links[at], packet, datagram)


def _parts(binding: Binding, system: System) -> Mapping[str, Mapping[tuple[int, ...], object]]:
    """Return the content of the links, by variable and the numbers of its keys."""
    found: dict[str, dict[tuple[int, ...], object]] = {}
    for link, content in zip(binding.links, system.links, strict=True):
        for (variable, keys), value in link.values(content):
            found.setdefault(variable, {})[keys] = value
    return found


def _nested(parts: Mapping[tuple[int, ...], object]) -> object:
    """Build a map of maps from values and the keys under which each one is."""
    if () in parts:
        return parts[()]
    inner: dict[int, dict[tuple[int, ...], object]] = {}
    for keys, value in parts.items():
        inner.setdefault(keys[0], {})[keys[1:]] = value
    return tuple(_nested(inner[key]) for key in sorted(inner))
