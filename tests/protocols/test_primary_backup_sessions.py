"""Primary-backup with sessions keeps its promises, and each fault breaks one of them."""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.primary_backup.sessions import PrimaryBackupSessionsChecked

check = Reports.private().check

PAIR: dict[str, Any] = {"processes": 2, "messages": 3, "clients": 2, "kept": 1, "crashes": 0}
ALONE: dict[str, Any] = {"processes": 2, "messages": 4, "clients": 2, "kept": 1, "crashes": 0, "views": 1}
JOINS: dict[str, Any] = {"processes": 3, "messages": 3, "clients": 1, "joiners": 1, "crashes": 0}

SAFETY = ("PerformedOnce", "OneState", "OneAnswer", "AnsweredIsKept", "AsOfItsState")


def test_it_keeps_its_promises_and_a_client_is_forgotten_and_an_update_made_again() -> None:
    seen = ("PerformedByTheNext", "IgnoredAndMadeAgain", "Forgotten")
    report = check(program(PrimaryBackupSessionsChecked, **PAIR), properties=(*SAFETY, *seen))
    for name in (*SAFETY, *seen):
        assert report[name].outcome is Outcome.HOLDS, name
    assert report.exploration.states == 61_088


@pytest.mark.deep
@pytest.mark.parametrize("constants", [JOINS, {**PAIR, "processes": 3, "clients": 1, "crashes": 1}])
def test_it_keeps_its_promises_when_processes_join_and_crash(constants: dict[str, Any]) -> None:
    report = check(program(PrimaryBackupSessionsChecked, **constants), properties=SAFETY, engine="native")
    for name in SAFETY:
        assert report[name].outcome is Outcome.HOLDS, name


@pytest.mark.deep
@pytest.mark.parametrize(
    ("fault", "constants", "broken"),
    [
        ("counts_in_any_view", PAIR, "AsOfItsState"),
        ("no_sessions", ALONE, "PerformedOnce"),
        ("answers_at_once", PAIR, "AnsweredIsKept"),
    ],
)
def test_each_fault_breaks_a_promise(fault: str, constants: dict[str, Any], broken: str) -> None:
    bound = program(PrimaryBackupSessionsChecked, **constants, **{fault: True})
    report = check(bound, properties=(broken,), engine="native")
    assert report[broken].outcome is Outcome.VIOLATED
