"""An alarm of an event loop, which rings once: no later than whoever has set it wants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Alarm"]


class Alarm:
    """One alarm; times are in milliseconds, as the event loop counts them. Needs the running event loop."""

    def __init__(self, ring: Callable[[], None]) -> None:
        """Call `ring` when it is time; it may set the alarm again."""
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._set: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """The time."""
        return self._loop.time() * 1000.0

    def ring_by(self, due: float | None) -> None:
        """Ring no later than then; None: nothing changes."""
        if due is None:
            return
        if self._set is not None:
            if self._set.when() * 1000.0 <= due:
                return
            self._set.cancel()
        self._set = self._loop.call_at(due / 1000.0, self._rings)

    def cancel(self) -> None:
        """Ring no more, unless it is set again."""
        if self._set is not None:
            self._set.cancel()

    def _rings(self) -> None:
        self._set = None
        self._ring()
