"""Run of a body while it is unrolled: the state so far, the locals, and the conditions under which a point is
reached.

The *path* is a list of conditions that are all true at this point: guards that held, branches taken, loop
elements that exist, operands that did not stop an `and`. A list inside the path stands for earlier
alternatives that were all false; it grows while a quantifier goes on. A check is recorded as "the path, and
the check fails". Conditions that the path decides are not evaluated again.

A condition inside a value helper is decided by the path of the helper alone (`horizon`), and so are its
checks, so that its result can be used again elsewhere.

This file knows nothing of the kinds of expressions and statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

from antiphon.model.ground import make
from antiphon.model.ground.form import AND, Break, Check, Expression, GroundEvent, Guard, InputInfo
from antiphon.model.ground.intern import node_count
from antiphon.model.ground.leaves import Leaves, choose_leaves
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.shape import Shape, Shapes
from antiphon.spec.lang import ir
from antiphon.spec.lang.errors import Location
from antiphon.spec.lang.walk import variables_read


@dataclass
class Frame:
    """One body that is being executed.

    Attributes:
        locals: parameters, locals and bound variables by name.
        result: the shape of the value that the body returns, if it returns one.
        running: the condition that the body has not returned.
        value: the returned value, where the body has returned.
    """

    locals: dict[str, Leaves]
    result: Shape | None = None
    running: Expression = TRUE
    value: Leaves | None = None


class LargeStep(Exception):
    """Signal that a step has more nodes than allowed.

    Attributes:
        inputs: its inputs.
        roots: the expressions that were made of it so far.
    """

    def __init__(self, roots: list[Expression]) -> None:
        super().__init__("a large step")
        self.roots = roots
        self.inputs: tuple[InputInfo, ...] = ()


class World:
    """Data that all runs of one program share: its definitions, its shapes, and the results of value
    helpers.
    """

    def __init__(self, module: ir.Module, shapes: Shapes) -> None:
        self.module, self.shapes = module, shapes
        self.functions = {definition.name: definition for definition in module.functions}
        self.procedures = {definition.name: definition for definition in module.procedures}
        self.types = {variable.name: variable.type for variable in module.variables}
        self.results: dict[tuple[object, ...], tuple[Leaves, tuple[Check, ...]]] = {}
        self.literals: dict[int, Leaves] = {}
        self.generation = -1
        self._reads: dict[str, tuple[str, ...]] = {}

    def begin(self) -> None:
        """Begin a step: make room for nodes, and forget the results that mention forgotten ones."""
        generation = make.make_room()
        if generation != self.generation:
            self.results.clear()
            self.generation = generation

    def reads(self, function: str) -> tuple[str, ...]:
        """Return the variables that a value helper reads, itself or through others."""
        found = self._reads.get(function)
        if found is None:
            body = self.functions[function].body
            found = self._reads[function] = variables_read(body, self.module)
        return found


@dataclass
class Run:
    """One body, unrolled from one state.

    Attributes:
        state: the leaves of each variable as they were written last.
        before: the leaves of each variable at the beginning of the body.
        path: the conditions under which the present point is reached.
        pure: whether a predicate or value helper is being evaluated.
        checks: the checks that are not constant; while a value helper is unrolled, those of the helper only.
        most: how many nodes may be kept; more are a `LargeStep`.
        rounds: how many rounds of ranges were unrolled.
    """

    world: World
    before: Mapping[str, Leaves]
    state: dict[str, Leaves]
    frame: Frame
    path: list[Expression | list[Expression]] = field(default_factory=list)
    horizon: int = 0
    pure: bool = False
    checks: dict[Expression, Check] = field(default_factory=dict)
    guards: list[Guard] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)
    events: list[GroundEvent] = field(default_factory=list)
    most: int | None = None
    rounds: int = 0

    # The path -----------------------------------------------------------------------------------------------

    def push(self, condition: Expression) -> None:
        """Add a condition to the path: it is true from this point on."""
        if condition.operator is AND:
            self.path.extend(condition.operands)
        elif condition is not TRUE:
            self.path.append(condition)

    def condition(self, begin: int = 0) -> Expression:
        """Return the condition of the present path: the conjunction of its parts, from position `begin`
        on.
        """
        path = self.path[begin:]
        if list not in map(type, path):
            return make.conjunction(*cast("list[Expression]", path))
        parts: list[Expression] = []
        for item in path:
            if isinstance(item, list):
                parts.extend(map(make.negation, item))
            else:
                parts.append(item)
        return make.conjunction(*parts)

    def known(self, condition: Expression) -> Expression:
        """Return the constant True or False if the path decides `condition`, else `condition`, simplified by
        the path.
        """
        if condition is TRUE or condition is FALSE:
            return condition
        facts = self.path[self.horizon :] if self.horizon else self.path
        if condition in facts:
            return TRUE
        opposite = make.negation(condition)
        if opposite in facts:
            return FALSE
        if condition.operator is AND:
            return make.conjunction(*(part for part in condition.operands if part not in facts))
        if opposite.operator is AND and all(part in facts for part in opposite.operands):
            return FALSE
        return condition

    # What goes wrong, and what shows ------------------------------------------------------------------------

    def check(self, right: Expression, at: Location, reason: str) -> None:
        """Record a check that a partial operation is inside its domain: where the path is taken, `right` must
        be true.
        """
        if right is not TRUE:
            self.fails(self.condition(self.horizon), make.negation(right), at, reason)

    def fails(self, here: Expression, wrong: Expression, at: Location, reason: str) -> None:
        """Record a check: `wrong` must be false where `here`, the condition of the path, is true."""
        wrong = make.conjunction(here, wrong)
        if wrong is not FALSE and wrong not in self.checks:
            self.checks[wrong] = Check(wrong, at, reason)

    # Control ------------------------------------------------------------------------------------------------

    def branch(
        self, condition: Expression, then: Callable[[], None], otherwise: Callable[[], None] | None = None
    ) -> None:
        """Execute `then` where the condition is true and `otherwise` where it is false, and join the two
        states into one.

        Raises:
            LargeStep: there are too many nodes.
        """
        if self.most is not None and node_count() > self.most:
            raise LargeStep(
                [leaf for leaves in self.state.values() for leaf in leaves]
                + [check.wrong for check in self.checks.values()]
            )
        condition = self.known(condition)
        if condition is TRUE:
            then()
        elif condition is not FALSE:
            mark = len(self.path)
            before = self.state, self.frame.locals, self.frame.value
            first = self._side(condition, then, mark)
            self.state, self.frame.locals, self.frame.value = before
            second = self._side(make.negation(condition), otherwise, mark)
            self._join(condition, first, second)
        elif otherwise is not None:
            otherwise()

    def _side(self, condition: Expression, body: Callable[[], None] | None, mark: int) -> _Side:
        if body is None:
            return _Side(self.state, self.frame.locals, self.frame.value, TRUE, TRUE)
        self.state, self.frame.locals = dict(self.state), dict(self.frame.locals)
        self.frame.running = TRUE
        self.push(condition)
        inside = len(self.path)
        body()
        held = self.condition(inside)
        del self.path[mark:]
        return _Side(self.state, self.frame.locals, self.frame.value, self.frame.running, held)

    def _join(self, condition: Expression, first: _Side, second: _Side) -> None:
        frame = self.frame
        self.state = _join_leaves(condition, first.state, second.state)
        frame.locals = _join_leaves(condition, first.locals, second.locals)
        if first.value is None or second.value is None:
            frame.value = second.value if first.value is None else first.value
        else:
            frame.value = choose_leaves(condition, first.value, second.value)
        frame.running = make.choose(condition, first.running, second.running)
        self.push(make.choose(condition, first.held, second.held))


@dataclass(frozen=True)
class _Side:
    """Result of one side of a branch; `held` are the guards that were required inside it."""

    state: dict[str, Leaves]
    locals: dict[str, Leaves]
    value: Leaves | None
    running: Expression
    held: Expression


def _join_leaves(
    condition: Expression, first: dict[str, Leaves], second: dict[str, Leaves]
) -> dict[str, Leaves]:
    if first is second:
        return first
    joined = dict(second)
    for name, leaves in first.items():
        other = joined.get(name)
        if other is not leaves:
            joined[name] = leaves if other is None else choose_leaves(condition, leaves, other)
    return joined
