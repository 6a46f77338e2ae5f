"""The machine of a group promises total order and view synchrony, but for the view of a message's sending."""

from __future__ import annotations

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program, program
from antiphon.spec.services.group_machine import OrderedGroupChecked

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

NOT_PROMISED = {"SendingViewDelivery", "VscValidity", "VscTermination"}
"""A message may be delivered in a later view, or never, where views only end."""

PREFIXES = {"PrefixOrder", "UniformPrefixOrder"}
"""A process that joins begins in the middle of the order: its deliveries are no prefix of it."""


def broken(bound: Program) -> set[str]:
    report = check(bound)
    assert report.exploration is not None
    return {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}


@pytest.mark.parametrize(
    ("processes", "joiners", "breaks"),
    [
        (2, 0, NOT_PROMISED),
        (2, 1, {"SendingViewDelivery", *PREFIXES}),
        pytest.param(3, 0, NOT_PROMISED, marks=pytest.mark.deep),
        pytest.param(3, 1, NOT_PROMISED | PREFIXES, marks=pytest.mark.deep),
    ],
)
def test_it_gives_every_other_property(processes: int, joiners: int, breaks: set[str]) -> None:
    bounds = {"processes": processes, "messages": 2, "views": 2, "crashes": 1, "joiners": joiners}
    assert broken(program(OrderedGroupChecked, **bounds)) == breaks


@pytest.mark.parametrize(
    ("fault", "breaks"),
    [
        ("in_any_order", {"TotalOrder", "UniformTotalOrder", "PrefixOrder", "UniformPrefixOrder"}),
        ("goes_on_behind", {"ViewSynchrony"}),
        ("in_any_view", {"SameViewDelivery"}),
    ],
)
def test_each_fault_breaks_what_it_says(fault: str, breaks: set[str]) -> None:
    bounds = {"processes": 2, "messages": 2, "views": 2, "crashes": 0, fault: True}
    assert broken(program(OrderedGroupChecked, **bounds)) - NOT_PROMISED == breaks
