"""Throughput of a group that orders messages: members in processes of their own, all sending, on loopback.

    python benchmarks/cluster_throughput.py [--cores rbp dtp] [--members 3 5 9] [--payload 1024] [--seconds 5]
        [--no-key] [--multicast] [--others jgroups corosync]
    python benchmarks/cluster_throughput.py --cores irbp rbp-resilient --members 3 --times 9

First every member broadcasts as fast as it may (`broadcast` waits when buffers are full), and the messages
delivered in the measured seconds are counted at member 0; then all together broadcast half of that, evenly,
and the time from `broadcast` to the own delivery is measured. Processor time is what the processes used, by
the system's account, for each ordered message, of all members together and of one. Memory is that of the
largest member.

A core that is known only with views, such as irbp, runs in a group that its members join (`Group.join`),
always encrypted.

With --times the cores take turns, so many times each and only at full rate, and all but the last are compared
with the last one, so that other work on the machine meets all alike.

With --multicast every core is measured without and with it, one after the other; what goes to all is then one
datagram on the loopback interface. Cores that need reliable queues send to each all the same.

JGroups (its SEQUENCER over UDP, Debian's libjgroups-java and a JDK) and Corosync's CPG (Debian's corosync and
libcpg-dev, gcc, and root, for network namespaces) do the same where they are installed; the script says what
is missing. Numbers depend on the machine; this is a script to compare with, never a test.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import operator
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from antiphon.impl import loops
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.registry import LISTED, implementation, known_protocols

WARM_S = 1.0
TICK_S = 0.001
KEY = bytes(range(32))
MULTICAST = "239.255.0.7"


def member(orders: dict[str, Any]) -> None:
    """Be a member: say on stdout what was measured."""
    if orders["profile"]:
        import cProfile

        profile = cProfile.Profile()
        profile.enable()
        loops.run(_member(orders))
        profile.disable()
        profile.dump_stats(f"{orders['profile']}.{orders['me']}")
    else:
        loops.run(_member(orders))


async def _member(orders: dict[str, Any]) -> None:
    me, ports = orders["me"], orders["ports"]
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, fileno=orders["fd"])
    group = _joined(orders, bound) if orders["core"] in _joinable() else _fixed(orders, bound)
    async with group:
        run = Run(group, me, len(ports), orders)
        await run.everything()
    sys.stdout.write(json.dumps(run.measured) + "\n")


def _fixed(orders: dict[str, Any], bound: socket.socket) -> Group:
    me, ports = orders["me"], orders["ports"]
    return Group(
        "benchmark",
        me=me,
        members=len(ports),
        bind=bound,
        routes={q: ("127.0.0.1", port) for q, port in enumerate(ports) if q != me},
        key=KEY if orders["key"] else None,
        protocol=implementation(orders["core"]),
        multicast=orders["multicast"] and tuple(orders["multicast"]),
    )


def _joined(orders: dict[str, Any], bound: socket.socket) -> JoinedGroup:
    seeds = [("127.0.0.1", port) for port in orders["ports"]]
    return Group.join(
        "benchmark", seeds=seeds, bind=bound, key=KEY, expect=len(seeds), protocol=orders["core"]
    )


def _joinable() -> set[str]:
    return {*LISTED} - {*known_protocols()}


class Run:
    """One member's two phases."""

    def __init__(self, group: Group | JoinedGroup, me: int, members: int, orders: dict[str, Any]) -> None:
        self.group, self.me, self.members, self.orders = group, me, members, orders
        self.delivered = 0
        self.latencies: list[float] = []
        self.sampling = False
        self.measured: dict[str, Any] = {}

    async def everything(self) -> None:
        """Run both phases and return their costs."""
        if isinstance(self.group, JoinedGroup):
            await anext(self.group)  # the view of all
            listening = asyncio.create_task(self.listen_joined(self.group))
        else:
            listening = asyncio.create_task(self.listen(self.group))
        seconds = self.orders["seconds"]
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        told = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        start = float(told)
        await asyncio.sleep(start - time.monotonic())
        if self.orders["rate"]:
            sending = asyncio.create_task(self.paced(self.orders["rate"] / self.members))
        else:
            sending = asyncio.create_task(self.flood())
        await asyncio.sleep(WARM_S)
        before, cpu, at = self.delivered, _cpu(), time.monotonic()
        self.sampling = True
        await asyncio.sleep(seconds)
        self.sampling = False
        elapsed = time.monotonic() - at
        self.measured = {
            "rate": (self.delivered - before) / elapsed,
            "cpu": _cpu() - cpu,
            "messages": self.delivered - before,
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "latencies": _percentiles(self.latencies),
        }
        sending.cancel()
        await asyncio.sleep(max(0.0, start + WARM_S + seconds + 0.5 - time.monotonic()))
        listening.cancel()

    async def flood(self) -> None:
        """Broadcast whenever there is room."""
        rest = bytes(self.orders["payload"] - 8)
        broadcast = self.group.broadcast
        while True:
            for _ in range(64):
                await broadcast(time.monotonic_ns().to_bytes(8) + rest)
            await asyncio.sleep(0)

    async def paced(self, rate: float) -> None:
        """Broadcast so many messages a second, a few at a time."""
        rest = bytes(self.orders["payload"] - 8)
        sent, began = 0, time.monotonic()
        while True:
            due = int((time.monotonic() - began) * rate)
            while sent < due:
                await self.group.broadcast(time.monotonic_ns().to_bytes(8) + rest)
                sent += 1
            await asyncio.sleep(TICK_S)

    async def listen(self, group: Group) -> None:
        """Take what is delivered, all that is at hand at a time."""
        async for event in group:
            events = [event, *group.at_hand()]
            self.delivered += len(events)
            if self.sampling:
                self.sample(one.payload for one in events if one.source == self.me)

    async def listen_joined(self, group: JoinedGroup) -> None:
        """Take what is delivered in a group that members join."""
        me = group.me
        async for event in group:
            events = [one for one in (event, *group.at_hand()) if isinstance(one, Delivery)]
            self.delivered += len(events)
            if self.sampling:
                self.sample(one.payload for one in events if one.source == me)

    def sample(self, payloads: Iterable[bytes]) -> None:
        """Note how long own messages took."""
        now = time.monotonic_ns()
        self.latencies += [(now - int.from_bytes(payload[:8])) / 1e6 for payload in payloads]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _percentiles(samples: list[float]) -> list[float]:
    if len(samples) < 100:
        return []
    cuts = statistics.quantiles(samples, n=1000)
    return [round(cuts[at], 2) for at in (499, 899, 989, 998)]


def together(
    core: str, members: int, rate: float, options: argparse.Namespace, *, multicast: bool = False
) -> list[dict[str, Any]]:
    """Run one group of processes; what each measured."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(members)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in bound]
    processes = []
    for me, each in enumerate(bound):
        orders = {
            "me": me,
            "ports": ports,
            "fd": each.fileno(),
            "core": core,
            "key": not options.no_key,
            "payload": options.payload,
            "seconds": options.seconds,
            "rate": rate,
            "profile": options.profile,
            "multicast": [MULTICAST, ports[0]] if multicast else None,
        }
        processes.append(
            subprocess.Popen(  # noqa: S603 - itself
                [sys.executable, __file__, "--member", json.dumps(orders)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=[each.fileno()],
            )
        )
    for each in bound:
        each.close()
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    start = f"{time.monotonic() + 0.5}\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(start)
        process.stdin.flush()
    return [json.loads(process.communicate()[0]) for process in processes]


def measure(name: str, members: int, run: Any) -> float:
    """Run both phases of a group, print their line of the table, and return the messages a second."""
    full = run(0.0)
    rate = full[0]["rate"]
    half = run(rate / 2)
    cpu_us = sum(one["cpu"] for one in full) / max(1, full[0]["messages"]) * 1e6
    print(
        f"{name:24} {members:3} {rate:10,.0f} {cpu_us:9.1f} {cpu_us / members:9.1f} "
        f"{max(one['rss_mb'] for one in full):7.0f}   "
        + " ".join(f"{ms:8.2f}" for ms in half[0]["latencies"]),
        flush=True,
    )
    return float(rate)


def measure_core(core: str, members: int, options: argparse.Namespace, *, multicast: bool = False) -> float:
    """Measure a group of one of our protocols."""
    name = f"{core}, multicast" if multicast else f"{core}, joined" if core in _joinable() else core
    return measure(name, members, lambda rate: together(core, members, rate, options, multicast=multicast))


def compare(members: int, options: argparse.Namespace) -> None:
    """Let the cores take turns at full rate; print the median of each, and of its ratios to the last core."""
    rates: dict[str, list[float]] = {core: [] for core in options.cores}
    costs: dict[str, list[float]] = {core: [] for core in options.cores}
    for turn in range(options.times):
        for core in options.cores[:: 1 if turn % 2 else -1]:
            full = together(core, members, 0.0, options)
            rates[core].append(full[0]["rate"])
            costs[core].append(sum(one["cpu"] for one in full) / max(1, full[0]["messages"]) * 1e6)
    for core in options.cores:
        rate, cost = statistics.median(rates[core]), statistics.median(costs[core])
        print(f"{core:24} {members:3} {rate:10,.0f} {cost:9.1f} {cost / members:9.1f}", flush=True)
    last = options.cores[-1]
    for core in options.cores[:-1]:
        rate = statistics.median(map(operator.truediv, rates[core], rates[last]))
        cost = statistics.median(map(operator.truediv, costs[last], costs[core]))
        print(f"{core}: {rate:.2f} of the messages a second of {last}, {cost:.2f} by processor time")


# The neighbours ---------------------------------------------------------------------------------------------

HERE = Path(__file__).parent / "neighbours"
JGROUPS = Path("/usr/share/java/jgroups.jar")
CPG = Path("/usr/include/corosync/cpg.h")


def missing(*needed: Path | str) -> str:
    """Return the parts of this that are not on the machine, in words; empty if all are."""
    lacking = [
        str(one) for one in needed if not (one.exists() if isinstance(one, Path) else shutil.which(one))
    ]
    if os.geteuid() != 0:
        lacking.append("root")
    return ", ".join(lacking)


def commanded(commands: list[list[str]], pause_s: float) -> list[dict[str, Any]]:
    """Return the last lines of the programs of a group."""
    started = []
    for command in commands:
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=quiet, text=True))  # noqa: S603
        time.sleep(pause_s)
    return [json.loads(each.communicate(timeout=120)[0].splitlines()[-1]) for each in started]


def ip(*words: str) -> None:
    """Call ip(8). Raises `CalledProcessError`."""
    subprocess.run(["ip", *words], check=True)  # noqa: S603, S607


@contextmanager
def namespaces(members: int) -> Iterator[list[str]]:
    """Network namespaces on one bridge, at 10.77.0.1, 10.77.0.2, ..., with multicast on loopback."""
    names = [f"antiphon-{os.getpid()}-{k}" for k in range(1, members + 1)]
    bridge = "antiphon-br"
    try:
        ip("link", "add", bridge, "mtu", "65000", "type", "bridge")
        ip("link", "set", bridge, "up")
        for k, name in enumerate(names, 1):
            ip("netns", "add", name)
            ip("link", "add", f"antiphon-v{k}", "mtu", "65000", "type", "veth",
               "peer", "name", "eth0", "mtu", "65000", "netns", name)  # fmt: skip
            ip("link", "set", f"antiphon-v{k}", "master", bridge, "up")
            ip("-n", name, "addr", "add", f"10.77.0.{k}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up", "multicast", "on")
            ip("-n", name, "route", "add", "224.0.0.0/4", "dev", "lo")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)  # noqa: S603, S607
        subprocess.run(["ip", "link", "del", bridge], check=False)  # noqa: S603, S607


def jgroups(members: int, options: argparse.Namespace) -> dict[str, float]:
    """JGroups' own sequencer.xml over UDP multicast, all members in one namespace."""
    lacking = missing(JGROUPS, "java", "javac", "ip")
    if lacking:
        print(f"JGroups was not measured; missing: {lacking}")
        return {}
    with TemporaryDirectory() as made, namespaces(1) as (inside,):
        subprocess.run(["javac", "-cp", JGROUPS, "-d", made, HERE / "JGroupsMember.java"], check=True)  # noqa: S603, S607

        def run(rate: float) -> list[dict[str, Any]]:
            words = ["sequencer.xml", members, options.payload, options.seconds, 5 * WARM_S, rate]
            java = ["java", "-Djava.net.preferIPv4Stack=true", "-Djgroups.bind_addr=127.0.0.1"]
            command = ["ip", "netns", "exec", inside, *java, "-cp", f"{JGROUPS}:{made}", "JGroupsMember"]
            return commanded([[*command, *map(str, words)]] * members, 1.0)

        return {"JGroups SEQUENCER": measure("JGroups SEQUENCER", members, run)}


def corosync(members: int, options: argparse.Namespace) -> dict[str, float]:
    """Corosync's CPG, agreed delivery, a daemon and a member in each namespace, plain and encrypted."""
    lacking = missing(CPG, "corosync", "gcc", "ip", "unshare")
    if lacking:
        print(f"Corosync was not measured; missing: {lacking}")
        return {}
    with TemporaryDirectory() as made, namespaces(members) as inside:
        member = f"{made}/cpg_member"
        subprocess.run(["gcc", "-O2", "-o", member, HERE / "cpg_member.c", "-lcpg"], check=True)  # noqa: S603, S607
        rates = {}
        for how in ("knet", "knet-crypt"):

            def run(rate: float, how: str = how) -> list[dict[str, Any]]:
                words = [options.payload, options.seconds, WARM_S, rate]
                return commanded(
                    [
                        ["ip", "netns", "exec", name, "unshare", "-m", "sh", str(HERE / "corosync_member.sh"),
                         member, f"{made}/{k}.log", str(k), str(members), how, *map(str, words)]
                        for k, name in enumerate(inside, 1)
                    ],
                    0.0,
                )  # fmt: skip

            rates[f"Corosync CPG {how}"] = measure(f"Corosync CPG {how}", members, run)
    return rates


OTHERS = {"jgroups": jgroups, "corosync": corosync}


def main() -> None:
    """Measure what is asked for, a line each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", nargs="*", default=[*known_protocols(), *sorted(_joinable())])
    parser.add_argument("--others", nargs="*", default=list(OTHERS), choices=list(OTHERS))
    parser.add_argument("--members", nargs="+", type=int, default=[3, 5, 9])
    parser.add_argument("--payload", type=int, default=1024, help="bytes, at least 8")
    parser.add_argument("--seconds", type=float, default=5.0, help="measured in each phase")
    parser.add_argument("--times", type=int, default=0, help="compare the cores in so many turns")
    parser.add_argument("--no-key", action="store_true", help="do not encrypt")
    parser.add_argument("--multicast", action="store_true", help="also with IP multicast")
    parser.add_argument("--profile", default="", help="write cProfile's statistics to PROFILE.<member>")
    parser.add_argument("--member", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.member:
        member(json.loads(options.member))
        return
    print(f"{options.payload} bytes a message, ours {'plain' if options.no_key else 'encrypted'}")
    print("                             messages   us of CPU            MB     ms")
    print(f"{'':20}members  /s           all  a member     RSS        p50      p90      p99    p99.9")
    for members in options.members:
        if options.times:
            compare(members, options)
            continue
        for core in options.cores:
            for multicast in (False, True) if options.multicast and core not in _joinable() else (False,):
                measure_core(core, members, options, multicast=multicast)
        for other in options.others:
            OTHERS[other](members, options)


if __name__ == "__main__":
    main()
