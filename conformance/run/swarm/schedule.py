"""Schedule: all outside events of a group in one run, as data that determine the run.

The k-th datagram from one member to another has the fate of its entry, and arrives after the usual delay
without an entry. From `calm_ms` on no datagram has a fate; every other fault has its end in its entry.
Entries are independent: removing one gives another schedule, and so a failing schedule is shortened.

This module knows no protocol and no judge, and draws nothing.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

__all__ = [
    "Broadcast",
    "Crash",
    "Cut",
    "Entry",
    "Fate",
    "Jump",
    "Leave",
    "Once",
    "Pause",
    "Restart",
    "Schedule",
    "Skew",
    "Slow",
    "Start",
]


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, tag=str.lower, tag_field="entry"):
    pass


class Broadcast(_Entry, frozen=True):
    """Entry: the application of a member broadcasts a payload of this many bytes, or of as many as its name
    needs.

    It requests delivery when `holders` members have it, or all if they are fewer.
    """

    at_ms: float
    process: int
    size_bytes: int = 0
    holders: int = 1


class Fate(_Entry, frozen=True):
    """Entry: the `nth` datagram (from 1) from one member to another arrives once after each delay,
    or never.
    """

    sender: int
    to: int
    nth: int
    delays_ms: tuple[float, ...] = ()


class Cut(_Entry, frozen=True):
    """Entry: in this time all datagrams from the first member of each pair to the second are lost."""

    at_ms: float
    until_ms: float
    links: tuple[tuple[int, int], ...]


class Pause(_Entry, frozen=True):
    """Entry: a member is stopped, as by SIGSTOP, and goes on, as by SIGCONT."""

    at_ms: float
    until_ms: float
    process: int


class Start(_Entry, frozen=True):
    """Entry: a member starts late: datagrams to it before are lost."""

    at_ms: float
    process: int


class Skew(_Entry, frozen=True):
    """Entry: a member's clock shows `offset_ms` at the beginning, and counts `rate` milliseconds in each."""

    process: int
    offset_ms: float
    rate: float


class Jump(_Entry, frozen=True):
    """Entry: a member's clock jumps forward by `ms` milliseconds, or stands still for that long if the number
    is negative.
    """

    at_ms: float
    process: int
    by_ms: float


class Crash(_Entry, frozen=True):
    """Entry: a process ends without a message."""

    at_ms: float
    process: int


class Restart(_Entry, frozen=True):
    """Entry: a process is started again, as another member at the same address; if it still runs it ends
    first.
    """

    at_ms: float
    process: int


class Leave(_Entry, frozen=True):
    """Entry: a process leaves the group, and ends when no other needs it any more."""

    at_ms: float
    process: int


class Slow(_Entry, frozen=True):
    """Entry: in this time datagrams from the first member of each pair to the second take `by_ms` longer."""

    at_ms: float
    until_ms: float
    links: tuple[tuple[int, int], ...]
    by_ms: float


class Once(_Entry, frozen=True):
    """Entries that begin when a process has delivered a given number of messages, counted over all its
    starts.

    The times of `then` count from there.
    """

    process: int
    delivered: int
    then: Crash | Restart | Leave | Pause | Cut | Slow


Entry: TypeAlias = (
    Broadcast | Fate | Cut | Pause | Start | Skew | Jump | Crash | Restart | Leave | Slow | Once
)


class Schedule(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One run of `members` members over a network whose datagrams take `delay_ms`.

    With `timeouts`, by the names of `impl.membership.detector.Timeouts`, members join, leave, crash and come
    back: those that start at once found the group, the first of them before all. With `hints` a sender learns
    when a process has ended and no longer listens.

    `layers` are the layers around the core, by the names of `impl.layers.Layers`; None for the bare core.
    Messages are delivered when `holders` members have them; None: by the protocol's own rule. The global
    `random`, from which a core should draw nothing, begins with the seed `chance`.
    """

    members: int
    entries: tuple[Entry, ...]
    delay_ms: float = 1.0
    calm_ms: float = 0.0
    layers: dict[str, int] | None = None
    holders: int | None = None
    chance: int = 0
    timeouts: dict[str, float] | None = None
    hints: bool = False

    @property
    def changes(self) -> bool:
        """Return True for a group whose members change."""
        alone = Crash | Restart | Leave | Slow | Once
        return self.timeouts is not None or any(isinstance(entry, alone) for entry in self.entries)

    @property
    def ends_ms(self) -> float:
        """Return the time at which the last fault has ended and the last broadcast is made."""
        return max([self.calm_ms, *map(_end, self.entries)])

    def payloads(self) -> dict[tuple[int, int], bytes]:
        """Return the payloads that are broadcast, by source and the source's own count from 1."""
        counts = [0] * self.members
        found: dict[tuple[int, int], bytes] = {}
        for entry in self.broadcasts:
            counts[entry.process] += 1
            name = entry.process, counts[entry.process]
            found[name] = (b"%d:%d " % name).ljust(entry.size_bytes, b".")
        return found

    @property
    def broadcasts(self) -> list[Broadcast]:
        """Return the broadcasts, in the order of time."""
        found = [entry for entry in self.entries if isinstance(entry, Broadcast)]
        return sorted(found, key=lambda entry: entry.at_ms)


def _end(entry: Entry) -> float:
    match entry:
        case Cut(until_ms=end) | Pause(until_ms=end) | Slow(until_ms=end):
            return end
        case Broadcast(at_ms=end) | Start(at_ms=end) | Crash(at_ms=end) | Restart(at_ms=end):
            return end
        case Leave(at_ms=end):
            return end
        case Once(then=then):
            return _end(then)
        case Jump(at_ms=at, by_ms=by):
            return at + max(0.0, -by)
    return 0.0
