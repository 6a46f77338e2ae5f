"""Check on levels that Spark explores: the same search, judge and traces as with every engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from antiphon.conformance.spark.pipeline.runs import lake_at
from antiphon.conformance.spark.states.lake import locked_lake
from antiphon.conformance.spark.states.running import NARROW, Runner
from antiphon.conformance.spark.states.space import LakeSpace
from antiphon.model import explore
from antiphon.model.bounds import UNBOUNDED, Bounds, Progress, Violated
from antiphon.model.engines.interface import StateSpace
from antiphon.model.properties import kinds_asked
from antiphon.model.verdict import Report
from antiphon.spec.lang import Program

PARTITIONS = 8


def check_on_spark(
    program: Program,
    lake: Path,
    *,
    master: str | None = None,
    partitions: int = PARTITIONS,
    narrow: int = NARROW,
    properties: Iterable[str] | None = None,
    bounds: Bounds = UNBOUNDED,
    stop_at_first: bool = False,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Explore the reachable states of a program level by level, on Spark where a level is wide, and judge its
    properties; the states stay in the lake, from which a later call goes on.

    Args:
        program: the specification with its constants, whose class stands in a module or a file.
        lake: a directory that all executors see.
        master: where Spark runs; None for the session that runs in this process, else all cores.
        partitions: the number of parts of a new lake; each is the work of one task at a time.
        narrow: levels of fewer states are expanded in this process.
        properties: names of properties; None means all but deadlock.
        bounds: the bounds of the exploration, which are checked between levels.
        stop_at_first: stop at the first violation.
        progress: called after each level, and meanwhile.
        violated: called with each violated property as soon as it is found.

    Invariants, step invariants, services, witnesses and deadlock are decided; obligations and liveness need
    the graph of all states, and are unknown.

    Raises:
        LakeError: the lake is of another program, damaged, in use, or full; or a worker was killed.
        InputError: there is no such master, a lake cannot be there, or executors cannot be told the program.
        PipelineError: Spark fails.
        SpecError: the specification cannot be read, or a property does not exist.
    """
    lake = lake_at(lake)
    asked = kinds_asked(program, None if properties is None else list(properties))
    spaces: list[LakeSpace] = []
    with ExitStack() as stack:
        kept = stack.enter_context(locked_lake(lake))
        shown = None if progress is None else _Shown(progress)
        runner = Runner(stack, master, narrow, None if shown is None else shown.tasks)

        def levels(bound: Program) -> StateSpace:
            spaces.append(LakeSpace(bound, kept, runner, partitions, asked))
            return spaces[0]

        report = explore.check(
            program,
            properties=list(asked),
            bounds=bounds,
            stop_at_first=stop_at_first,
            progress=shown,
            violated=violated,
            levels=levels,
        )
        if not spaces:
            return report
        note = f"states are kept in {lake}; {runner.jobs} jobs ran on Spark, narrow levels in this process"
        return dataclasses.replace(report, notes=(*report.notes, note))


class _Shown:
    """Display of a search's progress, and within a level of the number of finished tasks."""

    def __init__(self, show: Callable[[Progress], None]) -> None:
        self._show, self._last = show, Progress(0, 0, 0, 0, 0.0)

    def __call__(self, progress: Progress) -> None:
        """Show the progress after a level."""
        self._last = progress
        self._show(progress)

    def tasks(self, told: str) -> None:
        """Show the number of finished tasks of a level."""
        self._show(dataclasses.replace(self._last, phase=told))
