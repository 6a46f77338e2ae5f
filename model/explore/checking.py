"""Front of the package: `check` explores the reachable states of a program and judges every property; `reach`
looks for one state.

It configures the search, calls the judges of states and of fair runs, and composes the report.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext

from antiphon.model.bounds import UNBOUNDED, Bounds, Enough, Progress, StopReason, Violated, Violation
from antiphon.model.engines.choice import IN_MEMORY, Engine, StorageOptions, engine_named, open_space
from antiphon.model.engines.interface import ReducedSpace, StateSpace
from antiphon.model.explore import liveness
from antiphon.model.explore.search import Search
from antiphon.model.explore.verdicts import NO_GRAPH, Judge
from antiphon.model.limits import leaving, only_time, under_limits
from antiphon.model.properties import SPECIFICATION, kinds_asked, kinds_of
from antiphon.model.verdict import (
    BROKEN_BY_STEPS,
    Evidence,
    Exploration,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
    unfinished,
)
from antiphon.spec.lang import Program, SpecError, State

Levels = Callable[[Program], StateSpace]
"""Function that opens a `LevelSpace` of a program."""
SEARCHING = 0.6
"""Share of the time for a search, where obligations or deadlock then go through its states once more.

In machine code this second pass takes 0.6 of the time of the search.
"""
SMALL = 20_000
"""Largest number of states of a space that is explored by generated Python, which is faster than compiling a
kernel.
"""


def check(
    program: Program,
    *,
    properties: Iterable[str] | None = None,
    bounds: Bounds = UNBOUNDED,
    stop_at_first: bool = False,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
    engine: Engine | str = Engine.AUTO,
    storage: StorageOptions = IN_MEMORY,
    levels: Levels | None = None,
) -> Report:
    """Explore the reachable states of `program`, breadth-first, and judge its properties.

    Args:
        program: the specification with its constants.
        properties: names of invariants, witnesses, obligations, service or liveness properties, or
            "deadlock"; None means all but deadlock.
        bounds: where to stop.
        stop_at_first: stop at the first violation instead of deciding the other properties too.
        progress: called several times a second with how far the search is.
        violated: called with each violated property as soon as it is found.
        engine: "native" (machine code made from the intermediate form), "generated" (Python made from it),
            "reference" (CPython executes the text), or "auto": generated for a space of at most `SMALL`
            states, else native.
        storage: how the native engine keeps states: threads, fingerprints, reductions, a directory. The
            result does not depend on threads; what fingerprints may miss and what reductions leave out is in
            the report's notes. Verdicts and lengths of traces do not change, but for lassos with symmetry,
            whose cycle ends where the state itself comes again; obligations need whole states, and symmetry
            decides no liveness property that is about each member by itself. With a directory, what does not
            fit into memory is on disk, and a later call goes on where this one ended, however it ended.
        levels: opens a space that expands whole levels, in the place of an engine; what needs the graph of
            all states, obligations and liveness, is then unknown.

    A bound that was hit gives `unknown` for what is undecided. An error of the specification on a reachable
    path gives a verdict of kind "specification" with the way to it.

    Raises:
        SpecError: the specification cannot be read, a property or engine does not exist (the known ones are
            listed), or fingerprints or symmetry cannot decide what was asked.
        Refused: the directory holds the search of another program.
        InternalError: a trace does not replay on the reference: our failure, not the specification's.
    """
    engine = engine_named(engine)
    asked = kinds_asked(program, properties)
    fair = [name for name, kind in asked.items() if kind is PropertyKind.LIVENESS]
    kinds = {name: kind for name, kind in asked.items() if kind is not PropertyKind.LIVENESS}
    if storage.symmetry:
        known = liveness.declared(program)
        liveness.refuse_members(program, liveness.fair_on(program), [known[name] for name in fair])
    tell = _once(violated)
    if fair and not kinds and levels is None:
        with under_limits(bounds, progress) as limits:
            report = _on_fair_runs(program, fair, bounds, progress, tell, engine, storage)
            explored = dataclasses.replace(report.exploration, seconds=limits.elapsed())
            return dataclasses.replace(report, exploration=explored)
    named = _by_kind(kinds)
    steps = [name for kind in BROKEN_BY_STEPS for name in named[kind]]
    later = [*named[PropertyKind.OBLIGATION], *named[PropertyKind.DEADLOCK]]
    if storage.fingerprints and later:
        raise SpecError(
            f"fingerprints cannot decide {', '.join(later)}: that needs whole states",
            instead="other properties, or whole states",
        )

    def search_of(space: StateSpace, within: Bounds) -> Search:
        def decides(name: str, depth: int) -> None:
            if kinds[name] is not PropertyKind.WITNESS:
                tell(Violation(name, depth, len(space)))

        return Search(
            space,
            decides=decides,
            watched=[
                name for name, kind in kinds.items() if kind in (PropertyKind.INVARIANT, PropertyKind.WITNESS)
            ],
            services=steps,
            exhaustive=bool(later or fair) or not kinds,
            stop_at=[*named[PropertyKind.INVARIANT], *steps] if stop_at_first else [],
            bounds=within,
            progress=progress,
        )

    memory = None if storage.directory is not None else bounds.memory_mb
    with under_limits(dataclasses.replace(bounds, memory_mb=memory), progress) as limits:
        searching = leaving(bounds, SEARCHING) if later and levels is None else bounds
        try:
            space, search = _explored(
                program, engine, search_of, searching, storage, graph=bool(later), asked=kinds, levels=levels
            )
        except _InitialError as error:
            return _unexplored(program, error.reason)
        except Enough as enough:
            return unfinished(program, asked, enough.stop, limits.elapsed(), "explicit")
        with nullcontext() if search.walk.complete else only_time(bounds):
            verdicts = tuple(_reported(Judge(program, space, search, kinds).verdicts(), tell, len(space)))
        report = Report(program, verdicts, _exploration(space, search), _notes(search, storage))
        if fair and levels is not None:
            unknown = (_without_graph(program, name, space) for name in fair)
            report = dataclasses.replace(report, verdicts=(*report.verdicts, *unknown))
        elif fair and report.exploration.stopped is not StopReason.INTERRUPTED:
            kept = _on_fair_runs(program, fair, bounds, progress, tell, engine, storage)
            report = dataclasses.replace(
                report, verdicts=(*report.verdicts, *kept.verdicts), notes=(*report.notes, *kept.notes)
            )
        seconds = search.walk.earlier + limits.elapsed()
        return dataclasses.replace(
            report, exploration=dataclasses.replace(report.exploration, seconds=seconds)
        )


def _without_graph(program: Program, name: str, space: StateSpace) -> Verdict:
    """Return `unknown` for a liveness property where no graph is kept."""
    evidence, provenance = Evidence.explored(program, "no graph"), Provenance.of(program, space.engine)
    return Verdict(name, PropertyKind.LIVENESS, Outcome.UNKNOWN, evidence, provenance, NO_GRAPH)


def _by_kind(kinds: Mapping[str, PropertyKind]) -> dict[PropertyKind, list[str]]:
    return {kind: [name for name, found in kinds.items() if found is kind] for kind in PropertyKind}


def _on_fair_runs(
    program: Program,
    names: list[str],
    bounds: Bounds,
    progress: Callable[[Progress], None] | None,
    violated: Violated,
    engine: Engine,
    storage: StorageOptions,
) -> Report:
    """Return the verdicts on liveness properties: they are judged on the whole graph, or that of orbits,
    which is walked separately.
    """
    known = liveness.declared(program)
    asked = [known[name] for name in names]
    try:
        return liveness.judge(
            program,
            asked,
            bounds=bounds,
            progress=progress,
            violated=violated,
            engine=engine,
            symmetry=storage.symmetry,
        )
    except Enough as enough:
        kinds = dict.fromkeys(names, PropertyKind.LIVENESS)
        return unfinished(program, kinds, enough.stop, 0.0, "explicit, lassos")


def _once(violated: Violated | None) -> Violated:
    """Return a function that reports each violated property once; a search may begin anew, and what it found
    is judged afterwards.
    """
    told: set[str] = set()

    def tell(violation: Violation) -> None:
        if violated is not None and violation.property not in told:
            told.add(violation.property)
            violated(violation)

    return tell


def _reported(verdicts: Iterable[Verdict], violated: Violated, states: int) -> Iterator[Verdict]:
    """Yield the verdicts, and report each violation when its verdict is made."""
    for verdict in verdicts:
        if verdict.outcome is Outcome.VIOLATED:
            violated(Violation(verdict.property, len(verdict.trace or ()), states))
        yield verdict


def reach(
    program: Program,
    predicate: str | Callable[[State], bool],
    *,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine | str = Engine.AUTO,
) -> Verdict:
    """Return the shortest way to a state in which `predicate` (a predicate's name, or a function of a state)
    is true, as the verdict's trace.

    The outcome is `holds` when there is one and else `unknown`, with the reason: not reachable, or a bound
    was hit.
    """
    engine = engine_named(engine)
    name = predicate if isinstance(predicate, str) else getattr(predicate, "__name__", "predicate")
    if isinstance(predicate, str):
        kinds_asked(program, [predicate])
    test = predicate if callable(predicate) else lambda state: program.reference.holds(state, name)
    named = isinstance(predicate, str) and kinds_of(program).get(predicate) is PropertyKind.WITNESS

    def search_of(space: StateSpace, within: Bounds) -> Search:
        watched, extra = ([name], {}) if named else ([], {name: test})
        return Search(space, watched=watched, exhaustive=False, bounds=within, progress=progress, extra=extra)

    try:
        space, search = _explored(program, engine, search_of, bounds, IN_MEMORY, graph=False)
    except _InitialError as error:
        return _unexplored(program, error.reason).verdicts[0]
    return next(iter(Judge(program, space, search, {name: PropertyKind.WITNESS}).verdicts()))


def _explored(
    program: Program,
    engine: Engine,
    search_of: Callable[[StateSpace, Bounds], Search],
    bounds: Bounds,
    storage: StorageOptions,
    *,
    graph: bool,
    asked: Collection[str] = (),
    levels: Levels | None = None,
) -> tuple[StateSpace, Search]:
    """Return a space after its search. `AUTO` tries generated Python within `SMALL` states first, and begins
    anew in machine code if there are more.
    """
    space: StateSpace
    if levels is not None:
        _see_initial(program)
        space = levels(program)
        search = search_of(space, bounds)
        search.run()
        return space, search
    if engine is Engine.AUTO and not storage.native_only:
        small = bounds.states is not None and bounds.states <= SMALL
        space = _open(program, Engine.GENERATED)
        search = search_of(space, bounds if small else dataclasses.replace(bounds, states=SMALL))
        search.run()
        if small or search.walk.stopped is None or search.walk.stopped.reason is not StopReason.STATES:
            return space, search
    space = _open(program, engine, storage, graph=graph, asked=asked)
    search = search_of(space, bounds)
    search.run()
    return space, search


def _open(
    program: Program,
    engine: Engine,
    storage: StorageOptions = IN_MEMORY,
    *,
    graph: bool = True,
    asked: Collection[str] = (),
) -> StateSpace:
    _see_initial(program)
    return open_space(program, engine, storage, graph=graph, asked=asked)


def _see_initial(program: Program) -> None:
    try:
        program.reference.initial()
    except SpecError as error:
        raise _InitialError(str(error)) from error


def _exploration(space: StateSpace, search: Search) -> Exploration:
    coverage = space.coverage()
    return Exploration(
        states=len(space),
        transitions=search.walk.transitions,
        depth=search.walk.depth,
        complete=search.walk.complete,
        seconds=search.walk.seconds,
        fired=tuple((action, count) for action, count in coverage.items() if count),
        never_fired=tuple(action for action, count in coverage.items() if not count),
        stopped=search.walk.stopped.reason if search.walk.stopped is not None else None,
    )


def _notes(search: Search, storage: StorageOptions) -> tuple[str, ...]:
    notes = [search.walk.stopped.note] if search.walk.stopped is not None else []
    space, states = search.space, len(search.space)
    if isinstance(space, ReducedSpace):
        if storage.symmetry and not storage.fingerprints:
            notes.append(
                f"{states:,} states stand for {space.represented():,} that differ in the names of "
                "interchangeable members only"
            )
        if storage.cone:
            left = space.left_out()
            notes.append(
                f"left out, for they do not matter to what is asked: {', '.join(left)}"
                if left
                else "every variable matters to what is asked"
            )
    if storage.fingerprints:
        notes.append(
            "states were told apart by 64 bits: the probability that one was missed is about "
            f"{collision_probability(states):.1g}"
        )
    return tuple(notes)


def collision_probability(states: int) -> float:
    """Return the probability that any two of so many states have one 64-bit fingerprint: about n^2 / 2^65."""
    return -math.expm1(-states * (states - 1) / 2**65)


class _InitialError(SpecError):
    """Error: the initial states cannot be computed; the reason contains the place."""


def _unexplored(program: Program, reason: str) -> Report:
    """Return the report for a program without any initial state, because the specification has an error
    there.
    """
    evidence = Evidence.explored(program, "no state")
    verdict = Verdict(
        SPECIFICATION,
        PropertyKind.SPECIFICATION,
        Outcome.UNKNOWN,
        evidence,
        Provenance.of(program, "explicit"),
        reason,
    )
    return Report(program, (verdict,), Exploration(0, 0, 0, complete=False, seconds=0.0))
