"""Tests that hunt a mutant, and in which order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path

from killers import Killer
from operators import Mutant

__all__ = ["chosen"]


def chosen(
    mutant: Mutant, killers: Sequence[Killer], first: str, tree: Path, budget: float
) -> list[list[Killer]]:
    """The tests that touch the mutant, the quickest first, in groups of one file; `first` before all.

    What runs at import touches no test's lines: there every test counts that touches the file at all, or
    whose file imports it or its package by name, with those that import the very module before the others.
    The `budget` is shared: each file's quickest tests run for about as many seconds as those of any other.
    """
    importing = {file: _imports(tree / file, mutant.file) for file in {each.file for each in killers}}
    if mutant.imported:
        touching = [
            each
            for each in killers
            if importing[each.file] or any(name == mutant.file for name, _ in each.lines)
        ]
    else:
        lines = {(mutant.file, line) for line in range(mutant.line, mutant.last_line + 1)}
        touching = [each for each in killers if lines & each.lines]
    by_file = _by_file(touching)
    spent_in_file = [
        pair
        for group in by_file.values()
        for pair in zip(accumulate(each.seconds for each in group), group, strict=True)
    ]
    in_turn = [each for _, each in sorted(spent_in_file, key=lambda pair: pair[0])]
    if mutant.imported:
        in_turn.sort(key=lambda each: -importing[each.file])
    spent = accumulate(each.seconds for each in in_turn)
    by_file = _by_file(
        each for each, so_far in zip(in_turn, spent, strict=True) if not budget or so_far <= budget
    )
    cost = {file: sum(each.seconds for each in group) for file, group in by_file.items()}
    groups = [
        by_file[file]
        for file in sorted(by_file, key=lambda file: (mutant.imported and -importing[file], cost[file]))
    ]
    return [[each] for each in touching if each.test == first] + (groups or [in_turn[:1]] * bool(in_turn))


def _by_file(killers: Iterable[Killer]) -> dict[str, list[Killer]]:
    """The tests of each file, the quickest first."""
    by_file: defaultdict[str, list[Killer]] = defaultdict(list)
    for killer in sorted(killers, key=lambda each: each.seconds):
        by_file[killer.file].append(killer)
    return by_file


def _imports(test: Path, file: str) -> int:
    """Rate how a file of tests imports another: 2 by its own name, 1 by that of a package, 0 not at all."""
    module = f"antiphon.{file.removesuffix('.py').replace('/', '.')}"
    text = test.read_text(encoding="utf-8")
    names = re.findall(r"^\s*(?:from|import) (antiphon[\w.]*)", text, re.MULTILINE)
    return 2 if module in names else int(any(module.startswith(f"{name}.") for name in names))
