"""The pipeline on Spark beside plain Python, pandas, Polars and DuckDB, on generated logs of healthy runs.

    python benchmarks/pipeline.py --runs 50 --processes 3 --messages 2000

prints seconds, of the clock and of processors (Java and Spark's workers included); a measurement, not a test.

1. Logs into verdicts: plain Python, `antiphon verify` of logs, `antiphon ingest`. With `--direct` no log is
   written: the rows of the same runs are made and put into buckets as tasks put them.
2. The question of `scan` put to the rows of the lake: Spark in one pass, the bare read of the same columns by
   Spark, and the same question in pandas, Polars and DuckDB, each if it is there: pip install polars duckdb.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import functions as F  # noqa: N812 - Spark's functions have this name everywhere

from antiphon.conformance.history import judge_run
from antiphon.conformance.pipeline import ingest, verify
from antiphon.conformance.pipeline.buckets import Spill, writes_buckets
from antiphon.conformance.pipeline.chunks import RUNS
from antiphon.conformance.pipeline.columns import CODES, NUMBER, Columns, Longs, Rows
from antiphon.conformance.pipeline.facts import Fact
from antiphon.conformance.pipeline.lake import BUCKET_BYTES, batches_of, events_of, found_lake, put_batch
from antiphon.conformance.pipeline.scan import health_of, in_one_pass
from antiphon.conformance.pipeline.session import settings, spark_session
from antiphon.conformance.trace import Header, LogWriter, digest, load_run, log_name, message_id

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


def write_lake(lake: Path, runs: int, processes: int, messages: int) -> int:
    """Write a lake of the same runs without their logs, and count the lines that these would have."""
    staging = lake / "batches" / "direct"
    found_lake(lake)
    for table in ("spills", "events", "runs", "quarantine"):
        (staging / table).mkdir(parents=True)
    logs = [_columns_of_log(process, processes, messages) for process in range(processes)]
    lines = sum(len(columns.line) + 1 for columns, _ in logs)
    buckets = max(1, -(-lines * runs * 100 // BUCKET_BYTES))
    rows = Rows()
    with Spill(staging / "spills" / "0.arrow", buckets) as spill:
        for run in range(runs):
            for process, (columns, position) in enumerate(logs):
                rows.add(columns, [(run, process, len(columns.line))], position)
            rows.add_run(run, messages, Fact.SOUND | Fact.SENDERS_ORDER | Fact.NO_CRASH)
            if rows.size > 50_000 or run == runs - 1:
                spill.add(rows.batch())
    work = writes_buckets(str(staging / "spills"), str(staging / "events"), buckets)
    for _ in work([pa.RecordBatch.from_pydict({"id": list(range(buckets))})]):
        pass
    shutil.rmtree(staging / "spills")
    empty = {name: pa.array([0] * runs, pa.int64()) for name in ("lines", "events", "faults")}
    told = [empty.get(field.name, pa.nulls(runs, field.type)) for field in RUNS]
    parquet.write_table(pa.Table.from_arrays(told, schema=RUNS), staging / "runs" / "0.parquet")
    put_batch(staging, lake, buckets, {})
    return lines * runs


def _columns_of_log(process: int, processes: int, messages: int) -> tuple[Columns, Longs]:
    """What `write_logs` writes into one log."""
    order = np.arange(messages)
    own = order % processes == process
    at = order + np.cumsum(own)
    size = messages + int(own.sum()) + 1
    kind, message = np.full(size, CODES["deliver"], np.int8), np.zeros(size, np.int64)
    kind[at[own] - 1], kind[-1] = CODES["broadcast"], CODES["end"]
    message[at], message[at[own] - 1] = order, order[own]
    delivered = kind == CODES["deliver"]
    content = message.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    columns = {
        "source": message % processes,
        "count": message // processes + 1,
        "number": message + 1,
        "high": content.view(np.int64),
        "low": (~content).view(np.int64),
        "peer": np.zeros(size, np.int64),
    }
    valid = np.array([(kind != CODES["end"]) & (name not in ("number", "peer")) for name in columns])
    valid[NUMBER] = delivered
    line = np.arange(size)
    return Columns(line + 2, line, kind, np.array(list(columns.values())), valid, {}), np.cumsum(delivered)


def judge_in_python(root: Path) -> bool:
    """Judge with the plain-Python checks, one run at a time."""
    judgements = [judge_run(load_run(directory)) for directory in sorted(root.iterdir())]
    return all(j.outcome(finding) == "holds" for j in judgements for finding in j.findings)


def healthy_in_pandas(events: Path) -> int:
    """How many runs are healthy, as `scan` asks it; all rows in memory. These logs have no datagrams."""
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
    return int(by_run.filter(healthy).select(pl.len()).collect().item())


def healthy_in_duckdb(events: Path) -> int:
    """The same in DuckDB's SQL."""
    import duckdb  # type: ignore[import-not-found]

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
    """Of this process and of all that it has started: Java, and the workers that Java starts."""
    total = 0.0
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        try:
            told = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += told.user + told.system + told.children_user + told.children_system
    return total


def main() -> None:
    """Generate, judge in all ways, print the tables."""
    parser = argparse.ArgumentParser(description="Compare the Spark pipeline with plain Python and others.")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2000, help="broadcasts a run")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--best-of", type=int, default=2, help="of so many answers to the scan's question")
    parser.add_argument("--direct", action="store_true", help="make rows without logs")
    parser.add_argument("--scan-only", action="store_true", help="leave out plain Python and verify of logs")
    options = parser.parse_args()
    took: dict[str, Times] = {}
    with tempfile.TemporaryDirectory() as scratch, spark_session(options.master, 1 << 30) as session:
        logs, lake = Path(scratch) / "logs", Path(scratch) / "lake"
        logs.mkdir()
        size = (options.runs, options.processes, options.messages)
        lines = write_lake(lake, *size) if options.direct else write_logs(logs, *size)
        shape = f"{options.runs:,} runs x {options.processes} processes x {options.messages:,} messages"
        print(f"{shape}: {lines:,} lines", flush=True)
        if not options.scan_only and not options.direct:
            took["plain Python: read and judge"] = timed(lambda: judge_in_python(logs), expected=True)
            took["Spark: verify of logs"] = timed(lambda: verify(logs, options.master).outcome, "holds")
        if not options.direct:
            took["Spark: ingest"] = timed(
                lambda: ingest([logs], lake, options.master).total("runs"), options.runs
            )
        took["Spark: verify of the lake, first"] = timed(
            lambda: verify(lake, options.master).outcome, "holds"
        )
        _show(took, lines)
        asked = _ask_the_rows(session, lake, lines, options.runs, options.best_of)
        _show(asked, lines)
        bare = asked["Spark: bare read of the columns"][0]
        print(f"the scan takes {asked['Spark: scan'][0] / bare:.1f} times the bare read")


def _ask_the_rows(session: Any, lake: Path, lines: int, runs: int, best_of: int) -> dict[str, Times]:
    took: dict[str, Times] = {}
    (batch,) = batches_of(lake)
    place = batch.directory / "events"
    with settings(session, lines * 100, runs), events_of(session, batch) as rows, in_one_pass(session):
        # A plan is made anew each time: Spark keeps what a plan has exchanged, and would not read again.
        columns = [F.max(column) for column in ASKED]
        took["Spark: bare read of the columns"] = timed(
            lambda: len(rows.agg(*columns).collect()), 1, best_of + 1
        )
        took["Spark: scan"] = timed(lambda: health_of(rows).filter("healthy").count(), runs, best_of + 1)
    twins: dict[str, Callable[[Path], int]] = {
        "pandas": healthy_in_pandas,
        "polars": healthy_in_polars,
        "duckdb": healthy_in_duckdb,
    }
    for name, healthy_in in twins.items():
        if find_spec(name) is None:
            print(f"{name} is not installed: pip install {name}")
            continue
        took[name] = timed(lambda ask=healthy_in: ask(place), runs, best_of)  # type: ignore[misc]
    return took


def _show(took: dict[str, Times], lines: int) -> None:
    for name, (clock, processors) in took.items():
        print(
            f"{name:<34} {clock:8.2f} s {processors:8.2f} s of processors "
            f"{lines / max(processors, 1e-9):12,.0f} lines a second and core"
        )


if __name__ == "__main__":
    main()
