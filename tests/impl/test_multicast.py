"""Multicast sends one datagram to all: on the wire, under the seal and in the logs."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Callable

import pytest

from antiphon.impl import tracing
from antiphon.impl.errors import Rejection, UnusableAddress
from antiphon.impl.group import Group
from antiphon.impl.layers import Layers
from antiphon.impl.registry import implementation
from antiphon.impl.tracing import RecordingTracer
from antiphon.impl.transport.addresses import multicast
from antiphon.impl.transport.incarnations import CHANCE_BYTES, Incarnations, incarnation
from antiphon.impl.transport.sealing import Keyring, Plain, Sealed, Sealing
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork
from antiphon.impl.transport.wire import EVERYBODY, Rejected

KEY = bytes(range(32))
MEMBERS = 3


@pytest.mark.parametrize("layers", [None, Layers(datagram_bytes=500)], ids=["bare", "layers"])
@pytest.mark.parametrize("name", ["rbp", "dtp"])
def test_a_group_over_multicast_agrees_although_each_copy_has_its_own_fate(
    name: str, layers: Layers | None
) -> None:
    tracer = RecordingTracer()
    faults = Faults(loss=0.2, duplication=0.2, delay_ms=(1.0, 20.0))
    network = SimulatedNetwork(
        implementation(name), MEMBERS, seed=3, faults=faults, tracer=tracer, layers=layers, multicast=True
    )
    for k in range(30):
        network.broadcast(k % MEMBERS, b"%d" % k)
    assert network.run_until_delivered(30), network
    orders = [[each[:2] for each in delivered] for delivered in network.deliveries]
    assert orders == [orders[0]] * MEMBERS
    assert sorted(orders[0]) == [(me, k) for me in range(MEMBERS) for k in range(1, 11)]
    sends = Counter((event.datagram, event.to) for event in tracer.events if isinstance(event, tracing.Send))
    assert set(sends.values()) == {1}
    receives = {
        (event.datagram, event.process) for event in tracer.events if isinstance(event, tracing.Receive)
    }
    assert receives <= set(sends)
    assert sum(network.datagrams.values()) == len({datagram for datagram, _ in sends}) < len(sends)


def test_a_message_to_all_costs_one_datagram_and_one_to_each_without() -> None:
    cost = {}
    for together in (False, True):
        network = SimulatedNetwork(implementation("dtp"), 5, seed=1, multicast=together)
        network.broadcast(1, b"m")
        assert network.run_until_delivered(1)
        cost[together] = network.datagrams["msg"], network.transmissions["msg"]
    assert cost == {False: (4, 1), True: (1, 1)}


def test_queues_between_each_two_members_stay_as_they_are() -> None:
    network = SimulatedNetwork(implementation("sequencer"), 3, seed=1, layers=Layers(), multicast=True)
    network.broadcast(1, b"m")
    assert network.run_until_delivered(1)


# Under the seal ---------------------------------------------------------------------------------------------


def sealing(kind: str, me: int, own: bytes) -> Sealing:
    return Plain("g", me, own) if kind == "plain" else Sealed("g", me, own, Keyring(KEY))


def member(kind: str, me: int, run: int = 1) -> Incarnations:
    own = incarnation(run, bytes([me]) * CHANCE_BYTES)
    return Incarnations(me, MEMBERS, own, sealing(kind, me, own))


def carried(members: list[Incarnations]) -> list[tuple[int, bytes]]:
    """Carry what the members send until nobody sends any more: who heard what."""
    heard: list[tuple[int, bytes]] = []
    while frames := [(me, *frame) for me, each in enumerate(members) for frame in each.frames_to_send()]:
        for sender, to, data in frames:
            for receiver in {*range(MEMBERS)} - {sender} if to == EVERYBODY else {to}:
                got = members[receiver].received(sender, data, 0.0)
                if isinstance(got, bytes) and got:
                    heard.append((receiver, got))
    return heard


def acquainted(kind: str) -> list[Incarnations]:
    members = [member(kind, me) for me in range(MEMBERS)]
    for each in members:
        each.start(0.0)
    assert carried(members) == []
    return members


@pytest.mark.parametrize("kind", ["plain", "sealed"])
def test_a_frame_for_everybody_is_one_and_is_heard_by_each_of_the_others(kind: str) -> None:
    members = acquainted(kind)
    members[0].send(EVERYBODY, b"all", 0.0)
    ((to, frame),) = members[0].frames_to_send()
    assert to == EVERYBODY
    assert [members[q].received(0, frame, 0.0) for q in (1, 2)] == [b"all", b"all"]


@pytest.mark.parametrize("kind", ["plain", "sealed"])
def test_before_all_are_known_it_goes_to_each(kind: str) -> None:
    members = [member(kind, me) for me in range(MEMBERS)]
    members[0].send(EVERYBODY, b"early", 0.0)
    assert sorted(carried(members)) == [(1, b"early"), (2, b"early")]


def test_a_sealed_frame_for_everybody_opens_once_at_each_and_nowhere_else() -> None:
    members = acquainted("sealed")
    members[0].send(EVERYBODY, b"all", 0.0)
    members[0].send(1, b"one", 0.0)
    (_, frame), (_, single) = members[0].frames_to_send()
    assert frame[:4] != single[:4], "the mark says for whom a frame is"
    refused = [
        members[2].received(1, frame, 0.0),
        members[0].received(1, frame, 0.0),
        members[2].received(0, single, 0.0),
        members[2].received(0, single[:4] + frame[4:], 0.0),
        members[2].received(0, frame[:4] + single[4:], 0.0),
    ]
    assert [each.kind for each in refused if isinstance(each, Rejected)] == [Rejection.FORGED] * 5
    assert members[2].received(0, frame, 0.0) == b"all"
    again = members[2].received(0, frame, 0.0)
    assert isinstance(again, Rejected)
    assert again.kind == Rejection.REPLAYED
    assert members[1].received(0, single, 0.0) == b"one", "the two have counters of their own"
    assert members[1].received(0, frame, 0.0) == b"all"


@pytest.mark.parametrize("kind", ["plain", "sealed"])
def test_what_is_for_everybody_of_another_run_is_refused_and_teaches_nothing(kind: str) -> None:
    members = acquainted(kind)
    members[0].send(EVERYBODY, b"before", 0.0)
    ((_, frame),) = members[0].frames_to_send()
    members[2] = member(kind, 2, run=2)
    members[2].start(0.0)
    got = members[2].received(0, frame, 0.0)
    assert isinstance(got, Rejected)
    assert got.kind == Rejection.FOREIGN_INCARNATION
    assert carried(members) == []
    members[0].send(EVERYBODY, b"after", 0.0)
    assert sorted(carried(members)) == [(1, b"after"), (2, b"after")]


# On the wire ------------------------------------------------------------------------------------------------


def bound(host: str) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((host, 0))
    return sock


@pytest.mark.parametrize("key", [KEY, None], ids=["sealed", "plain"])
def test_real_groups_multicast_on_loopback(
    key: bytes | None, free_ports: Callable[[int], list[int]]
) -> None:
    async def scenario() -> None:
        tracer = RecordingTracer()
        sockets = [bound("127.0.0.1") for _ in range(MEMBERS)]
        (port,) = free_ports(1)
        at = [sock.getsockname() for sock in sockets]
        groups = [
            Group(
                "multicast", me=me, members=MEMBERS, bind=sockets[me], key=key,
                multicast=("239.255.0.7", port), routes={q: at[q] for q in range(MEMBERS) if q != me},
                protocol="dtp", tracer=tracer,
            )
            for me in range(MEMBERS)
        ]
        async with asyncio.timeout(60), groups[0], groups[1], groups[2]:
            for k in range(20):
                await asyncio.gather(*(group.broadcast(b"%d" % k) for group in groups))
            taken = [[(await anext(group))[:2] for _ in range(60)] for group in groups]
            assert taken == [taken[0]] * MEMBERS
            for group in groups:
                assert not group.statistics.violations + group.statistics.transport_faults
                assert group.statistics.dropped[Rejection.FOREIGN_ADDRESS] == 0
        sent = Counter(event.datagram for event in tracer.events if isinstance(event, tracing.Send))
        came = Counter(event.datagram for event in tracer.events if isinstance(event, tracing.Receive))
        assert sum(sent[name] == came[name] == MEMBERS - 1 for name in sent) > 60

    asyncio.run(scenario())


def test_of_version_6_the_zone_names_the_network() -> None:
    """Joined only: Linux has no multicast of version 6 over its loopback interface."""
    number, loopback = next(each for each in socket.if_nameindex() if each[1].startswith("lo"))

    async def scenario() -> None:
        with bound("::1") as sock:
            ears, target = await multicast((f"ff12::7%{loopback}", 7), sock)
            with ears:
                assert target == ("ff12::7", 7, 0, number) == ears.getsockname()
            assert sock.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF) == number

    asyncio.run(scenario())


@pytest.mark.parametrize("name", ["dtp", "total"])
@pytest.mark.parametrize("deaf", [((1, 2),), ((1, 2), (2, 1))], ids=["one way", "both ways"])
def test_who_missed_a_greeting_asks_for_it_when_something_goes_to_everybody(
    name: str, deaf: tuple[tuple[int, int], ...]
) -> None:
    """Process 2 knows the sender and not process 1, without which it cannot read what is for everybody; and
    process 1, which knows it, has nothing to say to it.
    """

    def carriage(sender: int, to: int, now: float) -> tuple[float, ...]:
        return () if (sender, to) in deaf and 0.5 < now < 30.0 else (1.0,)

    network = SimulatedNetwork(
        implementation(name), MEMBERS, seed=0, carriage=carriage, multicast=True, keys=Keyring(KEY)
    )
    network.run_for(40.0)
    for _ in range(16):
        network.broadcast(0, b"m")
    assert network.run_until_delivered(16, limit_ms=5_000.0), network


@pytest.mark.parametrize(
    ("host", "shared", "told"),
    [
        ("127.0.0.1", "127.0.0.2", "127.0.0.2:7 is no multicast address of IP version 4.* 239.255.0.7"),
        ("127.0.0.1", "ff12::7", r"\[ff12::7\]:7 is no multicast address of IP version 4"),
        ("::1", "239.255.0.7", "239.255.0.7:7 is no multicast address of IP version 6.* ff12::7%eth0"),
        ("::1", "ff12::7", r"the zone of \[ff12::7\]:7 has to say on which network"),
        ("0.0.0.0", "239.255.0.7", "the own address, 0.0.0.0:.*, has to say on which network"),
    ],
)
def test_an_address_that_cannot_be_multicast_to_is_told(host: str, shared: str, told: str) -> None:
    async def scenario() -> None:
        with bound(host) as sock, pytest.raises(UnusableAddress, match=told):
            await multicast((shared, 7), sock)

    asyncio.run(scenario())


def test_a_multicast_group_that_cannot_be_joined_leaves_no_socket_behind() -> None:
    async def scenario() -> None:
        sock = bound("127.0.0.1")
        group = Group(
            "g", me=0, members=2, bind=sock, routes={1: ("127.0.0.1", 9)}, key=None, multicast=("10.0.0.1", 7)
        )
        with pytest.raises(UnusableAddress, match="no multicast address"):
            await group.__aenter__()
        assert sock.fileno() == -1

    asyncio.run(scenario())
