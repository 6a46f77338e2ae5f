"""A replica executes the group's commands in their order; who gives one waits for what it came to.

If `apply` is a function of the state and the command alone, the state of all members is the same after the
same number of commands. This module must not know what a command says.

Source: Schneider 1990, "Implementing fault-tolerant services using the state machine approach", section 2.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from antiphon.impl.errors import GroupClosed
from antiphon.impl.group import Delivery, Group

__all__ = ["Replica"]

R = TypeVar("R")


class Replica(ABC, Generic[R]):
    """One copy of a state; an asynchronous context manager within that of its group."""

    def __init__(self, group: Group) -> None:
        self.applied = 0
        """How many commands were executed."""
        self._group = group
        self._results: dict[int, asyncio.Future[R]] = {}
        self._running: asyncio.Task[None] | None = None

    @abstractmethod
    def apply(self, command: bytes, number: int, source: int) -> R:
        """Execute one command of member `source`, which has this number in the common order."""

    async def execute(self, command: bytes) -> R:
        """Have all members execute a command; what it came to.

        Raises:
            GroupClosed, GroupFailed: the group ended before; others may execute the command all the same.
        """
        if self._running is None:
            raise GroupClosed("a replica executes within `async with`")
        identifier = await self._group.broadcast(command)
        result = self._result(identifier.id)
        ends: set[asyncio.Future[Any]] = {result, self._running}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not result.done():
            await self._running  # why the group failed
            raise GroupClosed("the group was closed before the command was executed")
        return self._results.pop(identifier.id).result()

    async def __aenter__(self) -> Self:
        """Execute from now on."""
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Execute nothing any more."""
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait({self._running})

    async def _run(self) -> None:
        async for event in self._group:
            match event:
                case Delivery():
                    result = self.apply(event.payload, event.number, event.source)
                    self.applied += 1
                    if event.source == self._group.me:
                        self._result(event.id).set_result(result)

    def _result(self, identifier: int) -> asyncio.Future[R]:
        """What an own command came to: made by who comes first, the delivery or the call."""
        return self._results.setdefault(identifier, asyncio.get_running_loop().create_future())
