"""Verdict on logs: explained by a behaviour of the specification, in how many ways, or not, and why not.

1. An explained log holds. A log that no behaviour explains is violated. The outcome is unknown where a bound
  ended the search, or no line has an observation.
2. Properties are judged on complete explanations alone. A property that is false in the found explanation is
    evaluated on all explanations: false in all is violated, false in some is unknown, because nobody knows
    which one happened.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.conformance.compare.bindings.plain_values import Strange, meant
from antiphon.conformance.compare.validation.failure import Failure, failure
from antiphon.conformance.compare.validation.observations import Log, ObservationError, Steps, as_key
from antiphon.conformance.compare.validation.search import Found, Search
from antiphon.conformance.report.words import counted
from antiphon.model.bounds import Bounds
from antiphon.model.properties import kinds_of
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import Program, State
from antiphon.spec.lang.hints import known_names

NOTHING_TOLD = "no line of the logs tells anything"


@dataclass(frozen=True)
class Validation:
    """Result of a validation of logs.

    Attributes:
        program: the specification with its constants.
        outcome: the verdict on the whole.
        reason: the reason, in one sentence.
        lines: the number of observations in all logs.
        hidden: the number of steps of the explanation without a line.
        trace: the explanation that was found first, or None.
        ways: the number of explanations, if all were counted.
        broken: for each broken property, the number of explanations that break it, and of all.
        failure: why there is no explanation.
        nodes: the number of explored nodes.
        seconds: the time it took.
    """

    program: Program
    outcome: Outcome
    reason: str
    lines: int
    hidden: int = 0
    trace: Trace | None = None
    ways: int | None = None
    broken: Mapping[str, int] = field(default_factory=dict)
    failure: Failure | None = None
    nodes: int = 0
    seconds: float = 0.0


def validate(
    program: Program,
    logs: Sequence[Log],
    *,
    hidden: Mapping[str, int] | None = None,
    start: Mapping[str, Any] | None = None,
    every: bool = False,
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
) -> Validation:
    """Look for a behaviour of a specification that explains logs.

    Args:
        program: the specification with its constants.
        logs: the observations (`read_logs`).
        hidden: the number of times that each of these actions may be taken without a line.
        start: plain values of variables at the beginning of the logs; others have their initial values.
        every: True to find all explanations, and count them.
        bounds: the bounds of the search; states are pairs of a place in the logs and a state, a million by
            default.

    Raises:
        ObservationError: no such action or variable, or a value without meaning.
        SpecError: the specification is wrong.
    """
    begun, steps = time.monotonic(), Steps(program)
    for action in hidden or {}:
        if action not in steps.methods:
            known = known_names(action, steps.methods)
            raise ObservationError(f"no action {action!r} that could be hidden; {known}")
    lines = sum(len(log.observations) for log in logs)
    starts = list(program.reference.initial()) if not start else [begin(program, start)]
    if not lines:
        return Validation(program, Outcome.UNKNOWN, NOTHING_TOLD, 0)
    if silent := [log.file for log in logs if not log.observations]:
        told = f"there is no observation in {', '.join(silent)}"
        return Validation(program, Outcome.UNKNOWN, f"nothing is known of a whole log: {told}", lines)
    search = Search(steps, logs, hidden or {}, bounds)
    found = search.explain(starts)
    broken = _broken(search, found)
    properties = tuple(broken) if broken and not every else _judged(program)
    asked = found.edges is not None and (every or broken)
    whole = search.explain(starts, properties, every=True) if asked else found
    answer = _answer(program, search, found, whole, broken, lines, time.monotonic() - begun, every=every)
    cut = ", ".join(log.cut for log in logs if log.cut)
    if cut and answer.outcome is Outcome.HOLDS:
        told = f"{cut}; up to there {answer.reason}"
        return dataclasses.replace(answer, outcome=Outcome.UNKNOWN, reason=told)
    return answer


def _answer(
    program: Program,
    search: Search,
    found: Found,
    whole: Found,
    broken: Sequence[str],
    lines: int,
    seconds: float,
    *,
    every: bool,
) -> Validation:
    if found.edges is None:
        missing = failure(search, found.farthest)
        if found.stopped is not None:
            outcome, reason = Outcome.UNKNOWN, f"not decided: {found.stopped} ended the search"
        else:
            places = ", ".join(seen.place for seen in missing.lines)
            outcome, reason = Outcome.VIOLATED, f"no behaviour explains {places}"
        told = f"{reason}; {missing.explained:,} of {counted(lines, 'observation')} are explained"
        nodes = found.nodes
        return Validation(program, outcome, told, lines, failure=missing, nodes=nodes, seconds=seconds)
    assert found.start is not None
    transitions = tuple(edge.transition for edge in found.edges if edge.transition is not None)
    is_initial = found.start in program.reference.initial()
    hidden = sum(edge.log is None for edge in found.edges)
    why = f"it explains {counted(lines, 'observation')}"
    trace = Trace(program, found.start, transitions, why=why, initial=is_initial)
    asked = every or bool(broken)
    ways = whole.ways if asked and whole.stopped is None else None
    kept = whole.good.items() if asked else ()
    bad = {name: whole.ways - count for name, count in kept if count < whole.ways}
    outcome, reason = _explained(lines, ways, bad, broken, whole if asked else None)
    nodes = found.nodes + asked * whole.nodes
    return Validation(program, outcome, reason, lines, hidden, trace, ways, bad, None, nodes, seconds)


def _explained(
    lines: int, ways: int | None, bad: Mapping[str, int], broken: Sequence[str], whole: Found | None
) -> tuple[Outcome, str]:
    told = f"{counted(lines, 'observation')} explained"
    if whole is not None and whole.stopped is not None:
        reason = f"{told}; {whole.stopped} ended the search for others"
        if broken:
            return Outcome.UNKNOWN, f"{reason}; {', '.join(broken)} false in the one that was found"
        return Outcome.HOLDS, reason
    told += f" in {counted(ways, 'way')}" if ways is not None else ""
    if bad and ways is not None:
        shown = ", ".join(f"{name} in {'all' if n == ways else f'{n:,}'}" for name, n in bad.items())
        in_all = any(count == ways for count in bad.values())
        return (Outcome.VIOLATED if in_all else Outcome.UNKNOWN), f"{told}; false: {shown}"
    return Outcome.HOLDS, told


def _judged(program: Program) -> tuple[str, ...]:
    """Return the names of the properties that are judged on explanations."""
    judged = (PropertyKind.INVARIANT, PropertyKind.SERVICE, PropertyKind.STEP)
    return tuple(name for name, kind in kinds_of(program).items() if kind in judged)


def _broken(search: Search, found: Found) -> tuple[str, ...]:
    """Return the names of the properties that are false in the explanation that was found first."""
    if found.edges is None:
        return ()
    transitions = [edge.transition for edge in found.edges if edge.transition is not None]
    states = [found.start, *(item.state for item in transitions)]
    refused = {refusal.property for item in transitions for refusal in item.refused}
    return tuple(
        name
        for name in _judged(search.steps.program)
        if name in refused or not all(search.holds(state, name) for state in states if state is not None)
    )


def begin(program: Program, start: Mapping[str, Any]) -> State:
    """Return the first initial state with other values of some variables.

    Raises:
        ObservationError: no such variable, or a value outside its domain.
    """
    state = list(program.reference.initial()[0])
    for name, value in start.items():
        if name not in program.variables:
            known = known_names(name, program.variables)
            raise ObservationError(f"the beginning: no variable {name!r}; {known}")
        found = meant(program.domains[name], _numbered(value))
        if isinstance(found, Strange):
            raise ObservationError(f"the beginning: {name} = {found!r}, which is none of its values")
        state[program.variables.index(name)] = found
    return tuple(state)


def _numbered(value: Any) -> Any:
    """Convert the keys of JSON objects in a value to numbers, where they are numbers."""
    if not isinstance(value, dict):
        return value
    return {as_key(key): _numbered(item) for key, item in value.items()}
