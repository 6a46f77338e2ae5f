"""Datagrams of an earlier run never reach today's member; a greeting costs less than the datagram it answers.
"""

from __future__ import annotations

import random

import pytest

from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.transport.incarnations import (
    CHANCE_BYTES,
    GREETINGS_MAX,
    GREETINGS_MS,
    WAITING_MAX,
    Incarnations,
    incarnation,
)
from antiphon.impl.transport.sealing import FRAME_BYTES, Plain
from antiphon.impl.transport.wire import Rejected


def member(me: int, run: int = 1, *, members: int = 2, group: str = "g") -> Incarnations:
    own = incarnation(run, random.Random(f"{me}:{run}").randbytes(CHANCE_BYTES))
    incarnations = Incarnations(me, members, own, Plain(group, me, own))
    incarnations.start(0.0)
    return incarnations


def talk(one: Incarnations, other: Incarnations) -> tuple[list[object], int]:
    """Hand members 0 and 1 each other's frames until there are none: what came out, and how many went in."""
    got: list[object] = []
    count = 0
    while frames := [(other, 0, each.data) for each in one.frames_to_send()] + [
        (one, 1, each.data) for each in other.frames_to_send()
    ]:
        for receiver, sender, data in frames:
            count += 1
            result = receiver.received(sender, data, 0.0)
            if result:
                got.append(result)
    return got, count


def test_everybody_else_is_greeted() -> None:
    assert [frame.to for frame in member(1, members=3).frames_to_send()] == [0, 2]


def test_what_documentation_and_memory_count_on() -> None:
    """The numbers that docs/library.md states."""
    assert (FRAME_BYTES, WAITING_MAX, GREETINGS_MAX, GREETINGS_MS) == (36, 8, 8, 100.0)


@pytest.mark.parametrize(
    ("early", "late", "frames"),
    [
        ([], [], 2 + 2 + 2),  # each greets, each answers, each answers the first that names it
        ([b"a"], [], 3 + 3 + 1 + 1),  # what is sent greets once more; what waited says as much as an answer
        ([b"a"], [b"b"], 4 + 4 + 1 + 1),
    ],
)
def test_a_greeting_is_answered_when_that_tells_something(
    early: list[bytes], late: list[bytes], frames: int
) -> None:
    one, other = member(0), member(1)
    for data in early:
        one.send(1, data, 0.0)
    for data in late:
        other.send(0, data, 0.0)
    assert talk(one, other) == ([*early, *late], frames)


def test_greetings_begin_anew_after_their_time() -> None:
    victim = member(1)
    victim.frames_to_send()
    frame = member(0, run=666).frames_to_send()[0].data
    for now, expected in ((50.0, GREETINGS_MAX - 1), (99.9, 0), (100.0, GREETINGS_MAX), (199.9, 0)):
        for _ in range(20):
            victim.received(0, frame, now)
        assert len(victim.frames_to_send()) == expected, now


def test_a_member_that_is_known_is_not_greeted_for_what_it_sends() -> None:
    one, other = member(0), member(1)
    one.frames_to_send()
    other.frames_to_send()
    one.send(1, b"a", 0.0)
    one_greeting, *_ = one.frames_to_send()
    other.received(0, one_greeting.data, 0.0)
    (answer,) = other.frames_to_send()
    one.received(1, answer.data, 0.0)
    (data,) = one.frames_to_send()
    assert other.received(0, data.data, 0.0) == b"a"
    assert other.frames_to_send() == []


def test_two_members_greet_once_and_then_only_speak() -> None:
    one, other = member(0), member(1)
    one.send(1, b"early", 0.0)
    assert talk(one, other)[0] == [b"early"]
    one.send(1, b"a", 0.0)
    other.send(0, b"b", 0.0)
    assert talk(one, other) == ([b"a", b"b"], 2)


@pytest.mark.parametrize("seed", range(20))
def test_greetings_that_are_lost_late_or_doubled_only_delay(seed: int) -> None:
    """Both send until something arrives; nothing else than what was sent does, and nothing is refused."""
    generator = random.Random(seed)
    members = [member(0), member(1)]
    flight: list[tuple[int, bytes]] = []
    got: list[set[bytes]] = [set(), set()]
    now = 0.0
    while not all(got):
        now += 20.0
        assert now < 100_000.0, seed
        for me, incarnations in enumerate(members):
            incarnations.send(1 - me, b"from %d" % me, now)
            for frame in incarnations.frames_to_send():
                flight += [(me, frame.data)] * generator.choice((0, 0, 1, 2))
        generator.shuffle(flight)
        for sender, data in (flight.pop() for _ in range(len(flight) // 2)):
            result = members[1 - sender].received(sender, data, now)
            assert result in {None, b"", b"from %d" % sender}
            if isinstance(result, bytes) and result:
                got[1 - sender].add(result)


def test_what_was_sent_to_an_earlier_run_is_refused() -> None:
    one, other = member(0), member(1)
    talk(one, other)
    for k in range(5):
        one.send(1, b"%d" % k, 0.0)
    old = [frame.data for frame in one.frames_to_send()]
    again = member(1, run=2)
    again.frames_to_send()
    for frame in old:
        result = again.received(0, frame, 0.0)
        assert isinstance(result, Rejected)
        assert result.kind is Rejection.FOREIGN_INCARNATION
    assert all(len(frame.data) == FRAME_BYTES for frame in again.frames_to_send())


def test_a_member_that_was_started_again_is_noticed_whatever_it_sends() -> None:
    one, other = member(0), member(1)
    other.send(0, b"heard", 0.0)
    assert talk(one, other)[0] == [b"heard"]
    again = member(1, run=2)
    with pytest.raises(GroupFailed, match="process 1 was started again, as incarnation"):
        talk(one, again)


def test_a_group_that_is_started_again_finds_no_trace_of_the_earlier_run() -> None:
    one, other = member(0), member(1)
    talk(one, other)
    one, other = member(0, run=2), member(1, run=2)
    one.send(1, b"a", 0.0)
    assert talk(one, other)[0] == [b"a"]


def test_members_of_a_group_are_started_again_one_by_one() -> None:
    """Process 1 begins its next run while process 0 is still in the earlier one, which then fails."""
    one, other = member(0), member(1)
    other.send(0, b"heard", 0.0)
    talk(one, other)
    other = member(1, run=2)
    with pytest.raises(GroupFailed):
        talk(one, other)
    one = member(0, run=2)
    one.send(1, b"a", 0.0)
    assert talk(one, other)[0] == [b"a"]
    other.send(0, b"b", 0.0)
    assert talk(one, other)[0] == [b"b"]


def test_nothing_is_believed_of_who_has_not_heard_from_this_run() -> None:
    """A forged greeting from a member's address changes nothing, since the forger does not hear the answer.
    """
    one, other, forger = member(0), member(1), member(1, run=666)
    one.frames_to_send()
    forger.send(0, b"forged", 0.0)
    for frame in forger.frames_to_send():
        assert one.received(1, frame.data, 0.0) is None
    one.frames_to_send()
    other.send(0, b"true", 0.0)
    assert talk(one, other)[0] == [b"true"]


@pytest.mark.parametrize("size", [FRAME_BYTES, FRAME_BYTES + 1, 8_000])
def test_a_flood_is_answered_with_less_than_it_brings(size: int) -> None:
    victim = member(1)
    victim.frames_to_send()
    forged = member(0, run=666)
    frame = forged.frames_to_send()[0].data.ljust(size, b"x")
    for k in range(10_000):
        victim.received(0, frame, 0.1 * k)
    answers = victim.frames_to_send()
    assert all(len(answer.data) <= size for answer in answers)
    assert len(answers) <= GREETINGS_MAX * (1 + 1_000.0 / GREETINGS_MS)
    assert answers


def test_little_is_kept_for_a_member_that_is_not_known() -> None:
    one, other = member(0), member(1)
    for k in range(1_000):
        one.send(1, b"%d" % k, 0.0)
    assert talk(one, other)[0] == [b"%d" % k for k in range(WAITING_MAX)]


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (b"", Rejection.TRUNCATED),
        (bytes(FRAME_BYTES - 1), Rejection.TRUNCATED),
        (bytes(FRAME_BYTES), Rejection.FOREIGN_GROUP),
        (member(0, group="other").frames_to_send()[0].data, Rejection.FOREIGN_GROUP),
    ],
)
def test_what_is_no_frame_of_the_group_is_refused_and_not_answered(frame: bytes, kind: Rejection) -> None:
    one = member(1)
    one.frames_to_send()
    result = one.received(0, frame, 0.0)
    assert isinstance(result, Rejected)
    assert result.kind is kind
    assert result.detail
    assert one.frames_to_send() == []


def test_a_heartbeat_for_a_member_that_is_not_known_takes_no_place_of_a_datagram() -> None:
    one, other = member(0), member(1)
    for k in range(2 * WAITING_MAX):
        one.send(1, b"", GREETINGS_MS * k)
    one.send(1, b"data", 0.0)
    assert talk(one, other)[0] == [b"data"]
