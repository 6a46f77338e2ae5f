"""Batches: messages keep their identities, their bytes and their order, whatever payload carries them."""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import msgpack

from antiphon.impl.errors import Busy, GroupFailed, PayloadTooLarge
from antiphon.impl.layers.batches import Batch, Batches
from antiphon.impl.layers.packing import Packing, pack, unpack
from antiphon.impl.protocols.core import Delivery, Identifier

BATCH_BYTES = 81
MEMBERS = 3


def batches(me: int = 0, **settings: int) -> Batches:
    given = {"batch_bytes": BATCH_BYTES, "buffer_bytes": 10**6, "message_bytes_max": 10**4}
    return Batches(me, MEMBERS, **{**given, "untaken_bytes": 10**6, "ahead": 2, **settings})


class Ordered:
    """Members above a core that gives every payload the next number, and delivers it at once or later."""

    def __init__(self, **settings: int) -> None:
        self.members = [batches(me, **settings) for me in range(MEMBERS)]
        self.taken: list[list[Delivery]] = [[] for _ in range(MEMBERS)]
        self.order: list[Delivery] = []
        self.seen = [0] * MEMBERS
        self.wanted: dict[Identifier, int] = {}

    def take(self, me: int) -> None:
        member = self.members[me]
        while member.ready:
            payload = member.next()
            assert len(payload) <= BATCH_BYTES
            count = sum(delivery.source == me for delivery in self.order)
            self.order.append(Delivery(me, count + 1, 2 * len(self.order), payload))

    def deliver(self, me: int) -> None:
        """Deliver to member `me` the messages that enough members have, with their places."""
        for delivery in self.order[self.seen[me] :]:
            messages = self.members[me].unpack(delivery)
            self.taken[me] += messages
            for source, name, number, _ in messages:
                have = sum(member.snapshot().delivered >= number for member in self.members)
                assert have >= self.wanted.get(Identifier(source, name), 1)
        self.seen[me] = len(self.order)

    @property
    def resting(self) -> bool:
        return all(member.idle and not member.ready for member in self.members) and (
            min(self.seen) == len(self.order)
        )

    def rest(self) -> None:
        while not self.resting:
            for me, member in enumerate(self.members):
                self.take(me)
                self.deliver(me)
                member.take()


@given(
    st.lists(
        st.tuples(
            st.integers(0, MEMBERS - 1),
            st.sampled_from(["put", "put", "put", "take", "deliver", "application", "restore"]),
            st.sampled_from([0, 1, 5, 12, 14, 15, 17, 38, 39, 40, 44, 80, 117, 200]),
            st.sampled_from([1, 1, 1, 2, 3]),
        ),
        max_size=60,
    ),
    st.sampled_from([1, 30, 100, 300, 10**6]),
)
@example(
    [(0, "put", 39, 1), (0, "put", 40, 1), (0, "take", 0, 1), (0, "restore", 0, 1), (1, "put", 200, 1)], 1
)
@example([(0, "put", 5, 1), (0, "put", 5, 3), (0, "put", 80, 2), (1, "put", 5, 2)], 1)
def test_every_message_comes_once_with_its_identifier_and_bytes_in_one_order(
    steps: list[tuple[int, str, int, int]], untaken_bytes: int
) -> None:
    group = Ordered(untaken_bytes=untaken_bytes)
    sent: dict[Identifier, bytes] = {}
    for me, step, size, holders in steps:
        member = group.members[me]
        if step == "put":
            payload = bytes([len(sent) % 251]) * size
            name = member.put(payload, holders)
            sent[name], group.wanted[name] = payload, holders
        elif step == "take":
            group.take(me)
        elif step == "deliver":
            group.deliver(me)
        elif step == "application":
            member.take()
        else:
            group.members[me] = batches(me, untaken_bytes=untaken_bytes)
            group.members[me].restore(member.snapshot())
            assert group.members[me].snapshot() == member.snapshot()
    group.rest()
    first = group.taken[0]
    assert group.taken == [first] * MEMBERS
    assert {Identifier(one.source, one.id): one.payload for one in first} == sent
    assert [one.number for one in first] == list(range(1, len(sent) + 1))
    for source in range(MEMBERS):
        ids = [one.id for one in first if one.source == source]
        assert ids == list(range(1, len(ids) + 1))
    assert not any(member.broken for member in group.members)
    assert [member.lacking for member in group.members] == [()] * MEMBERS


def test_a_message_waits_until_so_many_members_said_that_they_have_it() -> None:
    """The source, and after it those of whom it asks; nobody else says anything of it."""
    group = Ordered()
    group.members[1].put(b"all", 3)
    group.take(1)
    for me in range(MEMBERS):
        group.deliver(me)
    assert group.taken == [[], [], []]
    assert str(group.members[1].lacking) == (
        "(Wait(what='word of having message 1:1', of=2), Wait(what='word of having message 1:1', of=0))"
    )
    for me, lacking in ((2, [1, 1, 2]), (0, [1, 0, 1])):
        group.take(me)
        for each in range(MEMBERS):
            group.deliver(each)
        assert [len(member.lacking) for member in group.members] == lacking
    assert [len(taken) for taken in group.taken] == [0, 1, 0]
    group.rest()
    assert group.taken == [[Delivery(1, 1, 1, b"all")]] * MEMBERS
    assert len(group.order) == 4
    group.members[1].put(b"two", 2)
    group.rest()
    assert len(group.order) == 4 + 3, "the message, and word of members 1 and 2"


def test_a_message_that_asks_for_more_begins_a_batch_and_one_that_asks_for_less_does_not() -> None:
    member = batches(ahead=10)
    for payload, holders in ((b"a", 1), (b"b", 1), (b"c", 3), (b"d", 1), (b"e", 2), (b"f", 3)):
        member.put(payload, holders)
    found = [msgpack.decode(member.next()) for _ in range(2)]
    assert [(parts, holders) for _, _, parts, _, holders, _ in found] == [
        ([b"a", b"b"], 1), ([b"c", b"d", b"e", b"f"], 3),
    ]  # fmt: skip
    assert not member.ready


def test_what_waits_for_others_counts_as_untaken() -> None:
    """Messages that wait for other members count against the limit for a slow application."""
    group = Ordered(untaken_bytes=100)
    for _ in range(40):
        group.members[0].put(b"0123456789", 3)
    for _ in range(40):
        for me in (0, 1):
            group.take(me)
            group.deliver(me)
            group.members[me].take()
    kept = [len(member.snapshot().kept) for member in group.members]
    assert kept[2] == 0
    assert 1 <= kept[0] == kept[1]
    assert sum(len(one.payload) for each in group.members[0].snapshot().kept for one in each.messages) <= 200
    group.rest()
    assert [len(taken) for taken in group.taken] == [40] * MEMBERS


def test_what_waits_while_a_core_is_busy_becomes_one_payload() -> None:
    member = batches(ahead=1)
    member.put(b"alone")
    first = member.next()
    assert msgpack.decode(first) == [1, False, [b"alone"], 0, 1, 0]
    for payload in (b"a", b"b", b"c"):
        member.put(payload)
    assert not member.ready
    assert [one[:2] for one in member.unpack(Delivery(0, 1, 7, first))] == [(0, 1)]
    assert member.ready
    assert msgpack.decode(member.next()) == [2, False, [b"a", b"b", b"c"], 0, 1, 1]


def test_a_large_message_travels_in_pieces_and_is_delivered_with_the_last() -> None:
    member = batches(ahead=10)
    large = bytes(range(100))
    assert member.put(large) == (0, 1)
    member.put(b"after")
    payloads = [member.next() for _ in range(3)]
    assert not member.ready
    taken = [member.unpack(Delivery(0, k, k, payload)) for k, payload in enumerate(payloads, 1)]
    assert taken[:2] == [[], []]
    assert taken[2] == [Delivery(0, 1, 1, large), Delivery(0, 2, 2, b"after")]


def test_what_waits_is_bounded_and_room_comes_back() -> None:
    member = batches(buffer_bytes=100)
    put = 0
    while not member.full:
        member.put(b"12345")
        put += 1
    assert put == 10
    with pytest.raises(Busy, match="100 bytes are on their way"):
        member.put(b"")
    payload = member.next()
    assert member.full, "what is on its way is held still"
    member.unpack(Delivery(0, 1, 1, payload))
    assert not member.full


def test_memory_does_not_grow_with_what_was_carried() -> None:
    """A member's state after 5,000 messages, some in pieces, is as large as after none."""
    group = Ordered()
    small = len(repr(group.members[0].snapshot()))
    for k in range(5_000):
        group.members[k % MEMBERS].put(bytes(k % 90))
        if k % 7 == 0:
            group.rest()
            group.order.clear()
            group.seen = [0] * MEMBERS
    group.rest()
    assert len(repr(group.members[0].snapshot())) < small + 100


@pytest.mark.parametrize("wrong", [None, "text", 7])
def test_what_is_not_bytes_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="encode it first"):
        batches().put(wrong)  # type: ignore[arg-type]


def test_a_message_beyond_the_limit_is_refused() -> None:
    member = batches(message_bytes_max=10)
    member.put(memoryview(bytes(10)))
    with pytest.raises(PayloadTooLarge, match="11 bytes; a message has at most 10"):
        member.put(bytes(11))


FALSE_BATCHES = [
    b"",
    b"\xc1",
    msgpack.encode([1, False, []]),
    msgpack.encode([1, False, [b"x"], 0]),
    msgpack.encode([0, False, [b"x"], 0, 1, 0]),
    msgpack.encode([2, False, [b"x"], 0, 1, 0]),
    msgpack.encode([1, True, [], 0, 1, 0]),
    msgpack.encode([1, True, [b"x", b"y"], 0, 1, 0]),
    msgpack.encode([1, False, ["text"], 0, 1, 0]),
    msgpack.encode([1, False, [b"x"], -1, 1, 0]),
    msgpack.encode([1, False, [b"x"], 1, 1, 0]),
    msgpack.encode([1, False, [b"x"], 0, 0, 0]),
    msgpack.encode([1, False, [b"x"], 0, MEMBERS + 1, 0]),
    msgpack.encode([1, False, [b"x"], 0, 1, -1]),
    msgpack.encode([1, False, [b"x"], 0, 1, 1]),
]


@pytest.mark.parametrize("payload", FALSE_BATCHES)
def test_a_payload_that_is_no_next_batch_is_ignored_and_counted(payload: bytes) -> None:
    member = batches()
    assert member.unpack(Delivery(1, 1, 1, payload)) == []
    assert member.broken == 1
    good = msgpack.encode(Batch(1, False, [b"x"], 0, 1, 0))
    assert member.unpack(Delivery(1, 2, 2, good)) == [Delivery(1, 1, 1, b"x")]


def test_an_own_batch_that_comes_again_is_ignored_and_counted() -> None:
    member = batches()
    member.put(b"x")
    payload = member.next()
    assert member.unpack(Delivery(0, 1, 1, payload)) == [Delivery(0, 1, 1, b"x")]
    assert member.unpack(Delivery(0, 1, 2, payload)) == []
    member.put(b"y")
    member.next()
    assert member.unpack(Delivery(0, 1, 3, payload)) == []
    assert member.broken == 2
    assert not member.idle, "the second is still on its way"


def test_a_member_with_a_smaller_limit_fails_and_keeps_nothing_beyond_it() -> None:
    """The others deliver such a message: a member that left it out would number all later ones otherwise."""
    member = batches(message_bytes_max=10)
    piece = msgpack.encode(Batch(1, True, [bytes(4)], 0, 1, 0))
    for k in range(2):
        assert member.unpack(Delivery(1, k + 1, k, piece)) == []
    with pytest.raises(GroupFailed, match=r"of 1 has more than 10 bytes, .* Layers.message_bytes_max"):
        member.unpack(Delivery(1, 3, 3, piece))
    assert len(repr(member.snapshot())) < 400


WRONG_SIZES = [{"batch_bytes": 30}, {"ahead": 0}, {"buffer_bytes": 0}, {"untaken_bytes": 0}]


@pytest.mark.parametrize("wrong", WRONG_SIZES)
def test_impossible_sizes_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        batches(**wrong)


def test_a_slow_application_holds_everybody_back_until_it_has_taken_enough() -> None:
    """Message and overhead are 15 bytes: nobody sends once 105 bytes were not taken by member 2."""
    group = Ordered(untaken_bytes=100)
    for _ in range(20):
        group.members[0].put(b"0123456789")
    for _ in range(20):
        for me in range(MEMBERS):
            group.take(me)
            group.deliver(me)
        group.members[0].take()
        group.members[1].take()
    held = len(group.taken[2])
    assert [len(taken) for taken in group.taken] == [held] * MEMBERS
    on_their_way = 2 * 3
    assert 7 <= held <= 7 + on_their_way
    assert [member.slow for member in group.members] == [((2, 15 * held),)] * MEMBERS
    assert not any(member.ready for member in group.members)
    group.members[2].take()
    assert group.members[2].ready, "it has nothing to send but that it took"
    group.rest()
    assert [len(taken) for taken in group.taken] == [20] * MEMBERS
    assert [member.slow for member in group.members] == [()] * MEMBERS


def test_what_was_taken_is_told_a_few_times_in_a_window_and_not_for_each_message() -> None:
    group = Ordered(untaken_bytes=1000)
    for _ in range(200):
        group.members[0].put(b"0123456789")
        group.rest()
    told = [delivery for delivery in group.order if delivery.source != 0]
    assert 200 * 15 // 250 >= len(told) / (MEMBERS - 1) >= 200 * 15 // 250 - 2


# Packs ------------------------------------------------------------------------------------------------------

items = st.binary(min_size=1, max_size=30).filter(lambda item: item[:1] != b"\xc1")


@given(
    st.lists(st.tuples(st.integers(1, 2), items), max_size=30),
    st.integers(1, 100),
    st.sampled_from([b"", b"head", b"\xc1"]),
)
def test_packed_items_come_out_in_their_order_and_a_pack_holds_what_it_may(
    sent: list[tuple[int, bytes]], datagram_bytes: int, head: bytes
) -> None:
    packing = Packing(datagram_bytes, head)
    for to, item in sent:
        packing.send(to, item)
    got: dict[int, deque[bytes | memoryview]] = {1: deque(), 2: deque()}
    for to, datagram in packing.outputs(0.0):
        assert datagram.startswith(head)
        data = memoryview(datagram)[len(head) :]
        unpacked = packing.received(0, data, 0.0)
        assert isinstance(unpacked, list)
        assert len(data) <= datagram_bytes or len(unpacked) == 1
        got[to] += unpacked
    for to in (1, 2):
        assert list(got[to]) == [item for other, item in sent if other == to]
    assert packing.outputs(0.0) == []


def test_items_for_one_member_share_a_datagram() -> None:
    packing = Packing(100)
    for k in range(4):
        packing.send(1 + k % 2, b"item")
    assert [to for to, _ in packing.outputs(0.0)] == [1, 2]


@pytest.mark.parametrize("data", [b"\xc1\x00\x00", b"\xc1\x00\x00\x00\x05abcd", pack([b"a", b"b"])[:-1]])
def test_a_pack_that_ends_too_early_is_told(data: bytes) -> None:
    assert isinstance(unpack(data), str)
