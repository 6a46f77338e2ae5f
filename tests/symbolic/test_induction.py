"""k-induction proves what is inductive, for runs of every length, and shows the states where it fails."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from antiphon.model.bounds import StopReason
from antiphon.model.export import TraceFileError, save
from antiphon.model.symbolic import induction, prove
from antiphon.model.verdict import EvidenceKind, InternalError, Outcome
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.lang import SpecError, program

FAILED = (
    "counterexample to {k}-induction, never_four is false in the last state; "
    "whether its first state can be reached is not known"
)


def test_what_is_inductive_alone_is_proved_alone(two_phase: Any) -> None:
    verdict = prove(two_phase)["explained"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.kind is EvidenceKind.PROVED
    assert verdict.evidence.bound == "managers=3; runs of every length, by 1-induction"


def test_what_is_not_leans_on_an_invariant_that_is_proved_with_it(two_phase: Any) -> None:
    """The other is named, whether or not it was asked about; only what was asked is answered."""
    report = prove(two_phase, properties=["consistent"])
    assert [verdict.property for verdict in report.verdicts] == ["consistent"]
    assert report["consistent"].outcome is Outcome.HOLDS
    assert report["consistent"].evidence.bound.endswith("runs of every length, by 1-induction with explained")


def test_the_invariant_of_dijkstra_feijen_and_van_gasteren_proves_that_termination_is_detected() -> None:
    """EWD 840: P0 or P1 or P2 or P3 is invariant, and with it what node 0 concludes is true."""
    report = prove(program(EWD840, nodes=4))
    assert report["Inv"].evidence.bound == "nodes=4; runs of every length, by 1-induction"
    assert (
        report["TerminationDetection"].evidence.bound
        == "nodes=4; runs of every length, by 1-induction with Inv"
    )
    assert report.notes[-1] == "not asked, since no single state or step breaks them: Detected, Liveness"


def test_two_good_states_prove_what_one_does_not(gap: Any) -> None:
    """3 leads to 4, but nothing leads to 3."""
    assert prove(gap)["never_four"].outcome is Outcome.UNKNOWN
    verdict = prove(gap, depth=5)["never_four"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.bound == "runs of every length, by 2-induction"


def test_a_run_that_meets_a_state_twice_is_no_counterexample_to_induction(swinging_gap: Any) -> None:
    """The run 3 5 3 5 .. 3 4 would otherwise be a counterexample for every k."""
    assert prove(swinging_gap, depth=2)["never_four"].outcome is Outcome.UNKNOWN
    assert prove(swinging_gap, depth=3)["never_four"].evidence.bound.endswith("by 3-induction")


def test_what_is_not_inductive_is_unknown_with_the_states_that_show_it(gap: Any) -> None:
    verdict = prove(gap)["never_four"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.evidence.kind is EvidenceKind.BOUNDED
    assert verdict.trace is not None
    assert not verdict.trace.initial
    before, after = verdict.trace.states
    assert gap.reference.holds(before, "never_four")
    assert not gap.reference.holds(after, "never_four")
    assert verdict.reason == f"not proved: {FAILED.format(k=1)}"


def test_what_does_not_hold_strengthens_nothing(gap: Any) -> None:
    """`resting` would prove that 3 is never left; it is false after one step."""
    report = prove(gap)
    assert (report["resting"].outcome, report["never_four"].outcome) == (Outcome.VIOLATED, Outcome.UNKNOWN)


def test_what_is_false_early_is_violated_by_a_shortest_run(hasty_two_phase: Any) -> None:
    verdict = prove(hasty_two_phase, depth=9)["consistent"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.initial


def test_what_is_false_late_is_not_proved(hasty_two_phase: Any) -> None:
    assert prove(hasty_two_phase, depth=2)["consistent"].outcome is Outcome.UNKNOWN


def test_a_property_of_steps_that_is_not_inductive_is_broken_by_the_last_step(sequencer: Any) -> None:
    verdict = prove(sequencer)["SameOrder"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.trace is not None
    assert {refusal.property for refusal in verdict.trace.transitions[-1].refused} == {"SameOrder"}


def test_nothing_is_proved_of_a_specification_that_may_have_an_error(brittle: Any) -> None:
    """`in_bounds` is inductive, but that no step leaves the domains is not: `told` might be true."""
    verdict = prove(brittle)["in_bounds"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.reason.startswith(
        "proved but for this, that the specification has no error: counterexample to 1-induction, in the "
        "last state"
    )
    assert verdict.trace is not None
    assert dict(zip(brittle.domains, verdict.trace.states[-1], strict=True)) == {"told": True, "count": 3}


def test_an_error_that_a_run_meets_is_shown(overflow: Any) -> None:
    report = prove(overflow, depth=3)
    assert report["specification"].trace is not None
    assert report["specification"].trace.initial


@pytest.mark.parametrize("depth", [0, -1])
def test_induction_needs_a_state(two_phase: Any, depth: int) -> None:
    with pytest.raises(ValueError, match="at least one state"):
        prove(two_phase, depth=depth)


def test_a_witness_is_no_invariant(two_phase: Any) -> None:
    with pytest.raises(SpecError, match="known: consistent, explained"):
        prove(two_phase, properties=["all_committed"])


def test_a_model_without_initial_states_proves_nothing(nowhere: Any) -> None:
    assert prove(nowhere)["fine"].reason == "the model is empty: it has no initial state"


def test_time_that_is_over_gives_unknown(patient_sequencer: Any) -> None:
    report = prove(patient_sequencer, depth=30, max_seconds=0.01)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.UNKNOWN}
    assert report.notes[-2].startswith("the search is not complete: the bound of 0.01 seconds")
    assert report.exploration.stopped is StopReason.SECONDS


def test_an_interruption_keeps_what_was_proved(gap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    grow, grown = induction._Proof._grow, list[int]()

    def interrupt(self: Any) -> None:
        grown.append(len(grown))
        if len(grown) == 2:
            raise KeyboardInterrupt
        grow(self)

    monkeypatch.setattr(induction._Proof, "_grow", interrupt)
    report = prove(gap, depth=3, properties=["never_four", "never_five"])
    assert report["never_five"].evidence.kind is EvidenceKind.PROVED
    assert report["never_four"].reason == f"not proved: {FAILED.format(k=1)}"
    assert report.notes[-1] == "the search is not complete: interrupted"
    assert report.exploration.stopped is StopReason.INTERRUPTED


def test_progress_is_told_for_the_base_and_then_for_each_k(gap: Any) -> None:
    told: list[tuple[str, ...]] = []
    prove(gap, depth=2, properties=["never_four"], progress=lambda now: told.append(now.open))
    assert told[-2:] == [("never_four",), ()]


def test_a_counterexample_to_induction_is_no_trace_to_replay(gap: Any, tmp_path: Path) -> None:
    trace = prove(gap)["never_four"].trace
    assert trace is not None
    with pytest.raises(TraceFileError, match="begins in no initial state"):
        save(trace, tmp_path / "induction.itf.json")


def test_a_step_that_the_reference_takes_elsewhere_is_our_error(
    gap: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = type(gap.reference).apply

    def otherwise(self: Any, state: Any, step: Any) -> Any:
        transition = apply(self, state, step)
        return transition if step.action == "turn" else dataclasses.replace(transition, state=state)

    monkeypatch.setattr(type(gap.reference), "apply", otherwise)
    with pytest.raises(InternalError, match=r"Z3 and the reference differ about fall\(\)"):
        prove(gap)
