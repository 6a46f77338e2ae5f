"""A bound from above, found without exploring, for the values of each slot and the steps that can happen.

Sets of packets have huge element types of which few elements are ever sent. This pass starts with the initial
states and adds, until nothing is new, whatever any step could write if every slot held any of its known
values independently (constant propagation over sets of values). What it leaves out cannot occur in any
reachable state, so that a model for another tool needs no room for it.

Values of a boolean or a number are a set of ints, None when there are too many to list; those of a bit set
the mask of the ranks that may be in it. This file knows nothing of the languages that models are written in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.model.ground import ground, ground_initial, layout, make
from antiphon.model.ground.form import Bits, Boolean, Expression, GroundStep, Number, Operator, Sort
from antiphon.model.ground.walk import operands_first
from antiphon.spec.lang import Program
from antiphon.spec.lang.declare import MethodDeclaration

MOST_VALUES = 4_096
"""So many values of one number are listed; beyond that only its interval is known."""

MOST_TRIED = 64
"""A guard rules values of a number out one by one, if there are at most so many."""

MOST_ROUNDS = 16
"""A number that still grows after so many rounds may be anything in its declared interval (widening)."""

Listed = frozenset[int]
Values = Listed | int | None
"""Of a boolean or number the values it may have (None: any of its interval); of a bit set the mask of
possible members.
"""

BOTH = frozenset((0, 1))


@dataclass(frozen=True)
class Possible:
    """What a program can ever hold and do: `slots` by position, `steps` in the order of the reference."""

    slots: tuple[Values, ...]
    steps: tuple[GroundStep, ...]


def possible(program: Program, members: Mapping[int, int] | None = None) -> Possible:
    """Bounds from above for the reachable states and steps of a program.

    `members` are masks by the positions of bit-set slots: they are taken as they are, instead of being found.
    Whoever gives them must see to it that no step leads out of them (`escapes` says when one does).

    Raises:
        SpecError: a step or a state cannot be made finite.
    """
    return _Search(program, dict(members or {})).run()


class Estimate:
    """The possible values of expressions, given those of the slots."""

    def __init__(self, slots: Sequence[Values]) -> None:
        self.slots = slots
        self._known: dict[Expression, Values] = {}

    def __call__(self, root: Expression) -> Values:
        """The values that the expression may have."""
        for node in operands_first(root, self._known):
            self._known[node] = self._make(node)
        return self._known[root]

    def certain(self, node: Expression) -> int | None:
        """The only value that a boolean or number can have, if there is only one."""
        found = self(node)
        return next(iter(found)) if isinstance(found, frozenset) and len(found) == 1 else None

    def members(self, node: Expression) -> int:
        """The mask of the possible members of a bit set."""
        found = self(node)
        assert isinstance(found, int)
        return found

    def _make(self, node: Expression) -> Values:
        parts = [self._known[part] for part in node.operands]
        match node.operator:
            case Operator.CONSTANT:
                return int(node.value) if isinstance(node.sort, Bits) else frozenset((int(node.value),))
            case Operator.SLOT:
                return self.slots[node.value]
            case Operator.INPUT:
                return _all(node.sort)
            case Operator.CHOOSE:
                return _choice(parts)
            case Operator.HAS:
                return _has(*parts)
            case Operator.EQUAL if isinstance(node.operands[0].sort, Bits):
                return BOTH
        if isinstance(node.sort, Bits):
            return _set(node, parts)
        return _numbers(node, parts)


def _all(sort: Sort) -> Values:
    if isinstance(sort, Boolean):
        return BOTH
    if isinstance(sort, Bits):
        return (1 << sort.width) - 1
    return frozenset(range(sort.low, sort.high + 1)) if sort.high - sort.low < MOST_VALUES else None


def _choice(parts: list[Values]) -> Values:
    condition, then, otherwise = parts
    if condition == frozenset((1,)):
        return then
    if condition == frozenset((0,)):
        return otherwise
    return _join(then, otherwise)


def _join(one: Values, other: Values) -> Values:
    if isinstance(one, int) and isinstance(other, int):
        return one | other
    if one is None or other is None:
        return None
    assert isinstance(one, frozenset)
    assert isinstance(other, frozenset)
    return one | other


def _has(members: Values, ranks: Values) -> Values:
    assert isinstance(members, int)
    if isinstance(ranks, frozenset) and not any(rank >= 0 and members >> rank & 1 for rank in ranks):
        return frozenset((0,))
    return BOTH


def _set(node: Expression, parts: list[Values]) -> Values:
    assert isinstance(node.sort, Bits)
    if node.operator is Operator.SINGLE:
        (ranks,) = parts
        if not isinstance(ranks, frozenset):
            return (1 << node.sort.width) - 1
        return sum(1 << rank for rank in ranks if 0 <= rank < node.sort.width)
    left, right = parts
    assert isinstance(left, int)
    assert isinstance(right, int)
    if node.operator is Operator.INTERSECTION:
        return left & right
    if node.operator is Operator.DIFFERENCE:
        taken = node.operands[1]
        return left & ~int(taken.value) if taken.operator is Operator.CONSTANT else left
    return left | right


def _numbers(node: Expression, parts: list[Values]) -> Values:
    if node.operator is Operator.COUNT:
        (members,) = parts
        assert isinstance(members, int)
        return frozenset(range(members.bit_count() + 1))
    listed = [part for part in parts if isinstance(part, frozenset)]
    if len(listed) < len(parts):
        return _all(node.sort)
    if node.operator in (Operator.AND, Operator.OR):
        return _junction(node.operator is Operator.AND, listed)
    size = 1
    for part in listed:
        size *= len(part)
    if size > MOST_VALUES:
        return _all(node.sort)
    work = _WORK[node.operator]
    return frozenset(int(work(*values)) for values in itertools.product(*listed))


def _junction(every: bool, parts: list[Listed]) -> Values:
    stop = frozenset((0 if every else 1,))
    if stop in parts:
        return stop
    go = frozenset((1 if every else 0,))
    return go if all(part == go for part in parts) else BOTH


_WORK: dict[Operator, Callable[..., int]] = {
    Operator.NOT: lambda a: not a,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.LESS: lambda a, b: a < b,
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a // b if b else 0,
    Operator.MODULO: lambda a, b: a % b if b else 0,
}


def narrowed(slots: Sequence[Values], condition: Expression) -> list[Values]:
    """The possible values of the slots where a conjunction holds.

    Each conjunct that reads one boolean or number rules values of it out.
    """
    found = list(slots)
    parts = condition.operands if condition.operator is Operator.AND else (condition,)
    for part in parts:
        read = _only_slot(part)
        values = found[read] if read is not None else None
        if read is not None and isinstance(values, frozenset) and 1 < len(values) <= MOST_TRIED:
            trial = list(slots)
            kept = set()
            for value in values:
                trial[read] = frozenset((value,))
                if Estimate(trial)(part) != frozenset((0,)):
                    kept.add(value)
            found[read] = frozenset(kept) if kept else values
    return found


def escapes(update: Expression, mask: int, estimate: Estimate) -> Expression:
    """When a new value of a bit set has a member outside the mask: a boolean, False where that cannot be."""
    match update.operator:
        case Operator.CHOOSE:
            condition, then, otherwise = update.operands
            return make.choose(condition, escapes(then, mask, estimate), escapes(otherwise, mask, estimate))
        case Operator.UNION | Operator.SYMMETRIC_DIFFERENCE:
            return make.disjunction(*(escapes(part, mask, estimate) for part in update.operands))
        case Operator.INTERSECTION | Operator.DIFFERENCE:
            return escapes(update.operands[0], mask, estimate)
        case Operator.SINGLE if estimate.members(update) & ~mask:
            (rank,) = update.operands
            inside = [make.equal(rank, make.number(member)) for member in range(mask.bit_length()) if mask >> member & 1]
            assert isinstance(update.sort, Bits)
            return make.conjunction(make.within(rank, 0, update.sort.width - 1), make.negation(make.disjunction(*inside)))
    return make.boolean(bool(estimate.members(update) & ~mask))


def _only_slot(node: Expression) -> int | None:
    """The one slot, no set, that an expression reads; None when it reads several, or much."""
    read: set[int] = set()
    todo, seen = [node], {id(node)}
    while todo:
        here = todo.pop()
        if here.operator is Operator.SLOT:
            read.add(int(here.value))
            if len(read) > 1 or isinstance(here.sort, Bits):
                return None
        for part in here.operands:
            if id(part) not in seen:
                seen.add(id(part))
                todo.append(part)
    return next(iter(read)) if len(read) == 1 else None


class _Search:
    """Grows the possible values until no step adds any."""

    def __init__(self, program: Program, members: dict[int, int]) -> None:
        self.program, self.members = program, members
        self.layout = layout(program)
        self.actions = program.declaration.marked("action", "environment")
        self.steps: dict[tuple[int, ...], GroundStep] = {}
        self.elements: dict[str, int] = {}
        initial = ground_initial(program)
        self.slots: list[Values] = []
        for position, slot in enumerate(self.layout.slots):
            column = [int(state[position]) for state in initial]
            if isinstance(slot.sort, Bits):
                mask = 0
                for value in column:
                    mask |= value
                self.slots.append(members.get(position, mask))
            else:
                self.slots.append(frozenset(column))

    def run(self) -> Possible:
        """See `possible`."""
        for turn in itertools.count():
            self._ground_new()
            before = list(self.slots)
            for step in self.steps.values():
                self._apply(step)
            if self.slots == before:
                break
            if turn >= MOST_ROUNDS:
                for position, (old, new) in enumerate(zip(before, self.slots, strict=True)):
                    if old != new and not isinstance(new, int):
                        self.slots[position] = _all(self.layout.slots[position].sort)
        alive = [self.steps[order] for order in sorted(self.steps) if self._enabled(self.steps[order])]
        return Possible(tuple(self.slots), tuple(alive))

    def _enabled(self, step: GroundStep) -> bool:
        whole = Estimate(self.slots)
        return whole(step.enabled) != frozenset((0,)) or any(whole(check.wrong) != frozenset((0,)) for check in step.checks)

    def _apply(self, step: GroundStep) -> None:
        if Estimate(self.slots)(step.enabled) == frozenset((0,)):
            return
        there = Estimate(narrowed(self.slots, step.enabled))
        if there(step.enabled) == frozenset((0,)):
            return
        for position, value in step.updates:
            if position in self.members:
                continue
            written = there(value)
            sort = self.layout.slots[position].sort
            if isinstance(sort, Number):
                written = _all(sort) if written is None else frozenset(item for item in _listed(written) if sort.low <= item <= sort.high)
            self.slots[position] = _join(self.slots[position], written)

    def _ground_new(self) -> None:
        """Ground the steps that elements bring which may be in a set now and were not before."""
        fresh = dict(self.elements)
        for method in self.actions:
            for parameter in method.parameters:
                if parameter.within:
                    fresh[parameter.within] = self._set_of(parameter.within)
        for number, method in enumerate(self.actions):
            for ranks, arguments in self._arguments(method, fresh):
                order = (number, *ranks)
                if order not in self.steps:
                    step = ground(self.program, method.name, arguments)
                    if step.enabled.operator is not Operator.CONSTANT or step.enabled.value or step.checks:
                        self.steps[order] = step
        self.elements = fresh

    def _set_of(self, variable: str) -> int:
        found = next(values for slot, values in zip(self.layout.slots, self.slots, strict=True) if slot.variable == variable)
        assert isinstance(found, int)
        return found

    def _arguments(self, method: MethodDeclaration, elements: dict[str, int]) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        ranges = []
        for parameter in method.parameters:
            domain = self.program.domain(parameter.type)
            if parameter.within:
                whole = self.program.domains[parameter.within].parts[0]
                mask = elements[parameter.within]
                values = [whole.value(rank) for rank in range(mask.bit_length()) if mask >> rank & 1]
                ranges.append([(domain.rank(value), value) for value in values if domain.contains(value)])
            else:
                ranges.append(list(enumerate(domain)))
        for chosen in itertools.product(*ranges):
            yield tuple(rank for rank, _ in chosen), tuple(value for _, value in chosen)


def _listed(values: Values) -> Listed:
    assert isinstance(values, frozenset)
    return values
