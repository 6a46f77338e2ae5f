"""Run of a group of another system under faults that a seed draws; its logs are judged.

A fault that could not happen makes the run unknown, as does a group that never comes together. A run that
breaks a promise is made shorter: it is run again with fewer faults, as long as the same property breaks. Each
run takes its own time, so that a repetition is another run. The last run that broke the property is reported.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from msgspec import json

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.conformance.run.systems.faults import LOSS, Fault, SystemSettings, faults_of
from antiphon.conformance.run.systems.group import Group
from antiphon.conformance.run.systems.hosts import Hosts
from antiphon.conformance.run.systems.logs import delivered, write_trace
from antiphon.conformance.run.systems.members import System
from antiphon.conformance.run.systems.result import SystemResult
from antiphon.model.files import write_whole

__all__ = ["run_system"]

_SHORTER: Final = 6
"""Largest number of runs that are made to find a shorter one."""


def run_system(
    settings: SystemSettings,
    system: System,
    directory: str | Path,
    on_news: Callable[[str], None] = lambda _: None,
    *,
    shorten_s: float = 120.0,
) -> SystemResult:
    """Run a group under faults and judge its logs.

    Args:
        settings: the settings; without a promise, the system's own is judged.
        system: the system.
        directory: a directory for the logs, which are put into a new one below.
        on_news: called with a line about the progress.
        shorten_s: the seconds after a run that breaks a promise in which another one with fewer faults may
            begin.

    Raises:
        SystemMissing: the system is not on this machine.
        NoHosts: network namespaces cannot be made.
        OSError: a log cannot be written.
    """
    directory = Path(directory)
    settings = replace(settings, promise=settings.promise or system.promise)
    with tempfile.TemporaryDirectory(prefix="antiphon-") as built:
        on_news(f"building the member of {system.name}")
        system.build(Path(built))
        faults = faults_of(settings, system.excludes_s)
        first = _judged_run(settings, system, faults, Path(built), directory, on_news)
        if not first.violated or len(first.faults) < 2 or shorten_s <= 0:
            return first
        return _shorter(first, system, Path(built), directory, on_news, time.monotonic() + shorten_s)


def _shorter(
    first: SystemResult,
    system: System,
    built: Path,
    directory: Path,
    on_news: Callable[[str], None],
    until: float,
) -> SystemResult:
    """Return the run with the fewest faults, of a bounded number of runs, that breaks the same property. No
    run begins after the time `until`, by the monotonic clock.
    """
    best, asked = first, first.violated[0]
    for attempt in range(1, _SHORTER + 1):
        half = len(best.faults) // 2
        if half == 0 or time.monotonic() > until:
            break
        kept = best.faults[:half] if attempt % 2 else best.faults[half:]
        moved = tuple(replace(fault, at_s=fault.at_s - kept[0].at_s + 1.0) for fault in kept)
        on_news(f"{asked} is broken; run {attempt} of at most {_SHORTER} with {len(moved)} faults instead")
        again = _judged_run(first.settings, system, moved, built, directory, on_news)
        if asked in again.violated:
            best = again
    return replace(best, tried=len(first.faults))


def _judged_run(
    settings: SystemSettings,
    system: System,
    faults: tuple[Fault, ...],
    built: Path,
    directory: Path,
    on_news: Callable[[str], None],
) -> SystemResult:
    began = time.monotonic()
    home = _new_directory(directory, settings)
    with Hosts(settings.processes, LOSS if FaultKind.LOSS in settings.kinds else 0.0) as hosts:
        run = Group(settings, system, hosts, built, home, on_news)
        try:
            run.play(faults)
        finally:
            run.end()
    members = run.printed()
    write_trace(members, home, home.name, system.name, settings.seed)
    result = SystemResult(
        settings, home, run.version(), time.monotonic() - began, tuple(run.happened), tuple(run.missing),
        judge_run(load_run(home), settings.promise), {each.name: delivered(each) for each in members},
    )  # fmt: skip
    write_whole(home / "system.json", json.format(json.encode(result.record()), indent=2))
    return result


def _new_directory(directory: Path, settings: SystemSettings) -> Path:
    for number in range(1, 100_000):
        home = directory / f"{settings.system}-{settings.processes}-{settings.seed}-{number}"
        with suppress(FileExistsError):
            home.mkdir(parents=True)
            return home
    raise FileExistsError(f"{directory} has a hundred thousand runs")
