"""Run of both sides: takes steps, compares after each, and counts the transitions that were taken.

This module knows neither Hypothesis nor the choice of the steps.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from antiphon.conformance.compare.bindings import BindingError
from antiphon.conformance.compare.lockstep import Comparison, Differs
from antiphon.model.bounds import Enough, Stop, StopReason
from antiphon.spec.lang import SpecError, State, Step
from antiphon.spec.lang.watch import working

T = TypeVar("T")


class Diverged(AssertionError):
    """Run in which the two sides differ: its initial state, its steps, the difference, and its seed of the
    global `random`.
    """

    def __init__(self, start: State, steps: list[Step], differs: Differs, chance: int) -> None:
        self.start, self.steps, self.differs, self.chance = start, steps, differs, chance
        super().__init__(str(differs))


class Spent(KeyboardInterrupt):
    """Error: no more runs, because a bound is hit or shrinking has used its runs. Hypothesis lets it pass
    through.
    """

    def __init__(self, stop: Stop | None = None) -> None:
        self.stop = stop
        super().__init__(str(stop))


class AllTaken(Spent):
    """Error: no more runs, because all that were asked for have been taken."""


@dataclass
class Tally:
    """Counts over all runs; `runs` counts those up to the first failure, `shrinks` those after it, and `most`
    is the largest value of `runs`, or None.

    `graph` maps each seen state of the specification to its enabled steps, each with the state that it led
    to, or None if it was not taken. `met` counts the taken ones, `actions` all steps by action. `wrong` is an
    error of the binding, or None.
    """

    runs: int = 0
    most: int | None = None
    steps: int = 0
    shortest: Diverged | None = None
    shrinks: int = 0
    wrong: BindingError | None = None
    graph: dict[State, dict[Step, State | None]] = field(default_factory=dict)
    met: int = 0
    actions: Counter[str] = field(default_factory=Counter)

    def failed(self, run: Diverged) -> None:
        """Store a failing run if it is the shortest so far."""
        if self.shortest is None or len(run.steps) < len(self.shortest.steps):
            self.shortest = run


class Run:
    """Run of both sides, at its current state.

    Attributes:
        state: the specification's state.
        steps: the enabled steps; `enabled` has them by action.
    """

    def __init__(self, comparison: Comparison, tally: Tally, shrinks: int) -> None:
        self.comparison, self.tally, self.shrinks = comparison, tally, shrinks
        self.starts = list(comparison.machine.initial())
        self.state: State = ()
        self.steps: list[Step] = []
        self.enabled: dict[str, list[Step]] = {}

    def begin(self, start: State, chance: int, *, again: bool = False) -> None:
        """Set both sides to an initial state, with this seed of the global `random`.

        With `again` it is the same run that begins again, since no step was possible and steps are left.

        Raises:
            Diverged: the sides differ.
            Spent: shrinking has used its runs, or a bound is hit.
        """
        if not again:
            self._count()
        random.seed(chance)
        self.start, self.done, self.chance = start, list[Step](), chance
        self.state, self.system = start, self._judge(self.comparison.start)
        self._judge(lambda: self.comparison.begin(self.state, self.system))
        self._judge(self._look)

    def _count(self) -> None:
        """Count a run that begins. Raise AllTaken if it is one too many, Spent if shrinking has used its
        runs.
        """
        if self.tally.shortest is None:
            if self.tally.runs == self.tally.most:
                raise AllTaken
            self.tally.runs += 1
            return
        self.tally.shrinks += 1
        if self.tally.shrinks > self.shrinks:
            raise Spent

    def take(self, step: Step) -> None:
        """Take one step on both sides. Raises Diverged and Spent."""
        self.tally.steps += 1
        self.done.append(step)
        self.tally.actions[step.action] += 1
        before = self.tally.graph[self.state]
        self.state, self.system = self._judge(lambda: self.comparison.take(self.state, self.system, step))
        if before[step] is None:
            self.tally.met += 1
            before[step] = self.state
        self._judge(self._look)

    def _look(self) -> None:
        """Compute the enabled steps by action, and compare the internal ones with the implementation's
        offers.
        """
        working("running", large=True)
        self.steps = list(self.comparison.machine.enabled(self.state))
        self.enabled = {}
        for step in self.steps:
            self.enabled.setdefault(step.action, []).append(step)
        if self.state not in self.tally.graph:
            self.tally.graph[self.state] = dict.fromkeys(self.steps)
        self.comparison.offers(self.steps, self.system)

    def _judge(self, check: Callable[[], T]) -> T:
        """Call a comparison and return its result. If it finds a difference, raise Diverged with the steps of
        this run.
        """
        try:
            return check()
        except Differs as differs:
            diverged = Diverged(self.start, list(self.done), differs, self.chance)
            self.tally.failed(diverged)
            raise diverged from differs
        except Enough as enough:
            raise Spent(enough.stop) from enough
        except BindingError as error:
            self.tally.wrong = error
            raise
        except SpecError as error:
            said = f"an error of the specification ({error})"
            raise Spent(Stop(StopReason.ERROR, said)) from error
