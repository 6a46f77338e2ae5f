"""Node: one member in its own operating-system process, which broadcasts a share and delivers all.

It talks to its parent on stdin and stdout (`control`):
1. It reads its orders, binds a socket on the loopback interface and names the port.
2. At `start` it joins the group, and its application broadcasts its share; it reports its progress.
3. When it has delivered every message of the run it says so, and stays: others may still need messages that
    only this node can send again.
4. At `stop` it leaves the group, ends its log and exits with 0.
5. When its stdin ends, at `abandon`, or when the log cannot be written, it exits at once, and its
   log has no `end`.

This module must not know the relay, the faults or the verdict.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from antiphon.conformance.judge.trace import LogWriteError, LogWriter
from antiphon.conformance.run.cluster import control
from antiphon.conformance.run.cluster.application import Application
from antiphon.conformance.run.cluster.exercise import recorded
from antiphon.conformance.run.cluster.protocols import member, run_as
from antiphon.conformance.run.cluster.tracer import LogTracer
from antiphon.impl.group import Group
from antiphon.impl.loops import run
from antiphon.impl.protocols.core import Implementation
from antiphon.spec.lang.foreign import alive, end_process

_PROGRESS_S = 0.1


def main() -> int:
    """Run one node; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a run ends
    lines = lines_of(sys.stdin.fileno())
    orders = control.orders(next(lines, b""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        with LogWriter(Path(orders.log), orders.header) as log:
            say(control.Bound(bound.getsockname()[1]))
            if next(lines, b"") + b"\n" != control.START:
                return control.EXIT_ABANDONED
            run(_take_part(orders, bound, log, lines))
            log.end()
    return 0


async def _take_part(
    orders: control.Orders, bound: socket.socket, log: LogWriter, lines: Iterator[bytes]
) -> None:
    """Be a member of the group until the parent sends `stop`."""
    stop = asyncio.Event()
    _listen(lines, stop)
    name, members = orders.header.protocol, orders.membership.processes
    if orders.exercised:
        with recorded(orders.exercised, run_as(name), members) as (watched, keep):
            await _with_member(orders, watched, bound, log, stop, keep)
    else:
        await _with_member(orders, name, bound, log, stop, lambda: None)


async def _with_member(
    orders: control.Orders,
    protocol: str | Implementation[Any],
    bound: socket.socket,
    log: LogWriter,
    stop: asyncio.Event,
    keep: Callable[[], None],
) -> None:
    group = member(protocol, orders.membership, bound, LogTracer(log, give_up))
    if orders.membership.key is not None and not group.encrypted:
        raise ValueError(f"{orders.header.protocol} makes members without the key that a Membership has")
    async with group:
        application = Application(group, orders.header, orders.share, log)
        work = asyncio.create_task(application.run())
        speaking = asyncio.create_task(_speak(application, group, keep))
        told = asyncio.create_task(stop.wait())
        await asyncio.wait([work, speaking, told], return_when=asyncio.FIRST_COMPLETED)
        speaking.cancel()
    await work


async def _speak(application: Application, group: Group, keep: Callable[[], None]) -> None:
    """Report at intervals the application's progress and what its member waits for, keep what has been
    exercised, and report once that it has finished.
    """
    finished = asyncio.create_task(application.finished.wait())
    while not finished.done():
        await asyncio.wait([finished], timeout=_PROGRESS_S)
        waits = tuple(map(str, group.waits))
        keep()
        say(control.Progress(application.delivered, application.broadcast, waits, group.waiting_s))
    say(control.Finished(application.delivered))
    await asyncio.Event().wait()


def _listen(lines: Iterator[bytes], stop: asyncio.Event) -> None:
    """Wait for the parent's last command in a thread, so that a node whose event loop hangs still notices the
    parent's end.
    """
    loop = asyncio.get_running_loop()

    def listen() -> None:
        if next(lines, b"") + b"\n" == control.STOP:
            loop.call_soon_threadsafe(stop.set)
        else:
            end_process(control.EXIT_ABANDONED)

    threading.Thread(target=listen, name="parent", daemon=True).start()


def give_up(error: BaseException) -> NoReturn:
    """Write the reason to stderr in one line, if it can be written, and exit with the exit code of this
    failure.
    """
    with contextlib.suppress(OSError):
        os.write(sys.stderr.fileno(), f"{type(error).__name__}: {error}\n".encode())
    end_process(control.EXIT_FAILED)


def say(what: control.Said) -> None:
    """Write one line to the parent."""
    try:
        os.write(sys.stdout.fileno(), control.line(what))
    except BrokenPipeError:
        end_process(control.EXIT_ABANDONED)


def lines_of(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a pipe without their ends, read unbuffered: no lock is held when the node exits."""
    rest = b""
    while data := os.read(descriptor, 65_536):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


def guarded(node: Callable[[], int]) -> NoReturn:
    """Run a node to its end, and exit; the exit code tells the parent of a failure."""
    try:
        with alive():
            code = node()
    except BaseException as error:  # noqa: BLE001 - of whatever kind, also a wish to end the process
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if not isinstance(cause, LogWriteError):  # the place of that tells nothing, and needs room
            sys.excepthook(*sys.exc_info())
        give_up(cause)
    sys.exit(code)


if __name__ == "__main__":
    guarded(main)
