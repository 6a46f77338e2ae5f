"""Report of the mutants' fates: kept a line each, counted by file and by layer of checks, written as a
section.

`marked.toml` is read here: a mutant that is equivalent does not count, and a survivor has a reason.
"""

from __future__ import annotations

import json
import statistics
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from killers import Hunt
from operators import Mutant

__all__ = ["Mark", "Results", "read_marks", "summary", "write_section"]

BEGIN, END = "<!-- mutants: begin -->", "<!-- mutants: end -->"

LAYERS = {
    "tests/impl/test_rbp_simulated": "simulated network",
    "tests/impl/test_udp": "group on UDP",
    "tests/impl": "unit tests",
    "tests/compare/bindings": "binding",
    "tests/compare/suites": "suites",
    "tests/compare/lockstep": "lockstep",
    "tests/compare/stateful": "stateful",
    "tests/run/cluster": "cluster",
    "tests/spark/pipeline": "twin and Spark",
    "tests/judge/trace": "logs",
    "tests/judge/history": "judges",
    "tests/services": "services",
}
"""The layer of checks that a test belongs to, by the beginning of its name; the first that fits."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Finding of a person about the mutants of a line that survive."""

    kind: str
    """`equivalent`, `text` (only what a person reads differs), `speed` (only costs differ), or `hole`."""
    file: str
    code: str
    """The line on which the change begins, stripped."""
    original: str
    mutated: str
    """The new text; empty: whatever the operators make of `original`."""
    reason: str

    @property
    def excuses(self) -> bool:
        """Return True if the mutant is not hunted and does not count: no test could, or should, see it."""
        return self.kind != "hole"

    def fits(self, mutant: Mutant) -> bool:
        """Return True if it speaks of this mutant."""
        return (
            (self.file, self.code, self.original) == (mutant.file, mutant.code, mutant.original)
            and self.mutated in ("", mutant.mutated)
        )  # fmt: skip


KINDS = ("equivalent", "text", "speed", "hole")


def read_marks(file: Path) -> list[Mark]:
    """The marks of a file.

    Raises:
        SystemExit: a mark is of no known kind, or without a reason.
    """
    marks = [
        Mark(**{"mutated": "", **row}) for row in tomllib.loads(file.read_text(encoding="utf-8"))["mark"]
    ]
    for mark in marks:
        if mark.kind not in KINDS or not mark.reason:
            raise SystemExit(f"{file.name}: {mark}: a mark has a reason and is one of {', '.join(KINDS)}")
    return marks


class Results:
    """The results of this version of the code in a file of lines, and what killed mutants of earlier ones."""

    def __init__(self, file: Path, version: str) -> None:
        self._file, self._version = file, version
        self.of_this_version: dict[str, Hunt] = {}
        self.hints: dict[str, str] = {}
        """By what of a mutant lasts from version to version: which test killed it last."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            self.hints[row["lasting"]] = row["killer"]
            if row["version"] == version:
                self.of_this_version[row["key"]] = Hunt(
                    row["status"], row["killer"], row["reason"], row["seconds"]
                )
        self._begin = self._lines()

    def add(self, mutant: Mutant, ended: Hunt) -> None:
        """Keep a result; several processes may at the same time."""
        row = {
            "version": self._version,
            "file": mutant.file,
            "line": mutant.line,
            "operator": mutant.operator,
            "original": mutant.original,
            "mutated": mutant.mutated,
            "status": ended.status,
            "killer": ended.killer,
            "seconds": ended.seconds,
            "reason": ended.reason,
            "key": mutant.key,
            "lasting": mutant.lasting,
        }
        with self._file.open("ab", buffering=0) as out:
            out.write(json.dumps(row).encode() + b"\n")

    def fresh(self) -> int:
        """Return the number of results since this object was made, from whatever process."""
        return self._lines() - self._begin

    def _lines(self) -> int:
        return self._file.read_bytes().count(b"\n")


@dataclass(frozen=True, slots=True)
class _Fate:
    """A mutant with its end: what counts, and what is listed."""

    mutant: Mutant
    ended: Hunt
    mark: Mark | None

    @property
    def killed(self) -> bool:
        return not self.excluded and self.ended.status in ("killed", "timeout", "memory")

    @property
    def excluded(self) -> bool:
        """True for a mutant that does not import, or is marked equivalent: no test could notice it."""
        return self.ended.status == "invalid" or (self.mark is not None and self.mark.excuses)

    @property
    def survived(self) -> bool:
        return not self.excluded and not self.killed


def summary(
    found: Sequence[Mutant], results: Results, marks: Sequence[Mark], *, sample: int, seed: int
) -> str:
    """The section: by file, by layer, how soon, and every survivor with its reason, as Markdown."""
    fates = [
        _Fate(
            mutant,
            results.of_this_version.get(mutant.key, Hunt("marked")),
            next((mark for mark in marks if mark.fits(mutant)), None),
        )
        for mutant in sorted(found, key=lambda mutant: (mutant.file, mutant.start, mutant.end))
    ]
    kept = [fate for fate in fates if not fate.excluded]
    killed = [fate for fate in fates if fate.killed]
    seconds = sorted(fate.ended.seconds for fate in killed) or [0.0]
    drawn = f"A random sample of at most {sample} mutants a file (seed {seed}). " if sample else ""
    invalid = sum(fate.ended.status == "invalid" for fate in fates)
    equivalent = len(fates) - len(kept) - invalid
    beyond = sum(fate.ended.status != "killed" for fate in killed)
    lines = [
        f"{drawn}{len(fates):,} mutants; {invalid} do not import, {equivalent} are equivalent.",
        f"Of the other {len(kept):,} **{len(killed):,} are killed: {_percent(killed, kept)}**,",
        f"{beyond} of them by the limit of time or memory.",
        f"From the start of a mutant's process to its end: median {statistics.median(seconds):.1f} s,",
        f"19 of 20 within {seconds[len(seconds) * 19 // 20]:.1f} s, worst {seconds[-1]:.0f} s.",
        "",
        "| file | mutants | not importable | equivalent | killed | survive | killed of those that count |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in sorted({mutant.file for mutant in found}):
        mine = [fate for fate in fates if fate.mutant.file == name]
        counted = [fate for fate in mine if not fate.excluded]
        refused = sum(fate.ended.status == "invalid" for fate in mine)
        lines.append(
            f"| `{name}` | {len(mine)} | {refused} | {len(mine) - len(counted) - refused} "
            f"| {sum(fate.killed for fate in mine)} | {sum(fate.survived for fate in mine)} "
            f"| {_percent([fate for fate in mine if fate.killed], counted)} |"
        )
    lines += ["", "| layer of the first test that fails | mutants killed | median seconds |", "|---|---|---|"]
    by_layer = Counter(_layer(fate.ended.killer) for fate in killed)
    for layer, count in by_layer.most_common():
        took = [fate.ended.seconds for fate in killed if _layer(fate.ended.killer) == layer]
        lines.append(f"| {layer} | {count} | {statistics.median(took):.1f} |")
    survivors = [fate for fate in fates if fate.survived]
    lines += ["", f"Survivors: {len(survivors)}.", ""]
    for fate in survivors:
        why = fate.mark.reason if fate.mark else fate.ended.reason or "no reason is recorded"
        lines.append(f"- `{fate.mutant.file}:{fate.mutant.line}` {_change(fate.mutant)}: {why}")
    for reason, count in Counter(f.mark.reason for f in fates if f.excluded and f.mark).most_common():
        lines.append(f"- equivalent, {count}: {reason}")
    return "\n".join(lines)


def stale(marks: Sequence[Mark], found: Sequence[Mutant]) -> list[Mark]:
    """The marks of these mutants' files that fit no mutant: the code has changed since."""
    files = {mutant.file for mutant in found}
    return [mark for mark in marks if mark.file in files and not any(mark.fits(mutant) for mutant in found)]


def write_section(document: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Put the section between two markers of the document, by default those of the mutants.

    Raises:
        SystemExit: the document has no markers.
    """
    old = document.read_text(encoding="utf-8")
    if begin not in old or end not in old:
        raise SystemExit(f"{document} has no lines {begin!r} and {end!r}; put them where the section belongs")
    head, tail = old[: old.index(begin) + len(begin)], old[old.index(end) :]
    document.write_text(f"{head}\n{text}\n{tail}", encoding="utf-8")


def _percent(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{100 * len(part) / len(whole):.1f} %" if whole else "-"


def _layer(test: str) -> str:
    return next((layer for beginning, layer in LAYERS.items() if test.startswith(beginning)), "others")


def _change(mutant: Mutant) -> str:
    return f"`{mutant.original}` → `{mutant.mutated}` ({mutant.operator})"
