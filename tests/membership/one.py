"""One member as a process: it prints its events as JSON lines, and broadcasts as standard input says.

Its argument is a JSON object: the ports of the seeds, the own place among them, how many are expected, and
the protocol. A line `N` on standard input lets it broadcast N messages, one each 10 ms; the end of the input
lets it leave.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator

from antiphon.impl.joined import JoinedGroup
from antiphon.impl.member_log import MemberLog
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Blocked, Unblocked, View
from antiphon.impl.protocols.core import Delivery

HOST = "127.0.0.1"

TIMES = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=1_500)
"""Timeouts "local", with a shorter time until a member that has ended is excluded."""


class Seen:
    """The state of this application: the digest of all payloads, in their order."""

    def __init__(self) -> None:
        self.payloads: list[str] = []

    async def save(self) -> AsyncIterator[bytes]:
        """All payloads, one a piece."""
        for payload in self.payloads:
            yield payload.encode() + b"\n"

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Have what another one has."""
        whole = b"".join([piece async for piece in pieces])
        self.payloads = whole.decode().splitlines()
        said(kind="loaded", payloads=len(self.payloads))


def said(**what: object) -> None:
    """Print one line for the parent."""
    print(json.dumps({**what, "at": time.monotonic()}), flush=True)


async def main() -> None:
    told = json.loads(sys.argv[1])
    seeds = [(HOST, port) for port in told["ports"]]
    seen = Seen()
    group = JoinedGroup(
        "g", seeds=seeds, bind=seeds[told["me"]], key=bytes(32), name=f"p{told['me']}", expect=told["expect"],
        timeouts=TIMES, state=seen, protocol=told["protocol"], log=MemberLog(told["logs"]),
    )  # fmt: skip
    async with group:

        async def take() -> None:
            async for event in group:
                match event:
                    case Delivery(source, number=number, payload=payload):
                        seen.payloads.append(payload.decode())
                        said(kind="delivery", number=number, source=source.name, payload=payload.decode())
                    case View(number, members):
                        names = [member.name for member in members]
                        said(kind="view", number=number, members=names, me=group.me.incarnation.hex())
                    case Blocked() | Unblocked():
                        said(kind=type(event).__name__.lower())

        taking = asyncio.create_task(take())
        count = 0
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            for _ in range(int(line)):
                count += 1
                await group.broadcast(f"{told['me']}:{count}".encode())
                await asyncio.sleep(0.01)
            said(kind="sent", count=count)
        await group.leave()
        await taking
    said(kind="end", payloads=seen.payloads)


asyncio.run(main())
