"""`Group.join` in one process: what an application may do, and what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from antiphon import Delivery, Group, View
from antiphon.impl.errors import GroupClosed, InvalidSetting, PayloadTooLarge, UnknownProtocol
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.member import Excluded, Member
from antiphon.impl.membership.membership import Membership
from antiphon.impl.protocols.rbp import irbp
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.shell import bound

KEY = bytes(range(32))
Ports = Callable[[int], list[int]]


def joined(seeds: list[tuple[str, int]], me: int, **settings: Any) -> JoinedGroup:
    """A process that wants to be a member, with short waiting times."""
    usual = {"bind": seeds[me], "key": KEY, "name": f"m{me}", "timeouts": LOCAL, "expect": len(seeds)}
    return Group.join("g", seeds=seeds, **{**usual, **settings})


def seeds_of(free_ports: Ports, count: int) -> list[tuple[str, int]]:
    """So many addresses of the loopback interface."""
    return [("127.0.0.1", port) for port in free_ports(count)]


async def until(group: JoinedGroup, kind: type) -> Any:
    """The next event of this kind."""
    async for event in group:
        if isinstance(event, kind):
            return event
    raise AssertionError(f"it ended without a {kind.__name__}")


class Texts:
    """An application that keeps all that was said."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []

    async def save(self) -> AsyncIterator[bytes]:
        """All, in one piece each."""
        for text in self.texts:
            yield text + b"\n"

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """All that another one has."""
        self.texts = b"".join([piece async for piece in pieces]).splitlines()


def test_a_state_of_many_pieces_comes_whole_while_others_deliver(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    old, new = Texts(), Texts()
    old.texts = [secrets.token_hex(500).encode() for _ in range(2_000)]
    before = list(old.texts)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:

            async def take() -> None:
                async for event in first:
                    if isinstance(event, Delivery):
                        old.texts.append(event.payload)

            async def talk() -> None:
                for count in range(100):
                    await first.broadcast(f"{count}".encode())
                    await asyncio.sleep(0.002)
                await asyncio.sleep(0.5)
                await first.broadcast(b"end")

            taking, talking = asyncio.create_task(take()), asyncio.create_task(talk())
            async with joined(seeds, 1, state=new) as second:
                while not new.texts or new.texts[-1] != b"end":
                    event = await anext(second)
                    if isinstance(event, Delivery):
                        new.texts.append(event.payload)
                await talking
            taking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await taking

    asyncio.run(asyncio.wait_for(run(), 60))
    assert new.texts[: len(before)] == before
    assert new.texts == old.texts[: len(new.texts)]
    assert new.texts[-1] == b"end"


def test_who_has_no_key_does_not_join(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True) as first:
            assert (await until(first, View)).number == 1
            async with (
                joined(seeds, 1, key=bytes(32)) as stranger,
                joined(seeds, 1, bind=("127.0.0.1", 0), key=None) as other,
            ):
                await first.broadcast(b"secret")
                assert (await until(first, Delivery)).payload == b"secret"
                await asyncio.sleep(0.5)
                assert stranger.view is None
                assert other.view is None
            assert first.view is not None
            assert first.view.number == 1

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_group_is_left_once_and_then_refuses(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 1)

    async def run() -> None:
        async with joined(seeds, 0) as group:
            assert (await until(group, View)).members == (group.me,)
            assert group.me.name == "m0"
            with pytest.raises(TypeError, match="encode it first"):
                await group.broadcast("text")  # type: ignore[arg-type]
            with pytest.raises(PayloadTooLarge, match="at most"):
                await group.broadcast(bytes(2**24 + 1))
            identifier = await group.broadcast(b"alone")
            assert identifier.id == 1
            await group.leave()
            assert (await until(group, Delivery)).payload == b"alone"
            with pytest.raises(StopAsyncIteration):
                await anext(group)
            with pytest.raises(GroupClosed):
                await group.broadcast(b"late")
        with pytest.raises(GroupClosed, match="opened once"):
            await group.__aenter__()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_bound_socket_is_taken_and_closed(free_ports: Ports) -> None:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    at = sock.getsockname()

    async def run() -> None:
        async with Group.join("g", seeds=[at], bind=sock, key=None, expect=1) as group:
            assert (await until(group, View)).number == 1
            assert group.address == at
            assert "majority 1" in repr(group)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert sock.fileno() == -1


def test_a_datagram_that_the_operating_system_answers_with_an_error_is_sent_again() -> None:
    """An error of an earlier datagram, to another member, is given to the next one that is sent."""
    membership = Membership(irbp(), "g", Member(bytes(16), "m0", "127.0.0.1", 7000))
    failed: list[Exception] = []
    shell = MemberShell(membership, None, on_progress=lambda: None, on_failure=failed.append)

    async def run() -> tuple[int, int]:
        reader = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        reader.bind(("127.0.0.1", 0))
        with reader:
            await shell.open(bound(socket.AF_INET, ("127.0.0.1", 0)))
            sock = shell._socket
            assert sock is not None

            class Refusing:
                """A socket whose first two datagrams are answered with an error."""

                tried = 0

                def sendto(self, frame: bytes, address: tuple[str, int]) -> int:
                    self.tried += 1
                    if self.tried <= 2:
                        raise ConnectionRefusedError(errno.ECONNREFUSED, "refused")
                    return sock.sendto(frame, address)

                def recvmsg(self, *_: int) -> None:
                    raise BlockingIOError

            refusing: Any = Refusing()
            shell._socket = refusing
            shell._send(b"frame", reader.getsockname())
            shell._socket = sock
            got = len(reader.recv(100))
            await shell.close()
            return refusing.tried, got

    assert asyncio.run(asyncio.wait_for(run(), 10)) == (3, len(b"frame"))
    assert shell.faults == {"ECONNREFUSED": 2}
    assert not failed


def test_who_was_excluded_can_still_leave(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 1)

    async def run() -> None:
        group = joined(seeds, 0)
        await group.__aenter__()
        assert (await until(group, View)).number == 1
        membership = group._membership
        membership._end(Excluded("for the test"))
        await asyncio.wait_for(group.leave(), 1)
        with pytest.raises(StopAsyncIteration):
            await anext(group)
        assert group._again is None, "who leaves does not come back"

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"protocol": "rpb"}, UnknownProtocol, "did you mean 'rbp'"),
        ({"protocol": "sequencer"}, InvalidSetting, "one that has views is 'irbp'"),
        ({"seeds": ["db1:7000"]}, InvalidSetting, "a list of hosts with ports"),
        ({"expect": 0}, InvalidSetting, "how many members the group begins with"),
        ({"name": "x" * 100}, InvalidSetting, "at most 64 characters"),
        ({"meta": bytes(2_000)}, InvalidSetting, "at most 1024 bytes"),
        ({"timeouts": 3}, InvalidSetting, "LOCAL, LAN, WAN"),
        ({"on_exclusion": "give up"}, InvalidSetting, "'rejoin' or 'fail'"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(
    settings: dict[str, Any], error: type[Exception], told: str
) -> None:
    usual: dict[str, Any] = {"seeds": [("127.0.0.1", 9)], "bind": ("127.0.0.1", 0), "key": None}
    with pytest.raises(error, match=told):
        Group.join("g", **{**usual, **settings})
