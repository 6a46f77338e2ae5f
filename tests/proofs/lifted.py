"""A state of CPython as values over formulas, and whether the translation to logic says the same of it.

A member of a sort becomes a constant of which the meaning is its number. What the translation makes of a
predicate or an action over such a state is a formula without unknowns, and so is true or false: as the
reference says, or the translation is wrong.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from antiphon.model.proofs.execution import Path
from antiphon.model.proofs.expressions import CHOSEN, NOTHING
from antiphon.model.proofs.formula import (
    FALSE,
    App,
    Atom,
    Formula,
    Sort,
    Symbol,
    conjunction,
    disjunction,
    holds,
    negation,
    symbols_of,
)
from antiphon.model.proofs.frame import Frame
from antiphon.model.proofs.obligations import Reading
from antiphon.model.proofs.sequences import is_empty, item_at, made_of, without_first
from antiphon.model.proofs.theory import QuorumClass
from antiphon.model.proofs.values import (
    Boolean,
    MapValue,
    Member,
    RecordLeaf,
    Scalar,
    SequenceValue,
    SetValue,
    Sorts,
    Value,
    chosen_of,
)
from antiphon.spec.lang import Disabled, Program, SpecError, Step, ir, types

LEAST = -2
"""The integer of element 0 of the sort of integers."""


class Lifted:
    """A program at known sizes, beside its translation for all sizes."""

    def __init__(self, program: Program, every: tuple[str, ...]) -> None:
        self.program, self.reading = program, Reading(program, every)
        self.sorts = self.reading.theory.sorts
        self.chosen: dict[Symbol, int] = {}

    # Values -------------------------------------------------------------------------------------------------

    def value(self, value: Any, kind: types.Type) -> Value:
        """A value of CPython as one over formulas."""
        domain = self.program.domain(kind)
        match kind:
            case types.Bool():
                return Boolean(negation(FALSE) if value else FALSE)
            case types.Optional(of=of):
                return Scalar.of(None) if value is None else self.value(value, of)
            case types.Int():
                return self.sorts.fitted(Scalar.of(value), kind)
            case types.Enumeration():
                return Scalar.of(Member(value.name))
            case types.IndexType(name=name):
                if not self.sorts.is_open(kind):
                    return Scalar.of(Member(f"{name}({value.index})"))
                return Scalar.of(App(Symbol(f"#{value.index}", (), self.sorts.sort(kind))))
            case types.Record(name=name, fields=fields):
                made = tuple((field, self.value(getattr(value, field), of)) for field, of in fields)
                return Scalar.of(RecordLeaf(name, made))
            case types.Union(records=records):
                (record,) = [item for item in records if self.program.domain(item).contains(value)]
                return self.value(value, record)
            case types.SequenceOf(of=of) if not self.sorts.is_without_repetition(kind):
                nothing = self.sorts.symbolic(of, NOTHING, ())
                log = made_of(of, tuple(self.value(item, of) for item in value), nothing)
                return replace(log, items=None, most=kind.most)
            case types.SetOf(of=of) | types.SequenceOf(of=of):
                items = [self.value(item, of) for item in value]
                return SetValue(of, lambda e: disjunction(*(self.sorts.same(e, item) for item in items)))
            case types.MapOf(key=key, value=of):
                entries = types.entries(value)
                pairs = [
                    (self.value(k, key), self.value(v, of))
                    for k, v in zip(domain.parts[0], entries, strict=True)
                ]
                return MapValue(kind, lambda k: chosen_of((self.sorts.same(k, one), v) for one, v in pairs))
        raise TypeError(kind)

    def state(self, state: Any) -> dict[str, Value]:
        """A state of the reference."""
        variables = self.program.module.variables
        return {item.name: self.value(part, item.type) for item, part in zip(variables, state, strict=True)}

    def frame(self, given: dict[str, Value], state: dict[str, Value]) -> Frame:
        """Frame at the beginning of a body."""
        return Frame(given, state, before=state)

    # Truth --------------------------------------------------------------------------------------------------

    def true(self, formula: Formula) -> bool:
        """True if a formula without unknowns is true at the sizes of the program."""
        sizes: dict[Sort, int] = {Sorts.INTEGERS: 12}
        for group in self.reading.theory.classes:
            sizes[group.sort] = len(self._quorums(group))
        for kind in _indices(self.program):
            sizes.setdefault(Sort(kind.name), self.program.domain(kind).cardinality)
        return holds(formula, sizes, lambda symbol, at: self._meaning(symbol, at, sizes))

    def _quorums(self, group: QuorumClass) -> list[int]:
        size = self.program.domain(group.index).cardinality
        least = sum(
            factor * (int(self.program.constants[name]) if name else 1) for name, factor in group.bound
        )
        return [mask for mask in range(1 << size) if group.factor * mask.bit_count() >= least]

    def _meaning(self, symbol: Symbol, at: tuple[int, ...], sizes: dict[Sort, int]) -> int:
        if symbol in self.chosen or symbol.name.startswith(NOTHING):
            return self.chosen.get(symbol, 0)
        name, theory = symbol.name, self.reading.theory
        for group in theory.classes:
            if symbol == group.has:
                return self._quorums(group)[at[1]] >> at[0] & 1
            if isinstance(group.exists, Atom) and symbol == group.exists.symbol:
                return int(bool(self._quorums(group)))
        if name.endswith("<"):
            return int(at[0] < at[1])
        assert symbol.result is not None, f"{name} is not known in a state"
        if name.startswith("#"):
            return int(name[1:])
        term = App(symbol)
        if symbol in theory.numbered:
            return at[0] - LEAST
        if " % " in name:
            return at[0] % int(self.program.constants[name.rpartition(" ")[2]])
        if symbol.result == Sorts.INTEGERS:
            if name in self.program.constants:
                return int(self.program.constants[name]) - LEAST
            if term in theory.offsets:
                base, by = theory.offsets[term]
                assert isinstance(base, App)
                return self._meaning(base.symbol, (), sizes) + by
            return int(name) - LEAST
        if term == theory.first(symbol.result):
            return 0
        if term == theory.last(symbol.result):
            return sizes[symbol.result] - 1
        before = theory.nexts[term]
        assert isinstance(before, App)
        return (self._meaning(before.symbol, (), sizes) + 1) % sizes[symbol.result]

    # Agreement ----------------------------------------------------------------------------------------------

    def disagreements(self, state: Any) -> Iterator[str]:
        """Differences between the translation and the reference in one state."""
        lifted, executor = self.state(state), self.reading.executor
        for predicate in self.program.module.predicates:
            formula = executor.truth(predicate, Frame({}, lifted))
            if self.true(formula) != self.program.reference.holds(state, predicate.name):
                yield predicate.name
        for action in self.program.module.actions:
            for arguments in _arguments(self.program, action):
                yield from self._of_step(state, lifted, action, arguments)

    def _of_step(
        self, state: Any, lifted: dict[str, Value], action: ir.Action, arguments: tuple[Any, ...]
    ) -> Iterator[str]:
        given = {
            parameter.name: self.value(argument, parameter.type)
            for parameter, argument in zip(action.parameters, arguments, strict=True)
        }
        evaluator = self.reading.executor.evaluator
        evaluator.checks.clear()
        evaluator.chosen = []
        paths = self.reading.executor.run(action.body, Frame(given, lifted, before=lifted))
        known, evaluator.chosen = evaluator.chosen, None
        found: list[str] = []
        for choice in self._choices(known):
            self.chosen = choice
            if all(map(self.true, known)):
                found = list(self._differences(state, Step(action.name, arguments), paths))
                if not found:
                    return
        yield from found

    def _choices(self, known: Sequence[Formula]) -> Iterator[dict[Symbol, int]]:
        """Meanings of what `next`, `min` and `max` choose: some of them must say what CPython does."""
        symbols = [symbol for symbol in symbols_of(known) if CHOSEN in symbol.name]
        sizes = [2 if symbol.result is None else self._size(symbol.result) for symbol in symbols]
        for row in itertools.product(*map(range, sizes)):
            yield dict(zip(symbols, row, strict=True))

    def _size(self, sort: Sort) -> int:
        if sort == Sorts.INTEGERS:
            return 12
        (kind,) = {kind for kind in _indices(self.program) if kind.name == sort.name}
        return self.program.domain(kind).cardinality

    def _differences(self, state: Any, step: Step, paths: Sequence[Path]) -> Iterator[str]:
        """Differences between the paths of a step and the reference."""
        taken = [path for path in paths if self.true(path.condition)]
        is_wrong = not all(self.true(check.formula) for check in self.reading.executor.evaluator.checks)
        try:
            transition = self.program.reference.apply(state, step)
        except Disabled:
            if taken:
                yield f"{step} is not possible"
            return
        except SpecError:
            if not is_wrong:
                yield f"{step} is an error"
            return
        if is_wrong:
            yield f"{step} is no error"
        if len(taken) != 1:
            yield f"{step} is possible"
            return
        (path,) = taken
        after = self.state(transition.state)
        for variable, part in zip(self.program.module.variables, transition.state, strict=True):
            name, value = variable.name, after[variable.name]
            if not self.true(self._is_left(path.frame.state[name], part, variable.type)):
                yield f"{step} leaves {name} as {value}"
        expected = conjunction(*(item.formula for item in path.expected))
        if self.true(expected) != (not transition.refused):
            yield f"{step} breaks something"


    def _is_left(self, found: Value, value: Any, kind: types.Type) -> Formula:
        """The condition that a value over formulas is a value of CPython; logs are read from their front."""
        match kind:
            case types.MapOf(key=key, value=of) if isinstance(found, MapValue):
                entries = zip(self.program.domain(kind).parts[0], types.entries(value), strict=True)
                return conjunction(
                    *(self._is_left(found.get(self.value(k, key)), v, of) for k, v in entries)
                )
            case types.SequenceOf(of=of) if isinstance(found, SequenceValue):
                theory, same = self.reading.theory, []
                for item in value:
                    first = item_at(found, found.first, None)
                    same += [negation(is_empty(found)), self._is_left(first, item, of)]
                    found = without_first(found, theory, None)
                return conjunction(*same, is_empty(found))
        return self.sorts.same(found, self.value(value, kind))


def _arguments(program: Program, action: ir.Action) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [()]
    for parameter in action.parameters:
        rows = [(*row, value) for row in rows for value in program.domain(parameter.type)]
    return rows


def _indices(program: Program) -> Iterator[types.IndexType]:
    waiting: list[types.Type] = [item.type for item in program.module.variables]
    waiting += [item.type for action in program.module.actions for item in action.parameters]
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, types.IndexType):
            yield kind
        waiting += [part.type for part in program.domain(kind).parts]


def reachable(program: Program, most: int) -> list[Any]:
    """The first states that can be reached."""
    machine = program.reference
    waiting = list(dict.fromkeys(machine.initial()))
    seen = set(waiting)
    for state in waiting:
        for transition in machine.successors(state):
            if transition.state not in seen and len(waiting) < most:
                seen.add(transition.state)
                waiting.append(transition.state)
    return waiting[:most]
