"""Space-time diagram of a simulated run, in virtual time.

A row is one event of one member: its application broadcasts, a message arrives, a timer expires, a fault
begins. The messages that the member sends and delivers in consequence are in the same row. A message that
never arrives is drawn as lost where it was sent.

This module knows events; it knows no protocol, and not how a diagram is drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.conformance.run.swarm.log import Log
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated import SimulatedNetwork

__all__ = ["ROWS_MAX", "Picture"]

ROWS_MAX = 60
"""Largest number of rows of a picture, with the messages sent and delivered up to there."""

Pair = tuple[int, int]


class Picture(Log):
    """Diagram under construction."""

    def __init__(self, members: int) -> None:
        super().__init__(members)
        self._lanes = tuple(f"process {process}" for process in range(members))
        self._rows: list[Event] = []
        self._arrows: list[Arrow] = []
        self._sent: dict[Pair, int] = {}
        self._at: tuple[int | None, float] = (None, -1.0)
        self._network: SimulatedNetwork[Any] | None = None
        self._left_out = 0

    def record(self, event: tracing.Event) -> None:
        """Record an event of a member."""
        if self._left_out:
            self._left_out += isinstance(event, tracing.Receive | tracing.Step)
            return
        process = event.process
        match event:
            case tracing.Receive(datagram=name, kind=kind):
                self._happens(process, kind)
                self._arrives(name)
            case tracing.Step(action=action):
                self._happens(process, action)
            case tracing.Deliver(identifier=(source, count), number=number):
                self._emit(process, f"deliver {source}:{count} as {number}")
            case tracing.Violation(sender=sender, kind=kind):
                self._emit(process, f"process {sender} says {kind}")
            case tracing.Send(datagram=name, to=to, kind=kind) if self._row(process):
                self._sent[name] = len(self._arrows)
                row = len(self._rows)
                self._arrows.append(Arrow(kind, kind, process, row, to, row, Fate.LOST))

    def watch(self, network: SimulatedNetwork[Any]) -> None:
        """Store the network, whose time is used."""
        self._network = network

    def broadcast(self, process: int, k: int, payload: bytes) -> None:  # noqa: ARG002 - shown by its name
        """Record that the application of a process requests its k-th broadcast."""
        self._happens(process, f"broadcast {process}:{k}")

    def deliver(self, process: int, delivery: Delivery) -> None:
        """Do nothing: the members' own events show deliveries."""

    def fault(self, process: int | None, what: str) -> None:
        """Record that a fault begins or ends."""
        self._happens(process, what, fault=True)

    def diagram(self, title: str, shows: str, why: str) -> Diagram:
        """Return the diagram."""
        rows, arrows = list(self._rows), tuple(self._arrows)
        if self._left_out:
            rows.append(Event(len(rows) + 1, None, f"... {self._left_out:,} rows more, {self._time()}"))
        return Diagram(title, shows, why, False, self._lanes, len(rows), tuple(rows), arrows)

    @property
    def _now(self) -> float:
        return 0.0 if self._network is None else self._network.now

    def _happens(self, process: int | None, label: str, *, fault: bool = False) -> None:
        """Add a row for an event of a process; do nothing if the diagram is full."""
        if len(self._rows) == ROWS_MAX:
            self._left_out += 1
            return
        self._rows.append(Event(len(self._rows) + 1, process, f"{label}, {self._time()}", fault=fault))
        self._at = process, self._now

    def _time(self) -> str:
        return f"{round(self._now, 1):,g} ms"

    def _arrives(self, name: Pair) -> None:
        """End the arrow of a message in the last row; draw a second copy as an arrow of its own."""
        if self._left_out:
            return
        arrow = self._arrows[self._sent[name]]
        arrived = replace(arrow, end=len(self._rows), fate=Fate.RECEIVED)
        if arrow.fate is Fate.LOST:
            self._arrows[self._sent[name]] = arrived
        else:
            self._arrows.append(arrived)

    def _row(self, process: int) -> bool:
        """Make the last row one of this member at the present time: add a row without a stated cause if it is
        not. Return False if the diagram is full.
        """
        if self._at != (process, self._now):
            self._happens(process, "sends")
        return not self._left_out

    def _emit(self, process: int, told: str) -> None:
        if self._row(process):
            last = self._rows[-1]
            self._rows[-1] = replace(last, emits=(*last.emits, told))
