"""Gap in deliveries at the others when a member ends, stands still or leaves: processes on loopback.

    python benchmarks/failover.py --times 20                 # LAN, three members
    python benchmarks/failover.py --times 20 --profile LOCAL

All members broadcast every 5 ms. The gap is the longest time without a delivery at a survivor, from just
before the fault to `PATIENCE_S` after it; the worse one of the survivors counts. Killed is `kill -9`: the
place is the member's place in the view, of which the first one founded the group and the token goes round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from typing import Any

from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership import detector
from antiphon.impl.protocols.core import Delivery

MEMBERS = 3
EVERY_S = 0.005
PATIENCE_S = 4.0
STOP_S = 2.0


async def member(told: dict[str, Any]) -> None:
    """Broadcast until standard input says more; then print when each delivery came."""
    seeds = [("127.0.0.1", port) for port in told["ports"]]
    group = JoinedGroup(
        "g", seeds=seeds, bind=seeds[told["me"]], key=bytes(32), name=f"p{told['me']}", expect=MEMBERS,
        timeouts=getattr(detector, told["profile"]),
    )  # fmt: skip
    times: list[float] = []
    views = 0
    ready = asyncio.Event()

    async def take() -> None:
        nonlocal views
        async for event in group:
            if isinstance(event, Delivery):
                times.append(time.monotonic())
                if len(times) == 100:
                    print("ready", flush=True)
            else:
                views += 1
                ready.set()

    async def talk() -> None:
        await ready.wait()
        while True:
            await group.broadcast(bytes(100))
            await asyncio.sleep(EVERY_S)

    async with group:
        tasks = [asyncio.create_task(take()), asyncio.create_task(talk())]
        line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        for task in tasks:
            task.cancel()
        if line == "leave\n":
            await group.leave()
        else:
            await group.close()
    print(json.dumps({"times": times, "views": views}), flush=True)


def run(fault: str, place: int, profile: str) -> tuple[float, int]:
    """One group and one fault: the longest gap at a survivor in milliseconds, and the views that it saw."""
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    processes = []
    for me in range(MEMBERS):
        told = json.dumps({"ports": ports, "me": me, "profile": profile})
        command = [sys.executable, __file__, "--member", told]
        processes.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        )
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        victim = processes[place]
        began = time.monotonic() - 0.05
        assert victim.stdin is not None
        if fault == "kill":
            victim.kill()
        elif fault == "stop":
            os.kill(victim.pid, signal.SIGSTOP)
            time.sleep(STOP_S)
            os.kill(victim.pid, signal.SIGCONT)
        else:
            victim.stdin.write("leave\n")
            victim.stdin.flush()
        time.sleep(PATIENCE_S)
        ended = time.monotonic()
        worst, views = 0.0, 0
        for process in processes:
            if process is not victim:
                out, _ = process.communicate("", timeout=30)
                said = json.loads(out)
                times = [began, *(at for at in said["times"] if began <= at <= ended)]
                worst = max(worst, *(after - before for before, after in pairwise(times)))
                views = max(views, said["views"])
        return worst * 1000.0, views
    finally:
        for process in processes:
            with process:
                process.kill()


def main() -> None:
    """Measure each fault so many times."""
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_stands)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--profile", choices=["LOCAL", "LAN"], default="LAN")
    parser.add_argument("--member", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.member is not None:
        asyncio.run(member(json.loads(given.member)))
        return
    what = f"{MEMBERS} members, {given.profile}, {given.times} times each"
    print(f"{what}: gap in ms, median and worst; views seen")
    for fault, place in (("kill", 0), ("kill", 1), ("kill", 2), ("stop", 1), ("leave", 2)):
        found = [run(fault, place, given.profile) for _ in range(given.times)]
        gaps = [gap for gap, _ in found]
        views = sorted({views for _, views in found})
        told = f"{fault} of member {place}" + (f" for {STOP_S:.0f} s" if fault == "stop" else "")
        print(f"{told:24} {statistics.median(gaps):8.0f} {max(gaps):8.0f}   {views}", flush=True)


if __name__ == "__main__":
    main()
