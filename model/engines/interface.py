"""Interfaces of every engine: `StateSpace` for the states that it found, `Transitions` for the steps that it
can take.

A `StateSpace` explores: numbered states, found in blocks, each with its parent, and questions about them.
`Transitions` walks: every step out of a packed state, each by its number. A search needs the first; a
comparison of a specification with something else needs the second.

1. States are numbered from 0 in the order of discovery: initial states first, then level by level.
2. `expand` finds the successors of a block of states and appends new ones; `parent` of a new state is the
   state it was found from.
3. A failure on the way is a `Finding`, never an exception: a step breaks properties, or the specification has
   an error there.

Further abilities of some engines have interfaces of their own: a `WholeSpace` keeps all states and can be
traversed again, a `ResumableSpace` can continue a search that was interrupted, a `ReducedSpace` leaves states
out, a `LevelSpace` expands whole levels.

This file knows nothing of searching, bounds, verdicts or how states are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from antiphon.model.ground.packing import Packing
from antiphon.model.ground.shape import Raw
from antiphon.spec.lang import Program, SpecError, State, Step, ir

NO_PARENT = 0xFFFFFFFF
"""Number that stands for the parent of an initial state."""


@dataclass(frozen=True)
class Finding:
    """A finding in state number `state`: `step` breaks `properties`, or (`error`) the specification cannot be
    executed there.

    `step` is None where an error lies in a predicate, or where the engine did not say by which step it came.
    """

    state: int
    step: Step | None
    properties: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Block:
    """Result of `expand`: the number of transitions (self loops count), and the findings in order of
    states.
    """

    transitions: int
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Future:
    """Judgement of one property on the explored states: the first quiescent state in which it is false, and
    the first state from which it is irrecoverable; None where there is none.
    """

    quiescent: int | None
    irrecoverable: int | None


@dataclass(frozen=True)
class Decision:
    """State in which a property was decided, or, with `step`, the step from it."""

    state: int
    step: Step | None = None


@dataclass
class Position:
    """Position of a breadth-first search, from which a later one can continue.

    The states 0..`expanded` - 1 have their successors; the present level ends before state `level_end`;
    `levels` are the first states of all levels; `seconds` is the time so far; `asked` are the properties that
    all states and steps so far were judged by; None: all properties.
    """

    expanded: int = 0
    transitions: int = 0
    level_end: int = 0
    levels: list[int] = field(default_factory=lambda: [0])
    decided: dict[str, Decision] = field(default_factory=dict)
    seconds: float = 0.0
    asked: list[str] | None = None


Executable = tuple[list[tuple[int, int]], list[tuple[int, tuple[str, ...]]]]
"""Steps of a state with an error: the enabled ones by number, with their packed next states; and those that
break properties, with these.
"""


class Expandable(Protocol):
    """Interface of numbered states that are found block by block: all that a breadth-first walk needs."""

    @property
    def block(self) -> int:
        """Return the number of states to expand in one call: large enough to be fast, small enough to stop in
        time.
        """

    def __len__(self) -> int:
        """Return the number of known states."""

    def expand(self, first: int, last: int) -> Block:
        """Find the successors of the states first..last - 1. Each state is expanded once, in order."""


class StateSpace(Expandable, Protocol):
    """Reachable states of one program that were found so far, with the questions that a search asks about
    them.
    """

    engine: str
    """Name of the engine, for provenance."""

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """Yield (state, predicate, value) in the order of the states first..last - 1, wherever an invariant
        is False or a witness is True.

        Raises:
            PredicateError: a predicate cannot be evaluated in a state.
        """

    def mute(self, property: str) -> None:
        """Report no more findings about this property from now on."""

    def parent(self, state: int) -> int:
        """Return the number of the state from which state `state` was found; NO_PARENT for an initial one."""

    def value(self, state: int) -> State:
        """Return the state with this number as a tuple of values."""

    def stands_for(self, state: int, value: State) -> bool:
        """Return True if `value` is the value of the state with this number, or of a state that it
        represents.
        """

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """


@runtime_checkable
class WholeSpace(StateSpace, Protocol):
    """Interface of a space that holds all known states at once, so that it can be traversed again, also
    backwards.
    """

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Return whether only faults can happen in a state, and the numbers of the known states to which its
        other steps lead (repeated or not).
        """

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """Return the result of `recovery.futures` for this space: when each property can still become
        true.
        """

    def truth(self, predicate: str) -> bytearray:
        """Return a byte for every known state: 1 when the predicate is true in it, else 0."""

    def budget_limited(self, *, faults: bool = False) -> bytearray | None:
        """Return a byte for every known state: 1 where only a spent budget disables a step of the algorithm
        (with `faults` also of the environment); None if no step has a budget.
        """

    def together(self, slots: Sequence[int], *, quiet: bool = False) -> frozenset[tuple[Raw, ...]]:
        """Return the combinations of values that some slots of the layout have in the known states; with
        `quiet` only where nothing but faults can happen.
        """


@runtime_checkable
class LevelSpace(Protocol):
    """Interface of a space that expands whole levels only and keeps no backward edges, since it is larger
    than memory. Bounds are checked between levels.
    """

    def stuck(self) -> int | None:
        """Return the first expanded state in which nothing but faults can happen, or None."""


@runtime_checkable
class ResumableSpace(Protocol):
    """Interface of a space that writes checkpoints, from which a later search can continue, and that can
    release memory.
    """

    def resume(self) -> Position | None:
        """Return the position of the earlier search whose states this storage holds; None if there was
        none.
        """

    def checkpoint(self, position: Position, *, last: bool = False) -> None:
        """Save the position of the search: at the `last` call, and from time to time before it."""

    def release(self) -> None:
        """Release memory that the search does not need now."""


@runtime_checkable
class ReducedSpace(Protocol):
    """Interface of a space that may keep one state for several, or only a part of each state."""

    def left_out(self) -> tuple[str, ...]:
        """Return the variables that are left out, wholly or in part, because the asked properties do not
        depend on them.
        """

    def represented(self) -> int:
        """Return the number of states that the known states represent: more than are known where a reduction
        left some out.
        """


class Transitions(Protocol):
    """Interface of all transitions of one program on packed states; `packing` says where each variable lies.

    Steps are numbered from 0 as they are first met.
    """

    program: Program
    packing: Packing
    name: str
    """Name of the engine, for provenance."""

    def pack(self, state: State) -> int:
        """Return a state as an integer."""

    def unpack(self, packed: int) -> State:
        """Return the state that a packed integer stands for."""

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Return every enabled step by number, with the packed state to which it leads: each step once,
        always in the same order.

        Raises:
            SpecError: the specification cannot be executed in this state; a `StepError` says by which step.
        """

    def executable(self, packed: int) -> Executable:
        """Return the steps of a state that can be executed, and those that break properties, where some other
        step has an error. It is slow, for states with an error only.
        """

    def step(self, number: int) -> Step:
        """Return the step of this number."""

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """Return the events of the step in this state, in order; the step must be enabled there."""

    def broken(self, packed: int) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Return the steps that break properties in this state, with those properties."""

    def predicate(self, name: str) -> Callable[[int], bool]:
        """Return the predicate of this name as a function of packed states; it raises SpecError where it
        cannot be evaluated.
        """

    def formula(self, call: ir.Call, values: Mapping[str, Any]) -> Callable[[int], bool]:
        """Return a call of a helper or predicate as a function of packed states; its arguments may contain
        names, each given with (type, value).
        """

    def budget_limited(
        self, union: int, chosen: Callable[[Step], bool] | None = None, *, faults: bool = False
    ) -> Callable[[int], bool] | None:
        """Return a function of packed states that is true where only a spent budget disables a step of the
        algorithm. It is valid for states whose sets hold no more than those of the state `union`.

        It is None when no step has a budget. `chosen` selects the steps; with `faults` steps of the
        environment count as well.
        """

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """


class StepError(SpecError):
    """Error: `step` cannot be executed, with the reason in the specification."""

    def __init__(self, step: Step, error: SpecError) -> None:
        self.step = step
        super().__init__(error.reason, error.at, error.instead)


class Refused(Exception):
    """Error: a directory holds the search of another program, or no checkpoint."""


class PredicateError(Exception):
    """Error: a predicate cannot be evaluated in state number `state`."""

    def __init__(self, state: int, predicate: str) -> None:
        self.state, self.predicate = state, predicate
        super().__init__(f"{predicate} cannot be evaluated in state {state}")
