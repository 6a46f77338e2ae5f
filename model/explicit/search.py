"""In which order are states seen, and when does the search stop? Breadth-first, level by level: the first violation found is a shortest one.

The search goes on after a violation until every property that was asked for is decided or all states are seen. What was decided stays decided
when a bound ends the search; what was not is unknown, with the bound as the reason.

This file knows nothing of how states are stored, of traces, or of verdicts; obligations are judged afterwards, on the explored states.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from antiphon.model.explicit.space import NO_PARENT, Finding, PredicateError, Space
from antiphon.spec.lang import State, Step

BLOCKS_TO_A_BOUND = 16
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Bounds:
    """Where to stop: states, seconds, depth in steps, resident memory of this process in MiB; None is no bound."""

    states: int | None = None
    seconds: float | None = None
    depth: int | None = None
    memory_mb: int | None = None


@dataclass(frozen=True)
class Progress:
    """How far the search is: `queue` states are found and not yet expanded; `rate` is states found a second."""

    states: int
    transitions: int
    depth: int
    queue: int
    seconds: float

    @property
    def rate(self) -> float:
        """States found a second."""
        return self.states / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Decision:
    """What decided a property: in state number `state` (or, with `step`, by that step from it)."""

    state: int
    step: Step | None = None


class Search:
    """A breadth-first search of a space for what decides `watched` predicates and `services` (names of properties that steps may break).

    After `run`: `decided` by property, `error` (the first error of the specification), `stopped` (why it ended early, or empty), `complete`.
    `extra` are further predicates over states, as witnesses.
    """

    def __init__(
        self,
        space: Space,
        *,
        watched: Iterable[str] = (),
        services: Iterable[str] = (),
        exhaustive: bool = True,
        stop_at: Iterable[str] = (),
        bounds: Bounds = Bounds(),
        progress: Callable[[Progress], None] | None = None,
        extra: Mapping[str, Callable[[State], bool]] | None = None,
    ) -> None:
        self.space, self.bounds, self.exhaustive = space, bounds, exhaustive
        self.open = list(watched)
        self.services = list(services)
        self.stop_at = set(stop_at)
        self.extra = dict(extra or {})
        self.decided: dict[str, Decision] = {}
        self.error: Finding | None = None
        self.stopped = ""
        self.complete = False
        self.transitions = 0
        self.expanded = 0
        self.levels = [0]
        self.level_end = 0
        self.before = 0.0
        self.seconds = 0.0
        self._progress = progress
        self._began = 0.0

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
            self.stopped = str(error) or "no memory left"
        finally:
            if collecting:
                gc.enable()
            self.seconds = self.elapsed()
        self.space.keep(self, last=True)
        if self.stopped != INTERRUPTED:
            self._tell()

    def elapsed(self) -> float:
        """Seconds of search so far, with those before it went on from a checkpoint."""
        return self.before + time.monotonic() - self._began

    def _levels(self) -> None:
        space = self.space
        if not self.level_end:
            self._screen(0, len(space))
        while self.expanded < len(space):
            if self.expanded == self.level_end or not self.level_end:
                self.level_end = len(space)
            end = self.level_end
            if self._decided_all():
                return
            if self.bounds.depth is not None and len(self.levels) > self.bounds.depth:
                self.stopped = f"the bound of {self.bounds.depth} steps"
                return
            while self.expanded < end:
                self._block(end)
                space.keep(self)
                if self._decided_all():
                    return
                self.stopped = self._bound_hit() if self.expanded < len(space) else ""
                if self.stopped:
                    return
            self.levels.append(end)
        self.complete = self.error is None

    def _block(self, end: int) -> None:
        """Expand one block of the level that ends before state `end`, and look at what it found."""
        space, size = self.space, self.space.block
        if self.bounds.states is not None:
            size = max(1, min(size, (self.bounds.states - len(space)) // BLOCKS_TO_A_BOUND))
        known = len(space)
        last = min(end, self.expanded + size)
        block = space.expand(self.expanded, last)
        self.expanded = last
        self.transitions += block.transitions
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

    def _decided_all(self) -> bool:
        if self.error is not None:
            self.stopped = "the specification has an error"
            return True
        if self.stop_at & self.decided.keys():
            self.stopped = "stopped at the first violation"
            return True
        asked = [*self.open, *self.services, *self.extra]
        if not self.exhaustive and all(name in self.decided for name in asked):
            self.stopped = "everything asked was decided"
            return True
        return False

    def _bound_hit(self) -> str:
        bounds = self.bounds
        if bounds.states is not None and len(self.space) >= bounds.states:
            return states_bound(bounds.states)
        if bounds.seconds is not None and time.monotonic() - self._began >= bounds.seconds:
            return f"the bound of {bounds.seconds:g} seconds"
        if bounds.memory_mb is not None and resident_mb() >= bounds.memory_mb:
            self.space.release()
            if resident_mb() >= bounds.memory_mb:
                return f"the bound of {bounds.memory_mb:,} MiB"
        return ""

    def _tell(self) -> None:
        if self._progress is not None:
            now = time.monotonic() - self._began
            states = len(self.space)
            self._progress(Progress(states, self.transitions, len(self.levels) - 1, states - self.expanded, now))


def states_bound(states: int) -> str:
    """Why a search stopped that was to find at most so many states."""
    return f"the bound of {states:,} states"


def path(space: Space, state: int) -> list[int]:
    """The numbers of the states on the way from an initial state to this one, both included."""
    numbers = [state]
    while (parent := space.parent(numbers[-1])) != NO_PARENT:
        numbers.append(parent)
    return numbers[::-1]


def resident_mb() -> float:
    """The resident memory of this process in MiB; its peak where the system does not tell the present value."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, ValueError, IndexError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
