"""A service that draws lots, and its clients, as processes: they print JSON lines.

Its argument is a JSON object with the ports of the seeds. With `me`, the own place among them, and `expect`
it is a replica, which prints each view, and at the end of its input its state. With `asks`, a list of
requests, it is a client, which prints each answer, and how long it took.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
from collections.abc import AsyncIterator

from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.member import View
from antiphon.impl.primary_backup import Client, PrimaryBackup

HOST = "127.0.0.1"
KEY = bytes(32)


class Lots:
    """Lottery in which each request draws a number that nobody knows before."""

    def __init__(self) -> None:
        self.drawn: list[tuple[str, int]] = []
        self.executed: list[bytes] = []
        """Requests executed here, with or without a reply."""

    def execute(self, request: bytes) -> tuple[bytes, bytes]:
        """Draw; the answer says which lot of all this was, and its number."""
        self.executed.append(request)
        if request == b"raise":
            raise ValueError("no lot for you")
        lot = f"{request.decode()} {secrets.randbelow(10**9)}"
        return f"{len(self.drawn) + 1} {lot}".encode(), lot.encode()

    def apply(self, update: bytes) -> None:
        """Note who has drawn what."""
        name, number = update.decode().split(" ")
        self.drawn.append((name, int(number)))

    async def save(self) -> AsyncIterator[bytes]:
        """All lots, one a piece."""
        for name, number in self.drawn:
            yield f"{name} {number}\n".encode()

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Have what another one has."""
        self.drawn = []
        for line in b"".join([piece async for piece in pieces]).splitlines():
            self.apply(line)


def said(**what: object) -> None:
    """Print one line for the parent."""
    print(json.dumps(what), flush=True)


class Talking(PrimaryBackup):
    """A replica that prints the views that it takes."""

    def _enter(self, view: View) -> None:
        super()._enter(view)
        names = [member.name for member in view.members]
        said(kind="view", number=view.number, members=names, primary=self.is_primary)


async def replica(ports: list[int], me: int, expect: int | None) -> None:
    """Serve until the input ends, and then say what was drawn."""
    seeds = [(HOST, port) for port in ports]
    group = JoinedGroup(
        "lots", seeds=seeds, bind=seeds[me], key=KEY, name=f"p{me}", expect=expect, timeouts=LOCAL
    )
    lots = Lots()
    replicated = Talking(group, lots)
    async with group:
        serving = asyncio.create_task(replicated.serve())
        loop = asyncio.get_running_loop()
        while await loop.run_in_executor(None, sys.stdin.readline):
            said(kind="state", drawn=lots.drawn, executed=len(lots.executed))
        await group.leave()
        await serving


async def client(ports: list[int], asks: list[str]) -> None:
    """Ask one after the other."""
    async with Client("lots", [(HOST, port) for port in ports], KEY, retry_s=0.2) as asking:
        for ask in asks:
            began = time.monotonic()
            answer = await asking.request(ask.encode())
            said(kind="answer", ask=ask, answer=answer.decode(), seconds=time.monotonic() - began)
            await asyncio.sleep(0.005)
    said(kind="end")


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    asyncio.run(client(**told) if "asks" in told else replica(**told))
