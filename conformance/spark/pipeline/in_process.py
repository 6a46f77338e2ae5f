"""Judge of the logs of many runs in this process, one by one, without Spark.

A run is read whole, judged and forgotten, so that the memory is that of the largest run. With several jobs
runs are judged in parallel processes. The judge is the one that tasks of Spark call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from antiphon.conformance.children import done_by_children
from antiphon.conformance.judge.history import Finding, judge_run, properties_of
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.spark.pipeline.errors import PipelineError
from antiphon.conformance.spark.pipeline.report import SHOWN_MAX, Damage, RunVerdict, VerifyReport
from antiphon.conformance.spark.pipeline.runs import FoundRun
from antiphon.model.bounds import UNBOUNDED, Bounds
from antiphon.model.limits import Limits, under_limits
from antiphon.model.verdict import Outcome

BYTES_MAX: Final = 200 << 20
"""Largest number of bytes of logs that are judged here unless Spark is requested: two million events, which
take a minute of a processor, about as long as Spark takes to start and to judge them
(`benchmarks/judging.py`).
"""

_COMPRESSION: Final = 10
"""Estimated size of a log, as a multiple of the size of its compressed copy."""
_RUN_BYTES: Final = 6_000
"""Fixed cost of a run, as the number of bytes that are judged in the same time: two milliseconds."""
_ONE_PROCESS_BYTES: Final = 20 << 20
"""Number of bytes of logs below which all are judged before other processes would have started."""


def volume(runs: Sequence[FoundRun]) -> int:
    """Estimate the bytes to read for these runs: the decompressed size of their logs, plus a fixed amount for
    each run.
    """
    return _RUN_BYTES * len(runs) + sum(
        run.size * (1 if all(name.endswith(".ndjson") for _, name in run.logs) else _COMPRESSION)
        for run in runs
    )


class _Judged(NamedTuple):
    """The verdicts about one run."""

    verdicts: list[tuple[Outcome, Finding, str]]
    damage: list[Damage]
    faults: int
    events: int
    hints: tuple[str, ...]


def judge_here(
    runs: Sequence[FoundRun],
    promise: Collection[str],
    tell: Callable[[str], None] | None = None,
    jobs: int = 1,
    bounds: Bounds = UNBOUNDED,
) -> VerifyReport:
    """Judge runs in this process, without Spark.

    Args:
        runs: runs on a file system of this machine.
        promise: the system's promise.
        tell: called now and then with the progress.
        jobs: the number of processes, if there is enough work. They start as `multiprocessing` spawns them.
        bounds: the seconds after which no other run is judged. The runs that are left are unknown.
    """
    names = properties_of(promise)
    counts: dict[str, Counter[Outcome]] = {name: Counter() for name in names}
    judged: Counter[str] = Counter()
    broken: dict[str, list[RunVerdict]] = {name: [] for name in names}
    unknown: dict[str, str] = {}
    damage: list[Damage] = []
    hints: set[str] = set()
    faults = events = number = 0
    with under_limits(bounds) as limits, closing(_judged(runs, promise, jobs)) as results:
        for number, (run, found) in enumerate(zip(runs, _in_time(results, limits), strict=False), 1):
            for outcome, finding, told in found.verdicts:
                counts[finding.property][outcome] += 1
                judged[finding.property] += finding.judged
                if outcome is Outcome.VIOLATED and len(broken[finding.property]) < SHOWN_MAX:
                    broken[finding.property].append(RunVerdict(run.name, outcome, finding))
                elif outcome is Outcome.UNKNOWN:
                    unknown.setdefault(finding.property, f"{run.name}: {told}")
            damage += found.damage[: SHOWN_MAX - len(damage)]
            faults += found.faults
            events += found.events
            hints.update(found.hints)
            if tell is not None:
                tell(f"{number:,} of {len(runs):,} runs")
    stopped = ""
    if left := len(runs) - number:
        bound = bounds.reached(0, limits.elapsed())
        stopped = f"{bound} ended the judging after {number:,} of {len(runs):,} runs"
        for name in names:
            counts[name][Outcome.UNKNOWN] += left
            unknown.setdefault(name, stopped)
    return VerifyReport(
        counts=counts,
        verdicts=tuple(_in_turn(broken))[:SHOWN_MAX],
        damage=tuple(damage),
        violated=sum(counter[Outcome.VIOLATED] for counter in counts.values()),
        faults=faults,
        runs=len(runs),
        suspects=len(runs),
        events=events,
        judged={name: judged[name] for name in names},
        unknown=unknown,
        hints=tuple(sorted(hints)),
        stopped=stopped,
    )


def _in_time(results: Iterator[_Judged], limits: Limits) -> Iterator[_Judged]:
    """Yield results until the time is over."""
    while limits.bounds.reached(0, limits.elapsed()) is None:
        try:
            result = next(results)
        except StopIteration:
            return
        yield result


def _judged(runs: Sequence[FoundRun], promise: Collection[str], jobs: int) -> Generator[_Judged, None, None]:
    """Yield the verdicts about each run, in their order."""
    judge = partial(_judge, tuple(promise) if not isinstance(promise, str) else (promise,))
    if jobs == 1 or len(runs) == 1 or volume(runs) < _ONE_PROCESS_BYTES:
        yield from map(judge, runs)
        return
    most = max(1, len(runs) // (8 * jobs))
    shares = [runs[at : at + most] for at in range(0, len(runs), most)]
    try:
        for found in done_by_children(min(jobs, len(shares)), "spawn", partial(_judge_all, judge), shares):
            yield from found
    except BrokenProcessPool as error:
        raise PipelineError(
            "a process that judged logs was killed, as where memory is short: judge fewer at a time, or on "
            "Spark (--master)"
        ) from error


def _judge_all(judge: Callable[[FoundRun], _Judged], runs: Sequence[FoundRun]) -> list[_Judged]:
    return list(map(judge, runs))


def _judge(promise: tuple[str, ...], found: FoundRun) -> _Judged:
    run = load_run(found.path)
    findings = judge_run(run, promise)
    own = Path(found.path)
    damage = [
        Damage(
            found.name,
            None if problem.path == own else _process_of(problem.path.name),
            str(problem.path),
            problem.line,
            problem.reason,
        )
        for problem in run.problems
    ]
    return _Judged(
        [(findings.outcome(each), each, findings.sentence(each)) for each in findings.findings],
        damage[:SHOWN_MAX],
        len(damage),
        sum(map(len, run.events)),
        findings.hints,
    )


def _process_of(name: str) -> int | None:
    number = name.removeprefix("process-").partition(".")[0]
    return int(number) if number.isdigit() else None


def _in_turn(broken: dict[str, list[RunVerdict]]) -> Iterator[RunVerdict]:
    """Yield the violations in turn: the first of each property, then the second of each, and so on, so that
    no property hides another.
    """
    for place in range(SHOWN_MAX):
        yield from (verdicts[place] for verdicts in broken.values() if place < len(verdicts))
