"""Translation to Z3 agrees with the ground form, operator by operator; any mistranslation is noticed."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.ground.meaning import Leaves, meaning
from tests.ground.random_expressions import WIDE, Maker, random_state

from antiphon.model.ground.form import Bits, Boolean, Expression, Layout, Number, Operator, SlotInfo
from antiphon.model.symbolic import translate
from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.translate import Cells, TooWide, Translator

WIDTH = 5

LAYOUT = Layout(
    (
        SlotInfo("flag", "flag", Boolean()),
        SlotInfo("other", "other", Boolean()),
        SlotInfo("count", "count", Number(-2, 3)),
        SlotInfo("total", "total", Number(0, 4)),
        SlotInfo("packets", "packets", Bits(WIDTH)),
        SlotInfo("copies", "copies", Bits(WIDTH)),
    )
)

# What Z3 reads ----------------------------------------------------------------------------------------------


class Reader:
    """Z3's value of ground expressions in states of LAYOUT."""

    def __init__(self) -> None:
        self.circuit, self.cells = Circuit(), Cells(LAYOUT)
        self.solver = Solver(self.circuit)
        self.variables = [self.circuit.variable() for _ in range(len(self.cells))]
        self.translator = Translator(
            self.circuit, [self.cells.value(slot, self.variables) for slot in range(len(LAYOUT.slots))]
        )

    def agrees(self, expression: Expression, state: Leaves) -> bool:
        """Return True if the expression's value in `state`, and no other, is possible for Z3."""
        value = self.translator.value(expression)
        expected = meaning(expression, state)
        known = self.cells.constant(state)
        fixed = [
            variable if literal == TRUE else -variable
            for variable, literal in zip(self.variables, known, strict=True)
        ]
        match expression.sort:
            case Boolean():
                claim = value if expected else -value
            case Number():
                claim = self.circuit.conjunction(
                    [literal if case == expected else -literal for case, literal in value.items()]
                )
                claim = claim if expected in value else FALSE
            case Bits():
                ranks = value.keys() | set(range(expected.bit_length()))
                wanted = [
                    value.get(rank, FALSE) if expected >> rank & 1 else -value.get(rank, FALSE)
                    for rank in ranks
                ]
                claim = self.circuit.conjunction(wanted)
        return (
            self.solver.check((*fixed, claim)) is Answer.SATISFIABLE
            and self.solver.check((*fixed, -claim)) is Answer.UNSATISFIABLE
        )


def differences(rounds: int, depth: int = 3) -> int:
    """Number of random expressions that Z3 reads otherwise than the ground form means them."""
    reader, source, wrong = Reader(), random.Random(7), 0
    maker = Maker(source, LAYOUT.slots, zero_divisors=False)
    for number in range(rounds):
        expression = maker.expression((Boolean(), WIDE, Bits(WIDTH))[number % 3], depth)
        wrong += not all(reader.agrees(expression, random_state(source, LAYOUT.slots)) for _ in range(2))
    return wrong


def test_every_operator_is_read_as_the_ground_form_says() -> None:
    assert differences(100) == 0


def _otherwise(operator: Operator) -> Callable[..., translate.Value]:
    """A wrong meaning for an operator: what it gives is negated, moved by one, or lacks a member."""
    right = translate.OPERATORS[operator]

    def wrong(translator: Translator, node: Expression, values: list[translate.Value]) -> translate.Value:
        value = right(translator, node, values)
        match node.sort:
            case Boolean():
                return -value
            case Number():
                return {case + 1: literal for case, literal in value.items()}
        return {rank: literal for rank, literal in value.items() if rank != 2}

    return wrong


@pytest.mark.sampled(21)
@pytest.mark.parametrize(
    "operator",
    [operator for operator in Operator if operator is not Operator.INPUT],
    ids=lambda item: item.name,
)
def test_a_wrong_operator_is_noticed(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "OPERATORS", {**translate.OPERATORS, operator: _otherwise(operator)})
    assert differences(60) > 0


def test_an_input_is_the_literals_that_it_was_given() -> None:
    circuit = Circuit()
    given = {1: circuit.variable(), 2: circuit.variable()}
    translator = Translator(circuit, [], [given])
    assert translator.value(Expression(Operator.INPUT, Number(1, 2), (), 0)) == given


def test_a_number_with_too_many_values_is_refused_not_cut_off() -> None:
    with pytest.raises(TooWide, match="65,536"):
        Cells(Layout((SlotInfo("clock", "clock", Number(0, 1 << 20)),)))


def test_division_by_zero_has_no_value() -> None:
    """The check beside it has failed; no case is left that could be mistaken for a result."""
    zero, one = (Expression(Operator.CONSTANT, Number(0, 1), (), value) for value in (0, 1))
    translator = Translator(Circuit(), [])
    assert translator.value(Expression(Operator.DIVIDE, Number(0, 1), (one, zero))) == {}
