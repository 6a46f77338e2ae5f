"""All that one question takes obeys its bounds: reading, trying beginnings, unrolling, compiling, searching,
judging.

Whoever answers a question does it `within` the bounds. Whatever works inside says so (`watch.working`), and
is ended by `Enough` when the time or the memory is over; seconds count from the begin of the whole. A
question within another belongs to that one.

This file knows nothing of what the work is.
"""

from __future__ import annotations

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
        self.began = self._told = time.monotonic()

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


_asked: list[Limits] = []


@contextmanager
def within(bounds: Bounds, progress: Callable[[Progress], None] | None = None) -> Iterator[Limits]:
    """The limits of what is done inside; those of the question that this one belongs to, if there is one."""
    if _asked:
        yield _asked[-1]
        return
    limits = Limits(bounds, progress)
    _asked.append(limits)
    try:
        with watched_by(limits.look):
            yield limits
    finally:
        _asked.pop()


def begun() -> float:
    """When the question was asked that is being answered; now, if there is none."""
    return _asked[-1].began if _asked else time.monotonic()
