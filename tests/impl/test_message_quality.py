"""A message says how many members have it when it is delivered, around every core; and it does not wait
longer than that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from antiphon.impl.errors import GroupFailed, UnknownDelivery
from antiphon.impl.group import Group
from antiphon.impl.layers import Layers
from antiphon.impl.layers.batches import Batches, _Kept
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.registry import delivering, implementation, known_protocols
from antiphon.impl.sync import SyncGroup
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

MEMBERS = 3
ROUGH = Faults(loss=0.15, duplication=0.1, delay_ms=(1.0, 20.0))
SMALL = Layers(datagram_bytes=600)

CORES = {name: delivering(name, "ordered", MEMBERS) for name in known_protocols()}


class Watched(SimulatedNetwork[Any]):
    """After every step: of what was delivered so many members have what it asked for, with its place."""

    def __init__(self, core: Implementation[Any], seed: int) -> None:
        super().__init__(core, MEMBERS, seed=seed, faults=ROUGH, layers=SMALL)
        self.wanted: dict[bytes, int] = {}
        self._seen = [0] * MEMBERS

    def step(self) -> None:
        """Step as usual, then look at the copies held."""
        super().step()
        have = [endpoint.held for endpoint in self.endpoints]
        for process, delivered in enumerate(self.deliveries):
            for one in delivered[self._seen[process] :]:
                holders = sum(count >= one.number for count in have)
                assert holders >= self.wanted[one.payload], f"{one} at process {process}, {self}"
            self._seen[process] = len(delivered)


def talked(core: Implementation[Any], seed: int) -> list[Delivery]:
    """Deliveries, at all members, of forty messages, a few of them large, each with a wish of its own."""
    network, chance = Watched(core, seed), random.Random(seed)
    for k in range(40):
        payload = b"%d:" % k + bytes(chance.choice((0, 0, 50, 1_500)))
        network.wanted[payload] = chance.randint(1, MEMBERS)
        network.broadcast(k % MEMBERS, payload, network.wanted[payload])
        if k % 5 == 0:
            network.run_for(30.0)
    assert network.run_until_delivered(40), network
    first = network.deliveries[0]
    assert network.deliveries == [first] * MEMBERS
    assert sorted(one.payload for one in first) == sorted(network.wanted)
    assert not any(endpoint.violations for endpoint in network.endpoints)
    return first


@pytest.mark.sampled(4)
@pytest.mark.parametrize("core", CORES)
def test_what_is_delivered_so_many_members_have_as_it_asked_for(core: str) -> None:
    for seed in range(3):
        talked(CORES[core], seed)


def at_once(batches: Batches) -> list[Delivery]:
    """Deliver at once, as if every member had the message."""
    kept = [message for _, messages in batches._kept for message in messages]
    batches._kept.clear()
    return kept


def one_too_early(batches: Batches) -> list[Delivery]:
    """One holder fewer is enough."""
    for at, (holders, messages) in enumerate(batches._kept):
        batches._kept[at] = _Kept(holders - 1, messages)
    released = RELEASED(batches)
    for at, (holders, messages) in enumerate(batches._kept):
        batches._kept[at] = _Kept(holders + 1, messages)
    return released


RELEASED = Batches._released


@pytest.mark.parametrize("impatient", [at_once, one_too_early])
def test_layers_that_do_not_wait_long_enough_are_found(
    impatient: Callable[[Batches], list[Delivery]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Batches, "_released", impatient)
    with pytest.raises(AssertionError, match=r"at process \d"):
        talked(CORES["rbp"], 0)


def delivered_after(holders: int) -> list[float]:
    """Milliseconds from member 1's broadcast to each delivery, in a quiet group."""
    network = SimulatedNetwork(CORES["sequencer"], MEMBERS, seed=1, layers=Layers())
    network.run_for(1_000.0)
    network.broadcast(1, b"asks", holders)
    times = [0.0] * MEMBERS
    while not all(times):
        network.step()
        for process, delivered in enumerate(network.deliveries):
            times[process] = times[process] or (network.now - 1_000.0) * len(delivered)
    return times


def test_a_message_waits_no_longer_than_it_asked_for() -> None:
    """A datagram takes a millisecond. Two members: the second to have it knows that the source has it."""
    assert delivered_after(1) == [1.0, 2.0, 2.0]
    assert delivered_after(2) == [3.0, 4.0, 4.0]
    assert delivered_after(3) == [3.0, 4.0, 4.0]


def test_what_stands_behind_a_message_that_waits_waits_with_it() -> None:
    network = SimulatedNetwork(CORES["sequencer"], MEMBERS, seed=1, layers=Layers())
    network.cut([(2, 0), (2, 1)])
    network.broadcast(0, b"all", 3)
    network.broadcast(0, b"ordered", 1)
    network.run_for(1_000.0)
    assert [len(delivered) for delivered in network.deliveries] == [0, 0, 2], "member 2 knows of itself"
    assert [endpoint.held for endpoint in network.endpoints] == [2, 2, 2]
    told = "word of having message 0:1 of process 2"
    assert [str(wait) for wait in network.endpoints[0].waits()] == [told]
    assert told in repr(network.endpoints[0])
    network.heal()
    assert network.run_until_delivered(2)
    assert [[one.payload for one in delivered] for delivered in network.deliveries] == [
        [b"all", b"ordered"]
    ] * MEMBERS


def test_in_a_quiet_group_so_many_members_say_that_they_have_it_and_then_it_is_quiet() -> None:
    """Each says it in a batch, which goes to the coordinator and from it to all."""
    told = {}
    for holders in (1, 2, 3):
        network = SimulatedNetwork(CORES["sequencer"], MEMBERS, seed=1, layers=Layers())
        network.broadcast(0, b"asks", holders)
        network.run_for(10_000.0)
        told[holders] = network.transmissions["data"]
        assert [len(delivered) for delivered in network.deliveries] == [1, 1, 1]
    assert told == {1: 1, 2: 3, 3: 4}


def test_without_layers_nobody_waits_for_more_than_the_core_does() -> None:
    endpoint = Endpoint(implementation("dtp", resilience=1), "g", 0, MEMBERS)
    endpoint.start(0.0)
    assert endpoint.broadcast(b"two", 0.0, 2) == (0, 1)
    with pytest.raises(UnknownDelivery, match="delivered when 2 members have it; waiting for 3 takes layers"):
        endpoint.broadcast(b"three", 0.0, 3)


# Groups over sockets ----------------------------------------------------------------------------------------


@pytest.fixture
def at(free_ports: Callable[[int], list[int]]) -> list[tuple[str, int]]:
    """Two addresses of the loopback interface at which nobody listens."""
    return [("127.0.0.1", port) for port in free_ports(2)]


def group(me: int, at: list[tuple[str, int]], **settings: Any) -> Group:
    """Open the group as member `me`."""
    routes = {other: address for other, address in enumerate(at) if other != me}
    return Group("quality", me=me, members=len(at), bind=at[me], routes=routes, key=None, **settings)


def test_every_broadcast_may_say_when_it_is_delivered(at: list[tuple[str, int]]) -> None:
    """Beside what the group says for all that say nothing."""

    async def scenario() -> None:
        a, b = (group(me, at, protocol="totem", deliver=2) for me in range(2))
        async with a, b:
            for deliver in (None, "ordered", 1, 2, "all"):
                await a.broadcast(str(deliver).encode(), deliver=deliver)
            for each in (a, b):
                told = [(await asyncio.wait_for(anext(each), 60)).payload for _ in range(5)]
                assert told == [b"None", b"ordered", b"1", b"2", b"all"]
            for wrong in (0, 3, "most"):
                with pytest.raises(UnknownDelivery, match="how many of the 2 members"):
                    await a.broadcast(b"x", deliver=wrong)

    asyncio.run(scenario())


def test_what_a_protocol_never_delivers_so_early_is_refused(at: list[tuple[str, int]]) -> None:
    async def scenario() -> None:
        a, b = (group(me, at, deliver="all") for me in range(2))
        async with a, b:
            told = "deliver='ordered': this group delivers nothing before 2 of its 2 members have it"
            with pytest.raises(UnknownDelivery, match=told):
                await a.broadcast(b"early", deliver="ordered")
            assert await a.broadcast(b"all", deliver=2) == (0, 1)
            assert (await asyncio.wait_for(anext(b), 60)).payload == b"all"

    asyncio.run(scenario())


def test_a_group_whose_message_waits_for_a_member_that_is_gone_says_for_whom(
    at: list[tuple[str, int]],
) -> None:
    async def scenario() -> None:
        a, b = (group(me, at, protocol="sequencer", stall_s=1.0) for me in range(2))
        async with a:
            async with b:
                await a.broadcast(b"first")
                assert (await asyncio.wait_for(anext(b), 60)).payload == b"first"
                await anext(a)
                await asyncio.sleep(0.1)
            await a.broadcast(b"second", deliver="all")
            with pytest.raises(GroupFailed, match="process 0 needs word of having message 0:2 of process 1"):
                await asyncio.wait_for(anext(a), 60)

    asyncio.run(scenario())


def test_a_group_without_asyncio_takes_it_too(at: list[tuple[str, int]]) -> None:
    common: dict[str, Any] = {"members": 2, "key": None, "protocol": "pinwheel"}
    with (
        SyncGroup("quality", me=0, bind=at[0], routes={1: at[1]}, **common) as a,
        SyncGroup("quality", me=1, bind=at[1], routes={0: at[0]}, **common) as b,
    ):
        a.broadcast(b"all", 60, deliver="all")
        assert [each.next(60).payload for each in (a, b)] == [b"all", b"all"]
        with pytest.raises(UnknownDelivery):
            a.broadcast(b"x", deliver=3)
