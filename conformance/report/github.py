"""Output for GitHub Actions: a line of the log for each annotation, and Markdown for the summary.

Annotations are workflow commands, which the runner takes from either stream. Source: GitHub, "Workflow
commands for GitHub Actions"; the escapes are those of its toolkit (`command.ts`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from antiphon.conformance.report.answers import Answer, Suite, facts_as_text, root_of
from antiphon.conformance.report.terminal import text_diagram
from antiphon.model.verdict import Outcome

_COMMANDS: Final = {Outcome.VIOLATED: "error", Outcome.UNKNOWN: "warning"}
_SIGNS: Final = {Outcome.HOLDS: "✅ holds", Outcome.VIOLATED: "❌ violated", Outcome.UNKNOWN: "❔ unknown"}
_WIDTH: Final = 100
_CELL_MAX: Final = 500


def is_runner() -> bool:
    """Return True on GitHub's runner."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def add_summary(answer: Answer) -> None:
    """Add the summary to the file that `GITHUB_STEP_SUMMARY` names, if it names one.

    Raises:
        OSError: the file cannot be written.
    """
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        with Path(file).open("a", encoding="utf-8") as summaries:
            summaries.write(summary(answer) + "\n")


def notices(answer: Answer, roots: Iterable[Path]) -> Iterator[str]:
    """Return a line for each case that does not hold: `::error` if violated, else `::warning`."""
    places = list(roots)
    for suite, case in answer.cases:
        command = _COMMANDS.get(case.outcome)
        if command is None:
            continue
        at = case.at or suite.at
        properties = {
            "file": root_of(at.file, places) or at.file,
            "line": str(at.line),
            "title": f"{case.property} is {case.outcome.value} in {suite.name}",
        }
        listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
        message = [case.reason or case.outcome.value]
        message += [f"again: {suite.reproduce}"] if suite.reproduce else []
        yield f"::{command} {listed}::{_data(chr(10).join(message))}"


def summary(answer: Answer) -> str:
    """Return the verdicts as Markdown, with the picture of the first violation, and the commands that
    reproduce them.
    """
    lines = [f"### antiphon {answer.command}: {_SIGNS[answer.outcome]}", ""]
    for suite in answer.suites:
        lines += [*_table(suite), ""]
    shown = answer.first_shown
    if shown is not None:
        lines += ["```text", *text_diagram(shown.diagram, _WIDTH).plain.replace("```", "'''").splitlines()]
        lines += ["```", ""]
    for command in dict.fromkeys(suite.reproduce for suite in answer.suites if suite.reproduce):
        lines += ["```sh", command, "```", ""]
    return "\n".join(lines)


def _table(suite: Suite) -> Iterator[str]:
    facts = ", ".join(f"{name} {value}" for name, value in facts_as_text(suite.facts).items())
    yield f"**{_cell(suite.name)}** {_cell(facts)}"
    yield ""
    yield "| property | verdict | what was found |"
    yield "|---|---|---|"
    for case in suite.cases:
        yield f"| {_cell(case.property)} | {_SIGNS[case.outcome]} | {_cell(case.reason)} |"


def _cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    short = text if len(text) <= _CELL_MAX else text[: _CELL_MAX - 3] + "..."
    escaped = short.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
    return " ".join(escaped.split())


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
