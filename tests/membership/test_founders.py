"""Founders of a group: one that comes back finds the members, and of two one founds."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from antiphon import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership import founding
from antiphon.impl.membership.datagrams import HEAD, DatagramKind, No, encode
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Refused, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated_members import SimulatedMembers

KEY = secrets.token_bytes(32)
QUICK = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=500)

Address = tuple[str, int]
Ports = Callable[[int], list[int]]


def member(at: Address, seeds: list[Address], **settings: Any) -> JoinedGroup:
    """A process at this address that wants to be a member."""
    return Group.join("g", seeds=seeds, bind=at, key=KEY, timeouts=QUICK, **settings)


def addresses(free_ports: Ports, count: int) -> list[Address]:
    """Addresses of the loopback interface, in the number asked for."""
    return sorted(("127.0.0.1", port) for port in free_ports(count))


async def sees(group: JoinedGroup, members: list[Address]) -> View:
    """The next view of the processes at these addresses."""
    async for event in group:
        if isinstance(event, View) and sorted(one.address for one in event.members) == members:
            return event
    raise AssertionError("it ended without that view")


async def comes_back(at: list[Address], after_s: float) -> list[Address]:
    """End the founder of a group, which is the only seed, and start it again: the members of its view."""
    first, second, third = at
    founder = member(first, [first], expect=1)
    async with AsyncExitStack() as stack:
        await founder.__aenter__()
        one = await stack.enter_async_context(member(second, [first]))
        await stack.enter_async_context(member(third, [first]))
        await sees(founder, at)
        await founder.close()
        await asyncio.sleep(after_s)
        again = await stack.enter_async_context(member(first, [first], expect=1))
        async for event in again:
            if isinstance(event, View):
                break
        if event.number > 1:
            await one.broadcast(b"here")
            async for delivery in again:
                if isinstance(delivery, Delivery):
                    break
        return sorted(one.address for one in event.members)


@pytest.mark.parametrize("after_s", [0.0, 1.0])
def test_a_founder_that_is_its_only_seed_comes_back_to_its_group(free_ports: Ports, after_s: float) -> None:
    """The others send to its address, before they have excluded it and afterwards."""
    at = addresses(free_ports, 3)
    assert asyncio.run(asyncio.wait_for(comes_back(at, after_s), 30)) == at


def test_one_that_founds_at_once_is_alone(free_ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was."""
    monkeypatch.setattr(founding, "LISTENS", 0)
    at = addresses(free_ports, 3)
    assert asyncio.run(asyncio.wait_for(comes_back(at, 0.0), 30)) == at[:1]


def test_of_processes_that_would_all_found_the_group_one_does(free_ports: Ports) -> None:
    at = addresses(free_ports, 3)

    async def run() -> None:
        async with AsyncExitStack() as stack:
            groups = [member(one, at, bootstrap=True) for one in at]
            for group in groups:
                await stack.enter_async_context(group)
            seen = await asyncio.gather(*(sees(group, at) for group in groups))
            assert len({tuple(view.members) for view in seen}) == 1
            await groups[1].broadcast(b"all")
            for group in groups:
                event: object = None
                while not isinstance(event, Delivery):
                    event = await anext(group)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_two_founders_that_heard_of_each_other_too_late_fail_and_say_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their lists have one number, and not the same members: no message of one is for the other."""
    monkeypatch.setattr(founding, "LISTENS", 0)
    monkeypatch.setattr(founding._Candidate, "founds", False)
    simulation = SimulatedMembers(2, 2)
    for process in range(2):
        simulation.begin(process, founds=2)
    simulation.run(2_000.0)
    refused = [event for life in simulation.lives for event in life[0].events if isinstance(event, Refused)]
    assert refused
    assert all("have both founded the group" in event.why for event in refused)


@pytest.mark.parametrize("members", [2, 3])
def test_who_has_ended_before_the_first_view_is_not_in_it(members: int) -> None:
    """The others wait until it is started again; else a majority might have ended."""
    simulation = SimulatedMembers(members, 1)
    simulation.begin(1)
    simulation.begin(0, founds=members)
    simulation.at(50.0, lambda: simulation.crash(1))
    if members == 3:
        simulation.at(500.0, lambda: simulation.begin(2))
    simulation.run(2_000.0)
    assert not simulation.life(0).views
    simulation.begin_again(1)
    simulation.run(3_000.0)
    for process in range(members):
        (view,) = simulation.life(process).views
        assert (view.number, len(view.members)) == (1, members)


def test_a_notice_that_the_group_exists_goes_to_the_first_seed_while_it_is_no_member() -> None:
    simulation = SimulatedMembers(3, 1, seeds=[0])
    simulation.found(range(3))
    simulation.run(500.0)
    machine = simulation.life(1).machine
    assert machine._seeks_at is None
    simulation.crash(0)
    simulation.run(500.0 + 2 * simulation.timeouts.exclude_ms)
    assert machine._seeks_at is not None
    simulation.begin_again(0)
    simulation.run(simulation.now + 2_000.0)
    assert simulation.life(0).views[-1].number > 2
    assert machine._seeks_at is None


def test_only_a_process_that_asks_takes_hints_and_only_some() -> None:
    machine = SimulatedMembers(3, 1).begin(1).machine
    machine.datagrams_to_send()
    for port in range(100):
        machine.addressed(("127.0.0.9", 1_000 + port))
        machine.addressed(("127.0.0.9", 1_000))
    assert len(machine.datagrams_to_send()) == founding._LEADS_MAX


def test_of_two_founders_that_start_at_once_the_earlier_run_founds() -> None:
    simulation = SimulatedMembers(2, 1)
    for process in range(2):
        simulation.begin(process, founds=2)
    simulation.run(1_000.0)
    for process in range(2):
        (view,) = simulation.life(process).events
        assert isinstance(view, View)
        assert [one.name for one in view.members] == ["p0", "p1"]


def test_a_founder_waits_a_little_for_one_that_may_be_a_member() -> None:
    simulation = SimulatedMembers(2, 1, seeds=[0])
    life, times = simulation.begin(0, founds=1), simulation.timeouts
    life.machine.addressed(simulation.addresses[1])
    simulation.run(times.suspect_ms - 1.0)
    assert life.views == []
    simulation.run(times.suspect_ms + founding.LISTENS * times.heartbeat_ms)
    assert len(life.views) == 1


def test_a_founder_that_has_heard_of_a_group_which_is_over_founds_another(free_ports: Ports) -> None:
    """All members are started again, one after the other."""
    at = addresses(free_ports, 3)

    async def run() -> None:
        groups = [await member(one, at, expect=3).__aenter__() for one in at]
        for group in groups:
            await sees(group, at)
        await groups[0].close()
        await groups[1].close()
        again = [await member(at[0], at, expect=3).__aenter__()]
        while again[0]._membership._founding.exists_at is None:
            await asyncio.sleep(0.01)
        await groups[2].close()
        again += [await member(one, at, expect=3).__aenter__() for one in at[1:]]
        for group in again:
            assert (await sees(group, at)).number == 1
        for group in again:
            await group.close()

    asyncio.run(asyncio.wait_for(run(), 30))


def test_one_that_would_found_alone_does_not_after_it_has_heard_of_a_group() -> None:
    """Its group may be on the other side of a cut."""
    simulation = SimulatedMembers(3, 1, seeds=[0])
    simulation.found(range(3))
    simulation.run(500.0)
    simulation.crash(0)
    simulation.run(4_000.0)
    simulation.begin(0, founds=1)
    machine = simulation.life(0).machine
    while machine._founding.exists_at is None:
        simulation.run(simulation.now + 1.0)
    simulation.part({0}, {1, 2})
    simulation.run(simulation.now + 10_000.0)
    assert machine.epoch is None


def test_a_process_whose_clock_was_set_back_before_the_group_began_is_in_it(
    free_ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = addresses(free_ports, 2)
    real, ahead = time.time_ns, [3_600_000_000_000]
    monkeypatch.setattr(time, "time_ns", lambda: real() + ahead[0])

    async def run() -> None:
        early = await member(at[1], at, expect=3).__aenter__()
        ahead[0] = 0
        async with member(at[0], at, expect=2) as first:
            while not first._membership.asking:
                await asyncio.sleep(0.01)
            await early.close()
            async with member(at[1], at) as second:
                await sees(first, at)
                await sees(second, at)

    monkeypatch.setattr(founding, "LISTENS", 60)
    asyncio.run(asyncio.wait_for(run(), 30))


def test_a_refusal_that_is_out_of_date_is_not_told_again() -> None:
    simulation = SimulatedMembers(2, 1, seeds=[0])
    simulation.begin(1)
    machine, at = simulation.life(1).machine, simulation.addresses[0]
    refusal = HEAD.pack(DatagramKind.NO, 0) + encode(No("its address is a member's", final=False))
    machine.datagram_received(bytes(16), at, refusal, 10.0)
    assert machine.refusal == "its address is a member's"
    machine.datagram_received(bytes(16), at, HEAD.pack(DatagramKind.EXISTS, 0), 20.0)
    assert machine.refusal is None
