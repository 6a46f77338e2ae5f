"""Groups of other systems: faults that a seed draws, traces of what members print, and whole runs.

The systems themselves are on few machines. A small system of these tests takes their place. It has no hosts
of its own, and so no faults of the network.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import psutil
import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import main
from antiphon.conformance.judge.history import RunFindings, judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.swarm import FaultKind
from antiphon.conformance.run.systems import (
    SYSTEMS,
    NoHosts,
    System,
    SystemMissing,
    SystemSettings,
    group,
    run_system,
    running,
)
from antiphon.conformance.run.systems.faults import KINDS, Fault, faults_of
from antiphon.conformance.run.systems.group import Group
from antiphon.conformance.run.systems.hosts import Hosts
from antiphon.conformance.run.systems.logs import Printed, views_in_order, write_trace
from antiphon.model.verdict import Outcome

PROMISE = ("partitionable-synchrony", "weak-total-order", "fifo-order")
LOCAL = (FaultKind.CRASH, FaultKind.RESTART, FaultKind.LEAVE, FaultKind.PAUSE)


def printed(name: str, text: str, *, is_gone: bool = False, is_whole: bool = True) -> Printed:
    """Lines of a member, written with semicolons."""
    return Printed(name, tuple(line.strip() for line in text.split(";")), is_gone, is_whole)


def judged(directory: Path, *members: Printed) -> RunFindings:
    """The verdicts on what members have printed."""
    write_trace(members, directory, "r", "tests", 1)
    return judge_run(load_run(directory), PROMISE)


GOOD = (
    "me A; view 1 A B; sent p0:1; sent p0:2; got p0:1; got p1:1; got p0:2; view 2 A B; view 3 A",
    "me B; view 1 A B; sent p1:1; got p0:1; got p1:1; got p0:2; view 2 A B",
)


def test_a_run_in_which_nothing_is_wrong_holds(tmp_path: Path) -> None:
    found = judged(tmp_path, printed("p0", GOOD[0]), printed("p1", GOOD[1], is_gone=True))
    assert found.worst is Outcome.HOLDS, str(found)


@pytest.mark.parametrize(
    ("first", "second", "broken"),
    [
        ("got p0:1; got p1:1; got p1:1", "got p0:1; got p1:1", "UniformIntegrity"),
        ("got p0:1; got p1:1; got p1:9", "got p0:1; got p1:1", "UniformIntegrity"),
        ("got p0:1; got p1:1; view 2 A B", "got p1:1; got p0:1; view 2 A B", "WeakTotalOrder"),
        ("got p0:1; view 2 A B; got p1:1", "got p0:1; got p1:1; view 2 A B", "SameViewDelivery"),
        ("got p0:1; view 2 A B", "got p0:1; got p1:1; view 2 A B", "ViewSynchrony"),
        ("got p0:1; got p1:1; view 2 A", "got p0:1; got p1:1; view 2 A B", "ViewAgreement"),
        ("got p0:1; got p1:1; view 2 B", "got p0:1; got p1:1", "SelfInclusion"),
        ("got p1:1", "got p0:1; got p1:1", "VscValidity"),
        ("got p0:1; got p1:1; view 2 A B; view 3 A B", "view 3 A B; view 2 A B", "LocalMonotonicity"),
        ("sent p0:2; got p0:2; got p0:1; got p1:1", "got p0:2; got p0:1; got p1:1", "Fifo"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(first: str, second: str, broken: str, tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        printed("p0", f"me A; view 1 A B; sent p0:1; {first}"),
        printed("p1", f"me B; view 1 A B; sent p1:1; {second}"),
    )
    assert found.outcomes[broken] is Outcome.VIOLATED, str(found)


def test_views_without_names_are_those_with_the_same_members_the_same_time(tmp_path: Path) -> None:
    """Two part from a third and come together with it again: two views of three, each in its place."""
    came = "view - A B C; got p0:1"
    parts = ("view - A B C; view - A B; " + came, "view - A B C; view - C; " + came)
    members = [printed(f"p{number}", f"me {name}; {parts[number // 2]}") for number, name in enumerate("ABC")]
    members[0] = printed("p0", ";".join([*members[0].lines[:-1], "sent p0:1", "got p0:1"]))
    numbers = views_in_order(members)
    assert len(numbers) == 4
    assert numbers["A+B+C#1"] < numbers["A+B#1"] < numbers["A+B+C#2"]
    found = judged(tmp_path, *members)
    assert found.outcomes["ViewAgreement"] is Outcome.HOLDS, str(found)


def test_a_member_that_was_killed_before_it_said_its_address_is_known_by_the_views(tmp_path: Path) -> None:
    others = printed("p0", "me A; view 1 A; view 2 A B; sent p0:1; got p0:1")
    found = judged(tmp_path, others, printed("p1", "", is_gone=True))
    assert found.outcomes["VscValidity"] is Outcome.HOLDS
    assert not found.problems


def test_a_stranger_in_a_view_leaves_everything_unknown(tmp_path: Path) -> None:
    found = judged(tmp_path, printed("p0", "me A; view 1 A Z; sent p0:1; got p0:1"))
    assert found.worst is Outcome.UNKNOWN
    assert found.problems


@pytest.mark.parametrize(("is_whole", "outcome"), [(True, Outcome.VIOLATED), (False, Outcome.UNKNOWN)])
def test_nobody_is_blamed_for_what_may_still_come(is_whole: bool, outcome: Outcome, tmp_path: Path) -> None:
    text = "me A; view 1 A; sent p0:1; got p0:1; sent p0:2"
    found = judged(tmp_path, printed("p0", text, is_whole=is_whole))
    assert found.outcomes["VscValidity"] is outcome, str(found)


def test_a_seed_draws_the_same_faults_and_every_kind() -> None:
    settings = SystemSettings("corosync", processes=5, minutes=1.0, seed=4)
    faults = faults_of(settings, 2.0)
    assert faults == faults_of(settings, 2.0)
    assert faults != faults_of(SystemSettings("corosync", processes=5, minutes=1.0, seed=5), 2.0)
    assert {fault.kind for fault in faults} == {*KINDS} - {FaultKind.LOSS}
    assert [fault.at_s for fault in faults] == sorted(fault.at_s for fault in faults)
    assert all(fault.lasts_s <= 6.0 and set(fault.hosts) <= set(range(5)) for fault in faults)
    assert all(len(fault.hosts) <= 2 for fault in faults)
    few = faults_of(SystemSettings("corosync", only=(FaultKind.PAUSE, FaultKind.LOSS)), 2.0)
    assert [fault.kind for fault in few] == [FaultKind.PAUSE]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"processes": 1}, "processes is 1, which is not from 2 to 9"),
        ({"minutes": -1.0}, "minutes"),
        ({"only": (FaultKind.JOIN,)}, "only is join: hosts of another system have"),
    ],
)
def test_settings_without_sense_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        SystemSettings("jgroups", **given)


# A whole run ------------------------------------------------------------------------------------------------


class Sequencing(System):
    """System of these tests."""

    name = "sequencing"
    excludes_s = 0.2

    def __init__(self, at: str, mistake: str) -> None:
        self.at, self.mistake = at, mistake

    def build(self, directory: str | Path) -> None:
        """Compile nothing."""

    def command(self, built: str | Path, home: str | Path, name: str, host: int, hosts: int) -> list[str]:
        wrong = self.mistake if host == 0 else ""
        program = str(Path(__file__).with_name("sequencing.py"))
        return [sys.executable, program, "member", self.at, name, wrong]


class NoNetwork(Hosts):
    """Hosts that are none: their processes are found by their names."""

    def __enter__(self) -> Self:
        return self

    def inside(self, host: int, command: Sequence[str]) -> list[str]:
        return [*command]

    def processes(self, host: int) -> list[int]:
        running = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
        return [child.pid for child in running if f" p{host}." in " ".join(child.cmdline())]

    def close(self) -> None:
        for host in range(self.count):
            self.signal(host, signal.SIGKILL)


@pytest.fixture
def sequencing(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[str], Sequencing]]:
    """Make the system of these tests, with a mistake of the member on the first host or none."""
    at = str(Path(mkdtemp(prefix="antiphon-")) / "hub")
    program = str(Path(__file__).with_name("sequencing.py"))
    serving = subprocess.Popen([sys.executable, program, "hub", at])
    while not Path(at).exists():
        assert serving.poll() is None
        time.sleep(0.01)
    monkeypatch.setattr(running, "Hosts", NoNetwork)
    yield lambda mistake: Sequencing(at, mistake)
    serving.kill()
    serving.wait()
    shutil.rmtree(Path(at).parent)


def test_members_are_killed_stopped_and_come_back_and_the_run_holds(
    sequencing: Callable[[str], Sequencing], tmp_path: Path
) -> None:
    settings = SystemSettings("sequencing", only=LOCAL, seed=3)
    result = run_system(settings, sequencing(""), tmp_path)
    assert (result.outcome, result.missing) == (Outcome.HOLDS, ())
    assert {fault.kind for fault in result.faults} == {*LOCAL}
    assert result.version == "1 of tests"
    assert len(result.delivered) == 3 + 3, "crash, restart and leave begin three more runs of members"
    record = json.loads((result.directory / "system.json").read_bytes())
    assert (record["outcome"], record["seed"], complaints("system", record)) == ("holds", 3, [])
    assert complaints("system", {**record, "faults": ["crash"]})
    assert judge_run(load_run(result.directory), PROMISE).worst is Outcome.HOLDS


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("mistake", "broken"), [("repeats", "UniformIntegrity"), ("swaps", "WeakTotalOrder")]
)
def test_a_mistake_is_found_with_fewer_faults(
    mistake: str, broken: str, sequencing: Callable[[str], Sequencing], tmp_path: Path
) -> None:
    settings = SystemSettings("sequencing", only=(FaultKind.PAUSE, FaultKind.CRASH), seed=3)
    news: list[str] = []
    result = run_system(settings, sequencing(mistake), tmp_path, news.append)
    assert broken in result.violated
    assert (result.tried, len(result.faults)) == (2, 1)
    assert any(f"{broken} is broken; run 1" in told for told in news)


def test_without_time_for_fewer_faults_the_first_run_is_the_result(
    sequencing: Callable[[str], Sequencing], tmp_path: Path
) -> None:
    settings = SystemSettings("sequencing", only=(FaultKind.PAUSE, FaultKind.CRASH), seed=3)
    result = run_system(settings, sequencing("repeats"), tmp_path, shorten_s=0.0)
    assert (result.tried, len(result.faults)) == (None, 2)
    assert result.violated


def test_a_group_that_never_comes_together_is_unknown(
    sequencing: Callable[[str], Sequencing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group, "_TOGETHER_S", 0.0)
    result = run_system(SystemSettings("sequencing", only=LOCAL), sequencing(""), tmp_path)
    assert result.outcome is Outcome.UNKNOWN
    assert "did not come together" in result.missing[0]


def test_a_fault_that_could_not_happen_is_unknown(
    sequencing: Callable[[str], Sequencing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = Fault(FaultKind.PAUSE, (1,), 0.1, 0.5)
    leave = replace(pause, kind=FaultKind.LEAVE, at_s=0.3)
    monkeypatch.setattr(running, "faults_of", lambda *_: (pause, leave))
    begin = Group._begin
    monkeypatch.setattr(Group, "_begin", lambda self, one: None if one == leave else begin(self, one))
    result = run_system(SystemSettings("sequencing", only=LOCAL), sequencing(""), tmp_path)
    assert (result.outcome, result.missing) == (Outcome.UNKNOWN, ("leave never happened",))
    assert result.faults == (pause,)


# The command ------------------------------------------------------------------------------------------------


def test_the_command_says_what_is_wrong_and_draws_it(
    sequencing: Callable[[str], Sequencing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setitem(SYSTEMS, "sequencing", sequencing("repeats"))
    asked = ["cluster", "--system", "sequencing", "--only", "pause", "--seed", "3"]
    asked += ["--log", str(tmp_path / "logs")]
    assert main(asked) == 1
    text = capsys.readouterr().out
    assert "delivered a second time" in text
    assert "again, with times of its own: antiphon cluster --system sequencing --only pause --seed 3" in text
    (picture,) = tmp_path.rglob("violation.svg")
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert main([*asked, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert not complaints("report", document)
    assert document["record"]["violated"] == ["UniformIntegrity"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--system", "corosink"], "did you mean 'corosync'"),
        (["rbp", "--system", "corosync"], "a PROTOCOL or --system, not both"),
        ([], "name a PROTOCOL"),
        (["rbp", "--promise", "fifo-order"], "--promise goes with --system"),
        (["--system", "jgroups", "--promise", "total"], "unknown promise 'total'"),
        (["--system", "jgroups", "--only", "join"], "--only is join: hosts of another system have crash"),
        (["--system", "jgroups"], "/nowhere/jgroups.jar is no file; name jgroups.jar by JGROUPS_JAR"),
    ],
)
def test_what_cannot_be_run_is_wrong_usage(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("JGROUPS_JAR", "/nowhere/jgroups.jar")
    monkeypatch.setattr("antiphon.conformance.run.systems.members.shutil.which", lambda name: name)
    assert main(["cluster", *words, "--log", str(tmp_path)]) == 64
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_that_is_not_there_says_what_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemMissing, match="apt-get install"):
        SYSTEMS[name].build(tmp_path)


@pytest.mark.deep
def test_hosts_are_made_and_cut_or_it_is_said_why_not() -> None:
    """A packet arrives, none over a cut link, and no namespace stays, where namespaces can be made."""
    why = ""
    try:
        with Hosts(2) as hosts:
            assert arrives(hosts, 0, 1)
            hosts.cut([(0, 1)])
            assert (arrives(hosts, 0, 1), arrives(hosts, 1, 0)) == (False, True)
            hosts.heal([(0, 1)])
            assert arrives(hosts, 0, 1)
        told = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        assert f"antiphon-{os.getpid()}" not in told
    except NoHosts as error:
        why = str(error)
    assert not why or any(word in why for word in ("apt-get install", "need root", "ip ", "iptables "))


@pytest.mark.deep
def test_the_hosts_of_a_command_that_was_killed_are_removed_by_the_next() -> None:
    """The hosts of a command that runs stay."""
    killed = f"antiphon-{_ended()}-0"
    mine = f"antiphon-{os.getppid()}-0"
    made = [subprocess.run(["ip", "netns", "add", name], check=False).returncode for name in (killed, mine)]
    if any(made):
        return  # as in the test above: it is said why not
    try:
        with Hosts(1):
            told = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        assert (killed in told, mine in told) == (False, True)
    finally:
        subprocess.run(["ip", "netns", "del", mine], check=True)


def _ended() -> int:
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def arrives(hosts: Hosts, sender: int, receiver: int) -> bool:
    """Send packets from host to host for a second; return True if one arrives."""
    address = f"('10.77.0.{receiver + 1}', 7)"
    listen = f"import socket; s = socket.socket(2, 2); s.bind({address}); s.settimeout(1); s.recv(9)"
    send = f"import socket; socket.socket(2, 2).sendto(b'x', {address})"
    command = hosts.inside(receiver, [sys.executable, "-c", listen])
    listener = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while listener.poll() is None:
        subprocess.run(hosts.inside(sender, [sys.executable, "-c", send]), check=True)
    return listener.returncode == 0


def test_a_fault_of_a_host_that_is_away_begins_when_the_host_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was left out would leave the whole run unknown, since its kind never happened."""
    group = Group.__new__(Group)
    group.happened, group.missing, group._on_news = [], [], lambda _: None
    away: set[int] = set()
    log: list[str] = []

    def begin(fault: Fault) -> Callable[[], None] | None:
        (host,) = fault.hosts
        if host in away:
            return None
        log.append(f"{fault.kind} of {host}")
        away.add(host)

        def end() -> None:
            log.append(f"{host} is back")
            away.discard(host)

        return end

    monkeypatch.setattr(group, "_begin", begin)
    group._inject(
        [Fault(FaultKind.PAUSE, (0,), 0.0, 0.2), Fault(FaultKind.LEAVE, (0,), 0.1, 0.1),
         Fault(FaultKind.CRASH, (1,), 0.15, 0.3)]
    )  # fmt: skip
    assert log == [
        "pause of 0", "0 is back", "leave of 0", "crash of 1", "0 is back", "1 is back",
    ]  # fmt: skip
    assert [fault.kind for fault in group.happened] == [FaultKind.PAUSE, FaultKind.LEAVE, FaultKind.CRASH]
    assert group.missing == []
