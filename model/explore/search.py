"""States are seen breadth-first, level by level, so the first violation that is found is a shortest one.

The search goes on after a violation until every property that was asked for is decided or all states are seen. What was decided stays decided
when a bound ends the search; what was not is unknown, with the bound as the reason.

This file knows nothing of how states are stored, of traces, or of verdicts; obligations are judged afterwards, on the explored states.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping

from antiphon.model.bounds import (
    ALL_DECIDED,
    FIRST_VIOLATION,
    INTERRUPTED,
    UNBOUNDED,
    WRONG_SPECIFICATION,
    Bounds,
    Progress,
    Stop,
    StopReason,
    no_memory,
)
from antiphon.model.engines.interface import NO_PARENT, Decision, Finding, Position, PredicateError, ResumableSpace, StateSpace
from antiphon.spec.lang import State

BLOCKS_TO_A_BOUND = 16


class Search:
    """A breadth-first search of a space for what decides `watched` predicates and `services` (names of properties that steps may break).

    After `run`: `decided` by property, `error` (the first error of the specification), `stopped` (why it ended early, or None), `complete`.
    `extra` are further predicates over states, as witnesses.
    """

    def __init__(
        self,
        space: StateSpace,
        *,
        watched: Iterable[str] = (),
        services: Iterable[str] = (),
        exhaustive: bool = True,
        stop_at: Iterable[str] = (),
        bounds: Bounds = UNBOUNDED,
        progress: Callable[[Progress], None] | None = None,
        extra: Mapping[str, Callable[[State], bool]] | None = None,
    ) -> None:
        self.space, self.bounds, self.exhaustive = space, bounds, exhaustive
        self.open = list(watched)
        self.services = list(services)
        self.stop_at = set(stop_at)
        self.extra = dict(extra or {})
        self.error: Finding | None = None
        self.stopped: Stop | None = None
        self.complete = False
        self.position = Position()
        self.seconds = 0.0
        self._storage = space if isinstance(space, ResumableSpace) else None
        self._progress = progress
        self._began = self._before = 0.0
        self._resume()

    @property
    def decided(self) -> dict[str, Decision]:
        """What decided each property that is decided."""
        return self.position.decided

    @property
    def expanded(self) -> int:
        """So many states have their successors."""
        return self.position.expanded

    @property
    def transitions(self) -> int:
        """So many transitions were seen."""
        return self.position.transitions

    @property
    def depth(self) -> int:
        """The number of steps to the deepest state found."""
        return max(0, len(path(self.space, len(self.space) - 1)) - 1) if len(self.space) else 0

    def run(self) -> None:
        """Search until everything is decided or seen, a bound is hit, or the user interrupts."""
        self._began = time.monotonic()
        collecting = gc.isenabled()
        gc.disable()
        try:
            self._levels()
        except KeyboardInterrupt:
            self.stopped = INTERRUPTED
        except MemoryError as error:
            self.stopped = no_memory(error)
        finally:
            if collecting:
                gc.enable()
            self.seconds = self.position.seconds = self._before + time.monotonic() - self._began
        if self.stopped is not INTERRUPTED:
            self._checkpoint(last=True)
            self._tell()

    def _resume(self) -> None:
        """Begin where the search that used this storage before had come to."""
        position = self._storage.resume() if self._storage is not None else None
        if position is not None:
            self.position, self._before = position, position.seconds
            self.open = [name for name in self.open if name not in position.decided]

    def _checkpoint(self, *, last: bool = False) -> None:
        if self._storage is not None:
            self.position.seconds = self._before + time.monotonic() - self._began
            self._storage.checkpoint(self.position, last=last)

    def _levels(self) -> None:
        space, at = self.space, self.position
        if not at.level_end:
            self._screen(0, len(space))
        while at.expanded < len(space):
            if at.expanded == at.level_end or not at.level_end:
                at.level_end = len(space)
            end = at.level_end
            self.stopped = self._enough() or self.bounds.too_deep(len(at.levels) - 1)
            if self.stopped is not None:
                return
            while at.expanded < end:
                self._block(end)
                self._checkpoint()
                self.stopped = self._enough() or (self._bound_reached() if at.expanded < len(space) else None)
                if self.stopped is not None:
                    return
            at.levels.append(end)
        self.complete = self.error is None

    def _block(self, end: int) -> None:
        """Expand one block of the level that ends before state `end`, and look at what it found."""
        space, at = self.space, self.position
        size = space.block
        if self.bounds.states is not None:
            size = max(1, min(size, (self.bounds.states - len(space)) // BLOCKS_TO_A_BOUND))
        known = len(space)
        last = min(end, at.expanded + size)
        block = space.expand(at.expanded, last)
        at.expanded = last
        at.transitions += block.transitions
        for finding in block.findings:
            self._note(finding)
        self._screen(known, len(space))
        self._tell()

    def _note(self, finding: Finding) -> None:
        if finding.error:
            self.error = self.error or finding
        for name in finding.properties:
            if name in self.services and name not in self.decided:
                self.decided[name] = Decision(finding.state, finding.step)
            self.space.mute(name)

    def _screen(self, first: int, last: int) -> None:
        try:
            for state, name, _ in self.space.screen(tuple(self.open), first, last):
                self.decided.setdefault(name, Decision(state))
        except PredicateError as error:
            self.error = self.error or Finding(error.state, None, error=error.predicate)
        self.open = [name for name in self.open if name not in self.decided]
        for name, test in self.extra.items():
            if name not in self.decided:
                found = next((state for state in range(first, last) if test(self.space.value(state))), None)
                if found is not None:
                    self.decided[name] = Decision(found)

    def _enough(self) -> Stop | None:
        """Why the search need not go on, if it need not."""
        if self.error is not None:
            return WRONG_SPECIFICATION
        if self.stop_at & self.decided.keys():
            return FIRST_VIOLATION
        asked = [*self.open, *self.services, *self.extra]
        if not self.exhaustive and all(name in self.decided for name in asked):
            return ALL_DECIDED
        return None

    def _bound_reached(self) -> Stop | None:
        """The bound that is hit; for want of memory only when the space can give none back."""
        stop = self.bounds.reached(len(self.space), time.monotonic() - self._began)
        if stop is not None and stop.reason is StopReason.MEMORY and self._storage is not None:
            self._storage.release()
            stop = self.bounds.reached(len(self.space), time.monotonic() - self._began)
        return stop

    def _tell(self) -> None:
        if self._progress is not None:
            at, now = self.position, time.monotonic() - self._began
            states = len(self.space)
            self._progress(Progress(states, at.transitions, len(at.levels) - 1, states - at.expanded, now))


def path(space: StateSpace, state: int) -> list[int]:
    """The numbers of the states on the way from an initial state to this one, both included."""
    numbers = [state]
    while (parent := space.parent(numbers[-1])) != NO_PARENT:
        numbers.append(parent)
    return numbers[::-1]
