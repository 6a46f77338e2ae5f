"""The systems whose groups can be run, each with the member program that takes part in a group of it.

| system | member | needs |
|---|---|---|
| Corosync | `cpg_member.py`, and a daemon on each host | corosync, and its library libcpg |
| JGroups | `JGroupsMember.java` | a JDK, jgroups.jar of version 2 |

The member in Java is compiled on this machine, since only its users have the library. Both speak the same
words on their standard streams: see `JGroupsMember.java`.

This module starts no process of a group.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from antiphon.conformance.run.systems import cpg_member

__all__ = ["SYSTEMS", "System", "SystemMissing"]

_HERE: Final = Path(__file__).parent
_COMPILES_S: Final = 120.0


class SystemMissing(RuntimeError):
    """The system or what its member needs is not on this machine; the message says what to install."""


class System(ABC):
    """A system: how its member is built and started, and what it promises.

    Attributes:
        name: the name on the command line.
        promise: words of `antiphon verify --promise` for what the system promises.
        excludes_s: seconds of silence after which the members exclude a member.
    """

    name: str
    promise: tuple[str, ...] = ("partitionable-synchrony", "weak-total-order", "fifo-order")
    excludes_s: float

    @abstractmethod
    def build(self, directory: str | Path) -> None:
        """Make the member ready to be started; if it has to be compiled, into a directory.

        Raises:
            SystemMissing: something is not installed, or the compiler refuses the member.
        """

    @abstractmethod
    def command(self, built: str | Path, home: str | Path, name: str, host: int, hosts: int) -> list[str]:
        """Return the command of a member on a host.

        Args:
            built: where it was built.
            home: where the messages of a daemon go.
            name: a name that no other run of a member has.
            host: the number of the host, from 0.
            hosts: the number of all hosts.
        """


class Corosync(System):
    """A closed process group (CPG) of Corosync: one daemon and one member on each host."""

    name = "corosync"
    excludes_s = 2.0

    def build(self, directory: str | Path) -> None:
        del directory  # nothing is compiled
        _needs("corosync", "corosync")
        try:
            cpg_member.library()
        except (OSError, AttributeError) as error:
            raise SystemMissing(f"{error}; on Debian: apt-get install libcpg4") from error

    def command(self, built: str | Path, home: str | Path, name: str, host: int, hosts: int) -> list[str]:
        del built
        messages = str(Path(home) / f"{name}.daemon.txt")
        member = [sys.executable, cpg_member.__file__]
        return ["sh", "-e", str(_HERE / "corosync.sh"), *member, messages, str(host + 1), str(hosts)]


class JGroups(System):
    """A group of JGroups 2 with SEQUENCER (total order) and FLUSH (virtual synchrony)."""

    name = "jgroups"
    excludes_s = 2.0

    def build(self, directory: str | Path) -> None:
        _needs("javac", "default-jdk-headless")
        _compile(
            ["javac", "-d", str(directory), "-cp", str(_jar()), str(_HERE / "JGroupsMember.java")],
            "libjgroups-java",
        )

    def command(
        self, built: str | Path, home: str | Path, name: str, host: int, hosts: int  # noqa: ARG002 - no daemon
    ) -> list[str]:
        stack = (
            f"UDP(bind_addr=10.77.0.{host + 1};mcast_addr=232.77.0.1;mcast_port=45588;ip_ttl=1):"
            f"PING(timeout=1000;num_initial_members={hosts}):MERGE2(min_interval=1000;max_interval=2000):"
            "FD(timeout=500;max_tries=2):VERIFY_SUSPECT(timeout=500):pbcast.NAKACK:UNICAST:pbcast.STABLE:"
            "pbcast.GMS(join_timeout=2000;print_local_addr=false):SEQUENCER:FRAG2:pbcast.FLUSH(timeout=2000)"
        )
        return [
            "java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
            "-Djava.net.preferIPv4Stack=true", "-cp", f"{_jar()}:{built}", "JGroupsMember", name, stack,
        ]  # fmt: skip


SYSTEMS: Final[dict[str, System]] = {system.name: system for system in (Corosync(), JGroups())}
"""The systems by their names."""


def _jar() -> Path:
    """Return the library of JGroups: what the variable JGROUPS_JAR names, else that of the distribution."""
    named = os.environ.get("JGROUPS_JAR", "/usr/share/java/jgroups.jar")
    if not Path(named).is_file():
        raise SystemMissing(
            f"{named} is no file; name jgroups.jar by JGROUPS_JAR, or on Debian: "
            "apt-get install libjgroups-java"
        )
    return Path(named)


def _needs(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise SystemMissing(f"{command} not found; on Debian: apt-get install {package}")


def _compile(command: Sequence[str], package: str) -> None:
    told = subprocess.run(  # noqa: S603 - a compiler, with a source of this package
        command, capture_output=True, text=True, check=False, timeout=_COMPILES_S
    )
    if told.returncode:
        raise SystemMissing(
            f"{command[0]} refuses the member; is {package} installed, in a version that fits?\n"
            f"{told.stderr.strip()}"
        )
