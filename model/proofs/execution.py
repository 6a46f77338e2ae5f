"""Symbolic execution of bodies of the intermediate form with formulas for values: each way through a body is
a path.

A path has its conditions, the variables at its end, and the expectations of services. A loop over the members
of a sort is executed once, for a member of which nothing is known, after a survey has shown that its turns do
not interact, so that an entry has the value that its own turn writes, a growing set has the elements that
some turn adds, and the expectations of all turns must hold.

This file knows nothing of obligations or solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from antiphon.model.proofs.sequences import is_within
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import (
    Boolean,
    MapValue,
    Outside,
    RecordLeaf,
    Scalar,
    SequenceValue,
    SetValue,
    Value,
    chosen,
    chosen_of,
)
from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.order import Access, shared_places, survey_of
from antiphon.spec.lang.walk import nodes

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
        facts: what is known of the members that the step chooses.
    """

    frame: Frame
    expected: tuple[Expected, ...] = ()
    result: Value | None = None
    done: bool = False
    facts: tuple[Formula, ...] = ()

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
        if not isinstance(argument, Scalar) and not isinstance(kind, types.SequenceOf):
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
        if isinstance(value, SequenceValue) and isinstance(inner, types.SequenceOf):
            # The check that there is room may have shown it without the end.
            frame = frame.under(is_within(value, inner, self.theory.sorts))
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
        """Return the path after all turns of a loop, of which none may see what another does.

        Raises:
            Outside: the order of the turns could show, or a turn requires something.
        """
        accesses = self._independent(binder, body)
        frame = path.frame
        evaluator = self.evaluator

        def paths_of(value: Value) -> tuple[Formula, int, list[Path]]:
            """Return, for one value of the loop's name, the condition under which the loop runs its body, the
            number of conditions that are known before the body, and the paths through it.
            """
            inner = frame.binding(binder.name, value)
            test: Formula = TRUE
            if isinstance(binder.source, ir.Expression):
                test = evaluator.collection(binder.source, frame).member(value)
                inner = inner.under(test)
            if binder.condition is not None:
                further = evaluator.formula(binder.condition, inner)
                test, inner = conjunction(test, further), inner.under(further)
            return test, len(inner.path), self.run(body, inner)

        def turn(value: Value) -> tuple[Formula, dict[str, Value]]:
            """Return the condition of a turn, and the variables that it writes."""
            test, count, paths = paths_of(value)
            left = {
                name: chosen_of(
                    [(conjunction(*item.frame.path[count:]), item.frame.state[name]) for item in paths],
                    binder.at,
                )
                for name in frame.state
                if any(item.frame.state[name] is not frame.state[name] for item in paths)
            }
            return test, left

        def expected(value: Value) -> list[Expected]:
            return [item for after in paths_of(value)[2] for item in after.expected]

        named: dict[tuple[str, Location], None] = {}

        def once(inner: Frame) -> Formula:
            named.update({(item.property, item.at): None for item in expected(inner.locals[binder.name])})
            return TRUE

        whole = (replace(binder, condition=None, source=binder.type),)
        evaluator.ranging(whole, frame, once, every=True, at=binder.at)
        found: list[Expected] = []
        for property, at in named:

            def held(inner: Frame, property: str = property, at: Location = at) -> Formula:
                same = [item for item in expected(inner.locals[binder.name]) if item.at == at]
                return conjunction(*(item.formula for item in same if item.property == property))

            with evaluator.silently():
                found.append(
                    Expected(property, evaluator.ranging(whole, frame, held, every=True, at=binder.at), at)
                )
        silent = _Silent(evaluator, turn)
        state = dict(frame.state)
        for name in dict.fromkeys(item.variable for item in accesses if item.write):
            own = [item for item in accesses if item.variable == name]
            state[name] = self._after(frame.state[name], name, own, binder, silent)
        return replace(
            path, frame=replace(frame, state=state), expected=(*path.expected, *found)
        )

    def _independent(self, binder: ir.Binder, body: Sequence[ir.Statement]) -> tuple[Access, ...]:
        """Return the uses of variables by the turns of a loop.

        Raises:
            Outside: the order of the turns could show, or a turn requires something.
        """
        loop = ir.Each(binder=binder, body=tuple(body), at=binder.at)
        try:
            accesses = survey_of(loop, _Texts(self.module), self.module.handlers)
        except SpecError as error:
            raise Outside(
                f"a proof takes all turns of a loop at once, and {error.reason}", error.at,
                instead="an action with a parameter",
            ) from error  # fmt: skip
        for node in nodes((*loop.body, *(item.body for item in self.module.handlers)), self.module):
            if isinstance(node, ir.Require):
                raise Outside(
                    "a turn of a loop requires something", node.at, instead="`require(all(...))` before it"
                )
        return accesses

    def _after(
        self, old: Value, name: str, uses: Sequence[Access], binder: ir.Binder,
        turn: Callable[[Value], tuple[Formula, dict[str, Value]]],
    ) -> Value:  # fmt: skip
        """Return a variable after all turns: at the place where the keys have the loop's value each entry is
        that of its own turn; a set that only grows has what some turn adds.
        """
        places = sorted(place[0] for place in shared_places(uses) if len(place) == 1)
        if places and self._comes_again(binder):
            raise Outside(
                f"a loop over a sequence writes an entry of {name}, and an item may come twice", uses[0].at,
                instead="one set operation",
            )  # fmt: skip
        if places:
            return self._own_entries(old, name, (), places[0], turn, uses[0].at)
        operators = {item.write for item in uses}
        if len(operators) == 1 and operators <= {item.value for item in _ACCUMULATED}:
            grown = operators == {ir.SetOperation.UNION.value}
            return self._accumulated(old, name, (), binder, turn, grown=grown)
        raise Outside(
            f"a loop over {getattr(binder.type, 'name', 'a sort')} writes {name} in a way that is no entry "
            "of its own and no `|=` or `-=`", uses[0].at,
            instead="an entry of the loop's own value, or one set operation",
        )  # fmt: skip

    def _comes_again(self, binder: ir.Binder) -> bool:
        """Return True if a loop may have two turns with the same value."""
        kind = binder.source.type if isinstance(binder.source, ir.Expression) else None
        return (
            isinstance(kind, types.SequenceOf)
            and not isinstance(binder.source, ir.Range)
            and not self.theory.sorts.is_without_repetition(kind)
        )

    def _own_entries(
        self, old: Value, name: str, keys: tuple[Value, ...], place: int,
        turn: Callable[[Value], tuple[Formula, dict[str, Value]]], at: Location,
    ) -> Value:  # fmt: skip
        if isinstance(old, SetValue) and place == len(keys):

            def member(item: Value) -> Formula:
                there, left = turn(item)
                new = _entry(left.get(name), keys)
                if not isinstance(new, SetValue) or there is FALSE:
                    return old.member(item)
                return disjunction(
                    conjunction(there, new.member(item)), conjunction(negation(there), old.member(item))
                )

            return SetValue(old.of, member)
        if not isinstance(old, MapValue) or place < len(keys):
            raise Outside(f"a loop writes {name} in an entry that is none of its own", at)
        entries = old

        def get(key: Value) -> Value:
            if place > len(keys):
                return self._own_entries(entries.get(key), name, (*keys, key), place, turn, at)
            there, left = turn(key)
            new = _entry(left.get(name), (*keys, key))
            if new is None or there is FALSE:
                return entries.get(key)
            return chosen(there, new, entries.get(key), at)

        return MapValue(entries.type, get)

    def _accumulated(
        self, old: Value, name: str, keys: tuple[Value, ...], binder: ir.Binder,
        turn: Callable[[Value], tuple[Formula, dict[str, Value]]], *, grown: bool,
    ) -> Value:  # fmt: skip
        sorts = self.theory.sorts
        if isinstance(old, MapValue):
            entries = old
            return MapValue(
                entries.type,
                lambda key: self._accumulated(
                    entries.get(key), name, (*keys, key), binder, turn, grown=grown
                ),
            )
        if not isinstance(old, SetValue):
            raise Outside(f"a loop accumulates {name}, which is no set", binder.at)
        before = old

        def member(item: Value) -> Formula:
            def one(value: Value) -> Formula:
                there, left = turn(value)
                new = _entry(left.get(name), keys)
                if not isinstance(new, SetValue):
                    return FALSE if grown else TRUE
                return (
                    conjunction(there, new.member(item)) if grown else implication(there, new.member(item))
                )

            if grown:
                added = sorts.some_value(binder.type, binder.name, one, binder.at)
                return disjunction(before.member(item), added)
            return conjunction(
                before.member(item), sorts.every_value(binder.type, binder.name, one, binder.at)
            )

        return SetValue(before.of, member)


_ACCUMULATED = (ir.SetOperation.UNION, ir.SetOperation.DIFFERENCE, ir.SetOperation.INTERSECTION)


def _entry(value: Value | None, keys: Sequence[Value]) -> Value | None:
    """Return the entry of a nested map at some keys; None for no map."""
    for key in keys:
        if not isinstance(value, MapValue):
            return None
        value = value.get(key)
    return value


@dataclass(frozen=True)
class _Texts:
    """Definitions of a module, as a survey of a loop looks them up."""

    module: ir.Module

    @property
    def variables(self) -> dict[str, ir.Variable]:
        """Return the variables by name."""
        return {item.name: item for item in self.module.variables}

    @property
    def procedures(self) -> dict[str, ir.Definition]:
        """Return the procedures by name."""
        return {item.name: item for item in self.module.procedures}

    def read_function(self, name: str, at: Location) -> ir.Definition:  # noqa: ARG002 - as in the front end
        """Return the value helper with this name."""
        (found,) = [item for item in self.module.functions if item.name == name]
        return found


@dataclass(frozen=True)
class _Silent:
    """Turn of a loop whose checks were made before, so that they are not made again."""

    evaluator: Evaluator
    turn: Callable[[Value], tuple[Formula, dict[str, Value]]]

    def __call__(self, value: Value) -> tuple[Formula, dict[str, Value]]:
        with self.evaluator.silently():
            return self.turn(value)


def _has_bounds(kind: types.Type) -> bool:
    return isinstance(kind, types.Int | types.Optional | types.SequenceOf)
