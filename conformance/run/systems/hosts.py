"""Hosts on one machine: network namespaces that a bridge joins; links can be cut and lose packets.

Every host has the address 10.77.0.N, from 1. The bridge and all hosts are namespaces of their own, so that no
packet leaves the machine and no setting of the machine changes. Needs root and the commands `ip` and
`iptables`. Whatever happens, `close` ends every process of the hosts and removes the namespaces; those of a
process that was killed are removed by the next one that makes hosts.

This module knows no system and no protocol.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from antiphon.conformance.run.cluster.relay import Pair

__all__ = ["Hosts", "NoHosts"]

_ENDS_S = 10.0

_NAMED = re.compile(r"antiphon-(\d+)-(?:\d+|hub)\b")
"""Name of a namespace, with the number of the process that made it."""


class NoHosts(OSError):
    """Network namespaces cannot be made here; the message says why, and what helps."""


class Hosts:
    """A number of hosts, as a context: made on entry, removed on exit."""

    def __init__(self, count: int, loss: float = 0.0) -> None:
        """Plan the hosts.

        Args:
            count: how many hosts there are, at most 200.
            loss: the probability that a host loses a packet that it receives from another host.
        """
        self.count, self.loss = count, loss
        self._prefix = f"antiphon-{os.getpid()}"
        self._made: list[str] = []

    def __enter__(self) -> Self:
        """Make the hosts.

        Raises:
            NoHosts: it is not possible here.
        """
        missing = [command for command in ("ip", "iptables") if shutil.which(command) is None]
        if missing:
            raise NoHosts(f"{' and '.join(missing)} not found; on Debian: apt-get install iproute2 iptables")
        if os.geteuid() != 0:
            raise NoHosts("network namespaces need root: run the command as root, or in a container as root")
        _remove_left()
        try:
            self._make()
        except NoHosts:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the hosts."""
        self.close()

    def inside(self, host: int, command: Sequence[str]) -> list[str]:
        """Return the command that becomes the process of `command` on a host."""
        return ["ip", "netns", "exec", self._name(host), *command]

    def processes(self, host: int) -> list[int]:
        """Return the numbers of the processes that run on a host."""
        return _processes(self._name(host))

    def signal(self, host: int, number: signal.Signals) -> None:
        """Send a signal to every process of a host."""
        for process in self.processes(host):
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def cut(self, pairs: Collection[Pair]) -> None:
        """Lose all packets from the first to the second host of each pair, until `heal` of that pair."""
        self._rule("-I", pairs)

    def heal(self, pairs: Collection[Pair]) -> None:
        """Undo one `cut` of each pair."""
        self._rule("-D", pairs)

    def lost(self) -> int:
        """Return the number of packets that the hosts have lost by chance."""
        total = 0
        for host in range(self.count):
            told = self._run(*self.inside(host, ["iptables", "-L", "INPUT", "-v", "-n", "-x"]))
            total += sum(int(line.split()[0]) for line in told.splitlines() if "statistic" in line)
        return total

    def close(self) -> None:
        """End the processes of all hosts and remove the namespaces. A second call does nothing."""
        for name in self._made:
            _remove(name)
        self._made.clear()

    # Namespaces ---------------------------------------------------------------------------------------------

    def _name(self, host: int) -> str:
        return f"{self._prefix}-{host}"

    def _make(self) -> None:
        hub = f"{self._prefix}-hub"
        self._add(hub)
        self._run("ip", "-n", hub, "link", "add", "hub", "type", "bridge", "mcast_snooping", "0")
        self._run("ip", "-n", hub, "link", "set", "hub", "up")
        for host in range(self.count):
            name = self._name(host)
            self._add(name)
            port = f"port{host}"
            pipe = ("type", "veth", "peer", "name", "eth0", "netns", name)
            self._run("ip", "-n", hub, "link", "add", port, *pipe)
            self._run("ip", "-n", hub, "link", "set", port, "master", "hub", "up")
            self._run("ip", "-n", name, "address", "add", f"10.77.0.{host + 1}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                self._run("ip", "-n", name, "link", "set", device, "up")
            self._run("ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", "eth0")
            if self.loss:
                self._run(
                    *self.inside(host, ["iptables", "-A", "INPUT", "-i", "eth0", "-m", "statistic"]),
                    "--mode", "random", "--probability", f"{self.loss:.6f}", "-j", "DROP",
                )  # fmt: skip

    def _add(self, name: str) -> None:
        self._run("ip", "netns", "add", name)
        self._made.append(name)

    def _rule(self, change: str, pairs: Collection[Pair]) -> None:
        for sender, receiver in pairs:
            where = ["iptables", change, "INPUT", "-s", f"10.77.0.{sender + 1}", "-j", "DROP"]
            self._run(*self.inside(receiver, where))

    def _run(self, *command: str) -> str:
        try:
            told = _done(command)
        except subprocess.TimeoutExpired as error:
            raise NoHosts(f"{' '.join(command)}: no answer in {_ENDS_S:.0f} s") from error
        if told.returncode:
            raise NoHosts(f"{' '.join(command)}: {told.stderr.strip()}")
        return told.stdout


def _done(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a command of this machine to its end."""
    return subprocess.run(  # noqa: S603 - one of the commands of this module
        command, capture_output=True, text=True, check=False, timeout=_ENDS_S
    )


def _remove(name: str) -> None:
    """End the processes of a namespace, and remove it."""
    for _ in range(50):
        running = _processes(name)
        if not running:
            break
        for process in running:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.02)
    _done(["ip", "netns", "del", name])


def _remove_left() -> None:
    """Remove the namespaces of commands that were killed: their owners, by number, run no more."""
    for line in _done(["ip", "netns", "list"]).stdout.splitlines():
        named = _NAMED.match(line)
        if named is not None and not Path(f"/proc/{named[1]}").exists():
            _remove(named[0])


def _processes(name: str) -> list[int]:
    """Return the numbers of the processes in a namespace."""
    return [int(word) for word in _done(["ip", "netns", "pids", name]).stdout.split()]
