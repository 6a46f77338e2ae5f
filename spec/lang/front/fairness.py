"""Fairness of steps: of one action for each value of its `per` parameters, or, with `fair("send",
"receive")`, of several actions together or of a part of them.

This file reads no bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from antiphon.spec.lang import ir
from antiphon.spec.lang.declare import FairDeclaration, MethodDeclaration
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.sorts import surface
from antiphon.spec.lang.front.world import World
from antiphon.spec.lang.hints import known_names


def fair_parameters(
    method: MethodDeclaration, given: tuple[ir.Parameter, ...], at: Location
) -> tuple[str, ...]:
    """Return the parameters, by their names in the intermediate form, for each value of which the action is
    fair by itself.

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


def fair_steps(
    world: World,
    item: FairDeclaration,
    actions: Mapping[str, ir.Action],
    read: Callable[[str, Location], ir.Function],
) -> ir.FairSteps:
    """Return a `fair(...)` promise in the intermediate form.

    Raises:
        SpecError: it names no action of the algorithm, or `per` or `where` do not fit its parameters.
    """
    fair = {name: action for name, action in actions.items() if not action.fault}
    parts = []
    for name in item.note.actions:
        if name in actions and actions[name].fault:
            raise SpecError(
                f"{item.name}: {name} is a step of the environment, which is never due", item.at, "an @action"
            )
        if name not in fair:
            raise SpecError(
                f"{item.name}: {world.cls.__name__} has no action {name!r}; {known_names(name, fair)}",
                item.at,
                f'{item.name} = fair("name of an action", ...)',
            )
        parts.append(_part(world, item, fair[name], read))
    kinds = {
        tuple(parameter.type for name in part.per for parameter in fair[part.action].parameters
              if parameter.name == name)
        for part in parts
    }  # fmt: skip
    if len(kinds) > 1:
        raise SpecError(
            f"{item.name} is fair per {', '.join(item.note.per)}, which are not of the same types in all its "
            "actions",
            item.at,
            "a promise for each",
        )
    return ir.FairSteps(
        name=item.name, fairness=ir.Fairness(item.note.fairness), parts=tuple(parts), at=item.at
    )


def _part(
    world: World, item: FairDeclaration, action: ir.Action, read: Callable[[str, Location], ir.Function]
) -> ir.FairPart:
    method = world.methods[action.name]
    known = {
        declared.name: parameter
        for declared, parameter in zip(method.parameters, action.parameters, strict=True)
    }
    for name in item.note.per:
        if name not in known:
            raise SpecError(
                f"{item.name} is fair per {name!r}, which is no parameter of {action.name}",
                item.at,
                ", ".join(known) or "without per",
            )
    where = _where(world, item, action, known, read) if item.note.where else None
    return ir.FairPart(
        action=action.name, per=tuple(known[name].name for name in item.note.per), where=where, at=item.at
    )


def _where(
    world: World,
    item: FairDeclaration,
    action: ir.Action,
    known: Mapping[str, ir.Parameter],
    read: Callable[[str, Location], ir.Function],
) -> ir.Call:
    name = item.note.where
    method = world.methods.get(name)
    if method is None or not world.is_function(method) or world.result(method) != ir.BOOL:
        raise SpecError(
            f"{item.name}: {world.cls.__name__} has no method {name!r} that gives a bool"
            f"{world.suggest(name)}",
            item.at,
            f"def {name}(self, ...) -> bool:",
        )
    function = read(name, item.at)
    arguments = []
    for declared, parameter in zip(method.parameters, function.parameters, strict=True):
        given = known.get(declared.name)
        if given is None or given.type != parameter.type:
            raise SpecError(
                f"{item.name}: {name} asks for {declared.name}, and {action.name} has no parameter of that "
                "name and type",
                item.at,
                f"parameters of {action.name}: {', '.join(known) or 'none'}",
            )
        arguments.append(ir.Name(type=surface(given.type), name=given.name, at=item.at))
    return ir.Call(type=ir.BOOL, function=function.name, arguments=tuple(arguments), at=item.at)
