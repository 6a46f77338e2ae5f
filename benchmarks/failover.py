"""Gap in deliveries at the others when a member ends, stands still, is cut off, joins or leaves.

    python benchmarks/failover.py --times 20                 # LAN, three members on loopback
    python benchmarks/failover.py --times 20 --profile LOCAL
    python benchmarks/failover.py --only "cut and heal" join # needs root: each member in a network namespace

All members broadcast every 5 ms. The gap is the longest time without a delivery at a survivor, from just
before the fault to some seconds after it; the worse one of the survivors counts. Killed is `kill -9`: the
place is the member's place in the view, of which the first one founded the group. The holder kills itself at
the moment at which it has the token.

A cut lasts `CUT_S`, longer than `exclude_ms`. Behind its gap at the majority stand the times until the member
that is cut off is `Blocked`, and from the heal until it is in a view again, as a new member. Who joins gets
64 MiB of state; behind the gap at the others stand the time until it has a view, and the gap at the member
that does not keep the state.
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
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, cast

from cluster_throughput import ip, namespaces

from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership import detector
from antiphon.impl.membership.member import Blocked, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.rbp import Core

MEMBERS = 3
EVERY_S = 0.005
STOP_S = 2.0
CUT_S = 4.0
STATE_BYTES = 2**26
PIECE_BYTES = 2**20

PATIENCE_S = {"kill": 1.5, "leave": 1.5, "stop": 1.5, "cut and heal": 4.0, "join": 20.0}
"""Seconds from the end of a fault to the end of its run."""


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


async def member(told: dict[str, Any]) -> None:
    """Broadcast until standard input says more; then print when each delivery and each view came."""
    seeds = [(host, port) for host, port in told["addresses"]]
    group = JoinedGroup(
        "g", seeds=seeds[:MEMBERS], bind=seeds[told["me"]], key=bytes(32), name=f"p{told['me']}",
        expect=MEMBERS, timeouts=getattr(detector, told["profile"]),
        state=Ballast(0 if told["me"] >= MEMBERS else told["state"]),
    )  # fmt: skip
    times: list[float] = []
    views: list[float] = []
    blocked: list[float] = []
    ready = asyncio.Event()

    async def take() -> None:
        async for event in group:
            if isinstance(event, Delivery):
                times.append(time.monotonic())
                if len(times) == 100:
                    print("ready", flush=True)
            elif isinstance(event, View):
                views.append(time.monotonic())
                ready.set()
            elif isinstance(event, Blocked):
                blocked.append(time.monotonic())

    async def talk() -> None:
        await ready.wait()
        while True:
            await group.broadcast(bytes(100))
            await asyncio.sleep(EVERY_S)

    async with group:
        tasks = [asyncio.create_task(take()), asyncio.create_task(talk())]
        line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        if line == "die\n":
            _die_with_the_token(group)
            await asyncio.sleep(60)
        for task in tasks:
            task.cancel()
        if line == "leave\n":
            await group.leave()
        else:
            await group.close()
    print(json.dumps({"times": times, "views": views, "blocked": blocked}), flush=True)


def _die_with_the_token(group: JoinedGroup) -> None:
    """Let the process kill itself when it has the token and is about to say so."""
    epoch = group._membership.epoch
    assert epoch is not None
    core = cast(Core, epoch.endpoint.core)
    outputs = core.outputs

    def dies() -> Any:
        if core._holding:
            os.kill(os.getpid(), signal.SIGKILL)
        return outputs()

    core.outputs = dies  # type: ignore[method-assign]


class Found(NamedTuple):
    """Times of one run in milliseconds."""

    gap: float
    """Longest gap at a survivor."""
    views: int
    """Number of views that a survivor saw."""
    blocked: float | None = None
    """From the cut until the member that was cut off was blocked."""
    back: float | None = None
    """From the heal, or the start, until the member that came was in a view."""
    least: float | None = None
    """Longest gap at the member that does not keep the state for a process that joins."""


def start(me: int, addresses: list[tuple[str, int]], given: Given) -> subprocess.Popen[str]:
    """Start one member."""
    told = json.dumps({"addresses": addresses, "me": me, "profile": given.profile, "state": given.state})
    command = [*given.inside(me), sys.executable, __file__, "--member", told]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603


class Given(NamedTuple):
    """Setting of the runs."""

    profile: str
    names: list[str]
    """Namespaces of the members, or none: then all are on loopback."""
    state: int = 0

    def inside(self, me: int) -> list[str]:
        """Return the words before a command that run it where this member is."""
        return ["ip", "netns", "exec", self.names[me]] if self.names else []

    def addresses(self) -> list[tuple[str, int]]:
        """Return an address for each member, and one for a process that joins."""
        if self.names:
            return [(f"10.77.0.{place}", 7000) for place in range(1, MEMBERS + 2)]
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS + 1)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        addresses = [sock.getsockname() for sock in sockets]
        for sock in sockets:
            sock.close()
        return addresses


def run(fault: str, place: int | None, given: Given) -> Found:
    """One group and one fault; without a place, the holder of the token."""
    addresses = given.addresses()
    processes = [start(me, addresses, given) for me in range(MEMBERS)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        victim = processes[place or 0]
        began = time.monotonic()
        healed = began
        if fault == "kill" and place is not None:
            victim.kill()
        elif fault == "stop":
            os.kill(victim.pid, signal.SIGSTOP)
            time.sleep(STOP_S)
            os.kill(victim.pid, signal.SIGCONT)
        elif fault == "cut and heal":
            ip("link", "set", f"antiphon-v{(place or 0) + 1}", "down")
            time.sleep(CUT_S)
            healed = time.monotonic()
            ip("link", "set", f"antiphon-v{(place or 0) + 1}", "up")
        elif fault == "join":
            victim = start(MEMBERS, addresses, given)
            processes.append(victim)
        else:
            assert victim.stdin is not None
            victim.stdin.write("leave\n" if fault == "leave" else "die\n")
            victim.stdin.flush()
        time.sleep(PATIENCE_S[fault])
        ended = time.monotonic()
        return _found(
            [_said(one) for one in processes if one is not victim], victim, fault, began, healed, ended
        )
    finally:
        for process in processes:
            with process:
                process.kill()


def _said(process: subprocess.Popen[str]) -> dict[str, list[float]]:
    out, _ = process.communicate("", timeout=30)
    said: dict[str, list[float]] = json.loads(out.splitlines()[-1])
    return said


def _found(
    survivors: list[dict[str, list[float]]],
    victim: subprocess.Popen[str],
    fault: str,
    began: float,
    healed: float,
    ended: float,
) -> Found:
    """Read the times of one run from the lines of the members."""
    gaps = []
    for said in survivors:
        times = [began, *(at for at in said["times"] if began <= at <= ended)]
        gaps.append(max(after - before for before, after in pairwise(times)))
    gap = max(gaps)
    views = max(len(said["views"]) for said in survivors)
    if fault not in ("cut and heal", "join"):
        return Found(gap * 1000.0, views)
    said = _said(victim)
    blocked = next(((at - began) * 1000.0 for at in said["blocked"] if began <= at <= ended), None)
    back = next(((at - healed) * 1000.0 for at in said["views"] if at >= healed), None)
    return Found(gap * 1000.0, views, blocked, back, min(gaps) * 1000.0 if fault == "join" else None)


FAULTS: list[tuple[str, int | None]] = [
    ("kill", 0), ("kill", 1), ("kill", 2), ("kill", None), ("stop", 1), ("leave", 2), ("cut and heal", 2),
    ("join", 0),
]  # fmt: skip


def measure(fault: str, place: int | None, times: int, given: Given) -> None:
    """Print median and worst of one fault."""
    found = [run(fault, place, given) for _ in range(times)]
    who = "the holder" if place is None else f"member {place}"
    told = "join" if fault == "join" else f"{fault} of {who}"
    views = sorted({one.views for one in found})
    more = ""
    for what, word in (("blocked", "blocked after"), ("back", "back after"), ("least", "least gap")):
        some = [getattr(one, what) for one in found]
        if any(one is not None for one in some):
            seen = [one for one in some if one is not None]
            never = f", {len(some) - len(seen)} never" if len(seen) < len(some) else ""
            more += f"; {word} {statistics.median(seen):.0f}, {max(seen):.0f} at most{never}"
    gaps = [one.gap for one in found]
    print(f"{told:24} {statistics.median(gaps):8.0f} {max(gaps):8.0f}   {views}{more}", flush=True)


@contextmanager
def network(wanted: bool) -> Iterator[list[str]]:
    """Namespaces for the members and one process more, or none."""
    if wanted:
        with namespaces(MEMBERS + 1) as names:
            yield names
    else:
        yield []


def main() -> None:
    """Measure each fault so many times."""
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_stands)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--profile", choices=["LOCAL", "LAN"], default="LAN")
    parser.add_argument("--only", nargs="+", choices=sorted(PATIENCE_S), help="only these faults")
    parser.add_argument("--member", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.member is not None:
        asyncio.run(member(json.loads(given.member)))
        return
    apart = os.geteuid() == 0
    where = "in namespaces" if apart else "on loopback, without cuts: these need root"
    print(
        f"{MEMBERS} members {where}, {given.profile}, {given.times} times: gap in ms, median and worst; views"
    )
    with network(apart) as names:
        for fault, place in FAULTS:
            if (given.only is None or fault in given.only) and (apart or fault != "cut and heal"):
                state = STATE_BYTES if fault == "join" else 0
                measure(fault, place, given.times, Given(given.profile, names, state))


if __name__ == "__main__":
    main()
