"""Links: what goes in comes out, once and in order, whatever a network does to the datagrams between."""

from __future__ import annotations

import heapq
import random
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import msgpack

from antiphon.impl.errors import GroupFailed
from antiphon.impl.layers.links import ITEM_BYTES, SEGMENT_BYTES, WINDOW, Links, Segment
from antiphon.impl.protocols.core import NATURAL_MAX

ROOM = SEGMENT_BYTES + 3 * (ITEM_BYTES + 8)
START = 7e6


class Pair:
    """Two members and a network that treats each datagram by what is drawn for it."""

    def __init__(self, seed: int, *, loss: float = 0.0, again: float = 0.0, delay: float = 0.0) -> None:
        self.ends = [Links(me, 2, segment_bytes_max=ROOM) for me in range(2)]
        self.taken: list[list[bytes]] = [[], []]
        self.sent = self.again = 0
        self.now = START
        self.loss, self.twice, self.delay = loss, again, delay
        self._random = random.Random(seed)
        self._order = count()
        self._coming: list[tuple[float, int, int, bytes]] = []
        self._largest = 0

    def drain(self) -> None:
        for me, end in enumerate(self.ends):
            for to, data in end.outputs(self.now):
                assert to == 1 - me
                assert len(data) <= ROOM
                self.sent += 1
                for _ in range(1 + (self._random.random() < self.twice)):
                    if self._random.random() >= self.loss:
                        at = self.now + 1.0 + self._random.random() * self.delay
                        heapq.heappush(self._coming, (at, next(self._order), to, data))

    def step(self) -> bool:
        """The next thing happens; False when nothing ever will."""
        self.drain()
        deadlines = [at for end in self.ends if (at := end.next_deadline()) is not None]
        if not self._coming and not deadlines:
            return False
        if self._coming and self._coming[0][0] <= min(deadlines, default=self._coming[0][0]):
            self.now, _, to, data = heapq.heappop(self._coming)
            items = self.ends[to].received(1 - to, data, self.now)
            assert isinstance(items, list), items
            self.taken[to] += items
        else:
            self.now = max(self.now, min(deadlines))
            for end in self.ends:
                end.tick(self.now)
        return True

    def rest(self, steps: int = 100_000) -> None:
        """Run until nobody has anything to do."""
        assert any(not self.step() for _ in range(steps)), self.now
        assert all(end.silent and not end.full for end in self.ends)


def items(count: int, me: int = 0) -> list[bytes]:
    return [b"%d:%06d" % (me, k) for k in range(count)]


@given(
    st.integers(0, 2**32),
    st.floats(0.0, 0.6),
    st.floats(0.0, 0.5),
    st.sampled_from([0.0, 3.0, 40.0, 400.0]),
    st.lists(st.tuples(st.integers(0, 1), st.integers(1, 60), st.integers(0, 9)), max_size=12),
)
@example(1, 0.3, 0.3, 40.0, [(0, 500, 3), (1, 500, 3)])
def test_what_is_sent_comes_once_and_in_order(
    seed: int, loss: float, again: float, delay: float, bursts: list[tuple[int, int, int]]
) -> None:
    pair = Pair(seed, loss=loss, again=again, delay=delay)
    sent: list[list[bytes]] = [[], []]
    for me, many, steps in bursts:
        for _ in range(many):
            item = b"%d:%d" % (me, len(sent[me]))
            sent[me].append(item)
            pair.ends[me].send(1 - me, item)
        for _ in range(steps):
            pair.step()
    pair.rest()
    assert pair.taken == [sent[1], sent[0]]


@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_restored_end_goes_on_as_the_old_one_would(seed: int, moment: int) -> None:
    """Two runs with the same fates; in one of them both ends are put into fresh ones in the middle."""
    outcomes = []
    for restored in (False, True):
        pair = Pair(seed, loss=0.3, again=0.2, delay=30.0)
        for me in range(2):
            for item in items(100, me):
                pair.ends[me].send(1 - me, item)
        for _ in range(moment):
            pair.step()
        if restored:
            for me, end in enumerate(pair.ends):
                fresh = Links(me, 2, segment_bytes_max=ROOM)
                snapshot = end.snapshot()
                assert hash(snapshot) == hash(end.snapshot())
                fresh.restore(snapshot, pair.now)
                fresh.tick(pair.now)
                pair.ends[me] = fresh
        else:
            for end in pair.ends:
                end.tick(pair.now)
        pair.rest()
        outcomes.append((pair.taken, pair.sent))
    assert outcomes[0][0] == outcomes[1][0] == [items(100, 1), items(100, 0)]


def test_a_link_without_faults_packs_and_sends_nothing_twice() -> None:
    pair = Pair(1)
    for item in items(30):
        pair.ends[0].send(1, item)
    pair.rest()
    assert pair.taken == [[], items(30)]
    assert pair.sent == 30 // 3 + 2, "ten segments, one acknowledgement for eight, one for the rest"


def test_silence_follows_when_everything_is_acknowledged() -> None:
    pair = Pair(3, loss=0.3)
    assert all(end.silent for end in pair.ends)
    pair.ends[0].send(1, b"m")
    assert not pair.ends[0].silent
    pair.rest()
    assert [end.next_deadline() for end in pair.ends] == [None, None]


def test_an_acknowledgement_travels_with_an_answer() -> None:
    pair = Pair(1)
    pair.ends[0].send(1, b"question")
    pair.step()
    pair.ends[1].send(0, b"answer")
    pair.rest()
    assert pair.sent == 3, "question, answer with its acknowledgement, and the answer's"


def test_one_lost_segment_is_sent_again_when_the_next_one_shows_it() -> None:
    """Within a round trip, long before its waiting time runs out, and nothing else is sent again."""
    one, two = (Links(me, 2, segment_bytes_max=ROOM) for me in range(2))
    for item in items(12):
        one.send(1, item)
    sent = one.outputs(START)
    assert len(sent) == 4
    for _, data in sent[1:]:
        assert two.received(0, data, START + 1) == []
    for _, data in two.outputs(START + 1):
        assert one.received(1, data, START + 2) == []
    again = one.outputs(START + 2)
    assert [msgpack.decode(data)[0] for _, data in again] == [1]
    assert two.received(0, again[0].message, START + 3) == items(12)


def acknowledge(one: Links, acknowledged: int, held: int, at: float) -> list[int]:
    """Numbers of the segments that `one` sends after this acknowledgement."""
    assert one.received(1, msgpack.encode(Segment(0, acknowledged, held, ())), at) == []
    return [msgpack.decode(data)[0] for _, data in one.outputs(at)]


def windows(segments: int) -> Links:
    """A member that has sent so many segments."""
    one = Links(0, 2, segment_bytes_max=ROOM)
    for item in items(3 * segments):
        one.send(1, item)
    assert len(one.outputs(START)) == segments
    return one


def test_what_is_missing_is_sent_again_once_in_a_round_trip() -> None:
    one = windows(6)
    assert acknowledge(one, 1, 0, START + 10) == []
    assert acknowledge(one, 1, 0b1, START + 11) == [2]
    assert acknowledge(one, 1, 0b11, START + 12) == []
    assert acknowledge(one, 1, 0b111, START + 20) == []
    assert acknowledge(one, 1, 0b111, START + 22) == [2]
    assert acknowledge(one, 1, 0b001, START + 40) == [2], "an old one: 3, 4 and 5 stay acknowledged"


def test_what_is_acknowledged_meanwhile_is_not_sent_again() -> None:
    one = windows(3)
    assert one.received(1, msgpack.encode(Segment(0, 0, 0b1, ())), START + 1) == []
    assert one.received(1, msgpack.encode(Segment(0, 2, 0, ())), START + 1) == []
    assert one.outputs(START + 1) == []


def test_what_a_member_needs_no_more_is_neither_owed_nor_sent_again_nor_kept() -> None:
    one = windows(WINDOW)
    for item in items(6):
        one.send(1, item)
    assert acknowledge(one, 1, 0b10, START + 5) == [2, 3, WINDOW + 1]
    one.drop(1)
    assert not one.owes(1)
    assert (one.unacknowledged(1), one.full) == (0, False)
    assert one.next_deadline() is None
    assert acknowledge(one, 2, 0b1, START + 60) == [], "a late acknowledgement"
    one.tick(START + 1_000)
    assert one.outputs(START + 1_000) == []
    assert one.silent


def test_what_was_sent_twice_measures_no_round_trip_and_an_answer_ends_the_back_off() -> None:
    one = windows(2)
    for at in (START + 25, START + 75):
        one.tick(at)
        one.outputs(at)
    assert acknowledge(one, 1, 0, START + 1_000) == [2]
    assert one.next_deadline() == START + 1_025
    assert acknowledge(one, 2, 0, START + 2_000) == []
    assert one.next_deadline() is None


def test_what_was_on_its_way_when_the_oldest_was_sent_again_measures_no_round_trip() -> None:
    """Acknowledgements were lost for a minute: the next loss is noticed as quickly as ever."""
    one = windows(2)
    for at in (START + 25, START + 75):
        one.tick(at)
        one.outputs(at)
    acknowledge(one, 2, 0, START + 60_000)
    one.send(1, b"next")
    one.outputs(START + 60_000)
    assert one.next_deadline() == START + 60_025


def test_who_does_not_answer_is_asked_more_and_more_rarely() -> None:
    one = Links(0, 2, segment_bytes_max=ROOM, resend_ms=20.0, backoff_max=8)
    one.send(1, b"m")
    assert len(one.outputs(START)) == 1
    gaps, before = [], START
    for _ in range(6):
        at = one.next_deadline()
        assert at is not None
        gaps.append(at - before)
        before = at
        one.tick(at)
        assert len(one.outputs(at)) == 1
    assert gaps == [20.0, 40.0, 80.0, 160.0, 160.0, 160.0]


def test_a_waiting_time_follows_the_round_trips() -> None:
    one, two = Pair(1).ends
    for k in range(50):
        one.send(1, b"%d" % k)
        now = START + 1_000.0 * k
        (sent,) = one.outputs(now)
        two.received(0, sent.message, now + 100)
        two.tick(now + 105)
        (back,) = two.outputs(now + 105)
        assert one.received(1, back.message, now + 200) == []
    one.send(1, b"last")
    one.outputs(START + 60_000)
    at = one.next_deadline()
    assert at is not None
    assert 200.0 < at - (START + 60_000) < 260.0


def test_a_clock_that_jumped_by_an_hour_leaves_the_waiting_time_short() -> None:
    """No round trip counts for more than 400 ms, 16 times the first waiting time."""
    sender, receiver = Links(0, 2, segment_bytes_max=1_400), Links(1, 2, segment_bytes_max=1_400)
    sender.send(1, b"one")
    [segment] = sender.outputs(0.0)
    receiver.received(0, segment.message, 0.0)
    receiver.tick(5.0)
    [answer] = receiver.outputs(5.0)
    hour_ms = 3_600_000.0
    sender.received(1, answer.message, hour_ms)
    sender.send(1, b"two")
    sender.outputs(hour_ms)
    assert sender.next_deadline() == hour_ms + 400.0


def test_after_a_long_silence_of_the_other_end_everything_comes_quickly() -> None:
    """All of a window is lost: it comes again in a few round trips, not one segment in each waiting time."""
    pair = Pair(1, loss=1.0)
    for item in items(3 * WINDOW):
        pair.ends[0].send(1, item)
    for _ in range(3):
        pair.step()
    pair.loss = 0.0
    began = pair.now
    pair.rest()
    assert pair.taken[1] == items(3 * WINDOW)
    assert pair.now - began < 300.0


def test_memory_is_bounded_by_the_window_and_by_what_waits() -> None:
    """Before a member that takes nothing: a window is on its way, the rest waits, and `full` tells."""
    one = Links(0, 2, segment_bytes_max=ROOM, queue_bytes_max=1_000)
    made = 0
    while not one.full:
        one.send(1, b"12345678")
        made += 1
        one.outputs(START)
    assert made == WINDOW + -(-1_000 // (8 + ITEM_BYTES)), "each was sent alone while there was room"
    two = Links(1, 2, segment_bytes_max=ROOM)
    ahead = [Segment(k, 0, 0, (b"x",)) for k in range(2, 3 * WINDOW)]
    refused = [two.received(0, msgpack.encode(segment), START) for segment in ahead]
    assert sum(isinstance(one, str) for one in refused) == len(ahead) - (WINDOW - 1)
    ((_, half),) = two.snapshot().links
    assert len(half.ahead) == WINDOW - 1


HOSTILE = [
    Segment(0, 1, 0, ()),
    Segment(0, 0, 1, ()),
    Segment(1, NATURAL_MAX, 0, (b"x",)),
    Segment(WINDOW + 1, 0, 0, (b"x",)),
    Segment(NATURAL_MAX, 0, 0, (b"x",)),
    Segment(1, 0, 0, ()),
    Segment(0, 0, 0, (b"x",)),
]


@pytest.mark.parametrize("segment", HOSTILE)
def test_what_no_correct_member_sends_is_told_and_changes_nothing(segment: Segment) -> None:
    one = Links(0, 2, segment_bytes_max=ROOM)
    before = one.snapshot()
    assert isinstance(one.received(1, msgpack.encode(segment), 0.0), str)
    assert one.snapshot() == before


@given(st.binary(max_size=80))
@example(msgpack.encode([1, 0, 0]))
@example(msgpack.encode([1, 0, 0, ["text"]]))
@example(msgpack.encode([-1, 0, 0, []]))
@example(msgpack.encode([0, 0, 2**63, []]))
def test_any_bytes_are_taken_or_refused(data: bytes) -> None:
    result = Links(0, 2, segment_bytes_max=ROOM).received(1, data, 0.0)
    assert isinstance(result, str | list)


def test_after_the_last_number_the_group_fails() -> None:
    one = Links(0, 2, segment_bytes_max=ROOM)
    ((to, half),) = one.snapshot().links
    late = half._replace(last=NATURAL_MAX - 1, acknowledged=NATURAL_MAX - 1)
    one.restore(one.snapshot()._replace(links=((to, late),)), START)
    one.send(1, b"last")
    assert len(one.outputs(START)) == 1
    one.send(1, b"one more")
    with pytest.raises(GroupFailed, match="the last there is"):
        one.outputs(START)


def test_an_item_larger_than_a_segment_travels_alone() -> None:
    pair = Pair(1)
    one = pair.ends[0]
    for item in (b"before", bytes(ROOM), b"after"):
        one.send(1, item)
    assert [len(msgpack.decode(data)[3]) for _, data in one.outputs(START)] == [1, 1, 1]


@pytest.mark.parametrize(
    "wrong", [{"ack_ms": 30.0}, {"ack_ms": 0.0}, {"backoff_max": 0}, {"queue_bytes_max": 0}]
)
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Links(0, 2, **{"segment_bytes_max": ROOM, **wrong})  # type: ignore[arg-type]
