"""An answer as one page of HTML that needs no other file and no network.

1. It shows the verdicts; for each case that does not hold also the picture, the changes of each step, and the
   command that repeats it. A long run is cut to the rows around the violation, as everywhere. All this needs
   no script.
2. Runs of a specification, and logs, can be walked in it: the file of the explorer stands in a frame that is
   sandboxed, so that it cannot reach the rest of the page.
3. It is at most as large as a file of the explorer.
"""

from __future__ import annotations

from typing import Final

from antiphon.conformance.report.answers import Answer, Case, Shown, Suite, facts_as_text
from antiphon.conformance.report.diagram import Event
from antiphon.conformance.report.html import COLOURS, outcome_html, table_html
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.window import windowed
from antiphon.conformance.report.words import escape
from antiphon.model.verdict import Outcome

_SHOWN_MAX: Final = 20
"""Largest number of runs that are drawn; the verdicts of the others stand in the table."""

_STYLE: Final = (
    "body{font:14px/1.45 Helvetica,Arial,sans-serif;color:#1a202c;max-width:1100px;margin:24px auto;"
    "padding:0 16px}table{border-collapse:collapse}th,td{padding:3px 12px 3px 0;border-bottom:1px solid "
    "#e2e8f0}pre,code{font-family:Menlo,Consolas,monospace;font-size:12px;white-space:pre-wrap}"
    "pre{background:#f7f9fb;padding:8px}svg{max-width:100%;height:auto}"
)


def page(answer: Answer, version: str) -> str:
    """Return the text of the file, ending with a newline."""
    title = escape(f"antiphon {answer.command}")
    wrong = [
        (suite, case) for suite, case in answer.cases if case.outcome is not Outcome.HOLDS and case.shown
    ]
    head = f"<title>{title}: {answer.outcome.value}</title><style>{_STYLE}</style>"
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{head}</head><body>',
        f"<h1>{title}: {outcome_html(answer.outcome)}</h1>",
        *map(_suite, answer.suites),
        *(_run(suite, case, case.shown) for suite, case in wrong[:_SHOWN_MAX] if case.shown is not None),
    ]
    parts += _walked(answer, wrong, sum(len(part.encode()) for part in parts))
    if len(wrong) > _SHOWN_MAX:
        parts.append(f"<p>and {len(wrong) - _SHOWN_MAX:,} runs more, which are not drawn</p>")
    return "\n".join([*parts, f"<footer><p>antiphon {escape(version)}</p></footer></body></html>"]) + "\n"


def _walked(answer: Answer, wrong: list[tuple[Suite, Case]], taken: int) -> list[str]:
    """Return, for each suite, the HTML of the explorer for its run, in the bytes that remain beside
    `taken`.
    """
    from antiphon.conformance.report.explorer import embedded  # here: it loads what most reports do not need
    from antiphon.conformance.report.explorer.saved import BYTES_MAX, EMBEDDED_BYTES_MAX

    asked = []
    for suite in answer.suites:
        runs = {
            case.property: case.shown.run
            for other, case in wrong[:_SHOWN_MAX]
            if other is suite and case.shown is not None and case.shown.run is not None
        }
        program = suite.logs.program if suite.logs is not None else None
        program = next((run.program for run in runs.values()), program)
        if program is not None:
            asked.append((suite, program, runs))
    share = min(EMBEDDED_BYTES_MAX, (BYTES_MAX - taken - 10_000) // max(len(asked[:_SHOWN_MAX]), 1))
    return [
        f"<h2>{escape(suite.name)}, step by step</h2>{embedded(program, suite.name, runs, suite.logs, share)}"
        for suite, program, runs in asked[:_SHOWN_MAX]
    ]


def _suite(suite: Suite) -> str:
    rows = [
        (escape(case.property), escape(case.kind), outcome_html(case.outcome), _lines(case.reason), _at(case))
        for case in suite.cases
    ]
    facts = ", ".join(f"{name} {value}" for name, value in facts_as_text(suite.facts).items())
    seconds = f", {suite.seconds:.3f} s" if suite.seconds else ""
    again = f"<pre>{escape(suite.reproduce)}</pre>" if suite.reproduce else ""
    verdicts = table_html(("property", "kind", "verdict", "what was found", "where"), rows)
    return f"<h2>{escape(suite.name)}</h2><p>{escape(facts)}{seconds}</p>{verdicts}{again}"


def _run(suite: Suite, case: Case, shown: Shown) -> str:
    drawn = windowed(shown.diagram)
    lanes = [*map(escape, drawn.lanes), ""]
    rows = [
        (str(event.row + drawn.skipped), lanes[-1 if event.lane is None else event.lane], *done)
        for event in drawn.events
        if event.row and (done := _done(shown, event, drawn.skipped))
    ]
    kept = f"<p>kept in <code>{escape(shown.file)}</code></p>" if shown.file else ""
    steps = table_html(("", "who", "step", "what it changed"), rows)
    return (
        f"<h2>{escape(case.property)} in {escape(suite.name)}: {outcome_html(case.outcome)}</h2>"
        f"<pre>{escape(case.reason)}</pre>{kept}{svg(drawn)}{steps}"
    )


def _done(shown: Shown, event: Event, skipped: int) -> tuple[str, str]:
    """Return the cells of a table row: the step, and its changes, its events and the properties that it
    breaks.
    """
    said = [*shown.changes_of(event, skipped), *(f"» {emitted}" for emitted in event.emits)]
    said = list(map(escape, said))
    if event.broken:
        said.append(f'<b style="color:{COLOURS[Outcome.VIOLATED]}">✗ {escape(event.broken)}</b>')
    return f"<code>{escape(event.label)}</code>", "<br>".join(said)


def _at(case: Case) -> str:
    return "" if case.at is None else f"<code>{escape(f'{case.at.file}:{case.at.line}')}</code>"


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
