"""Translation of ground expressions to literals: one for a boolean, one for each value of a number, one for
each rank of a set.

A number is the literals of the values it can have, of which exactly one is true (`Cases`); a set is the
literals of the ranks that can be in it (`Members`). Arithmetic pairs cases up, so that a width or a sign is
never chosen and a value that cannot occur has no literal.

1. A case without a meaning (division by zero) is left out: it is on a path whose check has failed.
2. Numbers with more cases than `WIDEST`, or sums with more pairs, are refused (`TooWide`): the engine then
   answers `unknown`.

This file knows nothing of time, of steps or of Z3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from antiphon.model.ground.bits import members
from antiphon.model.ground.form import Bits, Boolean, Expression, Layout, Number, Operator, Sort
from antiphon.model.ground.walk import fold, parts
from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit

Cases = dict[int, int]
"""Number as literals: one for each value it can have."""

Members = dict[int, int]
"""Set as literals: one for each rank that can be in it."""

Value = int | dict[int, int]
"""Value as literals: a boolean's literal, `Cases`, or `Members`."""

WIDEST = 1 << 16


class TooWide(Exception):
    """Error: a number of the specification has too many values to be listed; the message says how many."""


@dataclass(frozen=True)
class Cell:
    """Literal of a state: its slot, and its value or rank in the slot (0 for a boolean)."""

    slot: int
    value: int


class Cells:
    """Boolean cells that make up a state, in order; `of[slot]` is the range of the cells of a slot."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.cells: list[Cell] = []
        self.of: list[range] = []
        for slot, info in enumerate(layout.slots):
            begin = len(self.cells)
            self.cells.extend(Cell(slot, value) for value in _values(info.sort))
            self.of.append(range(begin, len(self.cells)))

    def __len__(self) -> int:
        return len(self.cells)

    def value(self, slot: int, literals: Sequence[int]) -> Value:
        """Return the value of the slot in a state given by its literals."""
        where = self.of[slot]
        if isinstance(self.layout.slots[slot].sort, Boolean):
            return literals[where.start]
        return {self.cells[cell].value: literals[cell] for cell in where if literals[cell] != FALSE}

    def literals(self, slot: int, value: Value) -> list[int]:
        """Return the literals of a slot that holds `value`."""
        where = self.of[slot]
        if isinstance(value, int):
            return [value]
        return [value.get(self.cells[cell].value, FALSE) for cell in where]

    def constant(self, leaves: Sequence[int | bool]) -> list[int]:
        """Return the literals of a known state, given as one number for each slot; a set is the number of its
        bits.
        """
        row: list[int] = []
        for slot, leaf in enumerate(leaves):
            sort = self.layout.slots[slot].sort
            if isinstance(sort, Number):
                row.extend(TRUE if self.cells[cell].value == leaf else FALSE for cell in self.of[slot])
            else:
                row.extend(
                    TRUE if int(leaf) >> self.cells[cell].value & 1 else FALSE for cell in self.of[slot]
                )
        return row

    def leaves(self, true: Callable[[int], bool], literals: Sequence[int]) -> tuple[int | bool, ...]:
        """Return the numbers of a state, one for each slot, whose literals `true` judges: the inverse of
        `constant`.
        """
        found: list[int | bool] = []
        for slot, info in enumerate(self.layout.slots):
            values = [self.cells[cell].value for cell in self.of[slot] if true(literals[cell])]
            match info.sort:
                case Boolean():
                    found.append(bool(values))
                case Number():
                    found.append(values[0])
                case Bits():
                    found.append(sum(1 << value for value in values))
        return tuple(found)


def _values(sort: Sort) -> range:
    match sort:
        case Boolean():
            return range(1)
        case Number(low=low, high=high):
            if high - low >= WIDEST:
                raise TooWide(f"a number from {low} to {high} has more than {WIDEST:,} values")
            return range(low, high + 1)
        case Bits(width=width):
            return range(width)
    raise TypeError(f"unknown sort {sort!r}")


class Translator:
    """Translator of ground expressions over one state (and inputs) to literals; each is translated once."""

    def __init__(self, circuit: Circuit, slots: Sequence[Value], inputs: Sequence[Value] = ()) -> None:
        self.circuit, self.slots, self.inputs = circuit, slots, inputs
        self._memo: dict[Expression, Value] = {}

    def boolean(self, expression: Expression) -> int:
        """Return the literal of a boolean expression."""
        value = self.value(expression)
        if not isinstance(value, int):
            raise TypeError(f"{expression.operator} gives no boolean")
        return value

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression of any sort."""
        return fold(expression, self._memo, self._made, parts)

    def _made(self, node: Expression) -> Value:
        return OPERATORS[node.operator](self, node, [self._memo[operand] for operand in node.operands])

    # Numbers and sets ---------------------------------------------------------------------------------------

    def merge(self, pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
        """Return cases or members from (value, literal) pairs; the literals of one value are joined by
        "or".
        """
        found: dict[int, list[int]] = defaultdict(list)
        for value, literal in pairs:
            if literal != FALSE:
                found[value].append(literal)
        joined = {
            value: literals[0] if len(literals) == 1 else self.circuit.disjunction(literals)
            for value, literals in found.items()
        }
        return {value: literal for value, literal in joined.items() if literal != FALSE}

    def pairwise(self, compute: Callable[[int, int], int | None], left: Cases, right: Cases) -> Cases:
        """Return the cases of a function of two numbers that are given by cases. A pair for which `compute`
        returns None gives no case.
        """
        if len(left) * len(right) > WIDEST:
            raise TooWide(f"numbers with {len(left):,} and {len(right):,} values meet in one operation")
        pairs: list[tuple[int, int]] = []
        for a, when_a in left.items():
            for b, when_b in right.items():
                result = compute(a, b)
                if result is not None:
                    pairs.append((result, self.circuit.conjunction((when_a, when_b))))
        return self.merge(pairs)


def _cases(value: Value) -> dict[int, int]:
    if isinstance(value, int):
        raise TypeError("a boolean where a number or a set should be")
    return value


def _literal(value: Value) -> int:
    if not isinstance(value, int):
        raise TypeError("a number or a set where a boolean should be")
    return value


# One function an operator: (translator, node, values of the operands) -> value ------------------------------


def _constant(_: Translator, node: Expression, __: list[Value]) -> Value:
    match node.sort:
        case Boolean():
            return TRUE if node.value else FALSE
        case Number():
            return {int(node.value): TRUE}
        case Bits():
            return dict.fromkeys(members(int(node.value)), TRUE)
    raise TypeError(f"unknown sort {node.sort!r}")


def _choose(translator: Translator, _: Expression, values: list[Value]) -> Value:
    condition, then, otherwise = values
    when = _literal(condition)
    if when == TRUE:
        return then
    if when == FALSE:
        return otherwise
    circuit = translator.circuit
    if isinstance(then, int):
        return circuit.choose(when, then, _literal(otherwise))
    other = _cases(otherwise)
    both: dict[int, int] = {}
    for value in then.keys() | other.keys():
        literal = circuit.choose(when, then.get(value, FALSE), other.get(value, FALSE))
        if literal != FALSE:
            both[value] = literal
    return both


def _equal(translator: Translator, node: Expression, values: list[Value]) -> Value:
    circuit = translator.circuit
    left, right = values
    match node.operands[0].sort:
        case Boolean():
            return circuit.equal(_literal(left), _literal(right))
        case Number():
            few, many = sorted((_cases(left), _cases(right)), key=len)
            return circuit.disjunction(
                [circuit.conjunction((when, many[value])) for value, when in few.items() if value in many]
            )
        case Bits():
            a, b = _cases(left), _cases(right)
            return circuit.conjunction(
                [circuit.equal(a.get(rank, FALSE), b.get(rank, FALSE)) for rank in a.keys() | b.keys()]
            )
    raise TypeError(f"unknown sort {node.sort!r}")


def _less(translator: Translator, _: Expression, values: list[Value]) -> Value:
    circuit = translator.circuit
    left, right = sorted(_cases(values[0]).items(), reverse=True), sorted(_cases(values[1]).items())
    greater, found = FALSE, []
    for value, when in left:
        while right and right[-1][0] > value:
            greater = circuit.disjunction((greater, right.pop()[1]))
        found.append(circuit.conjunction((when, greater)))
    return circuit.disjunction(found)


def _arithmetic(
    compute: Callable[[int, int], int | None],
) -> Callable[[Translator, Expression, list[Value]], Value]:
    def apply(translator: Translator, _: Expression, values: list[Value]) -> Value:
        return translator.pairwise(compute, _cases(values[0]), _cases(values[1]))

    return apply


def _has(translator: Translator, _: Expression, values: list[Value]) -> Value:
    members, number = _cases(values[0]), _cases(values[1])
    circuit = translator.circuit
    return circuit.disjunction(
        [circuit.conjunction((when, members[rank])) for rank, when in number.items() if rank in members]
    )


def _single(_: Translator, node: Expression, values: list[Value]) -> Value:
    width = node.sort.width if isinstance(node.sort, Bits) else 0
    return {rank: when for rank, when in _cases(values[0]).items() if 0 <= rank < width}


def _union(translator: Translator, _: Expression, values: list[Value]) -> Value:
    few, many = sorted((_cases(values[0]), _cases(values[1])), key=len)
    joined = dict(many)
    for rank, when in few.items():
        joined[rank] = translator.circuit.disjunction((when, many[rank])) if rank in many else when
    return joined


def _intersection(translator: Translator, _: Expression, values: list[Value]) -> Value:
    left, right = _cases(values[0]), _cases(values[1])
    both = {
        rank: translator.circuit.conjunction((when, right[rank]))
        for rank, when in left.items()
        if rank in right
    }
    return {rank: when for rank, when in both.items() if when != FALSE}


def _difference(translator: Translator, _: Expression, values: list[Value]) -> Value:
    left, right = _cases(values[0]), _cases(values[1])
    rest = {
        rank: translator.circuit.conjunction((when, -right.get(rank, FALSE))) for rank, when in left.items()
    }
    return {rank: when for rank, when in rest.items() if when != FALSE}


def _symmetric(translator: Translator, _: Expression, values: list[Value]) -> Value:
    left, right = _cases(values[0]), _cases(values[1])
    either = {
        rank: -translator.circuit.equal(left.get(rank, FALSE), right.get(rank, FALSE))
        for rank in left.keys() | right.keys()
    }
    return {rank: when for rank, when in either.items() if when != FALSE}


def _count(translator: Translator, _: Expression, values: list[Value]) -> Value:
    counted: Cases = {0: TRUE}
    for when in _cases(values[0]).values():
        more = {total + 1: literal for total, literal in counted.items()}
        counted = {
            total: literal
            for total in counted.keys() | more.keys()
            if (literal := translator.circuit.choose(when, more.get(total, FALSE), counted.get(total, FALSE)))
            != FALSE
        }
    return counted


OPERATORS: Mapping[Operator, Callable[[Translator, Expression, list[Value]], Value]] = {
    Operator.CONSTANT: _constant,
    Operator.SLOT: lambda translator, node, _: translator.slots[node.value],
    Operator.INPUT: lambda translator, node, _: translator.inputs[node.value],
    Operator.NOT: lambda _, __, values: -_literal(values[0]),
    Operator.AND: lambda translator, _, values: translator.circuit.conjunction(
        [_literal(value) for value in values]
    ),
    Operator.OR: lambda translator, _, values: translator.circuit.disjunction(
        [_literal(value) for value in values]
    ),
    Operator.CHOOSE: _choose,
    Operator.EQUAL: _equal,
    Operator.LESS: _less,
    Operator.ADD: _arithmetic(lambda a, b: a + b),
    Operator.SUBTRACT: _arithmetic(lambda a, b: a - b),
    Operator.MULTIPLY: _arithmetic(lambda a, b: a * b),
    Operator.DIVIDE: _arithmetic(lambda a, b: a // b if b else None),
    Operator.MODULO: _arithmetic(lambda a, b: a % b if b else None),
    Operator.HAS: _has,
    Operator.SINGLE: _single,
    Operator.UNION: _union,
    Operator.INTERSECTION: _intersection,
    Operator.DIFFERENCE: _difference,
    Operator.SYMMETRIC_DIFFERENCE: _symmetric,
    Operator.COUNT: _count,
}
"""Meaning of each operator; the tests replace single entries to show that a wrong one is caught."""
