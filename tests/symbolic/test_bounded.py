"""Z3 finds a shortest run for everything that breadth-first search finds one for, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from tests.lang.random_specs import program_of

from antiphon.model.bounds import StopReason
from antiphon.model.symbolic import check_bounded, prove, recovery, steps
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.verdict import InternalError, Outcome
from antiphon.spec.lang import SpecError

KNOWN = ["two_phase", "hasty_two_phase", "sequencer", "patient_sequencer", "overflow"]


def kinds(made: Any) -> list[str]:
    """The names of all properties."""
    return [*(predicate.name for predicate in made.module.predicates), *made.module.properties]


def obligations(made: Any) -> list[str]:
    """The names of the obligations."""
    return [predicate.name for predicate in made.module.predicates if predicate.kind.value == "obligation"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", KNOWN)
def test_lengths_are_those_of_breadth_first_search(
    name: str, shortest: Any, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(name)
    expected = shortest(made, limit=9)
    report = check_bounded(made, depth=9, properties=[*kinds(made), "deadlock"])
    found = {verdict.property: len(verdict.trace) for verdict in report.verdicts if verdict.trace is not None}
    until = expected.get("specification", 9) + 1
    assert found == {name: length for name, length in expected.items() if length <= until}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("seed", [seed for seed in range(31) if seed != 18])  # on which Z3 spends seconds
def test_lengths_on_random_specifications_are_those_of_breadth_first_search(seed: int, shortest: Any) -> None:
    """Up to the first bug of the text; beyond it breadth-first search has nothing to go on with."""
    made = program_of(seed)
    try:
        expected = shortest(made, limit=3, obligations=False)
    except SpecError:
        assert check_bounded(made, depth=3)["specification"].outcome is Outcome.UNKNOWN
        return
    asked = [name for name in kinds(made) if name not in obligations(made)]
    report = check_bounded(made, depth=3, properties=[*asked, "deadlock"])
    found = {verdict.property: len(verdict.trace) for verdict in report.verdicts if verdict.trace is not None}
    until = expected.get("specification", 4)
    assert found.get("specification", 4) == until
    assert _before(found, until) == _before(expected, until)


def _before(lengths: dict[str, int], until: int) -> dict[str, int]:
    return {name: length for name, length in lengths.items() if length < until}


def test_an_error_in_the_initial_state_is_reported(wrong_at_once: Any) -> None:
    with pytest.raises(SpecError) as error:
        wrong_at_once.reference.initial()
    report = check_bounded(wrong_at_once, depth=3)
    assert [verdict.property for verdict in report.verdicts] == ["specification"]
    assert report["specification"].reason == str(error.value)


def test_a_model_without_initial_states_holds_nothing(nowhere: Any) -> None:
    verdict = check_bounded(nowhere, depth=3)["fine"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.reason == "the model is empty: it has no initial state"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", KNOWN)
def test_leaving_out_orders_and_idle_steps_changes_no_length(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = request.getfixturevalue(name)
    report = check_bounded(made, depth=6)
    original = Unrolling.__init__

    def plain(self: Unrolling, *arguments: Any, **others: Any) -> None:
        original(self, *arguments, **(others | {"roles": None} if others.get("faults", True) else others))

    monkeypatch.setattr(Unrolling, "__init__", plain)
    again = check_bounded(made, depth=6)
    assert _lengths(report) == _lengths(again)


def _lengths(report: Any) -> dict[str, int | None]:
    return {
        verdict.property: None if verdict.trace is None else len(verdict.trace) for verdict in report.verdicts
    }


def test_a_planted_fault_is_found_and_shown(hasty_two_phase: Any) -> None:
    verdict = check_bounded(hasty_two_phase, depth=8)["consistent"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert str(verdict.trace.steps[-1]).startswith(("obey_commit", "choose_abort"))
    assert verdict.evidence.bound.endswith(f"a shortest run, {len(verdict.trace)} steps")


def test_a_refuted_service_property_names_the_clash(sequencer: Any) -> None:
    verdict = check_bounded(sequencer, depth=10, properties=["SameOrder"])["SameOrder"]
    assert verdict.outcome is Outcome.VIOLATED
    assert "clashes with Delivered" in verdict.reason


def test_what_holds_is_bounded_by_the_depth(two_phase: Any) -> None:
    verdict = check_bounded(two_phase, depth=4)["consistent"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.bound == "managers=3; no counterexample of at most 4 steps"


def test_the_search_ends_when_no_run_is_longer(two_phase: Any) -> None:
    report = check_bounded(two_phase, depth=30)
    assert report.exploration.complete
    assert report["consistent"].evidence.bound.endswith("adds anything")
    assert report["split"].outcome is Outcome.UNKNOWN
    assert report["split"].reason == "no run reaches it"


def test_a_bug_of_the_text_is_reported_with_its_place(overflow: Any) -> None:
    report = check_bounded(overflow, depth=6, properties=["deadlock"])
    verdict = report["specification"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert report["deadlock"].reason == "not decided: the specification has an error"
    assert verdict.trace is not None
    assert len(verdict.trace) == 3
    assert "up()" in verdict.reason


def test_an_obligation_is_violated_where_nothing_leads_back(sequencer: Any) -> None:
    """The only copy of a message is lost: long before everything is quiet it can no longer be delivered."""
    verdict = check_bounded(sequencer, depth=4, properties=["nothing_is_lost"])["nothing_is_lost"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["lose"]
    assert "no fault-free path leads to where it is true" in verdict.reason


def test_an_obligation_that_can_always_be_met_holds_up_to_the_depth(two_managers: Any) -> None:
    verdict = check_bounded(two_managers, depth=4, properties=["decided"])["decided"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.bound.endswith("no counterexample of at most 4 steps")


def test_a_way_back_that_is_too_long_gives_unknown(
    two_managers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery, "DEPTHS", (1,))
    verdict = check_bounded(two_managers, depth=4, properties=["decided"])["decided"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "no way back of at most 1 steps" in verdict.reason


def test_time_that_is_over_gives_unknown_with_the_depth(patient_sequencer: Any) -> None:
    report = check_bounded(patient_sequencer, depth=40, max_seconds=0.01)
    verdict = report["SameOrder"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "the bound of 0.01 seconds" in verdict.reason


def test_an_interruption_keeps_what_was_found(sequencer: Any) -> None:
    def interrupt(now: Any) -> None:
        if now.depth == 3:
            raise KeyboardInterrupt

    report = check_bounded(
        sequencer, depth=9, properties=["SameOrder", "nothing_is_lost"], progress=interrupt
    )
    assert [verdict.reason for verdict in report.verdicts] == ["not decided: interrupted"] * 2
    assert report["SameOrder"].evidence.bound.endswith("no counterexample of at most 3 steps")
    assert report.notes[-1] == "the search is not complete: interrupted"
    assert report.exploration.stopped is StopReason.INTERRUPTED


def test_too_many_arguments_give_unknown_with_the_count(
    two_phase: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "MOST_ARGUMENTS", 2)
    verdict = check_bounded(two_phase, depth=2)["consistent"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "3 tuples of arguments" in verdict.reason


@pytest.mark.parametrize("ask", [lambda made: check_bounded(made, depth=2), prove])
def test_a_number_with_too_many_values_gives_unknown(wide: Any, ask: Any) -> None:
    verdict = ask(wide)["early"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.reason == "not decided: a number from 0 to 1048576 has more than 65,536 values"


def test_an_unknown_property_is_refused_with_the_known_ones(two_phase: Any) -> None:
    with pytest.raises(SpecError, match="did you mean 'consistent'"):
        check_bounded(two_phase, depth=2, properties=["consistant"])


def test_a_run_that_the_reference_does_not_see_is_our_error(
    hasty_two_phase: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(hasty_two_phase.reference), "holds", lambda self, state, predicate: True)
    with pytest.raises(InternalError, match="does not see it"):
        check_bounded(hasty_two_phase, depth=8, properties=["consistent"])


def test_what_is_violated_after_a_bug_is_unknown_as_in_every_engine(overflow: Any) -> None:
    """The search for bugs goes as far as they come before what was found."""
    report = check_bounded(overflow, depth=6, properties=["small"])
    assert [verdict.property for verdict in report.verdicts] == ["small", "specification"]
    assert report["small"].outcome is Outcome.UNKNOWN


def test_progress_is_told_after_each_depth(two_phase: Any) -> None:
    """First for the property, then for errors of the text."""
    told: list[int] = []
    check_bounded(two_phase, depth=3, properties=["consistent"], progress=lambda now: told.append(now.depth))
    assert told == [0, 1, 2, 3] * 2
