"""Generated Python computes what the ground form means: random expressions and updates against a direct
evaluation.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import pytest

from antiphon.model.engines.python.source import _OPERATIONS, compile_functions, predicate_source, step_source
from antiphon.model.ground.footprint import Reads, footprint, split
from antiphon.model.ground.form import (
    Bits,
    Boolean,
    Break,
    Check,
    Expression,
    GroundStep,
    Number,
    Operator,
    SlotInfo,
    Sort,
)
from antiphon.model.ground.packing import Packing
from antiphon.spec.lang import Location

HERE = Location("built", 1)
SLOTS = (
    SlotInfo("flag", "flag", Boolean()),
    SlotInfo("count[Process(0)]", "count", Number(-2, 5)),
    SlotInfo("count[Process(1)]", "count", Number(-2, 5)),
    SlotInfo("fixed", "fixed", Number(3, 3)),
    SlotInfo("members", "members", Bits(5)),
    SlotInfo("others", "others", Bits(5)),
)
OPERATIONS: dict[Operator, Callable[..., Any]] = {
    Operator.NOT: lambda a: not a,
    Operator.AND: lambda *parts: all(parts),
    Operator.OR: lambda *parts: any(parts),
    Operator.CHOOSE: lambda c, a, b: a if c else b,
    Operator.EQUAL: lambda a, b: a == b,
    Operator.LESS: lambda a, b: a < b,
    Operator.ADD: lambda a, b: a + b,
    Operator.SUBTRACT: lambda a, b: a - b,
    Operator.MULTIPLY: lambda a, b: a * b,
    Operator.DIVIDE: lambda a, b: a // b if b else 0,
    Operator.MODULO: lambda a, b: a % b if b else 0,
    Operator.HAS: lambda bits, rank: rank >= 0 and bool(bits >> rank & 1),
    Operator.SINGLE: lambda rank: 1 << rank if 0 <= rank < 5 else 0,
    Operator.UNION: lambda a, b: a | b,
    Operator.INTERSECTION: lambda a, b: a & b,
    Operator.DIFFERENCE: lambda a, b: a & ~b,
    Operator.SYMMETRIC_DIFFERENCE: lambda a, b: a ^ b,
    Operator.COUNT: lambda bits: bits.bit_count(),
}
SIGNATURES: dict[str, list[tuple[Operator, str]]] = {
    "boolean": [
        (Operator.NOT, "b"), (Operator.AND, "bb"), (Operator.AND, "bbb"), (Operator.OR, "bb"),
        (Operator.CHOOSE, "bbb"), (Operator.EQUAL, "bb"),
        (Operator.EQUAL, "nn"), (Operator.EQUAL, "ss"), (Operator.LESS, "nn"), (Operator.HAS, "sn"),
        (Operator.HAS, "sn"),
    ],
    "number": [
        (Operator.ADD, "nn"), (Operator.SUBTRACT, "nn"), (Operator.MULTIPLY, "nn"), (Operator.DIVIDE, "nn"),
        (Operator.MODULO, "nn"),
        (Operator.CHOOSE, "bnn"), (Operator.COUNT, "s"),
    ],
    "set": [
        (Operator.SINGLE, "n"), (Operator.UNION, "ss"), (Operator.INTERSECTION, "ss"),
        (Operator.DIFFERENCE, "ss"),
        (Operator.SYMMETRIC_DIFFERENCE, "ss"), (Operator.CHOOSE, "bss"),
    ],
}  # fmt: skip
SORTS: dict[str, tuple[str, Sort]] = {
    "b": ("boolean", Boolean()),
    "n": ("number", Number(-1000, 1000)),
    "s": ("set", Bits(5)),
}


def evaluate(node: Expression, leaves: tuple[Any, ...]) -> Any:
    """Value of a node by the definition of the form."""
    if node.operator is Operator.CONSTANT:
        return node.value
    if node.operator is Operator.SLOT:
        return leaves[node.value]
    return OPERATIONS[node.operator](*(evaluate(part, leaves) for part in node.operands))


class Maker:
    """Random expressions that share nodes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pool: dict[str, list[Expression]] = {"b": [], "n": [], "s": []}

    def make(self, kind: str, depth: int) -> Expression:
        if self.pool[kind] and self.random.random() < 0.25:
            return self.random.choice(self.pool[kind])
        name, sort = SORTS[kind]
        if depth == 0 or self.random.random() < 0.15:
            node = self.leaf(kind, sort)
        else:
            operator, parts = self.random.choice(SIGNATURES[name])
            node = Expression(operator, sort, tuple(self.make(part, depth - 1) for part in parts))
        self.pool[kind].append(node)
        return node

    def leaf(self, kind: str, sort: Sort) -> Expression:
        slots = {"b": [0], "n": [1, 2, 3], "s": [4, 5]}[kind]
        if self.random.random() < 0.7:
            slot = self.random.choice(slots)
            return Expression(Operator.SLOT, SLOTS[slot].sort, (), slot)
        value = {
            "b": self.random.random() < 0.5,
            "n": self.random.randrange(-3, 7),
            "s": self.random.randrange(32),
        }[kind]
        return Expression(Operator.CONSTANT, Number(value, value) if kind == "n" else sort, (), value)

    def leaves(self) -> tuple[Any, ...]:
        roll = self.random.randrange
        return (bool(roll(2)), roll(-2, 6), roll(-2, 6), 3, roll(32), roll(32))


def constant(value: bool) -> Expression:
    return Expression(Operator.CONSTANT, Boolean(), (), value)


def into_range(node: Expression) -> Expression:
    """A value that the slots of numbers can hold: the given one modulo 8, less 2."""
    eight, two = (Expression(Operator.CONSTANT, Number(value, value), (), value) for value in (8, 2))
    modulo = Expression(Operator.MODULO, Number(0, 7), (node, eight))
    return Expression(Operator.SUBTRACT, Number(-2, 5), (modulo, two))


def make_step(maker: Maker) -> GroundStep:
    """A step whose updates often keep part of the old value."""
    old = [Expression(Operator.SLOT, slot.sort, (), position) for position, slot in enumerate(SLOTS)]
    condition = maker.make("b", 2)
    updates = [
        (0, Expression(Operator.CHOOSE, Boolean(), (condition, old[0], maker.make("b", 2)))),
        (
            1,
            Expression(
                Operator.CHOOSE, Number(-2, 5), (maker.make("b", 2), old[1], into_range(maker.make("n", 3)))
            ),
        ),
        (
            4,
            Expression(
                Operator.UNION,
                Bits(5),
                (maker.make("s", 2), Expression(Operator.DIFFERENCE, Bits(5), (old[4], maker.make("s", 2)))),
            ),
        ),
        (
            5,
            Expression(
                Operator.CHOOSE,
                Bits(5),
                (condition, Expression(Operator.UNION, Bits(5), (old[5], maker.make("s", 1))), old[5]),
            ),
        ),
    ]
    guards = Expression(Operator.AND, Boolean(), (maker.make("b", 3), maker.make("b", 2)))
    wrong = Expression(Operator.AND, Boolean(), (maker.make("b", 2), maker.make("b", 2), maker.make("b", 2)))
    broken = maker.make("b", 3)
    return GroundStep(
        "random",
        False,
        (),
        (),
        guards,
        (),
        (Check(wrong, HERE, "wrong"),),
        tuple(updates),
        (Break("P", broken, HERE, "p"),),
        (),
    )


def agrees(seed: int) -> bool:
    """Return True if a random predicate has its value in random states."""
    maker = Maker(seed)
    packing = Packing(SLOTS)
    node = maker.make("b", 6)
    run = cast(
        "Callable[[int], Any]", compile_functions([("p", predicate_source("p", node, [], packing))])["p"]
    )
    states = [maker.leaves() for _ in range(20)]
    return all(run(packing.pack(leaves)) is bool(evaluate(node, leaves)) for leaves in states)


@pytest.mark.parametrize("seed", range(150))
def test_a_generated_predicate_is_true_where_the_form_is(seed: int) -> None:
    assert agrees(seed)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(150))
def test_a_generated_step_does_what_the_form_says(seed: int) -> None:
    maker = Maker(1000 + seed)
    packing = Packing(SLOTS)
    step = make_step(maker)
    updates = [split(slot, value) for slot, value in step.updates]
    run = cast(
        "Callable[[int], Any]", compile_functions([("f", step_source("f", step, updates, packing))])["f"]
    )
    for _ in range(30):
        leaves = maker.leaves()
        packed = packing.pack(leaves)
        result = run(packed)
        if evaluate(step.checks[0].wrong, leaves):
            assert result == 0
        elif not evaluate(step.enabled, leaves):
            assert result is None
        else:
            expected = list(leaves)
            for slot, value in step.updates:
                expected[slot] = evaluate(value, leaves)
            assert packing.unpack(packed & result[0] | result[1]) == tuple(expected)
            assert (len(result) == 3) == evaluate(step.breaks[0].broken, leaves)


@pytest.mark.parametrize("seed", range(80))
def test_a_step_depends_on_its_footprint_only(seed: int) -> None:
    """The search memo is exact: bits outside the footprint change nothing."""
    maker = Maker(5000 + seed)
    packing = Packing(SLOTS)
    step = make_step(maker)
    updates = [split(slot, value) for slot, value in step.updates]
    reads = [step.enabled, step.checks[0].wrong, step.breaks[0].broken]
    mask = footprint(reads + [part for update in updates for part in (update.keep, update.add)], packing)
    run = cast(
        "Callable[[int], Any]", compile_functions([("f", step_source("f", step, updates, packing))])["f"]
    )
    for _ in range(40):
        one, other = packing.pack(maker.leaves()), packing.pack(maker.leaves())
        assert run(one) == run(one & mask | other & ~mask)


PLANTED: dict[Operator, Callable[[Expression, list[str]], str]] = {
    Operator.NOT: lambda _, texts: f"(not not {texts[0]})",
    Operator.OR: lambda _, texts: f"({' and '.join(texts)})",
    Operator.CHOOSE: lambda _, texts: f"({texts[2]} if {texts[0]} else {texts[1]})",
    Operator.EQUAL: lambda _, texts: f"({texts[0]} != {texts[1]})",
    Operator.LESS: lambda _, texts: f"({texts[0]} <= {texts[1]})",
    Operator.ADD: lambda _, texts: f"({texts[0]} + {texts[1]} + 1)",
    Operator.SUBTRACT: lambda _, texts: f"({texts[1]} - {texts[0]})",
    Operator.MULTIPLY: lambda _, texts: f"({texts[0]} + {texts[1]})",
    Operator.DIVIDE: lambda _, texts: f"(int({texts[0]} / {texts[1]}) if {texts[1]} else 0)",
    Operator.MODULO: lambda _, texts: f"(abs({texts[0]}) % {texts[1]} if {texts[1]} else 0)",
    Operator.HAS: lambda _, texts: f"({texts[0]} >> max({texts[1]}, 0) & 1)",
    Operator.SINGLE: lambda _, texts: f"(2 << {texts[0]} if 0 <= {texts[0]} < 5 else 0)",
    Operator.UNION: lambda _, texts: f"({texts[0]} ^ {texts[1]})",
    Operator.INTERSECTION: lambda _, texts: f"({texts[0]} | {texts[1]})",
    Operator.DIFFERENCE: lambda _, texts: f"({texts[0]} ^ {texts[1]})",
    Operator.SYMMETRIC_DIFFERENCE: lambda _, texts: f"({texts[0]} | {texts[1]})",
    Operator.COUNT: lambda _, texts: f"({texts[0]}).bit_length()",
}
"""For every operation a text that is nearly right."""


def test_a_mistake_is_planted_in_every_operation() -> None:
    assert PLANTED.keys() == _OPERATIONS.keys()


@pytest.mark.parametrize("operator", list(PLANTED), ids=lambda operator: operator.value)
def test_a_planted_mistake_in_an_operation_is_caught(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_OPERATIONS, operator, PLANTED[operator])
    assert any(not agrees(seed) for seed in range(150))


def test_adding_to_a_set_does_not_read_it() -> None:
    packing = Packing(SLOTS)
    old = Expression(Operator.SLOT, Bits(5), (), 4)
    three = Expression(Operator.CONSTANT, Bits(5), (), 3)
    update = split(4, Expression(Operator.UNION, Bits(5), (old, three)))
    assert footprint([update.keep, update.add], packing) == 0


def test_an_update_may_be_deeper_than_python_calls_itself() -> None:
    """Steps that do many things in turn have such updates: each adds to the result of the last, under a
    condition.
    """
    packing = Packing(SLOTS)
    old = value = Expression(Operator.SLOT, Bits(5), (), 4)
    flag = Expression(Operator.SLOT, Boolean(), (), 0)
    three = Expression(Operator.CONSTANT, Bits(5), (), 3)
    for _ in range(3_000):
        added = Expression(Operator.UNION, Bits(5), (value, three))
        value = Expression(Operator.CHOOSE, Bits(5), (flag, added, value))
    reads = Reads()
    update = split(4, value, reads)
    assert footprint([update.keep, update.add], packing) == packing.places[0].mask
    assert reads.of(value) == 1 << 4 | 1
    assert (update.keep.value, reads.of(old)) == (0b11111, 1 << 4)


def test_a_member_test_reads_one_bit() -> None:
    packing = Packing(SLOTS)
    has = Expression(
        Operator.HAS,
        Boolean(),
        (Expression(Operator.SLOT, Bits(5), (), 5), Expression(Operator.CONSTANT, Number(2, 2), (), 2)),
    )
    assert footprint([has], packing) == 1 << packing.places[5].offset + 2


def test_packing_is_exact_and_reversible() -> None:
    packing = Packing(SLOTS)
    assert packing.bits == 1 + 3 + 3 + 0 + 5 + 5
    maker = Maker(1)
    for _ in range(50):
        leaves = maker.leaves()
        assert packing.unpack(packing.pack(leaves)) == leaves
    assert packing.full == (1 << packing.bits) - 1


def test_constants_only_give_a_false_break_no_code() -> None:
    step = GroundStep(
        "s", False, (), (), constant(True), (), (), (), (Break("P", constant(False), HERE, "p"),), ()
    )
    text = step_source("f", step, [], Packing(SLOTS))
    assert text.splitlines()[-1].strip() == f"return {Packing(SLOTS).full:#x}, 0x0"
