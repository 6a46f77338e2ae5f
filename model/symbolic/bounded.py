"""Does a property break within k steps? Depth by depth Z3 is asked for a run that shows it; the first one found is a shortest.

1. A run that Z3 gives is only a list of steps. It is executed by the reference, which must show the same violation; a difference is our failure
   (`InternalError`), never a verdict.
2. An obligation is violated by a state from which no fault-free run leads to one where it is true (`recovery`); a quiescent state is the
   simplest.
3. Time that runs out gives `unknown`, with the depth that was finished.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from antiphon.model.symbolic.circuit import Circuit
from antiphon.model.symbolic.clock import INTERRUPTED, Clock, TimeOver
from antiphon.model.symbolic.excused import hunt_of
from antiphon.model.symbolic.hunt import Hunt, Progress
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import SPECIFICATION, Target, groups, targets
from antiphon.model.symbolic.translate import TooWide
from antiphon.model.verdict import Evidence, EvidenceKind, Exploration, Outcome, Provenance, Report, Verdict
from antiphon.spec.lang import Program, SpecError

ENGINE = "symbolic"


def check_bounded(
    program: Program,
    *,
    depth: int,
    properties: Iterable[str] | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Judges properties of `program` on all runs of at most `depth` steps.

    Args:
        program: the specification with its constants.
        depth: the greatest number of steps.
        properties: names of invariants, witnesses, obligations, service properties, or "deadlock"; None means all but deadlock. Errors of the
            specification on runs within the bound are always looked for.
        max_seconds: give up after so many seconds; what is still open is `unknown`.
        progress: called after each depth.

    Raises:
        ValueError: a negative depth.
        SpecError: a property does not exist; the message lists those that do.
        InternalError: Z3's run is not what the reference does (our failure).
    """
    if depth < 0:
        raise ValueError(f"depth {depth}: a run has 0 or more steps")
    asked = None if properties is None else tuple(properties)
    promises = [promise.name for promise in program.module.promises if asked is None or promise.name in asked]
    listed = targets(program, None if asked is None else tuple(name for name in asked if name not in promises))
    clock = Clock(max_seconds)
    try:
        states = program.reference.initial()
    except SpecError as error:
        return _unexplored(program, [Target(SPECIFICATION, SPECIFICATION)], str(error), clock)
    if not states:
        open_ = [target for target in listed if target.kind != SPECIFICATION]
        return _unexplored(program, open_, "the model is empty: it has no initial state", clock)
    template = Template(program, Circuit(), clock)
    hunts = [hunt_of(template, group, depth) for group in groups(listed)]
    for hunt in hunts:
        if hunt is hunts[-1] and len(hunts) > 1 and not any(other.open for other in hunts[:-1]):
            break
        try:
            hunt.run(progress)
        except (TooWide, TimeOver) as limit:
            hunt.stopped = str(limit)
        except KeyboardInterrupt:
            hunt.stopped = INTERRUPTED
        if hunt.stopped == INTERRUPTED:
            break
    report = _report(program, listed, hunts, clock)
    return dataclasses.replace(report, verdicts=(*report.verdicts, *(_promise(program, name) for name in promises)))


def _promise(program: Program, name: str) -> Verdict:
    """The verdict about a promise: bounded runs have no cycles, so nothing is said."""
    reason = "Z3 looks at runs of a bounded length, which keep or break no promise; the explicit engines judge it"
    return Verdict(name, "liveness", Outcome.UNKNOWN, Evidence(EvidenceKind.BOUNDED, "no run"), Provenance.of(program, ENGINE), reason)


# The answer ----------------------------------------------------------------------------------------------------------------------------------


def _report(program: Program, listed: list[Target], hunts: list[Hunt], clock: Clock) -> Report:
    """The verdicts as they stand; one about the specification only when it has an error. The last of the hunts was for those."""
    by_target = {target: hunt for hunt in hunts for target in hunt.targets}
    told = [target for target in listed if target.kind != SPECIFICATION or target in by_target[target].found]
    verdicts = tuple(_verdict(program, target, by_target[target], hunts[-1]) for target in told)
    ran = [hunt for hunt in hunts if hunt.finished >= 0]
    depth = min((hunt.finished for hunt in ran), default=0)
    explored = Exploration(0, 0, depth, all(hunt.complete for hunt in hunts), clock.elapsed())
    stopped = [f"the search is not complete: {hunt.stopped}" for hunt in hunts if hunt.stopped]
    clauses = sum(hunt.clauses for hunt in hunts)
    return Report(program, verdicts, explored, (f"Z3 {Solver.version()}: {clauses:,} clauses", *stopped))


def _unexplored(program: Program, listed: list[Target], reason: str, clock: Clock) -> Report:
    """The report when there is not even an initial state."""
    evidence = Evidence(EvidenceKind.BOUNDED, "no state")
    provenance = Provenance.of(program, ENGINE)
    verdicts = [Verdict(target.property, target.kind, Outcome.UNKNOWN, evidence, provenance, reason) for target in listed]
    return Report(program, tuple(verdicts), Exploration(0, 0, 0, complete=False, seconds=clock.elapsed()))


def _verdict(program: Program, target: Target, hunt: Hunt, errors: Hunt) -> Verdict:
    outcome, reason = _outcome(target, hunt, errors)
    evidence = Evidence(EvidenceKind.BOUNDED, _bound(program, target, hunt, errors))
    provenance = Provenance.of(program, ENGINE)
    return Verdict(target.property, target.kind, outcome, evidence, provenance, reason, hunt.found.get(target))


def _outcome(target: Target, hunt: Hunt, errors: Hunt) -> tuple[Outcome, str]:
    trace = hunt.found.get(target)
    if trace is not None:
        shows = {"witness": Outcome.HOLDS, SPECIFICATION: Outcome.UNKNOWN}
        return shows.get(target.kind, Outcome.VIOLATED), trace.why
    if errors.found:
        return Outcome.UNKNOWN, "not decided: the specification has an error"
    if hunt.stopped or hunt.finished < 0:
        return Outcome.UNKNOWN, f"not decided: {hunt.stopped or INTERRUPTED}"
    if target.kind == "witness":
        return Outcome.UNKNOWN, "no run reaches it" if hunt.complete else f"not reached within {_steps(hunt.finished)}"
    if errors.stopped or errors.finished < 0:
        return Outcome.UNKNOWN, f"not decided, because errors of the specification are not: {errors.stopped or INTERRUPTED}"
    return Outcome.HOLDS, ""


def _bound(program: Program, target: Target, hunt: Hunt, errors: Hunt) -> str:
    trace = hunt.found.get(target)
    if trace is not None:
        said = f"a shortest run, {_steps(len(trace))}"
    elif hunt.complete and errors.complete:
        said = f"runs of every length, since none of more than {_steps(max(hunt.finished, errors.finished))} adds anything"
    elif hunt.finished < 0:
        said = "nothing was judged"
    else:
        said = f"no counterexample of at most {_steps(hunt.finished)}"
    return under_constants(program, said)


def under_constants(program: Program, said: str) -> str:
    """What is said, after the numbers among the constants, for which it is said."""
    numbers = {name: value for name, value in sorted(program.constants.items()) if type(value) is int}
    return "; ".join(filter(None, (", ".join(f"{name}={value}" for name, value in numbers.items()), said)))


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
