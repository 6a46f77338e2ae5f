"""Mutants of the implementation and of the judges: how many the tests kill, which test, and how soon.

    python benchmarks/mutation [--files GLOB ...] [--sample N --seed S] [--jobs N] [--write DOCUMENT]

1. Every test of `--tests` runs once, alone in a process of its own, and is measured: what it costs, and which
   lines of the mutated files it touches, in any process that it starts.
2. Each mutant stands in a copy of the project. A forked process runs the tests that touch its lines, the
   quickest first, until one fails. A mutant that no test touches survives at once.
3. Each result is a line in `--results`: a run that is interrupted goes on where it was, and what killed a
   mutant of an earlier version is tried first. `marked.toml` says of survivors why they are equivalent, or
   why no test sees them.

Ctrl-C ends it; nothing in the working tree is touched.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from chosen import chosen
from killers import Hunt, Killer, Limits, hunt, load_dependencies, measure
from operators import Mutant, mutants
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from tree import Tree, digest

from report import Results, read_marks, stale, summary, write_section

FILES = (
    "impl/*.py", "impl/layers/*.py", "impl/protocols/**/*.py", "impl/transport/*.py",
    "conformance/judge/history/*.py", "conformance/judge/trace/*.py",
    "conformance/run/cluster/application.py", "conformance/run/cluster/result.py",
    "conformance/run/cluster/tracer.py",
    "spec/services/broadcast.py", "spec/services/order.py", "model/monitor.py",
)  # fmt: skip
"""Files that are mutated: the library, and the judges of it."""

TESTS = (
    "tests/impl", "tests/compare/bindings", "tests/compare/suites/test_bindings.py",
    "tests/compare/suites/test_cores.py", "tests/compare/suites/test_memory.py",
    "tests/compare/suites/test_times.py", "tests/compare/lockstep", "tests/judge/trace",
    "tests/judge/history", "tests/services", "tests/run/cluster", "tests/engines/test_monitor.py",
)  # fmt: skip
"""Tests that hunt: those of the library, of the judges, and of the code that drives the library.

Left out for what they cost: those that start Java, and `tests/compare/stateful`, whose walks stay within what
`tests/compare/lockstep` walks through completely.
"""

BY_THE_CLOCK = ("tests/run/cluster/", "tests/impl/test_udp")
"""Tests on sockets and processes: what fails there must fail twice."""


def main() -> None:
    """Measure, hunt, and tell."""
    options = _options()
    for ending in (signal.SIGINT, signal.SIGTERM):  # a shell's background ignores the first
        signal.signal(ending, signal.default_int_handler)
    root = options.project.resolve()
    kept = options.results or root / "build" / "mutants"
    files = sorted({str(path.relative_to(root)) for each in options.files for path in root.glob(each)})
    if not files:
        raise SystemExit(f"no file matches {options.files}; the patterns are relative to {root}")
    found = [mutant for name in files for mutant in mutants(name, (root / name).read_text(encoding="utf-8"))]
    marks = read_marks(options.marks)
    for mark in stale(marks, found):
        raise SystemExit(
            f"{options.marks}: no mutant fits {mark}; the code has changed: mend or remove the mark"
        )
    found = _drawn(found, options.sample, options.seed)
    print(f"at most {options.sample or len(found)} mutants a file, drawn with seed {options.seed}")
    version = digest(root)
    results = Results(kept / "results.jsonl", version)
    excused = {mutant.key for mutant in found for mark in marks if mark.excuses and mark.fits(mutant)}
    left = [mutant for mutant in found if mutant.key not in excused | set(results.of_this_version)]
    print(f"{len(found)} mutants of {len(files)} files, version {version}; {len(left)} to hunt")
    if left:
        load_dependencies()
        with tempfile.TemporaryDirectory(prefix="mutants-") as name:
            where = Path(name).resolve()
            trees = [Tree(root, where / str(job)) for job in range(min(options.jobs, len(left)))]
            killers = _measured(kept / "killers.json", version, files, options.tests, trees[0].path)
            _hunt_all(left, killers, Limits(options.processor_seconds, options.seconds), results, trees)
        results = Results(kept / "results.jsonl", version)
    text = summary(found, results, marks, sample=options.sample, seed=options.seed)
    print(text)
    if options.write:
        write_section(options.write, text)


def _options() -> argparse.Namespace:
    here = Path(__file__).resolve()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", default=FILES, help="patterns, relative to the project")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="test files or directories that hunt")
    parser.add_argument("--sample", type=int, default=0, help="mutants a file; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=1, help="mutants hunted at the same time")
    parser.add_argument(
        "--seconds", type=float, default=0, help="of tests a mutant, as measured; 0: all that touch it"
    )
    parser.add_argument(
        "--processor-seconds", type=float, default=4.0, help="beyond five times what a test usually takes"
    )
    parser.add_argument("--project", type=Path, default=here.parents[2], help="a directory under git")
    parser.add_argument("--marks", type=Path, default=here.with_name("marked.toml"), help="what is known")
    parser.add_argument("--results", type=Path, help="directory; default: build/mutants in the project")
    parser.add_argument("--write", type=Path, help="the document whose section is written anew")
    return parser.parse_args()


def _drawn(found: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """Draw so many mutants of each file, or all, one of each in turn: a run that ends early is a smaller
    one.
    """
    by_file: defaultdict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        by_file[mutant.file].append(mutant)
    for name, mine in by_file.items():
        random.Random(f"{seed} {name}").shuffle(mine)
    turns = zip_longest(*(mine[: size or None] for mine in by_file.values()))
    return [mutant for turn in turns for mutant in turn if mutant]


def _measured(
    kept: Path, version: str, files: Sequence[str], tests: Sequence[str], tree: Path
) -> list[Killer]:
    """The tests with what they cost and touch; kept on disk for this version, these files and these tests."""
    asked = [version, *files, *tests]
    if kept.exists():
        known = json.loads(kept.read_text(encoding="utf-8"))
        if known["asked"] == asked:
            return [
                Killer(test, seconds, processor, frozenset((name, line) for name, line in lines))
                for test, seconds, processor, lines in known["killers"]
            ]
    began = time.monotonic()
    killers = []
    with Progress(
        TextColumn("measuring"), MofNCompleteColumn(), TextColumn("{task.description}")
    ) as progress:
        task = progress.add_task("", total=None)
        for killer in measure(tree, files, tests):
            killers.append(killer)
            progress.update(task, advance=1, description=killer.test)
    print(f"{len(killers)} tests measured in {time.monotonic() - began:.0f} s")
    rows = [[each.test, each.seconds, each.processor_seconds, sorted(each.lines)] for each in killers]
    kept.write_text(json.dumps({"asked": asked, "killers": rows}), encoding="utf-8")
    return killers


def _hunt_all(
    left: Sequence[Mutant], killers: Sequence[Killer], limits: Limits, results: Results, trees: Sequence[Tree]
) -> None:
    """Each tree has a process, which takes every so-many-th mutant."""
    running = set()
    for job, tree in enumerate(trees):
        pid = os.fork()
        if pid == 0:
            _work(left[job :: len(trees)], killers, limits, results, tree)
        running.add(pid)
    columns = (TextColumn("hunting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns) as progress:
            task = progress.add_task("", total=len(left))
            while running:
                time.sleep(0.5)
                progress.update(task, completed=results.fresh())
                for pid in sorted(running):
                    ended, code = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        running.discard(pid)
                        if code:
                            raise SystemExit(os.waitstatus_to_exitcode(code))
    finally:
        for pid in running:
            os.kill(pid, signal.SIGINT)
            os.waitpid(pid, 0)


def _work(
    some: Iterable[Mutant], killers: Sequence[Killer], limits: Limits, results: Results, tree: Tree
) -> None:
    """The life of a forked process that hunts some of the mutants; it never returns."""
    code = 1
    try:
        for mutant in some:
            source = (tree.path / mutant.file).read_text(encoding="utf-8")
            tree.write(mutant.file, mutant.apply(source))
            groups = chosen(mutant, killers, results.hints.get(mutant.lasting, ""), tree.path, limits.budget)
            if groups:
                ended = hunt(tree.path, groups, limits, lambda test: test.startswith(BY_THE_CLOCK))
            else:
                ended = Hunt("survived", reason="no test touches it")
            tree.write(mutant.file, source)
            results.add(mutant, ended)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        if code == 1:
            traceback.print_exc()
        os._exit(code)


if __name__ == "__main__":
    main()
