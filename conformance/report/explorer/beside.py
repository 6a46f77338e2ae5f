"""Implementation beside a walk: it takes the same steps, and the first difference is stored.

After a difference the implementation takes no more steps on this path. Steps are those of lockstep
(`antiphon.conformance.compare.lockstep`), so that red parts here are the differences that lockstep reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from antiphon.conformance.compare.bindings import Binding, Refused
from antiphon.conformance.compare.bindings import system as systems
from antiphon.conformance.compare.bindings.system import System
from antiphon.conformance.compare.lockstep import Comparison, Differs
from antiphon.conformance.compare.lockstep.comparison import both_sides, raising
from antiphon.model.changes import described
from antiphon.spec.lang import Program, State, Step


@dataclass(frozen=True)
class Standing:
    """State of an implementation after some steps: a system, or the first difference from the specification.

    `parted` is the system at that difference, if it is known.
    """

    system: System | None
    difference: str = ""
    parted: System | None = None


class Beside:
    """Implementation that takes the steps of a walk beside its specification, through its binding."""

    def __init__(self, binding: Binding) -> None:
        self.program: Program = binding.program
        self._comparison = Comparison(binding)

    def begin(self, state: State) -> Standing:
        """Return the implementation at its start."""
        system = None
        try:
            system = self._comparison.start()
            self._comparison.begin(state, system)
            self._offers(state, system)
        except Differs as found:
            return Standing(None, f"at the start: {_told(found)}", system)
        return Standing(system)

    def take(self, before: Standing, state: State, step: Step) -> Standing:
        """Return the implementation after one more step; after a difference, return `before` unchanged."""
        if before.system is None:
            return Standing(None, before.difference)
        try:
            after, system = self._comparison.take(state, before.system, step)
            self._offers(after, system)
            return Standing(system)
        except Differs as found:
            return Standing(None, f"at {step.action}: {_told(found)}", self._after(before.system, step))

    def _after(self, before: System, step: Step) -> System | None:
        """Return the implementation after a step at which it differs from the specification; None if it
        cannot take the step.
        """
        try:
            with raising():
                return systems.perform(self._comparison.binding, before, step)[0]
        except (Differs, Refused):
            return None

    def _offers(self, state: State, system: System) -> None:
        """Compare the internal steps that specification and implementation would take. Raise Differs if they
        are not the same.
        """
        self._comparison.offers(list(self._comparison.machine.enabled(state)), system)

    def values(self, standing: Standing, state: State) -> Mapping[str, str]:
        """Return the implementation's values of the parts of a state; empty after the first difference.

        Exempt variables, and parts that the implementation does not show, are omitted.
        """
        system = standing.system or standing.parted
        if system is None:
            return {}
        try:
            with raising():
                shown = systems.project(self._comparison.binding, system)
        except (Differs, Refused):
            return {}
        exempt = self._comparison.binding.exempt
        variables = self.program.variables
        own = tuple(
            shown.get(name, value) if name not in exempt else value
            for name, value in zip(variables, state, strict=True)
        )
        known = {name for name in shown if name not in exempt}
        return {
            where: text for where, text in described(self.program, own) if where.partition("[")[0] in known
        }


def _told(found: Differs) -> str:
    here, there = both_sides(found.specification, found.implementation)
    return f"{found.what}; specification: {here}; implementation: {there}"
