"""Cost of a state on Spark, beside the native engine, and comparison of the counts.

Run: `python benchmarks/states_on_spark.py [NAME[:constant=value,...]]... [--registered | --ledger]
[--master local[2]] [--workers 2] [--partitions 4] [--narrow N] [--within 3600] [--json FILE]`. A name of the
catalogue is bound with all repairs. `--registered` compares every specification of the catalogue, with the
constants of `COMPARED`: a quarter of an hour. `--ledger` compares every class and constants that the
ledger's checks ask, hours, as far as it has `--at-least` so many states, and `--most` and `--seconds` allow.

A program is explored by the native engine with two threads, its kernel compiled before, up to `--most`
states or `--seconds`; what is complete and large enough is explored on Spark, in a lake that is removed
afterwards. States, transitions and depth must be equal, else the program ends with exit code 1; so it does
when one of `COMPARED` is too small or not complete. `--workers`
starts a standalone cluster on this machine, of so many workers with one core each, instead of `--master`.
Times are from the question to the report, Spark's start, which is shown by itself, left out: `s` elapsed,
`cpu` of processors, of all processes together; `times` is the ratio of these, on the processors. No
property is asked; on Spark all invariants and witnesses are evaluated in every state nevertheless.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import pyspark
from rich.console import Console
from rich.table import Table

import antiphon
from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.spark.pipeline.java import java_home
from antiphon.conformance.spark.pipeline.session import spark_session
from antiphon.conformance.spark.states.checking import check_on_spark
from antiphon.conformance.spark.states.running import NARROW
from antiphon.model import explore
from antiphon.model.bounds import Bounds
from antiphon.model.engines import StorageOptions
from antiphon.model.engines.native.compiler.kernel import kernel_of
from antiphon.spec.catalogue import ENTRIES
from antiphon.spec.claims.claim import Check
from antiphon.spec.lang import Program

THREADS = 2

COMPARED = (
    "figure-2:messages=3",
    "figure-5",
    "moving-sequencer:messages=1",
    "rbp:messages=1",
    "rbp:processes=3,messages=1,losses=2,timeouts=3",
    "rbp-resilient",
    "vsc",
    "primary-backup:processes=4,messages=3,crashes=2",
    "primary-backup-vsc",
    "reformation",
    "irbp:messages=1,false_suspicions=0",
    "irbp-iviews:messages=1,false_suspicions=0",
    "irbp-two-views:messages=1,false_suspicions=0",
    "rmp",
    "trmp",
    "rbp-reforming",
    "sequencer:messages=3,crashes=2,views=3",
    "dtp",
    "dtp-crashing:senders=1,losses=0",
    "chang-maxemchuk:messages=3",
    "pinwheel",
    "totem:messages=3",
    "totem-ring:messages=3",
    "horus-nak",
    "horus-frag:losses=4",
    "horus-total:messages=3",
    "horus-flush:processes=4,messages=1,crashes=3",
    "horus-flush-total:crashes=2",
    "horus-flush-stack:processes=2",
    "horus:messages=1,casts=1,patient=true",
    "total",
    "ordering:messages=3",
    "chandra-toueg",
    "view-synchrony:messages=3",
    "any-history",
    "two-phase:managers=9",
    "dining-philosophers:philosophers=17",
    "alternating-bit:values=9,length=9",
    "voting:acceptors=4,ballots=4",
    "bcast-byz:processes=5",
    "nbacg-guer01:processes=4",
    "causal-broadcast:broadcasts=2",
    "raft",
    "raft-members:terms=1",
    "chang-roberts:nodes=7",
    "chameneos:creatures=5,meetings=5",
)
"""Specifications of the catalogue, each with at least 10^5 states: with their own constants, or with what
makes those of fewer states larger and those of too many smaller.
"""
SMALL = {
    "dtp-figure-1": "an exchange of a few messages: 2,787 states with four processes and eight messages",
    "die-hard": "a way of pourings, about as many levels as states",
    "irbp-whole-view": "56,385 states with two processes and two messages; with three they take minutes",
    "sequencer-listed": "38,560 states with three processes, a message and a wrong suspicion",
    "primary-backup-sessions": "61,088 states with two replicas, two clients and three updates",
    "total-listed": "52,689 states with three processes, two messages and a crash",
    "ewd840": "36,990 states with six nodes; with seven there are 10^5 initial states, read one by one",
}
"""Specifications with fewer than 10^5 states, and why."""


@dataclass(frozen=True)
class Figures:
    """Measurements of one program: `levels` are bytes of Parquet, `known` bytes of runs at the end."""

    name: str
    words: int
    states: int
    transitions: int
    depth: int
    native_s: float
    native_cpu: float
    spark_s: float
    spark_cpu: float
    jobs: int
    levels: int
    known: int
    same: bool

    @property
    def ratio(self) -> float:
        """Processor time of a state on Spark, in times of the native engine's."""
        return self.spark_cpu / max(self.native_cpu, 1e-6)


def named(text: str) -> tuple[str, Program]:
    """A program of the catalogue: `rbp:processes=3,messages=1`, with all repairs."""
    name, _, rest = text.partition(":")
    constants: dict[str, int | bool] = {}
    for setting in filter(None, rest.split(",")):
        key, _, value = setting.partition("=")
        constants[key] = value == "true" if value in ("true", "false") else int(value)
    return text, antiphon.program(name, repairs="all").with_constants(**constants)


def of_ledger() -> Iterator[tuple[str, Program]]:
    """Every class and constants of the ledger's checks, with the repairs of the first such check, deep ones
    first.
    """
    digests: set[str] = set()
    recorded = [
        (claim, check)
        for entry in ENTRIES
        for claim in entry.claims
        for check in claim.checks
        if isinstance(check, Check)
    ]
    seen: set[tuple[str, str]] = set()
    for claim, check in sorted(recorded, key=lambda pair: not pair[1].deep):
        asked = (check.spec.__qualname__, str(sorted(check.constants.items())))
        if asked not in seen:
            seen.add(asked)
            program = program_of(check)
            if program.digest not in digests:
                digests.add(program.digest)
                bound = ",".join(f"{name}={value}" for name, value in check.constants.items())
                yield f"{claim.id} {check.spec.__name__}:{bound}", program


def measured(
    name: str, program: Program, given: argparse.Namespace, console: Console, used: Processors
) -> Figures | None:
    """The figures of a program; None when it is too small, or too large for the native engine."""
    kernel = kernel_of(program)
    storage = StorageOptions(threads=THREADS)
    explore.check(program, properties=[], engine="native", storage=storage, bounds=Bounds(states=1))
    began, before = time.perf_counter(), used.seconds()
    native = explore.check(
        program,
        properties=[],
        engine="native",
        storage=storage,
        bounds=Bounds(states=given.most, seconds=given.seconds, memory_mb=given.memory),
    ).exploration
    native_s, native_cpu = time.perf_counter() - began, used.seconds() - before
    if not native.complete or native.states < given.at_least:
        told = "" if native.complete else ", not all"
        console.print(f"{name}: {native.states:,} states{told}", style="bright_black")
        return None
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        lake = Path(directory)
        began, before = time.perf_counter(), used.seconds()
        report = check_on_spark(
            program,
            lake,
            master=given.master,
            partitions=given.partitions,
            narrow=given.narrow,
            properties=[],
        )
        spark_s, spark_cpu = time.perf_counter() - began, used.seconds() - before
        levels, known = (
            sum(file.stat().st_size for file in (lake / part).rglob("*.*")) for part in ("levels", "known")
        )
    mine = report.exploration
    same = (mine.states, mine.transitions, mine.depth) == (native.states, native.transitions, native.depth)
    jobs = int(report.notes[-1].partition("; ")[2].split()[0])
    return Figures(
        name, kernel.packing.words, mine.states, mine.transitions, mine.depth, native_s, native_cpu,
        spark_s, spark_cpu, jobs, levels, known, same,
    )  # fmt: skip


class Processors:
    """Processor seconds of this process and all that it started, those that have ended too, but for their
    last `EVERY_S`: workers of Spark end when they like, and nobody waits for them.
    """

    EVERY_S = 0.1

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._look_on, daemon=True).start()

    def seconds(self) -> float:
        """Return the seconds that were used so far."""
        here = psutil.Process()
        with self._lock:
            for process in (here, *here.children(recursive=True)):
                with suppress(psutil.Error):
                    used = process.cpu_times()
                    self._seen[process.pid, process.create_time()] = used.user + used.system
            return sum(self._seen.values())

    def _look_on(self) -> None:
        while True:
            time.sleep(self.EVERY_S)
            self.seconds()


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A standalone cluster on the loopback interface, of workers with one core each; its address."""
    home = Path(pyspark.__file__).parent
    with ExitStack() as stack, socket.socket() as probe:
        environment = os.environ | {
            "JAVA_HOME": str(stack.enter_context(java_home())),
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_WORKER_DIR": stack.enter_context(tempfile.TemporaryDirectory()),
        }
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        address = f"spark://127.0.0.1:{port}"
        deploy = "org.apache.spark.deploy"
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        asked = [[f"{deploy}.master.Master", "--port", str(port), *place]]
        asked += [
            [f"{deploy}.worker.Worker", "--cores", "1", "--memory", "1g", *place, address]
            for _ in range(workers)
        ]
        for arguments in asked:
            process = stack.enter_context(
                subprocess.Popen(  # noqa: S603 - Spark's own script
                    [str(home / "bin" / "spark-class"), *arguments],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
            stack.callback(process.terminate)
            if arguments is asked[0]:
                wait(lambda: listens(port))
            else:
                wait(lambda number=process.pid: talks(number, port))
        yield address


def wait(until: Callable[[], bool]) -> None:
    """Until this is so, two minutes at most."""
    for _ in range(1_200):
        if until():
            return
        time.sleep(0.1)
    raise SystemExit("the cluster does not start")


def listens(port: int) -> bool:
    """Return True if somebody listens there."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def talks(process: int, port: int) -> bool:
    """Return True if a process is connected to this port."""
    with suppress(psutil.Error):
        found = psutil.Process(process).net_connections()
        return any(item.raddr and item.raddr.port == port and item.status == "ESTABLISHED" for item in found)
    return False


def shown(figures: list[Figures]) -> Table:
    """The table."""
    table = Table(
        *("program", "words", "states", "transitions", "depth", "native s", "cpu", "Spark s", "cpu", "times"),
        *("µs a state", "bytes a state: levels", "known", "jobs", "counts"),
    )
    for item in figures:
        sizes = (f"{part / item.states:.1f}" for part in (item.levels, item.known))
        counts = (f"{count:,}" for count in (item.states, item.transitions, item.depth))
        times = (item.native_s, item.native_cpu, item.spark_s, item.spark_cpu, item.ratio)
        table.add_row(
            *(item.name, str(item.words), *counts),
            *(*(f"{value:.2f}" for value in times), f"{1e6 * item.spark_cpu / item.states:.2f}"),
            *(*sizes, str(item.jobs), "equal" if item.same else "DIFFERENT"),
        )
    return table


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--registered", action="store_true")
    parser.add_argument("--ledger", action="store_true")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--partitions", type=int, default=4)
    parser.add_argument("--narrow", type=int, default=NARROW)
    parser.add_argument("--at-least", type=int, default=100_000)
    parser.add_argument("--most", type=int, default=30_000_000)
    parser.add_argument("--memory", type=int, default=8_000)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--within", type=float, default=3_600.0)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    names = [*given.names, *(COMPARED if given.registered else ())]
    if bool(names) == given.ledger:
        parser.error("name programs, or say --registered or --ledger")
    console, figures, end = Console(width=200), list[Figures](), time.monotonic() + given.within
    used = Processors()
    with ExitStack() as stack:
        if given.workers:
            given.master = stack.enter_context(cluster(given.workers))
        began = time.perf_counter()
        stack.enter_context(spark_session(given.master))
        console.print(f"Spark starts on {given.master} in {time.perf_counter() - began:.1f} s")
        for name, program in of_ledger() if given.ledger else map(named, names):
            if time.monotonic() > end:
                console.print("the time is over: not all programs were looked at", style="yellow")
                break
            found = measured(name, program, given, console, used)
            if found is not None:
                figures.append(found)
                console.print(shown([found]))
                if given.json:
                    given.json.write_text(json.dumps([asdict(item) for item in figures], indent=1))
    console.print(shown(figures))
    console.print(f"load of the machine: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    missing = {*(COMPARED if given.registered else ())} - {item.name for item in figures}
    if missing:
        console.print(f"not compared: {', '.join(sorted(missing))}", style="red")
    sys.exit(0 if all(item.same for item in figures) and not missing else 1)


if __name__ == "__main__":
    main()
