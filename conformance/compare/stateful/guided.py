"""Guided walks: random runs that prefer steps that were not taken yet, so that a small model is soon covered.

A random walk completes seven given steps with the product of their probabilities. A guided walk takes a step
that was never taken from the current state. Where there is none, it follows a shortest path of known steps to
a state with one. In a large model nearly every step is new, and the walk is a random one.

This module knows nothing of Hypothesis.
"""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import deque
from collections.abc import Iterator

from antiphon.conformance.compare.bindings.guarded import CHANCES
from antiphon.conformance.compare.stateful.run import Diverged, Run, Tally
from antiphon.spec.lang import State, Step

LOOK_AT = 2_000
"""Largest number of states, nearest first, in which a new step is looked for."""


def guided_walks(run: Run, tally: Tally, generator: random.Random, *, walks: int, steps: int) -> None:
    """Take a number of walks of a bounded length; the first difference ends them.

    A walk that reaches a state without steps begins again, with the steps that it has left. Each beginning
    has another seed of the global `random`.

    Raises:
        Spent: a bound is hit.
    """
    seeds = itertools.cycle(generator.sample(range(CHANCES), CHANCES))
    with contextlib.suppress(Diverged):
        for _ in range(walks):
            _walk(run, tally, generator, steps, seeds)


def _walk(run: Run, tally: Tally, generator: random.Random, steps: int, seeds: Iterator[int]) -> None:
    way: list[Step] = []
    run.begin(generator.choice(run.starts), next(seeds))
    for left in range(steps, 0, -1):
        if not run.steps:
            way = []
            run.begin(generator.choice(run.starts), next(seeds), again=True)
            if not run.steps:
                return
        if not way:
            new = [step for step, after in tally.graph[run.state].items() if after is None]
            way = [generator.choice(new)] if new else _way(tally, run.state, left)
        run.take(way.pop(0) if way else generator.choice(run.steps))


def _way(tally: Tally, start: State, most: int) -> list[Step]:
    """Return a shortest way over known steps to a step that was never taken, with that step at its end.
    Return no steps if there is none within `most` steps.
    """
    came: dict[State, tuple[State, Step] | None] = {start: None}
    front = deque([(start, 1)])
    while front and len(came) < LOOK_AT:
        state, length = front.popleft()
        for step, after in tally.graph.get(state, {}).items():
            if after is None:
                way = [step]
                while (origin := came[state]) is not None:
                    state, before = origin
                    way.append(before)
                return way[::-1]
            if after not in came and length < most:
                came[after] = state, step
                front.append((after, length + 1))
    return []
