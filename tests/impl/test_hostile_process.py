"""A hostile process at every address of a group that has a key: it costs counts, and changes nothing."""

from __future__ import annotations

import asyncio
import json
import math
import secrets
import socket
import sys
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from antiphon.impl.errors import Rejection
from antiphon.impl.group import Group, Keyring
from antiphon.impl.protocols.rbp import rbp

MEMBERS = 3
TEXT = b"nobody else reads this"
EACH = 300
"""The datagrams of each sort that are handed in to a group at rest."""

PORTION = 50


class Attacker:
    """The process of `attacker.py`, which carries a group's datagrams, as its parent sees it."""

    def __init__(self, process: asyncio.subprocess.Process, ports: dict[str, int]) -> None:
        self._process = process
        self.ports = ports

    async def order(self, **order: object) -> dict[str, object]:
        """Tell it something and hear what it did."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        told = json.loads(await asyncio.wait_for(self._process.stdout.readline(), 60))
        assert isinstance(told, dict)
        return told


@asynccontextmanager
async def attacker() -> AsyncIterator[Attacker]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, Path(__file__).with_name("attacker.py"), TEXT,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Attacker(process, json.loads(await process.stdout.readline()))
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 60)
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def running(at: Attacker, name: str, key: bytes) -> AsyncIterator[list[Group]]:
    """A group of which the attacker carries every datagram."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    await at.order(members={me: each.getsockname()[1] for me, each in enumerate(bound)})
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                Group(
                    name,
                    me=me,
                    members=MEMBERS,
                    bind=bound[me],
                    routes={q: ("127.0.0.1", at.ports[f"{me}:{q}"]) for q in range(MEMBERS) if q != me},
                    key=key,
                    stall_s=math.inf,  # no heartbeats: the greetings are counted
                    protocol=rbp(resend_ms=40, token_ms=20, request_ms=20),
                )
            )
            for me in range(MEMBERS)
        ]


async def talked(groups: list[Group], count: int) -> list[list[bytes]]:
    """All broadcast so many; what each has delivered then."""

    async def talk(group: Group, me: int) -> None:
        for k in range(count):
            await group.broadcast(TEXT + b" %d:%d" % (me, k))

    async def listen(group: Group) -> list[bytes]:
        return [(await anext(group)).payload for _ in range(count * len(groups))]

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        for me, group in enumerate(groups):
            tasks.create_task(talk(group, me))
        listening = [tasks.create_task(listen(group)) for group in groups]
    return [each.result() for each in listening]


def in_one_order(delivered: list[list[bytes]], count: int) -> bool:
    """Return True if all have the same, and each message once."""
    expected = sorted(TEXT + b" %d:%d" % (me, k) for me in range(MEMBERS) for k in range(count))
    return all(each == delivered[0] for each in delivered) and sorted(delivered[0]) == expected


def dropped(groups: list[Group]) -> Counter[Rejection]:
    return sum((group.statistics.dropped for group in groups), Counter())


async def attacked(at: Attacker, groups: list[Group], count: int, seed: int, **order: object) -> int:
    """Hand in so many datagrams, no more at a time than the socket of a busy member holds; how many greetings
    that brought.
    """
    greetings = 0
    for portion in range(count // PORTION):
        before = dropped(groups).total()
        told = await at.order(attack=PORTION, seed=1_000 * seed + portion, **order)
        greetings += cast(int, told["greetings"])
        async with asyncio.timeout(60):
            while dropped(groups).total() - before < 0.8 * PORTION:
                await asyncio.sleep(0.001)
    return greetings


def test_who_has_no_key_reads_injects_and_replays_nothing() -> None:
    async def scenario() -> None:
        key = secrets.token_bytes(32)
        async with attacker() as at:
            for name in ("other", "g"):
                async with running(at, name, key) as groups:
                    assert in_one_order(await talked(groups, 10), 10)
            async with running(at, "g", key) as groups:
                talking = asyncio.create_task(talked(groups, 60))
                while not any(group.statistics.datagrams for group in groups):
                    await asyncio.sleep(0.01)
                await attacked(at, groups, 3_000, seed=1)
                assert in_one_order(await talking, 60)
                told = await at.order(carry=0.2)
                assert cast(int, told["earlier"]) > 30
                assert told["texts"] == 0
                refused = dropped(groups)
                assert set(refused) == {
                    Rejection.TRUNCATED, Rejection.FORGED, Rejection.REPLAYED, Rejection.FOREIGN_GROUP,
                    Rejection.FOREIGN_ADDRESS, Rejection.FOREIGN_INCARNATION,
                }  # fmt: skip
                assert refused.total() > 0.8 * 3_000
                assert not any(group.statistics.violations for group in groups)
                await at_rest(at, groups, list(told["handed_in"]))  # type: ignore[call-overload]
                assert in_one_order(await talked(groups, 5), 5)

    asyncio.run(scenario())


async def at_rest(at: Attacker, groups: list[Group], sorts: list[str]) -> None:
    """Each datagram of who has no key that arrives is counted once; nothing is said to it, and nothing kept.

    A greeting that came before its sender was known counts as new once more, and is answered once.
    """
    await attacked(at, groups, EACH, seed=2, only="again")
    tracemalloc.start()
    try:
        for sort in [*sorts, *sorts]:
            count, said = dropped(groups).total(), spoken(groups)
            kept, _ = tracemalloc.get_traced_memory()
            greetings = await attacked(at, groups, EACH, seed=2, only=sort)
            told = await at.order(carry=0.03)
            counted = dropped(groups).total() - count
            assert 0.8 * EACH <= counted <= 1.2 * EACH, sort  # a full socket drops some, some come late
            assert greetings + cast(int, told["greetings"]) == 0, sort
            assert spoken(groups) - said < EACH / 4, sort
            assert tracemalloc.get_traced_memory()[0] - kept < 50 * EACH, sort
    finally:
        tracemalloc.stop()


def spoken(groups: list[Group]) -> int:
    """Number of datagrams that the protocol has sent: figure 16 repeats its last token now and then."""
    return sum(group.statistics.datagrams.total() for group in groups)


def test_the_port_of_a_member_is_its_own() -> None:
    """Other processes on the machine cannot bind the port and take its datagrams."""

    async def scenario() -> None:
        group = Group(
            "g", me=0, members=2, bind=("127.0.0.1", 0), routes={1: ("127.0.0.1", 9)}, key=bytes(32)
        )
        async with group:
            for option in (None, socket.SO_REUSEADDR, socket.SO_REUSEPORT):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as thief:
                    if option is not None:
                        thief.setsockopt(socket.SOL_SOCKET, option, 1)
                    with pytest.raises(OSError, match="in use"):
                        thief.bind(group.address)

    asyncio.run(scenario())


def test_keys_change_under_load_and_no_datagram_is_lost() -> None:
    """No timer rings in this test, so that one that is lost ends it; each member changes when it likes."""

    async def scenario() -> None:
        bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        at = [each.getsockname() for each in bound]
        old = secrets.token_bytes(32)
        groups = [
            Group(
                "g",
                me=me,
                members=MEMBERS,
                bind=bound[me],
                routes={q: at[q] for q in range(MEMBERS) if q != me},
                key=old,
                protocol=rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000),
            )
            for me in range(MEMBERS)
        ]

        async def change(old: bytes) -> None:
            for _ in range(10):
                new = secrets.token_bytes(32)
                for step in (Keyring(old, [new]), Keyring(new, [old]), Keyring(new)):
                    for group in groups:
                        group.rekey(step)
                        await asyncio.sleep(0.002)
                    await asyncio.sleep(0.01)  # what was sealed before has come
                old = new

        async with AsyncExitStack() as stack:
            for group in groups:
                await stack.enter_async_context(group)
            changing = asyncio.create_task(change(old))
            count = 0
            while not changing.done():
                assert in_one_order(await talked(groups, 20), 20)
                count += 1
            await changing
            assert count > 10
            assert not dropped(groups)
            groups[0].rekey(secrets.token_bytes(32))
            await groups[0].broadcast(b"to nobody")
            await asyncio.sleep(0.05)
            assert set(dropped(groups[1:])) == {Rejection.FOREIGN_GROUP}

    asyncio.run(scenario())
