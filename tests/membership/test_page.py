"""docs/groups.md is true: its blocks run here, and what it says of waiting times is what the code has."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from antiphon.impl.membership.detector import LAN, LOCAL, WAN

PAGE = (Path(__file__).parents[2] / "docs" / "groups.md").read_text(encoding="utf-8")

BLOCKS = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def defined(name: str) -> dict[str, Any]:
    """The names that a block defines."""
    names: dict[str, Any] = {}
    exec(compile(BLOCKS[name], name, "exec"), names)
    return names


def test_every_block_is_run_by_a_test_here() -> None:
    assert list(BLOCKS) == ["orders.py", "state.py"]
    assert PAGE.count("```") == 4


def test_three_members_say_hello_in_one_order(free_ports: Callable[[int], list[int]]) -> None:
    member, key = defined("orders.py")["member"], secrets.token_bytes(32)
    seeds = [("127.0.0.1", port) for port in free_ports(3)]

    async def together() -> list[list[str]]:
        return await asyncio.wait_for(
            asyncio.gather(*(member(f"m{at}", seeds[at], seeds, key) for at in range(3))), 30
        )

    first, *others = asyncio.run(together())
    assert first[0] == "view 1: m0 m1 m2"
    assert sorted(first[1:]) == [f"m{at}: hello from m{at}" for at in range(3)]
    assert all(other == first for other in others)


def test_a_state_is_taken_as_it_was_given() -> None:
    words = defined("state.py")["Words"]

    async def copied() -> list[str]:
        one, other = words(), words()
        one.words = ["first", "second"]

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in one.save():
                yield piece

        await other.load(pieces())
        return list(other.words)

    assert asyncio.run(copied()) == ["first", "second"]


def test_the_table_of_waiting_times_is_that_of_the_code() -> None:
    for name, profile in {"LOCAL": LOCAL, "LAN": LAN, "WAN": WAN}.items():
        times = (profile.heartbeat_ms, profile.suspect_ms, profile.exclude_ms)
        assert f"| `{name}` | {' | '.join(f'{time:,.0f}' for time in times)} |" in PAGE
