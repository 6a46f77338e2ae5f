"""Every kind of property is judged rightly by both engines, has a mutant that is caught, and a bound never
passes for an answer.
"""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from antiphon.conformance.cli.progress import progress_bar
from antiphon.model.bounds import Bounds, Progress
from antiphon.model.engines import Engine, open_space
from antiphon.model.engines.interface import Decision
from antiphon.model.explore import check, reach
from antiphon.model.explore.search import Search
from antiphon.model.explore.verdicts import Judge
from antiphon.model.trace import replay
from antiphon.model.verdict import InternalError, Outcome, PropertyKind, Report
from antiphon.spec.lang import SpecError, program

BOTH = pytest.mark.parametrize("engine", ["generated", "reference"])


def outcomes(report: Report) -> dict[str, Outcome]:
    return {verdict.property: verdict.outcome for verdict in report.verdicts}


@BOTH
def test_two_phase_has_the_published_counts(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.TwoPhase, managers=3), engine=engine)
    assert (report.exploration.states, report.exploration.transitions) == (288, 1145)
    assert report.exploration.complete
    assert outcomes(report) == {"consistent": Outcome.HOLDS, "all_committed": Outcome.HOLDS}
    assert report.exploration.never_fired == ()


@pytest.mark.parametrize(("managers", "states", "transitions"), [(5, 8_832, 58_145), (7, 296_448, 2_744_705)])
def test_larger_two_phase_has_the_published_counts(
    specs: SimpleNamespace, managers: int, states: int, transitions: int
) -> None:
    exploration = check(program(specs.TwoPhase, managers=managers)).exploration
    assert (exploration.states, exploration.transitions) == (states, transitions)
    assert exploration.depth == 3 * managers + 1


@BOTH
def test_a_broken_invariant_has_a_shortest_counterexample(specs: SimpleNamespace, engine: str) -> None:
    verdict = check(program(specs.HastyCommit), engine=engine)["consistent"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["commit", "choose_abort", "obey_commit"]
    assert (
        replay(verdict.trace.program, verdict.trace.start, verdict.trace.steps).states == verdict.trace.states
    )
    assert not verdict.trace.program.reference.holds(verdict.trace.states[-1], "consistent")


@BOTH
def test_a_broken_service_is_named_with_its_guard(specs: SimpleNamespace, engine: str) -> None:
    verdict = check(program(specs.JudgedPost), engine=engine)["SameOrder"]
    assert verdict.kind == "service"
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace) == 4  # two letters sent, one read by each node
    assert "self.order[place] == event.letter" in verdict.reason
    assert [refusal.property for refusal in verdict.trace.transitions[-1].refused] == ["SameOrder"]


@BOTH
def test_a_service_that_nothing_breaks_holds(specs: SimpleNamespace, engine: str) -> None:
    assert check(program(specs.JudgedPost, letters=1), engine=engine)["SameOrder"].outcome is Outcome.HOLDS


@BOTH
def test_a_witness_comes_with_the_shortest_way_to_it(specs: SimpleNamespace, engine: str) -> None:
    verdict = check(program(specs.Post), engine=engine)["everything_read"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.trace is not None
    assert len(verdict.trace) == 6


@BOTH
def test_an_unreached_witness_and_a_dead_action_are_told(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.Starts), engine=engine)
    assert report["beyond"].outcome is Outcome.UNKNOWN
    assert "vacuously" in report["beyond"].reason
    assert report.exploration.never_fired == ("grow",)
    assert report.exploration.states == 4
    assert report.outcome is Outcome.UNKNOWN


@BOTH
def test_a_lost_letter_breaks_an_obligation_at_quiescence(specs: SimpleNamespace, engine: str) -> None:
    """After the last letter nothing but the loss of it can happen to the inbox: send, lose, and nothing more
    is enabled.
    """
    verdict = check(program(specs.Post, letters=1, nodes=1), engine=engine)["all_read"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.reason.startswith("quiescence")
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["send", "lose"]


@BOTH
def test_sending_again_discharges_the_obligation(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.Post, again=True), engine=engine)
    assert report["all_read"].outcome is Outcome.HOLDS
    assert report.exploration.complete


@BOTH
def test_a_state_with_no_way_back_breaks_an_obligation(specs: SimpleNamespace, engine: str) -> None:
    """The broken lamp can still blink, so it is not quiescent; it can never shine again."""
    verdict = check(program(specs.Lamp), engine=engine)["shines"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.reason.startswith("irrecoverable")
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["switch", "fall"]


@BOTH
def test_deadlock_is_judged_when_asked(specs: SimpleNamespace, engine: str) -> None:
    assert (
        check(program(specs.Lamp), properties=["deadlock"], engine=engine)["deadlock"].outcome
        is Outcome.HOLDS
    )
    verdict = check(program(specs.Starts), properties=["deadlock"], engine=engine)["deadlock"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace) == 0


@BOTH
def test_an_error_of_the_specification_is_located_and_nothing_passes(
    specs: SimpleNamespace, engine: str
) -> None:
    report = check(program(specs.Overflow), engine=engine)
    verdict = report["specification"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "corner_cases.py:24:9" in verdict.reason
    assert "leaves its domain" in verdict.reason
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["step"] * 3
    assert outcomes(report) == {
        "specification": Outcome.UNKNOWN,
        "small": Outcome.UNKNOWN,
        "two": Outcome.HOLDS,
    }


@BOTH
def test_an_error_in_a_predicate_is_located_too(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.Absent), engine=engine)
    verdict = report["specification"]
    assert "present(None)" in verdict.reason
    assert verdict.trace is not None
    assert len(verdict.trace) == 1
    assert report["known"].outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("engine", ["native", "generated", "reference"])
def test_an_error_in_one_step_hides_no_other_step_of_the_state(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.BreaksBesideAnError), engine=engine)
    assert "present(None)" in report["specification"].reason
    verdict = report["Silence"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert [step.action for step in verdict.trace.steps] == ["read"]


@BOTH
def test_an_empty_model_proves_nothing(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.Nothing), engine=engine)
    assert outcomes(report) == {"fine": Outcome.UNKNOWN, "some": Outcome.UNKNOWN}
    assert "no initial state" in report["fine"].reason


@BOTH
@pytest.mark.parametrize(
    "bounds", [Bounds(states=40), Bounds(depth=3), Bounds(seconds=0.0), Bounds(memory_mb=1)]
)
def test_a_bound_gives_unknown_for_what_is_undecided(
    specs: SimpleNamespace, engine: str, bounds: Bounds
) -> None:
    report = check(program(specs.TwoPhase), engine=engine, bounds=bounds)
    assert outcomes(report) == {"consistent": Outcome.UNKNOWN, "all_committed": Outcome.UNKNOWN}
    assert "the bound of" in report["consistent"].reason
    assert not report.exploration.complete
    begun = bounds.seconds is None and bounds.memory_mb is None
    assert begun <= report.exploration.states < 288


@BOTH
def test_a_violation_within_a_bound_stays_a_violation(specs: SimpleNamespace, engine: str) -> None:
    report = check(program(specs.HastyCommit), engine=engine, bounds=Bounds(depth=3))
    assert report["consistent"].outcome is Outcome.VIOLATED
    assert (
        check(program(specs.HastyCommit), engine=engine, bounds=Bounds(depth=2))["consistent"].outcome
        is Outcome.UNKNOWN
    )


@BOTH
def test_max_states_is_hardly_overshot(specs: SimpleNamespace, engine: str) -> None:
    assert (
        100
        <= check(program(specs.TwoPhase), engine=engine, bounds=Bounds(states=100)).exploration.states
        < 120
    )


@BOTH
def test_the_search_goes_on_after_a_violation_unless_told_to_stop(
    specs: SimpleNamespace, engine: str
) -> None:
    everything = check(program(specs.JudgedPost), engine=engine)
    assert everything["everything_read"].outcome is Outcome.HOLDS
    assert everything.exploration.complete
    first = check(program(specs.JudgedPost), engine=engine, stop_at_first=True)
    assert first["SameOrder"].outcome is Outcome.VIOLATED
    assert not first.exploration.complete
    assert "first violation" in first["all_read"].reason


@BOTH
def test_interruption_keeps_what_was_learned(specs: SimpleNamespace, engine: str) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.states > 150:
            raise KeyboardInterrupt

    report = check(program(specs.HastyCommit), engine=engine, progress=interrupt)
    assert report["consistent"].outcome is Outcome.VIOLATED
    assert report.exploration.states > 150
    assert not report.exploration.complete
    assert "interrupted" in report.notes[0]


def test_progress_tells_states_rate_depth_and_queue(specs: SimpleNamespace) -> None:
    seen: list[Progress] = []
    check(program(specs.TwoPhase), progress=seen.append)
    assert seen[-1].states == 288
    assert seen[-1].queue == 0
    assert seen[-1].rate > 0
    assert [item.depth for item in seen] == sorted(item.depth for item in seen)


def test_the_progress_line_is_for_terminals_only(
    specs: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("TwoPhase", Console(file=io.StringIO())) as silent:
        assert silent is None
    screen = io.StringIO()
    with progress_bar("TwoPhase", Console(file=screen, force_terminal=True, width=120)) as show:
        check(program(specs.TwoPhase), progress=show)
    assert "288 states" in screen.getvalue()
    assert "queue 0" in screen.getvalue()


def test_an_unknown_property_or_engine_is_refused_with_the_known_ones(specs: SimpleNamespace) -> None:
    with pytest.raises(SpecError, match="did you mean 'consistent'"):
        check(program(specs.TwoPhase), properties=["consistant"])
    with pytest.raises(SpecError, match="known: auto, native, generated, reference"):
        check(program(specs.TwoPhase), engine="warp")


@BOTH
def test_reach_finds_the_nearest_state(specs: SimpleNamespace, engine: str) -> None:
    bound = program(specs.TwoPhase)
    index = bound.variables.index("prepared")
    found = reach(bound, lambda state: len(state[index]) == 2, engine=engine)
    assert found.trace is not None
    assert len(found.trace) == 4
    assert reach(bound, "all_committed", engine=engine).outcome is Outcome.HOLDS
    assert reach(bound, lambda state: False, engine=engine).outcome is Outcome.UNKNOWN


def test_a_space_that_lies_is_our_failure_not_a_result(specs: SimpleNamespace) -> None:
    """A counterexample that the reference does not confirm must never be shown."""
    bound = program(specs.TwoPhase)
    space = open_space(bound, Engine.REFERENCE)
    search = Search(space, watched=["consistent"])
    search.run()
    search.decided["consistent"] = Decision(5)
    with pytest.raises(InternalError):
        list(Judge(bound, space, search, {"consistent": PropertyKind.INVARIANT}).verdicts())
    assert InternalError.exit_code == 70


def test_the_verdict_says_what_was_checked_and_how_far(specs: SimpleNamespace) -> None:
    verdict = check(program(specs.TwoPhase))["consistent"]
    assert verdict.evidence.bound == "managers=3; all 288 states"
    assert verdict.provenance.spec == "TwoPhase"
    assert verdict.provenance.engine.startswith("explicit")
