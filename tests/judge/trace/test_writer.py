"""Contents of a log, and open files of its process, when the system cuts writes short or refuses them."""

import errno
import os
import stat
from pathlib import Path

import psutil
import pytest

from antiphon.conformance.judge.trace import (
    End,
    Header,
    LogWriteError,
    LogWriter,
    Receive,
    Recover,
    Send,
    log_name,
    read_log,
)

HEADER = Header(run="r", protocol="rbp", process=0, processes=1, seed=7, messages=0)


def test_a_line_is_whole_however_the_system_cuts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    with LogWriter(tmp_path / log_name(0), HEADER) as log:
        log.send("0:1", 0)
        log.end()
    read = read_log(tmp_path / log_name(0))
    assert read.header == HEADER
    assert len(read.events) == 2
    assert not read.problems


@pytest.mark.parametrize("events", [0, 2])
def test_after_a_write_that_failed_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: int
) -> None:
    path = tmp_path / log_name(0)
    with LogWriter(path, HEADER) as log:
        for _ in range(events):
            log.send("0:1", 0)
        before = path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", _full)
            with pytest.raises(LogWriteError) as refused:
                log.crash()
        told = f"{path}: cannot write event {events}: {os.strerror(errno.ENOSPC)}"
        assert str(refused.value) == f"{told}; {events} events before it are kept"
        with pytest.raises(LogWriteError, match=f"an earlier write failed: {os.strerror(errno.ENOSPC)}"):
            log.end()
    assert path.read_bytes() == before
    assert before.count(b"\n") == events + 1


def test_a_log_that_cannot_begin_says_why_and_leaves_no_file_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = psutil.Process()
    before = process.num_fds()
    with pytest.raises(LogWriteError, match="cannot create the log: No such file or directory"):
        LogWriter(tmp_path / "nowhere" / log_name(0), HEADER)
    monkeypatch.setattr(os, "write", _full)
    with pytest.raises(LogWriteError, match="cannot write the header"):
        LogWriter(tmp_path / log_name(0), HEADER)
    assert process.num_fds() == before


def test_a_log_is_its_owners_to_write_and_everybodys_to_read(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        LogWriter(tmp_path / log_name(0), HEADER).close()
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / log_name(0)).stat().st_mode) == 0o644


def test_closing_twice_closes_one_file(tmp_path: Path) -> None:
    """Between the two another file may get the number of the first."""
    process = psutil.Process()
    before = process.num_fds()
    with LogWriter(tmp_path / log_name(0), HEADER) as log:
        assert process.num_fds() == before + 1
    assert process.num_fds() == before
    with (tmp_path / "another").open("wb") as another:
        log.close()
        assert process.num_fds() == before + 1
        another.write(b"x")
    assert (tmp_path / "another").read_bytes() == b"x"


def test_an_event_after_closing_says_that_the_log_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LogWriter(tmp_path / log_name(0), HEADER)
    log.close()
    monkeypatch.setattr(os, "write", _full)
    with pytest.raises(LogWriteError, match="cannot write event 0: the log is closed"):
        log.end()


def _full(file: int, data: bytes) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("cut", [0, 1, 9])
def test_a_process_that_returns_goes_on_with_its_log(tmp_path: Path, cut: int) -> None:
    """Killed, whether in the middle of a line or between a line and its end."""
    path = tmp_path / log_name(0)
    with LogWriter(path, HEADER) as log:
        log.send("0:1", 0)
        log.receive("0:1")
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - cut)
    with LogWriter.returning(path) as log:
        log.send("0:2", 0)
        log.end()
    read = read_log(path)
    assert read.complete, read.problems
    before = [Send(0, "0:1", 0)] if cut > 1 else [Send(0, "0:1", 0), Receive(1, "0:1")]
    at = len(before)
    assert list(read.events) == [*before, Recover(at), Send(at + 1, "0:2", 0), End(at + 2)]


def test_a_log_that_is_over_damaged_or_not_there_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / log_name(0)
    with pytest.raises(LogWriteError, match="No such file"):
        LogWriter.returning(path)
    with LogWriter(path, HEADER) as log:
        log.end()
    with pytest.raises(LogWriteError, match="the log is over"):
        LogWriter.returning(path)
    path.write_bytes(path.read_bytes() + b"not JSON\n")
    with pytest.raises(LogWriteError, match="not an event"):
        LogWriter.returning(path)
