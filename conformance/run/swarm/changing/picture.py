"""Space-time diagram of a run of members: joins, departures, failures, and each application's events.

A row is one event of an application, or a fault. If a datagram caused it, an arrow begins at the datagram's
sending, which is a row too. Heartbeats and other datagrams without an event of an application are omitted. So
are rows beyond `ROWS_MAX`.

This module knows events; it knows no protocol, and not how a diagram is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.conformance.run.swarm.changing.log import Log
from antiphon.conformance.run.swarm.picture import ROWS_MAX
from antiphon.impl.membership.member import View
from antiphon.impl.membership.membership import Event as Told
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers

__all__ = ["Picture"]


@dataclass
class _Row:
    """The action of one process at one step of a run."""

    step: int
    process: int | None
    label: str
    at_ms: float
    emits: list[str] = field(default_factory=list)
    fault: bool = False
    follows: int | None = None
    """The datagram that it follows from."""
    crash: bool = False


class Picture(Log):
    """Diagram under construction."""

    def __init__(self, members: int) -> None:
        super().__init__(members)
        self._rows: list[_Row] = []
        self._sent: dict[int, tuple[int, int, str, float]] = {}
        """Step, sender, kind and time of each datagram."""
        self._cause: tuple[str, int | None, int] = ("", None, -1)
        self._group: SimulatedMembers | None = None

    def watch(self, group: SimulatedMembers) -> None:
        """Store the group, whose time is used."""
        self._group = group

    def fault(self, process: int | None, what: str) -> None:
        """Record that a fault begins or ends."""
        self._add(process, what, fault=True, crash=what == "crashes")

    def broadcast(self, process: int, payload: bytes) -> None:
        """Record that the application of a process requests a broadcast."""
        name = payload.split(b" ")[0] if payload[:4] != b"last" else payload
        self._add(process, f"broadcast {name.decode()}")

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Store the cause of the following events."""
        self._cause = (kind, datagram, process)

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:  # noqa: ARG002
        """Store the origin of a datagram."""
        assert self._group is not None
        self._sent[datagram] = (self._group.steps, process, kind, self._group.now)

    def takes(self, process: int, life: Life, events: Sequence[Told]) -> None:
        """Draw the events that the application gets."""
        super().takes(process, life, events)
        if not events:
            return
        kind, datagram, whose = self._cause
        label, follows = (kind, datagram) if whose == process else ("", None)
        row = self._add(process, label or "goes on", follows=follows)
        row.emits += map(_shown, events)

    def _add(
        self, process: int | None, label: str, *, fault: bool = False, follows: int | None = None,
        crash: bool = False,
    ) -> _Row:  # fmt: skip
        assert self._group is not None
        row = _Row(self._group.steps, process, label, self._group.now, [], fault, follows, crash)
        self._rows.append(row)
        self._cause = ("", None, -1)
        return row

    def diagram(self, title: str, shows: str, why: str) -> Diagram:
        """Return the diagram, which has at most `ROWS_MAX` rows."""
        rows = self._with_senders()
        events = [
            Event(
                number, row.process, f"{row.label}, {round(row.at_ms, 1):,g} ms", tuple(row.emits),
                fault=row.fault, crash=row.crash,
            )
            for number, row in enumerate(rows, 1)
        ]  # fmt: skip
        places = {(row.step, row.process): number for number, row in reversed(list(enumerate(rows, 1)))}
        arrows = []
        for number, row in enumerate(rows, 1):
            if row.follows is not None:
                step, sender, kind, _ = self._sent[row.follows]
                begin = places[step, sender]
                arrows.append(Arrow(kind, kind, sender, begin, row.process, number, Fate.RECEIVED))
        left_out = len(self._rows) - sum(row.label != "sends" for row in rows)
        if left_out:
            events.append(Event(len(events) + 1, None, f"... {left_out:,} rows more"))
        lanes = tuple(f"process {process}" for process in range(self.members))
        return Diagram(title, shows, why, False, lanes, len(events), tuple(events), tuple(arrows))

    def _with_senders(self) -> list[_Row]:
        """Return the rows of the diagram, with a row for each sending of a datagram that causes one of
        them.
        """
        for count in range(min(len(self._rows), ROWS_MAX), -1, -1):
            rows = self._rows[:count]
            known = {(row.step, row.process) for row in rows}
            sends: dict[tuple[int, int], _Row] = {}
            for row in rows:
                if row.follows is not None:
                    step, sender, _, at_ms = self._sent[row.follows]
                    if (step, sender) not in known:
                        sends[step, sender] = _Row(step, sender, "sends", at_ms)
            if count + len(sends) <= ROWS_MAX:
                return sorted([*rows, *sends.values()], key=lambda row: row.step)
        return []


def _shown(event: Told) -> str:
    match event:
        case Delivery(source=source, id=name, number=number):
            return f"deliver {source.name[1:]}:{name} as {number}"
        case View(number=number, members=members):
            return f"view {number}: {' '.join(member.name[1:] for member in members)}"
    return type(event).__name__.lower()
