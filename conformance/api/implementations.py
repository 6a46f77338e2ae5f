"""Functions about an implementation: whether it does the same as its specification, and whether its logs keep
promises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from antiphon.arguments import question
from antiphon.conformance.compare.bindings import Binding, binding_of, bound_protocol
from antiphon.conformance.compare.bindings import Bound as MakesBindings
from antiphon.conformance.compare.bindings.plain import is_plain
from antiphon.conformance.compare.bindings.registry import bound_class
from antiphon.conformance.compare.lockstep import LockstepReport
from antiphon.conformance.compare.lockstep import lockstep as walk
from antiphon.conformance.judge.history import TOTAL_ORDER
from antiphon.model.bounds import Bounds, runs_asked
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.hints import known_names

if TYPE_CHECKING:
    from antiphon.conformance.compare.stateful import StatefulReport
    from antiphon.conformance.spark.pipeline import VerifyReport

RUNS = 100
"""Number of runs of `stateful`, where neither a number nor a time is said."""

_ENGINES = ("generated", "reference")
"""Engines that execute the specification beside an implementation."""
Bound: TypeAlias = Binding | MakesBindings | type | str
"""Binding, a class under `@antiphon.testing.binding`, what `antiphon.testing.adapter` returns, or the name of
a bound protocol: then its small model, which is walked in seconds.
"""


def binding(protocol: str | type, *, fault: str | None = None, **constants: int | bool | str) -> Binding:
    """Bind the implementation of a protocol to its specification.

    Args:
        protocol: the name of a protocol whose implementation is bound: "rbp"; or a class under
            `@antiphon.testing.binding`, whose constants are as they were declared where none are named.
        fault: the name of a mistake to plant in the implementation, to see it caught.
        **constants: the constants of the specification; without any, those of a small model.

    Raises:
        SpecError: no such protocol, fault or constant; the known ones are listed.
        ArgumentError: the class is no binding.
    """
    if isinstance(protocol, type):
        return _class_bound(protocol, fault=fault, **constants)
    return binding_of(protocol, fault=fault, **(constants or bound_protocol(protocol).small))


@question()
def lockstep(
    bound: Bound,
    *,
    max_transitions: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    sample: int = 50,
    seed: int = 0,
    engine: Literal["generated", "reference"] = "generated",
    progress: Callable[[int, int, int], None] | None = None,
) -> LockstepReport:
    """Walk specification and implementation together through every transition; compare variables and events.

    Args:
        bound: a binding, a class under `@antiphon.testing.binding`, or the name of a bound protocol.
        max_transitions: stop after so many; a walk that was stopped is unknown.
        max_depth: walk at most so many steps ahead.
        max_states: stop soon after so many states of the specification.
        max_seconds: stop after this time.
        max_memory_mb: stop at this size of the process, in MiB.
        sample: how many paths are run again from the start, on processes that are never restored.
        seed: number of the random sample.
        engine: the engine that executes the specification.
        progress: called now and then with pairs, transitions and the length of the queue.
    """
    if engine not in _ENGINES:
        raise ArgumentError(f"lockstep has no engine {engine!r}; {known_names(engine, _ENGINES)}")
    joined = _joined(bound)
    machine = joined.program.reference if engine == "reference" else None
    bounds = Bounds(max_states, max_seconds, max_depth, max_memory_mb)
    return walk(
        joined, machine, bounds=bounds, max_transitions=max_transitions, sample=sample, seed=seed,
        progress=progress,
    )  # fmt: skip


@question()
def stateful(
    bound: Bound,
    *,
    runs: int | None = None,
    steps: int = 40,
    seed: int = 0,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
) -> StatefulReport:
    """Run specification and implementation side by side at random, and shorten a run in which they differ.

    Half of the runs go to steps that were not taken yet, the other half are Hypothesis's. That they find
    nothing is measured on these runs, not proved; `lockstep` walks every transition of a small model.

    Args:
        bound: a binding, a class under `@antiphon.testing.binding`, or the name of a bound protocol, with
            constants that find every planted fault.
        runs: how many runs. None: 100, or with `max_seconds` as many as it permits. If a bound ends them
            before the number that was said, the outcome is unknown. A run that comes to a state without steps
            begins again and is still one run.
        steps: greatest number of steps of a run.
        seed: number of the random run.
        max_seconds: take no further run, and shorten no further, after this time.
        max_memory_mb: take no further run at this size of the process, in MiB.
    """
    from antiphon.conformance.compare.stateful import run_stateful  # here: Hypothesis takes long to load

    if isinstance(bound, str):
        protocol = bound_protocol(bound)
        bound = protocol.bind(**protocol.random)
    bounds = Bounds(seconds=max_seconds, memory_mb=max_memory_mb)
    asked = runs_asked(runs, RUNS, max_seconds)
    return run_stateful(_joined(bound), runs=asked, steps=steps, seed_number=seed, bounds=bounds)


@question()
def verify(
    path: str | Path,
    *,
    promise: Collection[str] = (TOTAL_ORDER,),
    master: str | None = None,
    max_seconds: float | None = None,
) -> VerifyReport:
    """Judge the logs of many runs: in this process, or on Spark if they have more than some million events.

    Logs that are missing are unknown.

    Args:
        path: logs, as `ingest` takes them: the directory of a run, or of runs; or a lake (`antiphon ingest`).
        promise: the promises of the system, of `antiphon.conformance.judge.history.promised_words()`:
            "total-order", "virtual-synchrony", "consensus" and others.
        master: Spark's master, to judge there whatever the size. Where Spark judges without one, it is on the
            session of this process, else on all cores of this machine.
        max_seconds: judge no further run after this time, in this process; Spark judges all. Runs that were
            not judged are unknown.

    Raises:
        MissingExtra: Spark is needed and not installed; an ImportError.
        InputError: what is at `path` is no log, or nobody promises that.
        PipelineError: no Java, a full disk, or Spark failed.
    """
    from antiphon.conformance.spark.pipeline import verify as judge  # here: few programs need it

    return judge(path, master, promise, bounds=Bounds(seconds=max_seconds))


def _joined(bound: Bound) -> Binding:
    """Return the binding that `bound` is or names.

    Raises:
        ArgumentError: `bound` is a class without `@antiphon.testing.binding`.
    """
    if isinstance(bound, str):
        return binding(bound)
    if isinstance(bound, MakesBindings):
        return bound.bind(**bound.small)
    return _class_bound(bound) if isinstance(bound, type) else bound


def _class_bound(cls: type, *, fault: str | None = None, **constants: int | bool | str) -> Binding:
    """Return the binding of a class under `@antiphon.testing.binding`, with these constants."""
    if not is_plain(cls):
        raise ArgumentError(f"{cls.__name__} is no binding: write @antiphon.testing.binding(Spec) above it")
    if fault is not None:
        raise ArgumentError(f"{cls.__name__} has no planted fault {fault!r}: a class has none")
    return bound_class(cls).bind(**constants)
