"""Every protocol notices the end of a member, whatever that member was for, and all others name it.

Three processes are members of two groups of every protocol: in one all broadcast all the time, in the other
each has said one thing. One process is killed: the coordinator, or another one; who holds a token is chance.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.impl.registry import known_protocols

MEMBERS = 3
STALL_S = 3.0
GROUPS = [
    (f"{protocol}-{load}", protocol, load) for protocol in known_protocols() for load in ("loaded", "quiet")
]
SCRIPT = Path(__file__).with_name("members.py")


@contextlib.contextmanager
def members() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are members of all groups; whoever still runs at the end is killed."""
    with contextlib.ExitStack() as stack:
        bound = {
            name: [
                stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(MEMBERS)
            ]
            for name, _, _ in GROUPS
        }
        for sockets in bound.values():
            for each in sockets:
                each.bind(("127.0.0.1", 0))
        processes = []
        for me in range(MEMBERS):
            groups = [
                {
                    "name": name,
                    "protocol": protocol,
                    "loaded": load == "loaded",
                    "socket": bound[name][me].fileno(),
                    "ports": [each.getsockname()[1] for each in bound[name]],
                }
                for name, protocol, load in GROUPS
            ]
            told = json.dumps({"me": me, "stall_s": STALL_S, "groups": groups})
            process = subprocess.Popen(
                [sys.executable, str(SCRIPT), told],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=[sockets[me].fileno() for sockets in bound.values()],
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            for pipe in (process.stdin, process.stdout):
                stack.enter_context(pipe)  # type: ignore[arg-type]
            processes.append(process)
        yield processes


def line(process: subprocess.Popen[str]) -> object:
    """Next line of a process."""
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


@pytest.mark.deep
@pytest.mark.parametrize("killed", range(MEMBERS))
def test_the_end_of_a_member_ends_every_group_and_is_named(killed: int) -> None:
    with members() as processes:
        for process in processes:
            assert line(process) == {"started": True}
        for process in processes:
            print(file=process.stdin, flush=True)
        for process in processes:
            assert line(process) == {"ready": True}
        processes[killed].kill()
        killed_at = time.monotonic()
        for me, process in enumerate(processes):
            if me == killed:
                continue
            out, _ = process.communicate(timeout=60)
            ends = {end["name"]: end for end in map(json.loads, out.splitlines())}
            assert ends.keys() == {name for name, _, _ in GROUPS}
            for name, end in ends.items():
                named = re.match(r"process (\d) has not answered for ([\d.]+) s", end["why"])
                assert named, (name, me, end)
                assert int(named[1]) == killed, (name, me, end)
                assert end["waits"][0] == killed, (name, me, end)
                assert float(named[2]) >= 0.9 * STALL_S, (name, me, end)
                assert 0.9 * STALL_S <= end["at"] - killed_at <= 10 * STALL_S, (name, me, end)
