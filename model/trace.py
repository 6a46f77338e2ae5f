"""Runs as traces: an initial state and transitions, replayable step by step; every counterexample and every
witness is a trace.

A lasso is a run that comes back: its last state is an earlier one, from which the steps in between repeat for
ever.

A trace stores steps only by action and arguments; states, events and refusals come from replaying it on a
machine, so that a trace of a compiled engine is always shown as CPython executes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.spec.lang import Disabled, Machine, Program, State, Step, Transition
from antiphon.spec.lang.errors import Told


class ReplayError(Told):
    """Error: a trace does not run on the specification at hand; the message says at which step and why."""


@dataclass(frozen=True, repr=False)
class Trace:
    """Run of `program` from `start`; `shows` names the property or witness, `why` is one sentence about its
    last state.

    `loop` is the number of the state, 0 for the first, to which the last state is equal, so that the steps
    from there on repeat for ever. If it is the number of the last state itself, the run stays there. None:
    the run ends.

    `initial`: whether `start` is an initial state. A counterexample to induction begins in any state of the
    domains, reachable or not.
    """

    program: Program
    start: State
    transitions: tuple[Transition, ...]
    shows: str = ""
    why: str = ""
    loop: int | None = None
    initial: bool = True

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps of the run, without states and events."""
        return tuple(transition.step for transition in self.transitions)

    @property
    def states(self) -> tuple[State, ...]:
        """Return all states of the run, one more than there are steps."""
        return (self.start, *(transition.state for transition in self.transitions))

    def __repr__(self) -> str:
        return f"<Trace of {self.program.name}: {self.shows or 'a run'}, {len(self)} steps>"

    def __len__(self) -> int:
        return len(self.transitions)


def replay(
    program: Program,
    start: State,
    steps: Sequence[Step],
    *,
    machine: Machine | None = None,
    shows: str = "",
    why: str = "",
    loop: int | None = None,
) -> Trace:
    """Return the trace of `steps` from `start`, executed on `machine` (the reference when None).

    Raises:
        ReplayError: `start` is not an initial state, or a step is not enabled; the message names the step and
            the guard. Or `loop` is not the number of a state to which the last one is equal.
    """
    runner: Machine = machine or program.reference
    if start not in list(runner.initial()):
        raise ReplayError(
            f"{program.name}: the trace does not begin in an initial state of this specification"
        )
    transitions: list[Transition] = []
    state = start
    for number, step in enumerate(steps, 1):
        try:
            transition = runner.apply(state, step)
        except Disabled as guard:
            raise ReplayError(f"{program.name}: step {number}, {step}, is not enabled: {guard}") from guard
        transitions.append(transition)
        state = transition.state
    trace = Trace(program, start, tuple(transitions), shows, why, loop)
    if loop is not None and not (0 <= loop <= len(steps) and trace.states[loop] == trace.states[-1]):
        raise ReplayError(f"{program.name}: the run does not come back to its state number {loop}")
    return trace
