"""Events of a log that are judged in a second of processor time, by promise.

    python benchmarks/judging.py --events 100000

The log is of three processes that deliver everything, in a new view every ten messages where views are
promised.
"""

from __future__ import annotations

import argparse
import time

from antiphon.conformance.judge.history import History, history, judge_history

PROMISES = (
    ("total-order",),
    ("virtual-synchrony", "safe-delivery", "causal-order"),
    ("extended-virtual-synchrony", "safe-delivery", "extended-total-order", "reliable-causal-order"),
)


def log(events: int, *, views: bool) -> History:
    """A run of about so many events."""
    logs: list[list[str]] = [[], [], []]
    for k in range(1, int(events / (4.6 if views else 4)) + 1):
        logs[k % 3].append(f"+{k % 3}:{k}")
        for written in logs:
            written.append(f"{k % 3}:{k}#{k}")
            written += ["[012]", f"[{k // 10 + 1}=012]"] if views and k % 10 == 0 else []
    return history(" | ".join(f"{p}: {' '.join(written)}" for p, written in enumerate(logs)))


def main() -> None:
    """Print a row for each promise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--events", type=int, default=100_000)
    wanted = parser.parse_args().events
    for promise in PROMISES:
        run = log(wanted, views="total-order" not in promise)
        begun = time.process_time()
        findings = judge_history(run, promise)
        seconds = time.process_time() - begun
        broken = [found.property for found in findings if found.offending]
        events = sum(map(len, run))
        told = f"{' '.join(promise)}: {events:,} events, {len(findings)} properties, broken: {broken}"
        print(f"{told}, {seconds:.2f} s, {events / seconds:,.0f} events a second", flush=True)


if __name__ == "__main__":
    main()
