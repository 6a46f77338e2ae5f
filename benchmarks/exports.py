"""Speed of SPIN on exported models, and on hand-written ones: two-phase commit both ways, and figure 16 of
the RBP report.

Run: `python benchmarks/exports.py [--managers 7 8 9] [--repeat 3] [--rbp]`. Needs SPIN and gcc. Each model is
compiled once with `-O2 -DSAFETY -DNOREDUCE` and run depth-first, exactly, with the invariant asserted; the
figures are processor seconds of the verifier alone, medians, and bytes a state as the verifier reports them
(its own overhead included). The exported models are the fast ones: without the assertions that the
specification has no bug, and, for figure 16, with sets cut to the elements that our exploration found. Equal
counts of states are asserted.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from explicit import promela as by_hand
from rich.console import Console
from rich.table import Table

from antiphon.conformance.exports import find_tools, seen_members
from antiphon.model.export import promela
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.rbp.properties import RbpProperties

RBP = program(RbpProperties, repairs="all", messages=1, losses=1, timeouts=1)
MEMORY_MB = 8_000
MOST_STATES = 20_000_000


@dataclass(frozen=True)
class Figures:
    """One model in SPIN: states, processor seconds (median), bytes a state in all, bytes of the vector."""

    states: int
    seconds: float
    bytes: float
    vector: int


def measure(text: str, repeat: int, hash_bits: int) -> Figures:
    """Compile a model and run it `repeat` times with a hash table of 2 to the power `hash_bits` slots."""
    spin, compiler = find_tools()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "model.pml").write_text(text, encoding="ascii")
        flags = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", f"-DMEMLIM={MEMORY_MB}"]
        for command in ([spin, "-a", "model.pml"], [compiler, *flags, "-o", "pan", "pan.c"]):
            subprocess.run(command, cwd=directory, check=True, capture_output=True)  # noqa: S603 - tools found on the path
        times, said = [], ""
        for _ in range(repeat):
            before = _children_seconds()
            ran = subprocess.run(  # noqa: S603 - the verifier that was just compiled
                [str(directory / "pan"), "-m1000000", f"-w{hash_bits}", "-E"],
                cwd=directory,
                check=True,
                capture_output=True,
                text=True,
            )
            times.append(_children_seconds() - before)
            said = ran.stdout
    states = _number(r"([\d.e+]+) states, stored", said)
    memory = _number(r"([\d.]+)\s+actual memory usage for states", said) + _number(
        r"([\d.]+)\s+memory used for hash table", said
    )
    return Figures(
        int(states),
        statistics.median(times),
        memory * 2**20 / states,
        int(_number(r"State-vector (\d+) byte", said)),
    )


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _number(pattern: str, said: str) -> float:
    found = re.search(pattern, said)
    if found is None:
        raise ValueError(f"SPIN's report has no {pattern!r}:\n{said}")
    return float(found.group(1))


def narrow(bound: Program) -> tuple[str, int]:
    """The fast model of a specification that we can explore, and how many states it has."""
    seen = seen_members(bound, MOST_STATES)
    if seen is None:
        raise ValueError(f"{bound.name} has more than {MOST_STATES:,} states")
    members, states = seen
    return promela(bound, checks=False, members=members).text, states


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--managers", type=int, nargs="+", default=[7, 8], help="sizes of two-phase commit")
    parser.add_argument("--repeat", type=int, default=3, help="runs a figure; the median is shown")
    parser.add_argument(
        "--rbp", action="store_true", help="figure 16 of the RBP report too, three processes, one message"
    )
    options = parser.parse_args()
    table = Table("model", "written", "states", "cpu seconds", "states/s", "bytes/state", "vector")
    for managers in options.managers:
        bits = max(18, round(2.6 * managers))
        hand = measure(by_hand(managers), options.repeat, bits)
        ours = measure(promela(program(TwoPhase, managers=managers), checks=False).text, options.repeat, bits)
        if hand.states != ours.states:
            raise ValueError(f"{managers} managers: {hand.states} states by hand, {ours.states} exported")
        _row(table, f"TwoPhase, {managers} managers", "by hand", hand)
        _row(table, f"TwoPhase, {managers} managers", "exported", ours)
    if options.rbp:
        text, states = narrow(RBP)
        found = measure(text, options.repeat, math.ceil(math.log2(states)))
        if found.states != states:
            raise ValueError(f"figure 16: {states} states here, {found.states} in SPIN")
        _row(table, "Rbp, repaired, n=3, 1 message", "exported", found)
    Console(width=120).print(table)


def _row(table: Table, model: str, written: str, figures: Figures) -> None:
    rate = figures.states / max(figures.seconds, 0.001)
    table.add_row(
        model, written, f"{figures.states:,}", f"{figures.seconds:.2f}", f"{rate:,.0f}",
        f"{figures.bytes:.0f}", f"{figures.vector} bytes"
    )  # fmt: skip


if __name__ == "__main__":
    main()
