"""Translation of a step of the ground form to one Python function of the packed state, made of masks, shifts
and comparisons.

A generated function gets the packed state `s`:

- a step returns None (not enabled), a number (the position of the check that failed: a bug of the
  specification), `(keep, add)` (the next state is `s & keep | add`), or `(keep, add, broken)` with the
  positions of the properties it breaks;
- a predicate returns True, False, or the position of a failed check;
- an event list returns pairs of an event's position in the step and its rank.

Every operation is total here, so that values may be computed before it is known whether they are needed; a
node used more than once gets a name. Boolean texts are truthy, not always bool; where the number matters it
is made from them. The same ground form gives the same text. Numbers of the width of a state are hexadecimal:
Python reads those of any length, in linear time.

This file knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from types import CodeType

from antiphon.model.ground.footprint import Update, conjuncts, member_test
from antiphon.model.ground.form import (
    AND,
    CHOOSE,
    CONSTANT,
    EQUAL,
    INPUT,
    NOT,
    SLOT,
    Bits,
    Boolean,
    Check,
    Expression,
    GroundStep,
    Number,
    Operator,
)
from antiphon.model.ground.packing import Packing
from antiphon.model.ground.walk import fold, uses
from antiphon.spec.lang.watch import working

INLINE_LENGTH = 300
CHUNK_LENGTH = 60_000
SHORT = 4_000


class Writer:
    """Writer of the body of one function, statement by statement; `roots` are all expressions that it will be
    asked for.
    """

    def __init__(self, packing: Packing, roots: Iterable[Expression]) -> None:
        self.packing = packing
        self.lines: list[str] = []
        self._texts: dict[Expression, str] = {}
        self._tests: dict[Expression, tuple[int, int] | None] = {}
        self._uses = uses(roots)

    def line(self, text: str) -> None:
        """Write a statement of the function."""
        self.lines.append(f"    {text}")

    def text(self, root: Expression) -> str:
        """Return the text of an expression as an operand: a name, a number, or text in parentheses."""
        found = self._texts.get(root)
        if found is not None:
            return found
        return fold(root, self._texts, lambda node: self._named(node, self._write(node)), self._needed)

    def raw(self, node: Expression, slot: int) -> str:
        """Return the text of this value's bits, shifted to the place of the slot."""
        place = self.packing.places[slot]
        if _constant(node):
            return f"{self.bits(node, slot):#x}"
        if isinstance(node.sort, Boolean):
            return f"({place.mask:#x} if {self.text(node)} else 0)"
        text = self.text(node)
        shifted = f"{text} - {place.low}" if place.low else text
        return f"({shifted} << {place.offset})"

    def joined(self, values: Iterable[tuple[Expression, int]], bits: int = 0) -> str:
        """Return the text of `bits` joined by "or" with these values, each shifted to its slot. Constants
        become one number; choices by one condition become one conditional expression.
        """
        choices: dict[Expression, tuple[list[tuple[Expression, int]], list[tuple[Expression, int]]]] = {}
        texts = []
        for node, slot in values:
            if _constant(node):
                bits |= self.bits(node, slot)
            elif node.operator is CHOOSE and self._uses[node] < 2:
                condition, then, otherwise = node.operands
                both = choices.setdefault(condition, ([], []))
                both[0].append((then, slot))
                both[1].append((otherwise, slot))
            else:
                texts.append(self.raw(node, slot))
        for condition, (chosen, others) in choices.items():
            text = f"({self.joined(chosen)} if {self.text(condition)} else {self.joined(others)})"
            if len(text) >= INLINE_LENGTH:
                name = f"j{len(self.lines)}"
                self.line(f"{name} = {text}")
                text = name
            texts.append(text)
        return " | ".join([f"{bits:#x}", *texts] if bits or not texts else texts)

    def bits(self, node: Expression, slot: int) -> int:
        """Return the bits of this constant, shifted to the place of the slot."""
        place = self.packing.places[slot]
        if isinstance(node.sort, Boolean):
            return place.mask if node.value else 0
        return int(node.value) - place.low << place.offset

    def _named(self, node: Expression, text: str) -> str:
        if node.operator is CONSTANT or (self._uses[node] < 2 and len(text) < INLINE_LENGTH):
            return text
        name = f"v{len(self._texts)}"
        self.line(f"{name} = {text}")
        return name

    def _needed(self, node: Expression) -> Sequence[Expression]:
        """Return the operands whose texts are needed; a test of a slot against a constant needs none."""
        if self._test(node) is not None:
            return ()
        if node.operator is AND:
            return [part for part in node.operands if self._test(part) is None or self._uses[part] > 1]
        return node.operands

    def _test(self, node: Expression) -> tuple[int, int] | None:
        """Return (mask, value) if the expression is `s & mask == value`, else None."""
        if node not in self._tests:
            self._tests[node] = _test(node, self.packing)
        return self._tests[node]

    def _write(self, node: Expression) -> str:
        test = self._test(node)
        if test is not None:
            mask, value = test
            if mask == value and mask.bit_count() == 1:
                return f"(s & {mask:#x})"
            return f"(not s & {mask:#x})" if value == 0 else f"(s & {mask:#x} == {value:#x})"
        if node.operator is CONSTANT:
            if isinstance(node.sort, Boolean):
                return str(bool(node.value))
            return f"({node.value:#x})" if node.value < 0 else f"{node.value:#x}"
        if node.operator is SLOT:
            return self._read(node)
        if node.operator is AND:
            return self._conjunction(node)
        if node.operator is INPUT:
            raise TypeError("the explicit engine takes steps grounded for given arguments")
        return _OPERATIONS[node.operator](node, [self.text(part) for part in node.operands])

    def _read(self, node: Expression) -> str:
        place = self.packing.places[node.value]
        low = f"{(1 << place.width) - 1:#x}"
        field = f"s >> {place.offset} & {low}" if place.offset else f"s & {low}"
        return f"(({field}) + {place.low})" if place.low else f"({field})"

    def _conjunction(self, node: Expression) -> str:
        mask = value = 0
        parts = []
        for part in node.operands:
            test = self._test(part) if self._uses[part] < 2 else None
            if test is None:
                parts.append(self.text(part))
            elif (test[0] & mask) & (test[1] ^ value):
                return "False"
            else:
                mask, value = mask | test[0], value | test[1]
        if mask:
            one = mask == value and mask.bit_count() == 1
            parts.insert(0, f"(s & {mask:#x})" if one else f"s & {mask:#x} == {value:#x}")
        return f"({' and '.join(parts)})"


def _test(node: Expression, packing: Packing) -> tuple[int, int] | None:
    """Return (mask, value) if the expression is `s & mask == value`, else None."""
    if node.operator is NOT:
        inner = _test(node.operands[0], packing)
        return (inner[0], 0) if inner and inner[0] == inner[1] and inner[0].bit_count() == 1 else None
    if node.operator is SLOT and isinstance(node.sort, Boolean):
        mask = packing.places[node.value].mask
        return mask, mask
    if (bit := member_test(node, packing)) is not None:
        return bit, bit
    if node.operator is EQUAL:
        for slot, constant in (node.operands, node.operands[::-1]):
            if slot.operator is SLOT and _constant(constant) and not isinstance(slot.sort, Boolean):
                place = packing.places[slot.value]
                value = int(constant.value) - place.low
                return (place.mask, value << place.offset) if 0 <= value < 1 << place.width else None
    return None


def _constant(node: Expression) -> bool:
    return node.operator is CONSTANT


def _single(node: Expression, texts: list[str]) -> str:
    (rank,) = node.operands
    assert isinstance(node.sort, Bits)
    assert isinstance(rank.sort, Number)
    if rank.sort.low >= 0 and rank.sort.high < node.sort.width:
        return f"(1 << {texts[0]})"
    return f"(1 << {texts[0]} if 0 <= {texts[0]} < {node.sort.width} else 0)"


def _has(node: Expression, texts: list[str]) -> str:
    bits, rank = texts
    member = node.operands[1]
    assert isinstance(member.sort, Number)
    if _constant(member):
        return f"({bits} & {1 << int(member.value):#x})" if member.value >= 0 else "False"
    return f"({bits} >> {rank} & 1)" if member.sort.low >= 0 else f"({rank} >= 0 and {bits} >> {rank} & 1)"


def _equal(node: Expression, texts: list[str]) -> str:
    if isinstance(node.operands[0].sort, Boolean):
        return f"((not {texts[0]}) == (not {texts[1]}))"
    return f"({texts[0]} == {texts[1]})"


def _divided(sign: str) -> str:
    return f"({{0}} {sign} {{1}} if {{1}} else 0)"


_OPERATIONS: dict[Operator, Callable[[Expression, list[str]], str]] = {
    Operator.NOT: lambda _, texts: f"(not {texts[0]})",
    Operator.OR: lambda _, texts: f"({' or '.join(texts)})",
    Operator.CHOOSE: lambda _, texts: f"({texts[1]} if {texts[0]} else {texts[2]})",
    Operator.EQUAL: _equal,
    Operator.LESS: lambda _, texts: f"({texts[0]} < {texts[1]})",
    Operator.ADD: lambda _, texts: f"({texts[0]} + {texts[1]})",
    Operator.SUBTRACT: lambda _, texts: f"({texts[0]} - {texts[1]})",
    Operator.MULTIPLY: lambda _, texts: f"({texts[0]} * {texts[1]})",
    Operator.DIVIDE: lambda _, texts: _divided("//").format(*texts),
    Operator.MODULO: lambda _, texts: _divided("%").format(*texts),
    Operator.HAS: _has,
    Operator.SINGLE: _single,
    Operator.UNION: lambda _, texts: f"({texts[0]} | {texts[1]})",
    Operator.INTERSECTION: lambda _, texts: f"({texts[0]} & {texts[1]})",
    Operator.DIFFERENCE: lambda _, texts: f"({texts[0]} & ~{texts[1]})",
    Operator.SYMMETRIC_DIFFERENCE: lambda _, texts: f"({texts[0]} ^ {texts[1]})",
    Operator.COUNT: lambda _, texts: f"({texts[0]}).bit_count()",
}


def needed_bits(step: GroundStep, packing: Packing) -> tuple[int, int]:
    """Return (mask, value) such that the step is enabled only if `s & mask == value`. They come from the
    step's guards that test slots against constants before all checks.
    """
    mask = value = 0
    for test in (_test(guard, packing) for guard in _guards(step)[0]):
        if test is not None:
            if test[0] & mask & (test[1] ^ value):
                return 0, 1
            mask, value = mask | test[0], value | test[1]
    return mask, value


def guard_source(name: str, step: GroundStep, packing: Packing) -> str:
    """Return the text of a function of those guards before all checks that `needed_bits` does not cover: it
    decides whether a step may be enabled where the bits of `needed_bits` fit; empty if there are no such
    guards.
    """
    early = [guard for guard in _guards(step)[0] if _test(guard, packing) is None]
    writer = Writer(packing, early)
    for guard in early:
        writer.line(f"if not {writer.text(guard)}: return False")
    return "\n".join([f"def {name}(s):", *writer.lines, "    return True", ""]) if early else ""


def _guards(step: GroundStep) -> tuple[list[Expression], list[Expression]]:
    """Return the guards of a step that come before all its checks, and the other guards."""
    guards = [part for part in conjuncts(step.enabled) if part.operator is not CONSTANT or not part.value]
    implied = [{id(part) for part in conjuncts(check.wrong)} for check in step.checks]
    early = [part for part in guards if all(id(part) in parts for parts in implied)]
    late = [part for part in guards if not any(part is other for other in early)]
    return early, late


def step_source(name: str, step: GroundStep, updates: Sequence[Update], packing: Packing) -> str:
    """Return the text of the function of a step."""
    early, late = _guards(step)
    early = [guard for guard in early if _test(guard, packing) is None]
    mask, value = needed_bits(step, packing)
    roots = [*early, *(check.wrong for check in step.checks), *late, *(item.broken for item in step.breaks)]
    roots += [part for update in updates for part in (update.keep, update.add)]
    writer = Writer(packing, roots)
    if mask or value:
        writer.line(f"if s & {mask:#x} != {value:#x}: return None")
    for guard in early:
        writer.line(f"if not {writer.text(guard)}: return None")
    _write_checks(writer, step.checks)
    for guard in late:
        writer.line(f"if not {writer.text(guard)}: return None")
    keep, add = _masks(writer, updates)
    broken = [
        (position, "True" if _constant(item.broken) else writer.text(item.broken))
        for position, item in enumerate(step.breaks)
        if not _constant(item.broken) or item.broken.value
    ]
    if broken:
        tests = " or ".join(text for _, text in broken)
        positions = ", ".join(f"*(({position},) if {text} else ())" for position, text in broken)
        writer.line(f"if {tests}: return {keep}, {add}, ({positions},)")
    writer.line(f"return {keep}, {add}")
    return "\n".join([f"def {name}(s):", *writer.lines, ""])


def predicate_source(name: str, value: Expression, checks: Sequence[Check], packing: Packing) -> str:
    """Return the text of the function of a predicate."""
    writer = Writer(packing, [value, *(check.wrong for check in checks)])
    _write_checks(writer, checks)
    writer.line(f"return True if {writer.text(value)} else False")
    return "\n".join([f"def {name}(s):", *writer.lines, ""])


def events_source(name: str, step: GroundStep, packing: Packing) -> str:
    """Return the text of the function that lists the events of an enabled step, as (position in
    `step.events`, rank).
    """
    writer = Writer(packing, [part for event in step.events for part in (event.present, event.rank)])
    items = []
    for position, event in enumerate(step.events):
        pair = f"({position}, {writer.text(event.rank)})"
        items.append(f"*(({pair},) if {writer.text(event.present)} else ())")
    writer.line(f"return ({', '.join(items)},)" if items else "return ()")
    return "\n".join([f"def {name}(s):", *writer.lines, ""])


def compile_functions(texts: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Return the functions with these names and texts, compiled in chunks: one huge module compiles slower
    than its parts.
    """
    names: dict[str, object] = {}
    chunk: list[str] = []
    for position, (_, text) in enumerate(texts):
        chunk.append(text)
        if sum(map(len, chunk)) > CHUNK_LENGTH or position == len(texts) - 1:
            working("compiling", large=True)
            whole = "\n".join(chunk)
            exec(_known(whole) if len(whole) <= SHORT else _compiled(whole), names)  # noqa: S102 - the text was made here, from the ground form
            chunk = []
    return {name: names[name] for name, _ in texts}


def _compiled(text: str) -> CodeType:
    return compile(text, "<generated steps>", "exec")


_known = lru_cache(maxsize=4096)(_compiled)
"""Compile a short text, with a cache: programs with other constants or repairs often have the same text."""


def _write_checks(writer: Writer, checks: Sequence[Check]) -> None:
    for position, check in enumerate(checks):
        if _constant(check.wrong):
            if check.wrong.value:
                writer.line(f"return {position}")
            continue
        writer.line(f"if {writer.text(check.wrong)}: return {position}")


def _masks(writer: Writer, updates: Sequence[Update]) -> tuple[str, str]:
    """Return the texts of `keep` and `add` for the updates."""
    unwritten = writer.packing.full
    for update in updates:
        unwritten &= ~writer.packing.places[update.slot].mask
    keep = writer.joined([(update.keep, update.slot) for update in updates], unwritten)
    return keep, writer.joined([(update.add, update.slot) for update in updates])
