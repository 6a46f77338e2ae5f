"""Replicas in a group that processes join and leave: one is killed, the others go on, and it comes back.

A client speaks to its replica through standard input, as a person would.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from antiphon import Group
from antiphon.impl.examples.locks import Locks

from .clients import Client

Ports = Callable[[int], list[int]]


ORDERED = {"bank": ["sum"], "store": ["get", "nothing"], "locks": ["release", "nothing", "0"]}
"""A request that is answered when the group has ordered it, and changes nothing."""


class Shop:
    """Three replicas of one example, each a process that may be killed and started again."""

    def __init__(self, example: str, ports: list[int]) -> None:
        self.example, self.ports = example, ports
        self.clients: dict[int, Client] = {}

    async def start(self, me: int) -> Client:
        """Start a replica; the first of them founds the group when two have come."""
        seeds = [f"127.0.0.1:{port}" for port in self.ports]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", f"antiphon.impl.examples.{self.example}", "shop", "--seeds", *seeds,
            "--bind", seeds[me], "--expect", "2", "--name", f"p{me}", stdin=PIPE, stdout=PIPE,
        )  # fmt: skip
        client = Client(process)
        if len(self.clients) >= 2:  # the group is there: wait until this one is a member
            await client.ask(*ORDERED[self.example])
        self.clients[me] = client
        return client

    async def kill(self, me: int) -> None:
        """End a replica without a word."""
        process = self.clients.pop(me).process
        process.kill()
        await process.wait()

    async def alike(self) -> Any:
        """The state of all replicas, once it is the same at all."""
        dumps: list[Any] = [1, 2]
        while any(dump != dumps[0] for dump in dumps):
            dumps = [await client.ask("dump") for client in self.clients.values()]
        return dumps[0]

    async def end(self) -> list[int | None]:
        """End all that run, by the end of their input; their exit codes."""
        for client in self.clients.values():
            client.process.stdin.close()  # type: ignore[union-attr]
        for client in self.clients.values():
            await client.process.communicate()
        return [client.process.returncode for client in self.clients.values()]


def bounded(example: str, ports: list[int], work: Callable[[Shop], Awaitable[None]]) -> None:
    """Do the work in bounded time; all replicas that are left end with exit code 0, none stays behind."""

    async def whole() -> None:
        shop = Shop(example, ports)
        try:
            async with asyncio.timeout(60):
                await work(shop)
                assert set(await shop.end()) == {0}
        finally:
            for client in shop.clients.values():
                if client.process.returncode is None:
                    client.process.kill()
                    await client.process.wait()

    asyncio.run(whole())


@pytest.mark.deep
def test_the_sum_of_a_bank_never_changes_whoever_is_killed(free_ports: Ports) -> None:
    async def work(shop: Shop) -> None:
        first, second = await shop.start(0), await shop.start(1)
        for account in ("ann", "bob", "eve"):
            assert await first.ask("open", account, 100) is True
        assert await second.ask("open", "ann", 5) is False
        names = itertools.count()
        killed = 0
        stop = asyncio.Event()

        async def move(me: int) -> int:
            made = 0
            while not stop.is_set():
                client = shop.clients.get(me)
                if client is None:
                    await asyncio.sleep(0.01)
                    continue
                account, other = ("ann", "bob") if made % 2 else ("bob", "eve")
                try:
                    made += await client.ask("move", account, other, 7, f"t{next(names)}") is True
                    assert await client.ask("sum") == 300
                except (AssertionError, BrokenPipeError, ConnectionResetError):
                    if shop.clients.get(me) is client:
                        raise
            return made

        moving = [asyncio.create_task(move(me)) for me in range(3)]
        await shop.start(2)
        for me in (1, 2):
            await asyncio.sleep(0.7)
            await shop.kill(me)
            killed += 1
            await asyncio.sleep(0.7)
            await shop.start(me)
        await asyncio.sleep(1.0)
        stop.set()
        made = await asyncio.gather(*moving)
        assert killed == 2
        assert made[0] > 0
        state = await shop.alike()
        assert sum(state["accounts"].values()) == 300
        assert state["applied"] > 3 + sum(made)

    bounded("bank", free_ports(3), work)


@pytest.mark.deep
def test_a_transfer_with_a_name_is_made_once(free_ports: Ports) -> None:
    async def work(shop: Shop) -> None:
        first, second = await shop.start(0), await shop.start(1)
        await first.ask("open", "ann", 10)
        await first.ask("open", "bob", 0)
        assert await first.ask("move", "ann", "bob", 7, "rent") is True
        assert await second.ask("move", "ann", "bob", 7, "rent") is True
        assert await second.ask("move", "ann", "bob", 7) is False
        assert (await shop.alike())["accounts"] == {"ann": 3, "bob": 7}
        third = await shop.start(2)
        assert await third.ask("move", "ann", "bob", 7, "rent") is True, "it has the others' state"
        assert (await shop.alike())["accounts"] == {"ann": 3, "bob": 7}
        assert "open ACCOUNT AMOUNT" in (await third.ask("open", "ann", "much"))["refused"]

    bounded("bank", free_ports(3), work)


def test_a_lock_of_a_member_that_is_killed_goes_to_the_next(free_ports: Ports) -> None:
    async def work(shop: Shop) -> None:
        first, second, third = [await shop.start(me) for me in range(3)]
        token = await third.ask("acquire", "door")
        waiting = asyncio.create_task(first.ask("acquire", "door"))
        assert await second.ask("release", "door", token) is False
        await asyncio.sleep(0.2)
        assert not waiting.done()
        await shop.kill(2)
        assert await asyncio.wait_for(waiting, 20) > token
        again = await shop.start(2)
        held = (await shop.alike())["claims"]["door"]
        assert [claim[0] for claim in held] == [await waiting]
        assert held[0][1].startswith("p0/")
        assert await again.ask("release", "door", token) is False, "it is another member"
        assert await first.ask("release", "door", await waiting) is True
        assert (await shop.alike())["claims"] == {}

    bounded("locks", free_ports(3), work)


@pytest.mark.deep
def test_who_joins_a_store_has_what_was_put_before(free_ports: Ports) -> None:
    async def work(shop: Shop) -> None:
        first, _ = await shop.start(0), await shop.start(1)
        for count in range(50):
            assert await first.ask("put", f"key-{count}", count) is True
        third = await shop.start(2)
        assert await third.ask("get", "key-49") == "49"
        assert await third.ask("swap", "key-0", 0, 1) is True
        state = await shop.alike()
        assert state["items"] == {**{f"key-{count}": str(count) for count in range(50)}, "key-0": "1"}

    bounded("store", free_ports(3), work)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--seeds", "127.0.0.1:7000"], "say --me and --members, or --bind and --seeds"),
        ([], "say --me and --members, or --bind and --seeds"),
        (["--me", "3", "--members", "127.0.0.1:7000", "127.0.0.1:7001"], "--me is from 0 to 1"),
        (["--bind", "127.0.0.1:7000", "--seeds", "h:7000", "--log", "x"], "--log goes with --members"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], told: str) -> None:
    async def ended() -> tuple[int | None, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "antiphon.impl.examples.bank", "shop", *options, stderr=PIPE
        )
        _, error = await process.communicate()
        return process.returncode, error.decode()

    code, error = asyncio.run(ended())
    assert code == 2
    assert told in error


def test_a_call_of_acquire_that_is_cancelled_keeps_no_lock(free_ports: Ports) -> None:
    """Wherever it is cancelled: before its message is sent, before it is ordered, or while it waits."""
    seeds = [("127.0.0.1", port) for port in free_ports(2)]
    members = [
        Group.join("l", seeds=seeds, bind=at, key=None, expect=2, timeouts="local") for at in seeds
    ]

    async def run() -> None:
        first, second = map(Locks, members)
        async with members[0], members[1], first, second:
            door = await second.acquire("door")
            for steps in range(40):
                asked = asyncio.create_task(first.acquire("door" if steps % 2 else f"gate {steps}"))
                for _ in range(steps):
                    await asyncio.sleep(0)
                asked.cancel()
                with suppress(asyncio.CancelledError):
                    await first.release(f"gate {steps}", await asked)
            while first._gives_back or len(second.claims) > 1 or len(second.claims["door"]) > 1:
                await asyncio.sleep(0.01)
            assert await second.release("door", door)
            assert not second.claims
            assert not first._held

    asyncio.run(asyncio.wait_for(run(), 20))
