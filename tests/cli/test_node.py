"""`antiphon node`: lines go in, the same events come out everywhere, signals leave, errors have codes."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import main, node, streams
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.impl.errors import GroupFailed
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.layers import Layers


@pytest.fixture
def at(free_ports: Callable[[int], list[int]]) -> list[str]:
    """Two addresses at which nobody listens."""
    return [f"127.0.0.1:{port}" for port in free_ports(2)]


def start(me: int, members: list[str], *more: str | Path) -> subprocess.Popen[bytes]:
    """A member in a process of its own."""
    command = [sys.executable, "-P", "-m", "antiphon.conformance.cli", "node", "orders"]
    return subprocess.Popen(
        [*command, "--me", str(me), "--members", *members, *map(str, more)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_lines_come_out_in_one_order_and_a_signal_leaves_with_a_complete_log(
    at: list[str], tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text("ab" * 32, encoding="ascii")
    key.chmod(0o600)
    common = ("--log", tmp_path / "log", "--key-file", key, "--deliver", "all")
    plain, told = start(0, at, *common), start(1, at, *common, "--json")
    with plain, told:
        try:
            assert plain.stdin is not None and plain.stdout is not None  # noqa: PT018
            assert told.stdin is not None and told.stdout is not None  # noqa: PT018
            for k in range(3):
                plain.stdin.write(b"line %d\n" % k)
                plain.stdin.flush()
                told.stdin.write(b"byte %c\n" % (128 + k))
                told.stdin.flush()
            lines = [plain.stdout.readline() for _ in range(6)]
            documents = [json.loads(told.stdout.readline()) for _ in range(6)]
        finally:
            for process, number in ((plain, signal.SIGINT), (told, signal.SIGTERM)):
                process.send_signal(number)
        assert [process.wait(60) for process in (plain, told)] == [0, 0]
        assert b"orders" in plain.stderr.read() if plain.stderr is not None else False
    assert sorted(line.split(b" ", 2)[1:] for line in lines) == sorted(
        [*([b"0", b"line %d\n" % k] for k in range(3)), *([b"1", b"byte %c\n" % (128 + k)] for k in range(3))]
    )
    assert [line.split()[0] for line in lines] == [str(each["number"]).encode() for each in documents]
    assert {each["payload"] for each in documents if each["source"] == 0} == {"line 0", "line 1", "line 2"}
    assert [complaints("node", each) for each in documents] == [[]] * 6
    assert "payload_base64" in next(each for each in documents if each["source"] == 1)
    run = load_run(tmp_path / "log")
    assert not run.problems
    assert {outcome.value for outcome in judge_run(run).outcomes.values()} == {"holds"}


def give(process: subprocess.Popen[bytes], path: Path, *keys: str) -> bytes:
    """The file has these keys now, and the process is told; what it says of it."""
    path.write_text("\n".join(keys), encoding="ascii")
    path.chmod(0o600)
    process.send_signal(signal.SIGHUP)
    assert process.stderr is not None
    return process.stderr.readline()


def say(process: subprocess.Popen[bytes], line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")
    process.stdin.flush()


@pytest.mark.deep
def test_keys_change_at_a_signal_while_lines_go_on(at: list[str], tmp_path: Path) -> None:
    """Three steps lose nothing; who has another key is heard by nobody until the others have it too."""
    old, new, other = "ab" * 32, "cd" * 32, "ef" * 32
    files = [tmp_path / name for name in ("first", "second")]
    for path in files:
        path.write_text(old, encoding="ascii")
        path.chmod(0o600)
    first, second = (start(me, at, "--key-file", files[me]) for me in range(2))
    with first, second:
        try:
            assert first.stderr is not None and second.stderr is not None  # noqa: PT018
            assert first.stdout is not None and second.stdout is not None  # noqa: PT018
            assert all(
                b"an interrupt leaves" in each.stderr.readline() for each in (first, second) if each.stderr
            )
            sent = 0
            for keys in ([old, new], [new, old], [new]):
                for process, path in ((first, files[0]), (second, files[1])):
                    told = give(process, path, *keys)
                    assert told.endswith(b"was read again: the first of %d keys is used\n" % len(keys))
                    say(process, b"line")
                    sent += 1
                    for each in (first, second):
                        assert each.stdout is not None
                        assert each.stdout.readline().split()[0] == b"%d" % sent
            told = give(first, files[0], "no key")
            assert b"the keys stay as they were: key file" in told
            assert b"line 1: 6 characters" in told
            give(first, files[0], other)
            say(first, b"heard by nobody")
            assert select.select([second.stdout], [], [], 0.5)[0] == []
            give(second, files[1], other)
            assert second.stdout.readline() == b"%d 0 heard by nobody\n" % (sent + 1)
        finally:
            for process in (first, second):
                process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for process in (first, second)] == [0, 0]


@pytest.mark.parametrize(
    ("line", "options", "code", "said"),
    [
        (b"nobody answers", ["--stall", "0.2"], 1, "cannot go on: process 1 has not answered for 0."),
        (b"x" * (Layers().message_bytes_max + 1), ["--metrics", "0"], 64, "line 1 of the input: "),
    ],
)
def test_a_group_that_cannot_go_on_or_a_line_that_is_too_long_ends_the_member(
    line: bytes, options: list[str], code: int, said: str, at: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "input").write_bytes(line + b"\n")
    with (tmp_path / "input").open("rb") as given:
        monkeypatch.setattr(sys, "stdin", given)
        assert main(["node", "orders", "--members", *at, *options]) == code
    out, error = capfd.readouterr()
    assert (out, said in error) == ("", True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["orders", "--members", "10.0.0.1:7000"],
            "has 1 members, and this is number 0: write antiphon node",
        ),
        (["orders", "--me", "2", "--members", "h:1", "h:2"], "has 2 members, and this is number 2"),
        (["orders", "--members", "h:1", "h"], "'h' is no address: write HOST:PORT"),
        (
            ["orders", "--members", "h:1", "::1:7"],
            "'::1:7' is no address: .* of IP version 6 .HOST.:PORT",
        ),
        (["o", "--members", "h:1", "h:2", "--protocol", "rpb"], "unknown protocol 'rpb'; .* mean 'rbp'"),
        (["o", "--members", "h:1", "h:2", "--deliver", "3"], "deliver=3: .* how many of the 2 members"),
        (["o", "--members", "h:1", "h:2", "--key-file", "none"], "key file none: No such file"),
        (["o", "--members", "h:1", "h:2", "--multicast", "7"], "--multicast: '7' is no address"),
        (
            ["o", "--members", "127.0.0.1:0", "127.0.0.1:9", "--multicast", "127.0.0.1:9"],
            "127.0.0.1:9 is no multicast address",
        ),
        (["o", "--members", "nowhere.invalid:1", "h:2"], "the own address, nowhere.invalid:1, cannot be"),
    ],
)
def test_wrong_usage_is_told_with_the_way_to_write_it(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["node", *words]) == 64
    assert re.search(said, capsys.readouterr().err)


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["node", "o", "--members", "127.0.0.1:9", "127.0.0.1:8", "--metrics", port]) == 64
    assert f"--metrics {port}: cannot listen there: Address already in use" in capsys.readouterr().err


def test_a_member_whose_output_nobody_reads_goes_on(at: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its event loop does not stand still in a write."""
    reader, writer = os.pipe()
    pipe_bytes, message = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ), b"x" * 1_000
    count = 3 * pipe_bytes // len(message)
    read, reads = bytearray(), threading.Event()

    def read_all() -> None:
        reads.set()
        while data := os.read(reader, 2**16):
            read.extend(data)

    later = threading.Timer(20.0, read_all)

    async def run() -> None:
        group = JoinedGroup("orders", seeds=at[:1], bind=at[0], key=None, bootstrap=True, name="one")
        async with group:
            printing = asyncio.create_task(node._print(group, json=False))
            for _ in range(count):
                await group.broadcast(message)
            while struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4))) < (pipe_bytes // 2,):
                await asyncio.sleep(0.001)
            for _ in range(10):
                await asyncio.sleep(0.001)
            assert not reads.is_set(), "the loop waited for a reader"
            later.function = lambda: None
            threading.Thread(target=read_all, daemon=True).start()
        await printing

    with open(writer, "wb") as out:  # noqa: PTH123 - a descriptor
        monkeypatch.setattr(streams, "document", lambda: SimpleNamespace(buffer=out))
        later.start()
        try:
            asyncio.run(asyncio.wait_for(run(), 60))
        finally:
            later.cancel()
    while read.count(b"\n") < count + 1:
        pass
    assert bytes(read) == b"view 1: one\n" + b"".join(
        b"%d one %b\n" % (number, message) for number in range(1, count + 1)
    )


class Excluding:
    """A group from which this member is excluded so many times while its first broadcast waits."""

    def __init__(self, times: int, failure: Exception | None) -> None:
        self.failure = failure
        self.sent: list[bytes] = []
        self._left = times

    async def broadcast(self, payload: bytes) -> None:
        if self._left:
            self._left -= 1
            raise GroupFailed("one was excluded")
        self.sent.append(payload)


def test_a_line_that_waits_while_its_member_is_excluded_is_sent_when_it_is_back() -> None:
    group: Any = Excluding(2, None)
    asyncio.run(node._say(group, b"line"))
    assert group.sent == [b"line"]
    ended: Any = Excluding(1, GroupFailed("for good"))
    with pytest.raises(GroupFailed, match="one was excluded"):
        asyncio.run(node._say(ended, b"line"))
