"""Finder of runs by paths: directories with logs, found by names, sizes and times alone.

1. A path is a log, a directory of one run, a directory of runs, or a pattern of those, on a file system that
   all machines see. A URI with `file:` is the same. `remote` finds other addresses of Spark.
2. A run is its directory. Its mark differs when its logs have changed.
3. Directories are listed by several threads, since file systems answer slowly.

This module opens no log.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from antiphon.conformance.judge.trace import logs_among
from antiphon.conformance.spark.pipeline.errors import InputError, NothingThere

NO_RUN: Final = "no run; a run is a directory that holds process-0.ndjson, process-1.ndjson, ..."
_THREADS: Final = 16
_SHARE: Final = 64
"""Number of directories that a thread looks at before it turns to others."""
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True)
class FoundRun:
    """Run: the size of its logs, its mark, and names of logs by process."""

    name: str
    path: str
    size: int
    mark: str
    logs: tuple[tuple[int, str], ...]

    @property
    def is_remote(self) -> bool:
        """Return True if only Spark can read the logs of the run."""
        return is_uri(self.path)


@dataclass(frozen=True)
class Found:
    """Runs on this machine's file systems, and the URIs that Spark has to list."""

    runs: tuple[FoundRun, ...]
    uris: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return the known number of bytes of the logs."""
        return sum(run.size for run in self.runs)


def is_lake(path: Path) -> bool:
    """Return True if there is a lake at this path."""
    return (path / "lake.json").is_file()


def find_runs(paths: Sequence[str | Path]) -> Found:
    """Return the runs at these paths that can be found without Spark.

    Raises:
        InputError: there is no run at a path.
    """
    told = [local_path(str(path)) for path in paths]
    return Found(
        tuple(runs_at(path for path in told if not is_uri(path))),
        tuple(path for path in told if is_uri(path)),
    )


def is_uri(path: str) -> bool:
    """Return True if this is an address on a file system other than this machine's."""
    return bool(_URI.match(path))


def local_path(path: str) -> str:
    """Return a path on this machine: `/tmp` for `file:///tmp`.

    Raises:
        InputError: a file of another machine.
    """
    if not path.startswith("file:"):
        return path
    parts = urlsplit(path)
    if parts.netloc not in ("", "localhost"):
        raise InputError(f"{path}: a file of the machine {parts.netloc!r}; name a path that all machines see")
    return unquote(parts.path)


def lake_at(place: str | Path) -> Path:
    """Return the directory of a lake, a path of a file system that all machines have.

    Raises:
        InputError: an address that only Spark could read.
    """
    told = local_path(str(place))
    if is_uri(told):
        raise InputError(
            f"{told}: a lake is a directory that all machines see, where files are renamed; logs may be at "
            "such an address, a lake may not"
        )
    return Path(told).absolute()


def runs_at(paths: Iterable[str]) -> list[FoundRun]:
    """Return the runs of all paths of this machine's file systems, each once, in the order of their
    directories.

    Raises:
        InputError: there is no run at a path, or the path is ambiguous.
    """
    found: dict[str, FoundRun] = {}
    for path in paths:
        matching = [path] if Path(path).exists() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - a whole path is the pattern
        if not matching:
            raise NothingThere(path, "there is no such file or directory, and no match of such a pattern")
        for match in map(Path, matching):
            if match.is_dir():
                found |= {run.path: run for run in _runs_in(match)}
            elif match.is_file() and logs_among([match.name]):
                run = _run(str(match.parent.absolute()))
                found[run.path] = run
            elif len(matching) == 1:
                raise InputError(f"{match}: not a log; a log is process-0.ndjson, process-1.ndjson, ...")
    return [found[path] for path in sorted(found)]


def _runs_in(source: Path) -> list[FoundRun]:
    """Return the runs in a directory: the directory itself if it has logs, else its subdirectories that have
    logs.
    """
    source = source.absolute()
    try:
        with os.scandir(source) as entries:
            told = [(entry.name, entry.is_dir()) for entry in entries]
    except OSError as error:
        raise InputError(f"{error.filename or source} cannot be read: {error.strerror}") from error
    names = sorted(name for name, is_directory in told if is_directory)
    with ThreadPoolExecutor(_THREADS) as threads:
        shares = (names[at : at + _SHARE] for at in range(0, len(names), _SHARE))
        look = partial(_runs_of, str(source).rstrip("/"))
        inner = [run for share in threads.map(look, shares) for run in share]
    own = logs_among(name for name, is_directory in told if not is_directory)
    if own and any(run.logs for run in inner):
        raise InputError(f"{source} holds logs of one run and directories of runs; name them one by one")
    if own:
        return [_run(str(source))]
    runs = [run for run in inner if run.logs or not (run.name.startswith(".") or is_lake(Path(run.path)))]
    if not runs:
        raise NothingThere(source, NO_RUN)
    return runs


def _runs_of(source: str, names: Sequence[str]) -> list[FoundRun]:
    return [_run(f"{source}/{name}") for name in names]


def _run(path: str) -> FoundRun:
    """Return a directory as a run. A directory that cannot be listed becomes a run without logs."""
    try:
        with os.scandir(path) as entries:
            there = {entry.name: entry for entry in entries}
        told = []
        for process, name in logs_among(there):
            known = there[name].stat()
            told.append((process, name, known.st_size, known.st_mtime_ns))
    except OSError as error:
        return found_run(path, [], str(error.errno))
    return found_run(path, told)


def found_run(path: str, logs: Sequence[tuple[int, str, int, int]], also: str = "") -> FoundRun:
    """Return a run with these logs, each a process, a name, a size and a time; `also` goes into its mark."""
    mark = hashlib.blake2b(also.encode(), digest_size=12)
    for _, name, size, time in logs:
        mark.update(f"{name} {size} {time}\n".encode())
    return FoundRun(
        path.rstrip("/").rpartition("/")[2],
        path,
        sum(size for _, _, size, _ in logs),
        mark.hexdigest(),
        tuple((process, name) for process, name, _, _ in logs),
    )
