"""Grounding of statements: each writes leaves of a run, narrows its path, or records an event, a guard or a
broken property.

`HANDLERS` maps a node class to its handler. After a `return` on some paths only, the rest of a body is
executed as a branch: where the body is still running.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from antiphon.model.ground import make
from antiphon.model.ground.binders import elements
from antiphon.model.ground.expressions import evaluate, key_of, truth, value
from antiphon.model.ground.form import Break, Expression, GroundEvent, Guard
from antiphon.model.ground.frames import arguments_of, in_frame
from antiphon.model.ground.leaves import Leaves, convert, equal_leaves, fit, rank, records, written
from antiphon.model.ground.make import FALSE, TRUE
from antiphon.model.ground.run import Frame, Run
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import SpecError, ir, types
from antiphon.spec.lang.walk import variables_read

Handler = Callable[[Run, Any], None]

HANDLERS: dict[type[ir.Statement], Handler] = {}


def handles(kind: type[ir.Statement]) -> Callable[[Handler], Handler]:
    """Return the decorator that registers a function as the handler of a kind of statements."""

    def register(handler: Handler) -> Handler:
        HANDLERS[kind] = handler
        return handler

    return register


def execute_all(run: Run, statements: Sequence[ir.Statement]) -> None:
    """Execute statements in order. After a statement that may return, the rest is executed where the body has
    not returned.
    """
    for position, statement in enumerate(statements):
        if run.frame.running is TRUE:
            HANDLERS[type(statement)](run, statement)
        else:
            rest = statements[position:]
            while_running(run, TRUE, lambda rest=rest: execute_all(run, rest))  # type: ignore[misc]
            return


def while_running(run: Run, condition: Expression, body: Callable[[], None]) -> None:
    """Execute `body` where the present body has not returned and the condition is true."""
    running = run.frame.running
    if running is FALSE:
        return
    run.frame.running = TRUE
    run.branch(make.conjunction(running, condition), body)
    run.frame.running = make.conjunction(running, run.frame.running)


@handles(ir.Let)
def _let(run: Run, node: ir.Let) -> None:
    run.frame.locals[node.name] = value(run, node.value, run.world.shapes[node.type])


@handles(ir.Assign)
def _assign(run: Run, node: ir.Assign) -> None:
    shape = run.world.shapes[run.world.types[node.variable]]
    given = evaluate(run, node.value)
    keys: list[Leaves] = []
    inner = shape
    for key in node.keys:
        keys.append(key_of(run, key, inner))
        inner = inner.parts[1]
    stored, right = fit(given, run.world.shapes[node.value.type], inner)
    run.check(right, node.at, f"self.{node.variable}{'[...]' * len(keys)} leaves its domain")
    run.state[node.variable] = written(run.state[node.variable], shape, keys, stored)


@handles(ir.When)
def _when(run: Run, node: ir.When) -> None:
    otherwise = (lambda: execute_all(run, node.otherwise)) if node.otherwise else None
    run.branch(truth(run, node.condition), lambda: execute_all(run, node.then), otherwise)


@handles(ir.Each)
def _each(run: Run, node: ir.Each) -> None:
    before = set(run.frame.locals)
    for here, leaves in elements(run, node.binder):

        def body(leaves: Leaves = leaves) -> None:
            run.frame.locals[node.binder.name] = leaves
            if node.binder.condition is None:
                execute_all(run, node.body)
            else:
                run.branch(truth(run, node.binder.condition), lambda: execute_all(run, node.body))

        while_running(run, here, body)
    run.frame.locals = {name: leaves for name, leaves in run.frame.locals.items() if name in before}


@handles(ir.Require)
def _require(run: Run, node: ir.Require) -> None:
    if run.pure:
        raise SpecError("a guard inside a value helper or a predicate", node.at, "the guard in the action")
    condition = run.known(truth(run, node.condition))
    if condition is not TRUE:
        run.guards.append(Guard(condition, run.condition(), node.at, node.text))
        run.push(condition)


@handles(ir.Emit)
def _emit(run: Run, node: ir.Emit) -> None:
    leaves, shape = evaluate(run, node.event), run.world.shapes[node.event.type]
    for here, part, inner in records(shape, leaves):

        def happens(part: Shape = part, inner: Leaves = inner) -> None:
            assert isinstance(part.type, types.Record)
            run.events.append(GroundEvent(part.type, run.condition(), rank(inner, part)))
            for handler in run.world.module.handlers:
                if handler.event == part.type.name:
                    _handle(run, handler, part, inner)

        run.branch(here, happens)


def _handle(run: Run, handler: ir.Handler, shape: Shape, event: Leaves) -> None:
    parameter = handler.parameters[0]
    bound = {parameter.name: convert(event, shape, run.world.shapes[parameter.type])[0]}
    in_frame(run, bound, lambda: execute_all(run, handler.body))


@handles(ir.Expect)
def _expect(run: Run, node: ir.Expect) -> None:
    condition = truth(run, node.condition)
    if node.clash is not None:
        evaluate(run, node.clash)
    broken = make.conjunction(run.condition(), make.negation(condition))
    if broken is not FALSE:
        run.breaks.append(Break(node.property, broken, node.at, node.text))


def judge_step(run: Run, invariant: ir.StepInvariant) -> None:
    """Judge a step invariant on the step that was executed, where the step has changed a variable that the
    invariant reads.
    """
    read = variables_read(invariant.body, run.world.module)
    same = make.conjunction(*(equal_leaves(run.before[name], run.state[name]) for name in read))

    def judge() -> None:
        found = in_frame(run, {}, lambda: execute_all(run, invariant.body), run.world.shapes[ir.BOOL])
        if found is None:
            raise SpecError(f"{invariant.name} ends without a value", invariant.at)
        broken = make.conjunction(run.condition(), make.negation(found[0]))
        if broken is not FALSE:
            run.breaks.append(Break(invariant.name, broken, invariant.at, f"self.{invariant.name}(before)"))

    run.frame = Frame({})
    run.branch(make.negation(same), judge)


@handles(ir.Perform)
def _perform(run: Run, node: ir.Perform) -> None:
    procedure = run.world.procedures[node.procedure]
    in_frame(run, arguments_of(run, procedure, node.arguments), lambda: execute_all(run, procedure.body))


@handles(ir.Return)
def _return(run: Run, node: ir.Return) -> None:
    frame = run.frame
    if node.value is not None and frame.result is not None:
        frame.value = value(run, node.value, frame.result)
    frame.running = FALSE
