"""docs/groups.md is true: its blocks run here, and what it says of waiting times is what the code has."""

from __future__ import annotations

import asyncio
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest

from antiphon.impl.membership.detector import LAN, LOCAL, WAN
from antiphon.impl.primary_backup import CLIENTS_MAX, REQUEST_BYTES_MAX
from antiphon.impl.registry import LISTED
from antiphon.impl.transport.simulated_members import SimulatedMembers

PAGE = (Path(__file__).parents[2] / "docs" / "groups.md").read_text(encoding="utf-8")

BLOCKS = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def defined(name: str) -> dict[str, Any]:
    """The names that a block defines."""
    names: dict[str, Any] = {}
    exec(compile(BLOCKS[name], name, "exec"), names)
    return names


def test_every_block_is_run_by_a_test_here() -> None:
    assert list(BLOCKS) == ["orders.py", "together.py", "state.py", "lots.py", "waiting.py", "shared.py"]
    assert PAGE.count("```") == 2 * len(BLOCKS) + 2, "and one of the shell"


def test_three_members_say_hello_in_one_order(
    free_ports: Callable[[int], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "orders", SimpleNamespace(**defined("orders.py")))
    names = defined("together.py")
    names["seeds"][:] = [("127.0.0.1", port) for port in free_ports(3)]
    first, *others = asyncio.run(asyncio.wait_for(names["together"](), 30))
    assert first[0] == "view 1: m0 m1 m2"
    assert sorted(first[1:]) == [f"m{at}: hello from m{at}" for at in range(3)]
    assert all(other == first for other in others)


def test_a_state_is_taken_as_it_was_given() -> None:
    words = defined("state.py")["Words"]

    async def copied() -> list[str]:
        one, other = words(), words()
        one.words = ["first", "second"]

        async def pieces() -> AsyncIterator[bytes]:
            async for piece in one.save():
                yield piece

        await other.load(pieces())
        return list(other.words)

    assert asyncio.run(copied()) == ["first", "second"]


def test_lots_are_drawn_once_and_all_replicas_have_them(free_ports: Callable[[int], list[int]]) -> None:
    names, key = defined("lots.py"), secrets.token_bytes(32)
    seeds = [("127.0.0.1", port) for port in free_ports(2)]

    async def drawn() -> tuple[list[str], list[list[int]]]:
        lots = [names["Lots"]() for _ in seeds]
        serving = [
            asyncio.create_task(names["replica"](at, seeds, key, one))
            for at, one in zip(seeds, lots, strict=True)
        ]
        answers = await names["draw"](["ann", "bob", "cat"], seeds, key)
        while any(len(one.drawn) < 3 for one in lots):
            await asyncio.sleep(0.01)
        for task in serving:
            task.cancel()
        await asyncio.wait(serving)
        return answers, [one.drawn for one in lots]

    answers, (first, second) = asyncio.run(asyncio.wait_for(drawn(), 30))
    told = zip(["ann", "bob", "cat"], first, strict=True)
    assert answers == [f"{name} has drawn {lot}" for name, lot in told]
    assert first == second
    assert len(set(first)) == 3


def test_the_page_says_what_is_kept_for_clients() -> None:
    assert f"`clients_max`, {CLIENTS_MAX:,}" in PAGE
    assert f"more than {REQUEST_BYTES_MAX:,} bytes" in PAGE


def test_the_table_of_waiting_times_is_that_of_the_code() -> None:
    for name, profile in {"LOCAL": LOCAL, "LAN": LAN, "WAN": WAN}.items():
        times = (profile.heartbeat_ms, profile.suspect_ms, profile.exclude_ms)
        row = " | ".join(f"{time:,.0f}" for time in times)
        assert f'| `"{name.lower()}"` | {row} |' in PAGE


def test_threads_without_asyncio_hear_the_same(free_ports: Callable[[int], list[int]]) -> None:
    greeted, key = defined("waiting.py")["greeted"], secrets.token_bytes(32)
    seeds = [("127.0.0.1", port) for port in free_ports(2)]
    with ThreadPoolExecutor(2) as pool:
        heard = list(pool.map(lambda at: greeted(at, seeds, key), seeds))
    assert heard == [["2 members", "hello", "hello"]] * 2


def test_two_groups_share_a_socket(free_ports: Callable[[int], list[int]]) -> None:
    both = defined("shared.py")["both"]
    (port,) = free_ports(1)
    orders, jobs = asyncio.run(asyncio.wait_for(both(("127.0.0.1", port), secrets.token_bytes(32)), 30))
    assert orders.startswith("orders: View(number=1")
    assert jobs.startswith("jobs: View(number=1")


@pytest.mark.deep
def test_the_shell_prints_what_stands_there(free_ports: Callable[[int], list[int]]) -> None:
    (text,) = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for known, port in zip((":7000", ":7001"), free_ports(2), strict=True):
        text = text.replace(known, f":{port}")
    first, second, *expected = text.splitlines()
    start = [sys.executable, "-P", "-m", "antiphon.conformance.cli"]
    words = first.partition("antiphon ")[2].removesuffix(" &").split()
    with (
        subprocess.Popen([*start, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as ann,
        subprocess.Popen(
            [*start, *second.partition("antiphon ")[2].split()],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        ) as bob,
    ):  # fmt: skip
        assert ann.stdin is not None
        assert bob.stdout is not None
        ann.stdin.write(b"hello\n")
        ann.stdin.close()
        try:
            view, delivery = bob.stdout.readline().rstrip(), bob.stdout.readline().rstrip()
        finally:
            for process in (ann, bob):
                process.send_signal(signal.SIGTERM)
            bob.communicate(timeout=30)
    assert sorted(view.split()) == sorted(expected[0].split()), "whoever came first stands first"
    assert [view.split(":")[0], delivery] == ["view 1", expected[1]]
    assert (ann.returncode, bob.returncode) == (0, 0)


def steps(protocol: str, members: int) -> int:
    """Number of datagrams, one after the other, that bring a message to its last delivery: the median."""
    simulation = SimulatedMembers(members, 1, protocol=protocol, delay_ms=(1.0, 1.0))
    simulation.found(range(members))
    said = [600.0 + 103.7 * count for count in range(3 * members)]
    for count, at in enumerate(said):
        simulation.at(at, lambda me=count % members: simulation.say(me, b"m"))
    simulation.run(700.0 + said[-1])
    ends = zip(*(simulation.life(me).delivered_at for me in range(members)), strict=True)
    return round(median(max(end) - at for end, at in zip(ends, said, strict=True)))


def test_the_table_of_protocols_has_all_and_their_steps() -> None:
    section = PAGE.partition("## Which protocol")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `\"([\w-]+)\"`.*\| ([^|]+) \|$", section, re.MULTILINE))
    assert list(rows) == list(LISTED)
    for ring in ("irbp", "rbp-reforming"):
        assert rows[ring] == "2n to 3n for n members"
        assert all(2 * n <= steps(ring, n) <= 3 * n for n in (3, 8))
    assert rows["vsc"] == str(steps("vsc", 5))
    assert rows["total"] == str(steps("total", 5))
    assert {rows["sequencer"]} == {str(steps("sequencer", n)) for n in (3, 8)}
