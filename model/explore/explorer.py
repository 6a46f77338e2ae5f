"""Breadth-first walk, the only one: a space is expanded level by level within bounds, and a visitor sees the
results.

States are found in the order of their distance, so a visitor sees first the states with a shortest way. The
visitor may end the walk; so do bounds, errors of the specification, and the user.

This file knows nothing of how states are stored, of traces, of properties or of verdicts.
"""

from __future__ import annotations

import gc
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence

from antiphon.model.bounds import (
    INTERRUPTED,
    UNBOUNDED,
    WRONG_SPECIFICATION,
    Bounds,
    Enough,
    Progress,
    Stop,
    StopReason,
    no_memory,
)
from antiphon.model.engines.interface import (
    NO_PARENT,
    Expandable,
    Finding,
    LevelSpace,
    Position,
    ResumableSpace,
    StateSpace,
    Transitions,
)
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.limits import begun
from antiphon.spec.lang import State

BLOCKS_TO_A_BOUND = 16


class Visitor:
    """Listener to a walk; a visitor overrides the methods that it wants."""

    def begin(self, position: Position) -> None:
        """Begin a walk: with an empty position, or with that of an earlier walk."""

    def states(self, first: int, last: int) -> None:
        """Receive the states first..last - 1, which were found."""

    def transitions(self, state: int, moves: Sequence[tuple[int, int]]) -> None:
        """Receive all transitions of a state: the number of each step, and of the next state; called in a
        `walk` only.
        """

    def finding(self, finding: Finding) -> None:
        """Receive a finding: a step breaks properties, or the specification has an error. The walk ends after
        the level that has the error, so that every engine has seen the same.
        """

    def enough(self) -> Stop | None:
        """Return a reason to end the walk now, or None to go on."""
        return None


class Explorer:
    """A walk over a space.

    Attributes:
        stopped: why the walk ended early, or None.
        complete: whether every reachable state was seen and expanded.
        error: the first error of the specification.
        position: how far the walk is.
        seconds: the time since the question was asked (`limits`), plus the time `earlier` of the walk that
            this walk continues.
    """

    def __init__(
        self,
        space: Expandable,
        visitor: Visitor,
        bounds: Bounds = UNBOUNDED,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.space, self.visitor, self.bounds = space, visitor, bounds
        self.error: Finding | None = None
        self.stopped: Stop | None = None
        self.complete = False
        self.seconds = 0.0
        self._storage = space if isinstance(space, ResumableSpace) else None
        self._progress = progress
        left = self._storage.resume() if self._storage is not None else None
        self.position = left or Position()
        self.earlier, self._began = self.position.seconds, 0.0
        visitor.begin(self.position)

    @property
    def expanded(self) -> int:
        """Return the number of states whose successors are known."""
        return self.position.expanded

    @property
    def transitions(self) -> int:
        """Return the number of transitions that were seen."""
        return self.position.transitions

    @property
    def depth(self) -> int:
        """Return the number of steps to the deepest state found."""
        firsts = sorted({*self.position.levels, self.position.level_end})
        return max(0, bisect_right(firsts, len(self.space) - 1) - 1)

    def run(self) -> None:
        """Walk until the visitor has enough, all is seen, a bound is hit, or the user interrupts."""
        self._began = begun()
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._levels()
        except Enough as enough:
            self.stopped = enough.stop
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        except MemoryError as error:
            self.stopped = no_memory(error)
        finally:
            if collecting:
                gc.enable()
            self.seconds = self.position.seconds = self.earlier + self._elapsed()
        if self.stopped is not INTERRUPTED:
            self._checkpoint(last=True)
            self._tell()

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _levels(self) -> None:
        space, at = self.space, self.position
        if not at.level_end:
            self.visitor.states(0, len(space))
        while at.expanded < len(space):
            if at.expanded == at.level_end or not at.level_end:
                if at.levels[-1] < at.level_end:  # the level had ended when the search was killed
                    at.levels.append(at.level_end)
                at.level_end = len(space)
            end = at.level_end
            self.stopped = self._enough() or self.bounds.too_deep(len(at.levels) - 1) or self.bound_reached()
            if self.stopped is not None:
                return
            while at.expanded < end:
                self._block(end)
                self._checkpoint()
                enough = self.visitor.enough()
                self.stopped = enough or (self.bound_reached() if at.expanded < len(space) else None)
                if self.stopped is not None:
                    return
            at.levels.append(end)
        self.stopped = WRONG_SPECIFICATION if self.error is not None else None
        self.complete = self.stopped is None

    def _block(self, end: int) -> None:
        """Expand one block of the level that ends before state `end`, and show the visitor what it found."""
        space, at = self.space, self.position
        size = space.block
        if self.bounds.states is not None and not isinstance(space, LevelSpace):
            size = max(1, min(size, (self.bounds.states - len(space)) // BLOCKS_TO_A_BOUND))
        known = len(space)
        last = min(end, at.expanded + size)
        block = space.expand(at.expanded, last)
        at.expanded = last
        at.transitions += block.transitions
        for finding in block.findings:
            if finding.error:
                self.error = self.error or finding
            self.visitor.finding(finding)
        self.visitor.states(known, len(space))
        self._tell()

    def _enough(self) -> Stop | None:
        return WRONG_SPECIFICATION if self.error is not None else self.visitor.enough()

    def bound_reached(self) -> Stop | None:
        """Return the bound that is reached, or None; the bound of memory counts only when the space can
        release no memory.
        """
        stop = self.bounds.reached(len(self.space), self._elapsed())
        if stop is not None and stop.reason is StopReason.MEMORY and self._storage is not None:
            self._storage.release()
            stop = self.bounds.reached(len(self.space), self._elapsed())
        return stop

    def _checkpoint(self, *, last: bool = False) -> None:
        if self._storage is not None:
            self.position.seconds = self.earlier + self._elapsed()
            self._storage.checkpoint(self.position, last=last)

    def _tell(self) -> None:
        if self._progress is not None:
            at, states = self.position, len(self.space)
            self._progress(
                Progress(states, at.transitions, len(at.levels) - 1, states - at.expanded, self._elapsed())
            )


def walk(
    transitions: Transitions,
    visitor: Visitor,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[Progress], None] | None = None,
    *,
    initial: Sequence[State] | None = None,
) -> tuple[TransitionSpace, Explorer]:
    """Walk every transition from the states `initial`, or from the program's initial ones; the visitor sees
    each.
    """
    space = TransitionSpace(transitions, initial, visit=visitor.transitions)
    explorer = Explorer(space, visitor, bounds, progress)
    explorer.run()
    return space, explorer


def path(space: StateSpace, state: int) -> list[int]:
    """Return the numbers of the states on the way from an initial state to this state, both included."""
    numbers = [state]
    while (parent := space.parent(numbers[-1])) != NO_PARENT:
        numbers.append(parent)
    return numbers[::-1]
