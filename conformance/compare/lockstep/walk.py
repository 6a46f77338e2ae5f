"""Exhaustive lockstep walk: specification and implementation take every transition together, and are
compared.

1. A pair is a state of the specification and a system of the implementation, both packed. From every pair
  every enabled step of the specification is taken on both sides; the events and every compared variable must
  agree. Each pair is walked once.
2. At every pair the internal steps that the processes offer must be those that the specification enables.
3. The walk is breadth first, so that the first difference has a shortest trace. It is run again from the
  start, without the cache, to be shown.
4. Local steps are cached (`local`). A seeded sample of transitions is executed on the code once more and
  compared by value, and a sample of paths is run from the start on processes that are never restored.
5. For a binding without snapshots, one pair is walked for each state of the specification: the steps to it
    are run again for each step from it.

This module knows no protocol; the binding does.
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from antiphon.conformance.compare.bindings import Binding, Forgets, Refused, Unsteady
from antiphon.conformance.compare.bindings.guarded import BindingError, chance, equal
from antiphon.conformance.compare.lockstep.comparison import (
    UNSTEADY,
    Comparison,
    Difference,
    Differs,
    misreports,
    raises,
    raising,
    refuses,
)
from antiphon.conformance.compare.lockstep.local import FIELD, FIELD_BITS, LocalSteps
from antiphon.conformance.compare.lockstep.report import LockstepReport, unwalked
from antiphon.model.bounds import INTERRUPTED, UNBOUNDED, Bounds, Enough, Stop, StopReason
from antiphon.model.engines import transitions_of
from antiphon.model.engines.interface import NO_PARENT, Block
from antiphon.model.explore.explorer import Explorer, Visitor
from antiphon.model.limits import under_limits
from antiphon.spec.lang import Machine, SpecError, State, Step
from antiphon.spec.lang.foreign import Raised
from antiphon.spec.lang.watch import unwatched, working

BLOCK = 2_048
"""Number of pairs between two reports of progress."""

AGAIN = 1_000
"""Average number of transitions between two that are executed on the code again."""

OTHERWISE = Differs(
    f"the implementation does something else when the step is executed again: {UNSTEADY}, or depends on more "
    "than its snapshot",
    "as before",
    "otherwise",
)

Progress = Callable[[int, int, int], None]


def lockstep(
    binding: Binding,
    machine: Machine | None = None,
    *,
    bounds: Bounds = UNBOUNDED,
    max_transitions: int | None = None,
    sample: int = 50,
    seed: int = 0,
    progress: Progress | None = None,
) -> LockstepReport:
    """Walk specification and implementation together, and return the report.

    `machine` executes the specification (generated code, much the fastest, if None). `bounds` and
    `max_transitions` end the walk. `sample` is the number of paths that are replayed from the start.
    `progress` is called now and then with the numbers of pairs, transitions and queued pairs.
    """
    with chance(seed), under_limits(bounds) as limits:
        try:
            walk = _Walk(binding, machine, seed, bounds, max_transitions, progress)
        except Enough as enough:
            return unwalked(binding, seed, limits.elapsed(), enough.stop)
        return replace(walk.run(sample), seconds=limits.elapsed())


class _Walk:
    """State space of pairs for `Explorer`: each is a state of the specification with a system of the
    implementation.
    """

    def __init__(
        self,
        binding: Binding,
        machine: Machine | None,
        seed: int,
        bounds: Bounds,
        most: int | None,
        progress: Progress | None,
    ) -> None:
        self.bounds, self.most = bounds, most
        self.comparison = Comparison(binding, machine)
        self.binding = self.comparison.binding
        self.edges = transitions_of(self.binding.program, machine)
        self.locals = LocalSteps(self.binding, self.edges, hears=self.comparison.hears)
        self.seed, self.random = seed, random.Random(seed)
        self.states: list[int] = []
        self.systems: list[int] = []
        self.parents, self.via = array("I"), array("I")
        self.first: dict[int, int] = {}
        self.one_way = self.binding.one_way
        self.events: Callable[[int, int], tuple[Any, ...]] = _silence
        if self.comparison.hears:
            self.events = self.edges.events
        self.further: set[tuple[int, int]] = set()
        self.repeats: set[int] = set()
        self.transitions = self.compared = self.repeated = self.counted = 0
        self.explorer = Explorer(
            self,
            _EndsAtBounds(self),
            replace(bounds, states=None),
            None if progress is None else lambda at: progress(at.states, at.transitions, at.queue),
        )
        self.stopped: Stop | None = None

    def run(self, sample: int) -> LockstepReport:
        """Walk until every pair is walked, a bound is reached, or the two sides differ; return the report.
        `sample` is the number of paths that are replayed from the start.
        """
        replayed, difference = 0, None
        try:
            difference = self._begin()
            if difference is None:
                self.explorer.run()
                self.stopped = self.explorer.stopped
                if self.stopped is INTERRUPTED:
                    raise KeyboardInterrupt
                replayed, difference = self._replay_sample(min(sample, self.explorer.expanded))
        except _Found as found:
            with unwatched():
                difference = self._explain(found)
        except Enough as enough:
            self.stopped = enough.stop
        except BindingError:
            raise
        except SpecError as error:
            self.stopped = Stop(StopReason.ERROR, f"an error of the specification ({error})")
        return self._report(replayed, difference)

    def __len__(self) -> int:
        """Return the number of known pairs."""
        return len(self.states)

    @property
    def block(self) -> int:
        """Number of pairs to walk at a time; it is smaller near a bound."""
        size = BLOCK if self.most is None else min(BLOCK, 1 + (self.most - self.transitions) // 64)
        limit = self.bounds.states
        return max(1, size if limit is None else min(size, 1 + (limit - len(self.first)) // 16))

    def enough(self) -> Stop | None:
        """Return the bound that is reached, of states or of transitions, if unwalked pairs are left; else
        None. There are fewer states than pairs.
        """
        if self.explorer.expanded == len(self):
            return None
        reached = Bounds(states=self.bounds.states).reached(len(self.first), 0.0)
        if reached is None and self.most is not None and self.transitions >= self.most:
            return Stop(StopReason.TRANSITIONS, f"the bound of {self.most:,} transitions")
        return reached

    def _report(self, replayed: int, difference: Difference | None) -> LockstepReport:
        fired: Counter[str] = Counter()
        for known in self.locals.known:
            fired[known.step.action] += known.fired
        complete = self.explorer.complete and self.stopped is None and difference is None
        return LockstepReport(
            program=self.binding.program, transitions=self.transitions, states=len(self.first),
            pairs=len(self.states),
            complete=complete,
            one_way=self.one_way,
            seconds=0.0,
            replayed=replayed,
            seed=self.seed, exempt=dict(self.binding.exempt), compared=self.compared,
            executed=self.locals.executed,
            repeated=self.repeated, fired={name: count for name, count in fired.items() if count},
            difference=difference,
            stopped=self.stopped, taken=() if complete else _Taken(self, difference),
        )  # fmt: skip

    def _begin(self) -> Difference | None:
        """Store the initial pairs; return the difference of a pair whose sides differ."""
        for state in self.comparison.machine.initial():
            try:
                system = self.comparison.start()
                self.comparison.begin(state, system)
                with raising():
                    packed = self.locals.pack(system)
                    again = self.comparison.start()
                    if not equal(again, system):
                        raise Unsteady
            except Differs as differs:
                return self.comparison.difference(state, [], differs)
            except Unsteady:
                return self.comparison.unsteady(state, [], OTHERWISE)
            self._add(self.edges.pack(state), packed, NO_PARENT, 0)
        return None

    def _add(self, state: int, system: int, parent: int, number: int) -> None:
        """Store a pair unless it is known. For a binding without snapshots, store only the first pair of each
        state.
        """
        standing = self.first.setdefault(state, system)
        if standing is not system:
            if self.one_way or standing == system or (state, system) in self.further:
                return
            self.further.add((state, system))
            self.repeats.add(len(self.states))
        self.states.append(state)
        self.systems.append(system)
        self.parents.append(parent)
        self.via.append(number)

    # The loop -----------------------------------------------------------------------------------------------

    def expand(self, first: int, last: int) -> Block:
        """Take all steps of the pairs first..last - 1."""
        before = self.transitions
        self._walk(first, last)
        return Block(self.transitions - before)

    def _walk(self, begin: int, end: int) -> None:
        """Take all enabled steps of the pairs from `begin` to `end` - 1 on both sides, and compare. The loop
        decides the walk's speed: for most steps it does two look-ups, a few operations on integers, and a
        comparison.

        Raises:
            _Found: the sides differ, or the implementation raises, or acts differently the second time.
        """
        steps, out, events, known = self.locals, self.edges.successors, self.events, self.locals.known
        first, add, compared, several = self.first, self._add, steps.compared, steps.several
        shifts = [FIELD_BITS * me for me in range(self.binding.members + 1)]
        offers = [process.offers for process in steps.processes]
        again = self.random.randrange(2 * AGAIN)
        try:
            for position in range(begin, end):
                state, system = self.states[position], self.systems[position]
                fields = [system >> shift & FIELD for shift in shifts]
                fields[-1] = 0
                moves = out(state)
                internal = 0
                for number, after in moves:
                    if number >= len(known):
                        steps.learn(number)
                    step = known[number]
                    internal |= step.internal
                    snapshot = fields[step.process]
                    datagram = (
                        steps.variant(step.packet, system, step.process) if step.packet & several else None
                    )
                    local = step.locals.get(snapshot if datagram is None else (snapshot, datagram))
                    if local is None:
                        local = steps.execute(step, snapshot, datagram)
                        equal(local.events, events(state, number))  # an event compares itself: guarded once
                        several = steps.several
                    then = (
                        steps.mixed(state, system, local)
                        if local.touched & several
                        else system + local.change
                    )
                    expected = state & local.keep | local.add
                    if local.wider:
                        expected = steps.widened(expected, then, local)
                    if (expected ^ after) & compared or events(state, number) != local.events:
                        raise _Found(position, number)
                    if first.get(after) != then:
                        add(after, then, position, number)
                offered = 0
                for process, field in zip(offers, fields, strict=False):
                    offered |= process[field]
                if internal != offered and not (
                    self.binding.ordered and internal and not internal & ~offered
                ):
                    raise _Found(position, None)
                self._count(position, moves)
                again -= len(moves)
                if again < 0:
                    again = self.random.randrange(2 * AGAIN)
                    self._repeat(position, *self.random.choice(moves))
        except Unsteady:
            raise _Found(position, number, OTHERWISE) from None
        except Raised as raised:
            raise _Found(position, number, raises(raised, ())) from raised
        except (Refused, Forgets) as told:
            raise _Found.of_binding(position, number, told) from told

    def _count(self, position: int, moves: list[tuple[int, int]]) -> None:
        self.counted = position + 1
        self.compared += len(moves)
        if position not in self.repeats:
            self.transitions += len(moves)
            for number, _ in moves:
                self.locals.known[number].fired += 1

    # Samples ------------------------------------------------------------------------------------------------

    def _repeat(self, position: int, number: int, after: int) -> None:
        """Execute a transition on the code again, and compare the values of both sides, and the result with
        the cached one.
        """
        self.repeated += 1
        state, system = self.states[position], self.systems[position]
        step = self.edges.step(number)
        try:
            then, there = self.comparison.take(
                self.edges.unpack(state), self.locals.unpack(state, system), step
            )
            with raising():
                there_packed = self.locals.pack(there)
        except Differs as differs:
            raise _Found(position, number, differs) from differs
        except Unsteady:
            raise _Found(position, number, OTHERWISE) from None
        if self.edges.pack(then) != after or (
            not self.one_way
            and self.first[after] != there_packed
            and (after, there_packed) not in self.further
        ):
            raise _Found(position, number, OTHERWISE)

    def _replay_sample(self, count: int) -> tuple[int, Difference | None]:
        """Run the paths to some pairs again, on processes that are never restored; compare at every step.
        Return the number of paths that were run, and the first difference or None.

        A walk that had no time for all these paths is not complete.
        """
        for number, position in enumerate(self.random.sample(range(self.explorer.expanded), count), 1):
            if self.stopped is None:
                working("running sampled paths again", large=True)
            before = self.binding.restores
            difference = self.comparison.run(*self._path(position, None))
            if difference is None and self.binding.restores != before:
                raise BindingError(
                    "`restores` counts a snapshot put back in a run from the start, which needs none"
                )
            if difference is not None:
                return number, difference
        return count, None

    # Differences --------------------------------------------------------------------------------------------

    def _explain(self, found: _Found) -> Difference:
        """Return the difference, found again on fresh processes. If the internal steps on offer differ at the
        same depth, the run is one step shorter.
        """
        if found.number is not None:
            for position in range(found.position, self.explorer.position.level_end):
                if self._offers_differ(position):
                    found = _Found(position, None)
                    break
        start, steps = self._path(found.position, found.number)
        if found.certain and found.differs is not None:
            return self.comparison.difference(start, steps, found.differs)
        return self.comparison.reproduced(start, steps) or self.comparison.unsteady(
            start, steps, found.differs or OTHERWISE
        )

    def _offers_differ(self, position: int) -> bool:
        state, system = self.states[position], self.systems[position]
        enabled = [self.edges.step(number) for number, _ in self.edges.successors(state)]
        try:
            self.comparison.offers(enabled, self.locals.unpack(state, system))
        except Differs:
            return True
        return False

    def _path(self, position: int, last: int | None) -> tuple[State, list[Step]]:
        """Return the initial state and the steps that lead to a pair, then the step `last` if it is given."""
        path = [] if last is None else [self.edges.step(last)]
        while self.parents[position] != NO_PARENT:
            path.append(self.edges.step(self.via[position]))
            position = self.parents[position]
        return self.edges.unpack(self.states[position]), path[::-1]


class _Taken:
    """Iterable of the transitions that a walk has taken on both sides, each as a state and a step: all from
    the pairs whose steps were all taken, and those of the run that shows the difference.
    """

    def __init__(self, walk: _Walk, difference: Difference | None) -> None:
        self._edges, self._states = walk.edges, walk.states
        self._counted, self._difference = walk.counted, difference

    def __iter__(self) -> Iterator[tuple[State, Step]]:
        for packed in dict.fromkeys(self._states[: self._counted]):
            state = self._edges.unpack(packed)
            for number, _ in self._edges.successors(packed):
                yield state, self._edges.step(number)
        if self._difference is not None:
            state = self._difference.trace.start
            for transition in self._difference.trace.transitions:
                yield state, transition.step
                state = transition.state


def _silence(state: int, number: int) -> tuple[object, ...]:
    """Return no events, in place of a step's events if events are not compared."""
    del state, number
    return ()


class _EndsAtBounds(Visitor):
    """Visitor that ends a walk at a bound that the number of pairs does not show, such as a number of
    transitions.
    """

    def __init__(self, walk: _Walk) -> None:
        self._walk = walk

    def enough(self) -> Stop | None:
        """Return the bound that is reached, or None."""
        return self._walk.enough()


class _Found(Exception):
    """Signal that the sides differ at a pair: in the step `number`, or in the internal steps on offer.
    `certain` is True if the difference is reported even where a run from the start may not show it.
    """

    def __init__(
        self, position: int, number: int | None, differs: Differs | None = None, *, certain: bool = False
    ) -> None:
        self.position, self.number, self.differs, self.certain = position, number, differs, certain
        super().__init__(str(differs))

    @classmethod
    def of_binding(cls, position: int, number: int, told: Refused | Forgets) -> _Found:
        """Return the finding that the binding itself shows: a step is refused, or a snapshot cannot be
        restored.
        """
        if isinstance(told, Refused):
            return cls(position, number, refuses(told))
        return cls(position, number, misreports(told, ()), certain=True)
