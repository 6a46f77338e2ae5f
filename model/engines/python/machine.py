"""Tools run a specification fast through `compiled_machine`: the `Machine` interface over the generated functions.

It gives the same steps in the same order, the same states and the same events as the reference. What is rare and wants a good message (a
disabled step, an error of the specification, a refusal with the event it clashes with) is left to the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from antiphon.model.engines.python.catalogue import Catalogue, Specialised
from antiphon.model.engines.python.source import compile_functions, events_source
from antiphon.model.ground import flatten, unflatten
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import Machine, Program, State, Step, Transition


def compiled_machine(program: Program) -> Machine:
    """A machine for `program` that runs generated Python; steps, order, states, events and errors are the reference's."""
    return CompiledMachine(program)


class CompiledMachine:
    """Generated functions behind the `Machine` interface."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._catalogue = Catalogue(program)
        self._steps: dict[Step, Specialised] = {}
        self._events: dict[Step, Callable[[int], tuple[tuple[int, int], ...]]] = {}
        self._before: tuple[State, int] = ((), 0)
        self._after: tuple[State, int] = ((), 0)

    def initial(self) -> Sequence[State]:
        """The initial states, without repetition."""
        return self.program.reference.initial()

    def enabled(self, state: State) -> Iterator[Step]:
        """The steps enabled in `state`: actions as declared, arguments in domain order."""
        return (step.step for step, _ in self._outcomes(state))

    def successors(self, state: State) -> Iterator[Transition]:
        """Every transition out of `state`, in the order of `enabled`."""
        packed = self._pack(state)
        for step, result in self._outcomes(state):
            yield self._transition(state, packed, step, result)

    def apply(self, state: State, step: Step) -> Transition:
        """The transition of `step`; Disabled when a guard is false, SpecError when the specification is wrong."""
        packed = self._pack(state)
        specialised = self._find(packed, step)
        result = specialised.run(packed) if specialised is not None and self._possible(specialised, packed) else None
        if specialised is None or not isinstance(result, tuple):
            transition = self.program.reference.apply(state, step)
            raise InternalError(f"generated code refuses {step}, which the reference takes to {transition.state}")
        return self._transition(state, packed, specialised, result)

    def holds(self, state: State, predicate: str) -> bool:
        """Whether a predicate is true in `state`."""
        return self.program.reference.holds(state, predicate)

    def _pack(self, state: State) -> int:
        """The state as an integer; of the state asked about last, and of the last successor, it is remembered."""
        if state is not self._before[0]:
            self._before = self._after if state is self._after[0] else (state, self._catalogue.packing.pack(flatten(self.program, state)))
        return self._before[1]

    def _outcomes(self, state: State) -> Iterator[tuple[Specialised, tuple[Any, ...]]]:
        packed = self._pack(state)
        for step in self._catalogue.steps_for(packed):
            if self._possible(step, packed):
                result = step.run(packed)
                if isinstance(result, tuple):
                    yield step, result
                elif result is not None:
                    list(self.program.reference.enabled(state))
                    raise InternalError(f"generated code finds an error of the specification in {step.step}, the reference none")

    @staticmethod
    def _possible(step: Specialised, packed: int) -> bool:
        return step.trigger & packed == step.trigger

    def _find(self, packed: int, step: Step) -> Specialised | None:
        if step not in self._steps:
            self._steps = {item.step: item for item in self._catalogue.steps_for(packed)}
        return self._steps.get(step)

    def _transition(self, state: State, packed: int, step: Specialised, result: tuple[Any, ...]) -> Transition:
        if len(result) == 3:
            return self.program.reference.apply(state, step.step)
        successor = packed & result[0] | result[1]
        after = unflatten(self.program, self._catalogue.packing.unpack(successor))
        self._after = after, successor
        return Transition(step.step, after, self._emitted(packed, step) if step.ground.events else ())

    def _emitted(self, packed: int, step: Specialised) -> tuple[Any, ...]:
        function = self._events.get(step.step)
        if function is None:
            text = events_source("events", step.ground, self._catalogue.packing)
            function = cast("Callable[[int], tuple[tuple[int, int], ...]]", compile_functions([("events", text)])["events"])
            self._events[step.step] = function
        events = step.ground.events
        return tuple(self.program.domain(events[position].type).value(rank) for position, rank in function(packed))
