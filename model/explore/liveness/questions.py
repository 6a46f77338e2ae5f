"""For each liveness property of a program, or one asked from outside by names, there is a question for each
value of its parameters.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from antiphon.spec.lang import Program, SpecError, ir, types
from antiphon.spec.lang.front.sorts import surface
from antiphon.spec.lang.hints import known_names

Values = dict[str, tuple[types.Type, Any]]
"""Parameters by name, each with its type and its value."""


@dataclass(frozen=True)
class Question:
    """A liveness property of one program.

    `instances` are the values of its parameters, each asked by itself; one, empty, when there are none.
    """

    liveness: ir.LivenessProperty
    instances: tuple[tuple[Any, ...], ...]

    @property
    def name(self) -> str:
        """The name of the property."""
        return self.liveness.name

    def values(self, instance: tuple[Any, ...]) -> Values:
        """The parameters under these values."""
        return {
            item.name: (item.type, value)
            for item, value in zip(self.liveness.parameters, instance, strict=True)
        }


def declared(program: Program) -> dict[str, Question]:
    """The liveness properties that the specification declares, by name."""
    return {liveness.name: _question(program, liveness) for liveness in program.module.liveness}


def leads_to(program: Program, premise: str, goal: str, *, name: str = "") -> Question:
    """On every fair run a state in which `premise` is true is followed by one in which `goal` is; both by the
    names of methods.

    Raises:
        SpecError: there is no such method that gives a bool, or their parameters differ.
    """
    return _asked(program, ir.LivenessKind.LEADS_TO, name or f"{premise} leads to {goal}", premise, goal)


def eventually(program: Program, goal: str, *, name: str = "") -> Question:
    """On every fair run `goal` is true in some state. Raises as `leads_to`."""
    return _asked(program, ir.LivenessKind.EVENTUALLY, name or f"eventually {goal}", None, goal)


def always_eventually(program: Program, goal: str, *, name: str = "") -> Question:
    """On every fair run `goal` is true again and again. Raises as `leads_to`."""
    return _asked(program, ir.LivenessKind.ALWAYS_EVENTUALLY, name or f"always eventually {goal}", None, goal)


def _asked(program: Program, kind: ir.LivenessKind, name: str, premise: str | None, goal: str) -> Question:
    found = [_definition(program, method) for method in (premise, goal) if method is not None]
    given = [definition.parameters for definition in found if definition.parameters]
    if len({tuple(parameter.type for parameter in parameters) for parameters in given}) > 1:
        raise SpecError(f"{name}: {premise} and {goal} take different parameters")
    parameters = given[0] if given else ()
    calls = [_expression(definition, parameters) for definition in found]
    return _question(
        program,
        ir.LivenessProperty(
            name=name, kind=kind, goal=calls[-1], premise=calls[0] if premise else None, parameters=parameters
        ),
    )


def _definition(program: Program, name: str) -> ir.Function | ir.Predicate:
    module = program.module
    known: dict[str, ir.Function | ir.Predicate] = {item.name: item for item in module.predicates}
    known |= {item.name: item for item in module.functions if item.type == ir.BOOL}
    if name not in known:
        raise SpecError(
            f"{program.name} has no method {name!r} that gives a bool; {known_names(name, known)}"
        )
    return known[name]


def _expression(
    definition: ir.Function | ir.Predicate, parameters: tuple[ir.Parameter, ...]
) -> ir.Expression:
    arguments = (
        tuple(ir.Name(type=surface(parameter.type), name=parameter.name) for parameter in parameters)
        if definition.parameters
        else ()
    )
    return ir.Call(type=ir.BOOL, function=definition.name, arguments=arguments)


def _question(program: Program, liveness: ir.LivenessProperty) -> Question:
    domains = [list(program.domain(parameter.type)) for parameter in liveness.parameters]
    return Question(liveness, tuple(itertools.product(*domains)))
