"""Deadlines as data: the times at which a core repeats messages that were not answered.

A protocol's timers are an enumeration of what it waits for. Here a deadline first stands one interval ahead,
then twice as far after each expiry up to `backoff_max` intervals, and starts anew when its wait starts anew.
Deadlines say when a shell should act; whether a timer may expire at all is not decided here.

This module must not read a clock or know a protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

__all__ = ["Deadlines"]

T = TypeVar("T")


class Deadlines(Generic[T]):
    """The running timers with their deadlines, in milliseconds on the clock of the caller.

    Timers come out in the order in which the intervals name them.
    """

    def __init__(self, intervals_ms: Mapping[T, float], backoff_max: int) -> None:
        """Make the timers, none of them running. `intervals_ms` has the first waiting time of each; a waiting
        time grows to at most `backoff_max` times that.

        Raises:
            ValueError: an interval or the back-off is not positive.
        """
        if min(intervals_ms.values(), default=1.0) <= 0 or backoff_max < 1:
            raise ValueError("intervals must be greater than 0 ms and backoff_max at least 1")
        self._intervals_ms = dict(intervals_ms)
        self._backoff_max = backoff_max
        self._running: dict[T, tuple[float, int]] = {}

    def start(self, timer: T, now: float) -> None:
        """Set the first deadline of a timer; a running timer is left alone."""
        if timer not in self._running:
            self._running[timer] = (now + self._intervals_ms[timer], 1)

    def stop(self, timer: T) -> None:
        """Stop a timer."""
        self._running.pop(timer, None)

    def put_off(self, timer: T, now: float) -> None:
        """Set the next deadline after an expiry, twice as far away as the last one."""
        factor = min(2 * self._running[timer][1], self._backoff_max)
        self._running[timer] = (now + factor * self._intervals_ms[timer], factor)

    def hasten(self, timer: T, now: float) -> None:
        """Reset the back-off of a timer, since its awaited event has come closer. The deadline may become
        earlier, never later.
        """
        deadline, _ = self._running[timer]
        self._running[timer] = (min(deadline, now + self._intervals_ms[timer]), 1)

    def due(self, now: float) -> list[T]:
        """Return the timers whose deadline has come."""
        running = self._running
        return [timer for timer in self._intervals_ms if timer in running and running[timer][0] <= now]

    def next(self) -> float | None:
        """Return the earliest deadline, or None."""
        return min([deadline for deadline, _ in self._running.values()], default=None)

    def relative(self, now: float) -> tuple[tuple[T, float, int], ...]:
        """Return the running timers with the milliseconds left and the back-off factor."""
        return tuple(
            (timer, self._running[timer][0] - now, self._running[timer][1])
            for timer in self._intervals_ms
            if timer in self._running
        )

    def resume(self, relative: tuple[tuple[T, float, int], ...], now: float) -> None:
        """Run exactly the timers that `relative` listed, with the same time left from `now` on."""
        self._running = {timer: (now + left, factor) for timer, left, factor in relative}
