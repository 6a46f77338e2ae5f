"""An expression that somebody asks is a witness of a subclass: same states, same steps; what is wrong with it
is said with its place in it.
"""

from __future__ import annotations

import random
import sys

import pytest
from tests.lang.mutations import ODD_EXPRESSIONS
from tests.lang.random_specs import program_of, random_states

from antiphon.model.explore import check
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import SpecError, program
from antiphon.spec.lang.question import FILE, asked, valued


def test_an_expression_is_a_witness_that_every_engine_looks_for() -> None:
    bound = program(TwoPhase, managers=2)
    question, name = asked(
        bound,
        "self.phase is Phase.COMMITTED and all(self.status[r] is Status.COMMITTED for r in self.each(RM))",
    )
    for engine in ("generated", "reference"):
        verdict = check(question, properties=[name], engine=engine)[name]
        assert verdict.outcome is Outcome.HOLDS
        assert verdict.trace is not None
        assert len(verdict.trace) == 7
    assert question.constants == bound.constants
    assert question.variables == bound.variables


def test_names_mean_what_they_mean_in_the_module_and_helpers_may_be_called() -> None:
    bound = program_of(3)
    state = next(iter(random_states(bound, random.Random(1), 1)))
    who, n, b = (state[bound.variables.index(name)] for name in ("who", "n", "b"))
    for text, expected in (
        ("self.who == Q(0) or not self.b", (who is not None and who.index == 0) or not b),
        (
            "self.ready(Q(0))",
            bound.reference.evaluate(state, "ready", vars(sys.modules[bound.spec.__module__])["Q"](0)),
        ),
        ("  self.n > 0  # a remark", n > 0),
    ):
        question, name = asked(bound, text)
        assert question.reference.holds(state, name) is expected


def test_an_expression_of_any_type_has_the_value_that_cpython_gives() -> None:
    bound = program_of(3)
    (state,) = random_states(bound, random.Random(1), 1)
    who, n, b = (state[bound.variables.index(name)] for name in ("who", "n", "b"))
    for text, expected in (
        ("self.n + 1  # a remark", n + 1),
        ("not self.b", not b),
        ("self.who", who),
        ("{q for q in self.each(Q) if q == self.who}", frozenset({who} - {None})),
        ("(\n  self.n,\n  self.n)", (n, n)),
    ):
        question, function = valued(bound, text)
        assert question.reference.value(state, function) == expected
    for text, line, words in (
        ("(self.n +\n self.nothing)", 2, "has no 'nothing'"),
        ("[self.n]", 1, "a list is mutable"),
        ("1 +", 1, "no expression of Python"),
    ):
        with pytest.raises(SpecError, match=words) as refused:
            valued(bound, text)
        assert refused.value.at is not None
        assert (refused.value.at.file, refused.value.at.line) == (FILE, line)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("self.phaze is Phase.INIT", 1, 1, "has no 'phaze'; did you mean 'phase'"),
        ("self.phase", 1, 1, "self.phase is Phase, and bool is needed"),
        ("self.phase is Phase.INIT and [1]", 1, 30, "a list is mutable"),
        ("len(self.messages) == 1 and (\n  sorted(self.prepared))", 2, 3, "sorted is not in the language"),
        ("self.phase is", 1, 1, "no expression of Python"),
        ("True) or (True", 1, 5, "no expression of Python"),
        ("x = 1", 1, 3, "no expression of Python"),
        ("", 1, 1, "there is no expression"),
        ("require(True)", 1, 1, "require is a statement"),
        ("await self.phase", 1, 1, "'await' outside async function"),
    ],
)
def test_a_bad_expression_is_refused_where_it_is_bad(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        asked(program(TwoPhase), text)
    at = caught.value.at
    assert at is not None
    assert (at.file, at.line, at.column) == (FILE, line, column)
    assert words in caught.value.reason
    assert caught.value.instead


def test_a_name_that_the_specification_uses_is_left_alone() -> None:
    class Found(TwoPhase):
        """Specification with a `found` of its own."""

        def found(self) -> bool:
            """A helper."""
            return True

    question, name = asked(program(Found), "self.found()")
    assert name == "found_"
    assert question.reference.holds(question.reference.initial()[0], name)


def test_each_odd_expression_is_read_or_refused_with_a_place() -> None:
    bound = program(TwoPhase)
    refused: list[SpecError] = []
    for text in ODD_EXPRESSIONS:
        try:
            asked(bound, text)
        except SpecError as error:
            refused.append(error)
    assert len(refused) > len(ODD_EXPRESSIONS) / 2
    assert [error.reason for error in refused if error.at is None or not error.instead] == []
