"""A member of Antiphon for `failover.py`. It speaks the words of the members of other systems: see
`conformance/run/systems/JGroupsMember.java`. "die" lets it kill itself when it has the token.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from typing import Any, cast

from antiphon.impl import loops
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership import detector
from antiphon.impl.membership.member import Blocked, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.rbp import Core

PIECE_BYTES = 2**20


class Ballast:
    """A state that is only large."""

    def __init__(self, size: int) -> None:
        self.state = bytes(size)

    async def save(self) -> AsyncIterator[bytes]:
        """The state, in pieces."""
        for at in range(0, len(self.state), PIECE_BYTES):
            yield self.state[at : at + PIECE_BYTES]

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Have what another one has."""
        self.state = b"".join([piece async for piece in pieces])
        tell(f"state {len(self.state)}")


def tell(line: str) -> None:
    """Print a line behind its time."""
    sys.stdout.write(f"{time.monotonic_ns()} {line}\n")
    sys.stdout.flush()


async def member(told: dict[str, Any]) -> None:
    """Do what standard input says, and print what comes, in the words of the members of other systems."""
    ballast = Ballast(told["state"])
    seeds = [(f"10.77.0.{k + 1}", 7000) for k in range(told["members"])]
    group = JoinedGroup(
        "g", seeds=seeds, bind=(f"10.77.0.{told['host'] + 1}", 7000), key=bytes(32), name=told["name"],
        expect=len(seeds), timeouts=getattr(detector, told["profile"]),
        state=ballast if told["state"] or told["takes"] else None,
    )  # fmt: skip

    async def take() -> None:
        me = b""
        async for event in group:
            if isinstance(event, Delivery):
                tell(f"got {event.payload.decode()}")
            elif isinstance(event, View):
                if me != group.me.incarnation:
                    me = group.me.incarnation
                    tell(f"me {me.hex()}")
                tell(f"view {event.number} {' '.join(one.incarnation.hex() for one in event.members)}")
            else:
                tell("blocked" if isinstance(event, Blocked) else "unblocked")

    async def talk(every_s: float, text: bytes) -> None:
        while True:
            await group.broadcast(text)
            await asyncio.sleep(every_s)

    async with group:
        tasks = [asyncio.create_task(take())]
        for_line = asyncio.get_running_loop().run_in_executor
        while line := await for_line(None, sys.stdin.readline):
            word, _, rest = line.strip().partition(" ")
            if word == "talk":
                every_ms, text = rest.split(" ", 1)
                tasks.append(asyncio.create_task(talk(float(every_ms) / 1000.0, text.encode())))
            elif word == "die":
                die_with_the_token(group)
            elif word == "leave":
                for task in tasks[1:]:
                    task.cancel()
                await group.leave()
                tell("left")
                break


def die_with_the_token(group: JoinedGroup) -> None:
    """Let the process kill itself when it has the token and is about to say so."""
    epoch = group._membership.epoch
    assert epoch is not None, "it has a view"
    core = cast(Core, epoch.endpoint.core)
    outputs = core.outputs

    def dies() -> Any:
        if core._holding:
            tell("dies")
            os.kill(os.getpid(), signal.SIGKILL)
        return outputs()

    core.outputs = dies  # type: ignore[method-assign]


if __name__ == "__main__":
    loops.run(member(json.loads(sys.argv[1])))
