"""Cost of views: processor time a message of a group that is joined, beside one of fixed members.

    python benchmarks/joined_rate.py --messages 20000 --times 5
    python benchmarks/joined_rate.py --messages 10000000 --times 1 --only joined   # and what is kept

Three members in one process, on loopback, encrypted, all broadcasting 100 bytes; the ring of RBP with
stability in both. Joined and fixed groups take turns, in pairs, so that other work on the machine meets both.
Processor time is that of the whole process: three members, and the operating system's part for their sockets.
"""

from __future__ import annotations

import argparse
import asyncio
import operator
import resource
import socket
import statistics
import time

from antiphon import Delivery, Group, View
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.loops import new_event_loop

MEMBERS = 3
KEY = bytes(range(32))
PAYLOAD = bytes(100)


def sockets() -> list[socket.socket]:
    """Bound sockets, one for each member."""
    some = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
    for sock in some:
        sock.bind(("127.0.0.1", 0))
    return some


async def talk(groups: list[Group] | list[JoinedGroup], messages: int) -> float:
    """Let all members broadcast, and all take; the processor time a message, in microseconds."""

    async def say(group: Group | JoinedGroup) -> None:
        for _ in range(messages // MEMBERS):
            await group.broadcast(PAYLOAD)

    async def take(group: Group | JoinedGroup) -> None:
        left = messages // MEMBERS * MEMBERS
        async for event in group:
            left -= isinstance(event, Delivery)
            if not left:
                return

    begin = time.process_time()
    wall = time.perf_counter()
    await asyncio.gather(*map(say, groups), *map(take, groups))
    spent = time.process_time() - begin
    rate = messages / (time.perf_counter() - wall)
    kept_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kind = type(groups[0]).__name__
    print(f"  {kind}: {rate:,.0f} messages a second, {kept_mib:.0f} MiB at most", flush=True)
    return spent / messages * 1e6


async def fixed(messages: int) -> float:
    """The time of a group whose members do not change."""
    bound = sockets()
    at = [sock.getsockname() for sock in bound]
    groups = [
        Group("rate", me=me, members=MEMBERS, bind=bound[me], key=KEY,
              routes={other: at[other] for other in range(MEMBERS) if other != me})
        for me in range(MEMBERS)
    ]  # fmt: skip
    async with groups[0], groups[1], groups[2]:
        return await talk(groups, messages)


async def joined(messages: int) -> float:
    """The time of a group that is joined."""
    bound = sockets()
    seeds = [sock.getsockname() for sock in bound]
    groups = [
        Group.join("rate", seeds=seeds, bind=bound[me], key=KEY, expect=MEMBERS) for me in range(MEMBERS)
    ]
    async with groups[0], groups[1], groups[2]:
        for group in groups:
            assert isinstance(await anext(group), View)
        return await talk(groups, messages)


def run(kind: str, messages: int) -> float:
    """Run one kind in a loop of its own."""
    loop = new_event_loop()
    try:
        return loop.run_until_complete({"fixed": fixed, "joined": joined}[kind](messages))
    finally:
        loop.close()


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--only", choices=["fixed", "joined"])
    given = parser.parse_args()
    kinds = [given.only] if given.only else ["fixed", "joined"]
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    for place in range(given.times):
        for kind in kinds if place % 2 else kinds[::-1]:
            spent[kind].append(run(kind, given.messages))
    medians = {kind: statistics.median(some) for kind, some in spent.items()}
    for kind, median in medians.items():
        spread = f"{min(spent[kind]):.1f} to {max(spent[kind]):.1f}"
        print(f"{kind}: {median:.1f} microseconds of processor time a message (median; {spread})")
    if len(medians) == 2:
        ratios = sorted(map(operator.truediv, spent["fixed"], spent["joined"]))
        ratio, (low, *_, high) = statistics.median(ratios), statistics.quantiles(ratios, n=4)
        told = f"median of {len(ratios)} pairs; half of them {low:.2f} to {high:.2f}"
        print(f"joined has {ratio:.2f} of the fixed group's rate by this measure ({told})")
        least = min(spent["fixed"]) / min(spent["joined"])
        print(f"the least times of each are {least:.2f}")


if __name__ == "__main__":
    main()
