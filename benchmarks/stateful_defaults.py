"""Planted faults that `antiphon stateful` finds, by size of the model and number of runs; prints a table.

    python benchmarks/stateful_defaults.py [--runs 100] [--seeds 2]

For each size every planted fault of RBP is sought from several seeds, without shrinking. A row says how often
a fault was found, which were missed at least once, and the mean of runs and processor seconds until one was
found; the last column is a search over a correct core, which finds nothing and so is the longest.
"""

from __future__ import annotations

import argparse
import statistics
import time

from antiphon.conformance.compare.bindings import Binding, binding_of, bound_protocol
from antiphon.conformance.compare.lockstep import Comparison
from antiphon.conformance.compare.stateful import run_stateful
from antiphon.spec.lang import Machine

SIZES: list[tuple[int, int]] = [(2, 1), (3, 1), (3, 2), (3, 3), (4, 3)]
"""Processes and messages; processes take their internal steps at once."""

STEPS = 40


def searched(binding: Binding, machine: Machine, runs: int, seed: int) -> tuple[bool, int, float]:
    """Search once: return whether a difference is found, after how many runs and processor seconds, without
    compiling.
    """
    began = time.process_time()
    report = run_stateful(binding, machine, runs=runs, steps=STEPS, seed_number=seed, shrinks=0)
    return report.difference is not None, report.runs, time.process_time() - began


def row(processes: int, messages: int, runs: int, seeds: int) -> str:
    """One row of the table."""
    constants = {"processes": processes, "messages": messages, "urgent": True}
    sound = binding_of("rbp", **constants)
    machine = Comparison(sound).machine
    searched(sound, machine, 1, 0)  # compiles what is compiled once
    differs, _, longest = searched(sound, machine, runs, 0)
    assert not differs, "a sound core differs"
    missed: set[str] = set()
    seconds, needed = list[float](), list[int]()
    faults = sorted(bound_protocol("rbp").faults)
    for fault in faults:
        for seed in range(seeds):
            found, count, spent = searched(binding_of("rbp", fault=fault, **constants), machine, runs, seed)
            if found:
                seconds.append(spent)
                needed.append(count)
            else:
                missed.add(f"`{fault}`")
    cells = (
        processes, messages, runs,
        f"{len(seconds)} of {len(faults) * seeds}", ", ".join(sorted(missed)) or "none",
        f"{statistics.mean(needed):.0f}", f"{statistics.mean(seconds):.1f}", f"{longest:.1f}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    """Parse the command line, search, print."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest)
    parser.add_argument("--runs", type=int, nargs="+", default=[100])
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    print("| processes | messages | runs | found | missed | until found | seconds | without fault |")
    print("|---|---|---|---|---|---|---|---|")
    for runs in asked.runs:
        for processes, messages in SIZES:
            print(row(processes, messages, runs, asked.seeds), flush=True)


if __name__ == "__main__":
    main()
