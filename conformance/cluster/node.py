"""A node is one member in its own operating-system process: it broadcasts a share and delivers all.

The life of a node, told on stdin and stdout as `control` says:
1. It reads its orders, binds a socket on the loopback interface and names the port.
2. At `start` it joins the group and broadcasts its share, one message after the other.
3. When it has delivered every message of the run it says so, and stays: others may still miss
   what only this node can send again.
4. At `stop` it leaves the group, ends its log and exits with 0.
5. When its stdin ends, at `abandon`, or when the log cannot be written, it goes at once, and its
   log has no `end`.

This module must not know the relay, the faults or the verdict.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from antiphon.conformance.cluster import control
from antiphon.conformance.cluster.protocols import member
from antiphon.conformance.cluster.tracer import LogTracer
from antiphon.conformance.trace import LogWriter
from antiphon.impl.group import Group

_PROGRESS_S = 0.1
_FILLER_BYTES_MAX = 64


def main() -> int:
    """Run one node; returns the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a run ends
    lines = _lines(sys.stdin.fileno())
    orders = control.orders(next(lines, b""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        with LogWriter(Path(orders.log), orders.header) as log:
            _say(control.Bound(bound.getsockname()[1]))
            if next(lines, b"") + b"\n" != control.START:
                return control.EXIT_ABANDONED
            asyncio.run(_take_part(orders, bound, log, lines))
            log.end()
    return 0


async def _take_part(
    orders: control.Orders, bound: socket.socket, log: LogWriter, lines: Iterator[bytes]
) -> None:
    """Be a member of the group until the parent says stop."""
    stop = asyncio.Event()
    _listen(lines, stop)
    group = member(orders.header.protocol, orders.membership, bound, LogTracer(log, _give_up))
    async with group:
        work = asyncio.create_task(_work(orders, group))
        told = asyncio.create_task(stop.wait())
        await asyncio.wait([work, told], return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
            await told
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _work(orders: control.Orders, group: Group) -> None:
    """Broadcast the share while counting deliveries; done when every message of the run is delivered."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_broadcast(orders, group))
        tasks.create_task(_deliver(orders.header.messages, group))


async def _broadcast(orders: control.Orders, group: Group) -> None:
    for payload in payloads(orders.header.seed, orders.header.process, orders.share):
        await group.broadcast(payload)


async def _deliver(messages: int, group: Group) -> None:
    delivered, said_at = 0, time.monotonic()
    async for _ in group.deliveries():
        delivered += 1
        if delivered == messages:
            _say(control.Finished(delivered))
            return
        if time.monotonic() - said_at >= _PROGRESS_S:
            said_at = time.monotonic()
            _say(control.Progress(delivered))
    raise RuntimeError(f"the group ended after {delivered} of {messages} deliveries")


def payloads(seed: int, process: int, count: int) -> Iterator[bytes]:
    """The payloads of a process: distinct within the run, of differing lengths, fixed by the seed."""
    generator = random.Random(f"{seed}:{process}")
    for k in range(1, count + 1):
        yield b"%d:%d " % (process, k) + generator.randbytes(generator.randrange(_FILLER_BYTES_MAX + 1))


def _listen(lines: Iterator[bytes], stop: asyncio.Event) -> None:
    """Wait for the parent's last word in a thread: a node that hangs notices that the parent is gone."""
    loop = asyncio.get_running_loop()

    def listen() -> None:
        if next(lines, b"") + b"\n" == control.STOP:
            loop.call_soon_threadsafe(stop.set)
        else:
            os._exit(control.EXIT_ABANDONED)

    threading.Thread(target=listen, name="parent", daemon=True).start()


def _give_up(error: Exception) -> None:
    """Without a log the node is of no use: say why and go."""
    os.write(sys.stderr.fileno(), f"{error}\n".encode())
    os._exit(control.EXIT_FAILED)


def _say(what: control.Said) -> None:
    """Write one line to the parent."""
    try:
        os.write(sys.stdout.fileno(), control.line(what))
    except BrokenPipeError:
        os._exit(control.EXIT_ABANDONED)


def _lines(descriptor: int) -> Iterator[bytes]:
    """The lines of a pipe without their ends, read unbuffered: no lock is held when the node exits."""
    rest = b""
    while data := os.read(descriptor, 65_536):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:  # noqa: BLE001 - whatever failed, the parent has to learn it from the exit code
        sys.excepthook(*sys.exc_info())
        sys.exit(control.EXIT_FAILED)
