"""Chandra and Toueg's consensus agrees whatever the detector does, and ends when it becomes accurate."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import program
from antiphon.spec.protocols.chandra_toueg.by_message import ChandraTouegByMessage
from antiphon.spec.protocols.chandra_toueg.properties import ChandraTouegChecked, ChandraTouegForever

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

SAFETY = ("UniformAgreement", "Agreement", "Validity", "Integrity", "Locked", "OneProposal")
WITNESSES = ("AllDecide", "WrongSuspicion", "LaterRound")


def explored(*asked: str, **constants: int | bool) -> Report:
    """Coordinators take two turns; a crash is suspected at once, and local steps come first."""
    chosen = {"rounds": 2, "urgent": True, "detected_at_once": True, **constants}
    return check(program(ChandraTouegChecked, **chosen), properties=asked, engine="native")


def violated(report: Report) -> set[str]:
    return {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}


@pytest.mark.deep
def test_three_processes_agree_whoever_crashes_and_whoever_is_suspected() -> None:
    """One crash, one false suspicion, two values, two rounds: every reachable state."""
    report = explored(*SAFETY, *WITNESSES)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}
    assert (report.exploration.states, report.exploration.complete) == (198_983, True)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("mutant", "faults"),
    [
        ("half_is_enough", {"crashes": 1, "false_suspicions": 0}),
        pytest.param("ignore_timestamps", {"crashes": 1, "false_suspicions": 0}, marks=pytest.mark.deep),
        ("acknowledge_suspected", {"crashes": 1, "false_suspicions": 1}),
    ],
)
def test_without_one_of_its_rules_processes_decide_differently(mutant: str, faults: dict[str, int]) -> None:
    assert violated(explored("Locked", "UniformAgreement", **faults, **{mutant: True})) == {
        "Locked", "UniformAgreement",
    }  # fmt: skip


@pytest.mark.deep
def test_a_minority_may_crash_and_the_others_decide() -> None:
    """One crash and one wrong suspicion spoil two rounds of three at most."""
    verdict = explored("Termination", rounds=3, values=1)["Termination"]
    assert verdict.outcome is Outcome.HOLDS


@pytest.mark.deep
def test_of_two_processes_none_may_crash() -> None:
    """One is no majority: the other waits for ever, and disagrees with nobody."""
    report = explored("Termination", "UniformAgreement", processes=2, false_suspicions=0)
    assert report["Termination"].outcome is Outcome.VIOLATED
    assert len(report["Termination"].trace or ()) == 2
    assert report["UniformAgreement"].outcome is Outcome.HOLDS
    alone = explored("Termination", processes=2, crashes=0, false_suspicions=0)
    assert alone["Termination"].outcome is Outcome.HOLDS


@pytest.mark.deep
@pytest.mark.parametrize(
    ("faults", "full", "few"),
    [
        ({"processes": 2, "rounds": 2}, 3505, 2779),
        pytest.param({"processes": 3, "rounds": 1, "crashes": 0}, 7635, 3747, marks=pytest.mark.deep),
    ],
)
def test_urgent_runs_give_the_verdicts_of_all_runs(faults: dict[str, int], full: int, few: int) -> None:
    """A crash and a wrong suspicion unless told otherwise: local steps first, other states, the same
    outcomes of everything but liveness.
    """
    asked = (*SAFETY, *WITNESSES, "Termination")
    every, some = (
        check(
            program(ChandraTouegChecked, detected_at_once=True, urgent=urgent, **faults), properties=asked
        )
        for urgent in (False, True)
    )
    assert (every.exploration.states, some.exploration.states) == (full, few)
    assert [verdict.outcome for verdict in every.verdicts] == [verdict.outcome for verdict in some.verdicts]
    assert every.exploration.never_fired == some.exploration.never_fired


def forever(**constants: int) -> Report:
    bound = program(ChandraTouegForever, values=1, urgent=True, detected_at_once=True, **constants)
    return check(bound, properties=("Decided", "DecidedIfTrusted"))


def test_rounds_go_on_for_ever_when_each_coordinator_is_suspected() -> None:
    """Two processes that suspect each other: a lasso, and none where one is trusted in the end."""
    report = forever(processes=2, rounds=2, crashes=0, false_suspicions=2)
    lasso = report["Decided"].trace
    assert lasso is not None
    assert lasso.loop == 5
    assert "number_again" in {step.action for step in lasso.steps[lasso.loop :]}
    assert report["DecidedIfTrusted"].outcome is Outcome.HOLDS


def test_without_a_majority_trust_does_not_help() -> None:
    report = forever(processes=2, rounds=2, crashes=1, false_suspicions=0)
    assert report["DecidedIfTrusted"].outcome is Outcome.VIOLATED


@pytest.mark.deep
def test_every_step_of_the_environment_is_taken_somewhere() -> None:
    """In the other tests a crash is detected at once, and a wrong suspicion need not end."""
    slow = check(
        program(ChandraTouegChecked, rounds=1, values=1, false_suspicions=2), properties=("Validity",)
    )
    assert slow.exploration.never_fired == ()


@pytest.mark.deep
@pytest.mark.parametrize(
    ("mutant", "broken"), [("", set()), ("half_is_enough", {"Locked", "UniformAgreement", "Agreement"})]
)
def test_message_by_message_the_rules_are_the_same(mutant: str, broken: set[str]) -> None:
    """The model of an implementation's walks has messages on their way, and steps as soon as they are
    possible.
    """
    asked = {"processes": 2, "values": 2, "crashes": 1, "false_suspicions": 1, "rounds": 2}
    chosen = {mutant: True, "processes": 3, "crashes": 0} if mutant else {}
    report = check(
        program(ChandraTouegByMessage, **{**asked, **chosen}), properties=SAFETY, engine="native"
    )
    assert violated(report) == broken
    assert {verdict.outcome for verdict in report.verdicts} <= {Outcome.HOLDS, Outcome.VIOLATED}
