"""Speed of the explicit checker, and cost of a state: beside SPIN on the same models; by width and size of
the model.

Run: `python benchmarks/explicit.py [--parts spin services reduction width growth compile instructions]
[--managers 8 9 10] [--repeat 5] [--json FILE]`. The part `spin` needs SPIN and gcc; 10 managers need 5 GiB
for it; `instructions` needs valgrind too, and is left out unless it is named.

Every run is a process of its own. What is timed is the search: for us with the kernel in the cache, from the
first state to the verdicts of the properties asked; for SPIN the verifier, without making and compiling it.
`elapsed` is wall time, `cpu` processor time of all threads, both medians of the runs; a ratio is SPIN's best
median over ours, of elapsed times. SPIN runs exactly, without reduction, and every variant that is tried must
report as many states as we do: depth-first with `-O2` (with `--collapsed` also `-DCOLLAPSE`), for two-phase
commit on a model written by hand and on the exported one. Our memory is how far the resident set grows during
the search; SPIN's is what it reports for states and hash table, without its stack.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from antiphon.conformance.exports import find_tools, seen_members
from antiphon.model.bounds import Bounds, resident_mb
from antiphon.model.engines import StorageOptions
from antiphon.model.engines.native.compiler.kernel import kernel_of
from antiphon.model.engines.native.driver import space, store
from antiphon.model.explore import check
from antiphon.model.export import promela as exported
from antiphon.model.properties import kinds_of
from antiphon.spec.catalogue import ENTRIES
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.rbp.properties import RbpChecked, RbpProperties

RBP_BOUNDS = {"messages": 1, "losses": 2, "timeouts": 2}
"""Figure 16, repaired, three processes: 2,882,818 states."""
SPECS = {"TwoPhase": TwoPhase, "Rbp": RbpProperties, "RbpChecked": RbpChecked} | {
    entry.name: entry.spec for entry in ENTRIES
}
WIDTH_STATES = 2_000_000
GROWTH_STATES = 20_000_000
MEMORY_MB = 16_000
HASH_BITS = 27


@dataclass(frozen=True)
class Model:
    """A specification by its name in `SPECS` with constants; the properties that are judged."""

    spec: str
    constants: dict[str, Any]
    repairs: str = ""
    properties: tuple[str, ...] = ()

    def program(self) -> Program:
        """Return the program that this case measures."""
        return program(SPECS[self.spec], repairs="all" if self.repairs else (), **self.constants)

    def __str__(self) -> str:
        return f"{self.spec}{', repaired' if self.repairs else ''}" + "".join(
            f", {name}={value}" for name, value in self.constants.items()
        )


@dataclass(frozen=True)
class Figures:
    """Measurements: medians over the runs; `mb` is memory in MiB; `width` is words of a state for us, bytes
    for SPIN.
    """

    engine: str
    states: int
    transitions: int
    elapsed: float
    cpu: float
    mb: float
    width: int
    complete: bool = True

    @property
    def rate(self) -> float:
        """States a second of elapsed time."""
        return self.states / max(self.elapsed, 1e-6)

    @property
    def bytes(self) -> float:
        """Bytes of memory a state."""
        return self.mb * 2**20 / max(self.states, 1)


# Ours -------------------------------------------------------------------------------------------------------


def one_run(
    model: Model, threads: int, most: int | None, *, trees: bool, room: int | None = None
) -> dict[str, Any]:
    """One search, in this process: what the parent asked for with `--one`; addresses for `room` states."""
    if room is not None:
        store.MOST_STATES = room
    bound = model.program()
    storage = StorageOptions(threads=threads, whole=not trees)
    check(
        bound, properties=model.properties, engine="native", storage=storage, bounds=Bounds(states=1)
    )  # the kernel is there before the clock runs
    gc.collect()
    base, sizes = resident_mb(), [0.0]
    before, began = time.process_time(), time.perf_counter()
    report = check(
        bound,
        properties=model.properties,
        engine="native",
        storage=storage,
        bounds=Bounds(states=most),
        progress=lambda _: sizes.append(resident_mb()),
    )
    elapsed, cpu = time.perf_counter() - began, time.process_time() - before
    seen, words = report.exploration, kernel_of(bound).packing.words
    return {
        "states": seen.states, "transitions": seen.transitions, "elapsed": elapsed, "cpu": cpu,
        "mb": max(sizes) - base, "words": words,
        "complete": seen.complete,
    }  # fmt: skip


def ours(model: Model, threads: int, repeat: int, most: int | None = None, *, trees: bool = True) -> Figures:
    """The medians of `repeat` searches in fresh processes."""
    return figures_of(
        model, threads, [_spawn(model, threads, most, trees=trees) for _ in range(repeat)], trees=trees
    )


def figures_of(model: Model, threads: int, told: Sequence[dict[str, Any]], *, trees: bool = True) -> Figures:
    """The medians of what searches told."""
    assert len({(answer["states"], answer["transitions"]) for answer in told}) == 1, f"{model}: {told}"
    return Figures(
        f"antiphon, {threads} thread{'s' * (threads != 1)}{'' if trees else ', whole states'}",
        told[0]["states"], told[0]["transitions"],
        statistics.median(answer["elapsed"] for answer in told),
        statistics.median(answer["cpu"] for answer in told),
        statistics.median(answer["mb"] for answer in told), told[0]["words"], told[0]["complete"],
    )  # fmt: skip


def _spawn(model: Model, threads: int, most: int | None, *, trees: bool = True) -> dict[str, Any]:
    asked = json.dumps({"model": asdict(model), "threads": threads, "most": most, "trees": trees})
    answer: dict[str, Any] = json.loads(_run([sys.executable, __file__, "--one", asked])[0].splitlines()[-1])
    return answer


def _run(
    command: Sequence[str], directory: Path | None = None, environment: dict[str, str] | None = None
) -> tuple[str, float, float]:
    """Run a command; return its output, elapsed and processor seconds.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        child = subprocess.Popen(  # noqa: S603 - a fixed command
            command, cwd=directory, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.perf_counter() - began
        out.seek(0)
        said = out.read().decode()
    if child.returncode:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}:\n{said}")
    return said, elapsed, usage.ru_utime + usage.ru_stime


# SPIN -------------------------------------------------------------------------------------------------------

VARIANTS = {"-O2": (), "-O2, collapsed": ("-DCOLLAPSE",)}


def compiled(text: str, directory: Path, flags: Iterable[str] = ()) -> Path:
    """The verifier of a model, made in a directory."""
    spin, compiler = find_tools()
    (directory / "model.pml").write_text(text, encoding="ascii")
    fixed = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", f"-DMEMLIM={MEMORY_MB}"]
    for command in ([spin, "-a", "model.pml"], [compiler, *fixed, *flags, "-o", "pan", "pan.c"]):
        subprocess.run(command, cwd=directory, check=True, capture_output=True)  # noqa: S603 - tools found on the path
    return directory / "pan"


def spin_of(models: dict[str, str], states: int, repeat: int, variants: Iterable[str]) -> list[Figures]:
    """SPIN's figures for each text and variant; it must see so many states."""
    found = []
    for text_name, text in models.items():
        for variant in variants:
            with tempfile.TemporaryDirectory() as name:
                directory = Path(name)
                pan = compiled(text, directory, VARIANTS[variant])
                bits = min(HASH_BITS, max(20, states.bit_length()))
                runs = [_run([str(pan), "-m10000000", f"-w{bits}", "-E"], directory) for _ in range(repeat)]
            said = runs[0][0]
            figures = Figures(
                f"SPIN, {text_name}, {variant}", int(_number(r"([\d.e+]+) states, stored", said)),
                int(_number(r"([\d.e+]+) transitions", said)),
                statistics.median(run[1] for run in runs), statistics.median(run[2] for run in runs),
                _number(r"([\d.]+)\s+actual memory usage for states", said) + _number(r"([\d.]+)\s+memory "
                    r"used for hash table", said),
                int(_number(r"State-vector (\d+) byte", said)),
            )  # fmt: skip
            assert figures.states == states, (figures, states)
            assert "errors: 0" in said, said
            found.append(figures)
    return found


def _number(pattern: str, said: str) -> float:
    found = re.search(pattern, said)
    if found is None:
        raise ValueError(f"SPIN's report has no {pattern!r}:\n{said}")
    return float(found.group(1))


def promela(managers: int) -> str:
    """Two-phase commit in Promela by hand: one process, one branch a step, all variables global."""
    each = range(managers)
    aborted = " || ".join(f"rm[{r}] == 3" for r in each)
    committed = " || ".join(f"rm[{r}] == 2" for r in each)
    consistent = f"assert(!(({aborted}) && ({committed})))"
    all_prepared = " && ".join(f"prepared[{r}]" for r in each)
    branches = [
        f":: d_step {{ tm == 0 && {all_prepared} -> tm = 1; said_commit = 1 }}",
        ":: d_step { tm == 0 -> tm = 2; said_abort = 1 }",
    ]
    for r in each:
        branches += [
            f":: d_step {{ tm == 0 && said[{r}] -> prepared[{r}] = 1 }}",
            f":: d_step {{ rm[{r}] == 0 -> rm[{r}] = 1; said[{r}] = 1 }}",
            f":: d_step {{ rm[{r}] == 0 -> rm[{r}] = 3; {consistent} }}",
            f":: d_step {{ said_commit -> rm[{r}] = 2; {consistent} }}",
            f":: d_step {{ said_abort -> rm[{r}] = 3; {consistent} }}",
        ]
    variables = (
        f"byte rm[{managers}]; byte tm; bool prepared[{managers}]; bool said[{managers}]; bool said_commit; "
        "bool said_abort;"
    )
    return "\n".join([variables, "active proctype protocol() {", "  do", *branches, "  od", "}"])


# Tables -----------------------------------------------------------------------------------------------------


def against_spin(
    console: Console, managers: Iterable[int], repeat: int, variants: Sequence[str]
) -> list[dict[str, Any]]:
    """Two-phase commit and figure 16, services off on both sides: ours on one thread and on two, also with
    whole states where they are kept as trees, and every variant of SPIN.
    """
    rows = []
    for size in managers:
        model = Model("TwoPhase", {"managers": size}, properties=("consistent",))
        bound = model.program()
        texts = {
            "by hand": promela(size),
            "exported": exported(bound, checks=False, properties=["consistent"]).text,
        }
        rows += _compared(console, model, texts, repeat, variants)
    model = Model("Rbp", dict(RBP_BOUNDS), repairs="all")
    bound = model.program()
    seen = seen_members(bound, GROWTH_STATES)
    assert seen is not None
    text = exported(bound, checks=False, properties=(), members=seen[0]).text
    return [*rows, *_compared(console, model, {"exported": text}, repeat, variants)]


def _compared(
    console: Console, model: Model, texts: dict[str, str], repeat: int, variants: Sequence[str]
) -> list[dict[str, Any]]:
    mine = [ours(model, threads, repeat) for threads in (1, 2)]
    if mine[0].width >= space.TREE_WORDS:
        mine += [ours(model, threads, repeat, trees=False) for threads in (1, 2)]
    theirs = spin_of(texts, mine[0].states, repeat, variants)
    best = min(theirs, key=lambda figures: figures.elapsed)
    table = Table(
        "engine",
        "states",
        "transitions",
        "elapsed s",
        "cpu s",
        "bytes/state",
        "width",
        "SPIN's best / ours",
        title=str(model),
    )
    for figures in (*mine, *theirs):
        ratio = f"{best.elapsed / figures.elapsed:.1f}" if figures in mine else ""
        width = f"{figures.width} words" if figures in mine else f"{figures.width} bytes"
        table.add_row(
            figures.engine, f"{figures.states:,}", f"{figures.transitions:,}", f"{figures.elapsed:.2f}",
            f"{figures.cpu:.2f}",
            f"{figures.bytes:.0f}", width, ratio,
        )  # fmt: skip
    console.print(table)
    return [{"part": "spin", "model": str(model), **asdict(figures)} for figures in (*mine, *theirs)]


def services(console: Console, repeat: int) -> list[dict[str, Any]]:
    """Measure the cost of composing the services: figure 16 alone, and judged by total order broadcast."""
    table = Table(
        "model",
        "words",
        "states",
        "transitions",
        "elapsed s, 1 thread",
        "2 threads",
        "bytes/state",
        title="services composed",
    )
    rows = []
    for spec, properties in (
        ("Rbp", ()),
        ("RbpChecked", ("UniformTotalOrder", "UniformIntegrity", "UniformPrefixOrder")),
    ):
        model = Model(spec, dict(RBP_BOUNDS), repairs="all", properties=properties)
        one, two = (ours(model, threads, repeat) for threads in (1, 2))
        table.add_row(
            f"{model}{' judged by ' + ', '.join(properties) if properties else ''}", str(one.width),
            f"{one.states:,}", f"{one.transitions:,}",
            f"{one.elapsed:.2f}", f"{two.elapsed:.2f}", f"{one.bytes:.0f}",
        )  # fmt: skip
        rows += [{"part": "services", "model": str(model), **asdict(figures)} for figures in (one, two)]
    console.print(table)
    return rows


WIDTHS = (
    Model("TwoPhase", {"managers": 9}), Model("dtp", {"processes": 3}, "all"),
    Model("sequencer", {"processes": 3, "messages": 2}, "all"),
    Model("total", {"processes": 3, "messages": 2}, "all"),
    Model("moving-sequencer", {"processes": 3, "messages": 2}, "all"),
    Model("Rbp", {"processes": 3, "messages": 2}, "all"),
    Model("rbp", {"processes": 3, "messages": 2}, "all"),
    Model("rbp-resilient", {"processes": 3, "messages": 2}, "all"),
    Model("horus", {"processes": 3, "messages": 2}, "all"),
    Model("totem", {"processes": 3, "messages": 4}, "all"),
    Model("chang-maxemchuk", {"processes": 4, "messages": 3}, "all"),
)  # fmt: skip


def width(console: Console, repeat: int, states: int) -> list[dict[str, Any]]:
    """States a second and bytes a state against the width of a state, over the first `states` of
    specifications of every width; as they are kept, and with whole states instead of trees, in turn.
    """
    title = f"by width of a state: one thread, the first {states:,} states"
    table = Table(
        "words",
        "model",
        "states",
        "transitions/state",
        "states/s",
        "transitions/s",
        "bytes/state",
        "whole: cpu/cpu",
        "whole: bytes/state",
        title=title,
    )
    measured = []
    for model in WIDTHS:
        told = [
            [_spawn(model, 1, states, trees=trees) for trees in (True, False)] for _ in range(repeat)
        ]
        measured.append((model, *(figures_of(model, 1, kept) for kept in zip(*told, strict=True))))
    for model, one, whole in sorted(measured, key=lambda item: item[1].width):
        table.add_row(
            str(one.width), str(model), f"{one.states:,}", f"{one.transitions / one.states:.1f}",
            f"{one.rate:,.0f}",
            f"{one.transitions / one.elapsed:,.0f}", f"{one.bytes:.0f}",
            f"{whole.cpu / one.cpu:.2f}", f"{whole.bytes:.0f}",
        )  # fmt: skip
    console.print(table)
    return [
        {"part": "width", "model": str(model), **asdict(kept)} for model, *both in measured for kept in both
    ]


GROWTH = tuple(
    Model("Rbp", {"processes": processes, "messages": messages, "losses": 1, "timeouts": 1}, "all")
    for processes, messages in ((2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1))
)


def growth(console: Console, repeat: int) -> list[dict[str, Any]]:
    """Measure how the model of figure 16 grows with processes and messages."""
    title = "figure 16, repaired, one loss, one timer round: how it grows"
    table = Table(
        "processes", "messages", "words", "states", "transitions", "elapsed s, 2 threads", "MiB", title=title
    )
    rows = []
    for model in GROWTH:
        seen = ours(model, 2, repeat, GROWTH_STATES)
        more = "" if seen.complete else "more than "
        table.add_row(
            str(model.constants["processes"]), str(model.constants["messages"]), str(seen.width),
            f"{more}{seen.states:,}",
            f"{more}{seen.transitions:,}", f"{more}{seen.elapsed:.2f}", f"{more}{seen.mb:,.0f}",
        )  # fmt: skip
        rows.append({"part": "growth", "model": str(model), **asdict(seen)})
    console.print(table)
    return rows


REDUCED = (
    (Model("TwoPhase", {"managers": 7}), "symmetry"), (Model("TwoPhase", {"managers": 9}), "symmetry"),
    (Model("chameneos", {}), "symmetry"), (Model("figure-2", {}, "all", ("Integrity",)), "cone"),
    (Model("horus-total", {}, "all", ("UniformTotalOrder",)), "cone"),
)  # fmt: skip


def reduction(console: Console, repeat: int) -> list[dict[str, Any]]:
    """Measure what symmetry and the cone of influence save, and that the answers are the same."""
    table = Table(
        "model", "asked", "reduction", "states", "reduced", "s", "reduced s", title="reductions, one thread"
    )
    rows = []
    for model, name in REDUCED:
        bound = model.program()
        asked = model.properties or [
            item for item, kind in kinds_of(bound).items() if kind in ("invariant", "witness")
        ]
        figures = {}
        for reduced in (False, True):
            times = []
            for _ in range(repeat + 1):  # the first compiles
                began = time.perf_counter()
                cone, symmetry = (reduced and name == kind for kind in ("cone", "symmetry"))
                report = check(
                    bound,
                    properties=asked,
                    engine="native",
                    storage=StorageOptions(threads=1, cone=cone, symmetry=symmetry),
                )
                times.append(time.perf_counter() - began)
            answers = [
                (item.property, item.outcome, item.trace and len(item.trace)) for item in report.verdicts
            ]
            figures[reduced] = report.exploration.states, statistics.median(times[1:]), answers
        assert figures[False][2] == figures[True][2], f"{model}: {figures}"
        (whole, slow, _), (less, fast, _) = figures[False], figures[True]
        table.add_row(
            str(model), ", ".join(asked), name, f"{whole:,}", f"{less:,}", f"{slow:.2f}", f"{fast:.2f}"
        )
        rows.append(
            {
                "part": "reduction",
                "model": str(model),
                "by": name,
                "states": whole,
                "reduced": less,
                "elapsed": slow,
                "less elapsed": fast,
            }
        )
    console.print(table)
    return rows


CACHES = ("--D1=32768,8,64", "--LL=1048576,8,64")
"""Simulated caches: 32 KiB beside the processor, and 1 MiB behind it."""
ROOM = 1 << 24
"""Addresses for so many states are reserved under valgrind, which has 128 GiB of them."""


def instructions(console: Console) -> list[dict[str, Any]]:
    """Instructions and misses of simulated caches for each state of small models, in ours on one thread, as
    trees and whole, and in SPIN: what a run of valgrind counts, less what it counts of one that ends at its
    first state; SPIN's start is too short for that to matter.
    """
    small = Model("Rbp", {"messages": 1, "losses": 1, "timeouts": 1}, repairs="all")
    seen = seen_members(small.program(), GROWTH_STATES)
    assert seen is not None
    by_hand = promela(7)
    rows: list[dict[str, Any]] = []
    title = f"one thread, by valgrind --tool=cachegrind --cache-sim=yes {' '.join(CACHES)}"
    table = Table(
        "model", "engine", "states", "instructions", "D1 misses", "LL misses", title=f"{title}; a state"
    )
    for model, text, ways in (
        (Model("TwoPhase", {"managers": 7}, properties=("consistent",)), by_hand, {"antiphon": True}),
        (
            small,
            exported(small.program(), checks=False, properties=(), members=seen[0]).text,
            {"trees": True, "whole": False},
        ),
    ):
        states = 0
        for engine, trees in ways.items():
            asked = {"model": asdict(model), "threads": 1, "trees": trees, "room": ROOM}
            none, whole = (
                [sys.executable, __file__, "--one", json.dumps({**asked, "most": most})] for most in (1, None)
            )
            _run(["valgrind", "--tool=none", *none])  # compiles the kernel for valgrind's processor
            _, first = _counted(none)
            said, all_of_it = _counted(whole)
            states = json.loads(next(line for line in said.splitlines() if line.startswith("{")))["states"]
            rows.append(_shared(model, engine, states, first, all_of_it))
        with tempfile.TemporaryDirectory() as name:
            pan = compiled(text, Path(name))
            said, all_of_it = _counted([str(pan), "-m1000000", "-w20", "-E"])
        assert int(_number(r"([\d.e+]+) states, stored", said)) == states, said
        rows.append(_shared(model, "SPIN", states, (0, 0, 0), all_of_it))
    for row in rows:
        table.add_row(
            row["model"], row["engine"], f"{row['states']:,}", f"{row['instructions']:,.0f}",
            f"{row['D1 misses']:.1f}", f"{row['LL misses']:.1f}",
        )  # fmt: skip
    console.print(table)
    return rows


def _counted(command: Sequence[str]) -> tuple[str, tuple[int, int, int]]:
    """Run a command; return its output, and the instructions and misses of both caches that valgrind
    counted.
    """
    said, _, _ = _run(
        [
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=yes",
            *CACHES,
            "--cachegrind-out-file=/dev/null",
            *command,
        ]
    )
    instructions, near, far = (
        int(_number(rf"{what}:\s+([\d,]+)", said.replace(",", "")))
        for what in (r"I\s+refs", r"D1\s+misses", r"LLd\s+misses")
    )
    return said, (instructions, near, far)


def _shared(
    model: Model, engine: str, states: int, first: tuple[int, int, int], whole: tuple[int, int, int]
) -> dict[str, Any]:
    """Return the cost of a state: a run less its start."""
    names = ("instructions", "D1 misses", "LL misses")
    shares = {name: (last - before) / states for name, before, last in zip(names, first, whole, strict=True)}
    return {"part": "instructions", "model": str(model), "engine": engine, "states": states, **shares}


def compile_all(console: Console, repeat: int) -> list[dict[str, Any]]:
    """Measure the compilation of a kernel that is not in the cache: every registered specification, repaired,
    grounding and LLVM included.
    """
    table = Table("specification", "words", "cpu s, cold", "cpu s, from the cache", title="compiling")
    rows = []
    for entry in ENTRIES:
        times: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(repeat):
            with tempfile.TemporaryDirectory() as name:
                for cold in (True, False):
                    said, _, _ = _run(
                        [sys.executable, __file__, "--compile", entry.name],
                        environment={**os.environ, "ANTIPHON_CACHE": name},
                    )
                    words, seconds, built = said.split()
                    assert (built == "True") is cold, said
                    times[cold].append(float(seconds))
        cold_seconds, warm_seconds = (statistics.median(times[cold]) for cold in (True, False))
        table.add_row(entry.name, words, f"{cold_seconds:.2f}", f"{warm_seconds:.2f}")
        rows.append(
            {
                "part": "compile",
                "model": entry.name,
                "words": int(words),
                "cold": cold_seconds,
                "warm": warm_seconds,
            }
        )
    console.print(table)
    return rows


def one_compilation(name: str) -> None:
    """Compile one specification in this process: what the parent asked for with `--compile`."""
    bound = program(SPECS[name], repairs="all")
    began = time.process_time()
    kernel = kernel_of(bound)
    print(kernel.packing.words, time.process_time() - began, kernel.built)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = ["spin", "services", "reduction", "width", "growth", "compile"]
    parser.add_argument("--parts", nargs="+", choices=[*every, "instructions"], default=every)
    parser.add_argument(
        "--managers", type=int, nargs="+", default=[8, 9, 10], help="sizes of two-phase commit"
    )
    parser.add_argument("--repeat", type=int, default=5, help="runs a figure; the median is shown")
    parser.add_argument(
        "--states", type=int, default=WIDTH_STATES, help="how many states of each specification `width` sees"
    )
    parser.add_argument(
        "--collapsed",
        action="store_true",
        help="SPIN with compressed states too: less memory, twice the time",
    )
    parser.add_argument("--json", type=Path, help="write all figures here too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--compile", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.compile:
        one_compilation(options.compile)
        return
    if options.one:
        asked = json.loads(options.one)
        model = Model(**{**asked["model"], "properties": tuple(asked["model"]["properties"])})
        told = one_run(model, asked["threads"], asked["most"], trees=asked["trees"], room=asked.get("room"))
        print(json.dumps(told))
        return
    variants = list(VARIANTS) if options.collapsed else ["-O2"]
    console = Console(width=max(150, Console().width))
    parts = {
        "spin": lambda: against_spin(console, options.managers, options.repeat, variants),
        "services": lambda: services(console, options.repeat),
        "reduction": lambda: reduction(console, options.repeat),
        "width": lambda: width(console, options.repeat, options.states),
        "growth": lambda: growth(console, options.repeat),
        "compile": lambda: compile_all(console, options.repeat),
        "instructions": lambda: instructions(console),
    }  # fmt: skip
    rows = [row for part in options.parts for row in parts[part]()]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
