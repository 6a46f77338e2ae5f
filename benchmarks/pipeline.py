"""The pipeline on Spark beside plain Python, pandas, Polars and DuckDB, on generated logs of healthy runs.

    python benchmarks/pipeline.py --case 50x3x2000
    python benchmarks/pipeline.py --direct --case 50x3x5000 --case 1x3x250000 --case 100000x2x3

takes cases of RUNS x PROCESSES x MESSAGES and prints a row of a table for each: seconds of the clock, and in
brackets of processors, Java and Spark's workers included. A measurement, not a test.

1. Logs into verdicts: reading as tasks read, in a process of its own, whose start (to load the reader, and to
   read one run) is told by itself; then plain Python, `antiphon verify` of logs, `antiphon ingest`. With
   `--best-of 0` the reading alone, and no Spark. With `--direct` no log is written: the rows of the same runs
   are made and put into buckets as tasks put them, and in each the last process crashes half-way.
2. The question of `scan` put to the rows of the lake: Spark in one pass, the bare read of the same columns by
   Spark, and the same question in pandas, Polars and DuckDB, each if it is there: pip install polars duckdb.
   Each of these has a process of its own, of bounded memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import functions as F  # noqa: N812 - Spark's functions have this name everywhere

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import Header, LogWriter, digest, load_run, log_name, message_id
from antiphon.conformance.spark.pipeline import ingest, verify
from antiphon.conformance.spark.pipeline.buckets import Spill, writes_buckets
from antiphon.conformance.spark.pipeline.chunks import ROWS_MAX, RUNS, PlannedRun, reads_chunks
from antiphon.conformance.spark.pipeline.columns import CODES, NUMBER, Columns, Longs, Rows
from antiphon.conformance.spark.pipeline.facts import Fact
from antiphon.conformance.spark.pipeline.lake import (
    BUCKET_BYTES,
    Batch,
    batches_of,
    events_of,
    found_lake,
    put_batch,
)
from antiphon.conformance.spark.pipeline.runs import runs_at
from antiphon.conformance.spark.pipeline.scan import health_of, in_one_pass
from antiphon.conformance.spark.pipeline.session import settings, spark_session

ASKED = ["run", "source", "count", "process", "kind", "position", "number", "high", "low", "peer"]
"""The columns that the scan reads."""


def write_logs(root: Path, runs: int, processes: int, messages: int) -> int:
    """Write healthy runs and count their lines; every process broadcasts in turn."""
    lines = 0
    digests: dict[str, str] = {}
    for number in range(runs):
        directory = root / f"run-{number:06d}"
        directory.mkdir()
        for process in range(processes):
            header = Header(
                run=directory.name,
                protocol="rbp",
                process=process,
                processes=processes,
                seed=number,
                messages=messages,
            )
            with LogWriter(directory / log_name(process), header) as log:
                for k in range(messages):
                    source, identifier = k % processes, k // processes + 1
                    message = message_id(source, identifier)
                    content = digests.setdefault(message, digest(message.encode()))
                    if source == process:
                        log.broadcast(message, content)
                    log.deliver(message, k + 1, content)
                log.end()
                lines += log.events + 1
    return lines


def write_lake(lake: Path, runs: int, processes: int, messages: int) -> None:
    """Write a lake of such runs without their logs; the last process of each crashes half-way."""
    staging = lake / "batches" / "direct"
    found_lake(lake)
    for table in ("spills", "events", "runs", "quarantine"):
        (staging / table).mkdir(parents=True)
    logs = [_columns_of_log(process, processes, messages) for process in range(processes)]
    events = sum(len(columns.line) for columns, _ in logs)
    buckets = max(1, -(-(events + processes) * runs * 100 // BUCKET_BYTES))
    rows = Rows()
    with Spill(staging / "spills" / "0.arrow", buckets) as spill:
        for run in range(runs):
            for process, log in enumerate(logs):
                for columns, position in _pieces(*log):
                    rows.add(columns, [(run, process, len(position))], position)
                    if rows.size > ROWS_MAX:
                        spill.add(rows.batch())
            rows.add_run(run, messages, Fact.SOUND | Fact.SENDERS_ORDER)
        spill.add(rows.batch())
    work = writes_buckets(str(staging / "spills"), str(staging / "events"), buckets)
    for _ in work([pa.RecordBatch.from_pydict({"id": list(range(buckets))})]):
        pass
    shutil.rmtree(staging / "spills")
    counts = {"lines": events + processes, "events": events, "faults": 0}
    told = [
        pa.array([counts[field.name]] * runs, pa.int64())
        if field.name in counts
        else pa.array(np.arange(runs), pa.int64()).cast(field.type)
        for field in RUNS
    ]
    parquet.write_table(pa.Table.from_arrays(told, schema=RUNS), staging / "runs" / "0.parquet")
    put_batch(staging, lake, buckets, {})


def _columns_of_log(process: int, processes: int, messages: int) -> tuple[Columns, Longs]:
    """A log of a run in which the processes broadcast in turn, until the last one crashes."""
    order = np.arange(messages)
    half = messages // 2
    source = np.where(order < half, order % processes, order % (processes - 1))
    count = np.zeros(messages, np.int64)
    for one in range(processes):
        count[source == one] = np.arange(1, (source == one).sum() + 1)
    is_last = process == processes - 1
    if is_last:
        order = order[:half]
    own = source[order] == process
    at = order + np.cumsum(own)
    size = len(order) + int(own.sum()) + 1
    kind, message = np.full(size, CODES["deliver"], np.int8), np.zeros(size, np.int64)
    kind[at[own] - 1], kind[-1] = CODES["broadcast"], CODES["crash" if is_last else "end"]
    message[at], message[at[own] - 1] = order, order[own]
    delivered = kind == CODES["deliver"]
    content = message.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    columns = {
        "source": source[message],
        "count": count[message],
        "number": message + 1,
        "high": content.view(np.int64),
        "low": (~content).view(np.int64),
        "peer": np.zeros(size, np.int64),
    }
    is_message = kind != kind[-1]
    valid = np.array([is_message & (name not in ("number", "peer")) for name in columns])
    valid[NUMBER] = delivered
    line = np.arange(size)
    return Columns(line + 2, line, kind, np.array(list(columns.values())), valid, {}), np.cumsum(delivered)


def _pieces(columns: Columns, position: Longs) -> Iterator[tuple[Columns, Longs]]:
    """A log as parts that are as long as what a task notes at once."""
    for begin in range(0, len(position), ROWS_MAX):
        piece = slice(begin, begin + ROWS_MAX)
        line, i, kind, values, valid, others = columns
        yield (
            Columns(line[piece], i[piece], kind[piece], values[:, piece], valid[:, piece], others),
            position[piece],
        )


def read_in_one_process(logs: Path, staging: Path) -> bool:
    """Read logs and put their rows into buckets as tasks do, without Spark."""
    for table in ("plan", "runs", "quarantine", "spills", "events"):
        (staging / table).mkdir(parents=True)
    found = runs_at([str(logs)])
    plan = [PlannedRun(n, run.name, run.path, run.path, run.logs) for n, run in enumerate(found)]
    (staging / "plan" / "0.json").write_bytes(msgspec.json.encode(plan))
    buckets = max(1, -(-sum(run.size for run in found) // BUCKET_BYTES))
    read = reads_chunks(str(staging), buckets)
    write = writes_buckets(str(staging / "spills"), str(staging / "events"), buckets)
    for work, many in ((read, 1), (write, buckets)):
        for _ in work([pa.RecordBatch.from_pydict({"id": list(range(many))})]):
            pass
    return True


def timed_reading(logs: Path, place: Path) -> tuple[float, Times]:
    """The processor seconds until a process has read one run, and the times of reading these logs then."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(_ask_reading, logs, place).result()


def _ask_reading(logs: Path, place: Path) -> tuple[float, Times]:
    one = place / "one"
    one.mkdir(parents=True)
    write_logs(one, 1, 2, 3)
    read_in_one_process(one, place / "first")
    start = time.process_time()
    return start, timed(lambda: read_in_one_process(logs, place / "read"), expected=True)


def judge_in_python(root: Path) -> bool:
    """Judge with the plain-Python checks, one run at a time."""
    judgements = [judge_run(load_run(directory)) for directory in sorted(root.iterdir())]
    return all(j.outcome(finding) == "holds" for j in judgements for finding in j.findings)


def healthy_in_pandas(events: Path) -> int:
    """Count the healthy runs as `scan` does; all rows in memory. These logs have no datagrams."""
    rows = pd.read_parquet(events, columns=ASKED)
    facts = rows[rows["kind"] == CODES["run"]].set_index("run")
    sent, got = (rows[rows["kind"] == CODES[kind]] for kind in ("broadcast", "deliver"))
    own = sent[sent["process"] == sent["source"]]
    key = ["run", "source", "count"]
    told = (
        pd.concat([own, got])
        .groupby(key)
        .agg(
            high_min=("high", "min"), high_max=("high", "max"), low_min=("low", "min"), low_max=("low", "max")
        )
    )
    told = told.join(own.groupby(key).agg(sent=("kind", "size"), after=("position", "max")))
    told = told.join(
        got.groupby(key).agg(
            at_min=("position", "min"),
            at_max=("position", "max"),
            n_min=("number", "min"),
            n_max=("number", "max"),
        )
    )
    sound = (told["sent"] == 1) & (told["after"] < told["at_min"]) & (told["at_min"] == told["at_max"])
    for name in ("n", "high", "low"):
        sound &= told[f"{name}_min"] == told[f"{name}_max"]
    by_run = pd.DataFrame({"bad": ~sound, "delivered": told["at_min"].notna()}).groupby("run").sum()
    by_run = by_run.join(facts[["position", "number"]])
    return int(
        (
            (by_run["bad"] == 0) & (by_run["delivered"] == by_run["position"]) & (by_run["number"] % 2 == 1)
        ).sum()
    )


def healthy_in_polars(events: Path) -> int:
    """The same in Polars, which reads what it needs."""
    import polars as pl  # type: ignore[import-not-found]

    kind, own = pl.col("kind"), pl.col("process") == pl.col("source")
    sent, got = kind == CODES["broadcast"], kind == CODES["deliver"]
    run = kind == CODES["run"]

    def spread(name: str, where: Any, column: str) -> list[Any]:
        chosen = pl.col(column).filter(where)
        return [chosen.min().alias(f"{name}_min"), chosen.max().alias(f"{name}_max")]

    told = (
        pl.scan_parquet(f"{events}/*.parquet")
        .select(ASKED)
        .group_by("run", "source", "count")
        .agg(
            (sent & own).sum().alias("sent"),
            (sent & ~own).sum().alias("foreign"),
            pl.col("position").filter(sent).max().alias("after"),
            got.sum().alias("got"),
            *spread("at", got, "position"),
            *spread("n", got, "number"),
            *spread("high", sent | got, "high"),
            *spread("low", sent | got, "low"),
            pl.col("position").filter(run).max().alias("deliveries"),
            pl.col("number").filter(run).max().alias("facts"),
        )
    )
    sound = (pl.col("sent") == 1) & (pl.col("foreign") == 0) & (pl.col("after") < pl.col("at_min"))
    for name in ("at", "n", "high", "low"):
        sound &= pl.col(f"{name}_min") == pl.col(f"{name}_max")
    judged = told.with_columns(bad=pl.col("source").is_not_null() & ~sound.fill_null(value=False))
    by_run = judged.group_by("run").agg(
        pl.col("bad").sum(),
        (pl.col("got") > 0).sum().alias("delivered"),
        pl.col("deliveries", "facts").max(),
    )
    healthy = (
        (pl.col("bad") == 0) & (pl.col("delivered") == pl.col("deliveries")) & (pl.col("facts") % 2 == 1)
    )
    return int(by_run.filter(healthy).select(pl.len()).collect(engine="streaming").item())


def healthy_in_duckdb(events: Path) -> int:
    """The same in DuckDB's SQL."""
    import duckdb  # type: ignore[import-not-found]

    duckdb.sql(f"SET memory_limit = '{resource.getrlimit(resource.RLIMIT_AS)[0] * 3 // 4 >> 20}MiB'")
    duckdb.sql(f"SET temp_directory = '{events.parent / 'duckdb'}'")
    sent, got, run = (f"kind = {CODES[kind]}" for kind in ("broadcast", "deliver", "run"))
    ranges = ", ".join(
        f"min({column}) FILTER ({where}) AS {name}_min, max({column}) FILTER ({where}) AS {name}_max"
        for name, where, column in (
            ("at_", got, "position"),
            ("n_", got, "number"),
            ("high_", f"{sent} OR {got}", "high"),
            ("low_", f"{sent} OR {got}", "low"),
        )
    )
    same = " AND ".join(f"{name}_min = {name}_max" for name in ("at_", "n_", "high_", "low_"))
    sound = f'sent = 1 AND "foreign" = 0 AND after < at__min AND {same}'
    answer = duckdb.sql(
        f"""WITH told AS (
              SELECT run, source, "count",
                count(*) FILTER ({sent} AND process = source) AS sent,
                count(*) FILTER ({sent} AND process <> source) AS "foreign",
                max(position) FILTER ({sent}) AS after, count(*) FILTER ({got}) AS got, {ranges},
                max(position) FILTER ({run}) AS deliveries, max(number) FILTER ({run}) AS facts
              FROM read_parquet('{events}/*.parquet') GROUP BY run, source, "count"),
            by_run AS (
              SELECT run, sum(CASE WHEN source IS NULL OR ({sound}) THEN 0 ELSE 1 END) AS bad,
                count(*) FILTER (got > 0) AS delivered, max(deliveries) AS deliveries, max(facts) AS facts
              FROM told GROUP BY run)
            SELECT count(*) FROM by_run WHERE bad = 0 AND delivered = deliveries AND facts % 2 = 1"""  # noqa: S608
    ).fetchall()
    return int(answer[0][0])


Times = tuple[float, float]


def timed(ask: Callable[[], object], expected: object, best_of: int = 1) -> Times:
    """The seconds of the clock and of all processors of an answer; any but the expected is a mistake."""
    best = (float("inf"), float("inf"))
    for _ in range(best_of):
        clock, before = time.perf_counter(), _processor_seconds()
        found = ask()
        best = min(best, (time.perf_counter() - clock, _processor_seconds() - before))
        if found != expected:
            raise SystemExit(f"{found} was found where {expected} is right")
    return best


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of all that it has started: Java, and Java's
    workers.
    """
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            told = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += told.user + told.system + told.children_user + told.children_system
    return total


TWINS: dict[str, Callable[[Path], int]] = {
    "pandas": healthy_in_pandas,
    "polars": healthy_in_polars,
    "duckdb": healthy_in_duckdb,
}


def timed_twin(name: str, place: Path, expected: int, best_of: int, memory: int) -> Times:
    """The time of an answer in a process of its own, with so many bytes of memory; for ever if it needs
    more.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, _bounded, (memory, name)) as process:
        try:
            return process.submit(_ask_twin, name, place, expected, best_of).result()
        except Exception as error:  # noqa: BLE001 - each library has its own for a lack of memory
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", file=sys.stderr)
            return float("inf"), float("inf")


def _bounded(memory: int, name: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    __import__(name)


def _ask_twin(name: str, place: Path, expected: int, best_of: int) -> Times:
    return timed(lambda: TWINS[name](place), expected, best_of)


def main() -> None:
    """Generate, judge in all ways, print the tables."""
    parser = argparse.ArgumentParser(description="Compare the Spark pipeline with plain Python and others.")
    parser.add_argument("--case", action="append", metavar="RUNSxPROCESSESxMESSAGES", required=True)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--heap", default="2g", help="of Java")
    parser.add_argument("--memory", type=int, default=12, help="GiB for each of pandas, Polars and DuckDB")
    parser.add_argument("--best-of", type=int, default=2, help="of so many answers; 0: read or make alone")
    parser.add_argument("--direct", action="store_true", help="make rows without logs")
    parser.add_argument("--at", type=Path, help="where lakes are made and kept, else in the temporary folder")
    parser.add_argument("--without", action="append", default=[], choices=TWINS)
    options = parser.parse_args()
    os.environ["SPARK_DRIVER_MEMORY"] = options.heap
    with tempfile.TemporaryDirectory() as scratch:
        place = options.at or Path(scratch)
        lines = {} if options.direct else {case: _measure_reading(case, place) for case in options.case}
        if options.best_of:
            _measure_spark(options, place, Path(scratch), lines)


def _measure_spark(options: argparse.Namespace, place: Path, scratch: Path, lines: dict[str, int]) -> None:
    """Print a table of Spark's times."""
    with spark_session(options.master, 1 << 30) as session:
        write_lake(scratch / "warm", 100, 2, 3)
        verify(scratch / "warm", options.master)  # Java compiles what it will need
        print(_ROW.format("runs", "events", *_COLUMNS) + "\n|" + "---|" * (len(_COLUMNS) + 2), flush=True)
        for case in options.case:
            _measure(session, case, options, place, lines.get(case, 0))


_COLUMNS = ("bare read", "the pass", "ratio", "processors' ratio", *TWINS, "verify")
_ROW = "| " + " | ".join(["{}"] * (len(_COLUMNS) + 2)) + " |"


def _measure_reading(case: str, place: Path) -> int:
    """Write logs, tell how fast they are read, and count their lines."""
    logs = place / f"logs-{case}"
    logs.mkdir()
    lines = write_logs(logs, *map(int, case.split("x")))
    start, times = timed_reading(logs, place / f"reading-{case}")
    _tell(case, "read, in one process", lines, times)
    told = f"with its start, {start:.1f} s, {lines / (start + times[1]):,.0f}"
    print(f"{case}: {told}", file=sys.stderr)
    return lines


def _tell(case: str, way: str, lines: int, times: Times) -> None:
    clock, processors = times
    rate = f"{lines / processors:,.0f} lines a second of a processor"
    print(f"{case}: {way}: {clock:.2f} s, {processors:.2f} s of processors, {rate}", file=sys.stderr)


def _measure(session: Any, case: str, options: argparse.Namespace, place: Path, lines: int) -> None:
    size = tuple(map(int, case.split("x")))
    lake, logs = place / f"lake-{case}", place / f"logs-{case}"
    runs = size[0]
    if options.direct and not lake.exists():
        took = timed(lambda: write_lake(lake, *size), None)
        print(f"{case}: made in {took[0]:.1f} s, {took[1]:.1f} s of processors", file=sys.stderr)
    elif not options.direct:
        ways: dict[str, Callable[[], object]] = {
            "plain Python, read and judge": lambda: judge_in_python(logs),
            "verify of logs": lambda: verify(logs, options.master).outcome == "holds",
            "ingest": lambda: ingest([logs], lake, options.master).total("runs") == runs,
        }
        for way, ask in ways.items():
            _tell(case, way, lines, timed(ask, expected=True))
    (batch,) = batches_of(lake)
    shutil.rmtree(batch.directory / "verdicts", ignore_errors=True)
    judged = timed(lambda: verify(lake, options.master).suspects, 0)
    read, scan = _ask_spark(session, batch, options.best_of)
    events = batch.directory / "events"
    others = []
    for name in TWINS:
        if name in options.without or find_spec(name) is None:
            others.append("not run")
        else:
            took = timed_twin(name, events, runs, options.best_of, options.memory << 30)
            others.append(_seconds(took) if took[0] < float("inf") else f"more than {options.memory} GiB")
    ratios = (f"{scan[0] / read[0]:.1f}", f"{scan[1] / read[1]:.1f}")
    told = (f"{runs:,}", f"{batch.events:,}", _seconds(read), _seconds(scan), *ratios, *others)
    print(_ROW.format(*told, _seconds(judged)), flush=True)


def _ask_spark(session: Any, batch: Batch, best_of: int) -> tuple[Times, Times]:
    """The times of the bare read of the columns, and of the pass."""
    with (
        settings(session, batch.lines * 100, batch.runs),
        events_of(session, batch) as rows,
        in_one_pass(session),
    ):
        # A plan is made anew each time: Spark keeps what a plan has exchanged, and would not read again.
        columns = [F.max(column) for column in ASKED]
        read = timed(lambda: len(rows.agg(*columns).collect()), 1, best_of + 1)
        scan = timed(lambda: health_of(rows).filter("healthy").count(), batch.runs, best_of + 1)
    return read, scan


def _seconds(times: Times) -> str:
    return "{:.1f} ({:.1f})".format(*times)


if __name__ == "__main__":
    main()
