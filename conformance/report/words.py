"""Words of a report, the same in a terminal, in a notebook and in a document."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from antiphon.model.constraints import constraints_of
from antiphon.model.notation import short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import EvidenceKind, Exploration, Outcome, Report, Verdict
from antiphon.spec.lang import Program
from antiphon.spec.lang.foreign import writable

if TYPE_CHECKING:
    from antiphon.conformance.spark.pipeline import VerifyReport

Value = int | bool | str


def escape(text: str, *, quote: bool = True) -> str:
    """Return a text as HTML and XML have it, without the control characters that XML forbids."""
    return html.escape(writable(text), quote=quote)


def settings(constants: Mapping[str, Value]) -> list[str]:
    """Return constants as the command line takes them: `processes=3`, `urgent=true`."""
    return [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in constants.items()
    ]


def constants(program: Program) -> str:
    """Return the constants of a program in words: all numbers, other constants with values that are no
    defaults, repairs, restrictions, and bounds.
    """
    declared = [item for item in program.declaration.constants if not item.repair]
    numbers = {item.name: program.constants[item.name] for item in declared if type(item.default) is int}
    changed = [item.name for item in declared if program.constants[item.name] != item.default]
    shown = numbers | {name: program.constants[name] for name in changed if name not in program.restrictions}
    restricted = f"restricted: {', '.join(program.restrictions)}" if program.restrictions else ""
    parts = (", ".join(settings(shown)), repairs(program), restricted, under(program))
    return "; ".join(part for part in parts if part)


def repairs(program: Program) -> str:
    """Return the repairs of a program that are switched on, in words; "" if there are none."""
    known = [item.name for item in program.declaration.constants if item.repair]
    on = [name for name in known if program.constants[name]]
    if not known:
        return ""
    if len(on) == len(known):
        return f"all {len(known)} repairs" if len(known) > 1 else "its one repair"
    return f"repairs: {', '.join(on)}" if on else "no repairs: the literal text"


def under(program: Program) -> str:
    """Return the constraints under which the program is explored, in words; "" if there are none."""
    names = [item.name for item in constraints_of(program)]
    return f"under the constraint{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""


def counted(number: int, what: str) -> str:
    """Return a count with its noun: `1 state`, `2 states`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def found(verdict: Verdict) -> str:
    """Return the verdict on a property in words."""
    if verdict.reason or verdict.outcome is not Outcome.HOLDS:
        return short_places(verdict.reason)
    proved = verdict.evidence.kind is EvidenceKind.PROVED
    return verdict.evidence.bound if proved else "true in all that was seen"


def explored(exploration: Exploration) -> str:
    """Return the size and speed of an exploration; "" where no states were counted."""
    if not exploration.states:
        return ""
    seen = "every reachable state" if exploration.complete else "a part"
    rate = f", {exploration.states / exploration.seconds:,.0f} states/s" if exploration.seconds > 0.05 else ""
    counts = f"{counted(exploration.states, 'state')}, {counted(exploration.transitions, 'transition')}"
    return f"{counts}, depth {exploration.depth}: {seen}; {exploration.seconds:.1f} s{rate}"


def lacking(report: Report) -> list[str]:
    """Return a sentence on each part that a specification needs for a verdict and does not have."""
    sentences = []
    if not report.verdicts:
        sentences.append(
            "nothing to judge: the specification has no property; mark one with @invariant, @witness or "
            "@obligation"
        )
    if not report.program.module.actions:
        sentences.append("no step is possible: no method is marked with @action")
    return sentences


def in_logs(report: VerifyReport) -> list[tuple[str, Counter[Outcome], str]]:
    """Return, for each judged property, the number of runs by outcome, and the first violation or else the
    reason why the property is unknown.
    """
    broken: dict[str, str] = {}
    for verdict in report.verdicts:
        if verdict.outcome is Outcome.VIOLATED:
            broken.setdefault(verdict.finding.property, f"{verdict.run}: {verdict.finding}")
    return [
        (name, counts, broken.get(name, report.unknown.get(name, "")))
        for name, counts in report.counts.items()
        if counts
    ]


def length(trace: Trace) -> str:
    """Return the length of a run; of a lasso, the length until it repeats, and of the repeated part."""
    if trace.loop is None:
        return counted(len(trace), "step")
    rest = f"{len(trace) - trace.loop} for ever" if trace.loop < len(trace) else "none"
    return f"{counted(trace.loop, 'step')}, then {rest}"
