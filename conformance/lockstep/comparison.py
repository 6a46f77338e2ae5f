"""Specification and implementation agree when variables, events and what each would do next are equal.

`Comparison` is the one place that judges; the exhaustive walk, the Hypothesis machine and replay use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.conformance.bindings import Binding, Misreports, Refused
from antiphon.conformance.bindings import system as systems
from antiphon.conformance.bindings.system import System
from antiphon.model.engines import compiled_machine
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import Machine, State, Step

LOCKSTEP = "Lockstep"
"""The name of what a trace of a difference shows."""


@dataclass(frozen=True)
class Difference:
    """Where the two part: the steps to it, what differs, and what each side says."""

    trace: Trace
    what: str
    specification: object
    implementation: object

    def __str__(self) -> str:
        last = compact_step(self.trace.steps[-1]) if self.trace.steps else "the start"
        here, there = apart(self.specification, self.implementation)
        return (
            f"after {len(self.trace)} steps, at {last}: {self.what}\n  specification:  {here}\n  "
            f"implementation: {there}"
        )


class Differs(Exception):
    """The two sides disagree here: what about, and what each says."""

    def __init__(self, what: str, specification: object, implementation: object) -> None:
        self.what, self.specification, self.implementation = what, specification, implementation
        here, there = apart(specification, implementation)
        super().__init__(f"{what}: specification {here}; implementation {there}")


class Comparison:
    """A binding and a machine that executes its specification: generated code when None."""

    def __init__(self, binding: Binding, machine: Machine | None = None) -> None:
        self.binding = binding
        self.machine: Machine = machine or compiled_machine(binding.program)
        variables = binding.program.variables
        unknown = set(binding.exempt) - set(variables)
        if unknown:
            raise ValueError(
                f"the binding exempts {', '.join(sorted(unknown))}, which {binding.program.name} does not "
                "have"
            )
        self.compared = [
            (position, name) for position, name in enumerate(variables) if name not in binding.exempt
        ]

    def state(self, state: State, system: System) -> None:
        """Every variable that is not exempt has the same value. Raises Differs."""
        projection = systems.project(self.binding, system)
        for position, name in self.compared:
            if name not in projection:
                raise ValueError(f"the binding neither projects nor exempts {name!r}")
            if state[position] != projection[name]:
                raise Differs(f"variable {name}", state[position], projection[name])

    def offers(self, enabled: Sequence[Step], system: System) -> None:
        """The implementation would take exactly the internal steps that the specification enables. Raises
        Differs.

        Where the specification orders the internal steps of different processes, it enables some of those
        that the processes offer, and none only when they offer none.
        """
        internal = frozenset(step for step in enabled if step.action in self.binding.internal)
        offers = systems.offers(self.binding, system)
        if internal == offers or (self.binding.ordered and internal and internal < offers):
            return
        raise Differs(
            "steps that only one side would take", _steps(internal - offers), _steps(offers - internal)
        )

    def take(self, state: State, system: System, step: Step) -> tuple[State, System]:
        """The step on both sides; events, variables and what a shell sees are compared. Raises Differs."""
        transition = self.machine.apply(state, step)
        try:
            after, events = systems.perform(self.binding, system, step)
        except Refused as refusal:
            raise Differs("the implementation refuses the step", "takes it", str(refusal)) from refusal
        if events != transition.events:
            raise Differs("events", transition.events, events)
        self.state(transition.state, after)
        try:
            systems.drive(self.binding, system, step, after)
        except Misreports as told:
            raise Differs(told.what, told.specification, told.implementation) from told
        return transition.state, after

    def begin(self, state: State, system: System) -> None:
        """The two agree before the first step. Raises Differs."""
        self.state(state, system)
        try:
            for me, snapshot in enumerate(system.processes):
                self.binding.drive(me, snapshot, None, None)
        except Misreports as told:
            raise Differs(told.what, told.specification, told.implementation) from told

    def difference(self, start: State, steps: Sequence[Step], found: Differs) -> Difference:
        """What was found, with its trace as CPython executes it."""
        trace = replay(self.binding.program, start, steps, shows=LOCKSTEP, why=str(found))
        return Difference(trace, found.what, found.specification, found.implementation)

    def run(self, start: State, steps: Sequence[Step]) -> Difference | None:
        """Takes the steps from the beginning on one system; the first difference, None when there is none.

        Raises:
            Disabled: a step is not enabled in the specification.
        """
        state, system = start, systems.start(self.binding)
        done: list[Step] = []
        try:
            self.begin(state, system)
            for step in steps:
                done.append(step)
                state, system = self.take(state, system, step)
            self.offers(list(self.machine.enabled(state)), system)
        except Differs as found:
            return self.difference(start, done, found)
        return None


def apart(specification: object, implementation: object) -> tuple[str, str]:
    """What each side says, in the compact notation; of two sets only what the other has not."""
    if isinstance(specification, frozenset) and isinstance(implementation, frozenset):
        return (
            f"alone has {compact(specification - implementation)}",
            f"alone has {compact(implementation - specification)}",
        )
    return compact(specification), compact(implementation)


def _steps(steps: frozenset[Step]) -> str:
    return ", ".join(sorted(map(str, steps))) or "none"
