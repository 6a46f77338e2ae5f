"""The pipeline on Spark beside the same verdicts in plain Python and in pandas, on generated logs.

    python benchmarks/pipeline.py --runs 50 --processes 3 --messages 2000

prints seconds and ratios; a measurement, not a test. All three read the same NDJSON logs of healthy
runs and judge the five properties. Spark's time is told with and without the start of Java, and for
a dataset that is already in Parquet. pandas reads with its own JSON reader and checks no file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import pandas as pd

from antiphon.conformance.history import judge_run
from antiphon.conformance.pipeline import verify
from antiphon.conformance.pipeline.session import spark_session
from antiphon.conformance.trace import Header, LogWriter, digest, load_run, log_name, message_id


def write_logs(root: Path, runs: int, processes: int, messages: int) -> int:
    """Write healthy runs and count their lines; every process broadcasts in turn."""
    lines = 0
    for number in range(runs):
        directory = root / f"run-{number:04d}"
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
                    if source == process:
                        log.broadcast(message, digest(message.encode()))
                    log.deliver(message, k + 1, digest(message.encode()))
                log.end()
                lines += log.events + 1
    return lines


def judge_in_python(root: Path) -> bool:
    """Judge with the plain-Python checks, one run at a time."""
    judgements = [judge_run(load_run(directory)) for directory in sorted(root.iterdir())]
    return all(j.outcome(finding) == "holds" for j in judgements for finding in j.findings)


def judge_in_pandas(root: Path) -> bool:
    """Judge with pandas, one run at a time, all in memory."""
    return all(_run_holds_in_pandas(directory) for directory in sorted(root.iterdir()))


def _run_holds_in_pandas(directory: Path) -> bool:
    logs = {}
    for process, path in enumerate(sorted(directory.iterdir())):
        logs[process] = pd.read_json(path, lines=True, dtype={"m": str, "digest": str}).iloc[1:]
    sent = pd.concat(log[log["kind"] == "broadcast"].assign(process=p) for p, log in logs.items())
    sent = sent[sent["m"].str.split(":").str[0].astype(int) == sent["process"]].drop_duplicates("m")
    delivered = {p: log[log["kind"] == "deliver"].reset_index(drop=True) for p, log in logs.items()}
    everything = pd.concat(delivered.values())
    checked = everything.merge(sent[["m", "digest"]], on="m", how="left", suffixes=("", "_sent"))
    holds = not any(log["m"].duplicated().any() for log in delivered.values())
    holds &= bool((checked["digest"] == checked["digest_sent"]).all())
    holds &= bool((everything.groupby("m").size() == len(logs)).all())
    holds &= bool(sent["m"].isin(everything["m"]).all())
    for p, q in combinations(delivered.values(), 2):
        common = p["m"][p["m"].isin(q["m"])].reset_index(drop=True)
        holds &= common.equals(q["m"][q["m"].isin(p["m"])].reset_index(drop=True))
        shorter = min(len(p), len(q))
        holds &= p["m"][:shorter].equals(q["m"][:shorter])
    return holds


def timed(judge: Callable[[], bool]) -> float:
    """Time one judgement; all logs are healthy, so anything but True is a mistake here."""
    start = time.perf_counter()
    if not judge():
        raise SystemExit("a healthy log was not found healthy")
    return time.perf_counter() - start


@contextmanager
def _session_time(master: str, seconds: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    with spark_session(master):
        seconds["start of Java and Spark"] = time.perf_counter() - start
        yield


def main() -> None:
    """Generate, judge in all ways, print the table."""
    parser = argparse.ArgumentParser(description="Compare the Spark pipeline with plain Python and pandas.")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--messages", type=int, default=2000, help="broadcasts a run")
    parser.add_argument("--master", default="local[*]")
    options = parser.parse_args()
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        logs, kept = Path(scratch) / "logs", Path(scratch) / "kept"
        logs.mkdir()
        lines = write_logs(logs, options.runs, options.processes, options.messages)
        print(
            f"{options.runs} runs x {options.processes} processes x {options.messages} messages: {lines:,} "
            "lines"
        )
        seconds["plain Python"] = timed(lambda: judge_in_python(logs))
        seconds["pandas"] = timed(lambda: judge_in_pandas(logs))
        with _session_time(options.master, seconds):
            seconds["Spark, logs, cold"] = timed(
                lambda: verify(logs, options.master, kept).outcome == "holds"
            )
            seconds["Spark, logs, warm"] = timed(lambda: verify(logs, options.master).outcome == "holds")
            seconds["Spark, Parquet, warm"] = timed(lambda: verify(kept, options.master).outcome == "holds")
    for name, took in seconds.items():
        ratios = " ".join(
            f"{took / seconds[twin]:6.1f} x {twin}" for twin in ("plain Python", "pandas")
        )
        print(f"{name:<24} {took:8.2f} s {lines / took:12,.0f} lines/s {ratios}")


if __name__ == "__main__":
    main()
