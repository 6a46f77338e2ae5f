"""Hypothesis explores a protocol by a state machine made from its specification: one rule an action.

No rule is written by hand and nothing is filtered: a rule may fire when its action is enabled, and draws from
the list of its enabled steps. After each step both sides are compared as in lockstep. What fails is shrunk by
Hypothesis, then shortened by us.
"""

from __future__ import annotations

import contextlib
import random
import time
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.reporting import with_reporter
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from antiphon.conformance.bindings import Binding
from antiphon.conformance.bindings.guarded import CHANCES
from antiphon.conformance.lockstep import Comparison, Difference, Differs
from antiphon.conformance.stateful.shorten import shorten
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Machine, Program, State, Step

SHRINKS = 200
"""How many runs Hypothesis may take to shrink what it found; `shorten` does the rest, faster."""


class Diverged(AssertionError):
    """A run in which the two sides differ: its initial state, its steps, what differs, and the seed of the
    global `random` in it.
    """

    def __init__(self, start: State, steps: list[Step], differs: Differs, chance: int) -> None:
        self.start, self.steps, self.differs, self.chance = start, steps, differs, chance
        super().__init__(str(differs))


class ShrinksSpent(KeyboardInterrupt):
    """Shrinking has had its runs; Hypothesis bounds it by time alone, and passes an interruption on."""


@dataclass(frozen=True)
class StatefulReport:
    """What Hypothesis tried: runs and steps in all, the seed, and the shortened difference, if any."""

    program: Program
    runs: int
    steps: int
    seconds: float
    seed: int
    difference: Difference | None = None

    def __repr__(self) -> str:
        name, outcome = self.program.name, self.outcome.value
        return f"<StatefulReport on {name}: {outcome}, {self.runs} runs, {self.steps} steps>"

    def __str__(self) -> str:
        return "\n".join([repr(self)[1:-1], *([] if self.difference is None else [self.difference.shown()])])

    @property
    def outcome(self) -> Outcome:
        """Violated when they differ, holds when all runs agreed, unknown when there was no step."""
        if self.difference is not None:
            return Outcome.VIOLATED
        return Outcome.HOLDS if self.steps else Outcome.UNKNOWN

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import comparison_html  # here, because a walk draws nothing

        return comparison_html(self.program.name, self)


@dataclass
class Tally:
    """What a machine class did so far; `shrinks` counts the runs since the first that failed."""

    runs: int = 0
    steps: int = 0
    shortest: Diverged | None = None
    shrinks: int = 0

    def failed(self, run: Diverged) -> None:
        """Keep the shortest; of equals the first."""
        if self.shortest is None or len(run.steps) < len(self.shortest.steps):
            self.shortest = run


def state_machine(
    comparison: Comparison, tally: Tally, *, shrinks: int = SHRINKS
) -> type[RuleBasedStateMachine]:
    """A Hypothesis state machine class for both sides of `comparison`, which counts in `tally`.

    Run it with `run_state_machine_as_test`, or as `.TestCase` under pytest. It interrupts Hypothesis
    (`ShrinksSpent`) when `shrinks` runs were tried after the first failure; `tally.shortest` is what was
    found.
    """
    machine = comparison.machine
    starts = list(machine.initial())

    class Conformance(RuleBasedStateMachine):
        """Specification and implementation, side by side."""

        @initialize(start=st.sampled_from(starts), chance=st.integers(0, CHANCES - 1))
        def begin(self, start: State, chance: int) -> None:
            """Both in an initial state; the global `random`, which Hypothesis sets alike for every run, in
            one that the run draws.
            """
            tally.runs += 1
            if tally.shortest is not None:
                tally.shrinks += 1
                if tally.shrinks > shrinks:
                    raise ShrinksSpent
            random.seed(chance)
            self.start, self.taken, self.chance = start, list[Step](), chance
            self.state, self.system = start, self.judge(comparison.start)
            self.judge(lambda: comparison.begin(self.state, self.system))
            self.look()

        @precondition(lambda self: not self.enabled)
        @rule(start=st.sampled_from(starts), chance=st.integers(0, CHANCES - 1))
        def begin_again(self, start: State, chance: int) -> None:
            """Nothing can happen any more, and the run has steps left: another one begins."""
            self.begin(start, chance)

        def look(self) -> None:
            """Enumerate what may happen next, by action, and compare it with the implementation's offers."""
            steps = list(machine.enabled(self.state))
            self.enabled: dict[str, list[Step]] = {}
            for step in steps:
                self.enabled.setdefault(step.action, []).append(step)
            self.judge(lambda: comparison.offers(steps, self.system))

        def judge(self, check: Any) -> Any:
            """Run a comparison; a difference ends the run with its steps."""
            try:
                return check()
            except Differs as differs:
                diverged = Diverged(self.start, list(self.taken), differs, self.chance)
                tally.failed(diverged)
                raise diverged from differs

        def take(self, step: Step) -> None:
            """One step on both sides."""
            tally.steps += 1
            self.taken.append(step)
            self.state, self.system = self.judge(lambda: comparison.take(self.state, self.system, step))
            self.look()

    for method in comparison.binding.program.declaration.marked("action", "environment"):
        setattr(Conformance, f"step_{method.name}", _rule_for(method.name))
    return Conformance


def _rule_for(action: str) -> Any:
    """The rule of one action: it draws from the enabled steps of that action."""

    def fire(self: Any, data: st.DataObject) -> None:
        self.take(data.draw(st.sampled_from(self.enabled[action]), label="step"))

    fire.__name__ = action
    return precondition(lambda self: action in self.enabled)(rule(data=st.data())(fire))


def run_stateful(
    binding: Binding,
    machine: Machine | None = None,
    *,
    runs: int = 100,
    steps: int = 40,
    seed_number: int = 0,
    shrinks: int = SHRINKS,
) -> StatefulReport:
    """Up to `runs` runs of up to `steps` steps each, from `seed_number`; the first difference, shortened.

    `machine` executes the specification (generated code when None); `shrinks` bounds the runs that Hypothesis
    may take to shrink.
    """
    began = time.perf_counter()
    comparison = Comparison(binding, machine)
    tally = Tally()
    chosen = settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    with contextlib.suppress(Diverged, ShrinksSpent, Flaky), with_reporter(lambda _: None):
        run_state_machine_as_test(
            seed(seed_number)(state_machine(comparison, tally, shrinks=shrinks)), settings=chosen
        )
    difference = None if tally.shortest is None else _shortened(comparison, tally.shortest)
    return StatefulReport(
        binding.program, tally.runs, tally.steps, time.perf_counter() - began, seed_number, difference
    )


def _shortened(comparison: Comparison, run: Diverged) -> Difference:
    """The difference of a run in fewer steps; as it was found where the same run does not show it again."""
    found = comparison.run(run.start, run.steps, run.chance)
    if found is None:
        return comparison.unsteady(run.start, run.steps, run.differs)
    return shorten(comparison, run.start, found, run.chance)
