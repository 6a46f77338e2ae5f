"""docs/library.md is true: each of its blocks runs here, and prints what stands there."""

from __future__ import annotations

import asyncio
import re
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")

BLOCKS = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
"""Language, file and text of each block."""

Addresses = Callable[[int], list[tuple[str, int]]]


def script(name: str) -> str:
    """The block that is this file."""
    (text,) = (text for language, file, text in BLOCKS if (language, file) == ("python", name))
    return str(text)


def defined(name: str) -> dict[str, Any]:
    """The names that a script defines."""
    names: dict[str, Any] = {}
    exec(compile(script(name), name, "exec"), names)
    return names


def session(start: str) -> tuple[list[str], list[str]]:
    """The commands of the console block that begins so, and the lines that follow them."""
    (text,) = (text for language, _, text in BLOCKS if language == "console" and text.startswith(start))
    lines = text.splitlines()
    return [line[2:] for line in lines if line[:2] == "$ "], [line for line in lines if line[:2] != "$ "]


@pytest.fixture
def addresses(free_ports: Callable[[int], list[int]]) -> Addresses:
    """Unused addresses of the loopback interface, in the number asked for."""
    return lambda count: [("127.0.0.1", port) for port in free_ports(count)]


def here(command: str, at: list[tuple[str, int]]) -> list[str]:
    """A command of the page, run by this Python, with other ports."""
    for port, (_, free) in zip(("7000", "7001"), at, strict=True):
        command = command.replace(f":{port}", f":{free}")
    words = command.removesuffix(" &").split()
    module = words[words.index("-m") + 1] if "-m" in words else "antiphon.conformance.cli"
    return [sys.executable, "-P", "-m", module, *words[words.index("-m") + 2 if "-m" in words else 1 :]]


def test_every_block_is_run_by_a_test_here() -> None:
    assert [file or text.splitlines()[0] for _, file, text in BLOCKS] == [
        "member.py",
        "blocking.py",
        "errors.py",
        "$ python errors.py",
        "$ echo hello | antiphon node orders --me 0 --members 127.0.0.1:7000 127.0.0.1:7001 &",
        "observed.py",
        "$ python -m antiphon.impl.examples.store shop --me 0 --members 127.0.0.1:7000 127.0.0.1:7001",
        "$ python -m antiphon.impl.examples.locks doors --me 1 --members 127.0.0.1:7000 127.0.0.1:7001",
    ]


def test_all_members_hear_everybody_in_one_order(addresses: Addresses) -> None:
    member, at, key = defined("member.py")["member"], addresses(3), secrets.token_bytes(32)

    async def together() -> list[list[str]]:
        async with asyncio.timeout(60):
            return list(await asyncio.gather(*(member(me, at, key) for me in range(3))))

    heard = asyncio.run(together())
    assert heard[0] == heard[1] == heard[2]
    assert sorted(heard[0]) == [f"{me}: hello from {me}" for me in range(3)]


def test_threads_without_asyncio_hear_the_same(addresses: Addresses) -> None:
    count, at, key = defined("blocking.py")["count"], addresses(3), secrets.token_bytes(32)
    totals: list[int] = []
    threads = [threading.Thread(target=lambda me=me: totals.append(count(me, at, key))) for me in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert totals == [6, 6, 6]


def test_the_errors_are_those_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "errors.py").write_text(script("errors.py"), encoding="utf-8")
    (command,), expected = session("$ python errors.py")
    done = subprocess.run(
        [sys.executable, command.split()[1]], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert len(said) == len(expected)
    for line, pattern in zip(said, expected, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), line), line


def test_the_shell_prints_what_stands_there(addresses: Addresses) -> None:
    (first, second), expected = session("$ echo hello")
    at = addresses(2)
    one = subprocess.Popen(
        here(first.partition(" | ")[2], at), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    other = subprocess.Popen(here(second, at), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert one.stdin is not None
    assert other.stdout is not None
    with one, other:
        one.stdin.write(b"hello\n")
        one.stdin.close()
        try:
            said = other.stdout.readline()
        finally:
            for process in (one, other):
                process.send_signal(signal.SIGTERM)
    assert [said.decode().rstrip()] == expected
    assert (one.returncode, other.returncode) == (0, 0)


def test_a_member_that_is_looked_at_leaves_a_log_that_holds_and_counts(
    tmp_path: Path, addresses: Addresses
) -> None:
    look, at, key = defined("observed.py")["observed"], addresses(2), secrets.token_bytes(32)

    async def together() -> list[str]:
        async with asyncio.timeout(60):
            return list(await asyncio.gather(*(look(me, at, key, str(tmp_path)) for me in range(2))))

    for me, text in enumerate(asyncio.run(together())):
        assert f'antiphon_order_seconds_count{{group="watched",process="{me}"}} 1.0' in text
    run = load_run(tmp_path)
    assert not run.problems
    assert {outcome.value for outcome in judge_run(run).outcomes.values()} == {"holds"}


@pytest.mark.deep
def test_the_applications_answer_what_stands_there(addresses: Addresses) -> None:
    for start in ("$ python -m antiphon.impl.examples.store", "$ python -m antiphon.impl.examples.locks"):
        (command,), lines = session(start)
        at = addresses(2)
        mine = here(command, at)
        place = mine.index("--me") + 1
        other = [*mine[:place], str(1 - int(mine[place])), *mine[place + 1 :]]
        with (
            subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as beside,
            subprocess.Popen(mine, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked,
        ):
            said, _ = asked.communicate("".join(f"{line}\n" for line in lines[::2]).encode(), timeout=60)
            beside.communicate(timeout=60)
        assert said.decode().splitlines() == lines[1::2]
