"""Renumbering of incarnations: a process that crashes and returns is judged as two processes.

1. The events before `recover` in a log are one incarnation, which crashes there, and the events after it the
  next. The first has the number of the process; others get new numbers.
2. A message that a later incarnation broadcasts is renamed in every event. A message for a process is for all
  of its incarnations.
3. A place in a finding is reported as in the log (`as_logged`).

This module judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from antiphon.conformance.judge.history.finding import Finding, History, Place
from antiphon.conformance.judge.trace import Broadcast, Crash, Event, Recover


class Incarnations:
    """Incarnations of a run: their logs, and in `of` the process of each. `names` maps the messages' new
    names to the logged ones.
    """

    def __init__(self, history: History) -> None:
        self.logs: list[list[Event]] = [[] for _ in history]
        self.of = list(range(len(history)))
        self.names: dict[str, str] = {}
        renamed: dict[str, str] = {}
        first: dict[str, None] = {}
        for process, events in enumerate(history):
            at = process
            for event in events:
                if isinstance(event, Recover):
                    if not self.logs[at] or not isinstance(self.logs[at][-1], Crash):
                        self.logs[at].append(Crash(event.i))
                    at = len(self.logs)
                    self.logs.append([])
                    self.of.append(process)
                    continue
                self.logs[at].append(event)
                if isinstance(event, Broadcast) and event.m.partition(":")[0] == str(process):
                    if event.m not in first and at != process:
                        renamed[event.m] = f"{at}:{event.m.partition(':')[2]}"
                    first.setdefault(event.m)
        if len(self.of) > len(history):
            self.names = {new: old for old, new in renamed.items()}
            self.logs = [[self._told(event, renamed) for event in log] for log in self.logs]

    def _told(self, event: Event, renamed: Mapping[str, str]) -> Event:
        """Return an event with the new name of its message. A message for a process becomes one for all of
        its incarnations.
        """
        name = renamed.get(getattr(event, "m", ""))
        told = event if name is None else msgspec.structs.replace(event, m=name)
        if isinstance(told, Broadcast) and told.destinations is not None:
            meant = tuple(at for at, process in enumerate(self.of) if process in told.destinations)
            return msgspec.structs.replace(told, destinations=meant)
        return told

    def as_logged(self, finding: Finding) -> Finding:
        """Return a finding with the processes and messages as in the logs."""
        reason = finding.reason and re.sub(
            r"\bprocess (\d+) delivers (\S+) before (\S+?)(?=;|$)",
            lambda told: (
                f"process {self._process(int(told[1]))} delivers {self._m(told[2])} before {self._m(told[3])}"
            ),
            finding.reason,
        )
        return replace(
            finding, reason=reason, first=self._place(finding.first), second=self._place(finding.second)
        )

    def _place(self, place: Place | None) -> Place | None:
        if place is None:
            return None
        return Place(self._process(place.process), place.index, self._m(place.message))

    def _process(self, process: int) -> int:
        return self.of[process] if process < len(self.of) else process

    def _m(self, message: str) -> str:
        return self.names.get(message, message)
