"""A log that is read while it grows says what it says when it is read as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from antiphon.conformance.judge.trace import (
    LINE_BYTES_MAX,
    SHORTER,
    TRUNCATED,
    Crash,
    Deliver,
    End,
    Header,
    Tail,
    load_run,
    read_lines,
    read_log,
)

HEADER = Header(run="r", protocol="rbp", process=0, processes=1, seed=1, messages=3)


def test_pieces_of_any_size_give_the_lines_of_the_whole(tmp_path: Path) -> None:
    """With bad lines, lines too long, events in wrong places; how far it was read is written in between."""
    chance = random.Random(3)
    path = tmp_path / "process-0.ndjson"
    for _ in range(60):
        lines: list[bytes] = [msgspec.json.encode(HEADER)]
        for i in range(8):
            event: object = Deliver(i + (not chance.randrange(9)), f"0:{i}", i + 1, "aa")
            event = chance.choice([event] * 8 + [Crash(i), End(i)])
            lines.append(chance.choice([msgspec.json.encode(event)] * 9 + [b"{", b"x" * 2 * LINE_BYTES_MAX]))
        text = b"\n".join([*lines, b""])
        path.write_bytes(text)
        tail, found, end = Tail(), [], 0
        while end < len(text):
            end = min(len(text), end + chance.choice([1, 40, 300, 90_000]))
            found += tail.read(path, end)
            tail = msgspec.json.decode(msgspec.json.encode(tail), type=Tail)
        whole = [line if line.fault != TRUNCATED else line._replace(fault=None) for line in read_lines(path)]
        assert found == whole
        assert tail.at == len(text)


def test_a_line_without_its_end_waits_for_it(tmp_path: Path) -> None:
    path = tmp_path / "process-0.ndjson"
    text = msgspec.json.encode(HEADER) + b"\n" + msgspec.json.encode(End(0)) + b"\n"
    path.write_bytes(text[:-4])
    tail = Tail()
    assert [line.header for line in tail.read(path, len(text) - 4)] == [HEADER]
    path.write_bytes(text)
    assert [line.event for line in tail.read(path, len(text))] == [End(0)]
    assert tail.ended
    path.write_bytes(text[:10])
    tail.at = 11
    assert [line.fault for line in tail.read(path, 20)] == [SHORTER]
    assert [line.fault for line in tail.read(tmp_path / "none", 20)] == [
        "cannot be read: No such file or directory"
    ]


def test_a_run_is_read_as_far_as_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "process-0.ndjson"
    lines = [msgspec.json.encode(line) + b"\n" for line in (HEADER, Deliver(0, "0:1", 1, "aa"), End(1))]
    path.write_bytes(b"".join(lines))
    (tmp_path / "process-1.ndjson").write_bytes(b"later")
    run = load_run(tmp_path, {0: len(lines[0] + lines[1])})
    assert run.events == ((Deliver(0, "0:1", 1, "aa"),),)
    assert [problem.reason for problem in run.problems] == [TRUNCATED]
    assert next(problem.reason for problem in read_log(path, 5).problems).startswith("the line is cut off")
