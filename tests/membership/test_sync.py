"""`SyncGroup.join`: threads without asyncio in a group whose members come and go."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from antiphon import Delivery, View
from antiphon.impl.errors import GroupClosed
from antiphon.impl.group import Keyring
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.membership import Membership
from antiphon.impl.sync import SyncGroup, SyncJoinedGroup

Ports = Callable[[int], list[int]]


def member(ports: list[int], me: int, **settings: Any) -> SyncJoinedGroup:
    """A process that wants to be a member, of two."""
    seeds = [("127.0.0.1", port) for port in ports]
    usual = {"bind": seeds[me], "key": bytes(32), "name": f"m{me}", "timeouts": LOCAL, "expect": len(seeds)}
    return SyncGroup.join("g", seeds=seeds, **{**usual, **settings})


class Lines:
    """An application that keeps what was said, in a thread that notices who calls it."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.busy = False

    def add(self, line: bytes) -> None:
        """Take a moment, in which nobody may ask for the state."""
        self.busy = True
        time.sleep(0.002)
        self.lines.append(line)
        self.busy = False

    def save(self) -> Iterable[bytes]:
        """All, one a piece."""
        assert not self.busy
        return [line + b"\n" for line in self.lines]

    def load(self, pieces: Iterable[bytes]) -> None:
        """Have what another one has."""
        self.lines = b"".join(pieces).splitlines()


def take(group: SyncJoinedGroup, lines: Lines, end: bytes) -> None:
    """Take events until this was said."""
    for event in group:
        if isinstance(event, Delivery):
            lines.add(event.payload)
            if event.payload == end:
                return


def test_threads_join_with_the_state_and_leave(free_ports: Ports) -> None:
    ports = free_ports(2)
    old, new = Lines(), Lines()
    with member(ports, 0, bootstrap=True, state=old) as first:
        taking = threading.Thread(target=take, args=(first, old, b"end"))
        taking.start()
        for count in range(40):
            sent = first.broadcast(b"%d" % count, timeout_s=10)
            assert (sent.source, sent.id) == (first.me, count + 1)
        with member(ports, 1, state=new) as second:
            joining = threading.Thread(target=take, args=(second, new, b"end"))
            joining.start()
            while not new.lines:
                first.broadcast(b"more", timeout_s=10)
                time.sleep(0.01)
            first.broadcast(b"end", timeout_s=10)
            joining.join(20)
            taking.join(20)
            assert not joining.is_alive()
            assert new.lines == old.lines
            assert new.lines[:40] == [b"%d" % count for count in range(40)]
            assert second.view is not None
            assert {one.name for one in second.view.members} == {"m0", "m1"}
            second.leave()
            with pytest.raises(GroupClosed):
                second.broadcast(b"late")
        view = first.next(timeout_s=10)
        assert isinstance(view, View)
        assert [one.name for one in view.left] == ["m1"]


def test_a_leave_to_which_nobody_agrees_says_so(free_ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Membership, "leave", lambda *_: None)
    with member(free_ports(1), 0, bootstrap=True) as group, pytest.raises(TimeoutError, match="has agreed"):
        group.leave(0.1)


def test_a_call_gives_up_in_time_while_another_thread_waits(free_ports: Ports) -> None:
    with member(free_ports(1), 0, bootstrap=True) as group:
        assert isinstance(group.next(timeout_s=10), View)
        taken: list[object] = []
        other = threading.Thread(target=lambda: taken.append(group.next()))
        other.start()
        while not group._taking.locked():
            time.sleep(0.01)
        with pytest.raises(TimeoutError, match=r"nothing within 0.05 s: <Group 'g': open"):
            group.next(timeout_s=0.05)
        group.broadcast(b"one")
        other.join(10)
        assert [type(event) for event in taken] == [Delivery]


def test_a_call_gives_up_in_time_and_loses_no_event(free_ports: Ports) -> None:
    ports = free_ports(2)
    with member(ports, 0, bootstrap=True) as group:
        assert isinstance(group.next(timeout_s=10), View)
        with pytest.raises(TimeoutError, match=r"nothing within 0.05 s: <Group 'g': open"):
            group.next(timeout_s=0.05)
        group.broadcast(b"one")
        event = group.next(timeout_s=10)
        assert isinstance(event, Delivery)
        assert event.payload == b"one"
        assert (group.name, group.reached) == ("m0", 1)
        assert isinstance(group.keys, Keyring)
        assert (group.untaken, group.waiting, group.waits) == (0, 0, ())
        assert (group.suspicions, group.suspected) == ((), ())
        assert group.statistics.exclusions == 0
    with pytest.raises(StopIteration):
        group.next()
    with member(ports, 1, expect=None) as lonely, pytest.raises(TimeoutError):
        lonely.broadcast(b"nobody takes it in", timeout_s=0.1)
