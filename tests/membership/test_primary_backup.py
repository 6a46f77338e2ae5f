"""Primary-backup: a request is executed once, whoever fails, and what was answered is in all states."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from msgspec import msgpack

from antiphon import Delivery, Group, View
from antiphon.impl import replication
from antiphon.impl.errors import (
    ClientForgotten,
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    PayloadTooLarge,
    Rejection,
    RequestFailed,
    UnusableAddress,
)
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.member import Member
from antiphon.impl.primary_backup import REQUEST_BYTES_MAX, Client, PrimaryBackup
from antiphon.impl.transport import sessions
from antiphon.impl.transport.sealing import Keyring

from .drawing import KEY, Lots

Ports = Callable[[int], list[int]]
HOST = "127.0.0.1"
ANSWERED, FAILED, FORGOTTEN = range(3)

# One replica, whose group is the test ------------------------------------------------------------------


class Alone:
    """A replica; the test gives it events and requests, and takes its broadcasts and replies."""

    group = "g"
    keys = None
    state = None

    def __init__(self, place: int, **settings: Any) -> None:
        self.me = member(place)
        self.sent: list[bytes] = []
        self.lots = Lots()
        group: Any = self
        self.replica = PrimaryBackup(group, self.lots, **settings)
        self.replies: list[Any] = []
        port: Any = self.replica._port
        port.send = self._replies
        self.asking = b""
        """Client that got the last reply."""

    async def broadcast(self, payload: bytes) -> None:
        """Keep it for the test."""
        self.sent.append(payload)

    def _replies(self, _to: object, data: bytes, source: bytes) -> None:
        self.replies.append(msgpack.decode(data))
        self.asking = source

    async def asked(
        self, client: str, session: int, counter: int, body: str = "", source: bytes = b"s"
    ) -> None:
        """Deliver a request to the replica."""
        request = (client.encode(), session, counter, body.encode())
        self.replica._received((HOST, 9), source, msgpack.encode(request))
        await asyncio.sleep(0)

    async def enters(self, number: int, *places: int) -> None:
        """Deliver a view to the replica."""
        self.replica._take(View(number, tuple(map(member, places)), (), (), ()))
        await asyncio.sleep(0)

    async def delivers(self, number: int, payload: bytes) -> None:
        """Deliver a message to the replica."""
        self.replica._take(Delivery(self.me, number, number, payload))
        await asyncio.sleep(0)

    def update(self) -> bytes:
        """Last broadcast of the replica."""
        assert len(self.sent) == 1
        return self.sent.pop()

    def told(self) -> list[Any]:
        """Last replies of the replica."""
        replies, self.replies = self.replies, []
        return replies

    async def has_session(self, client: str, number: int) -> None:
        """Give a client the session of this number."""
        await self.asked(client, 0, 0)
        await self.delivers(number, self.update())
        assert self.told() == [[0, client.encode(), number, 0, ANSWERED, b""]]

    @property
    def drawn(self) -> list[str]:
        """Names that have drawn, in order."""
        return [name for name, _ in self.lots.drawn]


def member(place: int) -> Member:
    """The member at a place, in its first run; from 10 on, in another one."""
    return Member(bytes([place]) * 16, f"m{place % 10}", HOST, 7000 + place % 10)


def under(test: Callable[[], Any]) -> Callable[[], None]:
    """Run a coroutine as a test."""

    def run() -> None:
        asyncio.run(asyncio.wait_for(test(), 30))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@under
async def test_a_request_is_executed_once_and_again_answered_from_the_record() -> None:
    primary, backup = Alone(0), Alone(1)
    for replica in (primary, backup):
        await replica.enters(1, 0, 1)
    await primary.asked("ann", 0, 0)
    opened = primary.update()
    for replica in (primary, backup):
        await replica.delivers(5, opened)
    assert primary.told() == [[0, b"ann", 5, 0, ANSWERED, b""]], "its place in the order is the session"
    await primary.asked("ann", 5, 1, "a")
    await primary.asked("ann", 5, 1, "a", b"later")
    assert not primary.lots.drawn, "nothing has changed before it is delivered"
    update = primary.update()
    assert primary.told() == [], "and nothing is answered"
    for replica in (primary, backup):
        await replica.delivers(6, update)
    (answer,) = primary.told()
    assert primary.asking == b"later", "who has asked last"
    assert answer[:5] == [0, b"ann", 5, 1, ANSWERED]
    assert primary.lots.drawn == backup.lots.drawn
    assert answer[5].decode() == f"1 a {primary.lots.drawn[0][1]}"
    assert backup.told() == []
    for replica in (primary, backup):
        await replica.asked("ann", 5, 1, "a")
        assert replica.told() == [answer]
    assert primary.lots.executed == [b"a"]
    assert backup.lots.executed == primary.sent == backup.sent == []


@under
async def test_who_is_not_the_primary_says_who_is_and_who_is_no_member_yet_says_nothing() -> None:
    replica = Alone(1)
    await replica.asked("ann", 0, 0)
    assert replica.told() == replica.sent == []
    assert replica.replica.primary is None
    await replica.enters(1, 0, 1)
    await replica.asked("ann", 0, 0)
    assert replica.told() == [[1, HOST, 7000]]
    assert replica.sent == []
    assert not replica.replica.is_primary
    await replica.enters(2, 1)
    assert replica.sent == [], "what was asked earlier is not kept"
    await replica.asked("ann", 0, 0)
    assert replica.replica.is_primary
    await replica.delivers(1, replica.update())


@under
async def test_requests_are_executed_one_by_one_each_as_of_the_update_before() -> None:
    primary = Alone(0)
    await primary.enters(1, 0)
    for number, client in enumerate(("ann", "bob"), 1):
        await primary.has_session(client, number)
    await primary.asked("ann", 1, 1, "a")
    await primary.asked("bob", 2, 1, "b")
    assert primary.lots.executed == [b"a"]
    await primary.delivers(3, primary.update())
    await primary.delivers(4, primary.update())
    assert [answer[5].decode()[:3] for answer in primary.told()] == ["1 a", "2 b"]


@under
async def test_an_update_of_a_deposed_primary_is_ignored_by_all_alike_and_made_anew() -> None:
    deposed, second, third = replicas = [Alone(place) for place in range(3)]
    for replica in replicas:
        await replica.enters(1, 0, 1, 2)
    await deposed.asked("ann", 0, 0)
    opened = deposed.update()
    for replica in replicas:
        await replica.delivers(1, opened)
    await deposed.asked("ann", 1, 1, "a")
    late = deposed.update()
    deposed.told()
    for replica in replicas:
        await replica.enters(2, 1, 2, 0)
    await second.asked("ann", 1, 1, "a")
    anew = second.update()
    for replica in replicas:
        await replica.delivers(2, late)
        assert replica.drawn == []
    for replica in replicas:
        await replica.delivers(3, anew)
        await replica.delivers(4, late)
        assert replica.drawn == ["a"]
    assert deposed.lots.drawn == second.lots.drawn == third.lots.drawn
    assert len(second.told()) == 1
    assert deposed.told() == third.told() == []


@under
async def test_a_primary_that_stays_one_executes_again_what_was_not_delivered_in_its_view() -> None:
    primary = Alone(0)
    await primary.enters(1, 0, 1)
    await primary.has_session("ann", 1)
    await primary.asked("ann", 1, 1, "a")
    late = primary.update()
    await primary.enters(2, 0)
    anew = primary.update()
    await primary.delivers(2, late)
    assert primary.drawn == primary.told() == primary.sent == []
    await primary.delivers(3, anew)
    assert primary.drawn == ["a"]
    assert len(primary.told()) == 1
    assert primary.sent == []


@under
async def test_the_last_request_of_a_client_counts() -> None:
    primary = Alone(0)
    await primary.enters(1, 0)
    for number, client in enumerate(("ann", "bob"), 1):
        await primary.has_session(client, number)
    await primary.asked("bob", 2, 1, "b")
    update = primary.update()
    for counter, body in ((1, "a1"), (2, "a2"), (1, "a1")):
        await primary.asked("ann", 1, counter, body)
    await primary.delivers(3, update)
    await primary.delivers(4, primary.update())
    assert primary.drawn == ["b", "a2"]
    primary.told()
    await primary.asked("ann", 1, 1, "a1")
    assert primary.told() == primary.sent == [], "its client waits for it no more"
    await primary.asked("ann", 0, 0)
    assert primary.told() == primary.sent == [], "nor for a session"
    await primary.asked("ann", 1, 3, "a3")
    await primary.asked("ann", 1, 4, "a4")
    await primary.delivers(5, primary.update())
    assert primary.told() == [], "this is not the answer to the later one"
    await primary.delivers(6, primary.update())
    assert primary.drawn == ["b", "a2", "a3", "a4"]


@under
async def test_what_execute_raises_is_the_answer_and_stays_it() -> None:
    primary = Alone(0)
    await primary.enters(1, 0)
    await primary.has_session("ann", 1)
    await primary.asked("ann", 1, 1, "raise")
    await primary.delivers(2, primary.update())
    failed = [0, b"ann", 1, 1, FAILED, b"ValueError: no lot for you"]
    assert primary.told() == [failed]
    await primary.asked("ann", 1, 1, "raise")
    assert primary.told() == [failed]
    assert primary.lots.executed == [b"raise"]
    too_large = b"x" * (REQUEST_BYTES_MAX + 1)
    wrong: list[tuple[Any, bytes]] = [("text", b"encode it first"), (too_large, b"an answer of 60001 bytes")]
    for counter, (answer, why) in enumerate(wrong, 2):
        primary.lots.execute = lambda _, answer=answer: (answer, b"update 1")  # type: ignore[misc]
        await primary.asked("ann", 1, counter, "a")
        await primary.delivers(counter + 1, primary.update())
        (told,) = primary.told()
        assert told[4] == FAILED
        assert why in told[5]
    assert primary.drawn == []


@under
async def test_a_request_that_changes_nothing_has_no_update() -> None:
    primary = Alone(0)
    await primary.enters(1, 0)
    await primary.has_session("ann", 1)
    primary.lots.execute = lambda _: (b"answer", b"")  # type: ignore[method-assign]
    await primary.asked("ann", 1, 1, "a")
    await primary.delivers(2, primary.update())
    assert primary.told() == [[0, b"ann", 1, 1, ANSWERED, b"answer"]]


@under
async def test_of_more_clients_than_are_kept_one_is_forgotten_and_its_requests_are_not_executed() -> None:
    primary = Alone(0, clients_max=2)
    await primary.enters(1, 0)
    await primary.has_session("ann", 1)
    await primary.has_session("bob", 2)
    await primary.asked("ann", 1, 1, "a")
    await primary.delivers(3, primary.update())
    primary.told()
    await primary.has_session("cat", 4)
    await primary.asked("ann", 1, 1, "a")
    assert len(primary.told()) == 1, "it was answered later than bob"
    await primary.asked("bob", 2, 1, "b")
    await primary.delivers(5, primary.update())
    assert primary.told() == [[0, b"bob", 2, 1, FORGOTTEN, b""]]
    await primary.has_session("dan", 6)
    await primary.asked("ann", 1, 1, "a")
    await primary.delivers(7, primary.update())
    assert primary.told() == [[0, b"ann", 1, 1, FORGOTTEN, b""]]
    assert primary.drawn == ["a"]
    await primary.has_session("ann", 8)  # a question for a session, which was long on its way
    await primary.asked("ann", 1, 1, "a")
    await primary.delivers(9, primary.update())
    assert primary.told() == [[0, b"ann", 1, 1, FORGOTTEN, b""]], "that session is gone for ever"
    assert primary.lots.executed == [b"a"]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_who_joins_gets_the_record_of_answers_with_the_state(size: int) -> None:
    async def run() -> None:
        old, new = Alone(0, clients_max=2), Alone(1, clients_max=2)
        await old.enters(1, 0)
        for number, client in enumerate(("ann", "bob"), 1):
            await old.has_session(client, number)
        await old.asked("ann", 1, 1, "a")
        await old.delivers(3, old.update())
        (answer,) = old.told()
        whole = b"".join([piece async for piece in old.replica.save()])

        async def pieces() -> AsyncIterator[bytes]:
            for at in range(0, len(whole), size):
                yield whole[at : at + size]

        await new.replica.load(pieces())
        assert new.lots.drawn == old.lots.drawn
        await new.enters(2, 1)
        await new.asked("ann", 1, 1, "a")
        assert new.told() == [answer]
        await new.has_session("cat", 4)
        await new.asked("bob", 2, 1, "b")
        await new.delivers(5, new.update())
        assert new.told() == [[0, b"bob", 2, 1, FORGOTTEN, b""]], "bob is the first to be forgotten here, too"

    asyncio.run(asyncio.wait_for(run(), 30))


@under
async def test_a_state_that_comes_clears_what_waited_at_a_primary_that_was_excluded() -> None:
    """The others may have executed it, so that it must not be executed when this one is primary once more."""
    first, second = Alone(0), Alone(1)
    for replica in (first, second):
        await replica.enters(1, 0, 1)
    await first.asked("ann", 0, 0)
    opened = first.update()
    for replica in (first, second):
        await replica.delivers(1, opened)
    await first.asked("ann", 1, 1, "a")
    first.update()
    await second.enters(2, 1)
    await second.asked("ann", 1, 1, "a")
    await second.delivers(2, second.update())
    first.me = member(10)
    assert not first.replica.is_primary
    await first.replica.load(second.replica.save())
    await first.asked("bob", 0, 0)
    assert first.sent == [], "it is in no view of its own yet"
    await first.enters(3, 10)
    assert first.sent == []
    assert first.lots.drawn == second.lots.drawn


@under
async def test_a_group_that_was_founded_anew_ends_who_has_the_state_of_the_earlier_one() -> None:
    replica = Alone(0)
    await replica.enters(4, 0)
    replica.me = member(10)
    with pytest.raises(GroupFailed, match="view 1 after view 4: it was founded anew"):
        await replica.enters(1, 10)


@under
async def test_no_more_requests_wait_than_may() -> None:
    primary = Alone(0)
    await primary.enters(1, 0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(replication, "WAITING_MAX", 2)
        for client in ("ann", "bob", "cat", "ann"):
            await primary.asked(client, 0, 0)
    assert list(primary.replica._replica._waiting) == [b"ann", b"bob"]
    primary.replica._received((HOST, 9), b"s", b"nonsense")
    assert primary.replica._port.dropped == {Rejection.MALFORMED: 1}


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="clients_max=0"):
        Alone(0, clients_max=0)
    group = Group.join("g", seeds=[(HOST, 9)], bind=(HOST, 0), key=None, expect=1)
    PrimaryBackup(group, Lots())
    with pytest.raises(InvalidSetting, match="the group's state is that of one service"):
        PrimaryBackup(group, Lots())
    for replicas, retry_s in ((["db1"], 1.0), ([], 1.0), ([(HOST, "x")], 1.0), ([(HOST, 9)], 0.0)):
        with pytest.raises(InvalidSetting, match="replicas="):
            Client("g", replicas, None, retry_s=retry_s)  # type: ignore[arg-type]


# Replicas and clients in one process, with sockets -------------------------------------------------------


class Serving:
    """Replicas of this process, which end with it."""

    def __init__(self, ports: list[int]) -> None:
        self.seeds = [(HOST, port) for port in ports]
        self.groups: list[JoinedGroup] = []
        self.lots: list[Lots] = []
        self.replicas: list[PrimaryBackup] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        """All are in their first view."""
        async with AsyncExitStack() as stack:
            for at in range(len(self.seeds)):
                await self.start(at, len(self.seeds))
                stack.push_async_callback(self.groups[at].close)
            while any(replica.primary is None for replica in self.replicas):
                await asyncio.sleep(0.01)
            self._ends = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the replica."""
        await self._ends.aclose()
        for task in self.tasks:
            await task

    async def start(self, at: int, expect: int) -> None:
        """Serve at one of the addresses."""
        group = Group.join(
            "lots", seeds=self.seeds, bind=self.seeds[at], key=KEY, name=f"p{at}", expect=expect,
            timeouts=LOCAL,
        )  # fmt: skip
        self.groups.append(group)
        self.lots.append(Lots())
        self.replicas.append(PrimaryBackup(group, self.lots[-1]))
        await group.__aenter__()
        self.tasks.append(asyncio.create_task(self.replicas[-1].serve()))

    async def equal(self, *places: int) -> list[str]:
        """Wait until the replicas at these places have the same, and return who has drawn."""
        while any(self.lots[place].drawn != self.lots[places[0]].drawn for place in places):
            await asyncio.sleep(0.01)
        return [name for name, _ in self.lots[places[0]].drawn]


def client(seeds: list[tuple[str, int]], **settings: Any) -> Client:
    """Client with the key of the group, unless `settings` has another."""
    return Client("lots", seeds, **{"key": KEY, "retry_s": 0.2, **settings})


def test_a_client_asks_a_backup_and_one_whose_first_address_is_dead_the_next(free_ports: Ports) -> None:
    ports = free_ports(4)

    async def run() -> None:
        async with Serving(ports[:3]) as serving:
            dead = (HOST, ports[3])
            backup = next(at for at in range(3) if not serving.replicas[at].is_primary)
            for replicas in ([serving.seeds[backup]], [dead, serving.seeds[backup]], [dead, *serving.seeds]):
                began = time.monotonic()
                async with client(replicas, retry_s=5.0) as asking:
                    assert (await asking.request(b"a", 20)).split(b" ")[1] == b"a"
                    assert (await asking.request(b"b")).split(b" ")[1] == b"b"
                assert time.monotonic() - began < 4, "it is told at once"
            with socket_at(dead):
                async with client([dead, *serving.seeds]) as asking:
                    assert await asking.request(b"c", 20)
            assert await serving.equal(0, 1, 2) == ["a", "b"] * 3 + ["c"]

    asyncio.run(asyncio.wait_for(run(), 60))


@contextlib.contextmanager
def socket_at(address: tuple[str, int]) -> Iterator[None]:
    """A socket that never answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(address)
        yield


def test_the_primary_ends_and_requests_are_answered_by_the_next(free_ports: Ports) -> None:
    ports = free_ports(3)
    answers: dict[str, str] = {}

    async def run() -> None:
        async with Serving(ports) as serving:
            primary = next(at for at in range(3) if serving.replicas[at].is_primary)
            rest = [at for at in range(3) if at != primary]

            async def ask(who: str) -> None:
                async with client(serving.seeds) as asking:
                    for count in range(60):
                        name = f"{who}{count}"
                        answers[name] = (await asking.request(name.encode())).decode()
                        await asyncio.sleep(0.002)

            asking = [asyncio.create_task(ask(who)) for who in "xyz"]
            while len(answers) < 40:
                await asyncio.sleep(0.001)
            await serving.groups[primary].close()
            await asyncio.gather(*asking)
            names = await serving.equal(*rest)
            assert len(names) == len(set(names)) == 180
            for place, (name, number) in enumerate(serving.lots[rest[0]].drawn, 1):
                assert answers[name] == f"{place} {name} {number}"
            assert any(serving.replicas[at].is_primary for at in rest)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_backups_come_and_go_and_what_is_on_its_way_meanwhile_counts_once(free_ports: Ports) -> None:
    ports = free_ports(3)
    names: list[str] = []

    async def run() -> None:
        async with Serving(ports) as serving:
            ends = False

            async def ask(who: str) -> None:
                async with client(serving.seeds) as asking:
                    while not ends:
                        names.append(f"{who}{len(names)}")
                        assert names[-1].encode() in (await asking.request(names[-1].encode())).split(b" ")

            primary = next(at for at in range(3) if serving.replicas[at].is_primary)
            at = (primary + 1) % 3
            asking = [asyncio.create_task(ask(who)) for who in "xyz"]
            last = at
            for _ in range(4):
                await serving.groups[last].leave()
                await serving.start(at, 3)
                last = len(serving.groups) - 1
                while serving.replicas[last].primary is None:
                    await asyncio.sleep(0.01)
            ends = True
            await asyncio.gather(*asking)
            drawn = await serving.equal(primary, (primary + 2) % 3, last)
            assert sorted(drawn) == sorted(names)
            view = serving.groups[primary].view
            assert view is not None
            assert view.number >= 9
            await serving.groups[last].close()

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_request_fails_and_the_service_goes_on(free_ports: Ports) -> None:
    async def run() -> None:
        async with Serving(free_ports(1)) as serving, client(serving.seeds) as asking:
            with pytest.raises(RequestFailed, match="ValueError: no lot for you"):
                await asking.request(b"raise")
            usual = serving.lots[0].execute
            serving.lots[0].execute = lambda _: (b"", bytes(2**24))  # type: ignore[method-assign]
            with pytest.raises(RequestFailed, match="PayloadTooLarge: 167772"):
                await asking.request(b"too much")
            serving.lots[0].execute = usual  # type: ignore[method-assign]
            with pytest.raises(PayloadTooLarge, match="a request of 60001 bytes"):
                await asking.request(bytes(60_001))
            assert (await asking.request(b"a" * 50_000)).startswith(b"1 aaa")
            assert await serving.equal(0) == ["a" * 50_000]
            with pytest.raises(InvalidSetting, match="requests to lots"):
                await serving.replicas[0].serve()

    asyncio.run(asyncio.wait_for(run(), 60))


def test_requests_of_one_client_go_one_by_one_and_one_that_was_cancelled_is_not_waited_for(
    free_ports: Ports,
) -> None:
    async def run() -> None:
        async with Serving(free_ports(1)) as serving, client(serving.seeds) as asking:
            names = [f"n{count}" for count in range(20)]
            answers = await asyncio.gather(*(asking.request(name.encode()) for name in names))
            assert [answer.split(b" ")[1].decode() for answer in answers] == names
            cancelled = asyncio.create_task(asking.request(b"cancelled"))
            await asyncio.sleep(0)
            cancelled.cancel()
            assert b" last " in await asking.request(b"last")
            names = await serving.equal(0)
            assert len(names) == len(set(names)), "it was executed once, or never"

    asyncio.run(asyncio.wait_for(run(), 60))


def test_who_has_no_key_gets_no_answer_and_keys_change_while_it_serves(free_ports: Ports) -> None:
    new = secrets.token_bytes(32)

    async def run() -> None:
        async with Serving(free_ports(1)) as serving:
            for key in (secrets.token_bytes(32), None):
                async with client(serving.seeds, key=key) as stranger:
                    with pytest.raises(TimeoutError, match=r"no answer in 0.5 s; whether .* is not known"):
                        await stranger.request(b"a", 0.5)
            async with client(serving.seeds) as asking:
                assert await asking.request(b"b")
                serving.groups[0].rekey(Keyring(new, [KEY]))
                asking.rekey(Keyring(KEY, [new]))
                assert await asking.request(b"c")
                async with client(serving.seeds, key=new) as other:
                    assert await other.request(b"d", 10)
                serving.groups[0].rekey(new)
                with pytest.raises(TimeoutError):
                    await asking.request(b"with the old key", 0.5)
                asking.rekey(new)
                assert await asking.request(b"e", 10)
            assert await serving.equal(0) == ["b", "c", "d", "e"]

    asyncio.run(asyncio.wait_for(run(), 60))


def test_who_stops_serving_answers_nothing_and_may_serve_again(free_ports: Ports) -> None:
    async def run() -> None:
        async with Serving(free_ports(1)) as serving, client(serving.seeds) as asking:
            assert await asking.request(b"a")
            serving.tasks[0].cancel()
            with pytest.raises(TimeoutError):
                await asking.request(b"b", 0.3)
            serving.tasks[0] = asyncio.create_task(serving.replicas[0].serve())
            assert await asking.request(b"c", 10)
            assert await serving.equal(0) == ["a", "c"]

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_client_whose_datagrams_are_refused_since_many_others_came_becomes_another_one(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with Serving(free_ports(1)) as serving, client(serving.seeds) as asking:
            assert await asking.request(b"a")
            monkeypatch.setattr(sessions, "PEERS_MAX", 2)
            for count in range(4):
                async with client(serving.seeds) as other:
                    assert await other.request(f"other{count}".encode())
            assert await asking.request(b"b", 10)

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_client_of_whom_nothing_is_known_any_more_is_told_so(free_ports: Ports) -> None:
    async def run() -> None:
        async with Serving(free_ports(1)) as serving, client(serving.seeds) as asking:
            serving.replicas[0]._replica._clients_max = 1
            assert await asking.request(b"a")
            async with client(serving.seeds) as other:
                assert await other.request(b"b")
            with pytest.raises(ClientForgotten, match="too many other clients"):
                await asking.request(b"c")
            assert await serving.equal(0) == ["a", "b"]

    asyncio.run(asyncio.wait_for(run(), 60))


def test_a_client_asks_while_it_is_open(free_ports: Ports) -> None:
    async def run() -> None:
        asking = client([(HOST, port) for port in free_ports(1)])
        with pytest.raises(GroupClosed, match="within `async with`"):
            await asking.request(b"a")
        async with asking:
            with pytest.raises(TypeError, match="encode it first"):
                await asking.request("a")  # type: ignore[arg-type]
        with pytest.raises(GroupClosed, match="within `async with`"):
            await asking.request(b"a")
        with pytest.raises(GroupClosed, match="opened once"):
            await asking.__aenter__()
        with pytest.raises(UnusableAddress, match=r"host\.invalid"):
            await client([("host.invalid", 7000)]).__aenter__()

    asyncio.run(asyncio.wait_for(run(), 30))


# Replicas and clients as processes, which are killed -----------------------------------------------------


class Process:
    """A replica or a client, and the lines that it has printed."""

    def __init__(self, **told: object) -> None:
        script = str(Path(__file__).with_name("drawing.py"))
        self.popen = subprocess.Popen(
            [sys.executable, script, json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.answers: dict[str, str] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for text in self.popen.stdout:
            line = json.loads(text)
            if line["kind"] == "answer":
                self.answers[line["ask"]] = line["answer"]
            self.lines.put(line)
        self.lines.put(None)

    def until(self, **wanted: object) -> dict[str, Any]:
        """Wait for a line that says this."""
        while True:
            line = self.lines.get(timeout=30)
            assert line is not None, f"it ended before it said {wanted}"
            if all(line.get(key) == value for key, value in wanted.items()):
                return line

    def state(self) -> list[tuple[str, int]]:
        """Lots drawn, as this replica knows them."""
        assert self.popen.stdin is not None
        self.popen.stdin.write("state\n")
        self.popen.stdin.flush()
        return [(name, number) for name, number in self.until(kind="state")["drawn"]]


class Processes:
    """Three addresses, at which replicas run, and clients."""

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self.started: list[Process] = []

    def replica(self, me: int) -> Process:
        """Start a replica, with the same settings each time."""
        return self._started(Process(ports=self.ports, me=me, expect=3))

    def client(self, asks: list[str]) -> Process:
        """Start a client."""
        return self._started(Process(ports=self.ports, asks=asks))

    def _started(self, process: Process) -> Process:
        self.started.append(process)
        return process


@pytest.fixture
def processes(free_ports: Ports) -> Iterator[Processes]:
    """Processes of a test; the survivors are killed at its end."""
    some = Processes(free_ports(3))
    yield some
    for process in some.started:
        with process.popen:
            process.popen.kill()


def founded(processes: Processes) -> list[Process]:
    """Three replicas in their first view, in its order: the primary is the first."""
    three = [processes.replica(me) for me in range(3)]
    views = [process.until(kind="view", number=1) for process in three]
    return [three[int(name.removeprefix("p"))] for name in views[0]["members"]]


def judge(replicas: list[Process], clients: list[Process], asked: int) -> None:
    """Fail unless all has ended well: nothing twice, nothing lost, and all replicas equal."""
    end = time.monotonic() + 10
    while (states := [replica.state() for replica in replicas]) != [states[0]] * len(states):
        assert time.monotonic() < end, "replicas differ"
    answers = {name: answer for client in clients for name, answer in client.answers.items()}
    drawn = [f"{place} {name} {number}" for place, (name, number) in enumerate(states[0], 1)]
    assert len(answers) == asked
    assert len({name for name, _ in states[0]}) == len(drawn) == asked
    assert sorted(answers.values()) == sorted(drawn), "what was answered is what was drawn"


@pytest.mark.deep
def test_the_primary_is_killed_again_and_again_and_no_request_is_lost_or_executed_twice(
    processes: Processes,
) -> None:
    replicas = founded(processes)
    places = {id(replica): me for me, replica in enumerate(processes.started)}
    clients = [processes.client([f"{who}{count}" for count in range(200)]) for who in "abc"]
    number = 1
    for _ in range(3):
        before = len(clients[0].answers)
        while len(clients[0].answers) < before + 30:
            time.sleep(0.01)
        killed = replicas.pop(0)
        os.kill(killed.popen.pid, signal.SIGKILL)
        again = processes.replica(places[id(killed)])
        places[id(again)] = places[id(killed)]
        number = again.until(kind="view")["number"]
        replicas.append(again)
    assert number >= 4
    for client in clients:
        client.until(kind="end")
    judge(replicas, clients, 600)


@pytest.mark.deep
def test_a_primary_that_was_stopped_and_excluded_comes_back_as_a_backup(processes: Processes) -> None:
    replicas = founded(processes)
    clients = [processes.client([f"{who}{count}" for count in range(300)]) for who in "ab"]
    while len(clients[0].answers) < 30:
        time.sleep(0.01)
    os.kill(replicas[0].popen.pid, signal.SIGSTOP)
    number = replicas[1].until(kind="view", primary=True)["number"]
    asked = len(clients[0].answers)
    while len(clients[0].answers) < asked + 30:
        time.sleep(0.01)
    os.kill(replicas[0].popen.pid, signal.SIGCONT)
    back = replicas[0].until(kind="view", primary=False)
    assert back["number"] > number
    for client in clients:
        client.until(kind="end")
    judge(replicas, clients, 600)
