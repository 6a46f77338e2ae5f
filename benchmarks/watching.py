"""Cost of a step of a watch, and size of what is held of a run between two: without Spark, for a healthy
run.

    python benchmarks/watching.py [--messages 30000] [--steps 1 60]

Writes the logs of three processes and lets them be read in so many steps, for several promises. A step reads
the state back, the new lines, asks the window and writes the state, as in a task of `antiphon watch`. Seconds
of the processor. A measurement, not a test.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import msgspec
from pipeline import write_logs

from antiphon.conformance.spark.pipeline.watching import Watching

PROMISES = (
    ("total-order",),
    ("causal-order",),
    ("virtual-synchrony", "total-order", "causal-order"),
)


def main() -> None:
    """Print a row a promise and number of steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=30_000)
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 60])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = write_logs(Path(folder), 1, 3, asked.messages)
        (run,) = Path(folder).iterdir()
        for promise in PROMISES:
            for steps in asked.steps:
                print(" ".join(promise), f"{lines:,} lines:", measured(run, promise, steps, lines))


def measured(run: Path, promise: tuple[str, ...], steps: int, lines: int) -> str:
    """Read a run in so many steps, but for the last line of each log."""
    sizes = {
        p: len(b"".join(log.read_bytes().splitlines(True)[:-1]))
        for p, log in enumerate(sorted(run.iterdir()))
    }
    held, worst, most, begun = Watching(promise), 0.0, 0, time.process_time()
    for step in range(1, steps + 1):
        before = time.process_time()
        held = msgspec.json.decode(msgspec.json.encode(held), type=Watching)
        held.read_on(run, {p: size * step // steps for p, size in sizes.items()})
        worst = max(worst, time.process_time() - before)
        most = max(most, len(msgspec.json.encode(held)))
    took = time.process_time() - begun
    left = len(msgspec.json.encode(held))
    return (
        f"{steps} steps, {took:.2f} s, {1e6 * took / lines:.0f} µs a line, the dearest step {worst:.2f} s; "
        f"held {most:,} bytes at most, {left:,} in the end"
    )


if __name__ == "__main__":
    main()
