"""Comparison of specification and implementation: variables, events and the next possible steps must be
equal.

`Comparison` is the one place that judges; the exhaustive walk, the Hypothesis machine and replay use it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from antiphon.conformance.compare.bindings import (
    EVENTS,
    Binding,
    BindingError,
    Misreports,
    Refused,
    Unsteady,
    guarded,
)
from antiphon.conformance.compare.bindings import system as systems
from antiphon.conformance.compare.bindings.guarded import CHANCES, chance, equal
from antiphon.conformance.compare.bindings.system import System
from antiphon.model.bounds import Enough
from antiphon.model.engines import compiled_machine
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace, replay
from antiphon.model.trace_text import trace_text
from antiphon.spec.lang import Machine, SpecError, State, Step
from antiphon.spec.lang.foreign import Raised, foreign, writable

RERUNS = 5
"""Number of times that a difference is reproduced before it is reported."""

LOCKSTEP = "Lockstep"
"""Name of the property that the trace of a difference breaks."""

UNSTEADY = "the implementation is not deterministic"
"""Part of the text on a difference that does not occur each time: the implementation depends on more than its
snapshot and its input.
"""


@dataclass(frozen=True)
class Difference:
    """Difference of the two sides: the steps that lead to it, the differing part, and the value of each
    side.
    """

    trace: Trace
    what: str
    specification: object
    implementation: object

    def __str__(self) -> str:
        last = compact_step(self.trace.steps[-1]) if self.trace.steps else "the start"
        here, there = both_sides(self.specification, self.implementation)
        return (
            f"after {len(self.trace)} steps, at {last}: {self.what}\n  specification:  {here}\n  "
            f"implementation: {there}"
        )

    def shown(self) -> str:
        """Return the run that leads to the difference, and the difference, as text."""
        return f"{trace_text(self.trace)}\n{self}"


class Differs(Exception):
    """Error: the two sides differ; it has the differing part and each side's value.

    `events` are the events that the implementation emitted in the step, where they are not the
    specification's.
    """

    def __init__(
        self,
        what: str,
        specification: object,
        implementation: object,
        *,
        events: tuple[object, ...] | None = None,
    ) -> None:
        self.what, self.specification, self.implementation = what, specification, implementation
        self.events = events
        here, there = both_sides(specification, implementation)
        super().__init__(f"{what}: specification {here}; implementation {there}")


class Comparison:
    """Comparison of a binding with a machine that executes its specification (generated code if None).

    `drew` is True if the last `run` drew from the global `random`; `hears` is True if events are compared.
    """

    def __init__(self, binding: Binding, machine: Machine | None = None) -> None:
        self.binding = guarded(binding)
        self.machine: Machine = machine or compiled_machine(binding.program)
        variables = binding.program.variables
        self.hears = EVENTS in variables or EVENTS not in binding.exempt
        unknown = set(binding.exempt) - {*variables, EVENTS}
        if unknown:
            raise BindingError(
                f"the binding exempts {', '.join(sorted(unknown))}, which {binding.program.name} does not "
                "have"
            )
        self.drew = False
        self.compared = [
            (position, name) for position, name in enumerate(variables) if name not in binding.exempt
        ]

    def state(self, state: State, system: System) -> None:
        """Check that every variable that is not exempt has the same value.

        Raises:
            Differs: a variable has another value.
        """
        with raising():
            projection = systems.project(self.binding, system)
        for position, name in self.compared:
            if name not in projection:
                raise self.binding.missing([name])
            with raising():
                same = equal(state[position], projection[name])
            if not same:
                raise Differs(f"variable {name}", state[position], projection[name])

    def offers(self, enabled: Sequence[Step], system: System) -> None:
        """Check that the implementation would take exactly the internal steps that the specification enables.
        Raises Differs.

        Where the specification orders the internal steps of different processes, the enabled steps must be a
        subset of the offered ones, and not empty unless the processes offer none.
        """
        internal = frozenset(step for step in enabled if step.action in self.binding.internal)
        with raising():
            offers = systems.offers(self.binding, system)
        if internal == offers or (self.binding.ordered and internal and internal < offers):
            return
        raise Differs(
            "steps that only one side would take", _steps(internal - offers), _steps(offers - internal)
        )

    def take(self, state: State, system: System, step: Step) -> tuple[State, System]:
        """Take the step on both sides, and compare events, variables and the effect in a shell. Raises
        Differs.
        """
        transition = self.machine.apply(state, step)
        try:
            with raising(events=()):
                after, events = systems.perform(self.binding, system, step)
        except Refused as refusal:
            raise refuses(refusal) from refusal
        with raising(events=()):
            same = not self.hears or equal(events, transition.events)
        if not same:
            raise Differs("events", transition.events, events, events=events)
        self.state(transition.state, after)
        with raising():
            systems.drive(self.binding, system, step, after)
        return transition.state, after

    def start(self) -> System:
        """Return the system of fresh processes of the implementation. Raises Differs."""
        with raising():
            return systems.start(self.binding)

    def begin(self, state: State, system: System) -> None:
        """Check that the two sides agree before the first step. Raises Differs."""
        self.state(state, system)
        with raising():
            for me, snapshot in enumerate(system.processes):
                self.binding.drive(me, snapshot, None, None)

    def difference(self, start: State, steps: Sequence[Step], found: Differs) -> Difference:
        """Return the difference, with its trace as CPython executes it.

        The last step of the trace has the implementation's events, except for those without a text.
        """
        trace = replay(self.binding.program, start, steps, shows=LOCKSTEP, why=str(found))
        if found.events is not None:
            last = replace(trace.transitions[-1], events=tuple(filter(_has_text, found.events)))
            trace = replace(trace, transitions=(*trace.transitions[:-1], last))
        return Difference(trace, found.what, found.specification, found.implementation)

    def run(self, start: State, steps: Sequence[Step], seed: int = 0) -> Difference | None:
        """Take the steps on both sides from the initial state; return the first difference, or None.

        The global `random` begins with `seed`, so that the implementation's random draws repeat.

        Raises:
            Disabled: a step is not enabled in the specification.
        """
        state, done = start, list[Step]()
        with chance(seed):
            before = random.getstate()
            try:
                system = self.start()
                self.begin(state, system)
                for step in steps:
                    done.append(step)
                    state, system = self.take(state, system, step)
                self.offers(list(self.machine.enabled(state)), system)
            except Differs as found:
                return self.difference(start, done, found)
            finally:
                self.drew = random.getstate() != before
        return None

    def reproduced(self, start: State, steps: Sequence[Step], *, tries: int = 1) -> Difference | None:
        """Return the difference that the steps show in one of several runs with different seeds, or None.

        One run is made if `tries` is 1 or the implementation draws nothing from the global `random`.

        Raises:
            Disabled: a step is not enabled in the specification.
        """
        for seed in range(CHANCES):
            found = self.run(start, steps, seed)
            if found is not None:
                return self.checked(start, found, seed)
            if seed + 1 >= tries and not self.drew:
                return None
        return None

    def checked(self, start: State, found: Difference, seed: int) -> Difference:
        """Return a found difference after running its steps again from the start; if the difference does not
        occur in each run, say so in it.
        """
        steps = found.trace.steps
        if all(self.run(start, steps, seed) is not None for _ in range(RERUNS)):
            return found
        return self.unsteady(start, steps, Differs(found.what, found.specification, found.implementation))

    def unsteady(self, start: State, steps: Sequence[Step], found: Differs) -> Difference:
        """Return, as a difference, that a found difference does not occur in a second run of the same
        steps.
        """
        what = (
            found.what
            if UNSTEADY in found.what
            else f"{found.what}, which does not come each time: {UNSTEADY}"
        )
        unsteady = Differs(what, found.specification, found.implementation, events=found.events)
        return self.difference(start, steps, unsteady)


@contextmanager
def raising(events: tuple[object, ...] | None = None) -> Iterator[None]:
    """Context that turns an error or a wrong report of the user's code into a difference: the specification
    takes the step, and the implementation raises.

    `events` are the events before the error; None stands for the specification's.

    Raises:
        Differs: the code raised something.
    """
    try:
        with foreign(Differs, Refused, Misreports, Unsteady, Enough, SpecError):
            yield
    except Raised as raised:
        raise raises(raised, events) from raised.error
    except Misreports as told:
        raise misreports(told, events) from told


def raises(raised: Raised, events: tuple[object, ...] | None = None) -> Differs:
    """Return, as a difference, that the implementation raises an error where the specification takes a
    step.
    """
    return Differs("the implementation raises", "goes on", str(raised), events=events)


def misreports(told: Misreports, events: tuple[object, ...] | None = None) -> Differs:
    """Return, as a difference, that the implementation reports something that the specification does not."""
    return Differs(told.what, told.specification, told.implementation, events=events)


def refuses(refusal: Refused) -> Differs:
    """Return, as a difference, that the implementation refuses a step of the specification."""
    return Differs("the implementation refuses the step", "takes it", writable(str(refusal)), events=())


def both_sides(specification: object, implementation: object) -> tuple[str, str]:
    """Return the value of each side, in the compact notation; of two sets only the items that the other
    lacks.
    """
    if isinstance(specification, frozenset) and isinstance(implementation, frozenset):
        return (
            f"alone has {compact(specification - implementation)}",
            f"alone has {_shown(implementation - specification)}",
        )
    return compact(specification), _shown(implementation)


def _shown(value: object) -> str:
    """Return a value in the compact notation; the name of its type if its own `repr` fails."""
    try:
        with foreign():
            return compact(value)
    except Raised as raised:
        return f"a {type(value).__name__} that cannot be shown: {raised}"


def _has_text(event: object) -> bool:
    """Return True for an event that can be shown."""
    try:
        with foreign():
            return bool(compact(event))
    except Raised:
        return False


def _steps(steps: frozenset[Step]) -> str:
    return ", ".join(sorted(map(str, steps))) or "none"
