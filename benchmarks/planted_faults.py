"""Time in which a swarm finds each planted fault, and length of the schedule that shows it.

python benchmarks/planted_faults.py [--runs 1000] [PROTOCOL...] > docs/swarm-faults.md

Times are of the processor. A fault that changes no promise (messages that nobody needs, say) cannot be found
by a swarm, which knows promises only: `antiphon lockstep` sees it in one step.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

from antiphon.conformance.compare.bindings import bound_protocol, bound_protocols
from antiphon.conformance.run.swarm import RunResult, Settings, core_of, run_seed, shortened
from antiphon.model.verdict import Outcome

HEAD = """# Planted faults, and how soon a swarm finds them

Written by `python benchmarks/planted_faults.py --runs {runs}{asked} > docs/swarm-faults.md`.
Seeds are taken from 0 on until one fails; seconds are of one processor. The schedule counts its entries,
messages included, before and after it is made short. Each is shown by
`antiphon swarm PROTOCOL --fault NAME --seed SEED --runs 1`.

Of a fault that is not found a second table says what it changes beside the sound core: how many of
{compared} runs go otherwise, the ratio of all their datagrams and that of the virtual time that they took.
One that shows and breaks nothing costs messages or time, or chooses another order, which is an order too. One
that shows in no run errs about when a message may be forgotten, and nobody asks for it any more, or about
what these runs do not have: a change of views, or a state that they do not reach. `antiphon lockstep PROTOCOL
--fault NAME`, or `antiphon stateful` for three of `rbp`, finds every fault of both tables in seconds, and
tells where the core leaves its specification: [lockstep.md](lockstep.md) says after how many steps.
"""

COMPARED = 100
"""Runs in which a fault that is not found is compared with the sound core."""


class Row(NamedTuple):
    """Result about one fault."""

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


def difference(protocol: str, fault: str) -> str:
    """Return what a fault that is not found changes in the same runs."""
    settings = Settings(planted=fault)
    pairs = [(run_seed(protocol, seed), run_seed(protocol, seed, settings)) for seed in range(COMPARED)]
    differ = sum((sound.sent, sound.ms) != (faulty.sent, faulty.ms) for sound, faulty in pairs)
    sent = sum(faulty.sent for _, faulty in pairs) / sum(sound.sent for sound, _ in pairs)
    took = sum(faulty.ms for _, faulty in pairs) / sum(sound.ms for sound, _ in pairs)
    what = bound_protocol(protocol).faults[fault]
    return f"| `{fault}` | {what} | {differ} | {sent:.2f} | {took:.2f} |"


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocols", nargs="*")
    parser.add_argument("--runs", type=int, default=1000)
    asked = parser.parse_args()
    named = asked.protocols
    print(HEAD.format(runs=asked.runs, asked="".join(f" {each}" for each in named), compared=COMPARED))
    for protocol in named or bound_protocols():
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
        if len(found) < len(rows):
            print("| not found | what is wrong | runs that differ | datagrams | time |")
            print("|---|---|---:|---:|---:|")
            for each in rows:
                if each.first is None:
                    print(difference(protocol, each.fault), flush=True)
            print()


if __name__ == "__main__":
    main()
