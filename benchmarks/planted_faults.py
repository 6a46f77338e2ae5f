"""How soon a swarm finds each planted fault, and how short the schedule becomes that shows it.

python benchmarks/planted_faults.py [--runs 1000] [PROTOCOL...] > docs/swarm-faults.md

Times are of the processor. A fault that changes no promise (messages that nobody needs, say) cannot be found
by a swarm, which knows promises only: `antiphon lockstep` sees it in one step.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

from antiphon.conformance.bindings import bound_protocol, bound_protocols
from antiphon.conformance.swarm import RunResult, Settings, core_of, run_seed, shortened
from antiphon.model.verdict import Outcome

HEAD = """# Planted faults, and how soon a swarm finds them

Written by `python benchmarks/planted_faults.py --runs {runs} > docs/swarm-faults.md`. Seeds are taken from
0 on until one fails; seconds are of one processor. The schedule counts its entries, messages included, before
and after it is made short. `antiphon swarm PROTOCOL --fault NAME --seed SEED --runs 1` shows each. A fault
that is not found may break no promise at all, or only one that nobody asked for here (a resilience, a change
of views): `antiphon lockstep PROTOCOL --fault NAME` tells where the core leaves its specification.
"""


class Row(NamedTuple):
    """What was found of one fault."""

    protocol: str
    fault: str
    first: RunResult | None
    find_s: float
    short: RunResult | None
    shrink_s: float

    def __str__(self) -> str:
        if self.first is None:
            return f"| `{self.fault}` | - | {self.find_s:.1f} | | | | |"
        assert self.first.schedule is not None
        assert self.short is not None
        assert self.short.schedule is not None
        entries, left = len(self.first.schedule.entries), len(self.short.schedule.entries)
        told = (*self.short.reasons, *self.short.symptoms)[0]
        what = told.partition(":")[0].partition(" in ")[0]
        return (
            f"| `{self.fault}` | {self.first.seed} | {self.find_s:.2f} | {entries} | {left} | "
            f"{self.shrink_s:.1f} | {what} |"
        )


def row(protocol: str, fault: str, runs: int) -> Row:
    """Take runs until one fails, and make it short."""
    settings = Settings(planted=fault)
    core_of(protocol, fault)
    begun = time.process_time()
    for seed in range(runs):
        first = run_seed(protocol, seed, settings)
        if first.outcome is not Outcome.HOLDS:
            break
    else:
        return Row(protocol, fault, None, time.process_time() - begun, None, 0.0)
    found = time.process_time()
    short = shortened(first, settings)
    return Row(protocol, fault, first, found - begun, short, time.process_time() - found)


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocols", nargs="*", default=bound_protocols())
    parser.add_argument("--runs", type=int, default=1000)
    asked = parser.parse_args()
    print(HEAD.format(runs=asked.runs))
    for protocol in asked.protocols:
        rows = []
        print(f"## {protocol}\n")
        print("| fault | seed | seconds | entries | short | seconds to shrink | broken |")
        print("|---|---:|---:|---:|---:|---:|---|")
        for fault in sorted(bound_protocol(protocol).faults):
            rows.append(row(protocol, fault, asked.runs))
            print(rows[-1], flush=True)
        found = [each for each in rows if each.first is not None]
        soon = sum(each.find_s < 10.0 for each in found)
        print(
            f"\n{len(found)} of {len(rows)} are found, {soon} of them in less than ten seconds.\n", flush=True
        )


if __name__ == "__main__":
    main()
