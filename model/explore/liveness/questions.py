"""Questions of liveness: one for each liveness property of a program, or one for a formula given from
outside; each is asked for every value of its parameters.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from antiphon.model.explore.liveness.fairness import Values
from antiphon.spec.lang import Program, SpecError, ir
from antiphon.spec.lang.front.liveness import property_of
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.values import LivenessNote


@dataclass(frozen=True)
class Question:
    """A liveness property of one program.

    `instances` are the values of its parameters, each judged by itself; without parameters there is one empty
    instance.
    """

    liveness: ir.LivenessProperty
    instances: tuple[tuple[Any, ...], ...]

    @property
    def name(self) -> str:
        """Return the name of the property."""
        return self.liveness.name

    def values(self, instance: tuple[Any, ...]) -> Values:
        """Return the parameters by name, each with its type and its value in this instance."""
        return {
            item.name: (item.type, value)
            for item, value in zip(self.liveness.parameters, instance, strict=True)
        }


def declared(program: Program) -> dict[str, Question]:
    """Return the liveness properties that the specification declares, by name."""
    return {liveness.name: _question(program, liveness) for liveness in program.module.liveness}


def question(program: Program, asked: LivenessNote, *, name: str = "") -> Question:
    """Return the question for a temporal formula that is given from outside the specification, over methods
    by their names: `leads_to("waits", "eats")`, or another formula.

    Raises:
        SpecError: there is no such method that gives a bool, or the parameters of two of them differ.
    """
    module = program.module
    known: dict[str, ir.Function | ir.Predicate] = {item.name: item for item in module.predicates}
    known |= {item.name: item for item in module.functions if item.type == ir.BOOL}

    def read(method: str) -> ir.Function | ir.Predicate:
        if method not in known:
            raise SpecError(
                f"{program.name} has no method {method!r} that gives a bool; {known_names(method, known)}"
            )
        return known[method]

    told = name or " implies ".join(map(_in_words, (*asked.assuming, asked)))
    return _question(program, property_of(told, asked, read, ir.NOWHERE))


def _in_words(note: LivenessNote) -> str:
    """Return the formula in words, without its assumptions: `waits leads to eats`."""
    return " ".join(filter(None, (note.premise, note.kind.replace("_", " "), note.goal)))


def _question(program: Program, liveness: ir.LivenessProperty) -> Question:
    domains = [list(program.domain(parameter.type)) for parameter in liveness.parameters]
    return Question(liveness, tuple(itertools.product(*domains)))
