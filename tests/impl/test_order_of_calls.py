"""Calls of `broadcast` are served in their order, those that wait too; a call that ended otherwise sends
nothing. What a thread asks of a group while another one closes it has an end.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from antiphon.impl import sync
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.layers import Layers
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.sync import SyncGroup

KEY = bytes(range(32))
ONE_AT_A_TIME = Layers(buffer_bytes=1)
"""A member sends one message at a time; other calls wait."""

Ports = Callable[[int], list[int]]
Pair = Callable[[], list[Any]]


def bound() -> list[socket.socket]:
    """Two sockets."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    return sockets


def fixed(kind: type[Any] = Group) -> list[Any]:
    """A group of two, both in this process."""
    sockets = bound()
    routes = [{1 - me: sockets[1 - me].getsockname()} for me in range(2)]
    return [
        kind("pair", me=me, members=2, bind=sockets[me], routes=routes[me], key=KEY, layers=ONE_AT_A_TIME)
        for me in range(2)
    ]


def joined(protocol: str = "irbp") -> list[JoinedGroup]:
    """A group of two that join, both in this process."""
    sockets = bound()
    seeds = [each.getsockname() for each in sockets]
    return [
        Group.join(
            "g", seeds=seeds, bind=sockets[me], key=KEY, expect=2, timeouts=LOCAL, layers=ONE_AT_A_TIME,
            protocol=protocol,
        )
        for me in range(2)
    ]  # fmt: skip


def lonely() -> SyncGroup:
    """A member of a group of two, whose other member is not there."""
    routes = {1: ("127.0.0.1", 9)}
    return SyncGroup("pair", me=0, members=2, bind=("127.0.0.1", 0), routes=routes, key=KEY)


async def payload(group: Any) -> bytes:
    """The next message of a group, without its views."""
    while not isinstance(event := await anext(group), Delivery):
        pass
    return event.payload


@pytest.mark.parametrize("pair", [fixed, joined])
def test_calls_that_wait_are_served_in_order_and_one_that_was_cancelled_sends_nothing(pair: Pair) -> None:
    async def scenario() -> None:
        first, second = pair()
        async with asyncio.timeout(60), first, second:
            calls = [asyncio.create_task(first.broadcast(b"%d" % k)) for k in range(8)]
            while first.waiting < 6:
                await asyncio.sleep(0)
            for k in (3, 6):
                calls[k].cancel()
            served = [k for k, done in enumerate(await asyncio.gather(*calls, return_exceptions=True))
                      if not isinstance(done, asyncio.CancelledError)]  # fmt: skip
            assert served == [0, 1, 2, 4, 5, 7]
            await first.broadcast(b"last")
            for group in (first, second):
                assert [await payload(group) for _ in range(7)] == [*(b"%d" % k for k in served), b"last"]

    asyncio.run(scenario())


def test_no_call_overtakes_one_that_waits_although_there_is_room_already() -> None:
    """Frames that come in one turn of the event loop are answered in the next one: between the two the buffer
    has room, and the call that waits was not served yet. An acknowledgement makes room at the coordinator.
    """

    async def scenario() -> None:
        first, second = joined("sequencer")
        async with asyncio.timeout(60), first, second:
            said = 0
            while True:
                await first.broadcast(b"%d" % said)
                waits = asyncio.create_task(first.broadcast(b"%d" % (said + 1)))
                said += 2
                await asyncio.sleep(0)
                while first._membership.busy:
                    await asyncio.sleep(0)
                if first.waiting:
                    break
                await waits
            await first.broadcast(b"%d" % said)
            await waits
            assert [await payload(second) for _ in range(said + 1)] == [b"%d" % k for k in range(said + 1)]

    asyncio.run(scenario())


def test_the_machine_hears_of_events_that_were_taken_in_whatever_way() -> None:
    """A slow application holds back all members, which go on when its machine says so."""

    async def scenario() -> None:
        first, second = joined()
        async with asyncio.timeout(60), first, second:
            await first.broadcast(b"0")
            assert await payload(first) == b"0"
            shell, told = first._shell, []
            assert shell is not None
            heard = shell.taken
            shell.taken = lambda: (told.append(len(told)), heard())  # type: ignore[method-assign,assignment]
            for ways in range(1, 3):
                await first.broadcast(b"%d" % ways)
                if ways == 1:
                    assert await payload(first) == b"1"
                else:
                    while not (events := first.at_hand()):
                        await asyncio.sleep(0)
                    assert [event.payload for event in events if isinstance(event, Delivery)] == [b"2"]
                assert len(told) == ways

    asyncio.run(scenario())


class Interrupted(Future[Any]):
    """Future whose first reader is interrupted."""

    def __init__(self, real: Future[Any], at: Callable[[], bool]) -> None:
        super().__init__()
        self._real, self._at = real, at

    def result(self, timeout: float | None = None) -> Any:
        while not self._at():
            pass
        raise KeyboardInterrupt

    def cancel(self) -> bool:
        return self._real.cancel()


def test_a_broadcast_that_was_interrupted_while_it_waited_is_never_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = fixed(SyncGroup)
    with first:
        first.broadcast(b"1")
        started = asyncio.run_coroutine_threadsafe

        def interrupted(*arguments: Any) -> Future[Any]:
            return Interrupted(started(*arguments), lambda: bool(first._group.waiting))

        with monkeypatch.context() as patch:
            patch.setattr(sync.asyncio, "run_coroutine_threadsafe", interrupted)
            with pytest.raises(KeyboardInterrupt):
                first.broadcast(b"interrupted")
        with second:
            first.broadcast(b"2", timeout_s=60)
            assert [second.next(timeout_s=60).payload for _ in range(2)] == [b"1", b"2"]


def test_a_call_begins_and_a_group_closes_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """All work goes to the group's thread under one lock, so that none comes after the end."""
    group, free = lonely(), []
    started = asyncio.run_coroutine_threadsafe

    def noted(*arguments: Any) -> Future[Any]:
        free.append(not group._entry.locked())
        return started(*arguments)

    monkeypatch.setattr(sync.asyncio, "run_coroutine_threadsafe", noted)
    with group:
        group.broadcast(b"m")
        group.rekey(KEY)
        with contextlib.suppress(TimeoutError):
            group.next(timeout_s=0.0)
    assert free == [False] * 5


def test_who_waits_for_another_thread_first_waits_no_longer_than_it_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time for which another thread takes an event counts."""
    group = lonely()
    left: list[float | None] = []
    real, clock = asyncio.timeout, iter((100.0, 107.0))

    def noted(delay: float | None) -> Any:
        left.append(delay)
        return real(0.0)

    with group:
        monkeypatch.setattr(sync.asyncio, "timeout", noted)
        monkeypatch.setattr(sync.time, "monotonic", lambda: next(clock, 107.0))
        with pytest.raises(TimeoutError, match="nothing within 10 s"):
            group.next(timeout_s=10.0)
        monkeypatch.undo()
    assert left == [3.0]
