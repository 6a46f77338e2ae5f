"""Questions to a process by whoever has the key: it says the names of its groups with that key, no others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from antiphon.impl.errors import Rejection
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.looking import groups, standing
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shared_socket import SharedSocket

Ports = Callable[[int], list[int]]

KEY, NEXT, OTHER = bytes([1]) * 32, bytes([2]) * 32, bytes([3]) * 32


def alone(name: str, here: SharedSocket, at: tuple[str, int], key: bytes | Keyring | None) -> JoinedGroup:
    """A group of one process at a shared socket."""
    return Group.join(name, seeds=[at], bind=here, key=key, expect=1)


@pytest.mark.parametrize("key", [KEY, None])
def test_each_group_with_the_key_is_named_and_can_be_asked(free_ports: Ports, key: bytes | None) -> None:
    async def run() -> None:
        at = ("127.0.0.1", free_ports(1)[0])
        async with SharedSocket(at) as here:
            some = [alone(name, here, at, key) for name in ("a", "b", "c")]
            async with some[0], some[1], some[2], alone("secret", here, at, OTHER):
                for group in some:
                    await anext(group)
                assert await groups(at, key) == ["a", "b", "c"]
                for group in some:
                    told = await standing(group.group, at, key)
                    assert (told.me, told.view) == (group.me, 1)

    asyncio.run(run())


def test_keys_that_are_accepted_may_ask_and_no_other(free_ports: Ports) -> None:
    async def run() -> None:
        at = ("127.0.0.1", free_ports(1)[0])
        async with SharedSocket(at) as here, alone("a", here, at, KEY) as group:
            group.rekey(Keyring(KEY, [NEXT]))
            assert await groups(at, Keyring(NEXT, [KEY])) == ["a"]
            group.rekey(NEXT)
            assert await groups(at, NEXT) == ["a"]
            dropped = group.statistics.dropped[Rejection.FOREIGN_GROUP]
            for key in (KEY, None):
                with pytest.raises(TimeoutError, match="nothing came; is the key that of the group"):
                    await groups(at, key, 0.3)
            assert group.statistics.dropped[Rejection.FOREIGN_GROUP] > dropped

    asyncio.run(run())
