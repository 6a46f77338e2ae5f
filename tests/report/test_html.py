"""Notebook output holds the verdicts' texts, and no markup of theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from xml.etree import ElementTree

from antiphon.conformance.judge.history import Finding
from antiphon.conformance.report.html import logs_html, trace_html
from antiphon.conformance.spark.pipeline.report import RunVerdict, VerifyReport
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome
from antiphon.programs import program


def cells(html: str) -> list[list[str]]:
    """The texts of the rows of the table that ends the page."""
    page = ElementTree.fromstring(f"<page>{html.replace('<br>', '<br/>')}</page>")
    return [["".join(cell.itertext()) for cell in row] for row in page.findall(".//tbody/tr")]


def test_of_logs_every_property_is_a_row_with_its_runs() -> None:
    verdicts = (RunVerdict("b", Outcome.VIOLATED, Finding("Validity", 1, "p0 <lost> it")),)
    counts = {
        "Validity": Counter({Outcome.HOLDS: 1, Outcome.VIOLATED: 1}),
        "PrefixOrder": Counter({Outcome.UNKNOWN: 1}),
    }
    unknown = {"PrefixOrder": "b: nothing to judge"}
    report = VerifyReport(
        counts, verdicts, (), violated=1, faults=0, runs=2, suspects=2, events=12,
        judged={"Validity": 1_200}, unknown=unknown, hints=("ask <another>",),
    )  # fmt: skip
    html = logs_html(report)
    assert cells(html) == [
        ["Validity", "1", "1", "-", "1,200", "b: p0 <lost> it"],
        ["PrefixOrder", "-", "-", "1", "0", "b: nothing to judge"],
    ]
    assert "<p>ask &lt;another&gt;</p>" in html
    assert str(report).splitlines()[1] == "Validity: holds 1, violated 1: b: p0 <lost> it"
    assert "2 runs, 12 events, 0 faults" in html


def test_a_run_that_does_not_begin_initially_shows_where_it_begins() -> None:
    jugs = program("die-hard")
    start = jugs.reference.initial()[0]
    assert cells(trace_html("die-hard", Trace(jugs, start, ()))) == []
    ((number, _, where),) = cells(trace_html("die-hard", Trace(jugs, start, (), initial=False)))
    assert (number, where) == ("0", "big = 0small = 0")


def test_a_run_shows_which_of_several_initial_states_was_chosen(ballot: Callable[..., Trace]) -> None:
    (number, _, chosen), (one, step, _) = cells(trace_html("ballot", ballot(("vote", 0))))
    assert (number, chosen) == ("0", "asking = p1done[p1] = True")
    assert (one, step) == ("1", "vote(p0)")
