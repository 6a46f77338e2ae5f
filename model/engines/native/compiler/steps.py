"""Translation of a ground step to a function: guards in order, each with an exit; checks at their place; then
the new state, word by word.

The function `i64 @name(ptr s, ptr out, i64 input..., i64 element...)` reads the state at `s` and, when it is
enabled, has written its successor to `out`. It answers 0 (not enabled), or `ENABLED`, joined with `WRONG`
when a check fails and with `BROKEN << p` for each broken property.

This file knows nothing of how arguments are enumerated or states are stored.
"""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.model.engines.native.compiler.expressions import Writer
from antiphon.model.ground.footprint import conjuncts, split
from antiphon.model.ground.form import Bits, Boolean, Expression, GroundStep, Number, Operator
from antiphon.model.ground.words import WORD, WORD_MASK, WordPacking

ENABLED, WRONG, BROKEN = 1, 2, 256
"""Bits of the answer of a step: enabled; a check failed; property number p is broken at `BROKEN << p`."""
MOST_PROPERTIES = 55
MOST_PATHS = 40
"""Largest number of paths through an expression (`_paths`) for which a wide set is updated in place."""


class StepWriter(Writer):
    """Writer of the function of one step."""

    def function(
        self, name: str, parameters: Sequence[str], step: GroundStep, properties: Sequence[str]
    ) -> str:
        """Return the text of the function; `properties` numbers the properties that a step may break."""
        self._guards(step)
        self._successor(step)
        self._answer(step, properties)
        arguments = ", ".join(["ptr %s", "ptr noalias %out", *parameters])
        return "\n".join(
            [
                f"define internal i64 @{name}({arguments}) nounwind {{",
                *self.lines,
                "off:",
                "  ret i64 0",
                "}\n",
            ]
        )

    def _guards(self, step: GroundStep) -> None:
        guards = [part for part in conjuncts(step.enabled) if not is_true(part)]
        waiting = [
            (check.wrong, conjuncts(check.wrong)) for check in step.checks if not is_false(check.wrong)
        ]
        for guard in guards:
            due = [wrong for wrong, parts in waiting if guard not in parts]
            waiting = [(wrong, parts) for wrong, parts in waiting if guard in parts]
            self._check(due)
            on = self.label()
            self.line(f"br i1 {self.one(guard)}, label %{on}, label %off")
            self.begin(on)
        self._check([wrong for wrong, _ in waiting])

    def _check(self, wrongs: Sequence[Expression]) -> None:
        """Emit one exit for all these failing checks; the reference later says which of them failed."""
        if wrongs:
            bad, on = self.label(), self.label()
            self.line(
                f"br i1 {self.fold('or i1', [self.one(wrong) for wrong in wrongs])}, label %{bad}, label "
                f"%{on}"
            )
            self.begin(bad)
            self.line(f"ret i64 {WRONG}")
            self.begin(on)

    def _successor(self, step: GroundStep) -> None:
        places = self.packing.places
        narrow: dict[int, list[tuple[int, str]]] = {}
        wide: list[tuple[int, Expression]] = []
        for slot, value in step.updates:
            place = places[slot]
            if place.width > WORD:
                wide.append((slot, value))
            elif place.width:
                narrow.setdefault(place.word, []).append((place.mask(place.word), self._placed(slot, value)))
        ready = [(slot, _WideUpdate(self, slot, value)) for slot, value in wide]
        for word in range(self.packing.words):
            written = self.word("%s", word)
            if word in narrow:
                mask = sum(mask for mask, _ in narrow[word])
                written = self.emit(f"and i64 {written}, {WORD_MASK & ~mask}")
                for _, part in narrow[word]:
                    written = self.emit(f"or i64 {written}, {part}")
            self.line(f"store i64 {written}, ptr {self.pointer('%out', word)}")
        for _, update in ready:
            update.write()

    def _placed(self, slot: int, value: Expression) -> str:
        """Return the bits of a narrow leaf, shifted to its place in the word."""
        place = self.packing.places[slot]
        operand = self.one(value)
        if isinstance(value.sort, Boolean):
            return self.emit(f"select i1 {operand}, i64 {1 << place.offset}, i64 0")
        if place.low:
            operand = self.emit(f"sub i64 {operand}, {place.low}")
        if not _fits(value, place.low, place.width):
            operand = self.emit(f"and i64 {operand}, {(1 << place.width) - 1}")
        return self.emit(f"shl i64 {operand}, {place.offset}") if place.offset else operand

    def _answer(self, step: GroundStep, properties: Sequence[str]) -> None:
        answer = str(ENABLED)
        for bit, name in enumerate(properties):
            broken = [
                self.one(item.broken)
                for item in step.breaks
                if item.property == name and not is_false(item.broken)
            ]
            if broken:
                found = self.emit(f"select i1 {self.fold('or i1', broken)}, i64 {BROKEN << bit}, i64 0")
                answer = self.emit(f"or i64 {answer}, {found}")
        self.line(f"ret i64 {answer}")


class _WideUpdate:
    """Update of a wide set in the successor in place: single elements are cleared and set, so that the rest
    of the set costs nothing.

    The values that the update reads are computed when the object is made, before anything is written. If the
    new value is a large expression with shared parts, the whole set is computed instead.
    """

    def __init__(self, writer: Writer, slot: int, value: Expression) -> None:
        self.writer, self.place = writer, writer.packing.places[slot]
        update = split(slot, value)
        self.whole = None if self._paths(update.keep) + self._paths(update.add) <= MOST_PATHS else value
        self.parts = update.keep, update.add
        for part in self.parts if self.whole is None else ():
            self.prepare(part)
        self.words = () if self.whole is None else writer(value)

    def _paths(self, node: Expression) -> int:
        """Return the number of paths through an expression on which an update of single elements would reach
        its innermost sets.
        """
        counts: dict[int, int] = {}

        def count(part: Expression) -> int:
            if id(part) not in counts:
                inner = part.operands[1:] if part.operator is Operator.CHOOSE else part.operands
                deeper = part.operator in (
                    Operator.UNION,
                    Operator.DIFFERENCE,
                    Operator.INTERSECTION,
                    Operator.CHOOSE,
                )
                counts[id(part)] = sum(map(count, inner)) if deeper else 1
            return counts[id(part)]

        return count(node)

    def prepare(self, node: Expression) -> None:
        """Compute what the update will need, before anything is written."""
        match node.operator:
            case Operator.UNION | Operator.DIFFERENCE | Operator.INTERSECTION:
                for operand in node.operands:
                    self.prepare(operand)
            case Operator.CHOOSE:
                self.writer.one(node.operands[0])
                self.prepare(node.operands[1])
                self.prepare(node.operands[2])
            case Operator.SINGLE:
                self.writer.one(node.operands[0])
            case _:
                self.writer(node)

    def write(self) -> None:
        """Clear the elements that are not kept, then set those that are added; or write the whole set."""
        for word, value in enumerate(self.words):
            kept = ~self.place.mask(self.place.word + word) & WORD_MASK
            self._change(str(self.place.word + word), "and", str(kept))
            self._change(str(self.place.word + word), "or", value)
        if self.whole is None:
            self.keep(self.parts[0], None)
            self.add(self.parts[1], None)

    def keep(self, node: Expression, when: str | None) -> None:
        """Emit code that clears the set's elements outside `node`, if `when` is true (None: always)."""
        writer = self.writer
        match node.operator:
            case Operator.CONSTANT if int(node.value) == (1 << self.place.width) - 1:
                return
            case Operator.INTERSECTION:
                self.keep(node.operands[0], when)
                self.keep(node.operands[1], when)
            case Operator.DIFFERENCE:
                self.keep(node.operands[0], when)
                self.remove(node.operands[1], when)
            case Operator.CHOOSE:
                condition = writer.one(node.operands[0])
                self.keep(node.operands[1], self._also(when, condition))
                self.keep(node.operands[2], self._also(when, writer.emit(f"xor i1 {condition}, true")))
            case _:
                for word, kept in enumerate(writer(node)):
                    out = self.place.mask(self.place.word + word) ^ WORD_MASK
                    mask = writer.emit(f"or i64 {kept}, {out}")
                    self._change(
                        str(self.place.word + word),
                        "and",
                        mask if when is None else writer.emit(f"select i1 {when}, i64 {mask}, i64 -1"),
                    )

    def remove(self, node: Expression, when: str | None) -> None:
        """Emit code that clears the elements of `node` in the set, if `when` is true (None: always)."""
        writer = self.writer
        if node.operator is Operator.UNION:
            self.remove(node.operands[0], when)
            self.remove(node.operands[1], when)
        elif node.operator is Operator.SINGLE:
            index, bit = self._single(node, when)
            self._change(index, "and", writer.emit(f"xor i64 {bit}, -1"))
        else:
            for word, gone in enumerate(writer(node)):
                bits = gone if when is None else writer.emit(f"select i1 {when}, i64 {gone}, i64 0")
                self._change(str(self.place.word + word), "and", writer.emit(f"xor i64 {bits}, -1"))

    def add(self, node: Expression, when: str | None) -> None:
        """Emit code that sets the elements of `node` in the set, if `when` is true (None: always)."""
        writer = self.writer
        match node.operator:
            case Operator.CONSTANT if not node.value:
                return
            case Operator.UNION:
                self.add(node.operands[0], when)
                self.add(node.operands[1], when)
            case Operator.CHOOSE:
                condition = writer.one(node.operands[0])
                self.add(node.operands[1], self._also(when, condition))
                self.add(node.operands[2], self._also(when, writer.emit(f"xor i1 {condition}, true")))
            case Operator.SINGLE:
                index, bit = self._single(node, when)
                self._change(index, "or", bit)
            case _:
                for word, more in enumerate(writer(node)):
                    if more != "0":
                        self._change(
                            str(self.place.word + word),
                            "or",
                            more if when is None else writer.emit(f"select i1 {when}, i64 {more}, i64 0"),
                        )

    def _single(self, node: Expression, when: str | None) -> tuple[str, str]:
        writer = self.writer
        index, bit = writer.single_bit(node.operands[0], self.place.width)
        if when is not None:
            bit = writer.emit(f"select i1 {when}, i64 {bit}, i64 0")
        return writer.emit(f"add i64 {index}, {self.place.word}"), bit

    def _also(self, when: str | None, condition: str) -> str:
        return condition if when is None else self.writer.emit(f"and i1 {when}, {condition}")

    def _change(self, word: str, operation: str, value: str) -> None:
        writer = self.writer
        at = writer.pointer("%out", word)
        old = writer.emit(f"load i64, ptr {at}")
        writer.line(f"store i64 {writer.emit(f'{operation} i64 {old}, {value}')}, ptr {at}")


def predicate_function(
    name: str, packing: WordPacking, holds: Expression, wrongs: Sequence[Expression]
) -> str:
    """Return the text of a function of a state with the answers 0 (false), 1 (true) and 2 (cannot be
    evaluated).
    """
    writer = Writer(packing)
    for wrong in wrongs:
        if not is_false(wrong):
            bad, on = writer.label(), writer.label()
            writer.line(f"br i1 {writer.one(wrong)}, label %{bad}, label %{on}")
            writer.begin(bad)
            writer.line("ret i64 2")
            writer.begin(on)
    writer.line(f"ret i64 {writer.emit(f'zext i1 {writer.one(holds)} to i64')}")
    return "\n".join([f"define i64 @{name}(ptr %s) nounwind {{", *writer.lines, "}\n"])


def number_function(name: str, packing: WordPacking, value: Expression) -> str:
    """Return the text of a function of a state that answers a number."""
    writer = Writer(packing)
    writer.line(f"ret i64 {writer.one(value)}")
    return "\n".join([f"define internal i64 @{name}(ptr %s) nounwind {{", *writer.lines, "}\n"])


def is_true(node: Expression) -> bool:
    """Return True if the node is the constant True."""
    return node.operator is Operator.CONSTANT and bool(node.value)


def is_false(node: Expression) -> bool:
    """Return True if the node is the constant False."""
    return node.operator is Operator.CONSTANT and not node.value


def _fits(value: Expression, low: int, width: int) -> bool:
    if isinstance(value.sort, Number):
        return low <= value.sort.low and value.sort.high - low < 1 << width
    return isinstance(value.sort, Bits) and value.sort.width <= width
