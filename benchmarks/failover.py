"""Gap in deliveries at the others when a member ends, stands still, is cut off, joins or leaves: Antiphon
beside JGroups and Corosync, in the same namespaces, and how many messages they order in a second.

    python benchmarks/failover.py --systems antiphon jgroups corosync --profile LAN --times 20
    python benchmarks/failover.py --systems antiphon --times 5 --only kill stop
    python benchmarks/failover.py --table failover.jsonl       # once more, from what was written down

Needs root, `iproute2` and `iptables`; JGroups needs `libjgroups-java` and a JDK, Corosync `corosync`.

Each host is a network namespace. Three members run, and each broadcasts 100 bytes, waits 5 ms, and
broadcasts again. Each writes down when it gets a delivery or a view (CLOCK_MONOTONIC, which all
namespaces share). A group lives through one fault after the other: after each one the script waits until
all members are in one view again and deliver.

| fault | what happens |
|---|---|
| kill | `kill -9` of all processes of a host, which is not the coordinator; of Corosync the daemon too |
| kill coordinator | the same, of the host of the first member of the view; in Corosync of the lowest node |
| kill holder | a member kills itself when it has the token |
| kill process | `kill -9` of a member of Corosync alone: its daemon stays |
| come back | a host whose member was killed or has left starts again: the gap at the others |
| stop, stop coordinator | SIGSTOP of all processes of a host for 2 s |
| cut | one host and the two others get no packets from each other, until these have a view without it |
| heal | that ends: the gap at the two, until all are in one view |
| leave | a member leaves |
| join | a fourth member joins, and gets 64 MiB of state |

The gap is the longest time without a delivery at a survivor, from just before the fault until the
survivors have the view that it leads to and have delivered for half a second since; the worst one of the
survivors counts. A fault after which the members do not come together again within a minute has failed,
and a new group is made.

JGroups runs its own `sequencer.xml`, its stack with total order, as it is in its library. It has
`STATE_TRANSFER`, and neither FLUSH nor encryption. Corosync has the sections `totem` and `quorum` of the
configuration that its package installs, so the token's time that it has by default, knet, and no
encryption; the list of nodes is added. Antiphon has `Group.join` with a key.

Every fault is one line in the file of `--results` as soon as it is over, so that Ctrl-C loses nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

import cluster_throughput

from antiphon.conformance.run.systems import SYSTEMS, NoHosts, System, SystemMissing
from antiphon.conformance.run.systems.hosts import Hosts
from antiphon.conformance.run.systems.members import Corosync, JGroups

MEMBERS: Final = 3
EVERY_MS: Final = 5
PAYLOAD: Final = 100
STOP_S: Final = 2.0
STATE_BYTES: Final = 2**26

CALM_S: Final = 0.5
"""Seconds of deliveries after which a fault is over."""

LIMIT_S: Final = 60.0
"""Seconds after which a fault has failed."""

FAULTS: Final = (
    "kill", "kill coordinator", "kill holder", "kill process", "come back", "stop", "stop coordinator", "cut",
    "heal", "leave", "join",
)  # fmt: skip
"""Faults as rows of the table; `come back` and `heal` follow from others."""

NOT: Final = {
    ("jgroups", "kill holder"): "no token: the coordinator orders",
    ("corosync", "kill holder"): "nobody outside sees who has the token",
    ("antiphon", "kill process"): "the same as kill",
    ("jgroups", "kill process"): "the same as kill",
}
"""Reasons why a system has no such fault."""


# The systems ------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """One start of a member."""

    name: str
    host: int
    hosts: int
    home: Path
    state: int
    """Number of bytes of the state that it gives."""
    takes: bool
    """True if it takes the state of another one."""


class Compared:
    """A system as it is compared here: its own defaults."""

    def __init__(self, name: str, profile: str) -> None:
        self.name, self.profile = name, profile
        self.built = Path()

    def build(self, directory: Path) -> None:
        """Make what the members need. Raises `SystemMissing`."""
        self.built = directory
        if self.name in SYSTEMS:
            SYSTEMS[self.name].build(directory)

    def command(self, given: Start) -> list[str]:
        """Return the command of one member, on its host."""
        if self.name == "antiphon":
            told = {"host": given.host, "name": given.name, "profile": self.profile}
            told |= {"state": given.state, "takes": given.takes, "members": MEMBERS}
            return [sys.executable, str(Path(__file__).with_name("joined_member.py")), json.dumps(told)]
        system: System = SYSTEMS[self.name]
        command = system.command(self.built, given.home, given.name, given.host, given.hosts)
        if isinstance(system, Corosync):
            return [*command, "/etc/corosync/corosync.conf"]
        assert isinstance(system, JGroups)
        program = command.index("JGroupsMember")
        own = ["java", f"-Djgroups.bind_addr=10.77.0.{given.host + 1}", "-Djava.net.preferIPv4Stack=true"]
        words = [given.name, "sequencer.xml", str(given.state), *(["take"] if given.takes else [])]
        return [*own, *command[program - 2 : program + 1], *words]

    def coordinator(self, group: Group) -> int:
        """Return the host of the member that a fault of the coordinator is about."""
        if self.name == "corosync":
            return min(group.members)
        view = next(iter(group.members.values())).view
        return next(host for host, one in group.members.items() if one.address == view[0])


# Members that run -------------------------------------------------------------------------------------------


class Failed(Exception):
    """The members did not do in a minute what a fault leads to."""


class Running:
    """A member that runs, and what it has printed."""

    def __init__(self, command: Sequence[str], errors: Path) -> None:
        self.began = time.monotonic()
        with errors.open("ab") as said:
            self.process = subprocess.Popen(  # noqa: S603 - a member that was built here
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, start_new_session=True
            )
        self.address = ""
        self.deliveries: list[float] = []
        self.views: list[tuple[float, tuple[str, ...]]] = []
        self.said: list[tuple[float, str]] = []
        """Time and word of all other lines."""
        self._reads = threading.Thread(target=self._read, daemon=True)
        self._reads.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if not line.endswith(b"\n"):
                return
            if not line[:1].isdigit() or b" " not in line:
                continue  # JGroups itself prints a few lines
            time_ns, word, rest = (*line.decode().rstrip("\n").split(" ", 2), "")[:3]
            at = int(time_ns) / 1e9
            if word == "got":
                self.deliveries.append(at)
            elif word == "view":
                self.views.append((at, tuple(rest.split()[1:])))
            elif word == "me":
                self.address = rest
            elif word != "sent":
                self.said.append((at, f"{word} {rest}".strip()))

    @property
    def view(self) -> tuple[str, ...]:
        """Members of the last view."""
        return self.views[-1][1] if self.views else ()

    def tell(self, command: str) -> None:
        """Write a command; a member that has ended does not get it."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()

    def since(self, at: float, word: str) -> float | None:
        """Return the time of the first such line from then on."""
        return next((when for when, said in [*self.said] if when >= at and said.startswith(word)), None)

    def end(self) -> None:
        """End the process and wait for the rest of its lines."""
        self.process.kill()
        self.process.wait()
        self._reads.join(10.0)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


class Group:
    """A group on hosts: one member on each of them that has one."""

    def __init__(self, system: Compared, hosts: Hosts, home: Path, state: int) -> None:
        self.system, self.hosts, self.home, self.state = system, hosts, home, state
        self.members: dict[int, Running] = {}
        self._lives = 0

    def begin(self) -> None:
        """Start three members and wait until they are a group that delivers. Raises `Failed`."""
        for host in range(MEMBERS):
            self.start(host)
        self.together()

    def start(self, host: int, *, takes: bool = False) -> Running:
        """Start the member of a host, and let it broadcast."""
        self._lives += 1
        name = f"p{host}.{self._lives}"
        given = Start(name, host, self.hosts.count, self.home, 0 if takes else self.state, takes)
        made = Running(self.hosts.inside(host, self.system.command(given)), self.home / f"{name}.errors.txt")
        made.tell(f"talk {EVERY_MS} {name.ljust(PAYLOAD, '.')}")
        self.members[host] = made
        return made

    def kill(self, host: int) -> float:
        """End all processes of a host at once; return the time just before."""
        processes = self.hosts.processes(host)
        began = time.monotonic()
        for process in sorted(processes, reverse=True):  # a daemon first: it would say that its member ended
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        if host in self.members:
            self.members.pop(host).end()
        return began

    def clear(self, host: int) -> None:
        """End what still runs on a host whose member is gone, such as a daemon, as its operator would."""
        self.signal(host, signal.SIGTERM)
        end = time.monotonic() + 10.0
        while self.hosts.processes(host) and time.monotonic() < end:
            time.sleep(0.05)
        self.kill(host)
        self.calm(self.members.values())

    def signal(self, host: int, number: signal.Signals) -> float:
        """Send a signal to all processes of a host; return the time just before."""
        processes = self.hosts.processes(host)
        began = time.monotonic()
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)
        return began

    def pairs(self, host: int) -> list[tuple[int, int]]:
        """Links between this host and the others."""
        return [pair for pair in permutations(range(self.hosts.count), 2) if host in pair]

    def others(self, host: int) -> dict[int, Running]:
        """All members but that of this host."""
        return {place: one for place, one in self.members.items() if place != host}

    def until(self, is_so: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> None:
        """Wait until something is so. Raises `Failed`."""
        end = time.monotonic() + limit_s
        while not is_so():
            if time.monotonic() > end:
                raise Failed(f"{what}: not in {limit_s:.0f} s")
            time.sleep(0.02)

    def together(self) -> None:
        """Wait until the members are in one view of just these, and deliver. Raises `Failed`."""

        def is_so() -> bool:
            addresses = {one.address for one in self.members.values()}
            views = {one.view for one in self.members.values()}
            same = len({frozenset(view) for view in views}) == 1
            return "" not in addresses and same and set(next(iter(views))) == addresses

        self.until(is_so, "all members in one view")
        self.calm(self.members.values())

    def calm(self, members: Collection[Running]) -> None:
        """Wait until these have delivered for a while, and without longer pauses in it. Raises `Failed`."""

        def is_so() -> bool:
            now = time.monotonic()
            times = [[*one.deliveries[-1000:]] for one in members]
            return all(
                some and now - some[-1] < CALM_S / 2 and longest(some, now - CALM_S, now).length < CALM_S / 2
                for some in times
            )

        began = time.monotonic()
        time.sleep(CALM_S)
        self.until(is_so, "all members deliver", LIMIT_S - (time.monotonic() - began))

    def end(self) -> None:
        """End all members."""
        for host in [*self.members]:
            self.kill(host)


class Gap(NamedTuple):
    """A time without a delivery."""

    length: float
    began: float


def longest(times: Sequence[float], began: float, ended: float) -> Gap:
    """Return the longest time without a delivery between two times."""
    marks = [began, *(at for at in times if began < at < ended), ended]
    return max(Gap(after - before, before) for before, after in pairwise(marks))


def whole(member: Running, began: float, members: int) -> float:
    """Return when a member first had a view of so many members, from a time on."""
    return next(at for at, view in member.views if at >= began and len(view) == members)


# Faults -----------------------------------------------------------------------------------------------------


class Trial:
    """One fault of one group, and what was measured of it."""

    def __init__(self, group: Group, note: Callable[[str, dict[str, Any]], None]) -> None:
        self.group, self.note = group, note

    def gaps(self, survivors: Collection[Running], began: float) -> dict[str, Any]:
        """Return the gap of each survivor from then until now, in milliseconds."""
        ended = time.monotonic()
        each = sorted(longest([*one.deliveries], began, ended) for one in survivors)
        return {"gap_ms": 1000.0 * each[-1].length, "at_ms": 1000.0 * (each[-1].began - began),
                "gaps_ms": [round(1000.0 * gap.length, 1) for gap in each]}  # fmt: skip

    def without(self, gone: str, survivors: Collection[Running], began: float) -> dict[str, Any]:
        """Wait until the survivors have a view without this member; return when the last one had it."""
        group = self.group
        group.until(lambda: all(gone not in one.view for one in survivors), "a view without the member")
        seen = [next(at for at, view in one.views if at >= began and gone not in view) for one in survivors]
        group.calm(survivors)
        return {"view_ms": 1000.0 * (max(seen) - began)}

    def kill(self, fault: str, host: int) -> None:
        """Kill the processes of a host; then let it come back."""
        group = self.group
        gone, survivors = group.members[host], group.others(host).values()
        if fault == "kill holder":
            gone.tell("die")
            group.until(lambda: gone.process.poll() is not None, "it has the token")
            time.sleep(0.1)
            began = gone.since(0.0, "dies")
            assert began is not None, "it has said so"
            group.kill(host)
        elif fault == "kill process":
            began = time.monotonic()
            gone.process.kill()
        else:
            began = group.kill(host)
        self._measure(fault, lambda: self.without(gone.address, survivors, began), survivors, began)
        if fault == "kill process":
            group.clear(host)
        self.come_back(host, survivors)

    def come_back(self, host: int, survivors: Collection[Running]) -> None:
        """Start a member again."""
        began = time.monotonic()
        new = self.group.start(host)

        def back() -> dict[str, Any]:
            self.group.together()
            return {"back_ms": 1000.0 * (whole(new, began, MEMBERS) - began)}

        self._measure("come back", back, survivors, began)

    def stop(self, fault: str, host: int) -> None:
        """Stop the processes of a host for two seconds."""
        group = self.group
        stopped, survivors = group.members[host], group.others(host).values()
        began = group.signal(host, signal.SIGSTOP)
        time.sleep(max(0.0, began + STOP_S - time.monotonic()))
        address = stopped.address
        group.signal(host, signal.SIGCONT)

        def again() -> dict[str, Any]:
            time.sleep(1.0)  # what comes of it may come late
            group.together()
            seen = [view for one in survivors for at, view in one.views if at >= began]
            return {"lost": any(address not in view for view in seen)}

        self._measure(fault, again, survivors, began)

    def cut(self, host: int) -> None:
        """Cut a host off, until the others have a view without it; then heal the network."""
        group = self.group
        cut, survivors = group.members[host], group.others(host).values()
        address, pairs = cut.address, group.pairs(host)
        began = time.monotonic()
        group.hosts.cut(pairs)
        healed = 0.0

        def apart() -> dict[str, Any]:
            found = self.without(address, survivors, began)
            with suppress(Failed):  # it may stay blocked in its last view
                own = {one.address for one in survivors}
                group.until(
                    lambda: cut.since(began, "blocked") is not None or not own & {*cut.view},
                    "it is alone",
                    20.0,
                )
            blocked = cut.since(began, "blocked")
            alone = next((at for at, view in cut.views if at >= began and len(view) == 1), None)
            for name, at in (("blocked_ms", blocked), ("alone_ms", alone)):
                if at is not None:
                    found[name] = 1000.0 * (at - began)
            return found

        def together() -> dict[str, Any]:
            group.together()
            last = max(whole(one, healed, MEMBERS) for one in group.members.values())
            return {"back_ms": 1000.0 * (last - healed)}

        try:
            self._measure("cut", apart, survivors, began)
        finally:
            healed = time.monotonic()
            group.hosts.heal(pairs)
        self._measure("heal", together, survivors, healed)

    def leave(self, host: int) -> None:
        """Let a member leave; then let it come back."""
        group = self.group
        leaves, survivors = group.members[host], group.others(host).values()
        began = time.monotonic()
        leaves.tell("leave")
        self._measure("leave", lambda: self.without(leaves.address, survivors, began), survivors, began)
        group.clear(host)
        self.come_back(host, survivors)

    def join(self) -> None:
        """Let a fourth member join, and get the state; then it leaves."""
        group, host = self.group, MEMBERS
        old = [*group.members.values()]
        began = time.monotonic()
        new = group.start(host, takes=True)
        has_state = group.system.name != "corosync"

        def came() -> dict[str, Any]:
            group.until(
                lambda: bool(new.views) and (not has_state or new.since(began, "state") is not None),
                "the state",
            )
            group.together()
            view = whole(new, began, MEMBERS + 1)
            if not has_state:
                return {"back_ms": 1000.0 * (view - began)}
            sizes = [int(said.split()[1]) for _, said in new.said if said.startswith("state ")]
            if sizes != [STATE_BYTES]:
                raise Failed(f"a state of {sizes} bytes has come")
            last = max(view, new.since(began, "state") or 0.0)
            seen = min(whole(one, began, MEMBERS + 1) for one in old)
            return {"back_ms": 1000.0 * (last - began), "state_ms": 1000.0 * (last - seen)}

        self._measure("join", came, old, began)
        new.tell("leave")
        group.until(lambda: all(new.address not in one.view for one in old), "a view without who left")
        group.clear(host)
        group.together()

    def _measure(
        self, fault: str, wait: Callable[[], dict[str, Any]], survivors: Collection[Running], began: float
    ) -> None:
        """Wait for the end of a fault, and note it; if it does not end, note that too, and fail."""
        try:
            found = wait()
        except Failed as failed:
            self.note(fault, {**self.gaps(survivors, began), "failed": str(failed)})
            raise
        self.note(fault, {**self.gaps(survivors, began), **found})


GROUPS: Final = (
    ("kill", "kill coordinator", "kill holder", "kill process", "stop", "stop coordinator", "cut", "leave"),
    ("join",),
)
"""Faults of one group: the first has no state, the second one has, and a host more."""


def disturb(trial: Trial, fault: str, round_: int) -> None:
    """Inject one fault. Raises `Failed`."""
    group = trial.group
    coordinator = group.system.coordinator(group)
    rest = [host for host in sorted(group.members) if host != coordinator]
    host = coordinator if fault.endswith("coordinator") else rest[round_ % len(rest)]
    if fault == "kill holder":
        host = round_ % MEMBERS
    if fault.startswith("kill"):
        trial.kill(fault, host)
    elif fault.startswith("stop"):
        trial.stop(fault, host)
    elif fault == "join":
        trial.join()
    else:
        {"cut": trial.cut, "leave": trial.leave}[fault](host)


def measure(
    system: Compared, times: int, only: Collection[str], home: Path, note: Callable[..., None]
) -> None:
    """Measure each fault so many times. A group in which one fails is replaced by another one."""
    for faults, more, state in ((GROUPS[0], 0, 0), (GROUPS[1], 1, STATE_BYTES)):
        wanted = [fault for fault in faults if fault in only and (system.name, fault) not in NOT]
        if system.name == "corosync":
            state = 0
        left = [(fault, round_) for round_ in range(times) for fault in wanted]
        untogether = 0
        while left and untogether < 3:
            with Hosts(MEMBERS + more) as hosts:
                group = Group(system, hosts, home, state)
                try:
                    untogether += 1
                    group.begin()
                    untogether = 0
                    while left:
                        fault, round_ = left.pop(0)
                        trial = Trial(group, lambda name, found, r=round_: note(system, name, r, found))  # type: ignore[misc]
                        disturb(trial, fault, round_)
                except Failed as failed:
                    print(f"  {system.name}: {failed}; another group", flush=True)
                finally:
                    group.end()


# Messages a second ------------------------------------------------------------------------------------------


def rates(systems: Collection[str], seconds: float, note: Callable[[str, float], None]) -> None:
    """Measure how many messages of 1,024 bytes three members of each system order in a second."""
    options = argparse.Namespace(payload=1024, seconds=seconds, no_key=False, profile="")
    for core in ("irbp", "rbp-resilient") if "antiphon" in systems else ():
        note(f"{core}, encrypted", cluster_throughput.measure_core(core, MEMBERS, options))
    for name in systems:
        if name in cluster_throughput.OTHERS:
            for how, rate in cluster_throughput.OTHERS[name](MEMBERS, options).items():
                note(how, rate)


# The table --------------------------------------------------------------------------------------------------


def table(records: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the tables of what was measured."""
    systems = [
        name for name in ("antiphon", "jgroups", "corosync") if any(r.get("system") == name for r in records)
    ]
    faults = [one for one in records if "fault" in one]
    if faults:
        yield "| fault | " + " | ".join(f"{name}: gap ms, median / worst of n" for name in systems) + " |"
        yield "|---|" + "---|" * len(systems)
    for fault in (one for one in FAULTS if any(one == had["fault"] for had in faults)):
        cells = []
        for name in systems:
            some = [one for one in faults if (one["system"], one["fault"]) == (name, fault)]
            cells.append(cell(some) if some else NOT.get((name, fault), "not run"))
        yield f"| {fault} | " + " | ".join(cells) + " |"
    for one in records:
        if "rate" in one:
            yield f"{one['rate']}: {one['messages_s']:,.0f} messages a second"


MORE: Final = {
    "view_ms": "view after", "blocked_ms": "blocked after", "alone_ms": "alone in a view after",
    "back_ms": "back after", "state_ms": "of it from the view on",
}  # fmt: skip
"""Names of the measurements beside the gap."""


def cell(some: Sequence[dict[str, Any]]) -> str:
    """Return the summary of one fault of one system."""
    gaps = [one["gap_ms"] for one in some]
    words = [f"{statistics.median(gaps):.0f} / {max(gaps):.0f} of {len(gaps)}"]
    for key, told in MORE.items():
        found = [one[key] for one in some if key in one]
        if found:
            few = "" if len(found) == len(some) else f" ({len(found)} times)"
            words.append(f"{told} {statistics.median(found):.0f} / {max(found):.0f}{few}")
    lost = sum(bool(one.get("lost")) for one in some)
    if any("lost" in one for one in some):
        words.append(f"a member lost {lost} times" if lost else "nobody lost")
    failed = [one["failed"] for one in some if "failed" in one]
    if failed:
        words.append(f"failed {len(failed)} times ({failed[0]})")
    return "; ".join(words)


# The command ------------------------------------------------------------------------------------------------


class Notes:
    """File of what was measured: one record a line, written at once."""

    def __init__(self, to: TextIO) -> None:
        self.records: list[dict[str, Any]] = []
        self._to = to

    def add(self, record: dict[str, Any]) -> None:
        """Write a record, and print it."""
        self.records.append(record)
        self._to.write(json.dumps(record) + "\n")
        self._to.flush()

    def fault(self, system: Compared, fault: str, round_: int, found: dict[str, Any]) -> None:
        """Note one fault."""
        rounded = {
            key: round(value, 1) if isinstance(value, float) else value for key, value in found.items()
        }
        self.add(
            {"system": system.name, "profile": system.profile, "fault": fault, "round": round_, **rounded}
        )
        shown = ", ".join(f"{key} {value}" for key, value in rounded.items() if key != "gaps_ms")
        print(f"  {system.name} {round_ + 1}: {fault}: {shown}", flush=True)

    def rate(self, name: str, messages_s: float) -> None:
        """Note how many messages a group orders in a second."""
        self.add({"rate": name, "messages_s": round(messages_s)})


def main() -> None:
    """Measure, or print the table of what was measured."""
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    systems = ["antiphon", "jgroups", "corosync"]
    parser.add_argument("--systems", nargs="+", choices=systems, default=systems)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--profile", choices=["LOCAL", "LAN"], default="LAN", help="Antiphon's timeouts")
    kinds = [*GROUPS[0], *GROUPS[1], "rate"]
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each rate")
    parser.add_argument("--results", default="failover.jsonl", help="a file to which records are added")
    parser.add_argument("--table", help="only print the table of this file")
    given = parser.parse_args()
    if given.table is not None:
        lines = Path(given.table).read_text(encoding="utf-8").splitlines()
        print("\n".join(table([json.loads(line) for line in lines])))
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        Path(given.results).open("a", encoding="utf-8") as to,
        tempfile.TemporaryDirectory(prefix="antiphon-") as made,
    ):
        notes = Notes(to)
        load = f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
        notes.add({"began": time.strftime("%Y-%m-%d %H:%M:%S"), "machine": load, "words": sys.argv[1:]})
        print(f"{load}; records in {given.results}")
        try:
            for name in given.systems if given.only != ["rate"] else ():
                system = Compared(name, given.profile)
                began = time.monotonic()
                (Path(made) / name).mkdir()
                try:
                    system.build(Path(made) / name)
                except SystemMissing as missing:
                    print(f"{name}: {missing}")
                    continue
                measure(system, given.times, given.only, Path(made) / name, notes.fault)
                print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
            if "rate" in given.only:
                rates(given.systems, given.seconds, notes.rate)
        except KeyboardInterrupt:
            print("interrupted; this is what there is:")
        except NoHosts as error:
            print(error)
        print("\n".join(table(notes.records)))


if __name__ == "__main__":
    main()
