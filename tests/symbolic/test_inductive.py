"""Induction proves what is inductive, for runs of every length, and shows two states where it fails."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.model.symbolic import induction
from antiphon.model.verdict import EvidenceKind, Outcome
from antiphon.spec.lang import SpecError


def test_the_strengthened_invariant_is_proved(two_phase: Any) -> None:
    verdict = induction(two_phase, "explained")
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.kind is EvidenceKind.PROVED
    assert verdict.evidence.bound == "managers=3; runs of every length, by 1-induction"


def test_consistency_follows_from_it(two_phase: Any) -> None:
    verdict = induction(two_phase, "consistent", given=["explained"])
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.bound.endswith("given explained")


def test_consistency_alone_is_not_inductive(two_phase: Any) -> None:
    verdict = induction(two_phase, "consistent")
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.trace is not None
    before, after = verdict.trace.states
    assert two_phase.reference.holds(before, "consistent")
    assert not two_phase.reference.holds(after, "consistent")
    assert "counterexample to induction" in verdict.reason


def test_what_is_false_early_is_violated_not_unknown(hasty_two_phase: Any) -> None:
    verdict = induction(hasty_two_phase, "consistent", k=9)
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None


def test_two_good_states_can_prove_what_one_cannot(overflow: Any) -> None:
    """A larger k assumes more: its counterexample, if any, is longer."""
    verdict = induction(overflow, "small", k=2)
    assert verdict.outcome is not Outcome.HOLDS
    assert verdict.trace is not None


@pytest.mark.parametrize("k", [0, -1])
def test_induction_needs_a_state(two_phase: Any, k: int) -> None:
    with pytest.raises(ValueError, match="at least one state"):
        induction(two_phase, "consistent", k=k)


def test_a_witness_is_no_invariant(two_phase: Any) -> None:
    with pytest.raises(SpecError, match="it has consistent, explained"):
        induction(two_phase, "all_committed")
