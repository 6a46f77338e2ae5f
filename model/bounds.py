"""Bounds of every exploration, and the reasons why one stops.

This file knows nothing of what is explored.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from antiphon.spec.lang.errors import ArgumentError


class StopReason(Enum):
    """Reason why an exploration ended before it saw every state; UNDECIDED: the engine could not go on by
    itself.
    """

    STATES = "states"
    SECONDS = "seconds"
    DEPTH = "depth"
    TRANSITIONS = "transitions"
    MEMORY = "memory"
    NO_MEMORY = "no memory"
    INTERRUPTED = "interrupted"
    ERROR = "error"
    VIOLATION = "violation"
    DECIDED = "decided"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Stop:
    """End of an exploration: its reason, and the reason in words (`the bound of 1,000 states`)."""

    reason: StopReason
    words: str

    def __str__(self) -> str:
        return self.words

    @property
    def note(self) -> str:
        """Return the sentence of a report on a search that ended so."""
        begins = "ended early" if self.reason is StopReason.DECIDED else "is not complete"
        return f"the search {begins}: {self.words}"


class Enough(Exception):
    """Signal that ends an exploration at once, with the reason: a bound is hit, or a visitor has
    seen enough.
    """

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        super().__init__(str(stop))


INTERRUPTED = Stop(StopReason.INTERRUPTED, "interrupted")
WRONG_SPECIFICATION = Stop(StopReason.ERROR, "the specification has an error")
FIRST_VIOLATION = Stop(StopReason.VIOLATION, "stopped at the first violation")
ALL_DECIDED = Stop(StopReason.DECIDED, "everything asked was decided")


@dataclass(frozen=True)
class Bounds:
    """Bounds of a search: states, seconds, depth in steps, resident memory of this process in MiB; None is no
    bound.

    A search may take `part` of the seconds, so that the rest is left for judging its result.
    """

    states: int | None = None
    seconds: float | None = None
    depth: int | None = None
    memory_mb: int | None = None
    part: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a bound below 0.

        Raises:
            ArgumentError: a bound is below 0, so that it would hide everything.
        """
        for name, value in vars(self).items():
            if value is not None and value < 0:
                raise ArgumentError(f"max_{name}={value!r}: a bound is not negative; None is no bound")

    def reached(self, states: int, seconds: float) -> Stop | None:
        """Return the bound that is reached after `states` states and `seconds` seconds, or None. The bound of
        depth is left to `too_deep`.
        """
        if self.states is not None and states >= self.states:
            return Stop(StopReason.STATES, f"the bound of {self.states:,} states")
        if self.seconds is not None and seconds >= self.seconds * self.part:
            return Stop(StopReason.SECONDS, f"the bound of {self.seconds:g} seconds")
        if self.memory_mb is not None and resident_mb() >= self.memory_mb:
            return Stop(StopReason.MEMORY, f"the bound of {self.memory_mb:,} MiB")
        return None

    def too_deep(self, depth: int) -> Stop | None:
        """Return the bound that forbids taking steps from states at this depth, or None."""
        if self.depth is not None and depth >= self.depth:
            return Stop(StopReason.DEPTH, f"the bound of {self.depth} steps")
        return None


UNBOUNDED = Bounds()
"""No bound at all."""


def runs_asked(number: int | None, usual: int, seconds: float | None) -> int | None:
    """Return how many runs a question asks for: the number that it says; without a number and without a bound
    of seconds `usual`; with seconds alone None, which is as many as the time permits.
    """
    return usual if number is None and seconds is None else number


def cut_short(stop: Stop | None, asked: int | None) -> bool:
    """Return True if a bound has kept a question from the runs that it asked for; where it asked for as many
    as the time permits, the bound of seconds has not.
    """
    return stop is not None and not (asked is None and stop.reason is StopReason.SECONDS)


def no_memory(error: MemoryError) -> Stop:
    """Return the stop of an exploration for which memory, or a table, has no room left."""
    return Stop(StopReason.NO_MEMORY, str(error) or "no memory left")


@dataclass(frozen=True)
class Progress:
    """Progress of an exploration: `queue` states are found and not yet expanded; `rate` is states found a
    second; `phase` names the work other than searching, if there is any.
    """

    states: int
    transitions: int
    depth: int
    queue: int
    seconds: float
    phase: str = ""

    @property
    def rate(self) -> float:
        """Return the number of states found per second."""
        return self.states / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Violation:
    """Violation that was found while the search goes on: the length of its run in steps, and the number of
    states found so far, or None if no states are counted.
    """

    property: str
    depth: int
    states: int | None = None

    def __str__(self) -> str:
        so_far = "" if self.states is None else f", among {self.states:,} states so far"
        return f"{self.property} is violated after {self.depth} step{'' if self.depth == 1 else 's'}{so_far}"


Violated = Callable[[Violation], None]
"""Function that a search calls once for each violated property."""


def resident_mb() -> float:
    """Return the resident memory of this process in MiB; its peak where the system does not report the
    present value.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    except (OSError, ValueError, IndexError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
