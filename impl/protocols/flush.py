"""The three questions of a membership to a core when the view changes: its knowledge, the adoption of a
common result, and an end.

A core serves one list of members, and is never changed: the next list gets a new core. Between the two stands
a flush. Each member stops its core and reports what it knows (`report`); one of them joins the reports
(`merge`); all agree on one result, and each delivers of it what it has not delivered (`adopt`).

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
    "KEPT_BYTES",
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
"""Largest number of bytes kept for external members that a change of the list gives to all."""

KEPT_BYTES = 64
"""Approximate number of bytes that a kept message takes beside its payload."""


class Numbered(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """An element of seqQ: the message with this number; `identifier` None is NULL."""

    number: Natural
    identifier: Identifier | None


class Body(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """An element of recvQ."""

    identifier: Identifier
    payload: Payload


class Report(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Figure 32, step 1: what a process knows when it has stopped; and step 3: the union of such reports."""

    settled: Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
    """All members of the ring have what is numbered up to here. In a union: all is delivered up to here."""
    counts: tuple[Annotated[int, Meta(ge=0, le=NATURAL_MAX)], ...]
    """Number of messages of each member that have a number up to `settled`: its first ones."""
    numbered: tuple[Numbered, ...]
    """seqQ, by rising numbers."""
    bodies: tuple[Body, ...]
    """recvQ, by rising identifiers: with their numbers in `numbered`, or without a number yet."""


class Flushes(Protocol):
    """A core of a list, which ends in a flush."""

    @property
    def lost(self) -> bool:
        """Return True if this process listens, and has missed what nobody keeps any more."""
        ...

    @property
    def caught_up(self) -> bool:
        """Return True if this process listens, and has missed nothing."""
        ...

    def report(self) -> Report:
        """Return what this process knows; after this it gets no other call than the next two."""
        ...

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Return what all will adopt when these have reported, this process among them.

        `missing` says that members who have not reported will adopt it too, whatever they have.
        """
        ...

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Deliver, in order, all of it that was not delivered here; None: some of it is here nowhere."""
        ...


def merged(reports: Iterable[Report]) -> Report:
    """Join reports (figure 32, step 3): numbers without holes, and behind them the messages without a number.

    A number is left out, with all behind it, where nobody has reported it or its body, unless somebody knows
    that all have it (`cut_holes`). What then has no number gets the next ones, in the order of identifiers
    (`order_received`).
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
    """Join reports and what a process of the core has kept for external ones, by falling numbers.

    So much of it is joined as they need and MERGED_BYTES_MAX allow. `missing` is as of `Flushes.merge`.
    """
    lowest = 0 if missing else min(report.settled for report in reports)
    numbered, bodies, room = [], [], MERGED_BYTES_MAX
    for number, name, payload in kept:
        room -= len(payload) + KEPT_BYTES
        if number <= lowest or room < 0:
            break
        numbered.append(Numbered(number, name))
        if name is not None:
            bodies.append(Body(name, payload))
    none = (0,) * len(reports[0].counts)
    return merged([*reports, Report(0, none, tuple(numbered), tuple(bodies))])


def covered_from(agreed: Report) -> int:
    """Return the lowest number from which on a union has everything: who has all before it lacks nothing."""
    first = agreed.settled + 1
    for item in reversed(agreed.numbered):
        if item.number != first - 1:
            break
        first = item.number
    return first
