"""Heartbeats, which distinguish a member that has nothing to send from one that has ended.

1. A member to which nothing was sent for `every_ms` gets a heartbeat: an empty datagram.
2. Every datagram of a member, a heartbeat too, is a sign of life. Its silence is the time since the last one.
3. A member that was never heard may not have started yet. Its silence begins with the first datagram, other
   than a heartbeat, that was sent to it: before that nobody misses it.
4. A step that comes later than a heartbeat after a `tick` was due shows that this member itself was asleep (a
   stopped process, a suspended machine, a blocked event loop). That time counts as nobody's silence.

No clock and no socket: `now`, in milliseconds, comes in. This module must not know a protocol, an address or
what a datagram holds.

Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", 1996,
section 2: a detector by time-outs, which may be wrong.
"""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["Heartbeats", "Silence"]

_EVERY_MS_MAX = 1_000.0
"""The longest time between two datagrams to a member."""

_EVERY_MS_MIN = 5.0
"""The shortest time between two heartbeats."""

_BEATS_IN_LIMIT = 30
"""Number of heartbeats within the limit: a living member is too silent only if all of them are lost."""

_BEATS_REPORTED = 3
"""The number of missed heartbeats from which a silence is reported."""


class Silence(NamedTuple):
    """Silence of a member: its number, and for how long it has not been heard."""

    process: int
    ms: float


class Heartbeats:
    """Record of when one member last heard each other member, and from when on it could have heard it."""

    def __init__(self, me: int, members: int, limit_ms: float) -> None:
        """Make the record of member `me` of 0..members-1; a silence of `limit_ms` is too long. `math.inf`: no
        heartbeats.
        """
        self._others = tuple(process for process in range(members) if process != me)
        self._every_ms = min(_EVERY_MS_MAX, max(_EVERY_MS_MIN, limit_ms / _BEATS_IN_LIMIT))
        self.limit_ms = max(limit_ms, _BEATS_REPORTED * self._every_ms)
        """The silence that is too long: the limit, or `_BEATS_REPORTED` heartbeats if these take longer."""
        self.beats = limit_ms != math.inf
        """True if members send heartbeats to each other."""
        self._sent_at = dict.fromkeys(self._others, 0.0)
        self._since: dict[int, float] = {}
        """Beginning of each silence: the last sign of life, or the first datagram to a member that
        gave none.
        """

    def start(self, now: float) -> None:
        """Begin to count silences."""
        self._sent_at = dict.fromkeys(self._others, now)

    def heard(self, process: int, now: float) -> None:
        """Record a datagram from this member."""
        if self.beats:
            self._since[process] = now

    def sent(self, process: int, now: float) -> None:
        """Record a datagram to this member that is no heartbeat."""
        if self.beats:
            self._sent_at[process] = now
            self._since.setdefault(process, now)

    def due(self, now: float) -> list[int]:
        """Return the members to which a heartbeat is due, and count these heartbeats as sent."""
        if not self.beats:
            return []
        due = [process for process, at in self._sent_at.items() if now >= at + self._every_ms]
        self._sent_at.update(dict.fromkeys(due, now))
        return due

    def slept(self, now: float) -> float:
        """Return the milliseconds for which this member was asleep before this step; they count as no
        member's silence.

        Call it first in every step: a heartbeat that is sent meanwhile hides the sleep.
        """
        if not self.beats:
            return 0.0
        late = now - min(self._sent_at.values()) - self._every_ms
        if late <= self._every_ms:
            return 0.0
        for process, since in self._since.items():
            self._since[process] = min(now, since + late)
        self._sent_at = {process: min(now, at + late) for process, at in self._sent_at.items()}
        return late

    def silences(self, now: float) -> tuple[Silence, ...]:
        """Return the members that have missed several heartbeats, the longest silence first."""
        least = _BEATS_REPORTED * self._every_ms
        silent = [process for process, since in self._since.items() if now - since >= least]
        silences = (Silence(process, now - self._since[process]) for process in silent)
        return tuple(sorted(silences, key=lambda silence: (-silence.ms, silence.process)))

    def next_deadline(self) -> float | None:
        """Return the time of the next heartbeat; None without heartbeats."""
        return min(self._sent_at.values()) + self._every_ms if self.beats else None
