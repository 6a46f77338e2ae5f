"""Walker: it takes random walks by machine code, and reports their findings; it owns the arrays of
`walks`.

A walker belongs to one thread; several share a kernel, and no lock: the code is called without Python's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.chance import Chance
from antiphon.model.engines.native.compiler.kernel import kernel_of
from antiphon.model.engines.native.kernels import fields, walks
from antiphon.model.ground import flatten, unflatten
from antiphon.spec.lang import Program, State

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Noted:
    """Finding of a walk: its first `length` steps show something about a property, and end in the state with
    these words.
    """

    property: str
    length: int
    words: bytes


class NativeWalker:
    """Machine code that takes the random walks of a seed, by their numbers.

    Args:
        program: the specification with its constants.
        initial: its initial states.
        chance: what walks draw.
        length: the greatest number of steps of a walk.
        roles: what each predicate is for (`walks.INVARIANT` and so on); others are not asked.
    """

    name = "native"

    def __init__(
        self,
        program: Program,
        initial: Sequence[State],
        chance: Chance,
        length: int,
        roles: Mapping[str, int],
    ) -> None:
        self.program = program
        kernel = self.kernel = kernel_of(program, fields.WALK)
        self.kinds = (*kernel.properties, *kernel.predicates)
        width, codes = kernel.packing.words, kernel.codes
        room = len(self.kinds) + (length + 1) * sum(role == walks.OBLIGATION for role in roles.values())
        actions = [
            np.full(codes.bases[number + 1] - codes.bases[number], number, dtype=np.uint32)
            for number in range(len(codes.names))
        ]
        starts = [kernel.packing.pack(flatten(program, state)) for state in initial]
        self._shortest = _words(len(self.kinds))
        self._shortest[:] = length + 1
        self._fired, self._taken = _words(len(codes.names)), _words(length)
        self._found = np.zeros((room, width + 2), dtype=np.uint64)
        self._kept: dict[int, npt.NDArray[Any]] = {
            walks.ACTIONS: np.concatenate(actions) if actions else np.zeros(1, dtype=np.uint32),
            walks.FAULTS: np.array(chance.faults, dtype=np.uint8),
            walks.STARTS: np.array(starts, dtype=np.uint64),
            walks.ROLES: np.array([roles.get(name, 0) for name in kernel.predicates], dtype=np.uint64),
            walks.WEIGHT: _words(len(codes.names)),
            walks.FIRED: self._fired,
            walks.TAKEN: self._taken,
            walks.FOUND: self._found,
            walks.SHORTEST: self._shortest,
            walks.PLACES: _words(3 * width),
        }
        numbers = {
            walks.ACTION_COUNT: len(codes.names),
            walks.START_COUNT: len(starts),
            walks.LENGTH: length,
            walks.SEED: chance.seed,
            walks.SWARM: int(chance.swarm),
            walks.PROPERTIES: len(kernel.properties),
            walks.PREDICATES: len(kernel.predicates),
        }
        self._context = _words(walks.FIELDS)
        for field, array in self._kept.items():
            self._context[field] = array.ctypes.data
        for field, number in numbers.items():
            self._context[field] = number

    def run(self, first: int, last: int, *, to_errors: bool = False) -> tuple[int, bool]:
        """Take walks from number `first` on: to `last`, or to one that found something or met an error.
        Return the number of the next walk, and True if the last walk met an error: then that walk does not
        count, but with `to_errors` its part before the error does.
        """
        fired, counts = self._fired.copy(), self.counts()
        after = int(self.kernel.functions["walk_all"](self._context.ctypes.data, first, last))
        if not self._context[walks.FAILED]:
            return after, False
        self._context[walks.FAILED] = 0
        if to_errors:
            return after, True
        self._context[walks.NOTED] = 0
        self._fired[:] = fired
        for field, count in zip(_COUNTS, counts, strict=True):
            self._context[field] = count
        if after - 1 > first:  # the walks before it are taken again, and counted
            self.kernel.functions["walk_all"](self._context.ctypes.data, first, after - 1)
        return after, True

    def noted(self) -> list[Noted]:
        """Return the findings of the last walk that were not returned before."""
        rows = self._found[: int(self._context[walks.NOTED])]
        self._context[walks.NOTED] = 0
        return [Noted(self.kinds[int(row[0])], int(row[1]), row[2:].tobytes()) for row in rows]

    def state(self, words: bytes) -> State:
        """Return the state that these words hold."""
        found = [int(word) for word in np.frombuffer(words, dtype=np.uint64)]
        return unflatten(self.program, self.kernel.packing.unpack(found))

    def taken(self, length: int) -> list[int]:
        """Return the first steps of the last walk, by their numbers."""
        return [int(code) for code in self._taken[:length]]

    def know(self, property: str, length: int) -> None:
        """Note that a run of this length breaks or shows the property, so that only shorter runs are
        reported.
        """
        number = self.kinds.index(property)
        self._shortest[number] = min(int(self._shortest[number]), length)

    def fired(self) -> dict[str, int]:
        """Return how often each action was taken."""
        return dict(zip(self.kernel.codes.names, map(int, self._fired), strict=True))

    def counts(self) -> tuple[int, int, int]:
        """Return three counts: the steps of all walks, the steps of the longest walk, and how often a walk
        met a state in which nothing but faults was possible.
        """
        steps, deepest, quiet = (int(self._context[field]) for field in _COUNTS)
        return steps, deepest, quiet


_COUNTS = (walks.STEPS, walks.DEEPEST, walks.QUIET)


def _words(count: int) -> Words:
    return np.zeros(max(1, count), dtype=np.uint64)
