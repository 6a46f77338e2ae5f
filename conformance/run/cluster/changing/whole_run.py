"""Whole run of a group whose members change, from its processes to its result.

A run that takes too long, or in which a process ends by itself, is no exception: its outcome is unknown, with
the reason, unless its logs show a violation.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from antiphon.conformance.run.cluster.changing.faults import What, whats, word
from antiphon.conformance.run.cluster.changing.hub import Hub
from antiphon.conformance.run.cluster.changing.judging import judged, lost, read
from antiphon.conformance.run.cluster.changing.running import STATE, Run
from antiphon.conformance.run.cluster.processes import NodeFailed
from antiphon.conformance.run.cluster.progress import Display
from antiphon.conformance.run.cluster.result import ClusterResult, missing_faults
from antiphon.conformance.run.cluster.settings import ClusterSettings
from antiphon.impl.registry import listed
from antiphon.impl.transport.sealing import KEY_BYTES

__all__ = ["run_changing"]


def run_changing(settings: ClusterSettings, home: Path, progress: Display) -> ClusterResult:
    """Run the processes of a changing group, and judge their logs in this directory.

    Raises:
        OSError: a socket, a process or a file cannot be made.
        MemberLogsError: the directory has other files instead of logs.
    """
    begun = time.monotonic()
    hub, run, faults = asyncio.run(_run(settings, home, progress))
    seconds = time.monotonic() - begun
    protocol = listed(settings.protocol)
    assert protocol is not None, "the settings have looked"
    written = read(home)
    states = {
        process: path.read_text().split()
        for process in range(settings.processes)
        if (path := home / STATE.format(process)).exists()
    }
    found = judged(home, ordered=protocol.ordered)
    if run.whole:  # else no log has an end
        faults = (*faults, *map(str, found.problems))
    return ClusterResult(
        settings=settings,
        directory=home,
        run=home.name,
        seconds=seconds,
        delivered=tuple(written.delivered.get(f"p{process}", 0) for process in range(settings.processes)),
        links={f"{sender}:{receiver}": link.counts for (sender, receiver), link in hub.links.items()},
        stops=tuple(run.stops),
        faults=(
            *faults, *run.missing, *_missing(settings, run.happened), *missing_faults(settings, hub.counts),
        ),
        judged=found,
        lost=lost(written, states) if protocol.ordered and run.whole else (),
        happened={word(what): run.happened[what] for what in whats(settings.kinds)},
        deeds=tuple(run.deeds),
        acknowledged=len(written.acknowledged),
        views=max(written.views, default=0),
    )


async def _run(settings: ClusterSettings, home: Path, progress: Display) -> tuple[Hub, Run, tuple[str, ...]]:
    """Run the processes. Return the relay, the run, and the reasons why it failed; none if it did not."""
    hub = Hub(settings.processes, settings.seed, settings.faults)
    key = secrets.token_bytes(KEY_BYTES) if settings.encrypted else None
    run = Run(settings, home, hub, key, lambda: progress(run.sent, hub.counts))
    faults: tuple[str, ...] = ()
    deadline_s = settings.deadline_s + 60.0 * settings.minutes
    try:
        async with asyncio.timeout(deadline_s):
            await run.play()
    except TimeoutError:
        faults = (f"given up after {deadline_s:g} s: {run.how_far()}",)
    except NodeFailed as failure:
        faults = (str(failure),)
    finally:
        await run.end()
        hub.close()
    return hub, run, faults


def _missing(settings: ClusterSettings, happened: Counter[What]) -> Iterator[str]:
    """Yield each requested fault that affected no process: a run without it shows less than it claims."""
    for what in whats(settings.kinds):
        if not happened[what]:
            yield f"no process was {what} that was a member; none is not a pass"
