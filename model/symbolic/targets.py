"""Targets: for each property a literal of the template that is true in a state that violates it, or reaches
it.

A service, or a step invariant, is broken by the step that leaves the state, so its run is one step longer. An
error of the specification belongs to a state too: some step or predicate cannot be executed there. Since all
are judged in states, `unroll` can leave out the orders of independent steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from antiphon.model.properties import SPECIFICATION
from antiphon.model.symbolic.circuit import FALSE
from antiphon.model.symbolic.steps import Instance, Template
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.verdict import BROKEN_BY_STEPS, PropertyKind


@dataclass(frozen=True)
class Target:
    """Target of a symbolic search: a property, with its kind."""

    property: str
    kind: PropertyKind

    def is_about_a_step(self) -> bool:
        """Return True if the target is about the step that leaves the state."""
        return self.kind in BROKEN_BY_STEPS


ERRORS = Target(SPECIFICATION, PropertyKind.SPECIFICATION)
"""Target of errors: no step and no predicate is an error of the specification."""


def groups(listed: list[Target]) -> list[list[Target]]:
    """Return the targets in groups that are judged together.

    Deadlock is a group of its own, since a lost packet can lead to it. So is each obligation.

    Errors of the specification come last: a run that violates a property has none, so that they matter only
    to properties that hold.
    """
    apart = (PropertyKind.DEADLOCK, PropertyKind.OBLIGATION, PropertyKind.SPECIFICATION)
    together = [target for target in listed if target.kind not in apart]
    alone = [target for kind in apart for target in listed if target.kind is kind]
    return [group for group in (together, *([target] for target in alone)) if group]


def wanted(target: Target, template: Template, instances: Iterable[Instance]) -> Iterator[int]:
    """Yield literals of the template of which at least one is true in every state that shows the target."""
    match target.kind:
        case PropertyKind.INVARIANT:
            yield template.predicate(target.property).fails
        case PropertyKind.WITNESS:
            yield template.predicate(target.property).holds
        case PropertyKind.DEADLOCK:
            yield from (-instance.enabled for instance in instances if not instance.fault)
            yield from (-instance.wrong for instance in instances)
        case PropertyKind.SERVICE | PropertyKind.STEP:
            breaks = (item for instance in instances for item in instance.breaks)
            yield from (literal for name, literal in breaks if name == target.property)
        case PropertyKind.SPECIFICATION:
            yield from (instance.wrong for instance in instances)
            names = (predicate.name for predicate in template.program.module.predicates)
            yield from (literal for name in names for literal, _ in template.predicate(name).reasons)


def shown(target: Target, unrolling: Unrolling, time: int) -> int:
    """Return the literal that is true if the target (a violation, a witness, a deadlock or an error) is found
    in the state at `time`.
    """
    at = unrolling.at
    match target.kind:
        case PropertyKind.INVARIANT:
            return at(time, unrolling.template.predicate(target.property).fails)
        case PropertyKind.WITNESS:
            return at(time, unrolling.template.predicate(target.property).holds)
        case PropertyKind.DEADLOCK:
            return quiescent(unrolling, time)
        case PropertyKind.SERVICE | PropertyKind.STEP:
            breaks = breaking(target.property, unrolling, time)
            return unrolling.circuit.disjunction([literal for _, literal in breaks])
        case PropertyKind.SPECIFICATION:
            return unrolling.circuit.disjunction([literal for _, literal in errors(unrolling, time)])
    raise ValueError(f"unknown kind {target.kind!r}")


def quiescent(unrolling: Unrolling, time: int) -> int:
    """Return the literal that is true when no step but a fault is enabled in the state at `time`, and no step
    is an error.
    """
    steps = unrolling.possible(time)
    enabled = [-unrolling.at(time, instance.enabled) for instance in steps if not instance.fault]
    sound = [-unrolling.at(time, instance.wrong) for instance in steps]
    return unrolling.circuit.conjunction(enabled + sound)


def breaking(property: str, unrolling: Unrolling, time: int) -> list[tuple[Instance, int]]:
    """Return the instances that may break a property of a service in the state at `time`, and their
    conditions.
    """
    found: list[tuple[Instance, int]] = []
    for instance in unrolling.possible(time):
        for name, literal in instance.breaks:
            if name == property and (moved := unrolling.at(time, literal)) != FALSE:
                found.append((instance, moved))
    return found


def errors(unrolling: Unrolling, time: int) -> list[tuple[str, int]]:
    """Return the steps and predicates that cannot be executed in the state at `time`, in words with the
    reason, and the condition.
    """
    found = [
        (f"{instance.step}: {reason}", unrolling.at(time, literal))
        for instance in unrolling.possible(time)
        for literal, reason in instance.reasons
    ]
    found += [
        (f"{name}: {reason}", unrolling.at(time, literal))
        for name in (predicate.name for predicate in unrolling.template.program.module.predicates)
        for literal, reason in unrolling.template.predicate(name).reasons
    ]
    return [(what, literal) for what, literal in found if literal != FALSE]
