"""A run is a directory that holds one log a process, and its logs must agree on what it was.

DIRECTORY/process-0.ndjson, process-1.ndjson, ... are the logs; anything else in the directory is
left alone. This module knows file names and headers, not properties. A log that is missing or
belongs to another run is a located problem; the other logs are still read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from antiphon.conformance.trace.causal import Merge, causal_order
from antiphon.conformance.trace.reader import Log, Problem, read_log
from antiphon.conformance.trace.schema import Event, Header

NO_LOG: Final = "no log: a run holds process-0.ndjson, process-1.ndjson, ..."
NO_DELIVERIES: Final = "nothing was delivered in this run: there is nothing to judge"

_NAME = re.compile(r"process-(0|[1-9][0-9]{0,3})\.ndjson")


def log_name(process: int) -> str:
    """Name the file that holds the log of a process."""
    return f"process-{process}.ndjson"


def logs_in(directory: Path) -> list[tuple[int, Path]]:
    """The files of a directory that are named as logs, each with the number of its process; in its order.

    Raises:
        OSError: the directory cannot be listed.
    """
    matches = ((_NAME.fullmatch(path.name), path) for path in directory.iterdir())
    return sorted((int(match.group(1)), path) for match, path in matches if match)


@dataclass(frozen=True)
class Run:
    """The logs of one run, `logs[p]` being that of process p; `header` is that of the first readable log."""

    directory: Path
    header: Header | None
    logs: tuple[Log, ...]
    faults: tuple[Problem, ...]
    """What is wrong between the logs; what is wrong within one stands in that log."""

    @property
    def events(self) -> tuple[tuple[Event, ...], ...]:
        """The events of each process, in its own order."""
        return tuple(log.events for log in self.logs)

    @cached_property
    def merge(self) -> Merge:
        """All events in one causal order; computed when first asked for."""
        return causal_order(self.logs)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that forbids a verdict: faults of the run, of each log, and of causality."""
        within = tuple(problem for log in self.logs for problem in log.problems)
        return self.faults + within + self.merge.problems


def load_run(directory: Path) -> Run:
    """Read all logs of a run. Never raises for what the directory holds: see `Run.problems`."""
    found = _find(directory)
    first = next((log.header for log in found.values() if log.header is not None), None)
    count = max([first.processes if first else 0, *(process + 1 for process in found)], default=0)
    logs: list[Log] = []
    faults: list[Problem] = []
    if not found:
        faults.append(Problem(directory, 0, NO_LOG))
    for process in range(count):
        path = directory / log_name(process)
        log = found.get(process)
        if log is None:
            log = read_log(path)
        elif log.header is not None and first is not None:
            faults.extend(_disagreements(log, log.header, first, process))
        logs.append(log)
    return Run(directory, first, tuple(logs), tuple(faults))


def _find(directory: Path) -> dict[int, Log]:
    """Read every file that is named as a log, by the number of its process."""
    if not directory.is_dir():
        return {}
    return {number: read_log(path) for number, path in logs_in(directory)}


def _disagreements(log: Log, header: Header, first: Header, process: int) -> list[Problem]:
    """What a header says that its file's name or the run's first header contradicts."""
    faults = []
    if header.process != process:
        faults.append(f"the header names process {header.process}, the file process {process}")
    if process >= first.processes:
        faults.append(f"process {process} in a run of {first.processes} processes")
    mine, theirs = (msgspec.structs.asdict(h) for h in (header, first))
    faults.extend(
        f"{field} is {mine[field]!r} here and {theirs[field]!r} in the run's first log"
        for field in mine
        if field != "process" and mine[field] != theirs[field]
    )
    return [Problem(log.path, 1, fault) for fault in faults]
