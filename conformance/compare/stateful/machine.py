"""Hypothesis state machine made from a specification, with one rule for each action.

A rule draws from the enabled steps of its action; if there are none, from those of another action, and in a
state without steps it begins again first. So every rule can always fire: where no rule could, Hypothesis
would discard the run and draw another one. In three steps of four only those steps count that no run had
taken from this state when the machine was made, if there are any. Later runs change nothing in that, so that
Hypothesis can repeat and shrink a run.
After each step both sides are compared as in lockstep. Hypothesis shrinks a failing run, and `shorten`
shortens it further.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.reporting import with_reporter
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from antiphon.conformance.compare.bindings import Binding
from antiphon.conformance.compare.bindings.guarded import CHANCES, chance
from antiphon.conformance.compare.lockstep import UNSTEADY, Comparison, Difference, lockstep
from antiphon.conformance.compare.stateful.guided import guided_walks
from antiphon.conformance.compare.stateful.run import AllTaken, Diverged, Run, Spent, Tally
from antiphon.conformance.compare.stateful.shorten import shorten
from antiphon.model.bounds import UNBOUNDED, Bounds, Enough, Stop, StopReason, cut_short
from antiphon.model.engines import Engine
from antiphon.model.explore import check
from antiphon.model.limits import under_limits
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Machine, Program, State, Step
from antiphon.spec.lang.calls import some_ended
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.watch import unwatched

SHRINKS = 200
"""Largest number of runs in which Hypothesis shrinks a failure; `shorten` does the rest, faster."""

NEAR = 5_000
"""Largest number of transitions in which a shorter path to a difference is looked for."""

ROUND = 100
"""Number of runs of a round, where the seconds decide how many runs there are."""

PARTS = 4
"""Number of parts of Hypothesis' runs; each begins with what the runs before it have taken."""

MOST_STATES = 5_000
"""Largest number of states of a bounded model whose transitions are counted."""


@dataclass(frozen=True)
class StatefulReport:
    """Result of random runs: the numbers of runs and steps, the seed, and the shortened difference, if any.

    A run that reaches a state without steps begins again and is still one run. `runs` counts them up to the
    first difference; `steps` counts also the steps that were taken to shrink it. `met` counts the different
    transitions that were taken, of the `transitions` of the bounded model. These are counted only in a model
    of at most `MOST_STATES` states, when no difference was found; a larger model is `large`. `stopped` is the
    bound that has kept the question from runs that it asked for, or from any. `actions` counts the steps by
    action, and `taken` has the different transitions, each as a state and a step.
    """

    program: Program
    runs: int
    steps: int
    seconds: float
    seed: int
    difference: Difference | None = None
    met: int = 0
    transitions: int | None = None
    large: bool = False
    stopped: Stop | None = None
    actions: Mapping[str, int] = field(default_factory=dict)
    taken: frozenset[tuple[State, Step]] = frozenset()

    def __repr__(self) -> str:
        shown = "" if self.difference is None else "; str() shows the run and what differs"
        return f"<{self._told()}{shown}>"

    def __str__(self) -> str:
        return "\n".join([self._told(), *([] if self.difference is None else [self.difference.shown()])])

    def _told(self) -> str:
        name, outcome = self.program.name, self.outcome.value
        return f"StatefulReport on {name}: {outcome}, {self.runs} runs, {self.steps} steps"

    @property
    def outcome(self) -> Outcome:
        """Return violated if the sides differ, holds if all runs that were asked for agreed (measured, not
        proved), unknown if there was no step, not every run was taken or the specification has an error.
        """
        if self.difference is not None:
            return Outcome.VIOLATED
        return Outcome.HOLDS if self.steps and self.stopped is None else Outcome.UNKNOWN

    @property
    def share(self) -> str:
        """Return the share of the bounded model's transitions that the runs took, in words."""
        if self.transitions is None:
            told = f"took {self.met:,} different transitions"
            return f"{told} of a model of more than {MOST_STATES:,} states" if self.large else told
        if self.met >= self.transitions:
            return f"took all {self.transitions:,} transitions of the bounded model"
        return f"took {self.met:,} of the {self.transitions:,} transitions of the bounded model"

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import comparison_html  # here, because a walk draws nothing

        return comparison_html(self.program.name, self)


def state_machine(
    comparison: Comparison, tally: Tally, *, shrinks: int = SHRINKS
) -> type[RuleBasedStateMachine]:
    """Return a Hypothesis state machine class for both sides of `comparison`, which counts in `tally`.

    Run it with `run_state_machine_as_test`, or as `.TestCase` under pytest. It interrupts Hypothesis
    (`Spent`) when `shrinks` runs were tried after the first failure; `tally.shortest` is the result.
    """
    starts = Run(comparison, tally, shrinks).starts
    taken = {
        state: frozenset(step for step, after in out.items() if after is not None)
        for state, out in tally.graph.items()
    }

    class Conformance(RuleBasedStateMachine):
        """State machine with specification and implementation side by side."""

        def __init__(self) -> None:
            super().__init__()
            self.run = Run(comparison, tally, shrinks)
            self.taken = taken

        @initialize(start=st.sampled_from(starts), chance=st.sampled_from(range(CHANCES)))
        def begin(self, start: State, chance: int) -> None:
            """Set both sides to an initial state. Hypothesis seeds the global `random` alike for every run;
            the run draws another seed.
            """
            self.run.begin(start, chance)

    for method in comparison.binding.program.declaration.marked("action", "environment"):
        setattr(Conformance, f"step_{method.name}", _rule_for(method.name))
    return Conformance


def _rule_for(action: str) -> Any:
    """Return the Hypothesis rule of one action, which draws from the enabled steps of that action, or of
    another one if it has none.
    """

    def fire(self: Any, data: st.DataObject) -> None:
        run: Run = self.run
        if not run.enabled:
            start, chance = st.sampled_from(run.starts), st.sampled_from(range(CHANCES))
            run.begin(data.draw(start, label="start"), data.draw(chance, label="chance"), again=True)
        steps = _first(self, action)
        if not steps:
            others = [name for name in run.enabled if _first(self, name)]
            steps = _first(self, data.draw(st.sampled_from(others), label="action")) if others else []
        if steps:
            run.take(data.draw(st.sampled_from(steps), label="step"))

    fire.__name__ = action
    return rule(data=st.data())(fire)


def _first(machine: Any, action: str) -> list[Step]:
    """Return the steps of an action that count now: in three steps of four, where a step is possible that no
    run had taken, only such steps; else all that are enabled.
    """
    run, enabled = machine.run, machine.run.enabled.get(action, [])
    known = machine.taken.get(run.state)
    if known is None or len(run.done) % 4 == 3 or len(known) == len(run.steps):
        return list(enabled)
    return [step for step in enabled if step not in known]


def run_stateful(
    binding: Binding,
    machine: Machine | None = None,
    *,
    runs: int | None = 100,
    steps: int = 40,
    seed_number: int = 0,
    shrinks: int = SHRINKS,
    bounds: Bounds = UNBOUNDED,
) -> StatefulReport:
    """Run up to `runs` runs of up to `steps` steps each from `seed_number`; return the first difference,
    shortened.

    Half of the runs are `guided_walks`, the others examples of Hypothesis. A run that reaches a state without
    steps begins again, with the steps that it has left. Runs that shrink a difference come in addition.

    Args:
        binding: specification and implementation.
        machine: executes the specification; None is generated code.
        runs: the number of runs; None for as many as the bound of seconds permits, in rounds of `ROUND`.
        steps: the largest number of steps of a run.
        seed_number: the seed that repeats the runs.
        shrinks: the largest number of runs in which Hypothesis shrinks.
        bounds: seconds and memory that end runs and shortening.

    Raises:
        ArgumentError: neither a number of runs nor a bound of seconds.
    """
    if runs is None and bounds.seconds is None:
        raise ArgumentError("runs is None, and so is the bound of seconds: one of them ends the runs")
    tally, stopped, difference, transitions, large = Tally(), None, None, None, False
    with under_limits(bounds) as limits:
        try:
            comparison = Comparison(binding, machine)
            with chance(seed_number):
                for at in itertools.count() if runs is None else range(1):
                    _search(comparison, tally, runs or ROUND, steps, seed_number + at * PARTS, shrinks)
                    if tally.shortest is not None:
                        break
        except Spent as spent:
            stopped = spent.stop
        except Enough as enough:
            stopped = enough.stop
        if tally.shortest is not None:
            difference = _shortened(comparison, tally.shortest)
        elif tally.steps and not cut_short(stopped, runs):
            transitions, large = _counted(binding.program)
    return StatefulReport(
        binding.program, tally.runs, tally.steps, limits.elapsed(), seed_number, difference,
        tally.met, transitions, large,
        stopped if cut_short(stopped, runs) or not tally.steps else None,
        tally.actions,
        frozenset(
            (state, step)
            for state, out in tally.graph.items()
            for step, after in out.items()
            if after is not None
        ),
    )  # fmt: skip


def _search(
    comparison: Comparison, tally: Tally, runs: int, steps: int, seed_number: int, shrinks: int
) -> None:
    """Take the runs until the two sides differ. Raise Spent when a bound is hit."""
    guided = runs // 2
    guided_walks(
        Run(comparison, tally, shrinks), tally, random.Random(seed_number), walks=guided, steps=steps
    )
    if tally.shortest is not None:
        return
    for part in range(PARTS):
        left = runs - guided
        share = left * (part + 1) // PARTS - left * part // PARTS
        if share and tally.shortest is None:
            _draw_runs(comparison, tally, share, steps, seed_number + part, shrinks)


def _draw_runs(
    comparison: Comparison, tally: Tally, runs: int, steps: int, seed_number: int, shrinks: int
) -> None:
    """Let Hypothesis draw runs, and shrink the first in which the two sides differ. Raise Spent when a bound
    is hit.
    """
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
    tally.most = tally.runs + runs  # Hypothesis takes runs again that it gives up, as where they are too long
    with contextlib.suppress(Diverged, Flaky, AllTaken), with_reporter(lambda _: None):
        run_state_machine_as_test(
            seed(seed_number)(state_machine(comparison, tally, shrinks=shrinks)), settings=chosen
        )
    if tally.wrong is not None:
        raise tally.wrong  # Hypothesis saw it once, and not again


def _counted(program: Program) -> tuple[int | None, bool]:
    """Count the transitions of the bounded model. Return None and True if it has more than `MOST_STATES`
    states.
    """
    found = check(program, properties=(), engine=Engine.GENERATED, bounds=Bounds(states=MOST_STATES))
    seen = found.exploration
    return seen.transitions if seen.complete else None, seen.stopped is StopReason.STATES


def _shortened(comparison: Comparison, run: Diverged) -> Difference:
    """Return the difference of a run with fewer steps; return it unshortened if the same run does not show it
    a second time.
    """
    with unwatched():
        found = comparison.run(run.start, run.steps, run.chance)
        if found is None:
            return comparison.unsteady(run.start, run.steps, run.differs)
    short = found if some_ended() else shorten(comparison, run.start, found, run.chance)
    with unwatched():
        checked = comparison.checked(run.start, short, run.chance)
    return _nearer(comparison, checked)


def _nearer(comparison: Comparison, found: Difference) -> Difference:
    """Return a difference with fewer steps, if a walk through all shorter runs soon finds one; else the given
    difference.
    """
    if len(found.trace) < 2 or UNSTEADY in found.what:
        return found
    bounds = Bounds(depth=len(found.trace) - 1)
    nearer = lockstep(
        comparison.binding, comparison.machine, bounds=bounds, max_transitions=NEAR, sample=0
    ).difference
    return found if nearer is None or UNSTEADY in nearer.what else nearer
