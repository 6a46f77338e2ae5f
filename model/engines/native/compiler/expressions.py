"""Translation of a ground expression to LLVM, node by node, each once: a boolean becomes an `i1`, a number an
`i64`, a set one `i64` for each word.

A `Writer` fills one function whose blocks follow one another, so that earlier values may be used later. Every
operation is total, as the ground form demands: division by zero is 0, a rank outside its set is in no set.

This file knows nothing of steps, guards or searching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from antiphon.model.ground.form import (
    ADD,
    AND,
    CHOOSE,
    CONSTANT,
    COUNT,
    DIFFERENCE,
    DIVIDE,
    EQUAL,
    HAS,
    INPUT,
    INTERSECTION,
    LESS,
    MODULO,
    MULTIPLY,
    NOT,
    OR,
    SINGLE,
    SLOT,
    SUBTRACT,
    SYMMETRIC_DIFFERENCE,
    UNION,
    Bits,
    Boolean,
    Expression,
    Number,
    Operator,
)
from antiphon.model.ground.walk import fold
from antiphon.model.ground.words import WORD, WORD_MASK, WordPacking

Value = tuple[str, ...]
"""The operands of a value: one operand, or for a wide set one operand for each word."""

_MEETS = {
    UNION: "or", INTERSECTION: "and", SYMMETRIC_DIFFERENCE: "xor",
}  # fmt: skip
_NUMBERS = {ADD: "add", SUBTRACT: "sub", MULTIPLY: "mul", LESS: "icmp slt"}


def words_of(width: int) -> int:
    """Return the number of machine words that hold a set of `width` ranks."""
    return max(1, -(-width // WORD))


BLOCK_LENGTH = 50
"""Number of values after which a new block begins: LLVM's selection of instructions takes more than linear
time in the length of a block.
"""


class Writer:
    """Writer of the body of one LLVM function, which reads a state at `%s`.

    Args:
        packing: where the leaves of the state stand.
        inputs: how to get an input of the step: a function of its position that gives the operand, as an
            `i64` holding the raw value.
    """

    def __init__(self, packing: WordPacking, inputs: Callable[[Writer, int], str] | None = None) -> None:
        self.packing = packing
        self.lines: list[str] = []
        self.inputs = inputs
        self._count = 0
        self._values: dict[Expression, Value] = {}
        self._loaded: dict[tuple[str, int], str] = {}
        self._folded: dict[tuple[str, str, str], str] = {}
        self._junctions: dict[tuple[Operator, tuple[Expression, ...]], str] = {}

    # Text ---------------------------------------------------------------------------------------------------

    def emit(self, text: str) -> str:
        """Write an LLVM instruction that has a result, and return the result's name."""
        self._count += 1
        if self._count % BLOCK_LENGTH == 0:
            self.lines.append(f"  br label %s{self._count}\ns{self._count}:")
        name = f"%n{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """Write an LLVM instruction that has no result."""
        self.lines.append(f"  {text}")

    def label(self) -> str:
        """Return a fresh label."""
        self._count += 1
        return f"b{self._count}"

    def begin(self, label: str) -> None:
        """Begin the block of this label; the values computed so far stay usable in it."""
        self.lines.append(f"{label}:")

    def know(self, expression: Expression, value: str) -> None:
        """Record that an expression has already been written, as this operand."""
        self._values[expression] = (value,)

    def pointer(self, base: str, index: int | str) -> str:
        """Return the address of a word behind the pointer `base`."""
        return self.emit(f"getelementptr i64, ptr {base}, i64 {index}") if index != 0 else base

    def word(self, base: str, index: int) -> str:
        """Return the operand of a word of the state at `base`; each word is loaded once."""
        found = self._loaded.get((base, index))
        if found is None:
            found = self._loaded[base, index] = self.emit(f"load i64, ptr {self.pointer(base, index)}")
        return found

    # Values -------------------------------------------------------------------------------------------------

    def __call__(self, root: Expression) -> Value:
        """Return the operands that hold the value of an expression. The parts that are not computed yet are
        computed first.
        """
        return fold(root, self._values, self._write, self._needed)

    def one(self, expression: Expression) -> str:
        """Return the only operand that holds the value of a boolean, a number or a set that fits in a
        word.
        """
        found = self._values.get(expression)
        return (self(expression) if found is None else found)[0]

    @staticmethod
    def _needed(node: Expression) -> tuple[Expression, ...]:
        if node.operator is HAS and node.operands[0].operator is SLOT:
            return node.operands[1:]
        return node.operands

    def _write(self, node: Expression) -> Value:
        written = self._WRITTEN.get(node.operator)
        if written is not None:
            return written(self, node)
        if node.operator in _NUMBERS:
            (left,), (right,) = map(self._values.__getitem__, node.operands)
            return (self.emit(f"{_NUMBERS[node.operator]} i64 {left}, {right}"),)
        pairs = zip(*map(self, node.operands), strict=True)
        return tuple(self.emit(f"{_MEETS[node.operator]} i64 {left}, {right}") for left, right in pairs)

    def _count_members(self, node: Expression) -> Value:
        counts = [self.emit(f"call i64 @llvm.ctpop.i64(i64 {word})") for word in self(node.operands[0])]
        return (self.fold("add i64", counts),)

    def _not(self, node: Expression) -> Value:
        return (self.emit(f"xor i1 {self._values[node.operands[0]][0]}, true"),)

    def _junction(self, node: Expression) -> Value:
        """Return the operand of a conjunction or disjunction. If all its parts but the last were joined
        before, the operand of these is used again.
        """
        operation = "and i1" if node.operator is AND else "or i1"
        before = self._junctions.get((node.operator, node.operands[:-1]))
        if before is None:
            joined = self.fold(operation, [self._values[part][0] for part in node.operands])
        else:
            joined = self.fold(operation, (before, self._values[node.operands[-1]][0]))
        self._junctions[node.operator, node.operands] = joined
        return (joined,)

    def _difference(self, node: Expression) -> Value:
        pairs = zip(*map(self, node.operands), strict=True)
        return tuple(
            self.emit(f"and i64 {left}, {self.emit(f'xor i64 {right}, -1')}") for left, right in pairs
        )

    def fold(self, operation: str, operands: Sequence[str]) -> str:
        """Return the operands joined from the left; a prefix that was written before is not written again.

        Conjunctions come from nested branches: each begins with the conditions of the branch around it.
        """
        total = operands[0]
        for operand in operands[1:]:
            key = operation, total, operand
            found = self._folded.get(key)
            if found is None:
                found = self._folded[key] = self.emit(f"{operation} {total}, {operand}")
            total = found
        return total

    def _constant(self, node: Expression) -> Value:
        if isinstance(node.sort, Boolean):
            return ("true" if node.value else "false",)
        if isinstance(node.sort, Bits):
            return tuple(
                str(int(node.value) >> WORD * word & WORD_MASK) for word in range(words_of(node.sort.width))
            )
        return (str(int(node.value)),)

    def _slot(self, node: Expression) -> Value:
        place = self.packing.places[node.value]
        if isinstance(node.sort, Boolean):
            masked = self.emit(f"and i64 {self.word('%s', place.word)}, {1 << place.offset}")
            return (self.emit(f"icmp ne i64 {masked}, 0"),)
        if place.width == 0:
            return (str(place.low),)
        if place.width > WORD:
            words = []
            for word in range(place.word, place.word + place.words):
                mask = place.mask(word)
                loaded = self.word("%s", word)
                words.append(loaded if mask == WORD_MASK else self.emit(f"and i64 {loaded}, {mask}"))
            return tuple(words)
        value = self.word("%s", place.word)
        if place.offset:
            value = self.emit(f"lshr i64 {value}, {place.offset}")
        if place.offset + place.width < WORD:
            value = self.emit(f"and i64 {value}, {(1 << place.width) - 1}")
        return (self.emit(f"add i64 {value}, {place.low}") if place.low else value,)

    def _input(self, node: Expression) -> Value:
        if self.inputs is None:
            raise TypeError("an input where there is no parameter")
        if isinstance(node.sort, Bits) and node.sort.width > WORD:
            raise TypeError("a parameter that is a wide set must be given")
        raw = self.inputs(self, int(node.value))
        return (self.emit(f"trunc i64 {raw} to i1"),) if isinstance(node.sort, Boolean) else (raw,)

    def _choose(self, node: Expression) -> Value:
        (condition,), every, other = map(self._values.__getitem__, node.operands)
        kind = "i1" if isinstance(node.sort, Boolean) else "i64"
        if len(every) == 1 and every != other:
            return (self.emit(f"select i1 {condition}, {kind} {every[0]}, {kind} {other[0]}"),)
        pairs = zip(every, other, strict=True)
        return tuple(
            then
            if then == otherwise
            else self.emit(f"select i1 {condition}, {kind} {then}, {kind} {otherwise}")
            for then, otherwise in pairs
        )

    def in_range(self, rank: Expression, width: int) -> str | None:
        """Emit the test that a rank lies below `width`, as an `i1`; return None when it surely does."""
        if isinstance(rank.sort, Number) and rank.sort.low >= 0 and rank.sort.high < width:
            return None
        return self.emit(f"icmp ult i64 {self.one(rank)}, {width}")

    def _has(self, node: Expression) -> Value:
        return (self._is_member(node),)

    def _is_member(self, node: Expression) -> str:
        members, rank = node.operands
        if not isinstance(members.sort, Bits):
            raise TypeError("HAS wants a set")
        width = members.sort.width
        if rank.operator is CONSTANT and members.operator is SLOT:
            return self._has_constant(
                self.packing.places[members.value].word * WORD
                + self.packing.places[members.value].offset
                + int(rank.value)
            )
        inside = self.in_range(rank, width)
        at = self.one(rank)
        low = self.emit(f"and i64 {at}, {WORD - 1}")
        if members.operator is SLOT and width > WORD:
            place = self.packing.places[members.value]
            index = self.emit(f"lshr i64 {at}, 6")
            if inside is not None:
                index = self.emit(f"select i1 {inside}, i64 {index}, i64 0")
            where = self.emit(f"add i64 {index}, {place.word}")
            word = self.emit(f"load i64, ptr {self.pointer('%s', where)}")
        elif width > WORD:
            word = self._pick(self(members), self.emit(f"lshr i64 {at}, 6"))
        else:
            word = self.one(members)
        found = self.emit(f"trunc i64 {self.emit(f'lshr i64 {word}, {low}')} to i1")
        return found if inside is None else self.emit(f"and i1 {found}, {inside}")

    def _has_constant(self, bit: int) -> str:
        masked = self.emit(f"and i64 {self.word('%s', bit // WORD)}, {1 << bit % WORD}")
        return self.emit(f"icmp ne i64 {masked}, 0")

    def _pick(self, words: Value, index: str) -> str:
        picked = words[0]
        for number, word in enumerate(words[1:], 1):
            picked = self.emit(
                f"select i1 {self.emit(f'icmp eq i64 {index}, {number}')}, i64 {word}, i64 {picked}"
            )
        return picked

    def single_bit(self, rank: Expression, width: int) -> tuple[str, str]:
        """Return the word and the bit in it for a set with this one rank; no bit when it is outside the
        width.
        """
        inside = self.in_range(rank, width)
        at = self.one(rank)
        bit = self.emit(f"shl i64 1, {self.emit(f'and i64 {at}, {WORD - 1}')}")
        index = self.emit(f"lshr i64 {at}, 6")
        if inside is not None:
            bit = self.emit(f"select i1 {inside}, i64 {bit}, i64 0")
            index = self.emit(f"select i1 {inside}, i64 {index}, i64 0")
        return index, bit

    def _single(self, node: Expression) -> Value:
        if not isinstance(node.sort, Bits):
            raise TypeError("SINGLE gives a set")
        index, bit = self.single_bit(node.operands[0], node.sort.width)
        count = words_of(node.sort.width)
        if count == 1:
            return (bit,)
        return tuple(
            self.emit(f"select i1 {self.emit(f'icmp eq i64 {index}, {word}')}, i64 {bit}, i64 0")
            for word in range(count)
        )

    def _equal(self, node: Expression) -> Value:
        left, right = node.operands
        if isinstance(left.sort, Boolean):
            return (self.emit(f"icmp eq i1 {self.one(left)}, {self.one(right)}"),)
        pairs = list(zip(self(left), self(right), strict=True))
        if len(pairs) == 1:
            return (self.emit(f"icmp eq i64 {pairs[0][0]}, {pairs[0][1]}"),)
        differences = [self.emit(f"xor i64 {one}, {other}") for one, other in pairs]
        return (self.emit(f"icmp eq i64 {self.fold('or i64', differences)}, 0"),)

    def _divide(self, node: Expression) -> Value:
        """Emit a floor division or its remainder, which is 0 when the divisor is 0; return the operand that
        holds the result.
        """
        left, right = map(self.one, node.operands)
        zero = self.emit(f"icmp eq i64 {right}, 0")
        divisor = self.emit(f"select i1 {zero}, i64 1, i64 {right}")
        quotient = self.emit(f"sdiv i64 {left}, {divisor}")
        rest = self.emit(f"srem i64 {left}, {divisor}")
        apart = self.emit(f"icmp slt i64 {self.emit(f'xor i64 {rest}, {divisor}')}, 0")
        off = self.emit(f"and i1 {self.emit(f'icmp ne i64 {rest}, 0')}, {apart}")
        if node.operator is DIVIDE:
            value = self.emit(f"sub i64 {quotient}, {self.emit(f'zext i1 {off} to i64')}")
        else:
            value = self.emit(f"add i64 {rest}, {self.emit(f'select i1 {off}, i64 {divisor}, i64 0')}")
        return (self.emit(f"select i1 {zero}, i64 0, i64 {value}"),)

    _WRITTEN: ClassVar[dict[Operator, Callable[[Writer, Expression], Value]]] = {
        CONSTANT: _constant, SLOT: _slot, INPUT: _input, CHOOSE: _choose, HAS: _has,
        SINGLE: _single, EQUAL: _equal, COUNT: _count_members, NOT: _not, AND: _junction,
        OR: _junction, DIVIDE: _divide, MODULO: _divide, DIFFERENCE: _difference,
    }  # fmt: skip
