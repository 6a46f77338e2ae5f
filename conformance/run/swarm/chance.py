"""Random draw of a run by its seed: the kinds of faults, their strength, and their times.

1. The draw depends on the seed, the settings, the core's network and whether it knows who has a message,
   and on nothing else.
2. Fates of datagrams are drawn when they are sent, since their number is not known before: the k-th datagram
    of a link gets the k-th decision of the link's generator. The fates are stored as entries of the schedule.
3. All faults end by `calm_ms`.
4. A run within a bounded model has only that model's faults: any delay of datagrams, as many losses as it
  allows, and clocks at rates that let timers expire at any time, or, where the model counts them, late and in
  few runs.

This module knows no protocol and runs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from msgspec import structs

from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Cut,
    Entry,
    Fate,
    Jump,
    Pause,
    Schedule,
    Skew,
    Start,
)
from antiphon.conformance.run.swarm.settings import Budget, FaultKind, Settings
from antiphon.impl.protocols.core import Implementation, Network

__all__ = ["Drawn", "Fates", "Script", "Wandering", "Weather", "draw"]

Link = tuple[int, int]

_USUAL_MS = 1.0
"""Milliseconds that a datagram takes where nothing is drawn."""


class Rates(NamedTuple):
    """Faults of a link: three probabilities, and the delay of a copy."""

    loss: float
    duplication: float
    reordering: float
    late_ms: float


class Weather:
    """Generator of the fates of datagrams; `met` stores the fates that differ from the usual one."""

    def __init__(self, seed: int, rates: Mapping[Link, Rates], delay_ms: float, calm_ms: float) -> None:
        self.met: list[Fate] = []
        self._rates = rates
        self._draws = {link: random.Random(f"{seed}:{link[0]}:{link[1]}").random for link in rates}
        self._sent = dict.fromkeys(rates, 0)
        self._usual = (delay_ms,)
        self._calm_ms = calm_ms

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies that arrive, with four draws for every datagram."""
        if now >= self._calm_ms:
            return self._usual
        link = sender, to
        self._sent[link] += 1
        draw, rates = self._draws[link], self._rates[link]
        lost, repeated, held, late = draw(), draw(), draw(), draw() * rates.late_ms
        if lost >= rates.loss and repeated >= rates.duplication and held >= rates.reordering:
            return self._usual
        delays: tuple[float, ...] = ()
        if lost >= rates.loss:
            delay = self._usual[0]
            first = delay + late if held < rates.reordering else delay
            delays = (first, delay + late) if repeated < rates.duplication else (first,)
        self.met.append(Fate(sender, to, self._sent[link], delays))
        return delays


    def passed(self, sender: int, to: int) -> int:
        """Count a datagram whose fate is decided elsewhere; return its number on its link."""
        self._sent[sender, to] += 1
        return self._sent[sender, to]

    def go_on(self, delay_ms: float, calm_ms: float) -> None:
        """Take another usual delay and another end of the faults, before any datagram is sent."""
        self._usual, self._calm_ms = (delay_ms,), calm_ms


class Wandering:
    """Carriage that delays every datagram at random, and loses the datagrams with these numbers."""

    def __init__(self, seed: int, longest_ms: float, lost: Collection[int], calm_ms: float) -> None:
        self.met: list[Fate] = []
        self._random = random.Random(f"{seed}:wandering").random
        self._longest_ms, self._calm_ms = longest_ms, calm_ms
        self._lost = lost
        self._sent = 0
        self._on_link: dict[Link, int] = {}

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies that arrive."""
        if now >= self._calm_ms:
            return (_USUAL_MS,)
        self._sent += 1
        nth = self._on_link[sender, to] = self._on_link.get((sender, to), 0) + 1
        delay = round(0.1 * (10.0 * self._longest_ms) ** self._random(), 2)
        delays = () if self._sent in self._lost else (delay,)
        self.met.append(Fate(sender, to, nth, delays))
        return delays


class Script:
    """Carriage by the fates of datagrams in a schedule."""

    def __init__(self, schedule: Schedule) -> None:
        fates = [entry for entry in schedule.entries if isinstance(entry, Fate)]
        self._fates = {(fate.sender, fate.to, fate.nth): fate.delays_ms for fate in fates}
        self._sent: dict[Link, int] = {}
        self._usual = (schedule.delay_ms,)
        self._calm_ms = schedule.calm_ms

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies that arrive."""
        if now >= self._calm_ms:
            return self._usual
        nth = self._sent[sender, to] = self._sent.get((sender, to), 0) + 1
        return self._fates.get((sender, to, nth), self._usual)


class Fates(Protocol):
    """Carriage that stores the fates of datagrams that differ from the usual one."""

    met: list[Fate]

    def __call__(self, sender: int, to: int, now: float, /) -> Sequence[float]:
        """Return the delays of the copies of a datagram that arrive."""
        ...


class Drawn(NamedTuple):
    """Draw of a seed: the kinds of faults, the schedule without fates, and the generator of fates."""

    faults: tuple[FaultKind, ...]
    schedule: Schedule
    weather: Fates


def draw(seed: int, settings: Settings, implementation: Implementation[Any]) -> Drawn:
    """Return the draw of a seed."""
    if settings.within is not None:
        return _drawn_within(settings.within, seed, settings, implementation.network)
    draws = _Draws(seed, settings)
    layers = draws.layers(implementation.network)
    calm_ms, delay_ms = draws.calm_ms, draws.delay_ms()
    entries = tuple(draws.entries(large=layers is not None))
    rates = draws.rates()
    holders = draws.holders() if implementation.resilient is not None else None
    if settings.deliver == "each":
        holders = None if implementation.resilient is None else 1
        entries = tuple(_asking(entries, random.Random(f"{seed}:holders"), settings.members, layers))
    schedule = Schedule(
        members=settings.members,
        entries=entries,
        delay_ms=delay_ms,
        calm_ms=calm_ms,
        layers=layers,
        holders=holders,
        chance=seed,
    )
    return Drawn(draws.faults, schedule, Weather(seed, rates, delay_ms, calm_ms))


def _asking(
    entries: Sequence[Entry], chance: random.Random, members: int, layers: dict[str, int] | None
) -> Iterator[Entry]:
    """Yield the entries of a schedule. If the layers can wait, each broadcast gets the number of members that
    must have its message before it is delivered.
    """
    for entry in entries:
        if isinstance(entry, Broadcast) and layers is not None:
            yield structs.replace(entry, holders=chance.randint(1, members))
        else:
            yield entry


def _drawn_within(budget: Budget, seed: int, settings: Settings, network: Network) -> Drawn:
    """Draw a run that stays within a bounded model: only the faults of the model, at most as often as
    there.
    """
    draws = random.Random(f"{seed}:within")
    longest_ms = round(1.0 * 60.0 ** draws.random(), 1)
    calm_ms = round(longest_ms * 200.0 ** draws.random(), 1)
    sent = 2 * settings.members * settings.messages
    lost = {draws.randint(1, sent) for _ in range(draws.randint(0, budget.losses))}
    burst = draws.random() < 0.5
    moments = sorted(0.0 if burst else round(draws.random() * calm_ms, 1) for _ in budget.sources)
    broadcasts = [
        Broadcast(at, draws.choice(sources)) for at, sources in zip(moments, budget.sources, strict=True)
    ]
    span = 3_000.0 if budget.timers else 150.0
    rates = [round(0.01 * span ** draws.random(), 3) for _ in range(settings.members)]
    around = {"ahead": draws.choice((1, 2, 4)), "datagram_bytes": _SIZES[0]}
    clocks = [Skew(process, 0.0, rate) for process, rate in enumerate(rates)]
    schedule = Schedule(
        members=settings.members,
        entries=(*broadcasts, *clocks),
        delay_ms=_USUAL_MS,
        calm_ms=calm_ms,
        layers=around if network is Network.FIFO or draws.random() < 0.5 else None,
        chance=seed,
    )
    faults = tuple(kind for kind in settings.faults if lost or kind is not FaultKind.LOSS)
    return Drawn(faults, schedule, Wandering(seed, longest_ms, lost, calm_ms))


class _Draws:
    """Random draws for the run of a seed. They are always made in the same order."""

    def __init__(self, seed: int, settings: Settings) -> None:
        self._random = random.Random(seed)
        self._settings = settings
        kinds = FaultKind.of(join=False)
        self.faults = tuple(kind for kind in kinds if self._chance(0.5) and kind in settings.faults)
        self.calm_ms = float(round(20.0 * 100.0 ** self._random.random()))

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _span(self, least: float, most: float) -> float:
        """Draw a time between two times, in tenths of a millisecond. Its logarithm is uniform: short times
        are as likely as long ones.
        """
        return float(round(least * (most / least) ** self._random.random(), 1))

    def _moment(self) -> float:
        return round(self._random.random() * self.calm_ms, 1)

    def _interval(self, most: float) -> tuple[float, float]:
        at = self._moment()
        return at, min(self.calm_ms, round(at + self._span(1.0, most), 1))

    def layers(self, network: Network) -> dict[str, int] | None:
        """Draw the layers around the core: always, never, or by chance."""
        wanted = self._settings.layers
        drawn, ahead, size = self._chance(0.5), self._random.choice((1, 2, 4)), self._random.choice(_SIZES)
        if network is Network.FIFO or wanted == "always" or (wanted == "drawn" and drawn):
            return {"ahead": ahead, "datagram_bytes": size}
        return None

    def holders(self) -> int | None:
        """Draw the number of members that have a message when it is delivered, in half of the runs."""
        wanted, holders = self._chance(0.5), self._random.randint(1, self._settings.members)
        return holders if wanted and self._settings.deliver == "drawn" else None

    def delay_ms(self) -> float:
        """Draw the usual delay of a datagram."""
        return self._span(5.0, 100.0) if FaultKind.DELAY in self.faults else _USUAL_MS

    def rates(self) -> dict[Link, Rates]:
        """Draw the faults of each link: all alike, or each strong, weak or none."""
        alike, late_ms = self._chance(0.5), self._span(2.0, 200.0)
        strengths = [self._random.random() * 0.5 for _ in _DATAGRAM_FAULTS]
        strengths = [
            strength if kind in self.faults else 0.0
            for kind, strength in zip(_DATAGRAM_FAULTS, strengths, strict=True)
        ]
        found: dict[Link, Rates] = {}
        for link in _links(range(self._settings.members)):
            parts = [1.0 if alike else self._random.choice((0.0, 0.5, 1.5)) for _ in strengths]
            loss, duplication, reordering = (s * part for s, part in zip(strengths, parts, strict=True))
            found[link] = Rates(loss, duplication, reordering, late_ms)
        return found

    def entries(self, *, large: bool) -> Iterator[Entry]:
        """Draw the broadcasts, and the faults other than those of datagrams. With `large`, payloads may be of
        any size.
        """
        members = range(self._settings.members)
        yield from self._broadcasts(members, large=large)
        if FaultKind.ONE_WAY_CUT in self.faults:
            for _ in range(self._random.randint(1, 3)):
                sender, to = self._random.sample(members, 2)
                yield Cut(*self._interval(1000.0), ((sender, to),))
        if FaultKind.PARTITION in self.faults:
            yield self._partition(members)
        if FaultKind.PAUSE in self.faults:
            for process in self._some(members):
                yield Pause(*self._interval(1000.0), process)
        if FaultKind.LATE_START in self.faults:
            for process in self._some(members):
                yield Start(self._moment(), process)
        if FaultKind.SKEW in self.faults:
            for process in members:
                rate = round(2.0 ** self._random.uniform(-1.0, 1.0), 3)
                yield Skew(process, float(self._random.randrange(10**6)), rate)
        if FaultKind.JUMP in self.faults:
            for process in self._some(members):
                yield self._jump(process)

    def _broadcasts(self, members: Sequence[int], *, large: bool) -> Iterator[Broadcast]:
        """Draw the broadcasts: spread over the run, or in bursts with idle phases; from all members, or
        mostly from one.
        """
        eager, favour = self._random.choice(members), self._random.choice((0.0, 0.0, 0.8))
        bursts = sorted(self._moment() for _ in range(self._random.randint(1, 5)))
        size = self._random.choice((0, 0, 100, 2_000 if large else 500))
        for _ in range(self._settings.messages):
            moment, burst = self._moment(), self._random.choice(bursts)
            process = eager if self._chance(favour) else self._random.choice(members)
            size_bytes = self._random.randrange(size + 1)
            yield Broadcast(burst if FaultKind.IDLE in self.faults else moment, process, size_bytes)

    def _partition(self, members: Sequence[int]) -> Cut:
        """Draw a partition: some members receive nothing from the others."""
        side = set(self._some(members))
        crossing = tuple(link for link in _links(members) if (link[0] in side) != (link[1] in side))
        return Cut(*self._interval(2000.0), crossing)

    def _jump(self, process: int) -> Jump:
        """Draw a jump of a member's clock: forward by up to ten seconds, or a stop of up to a tenth of a
        second.
        """
        if self._chance(0.25):
            return Jump(min(self._moment(), self.calm_ms), process, -self._span(1.0, 100.0))
        return Jump(self._moment(), process, self._span(1.0, 10_000.0))

    def _some(self, members: Sequence[int]) -> list[int]:
        """Draw a subset of the members that is neither empty nor all of them."""
        return sorted(self._random.sample(members, self._random.randint(1, len(members) - 1)))


_DATAGRAM_FAULTS = (FaultKind.LOSS, FaultKind.DUPLICATION, FaultKind.REORDERING)
_SIZES = (65_000, 1_400, 600)


def _links(members: Sequence[int]) -> list[Link]:
    return [(sender, to) for sender in members for to in members if sender != to]
