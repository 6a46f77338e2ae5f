"""Directory of a run: its logs, as `antiphon verify` reads them, and its schedule.

This module knows files, and nothing of their contents.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from antiphon.conformance.judge.trace import log_name
from antiphon.conformance.run.swarm.schedule import Schedule
from antiphon.conformance.run.swarm.swarm import RunResult
from antiphon.model.files import write_whole

__all__ = ["SCHEDULE", "ScheduleError", "keep", "read_schedule"]

SCHEDULE = "schedule.json"
"""File name of a schedule."""


class ScheduleError(ValueError):
    """Error: a file has no schedule; the message says which and why."""


def keep(result: RunResult, directory: str | Path) -> Path:
    """Write the run of a result that has a schedule into a directory with its name; return the directory.

    An earlier run with that name is replaced.

    Raises:
        OSError: it cannot be written.
    """
    home = Path(directory) / result.name
    home.mkdir(parents=True, exist_ok=True)
    for process, lines in enumerate(result.logs):
        write_whole(home / log_name(process), lines)
    data = msgspec.json.format(msgspec.json.encode(result.schedule), indent=1)
    write_whole(home / SCHEDULE, data + b"\n")
    return home


def read_schedule(file: str | Path) -> Schedule:
    """Return the schedule in a file.

    Raises:
        ScheduleError: the file has none.
    """
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=Schedule)
    except OSError as error:
        raise ScheduleError(f"{file}: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ScheduleError(f"{file}: not a schedule: {error}") from error
