"""The bounded model as a table: a row a transition, and a shortest way to each of them.

This module knows no run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import pyarrow as pa

from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.engines import transitions_of
from antiphon.model.explore.explorer import Visitor, path, walk
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import Program

__all__ = ["MODEL", "Model", "key"]

MODEL: Final = pa.schema(
    [
        ("before", pa.binary()),
        ("step", pa.string()),
        ("action", pa.string()),
        ("depth", pa.int32()),
        ("state", pa.int64()),
    ]
)
"""One row a transition: the packed state, the step in short notation, how many steps lead to the state, and
its number in the order of discovery."""

_ROWS: Final = 1 << 16


def key(packed: int) -> bytes:
    """A packed state as a table has it."""
    return packed.to_bytes(-(-packed.bit_length() // 8) or 1, "little")


class Model:
    """All states and transitions of a program within the bounds; `complete`: there are no others."""

    def __init__(self, program: Program, bounds: Bounds = UNBOUNDED) -> None:
        """Raises SpecError: the specification has an error on the explored part."""
        self.program = program
        self._edges, moves = transitions_of(program), _Moves()
        self._space, explorer = walk(self._edges, moves, bounds)
        if self._space.failure is not None:
            raise self._space.failure
        self._moves, self._levels = moves.found, explorer.position.levels
        self.complete, self.states = explorer.complete, len(self._space)

    @property
    def id(self) -> str:
        """Names the model by its specification, its constants and how far it was walked."""
        asked = [self.program.name, dict(self.program.constants), self.states, len(self._moves)]
        return hashlib.blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=8).hexdigest()

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All transitions, as `MODEL` says."""
        step, told = self._edges.step, {}
        rows: list[tuple[bytes, str, str, int, int]] = []
        depth = 0
        for state, moves in enumerate(self._moves):
            while depth + 1 < len(self._levels) and self._levels[depth + 1] <= state:
                depth += 1
            before = key(self._space.packed[state])
            for number, _ in moves:
                if number not in told:
                    told[number] = (compact_step(step(number)), step(number).action)
                rows.append((before, *told[number], depth, state))
            if len(rows) >= _ROWS:
                yield _batch(rows)
                rows = []
        yield _batch(rows)

    def trace(self, state: int, step: str) -> Trace:
        """A shortest way to a state, and from there this step, as CPython executes them."""
        states = path(self._space, state)
        steps = [next(n for n, after in self._moves[a] if after == b) for a, b in pairwise(states)]
        steps.append(next(n for n, _ in self._moves[state] if compact_step(self._edges.step(n)) == step))
        return replay(
            self.program, self._space.value(states[0]), [self._edges.step(number) for number in steps],
            why=f"no run has taken {step} here",
        )  # fmt: skip


class _Moves(Visitor):
    """The transitions of each state that was expanded."""

    def __init__(self) -> None:
        self.found: list[Sequence[tuple[int, int]]] = []

    def transitions(self, _state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Keep them."""
        self.found.append(moves)


def _batch(rows: Sequence[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(MODEL)
    arrays = [pa.array(column, kind.type) for column, kind in zip(columns, MODEL, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=MODEL)
