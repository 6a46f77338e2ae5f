"""Trace of a run from the lines that the members of another system have printed.

A run of a member is a process of the trace, with its own number. The rules:

| line | event |
|---|---|
| `me ADDRESS` | none: views name the member by this address |
| `sent NAME:ID` | `broadcast` |
| `got NAME:ID` | `deliver`, numbered by the deliveries of this member |
| `view KEY ADDRESS...` | `install`; views get the numbers of an order that fits every member |
| end of a member that was killed, or that left | `crash`, since it owes nothing afterwards |
| end of the run, before all is delivered | no `end`: nobody is blamed for what might still come |

A line that was cut off by the end of a process is left out. A member of a view whose address nobody has said
is one that was killed before it could, if so many were; else it gets a process without a log, so that nothing
is held for true of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import json

from antiphon.conformance.judge.trace.directory import log_name
from antiphon.conformance.judge.trace.schema import SCHEMA, VERSION

__all__ = ["Printed", "delivered", "views_in_order", "write_trace"]


class Printed(NamedTuple):
    """Lines that one run of a member has printed.

    Attributes:
        name: the name of the run of the member, as its messages have it.
        lines: the whole lines, without their ends.
        is_gone: True if it was killed or has left.
        is_whole: True if nothing was missing at the end of the run.
    """

    name: str
    lines: tuple[str, ...]
    is_gone: bool
    is_whole: bool

    @property
    def address(self) -> str | None:
        """Return the address by which views name it, if it has said so."""
        return next((line[3:] for line in self.lines if line.startswith("me ")), None)

    @property
    def views(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return its views in their order: the key and the addresses of the members.

        A system may have no names for its views, and then the key of a line is `-`. Such a view is named by
        its members, and by how often the member has had a view of just these: all who go apart and come
        together again count alike.
        """
        found: list[tuple[str, tuple[str, ...]]] = []
        for line in self.lines:
            if not line.startswith("view "):
                continue
            _, key, *members = line.split()
            if key == "-":
                key = "+".join(sorted(members))
                key += f"#{1 + sum(set(members) == set(before) for _, before in found)}"
            found.append((key, tuple(members)))
        return found


def delivered(printed: Printed) -> int:
    """Return the number of messages that a run of a member has delivered."""
    return sum(line.startswith("got ") for line in printed.lines)


def views_in_order(members: Sequence[Printed]) -> dict[str, int]:
    """Return the number of each view, from 1: every member installs its views by growing numbers.

    Where no order fits all members, because two install two views in opposite orders, the views are numbered
    as they are first met. The judge then finds the member that goes back.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    met: dict[str, None] = {}
    for member in members:
        before: str | None = None
        for key, _ in member.views:
            met[key] = None
            sorter.add(key, *([] if before is None or before == key else [before]))
            before = key
    try:
        order = [*sorter.static_order()]
    except CycleError:
        order = [*met]
    return {key: number for number, key in enumerate(order, 1)}


def write_trace(
    members: Sequence[Printed], directory: str | Path, run: str, system: str, seed: int
) -> None:
    """Write the logs of a run into an empty directory. Raises OSError."""
    numbers = views_in_order(members)
    places = {name: place for place, name in enumerate(member.name for member in members)}
    addresses = {member.address: place for place, member in enumerate(members) if member.address is not None}
    views = [others for member in members for _, others in member.views]
    in_views = dict.fromkeys(address for others in views for address in others)
    silent = [place for place, member in enumerate(members) if member.is_gone and member.address is None]
    strangers = [address for address in in_views if address not in addresses]
    addresses |= dict(zip(strangers, silent, strict=False))
    strangers = strangers[len(silent) :]
    addresses |= {address: len(members) + count for count, address in enumerate(strangers)}
    processes = len(members) + len(strangers)
    for place, member in enumerate(members):
        head = {
            "schema": SCHEMA, "version": VERSION, "run": run, "protocol": system, "process": place,
            "processes": processes, "seed": seed,
        }  # fmt: skip
        events = _events(member, places, addresses, numbers)
        lines = [head, *({"i": index, **event} for index, event in enumerate(events))]
        (Path(directory) / log_name(place)).write_bytes(b"".join(json.encode(line) + b"\n" for line in lines))


def _events(
    member: Printed, places: Mapping[str, int], addresses: Mapping[str, int], numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    count = 0
    views = iter(member.views)
    for line in member.lines:
        kind, _, rest = line.partition(" ")
        if kind in ("sent", "got"):
            name, _, identifier = rest.partition(":")
            source = places.get(name, len(places) + len(addresses))
            digest = hashlib.blake2b(rest.encode(), digest_size=16).hexdigest()
            named = {"m": f"{source}:{identifier}", "digest": digest}
            if kind == "sent":
                events.append({"kind": "broadcast", **named})
            else:
                count += 1
                events.append({"kind": "deliver", "number": count, **named})
        elif kind == "view":
            key, members = next(views)
            members_of = sorted({addresses[address] for address in members})
            events.append({"kind": "install", "view": numbers[key], "members": members_of})
    if member.is_gone:
        events.append({"kind": "crash"})
    if member.is_gone or member.is_whole:
        events.append({"kind": "end"})
    return events
