"""SEQUENCER whose messages come when they come, with which its core is walked, keeps what SEQUENCER keeps."""

from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.sequencer.by_message import SequencerByMessageChecked
from antiphon.spec.protocols.sequencer.properties import SequencerChecked

check = Reports.private().check

REPAIRS = ("keep_early", "flush", "only_members", "resend_on_change", "remember_own", "wait_before_stop")

HANDED: dict[str, Any] = {"processes": 3, "messages": 2, "views": 2, "handovers": True, "crashes": 0}
CRASH: dict[str, Any] = {"processes": 3, "messages": 2, "views": 2, "crashes": 1}

UNIFORM = {"UniformPrefixOrder", "UniformTotalOrder", "UniformAgreement"}
"""Properties that only `wait_for_all` gives when a process crashes."""

OVERTAKEN = {"Overtaken"}
"""Witness of what queues without an order would do."""


@pytest.mark.deep
@pytest.mark.parametrize(("constants", "broken"), [(HANDED, set()), (CRASH, UNIFORM)])
def test_it_keeps_what_sequencer_keeps(constants: dict[str, Any], broken: set[str]) -> None:
    report = check(program(SequencerByMessageChecked, repairs=REPAIRS, **constants), engine="native")
    outcomes = {verdict.property: verdict.outcome for verdict in report.verdicts}
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.VIOLATED} == broken
    assert {name for name, outcome in outcomes.items() if outcome is Outcome.UNKNOWN} == OVERTAKEN
    sound = check(program(SequencerChecked, repairs=REPAIRS, **constants), engine="native")
    assert {verdict.property: verdict.outcome for verdict in sound.verdicts}.items() <= outcomes.items()


class LeavesAtOnce(SequencerByMessageChecked):
    """A process installs the view although another one still works in the view before."""

    def all_are_blocked(self) -> bool:
        """Return True."""
        return True


@pytest.mark.deep
@pytest.mark.parametrize("name", ["PrefixOrder", "TotalOrder"])
def test_a_view_that_some_have_left_too_early_breaks_the_order(name: str) -> None:
    report = check(program(LeavesAtOnce, repairs=REPAIRS, **CRASH), properties=(name,), engine="native")
    assert report[name].outcome is Outcome.VIOLATED
