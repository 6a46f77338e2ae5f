"""Standard input and output for a program that runs an event loop, be it a terminal, a pipe or a file.

A thread reads, because an event loop cannot wait for every kind of input, and it reads no further than the
program has come. A thread writes, so that the event loop goes on while nobody reads the output. Both end with
the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError

__all__ = ["aside", "lines"]

_READ_BYTES = 65_536


async def lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines of an open file without their ends; text after the last end counts as a line."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[list[bytes] | None] = asyncio.Queue(1)

    def give(found: list[bytes] | None) -> None:
        putting = waiting.put(found)
        try:
            asyncio.run_coroutine_threadsafe(putting, loop).result()
        finally:
            putting.close()  # a loop that has ended never began it

    def read() -> None:
        parts: list[bytes] = []
        with contextlib.suppress(RuntimeError, OSError, CancelledError):  # the loop has ended
            while data := os.read(descriptor, _READ_BYTES):
                *found, last = data.split(b"\n")
                if found:
                    found[0] = b"".join([*parts, found[0]])
                    parts.clear()
                    give(found)
                parts.append(last)
            rest = b"".join(parts)
            give([rest] if rest else [])
            give(None)

    threading.Thread(target=read, name="input", daemon=True).start()
    while (found := await waiting.get()) is not None:
        for line in found:
            yield line


async def aside(write: Callable[[], object]) -> None:
    """Call `write`, which may wait for a reader, in a thread; return when it has, or raise what it raises."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def end(error: Exception | None) -> None:
        if not done.done():
            done.set_result(None) if error is None else done.set_exception(error)

    def work() -> None:
        error = None
        try:
            write()
        except Exception as raised:  # noqa: BLE001 - whatever it is, the caller gets it
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(end, error)

    threading.Thread(target=work, name="output", daemon=True).start()
    await done
