"""Batches keep each row once, in the order of hashes, and tell what is new from what is known: beside sets of
Python, for rows that are equal, alike and many.
"""

import itertools

import numpy as np
import pytest

import antiphon
from antiphon.model.engines.native.driver.batcher import Batcher, Words
from antiphon.spec.lang import Program

PROGRAMS = {
    "one word": antiphon.program("two-phase", managers=3),
    "many words": antiphon.program("rbp", processes=2, messages=1),
}


@pytest.fixture(scope="module", params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Program:
    return PROGRAMS[request.param]


def rows_of(words: int, values: np.ndarray) -> Words:
    """Rows that differ in one word only: the first, or the last."""
    rows = np.zeros((len(values), words), dtype=np.uint64)
    rows[np.arange(len(values)), np.where(values % 2 == 0, 0, words - 1)] = values
    return rows


def as_set(rows: Words) -> set[bytes]:
    return {row.tobytes() for row in rows}


def test_what_is_new_is_what_was_found_and_is_in_no_run(program: Program) -> None:
    batcher, chance = Batcher(program), np.random.default_rng(seed=5)
    found = [rows_of(batcher.words, chance.integers(1, 6_000, 2_000)) for _ in range(3)]
    known = [rows_of(batcher.words, chance.integers(1, 6_000, size)) for size in (3_000, 300, 1)]
    for partitions in (1, 3):
        parts = [batcher.distinct(rows, partitions) for rows in found]
        before: list[Words] = []
        for rows in known:
            whole = batcher.distinct(rows, partitions)
            before.append(whole.rows)
        seen = set[bytes]()
        for partition in range(partitions):
            mine = [piece(part.rows, part.ends, partition) for part in parts]
            ends = [batcher.distinct(rows, partitions).ends for rows in before]
            runs = [
                np.ascontiguousarray(piece(rows, end, partition))
                for rows, end in zip(before, ends, strict=True)
            ]
            new = batcher.new(mine, runs, partitions)
            assert len(as_set(new)) == len(new)
            assert as_set(new) == set.union(*map(as_set, mine)) - set.union(*map(as_set, runs))
            again = batcher.distinct(new, partitions)
            assert (again.rows == new).all(), "what is new is in order"
            seen |= as_set(new)
            joined = batcher.join(runs[1], np.ascontiguousarray(new))
            if not as_set(runs[1]) & as_set(new):
                assert (batcher.distinct(joined, partitions).rows == joined).all()
        assert seen == set.union(*map(as_set, found)) - set.union(*map(as_set, known))


def test_levels_that_are_expanded_and_merged_are_the_states_that_the_reference_finds(
    program: Program,
) -> None:
    batcher = Batcher(program)
    front = batcher.distinct(np.concatenate([batcher.pack(s) for s in program.reference.initial()]), 1).rows
    runs, values = [front], [set(program.reference.initial())]
    for _ in range(4):
        found = [found.rows for found in batcher.expand(front, 1)]
        front = batcher.new(found, runs, 1)
        runs.append(front)
        after = {move.state for state in values[-1] for move in program.reference.successors(state)}
        values.append(after - set(itertools.chain(*values)))
        assert {batcher.state(row) for row in front} == values[-1]
        assert len(front) == len(values[-1])


def piece(rows: Words, ends: np.ndarray, partition: int) -> Words:
    return rows[ends[partition - 1] if partition else 0 : ends[partition]]
