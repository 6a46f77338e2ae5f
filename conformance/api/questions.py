"""Functions about a specification: whether its properties hold, whether a state exists, what random runs
show.

Each takes a specification or a program first and its bounds by name, chooses the engine, and returns a result
that prints itself. A bound that is hit makes an answer unknown, never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from antiphon.arguments import names_of, question
from antiphon.model import explore
from antiphon.model.bounds import INTERRUPTED, Bounds, Enough, Violated, runs_asked
from antiphon.model.engines import StorageOptions
from antiphon.model.explore.verdicts import NOT_REACHED
from antiphon.model.limits import under_limits
from antiphon.model.notation import short_places
from antiphon.model.properties import kinds_of
from antiphon.model.trace import replay
from antiphon.model.verdict import Exploration, Outcome, Verdict, unfinished
from antiphon.programs import Subject, program, program_of, refinement
from antiphon.results import Found, Report, Trace
from antiphon.spec.lang import Program, SpecError, ir
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.question import asked, reached
from antiphon.spec.lang.walk import nodes
from antiphon.spec.places import see_current_directory

if TYPE_CHECKING:
    import networkx

Engine = Literal["auto", "native", "generated", "reference", "z3"]
"""Name of an engine: machine code, generated Python, CPython, or Z3; auto is generated Python for small
spaces, else machine code.
"""


class Storage(TypedDict, total=False):
    """Options for the way in which an explicit engine keeps states; see
    `antiphon.model.engines.StorageOptions`.
    """

    threads: int | None
    fingerprints: bool
    whole: bool
    symmetry: bool
    cone: bool
    directory: str | Path | None


@question(also=Storage.__annotations__)
def check(
    subject: Subject,
    *,
    properties: str | Iterable[str] | None = None,
    engine: Engine = "auto",
    prove: bool = False,
    every: str | Iterable[str] | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    stop_at_first: bool = False,
    progress: Callable[[Any], None] | None = None,
    violated: Violated | None = None,
    **storage: Unpack[Storage],
) -> Report:
    """Judge the properties of a specification; violations come with a shortest counterexample.

    Args:
        subject: a class, a name of the catalogue, "module:Class", or a program.
        properties: a name of a property, or names, or "deadlock"; None means all but deadlock.
        engine: the engine that explores. "z3" judges runs of at most `max_depth` steps, and needs that bound.
        prove: prove safety for runs of every length, by k-induction with Z3; `max_depth` is then the greatest
            k, 1 where nothing is said.
        every: with `prove`, names of constants that stand for every number from 1: a proof in first-order
            logic, obligation by obligation, for every size and not for the one that is bound.
        max_depth: look at most so many steps ahead.
        max_states: stop soon after so many states; not with "z3".
        max_seconds: stop after this time.
        max_memory_mb: stop at this size of the process, in MiB; not with "z3".
        stop_at_first: end with the first violation, and leave the other properties open; not with "z3".
        progress: called several times a second with how far the search is.
        violated: called with each violated property as soon as it is found, while the search goes on:
            `property`, `depth`, `states` so far.
        **storage: how an explicit engine keeps states: `threads`, `fingerprints` (64 bits of a state),
            `whole` (wide states whole, not as trees), `symmetry` (of interchangeable members), `cone` (of
            influence), `directory` (states in files, to go on later).

    Raises:
        UnknownArgument: an argument that is none of these; the known ones are listed.
        SpecError: the specification cannot be read, or a property does not exist (the known ones are listed).
        ArgumentError: an engine without the bound that it needs, or with one that it does not know.
    """
    bound, properties = program_of(subject), names_of(properties)
    if every is not None:
        bounds = {"max_depth": max_depth, "max_states": max_states, "max_memory_mb": max_memory_mb}
        others = {**bounds, **storage, "stop_at_first": stop_at_first}
        foreign = [name for name, value in others.items() if value]
        if not prove or engine not in ("auto", "z3") or foreign:
            raise ArgumentError("every is for prove, which is bounded by max_seconds alone")
        from antiphon.model.proofs import (
            prove_every,  # here, because loading Z3 takes longer than most checks
        )

        return Report.of(
            prove_every(
                bound,
                names_of(every) or (),
                properties=properties,
                max_seconds=max_seconds,
                progress=progress,
                violated=violated,
            )
        )
    directory = storage.get("directory")
    kept: dict[str, Any] = {**storage, "directory": None if directory is None else Path(directory)}
    if prove and engine not in ("auto", "z3"):
        raise ArgumentError(f"prove is done by z3, not by {engine!r}: leave the engine out")
    if engine != "z3" and not prove:
        return Report.of(
            explore.check(
                bound,
                properties=properties,
                engine=engine,
                bounds=Bounds(max_states, max_seconds, max_depth, max_memory_mb),
                stop_at_first=stop_at_first,
                storage=StorageOptions(**kept),
                progress=progress,
                violated=violated,
            )
        )
    depth = 1 if prove and max_depth is None else max_depth
    if depth is None:
        raise ArgumentError("engine 'z3' looks up to a depth: say which, for example max_depth=10")
    bounds = {"max_states": max_states, "max_memory_mb": max_memory_mb, "stop_at_first": stop_at_first}
    foreign = [name for name, value in {**bounds, **storage}.items() if value]
    if foreign:
        raise ArgumentError(
            f"{', '.join(foreign)}: for explicit engines; z3 is bounded by max_depth and max_seconds"
        )
    from antiphon.model import symbolic  # here, because loading Z3 takes longer than most checks

    judge = symbolic.prove if prove else symbolic.check_bounded
    return Report.of(
        judge(
            bound,
            depth=depth,
            properties=properties,
            max_seconds=max_seconds,
            progress=progress,
            violated=violated,
        )
    )


@question()
def find(
    subject: Subject,
    expression: str,
    *,
    engine: Engine = "auto",
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Found:
    """Look for a reachable state in which an expression is true, and the shortest way to one.

    Args:
        subject: a specification, its name, or a program.
        expression: a boolean of the language over `self`, for example `any(self.holding[p] for p in
            self.each(Process))`.
        engine: the engine, as for `check`; `z3` looks up to `max_depth`.
        max_depth: look no further than so many steps.
        max_states: stop soon after so many states.
        max_seconds: stop after this time.
        max_memory_mb: stop at this size of the process, in MiB.
        progress: called now and then with the depth and the states so far.

    Raises:
        SpecError: the specification or the expression cannot be read.
        ArgumentError: an engine without the bound that it needs, or with one that it does not know.
    """
    bound = program_of(subject)
    question, witness = asked(bound, expression)
    report = check(
        question, properties=[witness], engine=engine, max_depth=max_depth, max_states=max_states,
        max_seconds=max_seconds, max_memory_mb=max_memory_mb, progress=progress,
    )  # fmt: skip
    wrong = [verdict for verdict in report.verdicts if verdict.kind == "specification"]
    verdict = wrong[0] if wrong else report[witness]
    trace = _on(bound, verdict, expression)
    outcome, reason = _answer(verdict, report.exploration, trace, expression, bounded=engine == "z3")
    state = _named(question, witness, trace) if trace is not None else {}
    return Found(bound, expression, outcome, reason, trace, state, verdict, report.exploration)


@question()
def refine(
    subject: Subject,
    *,
    engine: Literal["generated", "reference", "native"] = "generated",
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    progress: Callable[[Any], None] | None = None,
) -> Report:
    """Check that every transition of a protocol is a step of the abstract machine that it refines, or none.

    Args:
        subject: a class that says `refines=`, a name of the catalogue that has a refinement, "file.py:Class",
            "module:Class", or a program of one of these. What is no program is bound within the bounds that
            its refinement states.
        engine: the engine that executes the protocol; "native" where the refinement states a monitor.
        max_depth: look at most so many steps ahead.
        max_states: stop soon after so many states.
        max_seconds: stop after this time.
        max_memory_mb: stop at this size of the process, in MiB.
        progress: called several times a second with how far the walk is.

    Raises:
        SpecError: no refinement is stated, or its mapping does not say what a variable is.
    """
    from antiphon.model.refinement import check_refinement

    stated = refinement(subject.spec if isinstance(subject, Program) else subject)
    bound = program(stated.concrete)
    said = subject.constants if isinstance(subject, Program) else stated.bounds
    bound = bound.with_constants(**{name: said[name] for name in bound.constants if name in said})
    bounds = Bounds(max_states, max_seconds, max_depth, max_memory_mb)
    return Report.of(check_refinement(bound, stated, bounds=bounds, engine=engine, progress=progress))


WALKS = 100
"""Number of walks of `simulate`, where neither a number nor a time is said."""


@question()
def simulate(
    subject: Subject,
    *,
    seed: int = 0,
    walks: int | None = None,
    steps: int = 100,
    swarm: bool = False,
    engine: str = "auto",
    threads: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Walk a specification at random, and judge every step; what that shows is measured, not proved.

    Args:
        subject: a class, a name of the catalogue, "module:Class", or a program.
        seed: number of the random run; the same seed gives the same walks.
        walks: how many walks. None: 100, or with `max_seconds` as many as it permits. If a bound ends them
            before the number that was said, no property holds.
        steps: greatest number of steps of a walk.
        swarm: each walk draws which faults may happen at all, and a weight for each action.
        engine: what takes the walks, "generated", "native" or "reference"; "auto" takes machine code for
            100,000 steps and more. The walks are the same.
        threads: how many, of "native"; None for as many as there are processors.
        max_states: take no further walk after visits of so many states.
        max_seconds: take no further walk after this time.
        max_memory_mb: take no further walk at this size of the process, in MiB.
        progress: called after each walk with walks and steps so far.
        violated: called with each violated property when a walk first shows it.

    Raises:
        SpecError: the specification cannot be read.
        ArgumentError: fewer than one walk or step.
    """
    from antiphon.model.simulate import simulate as walk

    bound, bounds = program_of(subject), Bounds(max_states, max_seconds, None, max_memory_mb)
    with under_limits(bounds) as limits:
        try:
            found = walk(
                bound, seed=seed, walks=runs_asked(walks, WALKS, max_seconds), steps=steps, swarm=swarm,
                engine=engine, threads=threads, bounds=bounds, progress=progress, violated=violated,
            )  # fmt: skip
        except Enough as enough:
            found = unfinished(bound, kinds_of(bound), enough.stop, limits.elapsed(), "simulate")
        return Report.of(found)


@question()
def state_graph(subject: Subject, *, max_states: int | None = None) -> networkx.MultiDiGraph:
    """Return the reachable states and steps as a networkx graph: a node is a state, an edge is a step.

    Nodes have `label` (the variables in the short notation), each variable as `variable.NAME`, `initial` and
    `broken` (which invariants are false), edges `label`, `action`, `fault` (a step of the environment) and
    `broken`.

    Raises:
        SpecError: more states than `max_states`, 2,000 where nothing is said; or the specification cannot be
            read.
    """
    from antiphon.model.export import MOST_STATES, labelled

    bound, most = program_of(subject), MOST_STATES if max_states is None else max_states
    graph = explore.state_graph(bound, bounds=Bounds(states=most + 1), engine="reference")
    if graph.graph["stopped"] is INTERRUPTED:
        raise KeyboardInterrupt
    if not graph.graph["complete"]:
        said = f"{bound.name} has more than {most:,} states: too many to be drawn"
        raise SpecError(said, instead="smaller constants, or a higher limit")
    return labelled(bound, graph)


@question()
def load(file: str | Path, subject: Subject | None = None) -> Trace:
    """Read a saved run, and execute it again step by step on the specification of today.

    A specification that has changed is compared by the names of its variables, actions and constants.

    Args:
        file: what `--save` or `Trace.save` wrote, or an ITF trace of another tool.
        subject: the specification, where the file names none, as one of another tool, or one that has moved:
            a class, a name of the catalogue, "file.py:Class" or "module:Class", with the constants of the
            file; or a program, which is taken as it is.

    Raises:
        ForeignTraceError: another tool made the trace, and no specification is named.
        TraceFileError: it is no trace, or the specification is gone or does not make these steps any more.
    """
    from antiphon.model.export import load as loaded

    see_current_directory()
    if subject is not None and not isinstance(subject, Program):
        subject = program_of(subject).spec
    return Trace.of(loaded(Path(file), subject))


def _on(bound: Program, verdict: Verdict, expression: str) -> Trace | None:
    """Return the trace of a verdict on `find`'s search as a trace of the searched specification, which other
    commands can load.
    """
    found = verdict.trace
    if found is None:
        return None
    is_error = verdict.kind == "specification"
    why = short_places(verdict.reason) if is_error else reached(expression)
    return Trace.of(
        replay(bound, found.start, found.steps, shows="specification" if is_error else "", why=why)
    )


def _answer(
    verdict: Verdict, explored: Exploration, trace: Trace | None, expression: str, *, bounded: bool
) -> tuple[Outcome, str]:
    """Return the outcome of `find` and a sentence: the state is found, or no reachable state is one and all
    were explored, or unknown.
    """
    if verdict.kind == "specification":
        return Outcome.UNKNOWN, f"the specification has an error: {short_places(verdict.reason)}"
    if trace is not None:
        return Outcome.HOLDS, f"{expression}: after {len(trace)} step{'' if len(trace) == 1 else 's'}"
    if explored.complete and not bounded and explored.states and not verdict.reason.startswith(NOT_REACHED):
        return Outcome.VIOLATED, f"no reachable state is such: all {explored.states:,} were seen"
    return Outcome.UNKNOWN, f"not found: {short_places(verdict.reason).removeprefix('not decided: ')}"


def _named(question: Program, witness: str, trace: Trace) -> dict[str, str]:
    """Return the variables that the expression of `find` names, with their values in the last state of the
    trace.
    """
    (predicate,) = [item for item in question.module.predicates if item.name == witness]
    found = {node.variable for node in nodes(predicate.body) if isinstance(node, ir.Read)}
    return {where: value for where, value in trace.end.items() if where.partition("[")[0] in found}
