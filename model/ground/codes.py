"""Numbers of steps: the steps of an action are numbered in a row, in the order of its arguments.

This file knows no engine: steps have the same numbers in all of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.spec.lang import Program


@dataclass(frozen=True)
class Codes:
    """Numbering of the steps of a program: for each action the first of its codes, and how many values each
    of its parameters has.
    """

    names: tuple[str, ...]
    bases: tuple[int, ...]
    sizes: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(program: Program) -> Codes:
        """Return the codes of a program's steps."""
        methods = list(program.declaration.marked("action", "environment"))
        sizes = tuple(
            tuple(program.domain(parameter.type).cardinality for parameter in method.parameters)
            for method in methods
        )
        counts = [math.prod(size) for size in sizes]
        return Codes(
            tuple(method.name for method in methods), tuple(itertools.accumulate(counts, initial=0)), sizes
        )

    @property
    def count(self) -> int:
        """Return the number of steps."""
        return self.bases[-1]

    def action(self, code: int) -> int:
        """Return the number of the action that a code belongs to."""
        return max(
            number
            for number, base in enumerate(self.bases[:-1])
            if base <= code and self.bases[number + 1] > base
        )

    def code(self, action: int, ranks: Iterable[int]) -> int:
        """Return the code of an action's step with arguments of these ranks."""
        found = 0
        for size, rank in zip(self.sizes[action], ranks, strict=True):
            found = found * size + rank
        return self.bases[action] + found

    def ranks(self, code: int) -> tuple[int, ...]:
        """Return the ranks of the arguments of a code."""
        number = self.action(code)
        rest = code - self.bases[number]
        found = []
        for size in reversed(self.sizes[number]):
            rest, rank = divmod(rest, size)
            found.append(rank)
        return tuple(reversed(found))
