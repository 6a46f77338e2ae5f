"""Three deadlines as data: when a process sends again what it has had no answer to.

The "do ... until" loops of figure 16 (lines 12-15, 34-44 and 47-49) say what is sent again and until when,
not how often. Here a deadline first stands one interval ahead, then twice as far after each expiry up to
`backoff_max` intervals, and starts anew when its loop starts anew. Deadlines say when a shell should act;
whether a timer may expire at all is not decided here.

This module must not read a clock or know a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["Deadlines", "Timer"]


class Timer(StrEnum):
    """The loops of figure 16 that wait."""

    RESEND = "resend"
    """Lines 12-15: the own message until it has a number."""
    RESEND_TOKEN = "resend_token"
    """Lines 47-49: the own ACK until a higher number is known."""
    REPEAT_REQUEST = "repeat_request"
    """Lines 34-36 and 42-44: requests until nothing is missing."""


class Deadlines:
    """The running timers with their deadlines, in milliseconds on the clock of the caller."""

    def __init__(self, intervals_ms: Mapping[Timer, float], backoff_max: int) -> None:
        self._intervals_ms = dict(intervals_ms)
        self._backoff_max = backoff_max
        self._running: dict[Timer, tuple[float, int]] = {}

    def start(self, timer: Timer, now: float) -> None:
        """Set the first deadline; a timer that already runs is left alone."""
        if timer not in self._running:
            self._running[timer] = (now + self._intervals_ms[timer], 1)

    def stop(self, timer: Timer) -> None:
        """Forget the deadline."""
        self._running.pop(timer, None)

    def put_off(self, timer: Timer, now: float) -> None:
        """Set the next deadline after an expiry, twice as far away as the last one was."""
        factor = min(2 * self._running[timer][1], self._backoff_max)
        self._running[timer] = (now + factor * self._intervals_ms[timer], factor)

    def due(self, now: float) -> list[Timer]:
        """The timers whose deadline has come, in the order of `Timer`."""
        return [timer for timer in Timer if timer in self._running and self._running[timer][0] <= now]

    def next(self) -> float | None:
        """The earliest deadline, or None."""
        return min((deadline for deadline, _ in self._running.values()), default=None)

    def relative(self, now: float) -> tuple[tuple[Timer, float, int], ...]:
        """The running timers with the milliseconds left and the back-off factor, in the order of `Timer`."""
        return tuple(
            (timer, self._running[timer][0] - now, self._running[timer][1])
            for timer in Timer
            if timer in self._running
        )

    def resume(self, relative: tuple[tuple[Timer, float, int], ...], now: float) -> None:
        """Run exactly the timers that `relative` listed, with the same time left from `now` on."""
        self._running = {timer: (now + left, factor) for timer, left, factor in relative}
