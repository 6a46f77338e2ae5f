"""Query of one process: the names of its groups, and in a group the members by its view, and its state.

Anybody with the group's key may ask, without being a member. The query has no effect on the group.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from antiphon.impl.errors import Rejection
from antiphon.impl.membership.datagrams import Standing, group_in, look, standing_in
from antiphon.impl.transport.addresses import Address, resolved, shown
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import UNNAMED, Received, Sessions
from antiphon.impl.transport.shell import enlarged
from antiphon.impl.transport.wire import Rejected

__all__ = ["groups", "standing"]

_Answer = TypeVar("_Answer")

_ASKS_S = 0.1
"""Seconds between two questions until there is an answer."""

_MORE_S = 0.3
"""Seconds after the first answer in which other groups of the process may answer, too."""


async def standing(group: str, at: Address, key: bytes | Keyring | None, timeout_s: float = 3.0) -> Standing:
    """Ask the process of this group at an address for its state.

    Raises:
        UnusableAddress: the host cannot be resolved.
        TimeoutError: nobody answers in so many seconds; the message says what came instead.
    """
    async with aclosing(_answers(group, at, key, timeout_s, standing_in)) as answers:
        return await anext(answers)


async def groups(at: Address, key: bytes | Keyring | None, timeout_s: float = 3.0) -> list[str]:
    """Ask the process at an address for the names of its groups with this key, and return them sorted.

    Raises:
        UnusableAddress: the host cannot be resolved.
        TimeoutError: nobody answers in so many seconds; the message says what came instead.
    """
    async with aclosing(_answers(UNNAMED, at, key, timeout_s, group_in)) as names:
        return sorted({name async for name in names})


async def _answers(
    group: str,
    at: Address,
    key: bytes | Keyring | None,
    timeout_s: float,
    read: Callable[[bytes], _Answer | None],
) -> AsyncGenerator[_Answer, None]:
    """Ask again and again, and yield the answers that come in time, until `_MORE_S` after the first one."""
    found = await resolved(at, {})
    target = (found.own or at)[:2]
    keys = key if key is None or isinstance(key, Keyring) else Keyring(key)
    own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
    sessions = Sessions(group, own, keys)
    loop = asyncio.get_running_loop()
    with enlarged(socket.socket(found.family, socket.SOCK_DGRAM)) as sock:
        sock.connect(found.own or at)  # so that the operating system says that nobody listens there
        met, answered = "nothing came", False
        end = loop.time() + timeout_s
        while loop.time() < end:
            for heard in sessions.heard or (None,):  # each group of the process is another incarnation
                sessions.send(target, heard, look(), loop.time() * 1000.0)
            again = loop.time() + _ASKS_S
            while (left := again - loop.time()) > 0:
                try:
                    for _, frame in sessions.frames_to_send():
                        await loop.sock_sendall(sock, frame)
                    data = await asyncio.wait_for(loop.sock_recv(sock, 65_536), left)
                except TimeoutError:
                    break
                except ConnectionRefusedError:
                    met = "nobody listens there"
                    await asyncio.sleep(left)
                    continue
                received = sessions.received(target, data, loop.time() * 1000.0)
                if isinstance(received, Received):
                    answer = read(received.data)
                    if answer is not None:
                        if not answered:
                            answered, end = True, min(end, loop.time() + _MORE_S)
                        yield answer
                elif isinstance(received, Rejected) and received.kind is not Rejection.FOREIGN_INCARNATION:
                    met = f"what came was refused: {received.kind} ({received.detail})"
    if not answered:
        whose, hint = f" of group {group!r}", "are the name and the key those of the group?"
        if not group:
            whose, hint = "", "is the key that of the group?"
        raise TimeoutError(f"no process{whose} has answered at {shown(at)} in {timeout_s:g} s: {met}; {hint}")
