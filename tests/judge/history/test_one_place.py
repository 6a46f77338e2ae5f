"""A property is added to a service in one place: its text, and the table below the text.

The judge, the words for promises, the reasons, the counts and the manual's table know it then.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from tests.judge.history.known import row
from tests.services.promises import promises

from antiphon.conformance.judge.history import (
    PromiseError,
    RunFindings,
    history,
    judge_history,
    judge_run,
    promised_words,
    properties,
    properties_of,
    property_names,
)
from antiphon.conformance.judge.history.counting import COUNTS
from antiphon.conformance.judge.history.properties import is_eventual
from antiphon.conformance.judge.history.verdicts import is_final
from antiphon.conformance.judge.history.window import Window
from antiphon.conformance.judge.trace import Header, load_run, log_name
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import expect, obligation, on
from antiphon.spec.services import Process
from antiphon.spec.services.detectors import ALARM_PROMISES, Alarm, PassiveDetector
from antiphon.spec.services.promises import About, Property


class PatientDetector(PassiveDetector):
    """The passive detector as it would be with two more properties."""

    @on(Alarm)
    def judge_alarm(self, event: Alarm) -> None:
        """Expect at most one alarm for each process."""
        expect(not self.was_alarmed[event.process], "AlarmOnce", Alarm(event.process))
        super().judge_alarm(event)

    @obligation
    def SomebodyAlarmed(self) -> bool:
        """Some correct process was alarmed. Others need not be."""
        return any(self.was_alarmed[p] and not self.crashed[p] for p in self.each(Process))


ALARM_ONCE = Property(
    "AlarmOnce",
    "a process is alarmed at most once",
    "alarms",
    nothing="nobody is alarmed",
    promised=("patient-detector",),
    by="a patient detector",
    reason="alarmed a second time",
)
SOMEBODY_ALARMED = Property(
    "SomebodyAlarmed", "some correct process is alarmed", "events", promised=("patient-detector",)
)
PATIENT_PROMISES = replace(
    ALARM_PROMISES,
    service=PatientDetector,
    properties=(*ALARM_PROMISES.properties, ALARM_ONCE, SOMEBODY_ALARMED),
    words=(*ALARM_PROMISES.words, "patient-detector"),
)
TWICE = "0: - - | 1: !"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the service of alarms be the one with more properties."""
    judged = tuple(PATIENT_PROMISES if each is ALARM_PROMISES else each for each in properties.JUDGED)
    monkeypatch.setattr(properties, "JUDGED", judged)


def test_without_the_property_nobody_promises_it() -> None:
    assert "AlarmOnce" not in property_names()
    with pytest.raises(PromiseError, match="unknown promise 'patient-detector'"):
        properties_of("patient-detector")


@pytest.mark.usefixtures("added")
def test_its_word_promises_it_in_the_order_of_report() -> None:
    assert promised_words()[-5:-3] == ("passive-detector", "patient-detector")
    assert property_names()[-4:] == ("AlarmCompleteness", "AlarmAccuracy", "AlarmOnce", "SomebodyAlarmed")
    assert properties_of("patient-detector")[-2:] == ("AlarmOnce", "SomebodyAlarmed")
    assert "AlarmOnce" not in properties_of("passive-detector")


@pytest.mark.usefixtures("added")
def test_the_judge_finds_it_broken_with_its_reason_and_both_events(tmp_path: Path) -> None:
    for process, events in enumerate(history(TWICE)):
        header = Header(run="r", protocol="any", process=process, processes=2)
        lines = [msgspec.json.encode(line) + b"\n" for line in (header, *events)]
        (tmp_path / log_name(process)).write_bytes(b"".join(lines))
    judged = judge_run(load_run(tmp_path), ["patient-detector"])
    (found,) = [each for each in judged.findings if each.property == "AlarmOnce"]
    assert judged.outcomes["AlarmOnce"] is Outcome.VIOLATED
    assert judged.outcomes["SomebodyAlarmed"] is Outcome.HOLDS
    assert found.judged == 2
    assert str(found) == (
        "alarmed a second time: process-0.ndjson:3 (alarm), against process-0.ndjson:2 (alarm)"
    )
    assert "AlarmOnce: violated, 2 judged: alarmed a second time" in str(judged)


@pytest.mark.usefixtures("added")
def test_a_property_of_the_end_is_told_with_its_first_sentence() -> None:
    judged = RunFindings(judge_history(history("0: +a | 1: !"), "patient-detector"))
    told = {each.property: judged.sentence(each) for each in judged.findings}
    assert told["SomebodyAlarmed"] == "not true: Some correct process was alarmed"
    assert told["AlarmOnce"] == "nothing to judge: nobody is alarmed"
    assert judged.outcomes["AlarmOnce"] is Outcome.UNKNOWN


@pytest.mark.usefixtures("added")
def test_a_violation_by_an_event_is_final_and_one_of_the_end_is_not() -> None:
    assert (is_eventual("AlarmOnce"), is_eventual("SomebodyAlarmed")) == (False, True)
    found = {each.property: each for each in judge_history(history(TWICE), "patient-detector")}
    assert is_final(found["AlarmOnce"])


@pytest.mark.usefixtures("added")
def test_a_window_that_holds_no_such_events_says_nothing_before_the_log_is_over() -> None:
    """The functions `window` and `forgetting` decide the events that a window holds: alarms are not among
    them.
    """
    window = Window.of(2, ["patient-detector"])
    for process, events in enumerate(history(TWICE)):
        for event in events:
            window.feed(process, event)
    window.judge()
    assert window.findings() == ()


@pytest.mark.usefixtures("added")
def test_the_row_of_the_manual_is_made_of_it() -> None:
    assert row(properties.property_of("AlarmOnce")) == (
        "| `AlarmOnce` | a process is alarmed at most once | a patient detector |"
    )
    assert row(properties.property_of("SomebodyAlarmed")) == (
        "| `SomebodyAlarmed` | some correct process is alarmed |"
    )


# The tables and the texts -----------------------------------------------------------------------------------


def test_a_table_has_the_properties_that_its_service_judges_and_no_other() -> None:
    names = [prop.name for each in properties.JUDGED for prop in each.properties]
    assert len(names) == len(set(names))
    for each in properties.JUDGED:
        if each.service is not None:
            own = {prop.name.removeprefix(each.prefix) for prop in each.properties}
            assert own <= promises(each.service), each.service


def test_every_word_promises_something_and_every_promised_word_is_declared() -> None:
    used = {word for prop in properties.properties().values() for word in prop.promised}
    assert used | {"safe-delivery"} == set(promised_words())
    assert len(promised_words()) == len(set(promised_words()))


def test_what_a_property_is_about_is_counted() -> None:
    assert set(get_args(About)) == COUNTS.keys()
    assert {prop.about for prop in properties.properties().values()} == COUNTS.keys()


def test_what_a_property_implies_is_a_property() -> None:
    implied = {name for prop in properties.properties().values() for name in prop.implies}
    assert implied <= properties.properties().keys()


def test_a_property_that_an_event_breaks_has_a_reason() -> None:
    """A property of the end has a sentence of its own; circles are told link by link."""
    for each in properties.JUDGED:
        for prop in each.properties if each.service is not None else ():
            assert prop.reason or each.is_of_end(prop), prop.name
