"""Reading many lines at a time gives the same result as reading line by line."""

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.judge.trace import (
    LINE_BYTES_MAX,
    Block,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Event,
    Header,
    LogLine,
    Receive,
    Send,
    digest,
    read_lines,
    read_log,
    read_parts,
)
from antiphon.conformance.judge.trace import reader as reader_module

HEADER = (
    msgspec.json.encode(Header(run="r", protocol="p", process=0, processes=2, seed=7, messages=4)) + b"\n"
)
CONTENT = digest(b"")
KINDS = [
    lambda i, m: Broadcast(i, m, CONTENT),
    lambda i, m: Deliver(i, m, 3, CONTENT),
    lambda i, m: CoreBroadcast(i, m, CONTENT),
    lambda i, m: CoreDeliver(i, m, 10**17, CONTENT),
    lambda i, m: Send(i, m, 0),
    Receive,
    lambda i, m: Deliver(i, m, 1, "00"),
    lambda i, m: Deliver(i, m, 2**63 - 1, CONTENT),
    lambda i, m: Send(i, f"{m}{'7' * 20}", 2),
]
CHANGES = [
    (b'":', b'" :'), (b'"i":', b'"i":0'), (b'"i":', b'"i":1'), (b'"m"', b'"d"'), (b'"d"', b'"m"'),
    (b"deliver", b"broadcast"), (b"broadcast", b"deliver"), (b"send", b"receive"), (b"receive", b"send"),
    (b"core-", b""), (b'"kind":"', b'"kind":"core-'), (b"}\n", b"}\r\n"), (b"}\n", b"}}\n"), (b"\n", b""),
    (b"}\n", b"} \n"), (b"{", b"[{"), (b'"number":', b'"number":0'), (b"a", b"A"), (b"0", b"00"),
    (b":", b":-"), (b'"to"', b'"number"'), (b"}\n", b',"to":1}\n'), (b"}\n", b',"digest":""}\n'),
    (b"}\n", b" " * LINE_BYTES_MAX + b"}\n"), (b"{", b"\n{"),
]  # fmt: skip


def by_lines(path: Path) -> list[LogLine]:
    return list(read_lines(path))


def by_parts(path: Path) -> list[LogLine]:
    """Lines of a log, as if each was read alone; a line in a block has no text."""
    told: list[LogLine] = []
    for part in read_parts(path):
        if isinstance(part, Block):
            told += [LogLine(n, b"", None, event) for n, event in zip(part.lines, part.events(), strict=True)]
        else:
            told.append(part)
    return told


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 10**18)), max_size=40),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(CHANGES)), max_size=2),
    st.integers(0, 41),
    st.integers(1, 2_000),
    st.integers(1, 3),
)
def test_a_log_says_the_same_in_blocks_and_line_by_line(
    kinds: list[tuple[object, int]],
    changes: list[tuple[int, tuple[bytes, bytes]]],
    crash_at: int,
    piece: int,
    few: int,
) -> None:
    """The two ways agree on lines that are spelled otherwise, damaged or out of place, and on any ends of
    blocks.
    """
    events: list[Event] = [kind(i, f"{count % 3}:{count}") for i, (kind, count) in enumerate(kinds)]  # type: ignore[operator]
    if crash_at < len(events):
        events[crash_at] = Crash(crash_at)
    lines = [HEADER, *(msgspec.json.encode(event) + b"\n" for event in [*events, End(len(events))])]
    for at, (old, new) in changes:
        lines[at % len(lines)] = lines[at % len(lines)].replace(old, new, 1)
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "log"
        path.write_bytes(b"".join(lines))
        with patch.multiple(reader_module, _PIECE_BYTES=piece, _FEW=few):
            expected, found = by_lines(path), by_parts(path)
            assert [line[2:] for line in found] == [line[2:] for line in expected]
            assert [line.number for line in found] == [line.number for line in expected]
            assert all(f.text == e.text for f, e in zip(found, expected, strict=True) if f.fault or f.text)


def test_a_log_of_our_writer_is_read_in_blocks(tmp_path: Path) -> None:
    """All but the first line and the last."""
    events = [Deliver(i, f"0:{i}", i + 1, CONTENT) for i in range(500)]
    path = tmp_path / "log"
    path.write_bytes(HEADER + b"".join(msgspec.json.encode(event) + b"\n" for event in [*events, End(500)]))
    first, block, last = read_parts(path)
    assert isinstance(block, Block)
    assert (block.lines, list(block.events())) == (range(2, 502), events)
    assert isinstance(first, LogLine)
    assert isinstance(last, LogLine)
    assert read_log(path).lines == tuple(range(2, 503))
