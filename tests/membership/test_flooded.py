"""Frames of no use in the socket of a member: they cost little, and what waits behind them is not missing."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

from antiphon.impl.errors import Rejection
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.shared_socket import SharedSocket

KEY = bytes(range(32))
FLOOD = 200


async def flooded(here: SharedSocket) -> tuple[Group | JoinedGroup, MemberShell]:
    """Open a group at this socket, in which so many frames of nobody wait."""
    at = here.socket.getsockname()
    group = await Group.join("g", seeds=[at], bind=here, key=KEY, expect=1, timeouts="local").__aenter__()
    await anext(group)
    assert group._shell is not None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
        for number in range(FLOOD):
            outside.sendto(number.to_bytes(60), at)
    return group, group._shell


def at_a_socket(test: Any) -> None:
    """Run a test with an open socket."""

    async def go() -> None:
        async with SharedSocket(("127.0.0.1", 0)) as here:
            await test(here)

    asyncio.run(go())


def test_frames_of_no_use_are_read_in_few_turns_of_the_event_loop() -> None:
    async def test(here: SharedSocket) -> None:
        group, shell = await flooded(here)
        dropped, turns = shell.membership.dropped, 0
        while sum(dropped.values()) < FLOOD:
            await asyncio.sleep(0)
            turns += 1
        assert dropped[Rejection.FOREIGN_GROUP] == FLOOD
        assert turns < FLOOD / 10
        await group.close()

    at_a_socket(test)


def test_the_detector_knows_what_waits_in_the_socket() -> None:
    async def test(here: SharedSocket) -> None:
        group, shell = await flooded(here)
        detector = shell.membership.detector
        assert here.waiting
        now = shell._now()
        shell._read_at = now - 5.0
        shell._tick(now)
        assert detector._unread_since == now - 5.0
        while here.waiting:
            await asyncio.sleep(0)
        shell._tick(now + 1.0)
        assert detector._unread_since is None
        assert shell._read_at == now + 1.0
        await group.close()

    at_a_socket(test)
