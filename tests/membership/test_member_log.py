"""Logs of members are judged: each run is a process that crashes, is excluded, or leaves."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.schemas import complaints

from antiphon import Delivery, Group, View
from antiphon.conformance.cli import main
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.judge.trace.members import MemberLogsError, member_logs, numbered
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.member_log import MemberLog, MemberLogRefused
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Excluded

Ports = Callable[[int], list[int]]
QUICK = Timeouts(heartbeat_ms=20, suspect_ms=100, exclude_ms=300)
PROMISE = ("view-synchrony", "total-order")


def member(seeds: list[tuple[str, int]], me: int, logs: Path) -> JoinedGroup:
    """A process that wants to be a member, and writes down what it gets."""
    return Group.join(
        "g", seeds=seeds, bind=seeds[me], key=bytes(32), name=f"m{me}", expect=3, timeouts=QUICK,
        log=MemberLog(logs),
    )  # fmt: skip


async def take(group: JoinedGroup, seen: list[str]) -> None:
    """Take all events of the group."""
    async for event in group:
        seen.append(event.payload.decode() if isinstance(event, Delivery) else type(event).__name__)


async def lives(seeds: list[tuple[str, int]], logs: Path) -> None:
    """Three members: one is excluded and comes back, one ends without a word and is started again."""
    groups = [await member(seeds, me, logs).__aenter__() for me in range(3)]
    seen: list[list[str]] = [[], [], []]
    tasks = [asyncio.create_task(take(group, some)) for group, some in zip(groups, seen, strict=True)]

    async def talk(rounds: int) -> None:
        for count in range(rounds):
            for group in groups:
                await group.broadcast(f"{group.name} {count}".encode())
            await asyncio.sleep(0.01)

    async def view_of(count: int) -> None:
        while any(group.view is None or len(group.view.members) != count for group in groups):
            await asyncio.sleep(0.02)
        while any(group.untaken for group in groups):  # what is broadcast follows the view
            await asyncio.sleep(0.02)

    await view_of(3)
    await talk(10)
    groups[2]._membership._end(Excluded("for the test"))  # as when the others have taken it for crashed
    groups[2]._tell()
    while groups[2].statistics.exclusions == 0 or groups[2].view is None:
        await asyncio.sleep(0.02)
    await view_of(3)
    await talk(10)
    last = groups.pop()
    await last.close()
    await view_of(2)
    await talk(10)
    groups.append(await member(seeds, 2, logs).__aenter__())
    tasks.append(asyncio.create_task(take(groups[2], [])))
    await view_of(3)
    await talk(10)
    await asyncio.sleep(0.5)
    for group in reversed(groups):
        await group.leave()
    await asyncio.gather(*tasks)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of a group whose members fail."""
    import socket

    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(3)]
    for sock in sockets:
        sock.bind(("127.0.0.1", 0))
    seeds = [sock.getsockname() for sock in sockets]
    for sock in sockets:
        sock.close()
    folder = tmp_path_factory.mktemp("members")
    asyncio.run(asyncio.wait_for(lives(seeds, folder), 60))
    return folder


def test_the_logs_of_members_that_come_go_and_fail_hold(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(member_logs(logs)) == 5, "three, one that came back, one that was started again"
    numbered(logs, tmp_path)
    run = load_run(tmp_path)
    assert not run.problems
    outcomes = judge_run(run, PROMISE).outcomes
    assert {outcome.value for outcome in outcomes.values()} == {"holds"}, outcomes
    assert main(["verify", str(logs)]) == 0
    assert "1 run" in capsys.readouterr().out


@pytest.mark.parametrize("fault", ["a delivery is missing", "two are swapped", "another payload", "twice"])
def test_a_log_that_was_changed_does_not_hold(logs: Path, tmp_path: Path, fault: str) -> None:
    """A verdict of "holds" would mean nothing otherwise."""
    folder = tmp_path / "changed"
    folder.mkdir()
    for path in member_logs(logs):
        (folder / path.name).write_bytes(path.read_bytes())
    path = next(path for path in member_logs(folder) if path.read_text().count("deliver") > 40)
    lines = path.read_text().splitlines()
    first, second = [at for at, line in enumerate(lines) if '"deliver"' in line][8:10]
    match fault:
        case "a delivery is missing":
            del lines[first]
        case "two are swapped":
            one, other = json.loads(lines[first]), json.loads(lines[second])
            one["number"], other["number"] = other["number"], one["number"]
            lines[first], lines[second] = json.dumps(other), json.dumps(one)
        case "another payload":
            lines[first] = json.dumps({**json.loads(lines[first]), "digest": "0" * 32})
        case "twice":
            lines.insert(second + 1, lines[first])
    path.write_text("".join(f"{line}\n" for line in lines))
    run = tmp_path / "run"
    run.mkdir()
    numbered(folder, run)
    outcomes = judge_run(load_run(run), PROMISE).outcomes
    assert "violated" in {outcome.value for outcome in outcomes.values()}


def test_a_member_whose_log_is_missing_or_breaks_off_is_unknown(logs: Path, tmp_path: Path) -> None:
    for count, spoil in enumerate((lambda path: path.unlink(), lambda path: path.write_bytes(b"".join(
        path.read_bytes().splitlines(keepends=True)[:-1])))):  # fmt: skip
        folder, run = tmp_path / f"some{count}", tmp_path / f"run{count}"
        folder.mkdir()
        run.mkdir()
        for path in member_logs(logs):
            (folder / path.name).write_bytes(path.read_bytes())
        spoil(member_logs(folder)[0])
        numbered(folder, run)
        assert load_run(run).problems


def test_the_lines_of_logs_are_documents(logs: Path) -> None:
    lines = [json.loads(line) for path in member_logs(logs) for line in path.read_text().splitlines()]
    assert {"broadcast", "deliver", "view"} <= {line.get("kind") for line in lines}
    assert [complaints("member", line) for line in lines if complaints("member", line)] == []
    assert complaints("member", {"kind": "deliver", "id": 1})


def test_a_process_that_is_killed_while_it_writes_leaves_a_log(logs: Path, tmp_path: Path) -> None:
    """Its last line is left out. A line that is whole and means nothing is named."""
    for count, cut in enumerate((-4, 9)):
        folder, run = tmp_path / f"some{count}", tmp_path / f"run{count}"
        folder.mkdir()
        run.mkdir()
        for path in member_logs(logs):
            (folder / path.name).write_bytes(path.read_bytes())
        first = member_logs(folder)[0]
        first.write_bytes(first.read_bytes()[:cut])
        numbered(folder, run)
        assert load_run(run).problems, "the end is missing, or the whole log"
    with first.open("ab") as file:
        file.write(member_logs(logs)[0].read_bytes()[9:] + b'{"kind": "deliver", "id": 1}\n')
    with pytest.raises(MemberLogsError, match=r"ndjson:\d+: Object missing required field"):
        numbered(folder, tmp_path)


def test_what_is_no_log_of_a_member_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MemberLogsError, match="has no log of a member"):
        numbered(tmp_path, tmp_path)
    (tmp_path / f"member-{'0' * 32}.ndjson").write_text('{"schema": "another"}\n')
    with pytest.raises(MemberLogsError, match=r"header of a log of schema .antiphon\.member."):
        numbered(tmp_path, tmp_path)
    assert main(["verify", str(tmp_path)]) == 64
    assert "header of a log" in capsys.readouterr().err


def test_a_log_is_never_overwritten(tmp_path: Path, free_ports: Ports) -> None:
    (port,) = free_ports(1)

    async def run() -> None:
        log = MemberLog(tmp_path)
        async with Group.join("g", seeds=[("127.0.0.1", port)], bind=("127.0.0.1", port), key=None, expect=1,
                              log=log) as group:  # fmt: skip
            assert isinstance(await anext(group), View)
            with pytest.raises(MemberLogRefused, match="cannot be created"):
                log.begin("g", "irbp", group.me)
            me = group.me
        lines = [json.loads(line) for line in log._path(me.incarnation).read_text().splitlines()]
        assert [line.get("kind", line.get("schema")) for line in lines] == ["antiphon.member", "view", "left"]

    asyncio.run(asyncio.wait_for(run(), 30))
    with pytest.raises(MemberLogRefused, match="cannot be made"):
        MemberLog(tmp_path / next(tmp_path.iterdir()).name / "below")


def test_a_disk_that_is_full_ends_the_log_and_not_the_group(
    tmp_path: Path, free_ports: Ports, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (port,) = free_ports(1)
    written = os.write

    def full(descriptor: int, data: bytes) -> int:
        if b'"deliver"' in data:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(descriptor, data)

    async def run() -> None:
        log = MemberLog(tmp_path)
        async with Group.join("g", seeds=[("127.0.0.1", port)], bind=("127.0.0.1", port), key=None, expect=1,
                              log=log) as group:  # fmt: skip
            assert isinstance(await anext(group), View)
            monkeypatch.setattr("antiphon.impl.member_log.os.write", full)
            for payload in (b"one", b"two"):
                await group.broadcast(payload)
                event = await anext(group)
                assert isinstance(event, Delivery)
                assert event.payload == payload
            monkeypatch.undo()
            assert log.failure is not None
            assert "No space left" in log.failure

    asyncio.run(asyncio.wait_for(run(), 30))
    assert caplog.text.count("cannot be written") == 1
    into = tmp_path / "run"
    into.mkdir()
    numbered(tmp_path, into)
    assert load_run(into).problems, "a log without an end"
