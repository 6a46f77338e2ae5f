"""Query of one process of a group: the members by its view, and its state.

Anybody with the group's key may ask, without being a member. The query has no effect on the group.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
import time

from antiphon.impl.errors import Rejection
from antiphon.impl.membership.datagrams import Standing, look, standing_in
from antiphon.impl.transport.addresses import Address, resolved, shown
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import Received, Sessions
from antiphon.impl.transport.shell import enlarged
from antiphon.impl.transport.wire import Rejected

__all__ = ["standing"]

_ASKS_S = 0.1
"""Seconds between two questions until there is an answer."""


async def standing(group: str, at: Address, key: bytes | Keyring | None, timeout_s: float = 3.0) -> Standing:
    """Ask the process of this group at an address for its state.

    Raises:
        UnusableAddress: the host cannot be resolved.
        TimeoutError: nobody answers in so many seconds; the message says what came instead.
    """
    found = await resolved(at, {})
    target = (found.own or at)[:2]
    keys = key if key is None or isinstance(key, Keyring) else Keyring(key)
    own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
    sessions = Sessions(group, own, keys)
    loop = asyncio.get_running_loop()
    with enlarged(socket.socket(found.family, socket.SOCK_DGRAM)) as sock:
        sock.connect(found.own or at)  # so that the operating system says that nobody listens there
        met = "nothing came"
        end = loop.time() + timeout_s
        while loop.time() < end:
            sessions.send(target, None, look(), loop.time() * 1000.0)
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
                    answer = standing_in(received.data)
                    if answer is not None:
                        return answer
                elif isinstance(received, Rejected) and received.kind is not Rejection.FOREIGN_INCARNATION:
                    met = f"what came was refused: {received.kind} ({received.detail})"
    told = f"no process of group {group!r} has answered at {shown(at)} in {timeout_s:g} s: {met}"
    raise TimeoutError(f"{told}; are the name and the key those of the group?")
