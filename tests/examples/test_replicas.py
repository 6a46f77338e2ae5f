"""Replicas in processes of their own agree after loss, duplication and reordering; clients see one order.

A client speaks to its replica through standard input, as a person would; datagrams pass the relay.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.relay import Relay

from .clients import Client

REPLICAS = 3
TURNS = 12
"""Rounds of work for each client; a test then goes on until the relay has done each of its faults."""

FAULTS = Faults(loss=0.1, duplication=0.1, reordering=0.1)


def was_faulty(relay: Relay) -> bool:
    """Return True if datagrams were lost, came twice and in another order; how soon depends on the load."""
    counts = relay.counts
    return min(counts.dropped, counts.duplicated, counts.reordered) > 0


@asynccontextmanager
async def replicas(
    example: str, log: Path, ports: list[int]
) -> AsyncIterator[tuple[list[Client], Callable[[], bool]]]:
    """Three replicas behind the relay, and whether the network was faulty; they end with their input, with
    exit code 0.
    """
    relay = Relay(REPLICAS, 7, FAULTS)
    relay.start(dict(enumerate(ports)))
    clients: list[Client] = []
    try:
        for me in range(REPLICAS):
            at = {**relay.routes(me), me: ("127.0.0.1", ports[me])}
            members = [f"{host}:{port}" for _, (host, port) in sorted(at.items())]
            command = ["-m", f"antiphon.impl.examples.{example}", "shop", "--log", str(log), "--me", str(me)]
            clients.append(
                Client(
                    await asyncio.create_subprocess_exec(
                        sys.executable,
                        "-P",
                        *command,
                        "--members",
                        *members,
                        stdin=PIPE,
                        stdout=PIPE,
                        stderr=PIPE,
                    )
                )
            )
        yield clients, lambda: was_faulty(relay)
        assert was_faulty(relay)
    finally:
        for client in clients:
            client.process.stdin.close()  # type: ignore[union-attr]
        told = [await client.process.communicate() for client in clients]
        relay.close()
    assert [client.process.returncode for client in clients] == [0] * REPLICAS, told


async def alike(clients: list[Client], commands: int) -> Any:
    """The state of all replicas once each has executed so many commands."""
    dumps: list[Any] = []
    while {dump["applied"] for dump in dumps} != {commands}:
        dumps = [await client.ask("dump") for client in clients]
    assert all(dump == dumps[0] for dump in dumps)
    return dumps[0]


def judged(log: Path, work: Callable[[], Awaitable[None]]) -> None:
    """Do the work in bounded time; the logs of all replicas hold."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(bounded())
    run = load_run(log)
    assert not run.problems
    assert {outcome.value for outcome in judge_run(run).outcomes.values()} == {"holds"}


def test_the_copies_of_a_store_are_equal_and_no_increment_is_lost(
    tmp_path: Path, free_ports: Callable[[int], list[int]]
) -> None:
    """Three clients count together by compare-and-swap: each success counts once, in one order."""

    async def work() -> None:
        swaps = 0
        counted = [0] * REPLICAS

        async def count(client: Client, me: int, faulty: Callable[[], bool]) -> None:
            nonlocal swaps
            await client.ask("put", f"own-{me}", me)
            while counted[me] < TURNS or not faulty():
                old = await client.ask("get", "count")
                swaps += 1
                counted[me] += await client.ask("swap", "count", old or "-", int(old or 0) + 1)

        async with replicas("store", tmp_path, free_ports(REPLICAS)) as (clients, faulty):
            await asyncio.gather(*(count(client, me, faulty) for me, client in enumerate(clients)))
            final = await clients[0].ask("get", "count")
            state = await alike(clients, REPLICAS + 2 * swaps + 1)
            assert final == str(sum(counted))
            assert state["items"] == {"count": final, "own-0": "0", "own-1": "1", "own-2": "2"}
            assert await clients[1].ask("delete", "count") is True
            assert await clients[1].ask("read", "count") is None
            assert "put KEY VALUE" in (await clients[1].ask("put"))["refused"]
            assert "count" not in (await alike(clients, REPLICAS + 2 * swaps + 2))["items"]

    judged(tmp_path, work)


@pytest.mark.deep
def test_a_lock_has_one_holder_at_a_time_and_tokens_only_grow(
    tmp_path: Path, free_ports: Callable[[int], list[int]]
) -> None:
    async def work() -> None:
        inside: list[int] = []
        tokens: list[int] = []

        async def enter(client: Client, me: int, faulty: Callable[[], bool]) -> None:
            turns = 0
            while turns < TURNS or not faulty():
                turns += 1
                token = await client.ask("acquire", "door")
                assert inside == []
                inside.append(me)
                tokens.append(token)
                await asyncio.sleep(0.001)
                inside.remove(me)
                assert await client.ask("release", "door", token) is True

        async with replicas("locks", tmp_path, free_ports(REPLICAS)) as (clients, faulty):
            await asyncio.gather(*(enter(client, me, faulty) for me, client in enumerate(clients)))
            assert await clients[0].ask("release", "door", tokens[-1]) is False
            state = await alike(clients, 2 * len(tokens) + 1)
            assert state["claims"] == {}
            assert tokens == sorted(set(tokens))
            assert len(tokens) >= REPLICAS * TURNS

    judged(tmp_path, work)


@pytest.mark.deep
def test_a_lock_of_a_member_that_says_nothing_stays_its_own(
    tmp_path: Path, free_ports: Callable[[int], list[int]]
) -> None:
    """No view tells that a member has gone, so only its message releases."""

    async def work() -> None:
        async with replicas("locks", tmp_path, free_ports(REPLICAS)) as (clients, faulty):
            first, second, third = clients
            turns = 0
            while True:
                turns += 1
                token = await first.ask("acquire", "door")
                waiting = asyncio.create_task(second.ask("acquire", "door"))
                assert await third.ask("release", "door", token) is False
                assert not waiting.done()
                assert await first.ask("release", "door", token) is True
                assert await waiting > token
                if faulty():
                    break
                assert await second.ask("release", "door", await waiting) is True
            assert (await alike(clients, 5 * turns - 1))["claims"] == {"door": [[await waiting, "1"]]}

    judged(tmp_path, work)


@pytest.mark.parametrize("example", ["store", "locks"])
def test_what_a_shell_needs_is_told(example: str) -> None:
    async def ended() -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", f"antiphon.impl.examples.{example}", "shop", "--me", "0",
            "--members", "h", stderr=PIPE,
        )  # fmt: skip
        _, error = await process.communicate()
        return process.returncode, error

    code, error = asyncio.run(ended())
    assert code == 2
    assert b"argument --members: " in error
