"""Tasks on a worker of Spark, and their messages: small rows of structures of `tasks`.

A worker keeps programs and their machine code from job to job. This module is imported by workers, and loads
no session of Spark.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import msgspec
import numpy as np
import pyarrow as pa

from antiphon.conformance.spark.states.recipe import Recipe, batcher_of
from antiphon.conformance.spark.states.tasks import Choice, Piece, Told, Work, blocks, choose, expand, take_in
from antiphon.model.engines.native.driver.batcher import Words

BLOCKS = "partition int, told binary"
TOLD = "told binary"

Batches = Iterator[pa.RecordBatch]


class Block(msgspec.Struct, tag=True):
    """Block: rows begin..end - 1 of the `number`-th batch of successors of a task."""

    task: int
    number: int
    begin: int
    end: int


class Said(msgspec.Struct, tag=True):
    """Result of a task, as a message to the task of a partition."""

    told: msgspec.Raw


def expanding(work: Work, cut: Sequence[Sequence[Piece]]) -> Callable[[Batches], Batches]:
    """Return the function for numbered tasks that expands a list of pieces each, and returns the places of
    the blocks.
    """

    def run(batches: Batches) -> Batches:
        _prepare(work.recipe)
        rows: list[tuple[int, bytes]] = []
        for task in (task for batch in batches for task in batch.column(0).to_pylist()):
            for number, found in enumerate(expand(work, cut[task])):
                if isinstance(found, Told):
                    said = Said(msgspec.Raw(msgspec.msgpack.encode(found)))
                    rows.append((task % work.partitions, msgspec.msgpack.encode(said)))
                else:
                    work.lake.write_found(work.level, task, number, found.rows)
                    for partition, begin, end in blocks(found):
                        block = Block(task, number, begin, end)
                        rows.append((partition, msgspec.msgpack.encode(block)))
        partitions, told = zip(*rows, strict=True) if rows else ((), ())
        yield pa.RecordBatch.from_arrays(
            [pa.array(partitions, pa.int32()), pa.array(told, pa.binary())], names=["partition", "told"]
        )

    return run


def taking_in(work: Work) -> Callable[[Batches], Batches]:
    """Return the function of a Spark task that takes the blocks at given places into the lake, for the tasks
    of partitions.
    """

    def run(batches: Batches) -> Batches:
        words = _prepare(work.recipe)
        found: dict[int, list[Words]] = defaultdict(list)
        told: list[bytes] = []
        for batch in batches:
            for partition, row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                item = msgspec.msgpack.decode(row, type=Block | Said)
                if isinstance(item, Said):
                    told.append(bytes(item.told))
                else:
                    rows = work.lake.read_found(work.level, item.task, item.number, words)
                    found[partition].append(rows[item.begin : item.end])
        told += [msgspec.msgpack.encode(take_in(work, *blocks)) for blocks in found.items()]
        yield _told(told)

    return run


def choosing(
    work: Work, cut: Sequence[Sequence[Piece]], choice: Choice, before: bytes | None
) -> Callable[[Batches], Batches]:
    """Return the function for numbered tasks that chooses from a list of pieces each."""

    def run(batches: Batches) -> Batches:
        words = _prepare(work.recipe)
        rows = None if before is None else np.frombuffer(before, dtype=np.uint64).reshape(-1, words)
        for batch in batches:
            told = []
            for number in batch.column(0).to_pylist():
                places, found = choose(work, cut[number], Choice(choice.fact, choice.wanted, rows))
                told.append(msgspec.msgpack.encode((places, words, found.tobytes())))
            yield _told(told)

    return run


def _told(rows: Sequence[bytes]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(rows, pa.binary())], names=["told"])


@lru_cache(maxsize=2)
def _prepare(recipe: Recipe) -> int:
    """Make a program and its machine code, which stay in the worker. Return the number of words of its
    states. The made objects are exempt from the garbage collection that Spark runs after each task.
    """
    words = batcher_of(recipe).words
    gc.freeze()
    return words
