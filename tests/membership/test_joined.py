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
from antiphon.impl.errors import (
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    PayloadTooLarge,
    UnknownProtocol,
)
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.member import Excluded, Member
from antiphon.impl.membership.membership import Membership
from antiphon.impl.protocols.rbp import irbp
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.shared_socket import SharedSocket

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
            shared = SharedSocket(("127.0.0.1", 0))
            await shared.open()
            shell.open(shared)
            sock = shared.socket

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
            shared._socket = refusing
            shared.send(b"frame", reader.getsockname(), shell.faults)
            shared._socket = sock
            got = len(reader.recv(100))
            shell.stop()
            await shared.close()
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
        assert membership is group._membership, "who leaves does not come back"

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


# Several groups of one process --------------------------------------------------------------------------


def test_groups_share_a_socket_and_do_not_hear_each_other(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)

    async def member(me: int) -> dict[str, list[bytes]]:
        got: dict[str, list[bytes]] = {}
        async with SharedSocket(seeds[me]) as here:
            groups = [
                Group.join(name, seeds=seeds, bind=here, key=KEY, expect=2, name=f"m{me}", timeouts=LOCAL)
                for name in ("orders", "jobs")
            ]
            async with groups[0], groups[1]:
                for group in groups:
                    await group.broadcast(f"{group.group} of {me}".encode())
                for group in groups:
                    got[group.group] = [(await until(group, Delivery)).payload for _ in range(2)]
                    assert group.address == seeds[me]
                await asyncio.sleep(0.5)  # others may still need what this member has
        return got

    async def run() -> list[dict[str, list[bytes]]]:
        return await asyncio.gather(member(0), member(1))

    first, second = asyncio.run(asyncio.wait_for(run(), 30))
    assert first == second
    assert {name: sorted(texts) for name, texts in first.items()} == {
        "orders": [b"orders of 0", b"orders of 1"],
        "jobs": [b"jobs of 0", b"jobs of 1"],
    }


def test_one_group_of_a_shared_socket_ends_and_the_other_goes_on(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 1)

    async def run() -> None:
        async with SharedSocket(seeds[0]) as here:
            async with joined(seeds, 0, bind=here) as first:
                with pytest.raises(InvalidSetting, match="group 'g' listens at"):
                    await joined(seeds, 0, bind=here).__aenter__()
                assert (await until(first, View)).number == 1
                other = Group.join("h", seeds=seeds, bind=here, key=KEY, expect=1)
                async with other:
                    assert (await until(other, View)).number == 1
                await first.broadcast(b"still here")
                assert (await until(first, Delivery)).payload == b"still here"
            async with joined(seeds, 0, bind=here) as again:
                assert (await until(again, View)).number == 1

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_group_whose_shared_socket_is_closed_fails(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 1)

    async def run() -> None:
        here = SharedSocket(seeds[0])
        with pytest.raises(GroupClosed, match="within `async with`"):
            await joined(seeds, 0, bind=here).__aenter__()
        await here.open()
        group = await joined(seeds, 0, bind=here).__aenter__()
        assert (await until(group, View)).number == 1
        await here.close()
        with pytest.raises(GroupFailed, match="the socket was closed"):
            await anext(group)
        with pytest.raises(GroupFailed, match="the socket was closed"):
            await group.broadcast(b"late")
        await group.close()

    asyncio.run(asyncio.wait_for(run(), 30))


# What a call that is cancelled, or an application that raises, leaves behind ----------------------------


def test_a_state_is_given_although_the_call_that_gives_it_was_cancelled(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    entered = asyncio.Event()

    class Slow(Texts):
        """An application that takes its time, the first time."""

        times = 0

        async def save(self) -> AsyncIterator[bytes]:
            Slow.times += 1
            yield b"begun\n"
            if Slow.times == 1:
                entered.set()
                await asyncio.sleep(60)
            yield b"whole\n"

    new = Texts()

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=Slow()) as first:
            assert (await until(first, View)).number == 1
            async with joined(seeds, 1, state=new) as second:
                taking = asyncio.create_task(until(first, Delivery))
                joining = asyncio.create_task(until(second, View))
                await entered.wait()
                taking.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await taking
                going_on = asyncio.create_task(until(first, Delivery))
                assert (await joining).number == 2
                assert new.texts == [b"begun", b"whole"]
                await second.broadcast(b"thanks")
                assert (await going_on).payload == b"thanks"

    asyncio.run(asyncio.wait_for(run(), 30))
    assert Slow.times == 2


def test_an_application_that_cannot_give_its_state_is_told_and_another_is_asked(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 3)

    class Broken(Texts):
        """An application that cannot say what it has."""

        async def save(self) -> AsyncIterator[bytes]:
            yield b"half\n"
            raise OSError("disk")

    whole, new = Texts(), Texts()
    whole.texts = [b"one", b"two"]
    raised: list[str] = []

    async def take(group: JoinedGroup) -> None:
        while True:
            try:
                await anext(group)
            except OSError as error:
                raised.append(str(error))

    async def run() -> None:
        states = [Broken(), whole]
        async with (
            joined(seeds, 0, expect=2, state=states[0]) as first,
            joined(seeds, 1, state=states[1]) as second,
        ):
            tasks = [asyncio.create_task(take(group)) for group in (first, second)]
            while second.view is None:
                await asyncio.sleep(0.01)
            for _ in range(4):  # whom it asks first is chance
                new.texts = []
                async with joined(seeds, 2, state=new) as third:
                    assert (await until(third, View)).number > 1
                assert new.texts == [b"one", b"two"]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(asyncio.wait_for(run(), 60))
    assert set(raised) <= {"disk"}
