"""Random draw of a run of a foreign program by its seed: a schedule, and the fates of datagrams.

The schedules are those of the swarm, so that they are written, shortened and told alike. A run has each kind
of fault with probability one half, so that none hides another, unless kinds are asked for by name: then it
has all of these. All faults end by `calm_ms`.

This module knows no protocol and runs nothing.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator

from antiphon.conformance.run.foreign.settings import KINDS, NEEDED, Settings
from antiphon.conformance.run.swarm.chance import Rates, Weather
from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Leave,
    Pause,
    Restart,
    Schedule,
)
from antiphon.conformance.run.swarm.settings import FaultKind

USUAL_MS = 1.0
"""Milliseconds that a datagram takes where no delay is drawn."""

CALM_MS = (400.0, 1_600.0)
"""Shortest and longest time in which faults happen."""


def draw(
    seed: int, settings: Settings, can: Collection[str]
) -> tuple[tuple[FaultKind, ...], Schedule, Weather]:
    """Return the drawn kinds of faults, the schedule without fates, and the generator of fates.

    Args:
        seed: the seed.
        settings: the settings.
        can: abilities of the program. One without a `disk` crashes only where that is asked for. Of one with
            `views` a node leaves in every run, since a run with one view shows nothing of views.
    """
    chance = random.Random(f"{seed}:foreign")
    usual = [kind for kind in KINDS if NEEDED.get(kind, "step") in {"step", *can}]
    drawn = [kind for kind in usual if chance.random() < 0.5 or kind is FaultKind.LEAVE]
    faults = settings.only or tuple(drawn or chance.sample(usual, 1))
    calm_ms = float(round(chance.uniform(*CALM_MS)))
    delay_ms = float(round(chance.uniform(5.0, 40.0))) if FaultKind.DELAY in faults else USUAL_MS
    entries = tuple(_entries(chance, settings, faults, calm_ms))
    schedule = Schedule(
        members=settings.nodes, entries=entries, delay_ms=delay_ms, calm_ms=calm_ms, chance=seed
    )
    links = itertools.permutations(range(settings.nodes), 2)
    rates = {link: _rates(chance, faults) for link in links}
    return faults, schedule, Weather(seed, rates, delay_ms, calm_ms)


def _rates(chance: random.Random, faults: Collection[FaultKind]) -> Rates:
    strengths = [chance.uniform(0.1, 0.4) for _ in range(3)]
    kinds = (FaultKind.LOSS, FaultKind.DUPLICATION, FaultKind.REORDERING)
    loss, duplication, reordering = (
        strength if kind in faults else 0.0 for kind, strength in zip(kinds, strengths, strict=True)
    )
    return Rates(loss, duplication, reordering, late_ms=chance.uniform(5.0, 100.0))


def _entries(
    chance: random.Random, settings: Settings, faults: Collection[FaultKind], calm_ms: float
) -> Iterator[Entry]:
    nodes = range(settings.nodes)
    for _ in range(settings.messages):
        yield Broadcast(round(chance.random() * calm_ms, 1), chance.choice(nodes))
    if FaultKind.PARTITION in faults and len(nodes) > 1:
        side = set(chance.sample(nodes, chance.randint(1, len(nodes) - 1)))
        links = tuple(
            link for link in itertools.permutations(nodes, 2) if (link[0] in side) != (link[1] in side)
        )
        yield Cut(*_interval(chance, calm_ms, 0.2, 0.6), links)
    if FaultKind.PAUSE in faults:
        yield Pause(*_interval(chance, calm_ms, 0.1, 0.4), chance.choice(nodes))
    if FaultKind.CRASH in faults:
        process = chance.choice(nodes)
        at_ms, until_ms = _interval(chance, calm_ms, 0.05, 0.3)
        yield from (Crash(at_ms, process), Restart(until_ms, process))
    if FaultKind.LEAVE in faults and len(nodes) > 1:
        yield Leave(round(chance.uniform(0.2, 0.8) * calm_ms, 1), chance.choice(nodes))


def _interval(
    chance: random.Random, calm_ms: float, shortest: float, longest: float
) -> tuple[float, float]:
    """Return beginning and end of a fault that lasts a share of `calm_ms` from `shortest` to `longest`."""
    length = chance.uniform(shortest, longest) * calm_ms
    at_ms = 0.05 * calm_ms + chance.random() * (0.9 * calm_ms - length)
    return round(at_ms, 1), round(at_ms + length, 1)
