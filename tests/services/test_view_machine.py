"""The abstract machine gives every property of view synchrony, and has a fault for each that breaks no other.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.services.view_machine import ViewSynchronyChecked

check = Reports.private().check
"""What this code has explored before is read."""

PAIR = {"processes": 2, "messages": 1, "views": 3}


def broken(**constants: int | bool) -> set[str]:
    report = check(program(ViewSynchronyChecked, **constants))
    assert report.exploration is not None
    assert report.exploration.complete
    return {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS}


@pytest.mark.parametrize(
    ("constants", "states"),
    [
        ({"processes": 3, "messages": 2, "views": 2}, 14_273),
        ({"processes": 3, "messages": 2, "views": 2, "joiners": 1}, 3_188),
        ({"processes": 3, "messages": 1, "views": 3}, 6_790),
    ],
)
def test_the_machine_gives_every_property(constants: Mapping[str, int], states: int) -> None:
    report = check(program(ViewSynchronyChecked, **constants))
    assert report.exploration is not None
    assert (report.exploration.states, report.exploration.never_fired) == (states, ())
    assert broken(**constants) == set()


@pytest.mark.parametrize(
    ("fault", "names", "constants"),
    [
        ("told_others", {"ViewAgreement"}, PAIR),
        ("not_included", {"SelfInclusion"}, PAIR),
        ("installs_again", {"LocalMonotonicity"}, PAIR),
        ("split_off", {"PrimaryPartition"}, PAIR),
        ("sends_outside", {"InitialView"}, PAIR | {"joiners": 1}),
        ("goes_on", {"ViewSynchrony"}, PAIR),
        ("delivered_later", {"SendingViewDelivery"}, PAIR),
        ("delivered_anywhere", {"SameViewDelivery", "SendingViewDelivery"}, PAIR),
        ("delivered_twice", {"UniformIntegrity", "Integrity"}, PAIR),
        ("broadcast_twice", {"BroadcastOnce"}, PAIR),
        ("sends_on", {"VscValidity"}, PAIR),
        ("lives_on", {"VscTermination"}, PAIR),
        ("hasty", {"VscTermination"}, PAIR | {"processes": 3}),
    ],
)
def test_a_fault_breaks_one_property_and_what_it_implies(
    fault: str, names: set[str], constants: Mapping[str, int]
) -> None:
    assert broken(**constants, **{fault: True}) == names
