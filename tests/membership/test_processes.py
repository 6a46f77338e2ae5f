"""Members as processes on loopback: killed, stopped, started again, leaving; the others go on."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.judge.trace.members import numbered
from antiphon.impl.transport.simulated_members import ORDERED

SCRIPT = Path(__file__).with_name("one.py")
PATIENCE_S = 30.0


class Process:
    """One member, and the lines that it has printed."""

    def __init__(
        self, ports: list[int], me: int, expect: int | None, protocol: str, logs: Path, ballast: int
    ) -> None:
        told = json.dumps(
            {
                "ports": ports,
                "me": me,
                "expect": expect,
                "protocol": protocol,
                "logs": str(logs),
                "ballast": ballast,
            }
        )
        self.popen = subprocess.Popen(
            [sys.executable, str(SCRIPT), told], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.lines: list[dict[str, Any]] = []
        self._queue: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self._queue.put(json.loads(line))
        self._queue.put(None)

    def until(self, **wanted: object) -> dict[str, Any]:
        """Wait for a line that says this."""
        end = time.monotonic() + PATIENCE_S
        seen = 0
        while True:
            for line in self.lines[seen:]:
                if all(line.get(key) == value for key, value in wanted.items()):
                    return line
            seen = len(self.lines)
            line = self._queue.get(timeout=max(0.0, end - time.monotonic()))
            assert line is not None, f"it ended before it said {wanted}"
            self.lines.append(line)

    def sends(self, count: int) -> None:
        """Let the process broadcast."""
        assert self.popen.stdin is not None
        self.popen.stdin.write(f"{count}\n")
        self.popen.stdin.flush()

    def leaves(self) -> dict[str, Any]:
        """Let it leave; what it says at the end."""
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        end = self.until(kind="end")
        assert self.popen.wait(PATIENCE_S) == 0
        return end

    def ends(self) -> None:
        """End it, if it still runs, and read all that it has printed."""
        self.popen.kill()
        self._reader.join()
        with self.popen:
            pass

    @property
    def deliveries(self) -> list[dict[str, Any]]:
        """Deliveries of the process, as far as its lines were read."""
        return [line for line in self.lines if line["kind"] == "delivery"]


class Members:
    """Processes with ports of their own."""

    def __init__(self, count: int, protocol: str, logs: Path) -> None:
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        for sock in sockets:
            sock.bind(("127.0.0.1", 0))
        self.ports = [sock.getsockname()[1] for sock in sockets]
        for sock in sockets:
            sock.close()
        self.protocol, self.logs = protocol, logs
        self.ballast = 0
        """Number of bytes that make the state of the founders large."""
        self.started: list[Process] = []
        self.expected: dict[int, int | None] = {}

    def start(self, me: int, expect: int | None = None) -> Process:
        """Start a process, with the same settings each time; the first one founds the group with so many."""
        expected = self.expected.setdefault(me, expect)
        process = Process(self.ports, me, expected, self.protocol, self.logs, self.ballast)
        self.started.append(process)
        return process


@pytest.fixture(params=ORDERED)
def members(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Members]:
    """Three ports, and each protocol that takes states; whoever still runs at the end is killed."""
    some = Members(3, request.param, tmp_path / "logs")
    yield some
    for process in some.started:
        process.ends()


def founded(members: Members) -> list[Process]:
    """Three members in their first view."""
    three = [members.start(me, 3) for me in range(3)]
    for process in three:
        assert process.until(kind="view", number=1)["members"][0] == "p0"
    return three


def agree(processes: list[Process]) -> None:
    """Fail unless the processes have delivered the same messages at the same places, without a gap."""
    orders = [{line["number"]: line["payload"] for line in process.deliveries} for process in processes]
    for order in orders:
        assert sorted(order) == list(range(min(order), max(order) + 1))
        assert len(set(order.values())) == len(order)
        for other in orders:
            assert all(other[number] == order[number] for number in set(order) & set(other))


def holds(members: Members, tmp_path: Path) -> None:
    """End all that still run, and fail unless what all have written down holds."""
    for process in members.started:
        if process.popen.poll() is None:
            process.leaves()
    run = tmp_path / "run"
    run.mkdir()
    numbered(members.logs, run)
    assert not load_run(run).problems
    outcomes = judge_run(load_run(run), ("view-synchrony", "total-order")).outcomes
    assert {outcome.value for outcome in outcomes.values()} == {"holds"}, outcomes


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("members", "killed"), [("irbp", 0), ("irbp", 2), ("sequencer", 0), ("total", 2)], indirect=["members"]
)
def test_a_member_is_killed_and_the_others_go_on_and_it_comes_back_with_the_state(
    members: Members, killed: int, tmp_path: Path
) -> None:
    three = founded(members)
    rest = [process for me, process in enumerate(three) if me != killed]
    for process in three:
        process.sends(150)
    three[killed].until(kind="delivery", payload=f"{killed}:30")
    three[killed].popen.kill()
    for process in rest:
        process.until(kind="view", number=2)
    for process in rest:
        process.until(kind="sent", count=150)
    again = members.start(killed)
    view = again.until(kind="view")
    assert sorted(view["members"]) == ["p0", "p1", "p2"]
    again.until(kind="loaded")
    again.sends(1)
    for process in [*rest, again]:
        process.until(kind="delivery", source=f"p{killed}", payload=f"{killed}:1")
    agree(rest)
    ends = [process.leaves() for process in [again, rest[0]]]
    assert ends[0]["payloads"] == ends[1]["payloads"], "state and messages together are the whole history"
    assert ends[0]["payloads"].count("1:150") == 1
    holds(members, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("members", ["irbp"], indirect=True)
def test_a_donor_is_killed_in_the_middle_of_a_state_and_another_one_goes_on(
    members: Members, tmp_path: Path
) -> None:
    members.ballast = 2**23
    two = [members.start(me, 2) for me in range(2)]
    for process in two:
        process.until(kind="view", number=1)
    two[0].sends(50)
    new = members.start(2)
    donor = int(new.until(kind="part")["donor"][1:])
    two[donor].popen.kill()
    two[1 - donor].sends(50)
    loaded = new.until(kind="loaded")
    assert loaded["ballast"] == members.ballast
    told = [line["text"] for line in new.lines if line["kind"] == "log"]
    assert len(told) == 1, told
    behind = re.fullmatch(r"group g: p(\d) goes on with the state behind (\d+) bytes", told[0])
    assert behind is not None, told
    assert int(behind[1]) == 1 - donor
    assert int(behind[2]) >= members.ballast // 16
    new.sends(1)
    for process in (two[1 - donor], new):
        process.until(kind="delivery", payload="2:1")
    ends = [process.leaves() for process in (new, two[1 - donor])]
    assert ends[0]["payloads"] == ends[1]["payloads"]
    holds(members, tmp_path)


@pytest.mark.sampled(6)
def test_a_member_is_stopped_for_a_second_and_stays_one(members: Members, tmp_path: Path) -> None:
    three = founded(members)
    for process in three:
        process.sends(200)
    three[0].until(kind="delivery", payload="0:30")
    os.kill(three[1].popen.pid, signal.SIGSTOP)
    time.sleep(0.7)
    os.kill(three[1].popen.pid, signal.SIGCONT)
    for process in three:
        for me in range(3):
            process.until(kind="delivery", payload=f"{me}:200")
    agree(three)
    for process in three:
        assert [line["number"] for line in process.lines if line["kind"] == "view"] == [1]
    holds(members, tmp_path)


@pytest.mark.sampled(6)
def test_members_leave_and_the_last_one_goes_on_alone(members: Members) -> None:
    three = founded(members)
    three[0].sends(1)
    for process in three:
        process.until(kind="delivery", payload="0:1")
    three[2].leaves()
    three[0].until(kind="view", number=2)
    three[0].leaves()
    assert three[1].until(kind="view", number=3)["members"] == ["p1"]
    three[1].sends(1)
    three[1].until(kind="delivery", payload="1:1")
    assert three[1].leaves()["payloads"] == ["0:1", "1:1"]
