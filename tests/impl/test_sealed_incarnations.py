"""With a key a member hears what others in their present runs send it in its own, once, whatever happens.

The attacker here has every frame that was ever sent, and may hand in any of them, changed or not, anywhere,
from any member's address, as often as it likes.
"""

from __future__ import annotations

import random

import pytest

from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.transport.incarnations import (
    CHANCE_BYTES,
    GREETINGS_MAX,
    GREETINGS_MS,
    Incarnations,
    incarnation,
)
from antiphon.impl.transport.sealing import FRAME_BYTES, SEAL_BYTES, Keyring, Sealed
from antiphon.impl.transport.wire import Rejected

KEY = bytes(range(32))
MEMBERS = 3

Frame = tuple[int, int, bytes]
"""Sender, receiver, bytes."""


def member(me: int, run: int = 1, *, group: str = "g", key: bytes = KEY) -> Incarnations:
    own = incarnation(run, random.Random(f"{me}:{run}").randbytes(CHANCE_BYTES))
    return Incarnations(me, MEMBERS, own, Sealed(group, me, own, Keyring(key)))


def group(run: int, **options: str) -> list[Incarnations]:
    return [member(me, run, **options) for me in range(MEMBERS)]  # type: ignore[arg-type]


def sent(members: list[Incarnations]) -> list[Frame]:
    return [(me, to, data) for me, each in enumerate(members) for to, data in each.frames_to_send()]


def played(members: list[Incarnations], count: int, *, run: int) -> list[Frame]:
    """All greet, then each sends so many to all, over a network without faults: every frame that was sent."""
    frames: list[Frame] = []
    for each in members:
        each.start(0.0)
    for k in range(count + 1):
        while flying := sent(members):
            frames += flying
            for sender, to, data in flying:
                members[to].received(sender, data, 0.0)
        if k == count:
            return frames
        for me, each in enumerate(members):
            for to in {0, 1, 2} - {me}:
                each.send(to, b"run %d: %d to %d, number %d" % (run, me, to, k), 0.0)
    raise AssertionError


def changed(generator: random.Random, frame: Frame, frames: list[Frame]) -> Frame:
    """A frame as an attacker hands it in: itself, elsewhere, or with other bytes."""
    sender, to, data = frame
    match generator.randrange(6):
        case 0:
            sender, to = generator.sample(range(MEMBERS), 2)
        case 1:
            at = generator.randrange(8 * len(data))
            data = data[: at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1 :]
        case 2:
            data = data[: generator.randrange(len(data))] + generator.randbytes(generator.randrange(3))
        case 3:
            at, other = generator.randrange(len(data)), generator.choice(frames)[2]
            data = data[:at] + other[at:]
    return (sender, to, data)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_what_comes_out_was_sent_in_this_run_to_this_member_and_comes_once(seed: int) -> None:
    """The attacker carries all frames, loses some, and has those of earlier runs and of other groups."""
    generator = random.Random(seed)
    frames = [frame for run in (1, 2) for frame in played(group(run), 5, run=run)]
    frames += played(group(3, group="h"), 3, run=3)
    frames += played([member(me, 3, key=KEY[::-1]) for me in range(MEMBERS)], 3, run=3)
    members = group(4)
    for each in members:
        each.start(0.0)
    out: list[tuple[int, int, bytes]] = []
    kinds = set()
    for k in range(400):
        now = 10.0 * k
        for me, each in enumerate(members):
            to = generator.choice([q for q in range(MEMBERS) if q != me])
            each.send(to, b"run 4: %d to %d, number %d" % (me, to, k), now)
        new = sent(members)
        frames += new
        handed = [frame for frame in new if generator.random() < 0.8]
        handed += [changed(generator, frame, frames) for frame in generator.choices(frames, k=10)]
        generator.shuffle(handed)
        for sender, to, data in handed:
            result = members[to].received(sender, data, now)
            if isinstance(result, Rejected):
                kinds.add(result.kind)
            elif result:
                assert result.startswith(b"run 4: %d to %d, " % (sender, to)), result
                out.append((sender, to, result))
    assert len(out) == len(set(out)) > 300
    assert kinds == {
        Rejection.TRUNCATED, Rejection.FORGED, Rejection.REPLAYED, Rejection.FOREIGN_GROUP,
        Rejection.FOREIGN_INCARNATION,
    }  # fmt: skip


def test_what_nobody_with_a_key_sealed_is_never_answered() -> None:
    victim = member(0)
    generator = random.Random(1)
    true = played(group(9), 2, run=9)
    for frame in (frame for frame in true if frame[1] == 0):
        for _ in range(200):
            data = bytearray(frame[2])
            data[generator.randrange(len(data))] ^= generator.randrange(1, 256)
            assert isinstance(victim.received(frame[0], bytes(data), 0.0), Rejected)
            assert isinstance(victim.received(frame[0], generator.randbytes(len(data)), 0.0), Rejected)
        assert isinstance(victim.received(3 - frame[0], frame[2], 0.0), Rejected)
    assert victim.frames_to_send() == []
    assert not victim._known
    assert not victim._greetings


def test_replays_of_an_earlier_run_are_answered_with_no_more_than_they_bring() -> None:
    """Replayed frames are authentic, so their sender may still run; greetings for it are few."""
    old = [frame for frame in played(group(1), 20, run=1) if frame[:2] == (1, 0)]
    victim = member(0, run=2)
    for k in range(10_000):
        assert not isinstance(victim.received(1, old[k % len(old)][2], 0.1 * k), bytes)
    answers = victim.frames_to_send()
    assert {len(answer.data) for answer in answers} == {FRAME_BYTES + SEAL_BYTES}
    assert {answer.to for answer in answers} == {1}
    assert 0 < len(answers) <= GREETINGS_MAX * (1 + 1_000.0 / GREETINGS_MS)
    assert not victim._known


def introduced(one: Incarnations, victim: Incarnations) -> list[bytes]:
    """Process 1 learns of process 0, which gets the greeting alone; what it then sends, name and data."""
    one.start(0.0)
    (greeting,) = (frame.data for frame in one.frames_to_send() if frame.to == 0)
    assert victim.received(1, greeting, 0.0) is None
    *_, answer = (frame.data for frame in victim.frames_to_send() if frame.to == 1)
    assert one.received(0, answer, 0.0) == b"", "it names this run of process 1"
    one.send(0, b"data", 0.0)
    return [frame.data for frame in one.frames_to_send() if frame.to == 0]


@pytest.mark.parametrize("heard", [False, True])
def test_what_an_earlier_run_of_the_sender_sent_neither_ends_nor_stops_the_group(heard: bool) -> None:
    """Process 1 ran, sent to today's process 0, and was started again; what it sent came late, or again."""
    victim, before, now = member(0), member(1, run=1), member(1, run=2)
    late, today = introduced(before, victim), introduced(now, victim)
    if not heard:
        assert victim.received(1, late[0], 0.0) == b""
    assert [victim.received(1, frame, 0.0) for frame in today] == [b"", b"data"]
    for frame in late * 3:
        result = victim.received(1, frame, 0.0)
        assert isinstance(result, Rejected)
        assert result.kind is Rejection.FOREIGN_INCARNATION
    now.send(0, b"more", 0.0)
    assert victim.received(1, now.frames_to_send()[-1].data, 0.0) == b"more"


def test_a_member_that_is_started_again_still_ends_the_group() -> None:
    members = group(1)
    played(members, 1, run=1)
    again = member(1, run=2)
    again.start(0.0)
    to_first = [frame for frame in again.frames_to_send() if frame.to == 0]
    assert members[0].received(1, to_first[0].data, 0.0) is None
    again.received(0, members[0].frames_to_send()[0].data, 0.0)
    (answer,) = (frame.data for frame in again.frames_to_send() if frame.to == 0)
    with pytest.raises(GroupFailed, match="process 1 was started again"):
        members[0].received(1, answer, 0.0)
