"""Alarm of an event loop, which rings once, at the earliest time that was set."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Alarm"]


class Alarm:
    """Single alarm of an event loop; times are in milliseconds of the loop's clock. Needs the running event
    loop.
    """

    def __init__(self, ring: Callable[[], None]) -> None:
        """Create the alarm, which is not set. `ring` is called when it rings, and may set the alarm again."""
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._set: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """Return the time of the event loop, in milliseconds."""
        return self._loop.time() * 1000.0

    def ring_by(self, due: float | None) -> None:
        """Set the alarm to ring at this time at the latest; None changes nothing."""
        if due is None:
            return
        if self._set is not None:
            if self._set.when() * 1000.0 <= due:
                return
            self._set.cancel()
        self._set = self._loop.call_at(due / 1000.0, self._rings)

    def cancel(self) -> None:
        """Cancel the alarm; it can be set again."""
        if self._set is not None:
            self._set.cancel()

    def _rings(self) -> None:
        self._set = None
        self._ring()
