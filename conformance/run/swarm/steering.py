"""Steered runs: half of the runs begin as an earlier run that saw something new, and go on as their seed
draws.

1. New is a branch of the core's code, or a state class of a member, that no run of the block has exercised
   before (`antiphon.conformance.coverage`). A run that saw something new is kept, with the moment of the
   news.
2. A steered run takes the schedule of a kept run up to that moment: the same broadcasts, faults and fates of
   datagrams. From there on everything is drawn by its own seed, and happens later by that time.
3. The runs of a block are steered together, in the order of their seeds, so that the first seed, the number
   of runs and the settings determine all of them. What a run was is its schedule, as of any other run.

Source of the idea, to keep the inputs that reach new branches and to vary them: Zalewski, "american fuzzy
lop", 2013; Fioraldi, Maier, Eissfeldt and Heuse, "AFL++", WOOT 2020.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from antiphon.conformance.coverage.modules import modules_of
from antiphon.conformance.coverage.recorder import Recorder, Seen
from antiphon.conformance.run.swarm.chance import Drawn, Fates, Script, Weather, draw
from antiphon.conformance.run.swarm.schedule import Broadcast, Cut, Entry, Fate, Jump, Pause, Schedule
from antiphon.conformance.run.swarm.settings import Settings
from antiphon.conformance.run.swarm.swarm import RunResult, core_of, fitted, run_drawn, run_seed
from antiphon.impl.transport.simulated import Carriage

__all__ = ["BLOCK", "recorded_runs"]

BLOCK = 250
"""Number of runs that are steered together."""

_STEERED = 0.5
"""Share of the runs that begin as a kept run."""

_LATEST_MS = 2_000.0
"""Latest moment at which a run that begins as a kept one goes on, in virtual milliseconds: as long as the
longest faults of a drawn run. Later ones would make runs that take much longer than others.
"""


class _Kept(NamedTuple):
    """Run that saw something new, and the moment when it did, in virtual milliseconds."""

    schedule: Schedule
    at_ms: float


def recorded_runs(
    core: str,
    seeds: Sequence[int],
    settings: Settings,
    *,
    steer: bool,
    known: Seen = Seen(),  # noqa: B008 - not changed
    until: Callable[[RunResult], bool] = lambda _: False,
) -> tuple[list[RunResult], Seen]:
    """Take the runs of these seeds one after the other, and record what they exercise. Return the results,
    and what the runs have exercised.

    Args:
        core: the name of a protocol that is bound.
        seeds: the seeds of the runs.
        settings: the settings of the runs.
        steer: True to begin half of the runs as earlier ones that saw something new.
        known: what counts as seen before.
        until: called with each result; the runs end where it returns True.

    Raises:
        SpecError: as `core_of`.
    """
    settings = fitted(core, settings)
    sound = core_of(core, join=settings.join)
    recorder, results = Recorder(modules_of(sound, settings.members), known), list[RunResult]()
    with recorder.recording():
        for result in _runs(core, seeds, settings, recorder, steer=steer):
            results.append(result)
            if until(result):
                break
        return results, recorder.seen


def _runs(
    core: str, seeds: Sequence[int], settings: Settings, recorder: Recorder, *, steer: bool
) -> Iterator[RunResult]:
    if settings.join:  # the members are no cores that could be wrapped
        yield from (run_seed(core, seed, settings) for seed in seeds)
        return
    implementation = core_of(core, settings.planted)
    kept: list[_Kept] = []
    for seed in seeds:
        drawn = draw(seed, settings, implementation)
        chance = random.Random(f"{seed}:steered")
        if steer and kept and chance.random() < _STEERED:
            drawn = _going_on(chance.choice(kept), drawn, settings.messages)
        watched = _Watched(drawn.weather, recorder)
        yield run_drawn(core, seed, drawn._replace(weather=watched), settings, recorder.around)
        if watched.news_ms is not None and watched.news_ms <= _LATEST_MS:
            met = structs.replace(drawn.schedule, entries=(*drawn.schedule.entries, *drawn.weather.met))
            kept.append(_Kept(met, watched.news_ms))


class _Watched:
    """Carriage that notes the moment of the last news: when the next datagram is sent."""

    def __init__(self, weather: Fates, recorder: Recorder) -> None:
        self._weather, self._recorder = weather, recorder
        self.met = weather.met
        self.news_ms: float | None = None
        recorder.news = False

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies that arrive."""
        if self._recorder.news:
            self._recorder.news, self.news_ms = False, now
        return self._weather(sender, to, now)


class _Beginning:
    """Carriage by the fates of a kept run up to a moment, and by the weather of another run from then on."""

    def __init__(self, begin: Carriage, usual_ms: float, until_ms: float, weather: Weather) -> None:
        self._begin, self._until_ms, self._weather = begin, until_ms, weather
        self._usual = (usual_ms,)
        self.met = weather.met

    def __call__(self, sender: int, to: int, now: float) -> Sequence[float]:
        """Return the delays of the copies that arrive."""
        if now > self._until_ms:
            return self._weather(sender, to, now)
        nth, delays = self._weather.passed(sender, to), tuple(self._begin(sender, to, now))
        if delays != self._usual:
            self._weather.met.append(Fate(sender, to, nth, delays))
        return delays


def _going_on(kept: _Kept, drawn: Drawn, messages: int) -> Drawn:
    """Return the draw of a run that begins as a kept run and goes on as another draw, with as many messages
    as every run has.
    """
    begin, at_ms = kept
    calm_ms = round(at_ms + drawn.schedule.calm_ms, 1)
    entries = [entry for entry in begin.entries if _begins(entry, at_ms)]
    left = messages - sum(isinstance(entry, Broadcast) for entry in entries)
    for entry in drawn.schedule.entries:
        if isinstance(entry, Broadcast):
            if left <= 0:
                continue
            left -= 1
        entries += _later(entry, at_ms)
    schedule = structs.replace(begin, entries=tuple(entries), calm_ms=calm_ms)
    assert isinstance(drawn.weather, Weather), "a run within a model is not steered"
    drawn.weather.go_on(begin.delay_ms, calm_ms)
    carriage = _Beginning(Script(begin), begin.delay_ms, at_ms, drawn.weather)
    return Drawn(drawn.faults, schedule, carriage)


def _begins(entry: Entry, at_ms: float) -> bool:
    """Return True if an entry other than a fate begins by a moment, or has no time."""
    return not isinstance(entry, Fate) and getattr(entry, "at_ms", 0.0) <= at_ms


def _later(entry: Entry, by_ms: float) -> list[Entry]:
    """Return an entry later by a time; none for one that concerns the whole run."""
    match entry:
        case Cut() | Pause():
            at, until = round(entry.at_ms + by_ms, 1), round(entry.until_ms + by_ms, 1)
            return [structs.replace(entry, at_ms=at, until_ms=until)]
        case Broadcast() | Jump():
            return [structs.replace(entry, at_ms=round(entry.at_ms + by_ms, 1))]
    return []
