"""Source of Spark for a folder of logs that grow in place: its rows are ranges of bytes.

1. Spark's own source of files takes whole new files, and a log grows by its end. Here the offset of a stream
   is the size of every log, with the time at which it was looked at; what lies between two offsets is a range
   of bytes for each log that grew. Written bytes of a log never change, so that the same two offsets always
   mean the same bytes, as exactly-once needs.
2. A row is a range, not its contents, which the task with the run's state reads (`watching`).
3. When no log has grown for `silence_s`, two ticks follow: rows without a run, which have the time. The first
   moves the watermark, the second triggers the states that wait for it.
4. Logs of directories of runs are followed, except for compressed ones, which do not grow.

This module knows names and sizes of files, and no lines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes
from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from antiphon.conformance.judge.trace import logs_in

TICK: Final = ""
"""Name of the run in a tick, which is a row that only has the time."""
_TICKS: Final = 2

BYTES_A_TRIGGER: Final = 64 << 20
"""Largest number of bytes that are read in one step."""

RANGES: Final = StructType(
    [
        StructField("run", StringType()),
        StructField("process", LongType()),
        StructField("end", LongType()),
        StructField("seen", TimestampType()),
    ]
)
"""Schema: one row a log that grew, with the directory of its run, its process, its number of bytes, and when
that was seen.
"""


class GrowingLogs(DataSource):
    """Source of Spark; its options are the folder, `path`, and the silence after which it ticks,
    `silence_s`.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name that streams use."""
        return "antiphon-growing-logs"

    def schema(self) -> StructType:
        """Return the schema of a row, `RANGES`."""
        return RANGES

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's names
        """Return the reader of the folder."""
        return _Reader(Path(self.options["path"]), float(self.options.get("silence_s", "inf")))


class _Ranges(InputPartition):
    """Partition of a stream: the logs that grew, each with its range of bytes."""

    def __init__(self, seen_us: int, grown: list[tuple[str, int, int]]) -> None:
        self.seen_us, self.grown = seen_us, grown


Offset = dict[str, Any]
"""Offset, `{"seen_us": ..., "ticks": ..., "logs": {run: {process: bytes}}}`, with the number of ticks since a
log grew.
"""


class _Reader(DataSourceStreamReader):
    def __init__(self, folder: Path, silence_s: float) -> None:
        self.folder, self.silence_s = folder, silence_s

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        return {"seen_us": 0, "ticks": 0, "logs": {}}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadMaxBytes(BYTES_A_TRIGGER)

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        """Return the present sizes of the logs as the next offset; return the offset `start` if none has
        grown and no tick is due.
        """
        left = limit.max_bytes if isinstance(limit, ReadMaxBytes) else None
        assert left is not None or isinstance(limit, ReadAllAvailable)
        logs = {run: dict(sizes) for run, sizes in start["logs"].items()}
        for run, process, size in sizes_in(self.folder):
            before = logs.get(run, {}).get(str(process), 0)
            more = size - before if left is None else min(size - before, left)
            if more > 0:
                logs.setdefault(run, {})[str(process)] = before + more
                left = None if left is None else left - more
        now_us, ticks = max(time.time_ns() // 1000, start["seen_us"] + 1), 0
        if logs == start["logs"]:
            ticks = start.get("ticks", 0) + 1
            is_silent = ticks > 1 or now_us > start["seen_us"] + 1e6 * self.silence_s + 1000
            if not logs or ticks > _TICKS or not is_silent:
                return start
        return {"seen_us": now_us, "ticks": ticks, "logs": logs}

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        grown = [
            (run, int(process), size)
            for run, sizes in end["logs"].items()
            for process, size in sizes.items()
            if size != start["logs"].get(run, {}).get(process, 0)
        ]
        if not grown and end.get("ticks", 0) != start.get("ticks", 0):
            grown = [(TICK, -1, 0)]
        return [_Ranges(end["seen_us"], grown)] if grown else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        from datetime import UTC, datetime, timedelta

        assert isinstance(partition, _Ranges)
        seen = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=partition.seen_us)
        for run, process, size in partition.grown:
            yield run, process, size, seen


def sizes_in(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the run's directory, the process and the size of each log that may grow, of the folder's one run
    or of the runs in it. If a log cannot be read now, it and the next ones of its directory are left out.
    """
    try:
        directories = [folder, *sorted(child for child in folder.iterdir() if child.is_dir())]
    except OSError:
        return
    for directory in directories:
        try:
            for process, log in logs_in(directory):
                if log.suffix == ".ndjson":
                    yield str(directory), process, log.stat().st_size
        except OSError:
            continue
