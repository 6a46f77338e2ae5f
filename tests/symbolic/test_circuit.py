"""Folding a formula never changes its meaning, and Z3 is told that meaning."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.model.symbolic.solver import Answer, Solver

VARIABLES = 4
ROWS = list(itertools.product((False, True), repeat=VARIABLES))

Formula = tuple[int, tuple[bool, ...]]
"""A literal, and the truth table it should have."""

Steps = st.lists(
    st.tuples(
        st.sampled_from(("and", "or", "choose", "equal")),
        st.lists(st.integers(0, 40), min_size=3, max_size=3),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
)


def build(circuit: Circuit, steps: list[tuple[str, list[int], bool]]) -> tuple[list[int], list[Formula]]:
    """Formulas over VARIABLES variables, each made from earlier ones."""
    variables = [circuit.variable() for _ in range(VARIABLES)]
    made: list[Formula] = [(TRUE, (True,) * len(ROWS)), (FALSE, (False,) * len(ROWS))]
    made += [(variable, tuple(row[place] for row in ROWS)) for place, variable in enumerate(variables)]
    for kind, places, negated in steps:
        (a, x), (b, y), (c, z) = (made[place % len(made)] for place in places)
        columns = zip(x, y, z, strict=True)
        match kind:
            case "and":
                literal, table = circuit.conjunction((a, b, c)), tuple(p and q and r for p, q, r in columns)
            case "or":
                literal, table = circuit.disjunction((a, b, c)), tuple(p or q or r for p, q, r in columns)
            case "choose":
                literal, table = circuit.choose(a, b, c), tuple(q if p else r for p, q, r in columns)
            case _:
                literal, table = circuit.equal(a, b), tuple(p == q for p, q, _ in columns)
        made.append((-literal, tuple(not item for item in table)) if negated else (literal, table))
    return variables, made


@given(Steps)
def test_folding_keeps_the_truth_table(steps: list[tuple[str, list[int], bool]]) -> None:
    circuit = Circuit()
    variables, made = build(circuit, steps)
    for literal, table in made:
        for row, expected in zip(ROWS, table, strict=True):
            values = dict(zip(variables, row, strict=True))
            assert circuit.evaluate(literal, values.__getitem__, {}) is expected
            constants = {variable: TRUE if value else FALSE for variable, value in values.items()}
            assert circuit.substitute(literal, constants, {1: TRUE}) == (TRUE if expected else FALSE)


@given(Steps)
@settings(max_examples=25)
def test_z3_finds_a_row_exactly_when_there_is_one(steps: list[tuple[str, list[int], bool]]) -> None:
    circuit = Circuit()
    variables, made = build(circuit, steps)
    literal, table = made[-1]
    solver = Solver(circuit)
    solver.require(literal)
    if not any(table):
        assert solver.check() is Answer.UNSATISFIABLE
        return
    assert solver.check() is Answer.SATISFIABLE
    assert table[ROWS.index(tuple(solver.value(variable) for variable in variables))]


def test_equal_conjunctions_are_one_node() -> None:
    circuit = Circuit()
    a, b, c = (circuit.variable() for _ in range(3))
    assert circuit.conjunction((a, b, c)) == circuit.conjunction((c, circuit.conjunction((b, a))))
    assert circuit.conjunction((a, -a)) == FALSE
    assert circuit.conjunction((a, circuit.disjunction((a, b)))) == a
    assert circuit.conjunction((a, circuit.disjunction((-a, b)))) == circuit.conjunction((a, b))


def test_support_names_the_variables() -> None:
    circuit = Circuit()
    a, b, c = (circuit.variable() for _ in range(3))
    assert circuit.support((circuit.choose(a, b, -b), TRUE)) == {a, b}
    assert circuit.support((c, FALSE)) == {c}


def test_time_that_is_over_is_no_answer() -> None:
    """Pigeons: ten do not fit into nine holes, which takes longer than a millisecond to see."""
    circuit = Circuit()
    solver = Solver(circuit)
    holes = [[circuit.variable() for _ in range(10)] for _ in range(11)]
    for row in holes:
        solver.clause(row)
    for hole in range(10):
        for one, other in itertools.combinations(holes, 2):
            solver.clause((-one[hole], -other[hole]))
    assert solver.check(seconds=0.05) is Answer.UNKNOWN
    assert solver.reason
