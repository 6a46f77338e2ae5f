"""Two interfaces carry every engine: the states that it found, and the transitions that it can take.

A `StateSpace` explores: numbered states, found in blocks, each with its parent, and what can be asked of
them. `Transitions` walks: every step out of a packed state, each by its number. A search needs the first; who
compares a specification with something else needs the second.

1. States are numbered from 0 in the order of discovery: initial states first, then level by level.
2. `expand` finds the successors of a block of states and appends what is new; `parent` of a new state is the
   state it was found from.
3. What goes wrong on the way is a `Finding`, never an exception: a step breaks properties, or the
   specification has an error there.

What only some engines can do stands apart: a `WholeSpace` can be gone over again, a `ResumableSpace` can be
left and taken up again, a `ReducedSpace` leaves states out, a `LevelSpace` goes by whole levels.

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
"""The parent of an initial state."""


@dataclass(frozen=True)
class Finding:
    """A finding in state number `state`: `step` breaks `properties`, or (`error`) the specification cannot be
    executed there.

    `step` is None when the error is not tied to one step: it lies in a predicate, or the machine did not say.
    """

    state: int
    step: Step | None
    properties: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Block:
    """The result of `expand`: transitions (self loops count), and findings in order of states."""

    transitions: int
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Future:
    """The first state in which something is quiescent and false, the first from which it is irrecoverable;
    None where there is none.
    """

    quiescent: int | None
    irrecoverable: int | None


@dataclass(frozen=True)
class Decision:
    """The decision of a property: in state number `state` (or, with `step`, by that step from it)."""

    state: int
    step: Step | None = None


@dataclass
class Position:
    """The position of a breadth-first search: enough for a later one to take it up.

    The states 0..`expanded` - 1 have their successors; the present level ends before state `level_end`;
    `levels` are the first states of all levels; `seconds` is what it took so far; `asked` are the properties
    that all states and steps so far were asked about; None: whatever is asked.
    """

    expanded: int = 0
    transitions: int = 0
    level_end: int = 0
    levels: list[int] = field(default_factory=lambda: [0])
    decided: dict[str, Decision] = field(default_factory=dict)
    seconds: float = 0.0
    asked: list[str] | None = None


Executable = tuple[list[tuple[int, int]], list[tuple[int, tuple[str, ...]]]]
"""Enabled steps by number, with the packed states that they lead to; and those that break properties, each
with these."""


class Expandable(Protocol):
    """Numbered states that are found block by block: all that a breadth-first walk needs."""

    @property
    def block(self) -> int:
        """Number of states to expand in one call: enough to be fast, few enough to stop in time."""

    def __len__(self) -> int:
        """Return the number of known states."""

    def expand(self, first: int, last: int) -> Block:
        """Find the successors of the states first..last - 1. Each state is expanded once, in order."""


class StateSpace(Expandable, Protocol):
    """The reachable states of one program, as far as they were asked for."""

    engine: str
    """The name of the engine, for provenance."""

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """For the states first..last - 1 in order: (state, predicate, value) for values that are False
        (invariants) or True (witnesses).

        Raises:
            PredicateError: a predicate cannot be evaluated in a state.
        """

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""

    def parent(self, state: int) -> int:
        """The number of the state that this one was found from; NO_PARENT for an initial one."""

    def value(self, state: int) -> State:
        """The state as a tuple of values."""

    def stands_for(self, state: int, value: State) -> bool:
        """Return True if this is the value of the state, or of one that the state stands for."""

    def coverage(self) -> dict[str, int]:
        """For each action with how many different argument tuples it was enabled somewhere."""


@runtime_checkable
class WholeSpace(StateSpace, Protocol):
    """A space that holds all known states at once, so that it can be gone over again, and back."""

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Return True if only faults can happen, and the numbers of the known states that other steps lead to
        (repeated or not).
        """

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """Return the result of `recovery.futures` for this space."""

    def truth(self, predicate: str) -> bytearray:
        """For every known state 1 when the predicate is true in it, else 0."""

    def budget_limited(self, *, faults: bool = False) -> bytearray | None:
        """For every known state 1 where only a spent budget keeps a step of the algorithm back, with `faults`
        also one of these; None when there are no such steps.
        """

    def together(self, slots: Sequence[int], *, quiet: bool = False) -> frozenset[tuple[Raw, ...]]:
        """The values that some slots of the layout take together in the known states; with `quiet` only where
        nothing but faults can happen.
        """


@runtime_checkable
class LevelSpace(Protocol):
    """A space that expands whole levels only, and keeps no way back over their edges: it is larger than
    memory. Bounds are looked at between levels.
    """

    def stuck(self) -> int | None:
        """The first of the expanded states in which nothing but faults can happen; None when there is
        none.
        """


@runtime_checkable
class ResumableSpace(Protocol):
    """A space that writes down how far a search is, so that a later one can take it up, and that can do with
    less memory.
    """

    def resume(self) -> Position | None:
        """The position of the search that used this storage before, when there was one."""

    def checkpoint(self, position: Position, *, last: bool = False) -> None:
        """The search has come this far; it is written down now and then, and at the `last`."""

    def release(self) -> None:
        """Give back memory that can be given back."""


@runtime_checkable
class ReducedSpace(Protocol):
    """A space that may keep one state for several, or less than the whole of each."""

    def left_out(self) -> tuple[str, ...]:
        """The variables that are not kept, wholly or in part, because they do not matter to what is asked."""

    def represented(self) -> int:
        """Return the number of states for which the known ones stand: more where a reduction left some
        out.
        """


class Transitions(Protocol):
    """All transitions of one program on packed states; `packing` says where each variable lies.

    Steps are numbered from 0 as they are first met.
    """

    program: Program
    packing: Packing
    name: str
    """The name of the engine, for provenance."""

    def pack(self, state: State) -> int:
        """A state as an integer."""

    def unpack(self, packed: int) -> State:
        """An integer as a state."""

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Every enabled step by number, with the packed state it leads to: each step once, always in the same
        order.

        Raises:
            SpecError: the specification cannot be executed in this state; a `StepError` says by which step.
        """

    def executable(self, packed: int) -> Executable:
        """The same where some step cannot be executed: the other steps. Slow; for states with an error."""

    def step(self, number: int) -> Step:
        """The step of this number."""

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """Return the events of the step in this state, in order; the step must be enabled there."""

    def broken(self, packed: int) -> Sequence[tuple[int, tuple[str, ...]]]:
        """The steps that break properties in this state, each with those."""

    def predicate(self, name: str) -> Callable[[int], bool]:
        """The predicate of this name as a function of packed states; it raises SpecError where it cannot be
        evaluated.
        """

    def formula(self, call: ir.Call, values: Mapping[str, Any]) -> Callable[[int], bool]:
        """A call of a helper or predicate, with (type, value) for the names among its arguments; else as
        `predicate`.
        """

    def budget_limited(
        self, union: int, chosen: Callable[[Step], bool] | None = None, *, faults: bool = False
    ) -> Callable[[int], bool] | None:
        """Return a condition: only a spent budget keeps a step of the algorithm back, in states whose sets
        hold no more than those of `union`.

        None when there are no such steps. `chosen` says of which steps; with `faults` those count too.
        """

    def coverage(self) -> dict[str, int]:
        """For each action with how many argument tuples it was enabled in some state that was asked about."""


class StepError(SpecError):
    """A step cannot be executed: `step`, and what is wrong with the specification there."""

    def __init__(self, step: Step, error: SpecError) -> None:
        self.step = step
        super().__init__(error.reason, error.at, error.instead)


class Refused(Exception):
    """A directory holds the search of another program, or what is no checkpoint."""


class PredicateError(Exception):
    """A predicate cannot be evaluated in state number `state`."""

    def __init__(self, state: int, predicate: str) -> None:
        self.state, self.predicate = state, predicate
        super().__init__(f"{predicate} cannot be evaluated in state {state}")
