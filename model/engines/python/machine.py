"""Fast execution for tools: `compiled_machine` is the `Machine` interface over the generated functions.

It gives the same steps in the same order, the same states and the same events as the reference. The reference
handles the rare cases that need a good message: a disabled step, an error of the specification, a violation
with the event that it clashes with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.verdict import InternalError
from antiphon.spec.lang import Machine, Program, State, Step, Transition


def compiled_machine(program: Program) -> Machine:
    """Return a machine for `program` that runs generated Python; steps, order, states, events and errors are
    the reference's.
    """
    return CompiledMachine(program)


class CompiledMachine:
    """Machine that runs generated functions. The successors of the last state are cached."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._transitions = PythonTransitions(program)
        self._after: tuple[State, int] = ((), 0)
        self._latest: tuple[State, int, dict[Step, tuple[int, int]]] | None = None

    def initial(self) -> Sequence[State]:
        """Return the initial states, without repetition."""
        return self.program.reference.initial()

    def enabled(self, state: State) -> Iterator[Step]:
        """Return the steps enabled in `state`: actions as declared, arguments in domain order."""
        return iter(self._steps(state)[1])

    def successors(self, state: State) -> Iterator[Transition]:
        """Yield every transition out of `state`, in the order of `enabled`."""
        return (self.apply(state, step) for step in self._steps(state)[1])

    def apply(self, state: State, step: Step) -> Transition:
        """Return the transition of `step`; raise Disabled when a guard is false, SpecError when the
        specification is wrong.
        """
        packed, steps = self._steps(state)
        if step not in steps:
            transition = self.program.reference.apply(state, step)
            raise InternalError(
                f"generated code refuses {step}, which the reference takes to {transition.state}"
            )
        number, successor = steps[step]
        if number in dict(self._transitions.broken(packed)):
            return self.program.reference.apply(state, step)
        after = self._transitions.unpack(successor)
        self._after = after, successor
        return Transition(step, after, self._transitions.events(packed, number))

    def holds(self, state: State, predicate: str) -> bool:
        """Return True if a predicate is true in `state`."""
        return self.program.reference.holds(state, predicate)

    def _steps(self, state: State) -> tuple[int, dict[Step, tuple[int, int]]]:
        """Return the packed state and its enabled steps, in the order of the reference, each with its number
        and successor.
        """
        if self._latest is None or self._latest[0] is not state:
            transitions = self._transitions
            packed = self._after[1] if state is self._after[0] else transitions.pack(state)
            moves = sorted(transitions.successors(packed), key=lambda move: transitions.order(move[0]))
            self._latest = (
                state,
                packed,
                {transitions.step(number): (number, after) for number, after in moves},
            )
        return self._latest[1], self._latest[2]
