"""All that one question takes obeys its bounds: reading, trying beginnings, unrolling, compiling, searching,
judging.

Whoever answers a question does it `within` the bounds. Whatever works inside says so (`watch.working`), and
is ended by `Enough` when the time or the memory is over; seconds count from the begin of the whole. A
question within another belongs to that one.

This file knows nothing of what the work is.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from antiphon.model.bounds import Bounds, Enough, Progress, Stop
from antiphon.spec.lang.watch import watched_by

TELL_EVERY_S = 0.1


class Limits:
    """The bounds of one question, and the time since it was asked."""

    def __init__(self, bounds: Bounds, progress: Callable[[Progress], None] | None) -> None:
        self.bounds, self._progress = bounds, progress
        self.began = time.monotonic()
        if bounds.seconds is not None and _here.begin is not None:
            self.began, _here.begin = _here.begin, None
        self._told = time.monotonic()

    def elapsed(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self.began

    def look(self, what: str) -> None:
        """Look at the time, and tell what is being done.

        Raises:
            Enough: a bound is hit.
        """
        elapsed = self.elapsed()
        stop = self.bounds.reached(0, elapsed)
        if stop is not None:
            raise Enough(Stop(stop.reason, f"{stop.words}, while {what}"))
        if self._progress is not None and self.began + elapsed - self._told > TELL_EVERY_S:
            self._told = self.began + elapsed
            self._progress(Progress(0, 0, 0, 0, elapsed, what))


def now() -> float:
    """The present moment of the clock of bounds."""
    return time.monotonic()


@contextmanager
def count_from(began: float) -> Iterator[None]:
    """Let the seconds of the first question in the body that is bounded by them count from this moment (of
    `time.monotonic`), and not from where it is answered: loading and reading take time, too.

    Where somebody has said so before, or a question is being answered, this says nothing.
    """
    if _here.begin is not None or _here.asked:
        yield
        return
    _here.begin = began
    try:
        yield
    finally:
        _here.begin = None


class _Here(threading.local):
    """The question that this thread answers, and when the next one was asked, where somebody said so."""

    def __init__(self) -> None:
        self.asked: list[Limits] = []
        self.begin: float | None = None


_here = _Here()


@contextmanager
def within(bounds: Bounds, progress: Callable[[Progress], None] | None = None) -> Iterator[Limits]:
    """The limits of what is done inside; those of the question that this one belongs to, if there is one."""
    asked = _here.asked
    if asked:
        yield asked[-1]
        return
    limits = Limits(bounds, progress)
    asked.append(limits)
    try:
        with watched_by(limits.look):
            yield limits
    finally:
        asked.pop()


def leaving(bounds: Bounds, share: float) -> Bounds:
    """The bounds of a search that takes this share of the seconds that are left, and leaves the rest."""
    if not bounds.seconds:
        return bounds
    gone = min(1.0, (time.monotonic() - begun()) / bounds.seconds)
    return dataclasses.replace(bounds, part=gone + share * (1.0 - gone))


@contextmanager
def only_time(bounds: Bounds) -> Iterator[None]:
    """Let the time alone end what works inside: what was found is looked at, though memory is short."""
    began = begun()
    of_time = Bounds(seconds=bounds.seconds)

    def look(what: str) -> None:
        stop = of_time.reached(0, time.monotonic() - began)
        if stop is not None:
            raise Enough(Stop(stop.reason, f"{stop.words}, while {what}"))

    with watched_by(look):
        yield


def begun() -> float:
    """Return the time at which the present question was asked; now, if there is none."""
    return _here.asked[-1].began if _here.asked else time.monotonic()
