"""One member of many groups, as a process: it says when all have talked, and how each of them ends.

It begins when a line comes on its standard input. Its argument is a JSON object: the own place `me`,
`stall_s`, and for each group its name, its protocol, whether it is `loaded`, the file descriptor of its
socket and the ports of all members.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from typing import Any

from antiphon import Group, GroupFailed

HOST = "127.0.0.1"
PAUSE_S = 0.1


def said(**what: object) -> None:
    """Print one line for the parent."""
    print(json.dumps(what), flush=True)


async def member(told: dict[str, Any], me: int, stall_s: float, ready: asyncio.Semaphore) -> None:
    """Take part until the group fails; `ready` is released when a message of every member has come."""
    ports = told["ports"]
    group = Group(
        told["name"],
        me=me,
        members=len(ports),
        bind=socket.socket(fileno=told["socket"]),
        routes={q: (HOST, port) for q, port in enumerate(ports) if q != me},
        key=bytes(32),
        protocol=told["protocol"],
        stall_s=stall_s,
    )
    heard: set[int] = set()

    async def talk() -> None:
        await group.broadcast(b"hello")
        while told["loaded"]:
            await asyncio.sleep(PAUSE_S)
            await group.broadcast(b"again")

    async with group:
        talking = asyncio.create_task(talk())
        try:
            async for event in group:
                if event.source not in heard:
                    heard.add(event.source)
                    if len(heard) == len(ports):
                        ready.release()
        except GroupFailed as failed:
            waits = [wait.of for wait in group.waits]
            said(name=told["name"], why=str(failed), waits=waits, at=time.monotonic())
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)


async def main() -> None:
    told = json.loads(sys.argv[1])
    said(started=True)
    sys.stdin.readline()  # nobody is missed because its interpreter started late
    ready = asyncio.Semaphore(0)

    async def wait_for_all() -> None:
        for _ in told["groups"]:
            await ready.acquire()
        said(ready=True)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(wait_for_all())
        for each in told["groups"]:
            tasks.create_task(member(each, told["me"], told["stall_s"], ready))


if __name__ == "__main__":
    asyncio.run(main())
