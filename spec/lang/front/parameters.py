"""Parameters of a method, which range over their domains; for `In("network")` a guard says that the argument
is in the set now.
"""

from __future__ import annotations

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.front.body import Body, Local
from antiphon.spec.lang.front.sorts import accepts, surface, words


def parameters(body: Body) -> tuple[ir.Parameter, ...]:
    """Return the parameters of the method, and bind each as a local of the body."""
    found = []
    written = body.definition.args
    extra = written.vararg or written.kwarg or (written.kwonlyargs[0] if written.kwonlyargs else None)
    if extra is not None:
        raise body.error(extra, "* and ** are not in the language", "each parameter by name")
    if written.defaults:
        raise body.error(
            written.defaults[0], "a parameter has no default: it ranges over its domain", "no default"
        )
    nodes = (written.posonlyargs + written.args)[2 if body.before_name else 1 :]
    for parameter, node in zip(body.method.parameters, nodes, strict=True):
        name = body.unique(parameter.name)
        body.bind(parameter.name, Local(name, parameter.type))
        found.append(ir.Parameter(name=name, type=parameter.type, at=body.at(node)))
    return tuple(found)


def memberships(body: Body, given: tuple[ir.Parameter, ...]) -> tuple[ir.Require, ...]:
    """Return the guards for parameters marked `In("network")`: the argument is an element of that variable
    now.
    """
    found = []
    for declared, parameter in zip(body.method.parameters, given, strict=True):
        if not declared.within:
            continue
        variable = body.world.variables.get(declared.within)
        if (
            variable is None
            or not isinstance(variable.type, types.SetOf)
            or not accepts(variable.type.of, declared.type)
        ):
            raise SpecError(
                f'{body.method.name}({declared.name}): In("{declared.within}") names no set variable that '
                f"may hold {words(declared.type)}"
                f"{body.world.suggest(declared.within) if variable is None else ''}",
                parameter.at,
                "a set variable of the specification",
            )
        name = ir.Name(type=surface(parameter.type), name=parameter.name, at=parameter.at)
        held = ir.Read(type=variable.type, variable=declared.within, at=parameter.at)
        test = ir.Member(type=ir.BOOL, item=name, collection=held, at=parameter.at)
        found.append(
            ir.Require(condition=test, text=f"{declared.name} in self.{declared.within}", at=parameter.at)
        )
    return tuple(found)
