"""CM and Pinwheel over queues do nothing else, keep their promises and remove nothing that somebody lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.refinement import PROPERTY, check_refinement
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Spec, action, program, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Number
from antiphon.spec.protocols.chang_maxemchuk.properties import ChangMaxemchukInQueuesChecked
from antiphon.spec.protocols.chang_maxemchuk.queues import ChangMaxemchukInQueues
from antiphon.spec.protocols.chang_maxemchuk.refinement import CHANG_MAXEMCHUK_IN_QUEUES
from antiphon.spec.protocols.pinwheel.properties import PinwheelInQueuesChecked
from antiphon.spec.protocols.pinwheel.refinement import PINWHEEL_IN_QUEUES
from antiphon.spec.refinement import Refinement
from antiphon.spec.services import Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

THREE = {"processes": 3, "messages": 3}

HELD: dict[str, tuple[type[Spec], dict[str, Any], tuple[int, int], set[str]]] = {
    "chang-maxemchuk": (ChangMaxemchukInQueuesChecked, THREE, (92_764, 381_812), set()),
    "pinwheel": (
        PinwheelInQueuesChecked,
        {"processes": 3, "messages": 2, "window": 1},
        (7_877, 25_251),
        set(),
    ),
    "pinwheel of two": (
        PinwheelInQueuesChecked,
        {"processes": 2, "messages": 3},
        (7_503, 16_692),
        {"AckOvertaken"},
    ),
}
"""Specification, constants; states and transitions; of two processes no ACK is overtaken."""

REFINED: dict[str, tuple[Refinement, dict[str, Any]]] = {
    "chang-maxemchuk": (CHANG_MAXEMCHUK_IN_QUEUES, {}),
    "pinwheel": (PINWHEEL_IN_QUEUES, {}),
}


@pytest.mark.deep
@pytest.mark.parametrize("name", HELD)
def test_every_property_holds_every_action_fires_and_every_witness_is_reached(name: str) -> None:
    spec, constants, counts, unreached = HELD[name]
    report = check(program(spec, **constants))
    seen = report.exploration
    lacking = {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS}
    assert lacking == unreached
    assert (seen.complete, seen.states, seen.transitions) == (True, *counts)
    assert set(seen.never_fired) == set()


@pytest.mark.deep
@pytest.mark.parametrize("name", REFINED)
def test_each_step_over_queues_is_a_step_of_the_protocol_or_none(name: str) -> None:
    refinement, constants = REFINED[name]
    bound = program(refinement.concrete, **{**refinement.bounds, **constants})
    assert check_refinement(bound, refinement)[PROPERTY].outcome is Outcome.HOLDS


class RemovesEarly(ChangMaxemchukInQueuesChecked):
    """N - 2 subsequent acknowledgements are taken for enough."""

    def is_stable(self, p: Process, k: Number) -> bool:
        """Planted fault: one acknowledgement too few makes a number stable."""
        return k + self.processes - 2 <= self.acknowledged[p]


class TakesAnyAck(ChangMaxemchukInQueues):
    """The number of an ACK is not looked at: whatever comes is the next."""

    @action(fairness="weak")
    def receive_ack(self, p: Process, s: Process) -> None:  # type: ignore[override]
        """Receive an acknowledgement, and count it twice."""
        require(self.has_packet(s, p) and self.channel[s][p][0].number > 0)
        self.take(s, p)
        self.acknowledged[p] = min(self.acknowledged[p] + 2, self.messages)


class RemovesAtMost(PinwheelInQueuesChecked):
    """Planted fault: a delivery by one process counts as stable."""

    def is_stable(self, p: Process, k: Number) -> bool:
        """One process that has heard K is enough."""
        return any(self.heard[p][q] >= k for q in self.each(Process))


@pytest.mark.parametrize("mutant", [RemovesEarly, RemovesAtMost])
def test_what_is_removed_too_early_is_noticed(mutant: type[Spec]) -> None:
    report = check(program(mutant, **THREE), properties=["RemovedIsEverywhere"])
    assert report["RemovedIsEverywhere"].outcome is Outcome.VIOLATED


def test_an_ack_that_counts_for_another_is_no_step_of_the_protocol() -> None:
    refinement = replace(CHANG_MAXEMCHUK_IN_QUEUES, concrete=TakesAnyAck)
    report = check_refinement(program(TakesAnyAck, processes=3, messages=2), refinement)
    assert report[PROPERTY].outcome is Outcome.VIOLATED
