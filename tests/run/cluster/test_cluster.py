"""Real processes, real sockets, counted faults; and nothing is left behind however a run ends."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from rich.console import Console
from tests.schemas import complaints

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import Broadcast, Deliver, Receive, Send, digest, load_run, log_name
from antiphon.conformance.run.cluster import ClusterResult, Counts, processes, run_cluster
from antiphon.conformance.run.cluster.application import payloads
from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.relay import LOOPBACK, Relay
from antiphon.conformance.run.cluster.result import PROMISE


def nodes_of(parent: int) -> list[int]:
    """The process ids of the nodes that a process has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [child.pid for child in psutil.Process(parent).children() if is_node(child)]
    return []


def is_node(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        return any("cluster.node" in argument for argument in process.cmdline())
    return False


def alive(pid: int) -> bool:
    """Return True if a process runs; a zombie does not."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ClusterResult:
    return run_cluster(
        messages=60,
        loss=0.1,
        duplication=0.2,
        reordering=0.3,
        seed=7,
        directory=tmp_path_factory.mktemp("runs"),
    )


def test_a_small_run_under_loss_holds(small: ClusterResult) -> None:
    assert small.reasons == ()
    assert small.outcome == "holds"
    assert small.delivered == (60, 60, 60)
    assert small.counts.dropped > 0
    assert small.counts.duplicated > 0
    assert small.counts.reordered > 0


def test_every_process_broadcasts_its_share_of_distinct_messages(small: ClusterResult) -> None:
    run = load_run(small.directory)
    broadcasts = [[event for event in events if isinstance(event, Broadcast)] for events in run.events]
    assert [len(of_process) for of_process in broadcasts] == [20, 20, 20]
    for process, of_process in enumerate(broadcasts):
        assert [event.digest for event in of_process] == [digest(each) for each in payloads(7, process, 20)]
    every = [event for of_process in broadcasts for event in of_process]
    assert len({event.m for event in every}) == len({event.digest for event in every}) == 60


def test_the_run_is_recorded_beside_its_logs(small: ClusterResult) -> None:
    record = json.loads((small.directory / "cluster.json").read_bytes())
    assert complaints("cluster", record) == []
    assert (record["schema"], record["version"], record["outcome"]) == ("antiphon.cluster", 1, "holds")
    assert record["relay"]["dropped"] == small.counts.dropped
    assert record["relay"]["dropped"] == sum(link["dropped"] for link in record["links"].values())
    assert sorted(path.name for path in small.directory.iterdir()) == [
        "cluster.json", "process-0.ndjson", "process-1.ndjson", "process-2.ndjson",
    ]  # fmt: skip


def exchanged(run: Path, to: Path, kind: type[Broadcast | Deliver], nth: int) -> tuple[int, str]:
    """Copy the logs of a run, in that of process 1 with two events exchanged, the nth of this kind and the
    next; the first line and the message that stands there now.
    """
    for process in range(3):
        (to / log_name(process)).write_bytes((run / log_name(process)).read_bytes())
    path = to / log_name(1)
    lines = path.read_bytes().splitlines(keepends=True)
    tag = f'"kind":"{kind.__struct_config__.tag}"'.encode()
    first, second = [k for k, line in enumerate(lines) if tag in line][nth : nth + 2]
    one, other = (msgspec.json.decode(lines[k], type=kind) for k in (first, second))
    lines[first] = msgspec.json.encode(msgspec.structs.replace(other, i=one.i)) + b"\n"
    lines[second] = msgspec.json.encode(msgspec.structs.replace(one, i=other.i)) + b"\n"
    path.write_bytes(b"".join(lines))
    return first + 1, other.m


def test_a_log_that_was_changed_after_the_run_is_judged_anew(small: ClusterResult, tmp_path: Path) -> None:
    """Two deliveries of one process exchanged: the order verdicts fall, and the lines are named."""
    line, message = exchanged(small.directory, tmp_path, Deliver, 30)
    judged = judge_run(load_run(tmp_path))
    violated = {finding.property: finding for finding in judged.findings if finding.offending}
    order = {"UniformTotalOrder", "UniformPrefixOrder", "UniformGlobalOrder", "UniformNumbering"}
    assert set(violated) == order | {"Handover"}
    clash = violated["UniformPrefixOrder"]  # which of the two delivered first, the run decides
    assert f"process-1.ndjson:{line} ({message})" in (str(clash.first), str(clash.second))
    assert str(violated["UniformPrefixOrder"]) == "broken with UniformTotalOrder"
    assert "process 1 delivers" in str(violated["UniformTotalOrder"])


def test_the_order_of_a_members_own_messages_is_judged(small: ClusterResult, tmp_path: Path) -> None:
    """Two broadcasts of one process exchanged in its record: everybody delivers them the wrong way round."""
    assert {"Fifo", "Causal"} <= set(small.judged.outcomes)
    exchanged(small.directory, tmp_path, Broadcast, 3)
    judged = judge_run(load_run(tmp_path), PROMISE)
    violated = {finding.property for finding in judged.findings if finding.offending}
    assert {"Fifo", "Causal"} <= violated
    assert "UniformTotalOrder" not in violated


@pytest.mark.deep
def test_without_faults_nothing_is_dropped_duplicated_or_reordered(tmp_path: Path) -> None:
    result = run_cluster(messages=30, loss=0, duplication=0, reordering=0, directory=tmp_path)
    assert result.outcome == "holds", result.reasons
    assert (result.counts.dropped, result.counts.duplicated, result.counts.reordered) == (0, 0, 0)
    events = [event for of_process in load_run(result.directory).events for event in of_process]
    sent = {event.d for event in events if isinstance(event, Send)}
    received = [event.d for event in events if isinstance(event, Receive)]
    assert set(received) <= sent
    assert 2 <= len(received) == len(set(received))  # batches of the 30 messages came to two others


def test_a_fault_that_was_asked_for_and_never_happened_leaves_the_run_unknown(tmp_path: Path) -> None:
    result = run_cluster(messages=6, loss=1e-9, duplication=0, reordering=0, directory=tmp_path)
    assert result.outcome == "unknown"
    assert set(result.judged.outcomes.values()) == {"holds"}
    assert "was dropped although the probability is 1e-09; none is not a pass" in result.reasons[0]


def test_an_encrypted_run_holds_and_keeps_its_key_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = bytes(range(200, 232))
    monkeypatch.setattr("secrets.token_bytes", lambda size: key[:size])
    result = run_cluster(messages=30, encrypted=True, directory=tmp_path)
    assert set(result.judged.outcomes.values()) == {"holds"}
    assert result.settings.encrypted
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for shown in (key.hex().encode(), base64.b64encode(key), key):
        assert shown not in kept


@pytest.mark.deep
def test_a_second_run_gets_its_own_directory(tmp_path: Path) -> None:
    names = [
        run_cluster(processes=2, messages=2, loss=0, duplication=0, reordering=0, directory=tmp_path).run
        for _ in "12"
    ]
    assert names == ["rbp-2x2-7", "rbp-2x2-7-2"]


def given_up(directory: Path, **settings: Any) -> ClusterResult:
    """A run that is given up when all members have just said where they are: later on a busy machine."""
    deadline_s = 1.5
    while True:
        result = run_cluster(deadline_s=deadline_s, directory=directory, **settings)
        if "silent" not in str(result.reasons) or deadline_s > 60:
            return result
        deadline_s *= 2


@pytest.mark.deep
def test_a_run_that_takes_too_long_is_given_up_and_keeps_its_logs(tmp_path: Path) -> None:
    result = given_up(tmp_path, messages=1_000_000)
    deadline_s = result.settings.deadline_s
    assert result.outcome == "unknown"
    told = f"given up after {deadline_s:g} s of 1000000 messages: process 0 broadcast "
    assert result.reasons[0].startswith(told)
    assert str(result.reasons).count("truncated") == 1
    assert len(result.reasons) == 2
    assert all(load_run(result.directory).events)
    assert nodes_of(os.getpid()) == []


def test_a_run_that_stalls_says_what_each_member_waits_for(tmp_path: Path) -> None:
    """One datagram of a hundred arrives, so nobody gets far."""
    result = given_up(tmp_path, messages=60, loss=0.99, duplication=0, reordering=0)
    assert result.outcome == "unknown"
    told = result.reasons[0].split(": ", 1)[1].split("; process ")
    assert len(told) == 3
    assert any(re.search(r"waits for .+ of process \d(; .+)? for \d+\.\d s", one) for one in told), told
    assert not any("silent" in one or "all" in one for one in told), told


def test_a_node_that_is_killed_leaves_the_run_unknown_and_is_named(tmp_path: Path) -> None:
    results: list[ClusterResult] = []
    thread = threading.Thread(
        target=lambda: results.append(run_cluster(messages=1_000_000, directory=tmp_path))
    )
    thread.start()
    logs = tmp_path / "rbp-3x1000000-7"
    assert eventually(lambda: all(b'"deliver"' in _content(logs / log_name(p)) for p in range(3)))
    victim = min(nodes_of(os.getpid()))
    os.kill(victim, signal.SIGKILL)
    thread.join(timeout=60)
    [result] = results
    assert result.outcome == "unknown"
    assert result.reasons[0].endswith("was killed by signal 9")
    assert nodes_of(os.getpid()) == []


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_node_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    program = (
        "from antiphon.conformance.run.cluster import run_cluster\nrun_cluster(messages=1_000_000, "
        f"directory={str(tmp_path)!r})\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL) as parent:
        assert eventually(lambda: len(nodes_of(parent.pid)) == 3)
        nodes = nodes_of(parent.pid)
        parent.send_signal(how)
        parent.wait(timeout=60)
    assert eventually(lambda: not any(map(alive, nodes)))


@pytest.mark.deep
def test_a_node_that_cannot_write_its_log_is_named_with_the_reason(tmp_path: Path) -> None:
    """The file-size limit stands for the full disk; the nodes inherit it from their parent."""
    program = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "from antiphon.conformance.run.cluster import run_cluster\n"
        f"result = run_cluster(messages=300, directory={str(tmp_path)!r})\n"
        "print(result.outcome, *result.reasons, sep='\\n')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    outcome, reason, *others = ran.stdout.splitlines()
    assert outcome == "unknown"
    assert "exited with code 70: " in reason
    assert "cannot write event" in reason
    assert "File too large" in reason
    assert others[-1].endswith("cluster.json: cannot be written: File too large")


@pytest.mark.parametrize(
    "error", ["LogWriteError('no room')", "ExceptionGroup('', [LogWriteError('no room')])"]
)
def test_a_node_without_room_for_a_traceback_says_why_it_goes(tmp_path: Path, error: str) -> None:
    """The application's part of the log fails within a group of tasks."""
    program = (
        "import resource\n"
        "from antiphon.conformance.run.cluster.node import guarded\n"
        "from antiphon.conformance.judge.trace import LogWriteError\n"
        f"def node(): raise {error}\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))\n"
        "guarded(node)\n"
    )
    said = tmp_path / "stderr"
    with said.open("wb") as stderr:
        ran = subprocess.run([sys.executable, "-c", program], stderr=stderr, check=False)
    assert (ran.returncode, said.read_text()) == (70, "LogWriteError: no room\n")


@pytest.mark.deep
def test_the_progress_is_shown_on_a_terminal_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    shown = {}
    for terminal in (True, False):
        stream = StringIO()
        console = Console(file=stream, force_terminal=terminal, width=160)
        run_cluster(messages=30, directory=tmp_path, console=console)
        shown[terminal] = stream.getvalue()
    assert "deliveries" in shown[True]
    assert shown[False] == ""


def test_the_relay_listens_on_the_loopback_interface_on_a_port_for_each_ordered_pair() -> None:
    relay = Relay(3, 7, Faults())
    try:
        routes = [address for process in range(3) for address in relay.routes(process).values()]
    finally:
        relay.close()
    assert {host for host, _ in routes} == {LOOPBACK}
    assert len({port for _, port in routes}) == 6


async def _stray() -> tuple[Counts, list[bytes]]:
    """Two members and a stranger on one relay: what its counts say, and what the second member gets."""
    relay = Relay(2, 7, Faults())
    members = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
    try:
        for member in members:
            member.bind((LOOPBACK, 0))
            member.settimeout(0.0)
        relay.start({process: members[process].getsockname()[1] for process in range(2)})
        way = relay.routes(0)[1]
        for sender, data in ((2, b"stray"), (0, b"hello"), (2, b"stray"), (0, b"again")):
            members[sender].sendto(data, way)
        await asyncio.sleep(0.2)
        got = [members[1].recv(100) for _ in range(2)]
        with pytest.raises(BlockingIOError):
            members[1].recv(100)
        return relay.counts, got
    finally:
        relay.close()
        for member in members:
            member.close()


def test_the_relay_lets_nobody_in_but_its_members() -> None:
    counts, got = asyncio.run(_stray())
    assert got == [b"hello", b"again"]
    assert counts == Counts(offered=2, strange=2)


def test_a_node_that_speaks_nonsense_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program in the node's place: the run ends with its words as the reason."""
    impostor = tmp_path / "impostor"
    impostor.write_text("#!/bin/sh\necho nonsense\nexec cat >/dev/null\n", encoding="utf-8")
    impostor.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(impostor))
    monkeypatch.setattr(processes, "_GRACE_S", 0.2)  # it does not go when it is told to
    result = run_cluster(processes=2, messages=2, directory=tmp_path / "runs")
    assert result.outcome == "unknown"
    assert "said what no node says" in result.reasons[0]
