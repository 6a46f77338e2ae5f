"""The machine that parts gives extended virtual synchrony; its faults stand in `test_faults`."""

from __future__ import annotations

from antiphon.conformance.ledger import Reports
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Spec, program
from antiphon.spec.services import UniformViewSynchrony
from antiphon.spec.services.extended_machine import ExtendedChecked
from antiphon.spec.services.view_machine import ViewSynchronousMachine

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


def broken(spec: type[Spec], **constants: int | bool) -> set[str]:
    report = check(program(spec, processes=2, messages=1, views=3, **constants))
    return {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}


def test_the_machine_gives_every_property_and_lets_parts_go_on() -> None:
    report = check(program(ExtendedChecked, processes=2, messages=1, views=3))
    assert (report.exploration.states, report.exploration.never_fired) == (5_328, ())
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


class Uniform(ViewSynchronousMachine, UniformViewSynchrony):
    """The machine of view synchrony without a bound on crashes, judged uniformly."""


def test_view_synchrony_lets_who_crashes_have_delivered_more() -> None:
    """In the last view nobody can be left out any more, which is why it terminates in none."""
    assert broken(Uniform) == {"UniformDelivery", "VscTermination"}
