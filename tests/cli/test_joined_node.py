"""`antiphon node --seeds` and `antiphon members`: processes join from the shell, and can be looked at."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import main

Ports = Callable[[int], list[int]]

COMMAND = [sys.executable, "-P", "-m", "antiphon.conformance.cli"]
JOINS = ["node", "o", "--bind", "127.0.0.1:0", "--seeds", "h:1"]


class Nodes:
    """Processes of one group."""

    def __init__(self, ports: list[int], key: Path) -> None:
        self.at = [f"127.0.0.1:{port}" for port in ports]
        self.key = key
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, me: int, *more: str) -> subprocess.Popen[bytes]:
        """Start a process; the first of the seeds founds the group with two."""
        process = subprocess.Popen(
            [*COMMAND, "node", "orders", "--bind", self.at[me], "--seeds", *self.at, "--expect", "2", "--as",
             f"n{me}", "--key-file", str(self.key), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process

    def members(self, at: str, *more: str) -> tuple[int, str, str]:
        """Ask a process for its members: exit code, what is printed, and the errors."""
        command = [*COMMAND, "members", at, "--key-file", str(self.key), *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture
def nodes(free_ports: Ports, tmp_path: Path) -> Iterator[Nodes]:
    """Three places for processes; what still runs is ended by its id."""
    key = tmp_path / "key"
    key.write_text("ab" * 32, encoding="ascii")
    key.chmod(0o600)
    some = Nodes(free_ports(3), key)
    yield some
    for process in some.started:
        with process:
            process.kill()


def line(process: subprocess.Popen[bytes]) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    return process.stdout.readline().decode().rstrip()


def say(process: subprocess.Popen[bytes], text: str) -> None:
    """Give a process a line to broadcast."""
    assert process.stdin is not None
    process.stdin.write(text.encode() + b"\n")
    process.stdin.flush()


def test_processes_join_and_leave_from_the_shell_and_can_be_looked_at(nodes: Nodes) -> None:
    first, second = nodes.start(0), nodes.start(1, "--json")
    assert re.fullmatch("view 1: n[01] n[01]", line(first))
    view = json.loads(line(second))
    assert (view["event"], complaints("node", view)) == ("view", [])
    say(first, "hello")
    assert line(first) == "1 n0 hello"
    delivery: dict[str, Any] = json.loads(line(second))
    assert (delivery["event"], delivery["number"], delivery["payload"]) == ("delivery", 1, "hello")
    assert delivery["source"]["name"] == "n0"
    assert complaints("node", delivery) == []

    third = nodes.start(2)
    assert line(third).startswith("view 2: ")
    assert line(first).startswith("view 2: ")
    code, told, _ = nodes.members(nodes.at[2])
    assert code == 0
    begins = "orders: view 2 of 3 members, as n2 sees it; it reaches 3, has delivered up to number 1"
    assert told.startswith(begins)
    rows = re.findall(r"^(n\d) +127\.0\.0\.1:\d+ +([0-9a-f]{8})  orders messages$", told, re.MULTILINE)
    assert sorted(name for name, _ in rows) == ["n0", "n1", "n2"]
    assert len({run for _, run in rows}) == 3, "each run has a short name of its own"
    code, told, _ = nodes.members(nodes.at[0], "--group", "orders", "--json")
    document = json.loads(told)
    assert complaints("members", document) == []
    assert (document["view"], document["reached"], document["delivered"]) == (2, 3, 1)
    assert {member["state"] for member in document["members"]} == {"orders messages"}

    third.send_signal(signal.SIGTERM)
    assert third.wait(30) == 0
    assert re.fullmatch("view 3: n[01] n[01]", line(first))
    say(second, "there")  # standard input of each is broadcast
    assert line(first) == "2 n1 there"


@pytest.mark.deep
def test_who_has_another_key_learns_nothing(nodes: Nodes, tmp_path: Path) -> None:
    first, _ = nodes.start(0), nodes.start(1)
    assert line(first).startswith("view 1: ")
    other = tmp_path / "other"
    other.write_text("cd" * 32, encoding="ascii")
    other.chmod(0o600)
    nodes.key = other
    code, told, error = nodes.members(nodes.at[0], "--timeout", "0.5", "--group", "orders")
    assert (code, told) == (2, "")
    assert "no process of group 'orders' has answered" in error
    assert "are the name and the key those of the group?" in error
    code, told, error = nodes.members(nodes.at[0], "--timeout", "0.5")
    assert (code, told) == (2, "")
    assert "is the key that of the group?" in error


def test_one_alone_keeps_a_log(nodes: Nodes, tmp_path: Path) -> None:
    first = nodes.start(0, "--bootstrap", "--profile", "local", "--log", str(tmp_path / "logs"))
    assert line(first) == "view 1: n0"
    say(first, "heard")
    assert line(first) == "1 n0 heard"
    first.send_signal(signal.SIGTERM)
    assert first.wait(30) == 0
    (log,) = (tmp_path / "logs").glob("member-*.ndjson")
    assert "deliver" in log.read_text(encoding="utf-8")


def test_nobody_who_listens_is_said(nodes: Nodes) -> None:
    code, told, error = nodes.members(nodes.at[0], "--timeout", "0.5")
    assert (code, told) == (2, "")
    assert "nobody listens there" in error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["node", "o", "--bind", "h:1"], "who joins says where it listens, and whom to ask"),
        (["node", "o", "--seeds", "h:1"], "who joins says where it listens, and whom to ask"),
        (["node", "o", "--bind", "h:1", "--seeds", "h:1", "--members", "h:1"], "--members does not go with"),
        (["node", "o", "--bind", "h:1", "--seeds", "h:1", "--me", "1"], "--me does not go with --bind"),
        (["node", "o", "--members", "h:1", "h:2", "--expect", "2"], "--expect does not go with --members"),
        (["node", "o", "--members", "h:1", "h:2", "--bootstrap"], "--bootstrap does not go with --members"),
        ([*JOINS, "--stall", "-5"], "--stall does not go with --bind"),
        ([*JOINS, "--profile", "moon"], "'local', 'lan', 'wan'"),
        ([*JOINS, "--on-exclusion", "die"], "'rejoin' or 'fail'"),
        ([*JOINS, "--advertise", "7"], "--advertise: '7' is no"),
        (["node", "o", "--bind", "7", "--seeds", "h:1"], "--bind: '7' is no address"),
        (["node", "o", "--bind", "127.0.0.1:0", "--seeds", "h:1", "--protocol", "rbp"], "do not change"),
        (["node", "o", "--bind", "127.0.0.1:0", "--seeds", "nowhere.invalid:1"], "nowhere.invalid"),
        (["members", "7"], "'7' is no address"),
        (["members", "h:1", "--key-file", "none"], "key file none: No such file"),
    ],
)
def test_wrong_usage_is_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 64
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.deep
def test_a_process_whose_output_nobody_reads_ends_quietly(nodes: Nodes) -> None:
    first, second = nodes.start(0), nodes.start(1)
    assert line(first).startswith("view 1: ")
    assert line(second).startswith("view 1: ")
    assert second.stdout is not None
    second.stdout.close()
    say(first, "hello")
    assert second.wait(30) == 70, "what it was to print is lost"
    assert line(first) == "1 n0 hello"
    assert line(first) == "view 2: n0", "it has left"
