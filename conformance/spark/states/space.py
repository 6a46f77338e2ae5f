"""Space of the states of a lake: numbered, found level by level, each with a path to it on request.

A state's number counts the levels before its own, in its level the partitions before its own, and there the
states with smaller hashes. The first finding is not that of the least number, but that of a search that
numbers states in the order of discovery (`_first`): so traces are those of the other engines.

This file knows nothing of Spark, which may run the tasks (`running`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate

import numpy as np

from antiphon.conformance.spark.states.lake import GROUP, SCHEMA, VERSION, Content, Lake, LakeError, Way
from antiphon.conformance.spark.states.recipe import Recipe, batcher_of
from antiphon.conformance.spark.states.running import Runner
from antiphon.conformance.spark.states.tasks import (
    CANNOT,
    ERROR,
    MOST_CHOSEN,
    QUIET,
    Choice,
    Told,
    Work,
    blocks,
    take_in,
)
from antiphon.model.engines.interface import NO_PARENT, Block, Decision, Finding, Position, PredicateError
from antiphon.model.engines.native.driver.batcher import Words
from antiphon.model.properties import kinds_of
from antiphon.model.verdict import InternalError, PropertyKind
from antiphon.spec.lang import Program, State

WHOLE_LEVELS = 1 << 62


class LakeSpace:
    """Space of a program's states in a lake: a `LevelSpace` whose search can be interrupted and resumed.

    Args:
        program: the specification with its constants.
        lake: the directory of its states.
        runner: runs the tasks.
        partitions: the number of parts into which states are divided by their hashes; an existing lake keeps
            its own.
        asked: the properties to check: a path is sought to their findings.

    Raises:
        LakeError: the lake is of another program, or damaged.
        InputError: executors cannot make the program.
    """

    block = WHOLE_LEVELS
    engine = "explicit, native, levels on Spark"

    def __init__(
        self, program: Program, lake: Lake, runner: Runner, partitions: int, asked: Collection[str]
    ) -> None:
        self.program, self.lake, self._runner = program, lake, runner
        self._recipe = Recipe.of(program)
        self._batcher = batcher_of(self._recipe)
        kinds = kinds_of(program)
        self._wanted = {
            name: kind is PropertyKind.WITNESS
            for name, kind in kinds.items()
            if kind in (PropertyKind.INVARIANT, PropertyKind.WITNESS)
        }
        self._asked, self._muted = frozenset(asked), set[str]()
        self._left = lake.read()
        if self._left is None:
            self._left_position: Position | None = None
            self._content = self._begun(partitions)
        else:
            self._content = self._left
            self._see_same()
            lake.remove_levels_from(len(self._content.levels))
            self._left_position = self._position()

    def _begun(self, partitions: int) -> Content:
        """Return the content of a new lake, which has the initial states."""
        batcher = self._batcher
        content = Content(SCHEMA, VERSION, self.program.name, self.program.digest, batcher.words, partitions)
        content.counts = [0] * batcher.kernel.codes.count
        content.known = [[] for _ in range(partitions)]
        self.lake.remove_levels_from(0)
        rows = [batcher.pack(state) for state in self.program.reference.initial()]
        found = batcher.distinct(np.concatenate(rows), partitions) if rows else None
        self._content = content
        if found is None:
            self._take(0, [])
        else:
            cut = [(partition, found.rows[begin:end]) for partition, begin, end in blocks(found)]
            self._take(0, [take_in(self._work(0), partition, [rows]) for partition, rows in cut])
        return content

    def _see_same(self) -> None:
        content = self._content
        if content.program != self.program.digest or content.words != self._batcher.words:
            raise LakeError(
                f"{self.lake.directory} holds the states of {content.name} with another text or other "
                "constants; name another directory, or remove it"
            )

    def _work(self, level: int) -> Work:
        predicates = tuple(
            (name, wanted) for name, wanted in self._wanted.items() if name not in self._content.facts
        )
        known = tuple(map(tuple, self._content.known))
        return Work(self._recipe, self.lake, self._content.partitions, level, known, predicates)

    # Levels -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._starts()[-1]

    def _starts(self) -> list[int]:
        """Return the number of the first state of each level, and at last the number of all states."""
        return list(accumulate(map(sum, self._content.levels), initial=0))

    def _level_of(self, state: int) -> int:
        return next(level for level, start in enumerate(self._starts()[1:]) if state < start)

    def expand(self, first: int, last: int) -> Block:
        """Return the successors of the last level, whose states have the numbers first..last - 1."""
        starts, content = self._starts(), self._content
        if [first, last] != starts[-2:]:
            raise InternalError(f"{self.engine}: asked for the states {first}..{last - 1}, not for a level")
        before, level = content.transitions, len(content.levels)
        told = self._runner.find(self._work(level), content.levels[-1])
        from_steps = {fact for item in told if item.partition < 0 for fact in item.facts}
        fresh = [fact for fact in sorted(from_steps) if fact not in content.facts]
        self._take(level, told)
        findings = [self._found(fact, level - 1) for fact in fresh if fact == ERROR or self._is_asked(fact)]
        return Block(content.transitions - before, tuple(sorted(findings, key=lambda item: item.state)))

    def _is_asked(self, fact: str) -> bool:
        return fact in self._asked and fact not in self._muted

    def _take(self, level: int, told: Iterable[Told]) -> None:
        """Add a level with the results of its tasks to the content of the lake."""
        content = self._content
        counts = [0] * content.partitions
        for item in told:
            content.transitions += item.transitions
            for code, count in item.counts.items():
                content.counts[code] += count
            if item.partition >= 0:
                counts[item.partition] = item.new
                content.known[item.partition] = item.known
            for fact in item.facts:
                content.facts.setdefault(fact, level if item.partition >= 0 else level - 1)
        content.levels.append(counts)

    def _found(self, fact: str, level: int) -> Finding:
        state = self._first(fact, level)
        self._batcher.in_discovery_order(self._row(state))
        properties = self._batcher.kernel.properties
        step = self._batcher.step_found(0 if fact == ERROR else 1 + properties.index(fact))
        if step is None:
            raise InternalError(f"{self.engine}: no step from state {state} is what was found there")
        if fact == ERROR:
            return Finding(state, step, error="a check fails")
        return Finding(state, step, (fact,))

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """Yield (state, predicate, value) for predicates with the wanted value somewhere in the
        last level.
        """
        level = len(self._content.levels) - 1
        facts = self._content.facts
        for name in predicates:
            if facts.get(f"{CANNOT}{name}") == level and first < last:
                raise PredicateError(self._first(f"{CANNOT}{name}", level), name)
        return [
            (self._first(name, level), name, self._wanted[name])
            for name in predicates
            if facts.get(name) == level and first < last
        ]

    def mute(self, property: str) -> None:
        """Suppress further findings about this property."""
        self._muted.add(property)

    def stuck(self) -> int | None:
        """Return the first state in which only faults are possible, or None."""
        level = self._content.facts.get(QUIET)
        return None if level is None else self._first(QUIET, level)

    def coverage(self) -> dict[str, int]:
        """Return, for each action, the number of argument tuples with which it was enabled somewhere."""
        codes, counts = self._batcher.kernel.codes, self._content.counts
        return {
            name: sum(1 for code in range(codes.bases[number], codes.bases[number + 1]) if counts[code])
            for number, name in enumerate(codes.names)
        }

    # Going on -----------------------------------------------------------------------------------------------

    def resume(self) -> Position | None:
        """Return the position at which an earlier search left this lake, or None."""
        return self._left_position

    def _position(self) -> Position:
        content, starts = self._content, self._starts()
        kinds = kinds_of(self.program)
        decided = {}
        for name in [name for name in content.facts if name in self._asked and name in kinds]:
            level = content.facts[name]
            found = None if name in self._wanted else self._found(name, level)
            state = self._first(name, level) if found is None else found.state
            decided[name] = Decision(state, None if found is None else found.step)
        firsts = starts[:-1]
        return Position(firsts[-1], content.transitions, firsts[-1], firsts, decided, content.seconds)

    def checkpoint(self, position: Position, *, last: bool = False) -> None:  # noqa: ARG002 - each is
        """Record that the present levels are complete. A level after which the search ends with an error is
        not recorded, so that a later search finds it again.
        """
        if ERROR in self._content.facts or any(fact.startswith(CANNOT) for fact in self._content.facts):
            return
        self._content.seconds = position.seconds
        self.lake.write(self._content)

    def release(self) -> None:
        """Do nothing: no state is kept in memory."""

    # States -------------------------------------------------------------------------------------------------

    def parent(self, state: int) -> int:
        """Return the predecessor of a state on the path to it."""
        way = self._content.ways.get(state)
        if way is None:
            level = self._level_of(state)
            self._remember(self._way(level, {self._row(state).tobytes(): state}))
            way = self._content.ways[state]
        return NO_PARENT if way.parent < 0 else way.parent

    def value(self, state: int) -> State:
        """Return the state as a tuple of values."""
        return self._batcher.state(self._row(state))

    def stands_for(self, state: int, value: State) -> bool:
        """Return True if this is the value of the state."""
        return bool((self._batcher.pack(value)[0] == self._row(state)).all())

    def _row(self, state: int) -> Words:
        """Return the words of a state."""
        way = self._content.ways.get(state)
        if way is not None:
            return np.array(way.words, dtype=np.uint64)
        level = self._level_of(state)
        rest = state - self._starts()[level]
        for partition, count in enumerate(self._content.levels[level]):
            if rest < count:
                group, place = divmod(rest, GROUP)
                row: Words = self.lake.read_part(level, partition, group)[place].copy()
                return row
            rest -= count
        raise InternalError(f"{self.engine}: there is no state {state}")

    # Ways ---------------------------------------------------------------------------------------------------

    def _first(self, fact: str, level: int) -> int:
        """Return the number of the first state of a level, in the order of a breadth-first search, in which a
        fact is true. Store the path to it.
        """
        wanted = self._wanted.get(fact.removeprefix(CANNOT), False)
        targets = self._chosen(level, Choice(fact, wanted))
        if not targets:
            raise InternalError(f"{self.engine}: {fact} is not found again in level {level}")
        way = self._way(level, targets)
        self._remember(way)
        return way[-1][0]

    def _chosen(self, level: int, choice: Choice) -> dict[bytes, int]:
        """Return the numbers of the states of a level that match a choice, by their rows."""
        counts = self._content.levels[level]
        begins = list(accumulate(counts, initial=self._starts()[level]))
        found: dict[bytes, int] = {}
        for places, rows in self._runner.choose(self._work(level), level, counts, choice):
            for (partition, place), row in zip(places, rows, strict=True):
                if len(found) < MOST_CHOSEN:
                    found[row.tobytes()] = begins[partition] + place
        return found

    def _way(self, level: int, targets: Mapping[bytes, int]) -> list[tuple[int, Words]]:
        """Return a shortest path to one of these states of a level: the path that a search in the order of
        discovery would find, if no level has more than `MOST_CHOSEN` states on shortest paths.

        First search backwards for the states of each level from which a target can be reached, then forwards
        for the first of them.
        """
        sets = [dict(targets)]
        for before in range(level - 1, -1, -1):
            rows = np.frombuffer(b"".join(sets[0]), dtype=np.uint64).reshape(-1, self._batcher.words)
            sets.insert(0, self._chosen(before, Choice("", before=rows)))
        starts = [self._batcher.pack(state)[0] for state in self.program.reference.initial()]
        way: list[tuple[int, Words]] = []
        candidates: Sequence[Words] = starts
        for step in sets:
            row = next((row for row in candidates if row.tobytes() in step), None)
            if row is None:
                raise InternalError(f"{self.engine}: no way leads on to a state of level {len(way)}")
            way.append((step[row.tobytes()], row))
            candidates = list(self._batcher.in_discovery_order(row))
        return way

    def _remember(self, way: Sequence[tuple[int, Words]]) -> None:
        parent = -1
        for number, row in way:
            self._content.ways[number] = Way(parent, tuple(int(word) for word in row))
            parent = number
