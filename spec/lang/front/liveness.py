"""Reader of liveness properties, such as `leads_to("waiting", "served")`: the two names become calls of
helpers that give a bool.

The helpers have the same parameters, or none. Their bodies are read like those of any helper, and not in this
file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.declare import LivenessDeclaration, MethodDeclaration
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.sorts import surface, words
from antiphon.spec.lang.front.world import World
from antiphon.spec.lang.values import LivenessNote

KINDS = {
    "leads_to": ir.LivenessKind.LEADS_TO, "eventually": ir.LivenessKind.EVENTUALLY,
    "always_eventually": ir.LivenessKind.ALWAYS_EVENTUALLY,
    "eventually_always": ir.LivenessKind.EVENTUALLY_ALWAYS, "always": ir.LivenessKind.ALWAYS,
    "initially": ir.LivenessKind.INITIALLY,
}  # fmt: skip

Reading = Callable[[str], ir.Function | ir.Predicate]
"""Function that reads the method with a given name; the method must give a bool."""


def liveness_property(
    world: World, item: LivenessDeclaration, read: Callable[[str, Location], ir.Function]
) -> ir.LivenessProperty:
    """Return a liveness property in the intermediate form.

    Raises:
        SpecError: a name is no method of the specification that gives a bool, or the parameters of two of
            them differ.
    """
    note = item.note
    if item.name in world.properties:
        raise SpecError(
            f"{item.name} is a liveness property and a property that a service names", item.at, "another name"
        )
    if note.kind == "always" and not note.assuming:
        raise SpecError(
            f"{item.name}: always({note.goal!r}) alone is an invariant",
            item.at,
            "@invariant, or implies(..., always(...))",
        )
    return property_of(item.name, note, lambda name: read(_method(world, item, name).name, item.at), item.at)


def property_of(name: str, note: LivenessNote, read: Reading, at: Location) -> ir.LivenessProperty:
    """Return the property that a note states about methods.

    Raises:
        SpecError: the parameters of two methods differ.
    """
    found = {method: read(method) for method in _named(note)}
    given = [function.parameters for function in found.values() if function.parameters]
    if len({tuple(parameter.type for parameter in parameters) for parameters in given}) > 1:
        told = " and ".join(
            f"{part.name}({', '.join(words(parameter.type) for parameter in part.parameters)})"
            for part in found.values()
        )
        raise SpecError(
            f"{name} speaks of {told}, which take different parameters",
            at,
            "the same parameters, or none in one",
        )
    parameters = given[0] if given else ()

    def call(method: str) -> ir.Call:
        return _call(found[method], parameters, at)

    def premise(part: LivenessNote) -> ir.Call | None:
        return call(part.premise) if part.kind == "leads_to" else None

    return ir.LivenessProperty(
        name=name,
        kind=KINDS[note.kind],
        goal=call(note.goal),
        premise=premise(note),
        parameters=parameters,
        assuming=tuple(
            ir.Temporal(kind=KINDS[part.kind], goal=call(part.goal), premise=premise(part), at=at)
            for part in note.assuming
        ),
        at=at,
    )


def _named(note: LivenessNote) -> Iterator[str]:
    for part in (*note.assuming, note):
        yield from (part.premise, part.goal) if part.kind == "leads_to" else (part.goal,)


def _method(world: World, item: LivenessDeclaration, name: object) -> MethodDeclaration:
    instead = f'{item.name} = {item.note.kind}("name of a method that gives a bool")'
    method = world.methods.get(name) if isinstance(name, str) else None
    if method is None:
        hint = world.suggest(name) if isinstance(name, str) else ""
        if name in world.variables:
            hint = f": {name} is a variable"
        raise SpecError(f"{item.name}: {world.cls.__name__} has no method {name!r}{hint}", item.at, instead)
    if not world.is_function(method) or world.result(method) != ir.BOOL:
        raise SpecError(f"{item.name}: {name} gives no bool", item.at, f"def {name}(self, ...) -> bool:")
    for parameter in method.parameters:
        if isinstance(parameter.type, types.MapOf):
            raise SpecError(f"{item.name}: {name} takes a map", item.at, "an index, and the map at it")
    return method


def _call(
    function: ir.Function | ir.Predicate, parameters: tuple[ir.Parameter, ...], at: Location
) -> ir.Call:
    arguments = tuple(
        ir.Name(type=surface(parameter.type), name=parameter.name, at=at) for parameter in parameters
    )
    return ir.Call(
        type=ir.BOOL, function=function.name, arguments=arguments if function.parameters else (), at=at
    )
