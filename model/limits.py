"""Limits of a question: its bounds hold for all its work: reading, trying initial states, unrolling,
compiling, searching, judging.

Code that answers a question runs inside `under_limits`. Long work inside reports itself (`watch.working`),
and is ended by `Enough` when the time or the memory is over; seconds count from the beginning of the
question. A question inside another shares its limits.

This file knows nothing of the work.
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
        """Return the seconds since the question was asked."""
        return time.monotonic() - self.began

    def look(self, what: str) -> None:
        """Check the time and the memory, and report the present work.

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
    """Return the present time, by the clock that bounds of seconds are measured with."""
    return time.monotonic()


@contextmanager
def count_from(began: float) -> Iterator[None]:
    """Context in which the seconds of the first bounded question count from this moment (of
    `time.monotonic`), so that loading and reading count too.

    It has no effect inside another such context, or while a question is being answered.
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
    """Question that this thread answers, and the time at which the next question was asked, if `count_from`
    gave one.
    """

    def __init__(self) -> None:
        self.asked: list[Limits] = []
        self.begin: float | None = None


_here = _Here()


@contextmanager
def under_limits(bounds: Bounds, progress: Callable[[Progress], None] | None = None) -> Iterator[Limits]:
    """Context with the limits for the work inside: those of the surrounding question, if there is one."""
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
    """Return bounds for a first search, which may use this share of the seconds that are left; the rest is
    for later searches.
    """
    if not bounds.seconds:
        return bounds
    gone = min(1.0, (time.monotonic() - begun()) / bounds.seconds)
    return dataclasses.replace(bounds, part=gone + share * (1.0 - gone))


@contextmanager
def only_time(bounds: Bounds) -> Iterator[None]:
    """Context in which the work ends only when the time is over, so that results are judged although memory
    is short.
    """
    began = begun()
    of_time = Bounds(seconds=bounds.seconds)

    def look(what: str) -> None:
        stop = of_time.reached(0, time.monotonic() - began)
        if stop is not None:
            raise Enough(Stop(stop.reason, f"{stop.words}, while {what}"))

    with watched_by(look):
        yield


def begun() -> float:
    """Return the time at which the present question was asked; the present time if there is no question."""
    return _here.asked[-1].began if _here.asked else time.monotonic()
