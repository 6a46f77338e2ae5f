"""Reader of a specification class: its declarations, then its helpers, then its marked methods. No helper may
call itself, even through others.

One `Reader` reads one class. A helper is read once: when another method first needs it, or in its turn.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.declare import (
    MethodDeclaration,
    VariableDeclaration,
    actor_of,
    call_text,
    constrained,
    constrains,
)
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front import fairness, initial, liveness, order, parameters, statements
from antiphon.spec.lang.front.body import Body, Role
from antiphon.spec.lang.front.contradictions import refuse_contradiction
from antiphon.spec.lang.front.names import assigned_names
from antiphon.spec.lang.front.sorts import surface, words
from antiphon.spec.lang.front.world import PREDICATES, World, place
from antiphon.spec.lang.source import function_of
from antiphon.spec.lang.walk import variables_read

ROLES = {
    "action": Role.ACTION, "environment": Role.ACTION, "initial": Role.ACTION, "on": Role.HANDLER,
    "guard": Role.FUNCTION,
    "constraint": Role.FUNCTION,
    "invariant": Role.PREDICATE, "witness": Role.PREDICATE, "obligation": Role.PREDICATE,
    "step_invariant": Role.STEP_INVARIANT,
}  # fmt: skip


class Reader:
    """Reader of one specification class, which turns it into the intermediate form."""

    def __init__(self, cls: type) -> None:
        self.world = World(cls)
        self.world.read_procedure = self.procedure
        self.world.read_function = self.function
        self._functions: dict[str, ir.Function] = {}
        self._reading: list[str] = []

    def module(self) -> ir.Module:
        """Return the whole specification in the intermediate form."""
        world = self.world
        declaration = world.declaration
        for method in declaration.methods:
            if method.mark is None or method.mark.kind in ("guard", "constraint", *PREDICATES):
                (self.function if world.is_function(method) else self.procedure)(method.name, method.at)
        actions = tuple(self.action(method) for method in declaration.marked("action", "environment"))
        predicates = tuple(self.predicate(method) for method in declaration.marked(*PREDICATES))
        lively = tuple(
            liveness.liveness_property(world, item, self.function) for item in declaration.liveness
        )
        steps = tuple(self.step_invariant(method) for method in declaration.marked("step_invariant"))
        by_name = {action.name: action for action in actions}
        made = ir.Module(
            name=declaration.name,
            constants=tuple(self._constants()),
            variables=tuple(self.variable(item) for item in declaration.variables),
            functions=tuple(
                self._functions[method.name]
                for method in declaration.methods
                if method.name in self._functions
            ),
            procedures=tuple(
                world.procedures[method.name]
                for method in declaration.methods
                if method.name in world.procedures
            ),
            initials=tuple(self.action(method) for method in declaration.marked("initial")),
            actions=actions,
            handlers=tuple(self.handler(method) for method in declaration.marked("on")),
            predicates=predicates,
            properties=(*world.properties, *(item.name for item in steps)),
            step_invariants=steps,
            liveness=lively,
            fair=tuple(fairness.fair_steps(world, item, by_name, self.function) for item in declaration.fair),
        )
        _refuse_cycles(made)
        for item in steps:
            if item.name in world.properties:
                raise SpecError(
                    f"{item.name} is a step invariant and a property that a service names",
                    item.at,
                    "another name",
                )
            if not variables_read(item.body, made):
                raise SpecError(
                    f"{item.name} reads no variable, so no step is asked", item.at, "self.variable"
                )
        return _without_uncalled_predicates(made)

    # Declarations ----------------------------------------------------------------------------------------

    def _constants(self) -> Iterable[ir.ConstantDefinition]:
        for item in self.world.declaration.constants:
            yield ir.ConstantDefinition(
                name=item.name,
                type=self.world.constant_type(item),
                default=item.default,
                role="repair" if item.repair else "reading" if item.reading else "constant",
                about=item.variant.about if item.variant else "",
                answers=item.repair.answers if item.repair else "",
                builds_on=item.repair.needed if item.repair else (),
                at=item.at or place(self.world, item.name),
            )

    def variable(self, item: VariableDeclaration) -> ir.Variable:
        """Return a state variable with its initial value in the intermediate form."""
        at = place(self.world, item.name)
        value = initial.value(
            self.world, item.default, item.type, f"{self.world.cls.__name__}.{item.name}", at
        )
        return ir.Variable(name=item.name, type=item.type, initial=value, at=at)

    # Methods ---------------------------------------------------------------------------------------------

    def body(self, method: MethodDeclaration) -> Body:
        """Return a method as a `Body` that can be read."""
        source, node = function_of(method.function)
        plain = Role.FUNCTION if self.world.is_function(method) else Role.PROCEDURE
        role = ROLES[method.mark.kind] if method.mark is not None else plain
        result = self.world.result(method) if role.pure else None
        if role.pure and method.mark is not None and result != ir.BOOL:
            assert result is not None
            raise SpecError(
                f"{method.name} is {words(result)}, and {role.value} is a bool",
                source.at(node),
                f"def {method.name}(...) -> bool:",
            )
        if role is Role.PROCEDURE and method.mark is None and node.returns is None:
            raise SpecError(
                f"the helper {method.name} says not what it gives",
                source.at(node),
                "-> None, or -> the type of its value",
            )
        if not role.pure and method.returns is not None:
            raise SpecError(
                f"{method.name} is {role.value}, which gives no value",
                source.at(node),
                f"def {method.name}(...) -> None:",
            )
        return Body(self.world, method, source, node, role, result, assigned=assigned_names(node))

    def read(
        self, method: MethodDeclaration
    ) -> tuple[Body, tuple[ir.Parameter, ...], tuple[ir.Statement, ...]]:
        """Read a method, and return its body object, its parameters and its statements."""
        body = self.body(method)
        given = parameters.parameters(body)
        made, ends = statements.block(body, body.definition.body)
        if body.result is not None and not ends:
            raise SpecError(
                f"{method.name} may end without a value", body.at(body.definition), "return ... on every path"
            )
        return body, given, made

    def doc(self, method: MethodDeclaration) -> str:
        """Return the docstring of a method."""
        return inspect.cleandoc(method.function.__doc__ or "")

    def _enter(self, name: str, at: Location) -> MethodDeclaration:
        if name in self._reading:
            cycle = " -> ".join([*self._reading[self._reading.index(name) :], name])
            raise SpecError(f"recursion: {cycle}", at, "a loop over a finite domain")
        self._reading.append(name)
        return self.world.methods[name]

    def procedure(self, name: str, at: Location) -> ir.Procedure:
        """Read a procedure helper, at most once."""
        if name not in self.world.procedures:
            method = self._enter(name, at)
            _refuse_within(method)
            body, given, made = self.read(method)
            self._reading.pop()
            if body.requires:
                self.world.guarded.add(name)
            if body.written:
                self.world.effects.add(name)
            self.world.procedures[name] = ir.Procedure(
                name=name, parameters=given, body=made, doc=self.doc(method), at=body.at(body.definition)
            )
        return self.world.procedures[name]

    def function(self, name: str, at: Location) -> ir.Function:
        """Read a value helper, guard or predicate as a function, once."""
        if name not in self._functions:
            method = self._enter(name, at)
            _refuse_within(method)
            body, given, made = self.read(method)
            self._reading.pop()
            assert body.result is not None
            self._functions[name] = ir.Function(
                name=name,
                parameters=given,
                body=made,
                doc=self.doc(method),
                type=surface(body.result),
                at=body.at(body.definition),
            )
        return self._functions[name]

    def action(self, method: MethodDeclaration) -> ir.Action:
        """Read an action, an environment action or an initial state with parameters."""
        body, given, made = self.read(method)
        assert method.mark is not None
        guards = (
            *parameters.memberships(body, given),
            *self._guards(method, given),
            *self._constraints(method, given),
        )
        return ir.Action(
            name=method.name,
            parameters=given,
            body=(*guards, *made),
            doc=self.doc(method),
            fault=method.mark.kind == "environment",
            fairness=ir.Fairness(method.mark.fairness),
            per=fairness.fair_parameters(method, given, method.at),
            at=body.at(body.definition),
        )

    def _constraints(
        self, method: MethodDeclaration, given: tuple[ir.Parameter, ...]
    ) -> Iterable[ir.Require]:
        for constraint in self.world.declaration.marked("constraint"):
            if method.mark is not None and method.mark.kind != "initial" and constrains(method, constraint):
                places = [given[place] for place in constrained(method, constraint)]
                arguments = tuple(
                    ir.Name(type=surface(item.type), name=item.name, at=item.at) for item in places
                )
                test = ir.Call(type=ir.BOOL, function=constraint.name, arguments=arguments, at=constraint.at)
                yield ir.Require(condition=test, text=call_text(constraint), at=constraint.at)

    def _guards(self, method: MethodDeclaration, given: tuple[ir.Parameter, ...]) -> Iterable[ir.Require]:
        for guard in self.world.declaration.marked("guard"):
            if len(guard.parameters) != 1:
                raise SpecError(
                    f"the guard {guard.name} takes one parameter, the actor",
                    guard.at,
                    f"def {guard.name}(self, p: Process) -> bool:",
                )
            actor = actor_of(method, guard)
            if actor is not None:
                refuse_contradiction(method, guard, actor)
                first, wanted = given[0], guard.parameters[0].type
                who: ir.Expression = ir.Name(type=surface(first.type), name=first.name, at=first.at)
                if actor.endswith(".to"):
                    who = ir.Field(type=surface(wanted), record=who, name="to", at=first.at)
                test = ir.Call(type=ir.BOOL, function=guard.name, arguments=(who,), at=guard.at)
                yield ir.Require(condition=test, text=f"self.{guard.name}({actor})", at=guard.at)

    def handler(self, method: MethodDeclaration) -> ir.Handler:
        """Read a handler of an event."""
        body, given, made = self.read(method)
        _refuse_within(method)
        assert method.mark is not None
        event = method.mark.event
        kind = self.world.type_of(event, body.at(body.definition), f"@on of {method.name}")
        if not isinstance(kind, types.Record) or len(given) != 1 or given[0].type != kind:
            name = getattr(event, "__name__", "Event")
            raise SpecError(
                f"{method.name} handles {name} and takes just that record",
                body.at(body.definition),
                f"def {method.name}(self, event: {name})",
            )
        return ir.Handler(
            name=method.name,
            parameters=given,
            body=made,
            doc=self.doc(method),
            event=kind.name,
            at=body.at(body.definition),
        )

    def predicate(self, method: MethodDeclaration) -> ir.Predicate:
        """Read an invariant, witness or obligation."""
        assert method.mark is not None
        function = self.function(method.name, method.at)
        if function.parameters:
            raise SpecError(
                f"{method.name} takes no parameters", function.at, "all(... for p in self.each(Process))"
            )
        return ir.Predicate(
            name=method.mark.name,
            body=function.body,
            doc=function.doc,
            kind=ir.PredicateKind(method.mark.kind),
            at=function.at,
        )

    def step_invariant(self, method: MethodDeclaration) -> ir.StepInvariant:
        """Read a step invariant, a property of steps."""
        assert method.mark is not None
        body, _, made = self.read(method)
        return ir.StepInvariant(
            name=method.mark.name, body=made, doc=self.doc(method), at=body.at(body.definition)
        )


def _refuse_within(method: MethodDeclaration) -> None:
    for parameter in method.parameters:
        if parameter.within:
            raise SpecError(
                f'{method.name}({parameter.name}): In("{parameter.within}") is for the parameters of actions',
                method.at,
                "the plain type; the action that calls passes an element",
            )


def _without_uncalled_predicates(module: ir.Module) -> ir.Module:
    """Return the module without functions for predicates that nothing calls."""
    called = {
        name
        for part in (*definitions(module), *module.liveness, *module.fair)
        for name, _ in _calls(part, {})
    }
    marked = {item.name for item in module.predicates}
    kept = tuple(item for item in module.functions if item.name not in marked or item.name in called)
    return dataclasses.replace(module, functions=kept)


def definitions(module: ir.Module) -> tuple[ir.Definition, ...]:
    """Return everything in a module that has a body: functions, procedures, initials, actions, handlers,
    predicates and step invariants.
    """
    return (
        *module.functions, *module.procedures, *module.initials, *module.actions, *module.handlers,
        *module.predicates, *module.step_invariants
    )  # fmt: skip


def _refuse_cycles(module: ir.Module) -> None:
    """Refuse a module in which calls, performed procedures and handled events lead back to where they
    began.
    """
    handlers: dict[str, list[ir.Handler]] = {}
    for handler in module.handlers:
        handlers.setdefault(handler.event, []).append(handler)
    bodies: dict[str, ir.Definition] = {
        item.name: item for item in (*module.functions, *module.procedures, *module.handlers)
    }
    state: dict[str, bool] = {}

    def visit(name: str, at: Location, path: list[str]) -> None:
        if state.get(name):
            return
        if name in state:
            raise SpecError(
                f"recursion: {' -> '.join([*path[path.index(name) :], name])}",
                at,
                "a loop over a finite domain",
            )
        state[name] = False
        for other, place_ in _calls(bodies[name], handlers):
            visit(other, place_, [*path, name])
        state[name] = True

    for name, definition in bodies.items():
        visit(name, definition.at, [])


def _calls(node: object, handlers: dict[str, list[ir.Handler]]) -> Iterable[tuple[str, Location]]:
    pending = [node]
    while pending:
        part = pending.pop()
        match part:
            case ir.Call(function=name):
                yield name, part.at
            case ir.Perform(procedure=name):
                yield name, part.at
            case ir.Emit(event=event):
                records = event.type.records if isinstance(event.type, types.Union) else (event.type,)
                for record in records:
                    for handler in handlers.get(getattr(record, "name", ""), []):
                        yield handler.name, part.at
        pending.extend(order.children(part))
