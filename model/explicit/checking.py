"""How is a program checked? `check` explores its reachable states and answers for every property; `reach` looks for one state.

This is the room's front: it chooses the space by the name of the engine, knows which properties a program has, and puts the report together.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from antiphon.model.explicit.generated import GeneratedSpace
from antiphon.model.explicit.judge import DEADLOCK, SPECIFICATION, Judge, constants
from antiphon.model.explicit.over_machine import MachineSpace
from antiphon.model.explicit.search import Bounds, Progress, Search, states_bound
from antiphon.model.explicit.space import Space
from antiphon.model.verdict import Evidence, EvidenceKind, Exploration, Outcome, Provenance, Report, Verdict
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.hints import known_names

ENGINES = ("auto", "native", "generated", "reference")
SMALL = 20_000
"""A space of at most so many states is explored by generated Python before a kernel could be compiled."""
LIVENESS = "liveness"


def check(
    program: Program,
    *,
    properties: Iterable[str] | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_depth: int | None = None,
    max_memory_mb: int | None = None,
    stop_at_first: bool = False,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "auto",
    threads: int | None = None,
    fingerprints: bool = False,
    symmetry: bool = False,
    cone: bool = False,
    directory: Path | None = None,
) -> Report:
    """Explores the reachable states of `program`, breadth-first, and judges its properties.

    Args:
        program: the specification with its constants.
        properties: names of invariants, witnesses, obligations, service properties, promises, or "deadlock"; None means all but deadlock.
        max_states: stop soon after this many states were found.
        max_seconds: stop after this time.
        max_depth: look at states at most this many steps from an initial one.
        max_memory_mb: stop when the process is larger than this, in MiB.
        stop_at_first: stop at the first violation instead of deciding the other properties too.
        progress: called several times a second with how far the search is; `progress_bar` makes one.
        engine: "native" (machine code made from the intermediate form), "generated" (Python made from it), "reference" (CPython executes the
            text), or "auto": generated for a space of at most `SMALL` states, else native.
        threads: how many threads the native engine uses; None for as many as there are processors. The result does not depend on it.
        fingerprints: keep 64 bits of each expanded state (native engine). What may be missed is in the notes; obligations need whole states.
        symmetry: let one state stand for all that differ from it in the names of interchangeable members only (native engine). How many those are
            is in the report's notes. Verdicts and the lengths of traces are the same; promises on fair runs, which tell members apart, are refused.
        cone: keep only what matters to the properties that are asked, their cone of influence (native engine): states that differ in nothing else
            are one. Verdicts and the lengths of traces are the same; what is left out is in the report's notes.
        directory: where the native engine keeps its arrays as files. What does not fit into memory is then on disk, and a later call with the
            same directory goes on where this one ended, however it ended.

    A bound that was hit gives `unknown` for what is undecided. An error of the specification on a reachable path gives a verdict of kind
    "specification" with the way to it.

    Raises:
        SpecError: the specification cannot be read, a property or engine does not exist (the known ones are listed), or fingerprints or symmetry
            cannot decide what was asked.
        Refused: the directory holds the search of another program.
        InternalError: a trace does not replay on the reference: our failure, not the specification's.
    """
    kinds = _asked(program, properties)
    promises = [name for name, kind in kinds.items() if kind == LIVENESS]
    kinds = {name: kind for name, kind in kinds.items() if kind != LIVENESS}
    bounds = Bounds(max_states, max_seconds, max_depth, max_memory_mb)
    if symmetry and promises:
        raise SpecError(
            f"symmetry cannot decide {', '.join(promises)}: fairness to each member tells the members apart",
            instead="other properties, or no symmetry",
        )
    if promises and not kinds:
        return _promises(program, promises, bounds, progress, engine)
    watched = [name for name, kind in kinds.items() if kind in ("invariant", "witness")]
    services = [name for name, kind in kinds.items() if kind == "service"]
    later = [name for name, kind in kinds.items() if kind in ("obligation", DEADLOCK)]
    stop_at = [name for name, kind in kinds.items() if kind in ("invariant", "service")] if stop_at_first else []
    exhaustive = bool(later or promises) or not kinds
    if fingerprints and later:
        raise SpecError(f"fingerprints cannot decide {', '.join(later)}: that needs whole states", instead="other properties, or whole states")

    def search_of(space: Space, within: Bounds) -> Search:
        return Search(space, watched=watched, services=services, exhaustive=exhaustive, stop_at=stop_at, bounds=within, progress=progress)

    ways = Ways(bool(later), threads, fingerprints, symmetry, frozenset(kinds) if cone else None, directory)
    try:
        space, search = _explored(program, engine, search_of, bounds, ways)
    except _InitialError as error:
        return _unexplored(program, error.reason)
    verdicts = tuple(Judge(program, space, search, kinds).verdicts())
    report = Report(program, verdicts, _exploration(space, search), _notes(search, fingerprints=fingerprints, symmetry=symmetry, cone=cone))
    if promises and search.stopped != "interrupted":
        kept = _promises(program, promises, bounds, progress, engine)
        report = dataclasses.replace(report, verdicts=(*report.verdicts, *kept.verdicts), notes=(*report.notes, *kept.notes))
    return report


def _promises(program: Program, names: list[str], bounds: Bounds, progress: Callable[[Progress], None] | None, engine: str) -> Report:
    """Promises are judged on the whole graph, which liveness walks by itself."""
    from antiphon.model import liveness  # here, because it stands on this package

    asked = liveness.promised(program)
    return liveness.judge(
        program, [asked[name] for name in names], max_states=bounds.states, max_seconds=bounds.seconds, max_depth=bounds.depth,
        max_memory_mb=bounds.memory_mb, progress=progress, engine=engine,
    )  # fmt: skip


def reach(
    program: Program,
    predicate: str | Callable[[State], bool],
    *,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_depth: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "auto",
) -> Verdict:
    """The shortest way to a state in which `predicate` (a predicate's name, or a function of a state) is true, as the verdict's trace.

    The outcome is `holds` when there is one and else `unknown`, with the reason: not reachable, or a bound was hit.
    """
    name = predicate if isinstance(predicate, str) else getattr(predicate, "__name__", "predicate")
    if isinstance(predicate, str):
        _asked(program, [predicate])
    test = predicate if callable(predicate) else lambda state: program.reference.holds(state, name)
    bounds = Bounds(max_states, max_seconds, max_depth)
    named = isinstance(predicate, str) and kinds_of(program)[predicate] == "witness"

    def search_of(space: Space, within: Bounds) -> Search:
        watched, extra = ([name], {}) if named else ([], {name: test})
        return Search(space, watched=watched, exhaustive=False, bounds=within, progress=progress, extra=extra)

    try:
        space, search = _explored(program, engine, search_of, bounds, Ways(graph=False))
    except _InitialError as error:
        return _unexplored(program, error.reason).verdicts[0]
    return Judge(program, space, search, {name: "witness"}).verdicts()[0]


@dataclasses.dataclass(frozen=True)
class Ways:
    """How the native engine stores states: whether where they lead to will be asked, threads, fingerprints, symmetry, the properties of whose cone
    of influence nothing else is kept, and the directory of the arrays.
    """

    graph: bool = True
    threads: int | None = None
    fingerprints: bool = False
    symmetry: bool = False
    asked: frozenset[str] | None = None
    directory: Path | None = None

    @property
    def special(self) -> bool:
        """Whether this asks for what only the native engine can do."""
        return self.fingerprints or self.symmetry or self.asked is not None or self.directory is not None


def _explored(
    program: Program, engine: str, search_of: Callable[[Space, Bounds], Search], bounds: Bounds, ways: Ways
) -> tuple[Space, Search]:  # fmt: skip
    """A space after its search. "auto" tries generated Python within `SMALL` states first, and begins anew with the kernel when they are more."""
    if engine in ("generated", "reference") and ways.special:
        raise SpecError(f"the engine {engine!r} knows neither fingerprints, reductions nor a directory", instead="the engine 'native'")
    if engine == "auto" and not ways.special:
        small = bounds.states is not None and bounds.states <= SMALL
        space = open_space(program, "generated")
        search = search_of(space, bounds if small else dataclasses.replace(bounds, states=SMALL))
        search.run()
        if small or len(space) < SMALL or search.stopped != states_bound(SMALL):
            return space, search
    space = open_space(program, "native" if engine == "auto" else engine, ways)
    search = search_of(space, bounds)
    space.go_on(search)
    search.run()
    return space, search


def open_space(program: Program, engine: str, ways: Ways = Ways()) -> Space:
    """A fresh space of the program, holding its initial states."""
    if engine not in ENGINES:
        raise SpecError(f"unknown engine {engine!r}; known: {', '.join(ENGINES)}")
    try:
        starts = program.reference.initial()
    except SpecError as error:
        raise _InitialError(str(error)) from error
    if engine == "reference":
        return MachineSpace(program, starts)
    if engine == "generated":
        return GeneratedSpace(program, starts)
    from antiphon.model.native.reduction import Reduction  # here, because small spaces are explored before LLVM is even loaded
    from antiphon.model.native.space import NativeSpace

    return NativeSpace(
        program, starts, threads=ways.threads, graph=ways.graph, fingerprints=ways.fingerprints, reduction=Reduction(ways.symmetry, ways.asked),
        directory=ways.directory,
    )  # fmt: skip


def kinds_of(program: Program) -> dict[str, str]:
    """Every property of the program and its kind: invariants, services, obligations, witnesses, promises, each in order of declaration."""
    marked = program.declaration.marked
    kinds = {method.mark.name: "invariant" for method in marked("invariant") if method.mark}
    kinds |= dict.fromkeys(program.module.properties, "service")
    kinds |= {method.mark.name: kind for kind in ("obligation", "witness") for method in marked(kind) if method.mark}
    kinds |= {promise.name: LIVENESS for promise in program.module.promises}
    return kinds


def _asked(program: Program, properties: Iterable[str] | None) -> dict[str, str]:
    known = kinds_of(program)
    if properties is None:
        return known
    asked = {}
    for name in properties:
        if name != DEADLOCK and name not in known:
            raise SpecError(f"{program.name} has no property {name!r}; {known_names(name, [*known, DEADLOCK])}")
        asked[name] = known.get(name, DEADLOCK)
    return asked


def _exploration(space: Space, search: Search) -> Exploration:
    coverage = space.coverage()
    return Exploration(
        states=len(space),
        transitions=search.transitions,
        depth=search.depth,
        complete=search.complete,
        seconds=search.seconds,
        fired=tuple((action, count) for action, count in coverage.items() if count),
        never_fired=tuple(action for action, count in coverage.items() if not count),
    )


def _notes(search: Search, *, fingerprints: bool = False, symmetry: bool = False, cone: bool = False) -> tuple[str, ...]:
    notes = [f"the search is not complete: {search.stopped}"] if search.stopped else []
    states = len(search.space)
    if symmetry and not fingerprints:
        notes.append(f"{states:,} states stand for {search.space.represented():,} that differ in the names of interchangeable members only")
    if cone:
        left = search.space.left_out()
        notes.append(f"left out, for they do not matter to what is asked: {', '.join(left)}" if left else "every variable matters to what is asked")
    if fingerprints:
        notes.append(f"states were told apart by 64 bits: the probability that one was missed is about {collision_probability(states):.1g}")
    return tuple(notes)


def collision_probability(states: int) -> float:
    """The probability that any two of so many states have one 64-bit fingerprint: about n^2 / 2^65."""
    return -math.expm1(-states * (states - 1) / 2**65)


class _InitialError(SpecError):
    """The initial states cannot be computed; the reason has the place in it."""


def _unexplored(program: Program, reason: str) -> Report:
    """The report when there is not even an initial state, because the specification has an error there."""
    evidence = Evidence(EvidenceKind.BOUNDED, f"{constants(program)}no state")
    verdict = Verdict(SPECIFICATION, SPECIFICATION, Outcome.UNKNOWN, evidence, Provenance.of(program, "explicit"), reason)
    return Report(program, (verdict,), Exploration(0, 0, 0, complete=False, seconds=0.0))
