"""The first list alone, on schedules that a seed draws: processes ask, are lost, end, and begin again."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import pytest

from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.founding import LISTENS, SEEK_MS, Founding
from antiphon.impl.membership.member import Member

PLACES = 4
ADDRESSES = [("10.0.0.1", 7_000 + place) for place in range(PLACES)]


class Life(NamedTuple):
    """One run of a process, which asks from its beginning to its end."""

    member: Member
    begins: float
    ends: float


def drawn(rng: random.Random) -> list[Life]:
    """Runs at each address but the founder's, one after the other; the last one never ends."""
    lives = []
    for place in range(1, PLACES):
        begins = rng.uniform(0.0, 1_500.0)
        for run in range(rng.randrange(3), -1, -1):
            ends = begins + rng.uniform(5.0, 2_000.0) if run else float("inf")
            incarnation = bytes(12) + int(begins).to_bytes(3) + bytes([place])
            lives.append(Life(Member(incarnation, f"p{place}", *ADDRESSES[place]), begins, ends))
            begins = ends + rng.uniform(5.0, 600.0)
    return lives


def founded(rng: random.Random, lives: list[Life], founds: int) -> tuple[float, tuple[Member, ...]]:
    """Time and members of the first list; a fifth of the requests is lost."""
    me = Member(bytes(15) + b"\x01", "p0", *ADDRESSES[0])
    founding = Founding(me, ADDRESSES, (), founds, bootstrap=False, timeouts=LOCAL)
    founding.start(0.0)
    asks = [
        (life.begins + k * SEEK_MS, life)
        for life in lives
        for k in range(60)
        if life.begins + k * SEEK_MS < life.ends and rng.random() < 0.8
    ]
    for now, life in sorted(asks, key=lambda ask: ask[0]):
        founding.request(life.member, life.member.address, now, founds=False)
        if members := founding.first_list(now):
            return now, members
    return float("inf"), ()


def test_each_on_the_first_list_has_asked_since_the_last_of_them_began(
    often: Callable[[int, int], int],
) -> None:
    """A process that had ended by then would block the group: it counts for the majority, and is silent."""
    sizes = set()
    for seed in range(often(300, 3_000)):
        rng = random.Random(seed)
        lives = drawn(rng)
        founds = rng.randrange(2, PLACES + 1)
        now, members = founded(rng, lives, founds)
        listed = [life for life in lives if life.member in members]
        assert len(members) >= founds, f"seed {seed}: {members}"
        assert members[0].name == "p0", f"seed {seed}"
        assert len({member.address for member in members}) == len(members), f"seed {seed}"
        assert 2 * len(members) > PLACES, f"seed {seed}: more than half of the seeds"
        assert now >= LISTENS * LOCAL.heartbeat_ms, f"seed {seed}"
        last = max(life.begins for life in listed)
        assert all(life.ends > last for life in listed), f"seed {seed}: {members} at {now}"
        sizes.add(len(members))
    assert sizes == {3, 4}


@pytest.mark.parametrize("exists", [True, False])
def test_a_group_that_is_heard_of_is_not_founded_again(*, exists: bool) -> None:
    """Nor is one that was heard of less than `exclude_ms` ago; after that it is over."""
    me = Member(bytes(15) + b"\x01", "p0", *ADDRESSES[0])
    founding = Founding(me, ADDRESSES[:2], (), 2, bootstrap=False, timeouts=LOCAL)
    founding.start(0.0)
    if exists:
        founding.exists_at = 50.0
    other = Member(bytes(15) + b"\x02", "p1", *ADDRESSES[1])
    times = [10.0 * k for k in range(int(LOCAL.exclude_ms / 10.0) + 30)]
    made = []
    for now in times:
        founding.request(other, other.address, now, founds=False)
        made.append(bool(founding.first_list(now)))
    over = 50.0 + LOCAL.exclude_ms if exists else LISTENS * LOCAL.heartbeat_ms
    assert made[1:] == [now >= over for now in times[1:]]


@pytest.mark.parametrize("earlier", [True, False])
def test_of_two_founders_that_hear_each_other_the_earlier_run_founds(*, earlier: bool) -> None:
    me = Member(bytes(15) + b"\x05", "p0", *ADDRESSES[0])
    other = Member(bytes(15) + (b"\x01" if earlier else b"\x09"), "p1", *ADDRESSES[1])
    founding = Founding(me, ADDRESSES[:2], (), 2, bootstrap=False, timeouts=LOCAL)
    founding.start(0.0)
    found: tuple[Member, ...] = ()
    for k in range(10):
        founding.request(other, other.address, 10.0 + k * SEEK_MS, founds=True)
        found = found or founding.first_list(10.0 + k * SEEK_MS)
    assert found == (() if earlier else (me, other))
