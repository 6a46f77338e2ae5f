"""CM, Pinwheel and Totem as Kim and Kim (1997) describe them to compare with: what holds, what is reached,
and small changes that break it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, action, program, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count
from antiphon.spec.protocols.chang_maxemchuk.properties import ChangMaxemchukChecked, ChangMaxemchukProperties
from antiphon.spec.protocols.dtp.figure1 import Figure1
from antiphon.spec.protocols.pinwheel.properties import PinwheelChecked, PinwheelProperties
from antiphon.spec.protocols.totem.properties import TotemChecked, TotemProperties
from antiphon.spec.protocols.totem.ring_properties import TotemRingChecked
from antiphon.spec.services import Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

MODELS: dict[str, tuple[type[Spec], dict[str, Any], tuple[int, int, int]]] = {
    "CM of two": (ChangMaxemchukChecked, {"processes": 2, "messages": 3}, (1855, 4980, 18)),
    "CM of three": (ChangMaxemchukChecked, {"processes": 3, "messages": 2}, (6512, 23276, 18)),
    "Pinwheel": (PinwheelChecked, {"processes": 2, "messages": 3}, (129_330, 462_112, 22)),
    "Totem of two": (TotemChecked, {"processes": 2, "messages": 2, "visits": 6}, (5287, 10950, 14)),
    "Totem, at once": (
        TotemChecked,
        {"processes": 3, "messages": 2, "visits": 8, "instant": True},
        (2298, 5762, 20),
    ),
    "Totem's ring": (
        TotemRingChecked,
        {"processes": 2, "messages": 3, "visit_max": 2, "unstable_max": 2},
        (3736, 7658, 23),
    ),
}
"""Specification, constants; states, transitions and depth."""


@cache
def explored(name: str) -> Report:
    spec, constants, _ = MODELS[name]
    return check(program(spec, **constants))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODELS)
def test_the_protocol_holds_and_reaches_its_witnesses(name: str) -> None:
    report = explored(name)
    assert report.exploration.complete
    assert {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS} == set()
    assert report.exploration.never_fired == ()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODELS)
def test_the_protocol_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert (seen.states, seen.transitions, seen.depth) == MODELS[name][2]


class Hasty(ChangMaxemchukProperties):
    """The holder acknowledges although it has not received all that is acknowledged."""

    @action
    def acknowledge(self, p: Process, m: Message) -> None:
        require(p == self.holder() and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)


class Boasting(PinwheelProperties):
    """A process piggybacks what it knows to be numbered, delivered or not."""

    def piggybacked(self, p: Process) -> Count:
        return self.acknowledged[p]


class HastyWheel(PinwheelProperties):
    """The holder of Pinwheel acknowledges although it has not received all that is acknowledged."""

    @action
    def acknowledge(self, p: Process, m: Message) -> None:
        require(p == self.holder and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)
        self.sender[self.assigned] = p
        self.hear(p, p, self.assigned)


class Boasted(TotemProperties):
    """A process writes the token's number into the token as its own."""

    @action
    def pass_token(self, p: Process) -> None:
        require(p == self.holder)
        self.info[p] = self.assigned
        self.seen[p] = self.least()
        self.holder = Process((p.index + 1) % self.processes)
        self.passes += 1


MUTANTS: list[tuple[type[Spec], dict[str, Any], str]] = [
    (Hasty, {"processes": 2, "messages": 2}, "HoldersGrow"),
    (Hasty, {"processes": 2, "messages": 2}, "StableAfterRound"),
    (Boasting, {"processes": 2, "messages": 2}, "StableIsEverywhere"),
    (HastyWheel, {"processes": 2, "messages": 2}, "StableIsEverywhere"),
    (Boasted, {"processes": 2, "messages": 1}, "StableIsDelivered"),
]


@pytest.mark.parametrize(
    ("spec", "constants", "broken"), MUTANTS, ids=[f"{case[0].__name__} {case[2]}" for case in MUTANTS]
)
def test_a_planted_fault_is_found(spec: type[Spec], constants: dict[str, Any], broken: str) -> None:
    assert check(program(spec, **constants), properties=[broken])[broken].outcome is Outcome.VIOLATED


def test_a_sequence_as_in_figure_1_exists() -> None:
    """Section 3: M1 is stable after the fourth ACK in Pinwheel and the third in DTP; and the contrary too."""
    report = check(program(Figure1, processes=5, messages=6))
    assert {verdict.property: len(verdict.trace) for verdict in report.verdicts if verdict.trace} == {
        "AsPrinted": 6,
        "PinwheelFirst": 3,
    }
