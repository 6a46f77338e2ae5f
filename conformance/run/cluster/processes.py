"""Parent's handle of a node: it starts the process, exchanges lines with it, and always ends and awaits it by
its process id.

A node has its own session, so an interrupt at the terminal reaches only the parent, which then ends the nodes
in order. If the parent itself is killed, its end of each node's stdin closes, and that ends the node. This
module must not know faults, logs or verdicts.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Self

import msgspec

from antiphon.conformance.run.cluster import control

_GRACE_S = 10.0
"""Seconds that a node which was asked to go may take before it is killed; a busy machine may take some."""

_SILENT_S = 1.0
"""Age from which a report counts as old: a node that has not finished reports several times a second."""


class NodeFailed(Exception):
    """Error: a node ended too early, or sent an invalid line."""


class Node:
    """Running node. Make it with `start`, and call `end` in any case."""

    MODULE: ClassVar[str] = "antiphon.conformance.run.cluster.node"
    """Module that the process runs."""

    def __init__(self, number: int, process: Process, stderr: Path, on_news: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.delivered = 0
        self.done = False
        self.pauses = 0
        self._progress: control.Progress | None = None
        self._heard_at = time.monotonic()
        self.bound: asyncio.Future[int] = loop.create_future()
        self.finished: asyncio.Future[None] = loop.create_future()
        self._process = process
        self._stderr = stderr
        self._on_news = on_news
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, number: int, orders: bytes, directory: Path, on_news: Callable[[], None]
    ) -> Self:
        """Start a process and send it its orders; its stderr goes to a file beside its log."""
        path = directory / f"process-{number}.stderr"
        with path.open("ab") as stderr:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-P", "-m", cls.MODULE,
                stdin=PIPE, stdout=PIPE, stderr=stderr, start_new_session=True,
            )  # fmt: skip
        node = cls(number, process, path, on_news)
        node.tell(orders)
        return node

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def how_far(self) -> str:
        """Return the node's progress and what it waits for, by its last report, with the report's age if it
        is old.
        """
        said = self._progress
        silent_s = time.monotonic() - self._heard_at
        old = f", silent for {silent_s:.0f} s" if silent_s > _SILENT_S and not self.done else ""
        if said is None:
            return f"process {self.number} has said nothing{old}"
        waits = f", waits for {'; '.join(said.waits)} for {said.waiting_s:.1f} s" if said.waits else ""
        done = " all" if self.done else ""
        return (
            f"process {self.number} broadcast {said.broadcast}, delivered{done} {self.delivered}{waits}{old}"
        )

    def tell(self, line: bytes) -> None:
        """Send one line to the node; do nothing if it has ended."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._process.stdin.write(line)

    async def pause(self, seconds: float) -> None:
        """Stop the process by SIGSTOP, and continue it by SIGCONT."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGSTOP)
            self.pauses += 1
            try:
                await asyncio.sleep(seconds)
            finally:
                self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> None:
        """End the process as by `kill -9`, and wait for it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Let the node end its log and exit.

        Raises:
            NodeFailed: it does not exit with 0 in time.
        """
        self.tell(control.STOP)
        try:
            async with asyncio.timeout(_GRACE_S):
                code = await self._process.wait()
        except TimeoutError:
            raise NodeFailed(f"process {self.number} did not stop within {_GRACE_S:g} s") from None
        if code != 0:
            raise NodeFailed(self._how_it_ended(code))

    async def end(self) -> None:
        """Make sure that the process has ended and was awaited; a second call does nothing."""
        if self._process.returncode is None:
            self.tell(control.ABANDON)
            try:
                async with asyncio.timeout(_GRACE_S):
                    await self._process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._process.kill()
                await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await self._process.stdin.wait_closed()
        await self._listening
        for future in (self.bound, self.finished):
            if not future.cancel() and not future.cancelled():
                future.exception()  # it has been told, or the run is over and nobody asks any more
        with contextlib.suppress(FileNotFoundError):
            if self._stderr.stat().st_size == 0:
                self._stderr.unlink()

    async def _listen(self) -> None:
        """Take the reports of the node until its stdout ends. A node that has not reported its end by then
        has failed.
        """
        assert self._process.stdout is not None
        failure: NodeFailed | None = None
        try:
            async for line in self._process.stdout:
                self._take(control.said(line))
        except (msgspec.DecodeError, asyncio.InvalidStateError, ValueError) as error:
            failure = NodeFailed(f"process {self.number} said what no node says: {error}")
            self._process.kill()
        code = await self._process.wait()
        failure = failure or NodeFailed(self._how_it_ended(code))
        for future in (self.bound, self.finished):
            if not future.done():
                future.set_exception(failure)

    def _take(self, said: control.Said) -> None:
        match said:
            case control.Bound(port):
                self.bound.set_result(port)
            case control.Progress(delivered):
                self.delivered = delivered
                self._progress, self._heard_at = said, time.monotonic()
            case control.Finished(delivered):
                self.delivered, self.done = delivered, True
                self.finished.set_result(None)
        self._on_news()

    def _how_it_ended(self, code: int) -> str:
        """Return how the process ended, in words, with the last line of its stderr."""
        ended = f"was killed by signal {-code}" if code < 0 else f"exited with code {code}"
        lines = self._stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        told = f": {lines[-1]} (see {self._stderr})" if lines else ""
        return f"process {self.number} {ended}{told}"
