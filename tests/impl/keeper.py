"""A member in a process of its own that says what it delivers, and when asked all that it has.

`python keeper.py ME PROTOCOL DELIVER PORT HOST:PORT ...`: the routes of all members, the own one too. Each
line of standard input is a payload to broadcast, or `kept`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from antiphon.impl.group import Group


async def main(me: int, protocol: str, deliver: str, port: int, members: list[str]) -> None:
    """Take part until standard input ends."""
    at = [(host, int(number)) for host, _, number in (member.partition(":") for member in members)]
    routes = {other: address for other, address in enumerate(at) if other != me}
    group = Group(
        "keepers", me=me, members=len(at), bind=("127.0.0.1", port), routes=routes, key=None,
        protocol=protocol, deliver=int(deliver) if deliver.isdigit() else deliver,
    )  # fmt: skip
    delivered: list[str] = []

    async def deliveries() -> None:
        async for event in group:
            delivered.append(event.payload.decode())
            say({"delivered": delivered[-1]})

    async with group:
        listening = asyncio.create_task(deliveries())
        while line := await asyncio.to_thread(sys.stdin.readline):
            if line == "kept\n":
                say({"kept": delivered + numbered(group)})
            else:
                await group.broadcast(line.strip().encode())
        listening.cancel()


def numbered(group: Group) -> list[str]:
    """Places of undelivered messages: in the layers, in RBP with stability, and untaken."""
    batches = group._endpoint._batches
    assert batches is not None
    untaken = [*group._events, *group._endpoint.untaken]
    kept = [one for _, messages in batches.snapshot().kept for one in messages]
    waiting = [one.payload.decode() for one in (*untaken, *kept)]
    if group._endpoint.holders == 1:
        return waiting
    state: Any = group._endpoint.core.observe()  # type: ignore[attr-defined]
    names = [name for name in state["numbers"].values() if name in state["received"]]
    return waiting + [state["received"][name].decode("latin-1") for name in names]


def say(what: object) -> None:
    """One line to the parent, at once."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))
