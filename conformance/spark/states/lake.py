"""Lake of states: a directory with levels as Parquet, known states as sorted runs, and one file that lists
the complete levels.

    search.json                        the complete levels: a level counts when it is listed here
    levels/0007/part-00003.parquet     states found after seven steps whose hashes fall into partition 3
    known/part-00003/0004-0007.rows    the states of levels 4 to 7 of that partition, sorted, as plain rows
    found/0008/00005-0001.rows         successors that a task of Spark found, until level 8 is whole

1. Partition p of P has the states whose 64-bit hash lies in the p-th of P equal ranges. States are rows of
   machine words; everywhere they are sorted by hash.
2. A file is written beside its place and renamed; `search.json` is renamed last. However a run ended, at any
   place, the next run begins after the last listed level, and makes the files of the level after it
   again.
3. Runs of known states are joined as they grow, each at least twice as large as the next: so that a state is
   written again a few times, and a partition has few runs. Merged runs are removed one level later.

This module knows nothing of Spark, nor of the meaning of states.
"""

from __future__ import annotations

import errno
import fcntl
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from antiphon.conformance.spark.pipeline.errors import InputError
from antiphon.model.engines.native.driver.batcher import Words

SCHEMA = "antiphon.states"
VERSION = 1
GROUP = 1 << 17
"""Number of states in a row group: the least that a task takes."""


class LakeError(InputError):
    """Error: a directory is no lake of this search, is damaged, in use or full, or its worker was killed."""


class Run(msgspec.Struct, frozen=True, array_like=True):
    """Run: the sorted states of levels `first` to `last` of a partition, `count` of them, in one file."""

    first: int
    last: int
    count: int

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return f"{self.first:04d}-{self.last:04d}.rows"


class Way(msgspec.Struct, frozen=True, array_like=True):
    """State on the path to a finding: its predecessor (-1 for none), and its words."""

    parent: int
    words: tuple[int, ...]


class Content(msgspec.Struct, forbid_unknown_fields=True):
    """Complete part of a search.

    Attributes:
        program: the digest of the specification with its constants.
        levels: the number of states of each partition of each level.
        transitions: the number of transitions from the states of all levels but the last.
        counts: the number of times each step was taken, by its number.
        known: the runs of each partition.
        facts: the first level in which each fact is true (`tasks`).
        ways: the states on the paths to findings, by number.
    """

    schema: str
    version: int
    name: str
    program: str
    words: int
    partitions: int
    levels: list[list[int]] = msgspec.field(default_factory=list)
    transitions: int = 0
    counts: list[int] = msgspec.field(default_factory=list)
    known: list[list[Run]] = msgspec.field(default_factory=list)
    facts: dict[str, int] = msgspec.field(default_factory=dict)
    ways: dict[int, Way] = msgspec.field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Lake:
    """Files of a lake, with paths that every executor sees."""

    directory: Path

    @property
    def index(self) -> Path:
        """Return the file that lists the complete levels."""
        return self.directory / "search.json"

    def level(self, level: int) -> Path:
        """Return the directory of a level."""
        return self.directory / "levels" / f"{level:04d}"

    def part(self, level: int, partition: int) -> Path:
        """Return the file of the states of one level and partition."""
        return self.level(level) / f"part-{partition:05d}.parquet"

    def runs(self, partition: int) -> Path:
        """Return the directory of the runs of a partition."""
        return self.directory / "known" / f"part-{partition:05d}"

    # States -------------------------------------------------------------------------------------------------

    def write_part(self, level: int, partition: int, rows: Words) -> None:
        """Write the new states of a partition; write no file if there are none."""
        if not len(rows):
            return
        columns = {f"word_{number}": _column(rows[:, number]) for number in range(rows.shape[1])}
        table, single = pa.table(columns), len(columns) == 1  # of a single word no value comes twice
        self.level(level).mkdir(parents=True, exist_ok=True)
        _replace(
            self.part(level, partition),
            lambda file: parquet.write_table(
                table,
                file,
                row_group_size=GROUP,
                compression="zstd",
                use_dictionary=not single,
                column_encoding="BYTE_STREAM_SPLIT" if single else None,
                write_statistics=False,
            ),
        )

    def read_part(self, level: int, partition: int, group: int) -> Words:
        """Return the states of one row group."""
        with parquet.ParquetFile(self.part(level, partition)) as file:
            table = file.read_row_group(group, use_threads=False)
        rows = np.empty((table.num_rows, table.num_columns), dtype=np.uint64)
        for number, column in enumerate(table.columns):
            begin = 0
            for chunk in column.chunks:  # as they stand in memory: `to_numpy` would load pandas first
                words = np.frombuffer(chunk.buffers()[1], np.uint64, len(chunk), 8 * chunk.offset)
                rows[begin : begin + len(chunk), number] = words
                begin += len(chunk)
        return rows

    def write_run(self, partition: int, run: Run, rows: Words) -> None:
        """Replace the file of a sorted block of known states with these rows."""
        self.runs(partition).mkdir(parents=True, exist_ok=True)
        _replace(self.runs(partition) / run.name, lambda file: file.write(pa.py_buffer(rows)))

    def read_run(self, partition: int, run: Run, words: int) -> Words:
        """Return a run of known states, mapped into memory.

        Raises:
            LakeError: it is missing or has another size.
        """
        file = self.runs(partition) / run.name
        if not file.is_file() or file.stat().st_size != 8 * words * run.count:
            raise LakeError(f"{file}: is not what the search left here; remove the directory to begin anew")
        rows: Words = np.memmap(file, dtype=np.uint64, mode="r", shape=(run.count, words))
        return rows

    def write_found(self, level: int, task: int, number: int, rows: Words) -> None:
        """Write successors that a task found, for the tasks of their partitions."""
        file = self._found(level, task, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, lambda opened: opened.write(pa.py_buffer(rows)))

    def read_found(self, level: int, task: int, number: int, words: int) -> Words:
        """Return the successors that a task found, mapped into memory."""
        rows = np.memmap(self._found(level, task, number), dtype=np.uint64, mode="r")
        return rows.reshape(-1, words)

    def remove_found(self) -> None:
        """Remove the successors that tasks found, when their level is complete or will be made again."""
        shutil.rmtree(self.directory / "found", ignore_errors=True)

    def _found(self, level: int, task: int, number: int) -> Path:
        return self.directory / "found" / f"{level:04d}" / f"{task:05d}-{number:04d}.rows"

    def remove_old_runs(self, partition: int, kept: Sequence[Run], level: int) -> None:
        """Remove the runs that were merged before `level`. Later ones stay, since another attempt of this
        task may still write runs of the level.
        """
        wanted = {run.name for run in kept}
        for file in self.runs(partition).glob("*.rows"):
            if file.name not in wanted and int(file.stem.partition("-")[2]) < level:
                file.unlink(missing_ok=True)

    # What is whole ------------------------------------------------------------------------------------------

    def read(self) -> Content | None:
        """Return the complete part of the search, or None if the lake has no search.

        Raises:
            LakeError: it cannot be read, or files are missing.
        """
        if not self.index.exists():
            return None
        try:
            content = msgspec.json.decode(self.index.read_bytes(), type=Content)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise LakeError(f"{self.index}: is no lake of states: {error}") from error
        if (content.schema, content.version) != (SCHEMA, VERSION):
            raise LakeError(f"{self.index}: was written by another version of antiphon")
        for level, counts in enumerate(content.levels):
            for partition, count in enumerate(counts):
                if count and not self.part(level, partition).is_file():
                    raise LakeError(f"{self.part(level, partition)} is missing: the lake is damaged")
        for partition, runs in enumerate(content.known):
            for run in runs:
                self.read_run(partition, run, content.words)
        return content

    def write(self, content: Content) -> None:
        """Write the file that lists the complete levels."""
        _replace(self.index, lambda file: file.write(msgspec.json.encode(content)))

    def remove_levels_from(self, level: int) -> None:
        """Remove the files of incomplete levels."""
        for directory in (self.directory / "levels").glob("*"):
            if int(directory.name) >= level:
                shutil.rmtree(directory)
        self.remove_found()
        for left in self.directory.rglob("*.aside"):
            left.unlink(missing_ok=True)


@contextmanager
def locked_lake(directory: Path) -> Iterator[Lake]:
    """Yield the lake of this directory, locked for this process.

    Raises:
        LakeError: another process has it, or it cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / "lock").open("w", encoding="ascii")
    except OSError as error:
        raise LakeError(f"{directory} cannot be written: {error.strerror}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise LakeError(f"{directory}: another search is using it") from error
        yield Lake(directory.resolve())


def _column(words: Words) -> pa.Array:
    """Return a column of Arrow that shares the memory of a column of NumPy. Arrow's own conversion would
    import pandas.
    """
    return pa.Array.from_buffers(pa.int64(), len(words), [None, pa.py_buffer(np.ascontiguousarray(words))])


def _replace(file: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its place, then rename it.

    Raises:
        LakeError: the disk is full.
    """
    aside = file.with_name(f"{file.name}.{uuid.uuid4().hex}.aside")
    try:
        with aside.open("wb") as opened:
            write(opened)
        aside.replace(file)
    except OSError as error:
        aside.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise LakeError(
                f"{file.parent} is full: the same command goes on at the last whole level when there is room"
            ) from error
        raise
