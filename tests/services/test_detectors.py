"""Failure detectors are told apart by what they promise: each property has a history that breaks it.

The classes of detectors stand in `test_faults`.

A history is written as in "s0:1 t0:1 x1": process 0 suspects 1, trusts it again, and 1 crashes.
"""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.environment.detectors import (
    Silence,
)
from antiphon.spec.lang import action, invariant, obligation, program, require, witness
from antiphon.spec.services import Crash, Process
from antiphon.spec.services.detectors import FailureDetector, Suspect, Trust

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

IN_THE_END = (
    "StrongCompleteness",
    "WeakCompleteness",
    "WeakAccuracy",
    "EventualStrongAccuracy",
    "EventualWeakAccuracy",
)


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("x1 s0:1 s2:1", set()),
        ("x1 s0:1", {"StrongCompleteness"}),
        ("x1", {"StrongCompleteness", "WeakCompleteness"}),
        ("s0:1 t0:1", {"StrongAccuracy"}),
        ("s0:1", {"StrongAccuracy", "EventualStrongAccuracy"}),
        ("s0:1 s1:2 s2:0 t0:1 t1:2 t2:0", {"StrongAccuracy", "WeakAccuracy"}),
        (
            "s0:1 s1:2 s2:0",
            {"StrongAccuracy", "WeakAccuracy", "EventualStrongAccuracy", "EventualWeakAccuracy"},
        ),
        ("s0:1 x1 s2:1", {"StrongAccuracy"}),
        (
            "s0:1 s2:0 x2 x0 t0:1",
            {"StrongAccuracy", "WeakAccuracy", "StrongCompleteness", "WeakCompleteness"},
        ),
    ],
)
def test_each_property_is_broken_by_its_history(history: str, broken: set[str]) -> None:
    judge = program(FailureDetector, processes=3).reference.session()
    found: set[str] = set()
    for word in history.split():
        first, _, second = word[1:].partition(":")
        p = Process(int(first))
        event = (
            Crash(p) if word[0] == "x" else (Suspect if word[0] == "s" else Trust)(p, Process(int(second)))
        )
        found |= {refusal.property for refusal in judge.feed(event)}
    assert found | {name for name in IN_THE_END if not judge.holds(name)} == broken


class Lamp(Silence):
    """Goes out once, and whoever notices is alarmed."""

    lit: bool = True

    @action
    def go_out(self) -> None:
        """Put the light out, and end the run."""
        require(self.lit)
        self.lit = False

    def is_silent(self) -> bool:
        return not self.lit

    @obligation
    def AllNotice(self) -> bool:
        """In the end everybody is alarmed."""
        return all(self.alarmed[p] for p in self.each(Process))

    @invariant
    def NoFalseAlarm(self) -> bool:
        """Processes are alarmed only in the dark."""
        return not self.lit or not any(self.alarmed[p] for p in self.each(Process))

    @witness
    def SomeNotice(self) -> bool:
        """One is alarmed and another is not yet."""
        return any(self.alarmed[p] for p in self.each(Process)) and not self.AllNotice()


def test_a_passive_detector_notices_that_nothing_happens() -> None:
    def of(alarms: int) -> dict[str, Outcome]:
        verdicts = check(program(Lamp, processes=2, false_alarms=alarms)).verdicts
        return {verdict.property: verdict.outcome for verdict in verdicts}

    assert set(of(0).values()) == {Outcome.HOLDS}
    assert of(1) == of(0) | {"NoFalseAlarm": Outcome.VIOLATED}
