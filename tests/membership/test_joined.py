"""`Group.join` in one process: what an application may do, and what is refused."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import re
import secrets
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from antiphon import Delivery, Group, View
from antiphon.impl.errors import (
    GroupClosed,
    GroupFailed,
    InvalidKey,
    InvalidSetting,
    PayloadTooLarge,
    Rejection,
    UnknownProtocol,
    UnusableAddress,
)
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.layers import Layers
from antiphon.impl.membership import donors
from antiphon.impl.membership.detector import LOCAL, Reason, Suspicion, Timeouts
from antiphon.impl.membership.member import Blocked, Excluded, Member
from antiphon.impl.membership.membership import Membership, SuspicionChange
from antiphon.impl.membership.transfer import State, Transfers
from antiphon.impl.metrics import Metrics
from antiphon.impl.protocols.rbp import irbp
from antiphon.impl.protocols.sequencer import sequencer
from antiphon.impl.registry import LISTED
from antiphon.impl.states import States
from antiphon.impl.transport import addresses
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.shared_socket import SharedSocket

KEY = bytes(range(32))
Ports = Callable[[int], list[int]]


def joined(seeds: list[tuple[str, int]], me: int, **settings: Any) -> JoinedGroup:
    """A process that wants to be a member, with short waiting times."""
    usual = {"bind": seeds[me], "key": KEY, "name": f"m{me}", "timeouts": LOCAL, "expect": len(seeds)}
    return Group.join("g", seeds=seeds, **{**usual, **settings})


def seeds_of(free_ports: Ports, count: int) -> list[tuple[str, int]]:
    """Addresses of the loopback interface, in the number asked for."""
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
            assert (await until(first, View)).number == 1

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


def test_a_state_that_is_set_later_is_refused_too_where_there_is_no_order(free_ports: Ports) -> None:
    group = joined(seeds_of(free_ports, 1), 0, protocol="vsc")
    with pytest.raises(InvalidSetting, match="gives members no common order"):
        group.state = Texts()
    assert group.state is None


@pytest.mark.parametrize("protocol", LISTED)
def test_members_with_each_protocol_deliver_what_was_said(free_ports: Ports, protocol: str) -> None:
    seeds = seeds_of(free_ports, 3)

    async def member(me: int) -> list[tuple[str, bytes]]:
        async with joined(seeds, me, protocol=protocol) as group:
            assert len((await until(group, View)).members) == 3
            for count in range(40):
                await group.broadcast(b"%d" % count + bytes(2_000 * (count % 3)))
            seen = []
            while len(seen) < 120:
                event = await until(group, Delivery)
                seen.append((event.source.name, event.payload))
            await asyncio.sleep(0.3)  # others may still need what this member has
            return seen

    async def together() -> list[list[tuple[str, bytes]]]:
        return await asyncio.wait_for(asyncio.gather(*map(member, range(3))), 60)

    first, *others = asyncio.run(together())
    for name in ("m0", "m1", "m2"):
        said = [b"%d" % count + bytes(2_000 * (count % 3)) for count in range(40)]
        assert [payload for source, payload in first if source == name] == said
    for other in others:
        assert sorted(other) == sorted(first)
        assert other == first or protocol == "vsc"


@pytest.mark.parametrize("state", [None, Texts], ids=["without state", "with state"])
def test_a_step_has_a_cause(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch, state: type[Texts] | None
) -> None:
    """Steps of the machine belong to frames that have come, or to an alarm, and not to the wait for events.
    Frames that come together have one step.
    """
    seeds, count = seeds_of(free_ports, 2), Counter[str]()

    def counted(name: str) -> None:
        whole = getattr(MemberShell, name)

        def call(*given: Any) -> Any:
            count[name] += 1
            return whole(*given)

        monkeypatch.setattr(MemberShell, name, call)

    for name in ("_step", "_ring", "frame_received", "_answer"):
        counted(name)

    async def talk(group: JoinedGroup) -> None:
        for number in range(40):
            await group.broadcast(b"%d" % number)
            await asyncio.sleep(0)

    async def take(group: JoinedGroup) -> None:
        left = 80
        while left:
            left -= isinstance(await anext(group), Delivery)
            left -= sum(isinstance(event, Delivery) for event in group.at_hand())

    async def go() -> None:
        states: list[Any] = [None if state is None else state() for _ in seeds]
        async with joined(seeds, 0, state=states[0]) as one, joined(seeds, 1, state=states[1]) as two:
            await until(one, View)
            await until(two, View)
            count.clear()
            await asyncio.gather(*map(talk, (one, two)), *map(take, (one, two)))
            told = count.copy()
            assert told["frame_received"] + len(seeds) >= told["_answer"] > 0  # some came just before
            assert told["_step"] <= told["_answer"] + told["_ring"]
            frame = b"nobody's"
            before = count["_step"]
            for _ in range(3):
                cast(Any, one)._shell.frame_received(("127.0.0.1", 1), frame)
            assert count["_step"] == before
            assert not cast(Any, one)._shell._answers, "nothing follows from it"

    asyncio.run(go())


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


def test_members_that_begin_together_have_different_short_names(free_ports: Ports) -> None:
    """The first bytes of their incarnations, the time, are the same."""
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, name="same") as first, joined(seeds, 1, name="same") as second:
            assert first.me.run != second.me.run
            for group in (first, second):
                assert f"same ({group.me.host}:{group.me.port}, {group.me.run})" in repr(group)
                assert group.me.incarnation.hex().endswith(group.me.run)

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize("protocol", ["irbp", "sequencer", "vsc"])
def test_who_leaves_need_not_take_what_it_has_said(free_ports: Ports, protocol: str) -> None:
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, protocol=protocol) as first:
            second = await joined(seeds, 1, protocol=protocol).__aenter__()
            await until(first, View)
            await until(second, View)
            for number in range(5):
                await second.broadcast(b"%d" % number)
            await second.leave()
            said = [(await until(first, Delivery)).payload for _ in range(5)]
            assert said == [b"0", b"1", b"2", b"3", b"4"]
            view = await until(first, View)
            assert (len(view.left), view.failed) == (1, ())

    asyncio.run(asyncio.wait_for(run(), 30))


def test_who_is_excluded_while_it_leaves_has_left(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0) as first:
            second = await joined(seeds, 1).__aenter__()
            await until(second, View)
            await until(first, View)
            await first.close()  # so that nobody agrees
            leaving = asyncio.create_task(second.leave(5.0))
            await asyncio.sleep(0.1)
            second._membership._end(Excluded("for the test"))
            second._shell.flush()  # type: ignore[union-attr]
            await asyncio.wait_for(leaving, 1)
            assert [type(event) async for event in second] in ([], [Blocked]), "iteration has ended"

    asyncio.run(asyncio.wait_for(run(), 10))


def test_a_group_whose_meter_fails_is_closed_all_the_same(free_ports: Ports) -> None:
    (at,) = seeds_of(free_ports, 1)

    class Broken:
        """A meter that does not work."""

        def joined(self, _group: JoinedGroup) -> None:
            """Fail."""
            raise RuntimeError("no meter")

        closed = joined

    async def run() -> None:
        with pytest.raises(RuntimeError, match="no meter"):
            await joined([at], 0, metrics=Broken()).__aenter__()
        async with joined([at], 0) as again:
            await until(again, View)

    asyncio.run(asyncio.wait_for(run(), 10))


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


def test_who_was_excluded_asks_its_former_fellows_when_the_only_seed_has_ended(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = seeds_of(free_ports, 4)
    quick = Timeouts(heartbeat_ms=20, suspect_ms=100, exclude_ms=300)
    cut: set[frozenset[tuple[str, int]]] = set()
    send = SharedSocket.send

    def sent(self: SharedSocket, frame: bytes, address: tuple[str, int], faults: Counter[str]) -> None:
        if {address, self.socket.getsockname()} not in cut:
            send(self, frame, address, faults)

    monkeypatch.setattr(SharedSocket, "send", sent)

    async def run() -> None:
        groups = [
            joined(at[:1], 0, bind=at[me], name=f"m{me}", expect=1 if me == 0 else None, timeouts=quick)
            for me in range(4)
        ]
        async with groups[1] as first, groups[2], groups[3] as last:
            await groups[0].__aenter__()
            while not all(group.view is not None and len(group.view.members) == 4 for group in groups):
                await asyncio.sleep(0.01)
            await groups[0].leave()
            before = last.me
            cut.update(frozenset({at[3], other}) for other in at[1:3])
            while before not in (await until(first, View)).failed:
                pass
            while first._membership._ended:  # until then it sends to the excluded one
                await asyncio.sleep(0.01)
            cut.remove(frozenset({at[3], at[1]}))
            back = await until(first, View)
            assert [member.address for member in back.joined] == [at[3]]
            assert back.joined[0] != before

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize("protocol", ["irbp", "rbp-reforming", "sequencer", "total", "horus", "vsc"])
def test_an_application_that_takes_nothing_holds_up_the_others_over_all_views(
    free_ports: Ports, protocol: str
) -> None:
    """Each view used to give it as much again."""
    at = seeds_of(free_ports, 3)
    layers = Layers(untaken_bytes=2**16, buffer_bytes=2**14)

    async def run() -> None:
        settings: dict[str, Any] = {"protocol": protocol, "layers": layers, "expect": 2}
        async with joined(at, 0, **settings) as first, joined(at, 1, **settings) as slow:
            taking = asyncio.create_task(count_deliveries(first, 0))

            async def talk() -> None:
                while True:
                    await first.broadcast(bytes(1_000))

            talking = asyncio.create_task(talk())
            for _ in range(4):
                while not any(f"the application of {slow.name}" in wait for wait in first.waits):
                    await asyncio.sleep(0.001)
                async with joined(at, 2, **settings) as third:
                    await until(third, View)
            assert slow.untaken * 1_000 < 3 * layers.untaken_bytes
            talking.cancel()
            sent = await asyncio.gather(first.broadcast(b"last"), count_deliveries(slow, 4))
            assert sent[0].source == first.me
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 60))


async def count_deliveries(group: JoinedGroup, size: int) -> int:
    """Number of deliveries up to the first message of this size."""
    count = 0
    async for event in group:
        if isinstance(event, Delivery):
            count += 1
            if len(event.payload) == size:
                return count
    return count


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"group": "g" * 65}, InvalidSetting, "1 to 64 bytes"),
        ({"name": "one\nline"}, InvalidSetting, "a printable text"),
        ({"layers": None}, InvalidSetting, "layers=None"),
        ({"seeds": [("db1", 99_999)]}, InvalidSetting, "a port is 1 to 65535"),
        ({"seeds": [("db1", "7000")]}, InvalidSetting, "a host with a port"),
        ({"bind": "7000"}, InvalidSetting, "bind has a host with a port"),
        ({"advertise": "db1"}, InvalidSetting, "advertise has a host with a port"),
        ({"state": object()}, InvalidSetting, "the methods `save` and `load`"),
        ({"protocol": "irpb"}, UnknownProtocol, "known: irbp, rbp-reforming, .*did you mean 'irbp'"),
        ({"group": "\ud800"}, InvalidSetting, "1 to 64 bytes in UTF-8"),
        ({"name": "\ud800"}, InvalidSetting, "at most 64 characters"),
        ({"bootstrap": "no"}, InvalidSetting, "bootstrap is True or False"),
        ({"log": "file"}, InvalidSetting, "log is a MemberLog"),
        ({"protocol": "totem"}, InvalidSetting, "those that have views are 'irbp', 'rbp-reforming'"),
        ({"protocol": sequencer()}, InvalidSetting, "runs with members that do not change"),
        ({"protocol": "vsc", "state": Texts()}, InvalidSetting, "gives members no common order"),
        ({"seeds": "db1:7000"}, InvalidSetting, "a list of hosts with ports"),
        ({"expect": 0}, InvalidSetting, "how many members the group begins with"),
        ({"name": "x" * 100}, InvalidSetting, "at most 64 characters"),
        ({"meta": bytes(2_000)}, InvalidSetting, "at most 1024 bytes"),
        ({"timeouts": 3}, InvalidSetting, "'local', 'lan', 'wan'"),
        ({"timeouts": "fast"}, InvalidSetting, "'local', 'lan', 'wan'"),
        ({"on_exclusion": "give up"}, InvalidSetting, "'rejoin' or 'fail'"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(
    settings: dict[str, Any], error: type[Exception], told: str
) -> None:
    usual: dict[str, Any] = {"seeds": [("127.0.0.1", 9)], "bind": ("127.0.0.1", 0), "key": None}
    with pytest.raises(error, match=told):
        Group.join(settings.pop("group", "g"), **{**usual, **settings})


def test_who_could_only_wait_for_ever_is_told_so(free_ports: Ports) -> None:
    first, second = seeds_of(free_ports, 2)

    async def opened(**settings: Any) -> None:
        async with Group.join("g", key=None, **settings):
            pass

    with pytest.raises(InvalidSetting, match="at the first of the seeds, and founds the group: say expect=N"):
        asyncio.run(opened(seeds=[first, second], bind=first))
    with pytest.raises(InvalidSetting, match="there is no other process to ask"):
        asyncio.run(opened(seeds=[], bind=first))
    with pytest.raises(InvalidSetting, match="there is no other process to ask"):
        asyncio.run(opened(seeds=[first], bind=first, advertise=second, expect=1))


def test_a_founder_that_is_the_only_seed_waits_for_those_that_ask_it(free_ports: Ports) -> None:
    at = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(at[:1], 0, expect=2) as first, joined(at[:1], 0, bind=at[1]) as second:
            for group in (first, second):
                assert len((await until(group, View)).members) == 2

    asyncio.run(asyncio.wait_for(run(), 10))


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


def test_an_application_that_cannot_give_its_state_goes_on_and_another_is_asked(
    free_ports: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    seeds = seeds_of(free_ports, 3)

    class Broken(Texts):
        """An application that cannot say what it has."""

        async def save(self) -> AsyncIterator[bytes]:
            yield b"half\n"
            raise OSError("disk")

    whole, new = Texts(), Texts()
    whole.texts = [b"one", b"two"]

    async def take(group: JoinedGroup) -> None:
        async for _ in group:
            pass

    async def run() -> None:
        async with (
            joined(seeds, 0, expect=2, state=whole) as first,
            joined(seeds, 1, state=Broken()) as second,
        ):
            tasks = [asyncio.create_task(take(group)) for group in (first, second)]
            while second.view is None:
                await asyncio.sleep(0.01)
            async with joined(seeds, 2, state=new) as third:  # it asks the last of the others first
                assert (await until(third, View)).number > 1
            assert new.texts == [b"one", b"two"]
            assert not tasks[1].done(), "it goes on"
            await first.leave()
            with pytest.raises(GroupFailed, match="no member has a state to give to m2: m1: its `save` r"):
                async with joined(seeds, 2, state=new) as third:
                    await anext(third)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(asyncio.wait_for(run(), 60))
    assert "`save` failed, and who joins asks another member" in caplog.text


def test_who_finds_nobody_with_a_state_fails_and_says_why(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(until(first, Delivery))
            with pytest.raises(GroupFailed, match=r"no member has a state .* m0: it has no `state=`"):
                async with joined(seeds, 1, state=Texts()) as second:
                    await anext(second)
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_state_that_takes_longer_than_the_patience_comes_all_the_same(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    quick = Timeouts(heartbeat_ms=20, suspect_ms=100, exclude_ms=300)

    class Slow(Texts):
        """An application that takes its time, every time."""

        times = 0

        async def save(self) -> AsyncIterator[bytes]:
            Slow.times += 1
            for part in range(4):
                await asyncio.sleep(0.3)
                yield b"part %d\n" % part

    new = Texts()

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=Slow(), timeouts=quick) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(until(first, Delivery))
            async with joined(seeds, 1, state=new, timeouts=quick) as second:
                assert (await until(second, View)).number == 2
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert new.texts == [b"part 0", b"part 1", b"part 2", b"part 3"]
    assert Slow.times == 1


def test_a_state_that_could_not_be_taken_is_taken_again(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    old = Texts()
    old.texts = [b"one"]

    class Hesitating(Texts):
        """An application that cannot take the state at first, and then only slowly."""

        times = 0

        async def load(self, pieces: AsyncIterator[bytes]) -> None:
            Hesitating.times += 1
            if Hesitating.times == 1:
                raise OSError("disk")
            await asyncio.sleep(0.0 if Hesitating.times > 2 else 10.0)
            await super().load(pieces)

    new = Hesitating()

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(until(first, Delivery))
            async with joined(seeds, 1, state=new) as second:
                with pytest.raises(OSError, match="disk"):
                    await anext(second)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(second), 0.2)
                assert isinstance(await anext(second), View)
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert new.texts == [b"one"]


def test_what_a_new_member_says_is_not_in_the_state_that_it_gets(free_ports: Ports) -> None:
    """A message in the state brings no event, so its sender would wait for the delivery for ever."""
    seeds = seeds_of(free_ports, 2)
    old, new = Texts(), Texts()
    old.texts = [b"one"]

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1

            async def take() -> None:
                async for event in first:
                    if isinstance(event, Delivery):
                        old.texts.append(event.payload)

            taking = asyncio.create_task(take())
            async with joined(seeds, 1, state=new) as second:
                sent = await second.broadcast(b"mine")  # it takes no events meanwhile
                assert new.texts == [b"one"]
                while b"mine" not in old.texts:
                    await asyncio.sleep(0.01)
                event = await until(second, Delivery)
                assert (event.source, event.id, event.payload) == (*sent, b"mine")
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_broadcast_waits_for_the_state_that_another_task_takes(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    old = Texts()
    old.texts = [b"one"]
    ended: list[str] = []

    class Slow(Texts):
        """An application that takes its time, and not at the first attempt."""

        times = 0

        async def load(self, pieces: AsyncIterator[bytes]) -> None:
            Slow.times += 1
            if Slow.times == 1:
                raise OSError("disk")
            await asyncio.sleep(0.3)
            await super().load(pieces)
            ended.append("load")

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(until(first, Delivery))
            async with joined(seeds, 1, state=Slow()) as second:
                with pytest.raises(OSError, match="disk"):
                    await second.broadcast(b"never")

                async def say(text: bytes) -> None:
                    await second.broadcast(text)
                    ended.append(text.decode())

                own = asyncio.create_task(until(second, Delivery))
                await asyncio.sleep(0.05)
                await asyncio.gather(say(b"two"), say(b"three"))
                assert (await own).payload == b"two"
                assert (await until(second, Delivery)).payload == b"three"
            await taking
            with pytest.raises(GroupClosed):
                await second.broadcast(b"late")

    asyncio.run(asyncio.wait_for(run(), 30))
    assert ended == ["load", "two", "three"]


@pytest.mark.parametrize(("keepers", "sees"), [(donors.KEEPERS, [2, 3, 4]), (0, [4])])
def test_the_state_is_that_at_the_cut_of_the_view_if_it_was_kept_and_views_in_it_are_not_told_again(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch, keepers: int, sees: list[int]
) -> None:
    """A donor that has not kept the state gives it as it is when it is asked."""
    monkeypatch.setattr(donors, "KEEPERS", keepers)
    seeds = seeds_of(free_ports, 3)
    old, new = Texts(), Texts()
    old.texts = [b"one"]

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1
            async with joined(seeds, 1, state=new) as second:
                assert (await until(first, View)).number == 2
                async with joined(seeds, 2, state=Texts()) as third:
                    assert (await until(first, View)).number == 3
                    await third.leave()
                view = await until(first, View)
                assert (view.number, [member.name for member in view.left]) == (4, ["m2"])
                taking = asyncio.create_task(until(first, Delivery))
                assert [(await until(second, View)).number for _ in sees] == sees
                assert new.texts == [b"one"]
                await first.broadcast(b"on")
                assert (await anext(second)).payload == b"on"  # type: ignore[union-attr]
                await taking

    asyncio.run(asyncio.wait_for(run(), 30))


def test_two_that_take_events_do_not_get_in_the_way_of_a_state(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    old, new = Texts(), Texts()

    class Slow(Texts):
        """An application whose state may not change while it is taken."""

        async def load(self, pieces: AsyncIterator[bytes]) -> None:
            await asyncio.sleep(0.3)
            await super().load(pieces)

    new = Slow()

    async def take(group: JoinedGroup, texts: Texts) -> None:
        async for event in group:
            if isinstance(event, Delivery):
                texts.texts.append(event.payload)
                if event.payload == b"end":
                    return

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(take(first, old))
            async with joined(seeds, 1, state=new) as second:
                tasks = [asyncio.create_task(take(second, new)) for _ in range(2)]
                for count in range(60):
                    await first.broadcast(b"%d" % count)
                    await asyncio.sleep(0.01)
                await first.broadcast(b"end")
                await taking
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert new.texts == old.texts


def test_nothing_of_a_state_is_kept_when_it_has_come(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    old, new = Texts(), Texts()
    old.texts = [b"x" * 1_000_000]

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True, state=old) as first:
            assert (await until(first, View)).number == 1
            taking = asyncio.create_task(until(first, Delivery))
            async with joined(seeds, 1, state=new) as second:
                assert isinstance(await anext(second), View)
                await asyncio.sleep(0.5)
                assert not first._membership.transfers._giving
                assert not second._membership.transfers._taking.pieces
            taking.cancel()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert new.texts == old.texts


# Looking on ---------------------------------------------------------------------------------------------


def test_who_is_suspected_and_why_is_logged_and_counted(
    free_ports: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    seeds = seeds_of(free_ports, 3)
    quick = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=1_500)

    async def run() -> None:
        meter = Metrics()
        async with (
            joined(seeds, 0, timeouts=quick, metrics=meter) as first,
            joined(seeds, 1, timeouts=quick) as second,
        ):
            third = await joined(seeds, 2, timeouts=quick).__aenter__()
            assert (await until(first, View)).number == 1
            assert first.reached == 3
            await third.close()
            while first.reached == 3:
                await asyncio.sleep(0.01)
            assert first.statistics.suspicions == {("suspected", Reason.NOBODY): 1}
            (one,) = first.suspected
            assert (one.of.name, one.kind, one.reason) == ("m2", "suspected", Reason.NOBODY)
            assert 0.05 < one.silent_s < 1.5
            mine, its = (f'"127.0.0.1:{port}"' for _, port in (seeds[0], seeds[2]))
            reason, told = 'reason="nobody listens at its port"', meter.text()
            labels = f'address={mine},group="g",member="m0",of="m2",of_address={its},{reason}'
            assert re.search(f"antiphon_silent_seconds{{{labels}}} 0\\.", told)
            labels = f'address={mine},group="g",kind="suspected",member="m0",{reason}'
            assert f"antiphon_suspicions_total{{{labels}}} 1.0" in told
            assert first.statistics.exclusions == 0
            view = await until(first, View)
            assert [member.name for member in view.failed] == ["m2"]
            assert first.suspected == ()
            told_by = [[one.kind for one in group.suspicions] for group in (first, second)]
            assert all(kinds[0] == "suspected" for kinds in told_by)
            assert any(kinds[1:] == ["given up"] for kinds in told_by), "the other one only hears of the list"
            assert first.statistics.changes >= 2
            assert first.statistics.change_ms["agreement"] > 0.0
            assert "view 2 of 2 members, majority 2" in repr(first)
            assert second.statistics.dropped is not second.statistics.dropped, "a copy"

    asyncio.run(asyncio.wait_for(run(), 30))
    (line, *_) = [record.getMessage() for record in caplog.records if "suspected" in record.getMessage()]
    assert "suspected m2 (" in line
    assert "silent for " in line
    assert "nobody listens at its port" in line


def test_a_slow_application_is_named(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    small = Layers(untaken_bytes=10_000)

    async def run() -> None:
        async with joined(seeds, 0, layers=small) as first, joined(seeds, 1, layers=small) as second:
            assert (await until(first, View)).number == 1

            async def talk() -> None:
                while True:
                    await first.broadcast(bytes(2_000))

            talking = asyncio.create_task(talk())
            taking = asyncio.create_task(until(first, View))
            while not any("application of m1" in wait for wait in first.waits):
                await asyncio.sleep(0.01)
            assert "by the application of m1" in repr(first)
            talking.cancel()
            taking.cancel()
            assert second.untaken > 0

    asyncio.run(asyncio.wait_for(run(), 30))


def test_who_is_not_taken_in_says_so_in_the_log(
    free_ports: Ports, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.impl.joined._COMPLAINS_S", 0.3)
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=True), joined(seeds, 1, key=bytes(32)):
            await asyncio.sleep(0.8)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert "m1 (" in caplog.text
    assert "has asked to be a member for" in caplog.text
    assert "foreign_group" in caplog.text


def test_a_group_without_a_key_gets_none(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 1)

    async def run() -> None:
        async with joined(seeds, 0, key=None) as group:
            with pytest.raises(InvalidKey, match="without a key"):
                group.rekey(KEY)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_seed_that_has_no_address_yet_is_looked_up_again(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("antiphon.impl.seeds._RESOLVES_S", 0.1)
    at = seeds_of(free_ports, 2)
    known = addresses._numeric

    async def numeric(address: tuple[str, int], whose: str) -> dict[int, Any]:
        if address[0] == "late.invalid":
            if "first" not in seen:
                raise UnusableAddress(0, "no such host")
            address = at[0]
        return await known(address, whose)

    seen: list[str] = []
    monkeypatch.setattr(addresses, "_numeric", numeric)

    async def run() -> None:
        seeds = [("late.invalid", at[0][1]), at[1]]
        async with joined(seeds, 1, bind=at[1]) as second:
            await asyncio.sleep(0.3)
            assert second.view is None
            async with joined(at, 0, bootstrap=True) as first:
                assert (await until(first, View)).number >= 1
                seen.append("first")
                while second.view is None:
                    await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert "seed late.invalid:" in caplog.text


def test_a_founder_whose_own_name_has_no_address_yet_founds_when_it_has_one(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.impl.seeds._RESOLVES_S", 0.3)
    at = seeds_of(free_ports, 2)
    known, asked = addresses._numeric, []

    async def numeric(address: tuple[str, int], whose: str) -> dict[int, Any]:
        if address[0] == "late.invalid":
            asked.append(address)
            if len(asked) <= 2:
                raise UnusableAddress(0, "no such host")
            address = at[0]
        return await known(address, whose)

    monkeypatch.setattr(addresses, "_numeric", numeric)

    async def run() -> None:
        seeds = [("late.invalid", at[0][1]), at[1]]
        async with joined(seeds, 0, bind=at[0]) as first, joined(seeds, 1, bind=at[1]) as second:
            for group in (first, second):
                assert len((await until(group, View)).members) == 2

    asyncio.run(asyncio.wait_for(run(), 30))
    assert len(asked) > 2


def test_prometheus_is_told_of_views_and_suspicions(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 2)
    metrics = Metrics()

    async def run() -> str:
        async with joined(seeds, 0, metrics=metrics) as first, joined(seeds, 1):
            assert (await until(first, View)).number == 1
            await first.broadcast(b"one")
            return metrics.text()

    told = asyncio.run(asyncio.wait_for(run(), 30))
    labels = f'address="127.0.0.1:{seeds[0][1]}",group="g",member="m0"'
    for name, value in (
        ("view_number", 1), ("view_members", 2), ("view_majority", 2), ("members_reached", 2),
        ("list_changes_total", 0), ("exclusions_total", 0), ("blocked_seconds_total", 0),
    ):  # fmt: skip
        assert f'antiphon_{name}{{{labels}}} {value:.1f}' in told
    assert f'antiphon_view_change_milliseconds_total{{{labels},phase="reports"}} 0.0' in told


def test_prometheus_is_told_of_open_groups_each_by_itself(free_ports: Ports) -> None:
    """Two members have the same name; one is closed before the other."""
    seeds = seeds_of(free_ports, 2)
    labels = [f'address="127.0.0.1:{port}",group="g",member="same"' for _, port in seeds]
    metrics = Metrics()

    def open_ones() -> list[str]:
        return [label for label in labels if f"antiphon_view_members{{{label}}} 2.0" in metrics.text()]

    async def run() -> None:
        groups = [joined(seeds, me, name="same", metrics=metrics) for me in range(2)]
        async with groups[0] as first, groups[1] as second:
            await until(first, View)
            await until(second, View)
            assert open_ones() == labels
            await second.close()
            assert open_ones() == labels[:1]
            await first.close()
        assert "antiphon_view_members{" not in metrics.text()

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize("began", [True, False])
def test_who_names_another_protocol_fails_and_says_why(
    free_ports: Ports, caplog: pytest.LogCaptureFixture, *, began: bool
) -> None:
    """The founder says so too, also before the group begins, and each says it once."""
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=began) as first:
            if began:
                assert (await until(first, View)).number == 1
            async with joined(seeds, 1, protocol="sequencer") as second:
                told = r"m1 is not taken in: its protocol is 'sequencer', version 1; here it is 'irbp'"
                with pytest.raises(GroupFailed, match=told):
                    await anext(second)
            assert first.statistics.dropped[Rejection.FOREIGN_VERSION] > 0

    asyncio.run(asyncio.wait_for(run(), 30))
    said = [record.getMessage() for record in caplog.records if "is not taken in" in record.getMessage()]
    assert len(said) == 1
    assert f"127.0.0.1:{seeds[1][1]} is not taken in: its protocol is 'sequencer'" in said[0]


@pytest.mark.parametrize("began", [True, False])
def test_who_takes_smaller_messages_than_the_others_fails_and_says_why(
    free_ports: Ports, caplog: pytest.LogCaptureFixture, *, began: bool
) -> None:
    """As a member it would lack the larger ones, and number all later ones otherwise."""
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0, bootstrap=began) as first:
            if began:
                assert (await until(first, View)).number == 1
            async with joined(seeds, 1, layers=Layers(message_bytes_max=100_000)) as second:
                told = r"its messages have at most 100000 bytes; here they have 16777216: give all"
                with pytest.raises(GroupFailed, match="m1 is not taken in: " + told):
                    await anext(second)

    asyncio.run(asyncio.wait_for(run(), 30))
    said = [record.getMessage() for record in caplog.records if "is not taken in" in record.getMessage()]
    assert len(said) == 1
    assert f"127.0.0.1:{seeds[1][1]} is not taken in: its messages have at most 100000 bytes" in said[0]


def test_counts_go_on_when_a_process_comes_back(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 3)
    silent = ("suspected", Reason.SILENT)

    async def run() -> None:
        quick = Timeouts(heartbeat_ms=20, suspect_ms=100, exclude_ms=300)
        groups = [joined(seeds, me, timeouts=quick) for me in range(3)]
        async with groups[0], groups[1] as second, groups[2]:
            assert (await until(second, View)).number == 1
            membership, shell = second._membership, second._shell
            assert shell is not None
            membership._changes, membership._change_ms = 1_000, (2_000.0, 3_000.0)
            membership._blocked, membership._blocked_since = True, membership._now - 4_000.0
            membership.suspicions[silent] = 5_000
            membership.dropped[Rejection.MALFORMED] = shell.faults["EPERM"] = 6_000
            for came_back in (False, True):
                counts = second.statistics
                assert counts.changes >= 1_000
                assert counts.change_ms["reports"] >= 2_000.0
                assert counts.change_ms["agreement"] >= 3_000.0
                assert 4.0 <= counts.blocked_s < 10.0
                assert counts.suspicions[silent] >= 5_000
                assert counts.dropped[Rejection.MALFORMED] == counts.faults["EPERM"] == 6_000
                assert counts.exclusions == came_back
                if not came_back:
                    membership._end(Excluded("for the test"))
                    second._tell()
                    assert (await until(second, View)).number > 1

    asyncio.run(asyncio.wait_for(run(), 30))


def test_each_suspicion_says_its_reason(free_ports: Ports, caplog: pytest.LogCaptureFixture) -> None:
    reasons = {
        Reason.SILENT: "silent for 260 ms",
        Reason.DEAF: "it does not hear this member for 260 ms",
        Reason.NOBODY: "silent for 260 ms, and nobody listens at its port",
        Reason.REPLACED: "silent for 260 ms, and another run is at its address",
        Reason.HEARD: "heard again",
    }

    async def run() -> None:
        async with joined(seeds_of(free_ports, 1), 0) as group:
            await until(group, View)
            for reason in reasons:
                news = Suspicion(group.me.incarnation, "suspected", 260.0, reason)
                group._membership.suspicion_changes.append(SuspicionChange(group.me, news))
            group._tell()
            assert [one.reason for one in group.suspicions] == list(reasons)

    asyncio.run(asyncio.wait_for(run(), 30))
    told = [record.getMessage() for record in caplog.records if "suspected" in record.getMessage()]
    assert [line.split("): ")[1] for line in told] == list(reasons.values())


def test_who_comes_back_suspects_nobody_for_what_was_before(free_ports: Ports) -> None:
    """Exclude a member while it suspects another one, which its next run hears from the first moment."""
    seeds = seeds_of(free_ports, 3)

    async def run() -> None:
        metrics = Metrics()
        quick = Timeouts(heartbeat_ms=20, suspect_ms=100, exclude_ms=300)
        groups = [joined(seeds, me, timeouts=quick, metrics=metrics if me == 1 else None) for me in range(3)]
        async with groups[0] as first, groups[1] as second, groups[2]:
            assert (await until(second, View)).number == 1
            suspicion = Suspicion(first.me.incarnation, "suspected", 260.0, Reason.SILENT)
            second._membership.suspicion_changes.append(SuspicionChange(first.me, suspicion))
            second._tell()
            assert [one.of for one in second.suspected] == [first.me]
            assert "antiphon_silent_seconds{" in metrics.text()
            second._membership._end(Excluded("for the test"))
            second._tell()
            assert (await until(second, View)).number > 1
            assert second.suspected == ()
            assert "antiphon_silent_seconds{" not in metrics.text()
            assert [one.kind for one in second.suspicions if one.of == first.me] == ["suspected"]

    asyncio.run(asyncio.wait_for(run(), 30))


def test_who_gives_the_address_of_a_member_that_lives_hears_so(
    free_ports: Ports, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.impl.joined._COMPLAINS_S", 0.3)
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 0) as first, joined(seeds, 1):
            assert (await until(first, View)).number == 1
            async with joined(seeds, 1, bind=("127.0.0.1", 0), advertise=seeds[1]) as other:
                await asyncio.sleep(0.8)
                assert other.view is None
            assert first.view is not None
            assert first.view.number == 1

    asyncio.run(asyncio.wait_for(run(), 30))
    assert "listens at the address that it gives, and lives" in caplog.text


def test_who_comes_back_to_a_group_that_was_founded_anew_does_not_keep_its_state(free_ports: Ports) -> None:
    """The old state has no known relation to that of the others."""
    seeds = seeds_of(free_ports, 2)

    async def run() -> None:
        async with joined(seeds, 1, state=Texts()) as second:
            async with joined(seeds, 0, state=Texts()) as first:
                assert (await until(first, View)).number == 1
                assert (await until(second, View)).number == 1
                await first.close()
            second._membership._end(Excluded("for the test"))
            second._tell()
            async with joined(seeds, 0, state=Texts()) as anew:
                assert (await until(anew, View)).number == 1
                with pytest.raises(GroupFailed, match="founded anew"):
                    await anext(second)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_state_of_a_place_that_is_not_reached_yet_is_not_taken() -> None:
    """The giver is ahead: the messages in its state would be delivered here once more."""
    store, one = Texts(), Member(bytes(16), "m0", "127.0.0.1", 1)
    states = States("g", LOCAL, lambda: None, lambda: 0.0)
    states.store = store
    states.begin(3, first=False)
    membership = SimpleNamespace(transfers=Transfers(), view=None)
    membership.transfers.state = State(4, 3, (b"a\nb\nc\nd\n",))
    second, third = View(2, (one,), (), (), ()), View(3, (one,), (), (), ())
    last = Delivery(one, 1, 4, b"d")

    async def take(*events: Any) -> Any:
        return await states.take(cast(Membership, membership), events)

    async def run() -> None:
        assert await take(second, third) is None
        assert await take(second, last) is None
        assert (store.texts, states.awaited) == ([], True)
        assert await take(second, last, third) == [third]
        assert (store.texts, states.awaited, states.place) == ([b"a", b"b", b"c", b"d"], False, (4, 3))

    asyncio.run(run())


def test_a_state_of_the_place_at_which_one_has_joined_is_taken_at_once() -> None:
    """The same holds for a member that returns before it has taken the state it was given."""
    store, one = Texts(), Member(bytes(16), "m0", "127.0.0.1", 1)
    states = States("g", LOCAL, lambda: None, lambda: 0.0)
    states.store = store
    states.begin(9, first=False)
    membership = SimpleNamespace(transfers=Transfers(), view=None)
    membership.transfers.state = State(9, 2, (b"a\n",))
    view = View(2, (one,), (), (), ())
    before = Delivery(one, 1, 5, b"x")
    assert asyncio.run(states.take(cast(Membership, membership), [before, view])) == [view]
    assert store.texts == [b"a"]


def test_what_is_broadcast_between_exclusion_and_return_waits_for_the_state(free_ports: Ports) -> None:
    seeds = seeds_of(free_ports, 3)
    old, new = Texts(), Texts()

    async def run() -> None:
        async with (
            joined(seeds, 0, state=old) as first,
            joined(seeds, 1, state=new) as second,
            joined(seeds, 2, state=old) as third,
        ):
            assert len((await until(second, View)).members) == 3
            old.texts.append(b"one")
            others = [asyncio.create_task(until(group, Delivery)) for group in (first, third)]
            saying = asyncio.create_task(second.broadcast(b"mine"))
            second._membership._end(Excluded("for the test"))
            second._tell()
            await asyncio.sleep(0)  # it has called before the group comes back
            assert second.waiting == 0, "else it would be sent in the first view"
            sent = await saying
            assert new.texts == [b"one"], "it had the state before it sent"
            assert (await until(second, Delivery)).source == sent.source
            await asyncio.gather(*others)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_leave_to_which_nobody_agrees_says_so(
    free_ports: Ports, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = r"group 'g': nobody has agreed within 0.1 s that m0 leaves: <Group 'g': .* majority 2, reaches"
    monkeypatch.setattr(JoinedGroup, "leaving_s", 0.1)

    async def run() -> None:
        for raises in (True, False):
            seeds = seeds_of(free_ports, 2)
            async with joined(seeds, 0) as first:
                second = await joined(seeds, 1).__aenter__()
                await until(first, View)
                await second.close()
                if raises:
                    with pytest.raises(TimeoutError, match=told):
                        await first.leave(0.1)

    asyncio.run(asyncio.wait_for(run(), 30))
    assert sum(bool(re.match(told, record.getMessage())) for record in caplog.records) == 1, "the second one"


@pytest.mark.parametrize(("timeouts", "seconds"), [("local", 5.0), ("lan", 5.0), ("wan", 30.0)])
def test_a_leave_waits_for_as_long_as_a_silent_member_may_hold_it_up(timeouts: str, seconds: float) -> None:
    assert joined([("127.0.0.1", 7000)], 0, timeouts=timeouts).leaving_s == seconds


def test_a_leave_that_is_agreed_raises_nothing_although_a_member_acknowledges_nothing(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Membership, "owes", True)

    async def run() -> None:
        async with joined(seeds_of(free_ports, 1), 0) as group:
            await until(group, View)
            await group.leave(0.1)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_the_end_of_the_block_waits_for_a_leave_that_goes_on(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iteration ends before the others have all that they need of who leaves."""
    seeds = seeds_of(free_ports, 1)
    owed = [True] * 5

    async def run() -> None:
        async with joined(seeds, 0) as group:
            assert (await until(group, View)).number == 1
            monkeypatch.setattr(Membership, "owes", property(lambda _: bool(owed) and owed.pop()))
            leaving = asyncio.create_task(group.leave())
            async for _ in group:
                pass
            assert owed, "the iteration has ended before"
        assert not owed
        await leaving

    asyncio.run(asyncio.wait_for(run(), 10))
