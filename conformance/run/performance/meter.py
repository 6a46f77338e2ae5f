"""Meter at the outputs of the cores, with the paper's definitions (section 1, third paragraph).

| paper                                                              | here                         |
|--------------------------------------------------------------------|------------------------------|
| `from the moment a process entrusts multicasting an update U to    | `delivery_ms`                |
|  the moment U is delivered to every other process`                 |                              |
| `from the moment a LTM receives the request of multicasting an     | `stability_ms`               |
|  update U … to the moment all LTMs learn that U is stable`         |                              |
| `average buffer size`: messages that a member has sent or received | `buffer`, a mean over time   |
|  and does not know to be stable                                    | and members                  |
| overhead messages a message: all that carries no update            | `overhead`                   |
| `how evenly the load … is distributed over LTMs`                   | `orderings`, `sendings`      |

A member learns that updates are stable when its core says so (`stable`). Buffers and counts are those of the
time up to the last measured request, or to the end where members fall silent. This module must not know any
protocol.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Meter", "Result"]


class Result(Struct, frozen=True, kw_only=True):
    """Result of one run: means over its measured messages, and counts.

    Attributes:
        buffer_max: the largest number of messages in one member's buffer.
        orderings: the number of control messages that each member sent; `sendings`: of messages of any kind.
        span_ms: the virtual time that the counts cover; `handled`: messages that cores received, in all.
    """

    stability_ms: float
    delivery_ms: float
    buffer: float
    buffer_max: int
    overhead: float
    orderings: tuple[int, ...]
    sendings: tuple[int, ...]
    span_ms: float
    handled: int


class _Update:
    """An update on its way: the time of its request, and the numbers of other members that have delivered it
    and that know it to be stable.
    """

    __slots__ = ("at", "counts", "delivered", "known", "source")

    def __init__(self, source: int, at: float, counts: bool) -> None:
        self.source, self.at, self.counts = source, at, counts
        self.delivered = self.known = 0


class Meter:
    """Meter of the messages of one group. A message in place of a NULL is no update: its request time `at` is
    None.
    """

    def __init__(self, members: int) -> None:
        self.members = members
        self.stable = 0
        self.orderings = [0] * members
        self.data = [0] * members
        self.kept = [0] * members
        self._named: dict[tuple[int, int], _Update | None] = {}
        self._numbered: dict[int, _Update | None] = {}
        self._knows = [0] * members
        self._kept_max = self._total = 0
        self._area = self._since = self._stability_ms = self._delivery_ms = 0.0
        self._span_ms: float | None = None

    def requested(self, name: tuple[int, int], at: float | None, counts: bool) -> None:
        """Record an update's name, the time of its process's request, and whether it is measured."""
        self._named[name] = None if at is None else _Update(name[0], at, counts)

    def sends(self, process: int, carries: bool, times: int = 1) -> None:
        """Record that a member sends messages, each with an update or without."""
        if self._span_ms is None:
            (self.data if carries else self.orderings)[process] += times

    def keeps(self, process: int, now: float) -> None:
        """Record that a member has one more update in its buffer."""
        self._pass_time(now)
        self._total += 1
        kept = self.kept[process] = self.kept[process] + 1
        if kept > self._kept_max:
            self._kept_max = kept

    def delivers(self, process: int, source: int, identifier: int, number: int, now: float) -> None:
        """Record that a member delivers the update with this number."""
        if number not in self._numbered:
            self._numbered[number] = self._named.pop((source, identifier))
        update = self._numbered[number]
        if update is not None and process != source:
            update.delivered += 1
            if update.counts and update.delivered == self.members - 1:
                self._delivery_ms += now - update.at

    def learns(self, process: int, stable: int, now: float) -> None:
        """Record that a member knows updates up to this number to be stable; it has delivered them."""
        self._pass_time(now)
        for number in range(self._knows[process] + 1, stable + 1):
            update = self._numbered[number]
            if update is None:
                continue
            self._total -= 1
            self.kept[process] -= 1
            update.known += 1
            if update.known == self.members:
                del self._numbered[number]
                if update.counts:
                    self.stable += 1
                    self._stability_ms += now - update.at
        self._knows[process] = stable

    def stop(self, now: float) -> None:
        """Stop counting buffers and messages; measured updates still count."""
        if self._span_ms is None:
            self._pass_time(now)
            self._span_ms = now

    def result(self, measured: int, handled: int) -> Result:
        """Return the result of a finished run with `measured` measured messages."""
        assert self._span_ms is not None
        assert self.stable == measured
        return Result(
            stability_ms=self._stability_ms / measured,
            delivery_ms=self._delivery_ms / measured,
            buffer=self._area / self._span_ms / self.members,
            buffer_max=self._kept_max,
            overhead=sum(self.orderings) / max(1, sum(self.data)),
            orderings=tuple(self.orderings),
            sendings=tuple(map(sum, zip(self.orderings, self.data, strict=True))),
            span_ms=self._span_ms,
            handled=handled,
        )

    def _pass_time(self, now: float) -> None:
        if self._span_ms is None:
            self._area += self._total * (now - self._since)
            self._since = now
