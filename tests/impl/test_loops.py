"""A member that brings its own event loop takes uvloop's where it is installed, and works on either."""

from __future__ import annotations

import asyncio
import importlib.util
import socket

import pytest

from antiphon.impl.group import Group
from antiphon.impl.loops import new_event_loop, run
from antiphon.impl.protocols.rbp import rbp


async def ordered() -> str:
    """A group whose timers are always late delivers; the name of the package of its loop."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    hasty = rbp(resend_ms=0.001, token_ms=0.001, request_ms=0.001, backoff_max=1)
    first, second = (
        Group("loops", me=me, members=2, bind=bound[me], routes={1 - me: bound[1 - me].getsockname()},
              protocol=hasty, key=None)
        for me in range(2)
    )  # fmt: skip
    async with asyncio.timeout(60), first, second:
        for k in range(20):
            await first.broadcast(b"%d" % k)
        assert [(await anext(second)).payload for _ in range(20)] == [b"%d" % k for k in range(20)]
    return type(asyncio.get_running_loop()).__module__.partition(".")[0]


def test_a_group_works_on_the_loop_of_uvloop_whose_handles_do_not_know_their_time() -> None:
    assert run(ordered()) == "uvloop"


def test_without_uvloop_the_loop_is_that_of_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    loop = new_event_loop()
    loop.close()
    assert type(loop).__module__.startswith("asyncio")
    assert run(ordered()) == "asyncio"
