"""Clock of a check: `Enough` stops long work that calls `check` from time to time.

This file knows nothing of the work.
"""

from __future__ import annotations

import time

from antiphon.model.bounds import INTERRUPTED, Enough, Stop, StopReason
from antiphon.model.limits import begun


class Clock:
    """Time since the start of a check, and the time left; without `most` there is no limit."""

    def __init__(self, most: float | None = None) -> None:
        self.most, self._begun = most, begun()

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.monotonic() - self._begun

    def left(self) -> float | None:
        """Return the seconds that are left, a small number if there are none; None without a limit."""
        return None if self.most is None else max(0.001, self.most - self.elapsed())

    def over(self) -> bool:
        """Return True if no time is left."""
        return self.most is not None and self.elapsed() >= self.most

    def check(self) -> None:
        """Return if there is time left.

        Raises:
            Enough: there is none; the message says how much was allowed.
        """
        if self.over():
            raise Enough(Stop(StopReason.SECONDS, self._said()))

    def why(self, reason: str, where: str) -> Stop:
        """Return the stop for the case that Z3 has no answer, for this reason, at this place."""
        if "interrupted" in reason:
            return INTERRUPTED
        if self.over():
            return Stop(StopReason.SECONDS, self._said() + where)
        return Stop(StopReason.UNDECIDED, f"Z3 gave up ({reason}){where}")

    def _said(self) -> str:
        return f"the bound of {self.most:g} seconds"


def stop_of(error: Exception) -> Stop:
    """Return the reason to stop that an exception stands for: the time is over, or the engine cannot go
    on.
    """
    return error.stop if isinstance(error, Enough) else Stop(StopReason.UNDECIDED, str(error))
