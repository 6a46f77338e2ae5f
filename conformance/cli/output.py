"""Every command answers with text or one JSON document on standard output, and with one of six exit codes.

All else goes to standard error.

| code | meaning |
|---|---|
| 0, 1, 2 | holds, violated, unknown |
| 64 | wrong usage: an option, a name, a file that cannot be what was meant |
| 70 | our own failure: this is never a verdict |
| 130 | interrupted |
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import antiphon
from antiphon.conformance.cli.documents import Document, Error
from antiphon.conformance.report import diagram, text_diagram, words
from antiphon.conformance.report.why_false import why_shown
from antiphon.model.changes import beginning, described, trace_changes
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import EvidenceKind, Outcome, Report
from antiphon.programs import called

if TYPE_CHECKING:
    from antiphon.model.explore import Counts

WIDTH = 110
"""Columns of text that is not for a terminal."""

SIGNS = {"holds": ("✓", "green"), "violated": ("✗", "bold red"), "unknown": ("?", "yellow")}


class UsageProblem(Exception):
    """What was asked for cannot be done as asked; the message names the culprit and what is possible."""


def out() -> Console:
    """The console of results."""
    return _console(stderr=False)


def err() -> Console:
    """The console of progress and of complaints."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr, width=None if stream.isatty() else WIDTH, highlight=False, emoji=False, markup=False
    )


def finish(document: Document) -> int:
    """Print the document as JSON; its exit code."""
    document.antiphon = antiphon.__version__
    print_json(document)
    return document.exit_code


def print_json(document: Document | Error) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n")


def table(*columns: str | tuple[str, dict[str, Any]]) -> Table:
    """An empty table with these columns, each a title, or a title and how rich lays it out."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        title, layout = (column, {}) if isinstance(column, str) else column
        made.add_column(title, **layout)
    return made


def mark(outcome: str) -> Text:
    """`✓ holds` in its colour."""
    sign, style = SIGNS[outcome]
    return Text(f"{sign} {outcome}", style=style)


def last_line(outcome: Outcome, text: str) -> None:
    """The one line that says how it ended."""
    out().print(Text.assemble(mark(outcome), f"  {text}"), soft_wrap=True)


# Tables and traces ------------------------------------------------------------------------------------------


def print_report(name: str, report: Report) -> None:
    """The verdict table of one specification."""
    console = out()
    bound, explored = report.program, report.exploration
    console.print(Text.assemble((name, "bold"), f"  {words.constants(bound)}"))
    whole = {"no_wrap": True}
    verdicts = table(("property", whole), "kind", ("verdict", whole), ("what was found", {"ratio": 1}))
    for verdict in report.verdicts:
        verdicts.add_row(verdict.property, verdict.kind, mark(verdict.outcome), Text(words.found(verdict)))
    if report.verdicts:
        console.print(verdicts)
    else:
        console.print(
            "nothing to judge: the specification has no property; mark one with @invariant, @witness or "
            "@obligation",
            style="yellow",
        )
    if not bound.module.actions:
        console.print("no step is possible: no method is marked with @action", style="yellow")
    if explored.states:
        console.print(words.explored(explored))
    measured = any(verdict.evidence.kind is EvidenceKind.MEASURED for verdict in report.verdicts)
    if explored.never_fired and (explored.complete or measured):
        console.print(
            f"never {'taken' if measured else 'enabled'}: {', '.join(explored.never_fired)}", style="yellow"
        )
    for note in report.notes:
        console.print(note, style="yellow" if not explored.complete else None)
    kinds = dict.fromkeys(verdict.evidence.kind for verdict in report.verdicts)
    if kinds and (bound.declaration.constants or EvidenceKind.PROVED in kinds):
        console.print(f"evidence: {', '.join(kind.value for kind in kinds)}")
    console.print()


def print_counts(counts: Counts) -> None:
    """How often each action is possible, and how many values each variable takes."""
    console, right = out(), {"justify": "right"}
    actions = table("action", ("states where possible", right), ("steps", right), ("states found", right))
    variables = table("variable", ("values", right), ("bits", right))
    for item in counts.actions:
        style = "yellow" if not item.steps else ""
        actions.add_row(item.action, f"{item.states:,}", f"{item.steps:,}", f"{item.found:,}", style=style)
    for variable in counts.variables:
        variables.add_row(variable.variable, f"{variable.values:,}", str(variable.bits))
    console.print(f"counted over {'all ' if counts.complete else 'only '}{counts.states:,} states:")
    console.print(actions)
    console.print(variables)
    console.print()


def print_trace(trace: Trace, *, everything: bool = False) -> None:
    """The steps of a trace, each with what it changed; `everything` shows the initial state too."""
    console = out()
    console.print(f"{trace.shows or 'a run'}: {words.length(trace)}", style="bold")
    if everything or not trace.initial:
        console.print(
            "   0  the initial state"
            if trace.initial
            else "   0  a state of the domains, which need not be reachable"
        )
        for where, value in described(trace.program, trace.start):
            console.print(Text(f"        {where} = {value}", style="bright_black"))
    elif chosen := beginning(trace):
        console.print(Text("   0  begins with", style="bold"))
        for where, value in chosen:
            console.print(Text(f"        {where} = {value}"))
    for number, (transition, changed) in enumerate(
        zip(trace.transitions, trace_changes(trace), strict=True), 1
    ):
        if trace.loop == number - 1:
            console.print(Text("   ↻  from here for ever:", style="red"))
        console.print(Text(f"{number:>4}  {compact_step(transition.step)}", style="bold"))
        for change in changed:
            console.print(Text(f"        {change}"))
        for event in transition.events:
            console.print(Text(f"      » {compact(event)}", style="green"))
        for refusal in transition.refused:
            console.print(Text(f"      ✗ {short_places(str(refusal))}", style="red"))
    if trace.loop is not None:
        told = f"on with step {trace.loop + 1}" if trace.loop < len(trace) else "nothing more happens"
        console.print(Text(f"   ↻  {told}", style="red"))
    said = [str(refusal) for refusal in trace.transitions[-1].refused] if trace.transitions else []
    if trace.why and trace.why not in said:
        console.print(Text(f"      {short_places(trace.why)}", style="red"))
    for failure in why_shown(trace):
        console.print(Text(f"        {short_places(str(failure))}", style="red"), soft_wrap=True)
    console.print()


def print_diagram(trace: Trace) -> None:
    """The space-time diagram."""
    console = out()
    console.print(
        text_diagram(diagram(trace, called(trace.program.spec)), max(console.width, 60)), soft_wrap=True
    )
    console.print()


def keep(trace: Trace | None, file: Path | None) -> str | None:
    """Save the trace if there is one and a file was asked for; the name of the file.

    Raises:
        UsageProblem: the file cannot be written.
    """
    if trace is None or file is None:
        return None
    from antiphon.model.export import save

    try:
        save(trace, file)
    except OSError as error:
        raise UsageProblem(f"--save {file}: cannot be written: {error.strerror}") from error
    return str(file)


def writable_directory(option: str, directory: Path) -> None:
    """Make a directory, unless it is there, and see that a file can be written into it, before any work is
    begun for it.

    Raises:
        UsageProblem: it cannot be had, or nothing can be written there.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"antiphon")
    except OSError as error:
        raise UsageProblem(f"{option} {directory}: cannot be written: {error.strerror}") from error


def write_text(option: str, file: Path, text: str) -> str:
    """Write what an option asked for; the name of the file.

    Raises:
        UsageProblem: the file cannot be written.
    """
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageProblem(f"{option} {file}: cannot be written: {error.strerror}") from error
    return str(file)
