"""Constraints of an exploration: those of the specification that can disable a step under these constants.

A constraint bounds an exploration and is no part of the modelled protocol, so a verdict under one says so.
This file tries a constraint on all its arguments; the package of the language defines what a constraint does
to steps.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from antiphon.model.ground import ground_formula
from antiphon.model.ground.form import Operator
from antiphon.spec.lang import Program, ir
from antiphon.spec.lang.front.sorts import surface

MOST_ARGUMENTS = 256
"""Largest number of arguments that are tried; a constraint with more is taken to disable some step."""


@dataclass(frozen=True)
class Constraint:
    """Constraint that may disable steps: its name, its sentence, and the actions that it constrains (empty:
    all).
    """

    name: str
    about: str
    actions: tuple[str, ...]

    def __str__(self) -> str:
        asked = f" of {', '.join(self.actions)}" if self.actions else ""
        return f"{self.name}{asked}: {self.about}"


def constraints_of(program: Program) -> tuple[Constraint, ...]:
    """Return the constraints that are not always true, in order of declaration."""
    found = []
    for method in program.declaration.marked("constraint"):
        assert method.mark is not None
        if _may_be_false(program, method.name):
            paragraph = " ".join((method.function.__doc__ or "").strip().partition("\n\n")[0].split())
            about = paragraph.partition(". ")[0].rstrip(".")
            found.append(Constraint(method.name, about, method.mark.actions))
    return tuple(found)


def _may_be_false(program: Program, name: str) -> bool:
    function = next(item for item in program.module.functions if item.name == name)
    domains = [program.domain(parameter.type) for parameter in function.parameters]
    if math.prod(domain.cardinality for domain in domains) > MOST_ARGUMENTS:
        return True
    given = tuple(
        ir.Name(type=surface(parameter.type), name=parameter.name) for parameter in function.parameters
    )
    call = ir.Call(type=ir.BOOL, function=name, arguments=given)
    for values in itertools.product(*domains):
        named = {
            parameter.name: (parameter.type, value)
            for parameter, value in zip(function.parameters, values, strict=True)
        }
        holds = ground_formula(program, call, named).holds
        if holds.operator is not Operator.CONSTANT or not holds.value:
            return True
    return False
