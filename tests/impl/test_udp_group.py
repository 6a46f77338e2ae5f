"""Groups over real UDP sockets on loopback agree; refused datagrams, closing and failures do not hang or
leak.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Sequence
from inspect import signature
from typing import cast

import pytest

from antiphon.impl.errors import GroupClosed, GroupFailed, InvalidMembership, PayloadTooLarge, Rejection
from antiphon.impl.group import Delivery, Group
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import PAYLOAD_BYTES_MAX, Identifier
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.tracing import Dropped, RecordingTracer, Step, TransportFault

KEY = bytes(range(32))


def sockets(count: int) -> list[socket.socket]:
    """Bound UDP sockets on free ports."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    return bound


ONE = Layers(buffer_bytes=1)
"""One message at a time: the next one waits until it is delivered."""


def groups(count: int, **options: object) -> list[Group]:
    """One group with so many members, all in this process."""
    bound = sockets(count)
    addresses: Sequence[tuple[str, int]] = [each.getsockname() for each in bound]
    return [
        Group(
            "test",
            me=me,
            members=count,
            bind=bound[me],
            routes={q: addresses[q] for q in range(count) if q != me},
            key=KEY,
            **options,  # type: ignore[arg-type]
        )
        for me in range(count)
    ]


async def take(group: Group, count: int) -> list[Delivery]:
    """The next deliveries of a group."""
    taken: list[Delivery] = []
    async for delivery in group:
        taken.append(delivery)
        if len(taken) == count:
            break
    return taken


def test_three_members_deliver_a_hundred_messages_in_one_order() -> None:
    async def scenario() -> None:
        a, b, c = groups(3)
        async with a, b, c:

            async def talk(group: Group, me: int, count: int) -> None:
                for k in range(1, count + 1):
                    assert await group.broadcast(f"{me}:{k}".encode()) == (me, k)

            talks = asyncio.gather(talk(a, 0, 34), talk(b, 1, 33), talk(c, 2, 33))
            taken = await asyncio.wait_for(asyncio.gather(*(take(g, 100) for g in (a, b, c))), 60)
            await talks
            assert taken[0] == taken[1] == taken[2]
            assert sorted(d.payload for d in taken[0]) == sorted(
                f"{me}:{k}".encode() for me, count in ((0, 34), (1, 33), (2, 33)) for k in range(1, count + 1)
            )
            assert not a.statistics.dropped
            assert not a.statistics.violations
            assert 1 <= a.statistics.transmissions["data"] <= 34, "a batch is one message of the protocol"

    asyncio.run(scenario())


def test_concurrent_broadcasts_of_one_member_keep_their_order() -> None:
    async def scenario() -> None:
        pair = groups(2)
        async with pair[0], pair[1]:
            sent = await asyncio.wait_for(
                asyncio.gather(*(pair[0].broadcast(b"%d" % k) for k in range(20))), 5
            )
            assert [identifier.id for identifier in sent] == list(range(1, 21))
            taken = await asyncio.wait_for(take(pair[1], 20), 60)
            assert [d.payload for d in taken] == [b"%d" % k for k in range(20)]

    asyncio.run(scenario())


def test_a_member_that_starts_late_catches_up() -> None:
    """Until then its datagrams are refused or lost, which is the same to the protocol."""

    async def scenario() -> None:
        first, second = groups(2, protocol=rbp(resend_ms=5, token_ms=5, request_ms=5))
        async with first:
            await first.broadcast(b"early")
            await asyncio.sleep(0.02)
            async with second:
                taken = await asyncio.wait_for(asyncio.gather(take(first, 1), take(second, 1)), 60)
                assert taken[0] == taken[1]
                assert taken[0][0].payload == b"early"

    asyncio.run(scenario())


def test_strange_datagrams_are_counted_and_traced() -> None:
    async def scenario() -> None:
        tracer = RecordingTracer()
        first, second = groups(2, tracer=tracer)
        async with first, second:
            stranger = sockets(1)[0]
            stranger.sendto(b"hello", first.address)
            stranger.sendto(b"", first.address)
            stranger.sendto(bytes(9_000), first.address)
            stranger.close()
            async with asyncio.timeout(60):
                while first.statistics.dropped.total() < 3:
                    await asyncio.sleep(0.001)
            await first.broadcast(b"still here")
            await asyncio.wait_for(take(second, 1), 60)
            assert first.statistics.dropped == {Rejection.FOREIGN_ADDRESS: 3}
            assert sum(isinstance(event, Dropped) for event in tracer.events) == 3

    asyncio.run(scenario())


def test_an_address_of_ip_version_6_has_more_than_host_and_port() -> None:
    async def scenario() -> None:
        first, second = groups(2)
        async with first, second:
            first._shell.datagram_received(b"", cast(tuple[str, int], (*second.address, 0, 0)))
            assert first.statistics.dropped == {Rejection.TRUNCATED: 1}

    asyncio.run(scenario())


def test_nobody_speaks_from_the_own_address() -> None:
    """A route to oneself may be given, as part of a list that is the same everywhere; it leads nowhere."""

    async def scenario() -> None:
        (bound,) = sockets(1)
        own = bound.getsockname()
        group = Group("test", me=0, members=2, bind=bound, routes={0: own, 1: ("127.0.0.1", 9)}, key=None)
        async with group:
            group._shell.datagram_received(b"", own)
            assert group.statistics.dropped == {Rejection.FOREIGN_ADDRESS: 1}

    asyncio.run(scenario())


def test_what_the_system_refuses_is_counted_and_survived() -> None:
    async def scenario() -> None:
        tracer = RecordingTracer()
        bound = sockets(1)[0]
        group = Group(
            "test",
            me=0,
            members=2,
            bind=bound,
            routes={1: ("255.255.255.255", 9)},
            key=None,
            tracer=tracer,
            protocol=rbp(token_ms=1),
        )
        async with group:
            await group.broadcast(b"m")
            async with asyncio.timeout(60):
                while group.statistics.transport_faults.total() < 3:
                    await asyncio.sleep(0.001)
        assert sum(isinstance(event, TransportFault) for event in tracer.events) >= 3

    asyncio.run(scenario())


def test_a_full_buffer_loses_datagrams_and_says_so() -> None:
    async def scenario() -> None:
        first, second = groups(2, protocol=rbp(resend_ms=2, token_ms=2))
        async with first, second:
            first._shell.pause_writing()
            await first.broadcast(b"m")
            async with asyncio.timeout(60):
                while first.statistics.transport_faults["buffer_full"] < 2:
                    await asyncio.sleep(0.001)
            first._shell.resume_writing()
            assert (await asyncio.wait_for(take(second, 1), 60))[0].payload == b"m"

    asyncio.run(scenario())


def test_closing_ends_deliveries_and_waiting_broadcasts() -> None:
    async def scenario() -> None:
        first, second = groups(2, layers=ONE)
        with pytest.raises(GroupClosed):
            await first.broadcast(b"too early")
        async with first:
            await first.broadcast(b"without an answer")
            waiting = asyncio.create_task(first.broadcast(b"behind it"))
            reading = asyncio.create_task(take(first, 1))
            await asyncio.sleep(0)
        with pytest.raises(GroupClosed):
            await asyncio.wait_for(waiting, 60)
        assert await asyncio.wait_for(reading, 60) == []
        with pytest.raises(GroupClosed):
            await first.broadcast(b"too late")
        with pytest.raises(GroupClosed):
            first.address  # noqa: B018
        with pytest.raises(GroupClosed):
            await first.__aenter__()
        async with second:
            pass

    asyncio.run(scenario())


def test_a_holder_delivers_its_own_message_without_any_datagram_or_timer() -> None:
    async def scenario() -> None:
        tracer = RecordingTracer()
        never = rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000)
        a, b = groups(2, protocol=never, tracer=tracer)
        async with asyncio.timeout(60), b:
            async with a:  # its first ACK makes the other the holder
                while Step(1, "accept", number=1) not in tracer.events:
                    await asyncio.sleep(0.001)
            await b.broadcast(b"alone")
            (delivery,) = await take(b, 1)
            assert delivery.payload == b"alone"

    asyncio.run(scenario())


def test_closing_ends_who_waits_behind_a_cancelled_broadcast() -> None:
    async def scenario() -> None:
        first, second = groups(2, layers=ONE)
        async with first:
            await first.broadcast(b"without an answer")
            cancelled, waiting = (asyncio.create_task(first.broadcast(b"%d" % k)) for k in range(2))
            await asyncio.sleep(0)
            cancelled.cancel()
        with pytest.raises(GroupClosed):
            await waiting
        async with second:
            pass

    asyncio.run(scenario())


def test_who_waits_behind_a_cancelled_broadcast_is_served_with_the_one_before() -> None:
    async def scenario() -> None:
        tracer = RecordingTracer()
        never = rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000)
        a, b = groups(2, protocol=never, tracer=tracer, layers=ONE)
        async with asyncio.timeout(60), b, a:
            while Step(1, "accept", number=1) not in tracer.events:
                await asyncio.sleep(0.001)
            first, cancelled, last = (asyncio.create_task(a.broadcast(b"%d" % k)) for k in range(3))
            await asyncio.sleep(0)
            cancelled.cancel()
            assert [await first, await last] == [(0, 1), (0, 2)]
            assert cancelled.cancelled()

    asyncio.run(scenario())


def test_a_cancelled_broadcast_that_waits_is_not_sent() -> None:
    async def scenario() -> None:
        first, second = groups(2, layers=ONE)
        async with first:
            await first.broadcast(b"1")
            waiting = asyncio.create_task(first.broadcast(b"never"))
            await asyncio.sleep(0)
            waiting.cancel()
            async with second:
                await asyncio.wait_for(first.broadcast(b"2"), 60)
                taken = await asyncio.wait_for(take(second, 2), 60)
                assert [d.payload for d in taken] == [b"1", b"2"]

    asyncio.run(scenario())


def test_the_wrong_call_is_refused_by_name() -> None:
    with pytest.raises(InvalidMembership, match="needs routes to"):
        Group("test", me=0, members=3, bind=("127.0.0.1", 0), routes={1: ("127.0.0.1", 1)}, key=None)

    async def scenario() -> None:
        first, second = groups(2)
        async with first, second:
            with pytest.raises(PayloadTooLarge, match="at most"):
                await first.broadcast(bytes(Layers().message_bytes_max + 1))
            taken_port = Group("t", me=0, members=2, bind=first.address, routes={1: second.address}, key=None)
            with pytest.raises(OSError, match="in use"):
                await taken_port.__aenter__()
            await first.broadcast(bytes(10 * PAYLOAD_BYTES_MAX))
            assert len((await asyncio.wait_for(take(second, 1), 60))[0].payload) == 10 * PAYLOAD_BYTES_MAX

    asyncio.run(scenario())


@pytest.mark.parametrize("wrong", ["text", [1, 2], 3, None, {b"m"}])
def test_what_is_not_bytes_is_refused_before_anything_happens(wrong: object) -> None:
    async def scenario() -> None:
        first, second = groups(2)
        async with first, second:
            with pytest.raises(TypeError, match="encode it first"):
                await first.broadcast(cast(bytes, wrong))
            assert await asyncio.wait_for(first.broadcast(b"m"), 60) == (0, 1)
            assert (await asyncio.wait_for(take(second, 1), 60))[0].payload == b"m"

    asyncio.run(scenario())


def test_a_payload_is_copied_before_broadcast_waits() -> None:
    async def scenario() -> None:
        first, second = groups(2)
        async with first:
            await first.broadcast(memoryview(b"abcd")[::2])
            payload = bytearray(b"as it was")
            waiting = asyncio.create_task(first.broadcast(payload))
            await asyncio.sleep(0)
            payload[:] = b"changed later"
            async with second:
                taken = await asyncio.wait_for(take(second, 2), 60)
                assert [d.payload for d in taken] == [b"ac", b"as it was"]
                await waiting

    asyncio.run(scenario())


def test_our_own_failure_reaches_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        first, second = groups(2, protocol=rbp(token_ms=5))

        def broken(now: float) -> list[Delivery]:
            raise RuntimeError("planted")

        async with first, second:
            monkeypatch.setattr(second._endpoint.core, "settle", broken)
            with pytest.raises(GroupFailed, match="planted") as failure:
                await asyncio.wait_for(take(second, 1), 60)
            assert isinstance(failure.value.__cause__, RuntimeError)
            with pytest.raises(GroupFailed):
                await second.broadcast(b"m")

    asyncio.run(scenario())


def test_the_first_messages_need_no_timer() -> None:
    """No member waits for a timer: each message is sent once to each other member, and so is its ACK."""

    async def scenario() -> None:
        tracer = RecordingTracer()
        members = groups(3, tracer=tracer, protocol=rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000))
        async with members[0], members[1], members[2]:
            for me, group in enumerate(members):
                await asyncio.wait_for(group.broadcast(b"first of %d" % me), 60)
                await asyncio.wait_for(asyncio.gather(*(take(each, 1) for each in members)), 60)
            sent = sum((group.statistics.datagrams for group in members), Counter[str]())
            assert sent == {"data": 3 * 2, "ack": 4 * 2}
            assert {e.action for e in tracer.events if isinstance(e, Step)} == {"accept", "sequence"}

    asyncio.run(scenario())


def test_a_member_that_opens_late_is_greeted_at_once() -> None:
    """The messages for it have waited: no timer is needed, and nothing is sent twice."""

    async def scenario() -> None:
        bound = sockets(2)
        late = bound[1].getsockname()
        bound[1].close()
        protocol = rbp(resend_ms=60_000, token_ms=60_000, request_ms=60_000)
        routes = {1: late}
        first = Group("test", me=0, members=2, bind=bound[0], routes=routes, key=KEY, protocol=protocol)
        async with first:
            await first.broadcast(b"early")
            await asyncio.sleep(0.02)
            routes = {0: first.address}
            second = Group("test", me=1, members=2, bind=late, routes=routes, key=KEY, protocol=protocol)
            async with second:
                taken = await asyncio.wait_for(asyncio.gather(take(first, 1), take(second, 1)), 60)
                assert taken[0] == taken[1]
                assert first.statistics.datagrams == {"ack": 1, "data": 1}
                assert second.statistics.datagrams == {"ack": 1}

    asyncio.run(scenario())


def test_a_member_that_is_started_again_ends_the_group_at_the_others() -> None:
    async def scenario() -> None:
        first, second = groups(2, protocol=rbp(resend_ms=5, token_ms=5, request_ms=5))
        async with first:
            async with second:
                address = second.address
                await first.broadcast(b"m")
                await asyncio.wait_for(asyncio.gather(take(first, 1), take(second, 1)), 60)
            again = Group(
                "test", me=1, members=2, bind=address, routes={0: first.address}, key=KEY, protocol=rbp()
            )
            async with again:
                with pytest.raises(GroupFailed, match="process 1 was started again"):
                    await asyncio.wait_for(take(first, 1), 60)
                assert again.statistics.violations.total() == 0
                assert again.waits == ()

    asyncio.run(scenario())


def test_a_group_that_cannot_go_on_says_what_is_missing() -> None:
    """Process 2 was never started: the others say so, those that only listen too."""

    async def scenario() -> None:
        first, second, third = groups(3, stall_s=0.5)
        cast(socket.socket, third._bind).close()
        async with first, second:
            await first.broadcast(b"m")
            await asyncio.wait_for(asyncio.gather(take(first, 1), take(second, 1)), 60)
            await first.broadcast(b"never delivered")
            await asyncio.sleep(0.1)
            waits = [str(wait) for wait in first.waits]
            assert waits == ["a sign of life of process 2", "a number after 2 for message 0:2 of process 2"]
            assert 0.02 <= first.waiting_s < 5.0
            for group in (first, second):
                with pytest.raises(
                    GroupFailed,
                    match=r"^process 2 has not answered for [\d.]+ s.*: .* for message 0:2 of process 2",
                ):
                    await asyncio.wait_for(take(group, 1), 60)
            with pytest.raises(GroupFailed, match="process 2"):
                await first.broadcast(b"m")

    asyncio.run(scenario())


def test_two_members_at_one_address_are_refused() -> None:
    async def scenario() -> None:
        address = ("127.0.0.1", 9)
        group = Group("g", me=0, members=3, bind=("127.0.0.1", 0), routes={1: address, 2: address}, key=None)
        with pytest.raises(InvalidMembership, match=r"processes 1 and 2 are both at 127\.0\.0\.1:9"):
            await group.__aenter__()

    asyncio.run(scenario())


def test_a_call_that_fails_fails_all_that_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library's own failure in a broadcast ends the group; nobody goes on waiting."""

    async def scenario() -> None:
        first, second = groups(2)
        async with first, second:

            def broken(payload: bytes, now: float) -> Identifier:
                raise RuntimeError("planted")

            monkeypatch.setattr(first._endpoint.core, "broadcast", broken)
            reading = asyncio.create_task(take(first, 1))
            await asyncio.sleep(0)
            calls = [first.broadcast(b"m"), first.broadcast(b"m"), reading]
            for outcome in await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60):
                assert isinstance(outcome, GroupFailed)
                assert str(outcome) == "RuntimeError: planted"
            with pytest.raises(GroupClosed):
                first.address  # noqa: B018

    asyncio.run(scenario())


def test_a_group_has_its_name_and_is_what_async_with_gives() -> None:
    async def scenario() -> None:
        first, second = groups(2)
        async with first as entered, second:
            assert entered is first
            assert entered.name == "test"

    asyncio.run(scenario())


def test_the_time_without_progress_is_the_documented_one() -> None:
    assert signature(Group).parameters["stall_s"].default == 30.0


class LossyRelay(asyncio.DatagramProtocol):
    """One direction between two members: every fourth datagram is lost and every fifth sent twice, from the
    socket at which the receiver knows the sender.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self.target = target
        self.back = self
        self.count = self.lost = self.duplicated = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.count += 1
        if self.count % 4 == 0:
            self.lost += 1
            return
        self.back.transport.sendto(data, self.target)
        if self.count % 5 == 0:
            self.duplicated += 1
            self.back.transport.sendto(data, self.target)


def test_members_agree_through_relays_that_lose_and_duplicate() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        bound = sockets(3)
        pairs = [(p, q) for p in range(3) for q in range(3) if p != q]
        relays = {(p, q): LossyRelay(bound[q].getsockname()) for p, q in pairs}
        fronts = {}
        for (p, q), relay in relays.items():
            relay.back = relays[q, p]
            await loop.create_datagram_endpoint(lambda relay=relay: relay, local_addr=("127.0.0.1", 0))  # type: ignore[misc]
            fronts[p, q] = relay.transport.get_extra_info("sockname")
        members = [
            Group(
                "test",
                me=me,
                members=3,
                bind=bound[me],
                routes={q: fronts[me, q] for q in range(3) if q != me},
                key=KEY,
                protocol=rbp(resend_ms=5, token_ms=5, request_ms=3),
            )
            for me in range(3)
        ]
        async with members[0], members[1], members[2]:

            async def talk(group: Group) -> None:
                for k in range(20):
                    await group.broadcast(b"%d" % k)

            talks = asyncio.gather(*(talk(group) for group in members))
            taken = await asyncio.wait_for(asyncio.gather(*(take(group, 60) for group in members)), 60)
            await talks
        for relay in relays.values():
            relay.transport.close()
        assert taken[0] == taken[1] == taken[2]
        assert len({(d.source, d.id) for d in taken[0]}) == 60
        assert all(relay.lost and relay.duplicated for relay in relays.values())

    asyncio.run(scenario())


def test_what_statistics_hand_out_is_the_callers_own() -> None:
    """Changing it changes nothing that is counted, nor what is handed out next."""

    async def scenario() -> None:
        a, b = groups(2)
        async with a, b:
            await a.broadcast(b"m")
            await asyncio.gather(take(a, 1), take(b, 1))
            handed_out = a.statistics
            assert handed_out.datagrams["data"] == handed_out.transmissions["data"] == 1
            for counter in cast(tuple[Counter[str], ...], handed_out):
                counter.clear()
                counter["spoiled"] = 1
            assert a.statistics.datagrams["data"] == a.statistics.transmissions["data"] == 1
            assert not any("spoiled" in counter for counter in cast(tuple[Counter[str], ...], a.statistics))

    asyncio.run(asyncio.wait_for(scenario(), 60))


def test_a_group_runs_over_every_version_of_ip_that_the_machine_has() -> None:
    """A route may be a literal of version 6, and localhost, which may be either, goes with the others."""

    async def scenario(hosts: tuple[str, str]) -> None:
        family = socket.AF_INET6 if ":" in "".join(hosts) else socket.AF_INET
        with (
            socket.socket(family, socket.SOCK_DGRAM) as probe,
            socket.socket(family, socket.SOCK_DGRAM) as other,
        ):
            probe.bind((hosts[0], 0))
            other.bind((hosts[1], 0))
            at = [(hosts[0], probe.getsockname()[1]), (hosts[1], other.getsockname()[1])]
        first, second = (
            Group("v", me=me, members=2, bind=at[me], routes={1 - me: at[1 - me]}, key=KEY) for me in range(2)
        )
        async with asyncio.timeout(60), first, second:
            await first.broadcast(b"hello")
            assert (await anext(second)).payload == b"hello"
            assert await anext(first) == (0, 1, 1, b"hello")
            assert not second.statistics.dropped
            assert ":" not in first.address[0] or family == socket.AF_INET6

    for hosts in (("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "::1")):
        if ":" not in hosts[1] or has_version_6():
            asyncio.run(scenario(hosts))


def has_version_6() -> bool:
    """Return True if this machine has the loopback address of IP version 6."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
