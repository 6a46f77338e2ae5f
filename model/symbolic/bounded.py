"""Bounded checking: whether a property breaks within k steps, and by which shortest run.

Depth by depth Z3 is asked for a run that breaks it, so that the first one found is a shortest.

1. A run of Z3 is only a list of steps. The reference executes it, and must find the same violation; a
   difference is our failure (`InternalError`), never a verdict.
2. An obligation is violated by a state from which no fault-free run leads to one where it is true
   (`recovery`); a quiescent state is the simplest.
3. Time that runs out gives `unknown`, with the depth that was finished.
4. After an error of the specification nothing is decided, as in every engine: obligations and deadlock stay
   open, and so does everything that only longer runs show.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from antiphon.model.bounds import INTERRUPTED, Bounds, Enough, Stop, Violated
from antiphon.model.limits import under_limits
from antiphon.model.properties import kinds_asked
from antiphon.model.symbolic.budget_limited import search_for
from antiphon.model.symbolic.circuit import Circuit
from antiphon.model.symbolic.clock import Clock, stop_of
from antiphon.model.symbolic.search import Progress, Search
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import ERRORS, Target, groups
from antiphon.model.symbolic.translate import TooWide
from antiphon.model.trace import Trace
from antiphon.model.verdict import (
    NO_STATE,
    NO_STEP,
    Evidence,
    EvidenceKind,
    Exploration,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
)
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.errors import ArgumentError

ENGINE = "symbolic"


def check_bounded(
    program: Program,
    *,
    depth: int,
    properties: Iterable[str] | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Judge properties of `program` on all runs of at most `depth` steps.

    Args:
        program: the specification with its constants.
        depth: the greatest number of steps.
        properties: names of invariants, witnesses, obligations, service properties, or "deadlock"; None means
            all but deadlock. Errors of the specification on runs within the bound are always looked for.
        max_seconds: give up after so many seconds; what is still open is `unknown`.
        progress: called after each depth.
        violated: called with each violated property as soon as it is found.

    Raises:
        ArgumentError: a negative depth.
        SpecError: a property does not exist; the message lists those that do.
        InternalError: Z3's run is not what the reference does (our failure).
    """
    if depth < 0:
        raise ArgumentError(f"depth {depth}: a run has 0 or more steps")
    kinds = kinds_asked(program, properties)
    liveness = [name for name, kind in kinds.items() if kind is PropertyKind.LIVENESS]
    listed = [*(Target(name, kind) for name, kind in kinds.items() if name not in liveness), ERRORS]
    with under_limits(Bounds(seconds=max_seconds)):
        clock = Clock(max_seconds)
        try:
            states = program.reference.initial()
        except SpecError as error:
            return _unexplored(program, [ERRORS], str(error), clock)
        except Enough as limit:
            return _unexplored(program, listed[:-1], f"not decided: {limit}", clock, limit.stop)
        if not states:
            return _unexplored(program, listed[:-1], NO_STATE, clock)
        try:
            template = Template(program, Circuit(), clock)
            searches = [search_for(template, group, depth) for group in groups(listed)]
        except (TooWide, Enough) as limit:
            return _unexplored(program, listed[:-1], f"not decided: {limit}", clock, stop_of(limit))
        _run(searches, progress, violated)
    report = _report(program, listed, searches, clock)
    verdicts = [*report.verdicts, *(_liveness(program, name) for name in liveness)]
    if not _moves(program, states):
        verdicts = [_vacuous(verdict) for verdict in verdicts]
    return dataclasses.replace(report, verdicts=tuple(verdicts))


def _run(
    searches: list[Search], progress: Callable[[Progress], None] | None, violated: Violated | None
) -> None:
    """Run the searches. The last one is for errors of the specification; it goes only as far as it matters
    for the findings of the others.
    """
    for search in searches:
        if search is searches[-1] and len(searches) > 1 and not any(other.open for other in searches[:-1]):
            search.depth = min(search.depth, max(map(_matters, searches[:-1])))
            if search.depth < 0:
                break
        try:
            search.run(progress, violated)
        except (TooWide, Enough) as limit:
            search.stopped = stop_of(limit)
        except KeyboardInterrupt:
            search.stopped = INTERRUPTED
        if search.stopped is INTERRUPTED:
            break


def _matters(search: Search) -> int:
    """Return the greatest number of steps of a run to an error that would make a search's findings
    undecided.
    """
    return max(
        search.depth if target.kind in _OF_ALL_STATES else len(trace) - 2
        for target, trace in search.found.items()
    )


_OF_ALL_STATES = (PropertyKind.OBLIGATION, PropertyKind.DEADLOCK)
"""Kinds of properties that an error anywhere leaves open."""


def _is_open(target: Target, trace: Trace, errors: Search) -> bool:
    """Return True if an error of the specification comes before a finding.

    Every engine ends its search after the steps from the states in which the first error is.
    """
    if target == ERRORS or not errors.found:
        return False
    first = min(map(len, errors.found.values()))
    return target.kind in _OF_ALL_STATES or len(trace) > first + 1


def _moves(program: Program, states: Iterable[State]) -> bool:
    """Return True if a step, or an error of the specification, is possible in one of the states."""
    try:
        return any(True for state in states for _ in program.reference.successors(state))
    except SpecError:
        return True


def _vacuous(verdict: Verdict) -> Verdict:
    """Return the verdict about a model in which no step is possible."""
    if verdict.outcome is not Outcome.HOLDS or verdict.kind is PropertyKind.WITNESS:
        return verdict
    return dataclasses.replace(verdict, outcome=Outcome.UNKNOWN, reason=NO_STEP)


def _liveness(program: Program, name: str) -> Verdict:
    """Return the verdict about a liveness property: unknown, since bounded runs have no cycles."""
    reason = "Z3 looks at runs of a bounded length, which decide no liveness property; other engines do"
    evidence, provenance = Evidence(EvidenceKind.BOUNDED, "no run"), Provenance.of(program, ENGINE)
    return Verdict(name, PropertyKind.LIVENESS, Outcome.UNKNOWN, evidence, provenance, reason)


# The answer -------------------------------------------------------------------------------------------------


def _report(program: Program, listed: list[Target], searches: list[Search], clock: Clock) -> Report:
    """Return the report with the verdicts so far. The specification itself has one only if it has an error.

    The last of the searches is the one for errors.
    """
    by_target = {target: search for search in searches for target in search.targets}
    told = [target for target in listed if target != ERRORS or target in by_target[target].found]
    verdicts = tuple(_verdict(program, target, by_target[target], searches[-1]) for target in told)
    ran = [search for search in searches if search.finished >= 0]
    depth = min((search.finished for search in ran), default=0)
    stops = [search.stopped for search in searches if search.stopped is not None]
    reason = (INTERRUPTED if INTERRUPTED in stops else stops[0]).reason if stops else None
    complete = all(search.complete for search in searches)
    explored = Exploration(0, 0, depth, complete, clock.elapsed(), stopped=reason)
    stopped = [stop.note for stop in stops]
    clauses = sum(search.clauses for search in searches)
    return Report(program, verdicts, explored, (f"Z3 {Solver.version()}: {clauses:,} clauses", *stopped))


def _unexplored(
    program: Program, listed: list[Target], reason: str, clock: Clock, stop: Stop | None = None
) -> Report:
    """Return the report for a program of which no run was examined."""
    evidence, provenance = Evidence(EvidenceKind.BOUNDED, "no state"), Provenance.of(program, ENGINE)
    told = [(target.property, target.kind, Outcome.UNKNOWN) for target in listed]
    verdicts = [Verdict(*each, evidence, provenance, reason) for each in told]
    stopped = None if stop is None else stop.reason
    explored = Exploration(0, 0, 0, complete=False, seconds=clock.elapsed(), stopped=stopped)
    return Report(program, tuple(verdicts), explored)


def _verdict(program: Program, target: Target, search: Search, errors: Search) -> Verdict:
    outcome, reason = _outcome(target, search, errors)
    evidence = Evidence(EvidenceKind.BOUNDED, _bound(program, target, search, errors))
    provenance = Provenance.of(program, ENGINE)
    trace = search.found.get(target)
    if trace is not None and _is_open(target, trace, errors):
        trace = None
    return Verdict(target.property, target.kind, outcome, evidence, provenance, reason, trace)


def _outcome(target: Target, search: Search, errors: Search) -> tuple[Outcome, str]:
    trace = search.found.get(target)
    if trace is not None and not _is_open(target, trace, errors):
        shows = {PropertyKind.WITNESS: Outcome.HOLDS, PropertyKind.SPECIFICATION: Outcome.UNKNOWN}
        return shows.get(target.kind, Outcome.VIOLATED), trace.why
    if errors.found:
        return Outcome.UNKNOWN, "not decided: the specification has an error"
    if search.stopped or search.finished < 0:
        return Outcome.UNKNOWN, f"not decided: {search.stopped or INTERRUPTED}"
    if target.kind is PropertyKind.WITNESS:
        said = "no run reaches it" if search.complete else f"not reached within {_steps(search.finished)}"
        return Outcome.UNKNOWN, said
    if errors.stopped or errors.finished < 0:
        why = errors.stopped or INTERRUPTED
        return Outcome.UNKNOWN, f"not decided, because errors of the specification are not: {why}"
    return Outcome.HOLDS, ""


def _bound(program: Program, target: Target, search: Search, errors: Search) -> str:
    trace = search.found.get(target)
    if trace is not None and not _is_open(target, trace, errors):
        said = f"a shortest run, {_steps(len(trace))}"
    elif search.complete and errors.complete:
        longest = _steps(max(search.finished, errors.finished))
        said = f"runs of every length, since none of more than {longest} adds anything"
    elif search.finished < 0:
        said = "nothing was judged"
    else:
        said = f"no counterexample of at most {_steps(search.finished)}"
    return under_constants(program, said)


def under_constants(program: Program, said: str) -> str:
    """Return a sentence, preceded by the numbers among the constants for which it is true."""
    numbers = {name: value for name, value in sorted(program.constants.items()) if type(value) is int}
    return "; ".join(filter(None, (", ".join(f"{name}={value}" for name, value in numbers.items()), said)))


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
