"""Checks of an engine's answers against those of the reference.

`check_engine` is for any function that returns a report on a program. It compares, on each of a list of
programs and within the same bounds:

1. No property is violated for one and holds for the other; an exhaustive engine decides every property that
  the reference decides.
2. A counterexample, or the way to a witness, is as short as the reference's, and CPython can take it: its
   last state, or its last step, is what it claims to show.
3. An exhaustive engine has seen as many states, transitions and levels, and the same actions fired.
4. An error of the specification is a verdict with the way to it; a model without initial state is unknown; a
   bound is never a pass.

`check_transitions` is for engines that take single steps: from every state that the reference reaches, the
steps, their successors, events and broken properties, and all predicates, are the reference's.

Neither knows how an engine works. All differences are reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Protocol

from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.engines import Engine, Transitions, transitions_by
from antiphon.model.explore import check
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.model.trace import replay
from antiphon.model.verdict import Outcome, PropertyKind, Report, Verdict
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.examples.corner_cases import BeginsOften, CountsTooFar, FailsBeside, NeverBegins
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, SpecError, program
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

MOST_TOLD = 10
"""Largest number of differences in the steps of one program that are reported."""


class Check(Protocol):
    """Checker: a function that reports on all properties of a program but liveness, within bounds."""

    def __call__(self, program: Program, bounds: Bounds) -> Report:
        """Check a program within bounds, and return the report."""


@lru_cache(maxsize=1)
def engine_programs() -> tuple[Program, ...]:
    """Return programs with every kind of property, violated and not, with services, faults, packets and
    errors, of up to 700 states.
    """
    return (
        program(TwoPhase, managers=3), program(DieHard), program(Chameneos, creatures=2, meetings=2),
        program(CountsTooFar), program(FailsBeside),
        program(NeverBegins), program(BeginsOften), program(Figure2Checked, processes=2, messages=2),
        program(Figure2Checked, processes=2, messages=2, repairs="all"),
        program(MovingSequencerChecked, processes=2, messages=1),
        program(RbpChecked, processes=2, messages=1),
    )  # fmt: skip


def check_engine(
    engine: Check | str,
    *,
    programs: Iterable[Program] | None = None,
    bounds: Bounds = UNBOUNDED,
    exhaustive: bool = True,
) -> None:
    """Check an engine, named or given as a function, against the reference.

    Args:
        engine: the function that returns reports, or the name of an engine of this package.
        programs: the programs to compare on; None for `engine_programs()`.
        bounds: the bounds of all explorations; give a depth to an engine that needs one.
        exhaustive: True for an engine that sees every state within the bounds, and counts them. Another one
            may leave properties open that the reference decides, and its counts are not compared.

    Raises:
        AssertionError: a rule is broken; the message has all differences.
    """
    asked: Check = _named(engine) if isinstance(engine, str) else engine
    chosen = engine_programs() if programs is None else tuple(programs)
    found = [
        f"{_told(bound)}: {line}"
        for bound in chosen
        for line in _differences(bound, asked, bounds, exhaustive=exhaustive)
    ]
    if exhaustive:
        found += [line for bound in chosen for line in _passes_at_a_bound(bound, asked)]
    if found:
        raise AssertionError("\n".join(found))


def check_transitions(
    engine: Callable[[Program], Transitions],
    *,
    programs: Iterable[Program] | None = None,
    depth: int | None = None,
) -> None:
    """Check the single steps of an engine against the reference, in every state within `depth` steps.

    Raises:
        AssertionError: a step, a state, an event, a broken property or a predicate differs; the message has
            all differences.
    """
    chosen = engine_programs() if programs is None else tuple(programs)
    found = [
        f"{_told(bound)}: {line}"
        for bound in chosen
        for line in islice(_step_differences(bound, engine(bound), depth), MOST_TOLD)
    ]
    if found:
        raise AssertionError("\n".join(found))


def _named(engine: str) -> Check:
    return lambda program, bounds: check(program, properties=_judged(program), bounds=bounds, engine=engine)


def _judged(bound: Program) -> list[str]:
    """Return the names of all properties of states and of steps."""
    marked = bound.declaration.marked
    names = [
        method.mark.name
        for kind in ("invariant", "obligation", "witness")
        for method in marked(kind)
        if method.mark
    ]
    return [*names, *bound.module.properties]


@lru_cache(maxsize=64)
def _reference(bound: Program, bounds: Bounds) -> Report:
    return _named("reference")(bound, bounds)


def _told(bound: Program) -> str:
    said = ", ".join(f"{name}={value}" for name, value in bound.constants.items() if value is not False)
    return f"{bound.name}({said})"


# Reports ----------------------------------------------------------------------------------------------------


def _differences(bound: Program, asked: Check, bounds: Bounds, *, exhaustive: bool) -> Iterator[str]:
    ours, theirs = _reference(bound, bounds), asked(bound, bounds)
    known = {verdict.property: verdict for verdict in ours.verdicts}
    given = {
        verdict.property: verdict for verdict in theirs.verdicts if verdict.kind is not PropertyKind.LIVENESS
    }
    wrong = any(verdict.kind is PropertyKind.SPECIFICATION for verdict in ours.verdicts)
    yield from (f"no verdict about {name}" for name in known if name not in given and exhaustive)
    for name, verdict in given.items():
        yield from _replayed(bound, verdict)
        if name not in known:
            yield f"a verdict about {name}, of which the reference says nothing"
            continue
        yield from _contradictions(known[name], verdict, exhaustive=exhaustive and not wrong)
    if exhaustive and not wrong:
        pairs = (("states", ours.exploration.states, theirs.exploration.states),
                 ("transitions", ours.exploration.transitions, theirs.exploration.transitions),
                 ("depth", ours.exploration.depth, theirs.exploration.depth),
                 ("complete", ours.exploration.complete, theirs.exploration.complete),
                 ("fired", ours.exploration.fired, theirs.exploration.fired),
                 ("never fired", ours.exploration.never_fired, theirs.exploration.never_fired))  # fmt: skip
        yield from (f"{what}: {there}, the reference {here}" for what, here, there in pairs if here != there)


def _contradictions(ours: Verdict, theirs: Verdict, *, exhaustive: bool) -> Iterator[str]:
    name, decided = ours.property, (Outcome.HOLDS, Outcome.VIOLATED)
    if ours.kind is not theirs.kind:
        yield f"{name} is {theirs.kind}, the reference says {ours.kind}"
    differ = ours.outcome is not theirs.outcome
    if differ and (exhaustive or (ours.outcome in decided and theirs.outcome in decided)):
        yield f"{name} is {theirs.outcome}, the reference says {ours.outcome}"
    lengths = [None if verdict.trace is None else len(verdict.trace) for verdict in (ours, theirs)]
    if not differ and lengths[0] != lengths[1] and None not in lengths:
        yield f"{name} is shown in {lengths[1]} steps, by the reference in {lengths[0]}"
    if exhaustive and (lengths[0] is None) != (lengths[1] is None):
        yield f"{name} is shown in {lengths[1]} steps, by the reference in {lengths[0]}"


def _replayed(bound: Program, verdict: Verdict) -> Iterator[str]:
    """Yield the errors of the trace of a verdict, executed by CPython."""
    if verdict.trace is None:
        return
    again = replay(bound, verdict.trace.start, verdict.trace.steps)
    if again.states != verdict.trace.states:
        yield f"{verdict.property}: the trace passes through other states than CPython"
    last, name = again.states[-1], verdict.property
    match verdict.kind:
        case PropertyKind.INVARIANT | PropertyKind.OBLIGATION:
            fits = not bound.reference.holds(last, name)
        case PropertyKind.WITNESS:
            fits = bound.reference.holds(last, name)
        case PropertyKind.SERVICE | PropertyKind.STEP:
            fits = any(refusal.property == name for refusal in again.transitions[-1].refused)
        case PropertyKind.SPECIFICATION:
            fits = _is_wrong(bound, last)
        case _:
            fits = True
    if not fits:
        yield f"{name}: the trace does not show it"


def _is_wrong(bound: Program, state: tuple[object, ...]) -> bool:
    try:
        list(bound.reference.successors(state))
        for predicate in bound.module.predicates:
            bound.reference.holds(state, predicate.name)
    except SpecError:
        return True
    return False


def _passes_at_a_bound(bound: Program, asked: Check) -> Iterator[str]:
    """Yield the invariants, service properties and obligations that the engine reports to hold although a
    bound ended its exploration.
    """
    report = asked(bound, Bounds(depth=1))
    if report.exploration.complete or _reference(bound, Bounds(depth=1)).exploration.complete:
        return
    held = [
        item
        for item in report.verdicts
        if item.outcome is Outcome.HOLDS and item.kind is not PropertyKind.WITNESS
    ]
    yield from (f"{_told(bound)}: {verdict.property} holds after one step of more" for verdict in held)


# Steps ------------------------------------------------------------------------------------------------------


def _step_differences(bound: Program, engine: Transitions, depth: int | None) -> Iterator[str]:
    space, _ = walk(transitions_by(bound, Engine.REFERENCE), Visitor(), Bounds(depth=depth))
    reference = space.transitions
    for number in range(len(space)):
        state, here = space.value(number), space.packed[number]
        packed = engine.pack(state)
        if engine.unpack(packed) != state:
            yield f"{state} comes back as {engine.unpack(packed)}"
        told = [_steps(taken, at) for taken, at in ((reference, here), (engine, packed))]
        if told[0] != told[1]:
            yield f"in {state} the steps are {told[1]}, by the reference {told[0]}"
        for predicate in bound.module.predicates:
            values = [
                _value(taken, predicate.name, at) for taken, at in ((reference, here), (engine, packed))
            ]
            if values[0] != values[1]:
                yield f"in {state} {predicate.name} is {values[1]}, by the reference {values[0]}"


def _steps(transitions: Transitions, packed: int) -> object:
    """Return every step with its successor, its events and the properties that it breaks; or the error of the
    specification.
    """
    try:
        moves = transitions.successors(packed)
        broken = dict(transitions.broken(packed))
    except SpecError as error:
        return str(error)
    return {
        transitions.step(number): (
            transitions.unpack(after),
            transitions.events(packed, number),
            set(broken.get(number, ())),
        )
        for number, after in moves
    }


def _value(transitions: Transitions, predicate: str, packed: int) -> object:
    try:
        return transitions.predicate(predicate)(packed)
    except SpecError as error:
        return str(error)
