"""What does an engine offer to the search? A `Space`: numbered states, found in blocks, each with its parent; and what can be asked of them.

The search decides what is asked, in which order and when to stop; the space knows how states are stored and successors found. A space over
generated Python, a space over any `Machine`, and a native kernel are the same to the search:

1. States are numbered from 0 in the order of discovery: initial states first, then level by level.
2. `expand` finds the successors of a block of states and appends what is new; `parent` of a new state is the state it was found from.
3. What goes wrong on the way is a `Finding`, never an exception: a step breaks properties, or the specification has an error there.

This file knows nothing of properties, bounds, packing or Python source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from antiphon.model.ground.form import Expression
from antiphon.spec.lang import State, Step

if TYPE_CHECKING:
    from antiphon.model.explicit.obligations import Future
    from antiphon.model.explicit.search import Search

NO_PARENT = 0xFFFFFFFF
"""The parent of an initial state."""


@dataclass(frozen=True)
class Finding:
    """What happened in state number `state`: `step` breaks `properties`, or (`error`) the specification cannot be executed there.

    `step` is None when the error is not tied to one step: it lies in a predicate, or the machine did not say.
    """

    state: int
    step: Step | None
    properties: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Block:
    """What `expand` saw: transitions (self loops count), and findings in order of states."""

    transitions: int
    findings: tuple[Finding, ...] = ()


class Space(Protocol):
    """The reachable states of one program, as far as they were asked for."""

    engine: str
    """The name of the engine, for provenance."""
    block: int
    """How many states to expand in one call: enough to be fast, few enough to stop in time."""

    def __len__(self) -> int:
        """How many states are known."""

    def expand(self, first: int, last: int) -> Block:
        """Find the successors of the states first..last - 1. Each state is expanded once, in order."""

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """For the states first..last - 1 in order: (state, predicate, value) for values that are False (invariants) or True (witnesses).

        Raises:
            PredicateError: a predicate cannot be evaluated in a state.
        """

    def onward(self, state: int) -> tuple[bool, list[int]]:
        """Whether no step other than faults is enabled, and the numbers of the known states that such steps lead to (repeated or not)."""

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """What `obligations.futures` says of this space."""

    def truth(self, predicate: str) -> bytearray:
        """For every known state 1 when the predicate is true in it, else 0."""

    def parent(self, state: int) -> int:
        """The number of the state that this one was found from; NO_PARENT for an initial one."""

    def value(self, state: int) -> State:
        """The state as a tuple of values."""

    def stands_for(self, state: int, value: State) -> bool:
        """Whether this is the value of the state, or of one that the state stands for."""

    def left_out(self) -> tuple[str, ...]:
        """The variables that are not kept, wholly or in part, because they do not matter to what is asked."""

    def represented(self) -> int:
        """How many states the known ones stand for: more than they are where a reduction left some out."""

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""

    def go_on(self, search: Search) -> None:
        """Let a search that has not begun know what is known of a former one, if there was one."""

    def keep(self, search: Search, *, last: bool = False) -> None:
        """The search has come this far; a space that can write it down does, now and then and at the `last`."""

    def release(self) -> None:
        """Give back memory that can be given back, if there is any."""

    def coverage(self) -> dict[str, int]:
        """For each action with how many different argument tuples it was enabled somewhere."""


class PackedSpace(Space, Protocol):
    """A space that keeps its states as numbers, and can be asked for any condition of the ground form."""

    def union(self) -> tuple[int | bool, ...]:
        """The leaves of all known states joined bit by bit: of a set what it holds in some state; of others nothing that means anything."""

    def guards(self) -> Mapping[Step, Expression]:
        """The guards of steps, as far as they were grounded for the search and kept."""

    def where(self, condition: Expression) -> bytearray:
        """For every known state 1 when the condition is true in it, else 0."""


class Refused(Exception):
    """A directory holds the search of another program, or what is no checkpoint."""


class PredicateError(Exception):
    """A predicate cannot be evaluated in state number `state`."""

    def __init__(self, state: int, predicate: str) -> None:
        self.state, self.predicate = state, predicate
        super().__init__(f"{predicate} cannot be evaluated in state {state}")
