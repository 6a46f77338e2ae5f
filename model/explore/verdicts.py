"""Verdicts of an explored space, one for each property, with a trace that CPython has executed step by step.

The reference executes every result of a fast space again before it is shown: a counterexample that does not
replay, or that the reference does not agree with, is a failure of the engine (`InternalError`), never a
result. If a state represents several, the trace is made of states that really follow one another.

This file knows nothing of how states are stored or found.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Iterator, Mapping
from functools import cached_property

from antiphon.model.bounds import INTERRUPTED, Enough
from antiphon.model.engines.interface import (
    Decision,
    Finding,
    Future,
    LevelSpace,
    PredicateError,
    StateSpace,
    WholeSpace,
)
from antiphon.model.explore.explorer import path
from antiphon.model.explore.search import Search
from antiphon.model.ground.budgets import budget_blocked_step, short_of_budget
from antiphon.model.properties import SPECIFICATION
from antiphon.model.trace import Trace
from antiphon.model.verdict import (
    NO_STATE,
    NO_STEP,
    Evidence,
    InternalError,
    Outcome,
    PropertyKind,
    Provenance,
    Verdict,
)
from antiphon.spec.lang import Disabled, Program, SpecError, State, Transition
from antiphon.spec.lang.watch import unwatched

NO_GRAPH = "not decided: it needs the graph of all states, and levels were explored one by one"
"""Reason why an obligation or a liveness property is unknown, where no backward edges are kept."""


NOT_REACHED = "not reached; more budget might lead to it, for a spent one keeps steps back"
"""Reason why a witness is unknown, where all states were seen and a budget kept some out of reach."""


class Judge:
    """Judge that makes verdicts from a finished search. `kinds` maps the requested properties to their kinds,
    in the order of the report.
    """

    def __init__(
        self, program: Program, space: StateSpace, search: Search, kinds: Mapping[str, PropertyKind]
    ) -> None:
        self.program, self.space, self.search, self.kinds = program, space, search, kinds
        self._whole = space if isinstance(space, WholeSpace) else None
        self._swept: dict[str, Future] | None = None
        self._lenient: dict[str, Future] | None = None
        self.provenance = Provenance.of(program, space.engine)
        self.evidence = Evidence.explored(program, self._extent())

    def verdicts(self) -> Iterator[Verdict]:
        """Yield one verdict for each property, as soon as it is made; the verdict on the specification itself
        comes first if it has an error.
        """
        if self.search.error is not None:
            yield self._error(self.search.error)
        for name, kind in self.kinds.items():
            yield self._judge(name, kind)

    def _extent(self) -> str:
        count = f"{len(self.space):,} states"
        return (
            f"all {count}"
            if self.search.walk.complete
            else f"{count} to depth {self.search.walk.depth}, not all"
        )

    def _verdict(
        self, name: str, kind: PropertyKind, outcome: Outcome, reason: str = "", trace: Trace | None = None
    ) -> Verdict:
        return Verdict(name, kind, outcome, self.evidence, self.provenance, reason, trace)

    def _judge(self, name: str, kind: PropertyKind) -> Verdict:
        if not len(self.space):
            return self._verdict(name, kind, Outcome.UNKNOWN, NO_STATE)
        decision = self.search.decided.get(name)
        if decision is not None:
            with unwatched():
                return self._decided(name, kind, decision)
        if kind in (PropertyKind.OBLIGATION, PropertyKind.DEADLOCK):
            try:
                return self._future(name, kind)
            except PredicateError as error:
                return self._verdict(
                    name, kind, Outcome.UNKNOWN, str(self._spec_error(error.state, error.predicate))
                )
            except KeyboardInterrupt:
                return self._verdict(name, kind, Outcome.UNKNOWN, f"not decided: {INTERRUPTED}")
            except Enough as enough:
                return self._verdict(name, kind, Outcome.UNKNOWN, f"not decided: {enough}")
        if not self.search.walk.complete:
            return self._verdict(name, kind, Outcome.UNKNOWN, f"not decided: {self.search.walk.stopped}")
        if kind is PropertyKind.WITNESS:
            try:
                return self._verdict(name, kind, Outcome.UNKNOWN, self._unreached)
            except Enough as enough:
                return self._verdict(name, kind, Outcome.UNKNOWN, f"{NOT_REACHED}, perhaps: {enough}")
        return self._never_broken(name, kind)

    def _never_broken(self, name: str, kind: PropertyKind) -> Verdict:
        """Return `holds` for a property that no step broke, or `unknown` if there was no step at all."""
        if not self.search.walk.transitions:
            return self._verdict(name, kind, Outcome.UNKNOWN, NO_STEP)
        return self._verdict(name, kind, Outcome.HOLDS)

    @cached_property
    def _unreached(self) -> str:
        """Return the reason why a witness is unknown although all states were seen; the reason is the same
        for each witness.
        """
        held = self._whole.budget_limited(faults=True) if self._whole is not None else None
        if held is None or not any(held):
            return "not reachable: everything else holds vacuously"
        step = budget_blocked_step(self.program, self.space.value(held.index(1)), faults=True)
        told = "" if step is None else f", as {step[0]} ({step[1]})"
        return f"{NOT_REACHED}{told}"

    def _decided(self, name: str, kind: PropertyKind, decision: Decision) -> Verdict:
        if decision.step is not None:
            trace = self._trace(decision.state, name, breaking=True)
            refusal = next(refusal for refusal in trace.transitions[-1].refused if refusal.property == name)
            return self._verdict(name, kind, Outcome.VIOLATED, str(refusal), _because(trace, str(refusal)))
        trace = self._trace(decision.state, name)
        witness = kind is PropertyKind.WITNESS
        if name not in self.search.extra and self._holds(trace, name) is not witness:
            raise InternalError(
                f"{self.space.engine}: {name} is not what the reference says in the last state of its trace"
            )
        if witness:
            return self._verdict(
                name,
                kind,
                Outcome.HOLDS,
                f"reached after {_steps(trace)}",
                _because(trace, f"{name} is true"),
            )
        return self._verdict(
            name, kind, Outcome.VIOLATED, f"false after {_steps(trace)}", _because(trace, f"{name} is false")
        )

    def _future(self, name: str, kind: PropertyKind) -> Verdict:
        """Return the verdict on an obligation or on the absence of deadlock, by the explored states."""
        if self.search.error is not None:
            return self._verdict(name, kind, Outcome.UNKNOWN, f"not decided: {self.search.walk.stopped}")
        if isinstance(self.space, LevelSpace):
            if kind is PropertyKind.OBLIGATION:
                return self._verdict(name, kind, Outcome.UNKNOWN, NO_GRAPH)
            stuck = self.space.stuck()
            if stuck is not None and budget_blocked_step(self.program, self.space.value(stuck)) is not None:
                return self._verdict(
                    name, kind, Outcome.UNKNOWN, self._short_of_budget(kind, Future(stuck, None))
                )
            return self._verdict_of(name, kind, Future(stuck, None))
        future = self._futures()[name]
        if _is_wrong(future, kind):
            strict, future = future, self._with_budgets(name, future)
            if not _is_wrong(future, kind):
                return self._verdict(name, kind, Outcome.UNKNOWN, self._short_of_budget(kind, strict))
        return self._verdict_of(name, kind, future)

    def _verdict_of(self, name: str, kind: PropertyKind, future: Future) -> Verdict:
        """Return the verdict that follows from a property's `Future`, for an obligation or the absence of
        deadlock; its run is confirmed.
        """
        with unwatched():
            return self._confirmed(name, kind, future)

    def _confirmed(self, name: str, kind: PropertyKind, future: Future) -> Verdict:
        quiet, lost = future.quiescent, future.irrecoverable if kind is PropertyKind.OBLIGATION else None
        if lost is not None and (quiet is None or len(path(self.space, lost)) < len(path(self.space, quiet))):
            trace = self._trace(lost, name)
            why = (
                f"irrecoverable: after {_steps(trace)} it is false, and no fault-free path leads to a state "
                "in which it is true"
            )
            return self._violated(name, kind, trace, why)
        if quiet is not None:
            trace = self._trace(quiet, name)
            what = "quiescence", " and it is false"
            if kind is PropertyKind.DEADLOCK:
                what = "deadlock", ""
            return self._violated(
                name, kind, trace, f"{what[0]}: after {_steps(trace)} nothing but faults can happen{what[1]}"
            )
        if self.search.walk.complete:
            return self._never_broken(name, kind)
        return self._verdict(name, kind, Outcome.UNKNOWN, f"not decided: {self.search.walk.stopped}")

    def _futures(self) -> dict[str, Future]:
        """Return the `Future` of each obligation; all are found in one sweep when the first one is judged."""
        if self._swept is None:
            nowhere = bytearray(len(self.space))
            truths = self._truths() | dict.fromkeys(self._named(PropertyKind.DEADLOCK), nowhere)
            self._swept = self._sweep(truths)
        return self._swept

    def _truths(self) -> dict[str, bytearray]:
        """Return for each obligation a byte for every state, 1 where the obligation is true."""
        assert self._whole is not None
        return {name: self._whole.truth(name) for name in self._named(PropertyKind.OBLIGATION)}

    def _named(self, kind: PropertyKind) -> list[str]:
        """Return the names of the properties of this kind."""
        return [name for name, found in self.kinds.items() if found is kind]

    def _sweep(self, truths: Mapping[str, bytearray]) -> dict[str, Future]:
        assert self._whole is not None
        walk = self.search.walk
        return self._whole.futures(walk.expanded, truths, complete=walk.complete)

    def _with_budgets(self, name: str, future: Future) -> Future:
        """Return the property's `Future` if states in which a spent budget disables a step count as
        fulfilling it.
        """
        if self._lenient is None:
            assert self._whole is not None
            held = self._whole.budget_limited()
            self._lenient = {}
            if held is not None:
                met = {
                    name: bytearray(map(operator.or_, good, held)) for name, good in self._truths().items()
                }
                met |= dict.fromkeys(self._named(PropertyKind.DEADLOCK), held)
                self._lenient = self._sweep(met)
        return self._lenient.get(name, future)

    def _short_of_budget(self, kind: PropertyKind, future: Future) -> str:
        """Return the reason why an obligation or a deadlock is not decided: only a spent budget prevents a
        way on.
        """
        deadlock = kind is PropertyKind.DEADLOCK
        lost = None if deadlock else future.irrecoverable
        ways = [path(self.space, state) for state in (future.quiescent, lost) if state is not None]
        way = min(ways, key=len)
        held = budget_blocked_step(self.program, self.space.value(way[-1]))
        if deadlock:
            return short_of_budget(len(way) - 1, held, "nothing but faults can happen")
        return short_of_budget(len(way) - 1, held)

    def _violated(self, name: str, kind: PropertyKind, trace: Trace, why: str) -> Verdict:
        if kind is PropertyKind.OBLIGATION and self._holds(trace, name):
            raise InternalError(
                f"{self.space.engine}: {name} is true in the last state of its trace, says the reference"
            )
        return self._verdict(name, kind, Outcome.VIOLATED, why, _because(trace, why))

    def _holds(self, trace: Trace, name: str) -> bool:
        return self.program.reference.holds(trace.states[-1], name)

    def _error(self, finding: Finding) -> Verdict:
        with unwatched():
            error = self._spec_error(finding.state, finding.error)
            trace = self._trace(finding.state, SPECIFICATION)
        where = f"in {finding.step}: " if finding.step is not None else ""
        return self._verdict(
            SPECIFICATION,
            PropertyKind.SPECIFICATION,
            Outcome.UNKNOWN,
            f"{where}{error}",
            _because(trace, f"{where}{error}"),
        )

    def _spec_error(self, state: int, predicate: str) -> SpecError:
        """Return the error that the reference finds in this state: in its steps, or in the named
        predicate.
        """
        value = self.space.value(state)
        reference = self.program.reference
        try:
            if predicate in self.kinds:
                reference.holds(value, predicate)
            else:
                for _ in reference.successors(value):
                    pass
        except SpecError as error:
            return error
        raise InternalError(
            f"{self.space.engine}: finds an error of the specification in state {state}, but the reference "
            "runs through"
        )

    def _trace(self, state: int, shows: str, *, breaking: bool = False) -> Trace:
        """Return the trace to a state, by steps of the reference; with `breaking` one step more, which breaks
        the property that the trace shows.
        """
        numbers = path(self.space, state)
        value = next(
            (start for start in self.program.reference.initial() if self.space.stands_for(numbers[0], start)),
            None,
        )
        if value is None:
            raise InternalError(
                f"{self.space.engine}: no initial state is the one that the search began with"
            )
        start, transitions = value, list[Transition]()
        for number, after in itertools.pairwise(numbers):
            move = next(
                (move for move in self._moves(value) if self.space.stands_for(after, move.state)), None
            )
            if move is None:
                raise InternalError(
                    f"{self.space.engine}: no step leads from state {number} to the state that was found "
                    "from it"
                )
            transitions.append(move)
            value = move.state
        if breaking:
            move = next(
                (
                    move
                    for move in self._moves(value)
                    if any(refusal.property == shows for refusal in move.refused)
                ),
                None,
            )
            if move is None:
                raise InternalError(
                    f"{self.space.engine}: a step from state {state} breaks {shows}, but the reference does "
                    "not agree"
                )
            transitions.append(move)
        return Trace(self.program, start, tuple(transitions), shows)

    def _moves(self, state: State) -> Iterator[Transition]:
        """Yield the transitions from a state that can be executed; an error of the specification in one step
        hides no other.
        """
        for step in self.program.reference.candidates(state):
            with contextlib.suppress(Disabled, SpecError):
                yield self.program.reference.apply(state, step)


def _is_wrong(future: Future, kind: PropertyKind) -> bool:
    """Return True if this `Future` breaks the obligation, or is a deadlock."""
    lost = kind is PropertyKind.OBLIGATION and future.irrecoverable is not None
    return future.quiescent is not None or lost


def _steps(trace: Trace) -> str:
    return f"{len(trace)} step{'' if len(trace) == 1 else 's'}"


def _because(trace: Trace, why: str) -> Trace:
    return Trace(trace.program, trace.start, trace.transitions, trace.shows, why)
