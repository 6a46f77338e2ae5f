"""Events come one at a time, none is lost with who is cancelled; a group says in words where it stands."""

from __future__ import annotations

import asyncio
import socket

import pytest

from antiphon.impl.errors import UnknownProtocol
from antiphon.impl.group import Delivery, Group
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.registry import implementation, known_protocols

KEY = bytes(range(32))
ONE_AT_A_TIME = Layers(buffer_bytes=1)
"""A member sends one message at a time."""


def pair(layers: Layers = ONE_AT_A_TIME, protocol: str | None = None) -> list[Group]:
    """A group of two, both in this process."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    addresses = [each.getsockname() for each in bound]
    return [
        Group("pair", me=me, members=2, bind=bound[me], routes={1 - me: addresses[1 - me]}, key=KEY,
              layers=layers, protocol=protocol)
        for me in range(2)
    ]  # fmt: skip


def test_who_is_cancelled_while_waiting_takes_no_event_along() -> None:
    async def scenario() -> None:
        first, second = pair()
        async with asyncio.timeout(60), first, second:
            waiting = asyncio.create_task(anext(second))
            await asyncio.sleep(0)
            waiting.cancel()
            await first.broadcast(b"m")
            assert (await anext(second)).payload == b"m"
            assert waiting.cancelled()

    asyncio.run(scenario())


def test_an_application_that_takes_nothing_holds_back_who_broadcasts_and_is_named() -> None:
    async def scenario() -> None:
        first, second = pair(Layers(buffer_bytes=1000, untaken_bytes=5000))
        async with asyncio.timeout(60), first, second:

            async def broadcasting() -> None:
                for _ in range(1000):
                    await first.broadcast(bytes(100))

            async def taking(group: Group, taken: list[bytes]) -> None:
                while len(taken) < 1000:
                    taken.append((await anext(group)).payload)

            sender = asyncio.create_task(broadcasting())
            taker = asyncio.create_task(taking(first, []))
            while not any("application" in wait.what for wait in first.waits):
                await asyncio.sleep(0.001)
            assert {wait.of for wait in first.waits if "application" in wait.what} == {1}
            assert "the taking of 5" in repr(first.waits)
            await asyncio.sleep(0.05)
            assert 5000 <= 105 * second.untaken <= 5000 + 105 + 2 * 1105
            assert not sender.done()
            taken: list[bytes] = []
            await taking(second, taken)
            await asyncio.gather(sender, taker)
            assert taken == [bytes(100)] * 1000

    asyncio.run(scenario())


@pytest.mark.parametrize("protocol", ["rbp-resilient", "sequencer", "dtp"])
def test_who_takes_what_has_waited_wakes_the_others_at_once(protocol: str) -> None:
    """Not with the next timer: the alarm rings as soon as the events are taken."""

    async def scenario() -> None:
        first, second = pair(Layers(buffer_bytes=1000, untaken_bytes=5000), protocol)
        async with asyncio.timeout(60), first, second:

            async def broadcasting() -> None:
                while True:
                    await first.broadcast(bytes(100))

            async def taking() -> None:
                async for _ in first:
                    pass

            tasks = [asyncio.create_task(broadcasting()), asyncio.create_task(taking())]
            while not any("application" in wait.what for wait in first.waits):
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.1)
            later = second._shell._rings_at - second._shell._now()
            assert second.at_hand()
            soon = second._shell._rings_at - second._shell._now()
            assert later > 1.0
            assert soon <= 0.0
            for task in tasks:
                task.cancel()

    asyncio.run(scenario())


def test_what_is_at_hand_is_given_once_and_the_rest_by_iteration() -> None:
    async def scenario() -> None:
        first, second = pair()
        async with asyncio.timeout(60), first, second:
            assert second.at_hand() == []
            for k in range(3):
                await first.broadcast(b"%d" % k)
            taken = [await anext(second)]
            while len(taken) < 3:
                await asyncio.sleep(0.001)
                taken += second.at_hand()
            assert all(type(event) is Delivery for event in taken)
            assert [event.payload for event in taken] == [b"0", b"1", b"2"]
            assert second.at_hand() == []

    asyncio.run(scenario())


def test_a_group_says_where_it_stands_and_for_what_it_waits() -> None:
    async def scenario() -> None:
        first, second = pair()
        assert repr(second).startswith("<Group 'pair': closed, 0 events to take, 0 broadcasts waiting; <rbp")
        async with asyncio.timeout(60), first:
            await first.broadcast(b"1")
            behind = asyncio.create_task(first.broadcast(b"2"))
            await asyncio.sleep(0)
            told = repr(first)
            assert "open, 0 events to take, 1 broadcasts waiting" in told
            assert "process 0 of 2, progress" in told
            assert ", busy; waits for a number after 1 for message 0:1 of process 1> for 0.0 s>" in told
            stands = "last number 1, delivered to 1, at all to 0, keeps 1 numbers; process 0 of 2"
            assert stands in repr(first._endpoint.core)
            async with second:
                await behind
                assert (await anext(second)).payload == b"1"

    asyncio.run(scenario())


def test_a_group_that_failed_says_why() -> None:
    async def scenario() -> None:
        first, second = pair()
        async with second, first:
            first._fail(RuntimeError("planted"))
            assert "failed, 0 events to take, 0 broadcasts waiting; RuntimeError: planted" in repr(first)

    asyncio.run(scenario())


def test_a_protocol_is_chosen_by_its_name() -> None:
    assert "rbp" in known_protocols()
    assert implementation("rbp", resend_ms=7).messages == rbp().messages
    with pytest.raises(UnknownProtocol, match=r"unknown protocol 'rpb'; known: .*; did you mean 'rbp'\?"):
        Group(
            "g",
            me=0,
            members=2,
            bind=("127.0.0.1", 0),
            routes={1: ("127.0.0.1", 9)},
            key=None,
            protocol="rpb",
        )
    with pytest.raises(TypeError, match="resend"):
        implementation("rbp", resend=7)
