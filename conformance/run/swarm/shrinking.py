"""Shrinking of a failing schedule: delta debugging removes entries, then the others are simplified.

A shorter schedule has to fail alike, which only a run can tell. These steps repeat until none helps: remove
whole kinds of entries, the layers and the slow network; remove chunks of entries, halves first and single
ones last; remove members without entries; round times and sizes.

This module knows the entries of a schedule, and neither a protocol nor the failure.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions on
Software Engineering 28 (2), 2002.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Fate,
    Jump,
    Leave,
    Once,
    Pause,
    Restart,
    Schedule,
    Skew,
    Slow,
    Start,
)
from antiphon.impl.protocols.core import Network

__all__ = ["shrink"]

TRIES_MAX = 3_000
"""Largest number of runs for shrinking one schedule."""


def shrink(
    schedule: Schedule,
    fails: Callable[[Schedule], bool],
    network: Network = Network.LOSSY,
    progress: Callable[[Schedule], None] = lambda _: None,
    max_seconds: float | None = None,
) -> Schedule:
    """Return a failing schedule from which no entry can be removed, or the shortest one that was found within
    `max_seconds`; `network` is the network that the core needs.
    """
    return _Shrinking(schedule, fails, network, progress, max_seconds).take()


class _Spent(Exception):
    """Signal that the limit of runs or of time is reached: the result is the shortest schedule so far."""


class _Shrinking:
    def __init__(
        self,
        schedule: Schedule,
        fails: Callable[[Schedule], bool],
        network: Network,
        progress: Callable[[Schedule], None],
        max_seconds: float | None,
    ) -> None:
        self.best = replace(schedule, entries=tuple(sorted(schedule.entries, key=_place)))
        self._fails, self._network, self._progress = fails, network, progress
        self._tries = 0
        self._until = math.inf if max_seconds is None else time.monotonic() + max_seconds

    def take(self) -> Schedule:
        """Simplify the schedule in rounds, until a round changes nothing; return it."""
        try:
            before = None
            while before != self.best:
                before = self.best
                self._settings()
                self._kinds()
                self._chunks()
                self._members()
                self._simple()
        except _Spent:
            pass
        return self.best

    def _try(self, candidate: Schedule) -> bool:
        """Run a candidate; if it fails alike, make it the best schedule. Return whether it does."""
        if candidate == self.best:
            return False
        self._tries += 1
        if self._tries > TRIES_MAX or time.monotonic() >= self._until:
            raise _Spent
        if not self._fails(candidate):
            return False
        self.best = candidate
        self._progress(candidate)
        return True

    def _with(self, entries: Iterable[Entry]) -> Schedule:
        return replace(self.best, entries=tuple(entries))

    def _settings(self) -> None:
        if self._network is Network.LOSSY:
            self._try(replace(self.best, layers=None))
        self._try(replace(self.best, delay_ms=1.0))
        self._try(replace(self.best, holders=None))
        self._try(replace(self.best, hints=False))

    def _kinds(self) -> None:
        for kind in (Skew, Jump, Pause, Start, Cut, Slow, Leave, Crash, Restart, Fate):
            self._try(self._with(entry for entry in self.best.entries if not isinstance(entry, kind)))

    def _chunks(self) -> None:
        """Remove chunks of entries while the schedule still fails: halves first, single entries last."""
        size = max(1, len(self.best.entries) // 2)
        while True:
            position = 0
            while position < len(self.best.entries):
                entries = self.best.entries
                if not self._try(self._with(entries[:position] + entries[position + size :])):
                    position += size
            if size == 1:
                return
            size //= 2

    def _members(self) -> None:
        """Remove the last members while the schedule still fails without them."""
        while self.best.members > 2:
            gone = self.best.members - 1
            entries = [entry for entry in map(_without(gone), self.best.entries) if entry is not None]
            holders = None if self.best.holders is None else min(self.best.holders, gone)
            if not self._try(replace(self.best, members=gone, entries=tuple(entries), holders=holders)):
                return

    def _simple(self) -> None:
        """Replace each entry by the simplest one with which the schedule still fails."""
        for position in range(len(self.best.entries)):
            entry = self.best.entries[position]
            for simpler in _simpler(entry, self.best.delay_ms):
                entries = list(self.best.entries)
                entries[position] = simpler
                if self._try(self._with(entries)):
                    break
        for calm_ms in _rounder(self.best.calm_ms):
            if self._try(replace(self.best, calm_ms=calm_ms)):
                break


def _place(entry: Entry) -> tuple[str, float, str]:
    """Sort key of an entry: its kind, then its time."""
    return type(entry).__name__, getattr(entry, "at_ms", 0.0), repr(entry)


def _without(process: int) -> Callable[[Entry], Entry | None]:
    """Return a function that removes a member from an entry."""

    def left(entry: Entry) -> Entry | None:
        match entry:
            case Fate(sender=sender, to=to):
                return None if process in (sender, to) else entry
            case Cut(links=links) | Slow(links=links):
                kept = tuple(link for link in links if process not in link)
                return replace(entry, links=kept) if kept else None
            case Once(then=then) if left(then) is None:
                return None
        return None if entry.process == process else entry

    return left


def _simpler(entry: Entry, usual_ms: float) -> Iterator[Entry]:
    """Yield entries like this one with rounder times and smaller sizes, the simplest first."""
    match entry:
        case Broadcast(at_ms=at, size_bytes=size, holders=holders):
            yield from (replace(entry, holders=to) for to in range(1, holders))
            yield from (replace(entry, at_ms=to, size_bytes=0) for to in _rounder(at))
            yield from (replace(entry, size_bytes=to) for to in (0, 100, 1_000) if to < size)
            yield from (replace(entry, at_ms=to) for to in _rounder(at))
        case Fate(delays_ms=delays):
            if len(delays) > 1:
                yield replace(entry, delays_ms=())
                yield from (replace(entry, delays_ms=(delay,)) for delay in delays if delay != usual_ms)
                yield from (replace(entry, delays_ms=(usual_ms, to)) for to in _rounder(delays[-1]))
            elif delays:
                yield from (replace(entry, delays_ms=(to,)) for to in _rounder(delays[0]) if to != usual_ms)
        case Cut(links=links) | Slow(links=links):
            yield from (
                replace(entry, links=links[:k] + links[k + 1 :]) for k in range(len(links)) if len(links) > 1
            )
            yield from _shorter(entry)
            if isinstance(entry, Slow):
                yield from (replace(entry, by_ms=to) for to in _rounder(entry.by_ms) if to > 0)
        case Pause():
            yield from _shorter(entry)
        case Start(at_ms=at) | Crash(at_ms=at) | Restart(at_ms=at) | Leave(at_ms=at):
            yield from (replace(entry, at_ms=to) for to in _rounder(at))
        case Skew(offset_ms=offset, rate=rate):
            yield from (replace(entry, offset_ms=0.0, rate=to) for to in (1.0, round(rate, 1)) if to > 0)
            yield from (replace(entry, offset_ms=to) for to in _rounder(offset))
        case Jump(at_ms=at, by_ms=by):
            yield from (replace(entry, by_ms=to) for to in _rounder(by) if to)
            yield from (replace(entry, at_ms=to) for to in _rounder(at))


def _shorter(entry: Cut | Pause | Slow) -> Iterator[Entry]:
    at, until = entry.at_ms, entry.until_ms
    yield from (replace(entry, at_ms=to, until_ms=max(to, until)) for to in _rounder(at) if to < until)
    yield from (replace(entry, until_ms=to) for to in _rounder(until) if to > at)


def _rounder(number: float) -> Iterator[float]:
    """Yield numbers rounder than this one, the roundest first."""
    found = [float(round(number, digits)) for digits in (-4, -3, -2, -1, 0)]
    return (first for first, _ in groupby([0.0, *found]) if first != number)
