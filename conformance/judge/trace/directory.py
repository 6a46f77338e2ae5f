"""Run: a directory with one log for each process; the headers of the logs must agree.

DIRECTORY/process-0.ndjson, process-1.ndjson, ... are the logs, each of which may be compressed
(process-0.ndjson.gz, .bz2, .xz or .zst); anything else in the directory is ignored. This module knows file
names and headers, not properties. A log that is missing or belongs to another run is a problem with its
place; the other logs are still read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from antiphon.conformance.judge.trace.lines import shortened
from antiphon.conformance.judge.trace.reader import Log, Problem, read_log
from antiphon.conformance.judge.trace.schema import RESULTS, Broadcast, Crash, Event, Header, Recover

NO_LOG: Final = "no log: a run holds process-0.ndjson, process-1.ndjson, ..."
MISSING: Final = "the log of this process is missing"
NO_DELIVERIES: Final = "nothing was delivered, decided or suspected in this run: there is nothing to judge"
OTHER_COUNT: Final = "the header counts other broadcasts than the logs hold"

_NAME = re.compile(r"process-(0|[1-9][0-9]{0,3})\.ndjson(\.gz|\.bz2|\.xz|\.zst)?")


def log_name(process: int) -> str:
    """Return the name of the file for the log of a process."""
    return f"process-{process}.ndjson"


def logs_in(directory: str | Path) -> list[tuple[int, Path]]:
    """Return the files of a directory with names of logs, each with the number of its process, in its order.

    Raises:
        OSError: the directory cannot be listed.
    """
    home = Path(directory)
    return [(process, home / name) for process, name in logs_among(os.listdir(home))]  # noqa: PTH208 - names are enough


def logs_among(names: Iterable[str]) -> list[tuple[int, str]]:
    """Return the names that are those of logs, each with the number of its process, in its order. A log is
    preferred to its compressed copy.
    """
    matches = ((_NAME.fullmatch(name), name) for name in names)
    found = sorted(((int(match.group(1)), name) for match, name in matches if match), reverse=True)
    return sorted(dict(found).items())


@dataclass(frozen=True)
class Run:
    """Logs of one run, `logs[p]` being that of process p; `header` is that of the first readable log."""

    directory: Path
    header: Header | None
    logs: tuple[Log, ...]
    faults: tuple[Problem, ...]
    """Problems between the logs; each log has the problems within itself."""

    @property
    def events(self) -> tuple[tuple[Event, ...], ...]:
        """Return the events of each process, in its own order."""
        return tuple(log.events for log in self.logs)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Return everything that forbids a verdict: faults between the logs and within each."""
        return self.faults + tuple(problem for log in self.logs for problem in log.problems)


def load_run(directory: str | Path, ends: Mapping[int, int] | None = None) -> Run:
    """Read the logs of a run. With `ends`, read only the logs of these processes, each up to this byte. The
    contents of the directory raise no error: see `Run.problems`.
    """
    directory = Path(directory)
    try:
        found = {
            number: read_log(path, None if ends is None else ends[number])
            for number, path in logs_in(directory)
            if ends is None or number in ends
        }
    except OSError:
        found = {}
    headers = {process: log.header for process, log in found.items()}
    contents = Contents()
    for process, log in found.items():
        contents.note(process, log.events)
        contents.may_be_less |= not log.complete
    faults = faults_between(directory, headers, contents)
    logs = tuple(
        found.get(process, Log(directory / log_name(process), None, (), (), ()))
        for process in range(_processes(headers))
    )
    return Run(directory, _first(headers), logs, faults)


@dataclass
class Contents:
    """Counts of the logs of a run that headers and judges need.

    `results` counts the events of `RESULTS`, `broadcasts` the messages that their sources broadcast.
    `may_be_less` is True if a process has crashed or a log has a fault, so that fewer broadcasts than planned
    are allowed.
    """

    results: int = 0
    broadcasts: int = 0
    may_be_less: bool = False

    def note(self, process: int, events: Iterable[Event]) -> None:
        """Count events of a process."""
        for event in events:
            if isinstance(event, RESULTS):
                self.results += 1
            elif isinstance(event, Broadcast):
                self.broadcasts += event.m.partition(":")[0] == str(process)
            elif isinstance(event, Crash | Recover):
                self.may_be_less = True


def faults_between(
    directory: str | Path, headers: Mapping[int, Header | None], contents: Contents
) -> tuple[Problem, ...]:
    """Return the faults between the logs of a run: a log is missing, headers disagree, the run has no result,
    or counts differ from the header.

    Args:
        directory: the directory of the logs.
        headers: the header of each existing log, by the number of its process; None for none.
        contents: the counts of all logs.
    """
    directory = Path(directory)
    if not headers:
        return (Problem(directory, 0, NO_LOG),)
    first = _first(headers)
    faults: list[Problem] = []
    for process in range(_processes(headers)):
        path = directory / log_name(process)
        header = headers.get(process)
        if process not in headers:
            faults.append(Problem(path, 0, MISSING))
        elif header is not None and first is not None:
            disagreements = "; ".join(_disagreements(header, first, process))
            faults.extend([Problem(path, 1, shortened(disagreements))] if disagreements else [])
    if not contents.results:
        faults.append(Problem(directory, 0, NO_DELIVERIES))
    elif first is not None and (told := _other_count(first, contents, certain=not faults)):
        faults.append(Problem(directory, 0, told))
    return tuple(faults)


def _other_count(header: Header, contents: Contents, *, certain: bool) -> str:
    """Return a sentence on how the number of broadcasts differs from the header's; "" if it does not, or if
    the header has none.
    """
    said, found = header.messages, contents.broadcasts
    if not said or said == found or (found < said and (contents.may_be_less or not certain)):
        return ""
    more = "; leave out messages, or say 0, where broadcasts are not logged" if not found else ""
    return f"{OTHER_COUNT}: {said:,} and {found:,}{more}"


def _first(headers: Mapping[int, Header | None]) -> Header | None:
    return next((header for _, header in sorted(headers.items()) if header is not None), None)


def _processes(headers: Mapping[int, Header | None]) -> int:
    """Return the number of logs that a run should have: the number in its first header, or the number of
    existing logs if that is greater.
    """
    first = _first(headers)
    return max([first.processes if first else 0, *(process + 1 for process in headers)])


def _disagreements(header: Header, first: Header, process: int) -> Iterator[str]:
    """Yield the contradictions of a header with its file's name or the run's first header."""
    if header.process != process:
        yield f"the header names process {header.process}, the file process {process}"
    if process >= first.processes:
        yield f"process {process} in a run of {first.processes} processes"
    for field in Header.__struct_fields__:
        mine, theirs = getattr(header, field), getattr(first, field)
        if field != "process" and mine != theirs:
            yield f"{field} is {_shown(mine)} here and {_shown(theirs)} in the run's first log"


def _shown(value: object) -> str:
    return shortened(repr(value), 40)
