"""Ground expressions in Promela: C expressions over packed fields, with scratch variables outside the state.

1. A boolean is 0 or 1. A number slot holds its distance from the least value that it can have.
2. A bit set keeps only ranks that may ever be in it, in words of at most 31 bits. All sets of one width share
   one numbering, so that they can be joined and compared word by word.
3. An expression with only one possible value (`possible.Estimate`) is written as that constant.

This file knows nothing of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from antiphon.model.export.estimate import Estimate, Values
from antiphon.model.export.promela_words import is_reserved
from antiphon.model.export.spelling import Spelling
from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Operator, SlotInfo
from antiphon.model.ground.walk import fold, uses
from antiphon.spec.lang import SpecError

WORD = 31
"""Number of bits of a set in one word: Promela's numbers have a sign."""
LARGEST = (1 << 31) - 1
UNIT = 32
"""Number of bits of the machine word that holds several fields."""
SHORT = 40
"""Largest length of a text that is written again rather than kept in a scratch variable."""


@dataclass(frozen=True)
class Field:
    """Variable of the Promela model, of `width` bits; `low` is added when a number is read."""

    name: str
    width: int
    low: int = 0


class Numbering:
    """Positions of bits in Promela's words for the ranks that occur in bit sets of one width."""

    def __init__(self, mask: int) -> None:
        self.ranks = [rank for rank in range(mask.bit_length()) if mask >> rank & 1]
        self.position = {rank: position for position, rank in enumerate(self.ranks)}
        self.words = -(-len(self.ranks) // WORD)

    def mask(self, members: int, word: int) -> int:
        """Return the members of a set of ranks as bits of one word."""
        ranks = self.ranks[word * WORD : (word + 1) * WORD]
        return sum(1 << bit for bit, rank in enumerate(ranks) if members >> rank & 1)

    def width(self, word: int) -> int:
        """Return the number of bits that a word needs."""
        return min(WORD, len(self.ranks) - word * WORD)


class Fields:
    """Variables of a Promela model: for each slot the fields that hold it; a slot that never changes has
    none.
    """

    def __init__(
        self, slots: Sequence[SlotInfo], values: Sequence[Values], numberings: dict[int, Numbering]
    ) -> None:
        self.numberings = numberings
        self.spelling = Spelling(is_reserved)
        self.of_slot: list[tuple[Field | None, ...]] = []
        for slot, value in zip(slots, values, strict=True):
            name = self.spelling.give(_identifier(slot.name), of=slot.name)
            self.of_slot.append(tuple(self._make(name, slot, value)))

    def _make(self, name: str, slot: SlotInfo, value: Values) -> Iterable[Field | None]:
        if isinstance(slot.sort, Bits):
            assert isinstance(value, int)
            numbering = self.numberings[slot.sort.width]
            for word in range(numbering.words):
                wide = numbering.mask(value, word).bit_length()
                part = name if numbering.words == 1 else self.spelling.give(f"{name}_{word}")
                yield Field(part, wide) if wide else None
        elif isinstance(value, frozenset) and len(value) == 1:
            yield None
        elif isinstance(slot.sort, Boolean):
            yield Field(name, 1)
        else:
            low, high = (
                (min(value), max(value)) if isinstance(value, frozenset) else (slot.sort.low, slot.sort.high)
            )
            yield Field(name, (high - low).bit_length(), low)

    def all(self) -> list[Field]:
        """Return every variable, the widest first, so that each word is filled up and few bits are lost at
        borders.
        """
        words: list[tuple[int, list[Field]]] = []
        for field in sorted(
            (field for fields in self.of_slot for field in fields if field), key=lambda item: -item.width
        ):
            for number, (free, held) in enumerate(words):
                if field.width <= free:
                    words[number] = free - field.width, [*held, field]
                    break
            else:
                words.append((UNIT - field.width, [field]))
        return [field for _, held in words for field in held]


def _identifier(name: str) -> str:
    """Return a name of Promela for a slot: `received[Process(0)][0].message` becomes received_0_0_message."""
    kept = "".join(sign if sign.isalnum() else " " for sign in name).split()
    short = "_".join(word for word in kept if not word[0].isupper() or len(kept) == 1)
    return short or "_".join(kept)


class Writer:
    """Writer of the expressions of one step.

    Scratch assignments gather in `lines`, to variables from number `first` on.
    """

    def __init__(
        self,
        fields: Fields,
        estimate: Estimate,
        roots: Iterable[Expression] = (),
        *,
        scratch: bool = True,
        first: int = 0,
    ) -> None:
        self.fields, self.estimate = fields, estimate
        self.lines: list[str] = []
        self.used = first
        self._scratch = scratch
        self._texts: dict[Expression, tuple[str, ...]] = {}
        self._uses = uses(roots)

    def truth(self, node: Expression) -> str:
        """Return the text of a boolean."""
        return self.words(node)[0]

    def words(self, root: Expression) -> tuple[str, ...]:
        """Return the texts of an expression: one, or for a bit set one for each word."""
        return fold(root, self._texts, lambda node: self._kept(node, self._write(node)), self._needed)

    def keep(self, text: str) -> str:
        """Return a scratch variable with this value."""
        name = f"t{self.used}"
        self.used += 1
        self.lines.append(f"{name} = {text}")
        return name

    def _needed(self, node: Expression) -> Sequence[Expression]:
        if self._constant(node) is not None:
            return ()
        if node.operator is Operator.CHOOSE:
            known = self.estimate.certain(node.operands[0])
            if known is not None:
                return (node.operands[1 if known else 2],)
        return node.operands

    def _kept(self, node: Expression, texts: tuple[str, ...]) -> tuple[str, ...]:
        if not self._scratch or self._uses[node] < 2:
            return texts
        return tuple(self.keep(text) if len(text) > SHORT else text for text in texts)

    def _constant(self, node: Expression) -> tuple[str, ...] | None:
        if isinstance(node.sort, Bits):
            numbering = self.fields.numberings[node.sort.width]
            members = self.estimate.members(node)
            if node.operator is Operator.CONSTANT or not members:
                return tuple(str(numbering.mask(members, word)) for word in range(numbering.words))
            return None
        if isinstance(node.sort, Number) and not -LARGEST <= node.sort.low <= node.sort.high <= LARGEST:
            raise SpecError(
                f"a number from {node.sort.low} to {node.sort.high} does not fit the 32 bits that Promela "
                "computes with"
            )
        certain = self.estimate.certain(node)
        return None if certain is None else (f"({certain})" if certain < 0 else str(certain),)

    def _write(self, node: Expression) -> tuple[str, ...]:
        constant = self._constant(node)
        if constant is not None:
            return constant
        if node.operator is Operator.SLOT:
            return self._read(node)
        if isinstance(node.sort, Bits):
            return self._write_set(node)
        if node.operator is Operator.CHOOSE and self.estimate.certain(node.operands[0]) is not None:
            return self._texts[node.operands[1 if self.estimate.certain(node.operands[0]) else 2]]
        if node.operator is Operator.HAS:
            return (self._has(node),)
        if node.operator is Operator.COUNT:
            return (self._count(node.operands[0]),)
        parts = [self._texts[part] for part in node.operands]
        if node.operator is Operator.EQUAL and isinstance(node.operands[0].sort, Bits):
            same = [f"({one} == {other})" for one, other in zip(*parts, strict=True) if one != other]
            return (f"({' && '.join(same)})" if same else "1",)
        return (_OPERATIONS[node.operator](node, [part[0] for part in parts]),)

    def _read(self, node: Expression) -> tuple[str, ...]:
        fields = self.fields.of_slot[int(node.value)]
        if isinstance(node.sort, Bits):
            return tuple(field.name if field else "0" for field in fields)
        (field,) = fields
        assert field is not None
        return (
            f"({field.name} + {field.low})"
            if field.low > 0
            else f"({field.name} - {-field.low})"
            if field.low
            else field.name,
        )

    # Sets ---------------------------------------------------------------------------------------------------

    def _write_set(self, node: Expression) -> tuple[str, ...]:
        assert isinstance(node.sort, Bits)
        numbering = self.fields.numberings[node.sort.width]
        if node.operator is Operator.SINGLE:
            return self._single(node, numbering)
        if node.operator is Operator.CHOOSE:
            condition, then, otherwise = node.operands
            known = self.estimate.certain(condition)
            if known is not None:
                return self._texts[then if known else otherwise]
            test = self.truth(condition)
            pairs = zip(self._texts[then], self._texts[otherwise], strict=True)
            return tuple(one if one == other else f"({test} -> {one} : {other})" for one, other in pairs)
        left, right = (self._texts[part] for part in node.operands)
        members = self.estimate.members(node)
        return tuple(
            _join_words(node.operator, one, other) if numbering.mask(members, word) else "0"
            for word, (one, other) in enumerate(zip(left, right, strict=True))
        )

    def _places(self, node: Expression, numbering: Numbering) -> tuple[list[int], str | None]:
        """Return the ranks that a number may be and that have a position in the numbering.

        The second result is the text of the number's position, if that is a simple function of the number,
        else None.
        """
        values = self.estimate(node)
        if not isinstance(values, frozenset):
            return list(numbering.ranks), None
        known = sorted(value for value in values if value in numbering.position)
        (text,) = self._texts[node]
        if len(known) < len(values) or len(known) < 2:
            return known, None
        step = gcd(*(value - known[0] for value in known))
        first = numbering.position[known[0]]
        if any(numbering.position[value] - first != (value - known[0]) // step for value in known):
            return known, None
        scaled = f"({text} - {known[0]})" if known[0] else text
        scaled = f"({scaled} / {step})" if step > 1 else scaled
        return known, f"({scaled} + {first})" if first else scaled

    def _single(self, node: Expression, numbering: Numbering) -> tuple[str, ...]:
        (rank,) = node.operands
        known, place = self._places(rank, numbering)
        (text,) = self._texts[rank]
        certain = self.estimate.certain(rank)
        found = []
        for word in range(numbering.words):
            here = [value for value in known if numbering.position[value] // WORD == word]
            if not here:
                found.append("0")
            elif certain is not None:
                found.append(str(1 << numbering.position[certain] % WORD))
            elif place is not None:
                bit = f"({place} - {WORD * word})" if word else place
                shifted = f"(1 << {bit})"
                inside = f"({place} / {WORD} == {word} -> {shifted} : 0)"
                found.append(shifted if len(here) == len(known) else inside)
            else:
                chain = "0"
                for value in reversed(here):
                    chain = f"({text} == {value} -> {1 << numbering.position[value] % WORD} : {chain})"
                found.append(chain)
        return tuple(found)

    def _has(self, node: Expression) -> str:
        bits, rank = node.operands
        assert isinstance(bits.sort, Bits)
        numbering = self.fields.numberings[bits.sort.width]
        words = self._texts[bits]
        members = self.estimate.members(bits)
        known, place = self._places(rank, numbering)
        known = [value for value in known if members >> value & 1]
        certain = self.estimate.certain(rank)
        if certain is not None:
            word, bit = divmod(numbering.position[certain], WORD)
            return f"(({words[word]} & {1 << bit}) != 0)"
        (text,) = self._texts[rank]
        spanned = {numbering.position[value] // WORD for value in known}
        if place is not None and len(spanned) == 1:
            (word,) = spanned
            return (
                f"(({words[word]} >> ({place} - {WORD * word})) & 1)"
                if word
                else f"(({words[0]} >> {place}) & 1)"
            )
        tests = []
        for value in known:
            word, bit = divmod(numbering.position[value], WORD)
            tests.append(f"({text} == {value} && ({words[word]} & {1 << bit}) != 0)")
        return f"({' || '.join(tests)})"

    def _count(self, bits: Expression) -> str:
        assert isinstance(bits.sort, Bits)
        numbering = self.fields.numberings[bits.sort.width]
        members = self.estimate.members(bits)
        terms = []
        for word, text in enumerate(self._texts[bits]):
            mask = numbering.mask(members, word)
            terms += [f"(({text} >> {bit}) & 1)" for bit in range(WORD) if mask >> bit & 1]
        return f"({' + '.join(terms)})"


def _join_words(operator: Operator, one: str, other: str) -> str:
    if operator is Operator.INTERSECTION:
        return "0" if "0" in (one, other) else f"({one} & {other})"
    if operator is Operator.DIFFERENCE:
        return one if other == "0" or one == "0" else f"({one} & ~{other})"
    if "0" in (one, other):
        return other if one == "0" else one
    return f"({one} {'|' if operator is Operator.UNION else '^'} {other})"


def _divide(node: Expression, parts: list[str]) -> str:
    """Return a division, rounded down as in Python; 0 when the divisor is 0."""
    one, other = parts
    left, right = (part.sort for part in node.operands)
    assert isinstance(left, Number)
    assert isinstance(right, Number)
    if left.low >= 0 and right.low >= 0:
        quotient = f"({one} / {other})"
    else:
        quotient = (
            f"({one} / {other} - ((({one} % {other}) != 0) && ((({one} % {other}) < 0) != ({other} < 0))))"
        )
    return f"({other} == 0 -> 0 : {quotient})" if right.low <= 0 <= right.high else quotient


def _modulo(node: Expression, parts: list[str]) -> str:
    """Return a remainder, with the sign of the divisor as in Python; 0 when the divisor is 0."""
    one, other = parts
    left, right = (part.sort for part in node.operands)
    assert isinstance(left, Number)
    assert isinstance(right, Number)
    plain = left.low >= 0 and right.low >= 0
    rest = f"({one} % {other})" if plain else f"((({one} % {other}) + {other}) % {other})"
    return f"({other} == 0 -> 0 : {rest})" if right.low <= 0 <= right.high else rest


def _junction(sign: str, parts: list[str], neutral: str) -> str:
    """Return the parts that are not neutral, joined by `sign`; if there are none, the neutral text."""
    kept = [part for part in parts if part != neutral]
    return f"({sign.join(kept)})" if kept else neutral


_OPERATIONS: dict[Operator, Callable[[Expression, list[str]], str]] = {
    Operator.NOT: lambda _, parts: f"(!{parts[0]})",
    Operator.AND: lambda _, parts: _junction(" && ", parts, "1"),
    Operator.OR: lambda _, parts: _junction(" || ", parts, "0"),
    Operator.CHOOSE: lambda _, parts: (
        parts[1] if parts[1] == parts[2] else f"({parts[0]} -> {parts[1]} : {parts[2]})"
    ),
    Operator.EQUAL: lambda _, parts: f"({parts[0]} == {parts[1]})",
    Operator.LESS: lambda _, parts: f"({parts[0]} < {parts[1]})",
    Operator.ADD: lambda _, parts: f"({parts[0]} + {parts[1]})",
    Operator.SUBTRACT: lambda _, parts: f"({parts[0]} - {parts[1]})",
    Operator.MULTIPLY: lambda _, parts: f"({parts[0]} * {parts[1]})",
    Operator.DIVIDE: _divide,
    Operator.MODULO: _modulo,
}
