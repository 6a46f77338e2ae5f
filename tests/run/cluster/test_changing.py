"""Processes of groups whose members change meet faults, and what they have left is judged.

Runs with every fault take long, and are in docs/cluster.md.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import psutil
import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import main
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.judge.trace.members import numbered
from antiphon.conformance.run.cluster import ClusterResult, ClusterSettings, Counts, control, run_cluster
from antiphon.conformance.run.cluster.changing import running
from antiphon.conformance.run.cluster.changing.faults import KINDS, Deed, What, rounds, spared, whats
from antiphon.conformance.run.cluster.changing.hub import Hub
from antiphon.conformance.run.cluster.changing.judging import lost, read
from antiphon.conformance.run.cluster.changing.running import Run, RunningMember
from antiphon.conformance.run.cluster.changing.whole_run import _missing
from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.result import missing_faults
from antiphon.conformance.run.swarm import FaultKind
from antiphon.impl.registry import LISTED

CRASH, PAUSE = FaultKind.CRASH, FaultKind.PAUSE


def nodes() -> list[psutil.Process]:
    """The processes of members that this one has started and that still run."""
    return [child for child in psutil.Process().children() if "changing.node" in " ".join(child.cmdline())]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> ClusterResult:
    """A run in which a process is killed, one stopped for a while, and one until it is excluded."""
    return run_cluster(
        "irbp", messages=60, seed=3, only=(CRASH, PAUSE, FaultKind.LOSS),
        directory=tmp_path_factory.mktemp("runs"),
    )  # fmt: skip


def test_processes_are_killed_and_stopped_and_the_group_ends_whole(small: ClusterResult) -> None:
    assert small.reasons == ()
    assert small.outcome == "holds"
    assert small.happened == {"crash": 1, "pause": 1, "pause, excluded": 1}
    assert sum(small.stops) == 2
    assert small.counts.dropped > 0
    assert small.counts.duplicated == small.counts.reordered == 0, "they were not asked for"
    assert small.views >= 6, "one or two for each that was away, and one for each that leaves at the end"
    assert not nodes()


def test_all_have_what_was_acknowledged_and_each_share_was_broadcast(small: ClusterResult) -> None:
    states = [(small.directory / f"state-{process}.txt").read_text().split() for process in range(3)]
    assert states[0] == states[1] == states[2]
    assert len({*states[0]}) == len(states[0]) >= small.acknowledged > 50
    assert {*read(small.directory).acknowledged} <= {*states[0]}
    record = json.loads((small.directory / "cluster.json").read_bytes())
    assert complaints("cluster", record) == []
    assert (record["outcome"], record["settings"]["join"], record["happened"]["crash"]) == ("holds", True, 1)
    assert len(record["deeds"]) == 3
    assert record["acknowledged"] == small.acknowledged


def test_verify_judges_the_logs_that_a_run_leaves(small: ClusterResult) -> None:
    assert main(["verify", str(small.directory)]) == 0


def test_states_that_differ_lack_or_invent_something_are_told(small: ClusterResult) -> None:
    written = read(small.directory)
    state = (small.directory / "state-0.txt").read_text().split()
    every = {0: state, 1: list(state)}
    assert lost(written, every) == ()
    (told,) = lost(written, {0: state, 1: state[:-1]})[:1]
    assert f"differ at place {len(state)}" in told
    assert any("lacks 1 messages that their senders" in told for told in lost(written, {0: state[:-1]}))
    invented = [*state[:5], "0" * 32, *state[6:]]
    assert any("place 6 that nobody delivered" in told for told in lost(written, {0: invented}))
    twice = [*state, state[-1]]
    assert any("has 1 messages more than once" in told for told in lost(written, {0: twice}))
    again = written._replace(views={1: {("a",): "member-a.ndjson", ("b",): "member-b.ndjson"}})
    assert lost(again, every) == ("the group was founded 2 times: member-a.ndjson, member-b.ndjson",)


def test_what_is_lost_is_violated_whatever_else_is_missing(small: ClusterResult) -> None:
    assert replace(small, lost=("it is gone",)).outcome == "violated"
    assert replace(small, lost=("it is gone",), faults=("none",)).outcome == "violated"
    assert replace(small, lost=("it is gone",)).reasons[0] == "it is gone"
    assert replace(small, faults=("none",)).outcome == "unknown"


@pytest.mark.deep
def test_a_process_that_cannot_write_its_log_is_named_with_the_file_and_the_reason(tmp_path: Path) -> None:
    """The file-size limit stands for the full disk; the processes inherit it from their parent."""
    program = (
        "import resource\n"
        "from antiphon.conformance.run.cluster import run_cluster\n"
        "from antiphon.conformance.run.swarm import FaultKind\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "result = run_cluster(\n"
        f"    'irbp', messages=60, seed=3, only=(FaultKind.LOSS,), directory={str(tmp_path)!r}\n"
        ")\n"
        "print(result.outcome, *result.reasons, sep='\\n')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    outcome, *reasons = ran.stdout.splitlines()
    assert outcome == "unknown"
    told = r"exited with code 70: LogWriteError: .*/member-\w+\.ndjson cannot be written: File too large"
    assert any(re.search(told, reason) for reason in reasons), reasons


def test_a_process_that_cannot_write_its_state_says_so_and_exits(tmp_path: Path) -> None:
    program = (
        "from types import SimpleNamespace\n"
        "from antiphon.conformance.run.cluster import control\n"
        "from antiphon.conformance.run.cluster.changing.node import Application, State\n"
        f"orders = SimpleNamespace(state={str(tmp_path / 'gone' / 'state-0.txt')!r})\n"
        "Application(orders, None, State(), None).told(control.KEEP.strip())\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    path = tmp_path / "gone" / "state-0.txt"
    assert ran.stderr == f"LogWriteError: {path} cannot be written: No such file or directory\n"
    assert ran.returncode == control.EXIT_FAILED


def test_a_process_that_ends_by_itself_makes_the_run_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunningMember, "MODULE", "antiphon.conformance.no_such_module")
    result = run_cluster("irbp", messages=6, quiet=True, directory=tmp_path)
    assert result.outcome == "unknown"
    assert "exited with code 1" in result.faults[0]


# What is drawn -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [3, 4, 5, 8])
def test_a_round_has_each_kind_and_spares_a_majority(processes: int) -> None:
    drawn = rounds(7, processes, KINDS)
    for deeds in (next(drawn) for _ in range(20)):
        assert {deed.what for deed in deeds} == {*What} - {What.JOIN}
        for deed in deeds:
            assert len({*deed.to}) == len(deed.to) <= spared(processes)
            assert processes - len(deed.to) > processes / 2
            assert deed.other not in deed.to
    assert next(rounds(7, processes, KINDS)) == next(rounds(7, processes, KINDS))
    assert next(rounds(7, processes, KINDS)) != next(rounds(8, processes, KINDS))
    assert {what for kind in KINDS for what in whats([kind])} == {*What}


def standing(view: int, me: str, *members: str, blocked: bool = False) -> control.Standing:
    return control.Standing(view, me, members, blocked)


def run_of(*standings: control.Standing | None) -> Run:
    """A run whose processes stand there; nothing is started."""

    async def made() -> Run:
        hub = cast(Hub, SimpleNamespace())
        settings = ClusterSettings(protocol="irbp", processes=len(standings))
        return Run(settings, Path(), hub, None, lambda: None)

    run = asyncio.run(made())
    members = [
        SimpleNamespace(number=k, standing=one, sent=0, how_far=lambda: "") for k, one in enumerate(standings)
    ]
    run._members = cast(Any, members)
    run._everyone = cast(Any, members)
    return run


def deed(to: int, *, early: bool = False) -> Deed:
    return Deed(What.CRASH, (to,), 1 - min(to, 1), 1.0, 1.0, early)


def test_nothing_is_done_that_would_take_the_majority() -> None:
    three = ("a", "b", "c")
    whole = run_of(*(standing(4, me, *three) for me in three))
    assert [whole._may(deed(to)) for to in range(3)] == [True] * 3
    whole._busy.add(0)
    assert [whole._may(deed(to)) for to in range(3)] == [False] * 3
    behind = run_of(standing(3, "a", *three), standing(4, "b", *three), standing(4, "c", *three))
    assert [behind._may(deed(to)) for to in range(3)] == [False] * 3
    assert behind._may(deed(0, early=True)), "it has not come back, so that nothing more is lost"
    assert not behind._may(deed(1, early=True))
    blocked = run_of(standing(4, "a", *three, blocked=True), *(standing(4, me, *three) for me in "bc"))
    assert not blocked._may(deed(1))
    excluded = run_of(standing(4, "a", "b", "c"), *(standing(4, me, "b", "c") for me in "bc"))
    assert not excluded._may(deed(1))
    assert not excluded._together()
    assert run_of(*(standing(4, me, *three) for me in three))._together()
    assert not run_of(*(standing(4, me, *three, "d") for me in three))._together()


def test_a_view_without_a_majority_is_told() -> None:
    lost_majority = run_of(standing(4, "a", "a", "x"), standing(3, "b", "b", "x"), None)
    assert "view 4 has lost its majority" in lost_majority.how_far()
    assert "lost" not in run_of(*(standing(4, me, "a", "b", "c") for me in "abc")).how_far()


def test_a_fault_that_was_asked_for_and_did_not_happen_is_told() -> None:
    settings = ClusterSettings(protocol="irbp", only=(CRASH, PAUSE, FaultKind.LOSS))
    missing = list(_missing(settings, Counter({What.CRASH: 2, What.PAUSE: 1})))
    assert missing == [f"no process was {What.LONG_PAUSE} that was a member; none is not a pass"]
    told = missing_faults(settings, Counts(offered=9))
    assert [one.partition(" was ")[2].partition(" ")[0] for one in told] == ["dropped"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"protocol": "rbp", "join": True}, "has no groups whose members change"),
        ({"protocol": "rbp", "only": (CRASH,)}, "only is crash; groups whose members stay"),
        ({"protocol": "rbp", "minutes": 1.0}, "minutes is 1.0; groups whose members stay"),
        ({"protocol": "irbp", "stop_s": 1.0}, "stop_s is 1.0"),
        ({"protocol": "irbp", "late_s": 1.0}, "late_s is 1.0"),
        ({"protocol": "irbp", "minutes": -1.0}, "minutes is -1.0"),
        ({"protocol": "irbp", "processes": 2}, "processes is 2; of so few none may fail"),
        ({"protocol": "irbp", "only": (FaultKind.JUMP,)}, "only is clock-jump; real processes meet"),
        ({"protocol": "irbp", "only": (FaultKind.LOSS,), "loss": 0.0}, "loss is 0; then it cannot happen"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ClusterSettings(**settings)


def test_which_kinds_of_faults_a_group_meets() -> None:
    assert ClusterSettings(protocol="irbp").kinds == KINDS
    assert FaultKind.LOSS not in ClusterSettings(protocol="irbp", loss=0.0).kinds
    assert ClusterSettings(protocol="total", join=True, only=(CRASH,)).faults == Faults()
    assert ClusterSettings(protocol="irbp", quiet=True).faults == Faults()
    assert ClusterSettings(protocol="rbp").kinds == ()
    assert all(ClusterSettings(protocol=name, join=True).join for name in LISTED)


# The relay -----------------------------------------------------------------------------------------------


def opened() -> socket.socket:
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", 0))
    one.setblocking(False)
    return one


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_process_is_at_the_same_address_wherever_it_listens() -> None:
    hub = Hub(2, 1, Faults())
    first, second, again = opened(), opened(), opened()

    async def run() -> None:
        hub.start()
        at = hub.addresses
        hub.listens(0, first.getsockname()[1])
        second.sendto(b"strange", at[0])
        await eventually(lambda: hub.counts.strange == 1)
        hub.listens(1, second.getsockname()[1])
        loop = asyncio.get_running_loop()
        first.sendto(b"to the first run", at[1])
        assert await loop.sock_recvfrom(second, 100) == (b"to the first run", at[0])
        hub.ended(1)
        first.sendto(b"to nobody", at[1])
        await eventually(lambda: hub.counts.refused == 1)
        hub.listens(1, again.getsockname()[1])
        second.sendto(b"sent before it ended", at[0])
        assert await loop.sock_recvfrom(first, 100) == (b"sent before it ended", at[1])
        first.sendto(b"to the second run", at[1])
        assert await loop.sock_recvfrom(again, 100) == (b"to the second run", at[0])

    try:
        asyncio.run(asyncio.wait_for(run(), 20))
    finally:
        hub.close()
        for one in (first, second, again):
            one.close()


def test_cuts_lose_and_heal_and_what_is_slow_comes_late() -> None:
    hub = Hub(2, 1, Faults())
    ends = [opened(), opened()]

    async def run() -> None:
        hub.start()
        at, loop = hub.addresses, asyncio.get_running_loop()
        for process, end in enumerate(ends):
            hub.listens(process, end.getsockname()[1])
        with hub.cut([(0, 1)]):
            with hub.cut([(0, 1), (1, 0)]):
                ends[1].sendto(b"lost", at[0])
                await eventually(lambda: hub.links[1, 0].counts.cut == 1)
            ends[0].sendto(b"lost too", at[1])
            await eventually(lambda: hub.links[0, 1].counts.cut == 1)
            ends[1].sendto(b"healed", at[0])
            assert (await loop.sock_recvfrom(ends[0], 100))[0] == b"healed"
        with hub.slowed(0, 150.0):
            begun = loop.time()
            ends[0].sendto(b"late", at[1])
            await eventually(lambda: hub.counts.delayed == 1)
        ends[0].sendto(b"in time", at[1])
        assert (await loop.sock_recvfrom(ends[1], 100))[0] == b"in time"
        assert (await loop.sock_recvfrom(ends[1], 100))[0] == b"late"
        assert loop.time() - begun >= 0.145

    try:
        asyncio.run(asyncio.wait_for(run(), 20))
    finally:
        hub.close()
        for end in ends:
            end.close()


# Logs of members -----------------------------------------------------------------------------------------


def member_log(directory: Path, me: str, *lines: dict[str, Any]) -> None:
    head = {
        "schema": "antiphon.member", "version": 1, "group": "g", "protocol": "irbp",
        "member": {"incarnation": me * 32, "name": me, "host": "127.0.0.1", "port": 1},
    }  # fmt: skip
    (directory / f"member-{me * 32}.ndjson").write_text(
        "".join(f"{json.dumps(line)}\n" for line in [head, *lines])
    )


def view(number: int, members: str, failed: str = "") -> dict[str, Any]:
    some = {"members": [one * 32 for one in members], "failed": [one * 32 for one in failed]}
    return {"kind": "view", "number": number, **some}


def delivery(number: int, source: str = "a") -> dict[str, Any]:
    named = {"source": source * 32, "id": number, "number": number}
    return {"kind": "deliver", **named, "digest": f"{number:032x}"}


def sent(number: int) -> dict[str, Any]:
    return {"kind": "broadcast", "id": number, "digest": f"{number:032x}"}


def judged(directory: Path, into: Path) -> tuple[str, int]:
    into.mkdir()
    numbered(directory, into)
    run = load_run(into)
    found = judge_run(run, ("view-synchrony", "total-order"))
    if any(outcome == "violated" for outcome in found.outcomes.values()):
        return "violated", len(run.logs)
    return ("unknown" if found.problems else "holds"), len(run.logs)


@pytest.mark.parametrize(("place", "outcome"), [(2, "holds"), (1, "violated")])
def test_a_state_has_what_was_delivered_in_the_first_view_before_it(
    tmp_path: Path, place: int, outcome: str
) -> None:
    """Its member goes from this view to the next with the others: it has all that they have, or not."""
    logs = tmp_path / "logs"
    logs.mkdir()
    last = [delivery(3), view(3, "ab"), {"kind": "left"}]
    first = [view(1, "a"), sent(1), delivery(1)]
    member_log(logs, "a", *first, view(2, "ab"), sent(2), delivery(2), sent(3), *last)
    member_log(logs, "b", {"kind": "state", "number": place, "view": 2}, view(2, "ab"), *last)
    assert judged(logs, tmp_path / "run") == (outcome, 2)


def test_a_process_that_ended_before_it_was_a_member_is_none(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    member_log(logs, "a", view(1, "ac"), sent(1), delivery(1), view(2, "a", "c"), {"kind": "left"})
    member_log(logs, "b")
    member_log(logs, "c")
    assert judged(logs, tmp_path / "run") == ("holds", 2), "the others have seen the third one"


def test_the_names_of_files_are_those_that_are_read(small: ClusterResult) -> None:
    assert sorted(path.name for path in small.directory.glob("state-*")) == [
        running.STATE.format(process) for process in range(3)
    ]
