"""The figures of Kim and Kim 1997, section 5, by simulation of DTP, CM, Pinwheel and Totem on Spark.

    python benchmarks/dtp_figures.py --write docs

writes docs/dtp-figures.md and four drawings; without --write it prints what the paper's sentences come to.
Times are virtual: the same seeds give the same bytes on any machine and any master.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from antiphon.conformance.cli.progress import working
from antiphon.conformance.run.performance.on_spark import sweep_on_spark
from antiphon.conformance.run.performance.page import all_points, write
from antiphon.conformance.run.performance.questions import Scale
from antiphon.conformance.run.performance.sentences import SENTENCES
from antiphon.conformance.spark.pipeline import InputError

USAGE = 64
"""The exit code of wrong usage, as the command `antiphon` has it."""


def main() -> int:
    """Take the runs, and write or print what they show; 0 unless the usage is wrong."""
    whole = Scale()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path, metavar="DIRECTORY", help="where the page goes: docs")
    parser.add_argument(
        "--master", default="local[2]", help="Spark's master: local[4], spark://HOST:PORT, ..."
    )
    parser.add_argument("--messages", type=int, default=whole.messages, help="how many a run measures")
    parser.add_argument(
        "--seeds", type=int, default=len(whole.seeds), help="how many runs a point has, 2 or more"
    )
    options = parser.parse_args()
    if options.messages < 1 or options.seeds < 2:
        parser.exit(USAGE, "at least 1 message and 2 seeds: one run has no interval\n")
    if options.write is not None and not (options.write / "pictures").is_dir():
        parser.exit(
            USAGE, f"--write: {options.write} has no directory pictures; the page belongs into docs\n"
        )
    scale = whole._replace(messages=options.messages, seeds=tuple(range(1, options.seeds + 1)))
    points = all_points(scale)
    told = f"{len(points)} points, {len(scale.seeds)} seeds, {scale.messages:,} messages, on {options.master}"
    try:
        with working(told, Console(stderr=True)) as tell:
            runs = sweep_on_spark(points, scale.seeds, options.master, tell)
    except InputError as error:
        parser.exit(USAGE, f"--master: {error}\n")
    for sentence in SENTENCES.values():
        agrees, found = sentence.judge(runs, scale)
        print(f"{sentence.claim} {sentence.answer(agrees)}: {found}")
    if options.write is not None:
        changed = {
            "--messages": (scale.messages, whole.messages),
            "--seeds": (len(scale.seeds), len(whole.seeds)),
        }
        given = "".join(f" {name} {value}" for name, (value, usual) in changed.items() if value != usual)
        for path in write(
            options.write, runs, scale, f"python benchmarks/dtp_figures.py --write docs{given}"
        ):
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
