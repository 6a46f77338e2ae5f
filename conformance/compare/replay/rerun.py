"""Judge of a saved trace: evaluates its property at its end, on the specification or on both sides.

A loaded trace has run on CPython already; this module judges it. A trace of a lockstep difference shows
something only together with the implementation: if both agree now, the difference is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.conformance.compare.bindings import Binding, Bound, bound_protocol, bound_protocols
from antiphon.conformance.compare.bindings.guarded import CHANCES
from antiphon.conformance.compare.lockstep import LOCKSTEP, UNSTEADY, Comparison, Difference
from antiphon.conformance.report.words import counted
from antiphon.conformance.run.swarm.changing.scenario import NoScenario, scenario_of, show
from antiphon.impl.registry import LISTED
from antiphon.model.explore.liveness import shows_lasso
from antiphon.model.export.itf import specification_name
from antiphon.model.ground.budgets import budget_blocked_step
from antiphon.model.properties import DEADLOCK, SPECIFICATION, kinds_of
from antiphon.model.refinement import PROPERTY as REFINEMENT
from antiphon.model.refinement import fails_at_the_end
from antiphon.model.trace import Trace
from antiphon.model.verdict import BROKEN_BY_STEPS, Outcome, PropertyKind
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.errors import Told
from antiphon.spec.lang.question import asked, reached, sought

_SAFETY = (PropertyKind.INVARIANT, *BROKEN_BY_STEPS)
"""Kinds of properties that a finite run breaks, whatever comes after it."""


class NotBound(Told):
    """Error: no implementation can run this trace; the message says why."""


class OtherSpecification(NotBound):
    """Error: the binding of this name is of another specification than the trace."""


@dataclass(frozen=True)
class Replayed:
    """Result of a replay: one sentence, and the difference to the implementation, if any."""

    outcome: Outcome
    reason: str
    difference: Difference | None = None

    def __str__(self) -> str:
        """Return the outcome, the reason, and the run that leads to the difference, as text."""
        lines = [f"{self.outcome.value}: {self.reason}"]
        return "\n".join([*lines, *([] if self.difference is None else [self.difference.shown()])])


def on_specification(trace: Trace) -> Replayed:
    """Judge whether the trace still breaks its property.

    The outcome is violated if it does, holds if the trace reaches its witness, unknown if it shows nothing.
    """
    name = trace.shows
    if name == LOCKSTEP:
        return on_implementation(trace)
    if not name:
        return _at_the_end(trace)
    kind = _kind(trace.program, name)
    if kind is None:
        return Replayed(Outcome.UNKNOWN, f"{trace.program.name} has no property {name!r}")
    if not _shows(trace, name, kind):
        return Replayed(Outcome.UNKNOWN, f"{_all(trace)} run, but do not show {name}")
    if kind is PropertyKind.WITNESS:
        return Replayed(Outcome.HOLDS, f"{name} is reached after {counted(len(trace), 'step')}")
    return Replayed(Outcome.VIOLATED, trace.why or f"{name} is broken after {counted(len(trace), 'step')}")


def on_implementation(trace: Trace, binding: Binding | str = "") -> Replayed:
    """Take the steps of the trace on both sides.

    The outcome is violated at the first difference, holds if both agree. If the trace breaks a safety
    property and both agree, the implementation breaks it too: the outcome is violated. If the trace breaks a
    property of a text with other repairs than the implementation's, a difference is what one hopes for: the
    outcome holds.

    `binding` is a binding or its name; without one the catalogue's matching binding is used. An
    implementation that draws from the global `random` is run with several seeds. The outcome is unknown for a
    difference that is marked as not occurring each time and does not occur.

    Raises:
        NotBound: no implementation is bound to the trace's specification with its constants.
    """
    other = ""
    if isinstance(binding, str):
        found, usual = _bound_to(trace.program, binding)
        bound = _with_constants_of(trace.program, found, usual)
        other = _other_text(trace.program, usual)
        lost = {*bound.program.variables} ^ {*usual.variables}
        if lost:
            told = f"with {other} the specification differs in its variables: {', '.join(sorted(lost))}"
            raise NotBound(f"{told}; the binding compares those of {usual.name} as it is implemented")
    else:
        bound = binding
    steady = UNSTEADY not in trace.why
    comparison = Comparison(bound, bound.program.reference)
    start = _start_in(bound.program, trace)
    difference = comparison.reproduced(start, trace.steps, tries=1 if steady else CHANCES)
    if difference is None and not steady:
        return Replayed(
            Outcome.UNKNOWN,
            f"specification and implementation agree in {CHANCES} runs of {_all(trace)}; the "
            "difference was said not to come each time",
        )
    shown = "" if trace.shows in ("", LOCKSTEP) else trace.shows
    kind = _kind(trace.program, shown) if shown else None
    breaks = shown if kind not in (None, PropertyKind.WITNESS) and _shows(trace, shown, kind) else ""
    if difference is not None and other:
        which = f", which breaks {breaks}" if breaks else ""
        told = f"the implementation leaves this run{which} and is of a text with {other}, {difference}"
        return Replayed(Outcome.HOLDS if breaks else Outcome.VIOLATED, told, difference)
    if difference is not None:
        return Replayed(Outcome.VIOLATED, str(difference), difference)
    agree = f"specification and implementation agree in {_all(trace)}"
    if breaks and kind in _SAFETY:
        return Replayed(Outcome.VIOLATED, f"{agree}, and break {breaks}")
    if breaks and other:
        told = f"whether the implementation goes on where a text with {other} does not is not compared"
        return Replayed(Outcome.UNKNOWN, f"{agree}, which breaks {breaks} there; {told}")
    return Replayed(Outcome.HOLDS, agree)


def on_named(trace: Trace, name: str) -> Replayed:
    """Run a trace on the implementation of this name: step by step if its binding is of the trace's
    specification, else in virtual time if groups whose members change run it.

    Raises:
        NotBound: neither is possible.
        SpecError: nothing has this name.
    """
    if name in LISTED and name not in bound_protocols():
        return in_virtual_time(trace, name)
    try:
        return on_implementation(trace, name)
    except OtherSpecification as error:
        if name not in LISTED:
            raise
        try:
            return in_virtual_time(trace, name)
        except NotBound as other:
            raise NotBound(f"{error}; {other}") from other


def in_virtual_time(trace: Trace, protocol: str) -> Replayed:
    """Give the crashes, suspicions and broadcasts of a trace to a group of a protocol in virtual time, and
    compare what its applications see, and its lists, with what the trace shows.

    The outcome is unknown if no draw of what the specification leaves free shows the same. If one does, it
    holds, or is violated if the trace breaks a property.

    Raises:
        NotBound: the trace cannot be given to a group.
    """
    try:
        shown = show(scenario_of(trace), protocol)
    except NoScenario as error:
        raise NotBound(str(error)) from error
    which = f"{shown.total} deliveries, views and lists"
    if shown.draw is None:
        told = f"of {shown.draws} draws the nearest shows {shown.best} of its {which}, then: {shown.why}"
        return Replayed(Outcome.UNKNOWN, f"no group of {protocol} in virtual time shows this run: {told}")
    told = f"a group of {protocol} in virtual time shows this run, all {which} (draw {shown.draw})"
    kind = _kind(trace.program, trace.shows) if trace.shows else None
    breaks = kind not in (None, PropertyKind.WITNESS) and kind in _SAFETY
    return (
        Replayed(Outcome.VIOLATED, f"{told}, which breaks {trace.shows}")
        if breaks
        else Replayed(Outcome.HOLDS, told)
    )


def binding_for(program: Program, name: str = "") -> Binding:
    """Return the binding of the implementation of `program`, with its constants, repairs and readings, by the
    binding's name or as the catalogue's matching one.

    Raises:
        NotBound: there is none, or the binding of this name is of another specification.
    """
    return _with_constants_of(program, *_bound_to(program, name))


def _bound_to(program: Program, name: str) -> tuple[Bound, Program]:
    """Return the binding as `binding_for`, and its own program: the text that the implementation follows."""
    for protocol in (name,) if name else bound_protocols():
        bound = bound_protocol(protocol)
        own = bound.bind(**bound.small).program
        if issubclass(program.spec, own.spec):
            return bound, own
        if name:
            told = f"{name} is bound to {specification_name(own.spec)}"
            raise OtherSpecification(f"{told}; this trace is of {specification_name(program.spec)}")
    raise NotBound(
        f"no implementation is bound to {program.name}; bound are {', '.join(sorted(bound_protocols()))}; "
        "--on file.py:Name names another"
    )


def _with_constants_of(program: Program, bound: Bound, own: Program) -> Binding:
    return bound.bind(
        **{
            item.name: program.constants[item.name]
            for item in own.declaration.constants
            # values of a binding need not be the defaults of its specification
            if item.name in bound.small or program.constants[item.name] != own.constants[item.name]
        }
    )


def _start_in(program: Program, trace: Trace) -> State:
    """Return the initial state of a binding's program in which a trace begins. The trace's specification may
    have more variables, as one that is judged by properties has.
    """
    named = dict(zip(trace.program.variables, trace.start, strict=True))
    wanted = tuple(named[name] for name in program.variables)
    if wanted not in list(program.reference.initial()):
        raise NotBound(f"the trace begins in no initial state of {program.name}, which the binding has")
    return wanted


def _other_text(program: Program, own: Program) -> str:
    """Return the repairs and readings of `program` that are not those of the implementation, whose text is
    `own`, as `name=value`; "" if there are none.
    """
    notes = (item.name for item in own.declaration.constants if item.repair or item.reading)
    told = (f"{n}={program.constants[n]}" for n in notes if program.constants[n] != own.constants[n])
    return ", ".join(told)


def _at_the_end(trace: Trace) -> Replayed:
    """Judge a trace that names no property: evaluate the expression that `find` looked for in its last
    state.
    """
    expression = sought(trace.why)
    if not expression:
        return Replayed(
            Outcome.UNKNOWN, f"{_all(trace)} run; the trace names no property that could be judged"
        )
    try:
        question, witness = asked(trace.program, expression)
        holds = question.reference.holds(trace.states[-1], witness)
    except SpecError as error:
        return Replayed(Outcome.UNKNOWN, f"{_all(trace)} run; {expression}: {error}")
    if not holds:
        return Replayed(Outcome.UNKNOWN, f"{_all(trace)} run, but {expression} is false after them")
    return Replayed(Outcome.HOLDS, f"{reached(expression)} after {counted(len(trace), 'step')}")


def _all(trace: Trace) -> str:
    """Return the number of steps in words: `its one step`, `all 6 steps`."""
    return "its one step" if len(trace) == 1 else f"all {len(trace)} steps"


def _kind(program: Program, name: str) -> PropertyKind | None:
    if name in (DEADLOCK, SPECIFICATION):
        return PropertyKind(name)
    if name == REFINEMENT and refinement_of(program.spec) is not None:
        return PropertyKind.REFINEMENT
    return kinds_of(program).get(name)


def _shows(trace: Trace, name: str, kind: PropertyKind) -> bool:
    reference, last = trace.program.reference, trace.states[-1]
    match kind:
        case PropertyKind.SERVICE | PropertyKind.STEP:
            refusals = (refusal for transition in trace.transitions[-1:] for refusal in transition.refused)
            return any(refusal.property == name for refusal in refusals)
        case PropertyKind.LIVENESS:
            return shows_lasso(trace)
        case PropertyKind.DEADLOCK:
            faults = {method.name for method in trace.program.declaration.marked("environment")}
            is_quiet = all(step.action in faults for step in reference.enabled(last))
            return is_quiet and budget_blocked_step(trace.program, last) is None
        case PropertyKind.REFINEMENT:
            refinement = refinement_of(trace.program.spec)
            return refinement is not None and fails_at_the_end(trace, refinement) != ""
        case PropertyKind.SPECIFICATION:
            try:
                list(reference.successors(last))
            except SpecError:
                return True
            return False
    return reference.holds(last, name) is (kind is PropertyKind.WITNESS)
