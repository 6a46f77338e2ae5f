"""Bucketing of rows in two steps, through files alone: each reading task writes its rows bucket by bucket,
then one task a bucket sorts all rows for it.

1. A row is in the bucket that Spark would put it into, its hash of the key modulo the number of buckets, so
   that Spark may be told that the files are a bucketed table.
2. Each reading task spills into one file of Arrow: bucket after bucket, then again from the first, as often
   as memory is full. The place of a batch in it tells its bucket.
3. A bucket is one file of Parquet, sorted; a missing value stands before all values.
4. Files are written beside their place and renamed, under names and with contents that a second attempt has
   too.

Java never holds a row: Spark's exchange between two steps in Python would copy each row five times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc, parquet

from antiphon.conformance.spark.pipeline.columns import ARROW

KEY: Final = ("run", "source", "count")
"""Columns by which rows are assigned to buckets, and sorted in each."""

_SPILL_ROWS: Final = 200_000
"""Number of rows that are held before they are spilled: some 30 MB."""

Words = npt.NDArray[np.uint32]


class Spill:
    """File of the rows of one chunk on their way into buckets. It is a context manager, which moves the file
    to its place when it ends without an error.
    """

    def __init__(self, path: Path, buckets: int) -> None:
        self.path, self.buckets = path, buckets
        self.held: list[pa.RecordBatch] = []
        self.rows = 0
        self._partial = path.with_name(f".{path.name}-partial")

    def __enter__(self) -> Self:
        self._file = ipc.new_file(self._partial, ARROW, options=ipc.IpcWriteOptions(compression="lz4"))
        return self

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows to the spill file, sorted into buckets."""
        self.held.append(batch)
        self.rows += batch.num_rows
        if self.rows >= _SPILL_ROWS:
            self._write()

    def _write(self) -> None:
        table = pa.Table.from_batches(self.held, ARROW).combine_chunks()
        self.held, self.rows = [], 0
        bucket = buckets_of(table, self.buckets)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=self.buckets)).tolist()
        if self.buckets > 1:
            table = table.take(order)
        for begin, end in zip([0, *ends], ends, strict=False):
            part = table.slice(begin, end - begin).combine_chunks()
            self._file.write_batch((part.to_batches() or [pa.RecordBatch.from_pylist([], ARROW)])[0])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.held:
            self._write()
        self._file.close()
        if kind is None:
            self._partial.rename(self.path)


def writes_buckets(
    spills: str, place: str, buckets: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that writes the buckets whose numbers it gets, and counts their rows."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for bucket in batch.column(0).to_pylist():
                rows = _write_bucket(Path(spills), Path(place), bucket, buckets)
                yield pa.RecordBatch.from_pydict({"rows": [rows]})

    return write


def _write_bucket(spills: Path, place: Path, bucket: int, buckets: int) -> int:
    parts = [pa.RecordBatch.from_pylist([], ARROW)]
    for path in sorted(spills.glob("*.arrow")):
        with pa.memory_map(str(path)) as source, ipc.open_file(source) as spill:
            parts += [spill.get_batch(k) for k in range(bucket, spill.num_record_batches, buckets)]
    table = pa.Table.from_batches(parts, ARROW).combine_chunks()
    del parts
    keys = [np.where(valid, values, -1) for values, valid in map(_numbers, table.select(KEY).columns)]
    # Spark knows the bucket by the end of the file's name.
    name = f"part-{bucket:05}_{bucket:05}.parquet"
    partial = place / f".{name}-partial"
    parquet.write_table(table.take(np.lexsort(keys[::-1])), partial)
    partial.rename(place / name)
    return int(table.num_rows)


def buckets_of(table: pa.Table, buckets: int) -> npt.NDArray[np.int32]:
    """Return the bucket of each row, as Spark computes it: Murmur3 of the columns of the key, one after the
    other, each with the hash so far as its seed; a missing value leaves the hash as it is.
    """
    hashes = np.full(table.num_rows, 42, np.uint32)
    for values, valid in map(_numbers, table.select(KEY).columns):
        words = values.view(np.uint64)
        mixed = _mixed(_mixed(hashes, words.astype(np.uint32)), (words >> np.uint64(32)).astype(np.uint32))
        hashes = np.where(valid, _finished(mixed ^ np.uint32(8)), hashes)
    return np.mod(hashes.view(np.int32), np.int32(buckets))


def _numbers(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    return column.fill_null(0).to_numpy(), column.is_valid().to_numpy()


def _rotated(words: Words, by: int) -> Words:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _mixed(hashes: Words, words: Words) -> Words:
    words = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _rotated(hashes ^ words, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _finished(hashes: Words) -> Words:
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))
