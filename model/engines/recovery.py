"""Judgement of obligations: one is broken where nothing but faults can happen and it is false, or where no
fault-free path leads to a state in which it is true.

The first is quiescence, the second irrecoverability; a quiescent state is irrecoverable as well. Both are
judged on the explored states: a quiescent violation counts in any search, irrecoverability only in a complete
one, since an unseen path might lead out.

One sweep from the last state to the first judges all obligations: most states have a recoverable successor
already when it is their turn, and only the others must remember which states wait for them. If a bound has
ended the search, the explored part is judged, in the time that is left.

This file knows nothing of how states are stored or of how obligations are written.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.model.engines.interface import Future, WholeSpace
from antiphon.spec.lang.watch import working


def futures(
    space: WholeSpace, expanded: int, truths: Mapping[str, bytearray], *, complete: bool
) -> dict[str, Future]:
    """Return for each property the states that break it as an obligation, of two kinds.

    In a quiescent state it is false, and only faults can still happen. In an irrecoverable state no path
    without faults leads to a state in which it is true; this needs a complete space. `truths` has the states
    in which each property is true. The first `expanded` states have all their successors in the space.

    A property that is true nowhere stands for a deadlock: ask with an array of zeros and read `quiescent`
    only.
    """
    names = list(truths)
    everything = (1 << len(names)) - 1
    reach = [0] * len(space)
    for position, name in enumerate(names):
        for state, good in enumerate(truths[name]):
            if good:
                reach[state] |= 1 << position
    false_here = [everything & ~good for good in reach]
    first_quiet: dict[int, int] = {}
    waiting: dict[int, list[int]] = {}
    for state in reversed(range(expanded)):
        if not false_here[state]:
            continue
        working(f"judging obligations, {state:,} states left")
        stuck, after = space.successors(state)
        if stuck:
            for position in _bits(false_here[state]):
                first_quiet[position] = state
        elif complete:
            _recover(state, after, reach, waiting, everything)
    made = {}
    for position, name in enumerate(names):
        lost = (
            next((state for state, good in enumerate(reach) if not good >> position & 1), None)
            if complete
            else None
        )
        made[name] = Future(first_quiet.get(position), lost)
    return made


def _recover(
    state: int, after: list[int], reach: list[int], waiting: dict[int, list[int]], everything: int
) -> None:
    """Add to a state's reachable properties those that its successors reach; for the missing ones the state
    waits for its successors. Gains are passed on to the states that wait.
    """
    before = reach[state]
    for number in after:
        reach[state] |= reach[number]
    if reach[state] != everything:
        for number in dict.fromkeys(after):
            if number != state and reach[number] != everything:
                waiting.setdefault(number, []).append(state)
    todo = [state] if reach[state] != before else []
    while todo:
        number = todo.pop()
        for predecessor in waiting.get(number, ()):
            if reach[number] & ~reach[predecessor]:
                reach[predecessor] |= reach[number]
                todo.append(predecessor)
        if reach[number] == everything:
            waiting.pop(number, None)


def _bits(mask: int) -> list[int]:
    return [position for position in range(mask.bit_length()) if mask >> position & 1]
