"""Reports that options ask for, and the output for GitHub's runner, for the answer of any command.

A command gives its answer in the form of `report.answers`; where no report is wanted, that form is not made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import antiphon
from antiphon.conformance.cli import output, streams
from antiphon.conformance.cli.options import Reports, Timelines
from antiphon.conformance.report.answers import Answer, Shown
from antiphon.conformance.report.github import add_summary, is_runner, notices
from antiphon.conformance.report.junit import junit
from antiphon.conformance.report.page import page
from antiphon.conformance.report.sarif import sarif, source_roots
from antiphon.conformance.report.timelines import perfetto, shiviz


def write(asked: Reports, answer: Callable[[], Answer]) -> None:
    """Write the reports that options request; `answer` is called only if there is one to write.

    On GitHub's runner (`GITHUB_ACTIONS` is true) annotations go to standard error, and a summary to the file
    that `GITHUB_STEP_SUMMARY` names. A file that cannot be written is reported, and changes no verdict.
    """
    on_github = is_runner()
    if asked == Reports() and not on_github:
        return
    found = answer()
    for option, file, text in (
        ("--junit", asked.junit, junit),
        ("--sarif", asked.sarif, lambda found: sarif(found, antiphon.__version__)),
        ("--html", asked.html, lambda found: page(found, antiphon.__version__)),
    ):
        if file is not None:
            output.write_text(option, file, text(found))
    draw(asked, found.first_shown, "counterexample")
    if on_github:
        _tell_github(found)


def draw(asked: Timelines, shown: Shown | None, sought: str) -> None:
    """Write a run in the formats of other viewers; report an error if there is no run."""
    for option, file, text in (("--shiviz", asked.shiviz, shiviz), ("--perfetto", asked.perfetto, perfetto)):
        if file is not None and shown is not None:
            output.write_text(option, file, text(shown))
        elif file is not None:
            sys.stderr.write(f"antiphon: {option} {file}: no {sought} was found, so nothing is written\n")


def _tell_github(answer: Answer) -> None:
    for line in notices(answer, source_roots()):
        sys.stderr.write(f"{line}\n")
    try:
        add_summary(answer)
    except OSError as error:
        streams.unwritten("GITHUB_STEP_SUMMARY", error.filename, error)
