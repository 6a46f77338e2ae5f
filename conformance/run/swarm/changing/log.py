"""Record of a run of members: their logs, as the judge of logs reads them, and their own actions.

This module knows events on both sides, and no protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from antiphon.conformance.judge.trace import Event, Header, digest
from antiphon.conformance.judge.trace.members import Line, as_processes
from antiphon.impl import tracing
from antiphon.impl.membership.member import Excluded, View
from antiphon.impl.membership.membership import Event as Told
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers

__all__ = ["Log", "history_of"]


class Log:
    """Watcher that counts the members' actions, and stores their logs at the end."""

    recording = False

    def __init__(self, members: int) -> None:
        self.members = members
        self.actions: Counter[str] = Counter()
        self.events: tuple[tuple[Event, ...], ...] = ()

    def record(self, event: tracing.Event) -> None:
        """Do nothing: events of cores of lists are not recorded."""

    def fault(self, process: int | None, what: str) -> None:
        """Do nothing: the logs have no faults of the environment."""

    def broadcast(self, process: int, payload: bytes) -> None:
        """Do nothing: the members log broadcasts themselves."""

    def watch(self, group: SimulatedMembers) -> None:
        """Store the group of the run."""

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Do nothing: the logs have no inputs of a process, only the application's events."""

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:
        """Do nothing: the logs have no datagrams."""

    def takes(self, process: int, life: Life, events: Sequence[Told]) -> None:  # noqa: ARG002 - of any
        """Record the events that the application gets: views and the like are counted, not messages."""
        for event in events:
            if not isinstance(event, Delivery):
                self.actions[type(event).__name__.lower()] += 1

    def lines(self, run: str, protocol: str, seed: int, messages: int) -> tuple[bytes, ...]:
        """Return the files of the logs, one for each member."""
        encode, count = msgspec.json.encode, len(self.events)
        return tuple(
            b"".join(
                encode(line) + b"\n"
                for line in (
                    Header(run=run, protocol=protocol, process=process, processes=count, seed=seed,
                           messages=messages),
                    *log,
                )
            )
            for process, log in enumerate(self.events)
        )  # fmt: skip


def history_of(group: SimulatedMembers, *, owed: bool, whole: bool) -> tuple[tuple[Event, ...], ...]:
    """Return the logs of all members, numbered in the order in which they were started.

    Args:
        group: the final state of the run.
        owed: True if running members must have all messages; else all end there, as in a crash.
        whole: True if the run went to its end.
    """
    lives = {life.member.incarnation.hex(): life for life in group.all_lives}
    up = {name for name, life in lives.items() if life.alive and not life.over} if owed else set[str]()
    crashed = lives.keys() - up
    logs = {name: _lines(life) for name, life in lives.items()}
    _, events = as_processes(logs, crashed=crashed, ended=up if whole else ())
    return tuple(
        tuple(msgspec.convert(events[number], list[Event])) for number in sorted(events)
    )


def _lines(life: Life) -> list[Line]:
    """Return the lines that a member would have written (`antiphon.impl.member_log`)."""
    lines: list[Line] = []
    said = iter(zip(life.sent_after, enumerate(life.sent, 1), strict=True))
    after, sent = next(said, (-1, (0, b"")))
    for place, event in enumerate([*life.events, None]):
        while after == place:
            lines.append({"kind": "broadcast", "id": sent[0], "digest": digest(sent[1])})
            after, sent = next(said, (-1, (0, b"")))
        if event is not None:
            lines += _line(event)
    return lines


def _line(event: Told) -> list[dict[str, Any]]:
    match event:
        case Delivery(source=source, id=name, number=number, payload=payload):
            named = {"source": source.incarnation.hex(), "id": name, "number": number}
            return [{"kind": "deliver", **named, "digest": digest(payload)}]
        case View():
            members, failed = (
                [member.incarnation.hex() for member in some] for some in (event.members, event.failed)
            )
            return [{"kind": "view", "number": event.number, "members": members, "failed": failed}]
    return [{"kind": "excluded" if isinstance(event, Excluded) else type(event).__name__.lower()}]
