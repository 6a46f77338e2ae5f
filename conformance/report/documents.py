"""Reports and runs as data: the results of `to_dict` in Python, and of `--json` on the command line.

A field may be added; none is removed or changes its meaning within a version of the command line's documents.
"""

from __future__ import annotations

import itertools
from typing import Any, Literal

import msgspec

from antiphon.conformance.report.why_false import why_shown
from antiphon.model.changes import beginning, described, trace_changes
from antiphon.model.constraints import constraints_of
from antiphon.model.export import ForeignRun
from antiphon.model.export.foreign import plain
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, Report, Verdict
from antiphon.spec.lang import Program, State, types
from antiphon.spec.lang.maps import entries


class StepDocument(msgspec.Struct, kw_only=True):
    """Step in the compact notation, its changes, its events, the properties that it breaks."""

    step: str
    changes: list[str]
    events: list[str]
    breaks: list[str]


class TraceDocument(msgspec.Struct, kw_only=True):
    """Trace as text: what it shows, why, its steps. The file of `--save` has just this. In a lasso the steps
    after number `loop` repeat.

    `because` are the parts of an invariant or obligation that make it false at the end. `start` is the state
    that a counterexample to induction begins in, which need not be reachable; for a trace from one of several
    initial states it has the values that differ from the others.

    `states` are all states, the first before any step, each with its variables by name: truth values and
    integers as they are, members of an index or enumeration as text, None as null, sets and sequences as
    arrays, maps as objects by key, records as objects with their name as `#record`.
    """

    shows: str
    why: str
    steps: list[StepDocument]
    loop: int | None = None
    because: list[str] = []
    start: dict[str, str] = {}
    states: list[dict[str, Any]] = []


class VerdictDocument(msgspec.Struct, kw_only=True):
    """Answer about one property."""

    property: str
    kind: str
    outcome: Outcome
    evidence: Literal["bounded", "proved", "measured"]
    bound: str
    reason: str
    trace: TraceDocument | None = None


class ObligationDocument(msgspec.Struct, kw_only=True):
    """One obligation of a proof for every n: `step` must establish `property`.

    `seeds` is the number, of four seeds, that prove it; `given` and `axioms` are the assumptions of the
    proof; `found` is the result in words. The time is in seconds.
    """

    step: str
    property: str
    at: str
    outcome: Outcome
    found: str
    seconds: float
    seeds: int
    given: list[str]
    axioms: list[str]


class ReportDocument(msgspec.Struct, kw_only=True):
    """All verdicts on one specification with its constants, and the size of the explorations.

    `constraints` are those that disabled some step, each with its actions and its docstring; `obligations`
    those of a proof for every n.
    """

    name: str
    specification: str
    digest: str
    constants: dict[str, int | bool | str]
    engine: str
    outcome: Outcome
    verdicts: list[VerdictDocument]
    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    never_fired: list[str]
    notes: list[str]
    constraints: list[str] = []
    obligations: list[ObligationDocument] = []


def place_of(program: Program) -> str:
    """Return the place of the specification of a program, as `module:Class`."""
    return f"{program.spec.__module__}:{program.spec.__qualname__}"


def state_document(program: Program, state: State) -> dict[str, Any]:
    """Return a state as JSON data: each variable under its name, in the form of `TraceDocument.states`."""
    values = zip(program.domains.items(), state, strict=True)
    return {name: _plain(value, domain) for (name, domain), value in values}


def _plain(value: Any, domain: types.Domain) -> Any:
    parts = domain.parts
    match domain.type:
        case types.Optional():
            return None if value is None else _plain(value, parts[0])
        case types.Record(name=name, fields=fields):
            named = zip((field for field, _ in fields), parts, strict=True)
            return {"#record": name} | {field: _plain(getattr(value, field), part) for field, part in named}
        case types.Union():
            return _plain(value, next(part for part in parts if part.contains(value)))
        case types.SetOf():
            return [_plain(item, parts[0]) for item in sorted(value, key=parts[0].rank)]
        case types.SequenceOf():
            return [_plain(item, parts[0]) for item in value]
        case types.MapOf():
            pairs = zip(parts[0], entries(value), strict=True)
            return {compact(key): _plain(item, parts[1]) for key, item in pairs}
    return value if isinstance(value, bool | int) else compact(value)


def trace_document(trace: Trace) -> TraceDocument:
    """Return a trace as a document."""
    steps = [
        StepDocument(
            step=compact_step(transition.step),
            changes=list(map(str, changed)),
            events=list(map(compact, transition.events)),
            breaks=list(dict.fromkeys(refusal.property for refusal in transition.refused)),
        )
        for transition, changed in zip(trace.transitions, trace_changes(trace), strict=True)
    ]
    because = [short_places(str(failure)) for failure in why_shown(trace)]
    start = dict(beginning(trace) if trace.initial else described(trace.program, trace.start))
    return TraceDocument(
        shows=trace.shows,
        why=trace.why,
        steps=steps,
        loop=trace.loop,
        because=because,
        start=start,
        states=[state_document(trace.program, state) for state in trace.states],
    )


def foreign_value(value: Any) -> Any:
    """Return a value of another tool's run as JSON data: truth values and integers as they are, all else as
    text.
    """
    text = plain(value)
    is_number = isinstance(value, int) or (isinstance(value, dict) and set(value) == {"#bigint"})
    return value if isinstance(value, bool) else int(text) if is_number else text


def foreign_document(run: ForeignRun) -> TraceDocument:
    """Return a run of another tool as a document: it has only states and the names of actions."""
    shown = run.shown()
    steps = [
        StepDocument(
            step=action,
            changes=[
                f"{name}: {before.get(name, '')} -> {value}"
                for name, value in after.items()
                if before.get(name) != value
            ],
            events=[],
            breaks=[],
        )
        for action, (before, after) in zip(run.actions[1:], itertools.pairwise(shown), strict=True)
    ]
    states = [{name: foreign_value(value) for name, value in state.items()} for state in run.states]
    return TraceDocument(shows="", why="", steps=steps, loop=run.loop, states=states)


def verdict_document(verdict: Verdict) -> VerdictDocument:
    """Return a verdict as a document."""
    return VerdictDocument(
        property=verdict.property,
        kind=verdict.kind,
        outcome=verdict.outcome,
        evidence=verdict.evidence.kind.value,
        bound=verdict.evidence.bound,
        reason=verdict.reason,
        trace=None if verdict.trace is None else trace_document(verdict.trace),
    )


def report_document(name: str, report: Report) -> ReportDocument:
    """Return a report as a document."""
    bound, explored = report.program, report.exploration
    engines = {verdict.provenance.engine for verdict in report.verdicts}
    return ReportDocument(
        name=name,
        specification=place_of(bound),
        digest=bound.digest,
        constants=bound.constants,
        engine=", ".join(sorted(engines)),
        outcome=report.outcome,
        verdicts=list(map(verdict_document, report.verdicts)),
        states=explored.states,
        transitions=explored.transitions,
        depth=explored.depth,
        complete=explored.complete,
        seconds=round(explored.seconds, 3),
        never_fired=list(explored.never_fired),
        notes=list(report.notes),
        constraints=[str(item) for item in constraints_of(report.program)],
        obligations=[
            ObligationDocument(
                step=item.step,
                property=item.property,
                at=short_places(item.at),
                outcome=item.outcome,
                found=item.words(),
                seconds=round(item.seconds, 4),
                seeds=item.seeds,
                given=list(item.given),
                axioms=list(item.axioms),
            )
            for item in report.obligations
        ],
    )
