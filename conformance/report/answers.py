"""Answer of a command in one form for all commands: suites of cases, each a property with its outcome.

Every report for other programs and for a browser is made from this form (`junit`, `sarif`, `github`, `page`,
`timelines`), and from nothing else. A suite is one judged thing: a specification, an implementation, the runs
of a swarm, the logs at a path. Its outcome is the command's. If no case has that outcome, another case is
added, so that an answer without a case, or one that is unknown as a whole, is never taken for a pass.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from antiphon.conformance.report import words
from antiphon.conformance.report.diagram import Diagram, Event, diagram
from antiphon.conformance.report.documents import place_of, trace_document
from antiphon.conformance.report.window import windowed
from antiphon.model.notation import compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, PropertyKind, Report, Verdict
from antiphon.spec.lang import Location, Program
from antiphon.spec.services import broadcast

if TYPE_CHECKING:
    from antiphon.conformance.compare.lockstep import LockstepReport
    from antiphon.conformance.compare.validation import Validation
    from antiphon.conformance.report.explorer.observed import ObservedLogs

NOTHING_JUDGED: Final = "nothing was judged"
WHOLE: Final = "Whole"
"""Name of the case that is added for the outcome of a suite as a whole."""

Fact = str | int | float | bool


@dataclass(frozen=True)
class Shown:
    """Run that shows the outcome of a case.

    Attributes:
        diagram: its space-time diagram.
        changes: the changes of each row of the diagram, the first row's first; or empty.
        places: the line of source text that each row executes; or empty.
        file: the file in which the run is saved, or "".
        run: the run as a trace of a specification, which can be walked; or None.
    """

    diagram: Diagram
    changes: tuple[tuple[str, ...], ...] = ()
    places: tuple[Location, ...] = ()
    file: str = ""
    run: Trace | None = None

    def changes_of(self, event: Event, skipped: int = 0) -> tuple[str, ...]:
        """Return the changes of a row of the diagram; `skipped` is the number of rows that the diagram lacks
        at its top.
        """
        number = event.row + skipped
        is_step = event.lane is not None and 0 < number <= len(self.changes)
        return self.changes[number - 1] if is_step else event.changes


@dataclass(frozen=True)
class Case:
    """Answer about one property.

    `at` is the line of the property, or of the step that breaks it. `identity` has the steps of the
    counterexample in the compact notation; it stays equal while the property is broken in the same way.
    """

    property: str
    kind: str
    outcome: Outcome
    reason: str = ""
    at: Location | None = None
    shown: Shown | None = None
    identity: tuple[str, ...] = ()


@dataclass(frozen=True)
class Suite:
    """Suite of the verdicts on one thing: its name, the cases, the counts, and the command that reproduces
    it.
    """

    name: str
    outcome: Outcome
    cases: tuple[Case, ...]
    seconds: float = 0.0
    facts: Mapping[str, Fact] = field(default_factory=dict)
    reproduce: str = ""
    at: Location = field(kw_only=True)
    """Place of the judged thing: a file of a specification, of logs or of a program. It is the place of each
    case that has none.
    """
    why: str = NOTHING_JUDGED
    """Reason why the outcome is worse than that of every case, if it is worse."""
    logs: ObservedLogs | None = None
    """Logs that can be walked through a specification."""

    def __post_init__(self) -> None:
        """Add a case with the outcome of the suite, if no case has that outcome."""
        if Outcome.worst(case.outcome for case in self.cases) is not self.outcome or not self.cases:
            rest = Case(WHOLE, "whole", self.outcome, self.why)
            object.__setattr__(self, "cases", (*self.cases, rest))


@dataclass(frozen=True)
class Answer:
    """Answer of a command: one suite or more."""

    command: str
    suites: tuple[Suite, ...]

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of all suites."""
        return Outcome.worst(suite.outcome for suite in self.suites)

    @property
    def cases(self) -> tuple[tuple[Suite, Case], ...]:
        """Return all cases, each with its suite."""
        return tuple((suite, case) for suite in self.suites for case in suite.cases)

    @property
    def first_shown(self) -> Shown | None:
        """Return the first run that shows a violation."""
        broken = (case.shown for _, case in self.cases if case.outcome is Outcome.VIOLATED)
        return next((shown for shown in broken if shown is not None), None)


def of_report(name: str, report: Report, reproduce: str, saved: str = "") -> Suite:
    """Return the suite of the verdicts on a specification. `saved` is the file with the shortest
    counterexample.
    """
    bound, explored = report.program, report.exploration
    wrong = [item.trace for item in report.verdicts if item.outcome is Outcome.VIOLATED and item.trace]
    shortest = min(wrong, key=len) if wrong else None
    cases = []
    for verdict in report.verdicts:
        case = _of_verdict(name, verdict, bound)
        if verdict.trace is shortest is not None and case.shown is not None:
            case = replace(case, shown=replace(case.shown, file=saved))
        cases.append(case)
    facts: dict[str, Fact] = {
        "specification": place_of(bound),
        **bound.constants,
        "states": explored.states,
        "transitions": explored.transitions,
        "depth": explored.depth,
        "complete": explored.complete,
        "digest": bound.digest,
    }
    for key, values in {
        "engine": [verdict.provenance.engine for verdict in report.verdicts],
        "evidence": [verdict.evidence.kind.value for verdict in report.verdicts],
        "bound": [verdict.evidence.bound for verdict in report.verdicts],
    }.items():
        facts |= {key: "; ".join(dict.fromkeys(values))} if values else {}
    return Suite(
        name, report.outcome, tuple(cases), explored.seconds, facts, reproduce, at=class_place(bound)
    )


def of_lockstep(
    name: str, report: LockstepReport, reproduce: str, saved: str = "", plain: type | None = None
) -> Suite:
    """Return the suite of a lockstep comparison of an implementation with its specification.

    Args:
        name: the name of the implementation.
        report: the report of the comparison.
        reproduce: the command.
        saved: the file with the difference.
        plain: the class that is the implementation, if one is: its method is the place of a difference.
    """
    bound, difference = report.program, report.difference
    shown = None if difference is None else of_trace(difference.trace, bound.name, saved)
    if difference is not None:
        reason = str(difference)
    elif report.outcome is Outcome.UNKNOWN:
        reason = f"they agree as far as was walked; {report.stopped or 'the bound'} ended the walk"
    else:
        reason = ""
    steps = difference.trace.steps if difference is not None else ()
    at = _action_place(bound, steps[-1].action) if steps else class_place(bound)
    if plain is not None:
        at = code_place(getattr(plain, steps[-1].action, plain) if steps else plain) or at
    identity = (*map(compact_step, steps), difference.what) if difference is not None else ()
    case = Case("Lockstep", "lockstep", report.outcome, reason, at, shown, identity)
    facts: dict[str, Fact] = {
        "specification": place_of(bound),
        **bound.constants,
        "transitions": report.transitions,
        "states": report.states,
        "pairs": report.pairs,
        "compared": report.compared,
        "complete": report.complete,
        "seed": report.seed,
    }
    return Suite(name, report.outcome, (case,), report.seconds, facts, reproduce, at=at)


def of_validation(
    name: str, found: Validation, reproduce: str, saved: str = "", logs: ObservedLogs | None = None
) -> Suite:
    """Return the suite about logs that a specification explains or not, and about the properties of the
    explanations.

    Args:
        name: the name of the suite.
        found: the result of the validation.
        reproduce: the command.
        saved: the file in which the explanation is kept.
        logs: the logs with the states in which the system may be, if these are wanted.
    """
    failed = found.failure
    at: Location | None = None
    identity: tuple[str, ...] = ()
    reason = found.reason if found.trace is None else ""
    if failed is not None:
        seen = next(iter(failed.lines), None)
        at = None if seen is None else Location(seen.file, seen.line)
        told = [str(item) for stuck in failed.stuck[:1] for _, why in stuck.lines for item in why]
        reason, identity = "\n".join([found.reason, *told]), tuple(told)
    explained = Outcome.HOLDS if found.trace is not None else found.outcome
    cases = [Case("Explained", "trace validation", explained, reason, at, None, identity)]
    shown = None if found.trace is None else of_trace(found.trace, name, saved)
    for prop, ways in found.broken.items():
        in_all = ways == found.ways
        outcome = Outcome.VIOLATED if in_all else Outcome.UNKNOWN
        why = f"false in {'all' if in_all else f'{ways:,} of'} {found.ways:,} explanations"
        place = property_place(found.program, prop)
        cases.append(Case(prop, "trace validation", outcome, why, place, shown, (prop,)))
    facts: dict[str, Fact] = {
        "specification": place_of(found.program),
        **found.program.constants,
        "observations": found.lines,
        "explained": found.lines if failed is None else failed.explained,
        "nodes": found.nodes,
    }
    return Suite(
        name, found.outcome, tuple(cases), found.seconds, facts, reproduce, found.reason, logs,
        at=class_place(found.program),
    )  # fmt: skip


def of_trace(trace: Trace, name: str, file: str = "") -> Shown:
    """Return the run of a specification with this name as a run to show."""
    document = trace_document(trace)
    changes = tuple(tuple(step.changes) for step in document.steps)
    places = [_action_place(trace.program, step.action) for step in trace.steps]
    return Shown(diagram(trace, name), changes, tuple(places), file, trace)


def property_place(program: Program, name: str) -> Location:
    """Return the line of a property, or, for a service's property, the line of its specification."""
    declared = program.declaration
    named = [method.at for method in declared.methods if method.mark is not None and method.mark.name == name]
    named += [item.at for item in declared.liveness if item.name == name]
    return next((place for place in named if not _is_ours(place)), class_place(program))


def class_place(program: Program) -> Location:
    """Return the line where the class of a specification begins; if its source text is not there, the file
    that its module would have.
    """
    known = (place for cls in program.spec.__mro__ if (place := code_place(cls)))
    return next(known, Location(f"{program.spec.__module__.replace('.', '/')}.py", 1))


def code_place(thing: Callable[..., Any]) -> Location | None:
    """Return the line where a class or function begins; None for one without source text."""
    try:
        return Location(inspect.getfile(thing), max(inspect.getsourcelines(thing)[1], 1))
    except (OSError, TypeError):
        return None


def root_of(place: str | Path, roots: Iterable[Path]) -> str | None:
    """Return a path relative to the first of these folders that contains it, with `/` as separator; None if
    none does.
    """
    for root in roots:
        for path, base in ((Path(place), root), (Path(place).resolve(), root.resolve())):
            whole = path if path.is_absolute() else base / path
            if whole.is_relative_to(base):
                return whole.relative_to(base).as_posix()
    return None


def _action_place(program: Program, action: str) -> Location:
    methods = program.declaration.marked("action", "environment")
    return next((method.at for method in methods if method.name == action), class_place(program))


def _of_verdict(name: str, verdict: Verdict, bound: Program) -> Case:
    trace = verdict.trace if verdict.outcome is not Outcome.HOLDS else None
    at = property_place(bound, verdict.property)
    if trace is not None and verdict.kind is PropertyKind.SERVICE:
        refused = [item.at for step in trace.transitions[-1:] for item in step.refused]
        at = next((place for place in refused if not _is_ours(place)), at)
    return Case(
        verdict.property,
        verdict.kind.value,
        verdict.outcome,
        words.found(verdict) if verdict.outcome is not Outcome.HOLDS else short_places(verdict.reason),
        at,
        None if trace is None or not trace.initial else of_trace(trace, name),
        () if trace is None else tuple(map(compact_step, trace.steps)),
    )


def _is_ours(place: Location) -> bool:
    """Return True if the line is in a service that comes with antiphon."""
    services = Path(inspect.getfile(broadcast)).resolve().parent
    return Path(place.file).resolve().is_relative_to(services)


def facts_as_text(facts: Mapping[str, Fact]) -> dict[str, str]:
    """Return facts as text: truth values in small letters, other numbers unchanged."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in facts.items()
    }


def lines_of(shown: Shown) -> list[str]:
    """Return the events of a run, a line a row, with the changes below; of a long run only a window."""
    drawn, lines = windowed(shown.diagram), []
    for event in drawn.events:
        number, lane = event.row + drawn.skipped, "" if event.lane is None else f"{drawn.lanes[event.lane]}: "
        if event.row:
            lines.append(f"{number:>4}  {lane}{row_text(event)}")
            lines += [f"        {change}" for change in shown.changes_of(event, drawn.skipped)]
    return lines


def row_text(event: Event) -> str:
    """Return a row of a diagram in one line: the step, its events, the properties that the step breaks."""
    broken = [f"✗ {event.broken}"] if event.broken else []
    return " ".join([event.label, *(f"» {emitted}" for emitted in event.emits), *broken])
