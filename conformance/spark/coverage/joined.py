"""Join, on Spark, of the runs of a lake's swarms, as paths of the bounded model, with all its transitions.

1. A seed determines its run: tasks execute the runs of a batch again, and read each as a path (`steps`). If a
    run has other numbers of steps and datagrams than in the batch, other code made the batch: an error.
2. The paths' rows are stored beside the batch, `coverage/<model>/`, and not computed again.
3. Transitions of the model are a table of the lake, `models/<model>/transitions`; joined with the paths it is
   `models/<model>/exercised`, the whole answer: how often each was taken, 0 for never.

This module knows no protocol.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.coverage.model import Model, Row, key
from antiphon.conformance.coverage.paths import Reader
from antiphon.conformance.run.swarm import Settings, command_of, core_calls_of
from antiphon.conformance.spark.pipeline.errors import InputError, PipelineError, cause_of
from antiphon.conformance.spark.pipeline.lake import Batch, batches_of
from antiphon.conformance.spark.pipeline.runs import lake_at
from antiphon.conformance.spark.pipeline.scratch import own_directory
from antiphon.conformance.spark.pipeline.session import cores, settings, spark_session, telling
from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace

__all__ = ["PATHS", "Coverage", "Exercised", "coverage", "rows_of"]

MODEL: Final = pa.schema(
    [
        ("before", pa.binary()),
        ("step", pa.string()),
        ("action", pa.string()),
        ("depth", pa.int32()),
        ("state", pa.int64()),
        ("prompt", pa.bool_()),
    ]
)
"""Schema of the transitions of a model: the fields of `Row`."""

PATHS: Final = pa.schema(
    [("before", pa.binary()), ("step", pa.string()), ("times", pa.int64()), ("outside", pa.int64())]
)
"""Schema of the rows about some runs. A row for each transition: how often it was taken. A row without a
state for each reason why paths ended ("": the run was over): the number of these paths and of later events.
"""

_RUNS_A_TASK: Final = 200
_ROWS: Final = 1 << 16
_BYTES_A_RUN: Final = 2_000


@dataclass(frozen=True)
class Exercised:
    """Transitions of one action: how many there are, how many are `prompt` (`model`), how many runs took, how
    often; and in `never` a path to a nearest one that no run took, a prompt one if there is one.
    """

    action: str
    transitions: int
    prompt: int
    exercised: int
    times: int
    never: Trace | None


@dataclass(frozen=True)
class Coverage:
    """Transitions of a model that the runs of a lake have exercised.

    Attributes:
        model: the model.
        actions: the counts by action, in the order of their names.
        runs: the number of runs, of the batches `batches`.
        left: the events at which runs left the model, with counts; "" for those that were over before.
        outside: the number of broadcasts, receptions, timers and internal steps after that, which do not
            count.
        beyond: the number of transitions of runs where the model was not explored, because of a bound.
        ingested: the number of runs of the lake that are logs of no swarm, and were not read.
        others: the number of runs of other swarms: another protocol, other members, a planted fault.
        tables: the directory of the tables of transitions.
    """

    model: Model
    actions: tuple[Exercised, ...]
    runs: int
    batches: int
    left: Mapping[str, int]
    outside: int
    beyond: int
    ingested: int
    others: int
    tables: str

    def total(self, what: str) -> int:
        """Return the sum of a count over all actions."""
        return sum(getattr(action, what) for action in self.actions)


def coverage(
    protocol: str,
    lake: str | Path,
    *,
    constants: Mapping[str, Any],
    bounds: Bounds = UNBOUNDED,
    master: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Coverage:
    """Join the bounded model of a protocol with the paths of a lake's swarms.

    Raises:
        SpecError: no such protocol or constant.
        InputError: no lake, one that cannot be written, no run in it that could be read as this model's, or
            this is no master.
        PipelineError: no Java, Spark failed, or a run went otherwise than the lake says.
    """
    place = lake_at(lake)
    binding = binding_of(protocol, **constants)
    if not isinstance(binding, CoreBinding):
        raise InputError(f"the binding of {protocol} does not say which packet a message stands for")
    members = binding.members
    batches = batches_of(place)
    swarms = [batch for batch in batches if (batch.directory / "swarm").exists()]
    told = [(batch, _settings(batch, protocol, members)) for batch in swarms]
    asked = [(batch, settings) for batch, settings in told if settings is not None]
    if not asked:
        make = command_of(protocol, Settings(members=members, messages=1))
        raise InputError(
            f"{lake}: no batch is a swarm of {protocol} with {members} members and without a planted fault, "
            "and runs that were ingested cannot be read, since no log tells what was in its datagrams; "
            f"make one: {make} --runs 10000 --lake {lake}"
        )
    model = Model(binding, bounds)
    every = sum(_rows(batch.directory / "swarm") for batch in swarms)
    runs = sum(_rows(batch.directory / "swarm") for batch, _ in asked)
    ingested = sum(batch.runs for batch in batches if batch not in swarms)
    try:
        with (
            spark_session(master) as session,
            settings(session, runs * _BYTES_A_RUN, runs),
            telling(session, tell),
        ):
            for batch, wanted in asked:
                if not _paths(batch, model).exists():
                    _read(session, batch, protocol, constants, wanted, model)
            tables = [_table(session, _paths(batch, model), PATHS) for batch, _ in asked]
            paths = reduce(DataFrame.union, tables)
            found = _joined(session, place, model, paths, runs, len(asked))
            return dataclasses.replace(found, ingested=ingested, others=every - runs)
    except (Py4JJavaError, PySparkException) as error:
        raise PipelineError(f"Spark failed: {cause_of(error)}") from error
    except OSError as error:
        raise InputError(f"{place} cannot be written: {cause_of(error)}") from error


def _settings(batch: Batch, protocol: str, members: int) -> Settings | None:
    """Return the settings of a batch, if it is a swarm of this protocol and size without a planted fault;
    else None.
    """
    told = json.loads((batch.directory / "batch.json").read_text()).get("swarm", {})
    if told.get("core") != protocol:
        return None
    found = msgspec.convert(told["settings"], Settings)
    return found if found.members == members and found.planted is None else None


def _paths(batch: Batch, model: Model) -> Path:
    return batch.directory / "coverage" / model.id


def _read(
    session: SparkSession, batch: Batch, protocol: str, constants: Mapping[str, Any], wanted: Settings,
    model: Model,
) -> None:  # fmt: skip
    """Execute the runs of a batch again, read each as a path of the model, and store the paths' rows."""
    place, runs = _paths(batch, model), _rows(batch.directory / "swarm")
    tasks = max(-(-runs // _RUNS_A_TASK), min(runs, 2 * cores(session)))
    results = session.read.parquet(f"file://{batch.directory / 'swarm'}").select("seed", "steps", "sent")
    with own_directory("coverage", batch.directory) as own:
        staging = own / model.id
        takes = _takes(protocol, dict(constants), wanted)
        rows = results.repartition(tasks).mapInArrow(takes, from_arrow_schema(PATHS))
        rows.write.parquet(f"file://{staging}")
        _put(staging, place)


def _takes(
    protocol: str, constants: dict[str, Any], wanted: Settings
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a Spark task: it executes runs by their seeds, and returns the rows of
    their paths.
    """

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        told = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
        rows = rows_of(protocol, constants, wanted, told)
        yield pa.RecordBatch.from_pylist(rows, schema=PATHS)

    return take


@cache
def _reader(protocol: str, constants: tuple[tuple[str, Any], ...]) -> Reader:
    binding = binding_of(protocol, **dict(constants))
    assert isinstance(binding, CoreBinding)
    return Reader(binding)


def rows_of(
    protocol: str, constants: Mapping[str, Any], wanted: Settings, runs: Iterable[Sequence[int]]
) -> list[dict[str, Any]]:
    """Execute the runs of a batch (each given by its seed and its numbers of steps and datagrams), and
    return the rows of their paths in the form of `PATHS`.

    Raises:
        PipelineError: a run has another number of steps or datagrams than its batch says.
    """
    reader = _reader(protocol, tuple(sorted(constants.items())))
    taken: Counter[tuple[bytes, str]] = Counter()
    left: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for seed, steps, sent in runs:
        ending, deeds = core_calls_of(protocol, seed, wanted)
        if (ending.network.steps, ending.network.sent) != (steps, sent):
            raise PipelineError(
                f"the run of seed {seed} takes {ending.network.steps} steps, and {steps} stand in the lake; "
                "was it made by another release of antiphon?"
            )
        path = reader.path(deeds)
        for before, number, _ in path.transitions:
            taken[key(before), compact_step(reader.edges.step(number))] += 1
        left[path.left] += 1
        outside[path.left] += path.outside
    rows: list[tuple[object, ...]] = [(*what, times, 0) for what, times in taken.items()]
    rows += [(None, why, times, outside[why]) for why, times in left.items()]
    return [dict(zip(PATHS.names, row, strict=True)) for row in rows]


def _joined(
    session: SparkSession, lake: Path, model: Model, paths: DataFrame, runs: int, batches: int
) -> Coverage:
    home = lake / "models" / model.id
    with own_directory("model", lake) as own:
        with parquet.ParquetWriter(own / "transitions.parquet", MODEL) as writer:
            for rows in _batches(model.rows()):
                writer.write_batch(rows)
        everything = _table(session, own / "transitions.parquet", MODEL)
        inside = paths.filter("before IS NOT NULL").groupBy("before", "step")
        taken = inside.agg(F.sum("times").alias("times"))
        exercised = everything.join(taken, ["before", "step"], "left").fillna(0, ["times"])
        exercised.write.parquet(f"file://{own / 'exercised'}")
        whole = _table(session, own / "exercised", MODEL.append(pa.field("times", pa.int64())))
        beyond = taken.join(everything, ["before", "step"], "left_anti").count()
        actions = tuple(_actions(model, whole))
        shutil.rmtree(home / "exercised", ignore_errors=True)
        _put(own / "exercised", home / "exercised")
    ended = paths.filter("before IS NULL").groupBy("step").agg(F.sum("times"), F.sum("outside")).collect()
    return Coverage(
        model, actions, runs, batches, {why: n for why, n, _ in ended}, sum(row[2] for row in ended), beyond,
        0, 0, str(home / "exercised"),
    )  # fmt: skip


def _actions(model: Model, whole: DataFrame) -> Iterator[Exercised]:
    """Yield the counts of each action of the model."""
    first = Window.partitionBy("action").orderBy(~F.col("prompt"), "depth", "state", "step")
    never = whole.filter("times = 0").withColumn("place", F.row_number().over(first)).filter("place = 1")
    nearest = {row["action"]: row for row in never.collect()}
    counted = whole.groupBy("action").agg(
        F.count("*").alias("all"),
        F.count_if("prompt").alias("prompt"),
        F.count_if(F.col("times") > 0).alias("taken"),
        F.sum("times").alias("times"),
    )
    for row in counted.orderBy("action").collect():
        near = nearest.get(row["action"])
        trace = None if near is None else model.trace(near["state"], near["step"])
        yield Exercised(row["action"], row["all"], row["prompt"], row["taken"], row["times"], trace)


def _put(staging: Path, place: Path) -> None:
    """Move a table into its place in the lake; discard it if another process has done so meanwhile."""
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        staging.rename(place)
    except OSError:
        if not place.exists():
            raise


def _batch(rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, MODEL, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=MODEL)


def _batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches of a limited size."""
    while batch := list(islice(rows, _ROWS)):
        yield _batch(batch)


def _rows(place: Path) -> int:
    return sum(parquet.read_metadata(file).num_rows for file in place.glob("*.parquet"))


def _table(session: SparkSession, path: Path, schema: pa.Schema) -> DataFrame:
    """Read a table of the lake with this schema; characters such as `*` in its path are no pattern."""
    reader = session.read.option("__globPaths__", "false").schema(from_arrow_schema(schema))
    return reader.parquet(f"file://{path}")
