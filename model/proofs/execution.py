"""Symbolic execution of bodies of the intermediate form with formulas for values: each way through a body is
a path.

A path has its conditions, the variables at its end, and the expectations of services. A loop over the members
of a sort is executed once, for a member of which nothing is known: the front end has shown that its turns do
not interact, so that an entry has the value that its own turn writes, and a growing set has the elements that
some turn adds.

This file knows nothing of obligations or solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from antiphon.model.proofs.expressions import Evaluator
from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    implication,
    negation,
)
from antiphon.model.proofs.frame import Frame
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import (
    Boolean,
    MapValue,
    Outside,
    RecordLeaf,
    Scalar,
    SetValue,
    Value,
    chosen,
    chosen_of,
)
from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location

MOST_PATHS = 256
"""Largest number of ways through one body that are distinguished."""


@dataclass(frozen=True)
class Expected:
    """Expectation of a service about a step, and the conditions under which it applies."""

    property: str
    formula: Formula
    at: Location


@dataclass(frozen=True)
class Path:
    """Path: one way through a body.

    Attributes:
        frame: locals, the state at its end, and the conditions of the path.
        expected: what services expect.
        result: what is returned, when `done`.
        done: whether the body has returned.
    """

    frame: Frame
    expected: tuple[Expected, ...] = ()
    result: Value | None = None
    done: bool = False

    @property
    def condition(self) -> Formula:
        """Return the condition under which this path is taken."""
        return conjunction(*self.frame.path)


@dataclass
class Executor:
    """Executor of the bodies of one module."""

    module: ir.Module
    theory: Theory
    constants: dict[str, int | bool | str]
    evaluator: Evaluator = field(init=False)

    def __post_init__(self) -> None:
        self.evaluator = Evaluator(self.theory, self.constants, self._call)
        self._functions = {item.name: item for item in self.module.functions}
        self._procedures = {item.name: item for item in self.module.procedures}
        self._types = {item.name: item.type for item in self.module.variables}

    # Bodies -------------------------------------------------------------------------------------------------

    def run(self, body: Sequence[ir.Statement], frame: Frame) -> list[Path]:
        """Return the paths through a body whose conditions do not fold to false."""
        paths = [Path(frame)]
        for statement in body:
            following: list[Path] = []
            for path in paths:
                following += [path] if path.done else self._step(statement, path)
            paths = [path for path in following if path.condition is not FALSE]
            if len(paths) > MOST_PATHS:
                raise Outside(f"more than {MOST_PATHS} ways through this body", statement.at)
        return paths

    def truth(self, definition: ir.Definition, frame: Frame) -> Formula:
        """Return the formula that a predicate is true."""
        value = self._result(definition, frame)
        assert isinstance(value, Boolean)
        return value.formula

    def _call(self, name: str, arguments: Sequence[Value], frame: Frame, at: Location) -> Value:
        definition = self._functions[name]
        given = {
            parameter.name: self._given(argument, parameter.type, frame, at)
            for parameter, argument in zip(definition.parameters, arguments, strict=True)
        }
        value = self._result(definition, replace(frame, locals=given))
        if not _has_bounds(definition.type):
            return value
        return self.evaluator.fitted(value, definition.type, frame, at)

    def _given(self, argument: Value, kind: types.Type, frame: Frame, at: Location) -> Value:
        if not isinstance(argument, Scalar):
            return argument
        return self.evaluator.fitted(argument, kind, frame, at)

    def _result(self, definition: ir.Definition, frame: Frame) -> Value:
        count = len(frame.path)
        paths = self.run(definition.body, frame)
        cases: list[tuple[Formula, Value]] = []
        for path in paths:
            assert path.result is not None
            cases.append((conjunction(*path.frame.path[count:]), path.result))
        return chosen_of(cases, definition.at)

    # Statements ---------------------------------------------------------------------------------------------

    def _step(self, statement: ir.Statement, path: Path) -> list[Path]:
        frame, at = path.frame, statement.at
        match statement:
            case ir.Let(name=name, value=value):
                found = self.evaluator.value(value, frame)
                return [replace(path, frame=frame.binding(name, found))]
            case ir.Require(condition=condition):
                held = self.evaluator.formula(condition, frame)
                return [] if held is FALSE else [replace(path, frame=frame.under(held))]
            case ir.Assign():
                return [replace(path, frame=self._assigned(statement, frame))]
            case ir.When(condition=condition, then=then, otherwise=otherwise):
                return self._branches(condition, then, otherwise, path)
            case ir.Return(value=value):
                result = None if value is None else self.evaluator.value(value, frame)
                return [replace(path, result=result, done=True)]
            case ir.Perform(procedure=name, arguments=arguments):
                return self._performed(name, arguments, path, at)
            case ir.Expect(condition=condition, property=name):
                wanted = implication(path.condition, self.evaluator.formula(condition, frame))
                return [replace(path, expected=(*path.expected, Expected(name, wanted, at)))]
            case ir.Emit(event=event):
                return self._emitted(event, path)
            case ir.Each(binder=binder, body=body):
                return self._each(binder, body, path)
        raise Outside(f"{type(statement).__name__} has no reading in first-order logic", at)

    def _branches(
        self, condition: ir.Expression, then: Sequence[ir.Statement], otherwise: Sequence[ir.Statement],
        path: Path,
    ) -> list[Path]:  # fmt: skip
        test = self.evaluator.formula(condition, path.frame)
        found: list[Path] = []
        for formula, body in ((test, then), (negation(test), otherwise)):
            if formula is not FALSE:
                inner = self.run(body, path.frame.under(formula))
                found += [replace(item, expected=(*path.expected, *item.expected)) for item in inner]
        return found

    def _performed(
        self, name: str, arguments: Sequence[ir.Expression], path: Path, at: Location
    ) -> list[Path]:
        definition = self._procedures[name]
        frame = path.frame
        given = {
            parameter.name: self._given(self.evaluator.value(item, frame), parameter.type, frame, at)
            for parameter, item in zip(definition.parameters, arguments, strict=True)
        }
        return self._inlined(definition, given, path)

    def _inlined(self, definition: ir.Definition, given: dict[str, Value], path: Path) -> list[Path]:
        inner = self.run(definition.body, replace(path.frame, locals=given))
        return [
            replace(
                path,
                frame=replace(item.frame, locals=path.frame.locals),
                expected=(*path.expected, *item.expected),
            )
            for item in inner
        ]

    def _emitted(self, event: ir.Expression, path: Path) -> list[Path]:
        value = self.evaluator.value(event, path.frame)
        assert isinstance(value, Scalar)
        paths: list[Path] = []
        for condition, leaf in value.cases:
            assert isinstance(leaf, RecordLeaf)
            here = [replace(path, frame=path.frame.under(condition))]
            for handler in self.module.handlers:
                if handler.event == leaf.name:
                    given: dict[str, Value] = {handler.parameters[0].name: Scalar.of(leaf)}
                    here = [after for item in here for after in self._inlined(handler, given, item)]
            paths += here
        return paths

    def _assigned(self, statement: ir.Assign, frame: Frame) -> Frame:
        kind = self._types[statement.variable]
        keys: list[Value] = []
        inner = kind
        for key in statement.keys:
            assert isinstance(inner, types.MapOf)
            keys.append(self.evaluator.stored(key, inner.key, frame))
            inner = inner.value
        value = self.evaluator.stored(statement.value, inner, frame)
        made = self._with(frame.state[statement.variable], keys, value, statement.at)
        return replace(frame, state=frame.state | {statement.variable: made})

    def _with(self, old: Value, keys: Sequence[Value], value: Value, at: Location) -> Value:
        if not keys:
            return value
        assert isinstance(old, MapValue)
        key, *rest = keys
        return self.evaluator.with_entry(old, key, self._with(old.get(key), rest, value, at), at)

    # Loops --------------------------------------------------------------------------------------------------

    def _each(self, binder: ir.Binder, body: Sequence[ir.Statement], path: Path) -> list[Path]:
        kind = binder.type
        alternatives = list(self.theory.sorts.alternatives(kind, binder.name, binder.at))
        if any(bound for bound, _, _ in alternatives) or isinstance(binder.source, ir.Expression):
            return [self._at_once(binder, body, path)]
        paths = [path]
        for _, _, value in alternatives:
            following: list[Path] = []
            for item in paths:
                if item.done:
                    following.append(item)
                    continue
                turn = item.frame.binding(binder.name, value)
                test: Formula = TRUE
                if binder.condition is not None:
                    test = self.evaluator.formula(binder.condition, turn)
                if test is not FALSE:
                    for after in self.run(body, turn.under(test)):
                        expected = (*item.expected, *after.expected)
                        left = after.frame
                        if not after.done:
                            left = replace(left, locals=item.frame.locals)
                        following.append(replace(after, frame=left, expected=expected))
                if test is not TRUE:
                    following.append(replace(item, frame=item.frame.under(negation(test))))
            paths = following
            if len(paths) > MOST_PATHS:
                raise Outside(f"more than {MOST_PATHS} ways through this loop", binder.at)
        return paths

    def _at_once(self, binder: ir.Binder, body: Sequence[ir.Statement], path: Path) -> Path:
        """Return the path after all turns of a loop whose turns do not interfere."""
        self._refuse_more_than_writes(body)
        frame = path.frame
        evaluator = self.evaluator

        def turn(value: Value) -> tuple[Formula, dict[str, Value]]:
            """Return, for one value of the loop's name, the condition under which the loop runs its body, and
            the variables after the body.
            """
            inner = frame.binding(binder.name, value)
            test: Formula = TRUE
            if isinstance(binder.source, ir.Expression):
                source = evaluator.value(binder.source, frame)
                if not isinstance(source, SetValue):
                    raise Outside("a loop over a sequence: its length has no bound here", binder.at)
                test = source.member(value)
                inner = inner.under(test)
            if binder.condition is not None:
                further = evaluator.formula(binder.condition, inner)
                test, inner = conjunction(test, further), inner.under(further)
            paths = self.run(body, inner)
            count = len(inner.path)
            left = {
                name: chosen_of(
                    [(conjunction(*item.frame.path[count:]), item.frame.state[name]) for item in paths],
                    binder.at,
                )
                for name in frame.state
                if any(item.frame.state[name] is not frame.state[name] for item in paths)
            }
            return test, left

        def once(inner: Frame) -> Formula:
            turn(inner.locals[binder.name])
            return TRUE

        evaluator.ranging((replace(binder, condition=None, source=binder.type),), frame, once, every=True,
                          at=binder.at)  # fmt: skip
        silent = _Silent(evaluator, turn)
        state = dict(frame.state)
        for name, how in _written(body, binder, self.module).items():
            state[name] = self._after(frame.state[name], name, how, binder, silent)
        return replace(path, frame=replace(frame, state=state))

    def _after(
        self, old: Value, name: str, how: ir.Assign, binder: ir.Binder,
        turn: Callable[[Value], tuple[Formula, dict[str, Value]]],
    ) -> Value:  # fmt: skip
        at = how.at
        if how.keys and _is_name(how.keys[0], binder.name) and isinstance(old, MapValue):
            entries = old

            def get(key: Value) -> Value:
                there, left = turn(key)
                new = left.get(name)
                if not isinstance(new, MapValue) or there is FALSE:
                    return entries.get(key)
                return chosen(there, new.get(key), entries.get(key), at)

            return MapValue(old.type, get)
        if not how.keys and isinstance(old, SetValue) and isinstance(how.value, ir.SetBinary):
            grown = how.value.operator is ir.SetOperation.UNION
            if grown or how.value.operator in (ir.SetOperation.DIFFERENCE, ir.SetOperation.INTERSECTION):
                return self._accumulated(old, name, binder, turn, grown=grown)
        raise Outside(
            f"a loop over {getattr(binder.type, 'name', 'a sort')} writes {name} in a way that is no entry "
            "of its own and no `|=` or `-=`", at,
            instead="an entry of the loop's own value, or one set operation",
        )  # fmt: skip

    def _accumulated(
        self, old: SetValue, name: str, binder: ir.Binder,
        turn: Callable[[Value], tuple[Formula, dict[str, Value]]], *, grown: bool,
    ) -> SetValue:  # fmt: skip
        sorts = self.theory.sorts

        def member(item: Value) -> Formula:
            def one(value: Value) -> Formula:
                there, left = turn(value)
                new = left.get(name)
                if not isinstance(new, SetValue):
                    return FALSE if grown else TRUE
                return (
                    conjunction(there, new.member(item)) if grown else implication(there, new.member(item))
                )

            if grown:
                added = sorts.some_value(binder.type, binder.name, one, binder.at)
                return disjunction(old.member(item), added)
            return conjunction(old.member(item), sorts.every_value(binder.type, binder.name, one, binder.at))

        return SetValue(old.of, member)

    def _refuse_more_than_writes(self, body: Sequence[ir.Statement]) -> None:
        from antiphon.spec.lang.walk import nodes

        for node in nodes(tuple(body), self.module):
            if isinstance(node, ir.Emit | ir.Expect | ir.Require) or (
                isinstance(node, ir.Return) and node.value is None
            ):
                raise Outside(
                    "a loop over a sort that does more than write: its turns would have an order", node.at,
                    instead="an action with a parameter",
                )  # fmt: skip


@dataclass(frozen=True)
class _Silent:
    """Turn of a loop whose checks were made before, so that they are not made again."""

    evaluator: Evaluator
    turn: Callable[[Value], tuple[Formula, dict[str, Value]]]

    def __call__(self, value: Value) -> tuple[Formula, dict[str, Value]]:
        with self.evaluator.silently():
            return self.turn(value)


def _written(body: Sequence[ir.Statement], binder: ir.Binder, module: ir.Module) -> dict[str, ir.Assign]:
    """Return, for each variable that a loop writes, the assignment that writes it, directly or in a
    procedure.

    Raises:
        Outside: a variable is written in two ways.
    """
    found: dict[str, ir.Assign] = {}
    for assign in _assignments(body, binder.name, module):
        before = found.get(assign.variable)
        if before is not None and bool(before.keys) is not bool(assign.keys):
            raise Outside(f"a loop writes {assign.variable} in two ways", assign.at)
        found[assign.variable] = assign
    return found


def _assignments(body: Sequence[ir.Statement], name: str, module: ir.Module) -> Iterator[ir.Assign]:
    from antiphon.spec.lang.walk import nodes

    for node in nodes(tuple(body)):
        if isinstance(node, ir.Assign):
            yield node
        if isinstance(node, ir.Perform):
            (definition,) = [item for item in module.procedures if item.name == node.procedure]
            names = {
                parameter.name
                for parameter, argument in zip(definition.parameters, node.arguments, strict=True)
                if _is_name(argument, name)
            }
            for assign in _assignments(definition.body, "", module):
                own = bool(assign.keys) and any(_is_name(assign.keys[0], item) for item in names)
                yield replace(assign, keys=(ir.Name(name=name, type=assign.keys[0].type),)) if own else assign


def _is_name(expression: ir.Expression, name: str) -> bool:
    return isinstance(expression, ir.Name) and expression.name == name


def _has_bounds(kind: types.Type) -> bool:
    return isinstance(kind, types.Int | types.Optional)
