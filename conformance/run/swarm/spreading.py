"""Runs of many seeds, spread over processes; the result does not depend on the number of processes.

This module knows neither cores nor faults: it counts the results of `run_seed`.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeAlias, get_args

from antiphon.conformance.children import done_by_children
from antiphon.conformance.coverage.recorder import Seen
from antiphon.conformance.run.swarm.settings import FaultKind, Settings
from antiphon.conformance.run.swarm.steering import BLOCK, recorded_runs
from antiphon.conformance.run.swarm.swarm import RunResult, core_of, fitted, run_seed
from antiphon.model.verdict import Outcome

__all__ = ["SwarmReport", "run_swarm", "without_run"]

_CHUNK = 50

_OF_MEMBERS = {"endpoint", "link", "beat", "join", "welcome", "superseded", "ended", "exists"}
"""The kinds of datagrams that members of a changing group send without a state, an onlooker or a mistake."""


class _Done(NamedTuple):
    """Results of a chunk of runs, the processor time that they took, and what they exercised, if recorded."""

    results: list[RunResult]
    processor_ns: int
    seen: Seen | None = None


_Work: TypeAlias = Callable[[range], _Done]


@dataclass
class SwarmReport:
    """The results of the runs of the seeds from `seed` on.

    `asked` is how many were asked for; None for as many as the time permits. `failed` are those that do not
    hold, in the order of their seeds; the first has its schedule and logs. `met` counts the runs with each
    kind of fault, `messages` the sent messages by kind, `actions` the internal steps of cores. `processor_ns`
    is the runs' processor time, `seconds` the wall clock time. `seen` is what the runs have exercised, if
    that was recorded.
    """

    core: str
    seed: int
    settings: Settings
    asked: int | None = None
    runs: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    met: Counter[FaultKind] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    failed: list[RunResult] = field(default_factory=list)
    delivered: int = 0
    sent: int = 0
    lost: int = 0
    duplicated: int = 0
    reordered: int = 0
    seconds: float = 0.0
    processor_ns: int = 0
    seen: Seen | None = None

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of all runs; unknown at best if a requested fault affected none, or if
        runs are missing that were asked for.
        """
        missing = [Outcome.UNKNOWN] if self.never_met or self.untaken else []
        return Outcome.worst([*self.outcomes.elements(), *missing])

    def __repr__(self) -> str:
        return f"<SwarmReport on {self.core}: {self.outcome.value}, {self.runs} runs from seed {self.seed}>"

    def __str__(self) -> str:
        """Return the outcome, the seeds that fail with their reasons, and the first of these runs,
        as text.
        """
        lines = [repr(self)[1:-1], *map(repr, self.failed[1:9])]
        return "\n".join([*lines, *map(str, self.failed[:1])])

    @property
    def untaken(self) -> int:
        """Return the number of runs that were asked for and not taken."""
        return 0 if self.asked is None else self.asked - self.runs

    @property
    def never_met(self) -> list[FaultKind]:
        """Return the kinds of faults of members that were requested by name, and that affected no run."""
        kinds = FaultKind.of(join=True)
        if not self.settings.join or set(self.settings.faults) >= set(kinds):
            return []
        return [kind for kind in self.settings.faults if kind in kinds and not self.met[kind]]

    @property
    def never_sent(self) -> list[str]:
        """Return the kinds of messages of the protocol that no run sent."""
        if self.settings.join:
            return sorted(_OF_MEMBERS - self.messages.keys())
        types = core_of(self.core, self.settings.planted).messages.types
        kinds = (kind.__struct_config__.tag for kind in get_args(types) or (types,))
        return sorted({str(kind) for kind in kinds} - self.messages.keys())

    def add(self, result: RunResult) -> None:
        """Count one more run."""
        self.runs += 1
        self.outcomes[result.outcome] += 1
        self.met.update(result.faults)
        self.messages.update(result.messages)
        self.actions.update(result.actions)
        self.delivered += result.delivered
        self.sent += result.sent
        self.lost += result.lost
        self.duplicated += result.duplicated
        self.reordered += result.reordered
        if result.outcome is not Outcome.HOLDS:
            self.failed.append(result if not self.failed else without_run(result))


def without_run(result: RunResult) -> RunResult:
    """Return a result without its schedule and logs, which its seed gives again."""
    return dataclasses.replace(result, findings=(), schedule=None, logs=())


def run_swarm(
    core: str,
    *,
    runs: int | None,
    seed: int,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    jobs: int = 1,
    steer: bool = False,
    known: Seen | None = None,
    max_seconds: float | None = None,
    progress: Callable[[int, int], None] = lambda _done, _failed: None,
) -> SwarmReport:
    """Take the runs of so many consecutive seeds, in `jobs` processes.

    Args:
        core: the name of a protocol that is bound.
        runs: the number of runs; None for as many as `max_seconds` permits.
        seed: the seed of the first run; each has the next.
        settings: the settings of the runs, with their faults.
        jobs: the number of processes.
        steer: steer the runs, in blocks of `BLOCK`, towards what no run of their block has exercised.
        known: record what the runs exercise; this counts as exercised before. None: nothing is recorded.
        max_seconds: time after which no further chunk of runs is counted, one at least; None: no limit.
        progress: called now and then with the numbers of finished and of failed runs.

    Raises:
        SpecError: no such core or planted fault; the message lists the known ones.
        ValueError: neither a number of runs nor a time.
    """
    if runs is None and max_seconds is None:
        raise ValueError("runs and max_seconds are None: one of them ends the runs")
    settings = fitted(core, settings)
    report, begun = SwarmReport(core, seed, settings, runs), time.monotonic()
    work: _Work = partial(_chunk, core, settings)
    if steer or known is not None:
        work = partial(_recorded_chunk, core, settings, steer, known or Seen())
    size = BLOCK if steer else _CHUNK
    seeds = range(seed, sys.maxsize if runs is None else seed + runs)
    for found, processor_ns, seen in _chunks(core, seeds, work, jobs, size):
        report.processor_ns += processor_ns
        if seen is not None:
            report.seen = seen if report.seen is None else report.seen.union(seen)
        for result in found:
            report.add(result)
        progress(report.runs, len(report.failed))
        if max_seconds is not None and time.monotonic() - begun >= max_seconds:
            break
    report.seconds = time.monotonic() - begun
    return report


def _chunks(core: str, seeds: range, take: _Work, jobs: int, size: int) -> Iterator[_Done]:
    """Run these seeds in chunks of a size. Yield what was done in each, in the order of the seeds."""
    chunks = (seeds[at : at + size] for at in range(0, len(seeds), size))
    if jobs == 1:
        yield from map(take, chunks)
        return
    answered = 0
    try:
        for found in done_by_children(jobs, "spawn", take, chunks):
            answered += 1
            yield found
    except BrokenProcessPool:
        yield _Done([_unanswered(core, seeds[answered * size :])], 0)


def _unanswered(core: str, seeds: range) -> RunResult:
    """Return the result of a run whose process ended before it answered: nothing is known."""
    reason = (
        f"a process that took runs from seed {seeds[0]} on was killed and gave no answer; the runs from "
        "there on are missing: take them with fewer --jobs"
    )
    return RunResult(
        core, f"{core}-{seeds[0]}", seeds[0], Outcome.UNKNOWN, (), 0, 0.0, 0, 0, 0, 0, 0, {}, {}, (reason,)
    )


def _chunk(core: str, settings: Settings, seeds: range) -> _Done:
    core_of(core, settings.planted, join=settings.join)  # what is loaded once is not the runs' own time
    begun = time.process_time_ns()
    return _Done([run_seed(core, seed, settings) for seed in seeds], time.process_time_ns() - begun)


def _recorded_chunk(core: str, settings: Settings, steer: bool, known: Seen, seeds: range) -> _Done:
    core_of(core, settings.planted, join=settings.join)
    begun = time.process_time_ns()
    results, seen = recorded_runs(core, seeds, settings, steer=steer, known=known)
    return _Done(results, time.process_time_ns() - begun, seen)
