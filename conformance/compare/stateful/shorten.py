"""Delta debugging of a failing run: from the result no single step and no pair of steps can be removed.

Deletion works on the specification's steps: a candidate must be a run of the specification on which the two
sides still differ. The difference may be another one than before; the first difference ends the run.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.conformance.compare.lockstep import Comparison, Difference
from antiphon.model.bounds import Enough
from antiphon.spec.lang import Disabled, State, Step
from antiphon.spec.lang.watch import working


def shorten(comparison: Comparison, start: State, difference: Difference, chance: int = 0) -> Difference:
    """Return a difference in no more steps, found by deleting chunks, halves first, then pairs of single
    steps.

    `chance` is the seed of the global `random` in each run.
    """
    best = difference
    chunk = max(len(best.trace) // 2, 1)
    while chunk >= 1:
        shorter = _delete_chunks(comparison, start, best, chunk, chance)
        if len(shorter.trace) == len(best.trace):
            chunk //= 2
        best = shorter
    pair = _delete_pair(comparison, start, best, chance)
    return best if pair is None else shorten(comparison, start, pair, chance)


def _delete_chunks(
    comparison: Comparison, start: State, best: Difference, chunk: int, chance: int
) -> Difference:
    position = 0
    while position < len(best.trace):
        steps = best.trace.steps
        found = _fails(comparison, start, steps[:position] + steps[position + chunk :], chance)
        if found is not None and len(found.trace) < len(best.trace):
            best = found
        else:
            position += chunk
    return best


def _delete_pair(comparison: Comparison, start: State, best: Difference, chance: int) -> Difference | None:
    steps = best.trace.steps
    for first in range(len(steps)):
        for second in range(first + 1, len(steps)):
            candidate = steps[:first] + steps[first + 1 : second] + steps[second + 1 :]
            found = _fails(comparison, start, candidate, chance)
            if found is not None and len(found.trace) < len(steps):
                return found
    return None


def _fails(comparison: Comparison, start: State, steps: Sequence[Step], chance: int) -> Difference | None:
    """Return the difference that these steps lead to. Return None if they are no run, if the sides agree, or
    if no time is left.
    """
    try:
        working("shortening", large=True)
        return comparison.run(start, steps, chance)
    except (Disabled, Enough):
        return None
