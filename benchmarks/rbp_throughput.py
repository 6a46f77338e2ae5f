"""How fast RBP's normal phase runs: the core alone, the simulated network, and three groups on loopback UDP.

    python benchmarks/rbp_throughput.py [--messages 20000] [--members 3] [--payload 64]

A step is one message handled by one core, with what it causes there. All members run in one thread of one
process, so a message costs the work of all of them. Numbers depend on the machine; this is a script to
compare with, never a test.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import socket
import time
from collections import deque

from antiphon.impl.group import Group
from antiphon.impl.protocols.rbp import Core, Message, rbp
from antiphon.impl.transport.simulated import SimulatedNetwork


def core_alone(members: int, messages: int, payload: bytes) -> tuple[float, int, int]:
    """Cores that hand one another message objects, in memory: seconds, messages delivered, steps."""
    cores = [Core(me, members) for me in range(members)]
    left = [messages // members] * members
    mail: deque[tuple[int, int, Message]] = deque()
    steps = delivered = 0
    start = time.perf_counter()
    for core in cores:
        core.start(0.0)
        mail.extend((core.me, to, message) for to, message in core.outputs())
    while True:
        for core in cores:
            if left[core.me] and not core.busy:
                left[core.me] -= 1
                core.broadcast(payload, 0.0)
                delivered += len(core.settle(0.0))
                mail.extend((core.me, to, message) for to, message in core.outputs())
        if not mail:
            return time.perf_counter() - start, delivered // members, steps
        for _ in range(len(mail)):
            sender, to, message = mail.popleft()
            core = cores[to]
            core.receive(sender, message, 0.0)
            delivered += len(core.settle(0.0))
            steps += 1
            for receiver, answer in core.outputs():
                mail.append((to, receiver, answer))


def simulated(members: int, messages: int, payload: bytes) -> tuple[float, int, int]:
    """The same through encoder, decoder and simulated network, without faults: seconds, messages, steps."""
    network = SimulatedNetwork(rbp(), members, seed=1)
    start = time.perf_counter()
    for k in range(messages):
        network.broadcast(k % members, payload)
    network.run_until_delivered(messages, limit_ms=1e12)
    return time.perf_counter() - start, len(network.deliveries[0]), network.steps


async def loopback(members: int, messages: int, payload: bytes, key: bytes | None) -> tuple[float, int, int]:
    """Groups on UDP sockets: seconds, messages, datagrams sent."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(members)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    routes = [each.getsockname() for each in bound]
    groups = [
        Group(
            "benchmark",
            me=me,
            members=members,
            bind=bound[me],
            routes={q: a for q, a in enumerate(routes) if q != me},
            key=key,
        )
        for me in range(members)
    ]
    share = messages // members

    async def talk(group: Group) -> None:
        for _ in range(share):
            await group.broadcast(payload)

    async def listen(group: Group) -> None:
        count = 0
        async for _ in group:
            count += 1
            if count == share * members:
                return

    for group in groups:
        await group.__aenter__()
    start = time.perf_counter()
    await asyncio.gather(*(talk(group) for group in groups), *(listen(group) for group in groups))
    elapsed = time.perf_counter() - start
    datagrams = sum(group.statistics.datagrams.total() for group in groups)
    for group in groups:
        await group.__aexit__(None, None, None)
    return elapsed, share * members, datagrams


def main() -> None:
    """Measure the three, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--payload", type=int, default=64, help="bytes")
    options = parser.parse_args()
    payload = bytes(options.payload)
    rows = [
        ("core alone", "steps", core_alone(options.members, options.messages, payload)),
        ("simulated network", "steps", simulated(options.members, options.messages, payload)),
        *(
            (name, "datagrams", asyncio.run(loopback(options.members, options.messages, payload, key)))
            for name, key in (("UDP on loopback", None), ("UDP, encrypted", secrets.token_bytes(32)))
        ),
    ]
    print(f"{options.members} members, payload {options.payload} bytes, no loss")
    for name, unit, (seconds, delivered, count) in rows:
        print(
            f"{name:18} {delivered:7,} messages in {seconds:6.2f} s: {delivered / seconds:9,.0f} messages/s, "
            f"{count / seconds:9,.0f} {unit}/s"
        )


if __name__ == "__main__":
    main()
