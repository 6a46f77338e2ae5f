"""Cost of looking on: processor time a message with nobody looking, with an event log, with metrics.

    python benchmarks/looking_on.py [--messages 6000] [--members 3] [--payload 64] [--repeat 3]

All members run in one thread of one process, over UDP on loopback, and each sends one message after another:
a message costs the work of all members. The null tracer is asked `recording` and answers no: how often that
happens is counted, and what one answer takes is measured alone, since the product is too small to be seen.
Kinds are measured in turn, the least of the repetitions counts. Numbers depend on the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import tempfile
import time
import timeit
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from antiphon.impl.event_log import EventLog
from antiphon.impl.group import Group
from antiphon.impl.metrics import Metrics
from antiphon.impl.tracing import NULL_TRACER, Event


class Counting:
    """A tracer that wants nothing and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def recording(self) -> bool:
        """Count the question; never record."""
        self.asked += 1
        return False

    def record(self, event: Event) -> None:
        """Forget the event."""


async def run(members: int, messages: int, payload: bytes, looking: list[dict[str, Any]]) -> float:
    """Processor seconds that a message takes all members together."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(members)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    at = {me: each.getsockname() for me, each in enumerate(bound)}
    groups = [
        Group("looked-at", me=me, members=members, bind=bound[me], key=None,
              routes={q: a for q, a in at.items() if q != me}, **looking[me])
        for me in range(members)
    ]  # fmt: skip

    async def talk(group: Group) -> None:
        for _ in range(messages // members):
            await group.broadcast(payload)
            await asyncio.sleep(0)

    async def listen(group: Group) -> None:
        for _ in range(messages // members * members):
            await anext(group)

    for group in groups:
        await group.__aenter__()
    start = time.process_time()
    await asyncio.gather(*(talk(group) for group in groups), *(listen(group) for group in groups))
    used = time.process_time() - start
    for group in groups:
        await group.__aexit__(None, None, None)
    return used / (messages // members * members)


def main() -> None:
    """Measure, and print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("messages", 6_000), ("members", 3), ("payload", 64), ("repeat", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    least: dict[str, float] = {}
    dropped = 0
    for _ in range(given.repeat):
        with ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            logs = [
                EventLog(directory, group="looked-at", me=me, members=given.members, protocol="rbp")
                for me in range(given.members)
            ]
            metrics = Metrics()
            everybody = range(given.members)
            kinds: dict[str, list[dict[str, Any]]] = {
                "nobody looks": [{} for _ in everybody],
                "event log": [{"tracer": log} for log in logs],
                "metrics": [{"metrics": metrics} for _ in everybody],
            }
            for name, looking in kinds.items():
                used = asyncio.run(run(given.members, given.messages, bytes(given.payload), looking))
                least[name] = min(used, least.get(name, used))
            for log in logs:
                log.close()
                dropped += log.dropped
    for name, used in least.items():
        print(f"{name:14} {used * 1e6:7.1f} us a message")
    counting = Counting()
    asyncio.run(
        run(given.members, given.messages, bytes(given.payload), [{"tracer": counting}] * given.members)
    )
    asked = counting.asked / given.messages
    answer = min(timeit.repeat("t.recording", globals={"t": NULL_TRACER}, number=10**6, repeat=5)) / 10**6
    cost = asked * answer
    print(
        f"null tracer    {asked:.1f} questions a message at {answer * 1e9:.0f} ns: {cost * 1e6:.2f} us, "
        f"{cost / least['nobody looks']:.2%} of a message; {dropped} events dropped by the logs"
    )


if __name__ == "__main__":
    main()
