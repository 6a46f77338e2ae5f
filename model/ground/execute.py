"""Grounding of a step: its body is unrolled over symbolic leaves, once, with every domain bound.

`ground` gives a step for all arguments (its inputs are the leaves of the parameters) or for given ones
(smaller: all that depends on the arguments folds away). The grounder meets each body in the order in which
CPython would execute it, so every check is recorded with the condition under which CPython would reach it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from antiphon.model.ground import calls, ranges, sets, statements
from antiphon.model.ground.form import Check, Expression, GroundStep, InputInfo, Number
from antiphon.model.ground.intern import making, node_count
from antiphon.model.ground.layout import plan
from antiphon.model.ground.leaves import Leaves, canonical
from antiphon.model.ground.make import constant, slot, step_input
from antiphon.model.ground.run import Frame, LargeStep, Run, World
from antiphon.model.ground.shape import Raw
from antiphon.model.ground.statements import execute_all, judge_step
from antiphon.spec.lang import Program, SpecError, ir, types

_PROGRAMS = 32
NOTHING: Mapping[int, Raw] = MappingProxyType({})

HANDLED = (calls, ranges, sets, statements)
"""Modules that register their handlers when they are imported."""


class GroundPredicate(NamedTuple):
    """Ground predicate over states: `holds`, when none of the `checks` is wrong."""

    holds: Expression
    checks: tuple[Check, ...]


class Grounder:
    """Grounder of the steps and predicates of one program."""

    def __init__(self, program: Program) -> None:
        self._program_name = program.name
        module = program.module
        self._plan = plan(program)
        self._world = World(module, self._plan.shapes)
        self._actions = {action.name: action for action in module.actions}
        self._predicates = {predicate.name: predicate for predicate in module.predicates}
        self._slots = [slot(position, info.sort) for position, info in enumerate(self._plan.layout.slots)]
        self._state = {
            name: tuple(self._slots[offset : offset + shape.width])
            for name, (shape, offset) in self._plan.variables.items()
        }

    def step(
        self,
        name: str,
        arguments: tuple[Any, ...] | None,
        fixed: Mapping[int, Raw] = NOTHING,
        most: int | None = None,
    ) -> GroundStep:
        """Ground a step; see `ground`."""
        action = self._actions.get(name)
        if action is None:
            raise SpecError(
                f"{self._program_name} has no action {name!r}; its actions are {', '.join(self._actions)}"
            )
        run = self._begin()
        inputs: tuple[InputInfo, ...] = ()
        if arguments is None:
            inputs = self._bind_inputs(run, action, fixed)
        else:
            self._bind_arguments(run, action, arguments)
        run.most = None if most is None else node_count() + most
        try:
            execute_all(run, action.body)
            for invariant in self._world.module.step_invariants:
                judge_step(run, invariant)
        except LargeStep as large:
            large.inputs = inputs
            raise
        return GroundStep(
            name=name,
            fault=action.fault,
            inputs=inputs,
            arguments=arguments,
            enabled=run.condition(),
            guards=tuple(run.guards),
            checks=tuple(run.checks.values()),
            updates=tuple(self._updates(run)),
            breaks=tuple(run.breaks),
            events=tuple(run.events),
        )

    def predicate(self, name: str) -> GroundPredicate:
        """Ground a predicate; see `ground_predicate`."""
        predicate = self._predicates.get(name)
        if predicate is None:
            raise SpecError(
                f"{self._program_name} has no predicate {name!r}; known: {', '.join(self._predicates)}"
            )
        run = self._begin()
        run.pure = True
        run.frame.result = self._plan.shapes[ir.BOOL]
        execute_all(run, predicate.body)
        if run.frame.value is None:
            raise SpecError(f"{name} ends without a value", predicate.at)
        return GroundPredicate(run.frame.value[0], tuple(run.checks.values()))

    def formula(
        self, expression: ir.Expression, values: Mapping[str, tuple[types.Type, Any]]
    ) -> GroundPredicate:
        """Ground a formula; see `ground_formula`."""
        run = self._begin()
        run.pure = True
        run.frame.result = self._plan.shapes[ir.BOOL]
        for name, (kind, value) in values.items():
            run.frame.locals[name] = self._plan.shapes[kind].of_value(value)
        execute_all(run, (ir.Return(value=expression),))
        assert run.frame.value is not None
        return GroundPredicate(run.frame.value[0], tuple(run.checks.values()))

    def _begin(self) -> Run:
        self._world.begin()
        return Run(self._world, self._state, dict(self._state), Frame({}))

    def _bind_arguments(self, run: Run, action: ir.Action, arguments: tuple[Any, ...]) -> None:
        if len(arguments) != len(action.parameters):
            raise SpecError(f"{action.name} takes {len(action.parameters)} arguments, not {len(arguments)}")
        for parameter, argument in zip(action.parameters, arguments, strict=True):
            shape = self._plan.shapes[parameter.type]
            if not shape.domain.contains(argument):
                raise SpecError(
                    f"{action.name}({parameter.name}={argument!r}) leaves the domain of the parameter"
                )
            run.frame.locals[parameter.name] = shape.of_value(argument)

    def _bind_inputs(self, run: Run, action: ir.Action, fixed: Mapping[int, Raw]) -> tuple[InputInfo, ...]:
        inputs: list[InputInfo] = []
        for parameter in action.parameters:
            shape = self._plan.shapes[parameter.type]
            begin = len(inputs)
            for name, sort in zip(shape.names(parameter.name), shape.sorts, strict=True):
                inputs.append(InputInfo(name, parameter.name, sort or Number(0, 0)))
            leaves: Leaves = tuple(
                constant(info.sort, fixed[position]) if position in fixed else step_input(position, info.sort)
                for position, info in enumerate(inputs[begin:], begin)
            )
            run.frame.locals[parameter.name] = leaves
            run.push(canonical(leaves, shape))
        return tuple(inputs)

    def _updates(self, run: Run) -> Iterator[tuple[int, Expression]]:
        for name, (shape, offset) in self._plan.variables.items():
            before, after = self._state[name], run.state[name]
            if after is not before:
                for position in range(shape.width):
                    if after[position] is not before[position]:
                        yield offset + position, after[position]


@lru_cache(maxsize=_PROGRAMS)
def grounder(program: Program) -> Grounder:
    """Return the grounder of a program, made once."""
    return Grounder(program)


def ground(
    program: Program, action_name: str, arguments: tuple[Any, ...] | None = None, *,
    fixed: Mapping[int, Raw] = NOTHING, most: int | None = None
) -> GroundStep:  # fmt: skip
    """Ground a step of `program`, an action or a fault of the environment.

    With `arguments` None the inputs of the step are the leaves of its parameters, each within its sort;
    `enabled` says too that they are the canonical form of a value. With a tuple of values there are no
    inputs.

    Args:
        program: the program.
        action_name: the action.
        arguments: its arguments, or None.
        fixed: values of some inputs, by position, where `arguments` is None; nothing depends on those inputs
            then.
        most: how many nodes may be made for it.

    Raises:
        SpecError: there is no such action, an argument leaves its domain, or a set is too wide to be
            compiled.
        LargeStep: the step takes more nodes.
    """
    with making:
        return grounder(program).step(action_name, arguments, fixed, most)


def ground_predicate(program: Program, name: str) -> GroundPredicate:
    """Ground an invariant, a witness or an obligation of `program`.

    Raises:
        SpecError: there is no such predicate.
    """
    with making:
        return grounder(program).predicate(name)


def ground_formula(
    program: Program, expression: ir.Expression, values: Mapping[str, tuple[types.Type, Any]]
) -> GroundPredicate:
    """Ground a boolean expression over the state and over names; `values` gives the type and the value of
    each name.
    """
    with making:
        return grounder(program).formula(expression, values)
