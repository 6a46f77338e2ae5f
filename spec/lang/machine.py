"""One interface to run a specification: the reference, the engines and the bindings of implementations share
it.

A state is the tuple of the values of the variables, in order of declaration; it is immutable and hashable. A
step names an action and its arguments. Nothing here knows how a machine finds successors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.spec.lang.errors import Location

State = tuple[Any, ...]
"""Values of the variables in order of declaration; maps are tuples in key order."""


@dataclass(frozen=True)
class Step:
    """Step of a machine: an action and its arguments, in the order of its parameters. `str(step)` is for
    people.
    """

    action: str
    arguments: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class Refusal:
    """Violation of a property by a step: the condition that is false (its text `guard` and its place), the
    event that was judged, and the earlier event with which it clashes.
    """

    property: str
    guard: str
    at: Location
    event: object = None
    clash: object = None

    def __str__(self) -> str:
        against = f", clashes with {self.clash}" if self.clash is not None else ""
        judged = f"{self.event} breaks " if self.event is not None else ""
        failed = "" if self.guard == "False" else f": {self.guard} is false"
        return f"{judged}{self.property}{failed}{against} ({self.at})"


@dataclass(frozen=True)
class Transition:
    """The effect of one step: the next state, the events in order, the properties that it breaks."""

    step: Step
    state: State
    events: tuple[Any, ...] = ()
    refused: tuple[Refusal, ...] = ()


class Machine(Protocol):
    """Interface of a runnable specification: initial states, enabled steps, successors, predicates. Engines
    and conformance take a `Machine` or a `Program`, nothing else.
    """

    def initial(self) -> Sequence[State]:
        """Return the initial states, without repetition, in a fixed order."""

    def enabled(self, state: State) -> Iterable[Step]:
        """Return the steps enabled in `state`, in a fixed order: actions as declared, arguments in domain
        order.
        """

    def apply(self, state: State, step: Step) -> Transition:
        """Take `step` in `state`, and return its one transition.

        Raises:
            Disabled: the step is not enabled.
            SpecError: the specification itself is wrong (a value leaves its domain, None where something must
                be).
        """

    def holds(self, state: State, predicate: str) -> bool:
        """Return True if an invariant, a witness or an obligation is true in `state`."""
