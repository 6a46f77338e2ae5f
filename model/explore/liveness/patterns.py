"""Automata that accept the runs which break a liveness property (Vardi and Wolper 1986).

A run that breaks `A implies B` is one on which A is true and B is false. Each of the two is an automaton with
at most two modes, and the pattern is their product: for []<>P implies []<>Q a run that comes to P again and
again and from some state on never to Q.

This file knows numbers of states only: no graph, no program.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from antiphon.spec.lang import ir

Truth = bytearray | None
"""Truth of an expression: for each state 1 where it is true, else 0; None where it is true in every state."""
Moves = tuple[tuple[int, Truth], ...]
"""Modes that may follow, each with the states in which it may be entered."""

NEVER = bytearray()
"""Accepting condition that a mode never meets, whatever state it reads."""


@dataclass(frozen=True)
class Pattern:
    """Automaton over the states of a run.

    The first state is read by a mode of `begin`, each later one by a mode of `moves[m]`, if mode m read the
    state before. The run is accepted when it meets each of `recurring` again and again: `recurring[c][m]` are
    the states in which mode m meets condition c. The mode that has read a state may read it again.
    """

    begin: Moves
    moves: tuple[Moves, ...]
    recurring: tuple[tuple[Truth, ...], ...] = ()

    @property
    def waits(self) -> bool:
        """Return True if mode 0 may read any states before the other modes begin, and accepts no run by
        itself.
        """
        return len(self.moves) > 1 and self.begin[:1] == ((0, None),) and self.moves[0] == self.begin


Read = Callable[[ir.Expression], bytearray]
"""Function that returns the states in which an expression is true."""


def pattern_of(liveness: ir.LivenessProperty, read: Read) -> Pattern:
    """Return the pattern of the runs that break a property."""
    made = [_true_of(formula, read) for formula in liveness.assuming]
    return functools.reduce(_both, [*made, _false_of(liveness, read)])


def _true_of(formula: ir.Temporal, read: Read) -> Pattern:
    goal = read(formula.goal)
    match formula.kind:
        case ir.LivenessKind.INITIALLY:
            return Pattern(((0, goal),), (((0, None),),))
        case ir.LivenessKind.ALWAYS:
            return _throughout(goal)
        case ir.LivenessKind.EVENTUALLY:
            return _from_some_state_on(goal, None)
        case ir.LivenessKind.ALWAYS_EVENTUALLY:
            return _again_and_again(goal)
        case ir.LivenessKind.EVENTUALLY_ALWAYS:
            return _from_some_state_on(goal, goal)
        case ir.LivenessKind.LEADS_TO:
            assert formula.premise is not None
            return _answered(read(formula.premise), goal)


def _false_of(formula: ir.Temporal, read: Read) -> Pattern:
    wrong = _not(read(formula.goal))
    match formula.kind:
        case ir.LivenessKind.INITIALLY:
            return Pattern(((0, wrong),), (((0, None),),))
        case ir.LivenessKind.ALWAYS:
            return _from_some_state_on(wrong, None)
        case ir.LivenessKind.EVENTUALLY:
            return _throughout(wrong)
        case ir.LivenessKind.ALWAYS_EVENTUALLY:
            return _from_some_state_on(wrong, wrong)
        case ir.LivenessKind.EVENTUALLY_ALWAYS:
            return _again_and_again(wrong)
        case ir.LivenessKind.LEADS_TO:
            assert formula.premise is not None
            return _from_some_state_on(_and(read(formula.premise), wrong), wrong)


def _throughout(good: Truth) -> Pattern:
    return Pattern(((0, good),), (((0, good),),))


def _again_and_again(good: Truth) -> Pattern:
    return Pattern(((0, None),), (((0, None),),), ((good,),))


def _from_some_state_on(first: Truth, rest: Truth) -> Pattern:
    """Return the pattern that passes over states, then reads one state of `first`, and from then on only
    states of `rest`.
    """
    begin = ((0, None), (1, first))
    return Pattern(begin, (begin, ((1, rest),)), ((NEVER, None),))


def _answered(premise: bytearray, goal: bytearray) -> Pattern:
    """Return the automaton that accepts answered premises: it is in mode 1 while a goal is owed, else in mode
    0, and must be in mode 0 again and again.
    """
    open_ = _and(premise, _not(goal))
    begin = ((0, _not(open_)), (1, open_))
    return Pattern(begin, (begin, ((0, goal), (1, _not(goal)))), ((None, NEVER),))


def _both(first: Pattern, second: Pattern) -> Pattern:
    width = len(second.moves)

    def pairs(one: Moves, other: Moves) -> Moves:
        return tuple((m * width + n, _met(p, q)) for (m, p), (n, q) in itertools.product(one, other))

    return Pattern(
        pairs(first.begin, second.begin),
        tuple(pairs(one, other) for one, other in itertools.product(first.moves, second.moves)),
        (
            *(tuple(truth for truth in truths for _ in range(width)) for truths in first.recurring),
            *(truths * len(first.moves) for truths in second.recurring),
        ),
    )


def _met(one: Truth, other: Truth) -> Truth:
    return other if one is None else one if other is None else _and(one, other)


def _and(one: Iterable[int], other: Iterable[int]) -> bytearray:
    return bytearray(p & q for p, q in zip(one, other, strict=True))


def _not(truth: Iterable[int]) -> bytearray:
    return bytearray(1 - value for value in truth)
