"""Counterexample to induction: a step from a good state to a bad one, at a small n, for an obligation that is
not proved.

Sizes from 1 upwards are tried, the least sum first. At known sizes the ground form has an exact meaning,
majorities and orders too, and the reference executes the step. An exploration at the same sizes decides
whether a bad state can be reached: then it gives the verdict, with a run from an initial state. If all
reachable states are good, the first of the two states is unreachable: an invariant is missing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphon.model import explore
from antiphon.model.bounds import Bounds
from antiphon.model.symbolic import counterexample_to_induction
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, Verdict
from antiphon.spec.lang import Program, SpecError

MOST_SIZE = 3
"""Largest number of members of a sort that is tried."""

STATES = 300_000
"""Number of states that are explored to decide whether a counterexample to induction can be reached."""


@dataclass(frozen=True)
class Decided:
    """Result of the search for a counterexample to induction of small size.

    Attributes:
        sizes: the sizes at which it was found, in words; empty if there is none up to `MOST_SIZE`.
        trace: the step, from a state that may be unreachable; or the run from an initial state.
        verdict: the verdict of the exploration, when it is a violation.
        reached: whether all reachable states were seen, and the first state of the step is none of them.
    """

    sizes: str
    trace: Trace | None = None
    verdict: Verdict | None = None
    reached: bool = False

    @property
    def why(self) -> str:
        """Return the reason for a verdict `unknown`."""
        if self.trace is None:
            return f"no counterexample to induction was found with at most {MOST_SIZE} of each"
        if self.reached:
            return f"not reachable at {self.sizes}: an invariant is missing"
        return f"at {self.sizes} it is not known whether the counterexample can be reached"


def sizes_of(program: Program, every: Sequence[str]) -> Iterator[Program]:
    """Yield the program with small sizes, the least sum first."""
    ranges = [range(1, MOST_SIZE + 1)] * len(every)
    for row in sorted(itertools.product(*ranges), key=lambda row: (sum(row), row)):
        try:
            yield program.with_constants(**dict(zip(every, row, strict=True)))
        except SpecError:  # a domain without a value at this size
            continue


def decide(
    program: Program,
    every: Sequence[str],
    property: str,
    *,
    initially: bool = False,
    without: Sequence[str] = (),
    seconds: float = 20.0,
) -> Decided:
    """Look for a step that breaks a property from a state in which all properties hold, and find out whether
    that state can be reached. With `initially` look for an initial state that breaks the property.

    Args:
        program: the specification.
        every: the constants of which the sizes are chosen.
        property: an invariant or a property of steps, or the name of errors of the specification.
        initially: whether the property need not be true in the beginning.
        without: invariants that are not assumed.
        seconds: how long sizes are tried, and how long is explored.
    """
    over = time.monotonic() + seconds
    for sized in sizes_of(program, every):
        left = over - time.monotonic()
        if left <= 0:
            break
        trace = None
        if not initially:
            trace = counterexample_to_induction(sized, property, without=without, max_seconds=left)
            if trace is None:
                continue
        shown = ", ".join(f"{name}={sized.constants[name]}" for name in every)
        bounds = Bounds(states=STATES, seconds=seconds, depth=0 if initially else None)
        report = explore.check(sized, bounds=bounds)
        verdicts = [item for item in report.verdicts if item.property == property]
        verdict = verdicts[0] if verdicts else None
        if verdict is not None and verdict.outcome is Outcome.VIOLATED:
            return Decided(shown, verdict.trace, verdict)
        if initially:
            continue
        return Decided(shown, trace, reached=report.exploration.complete)
    return Decided("")
