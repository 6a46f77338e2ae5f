"""Swarm on Spark: seeds are spread over tasks, and each run is executed and judged in its task.

1. A task executes the runs of some consecutive seeds by `run_seed`, and gives a row a run (`RESULTS`). No row
   depends on the division into tasks; Spark computes sums over all rows.
2. The driver gets those sums, and the rows of the runs that fail. It repeats the first of these for its
   schedule and logs, and to check that executors run the same code.
3. With a lake the rows stand in the batch, `swarm/`, and the logs of all failing runs and of a sample of
   all runs are read into it as if they were files: tasks execute these runs again, since a seed is all they
   need. Runs are numbered by their seeds. The id of the batch is the hash of the request and of all rows: the
   same swarm changes nothing.

This module knows no protocol and no property.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from antiphon.conformance.judge.trace import log_name
from antiphon.conformance.run.swarm import (
    FaultKind,
    RunResult,
    Settings,
    SwarmReport,
    command_of,
    core_of,
    fitted,
    run_seed,
    without_run,
)
from antiphon.conformance.spark.pipeline.chunks import OpenedRun, OpenRuns
from antiphon.conformance.spark.pipeline.errors import InputError, PipelineError, cause_of
from antiphon.conformance.spark.pipeline.lake import Batch, batches_of, found_lake, put_batch, write_tables
from antiphon.conformance.spark.pipeline.runs import lake_at
from antiphon.conformance.spark.pipeline.scratch import own_directory
from antiphon.conformance.spark.pipeline.session import cores, settings, spark_session, telling
from antiphon.model.verdict import Outcome

SAMPLE: Final = 100
"""Default number of runs, spread evenly over all, whose logs go into a lake besides those of failing runs."""

_SUMMED: Final = ("sent", "lost", "duplicated", "reordered", "delivered", "processor_ns")
_COUNTED: Final = ("messages", "actions")


def _struct(**fields: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])


_COUNTS: Final = MapType(StringType(), LongType())
_WORDS: Final = ArrayType(StringType())
RESULTS: Final = _struct(
    seed=LongType(), outcome=StringType(), faults=_WORDS, steps=LongType(), ms=DoubleType(),
    **dict.fromkeys(_SUMMED, LongType()), **dict.fromkeys(_COUNTED, _COUNTS),
    reasons=_WORDS, symptoms=_WORDS,
)  # fmt: skip
"""Schema: one row a run, a `RunResult` without schedule and logs; `processor_ns` is its processor time."""

_ARROW: Final = pa.schema(list(to_arrow_type(RESULTS)))
_SEEDS_A_TASK: Final = 100
_BYTES_A_RESULT: Final = 300
_BYTES_A_LINE: Final = 100
_SEED_MAX: Final = 2**63


@dataclass(frozen=True)
class Swarmed:
    """Results of a swarm, and the batch of the lake that has them (None without a lake); `is_new` is False if
    the batch was there before.
    """

    report: SwarmReport
    batch: Batch | None = None
    is_new: bool = False


class KeptSeed(msgspec.Struct, frozen=True, array_like=True):
    """Run whose logs go into a lake: its number in the batch, and its seed."""

    number: int
    seed: int


def swarm(
    core: str,
    *,
    runs: int,
    seed: int,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    master: str | None = None,
    lake: str | Path | None = None,
    sample: int = SAMPLE,
    tell: Callable[[str], None] | None = None,
) -> Swarmed:
    """Execute the runs of so many consecutive seeds on Spark. With a lake their results go there, and the
    logs of the runs that fail and of `sample` runs with evenly spread seeds.

    Raises:
        SpecError: no such core or planted fault; the message lists the known ones.
        InputError: seeds of more than 63 bits, the lake is of another version or cannot be written, or
            this is no master.
        PipelineError: no Java, Spark failed, or executors run other code.
    """
    settings = fitted(core, settings)
    core_of(core, settings.planted, join=settings.join)
    if not -_SEED_MAX <= seed <= _SEED_MAX - runs:
        raise InputError(f"the seeds from {seed} on: on Spark a seed has 63 bits and a sign")
    place = None if lake is None else lake_at(lake)
    if place is not None and place.exists() and any(place.iterdir()):
        batches_of(place)
    work, began = _Swarm(core, range(seed, seed + runs), settings), time.monotonic()
    try:
        with spark_session(master) as session, _cut_for(session, runs), telling(session, tell):
            if place is None:
                with _held(work.results(session)) as results:
                    done = Swarmed(work.report(results))
            else:
                done = work.into(session, place, sample)
    except (Py4JJavaError, PySparkException) as error:
        raise PipelineError(f"Spark failed: {cause_of(error)}") from error
    except OSError as error:
        raise InputError(f"{place} cannot be written: {cause_of(error)}") from error
    done.report.seconds = time.monotonic() - began
    return done


def _cut_for(session: SparkSession, runs: int) -> AbstractContextManager[None]:
    return settings(session, runs * _BYTES_A_RESULT, runs)


class _Swarm:
    """A swarm: its core, seeds and settings."""

    def __init__(self, core: str, seeds: range, settings: Settings) -> None:
        self.core, self.seeds, self.settings = core, seeds, settings

    def results(self, session: SparkSession, tasks: int | None = None) -> DataFrame:
        """Execute all runs in this number of tasks, by default as many as suit the session. Return the rows
        of `RESULTS`.
        """
        wanted = max(4 * cores(session), len(self.seeds) // _SEEDS_A_TASK) if tasks is None else tasks
        most = min(_SEEDS_A_TASK, -(-len(self.seeds) // wanted))
        tasks = -(-len(self.seeds) // most)
        takes = _takes(self.core, self.seeds, self.settings, most)
        return session.range(0, tasks, 1, tasks).mapInArrow(takes, RESULTS)

    def report(self, results: DataFrame) -> SwarmReport:
        """Sum up the results."""
        report = SwarmReport(self.core, self.seeds.start, self.settings, len(self.seeds))
        for what, name, times in _sums(results):
            match what:
                case "sum":
                    setattr(report, name, times)
                case "outcome":
                    report.outcomes[Outcome(name)] = times
                case "faults":
                    report.met[FaultKind(name)] = times
                case _:
                    getattr(report, what)[name] = times
        report.runs = report.outcomes.total()
        failed = results.filter(F.col("outcome") != Outcome.HOLDS.value).orderBy("seed")
        report.failed = [self._result(row) for row in failed.collect()]
        if report.failed:
            report.failed[0] = self._repeat(report.failed[0])
        return report

    def _result(self, row: Row) -> RunResult:
        """Return the result in a row."""
        said: dict[str, Any] = row.asDict()
        del said["processor_ns"]
        said |= {name: tuple(said[name]) for name in ("reasons", "symptoms")}
        said |= {"outcome": Outcome(row["outcome"]), "faults": tuple(map(FaultKind, row["faults"]))}
        return RunResult(core=self.core, name=f"{self.core}-{row['seed']}", **said)

    def _repeat(self, told: RunResult) -> RunResult:
        """Execute a run a second time in this process, with its schedule and logs."""
        assert told.seed is not None
        found = run_seed(self.core, told.seed, self.settings)
        if without_run(found) != told:
            raise PipelineError(
                f"the run of seed {told.seed} went otherwise on an executor than here: "
                f"{'; '.join(told.reasons)}, and here {'; '.join(found.reasons) or found.outcome.value}; "
                "do all machines have the same release of antiphon?"
            )
        return found

    def into(self, session: SparkSession, lake: Path, sample: int) -> Swarmed:
        """Execute all runs and store their results and logs in a lake, unless the lake has them."""
        found_lake(lake)
        with own_directory("batch", lake / "batches") as own:
            self.results(session).write.parquet(f"file://{own / 'swarm'}")
            reader = session.read.option("__globPaths__", "false").schema(RESULTS)
            results = reader.parquet(f"file://{own / 'swarm'}")
            report = self.report(results)
            asked = [self.core, self.seeds.start, len(self.seeds), self.settings, sample]
            name = hashlib.blake2b(
                msgspec.json.encode([*asked, _fingerprint(results)]), digest_size=12
            ).hexdigest()
            for batch in batches_of(lake):
                if batch.id == name:
                    return Swarmed(report, batch)
            staging = own / name
            staging.mkdir()
            (own / "swarm").rename(staging / "swarm")
            kept = self._seeds_to_store(report.failed, sample)
            volume = len(kept) * _BYTES_A_LINE * self._lines(report)
            buckets = max(1, -(-volume // _BYTES_A_BUCKET))
            write_tables(session, staging, _chunks(kept, cores(session)), buckets, self._opens())
            told = {"command": f"{command_of(self.core, self.settings)} --runs {len(self.seeds)} "
                    f"--seed {self.seeds.start}", "core": self.core,
                    "settings": msgspec.to_builtins(self.settings)}  # fmt: skip
            return Swarmed(report, put_batch(staging, lake, buckets, {}, swarm=told), is_new=True)

    def _seeds_to_store(self, failed: Collection[RunResult], sample: int) -> list[int]:
        """Return the seeds whose logs are stored: those of failing runs, and a sample of all seeds, evenly
        spread.
        """
        many = min(sample, len(self.seeds))
        spread = {self.seeds[k * len(self.seeds) // many] for k in range(many)}
        return sorted(spread | {result.seed for result in failed if result.seed is not None})

    def _lines(self, report: SwarmReport) -> int:
        """Estimate the number of lines in the logs of a run."""
        return 2 * report.sent // report.runs + 3 * self.settings.members * self.settings.messages

    def _opens(self) -> OpenRuns:
        """Return the function of a Spark task that runs the seeds of a chunk (`KeptSeed`), and returns their
        logs.
        """
        core, wanted = self.core, msgspec.structs.replace(self.settings, logs=True)
        command = command_of(core, self.settings)

        def open_runs(plan: bytes) -> Iterator[OpenedRun]:
            for kept in msgspec.json.decode(plan, type=list[KeptSeed]):
                result = run_seed(core, kept.seed, wanted)
                logs = [(p, f"{result.name}/{log_name(p)}", log) for p, log in enumerate(result.logs)]
                yield OpenedRun(kept.number, result.name, f"{command} --runs 1 --seed {kept.seed}", logs)

        return open_runs


_BYTES_A_BUCKET: Final = 64 << 20


def _chunks(seeds: list[int], workers: int) -> list[list[KeptSeed]]:
    """Divide the runs whose logs are stored into chunks for tasks; there is at least one chunk."""
    kept = [KeptSeed(number, seed) for number, seed in enumerate(seeds)]
    most = max(1, min(_SEEDS_A_TASK, -(-len(kept) // (4 * workers))))
    return [kept[at : at + most] for at in range(0, len(kept), most)] or [[]]


def _sums(results: DataFrame) -> list[tuple[str, str, int]]:
    """Return the sums and counts of all results, in one aggregation: the subject, its name, its number."""

    def row(what: str, name: Column, times: Column) -> Column:
        return F.struct(F.lit(what).alias("what"), name.alias("name"), times.alias("times"))

    def counts(what: str) -> Column:
        return F.transform(F.map_entries(what), lambda entry: row(what, entry["key"], entry["value"]))

    one = F.lit(1).cast("bigint")
    sums = [row("sum", F.lit(name), F.col(name)) for name in _SUMMED]
    each = F.concat(
        F.array(*sums, row("outcome", F.col("outcome"), one)),
        F.transform("faults", lambda fault: row("faults", fault, one)),
        *map(counts, _COUNTED),
    )
    grouped = results.select(F.inline(each)).groupBy("what", "name").agg(F.sum("times").alias("times"))
    return [(found["what"], found["name"], found["times"]) for found in grouped.collect()]


def _fingerprint(results: DataFrame) -> int:
    """Return a number that depends on all rows, and not on their order."""
    columns = [name for name in RESULTS.fieldNames() if name not in ("processor_ns", *_COUNTED)]
    row = results.agg(F.bit_xor(F.xxhash64(*columns)).alias("all")).first()
    assert row is not None
    return int(row["all"])


def _takes(
    core: str, seeds: range, wanted: Settings, most: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a Spark task that runs the seeds of the tasks whose numbers it gets, at most
    `most` seeds for each.
    """

    def take(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                rows = [_row(core, seed, wanted) for seed in seeds[task * most : (task + 1) * most]]
                yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    return take


def _row(core: str, seed: int, wanted: Settings) -> dict[str, Any]:
    """Execute one run and return its row of `RESULTS`."""
    core_of(core, wanted.planted, join=wanted.join)  # what is loaded once is not the run's own time
    began = time.process_time_ns()
    result = run_seed(core, seed, wanted)
    row = {name: getattr(result, name) for name in RESULTS.fieldNames() if name != "processor_ns"}
    counts = {name: list(row[name].items()) for name in _COUNTED}
    return row | counts | {"processor_ns": time.process_time_ns() - began}


@contextmanager
def _held(results: DataFrame) -> Iterator[DataFrame]:
    """Context that computes the runs once, however often their results are used in it."""
    held = results.persist()
    try:
        yield held
    finally:
        held.unpersist()
