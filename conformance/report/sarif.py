"""An answer as SARIF 2.1.0, which GitHub's code scanning and editors show beside the line of the property.

1. A rule is a property, `antiphon/NAME`. A result is a property that is violated (an error) or unknown (a
   warning, since it is no pass). A property that holds has no result, since every reader of this form shows
     results as problems.
2. The place is the line of the property, else that of the judged thing, relative to the root of the sources.
  Every result has one, since GitHub refuses a whole file for one result that has none.
3. The run that shows it is a code flow with a thread flow for each lane; `executionOrder` is the step.
4. A partial fingerprint stays the same as long as the property is broken by the same steps.
5. GitHub keeps 1,000 locations of the thread flows of a result and 5,000 results: more are not written, and
   the text says so.

Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0, sections 3.13 to 3.38; GitHub, "SARIF
support for code scanning".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from antiphon.conformance.report.answers import Answer, Case, Shown, Suite, facts_as_text, root_of, row_text
from antiphon.conformance.report.diagram import Diagram, Event
from antiphon.conformance.report.window import windowed
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Location

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULTS_MAX: Final = 5_000
STEPS_MAX: Final = 1_000
FINGERPRINT: Final = "antiphonTrace/v1"
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final = {Outcome.VIOLATED: "error", Outcome.UNKNOWN: "warning"}


def sarif(answer: Answer, version: str, roots: Iterable[Path] | None = None) -> str:
    """Return the text of the file, ending with a newline.

    Args:
        answer: the answer of a command.
        version: the version of antiphon.
        roots: the folders of sources, the first first; by default the workspace of GitHub's runner and the
            current directory.
    """
    run = _run(answer, version, list(source_roots() if roots is None else roots))
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def source_roots() -> list[Path]:
    """Return the folders to which paths of sources are relative."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    return [*([Path(workspace)] if workspace else []), Path.cwd()]


def _run(answer: Answer, version: str, roots: list[Path]) -> dict[str, Any]:
    wrong = [(suite, case) for suite, case in answer.cases if case.outcome in _LEVELS]
    kept = wrong[:RESULTS_MAX]
    rules = list({case.property: _rule(case) for _, case in answer.cases}.values())
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    results = [_result(suite, case, numbers, roots) for suite, case in kept]
    left_out = len(wrong) - len(kept)
    notes = [f"{left_out:,} results more were left out"] if left_out else []
    return {
        "tool": {"driver": {"name": "antiphon", "version": version, "rules": rules}},
        "automationDetails": {"id": f"antiphon/{answer.command}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "the root of the sources"}}},
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": answer.outcome.exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": note}} for note in notes
                ],
            }
        ],
        "results": results,
        "properties": {suite.name: facts_as_text(suite.facts) for suite in answer.suites},
    }


def rule_of(case: Case) -> str:
    """Return the stable name of the rule of a case."""
    return f"antiphon/{case.property}"


def _rule(case: Case) -> dict[str, Any]:
    text = {"text": f"{case.property} ({case.kind})"}
    return {
        "id": rule_of(case),
        "name": case.property,
        "shortDescription": text,
        "fullDescription": text,
        "help": {"text": f"antiphon judges {case.property}; the message says what breaks it, the flow how."},
        "defaultConfiguration": {"level": "error"},
    }


def _result(suite: Suite, case: Case, numbers: dict[str, int], roots: list[Path]) -> dict[str, Any]:
    drawn = None if case.shown is None else windowed(case.shown.diagram, STEPS_MAX)
    message = f"{case.property} is {case.outcome.value} in {suite.name}: {case.reason or case.outcome.value}"
    if drawn is not None and case.shown is not None and drawn.rows < case.shown.diagram.rows:
        message += f"\n{STEPS_MAX:,} of {case.shown.diagram.rows:,} steps are shown."
    if suite.reproduce:
        message += f"\nagain: {suite.reproduce}"
    at = case.at or suite.at
    result: dict[str, Any] = {
        "ruleId": rule_of(case),
        "ruleIndex": numbers[rule_of(case)],
        "level": _LEVELS[case.outcome],
        "message": {"text": message},
        "locations": [_location(at, roots)],
        "partialFingerprints": {FINGERPRINT: fingerprint(case)},
    }
    if drawn is not None and case.shown is not None:
        lanes = (*range(len(drawn.lanes)), None)
        flows = [flow for lane in lanes if (flow := _flow(case.shown, drawn, lane, at, roots))]
        result["codeFlows"] = [{"message": {"text": drawn.title}, "threadFlows": flows}] if flows else []
    if case.shown is not None and case.shown.file:
        result["attachments"] = [
            {"description": {"text": "the run"}, "artifactLocation": _artifact(case.shown.file, roots)}
        ]
    return result


def fingerprint(case: Case) -> str:
    """Return a fingerprint that is equal for the same property broken by the same steps."""
    text = "\n".join((case.property, *case.identity))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _flow(
    shown: Shown, drawn: Diagram, lane: int | None, otherwise: Location, roots: list[Path]
) -> dict[str, Any] | None:
    """Return the thread flow of one lane; None for a lane without events."""
    events = [event for event in drawn.events if event.lane == lane and event.row > 0]
    if not events:
        return None
    name = drawn.lanes[lane] if lane is not None else "nobody"
    steps = [_step(shown, event, name, drawn.skipped, otherwise, roots) for event in events]
    return {"id": name, "message": {"text": name}, "locations": steps}


def _step(
    shown: Shown, event: Event, lane: str, skipped: int, otherwise: Location, roots: list[Path]
) -> dict[str, Any]:
    number = event.row + skipped
    at = shown.places[number - 1] if number <= len(shown.places) else otherwise
    location = _location(at, roots) | {
        "message": {"text": row_text(event)},
        "logicalLocations": [{"name": lane, "kind": "process"}],
    }
    return {
        "location": location,
        "executionOrder": number,
        "importance": "essential" if event.broken else "important",
    }


def _location(at: Location, roots: list[Path]) -> dict[str, Any]:
    region = {"startLine": max(at.line, 1)}
    return {"physicalLocation": {"artifactLocation": _artifact(at.file, roots), "region": region}}


def _artifact(file: str, roots: list[Path]) -> dict[str, str]:
    """Return the location of a file, relative to the root of the sources; for a file outside of it, its whole
    URI.
    """
    seen = root_of(file, roots)
    if seen is None:
        return {"uri": Path(file).absolute().as_uri()}
    return {"uri": quote(seen), "uriBaseId": _ROOT}
