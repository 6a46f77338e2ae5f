"""Run of a cluster: processes talk through the relay until all have delivered all, and their logs are judged.

Whatever happens (a node dies, time runs out, Ctrl-C, the parent is killed) no process outlives the run, and
the logs stay. A node that fails or a run that takes too long is no exception: the outcome is unknown, with
the reason. This module must not know a protocol or a property.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from rich.console import Console

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import (
    CUT_OFF,
    TRUNCATED,
    Broadcast,
    Deliver,
    Header,
    Run,
    digest,
    load_run,
    log_name,
)
from antiphon.conformance.run.cluster import control
from antiphon.conformance.run.cluster.changing.whole_run import run_changing
from antiphon.conformance.run.cluster.exercise import EXERCISED
from antiphon.conformance.run.cluster.processes import Node, NodeFailed
from antiphon.conformance.run.cluster.progress import Display, display
from antiphon.conformance.run.cluster.protocols import Membership
from antiphon.conformance.run.cluster.relay import Relay
from antiphon.conformance.run.cluster.result import PROMISE, ClusterResult, missing_faults
from antiphon.conformance.run.cluster.settings import ClusterSettings
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.impl.transport.sealing import KEY_BYTES
from antiphon.model.files import write_whole

RECORD = "cluster.json"


def run_cluster(
    protocol: str = "rbp",
    processes: int = 3,
    messages: int = 2000,
    loss: float = 0.1,
    duplication: float = 0.05,
    reordering: float = 0.05,
    seed: int = 7,
    directory: Path | str = "runs",
    *,
    encrypted: bool = False,
    late_s: float = 0.0,
    stop_s: float = 0.0,
    deadline_s: float = 120.0,
    join: bool = False,
    only: Sequence[FaultKind] = (),
    quiet: bool = False,
    minutes: float = 0.0,
    record: bool = False,
    console: Console | None = None,
) -> ClusterResult:
    """Run a cluster once, and judge its logs, which are in a new directory under `directory`.

    `messages` are broadcast in all; the probabilities are per datagram; the last process starts `late_s`
    seconds after the others, one after another is stopped for `stop_s`, and the run is given up after
    `deadline_s`. With `join`, and always with "irbp", "rbp-reforming" and "vsc", members join, leave, crash
    and come back: `only` says which kinds of faults happen (`quiet`: none), and `minutes` for how long they
    are repeated (0: each happens once). With `record` the processes write what they exercise beside their
    logs (`exercise.exercised_in`). `console` shows the progress if it is a terminal.

    Raises:
        ValueError: a setting is out of range; the message says which and what is allowed.
        OSError: a directory, a socket or a process cannot be made.
    """
    settings = ClusterSettings(
        protocol=protocol, processes=processes, messages=messages,
        loss=loss, duplication=duplication, reordering=reordering, seed=seed, encrypted=encrypted,
        late_s=late_s, stop_s=stop_s, deadline_s=deadline_s, join=join, only=tuple(only), quiet=quiet,
        minutes=minutes, record=record,
    )  # fmt: skip
    word = re.sub(r"\W+", "-", Path(protocol).name)
    home = _new_directory(Path(directory), f"{word}-{processes}x{messages}-{seed}")
    begun = time.monotonic()
    with display(settings, console) as progress:
        if settings.join:
            return _with_record(run_changing(settings, home, progress), home / RECORD)
        relay, stops, faults = asyncio.run(_run(settings, home, progress))
    seconds = time.monotonic() - begun
    run = load_run(home)
    result = ClusterResult(
        settings=settings,
        directory=home,
        run=home.name,
        seconds=seconds,
        delivered=tuple(sum(isinstance(event, Deliver) for event in events) for events in run.events),
        links={f"{sender}:{receiver}": link.counts for (sender, receiver), link in relay.links.items()},
        stops=stops,
        faults=(*faults, *_log_faults(run, settings), *missing_faults(settings, relay.counts, stops)),
        judged=judge_run(run, PROMISE),
    )
    return _with_record(result, home / RECORD)


async def _run(
    settings: ClusterSettings, home: Path, progress: Display
) -> tuple[Relay, tuple[int, ...], tuple[str, ...]]:
    """Run the processes. Return the relay, how often each process was stopped, and the reasons why the run
    failed.
    """
    relay = Relay(settings.processes, settings.seed, settings.faults)
    nodes: list[Node] = []
    faults: tuple[str, ...] = ()
    key = secrets.token_bytes(KEY_BYTES) if settings.encrypted else None

    def news() -> None:
        progress(sum(node.delivered for node in nodes), relay.counts)

    try:
        async with asyncio.timeout(settings.deadline_s):
            await _play(settings, home, relay, nodes, news, key)
    except TimeoutError:
        told = "; ".join(node.how_far() for node in nodes)
        faults = (f"given up after {settings.deadline_s:g} s of {settings.messages} messages: {told}",)
    except NodeFailed as failure:
        faults = (str(failure),)
    finally:
        await asyncio.gather(*(node.end() for node in nodes))
        relay.close()
    return relay, tuple(node.pauses for node in nodes), faults


async def _play(
    settings: ClusterSettings,
    home: Path,
    relay: Relay,
    nodes: list[Node],
    on_news: Callable[[], None],
    key: bytes | None,
) -> None:
    """Start all nodes, connect them through the relay, wait until all have finished, and stop them. Raise
    NodeFailed for the first node that fails.
    """

    async def begin(processes: range) -> None:
        for process in processes:
            orders = control.line(_orders(settings, home, relay, process, key))
            nodes.append(await Node.start(process, orders, home, on_news))
        ports = await asyncio.gather(*(nodes[process].bound for process in processes))
        relay.start(dict(zip(processes, ports, strict=True)))
        for process in processes:
            nodes[process].tell(control.START)

    punctual = settings.processes - (settings.late_s > 0)
    await begin(range(punctual))
    async with _stopping_in_turn(nodes, settings.stop_s):
        await asyncio.sleep(settings.late_s)
        await begin(range(punctual, settings.processes))
        await asyncio.gather(*(node.finished for node in nodes))
    await asyncio.gather(*(node.stop() for node in nodes))


@contextlib.asynccontextmanager
async def _stopping_in_turn(nodes: list[Node], stop_s: float) -> AsyncIterator[None]:
    """Context in which one node after another is stopped for `stop_s` seconds. After each stop all nodes run
    for half as long.
    """

    async def stop() -> None:
        turn = 0
        while stop_s:
            await asyncio.sleep(stop_s / 2)
            await nodes[turn % len(nodes)].pause(stop_s)
            turn += 1

    task = asyncio.create_task(stop())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def _orders(
    settings: ClusterSettings, home: Path, relay: Relay, process: int, key: bytes | None
) -> control.Orders:
    header = Header(
        run=home.name,
        protocol=settings.protocol,
        process=process,
        processes=settings.processes,
        seed=settings.seed,
        messages=settings.messages,
        loss=settings.loss,
        duplication=settings.duplication,
        reordering=settings.reordering,
    )
    membership = Membership(
        group=digest(str(home.resolve()).encode()),
        process=process,
        processes=settings.processes,
        routes=relay.routes(process),
        key=key,
    )
    log = str((home / log_name(process)).absolute())
    exercised = str((home / EXERCISED.format(process, 0)).absolute()) if settings.record else ""
    return control.Orders(
        header=header, log=log, share=settings.share(process), membership=membership, exercised=exercised
    )


def _new_directory(parent: Path, name: str) -> Path:
    """Make the run's directory; if its name is taken, append the first free number."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        home = parent / (name if number == 1 else f"{name}-{number}")
        try:
            home.mkdir()
        except FileExistsError:
            number += 1
        else:
            return home


def _with_record(result: ClusterResult, path: Path) -> ClusterResult:
    """Write the record of a run, whole or not at all, and return the result; if the record cannot be written,
    the returned result has that as a fault.
    """
    try:
        write_whole(path, result.record() + b"\n")
    except OSError as error:
        return dataclasses.replace(
            result, faults=(*result.faults, f"{path}: cannot be written: {error.strerror}")
        )
    return result


def _log_faults(run: Run, settings: ClusterSettings) -> tuple[str, ...]:
    """Return the faults of the logs: located problems, logs that stop early (reported once) or lack
    broadcasts.
    """
    early = {problem.path for problem in run.problems if problem.reason in (TRUNCATED, CUT_OFF)}
    faults = [str(problem) for problem in run.problems if problem.reason not in (TRUNCATED, CUT_OFF)]
    if len(run.logs) < settings.processes:
        faults.append(f"only {len(run.logs)} of {settings.processes} logs")
    unfinished = [process for process, log in enumerate(run.logs) if log.path in early]
    if unfinished:
        faults.append(f"truncated: the logs of processes {', '.join(map(str, unfinished))} have no end")
    for process, events in enumerate(run.events):
        broadcast = sum(isinstance(event, Broadcast) for event in events)
        if process not in unfinished and broadcast != settings.share(process):
            faults.append(
                f"process {process} broadcast {broadcast} of its {settings.share(process)} messages"
            )
    return tuple(faults)
