"""A group without asyncio: calls of any thread wait, give up in time or when interrupted, leave nothing."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from antiphon.impl.errors import GroupClosed, GroupFailed, PayloadTooLarge, UnusableAddress
from antiphon.impl.layers import Layers
from antiphon.impl.sync import SyncGroup

KEY = bytes(range(32))


def pair(**settings: object) -> list[SyncGroup]:
    """A group of two, both in this process."""
    bound = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    for each in bound:
        each.bind(("127.0.0.1", 0))
    return [
        SyncGroup("pair", me=me, members=2, bind=bound[me], routes={1 - me: bound[1 - me].getsockname()},
                  key=KEY, **settings)
        for me in range(2)
    ]  # fmt: skip


def test_two_members_deliver_the_same_and_iteration_ends_with_the_group() -> None:
    first, second = pair()
    with second:
        with first:
            for k in range(5):
                assert first.broadcast(b"%d" % k, timeout_s=60) == (0, k + 1)
            assert second.broadcast(b"last", timeout_s=60) == (1, 1)
            taken = [first.next(timeout_s=60) for _ in range(6)]
            assert [second.next(timeout_s=60) for _ in range(6)] == taken
            assert "SyncGroup 'pair': open" in repr(first)
            assert first.statistics.transmissions["data"] >= 1
            assert {wait.of for wait in first.waits} <= {1}, "the token goes round in a quiet group too"
            assert first.waiting_s < 60.0
        assert list(first) == []
        with pytest.raises(GroupClosed, match="is closed"):
            first.broadcast(b"too late")
        with pytest.raises(GroupClosed, match="opened once"):
            first.__enter__()


def test_what_was_delivered_is_there_after_the_end() -> None:
    first, second = pair()
    with second:
        with first:
            first.broadcast(b"1", timeout_s=60)
            first.broadcast(b"2", timeout_s=60)
            second.next(timeout_s=60), second.next(timeout_s=60)
            while first._group.untaken < 2:
                time.sleep(0.001)
        assert [event.payload for event in first] == [b"1", b"2"]


def test_a_call_that_takes_too_long_says_what_is_missing_and_sends_nothing() -> None:
    first, second = pair(layers=Layers(buffer_bytes=1))
    with first:
        with pytest.raises(TimeoutError, match=r"nothing within 0.05 s: <Group 'pair': open"):
            first.next(timeout_s=0.05)
        first.broadcast(b"1", timeout_s=60)
        with pytest.raises(TimeoutError, match="waits for a number after 1 for message 0:1 of process 1"):
            first.broadcast(b"never", timeout_s=0.05)
        with second:
            first.broadcast(b"2", timeout_s=60)
            assert [second.next(timeout_s=60).payload for _ in range(2)] == [b"1", b"2"]


def test_what_the_group_raises_the_call_raises() -> None:
    first, second = pair(stall_s=0.1)
    with pytest.raises(GroupClosed, match="outside `with`"):
        first.broadcast(b"too early")
    with first:
        with pytest.raises(PayloadTooLarge):
            first.broadcast(bytes(2**25))
        with pytest.raises(TypeError, match="encode it first"):
            first.broadcast("text")  # type: ignore[arg-type]
        first.broadcast(b"m")
        with pytest.raises(GroupFailed, match=r"process 1 has not answered for 0.\d s"):
            first.next(timeout_s=60)
    with second:
        taken = SyncGroup(
            "other", me=0, members=2, bind=second.address, routes={1: ("127.0.0.1", 9)}, key=KEY
        )
        with pytest.raises(UnusableAddress, match="in use"):
            taken.__enter__()


def test_a_thread_that_calls_while_the_group_closes_is_released() -> None:
    """The thread takes all events, and asks for more at any moment of the closing."""
    for _ in range(20):
        first, second = pair()
        with second, first:
            readers = [threading.Thread(target=lambda group=group: list(group)) for group in (first, second)]
            for reader in readers:
                reader.start()
            first.broadcast(b"m", timeout_s=60)
        for reader in readers:
            reader.join(60)
        assert not any(reader.is_alive() for reader in readers)


def test_a_thread_that_waits_is_released_when_the_group_closes() -> None:
    first, second = pair()
    ended: list[list[object]] = []
    with second:
        with first:
            reader = threading.Thread(target=lambda: ended.append(list(first)))
            reader.start()
            first.broadcast(b"m", timeout_s=60)
            second.next(timeout_s=60)
        reader.join(60)
    assert len(ended) == 1
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("group")]


LEFT_OPEN = """
import atexit
import sys
import threading
import time
import traceback
from concurrent.futures import Future
from antiphon.impl.sync import SyncGroup
group = SyncGroup("g", me=0, members=2, bind=("127.0.0.1", 0), routes={1: ("127.0.0.1", 9)}, key=None)
atexit.register(lambda: print("at last", "closed" if ": closed" in repr(group) else "open"))
group.__enter__()
main, waits = threading.get_ident(), [threading.Condition.wait.__code__, Future.result.__code__]
def told():
    while [frame.f_code for frame, _ in traceback.walk_stack(sys._current_frames()[main])][:2] != waits:
        time.sleep(0.01)
    print("waits", flush=True)
if sys.argv[1] == "wait":
    threading.Thread(target=told).start()
    try:
        group.next()
    except KeyboardInterrupt:
        print(f"interrupted, {'open' if 'open' in repr(group) else 'closed'}")
"""


@pytest.mark.parametrize(
    ("how", "said"), [("leave", ["at last closed"]), ("wait", ["interrupted, open", "at last closed"])]
)
def test_a_program_that_leaves_a_group_open_ends_and_an_interrupt_ends_the_call(
    tmp_path: Path, how: str, said: list[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(LEFT_OPEN, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, program, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if how == "wait":
            assert process.stdout.readline() == "waits\n"
            process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
        assert (out.splitlines(), err, process.wait(60)) == (said, "", 0)


def test_keys_change_in_the_groups_thread() -> None:
    first, second = pair()
    with pytest.raises(GroupClosed):
        first.rekey(KEY)
    with first, second:
        for group in (first, second):
            group.rekey(KEY[::-1])
        first.broadcast(b"m", timeout_s=60)
        assert second.next(timeout_s=60).payload == b"m"
