"""Work of one task: expand a piece of a level, take in the new states of a partition, look for states.

1. `expand` gives the successors of its piece, some hundred thousand at a time: each once, sorted, so that
   those of one partition stand together, which is a block.
2. `take_in` has all blocks of one partition: a state that is in none of its runs is new, and written.
3. `choose` searches a piece again for states of a kind, for the path to a finding.

A *fact* may be true in a level: a property by its name (an invariant is false in a state, a witness true, a
step from a state breaks it), `QUIET`, `ERROR` (a step cannot be executed), or the name of a predicate behind
`CANNOT` (it cannot be evaluated).

A task may run twice, on two machines, at once: whatever it writes is the same. This file knows nothing of
Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import numpy.typing as npt

from antiphon.conformance.spark.states.lake import GROUP, Lake, Run
from antiphon.conformance.spark.states.recipe import Recipe, batcher_of
from antiphon.model.engines.native.driver.batcher import Batcher, Successors, Words
from antiphon.model.engines.native.kernels import batches
from antiphon.model.engines.native.kernels.runtime import BROKEN_SHIFT, WRONG

QUIET, ERROR, CANNOT = "!quiet", "!error", "!cannot say "
TOGETHER = 1 << 19
"""Number of states that are expanded together, if there are as many; a successor of several of them is stored
once.
"""
MOST_CHOSEN = 1 << 20
"""Largest number of states of a kind that are considered for the path to one of them."""


@dataclass(frozen=True)
class Piece:
    """Piece of a level: row groups first..last - 1 of a partition."""

    level: int
    partition: int
    first: int
    last: int


@dataclass(frozen=True)
class Work:
    """Common data of all tasks of a level: the program, the lake, the level to be found, and the predicates
    to evaluate on its states with the wanted value; `known` are the runs of each partition.
    """

    recipe: Recipe
    lake: Lake
    partitions: int
    level: int = 0
    known: tuple[tuple[Run, ...], ...] = ()
    predicates: tuple[tuple[str, bool], ...] = ()


class Told(msgspec.Struct):
    """Result of a task: for its piece the number of transitions, and of each step; for its partition the
    number of new states, and its runs; and the true facts.
    """

    transitions: int = 0
    counts: dict[int, int] = msgspec.field(default_factory=dict)
    partition: int = -1
    new: int = 0
    known: list[Run] = msgspec.field(default_factory=list)
    facts: list[str] = msgspec.field(default_factory=list)


@dataclass(frozen=True)
class Choice:
    """Choice of states of a level: those in which a fact is true, or those with a successor among
    `before`.
    """

    fact: str
    wanted: bool = False
    before: Words | None = field(default=None, compare=False)


def pieces(level: int, counts: Sequence[int], tasks: int) -> list[list[Piece]]:
    """Cut a level into at most `tasks` lists of pieces of about equal size."""
    groups = [
        (partition, group) for partition, count in enumerate(counts) for group in range(-(-count // GROUP))
    ]
    size = max(1, -(-len(groups) // tasks))
    cut = [groups[begin : begin + size] for begin in range(0, len(groups), size)]
    made = []
    for some in cut:
        mine: list[Piece] = []
        for partition, group in some:
            if mine and mine[-1].partition == partition:
                mine[-1] = Piece(level, partition, mine[-1].first, group + 1)
            else:
                mine.append(Piece(level, partition, group, group + 1))
        made.append(mine)
    return made


def expand(work: Work, given: Sequence[Piece]) -> Iterator[Successors | Told]:
    """Yield the successors of the states of some pieces, in batches, and at last the result of the task."""
    batcher = batcher_of(work.recipe)
    before, seen, marks = batcher.counts.copy(), batcher.transitions, 0
    for rows in _rows(work, given):
        yield from batcher.expand(rows, work.partitions)
        marks |= int(np.bitwise_or.reduce(batcher.marks))
    more = batcher.counts - before
    counts = {int(code): int(more[code]) for code in np.flatnonzero(more)}
    yield Told(batcher.transitions - seen, counts, facts=list(_marked(batcher, marks)))


def blocks(found: Successors) -> Iterator[tuple[int, int, int]]:
    """Yield each partition that has rows here, with the index of its first row and the index after its
    last.
    """
    begin = 0
    for partition, end in enumerate(found.ends.tolist()):
        if end > begin:
            yield partition, begin, end
        begin = end


def take_in(work: Work, partition: int, found: Sequence[Words]) -> Told:
    """Store those states of these blocks that are new, and return the result."""
    batcher = batcher_of(work.recipe)
    runs = list(work.known[partition]) if work.known else []
    work.lake.remove_old_runs(partition, runs, work.level)
    known = [work.lake.read_run(partition, run, batcher.words) for run in runs]
    new = batcher.new(found, known, work.partitions)
    work.lake.write_part(work.level, partition, new)
    if len(new):
        joined, first = new, work.level
        while runs and runs[-1].count < 2 * len(joined):
            first = runs.pop().first
            joined = batcher.join(known.pop(), joined)
        runs.append(Run(first, work.level, len(joined)))
        work.lake.write_run(partition, runs[-1], joined)
    return Told(partition=partition, new=len(new), known=runs, facts=_facts(batcher, new, work.predicates))


def choose(work: Work, given: Sequence[Piece], choice: Choice) -> tuple[list[tuple[int, int]], Words]:
    """Return the states of some pieces that match a choice, at most `MOST_CHOSEN`: for each its partition and
    its index in it, and its row.
    """
    batcher = batcher_of(work.recipe)
    places: list[tuple[int, int]] = []
    rows: list[Words] = [np.zeros((0, batcher.words), dtype=np.uint64)]
    for piece in given:
        for group in range(piece.first, piece.last):
            mine = work.lake.read_part(piece.level, piece.partition, group)
            chosen = np.flatnonzero(_chosen(batcher, work, mine, choice))[: MOST_CHOSEN - len(places)]
            places += [(piece.partition, group * GROUP + int(row)) for row in chosen]
            rows.append(mine[chosen])
    return places, np.concatenate(rows)


def _rows(work: Work, given: Sequence[Piece]) -> Iterator[Words]:
    """Yield the rows of the states of some pieces in batches of at least `TOGETHER` states, except for the
    last batch. A successor that several states of a batch have is stored once.
    """
    read: list[Words] = []
    for piece in given:
        for group in range(piece.first, piece.last):
            read.append(work.lake.read_part(piece.level, piece.partition, group))
            if sum(map(len, read)) >= TOGETHER:
                yield np.concatenate(read)
                read = []
    if read:
        yield np.concatenate(read)


def _facts(batcher: Batcher, rows: Words, predicates: Sequence[tuple[str, bool]]) -> list[str]:
    facts = []
    for name, wanted in predicates:
        chosen, wrong = batcher.value_of(name, rows, wanted=wanted)
        if chosen.any():
            facts.append(f"{CANNOT}{name}" if wrong else name)
    return facts


def _marked(batcher: Batcher, marks: int) -> Iterator[str]:
    """Yield the facts that a combined bit mask of states has."""
    if marks & batches.QUIET:
        yield QUIET
    if marks & WRONG:
        yield ERROR
    for number, name in enumerate(batcher.kernel.properties):
        if marks >> BROKEN_SHIFT + number & 1:
            yield name


def _chosen(batcher: Batcher, work: Work, rows: Words, choice: Choice) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows that match a choice."""
    if choice.before is not None:
        return batcher.leading_to(rows, choice.before)
    fact = choice.fact
    predicate = fact.removeprefix(CANNOT)
    if predicate in batcher.kernel.predicates:
        chosen, wrong = batcher.value_of(predicate, rows, wanted=choice.wanted)
        return chosen if wrong == fact.startswith(CANNOT) else np.zeros(len(rows), dtype=np.bool_)
    mask = {QUIET: batches.QUIET, ERROR: WRONG}.get(fact)
    if mask is None:
        mask = 1 << BROKEN_SHIFT + batcher.kernel.properties.index(fact)
    for _ in batcher.expand(rows, work.partitions):
        pass
    return (batcher.marks & np.uint64(mask)).astype(np.bool_)
