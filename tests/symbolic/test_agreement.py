"""From any state of the domains, reachable or not, Z3 takes the steps that the reference takes, to the states
it reaches, with its verdicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.ground.small_specs import Logs
from tests.lang.random_specs import program_of

from antiphon.model.ground.form import Operator
from antiphon.model.symbolic import translate
from antiphon.spec.lang import program


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name", ["two_phase", "hasty_two_phase", "sequencer", "patient_sequencer", "overflow"]
)
def test_steps_from_random_states_are_the_reference_s(
    name: str, comparison: Any, request: pytest.FixtureRequest
) -> None:
    assert comparison(request.getfixturevalue(name)).differences(14) == []


def test_steps_on_sequences_are_the_reference_s(comparison: Any) -> None:
    assert comparison(program(Logs)).differences(20) == []


@pytest.mark.sampled(24)
@pytest.mark.parametrize("seed", range(24))
def test_steps_of_random_specifications_are_the_reference_s(seed: int, comparison: Any) -> None:
    """Every node of the intermediate form occurs in these; bugs of the text are met and must be told."""
    assert comparison(program_of(seed)).differences(4, seed) == []


def _without_a_case(translator: translate.Translator, node: Any, values: list[Any]) -> Any:
    value = translate._choose(translator, node, values)
    return (
        -value if isinstance(value, int) else {case: literal for case, literal in value.items() if case != 1}
    )


WRONG: dict[Operator, Callable[..., Any]] = {
    Operator.CHOOSE: _without_a_case,
    Operator.UNION: lambda translator, node, values: values[0],
    Operator.DIFFERENCE: lambda translator, node, values: values[0],
    Operator.HAS: lambda translator, node, values: -translate._has(translator, node, values),
    Operator.LESS: lambda translator, node, values: translate._less(translator, node, values[::-1]),
    Operator.ADD: lambda translator, node, values: values[0],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("operator", WRONG, ids=lambda item: item.name)
def test_a_wrong_operator_shows_as_a_difference(
    operator: Operator, comparison: Any, sequencer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translate, "OPERATORS", {**translate.OPERATORS, operator: WRONG[operator]})
    with pytest.raises(AssertionError):
        assert comparison(sequencer).differences(8) == []
