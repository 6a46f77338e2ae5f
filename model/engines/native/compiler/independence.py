"""Independence of steps: two steps are independent where neither writes a bit of the state that the other
reads or writes. Then they lead to the same state in both orders, and neither enables, disables or changes the
other.

The bits that a step may read and write are derived from its ground form, and may be too many, never too few.
A test for one member of a set reads one bit; a set that is joined with others, or cut, is written where that
changes it, and does not depend on the bits that stay. For a member that depends on the state all values are
counted.

This file knows nothing of LLVM or of searching.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.native.compiler.enumeration import ActionPlan, Branch, Variant
from antiphon.model.ground import Evaluator
from antiphon.model.ground.form import Bits, Expression, Number, Operator
from antiphon.model.ground.walk import fold, parts
from antiphon.model.ground.words import WORD, WordPacking

MOST_NUMBERS = 1 << 10
"""Largest number of pairs of values that are combined one by one; beyond it the interval is used."""

Raw = int | bool
Masks = npt.NDArray[np.uint64]


def footprints(plans: Iterable[ActionPlan], packing: WordPacking, count: int) -> Masks:
    """Return two masks over the words of a state for each of `count` steps, by code: the bits that it may
    read, and those that it may write.
    """
    made = np.zeros((count, 2, packing.words), dtype=np.uint64)
    size, look = 8 * packing.words, _Look(packing)
    for plan in plans:
        for branch in plan.branches:
            for code, masks in _of_branch(plan, branch, look):
                for kind, mask in enumerate(masks):
                    made[code, kind] = np.frombuffer(mask.to_bytes(size, "little"), dtype=np.uint64)
    return made


def independent(masks: Masks) -> npt.NDArray[np.bool_]:
    """Return the matrix of independent steps, by their footprints; no step is independent of itself."""
    reads, writes = masks[:, 0], masks[:, 1]
    disturbs = np.any(writes[:, None, :] & (reads | writes)[None, :, :], axis=2)
    np.fill_diagonal(disturbs, val=True)
    found: npt.NDArray[np.bool_] = np.logical_not(disturbs | disturbs.T)
    return found


def _of_branch(plan: ActionPlan, branch: Branch, look: _Look) -> Iterator[tuple[int, tuple[int, int]]]:
    variants = [_Variant(variant, look) for variant in branch.variants]
    for ranks in itertools.product(*(loop.ranks for loop in branch.loops)):
        code, present = branch.code, 0
        inputs: dict[int, Raw] = {}
        elements: list[int] = []
        for loop, rank in zip(branch.loops, ranks, strict=True):
            parameter = plan.parameters[loop.parameter]
            code += rank * plan.strides[loop.parameter]
            inputs |= enumerate(parameter.rows[rank], parameter.first)
            elements.append(loop.elements[rank] if loop.elements else 0)
            if loop.slot is not None:
                present |= 1 << look.first(loop.slot) + elements[-1]
        variant = variants[branch.chosen[ranks[-1]] if branch.chosen else 0]
        reads, writes = variant.masks(inputs, elements)
        yield code, (reads | present, writes)


@dataclass(frozen=True)
class _Seen:
    """Dependencies of a value: whether it depends on the whole state, which inputs, which bits, and which set
    members that inputs choose.
    """

    state: bool = False
    inputs: bool = False
    bits: int = 0
    members: tuple[Expression, ...] = ()


_NOTHING = _Seen()


class _Look:
    """Analysis of the dependencies of expressions; each expression is analysed once, however many steps
    contain it.
    """

    def __init__(self, packing: WordPacking) -> None:
        self._packing = packing
        self._seen: dict[Expression, _Seen] = {}

    def first(self, slot: int) -> int:
        """Return the position of the first bit of a slot in a state."""
        place = self._packing.places[slot]
        return place.word * WORD + place.offset

    def all(self, slot: int) -> int:
        """Return the mask of all bits of a slot, from bit 0 on."""
        return (1 << self._packing.places[slot].width) - 1

    def member(self, slot: int, rank: int) -> int:
        """Return the bit of a member of a set slot in the state; 0 if the slot cannot hold it."""
        return (1 << rank & self.all(slot)) << self.first(slot) if rank >= 0 else 0

    def __call__(self, root: Expression) -> _Seen:
        return fold(root, self._seen, self._of, parts)

    def _of(self, node: Expression) -> _Seen:
        if node.operator is Operator.SLOT:
            slot = int(node.value)
            return _Seen(state=True, bits=self.all(slot) << self.first(slot))
        if node.operator is Operator.INPUT:
            return _Seen(inputs=True)
        below = [known for part in node.operands if (known := self._seen[part]) is not _NOTHING]
        if not below:
            return _NOTHING
        inputs = any(known.inputs for known in below)
        if node.operator is Operator.HAS and node.operands[0].operator is Operator.SLOT:
            slot, element = int(node.operands[0].value), node.operands[1]
            if element.operator is Operator.CONSTANT:
                return _Seen(state=True, bits=self.member(slot, int(element.value)))
            if not self._seen[element].state:
                return _Seen(state=True, inputs=True, members=(node,))
        bits = 0
        for known in below:
            bits |= known.bits
        members = dict.fromkeys(itertools.chain.from_iterable(known.members for known in below))
        return _Seen(any(known.state for known in below), inputs, bits, tuple(members))


class _Variant:
    """Reads and writes of a variant of a step, for given inputs."""

    def __init__(self, variant: Variant, look: _Look) -> None:
        self._look, self._elements = look, variant.elements
        self._reads = self._writes = 0
        self._members: dict[Expression, None] = {}
        self._changes: list[tuple[int, Operator, Expression]] = []
        """Sets that change by another set that depends on inputs: slot, operator, the other set."""
        self._value = Evaluator(())
        self._bounds: dict[Expression, tuple[int, int]] = {}
        self._numbers: dict[Expression, frozenset[int]] = {}
        step = variant.step
        for root in (step.enabled, *(check.wrong for check in step.checks)):
            self._read(root)
        for broken in step.breaks:
            self._read(broken.broken)
        for slot, value in step.updates:
            self._update(slot, value)
        self._always = self._bounds, self._numbers

    def masks(self, inputs: Mapping[int, Raw], elements: Sequence[int]) -> tuple[int, int]:
        """Return the bits that the variant reads and those that it writes, for these inputs and elements of
        the loops.
        """
        if not self._members and not self._changes:
            return self._reads, self._writes
        self._bounds, self._numbers = dict(self._always[0]), dict(self._always[1])
        pairs = zip(self._elements, elements, strict=bool(self._elements))
        known = {expression: element for expression, element in pairs if expression is not None}
        self._value = Evaluator((), inputs, known)
        reads, writes = self._reads, self._writes
        for test in self._members:
            reads |= self._look.member(int(test.operands[0].value), int(self._value(test.operands[1])))
        for change in self._changes:
            writes |= self._changed(*change)
        return reads, writes

    def _read(self, root: Expression) -> None:
        seen = self._look(root)
        self._reads |= seen.bits
        self._members |= dict.fromkeys(seen.members)

    def _update(self, slot: int, value: Expression) -> None:
        """Note which bits the new value of a slot depends on, and which bits of the slot it may change."""
        everything = self._look.all(slot) << self._look.first(slot)
        seen: set[Expression] = set()
        todo = [value]
        while todo:
            node = todo.pop()
            if node in seen or (node.operator is Operator.SLOT and node.value == slot):
                continue
            seen.add(node)
            match node.operator, node.operands:
                case Operator.CHOOSE, (condition, *sides):
                    self._read(condition)
                    todo += sides
                case Operator.UNION | Operator.INTERSECTION | Operator.DIFFERENCE as kind, (one, other):
                    if kind is not Operator.DIFFERENCE and self._reads_slot(other, slot):
                        one, other = other, one
                    todo.append(one)
                    self._read(other)
                    if self._look(other).inputs:
                        self._changes.append((slot, kind, other))
                    else:
                        self._writes |= self._changed(slot, kind, other)
                case _:
                    self._read(node)
                    self._writes |= everything

    def _reads_slot(self, node: Expression, slot: int) -> bool:
        seen = self._look(node)
        return bool(seen.bits >> self._look.first(slot) & self._look.all(slot)) or any(
            test.operands[0].value == slot for test in seen.members
        )

    def _changed(self, slot: int, kind: Operator, other: Expression) -> int:
        """Return the bits of a set that may change when it is joined with another set, or intersected with it
        or reduced by it.
        """
        least, most = self._limits(other)
        bits = ~least if kind is Operator.INTERSECTION else most
        return (bits & self._look.all(slot)) << self._look.first(slot)

    def _limits(self, node: Expression) -> tuple[int, int]:
        """Return the members that a set surely has, and those that it may have."""
        found = self._bounds.get(node)
        if found is None:
            found = self._bounds[node] = self._limits_of(node)
        return found

    def _limits_of(self, node: Expression) -> tuple[int, int]:
        assert isinstance(node.sort, Bits)
        if not self._look(node).state:
            members = int(self._value(node))
            return members, members
        match node.operator, node.operands:
            case Operator.SINGLE, (element,):
                numbers = self._values(element)
                most = sum(1 << number for number in numbers if 0 <= number < node.sort.width)
                return (most if len(numbers) == 1 else 0), most
            case Operator.CHOOSE, (_, *sides):
                (least, most), (low, high) = map(self._limits, sides)
                return least & low, most | high
            case Operator.UNION | Operator.INTERSECTION | Operator.DIFFERENCE as kind, sides:
                (least, most), (low, high) = map(self._limits, sides)
                if kind is Operator.DIFFERENCE:
                    return least & ~high, most & ~low
                both = operator.or_ if kind is Operator.UNION else operator.and_
                return both(least, low), both(most, high)
        return 0, (1 << node.sort.width) - 1

    def _values(self, node: Expression) -> frozenset[int]:
        """Return the values that a number may have."""
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = self._values_of(node)
        return found

    def _values_of(self, node: Expression) -> frozenset[int]:
        assert isinstance(node.sort, Number)
        if not self._look(node).state:
            return frozenset([int(self._value(node))])
        if node.operator is Operator.CHOOSE:
            return self._values(node.operands[1]) | self._values(node.operands[2])
        if node.operator in _ARITHMETIC:
            left, right = map(self._values, node.operands)
            if len(left) * len(right) <= MOST_NUMBERS:
                made = itertools.starmap(_ARITHMETIC[node.operator], itertools.product(left, right))
                return frozenset(made)
        return frozenset(range(node.sort.low, node.sort.high + 1))


_ARITHMETIC = {
    Operator.ADD: operator.add,
    Operator.SUBTRACT: operator.sub,
    Operator.MULTIPLY: operator.mul,
}
