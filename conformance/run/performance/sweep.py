"""Sweep: many points, each with several seeds.

A run follows from its setting and its seed alone, so that it does not matter where it is taken (`on_spark`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from antiphon.conformance.run.performance.group import simulate
from antiphon.conformance.run.performance.meter import Result
from antiphon.conformance.run.performance.setting import Setting

__all__ = ["Runs", "jobs_of", "ordered", "sweep"]

Runs = dict[Setting, tuple[Result, ...]]
"""Results of the runs of each point, one a seed, in the order of the seeds."""


def sweep(
    settings: Iterable[Setting],
    seeds: Sequence[int],
    run: Callable[[Setting, int], Result] = simulate,
    tell: Callable[[str], None] | None = None,
) -> Runs:
    """Return the runs of all points with all seeds, in this process; `tell` is called with the number of
    finished runs.
    """
    jobs = jobs_of(settings, seeds)
    found: list[tuple[Setting, int, Result]] = []
    for setting, seed in jobs:
        if tell is not None:
            tell(f"{len(found):,} of {len(jobs):,} runs")
        found.append((setting, seed, run(setting, seed)))
    return ordered(found, seeds)


def jobs_of(settings: Iterable[Setting], seeds: Sequence[int]) -> list[tuple[Setting, int]]:
    """Return the runs of all points with all seeds, each once, the largest first."""
    jobs = [(setting, seed) for setting in dict.fromkeys(settings) for seed in seeds]
    return sorted(jobs, key=lambda job: job[0].members * job[0].messages, reverse=True)


def ordered(found: Iterable[tuple[Setting, int, Result]], seeds: Sequence[int]) -> Runs:
    """Return results sorted by point and seed."""
    by_job = {(setting, seed): result for setting, seed, result in found}
    settings = dict.fromkeys(setting for setting, _ in by_job)
    return {setting: tuple(by_job[setting, seed] for seed in seeds) for setting in settings}
