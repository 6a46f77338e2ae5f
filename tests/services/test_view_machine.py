"""The abstract machine gives every property of view synchrony; its faults stand in `test_faults`."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.services.view_machine import ViewSynchronyChecked

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


def broken(**constants: int | bool) -> set[str]:
    report = check(program(ViewSynchronyChecked, **constants))
    assert report.exploration is not None
    assert report.exploration.complete
    return {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("constants", "states"),
    [
        ({"processes": 3, "messages": 2, "views": 2, "joiners": 1}, 3_188),
        ({"processes": 3, "messages": 2, "views": 2}, 14_273),
        ({"processes": 3, "messages": 1, "views": 3}, 6_790),
    ],
)
def test_the_machine_gives_every_property(constants: Mapping[str, int], states: int) -> None:
    report = check(program(ViewSynchronyChecked, **constants))
    assert report.exploration is not None
    assert (report.exploration.states, report.exploration.never_fired) == (states, ())
    assert broken(**constants) == set()
