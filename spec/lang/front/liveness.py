"""A liveness property, `leads_to("waiting", "served")`, is two calls of helpers that give a bool, of the same
parameters.

It names methods of the specification by their names; what they say is read like any helper. This file
reads no bodies.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.declare import LivenessDeclaration, MethodDeclaration
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.sorts import surface, words
from antiphon.spec.lang.front.world import World

KINDS = {
    "leads_to": ir.LivenessKind.LEADS_TO, "eventually": ir.LivenessKind.EVENTUALLY,
    "always_eventually": ir.LivenessKind.ALWAYS_EVENTUALLY,
}  # fmt: skip

ReadFunction = Callable[[str, Location], ir.Function]


def liveness_property(world: World, item: LivenessDeclaration, read: ReadFunction) -> ir.LivenessProperty:
    """The property in the intermediate form.

    Raises: SpecError: a name is no method of the specification that gives a bool, or the parameters of the
        two differ.
    """
    note = item.note
    if item.name in world.properties:
        raise SpecError(
            f"{item.name} is a liveness property and a property that a service names", item.at, "another name"
        )
    names = [note.premise, note.goal] if note.kind == "leads_to" else [note.goal]
    functions = [read(_method(world, item, name).name, item.at) for name in names]
    given = [function.parameters for function in functions if function.parameters]
    shapes = {tuple(parameter.type for parameter in parameters) for parameters in given}
    if len(shapes) > 1:
        told = " and ".join(
            f"{part.name}({', '.join(words(parameter.type) for parameter in part.parameters)})"
            for part in functions
        )
        raise SpecError(
            f"{item.name} speaks of {told}, which take different parameters",
            item.at,
            "the same parameters, or none in one",
        )
    parameters = given[0] if given else ()
    calls = [_call(function, parameters, item.at) for function in functions]
    return ir.LivenessProperty(
        name=item.name,
        kind=KINDS[note.kind],
        goal=calls[-1],
        premise=calls[0] if len(calls) > 1 else None,
        parameters=parameters,
        at=item.at,
    )


def _method(world: World, item: LivenessDeclaration, name: object) -> MethodDeclaration:
    instead = f'{item.name} = {item.note.kind}("name of a method that gives a bool")'
    method = world.methods.get(name) if isinstance(name, str) else None
    if method is None:
        hint = world.suggest(name) if isinstance(name, str) else ""
        raise SpecError(f"{item.name}: {world.cls.__name__} has no method {name!r}{hint}", item.at, instead)
    if not world.is_function(method) or world.result(method) != ir.BOOL:
        raise SpecError(f"{item.name}: {name} gives no bool", item.at, f"def {name}(self, ...) -> bool:")
    for parameter in method.parameters:
        if isinstance(parameter.type, types.MapOf):
            raise SpecError(f"{item.name}: {name} takes a map", item.at, "an index, and the map at it")
    return method


def _call(function: ir.Function, parameters: tuple[ir.Parameter, ...], at: Location) -> ir.Call:
    arguments = tuple(
        ir.Name(type=surface(parameter.type), name=parameter.name, at=at) for parameter in parameters
    )
    return ir.Call(
        type=ir.BOOL, function=function.name, arguments=arguments if function.parameters else (), at=at
    )


def fair_parameters(
    method: MethodDeclaration, given: tuple[ir.Parameter, ...], at: Location
) -> tuple[str, ...]:
    """The parameters, by their names in the intermediate form, for each value of which the action is fair by
    itself.

    Raises:
        SpecError: `per` names no parameter of the action.
    """
    assert method.mark is not None
    known = {
        declared.name: parameter.name for declared, parameter in zip(method.parameters, given, strict=True)
    }
    for name in method.mark.per:
        if name not in known:
            raise SpecError(
                f"{method.name} is fair per {name!r}, which is none of its parameters",
                at,
                ", ".join(known) or "without per",
            )
    return tuple(known[name] for name in method.mark.per)
