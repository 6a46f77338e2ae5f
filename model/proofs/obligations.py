"""Obligations of a specification: each action with each invariant, each by itself.

An obligation is a set of hypotheses and a goal, formulas over the state before a step. The goal is the
invariant over the state that the step leaves, so that no formula speaks of two states, and what a step does
not change needs no axiom.

This file knows nothing of solvers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from antiphon.model.proofs.execution import Executor, Path
from antiphon.model.proofs.expressions import CHOSEN
from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    App,
    Formula,
    Symbol,
    conjunction,
    disjunction,
    implication,
    symbols_of,
)
from antiphon.model.proofs.frame import Check, Frame
from antiphon.model.proofs.sequences import everywhere, is_within, numbers
from antiphon.model.proofs.settling import needed, settled
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import (
    MapValue,
    Outside,
    Scalar,
    SequenceValue,
    Sorts,
    Value,
    at_most,
    literal,
)
from antiphon.model.properties import SPECIFICATION
from antiphon.spec.lang import Program, SpecError, ir, types
from antiphon.spec.lang.errors import Location
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.walk import nodes, variables_read

INITIAL = "initially"
"""Name of the step that stands for the initial states."""

PREDICATES = "the text of the invariants"
"""Name in place of a step, in obligations that the text of the invariants has no error."""


CHOICES = "what the step chooses"
"""Name of what is known of the members that a step chooses."""


@dataclass(frozen=True)
class Hypothesis:
    """Formula that a proof may assume, with the name by which the proof lists it when it was used."""

    name: str
    formula: Formula
    at: Location | None = None


@dataclass(frozen=True)
class Part:
    """Part of an obligation, for one path through a step: the formulas that are assumed, and the goal that
    must follow.

    Attributes:
        hypotheses: the assumptions.
        goal: the formula that must follow.
        own: the invariant of which the goal is the new state.
    """

    hypotheses: tuple[Hypothesis, ...]
    goal: Formula
    own: str = ""


@dataclass(frozen=True)
class Obligation:
    """Obligation of a proof: a step (an action, or the choice of the initial state) must establish a
    property.

    Attributes:
        step: the name of the action, `INITIAL`, or `PREDICATES`.
        property: the name of an invariant or of a property of steps, or `SPECIFICATION`: no error.
        parts: one for each way through the step.
        at: the place of the action, or of the invariant.
    """

    step: str
    property: str
    parts: tuple[Part, ...]
    at: Location


@dataclass
class Reading:
    """Translation of a specification to formulas, in which some constants stand for every value.

    Attributes:
        program: the specification; its constants are numbers, but those of `every`.
        every: the constants that stand for every number from 1.
        theory: what is known of the sorts.
    """

    program: Program
    every: tuple[str, ...]
    theory: Theory = field(init=False)
    executor: Executor = field(init=False)

    def __post_init__(self) -> None:
        self._refuse_unknown()
        module = self.program.module
        bodies = (*module.functions, *module.procedures, *module.initials, *module.actions, *module.handlers)
        shortened = frozenset(item.type for item in nodes(bodies) if isinstance(item, ir.Slice))
        self.theory = Theory(Sorts(frozenset(self.every), self._size, shortened))
        self.executor = Executor(module, self.theory, self.program.constants)
        self.state: dict[str, Value] = {
            item.name: self.theory.sorts.symbolic(item.type, item.name, (), item.at)
            for item in module.variables
        }

    def _refuse_unknown(self) -> None:
        sizes = [
            item.name for item in self.program.declaration.constants if type(item.default) is int
        ]
        for name in self.every:
            if name not in sizes:
                raise SpecError(
                    f"{self.program.name} has no constant {name!r} that is a number; "
                    f"{known_names(name, sizes)}"
                )

    def _size(self, size: int | str) -> int | App:
        """Return a size expression as a number, or as a constant of which only the order is known.

        Raises:
            Outside: the expression is more than a constant of `every` and a number.
        """
        names = types.Int(0, size).sizes
        named = [name for name in names if name in self.every]
        if not named:
            return types.evaluate_size(size, self.program.constants)
        sample = [
            types.evaluate_size(size, self.program.constants | dict.fromkeys(named, number))
            for number in (1000, 1001, 1002)
        ]
        if len(named) > 1 or sample[1] - sample[0] != 1 or sample[2] - sample[1] != 1:
            raise Outside(f"the size {size!r} is computed from constants that stand for every number",
                          instead="a constant of its own")  # fmt: skip
        base = App(Symbol(named[0], (), Sorts.INTEGERS))
        found = self.theory.offset(base, sample[0] - 1000, None)
        assert isinstance(found, App)
        return found

    # What may be assumed ------------------------------------------------------------------------------------

    def invariants(self) -> list[ir.Predicate]:
        """Return the invariants of the specification."""
        return [item for item in self.program.module.predicates if item.kind is ir.PredicateKind.INVARIANT]

    def assumed(self) -> list[Hypothesis]:
        """Return the assumptions about the state before a step: every invariant, and that integers are within
        their bounds.
        """
        found: list[Hypothesis] = []
        for item in self.program.module.variables:
            formula = self.typing(item.type, self.state[item.name])
            if formula is not TRUE:
                found.append(Hypothesis(f"the domain of {item.name}", formula, item.at))
        with self.executor.evaluator.silently():
            for predicate in self.invariants():
                formula = self.executor.truth(predicate, Frame({}, self.state))
                found.append(Hypothesis(predicate.name, formula, predicate.at))
        return found

    def typing(self, kind: types.Type, value: Value) -> Formula:
        """Return the condition that the integers in a value which are terms of logic are within the bounds of
        their type.
        """
        match value:
            case Scalar():
                return self.theory.sorts.belongs(value, kind) if self._has_open_integer(kind) else TRUE
            case MapValue(type=of):
                if not self._has_open_integer(of.value):
                    return TRUE
                return self.theory.sorts.every_value(
                    of.key, "k", lambda key: self.typing(of.value, value.get(key))
                )
            case SequenceValue() if isinstance(kind, types.SequenceOf):
                return self._typing_of_log(kind, value)
        return TRUE

    def _typing_of_log(self, kind: types.SequenceOf, log: SequenceValue) -> Formula:
        zero = literal(0)
        bounds: list[Formula] = [is_within(log, kind, self.theory.sorts)]
        for here, first in numbers(log.first):
            for there, end in numbers(log.end):
                within = conjunction(at_most(zero, first), at_most(first, end))
                bounds.append(implication(conjunction(here, there), within))
        items: Formula = TRUE
        if self._has_open_integer(kind.of):
            items = everywhere(log, lambda _, item: self.typing(kind.of, item), None)
        return conjunction(*bounds, items)

    def _has_open_integer(self, kind: types.Type) -> bool:
        match kind:
            case types.Int():
                return self.theory.sorts.is_open(kind)
            case types.Optional(of=of):
                return self._has_open_integer(of)
            case types.Record(fields=fields):
                return any(self._has_open_integer(of) for _, of in fields)
            case types.Union(records=records):
                return any(map(self._has_open_integer, records))
            case types.MapOf(value=of):
                return self._has_open_integer(of)
            case types.SequenceOf():
                return not self.theory.sorts.is_without_repetition(kind)
        return False

    # Steps --------------------------------------------------------------------------------------------------

    def paths(self, action: ir.Action, state: dict[str, Value]) -> tuple[list[Path], list[Check]]:
        """Return the paths through an action, with arbitrary values of its parameters, and the checks that
        must not fail on them.
        """
        evaluator = self.executor.evaluator
        evaluator.checks.clear()
        given: dict[str, Value] = {}
        domains: list[Formula] = []
        for parameter in action.parameters:
            called = f"{action.name}.{parameter.name}"
            value = self.theory.sorts.symbolic(parameter.type, called, (), action.at)
            given[parameter.name] = value
            domains.append(self.typing(parameter.type, value))
        frame = Frame(given, state, before=state).under(*domains)
        evaluator.chosen = []
        paths = self.executor.run(action.body, frame)
        known, evaluator.chosen = evaluator.chosen, None
        checks, evaluator.checks = evaluator.checks, []
        if known:
            paths = [
                replace(path, frame=replace(path.frame, path=settled(path.frame.path)), facts=tuple(known))
                for path in paths
            ]
            checks = [replace(item, facts=tuple(known)) for item in checks]
        return paths, checks

    def defaults(self) -> dict[str, Value]:
        """Return the declared default of each variable, by name."""
        evaluator, empty = self.executor.evaluator, Frame({}, {})
        variables = self.program.module.variables
        return {item.name: evaluator.stored(item.initial, item.type, empty) for item in variables}

    def beginning(self) -> tuple[list[Path], list[Check]]:
        """Return the initial states: the defaults, or those that each `@initial` makes of them."""
        module, evaluator = self.program.module, self.executor.evaluator
        evaluator.checks.clear()
        defaults = self.defaults()
        checks, evaluator.checks = evaluator.checks, []
        if not module.initials:
            return [Path(Frame({}, defaults))], checks
        found: list[Path] = []
        for initial in module.initials:
            paths, more = self.paths(initial, defaults)
            found, checks = [*found, *paths], [*checks, *more]
        return found, checks

    def steps(self, *, without: Iterable[str] = ()) -> Iterator[Obligation]:
        """Yield for each action an obligation that nothing is true after it. If some run takes the action,
        the obligation must not be provable.
        """
        left_out = set(without)
        assumed = [item for item in self.assumed() if item.name not in left_out]
        for action in self.program.module.actions:
            paths, _ = self.paths(action, self.state)
            parts = tuple(Part((*assumed, *_conditions(path, FALSE)), FALSE) for path in paths)
            yield Obligation(action.name, "", parts, action.at)

    def obligations(self, *, without: Iterable[str] = ()) -> Iterator[Obligation]:
        """Yield every obligation, except those of the properties in `without`: first those of the initial
        states, then those of each action.

        Raises:
            Outside: something leaves the fragment.
        """
        left_out = set(without)
        assumed = [item for item in self.assumed() if item.name not in left_out]
        invariants = [item for item in self.invariants() if item.name not in left_out]
        paths, checks = self.beginning()
        yield from self._of_errors(INITIAL, [], checks)
        for predicate in invariants:
            yield Obligation(INITIAL, predicate.name, self._kept(predicate, paths, []), predicate.at)
        yield from self._of_errors(PREDICATES, assumed, self._in_predicates())
        for action in self.program.module.actions:
            paths, checks = self.paths(action, self.state)
            yield from self._of_errors(action.name, assumed, checks)
            for predicate in invariants:
                yield Obligation(
                    action.name, predicate.name, self._kept(predicate, paths, assumed), action.at
                )
            yield from self._of_steps(action, paths, assumed, left_out)

    def _kept(
        self, predicate: ir.Predicate, paths: list[Path], assumed: list[Hypothesis]
    ) -> tuple[Part, ...]:
        parts: list[Part] = []
        reads = variables_read(predicate.body, self.program.module)
        for path in paths:
            if assumed and all(path.frame.state[name] is self.state[name] for name in reads):
                continue
            with self.executor.evaluator.silently():
                goal = self.executor.truth(predicate, Frame({}, path.frame.state))
            parts.append(Part((*assumed, *_conditions(path, goal)), goal, predicate.name))
        return tuple(parts)

    def _of_errors(
        self, step: str, assumed: list[Hypothesis], checks: list[Check]
    ) -> Iterator[Obligation]:
        if checks:
            parts = tuple(
                Part((*assumed, *_known_of_choices(item.facts, (item.formula,))), item.formula)
                for item in checks
            )
            yield Obligation(step, SPECIFICATION, parts, checks[0].at)

    def _in_predicates(self) -> list[Check]:
        evaluator = self.executor.evaluator
        evaluator.checks.clear()
        for predicate in self.invariants():
            self.executor.truth(predicate, Frame({}, self.state))
        checks, evaluator.checks = evaluator.checks, []
        return checks

    def _unchanged(self, name: str, path: Path, at: Location) -> Formula:
        """Return a condition under which a step leaves a variable as it was: of sequences, whose order is not
        known, none.
        """
        if any(_has_sequence(item.type) for item in self.program.module.variables if item.name == name):
            return FALSE
        return self.theory.sorts.same(self.state[name], path.frame.state[name], at)

    def _of_steps(
        self, action: ir.Action, paths: list[Path], assumed: list[Hypothesis], left_out: set[str]
    ) -> Iterator[Obligation]:
        names = dict.fromkeys(item.property for path in paths for item in path.expected)
        for name in names:
            if name not in left_out:
                parts = tuple(
                    Part((*assumed, *_conditions(path, item.formula)), item.formula)
                    for path in paths
                    for item in path.expected
                    if item.property == name
                )
                yield Obligation(action.name, name, parts, action.at)
        for invariant in self.program.module.step_invariants:
            if invariant.name in left_out:
                continue
            reads = variables_read(invariant.body, self.program.module)
            found: list[Part] = []
            for path in paths:
                changed = [name for name in reads if path.frame.state[name] is not self.state[name]]
                if not changed:
                    continue
                with self.executor.evaluator.silently():
                    frame = Frame({}, path.frame.state, before=self.state)
                    goal = self.executor.truth(invariant, frame)
                    same = conjunction(*(self._unchanged(name, path, invariant.at) for name in changed))
                    goal = disjunction(same, goal)
                found.append(Part((*assumed, *_conditions(path, goal)), goal))
            yield Obligation(action.name, invariant.name, tuple(found), action.at)


def _has_sequence(kind: types.Type) -> bool:
    match kind:
        case types.SequenceOf():
            return True
        case types.MapOf(value=of):
            return _has_sequence(of)
    return False


def _conditions(path: Path, goal: Formula) -> tuple[Hypothesis, ...]:
    """Return the conditions of a path, with what is known of the choices that they or the goal name."""
    step = tuple(Hypothesis("the step", formula) for formula in path.frame.path)
    return (*step, *_known_of_choices(path.facts, (*path.frame.path, goal)))


def _known_of_choices(facts: tuple[Formula, ...], said: tuple[Formula, ...]) -> tuple[Hypothesis, ...]:
    choices = frozenset(symbol for symbol in symbols_of(facts) if CHOSEN in symbol.name)
    return tuple(Hypothesis(CHOICES, formula) for formula in needed(facts, said, choices))
