"""Batcher: it expands batches of states, and merges new states with known ones; it owns the arrays of
`batches`.

States are rows of machine words. Results are sorted by hash, each row once. This file knows nothing of files,
levels or callers; a batcher belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.native.compiler.kernel import kernel_of
from antiphon.model.engines.native.kernels import batches, fields
from antiphon.model.ground import flatten, unflatten
from antiphon.spec.lang import Program, State, Step

Words = npt.NDArray[np.uint64]

CAPACITY = 1 << 27
"""Number of bytes of distinct successors, with their slots, that are collected before they are handed on."""
LEAST = 1 << 12
SLOTS_A_ROW = 2
BEHIND = (1 << 14) + batches.AHEAD
"""Number of free slots behind the last slot of a set: only very uneven hashes would need them all."""


@dataclass(frozen=True)
class Successors:
    """Distinct successor rows, sorted by hash; `ends` gives, for each partition, the row before which it
    ends.
    """

    rows: Words
    ends: npt.NDArray[np.int64]


class Batcher:
    """Machine code, with its arrays, that expands and merges states of one program.

    Attributes:
        words: how many words a state has.
        marks: one word for each row that was expanded last: `batches.QUIET`, `WRONG`, broken properties.
        transitions: how many transitions were seen so far; `counts` how often each step was taken.
    """

    def __init__(self, program: Program) -> None:
        kernel = self.kernel = kernel_of(program, fields.BATCH)
        self.program, self.words = program, kernel.packing.words
        self._most = kernel.codes.count + 1
        self.counts = _zeros(self._most)
        self.marks = _zeros(1)
        self._found = _zeros(1 + len(kernel.properties))
        self._faults = _faults(program)
        self._hashes = _zeros(batches.SIFTED_TOGETHER + self._most)
        self._spread, self._runs = _zeros(1), _zeros(4)
        self._set, self._buffer = _zeros(1), _zeros(1)
        self._slots = 0
        self._context = _zeros(batches.FIELDS)
        arrays: dict[int, npt.NDArray[Any]] = {
            batches.COUNTS: self.counts,
            batches.FOUND: self._found,
            batches.FAULTS: self._faults,
            batches.HASHES: self._hashes,
        }
        for field, array in arrays.items():
            self._context[field] = array.ctypes.data
        self._context[batches.MOST] = self._most

    @property
    def transitions(self) -> int:
        """Return the number of transitions that were seen so far."""
        return int(self._context[batches.TRANSITIONS])

    def expand(self, rows: Words, partitions: int) -> Iterator[Successors]:
        """Yield the successors of all rows, as many at a time as can be collected; `marks` is complete when
        the iteration ends.
        """
        rows = np.ascontiguousarray(rows)
        self.marks = _zeros(len(rows))
        self._found[:] = 0
        self._context[batches.STATES] = rows.ctypes.data
        self._context[batches.MARKS] = self.marks.ctypes.data
        first, capacity = 0, CAPACITY // (8 * self.words + 16 * SLOTS_A_ROW)
        while first < len(rows):
            guess = 8 * (len(rows) - first)
            self._begin(min(capacity, max(LEAST, guess)) + 2 * self._most, parts=1)
            first = self._call("expand_rows", first, len(rows))
            yield self._sorted(partitions)

    def in_discovery_order(self, row: Words) -> Words:
        """Return the successors of one state in the order in which a search finds them."""
        self.marks = _zeros(1)
        self._found[:] = 0
        row = np.ascontiguousarray(row)
        self._context[batches.STATES] = row.ctypes.data
        self._context[batches.MARKS] = self.marks.ctypes.data
        self._begin(3 * self._most, parts=1)
        self._call("expand_rows", 0, 1)
        return self._buffered(int(self._context[batches.USED])).copy()

    def step_found(self, kind: int) -> Step | None:
        """Return the first step with a finding in the rows that were expanded last; None if there is none.
        Kind 0 is an error of the specification, kind k > 0 a step that breaks property number k - 1.
        """
        code = int(self._found[kind]) - 1
        if code < 0:
            return None
        codes = self.kernel.codes
        method = list(self.program.declaration.marked("action", "environment"))[codes.action(code)]
        arguments = tuple(
            self.program.domain(parameter.type).value(rank)
            for parameter, rank in zip(method.parameters, codes.ranks(code), strict=True)
        )
        return Step(method.name, arguments)

    def leading_to(self, rows: Words, wanted: Words) -> npt.NDArray[np.bool_]:
        """Return, for each row, whether it has a successor among the wanted rows."""
        rows, counted, seen = np.ascontiguousarray(rows), self.counts.copy(), self.transitions
        self.marks = _zeros(len(rows))
        self._context[batches.STATES] = rows.ctypes.data
        self._context[batches.MARKS] = self.marks.ctypes.data
        self._begin(len(wanted) + 2 * self._most, parts=1)
        self._collect(wanted)
        self._call("lead_to", 0, len(rows))
        self.counts[:] = counted
        self._context[batches.TRANSITIONS] = seen
        return self.marks.astype(np.bool_)

    def distinct(self, rows: Words, partitions: int) -> Successors:
        """Return these rows, each once and sorted."""
        self._begin(len(rows), parts=1)
        self._collect(rows)
        return self._sorted(partitions)

    def new(self, found: Sequence[Words], known: Sequence[Words], partitions: int) -> Words:
        """Return the collected rows of one partition that are in none of the partition's sorted runs of known
        rows.
        """
        self._begin(sum(len(rows) for rows in found), parts=partitions)
        for rows in found:
            self._collect(rows)
        self._runs = _zeros(4 * len(known))
        for number, run in enumerate(known):
            self._runs[4 * number : 4 * number + 2] = run.ctypes.data, len(run)
        self._context[batches.RUNS] = self._runs.ctypes.data
        self._context[batches.RUN_COUNT] = len(known)
        out = np.empty((int(self._context[batches.USED]), self.words), dtype=np.uint64)
        end = self._call("new_rows", out.ctypes.data)
        return out[: (end - out.ctypes.data) // (8 * self.words)]

    def join(self, left: Words, right: Words) -> Words:
        """Return the merge of two sorted runs without a common row."""
        if not len(left) or not len(right):
            return left if len(left) else right
        out = np.empty((len(left) + len(right), self.words), dtype=np.uint64)
        self.kernel.functions["join"](
            left.ctypes.data, len(left), right.ctypes.data, len(right), out.ctypes.data
        )
        return out

    def value_of(self, predicate: str, rows: Words, *, wanted: bool) -> tuple[npt.NDArray[np.bool_], bool]:
        """Return a mask of the rows in which a predicate has the wanted value, and False. If the predicate
        cannot be evaluated in some row, return a mask of the first of these rows alone, and True.
        """
        number = self.kernel.predicates.index(predicate)
        rows = np.ascontiguousarray(rows)
        scan, fill = (self.kernel.functions[f"{kind}.{number}"] for kind in ("scan", "fill"))
        place, wrong = divmod(scan(rows.ctypes.data, 0, len(rows), int(wanted)), 2)
        chosen = np.zeros(len(rows), dtype=np.bool_)
        if place == len(rows):
            return chosen, False
        if not wrong:
            values = np.zeros(len(rows), dtype=np.uint8)
            wrong_at = fill(rows.ctypes.data, 0, len(rows), values.ctypes.data)
            if wrong_at == len(rows):
                return values == int(wanted), False
            place = wrong_at
        chosen[place] = True
        return chosen, True

    def pack(self, state: State) -> Words:
        """Return the row of a state."""
        return np.array([self.kernel.packing.pack(flatten(self.program, state))], dtype=np.uint64)

    def state(self, row: Words) -> State:
        """Return the state of a row."""
        return unflatten(self.program, self.kernel.packing.unpack([int(word) for word in row]))

    # The set in order ---------------------------------------------------------------------------------------

    def _begin(self, rows: int, *, parts: int) -> None:
        """Begin an empty set with room for this many rows."""
        if self._buffer.size < rows * self.words:
            self._buffer = np.empty(rows * self.words, dtype=np.uint64)
        slots = SLOTS_A_ROW * max(rows, LEAST)
        if self._set.size < 2 * (slots + BEHIND):
            self._set = _zeros(2 * (slots + BEHIND))
        else:
            self._set[: 2 * (max(slots, self._slots) + BEHIND)] = 0
        self._slots = slots
        for field, value in {
            batches.BUFFER: self._buffer.ctypes.data,
            batches.SET: self._set.ctypes.data,
            batches.SLOTS: slots,
            batches.PARTS: parts,
            batches.CAPACITY: rows,
            batches.USED: 0,
            batches.SIFTED: 0,
        }.items():
            self._context[field] = value

    def _collect(self, rows: Words) -> None:
        rows = np.ascontiguousarray(rows)
        self._call("collect", rows.ctypes.data, len(rows))

    def _buffered(self, count: int) -> Words:
        return self._buffer[: count * self.words].reshape(count, self.words)

    def _sorted(self, partitions: int) -> Successors:
        rows = np.empty((int(self._context[batches.USED]), self.words), dtype=np.uint64)
        self._spread = _zeros(partitions)
        self._context[batches.SPREAD] = self._spread.ctypes.data
        self._call("in_order", rows.ctypes.data, partitions)
        return Successors(rows, np.cumsum(self._spread.astype(np.int64)))

    def _call(self, name: str, *given: int) -> int:
        return int(self.kernel.functions[name](self._context.ctypes.data, *given))


def _faults(program: Program) -> npt.NDArray[np.uint8]:
    """Return, for each step, whether it is a step of the environment."""
    from antiphon.model.ground.codes import Codes

    codes = Codes.of(program)
    faults = {action.name for action in program.module.actions if action.fault}
    return np.concatenate(
        [
            np.full(codes.bases[number + 1] - codes.bases[number], name in faults, dtype=np.uint8)
            for number, name in enumerate(codes.names)
        ]
        or [np.zeros(1, dtype=np.uint8)]
    )


def _zeros(count: int) -> Words:
    return np.zeros(max(1, count), dtype=np.uint64)
