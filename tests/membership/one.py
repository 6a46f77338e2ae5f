"""One member as a process: it prints its events as JSON lines, and broadcasts as standard input says.

Its argument is a JSON object: the ports of the seeds, the own place among them, how many are expected, the
protocol, the directory of the logs, and how many bytes of ballast a founder has in its state. A
line `N` on standard input lets it broadcast N messages, one each 10 ms; the end of the input lets it leave.
"""

from __future__ import annotations

import asyncio
import json
import logging
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
        self.ballast = b""

    async def save(self) -> AsyncIterator[bytes]:
        """All payloads, one a piece, and the ballast."""
        for payload in self.payloads:
            yield payload.encode() + b"\n"
        yield b"\0" + self.ballast

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Have what another one has."""
        whole = b"".join([piece async for piece in pieces])
        payloads, _, self.ballast = whole.partition(b"\0")
        self.payloads = payloads.decode().splitlines()
        said(kind="loaded", payloads=len(self.payloads), ballast=len(self.ballast))


class Told(logging.Handler):
    """Log lines about states, for the parent."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the line if it is about a state."""
        if "the state" in record.getMessage():
            said(kind="log", text=record.getMessage())


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
    logger = logging.getLogger("antiphon")
    logger.setLevel(logging.INFO)
    logger.addHandler(Told())
    async with group:

        async def look() -> None:
            """Say once that the first pieces of a state have come, and from whom."""
            transfers = group._membership.transfers
            while not told["ballast"] or transfers.taken_bytes < told["ballast"] // 16:
                await asyncio.sleep(0.002)
            assert group.view is not None
            donor = next(one.name for one in group.view.members if one.incarnation == transfers.donor)
            said(kind="part", donor=donor)

        async def take() -> None:
            async for event in group:
                match event:
                    case Delivery(source, number=number, payload=payload):
                        seen.payloads.append(payload.decode())
                        said(kind="delivery", number=number, source=source.name, payload=payload.decode())
                    case View(number, members):
                        if number == 1:
                            seen.ballast = bytes(told["ballast"])
                        names = [member.name for member in members]
                        said(kind="view", number=number, members=names, me=group.me.incarnation.hex())
                    case Blocked() | Unblocked():
                        said(kind=type(event).__name__.lower())

        taking = asyncio.create_task(take())
        looking = asyncio.create_task(look())
        count = 0
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            for _ in range(int(line)):
                count += 1
                await group.broadcast(f"{told['me']}:{count}".encode())
                await asyncio.sleep(0.01)
            said(kind="sent", count=count)
        looking.cancel()
        await group.leave()
        await taking
    said(kind="end", payloads=seen.payloads)


asyncio.run(main())
