"""Random walks in machine code: the successors of a state are made, one is taken, the others are forgotten.

`walk_all` takes one walk after the other, and stops after one in which something was found. Three places hold
states: the present one, the best successor so far, and the next one; they change their roles, and only the
first state of a walk is copied.

The draws are those of `model/engines/chance.py`. The functions are in the subset of `lower`; `W` (words a
state) is a constant of a kernel; `successors` and `holds` are generated beside them.
"""

# mypy: disable-error-code="no-any-return"
# ruff: noqa: ARG001, F821, SIM102 - the operations of memory are declared below, not defined; `take` is
# called as the one that stores states

from __future__ import annotations

from typing import Any

from antiphon.model.engines.chance import FINISHER, GAMMA, OFF, START, STRIDE, WEIGHTS

ACTIONS, FAULTS, ACTION_COUNT, STARTS, START_COUNT, LENGTH = range(6)
SEED, SWARM, ROLES, PROPERTIES, PREDICATES = range(6, 11)
"""Constant fields. `ACTIONS`: the action of each step (32 bits). `FAULTS`: a byte an action, 1 for a fault.
`STARTS`: the initial states. `LENGTH`: of the longest walk. `SWARM`: 1 for a swarm. `ROLES`: a word a
predicate. `PROPERTIES`, `PREDICATES`: how many properties steps may break, how many predicates there are.
"""
WEIGHT, FIRED, TAKEN, FOUND, SHORTEST, PLACES = range(11, 17)
"""Addresses. `WEIGHT`: the weights of the actions in this walk; `FIRED`: how often each was taken; `TAKEN`:
the steps of this walk; `FOUND`: its findings (W + 2 words each); `SHORTEST`: the length of the shortest run
that shows each property or predicate; `PLACES`: room for three states.
"""
BASE, BEST, CODE, STATUS, WHERE, ACTIVE, FAILED, DONE, NOTED, STEPS, DEEPEST, QUIET = range(17, 29)
"""Fields that change. `BASE`: bits of this position; `BEST`, `CODE`, `STATUS`, `WHERE`: the least draw, its
step, that step's answer and successor; `ACTIVE`: 1 if a step but a fault is possible; `FAILED`: 1 after an
error; `DONE`, `NOTED`: this walk's steps and findings; `STEPS`, `DEEPEST`, `QUIET`: over all walks.
"""
FIELDS = 29
UNUSED, INVARIANT, WITNESS, OBLIGATION = range(4)
"""Roles of a predicate."""
WRONG = 2
BROKEN_SHIFT = 8
HIGHEST = (1 << 64) - 1

W: int
word: Any
half: Any
byte: Any
set_word: Any
successors: Any
holds: Any


def mix(value: int) -> int:
    """Return 64 bits that are scrambled from `value`: they look independent of the bits of other values."""
    value = (value ^ (value >> 32)) * FINISHER
    value = (value ^ (value >> 29)) * FINISHER
    return value ^ (value >> 32)


def take(context: int, state: int, out: int, parent: int, code: int, status: int) -> int:
    """Accept the successor that a step has written at `out`, if its draw is the least so far; return the
    address for the next successor.
    """
    if status & WRONG:
        set_word(context, FAILED, 1)
        return out
    action = half(word(context, ACTIONS), code)
    if byte(word(context, FAULTS), action) == 0:
        set_word(context, ACTIVE, 1)
    weight = word(word(context, WEIGHT), action)
    if weight == 0:
        return out
    drawn = mix(word(context, BASE) ^ ((code + 1) * STRIDE)) // weight
    if word(context, CODE) != HIGHEST:
        if drawn > word(context, BEST):
            return out
        if drawn == word(context, BEST) and code > word(context, CODE):
            return out
    free = word(context, WHERE)
    set_word(context, BEST, drawn)
    set_word(context, CODE, code)
    set_word(context, STATUS, status)
    set_word(context, WHERE, out)
    return free


def find(context: int, kind: int, state: int, length: int) -> int:
    """Record that a run of this length shows something, together with its last state."""
    entry = word(context, FOUND) + word(context, NOTED) * 8 * (W + 2)
    set_word(entry, 0, kind)
    set_word(entry, 1, length)
    index = 0
    while index < W:
        set_word(entry, index + 2, word(state, index))
        index += 1
    set_word(context, NOTED, word(context, NOTED) + 1)
    return 0


def judge(context: int, state: int, length: int, quiet: int) -> int:
    """Evaluate the predicates that no run of at most this length has decided: obligations in quiet states,
    all others in every state.
    """
    number = 0
    while number < word(context, PREDICATES):
        role = word(word(context, ROLES), number)
        kind = word(context, PROPERTIES) + number
        asked = 0
        if quiet:
            if role == OBLIGATION:
                asked = 1
        else:
            if role == INVARIANT:
                asked = 1
            if role == WITNESS:
                asked = 1
        if asked and length < word(word(context, SHORTEST), kind):
            value = holds(state, number)
            if value & WRONG:
                set_word(context, FAILED, 1)
            wanted = 0
            if role == WITNESS:
                wanted = 1
            if value == wanted:
                find(context, kind, state, length)
                if role != OBLIGATION:
                    set_word(word(context, SHORTEST), kind, length)
        number += 1
    return 0


def refuse(context: int, status: int, state: int, length: int) -> int:
    """Record the properties that the last step broke, unless a run of at most this length shows them
    already.
    """
    broken = status >> BROKEN_SHIFT
    kind = 0
    while broken != 0:
        if broken & 1 and length < word(word(context, SHORTEST), kind):
            find(context, kind, state, length)
            set_word(word(context, SHORTEST), kind, length)
        broken = broken >> 1
        kind += 1
    return 0


def weigh(context: int, key: int) -> int:
    """Draw the weights of the actions in a walk."""
    weights = word(context, WEIGHT)
    action = 0
    while action < word(context, ACTION_COUNT):
        weight = 1
        if word(context, SWARM):
            drawn = mix(key ^ ((action + 1) * STRIDE))
            weight = 1 << (drawn & WEIGHTS)
            if drawn >> OFF:
                if byte(word(context, FAULTS), action):
                    weight = 0
        set_word(weights, action, weight)
        action += 1
    return 0


def walk(context: int, number: int) -> int:
    """Take the walk with this number."""
    key = mix(word(context, SEED) + (number + 1) * GAMMA)
    weigh(context, key)
    start = word(context, STARTS) + mix(key ^ START) % word(context, START_COUNT) * 8 * W
    state = word(context, PLACES)
    free = state + 8 * W
    set_word(context, WHERE, state + 16 * W)
    index = 0
    while index < W:
        set_word(state, index, word(start, index))
        index += 1
    length = 0
    set_word(context, DONE, 0)
    judge(context, state, 0, 0)
    while length < word(context, LENGTH) and word(context, FAILED) == 0:
        set_word(context, BASE, mix(key + (length + 1) * GAMMA))
        set_word(context, CODE, HIGHEST)
        set_word(context, ACTIVE, 0)
        free = successors(context, state, free, 0, 1, 0)
        if word(context, FAILED):
            break
        if word(context, ACTIVE) == 0:
            set_word(context, QUIET, word(context, QUIET) + 1)
            judge(context, state, length, 1)
        code = word(context, CODE)
        if code == HIGHEST:
            break
        set_word(word(context, TAKEN), length, code)
        length += 1
        set_word(context, DONE, length)
        action = half(word(context, ACTIONS), code)
        set_word(word(context, FIRED), action, word(word(context, FIRED), action) + 1)
        left = state
        state = word(context, WHERE)
        set_word(context, WHERE, left)
        refuse(context, word(context, STATUS), state, length)
        judge(context, state, length, 0)
    set_word(context, STEPS, word(context, STEPS) + length)
    if length > word(context, DEEPEST):
        set_word(context, DEEPEST, length)
    return length


def walk_all(context: int, first: int, last: int) -> int:
    """Take the walks first..last - 1 in turn, until one finds something or meets an error; return the number
    of the next walk.
    """
    number = first
    while number < last and word(context, NOTED) == 0 and word(context, FAILED) == 0:
        walk(context, number)
        number += 1
    return number


FUNCTIONS = (mix, take, find, judge, refuse, weigh, walk, walk_all)
EXPORTED = ("walk_all",)
