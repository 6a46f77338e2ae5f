"""Replica of a state machine: it executes the group's commands in their order, and returns to its caller the
result of each own command.

If `apply` is a function of the state and the command alone, the state of all members is the same after the
same number of commands. In a group that others join and leave (`Group.join`), a replica gives its state to
who joins, and has to be made before the group is opened:

    group = Group.join("shop", ...)
    async with group, Store(group) as store:
        ...

This module must not know what a command says.

Source: Schneider 1990, "Implementing fault-tolerant services using the state machine approach", section 2.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from msgspec import msgpack

from antiphon.impl.errors import GroupClosed, GroupFailed
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.member import Member, View
from antiphon.impl.protocols.core import Delivery

__all__ = ["Replica", "Source", "owner"]

R = TypeVar("R")

Source = int | Member
"""The origin of a command: a place among members that do not change, or a member of a group that others join.
"""

_PIECE_BYTES = 2**16


def owner(source: Source) -> str:
    """Return a name for the sender of a command that is unique among all runs of all processes."""
    return str(source) if isinstance(source, int) else f"{source.name}/{source.incarnation.hex()}"


class Replica(ABC, Generic[R]):
    """One copy of a state; an asynchronous context manager, entered within that of its group."""

    def __init__(self, group: Group | JoinedGroup) -> None:
        self.applied = 0
        """Number of commands that were executed."""
        self._group = group
        self._results: dict[tuple[Source, int], asyncio.Future[R]] = {}
        self._running: asyncio.Task[None] | None = None
        if isinstance(group, JoinedGroup):
            group.state = self

    # The state, which a replica has -------------------------------------------------------------------------

    @abstractmethod
    def apply(self, command: bytes, number: int, source: Source) -> R:
        """Execute a command that has this number in the common order and comes from `source`; return its
        result.
        """

    @abstractmethod
    def dump(self) -> bytes:
        """Return the state as bytes, from which `restore` makes it."""

    @abstractmethod
    def restore(self, state: bytes) -> None:
        """Replace the state by one that `dump` returned, at this replica or another."""

    def installed(self, view: View) -> None:
        """Apply a change of the members at this place of the order; all replicas get it there."""

    # Executing ----------------------------------------------------------------------------------------------

    async def execute(self, command: bytes) -> R:
        """Let all members execute a command, and return its result.

        Raises:
            GroupClosed, GroupFailed: the group ended before, or this member was excluded; others may have
                executed the command, or execute it later, all the same.
        """
        if self._running is None:
            raise GroupClosed("a replica executes within `async with`")
        sent = await self._group.broadcast(command)
        result = self._result(sent.source, sent.id)
        ends: set[asyncio.Future[Any]] = {result, self._running}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            result.add_done_callback(lambda _: self._results.pop((sent.source, sent.id), None))
            raise
        if not result.done():
            await self._running  # why the group failed
            raise GroupClosed("the group was closed before the command was executed")
        return self._results.pop((sent.source, sent.id)).result()

    async def __aenter__(self) -> Self:
        """Begin to execute commands."""
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop executing commands."""
        assert self._running is not None
        self._running.cancel()
        await asyncio.wait({self._running})

    async def _run(self) -> None:
        async for event in self._group:
            match event:
                case Delivery(source, id, number, payload):
                    result = self.apply(payload, number, source)
                    self.applied += 1
                    if source == self._group.me:
                        self._result(source, id).set_result(result)
                case View():
                    self._lose(event)
                    self.installed(event)

    def _lose(self, view: View) -> None:
        """Fail the waiting commands of this process if its member was excluded: their results will not be
        known here.
        """
        for (source, _), result in self._results.items():
            if source not in view.members and not result.done():
                told = "this member was excluded before it learnt what its command came to"
                result.set_exception(GroupFailed(told))

    def _result(self, source: Source, id: int) -> asyncio.Future[R]:
        """Return the future result of one of this process's commands. It is created by the command's delivery
        or by the call, whichever comes first.
        """
        return self._results.setdefault((source, id), asyncio.get_running_loop().create_future())

    # The state of who joins ---------------------------------------------------------------------------------

    async def save(self) -> AsyncIterator[bytes]:
        """Return the state in pieces, with the number of executed commands."""
        whole = msgpack.encode((self.applied, self.dump()))
        for at in range(0, len(whole), _PIECE_BYTES):
            yield whole[at : at + _PIECE_BYTES]

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Replace the state by that of another replica, read from these pieces."""
        whole = b"".join([piece async for piece in pieces])
        self.applied, state = msgpack.decode(whole, type=tuple[int, bytes])
        self.restore(state)
