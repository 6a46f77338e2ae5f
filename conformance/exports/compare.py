"""Comparison of SPIN with the native engine: the numbers of states and transitions and every safety property.

SPIN reads the exported model alone: it shares the front end and the grounding with our engines, but no
search, no table of states and no code generator. A comparison in which either side did not see everything is
unknown, never agreement.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from antiphon.conformance.exports.spin import SpinRun, run_spin
from antiphon.conformance.report import words
from antiphon.model.bounds import Bounds
from antiphon.model.explore import check
from antiphon.model.export import promela
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Program, Spec, program
from antiphon.spec.lang.declare import declare

SPECIFICATION = "specification"


@dataclass(frozen=True)
class Model:
    """Specification under a name, with its constants."""

    name: str
    program: Program

    @property
    def constants(self) -> str:
        """Return the constants and repairs, in words."""
        return words.constants(self.program)


@dataclass(frozen=True)
class Comparison:
    """Comparison of the answers of both checkers about a model; `difference` is empty if they agree, and the
    reason if `outcome` is unknown.
    """

    model: Model
    states: int
    transitions: int
    broken: frozenset[str]
    spin: SpinRun | None
    outcome: Outcome
    difference: str


SMALL: dict[str, tuple[dict[str, int | bool], ...]] = {
    "two-phase": ({"managers": 3}, {"managers": 5}),
    "ewd840": ({"nodes": 3}, {"nodes": 4}),
    "dining-philosophers": ({}, {"alike": True}),
    "figure-2": ({"processes": 2, "messages": 1}, {"processes": 3, "messages": 1}),
    "figure-5": ({"processes": 2, "messages": 1}, {"processes": 3, "messages": 1}),
    "moving-sequencer": ({"processes": 2, "messages": 1},),
    "rbp": ({"processes": 2, "messages": 1},),
    "rbp-resilient": ({"processes": 2, "messages": 1, "losses": 0, "passes": 2},),
    "irbp": ({"processes": 2, "messages": 1, "highest": 3, "false_suspicions": 0},),
    "irbp-iviews": ({"processes": 2, "messages": 1, "highest": 3, "false_suspicions": 0},),
    "irbp-two-views": ({"processes": 2, "messages": 1, "highest": 3, "false_suspicions": 0},),
    "irbp-whole-view": ({"processes": 2, "messages": 1, "highest": 3, "false_suspicions": 0},),
    "horus-flush-stack": ({"processes": 2, "messages": 1, "losses": 0, "crashes": 0, "patient": True},),
    "raft": ({"servers": 3, "terms": 1, "entries": 1},),
    "rbp-reforming": ({"processes": 2, "messages": 1, "losses": 0, "passes": 1, "attempts": 1},),
    "horus": ({"processes": 2, "messages": 1, "losses": 0, "crashes": 0},),
}
"""Constants with which specifications are compared; other specifications are compared with those of
`SMALLEST` that they have.
"""

SMALLEST: dict[str, int | bool] = {"processes": 2, "messages": 1}


def small_models(specifications: Iterable[tuple[str, type[Spec]]]) -> Iterator[Model]:
    """Yield the instances of specifications that are compared: as printed, and with all repairs if there are
    any.
    """
    for name, spec in specifications:
        declared = declare(spec).constants
        known = {item.name for item in declared}
        for constants in SMALL.get(name, ({key: value for key, value in SMALLEST.items() if key in known},)):
            yield Model(name, program(spec).with_constants(**constants))
            if any(item.repair for item in declared):
                yield Model(name, program(spec, repairs="all").with_constants(**constants))


def compare(model: Model, *, most_states: int = 60_000) -> Comparison:
    """Explore a model with the native engine and, if that ends within `most_states`, with SPIN, and compare.

    Raises:
        ToolMissing: SPIN or a C compiler is not installed.
        SpinFailure: SPIN does not accept the model, or gives no report.
    """
    bound = model.program
    explored = check(bound, properties=(), bounds=Bounds(states=most_states), engine="native")
    seen = explored.exploration
    wrong = any(verdict.kind == SPECIFICATION for verdict in explored.verdicts)
    if not seen.complete and not wrong:
        reason = f"more than {most_states:,} states"
        return Comparison(model, seen.states, seen.transitions, frozenset(), None, Outcome.UNKNOWN, reason)
    bounds = Bounds(states=most_states)
    broken = (
        frozenset({SPECIFICATION})
        if wrong
        else _broken(check(bound, properties=_safety(bound), bounds=bounds, engine="native"))
    )
    model_text = promela(bound)
    spin = run_spin(model_text, len(bound.reference.initial()), depth=seen.states + 10_000)
    transitions = seen.transitions if model_text.counts_steps else spin.transitions
    difference = _difference(seen.states, transitions, broken, spin, counted=not wrong)
    if not spin.complete:
        outcome, difference = Outcome.UNKNOWN, "SPIN did not finish"
    else:
        outcome = Outcome.VIOLATED if difference else Outcome.HOLDS
    return Comparison(model, seen.states, seen.transitions, broken, spin, outcome, difference)


def _safety(bound: Program) -> list[str]:
    """Return the names of the invariants and step properties of a program."""
    return [
        *(method.mark.name for method in bound.declaration.marked("invariant") if method.mark),
        *bound.module.properties,
    ]


def _broken(report: Report) -> frozenset[str]:
    return frozenset(verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED)


def _difference(
    states: int, transitions: int, broken: frozenset[str], spin: SpinRun, *, counted: bool
) -> str:
    """Return the difference in words. After an error of the specification our search ends, and only the
    verdict is compared.
    """
    if not counted:
        return "" if SPECIFICATION in spin.broken else "SPIN finds no error of the specification"
    found = []
    if spin.states != states:
        found.append(f"{states:,} states, SPIN {spin.states:,}")
    if not (broken or spin.broken) and spin.transitions != transitions:
        found.append(f"{transitions:,} transitions, SPIN {spin.transitions:,}")
    for name in sorted(broken ^ spin.broken):
        found.append(f"{name} is broken {'here' if name in broken else 'in SPIN'} only")
    return "; ".join(found)
