"""Flush of a core when the view changes: its report, the merging of reports, and the adoption of the agreed
result.

A core serves one list of members: the next list gets a new core. Between the two stands a flush. Each member
stops its core and reports its knowledge (`report`); one of them merges the reports (`merge`); all agree on
one result, and each delivers the part of it that it has not delivered (`adopt`).

Source: Barchet-Estefanel 2002, section 4.4.2, figure 32, steps 1, 3, 5 and 6, with the repairs that are named
in `docs/irbp-repaired.md`: `keep_stable`, `send_bodies`, `cut_holes`, `order_received`, `forget_received`,
`deliver_first`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Natural, Payload

__all__ = [
    "HANDED_BYTES_MAX",
    "KEPT_BYTES",
    "KEPT_BYTES_MAX",
    "MERGED_BYTES_MAX",
    "Body",
    "Flushes",
    "Numbered",
    "Report",
    "covered_from",
    "merged",
    "merged_with_kept",
]


MERGED_BYTES_MAX = 2**22
"""Largest number of bytes kept for external members that a change of the list gives to all for the sake of
members that have not reported.
"""

HANDED_BYTES_MAX = 2**24
"""Largest number of bytes kept for external members that a change of the list gives to all for the sake of
members that have reported. All wait while it travels, several times each way; who lacks more is lost.
"""

KEPT_BYTES = 64
"""Approximate number of bytes that a kept message takes beside its payload."""

KEPT_BYTES_MAX = 2**27
"""Largest number of stable bytes that each member of the core keeps while there are external members: three
seconds of the highest rate that was measured on loopback.
"""


class Numbered(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Entry of seqQ: a number and its message; `identifier` None is NULL."""

    number: Natural
    identifier: Identifier | None


class Body(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Entry of recvQ: a message with its body."""

    identifier: Identifier
    payload: Payload


class Report(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Report of figure 32, step 1: the knowledge of a process that has stopped; also the union of such
    reports (step 3).
    """

    settled: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
    """Number up to which all members of the ring have everything; in a union, up to which everything is
    delivered.
    """
    counts: tuple[Annotated[int, Meta(ge=0, le=NATURAL_MAX)], ...]
    """Number of messages of each member that have a number up to `settled`; they are its first ones."""
    numbered: tuple[Numbered, ...]
    """Entries of seqQ, by rising numbers."""
    bodies: tuple[Body, ...]
    """Entries of recvQ, by rising identifiers, with or without a number in `numbered`."""


class Flushes(Protocol):
    """Core of one list, which ends in a flush."""

    @property
    def lost(self) -> bool:
        """Return True if this process is external, and lacks messages that no other process stores any
        more.
        """
        ...

    @property
    def caught_up(self) -> bool:
        """Return True if this process is external, and lacks no message."""
        ...

    def report(self) -> Report:
        """Return the knowledge of this process. The core has stopped then: only `merge` and `adopt` may
        follow.
        """
        ...

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Return the result for all to adopt, from the reports of these members, this process among them.

        `missing` says that members without a report will adopt it too, whatever they have.
        """
        ...

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Return, in order, the agreed messages that this process has not delivered; None if it lacks some of
        them.
        """
        ...


def merged(reports: Iterable[Report]) -> Report:
    """Merge reports (figure 32, step 3): numbers without holes, and behind them the messages without a
    number.

    A number is left out, with all behind it, if nobody has reported it or its body, unless somebody knows
    that all have it (`cut_holes`). The messages that then have no number get the next ones, in the order of
    identifiers (`order_received`).
    """
    numbers: dict[int, Identifier | None] = {}
    bodies: dict[Identifier, bytes] = {}
    settled = 0
    counts: tuple[int, ...] = ()
    for report in reports:
        numbers.update((item.number, item.identifier) for item in report.numbered)
        bodies.update((item.identifier, item.payload) for item in report.bodies)
        if report.settled >= settled:
            settled, counts = report.settled, report.counts
    last = settled
    while last + 1 in numbers and (numbers[last + 1] is None or numbers[last + 1] in bodies):
        last += 1
    kept = {
        number: name
        for number, name in numbers.items()
        if number <= last and (name is None or name in bodies)
    }
    ordered = set(kept.values())
    rest = sorted(name for name in bodies if name not in ordered and name.id > counts[name.source])
    kept.update(enumerate(rest, last + 1))
    named = {name for name in kept.values() if name is not None}
    return Report(
        last + len(rest),
        counts,
        tuple(Numbered(number, name) for number, name in sorted(kept.items())),
        tuple(Body(name, bodies[name]) for name in sorted(named)),
    )


def merged_with_kept(
    reports: Sequence[Report], kept: Iterable[tuple[int, Identifier | None, bytes]], *, missing: bool
) -> Report:
    """Merge reports, and add messages that a process of the core has stored for external processes. `kept`
    yields them by falling numbers.

    Add all that the processes with a report lack, as far as HANDED_BYTES_MAX allows: they live, and would be
    lost. If processes are `missing` in the sense of `Flushes.merge`, which may lack anything, add more as far
    as MERGED_BYTES_MAX allows.
    """
    lowest = min(report.settled for report in reports)
    numbered, bodies, size = [], [], 0
    for number, name, payload in kept:
        size += len(payload) + KEPT_BYTES
        if size > (HANDED_BYTES_MAX if number > lowest else MERGED_BYTES_MAX if missing else 0):
            break
        numbered.append(Numbered(number, name))
        if name is not None:
            bodies.append(Body(name, payload))
    none = (0,) * len(reports[0].counts)
    return merged([*reports, Report(0, none, tuple(numbered), tuple(bodies))])


def covered_from(agreed: Report) -> int:
    """Return the lowest number from which on the merged report has every message. A process can adopt the
    report if it has all messages before that number.
    """
    first = agreed.settled + 1
    for item in reversed(agreed.numbered):
        if item.number != first - 1:
            break
        first = item.number
    return first
