"""How far can each repaired protocol be explored in ten minutes on two cores? Bounds from small to large, each with everything that is promised.

Run: `python benchmarks/bounds.py [PROTOCOL]... [--minutes 10] [--threads 2] [--memory 12000] [--json FILE]`. Every bound is one `antiphon check` in
a process of its own, all repairs on, nothing reduced; of a protocol the bounds stand in the order of their size, and the first that is not
explored wholly in the time is its last. Seconds are elapsed ones, grounding and compiling included. `as promised` says that every property
that the protocol promises holds in all states of the bound; what was seen of a bound that was cut short broke nothing, or is named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Constants = dict[str, int | bool | str]

DTP: Constants = {"processes": 3, "losses": 0, "timeouts": 0, "tie": "lowest"}
HORUS: Constants = {"patient": True, "oracle": "one that waits"}
SURVIVORS = ("Integrity", "TotalOrder", "Agreement", "Validity", "OneHolder")

BOUNDS: dict[str, tuple[tuple[str, ...], tuple[Constants, ...]]] = {
    "dtp": (
        (),
        (
            DTP | {"messages": 2, "senders": 2},
            DTP | {"messages": 3, "senders": 1},
            DTP | {"messages": 1, "senders": 1, "nulls": 1, "losses": 1, "unlimited": True},
            DTP | {"messages": 2, "senders": 2, "nulls": 1},
            DTP | {"messages": 3, "senders": 1, "nulls": 1},
        ),
    ),
    "chang-maxemchuk": ((), ({"processes": 3, "messages": 2}, {"processes": 3, "messages": 3}, {"processes": 4, "messages": 3})),
    "pinwheel": ((), ({"processes": 2, "messages": 2}, {"processes": 3, "messages": 2}, {"processes": 3, "messages": 3})),
    "totem": ((), ({"processes": 3, "messages": 2, "visits": 5}, {"processes": 3, "messages": 3, "visits": 6})),
    "horus-total": (
        SURVIVORS,
        (
            {"processes": 3, "messages": 2, "crashes": 1},
            {"processes": 3, "messages": 3, "crashes": 2},
            {"processes": 3, "messages": 3, "crashes": 1, "suspicions": 2},
        ),
    ),
    "horus": (
        SURVIVORS,
        (
            HORUS | {"processes": 2, "messages": 2, "casts": 5, "buffer": 3, "crashes": 1, "stride": 1},
            HORUS | {"processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 0, "stride": 1},
            HORUS | {"processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 0, "stride": 1, "patient": False},
        ),
    ),
}
"""By the name of a protocol on the command line: the properties that are asked (none: all), and the bounds, small ones first."""


@dataclass(frozen=True)
class Row:
    """One bound: what came out. `broken` are the properties that were violated; a witness that is out of reach within a bound breaks nothing."""

    protocol: str
    constants: Constants
    states: int
    transitions: int
    depth: int
    seconds: float
    complete: bool
    broken: tuple[str, ...]


def explored(protocol: str, properties: tuple[str, ...], constants: Constants, seconds: float, threads: int, memory: int) -> Row:
    """`antiphon check` within a bound.

    Raises:
        RuntimeError: it gave no report; with what it said.
    """
    chosen = [word for name, value in constants.items() for word in ("--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}")]
    asked = [word for name in properties for word in ("--property", name)]
    limits = ["--max-seconds", str(seconds), "--threads", str(threads), "--max-memory", str(memory), "--engine", "native"]
    command = [sys.executable, "-m", "antiphon.conformance.cli", "check", protocol, "--repair", "all", *chosen, *asked, *limits, "--json"]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - this project's own command
    try:
        report: dict[str, Any] = json.loads(ran.stdout)["reports"][0]
    except (ValueError, LookupError):
        raise RuntimeError(f"{' '.join(command)}: {ran.stdout}{ran.stderr}") from None
    broken = tuple(verdict["property"] for verdict in report["verdicts"] if verdict["outcome"] == "violated")
    return Row(
        protocol, constants, report["states"], report["transitions"], report["depth"], report["seconds"], report["complete"], broken,
    )  # fmt: skip


def ladder(protocol: str, minutes: float, threads: int, memory: int) -> list[Row]:
    """The bounds of a protocol, up to the first that is not explored wholly."""
    properties, bounds = BOUNDS[protocol]
    rows: list[Row] = []
    for constants in bounds:
        rows.append(explored(protocol, properties, constants, minutes * 60, threads, memory))
        if not rows[-1].complete:
            break
    return rows


def main() -> None:
    """Print a table, and write the rows as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", choices=[*BOUNDS, []], default=list(BOUNDS), metavar="PROTOCOL")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", type=int, default=12_000, help="MiB")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    rows = [row for protocol in chosen.protocols for row in ladder(protocol, chosen.minutes, chosen.threads, chosen.memory)]
    table = Table("protocol", "bound", "states", "transitions", "depth", "seconds", "found")
    for row in rows:
        bound = ", ".join(f"{name}={value}" for name, value in row.constants.items())
        found = f"violated: {', '.join(row.broken)}" if row.broken else "as promised" if row.complete else "cut short, nothing broken"
        table.add_row(row.protocol, bound, f"{row.states:,}", f"{row.transitions:,}", str(row.depth), f"{row.seconds:.0f}", found)
    Console(width=200).print(table)
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
