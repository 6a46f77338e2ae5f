"""Gain of steering: runs and seconds until planted faults are found, and branches and state classes reached,
with and without `--steer`; and transitions that Hypothesis takes, with and without its preference.

    python benchmarks/steering.py [--runs 250] [--starts 6] [--messages 50] [--reach 60] [PROTOCOL/FAULT...]

Each fault is sought from several first seeds, 1,000 apart. A search that finds nothing counts with all its
runs. Seconds are of one processor, and include what recording costs.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.compare.lockstep import Comparison
from antiphon.conformance.compare.stateful import machine
from antiphon.conformance.run.swarm import RunResult, Settings, core_of, run_seed
from antiphon.conformance.run.swarm.steering import recorded_runs
from antiphon.model.verdict import Outcome

FAULTS = (
    "rbp/answers-one-less", "rbp/forgets-resent-data", "rbp-resilient/forgets-collected",
    "dtp/answers-nobody", "dtp/counts-itself-out", "dtp/takes-old-tokens", "chang-maxemchuk/sends-two",
    "total/forgets-the-suffix", "total/passes-one", "horus/rests-for-ever",
)  # fmt: skip
"""The planted faults that a swarm needs more than five runs to find (docs/swarm-faults.md), but those of
single layers of Horus.
"""

MODELS = ("total", "chang-maxemchuk", "totem")

CORES = ("rbp", "rbp-resilient", "sequencer", "dtp", "total", "totem", "horus")


def searched(core: str, seed: int, runs: int, settings: Settings, *, steer: bool) -> tuple[int | None, float]:
    """Return after how many runs a run fails, None if none does, and the processor seconds."""
    begun, seeds = time.process_time(), range(seed, seed + runs)
    if steer:
        results, _ = recorded_runs(core, seeds, settings, steer=True, until=_fails)
    else:
        results = []
        while len(results) < runs and not (results and _fails(results[-1])):
            results.append(run_seed(core, seeds[len(results)], settings))
    found = len(results) if _fails(results[-1]) else None
    return found, time.process_time() - begun


def _fails(result: RunResult) -> bool:
    return result.outcome is not Outcome.HOLDS


def row(name: str, runs: int, starts: int, messages: int) -> str:
    """Return the row of a fault."""
    core, _, fault = name.partition("/")
    settings = Settings(planted=fault, messages=messages)
    core_of(core, fault)
    cells = [name]
    for steer in (False, True):
        each = [
            searched(core, 1_000 * (k + 1), runs, settings, steer=steer) for k in range(starts)
        ]
        needed = [found or runs for found, _ in each]
        missed = sum(found is None for found, _ in each)
        cells += [f"{sum(needed) / starts:.0f}", f"{median(needed):.0f}", str(missed)]
        cells.append(f"{sum(seconds for _, seconds in each) / starts:.2f}")
    return f"| {' | '.join(cells)} |"


def reached(core: str, runs: int, messages: int) -> str:
    """Return the row of a core: the branches and state classes that so many runs reach, and their processor
    seconds, without and with steering.
    """
    cells = [core]
    for steer in (False, True):
        begun = time.process_time()
        _, seen = recorded_runs(core, range(runs), Settings(messages=messages), steer=steer)
        seconds = time.process_time() - begun
        cells += [str(sum(map(sum, seen.branches.values()))), str(len(seen.classes)), f"{seconds:.1f}"]
    return f"| {' | '.join(cells)} |"


def transitions(protocol: str, *, prefers: bool) -> str:
    """Return how many different transitions `stateful` takes in 60 runs of 30 steps, half of them walks, on
    the model that lockstep walks, from three first seeds; and the numbers of steps.
    """
    bound = bound_protocol(protocol)
    binding = bound.bind(**bound.small)
    parts, first = machine.PARTS, machine._first
    if not prefers:
        machine.PARTS = 1
        machine._first = lambda made, action: list(made.run.enabled.get(action, []))
    try:
        found = [
            machine.run_stateful(binding, Comparison(binding).machine, runs=60, steps=30, seed_number=seed)
            for seed in range(3)
        ]
    finally:
        machine.PARTS, machine._first = parts, first
    return f"{', '.join(str(each.met) for each in found)} | {', '.join(str(each.steps) for each in found)}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="*", default=FAULTS)
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--messages", type=int, default=50)
    parser.add_argument("--reach", type=int, default=60)
    asked = parser.parse_args()
    print("| fault | mean runs | median | missed | s | steered: mean runs | median | missed | s |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in asked.faults:
        print(row(name, asked.runs, asked.starts, asked.messages), flush=True)
    print("\n| core | branches | state classes | s | steered: branches | state classes | s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for core in CORES if asked.faults == FAULTS else ():
        print(reached(core, asked.reach, asked.messages), flush=True)
    print("\n| model | transitions | steps | with preference: transitions | steps |\n|---|---|---|---|---|")
    for protocol in MODELS if asked.faults == FAULTS else ():
        cells = [transitions(protocol, prefers=prefers) for prefers in (False, True)]
        print(f"| {protocol} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
