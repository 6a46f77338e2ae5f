"""Small faults as a tired engineer makes them, and which kind of checks finds each, how soon.

    python benchmarks/mutation/by_hand.py [--only NAME ...] [--first] [--write docs/bug-finding.md]

The operators of this tool change one expression each. `faults.toml` has changes of another kind: what
somebody forgets, confuses or simplifies. They were written from the code alone, by somebody who had read no
test.

1. The tests of each method run once, each alone, and say which faults they touch. That is kept in
   `build/by-hand` until their file or the faults change.
2. For each fault and each method the tests that touch the fault run in a copy of the project, until one
   fails: first the one that failed before, then the quickest first. With `--seconds` those beyond so many
   seconds of a processor, as measured, are left out.
3. Results are kept there too, until the file of the fault changes: a run that was interrupted goes on where
   it was. A fault that was found is asked about again when the file of the test changes that found it, one
   that lives when there are new tests, and only by these. Without that directory all is asked anew.

With `--first` a fault that one method has found is not shown to the later ones.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import signal
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from chosen import chosen
from killers import Hunt, Killer, Limits, hunt, load_dependencies, measure
from operators import Mutant
from tree import Tree, tracked

from report import write_section

METHODS = {
    "tests of `impl`": ("tests/impl",),
    "of membership": ("tests/membership",),
    "lockstep": ("tests/compare/lockstep", "tests/compare/bindings", "tests/compare/suites"),
    "stateful": ("tests/compare/stateful",),
    "swarm": ("tests/run/swarm",),
    "cluster": ("tests/run/cluster",),
}
"""The directories of each method's tests."""

BY_THE_CLOCK = ("tests/run/cluster/", "tests/impl/test_udp", "tests/membership/test_processes")
"""Tests on sockets and processes: what fails there must fail twice."""

READERS = ("tests/impl/test_impl_imports.py::test_the_clock_that_may_be_set_is_read_for_dates_alone",)
"""Tests that read the text of the library: each touches every fault."""

BEGIN, END = "<!-- by hand: begin -->", "<!-- by hand: end -->"


class Fault(NamedTuple):
    """Change of one file: the text `old`, which it has once, becomes `new`."""

    name: str
    kind: str
    file: str
    old: str
    new: str
    noticed: str
    """Sentence that says what a user or the network would notice."""

    def mutant(self, source: str) -> Mutant:
        """Return the fault as a mutant of the file's text.

        Raises:
            SystemExit: the file does not have the old text, or has it twice.
        """
        if source.count(self.old) != 1:
            raise SystemExit(f"fault {self.name}: {self.file} has its text {source.count(self.old)} times")
        start = source.index(self.old)
        same = _same(self.old, self.new)
        first = source.count("\n", 0, start + same) + 1
        same_end = _same(self.old[same:][::-1], self.new[same:][::-1])
        last = source.count("\n", 0, start + len(self.old) - same_end) + 1
        begin, end, imported = _statement(source, first, max(first, last))
        code = source.splitlines()[first - 1].strip()
        before = len(source[:start].encode())
        return Mutant(
            self.file, begin, end, 0, self.name, self.old, self.new, code, imported, before,
            before + len(self.old.encode()),
        )  # fmt: skip


class Cell(NamedTuple):
    """Result of one method about one fault: its end, and how many tests were asked."""

    ended: Hunt
    tests: int

    @property
    def found(self) -> bool:
        """Return True if a test failed, or went over its limits."""
        return self.ended.status in ("killed", "timeout", "memory")

    def __str__(self) -> str:
        if self.found:
            return f"{self.ended.processor_seconds:.1f}"
        return "-" if self.tests else ""


def _same(one: str, other: str) -> int:
    """Return the number of first characters that two texts have in common."""
    differ = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differ, min(len(one), len(other)))


def _statement(source: str, first: int, last: int) -> tuple[int, int, bool]:
    """Return the lines of the statement that has these lines, as far as they run with it, and whether they
    run when the module is imported.
    """
    lines, imported = (first, last), True

    def look(body: Iterable[ast.AST], *, inside: bool) -> None:
        nonlocal lines, imported
        for node in body:
            if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
                continue
            begin = getattr(node, "lineno", None) or node.pattern.lineno  # type: ignore[attr-defined]
            parts = [part for name in ("body", "orelse", "finalbody", "handlers", "cases")
                     for part in getattr(node, name, [])]  # fmt: skip
            end = getattr(node, "end_lineno", None) or max(part.end_lineno for part in parts)
            if not begin <= first <= end:
                continue
            head = min((getattr(part, "lineno", end + 1) for part in parts), default=end + 1) - 1
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if first <= head or not parts:
                lines, imported = (begin, max(last, begin) if parts else end), not inside
            else:
                lines, imported = (first, max(first, last)), not (inside or function)
                look(parts, inside=inside or function)

    look(ast.parse(source).body, inside=False)
    return (*lines, imported)


def read_faults(file: Path) -> list[Fault]:
    """Return the faults of a file. Raise SystemExit if two have one name."""
    faults = [Fault(**row) for row in tomllib.loads(file.read_text(encoding="utf-8"))["fault"]]
    for name, times in Counter(fault.name for fault in faults).items():
        if times > 1:
            raise SystemExit(f"{file.name}: {times} faults are named {name}")
    return faults


def main() -> None:
    """Measure, hunt, and tell."""
    options = _options()
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    root = Path(__file__).resolve().parents[2]
    every = read_faults(Path(__file__).with_name("faults.toml"))
    made = {fault.name: fault.mutant((root / fault.file).read_text(encoding="utf-8")) for fault in every}
    faults = [fault for fault in every if not options.only or fault.name in options.only]
    kept = root / "build" / "by-hand"
    kept.mkdir(parents=True, exist_ok=True)
    results = _Results(kept / "results.jsonl", root)
    load_dependencies()
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        tree = Tree(root, Path(name).resolve())
        cells: dict[tuple[str, str], Cell] = {}
        for method in options.methods:
            found = {name for (name, _), cell in cells.items() if cell.found and options.first}
            asked = [fault for fault in faults if fault.name not in found]
            texts = _texts(root, METHODS[method])
            killers = _measured(kept / "killers.json", texts, made, tree.path) if asked else []
            for fault in asked:
                mutant = made[fault.name]
                known, hint, left = results.known(fault.name, method, mutant, texts)
                if known is None or (left and not known.found):
                    some = [each for each in killers if each.file in left]
                    cell = _hunt(mutant, some, hint, options.seconds, tree)
                    before = 0 if known is None else known.tests
                    known = cell._replace(tests=cell.tests + before)
                    results.add(fault.name, method, mutant, texts, known)
                cells[fault.name, method] = known
                told = f"{method:15} {fault.name:30} {known.ended.status:8} {known!s:>6} {known.ended.killer}"
                print(told, flush=True)
    text = table(faults, cells, options.methods)
    print(text)
    if options.write:
        write_section(options.write, text, BEGIN, END)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="names of faults; default: all")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--first", action="store_true", help="stop at the first method that finds a fault")
    parser.add_argument(
        "--seconds", type=float, default=0, help="of a processor for a fault and a method; 0: no limit"
    )
    parser.add_argument("--write", type=Path, help="the document whose section is written anew")
    return parser.parse_args()


def table(faults: Sequence[Fault], cells: dict[tuple[str, str], Cell], methods: Sequence[str]) -> str:
    """Return the section: how many faults each method finds, and a row for each fault."""
    methods = [method for method in methods if any(asked == method for _, asked in cells)]
    found = Counter(method for (_, method), cell in cells.items() if cell.found)
    killed = {name for (name, _), cell in cells.items() if cell.found}
    alive = [fault for fault in faults if fault.name not in killed]
    share = 100 * len(alive) / len(faults)
    lines = [
        f"{len(faults)} faults; **{len(faults) - len(alive)} are found, {len(alive)} live: {share:.1f} %**.",
        "",
        "| method | faults shown to it that its tests touch | found |",
        "|---|---:|---:|",
    ]
    for method in methods:
        touched = sum(cell.tests > 0 for (_, one), cell in cells.items() if one == method)
        lines.append(f"| {method} | {touched} | {found[method]} |")
    lines += [
        "",
        f"| fault | kind | what would be noticed | {' | '.join(methods)} |",
        f"|---|---|---|{'---:|' * len(methods)}",
    ]
    for fault in faults:
        seconds = " | ".join(str(cells.get((fault.name, method), "")) for method in methods)
        lines.append(f"| `{fault.name}` | {fault.kind} | {fault.noticed} | {seconds} |")
    return "\n".join(lines)


def _hunt(mutant: Mutant, killers: Sequence[Killer], first: str, seconds: float, tree: Tree) -> Cell:
    """Hunt a fault with the tests of one method; the test `first` comes before the others."""
    source = (tree.path / mutant.file).read_text(encoding="utf-8")
    groups = chosen(mutant, killers, first, tree.path, seconds)
    if not groups:
        return Cell(Hunt("survived", reason="no test touches it"), 0)
    tree.write(mutant.file, mutant.apply(source))
    try:
        ended = hunt(tree.path, groups, Limits(), lambda test: test.startswith(BY_THE_CLOCK))
    finally:
        tree.write(mutant.file, source)
    return Cell(ended, sum(map(len, groups)))


def _digest(file: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def _texts(root: Path, directories: Sequence[str]) -> dict[str, str]:
    """Return the files of tests below these directories, each with the digest of its text."""
    below = tuple(f"{directory}/" for directory in directories)
    files = [name for name in tracked(root) if name.startswith(below) and Path(name).name.startswith("test_")]
    return {name: _digest(root / name) for name in files}


def _measured(
    kept: Path, texts: Mapping[str, str], made: Mapping[str, Mutant], tree: Path
) -> list[Killer]:
    """The tests of these files, with what they cost and the faults that they touch; kept by file."""
    faults = {name: mutant.lasting for name, mutant in made.items()}
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    known = known.get("files", {}) if known.get("faults") == faults else {}
    fresh = [name for name, text in texts.items() if known.get(name, {}).get("text") != text]
    if fresh:
        lines = {name: {(one.file, line) for line in _lines(one)} for name, one in made.items()}
        only = sorted({f"{file}:{line}" for some in lines.values() for file, line in some})
        mutated = sorted({one.file for one in made.values()})
        for file, some in groupby(measure(tree, mutated, fresh, only), key=attrgetter("file")):
            tests = [
                [each.test, each.seconds, each.processor_seconds,
                 sorted(name for name, lines_of in lines.items() if lines_of & each.lines)]
                for each in some
            ]  # fmt: skip
            known[file] = {"text": texts[file], "tests": tests}
            kept.write_text(json.dumps({"faults": faults, "files": known}), encoding="utf-8")
            print(f"{file}: {len(tests)} tests, {sum(test[2] for test in tests):.0f} s", flush=True)
    return [
        Killer(
            test, processor, processor,  # what a test takes beside others says nothing of its cost
            frozenset((made[one].file, made[one].line) for one in (made if test in READERS else touched)),
        )
        for name in texts
        for test, _, processor, touched in known.get(name, {"tests": []})["tests"]
    ]  # fmt: skip


def _lines(mutant: Mutant) -> range:
    return range(mutant.line, mutant.last_line + 1)


class _Results:
    """Results for the present code, kept in a file of lines."""

    def __init__(self, file: Path, root: Path) -> None:
        self._file, self._root = file, root
        rows = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
        self._rows = {(row["fault"], row["method"]): row for row in rows}

    def known(
        self, fault: str, method: str, mutant: Mutant, texts: Mapping[str, str]
    ) -> tuple[Cell | None, str, set[str]]:
        """Return the result that still holds, or None; the test that found the fault last; and the files of
        tests that were not asked.
        """
        row = self._rows.get((fault, method))
        if row is None:
            return None, "", set(texts)
        if (row["code"], row["change"]) != (_digest(self._root / mutant.file), mutant.lasting):
            return None, row["killer"], set(texts)
        cell = Cell(Hunt(*(row[name] for name in Hunt.__match_args__)), row["tests"])
        left = {name for name, text in texts.items() if row["files"].get(name) != text}
        if cell.found and row["killer"].partition("::")[0] in left:
            return None, row["killer"], set(texts)
        return cell, row["killer"], left

    def add(self, fault: str, method: str, mutant: Mutant, texts: Mapping[str, str], cell: Cell) -> None:
        """Keep a result."""
        row = {
            "fault": fault, "method": method, "code": _digest(self._root / mutant.file),
            "change": mutant.lasting, "tests": cell.tests, **asdict(cell.ended), "files": dict(texts),
        }  # fmt: skip
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
