"""Whatever a command answers has one form, and reports for others are made from it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.report.forms import read_junit, read_sarif

from antiphon.conformance.report.answers import Answer, Case, Shown, Suite, of_report, of_trace
from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate
from antiphon.conformance.report.github import notices, summary
from antiphon.conformance.report.junit import junit
from antiphon.conformance.report.page import page
from antiphon.conformance.report.sarif import FINGERPRINT, sarif
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.terminal import text_diagram
from antiphon.conformance.report.timelines import PARSER, perfetto, shiviz
from antiphon.conformance.report.window import ROWS_MAX, windowed
from antiphon.model.explore import check
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome
from antiphon.programs import program
from antiphon.spec.lang import Location

HOLDS, VIOLATED, UNKNOWN = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNKNOWN


def long_run(rows: int, broken: int, *, loop: int | None = None) -> Diagram:
    """Two members that send one another a message in each row, which arrives in the next."""
    events = [
        Event(row, row % 2, f"step {row}", broken="Order" if row == broken else "")
        for row in range(1, rows + 1)
    ]
    arrows = [
        Arrow("Ping", f"ping {row}", row % 2, row, (row + 1) % 2, row + 1, Fate.RECEIVED)
        for row in range(1, rows)
    ]
    return Diagram("long", "Order", "", False, ("a b", "c"), rows, tuple(events), tuple(arrows), loop)


def test_pictures_and_reports_have_no_control_character() -> None:
    """XML has none of them, and to a terminal they are commands."""
    events = (Event(1, 0, "say \x1b[31mred\x00\x7f\x9b", broken="Order"),)
    drawn = Diagram("a\x07b", "Order", "\x1b]0;title\x07", False, ("p\x08",), 2, events, ())
    case = Case("Order", "test", VIOLATED, "why \x1b[2J\x00", AT, Shown(drawn))
    answer = Answer("check", (Suite("s\x0c", VIOLATED, (case,), at=AT),))
    for text in (svg(drawn), page(answer, "1"), junit(answer)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "\\x1b[31mred" in svg(drawn)
    ElementTree.fromstring(svg(drawn))
    ElementTree.fromstring(junit(answer))


AT = Location("whole.py", 1)


def answer(*cases: Case, outcome: Outcome = VIOLATED) -> Answer:
    facts = {"states": 7, "complete": True}
    return Answer("check", (Suite("spec <&>", outcome, cases, 1.5, facts, "again", at=AT),))


BROKEN = Case("Order", "invariant", VIOLATED, "a\x00 <b>", Location("spec.py", 12), identity=("one()",))


# The form --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cases", "outcome", "told"),
    [
        ((), UNKNOWN, [UNKNOWN]),
        ((Case("A", "logs", HOLDS),), UNKNOWN, [HOLDS, UNKNOWN]),
        ((Case("A", "logs", HOLDS),), HOLDS, [HOLDS]),
        ((BROKEN,), VIOLATED, [VIOLATED]),
    ],
)
def test_what_no_case_says_a_case_of_its_own_says(
    cases: tuple[Case, ...], outcome: Outcome, told: list[Outcome]
) -> None:
    """An answer without a property, or with another run than the one asked for, is no pass."""
    suite = Suite("s", outcome, cases, why="no fault happened", at=AT)
    assert [case.outcome for case in suite.cases] == told
    errors = [UNKNOWN] * int(read_junit(junit(Answer("check", (suite,)))).attrib["errors"])
    assert errors == [item for item in told if item is UNKNOWN]
    if len(told) > len(cases):
        assert suite.cases[-1].reason == "no fault happened"


def test_a_report_says_where_its_properties_stand_and_by_which_steps_they_break(tmp_path: Path) -> None:
    report = check(program("die-hard"))
    suite = of_report("die-hard", report, "again", "t.itf.json")
    (case,) = suite.cases
    assert (case.property, case.outcome) == ("NotSolved", VIOLATED)
    assert case.identity[0] == "fill_big_jug()"
    assert case.at is not None
    text = Path(case.at.file).read_text(encoding="utf-8").splitlines()
    assert "def NotSolved" in "".join(text[case.at.line - 1 : case.at.line + 1])
    assert case.shown is not None
    assert case.shown.file == "t.itf.json"
    assert [len(part) for part in (case.shown.changes, case.shown.places)] == [6, 6]
    assert suite.facts["states"] == report.exploration.states


# JUnit -----------------------------------------------------------------------------------------------------


def test_in_junit_a_violation_is_a_failure_and_the_unknown_an_error() -> None:
    cases = (BROKEN, Case("B", "witness", UNKNOWN, "not reached"), Case("C", "invariant", HOLDS))
    root = read_junit(junit(answer(*cases)))
    (suite,) = root
    assert [(case.attrib["name"], [child.tag for child in case]) for case in suite.iter("testcase")] == [
        ("Order", ["failure"]), ("B", ["error"]), ("C", []),
    ]  # fmt: skip
    facts = {item.attrib["name"]: item.attrib["value"] for item in suite.iter("property")}
    assert facts == {
        "states": "7", "complete": "true", "seconds": "1.500", "outcome": "violated", "reproduce": "again",
    }  # fmt: skip
    (failure,) = root.iter("failure")
    assert (failure.text or "").splitlines() == ["a\\x00 <b>", "spec.py:12", "again: again"]


# SARIF -----------------------------------------------------------------------------------------------------


def test_in_sarif_stands_what_does_not_hold_at_the_line_of_the_property(tmp_path: Path) -> None:
    shown = Shown(long_run(4, 4), places=(Location(str(tmp_path / "s.py"), 3),) * 4, file="t.itf.json")
    inside = Location(str(tmp_path / "a b" / "s.py"), 7)
    cases = (
        Case("Order", "invariant", VIOLATED, "why", inside, shown, ("one()",)),
        Case("B", "witness", UNKNOWN, "not reached", Location("/elsewhere/s.py", 1)),
        Case("C", "invariant", HOLDS, "", inside),
        Case("Whole", "whole", UNKNOWN, "nothing was judged"),
    )
    run = read_sarif(sarif(answer(*cases), "1", [tmp_path]))
    assert [rule.id for rule in run.tool.driver.rules] == [f"antiphon/{case.property}" for case in cases]
    assert [(item.rule_id, item.level) for item in run.results] == [
        ("antiphon/Order", "error"), ("antiphon/B", "warning"), ("antiphon/Whole", "warning"),
    ]  # fmt: skip
    (place,) = run.results[0].locations
    assert place.physical_location is not None
    artifact = place.physical_location.artifact_location
    assert (artifact.uri, artifact.uri_base_id) == ("a%20b/s.py", "%SRCROOT%")
    assert place.physical_location.region.start_line == 7
    (flow,) = run.results[0].code_flows
    assert [thread.id for thread in flow.thread_flows] == ["a b", "c"]
    order = [step.execution_order for thread in flow.thread_flows for step in thread.locations]
    assert order == [2, 4, 1, 3]
    (elsewhere,) = run.results[1].locations
    assert elsewhere.physical_location is not None
    assert elsewhere.physical_location.artifact_location.uri == "file:///elsewhere/s.py"
    (whole,) = run.results[2].locations
    assert whole.physical_location is not None
    assert whole.physical_location.artifact_location.uri == "whole.py"
    assert run.invocations[0].tool_execution_notifications == []
    assert run.invocations[0].exit_code == 1


def fingerprint(case: Case) -> str:
    (result,) = read_sarif(sarif(answer(case), "1", [Path.cwd()])).results
    return result.partial_fingerprints[FINGERPRINT]


def test_a_fingerprint_follows_property_and_steps_and_nothing_else() -> None:
    moved = Case("Order", "step", VIOLATED, "in other words", Location("other.py", 90), None, ("one()",))
    assert fingerprint(BROKEN) == fingerprint(moved)
    for other in (
        Case("Orders", "invariant", VIOLATED, "", BROKEN.at, None, ("one()",)),
        Case("Order", "invariant", VIOLATED, "", BROKEN.at, None, ("one()", "two()")),
    ):
        assert fingerprint(other) != fingerprint(BROKEN)


def test_a_flow_has_no_more_steps_than_are_kept_and_says_so() -> None:
    case = Case("Order", "invariant", VIOLATED, "why", Location("s.py", 1), Shown(long_run(1_500, 1_490)))
    (result,) = read_sarif(sarif(answer(case), "1", [Path.cwd()])).results
    steps = [step for thread in result.code_flows[0].thread_flows for step in thread.locations]
    assert "1,000 of 1,500 steps are shown" in result.message.text
    (essential,) = [step for step in steps if step.importance == "essential"]
    assert essential.execution_order == 1_490
    many = tuple(Case(f"P{k}", "logs", UNKNOWN) for k in range(5_002))
    run = read_sarif(sarif(answer(*many, outcome=UNKNOWN), "1"))
    assert run.invocations[0].tool_execution_notifications[-1].message.text == "2 results more were left out"


# GitHub ----------------------------------------------------------------------------------------------------


def test_an_annotation_is_one_line_whatever_the_reason_says(tmp_path: Path) -> None:
    at = Location(str(tmp_path / "a,b.py"), 3)
    cases = (Case("P", "logs", VIOLATED, "50% of\nthem: ::error::no", at), Case("Q", "logs", UNKNOWN))
    first, second = notices(answer(*cases, Case("R", "logs", HOLDS)), [tmp_path])
    assert first == (
        "::error file=a%2Cb.py,line=3,title=P is violated in spec <&>::50%25 of%0Athem: ::error::no"
        "%0Aagain: again"
    )
    assert second == "::warning file=whole.py,line=1,title=Q is unknown in spec <&>::unknown%0Aagain: again"


def test_a_summary_has_the_verdicts_the_picture_and_the_command() -> None:
    shown = Shown(long_run(900, 880))
    told = summary(answer(Case("P", "logs", VIOLATED, "a | b\nc", None, shown), Case("Q", "logs", HOLDS)))
    assert "| P | ❌ violated | a \\| b c |" in told
    assert "| Q | ✅ holds |  |" in told
    assert "step 880" in told
    assert "✗ Order" in told
    assert "step 500" not in told
    assert told.rstrip().endswith("```sh\nagain\n```")


# The page --------------------------------------------------------------------------------------------------


def test_the_page_is_one_file_that_needs_no_other(broken: Trace) -> None:
    case = Case("Once", "service", VIOLATED, "<twice>", BROKEN.at, of_trace(broken, "courier", "t.itf.json"))
    text = page(answer(case, Case("B", "witness", UNKNOWN)), "1.2")
    assert not re.search(r"<script|<link|<img|@import|url\(|href=|src=", text)
    assert set(re.findall(r"https?://[\w./]*", text)) == {"http://www.w3.org/2000/svg"}
    told = ("&lt;twice&gt;", "spec &lt;&amp;&gt;", "written: 0 -&gt; 1", "<pre>again</pre>", "t.itf.json")
    assert [words for words in told if words not in text] == []
    assert text.count("<svg") == 1
    assert text.count("violated</b>") + text.count("unknown</b>") == 4


# Windows ---------------------------------------------------------------------------------------------------


def test_a_short_diagram_is_drawn_whole() -> None:
    drawn = long_run(ROWS_MAX, 3)
    assert windowed(drawn) is drawn


@pytest.mark.sampled(6)
@pytest.mark.parametrize("broken", [1_000, 1, 40, 1_990, 2_000])
def test_of_a_long_run_the_rows_round_the_violation_are_drawn(broken: int) -> None:
    drawn = windowed(long_run(2_000, broken))
    assert drawn.rows <= ROWS_MAX
    assert windowed(drawn) is drawn
    assert [event.row for event in drawn.events] == list(range(1, drawn.rows + 1))
    (worst,) = [event for event in drawn.events if event.broken]
    assert worst.label == f"step {broken}"
    assert worst.row + drawn.skipped == broken
    left = sum(int(event.label.split()[1].replace(",", "")) for event in drawn.events if event.lane is None)
    assert left + sum(event.lane is not None for event in drawn.events) == 2_000
    for arrow in drawn.arrows:
        assert 1 <= arrow.begin <= drawn.rows
        assert arrow.end is None or arrow.begin <= arrow.end <= drawn.rows
    text = text_diagram(drawn).plain
    assert re.search(rf"step {broken}\b", text)
    assert re.search(rf"^ *{broken} ", text, re.MULTILINE)
    assert text.count("✗ Order") == 2  # in its row, and at the foot
    assert svg(drawn).count(f">{broken}</text>") == 2  # the number, and the label


def test_who_has_crashed_before_the_window_is_not_drawn_alive() -> None:
    whole = long_run(2_000, 2_000)
    events = tuple(
        Event(5, 1, "crash", crash=True) if event.row == 5 else event
        for event in whole.events
        if event.lane == 0 or event.row <= 5
    )
    drawn = windowed(Diagram("t", "Order", "", False, ("a", "b"), 2_000, events, ()))
    assert drawn.lifelines(1) == ((0, 0),)
    assert drawn.lifelines(0) == ((0, None),)


def test_a_loop_that_has_room_stays_and_keeps_its_numbers() -> None:
    drawn = windowed(long_run(1_000, 1_000, loop=900))
    assert drawn.loop is not None
    assert drawn.loop + drawn.skipped == 900
    assert "↻ on with step 901" in text_diagram(drawn).plain
    assert windowed(long_run(1_000, 1_000, loop=5)).loop is None


# Timelines -------------------------------------------------------------------------------------------------


def happened(text: str) -> list[tuple[str, str, dict[str, int]]]:
    """Events as ShiViz parses them: by the log's own expression, applied to the text after it."""
    parser, _, log = text.partition("\n")
    assert parser == PARSER
    found = re.finditer(re.sub(r"\(\?<", "(?P<", parser), log)
    return [(item["event"], item["host"], json.loads(item["clock"])) for item in found]


def test_in_shiviz_a_reception_comes_after_what_it_receives_and_the_rest_is_concurrent() -> None:
    one, two, three, four = (
        Event(1, 0, "send"), Event(2, 1, "alone"), Event(3, 1, "receive"), Event(4, 2, "alone too"),
    )  # fmt: skip
    arrows = (Arrow("M", "m", 0, 1, 1, 3, Fate.RECEIVED), Arrow("M", "n", 0, 1, 2, 4, Fate.LOST))
    drawn = Diagram("t", "", "", False, ("p 0", "p1", "p2"), 4, (one, two, three, four), arrows)
    clocks = {event: (host, clock) for event, host, clock in happened(shiviz(Shown(drawn)))}
    assert clocks == {
        "send": ("p-0", {"p-0": 1}),
        "alone": ("p1", {"p1": 1}),
        "receive": ("p1", {"p-0": 1, "p1": 2}),
        "alone too": ("p2", {"p2": 1}),
    }


def test_trace_events_have_a_slice_an_event_and_a_flow_a_message() -> None:
    """A flow binds to the slice in whose time and thread it lies."""
    shown = Shown(long_run(6, 6), changes=tuple((f"x: {k}",) for k in range(6)))
    events: list[dict[str, Any]] = json.loads(perfetto(shown))["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert [event["args"]["step"] for event in slices] == [1, 2, 3, 4, 5, 6]
    assert slices[2]["args"]["changes"] == ["x: 2"]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert len(starts) == len(ends) == 5
    for number, start in starts.items():
        end = ends[number]
        assert start["ts"] < end["ts"]
        assert (start["name"], start["cat"]) == (end["name"], end["cat"])
        for event in (start, end):
            assert any(
                item["tid"] == event["tid"] and item["ts"] <= event["ts"] < item["ts"] + item["dur"]
                for item in slices
            )
    (mark,) = [event for event in events if event["ph"] == "i"]
    assert mark["name"] == "✗ Order"
    names = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert names == {1: "a b", 2: "c", 3: "nobody"}
