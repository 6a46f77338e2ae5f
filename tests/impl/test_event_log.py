"""The log of a group has all that happened and is judged to hold; what had to be dropped cannot be missed."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from pathlib import Path

import pytest

from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import TRUNCATED, Violation, load_run
from antiphon.impl import tracing
from antiphon.impl.event_log import EventLog, LogRefused
from antiphon.impl.group import Group
from antiphon.impl.protocols.rbp import RbpViolation


def log(directory: Path, me: int = 0, **more: int) -> EventLog:
    """The log of one of two members."""
    return EventLog(directory, group="pair", me=me, members=2, protocol="rbp", **more)


def test_the_logs_of_a_group_are_complete_and_hold(tmp_path: Path) -> None:
    async def scenario() -> None:
        bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        with log(tmp_path, 0) as first, log(tmp_path, 1) as second:
            a, b = (
                Group("pair", me=me, members=2, bind=bound[me], routes={1 - me: bound[1 - me].getsockname()},
                      tracer=tracer, key=None)
                for me, tracer in ((0, first), (1, second))
            )  # fmt: skip
            async with asyncio.timeout(60), a, b:
                for k in range(200):
                    await (a, b)[k % 2].broadcast(b"%d" % k)
                for group in (a, b):
                    for _ in range(200):
                        await anext(group)

    asyncio.run(scenario())
    run = load_run(tmp_path)
    assert not run.problems
    judged = judge_run(run)
    assert {outcome.value for outcome in judged.outcomes.values()} == {"holds"}
    assert sum(map(len, run.events)) > 200 * 3


def test_what_finds_the_queue_full_is_counted_told_and_leaves_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    go = threading.Event()
    write = os.write
    kept = log(tmp_path, events_max=4)
    monkeypatch.setattr(os, "write", lambda descriptor, data: (go.wait(60), write(descriptor, data))[1])
    for k in range(10):
        kept.record(tracing.Send(0, (0, k + 1), 1, "data", 10))
    assert 2 <= kept.dropped <= 6  # of ten four wait, and up to four are being written
    assert f"{kept.dropped} dropped" in repr(kept)
    go.set()
    while len(kept._queue) > 0:
        pass
    for k in (11, 12):
        kept.record(tracing.Send(0, (0, k), 1, "data", 10))
    with caplog.at_level(logging.WARNING):
        kept.close()
    assert f"{kept.dropped} events dropped so far" in caplog.text
    problems = load_run(tmp_path).logs[0].problems
    assert [event.i for event in load_run(tmp_path).logs[0].events][-1] == 11
    assert any("event 10 where event" in problem.reason for problem in problems)
    assert any(problem.reason == TRUNCATED for problem in problems)


def test_a_write_that_fails_is_told_and_the_log_ends_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept = log(tmp_path)

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        kept.record(tracing.Receive(0, (1, 1), "ack"))
        while kept.failure is None:
            pass
    kept.record(tracing.Receive(0, (1, 2), "ack"))
    kept.close()
    assert "No space left" in repr(kept)
    assert "the log ends there" in caplog.text
    assert load_run(tmp_path).logs[0].events == ()


def test_what_others_did_wrong_is_in_the_log_and_what_the_schema_lacks_is_not(tmp_path: Path) -> None:
    with log(tmp_path) as kept:
        kept.record(tracing.Step(0, "accept"))
        kept.record(tracing.Violation(0, RbpViolation.TWO_PAYLOADS, 1, "x" * 500))
    said, _ = load_run(tmp_path).logs[0].events
    assert isinstance(said, Violation)
    assert said.what.startswith("two_payloads")
    assert len(said.what) == 200


def test_a_log_is_never_overwritten_and_who_leaves_early_has_not_finished_it(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), log(tmp_path):
        raise RuntimeError
    assert TRUNCATED in [problem.reason for problem in load_run(tmp_path).logs[0].problems]
    with pytest.raises(LogRefused, match="never overwritten: choose another directory"):
        log(tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(LogRefused, match="cannot be created: Not a directory"):
        log(tmp_path / "file" / "below")
