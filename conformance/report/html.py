"""Verdicts and runs as HTML for notebooks: tables without script or style sheet, diagrams as SVG, and the
explorer of a run in a frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from antiphon.conformance.report import words
from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.words import escape
from antiphon.model.changes import beginning, described, trace_changes
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, Report

if TYPE_CHECKING:
    from antiphon.conformance.compare.lockstep import LockstepReport
    from antiphon.conformance.compare.stateful import StatefulReport
    from antiphon.conformance.spark.pipeline import VerifyReport

COLOURS = {Outcome.HOLDS: "#1e7b34", Outcome.VIOLATED: "#c53030", Outcome.UNKNOWN: "#975a16"}


def report_html(name: str, report: Report) -> str:
    """Return the verdicts of a report under the name of its specification, with the size of the
    exploration.
    """
    rows = [
        (escape(item.property), escape(item.kind), outcome_html(item.outcome), escape(words.found(item)))
        for item in report.verdicts
    ]
    notes = [words.explored(report.exploration), *report.notes]
    return "".join(
        [
            f"<p><b>{escape(name)}</b> {escape(words.constants(report.program))}</p>",
            table_html(("property", "kind", "verdict", "what was found"), rows),
            *(f"<p>{escape(note)}</p>" for note in notes if note),
        ]
    )


def trace_html(name: str, trace: Trace) -> str:
    """Return a run as HTML: its space-time diagram, a table of its steps with their changes and events, and
    the explorer's file, in which the run can be walked.
    """
    from antiphon.conformance.report.explorer import embedded  # here: it loads what few need

    where = [f"{escape(name)} = {escape(value)}" for name, value in described(trace.program, trace.start)]
    start = ("0", "a state of the domains, which need not be reachable", "<br>".join(where))
    begins = [f"{escape(name)} = {escape(value)}" for name, value in beginning(trace)]
    chosen = ("0", "the initial state that was chosen", "<br>".join(begins))
    rows = [start] if not trace.initial else [chosen] if begins else []
    for number, (transition, changed) in enumerate(
        zip(trace.transitions, trace_changes(trace), strict=True), 1
    ):
        broken = [
            f'<span style="color:{COLOURS[Outcome.VIOLATED]}">{escape(short_places(str(item)))}</span>'
            for item in transition.refused
        ]
        said = [
            *(escape(str(change)) for change in changed),
            *(f"» {escape(compact(event))}" for event in transition.events),
            *broken,
        ]
        rows.append((str(number), f"<code>{escape(compact_step(transition.step))}</code>", "<br>".join(said)))
    shows = f"<b>{escape(trace.shows or 'a run')}</b>: {words.length(trace)}"
    steps = table_html(("", "step", "what it changed"), rows)
    walked = embedded(trace.program, name, {trace.shows or "the run": trace})
    return f"<p>{shows}. {escape(short_places(trace.why))}</p>{svg(diagram(trace, name))}{steps}{walked}"


def comparison_html(name: str, report: LockstepReport | StatefulReport) -> str:
    """Return the comparison with an implementation: its size, and the first difference."""
    counts = {key: value for key, value in vars(report).items() if type(value) is int and key != "seed"}
    told = ", ".join(f"{value:,} {key}" for key, value in counts.items())
    title = f"<p><b>{escape(name)}</b> {outcome_html(report.outcome)} {escape(told)}</p>"
    if report.difference is None:
        return title
    return f"{title}<pre>{escape(str(report.difference))}</pre>{trace_html(name, report.difference.trace)}"


def logs_html(report: VerifyReport) -> str:
    """Return the verdicts on the logs of many runs."""
    counts = ((report.runs, "run"), (report.events, "event"), (report.faults, "fault"))
    told = ", ".join(words.counted(count, what) for count, what in counts)
    rows = [
        (
            escape(name),
            *(str(runs[outcome] or "-") for outcome in Outcome),
            f"{report.judged.get(name, 0):,}",
            escape(found),
        )
        for name, runs, found in words.in_logs(report)
    ]
    titles = ("property", *(outcome.value for outcome in Outcome), "judged", "what was found")
    notes = "".join(f"<p>{escape(hint)}</p>" for hint in report.hints)
    return f"<p>{outcome_html(report.outcome)} {told}</p>{table_html(titles, rows)}{notes}"


def outcome_html(outcome: Outcome) -> str:
    """Return an outcome in its colour."""
    return f'<b style="color:{COLOURS[outcome]}">{outcome.value}</b>'


def table_html(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of HTML cells, aligned left."""
    head = "".join(f'<th style="text-align:left">{title}</th>' for title in titles)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
