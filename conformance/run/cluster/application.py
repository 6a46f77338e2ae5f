"""Application of a cluster's member: it broadcasts its share, takes every delivery, and logs both.

Its log is judged. The tracer logs the protocol's events beside it, so that a fault between the two is found.
A member has at most WAITING_MAX own messages on their way: with all at once a run would be a few large
datagrams, and few faults would affect it. This module must not know processes, pipes or the protocol.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Final

from antiphon.conformance.judge.trace import Header, LogWriter, digest, message_id
from antiphon.impl.group import Group

WAITING_MAX: Final = 2
"""Largest number of own messages on their way at once: enough for batches."""

_FILLER_BYTES_MAX = 64


class Application:
    """Application of one member in a run; `delivered` and `broadcast` count its messages so far."""

    def __init__(self, group: Group, header: Header, share: int, log: LogWriter) -> None:
        self.delivered = 0
        self.broadcast = 0
        self.finished = asyncio.Event()
        """Set when every message of the run was delivered and every own one was taken."""
        self._group = group
        self._header = header
        self._share = share
        self._log = log
        self._slots = asyncio.Semaphore(WAITING_MAX)

    async def run(self) -> None:
        """Broadcast and deliver until the group is closed.

        Raises:
            ExceptionGroup: the errors that the group or the log raised.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._deliver())
            tasks.create_task(self._broadcast())

    async def _broadcast(self) -> None:
        async with asyncio.TaskGroup() as calls:
            for k, payload in enumerate(payloads(self._header.seed, self._header.process, self._share), 1):
                await self._slots.acquire()
                self._log.broadcast(message_id(self._header.process, k), digest(payload))
                calls.create_task(self._call(k, payload))

    async def _call(self, k: int, payload: bytes) -> None:
        """Broadcast the k-th payload. The group serves calls in their order, so the payload becomes the k-th
        message of this member.
        """
        identifier = await self._group.broadcast(payload)
        if identifier != (self._header.process, k):
            raise RuntimeError(f"broadcast {k} was given the identifier {message_id(*identifier)}")
        self.broadcast += 1
        self._look()

    async def _deliver(self) -> None:
        async for source, identifier, number, payload in self._group:
            self._log.deliver(message_id(source, identifier), number, digest(payload))
            self.delivered += 1
            if source == self._header.process:
                self._slots.release()
            self._look()

    def _look(self) -> None:
        if self.delivered >= self._header.messages and self.broadcast == self._share:
            self.finished.set()


def payloads(seed: int, process: int, count: int) -> Iterator[bytes]:
    """Return the payloads of a process: distinct within the run, of differing lengths, fixed by the seed."""
    generator = random.Random(f"{seed}:{process}")
    for k in range(1, count + 1):
        yield _payload(generator, process, k)


def payload(seed: int, process: int, k: int, run: int) -> bytes:
    """Return the k-th payload of a process; it differs between earlier and later runs of the process."""
    return b"%d/%d:" % (process, run) + _payload(random.Random(f"{seed}:{process}:{k}"), process, k)


def _payload(generator: random.Random, process: int, k: int) -> bytes:
    return b"%d:%d " % (process, k) + generator.randbytes(generator.randrange(_FILLER_BYTES_MAX + 1))
