"""Agreement of the cores of CM and Pinwheel with their specifications whoever sends: a walk for each
choice.

    python benchmarks/token_senders.py [--protocols chang-maxemchuk pinwheel] [--processes 3] [--messages 3]

A sum of all walks is printed; the exit code is 1 if one of them differs. See docs/lockstep.md.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product

from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.model.verdict import Outcome


def main() -> int:
    """Walk each protocol with one token holder and with several senders."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--protocols", nargs="+", default=["chang-maxemchuk", "pinwheel"])
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--messages", type=int, default=3)
    options = parser.parse_args()
    agree = True
    for protocol in options.protocols:
        sums = [0, 0, 0]
        for first, step in product(range(options.processes), repeat=2):
            constants = {"processes": options.processes, "messages": options.messages}
            report = lockstep(binding_of(protocol, **constants, first=first, step=step))
            agree = agree and report.outcome is Outcome.HOLDS
            for at, count in enumerate((report.transitions, report.states, report.executed)):
                sums[at] += count
            print(f"{protocol}: first {first}, step {step}: {report.outcome.value}, {report.transitions:,}")
        transitions, states, executed = sums
        print(f"{protocol}: {transitions:,} transitions, {states:,} states, {executed:,} local steps")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
