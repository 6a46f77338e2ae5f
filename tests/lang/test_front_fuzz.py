"""Any Python in a specification is read by the front end, or refused with a located error that gives the way
to write it.
"""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lang.mutations import ODD_EXPRESSIONS, ODD_STATEMENTS, mutated
from tests.lang.random_specs import load, random_states, random_steps, source
from tests.lang.texts import with_body

from antiphon.spec.lang import Disabled, Spec, SpecError, program
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.front import read

ILL_TYPED = ("TypeError", "NameError", "UnboundLocalError", "AttributeError", "KeyError", "RecursionError")


def _read_or_refuse(cls: type[Spec]) -> SpecError | None:
    refusal = None
    try:
        dump(read(cls))
    except SpecError as error:
        refusal = error
    if refusal is not None:
        assert refusal.at is not None
        assert refusal.at.line > 0
        assert refusal.reason
        assert refusal.instead
    return refusal


def _mutant(seed: int) -> type[Spec] | None:
    """A mutated specification, or None when Python itself does not take it."""
    text = mutated(source(seed % 97), random.Random(seed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return load(text, file=f"<mutant {seed}>")
    except Exception:  # noqa: BLE001 - a class body may raise anything
        return None


@pytest.mark.deep
@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_mutated_specification_is_read_or_refused_with_a_place(seed: int) -> None:
    cls = _mutant(seed)
    if cls is not None:
        _read_or_refuse(cls)


@pytest.mark.deep
def test_each_odd_expression_is_read_or_refused_with_a_place() -> None:
    refused = 0
    for number, text in enumerate(ODD_EXPRESSIONS):
        bodies = (
            f"x = {text}",
            f"self.n = {text}",
            f"if {text}:\n    pass",
            f"for x in {text}:\n    pass",
            f"self.count[{text}] = 0",
        )
        for body in (bodies[number % 5], bodies[(number + 1) % 5]):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cls, _ = with_body(body)
            except (SyntaxError, SpecError):
                continue
            refused += _read_or_refuse(cls) is not None
    assert refused > 160


@pytest.mark.parametrize("both", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_each_odd_statement_is_read_or_refused_with_a_place(*, both: bool) -> None:
    """Alone and inside another one, or by turns."""
    refused = 0
    for number, text in enumerate(ODD_STATEMENTS):
        bodies = (text, f"if self.b:\n    {text.replace(chr(10), chr(10) + '    ')}")
        for body in bodies if both else bodies[number % 2 :][:1]:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cls, _ = with_body(body)
            except SyntaxError:
                continue
            refused += _read_or_refuse(cls) is not None
    assert refused > (150 if both else 75)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_what_the_front_end_accepts_is_well_typed_when_python_runs_it(seed: int) -> None:
    """A mutant that was read may fail a check of the language, never one of Python's types or names."""
    cls = _mutant(seed)
    if cls is None or _read_or_refuse(cls) is not None:
        return
    bound, rng = program(cls), random.Random(seed)
    for state in random_states(bound, rng, 3):
        for step in random_steps(bound, state, rng, 6):
            try:
                bound.reference.apply(state, step)
            except Disabled:
                continue
            except SpecError as error:
                reason = error.reason
            else:
                continue
            assert not reason.startswith(ILL_TYPED), reason
            assert "not a bool" not in reason


def test_expressions_nested_too_deep_are_refused() -> None:
    cls, _ = with_body("self.n = " + "+".join(["1"] * 400))
    error = _read_or_refuse(cls)
    assert error is not None
    assert "too deep" in error.reason
