"""Every command answers with text or one JSON document on standard output, and with one of six exit codes.

All else goes to standard error.

| code | meaning |
|---|---|
| 0, 1, 2 | holds, violated, unknown |
| 64 | wrong usage: an impossible option, name or file |
| 70 | our own failure: this is never a verdict |
| 130 | interrupted |
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import antiphon
from antiphon.conformance.cli import streams
from antiphon.conformance.cli.documents import Document, Error
from antiphon.conformance.report import diagram, text_diagram, words
from antiphon.conformance.report.why_false import why_shown
from antiphon.model.changes import beginning, described, trace_changes
from antiphon.model.files import write_whole
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import EvidenceKind, ObligationResult, Outcome, Report
from antiphon.programs import called
from antiphon.spec.places import is_place

if TYPE_CHECKING:
    from antiphon.model.explore import Counts

WIDTH = 110
"""Width of text that is not for a terminal, in columns."""

SIGNS = {"holds": ("✓", "green"), "violated": ("✗", "bold red"), "unknown": ("?", "yellow")}


class UsageProblem(Exception):
    """Error: the request cannot be fulfilled; the message names the culprit and the possibilities."""


def of_options(error: ValueError, options: Mapping[str, str]) -> UsageProblem:
    """Return a complaint about settings, each named by its option."""
    names = rf"\b({'|'.join(options)})\b(?= is | -?\d|$)"
    return UsageProblem(re.sub(names, lambda name: options[name[1]], str(error)))


def out() -> Console:
    """Return the console of results."""
    return _console(stderr=False)


def err() -> Console:
    """Return the console of progress and of complaints."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    streams.restore()
    stream = sys.stderr if stderr else sys.stdout
    return Console(
        stderr=stderr, width=None if stream.isatty() else WIDTH, highlight=False, emoji=False, markup=False
    )


def finish(document: Document) -> int:
    """Print the document as JSON, and return its exit code."""
    document.antiphon = antiphon.__version__
    if document.exit_code == 0 and not streams.is_all_written():
        document.exit_code = streams.FAILURE
    print_json(document)
    return document.exit_code


def print_json(document: Document | Error) -> None:
    """Print one JSON object on standard output."""
    streams.write_json(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def table(*columns: str | tuple[str, dict[str, Any]]) -> Table:
    """Return an empty table with these columns, each a title, or a title with rich's layout."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        title, layout = (column, {}) if isinstance(column, str) else column
        made.add_column(title, **layout)
    return made


def mark(outcome: str) -> Text:
    """Return `✓ holds` in its colour."""
    sign, style = SIGNS[outcome]
    return Text(f"{sign} {outcome}", style=style)


def last_line(outcome: Outcome, text: str) -> None:
    """Print the last line, which gives the result."""
    out().print(Text.assemble(mark(outcome), f"  {text}"), soft_wrap=True)


# Tables and traces ------------------------------------------------------------------------------------------


def print_report(name: str, report: Report) -> None:
    """Print the verdict table of one specification."""
    console = out()
    bound, explored = report.program, report.exploration
    console.print(Text.assemble((name, "bold"), f"  {words.constants(bound)}"))
    whole = {"no_wrap": True}
    verdicts = table(("property", whole), "kind", ("verdict", whole), ("what was found", {"ratio": 1}))
    for verdict in report.verdicts:
        verdicts.add_row(verdict.property, verdict.kind, mark(verdict.outcome), Text(words.found(verdict)))
    if report.verdicts:
        console.print(verdicts)
    for sentence in words.lacking(report):
        console.print(sentence, style="yellow")
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
        every = f" for every {', '.join(report.every)}" if report.every else ""
        said = [f"{kind.value}{every if kind is EvidenceKind.PROVED else ''}" for kind in kinds]
        console.print(f"evidence: {', '.join(said)}")
    console.print()


def print_obligations(obligations: Sequence[ObligationResult]) -> None:
    """Print a proof for every n, a line for each obligation that a step could break."""
    if not obligations:
        return
    right = {"justify": "right"}
    listed = table("step", "must establish", "answer", ("seeds", right), ("leaning on", {"ratio": 1}))
    for item in obligations:
        style = "" if item.outcome is Outcome.HOLDS else "yellow"
        leaning = ", ".join(item.given)
        listed.add_row(item.step, item.property, item.words(), f"{item.seeds} of 4", leaning, style=style)
    out().print(listed)
    out().print()


def print_two_states(trace: Trace) -> None:
    """Print a step of a proof that fails: each part of the state before it and after it, side by side."""
    console = out()
    before, after = (dict(described(trace.program, state)) for state in trace.states[-2:])
    step = compact_step(trace.transitions[-1].step)
    told = f"{trace.shows}: broken by {step}, from a state in which all invariants hold"
    console.print(Text(told, style="bold"))
    states = table("", "before", "after")
    for where, value in before.items():
        style = "" if after.get(where) == value else "bold"
        states.add_row(Text(where), Text(value), Text(after.get(where, "")), style=style)
    console.print(states)
    for failure in why_shown(trace):
        console.print(Text(f"  {short_places(str(failure))}", style="red"), soft_wrap=True)
    console.print()


def print_counts(counts: Counts) -> None:
    """Print how often each action is enabled, and how many values each variable takes."""
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
    """Print the steps of a trace, each with its changes; with `everything`, print the initial state first."""
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
    """Print the space-time diagram."""
    console = out()
    console.print(
        text_diagram(diagram(trace, called(trace.program.spec)), max(console.width, 60)), soft_wrap=True
    )
    console.print()


class Saving:
    """File of `--save`, which gets the first run that is found.

    Attributes:
        saved: the name of the file, once a run is saved in it.
    """

    def __init__(self, file: Path | None, sought: str, binding: str = "") -> None:
        self.saved: str | None = None
        self._file, self._sought, self._failed = file, sought, False
        self._binding = binding if is_place(binding) else ""

    def keep(self, trace: Trace | None) -> None:
        """Save the run in the file, if a file was named and has no run yet; do nothing with None."""
        if trace is None or self._file is None or self.saved or self._failed:
            return
        from antiphon.model.export import save

        try:
            save(trace, self._file, binding=self._binding)
            self.saved = str(self._file)
        except OSError as error:
            self._failed = True
            streams.unwritten("--save", self._file, error)

    def end(self) -> str | None:
        """Return the name of the file; if no run was saved, print that nothing was found.

        If no run was saved, rename a file that an earlier command left under this name, so that nobody takes
        it for this command's result.
        """
        if self._file is None or self.saved or self._failed:
            return self.saved
        told = f"--save {self._file}: no {self._sought} was found, so nothing is written"
        if self._file.is_file():
            old = self._file.with_name(f"{self._file.name}.old")
            try:
                self._file.replace(old)
                told += f"; the file of an earlier run is {old} now"
            except OSError as error:
                told += f"; the file that stands there is of an earlier run ({error.strerror})"
        sys.stderr.write(f"antiphon: {told}\n")
        return None


def saved(file: Path | None, trace: Trace | None, sought: str, binding: str = "") -> str | None:
    """Save the one run that a command looked for, with the name of its binding. Return the name of the file,
    or None if there is no run.
    """
    saving = Saving(file, sought, binding)
    saving.keep(trace)
    return saving.end()


def writable_directory(option: str, directory: Path) -> None:
    """Make a directory, unless it exists, and check that a file can be written into it. Call this before the
    work whose result goes there.

    Raises:
        UsageProblem: it cannot be had, or nothing can be written there.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"antiphon")
    except OSError as error:
        raise UsageProblem(f"{option} {directory}: cannot be written: {error.strerror}") from error


def see_reachable(option: str, directory: Path) -> None:
    """Check that a directory exists or can be made, and that files can be written into it. Make nothing.

    Raises:
        UsageProblem: it cannot be had, or nothing can be written there.
    """
    there = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not there.is_dir():
        raise UsageProblem(f"{option} {directory}: cannot be written: {there} is no directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageProblem(f"{option} {directory}: cannot be written: {there} takes no files")


def write_text(option: str, file: Path, text: str) -> str | None:
    """Write the file of an option; return its name, or None when it could not be written.

    A failure is reported, and the command goes on to its answer.
    """
    try:
        write_whole(file, text)
    except OSError as error:
        streams.unwritten(option, file, error)
        return None
    return str(file)
