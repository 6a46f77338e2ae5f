"""Answers of the commands that judge runs (logs, a cluster, a swarm), in the form of `answers`.

The place of a violation is a line of a log, and its run is drawn from the logs. A run of a swarm is drawn
from its schedule, and its place is the schedule's file.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.conformance.judge.history import Finding, Place, RunFindings
from antiphon.conformance.judge.trace import load_run, log_name
from antiphon.conformance.report import words
from antiphon.conformance.report.answers import NOTHING_JUDGED, Case, Fact, Shown, Suite
from antiphon.conformance.report.diagram import Diagram
from antiphon.conformance.report.logs import diagram_of_logs
from antiphon.conformance.report.words import counted
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Location

if TYPE_CHECKING:
    from antiphon.conformance.adapters.cases import CaseResult
    from antiphon.conformance.run.cluster import ClusterResult
    from antiphon.conformance.run.foreign import ForeignReport
    from antiphon.conformance.run.swarm import RunResult, SwarmReport
    from antiphon.conformance.run.systems import SystemResult
    from antiphon.conformance.spark.pipeline import VerifyReport

_DRAWN_MAX = 5
"""Largest number of violations of logs that are drawn."""


def of_logs(
    name: str,
    report: VerifyReport,
    runs: Mapping[str, str],
    promise: Collection[str],
    seconds: float,
    reproduce: str,
) -> Suite:
    """Return the suite of the verdicts on the logs of many runs.

    Args:
        name: the name of the judged logs.
        report: the report.
        runs: the directory of each run by its name, if its logs are there.
        promise: the system's promise.
        seconds: the time it took.
        reproduce: the command.
    """
    cases: list[Case] = []
    for prop, counts, found in words.in_logs(report):
        broken = [item for item in report.verdicts if item.finding.property == prop]
        first = next((item for item in broken if item.outcome is Outcome.VIOLATED), None)
        outcome = Outcome.worst(kind for kind, count in counts.items() if count)
        case = Case(prop, "logs", outcome, found if outcome is not Outcome.HOLDS else "")
        if first is not None and outcome is Outcome.VIOLATED:
            directory = runs.get(first.run)
            is_drawn = directory is not None and sum(item.shown is not None for item in cases) < _DRAWN_MAX
            shown = _of_run(Path(directory), first.finding) if directory and is_drawn else None
            case = Case(
                prop, "logs", outcome, found, _at(directory, first.finding.first), shown,
                _identity(first.finding),
            )  # fmt: skip
        cases.append(case)
    judged = {f"judged {prop}": much for prop, much in report.judged.items() if report.counts.get(prop)}
    facts: dict[str, Fact] = {
        "runs": report.runs,
        "events": report.events,
        "faults": report.faults,
        "promise": ", ".join(promise),
        **judged,
    }
    return Suite(name, report.outcome, tuple(cases), seconds, facts, reproduce, at=_log(Path(name)))


def of_cluster(result: ClusterResult, reproduce: str) -> Suite:
    """Return the suite of the verdicts on a cluster's logs, with the problems of its run."""
    settings = result.settings
    cases = _cases(result.judged_logs, result.judged)
    cases += [Case("Lost", "application", Outcome.VIOLATED, lost, identity=(lost,)) for lost in result.lost]
    counts = result.counts
    facts: dict[str, Fact] = {
        "processes": settings.processes,
        "messages": settings.messages,
        "seed": settings.seed,
        "delivered": sum(result.delivered),
        "datagrams": counts.offered,
        "dropped": counts.dropped,
        "duplicated": counts.duplicated,
        "reordered": counts.reordered,
        "logs": str(result.directory),
    }
    why = "; ".join((*result.faults, *(str(item) for item in result.judged.problems))) or "nothing was judged"
    return Suite(
        settings.protocol, result.outcome, tuple(cases), result.seconds, facts, reproduce, why,
        at=_log(result.judged_logs),
    )  # fmt: skip


def of_system(result: SystemResult, reproduce: str) -> Suite:
    """Return the suite of the verdicts on another system's logs, with the problems of its run."""
    settings = result.settings
    facts: dict[str, Fact] = {
        "version": result.version,
        "processes": settings.processes,
        "seed": settings.seed,
        "promise": ", ".join(settings.promise),
        "faults": "; ".join(map(str, result.faults)),
        "delivered": sum(result.delivered.values()),
        "logs": str(result.directory),
    }
    problems = (*result.missing, *(str(item) for item in result.judged.problems))
    cases = tuple(_cases(result.directory, result.judged))
    why = "; ".join(problems) or "nothing was judged"
    return Suite(
        settings.system, result.outcome, cases, result.seconds, facts, reproduce, why,
        at=_log(result.directory),
    )  # fmt: skip


def _cases(directory: Path, judged: RunFindings) -> list[Case]:
    """Return a case for each property of a run's logs, with the place and the picture of a violation."""
    return [
        Case(
            finding.property,
            "logs",
            outcome,
            judged.sentence(finding),
            _at(str(directory), finding.first) if outcome is Outcome.VIOLATED else None,
            _of_run(directory, finding) if outcome is Outcome.VIOLATED else None,
            _identity(finding) if outcome is Outcome.VIOLATED else (),
        )
        for finding, outcome in ((each, judged.outcome(each)) for each in judged.findings)
    ]


def of_swarm(
    report: SwarmReport,
    shown: Sequence[tuple[RunResult, Diagram | None, Path | None]],
    code: Location,
    reproduce: str,
) -> Suite:
    """Return the suite of a swarm's runs: a case for each way to fail, else one for all runs.

    Args:
        report: the report.
        shown: for each way to fail a shortened run, its diagram, and the file of its schedule.
        code: the place of the implementation.
        reproduce: the command.
    """
    cases = [
        of_run_of_swarm(result, drawn, file) for result, drawn, file in shown
    ] or [Case("Runs", "swarm", report.outcome, _why(report))]  # fmt: skip
    facts: dict[str, Fact] = {
        "runs": report.runs,
        "failed": len(report.failed),
        "seed": report.seed,
        "datagrams": report.sent,
        "lost": report.lost,
        "duplicated": report.duplicated,
        "reordered": report.reordered,
        "delivered": report.delivered,
    }
    return Suite(
        report.core, report.outcome, tuple(cases), report.seconds, facts, reproduce, _why(report), at=code
    )


def of_run_of_swarm(result: RunResult, drawn: Diagram | None, file: Path | None) -> Case:
    """Return the case about one run of a swarm."""
    violated = [finding.property for finding in result.findings if finding.offending and not finding.doubt]
    first = result.symptoms[0] if result.symptoms else "runs"
    named = next((name for name in violated if result.reasons and result.reasons[0].startswith(name)), first)
    return Case(
        named,
        "swarm",
        result.outcome,
        "; ".join(result.reasons),
        None if file is None else Location(str(file), 1),
        None if drawn is None else Shown(drawn, file="" if file is None else str(file)),
        (first,),
    )


def of_adapter_check(
    program: Sequence[str], results: Sequence[CaseResult], outcome: Outcome, seconds: float, reproduce: str
) -> Suite:
    """Return the suite of the cases that a program in any language was asked.

    Args:
        program: the words of the command that starts it.
        results: the result of each case.
        outcome: the outcome of all.
        seconds: the time it took.
        reproduce: the command.
    """
    cases = [
        Case(
            result.name, "protocol", result.outcome,
            "" if result.outcome is Outcome.HOLDS
            else "\n".join([f"{result.says}: {result.found}", *result.dialogue]),
            identity=(result.name,),
        )
        for result in results
        if result.outcome is not None
    ]  # fmt: skip
    facts: dict[str, Fact] = {"asked": len(cases), "not asked": len(results) - len(cases)}
    return Suite(shlex.join(program), outcome, tuple(cases), seconds, facts, reproduce, at=_program(program))


def of_foreign(report: ForeignReport, directory: Path | None, reproduce: str) -> Suite:
    """Return the suite of the runs of a program in any language.

    Args:
        report: the report.
        directory: the logs of the run that is shown, if it was kept.
        reproduce: the command.
    """
    shown = report.shortened or report.failed
    cases: list[Case] = []
    if shown is not None and shown.misbehaves is not None:
        wrong = shown.misbehaves
        cases.append(
            Case("Protocol", "adapter", Outcome.VIOLATED, wrong.shown(), identity=(wrong.node, wrong.what))
        )
    for finding in () if shown is None else shown.judged.findings:
        outcome = shown.judged.outcome(finding) if shown is not None else Outcome.UNKNOWN
        is_broken = outcome is Outcome.VIOLATED
        cases.append(
            Case(
                finding.property,
                "logs",
                outcome,
                shown.judged.sentence(finding) if shown is not None else "",
                _at(None if directory is None else str(directory), finding.first) if is_broken else None,
                _of_run(directory, finding) if is_broken and directory is not None else None,
                _identity(finding) if is_broken else (),
            )
        )
    if shown is None and report.runs:
        cases = [
            Case(finding.property, "logs", report.runs[-1].judged.outcome(finding))
            for finding in report.runs[-1].judged.findings
        ]
    facts: dict[str, Fact] = {
        "runs": len(report.runs),
        "processes": report.settings.nodes,
        "datagrams": sum(run.datagrams for run in report.runs),
        "delivered": sum(run.delivered for run in report.runs),
        "promise": ", ".join(report.settings.promise),
        **{f"happened {kind}": count for kind, count in sorted(report.happened.items())},
    }
    why = "; ".join(report.reasons) or NOTHING_JUDGED
    return Suite(
        shlex.join(report.command), report.outcome, tuple(cases), report.seconds, facts, reproduce, why,
        at=_program(report.command),
    )  # fmt: skip


def _why(report: SwarmReport) -> str:
    never = [f"{kind} was asked for, and no run has met it" for kind in report.never_met]
    reasons = (reason for result in report.failed[:1] for reason in result.reasons[:1])
    untaken = [f"{counted(report.untaken, 'run')} of {report.asked:,} not taken"] if report.untaken else []
    return "; ".join((*never, *untaken, *reasons))


def _of_run(directory: Path, finding: Finding) -> Shown:
    """Return the picture of a run's logs around the place of a violation."""
    drawn = diagram_of_logs(load_run(directory), RunFindings((finding,)))
    return Shown(drawn, file=str(directory))


def _at(directory: str | None, place: Place | None) -> Location | None:
    """Return the line of an event in a log. For a missing event it is the first line of the log."""
    if directory is None or place is None:
        return None
    log = Path(directory) / log_name(place.process)
    return Location(str(log), 1 if place.index is None else place.index + 2)


def _log(path: Path) -> Location:
    """Return the place of logs: the log of the first process, if they are those of one run, else the path."""
    first = path / log_name(0)
    return Location(str(first if first.is_file() else path), 1)


def _program(words: Sequence[str]) -> Location:
    """Return the place of a program: the first word that is a file beneath the current directory, which an
    interpreter is not, even in an environment; else the command.
    """
    here = Path.cwd().resolve()
    files = (word for word in words if (file := Path(word).resolve()).is_file() and file.is_relative_to(here))
    return Location(next(files, words[0]), 1)


def _identity(finding: Finding) -> tuple[str, ...]:
    """Return the identity of a violation: its reason, without its messages and its run."""
    return (finding.reason or "",)
