"""How many states a second does the explicit checker see? Two-phase commit of growing size, the fast engine, the reference, and SPIN.

Run: `python benchmarks/explicit.py [--managers 5 6 7 8] [--repeat 3] [--rbp]`. Every figure is the median of the runs, in processor seconds
of one core, so that a busy machine disturbs little. A check is measured whole: grounding, compiling, searching, judging the properties. SPIN
takes part when `spin` and `gcc` are installed: the same model by hand in Promela, one transition a step, depth-first, exact, no reduction,
the invariant asserted, `gcc -O2`; its seconds are the verifier's alone, without making and compiling it.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from antiphon.model.explicit import check
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.rbp import Rbp, RbpJudged

REFERENCE_MOST_MANAGERS = 5
RBP_BOUNDS = {"messages": 2, "losses": 1, "timeouts": 1}
RBP_MOST = 1_000_000


@dataclass(frozen=True)
class Row:
    """One measurement; `seconds` is the median processor time of the runs."""

    model: str
    engine: str
    states: int
    transitions: int
    seconds: float

    @property
    def rate(self) -> float:
        """States a second."""
        return self.states / max(self.seconds, 0.001)


def measure(model: str, bound: Program, engine: str, repeat: int, *, judged: bool = True, most: int | None = None) -> Row:
    """The median of `repeat` checks; `judged` checks the properties too, `most` ends the search after about so many states."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        seen = check(bound, engine=engine, properties=None if judged else (), max_states=most).exploration
        times.append(time.process_time() - began)
    return Row(model, engine, seen.states, seen.transitions, statistics.median(times))


def promela(managers: int) -> str:
    """Two-phase commit in Promela: one process, one branch a step, all variables global."""
    each = range(managers)
    aborted = " || ".join(f"rm[{r}] == 3" for r in each)
    committed = " || ".join(f"rm[{r}] == 2" for r in each)
    consistent = f"assert(!(({aborted}) && ({committed})))"
    branches = [
        f":: d_step {{ tm == 0 && {' && '.join(f'prepared[{r}]' for r in each)} -> tm = 1; said_commit = 1 }}",
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
    variables = f"byte rm[{managers}]; byte tm; bool prepared[{managers}]; bool said[{managers}]; bool said_commit; bool said_abort;"
    return "\n".join([variables, "active proctype protocol() {", "  do", *branches, "  od", "}"])


def measure_spin(managers: int, repeat: int) -> Row | None:
    """SPIN on the same model; None when spin or gcc is not installed."""
    spin, gcc = shutil.which("spin"), shutil.which("gcc")
    if spin is None or gcc is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "model.pml").write_text(promela(managers), encoding="ascii")
        for command in ([spin, "-a", "model.pml"], [gcc, "-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8000", "-o", "pan", "pan.c"]):
            subprocess.run(command, cwd=directory, check=True, capture_output=True)  # noqa: S603 - tools found on the path
        times = []
        for _ in range(repeat):
            began = _children_seconds()
            ran = subprocess.run([str(directory / "pan"), "-m1000000", "-w24", "-E"], cwd=directory, check=True, capture_output=True)  # noqa: S603
            times.append(_children_seconds() - began)
        text = ran.stdout.decode()
    states, transitions = _number(r"([\d.e+]+) states, stored", text), _number(r"([\d.e+]+) transitions", text)
    return Row(f"TwoPhase, {managers} managers", "SPIN, exact, -O2", int(states), int(transitions), statistics.median(times))


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"SPIN's output has no {pattern!r}:\n{text}")
    return float(found.group(1))


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--managers", type=int, nargs="+", default=[5, 6, 7, 8], help="sizes of two-phase commit")
    parser.add_argument("--repeat", type=int, default=3, help="runs a figure; the median is shown")
    parser.add_argument("--rbp", action="store_true", help="figure 16 of the RBP report too, three processes, without and with services")
    options = parser.parse_args()
    console = Console()
    table = Table("model", "engine", "states", "transitions", "cpu seconds", "states/s")
    ratios = []
    for managers in options.managers:
        bound, model = program(TwoPhase, managers=managers), f"TwoPhase, {managers} managers"
        rows = [measure(model, bound, "generated", options.repeat)]
        if managers <= REFERENCE_MOST_MANAGERS:
            rows.append(measure(model, bound, "reference", 1))
        spin = measure_spin(managers, options.repeat)
        if spin is not None:
            rows.append(spin)
            ratios.append(f"{model}: SPIN sees {spin.rate / rows[0].rate:.1f} times as many states a second")
        _show(table, rows)
    if options.rbp:
        for spec, judged in ((Rbp, False), (RbpJudged, True)):
            bound = program(spec, repairs="all", **RBP_BOUNDS)
            name = f"{spec.__name__}, repaired, n=3, first {RBP_MOST:,}"
            _show(table, [measure(name, bound, "generated", options.repeat, judged=judged, most=RBP_MOST)])
    console.print(table)
    for line in ratios or ["SPIN is not measured: spin or gcc is not installed"]:
        console.print(line)


def _show(table: Table, rows: list[Row]) -> None:
    for row in rows:
        table.add_row(row.model, row.engine, f"{row.states:,}", f"{row.transitions:,}", f"{row.seconds:.2f}", f"{row.rate:,.0f}")


if __name__ == "__main__":
    main()
