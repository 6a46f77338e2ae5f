"""Reader and writer agree on a log; damage is located and costs nothing else."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance import extras
from antiphon.conformance.judge.trace import (
    CUT_OFF,
    LINE_BYTES_MAX,
    TOO_LONG,
    TRUNCATED,
    Alarm,
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Decide,
    Deliver,
    End,
    Event,
    Header,
    Install,
    LogLine,
    LogWriteError,
    LogWriter,
    Propose,
    Receive,
    Safe,
    Send,
    Suspect,
    Transitional,
    Trust,
    Violation,
    datagram_id,
    digest,
    load_run,
    log_name,
    message_id,
    read_lines,
    read_log,
    reader,
)

HEADER = Header(run="r", protocol="rbp", process=0, processes=2, seed=7, messages=1, loss=0.1)

HEADER_LINE = msgspec.json.encode(HEADER) + b"\n"

pairs = st.builds(message_id, st.integers(0, 9), st.integers(0, 10**9))
digests = st.binary(max_size=20).map(digest)
acts = st.one_of(
    st.tuples(st.just("broadcast"), st.tuples(pairs, digests)),
    st.tuples(st.just("deliver"), st.tuples(pairs, st.integers(1, 10**6), digests)),
    st.tuples(st.just("core_broadcast"), st.tuples(pairs, digests)),
    st.tuples(st.just("core_deliver"), st.tuples(pairs, st.integers(1, 10**6), digests)),
    st.tuples(st.just("violation"), st.tuples(st.integers(0, 9), st.text(max_size=50))),
    st.tuples(st.just("install"), st.tuples(st.integers(1, 9), st.lists(st.integers(0, 9)))),
    st.tuples(st.just("transitional"), st.tuples(st.lists(st.integers(0, 9)))),
    st.tuples(st.just("safe"), st.tuples(pairs)),
    st.tuples(st.sampled_from(["propose", "decide"]), st.tuples(st.integers(0, 9), st.text(max_size=9))),
    st.tuples(st.sampled_from(["suspect", "trust"]), st.tuples(st.integers(0, 9))),
    st.tuples(st.just("alarm"), st.tuples()),
    st.tuples(st.just("send"), st.tuples(pairs, st.integers(0, 9))),
    st.tuples(st.just("receive"), st.tuples(pairs)),
)


def write(path: Path, header: Header = HEADER) -> Path:
    """A small complete log: lines 2 to 6 are its events."""
    with LogWriter(path, header) as log:
        log.broadcast("0:1", digest(b"one"))
        log.send("0:1", 1)
        log.receive("1:1")
        log.deliver("0:1", 2, digest(b"one"))
        log.end()
    return path


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def as_read(field: object) -> object:
    """Members are read as a tuple."""
    return tuple(field) if isinstance(field, list) else field


@given(st.lists(acts, max_size=20), st.booleans())
def test_what_is_written_is_read(history: list[tuple[str, tuple[object, ...]]], crashes: bool) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / log_name(0)
        with LogWriter(path, HEADER) as log:
            for kind, fields in history:
                getattr(log, kind)(*fields)
            if crashes:
                log.crash()
            log.end()
        read = read_log(path)
    kinds = {
        "broadcast": Broadcast, "deliver": Deliver, "core_broadcast": CoreBroadcast,
        "core_deliver": CoreDeliver, "violation": Violation, "send": Send, "receive": Receive,
        "install": Install, "transitional": Transitional, "safe": Safe, "propose": Propose, "decide": Decide,
        "suspect": Suspect, "trust": Trust, "alarm": Alarm,
    }  # fmt: skip
    expected: list[Event] = [
        kinds[kind](i, *map(as_read, fields)) for i, (kind, fields) in enumerate(history)
    ]
    if crashes:
        expected.append(Crash(len(expected)))
    expected.append(End(len(expected)))
    assert read.header == HEADER
    assert list(read.events) == expected
    assert read.lines == tuple(range(2, len(expected) + 2))
    assert read.complete


@given(
    st.builds(
        Header,
        run=st.text(min_size=1),
        protocol=st.text(min_size=1),
        process=st.integers(0, 9),
        processes=st.integers(1, 10_000),
        seed=st.integers(-(2**63), 2**63 - 1),
        messages=st.integers(0, 2**63 - 1),
        loss=st.floats(0, 1),
    )
)
def test_a_header_survives_its_encoding(header: Header) -> None:
    assert msgspec.json.decode(msgspec.json.encode(header), type=Header) == header


def test_the_documented_example_is_what_the_writer_writes(tmp_path: Path) -> None:
    example = re.search(
        r"```json\n(.*?)```",
        (Path(__file__).parents[3] / "docs/trace-schema.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert example
    path = tmp_path / log_name(0)
    header = Header(
        run="rbp-3x2000-7", protocol="rbp", process=0, processes=3, seed=7, messages=2000,
        loss=0.1, duplication=0.05, reordering=0.05,
    )  # fmt: skip
    payload_digest = "cae66941d9efbd404e4d88758ea67670"
    with LogWriter(path, header) as log:
        log.broadcast(message_id(0, 1), payload_digest)
        log.send(datagram_id(0, 1), 1)
        log.receive(datagram_id(1, 4))
        log.deliver(message_id(0, 1), 2, payload_digest)
        log.end()
    assert path.read_text(encoding="utf-8") == example.group(1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("at", "replacement", "line", "reason"),
    [
        (3, [b'{"kind":"send","i":1,"d":"0:\n'], 3, "not an event"),
        (3, [b"\xff\xfe\n"], 3, "not an event"),
        (3, [b"\n"], 4, "event 2 where event 1 must stand"),
        (3, [b'{"kind":"teleport","i":1}\n'], 3, "teleport"),
        (3, [b'{"kind":"send","i":1,"d":"0:1","at":3.5}\n'], 3, "missing required field `to`"),
        (3, [b'{"kind":"send","i":1,"d":"nowhere"}\n'], 3, "$.d"),
        (3, [b'{"kind":"send","i":7,"d":"0:1","to":1}\n'], 3, "event 7 where event 1 must stand"),
        (3, [], 3, "event 2 where event 1 must stand"),
        (6, [], 5, "truncated"),
        (6, [b'{"kind":"send","i":4,"d":"0:9","to":1}'], 6, "truncated"),
        (6, [b'{"kind":"en'], 6, "cut off"),
        (3, [b'{"kind":"send","i":1,"d":"' + b"7" * 70_000 + b'"}\n'], 3, "longer than 65,536 bytes"),
        (3, [b'{"kind":"' + b"x" * 60_000 + b'"}\n'], 3, "not an event"),
        (3, [b'{"kind":"send","i":1,"' + b"x" * 60_000 + b'":1}\n'], 3, "not an event"),
        (1, [b'{"schema":"' + b"x" * 60_000 + b'","version":1}\n'], 1, "is not 'antiphon.trace'"),
        (6, [b'{"kind":"end","i":4}\n', b'{"kind":"send","i":5,"d":"0:9","to":1}\n'], 7, "after end"),
        (5, [b'{"kind":"crash","i":3}\n', b'{"kind":"send","i":4,"d":"0:9","to":1}\n'], 6, "crashed"),
        (1, [b'{"schema":"antiphon.trace","version":2}\n'], 1, "version 2"),
        (1, [b'{"schema":"other.trace","version":1}\n'], 1, "schema 'other.trace'"),
        (1, [b'{"schema":"antiphon.trace","version":1,"run":"r"}\n'], 1, "not a header"),
        (1, [HEADER_LINE.replace(b"rbp", b"r\xffp")], 1, "not a header"),
        (1, [HEADER_LINE.replace(b'"seed":7', b'"seed":9223372036854775808')], 1, "not a header"),
        (1, [b'{"schema":' + b"[" * 30_000 + b"\n"], 1, "no header"),
        (1, [b'{"x":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n"], 1, "no header"),
        (3, [b'{"x":' + b"[" * 30_000 + b"\n"], 3, "not an event"),
        (3, [b'{"kind":"send","i":9223372036854775808,"d":"0:1","to":1}\n'], 3, "not an event"),
        (1, [b"garbage\n"], 1, "no header"),
        (1, [], 1, "no header"),
    ],
)
def test_damage_is_located(tmp_path: Path, at: int, replacement: list[bytes], line: int, reason: str) -> None:
    path = write(tmp_path / log_name(0))
    lines = lines_of(path)
    path.write_bytes(b"".join([*lines[: at - 1], *replacement, *lines[at:]]))
    log = read_log(path)
    [problem] = [problem for problem in log.problems if problem.line == line]
    assert reason in problem.reason
    assert len(problem.reason) <= 200
    assert str(log.problems[0]).startswith(f"{path}:{log.problems[0].line}: ")
    survivors = {bytes(one) for one in lines[1 : at - 1] + lines[at:]}
    kept = {msgspec.json.encode(event) + b"\n" for event in log.events}
    assert {line.strip() for line in survivors} <= {line.strip() for line in kept}, "a good line was lost"


@given(st.data())
def test_any_cut_keeps_every_whole_line_and_is_noticed(data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        path = write(Path(name) / log_name(0))
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole) - 2))  # without the end of the last line nothing is lost
        path.write_bytes(whole[:cut])
        log = read_log(path)
    assert log.problems
    assert len(log.events) >= max(0, whole[:cut].count(b"\n") - 1)


def valid_log() -> bytes:
    with TemporaryDirectory() as name:
        return write(Path(name) / log_name(0)).read_bytes()


VALID = valid_log()
SNIPPETS = [
    b"\xef\xbb\xbf", b"\xff", b"\x00", b"\r\n", b"\n", b'"', b"\\ud800", b"\\", b"{", b"[" * 5_000, b"}",
    b"1e400", b"-0", b"9223372036854775808", b'"i":1,', b'"i":9,"i":1,', b"\xc3", b"x" * 70_000,
    b" " * 65_500, b'{"kind":"end","i":4}',
]  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, len(VALID)), st.integers(0, 9), st.sampled_from(SNIPPETS)), max_size=4)
)
def test_no_bytes_make_the_reader_fail(changes: list[tuple[int, int, bytes]]) -> None:
    """A line is one fault at most, with a reason of bounded length."""
    content = VALID
    for at, removed, inserted in changes:
        content = content[:at] + inserted + content[at + removed :]
    with TemporaryDirectory() as name:
        path = Path(name) / log_name(0)
        path.write_bytes(content)
        problems = read_log(path).problems
    assert all(len(problem.reason) <= 200 for problem in problems)
    lines = [problem.line for problem in problems]
    assert lines == sorted(set(lines))
    assert lines or content.replace(b"\r\n", b"\n").splitlines()[0].startswith(b'{"schema"')


@given(st.binary(max_size=200))
def test_bytes_that_are_no_log_are_a_problem(content: bytes) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / log_name(0)
        path.write_bytes(content)
        assert read_log(path).problems


def test_the_longest_line_is_read_and_a_longer_one_is_a_fault(tmp_path: Path) -> None:
    path = write(tmp_path / log_name(0))
    first, *rest = path.read_bytes().splitlines(keepends=True)
    for length, problems in ((LINE_BYTES_MAX, []), (LINE_BYTES_MAX + 1, [(1, TOO_LONG)])):
        path.write_bytes(first[:-1].ljust(length - 1) + b"\n" + b"".join(rest))
        log = read_log(path)
        assert [(problem.line, problem.reason) for problem in log.problems] == problems
        assert (log.header is None, len(log.events)) == (bool(problems), 5)


def test_a_log_of_a_header_is_truncated(tmp_path: Path) -> None:
    path = write(tmp_path / log_name(0))
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert [(problem.line, problem.reason) for problem in read_log(path).problems] == [(1, TRUNCATED)]


def test_every_line_comes_once_with_its_number(tmp_path: Path) -> None:
    lines = list(read_lines(write(tmp_path / log_name(0))))
    assert [(line.number, line.fault) for line in lines] == [(number, None) for number in range(1, 7)]


def test_an_empty_file_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert list(read_lines(tmp_path / "empty")) == [LogLine(0, b"", fault="the file is empty")]


def test_a_line_without_end_is_never_held_whole(tmp_path: Path) -> None:
    """300 MB, most of them a hole in the file, in a process that may have 150 MB more than it starts with."""
    path = write(tmp_path / log_name(0))
    with path.open("r+b") as file:
        file.seek(len(HEADER_LINE) + 300_000_000)
        file.write(b"x\n")
    program = f"""
import resource
from pathlib import Path
from antiphon.conformance.judge.trace import read_log
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 150_000_000,) * 2)
print(*[(problem.line, problem.reason) for problem in read_log(Path({str(path)!r})).problems])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "(7, 'the line is longer than 65,536 bytes')\n"


def test_a_missing_or_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "nothing", "No such file or directory"), (tmp_path, "Is a directory")):
        assert [str(problem) for problem in read_log(path).problems] == [f"{path}: cannot be read: {why}"]
    (tmp_path / "empty").touch()
    assert str(read_log(tmp_path / "empty").problems[0]) == f"{tmp_path / 'empty'}: the file is empty"


def test_a_log_that_needs_an_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "process-0.ndjson.zst"
    log.write_bytes(b"nothing")
    assert next(problem.reason for problem in read_log(log).problems).startswith("cannot be read: ")
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(extras.MissingExtra, match=r"zst needs Zstandard, .* pip install 'antiphon\[zstd\]'"):
        read_log(log)


def test_what_is_wrong_with_the_last_line_is_told_before_a_file_that_cannot_be_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaks(BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            if self.tell() == len(self.getvalue()):
                raise OSError(5, "Input/output error")
            return super().read1(size)

    unreadable = "cannot be read: Input/output error"
    for line, told in ((b"not JSON\n", "not an event: 'not JSON'"), (b"", unreadable)):
        content = HEADER_LINE + line
        monkeypatch.setattr(reader, "plain", lambda path, mode, content=content: Breaks(content))
        (problem,) = read_log(tmp_path / log_name(0)).problems
        assert problem.line == 1 + bool(line)
        assert problem.reason.startswith(told)


def test_an_existing_log_is_never_overwritten(tmp_path: Path) -> None:
    path = write(tmp_path / log_name(0))
    before = path.read_bytes()
    with pytest.raises(LogWriteError, match="never overwritten"):
        LogWriter(path, HEADER)
    assert path.read_bytes() == before


def test_a_closed_log_refuses_events(tmp_path: Path) -> None:
    log = LogWriter(tmp_path / log_name(0), HEADER)
    log.close()
    with pytest.raises(LogWriteError, match="closed"):
        log.send("0:1", 1)


def test_a_full_disk_is_reported_with_file_event_and_reason(tmp_path: Path) -> None:
    """The file-size limit stands for the full disk: the kernel writes a part of the line, then refuses."""
    path = tmp_path / log_name(0)
    program = f"""
import resource
from pathlib import Path
from antiphon.conformance.judge.trace import Header, LogWriteError, LogWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
log = LogWriter(Path({str(path)!r}), Header(
    run="r", protocol="rbp", process=0, processes=1, seed=7, messages=0
))
try:
    while True:
        log.send("0:1", 1)
except LogWriteError as error:
    print(error)
try:
    log.end()
except LogWriteError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    first, second = ran.stdout.splitlines()
    events = len(lines_of(path)) - 2
    assert first == f"{path}: cannot write event {events}: File too large; {events} events before it are kept"
    assert second.endswith("an earlier write failed: File too large")
    log = read_log(path)
    assert len(log.events) == events
    assert [problem.reason for problem in log.problems] == [CUT_OFF]


def test_a_killed_process_loses_at_most_the_line_it_was_writing(tmp_path: Path) -> None:
    path = tmp_path / log_name(0)
    program = f"""
from pathlib import Path
from antiphon.conformance.judge.trace import Header, LogWriter
log = LogWriter(Path({str(path)!r}), Header(
    run="r", protocol="rbp", process=0, processes=1, seed=7, messages=0
))
while True:
    log.send("0:1", 1)
    print(log.events, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout
        told = 0
        while told < 50:
            told = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    log = read_log(path)
    assert len(log.events) >= told
    assert [event.i for event in log.events] == list(range(len(log.events)))
    reason = log.problems[-1].reason
    assert reason in (TRUNCATED, CUT_OFF)  # between two lines, or within one


def test_a_run_is_its_logs_and_leaves_other_files_alone(tmp_path: Path) -> None:
    for process in range(2):
        write(tmp_path / log_name(process), msgspec.structs.replace(HEADER, process=process))
    (tmp_path / "relay.json").write_text("{}", encoding="utf-8")
    run = load_run(tmp_path)
    assert run.header == HEADER
    assert [len(events) for events in run.events] == [5, 5]
    assert not run.faults


def test_a_missing_log_is_a_problem_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path / log_name(1), msgspec.structs.replace(HEADER, process=1))
    run = load_run(tmp_path)
    assert any(p.path.name == "process-0.ndjson" and "is missing" in p.reason for p in run.problems)
    assert len(run.events[1]) == 5


def test_a_log_of_another_run_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path / log_name(0))
    write(tmp_path / log_name(1), msgspec.structs.replace(HEADER, process=0, seed=8))
    reasons = [str(problem) for problem in load_run(tmp_path).faults]
    assert any("the header names process 0, the file process 1" in reason for reason in reasons)
    assert any("seed is 8 here and 7" in reason for reason in reasons)


def test_a_directory_without_logs_is_a_problem_of_no_line(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "absent"):
        (problem,) = load_run(directory).problems
        assert problem.line == 0
        assert str(problem).startswith(f"{directory}: no log")
