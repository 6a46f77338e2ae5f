"""A member short of a socket: whose datagrams it takes, and when it says that the group cannot go on."""

from __future__ import annotations

import pytest

from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.rbp import MESSAGES, rbp
from antiphon.impl.protocols.rbp.messages import Ack, Data, Message, Numbered
from antiphon.impl.tracing import DETAIL_MAX, Dropped, RecordingTracer, Violation
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.wire import Codec, Rejected

CODEC = Codec(MESSAGES)
START = 7e6


def member(me: int = 1, members: int = 3, **options: float) -> Endpoint[Message]:
    endpoint = Endpoint(rbp(), "g", me, members, **options)
    endpoint.start(START)
    return endpoint


def datagram(sender: int, message: Message) -> bytes:
    return CODEC.encode(CODEC.envelope("g", sender, 1, message))


def test_a_datagram_is_taken_from_the_member_that_it_names_only() -> None:
    tracer = RecordingTracer()
    endpoint = Endpoint(rbp(), "g", 1, 3, tracer)
    data = datagram(0, Ack(None, 1, 1))
    endpoint.datagram_received(2, data, START)
    assert endpoint.admission.dropped == {Rejection.FALSE_SENDER: 1}
    assert [(e.kind, e.size_bytes) for e in tracer.events if isinstance(e, Dropped)] == [
        (Rejection.FALSE_SENDER, len(data))
    ]
    assert endpoint.broadcast(b"m", START) == (1, 1)
    assert endpoint.deliveries() == []
    endpoint.datagram_received(0, data, START)
    assert len(endpoint.deliveries()) == 1


def test_an_event_shows_little_of_what_others_sent() -> None:
    tracer = RecordingTracer()
    endpoint = Endpoint(rbp(), "g", 1, 3, tracer)
    endpoint.start(START)
    foreign = CODEC.envelope("x" * 8_000, 0, 1, Ack(None, 1, 1))
    endpoint.datagram_received(0, CODEC.encode(foreign), START)
    endpoint.datagram_received(0, datagram(0, Data(Identifier(2, 99), bytes(8_000))), START)
    details = [event.detail for event in tracer.events if isinstance(event, Dropped | Violation)]
    assert [len(detail) for detail in details] == [DETAIL_MAX, DETAIL_MAX]


def live(endpoint: Endpoint[Message], until: float, *heard: int) -> float:
    """Tick at every deadline up to `until`, while these members send heartbeats; the last one of them."""
    now = START
    while (deadline := endpoint.next_deadline()) is not None and deadline <= until:
        for process in heard:
            endpoint.datagram_received(process, b"", deadline)
        now = deadline
        endpoint.tick(now)
        endpoint.datagrams_to_send()
    return now


def test_a_member_that_gets_no_further_fails_in_time_and_says_why() -> None:
    endpoint = member(stall_ms=1_000.0)
    live(endpoint, START + 1_999.0, 0, 2)
    endpoint.datagram_received(2, datagram(2, Data(Identifier(2, 1), b"c")), START + 1_999.0)
    live(endpoint, START + 2_998.0, 0, 2)
    with pytest.raises(
        GroupFailed, match=r"^no progress for 1 s: process 1 needs a number after 0 for message 2:1"
    ):
        endpoint.tick(START + 2_999.0)


def test_progress_gives_time_anew() -> None:
    endpoint = member(me=2, stall_ms=1_000.0)
    endpoint.broadcast(b"c", START)
    live(endpoint, START + 900.0, 0, 1)
    endpoint.datagram_received(0, datagram(0, Numbered(None, 1)), START + 900.0)
    live(endpoint, START + 1_190.0, 0, 1)
    assert endpoint.progress_at == START + 900.0
    endpoint.datagram_received(0, datagram(0, Numbered(None, 1)), START + 1_200.0)
    assert endpoint.progress_at == START + 900.0
    with pytest.raises(GroupFailed, match=r"no progress .* a number after 1 for message 2:1 of process 1"):
        live(endpoint, START + 1_900.0, 0, 1)


def test_a_member_that_slept_has_not_waited() -> None:
    endpoint = member(stall_ms=1_000.0)
    endpoint.broadcast(b"b", START)
    endpoint.tick(START + 60_000.0)
    endpoint.datagrams_to_send()
    live(endpoint, START + 60_900.0)
    with pytest.raises(GroupFailed):
        live(endpoint, START + 61_000.0)


@pytest.mark.parametrize(("late_ms", "slept"), [(33.0, False), (34.0, True)])
def test_a_tick_that_is_late_by_a_heartbeat_shows_that_the_member_slept(
    late_ms: float, slept: bool
) -> None:
    endpoint = member(stall_ms=1_000.0)
    endpoint.broadcast(b"b", START)
    live(endpoint, START + 980.0, 0, 2)
    due = endpoint.next_deadline()
    assert due is not None
    if slept:
        endpoint.tick(due + late_ms)
    else:
        with pytest.raises(GroupFailed, match="no progress"):
            endpoint.tick(due + late_ms)


SILENT = "process 2 has not answered for 3 s"


def heard_once(process: int) -> Endpoint[Message]:
    """Process 1 of three, with a heartbeat each 100 ms, that has heard of `process` at the start alone."""
    endpoint = member(stall_ms=3_000.0)
    endpoint.datagram_received(process, b"", START)
    return endpoint


def test_a_silent_member_is_named_though_this_one_gets_further_without_it() -> None:
    """The silence begins with the last datagram of process 2, whatever else happens."""
    endpoint = heard_once(2)
    live(endpoint, START + 299.0, 0)
    assert endpoint.waits() == ()
    live(endpoint, START + 300.0, 0)
    assert list(map(str, endpoint.waits())) == ["a sign of life of process 2"]
    assert "a sign of life of process 2" in repr(endpoint)
    assert endpoint.waiting_since == START
    live(endpoint, START + 2_999.0, 0)
    with pytest.raises(GroupFailed, match=f"^{SILENT}$"):
        live(endpoint, START + 3_000.0, 0)


def test_a_silent_member_is_named_beside_what_is_missing() -> None:
    endpoint = heard_once(2)
    endpoint.broadcast(b"b", START)
    with pytest.raises(GroupFailed, match=f"^{SILENT}: process 1 needs a number .* of process 0"):
        live(endpoint, START + 3_000.0, 0)


def test_a_member_that_never_started_is_missed_from_the_first_datagram_to_it_on() -> None:
    endpoint = member(stall_ms=3_000.0)
    live(endpoint, START + 5_000.0, 0)
    assert endpoint.waits() == ()
    endpoint.broadcast(b"b", START + 5_000.0)
    endpoint.datagrams_to_send()
    live(endpoint, START + 7_999.0, 0)
    with pytest.raises(GroupFailed, match=SILENT):
        live(endpoint, START + 8_000.0, 0)


def test_the_others_silence_does_not_count_while_this_member_slept() -> None:
    """The member was awake until 600 ms, when its next heartbeat was due, and again from 9 s on."""
    endpoint = heard_once(2)
    live(endpoint, START + 500.0, 0)
    endpoint.datagram_received(0, b"", START + 9_000.0)
    endpoint.tick(START + 9_000.0)
    endpoint.datagrams_to_send()
    live(endpoint, START + 11_399.0, 0)
    with pytest.raises(GroupFailed, match=SILENT):
        live(endpoint, START + 11_400.0, 0)


@pytest.mark.parametrize("first", ["heartbeat", "message", "broadcast"])
def test_a_member_that_wakes_forgives_whatever_comes_before_its_tick(first: str) -> None:
    """The step sends a heartbeat, which must not hide for how long the member slept."""
    endpoint, wakes = heard_once(2), START + 3_600_000.0
    live(endpoint, START + 500.0, 0)
    if first == "broadcast":
        endpoint.broadcast(b"b", wakes)
    else:
        endpoint.datagram_received(0, b"" if first == "heartbeat" else datagram(0, Numbered(None, 1)), wakes)
    endpoint.datagrams_to_send()
    endpoint.tick(wakes)
    live(endpoint, wakes + 2_300.0, 0)
    with pytest.raises(GroupFailed, match=SILENT):
        live(endpoint, wakes + 2_500.0, 0)


def test_a_heartbeat_goes_to_whom_nothing_was_sent() -> None:
    endpoint = member(stall_ms=3_000.0)
    endpoint.datagrams_to_send()
    endpoint.tick(START + 99.0)
    assert endpoint.datagrams_to_send() == []
    endpoint.tick(START + 100.0)
    assert endpoint.datagrams_to_send() == [(0, b""), (2, b"")]
    endpoint.datagram_received(0, datagram(0, Numbered(None, 1)), START + 150.0)
    endpoint.broadcast(b"b", START + 150.0)
    assert {to for to, data in endpoint.datagrams_to_send() if data} == {0, 2}
    endpoint.tick(START + 200.0)
    assert all(data for _, data in endpoint.datagrams_to_send())


def test_without_a_limit_there_are_no_heartbeats() -> None:
    endpoint = member()
    endpoint.datagrams_to_send()
    endpoint.tick(START + 1e6)
    assert endpoint.datagrams_to_send() == []


def test_a_limit_may_be_short() -> None:
    assert member(stall_ms=0.5).next_deadline() == START + 0.5


def test_datagrams_are_counted_from_one() -> None:
    endpoint = member(me=0)
    envelopes = [CODEC.decode(data) for _, data in endpoint.datagrams_to_send()]
    assert [envelope.counter for envelope in envelopes if not isinstance(envelope, Rejected)] == [1, 2]


def test_without_a_limit_a_member_waits_for_ever() -> None:
    endpoint = member()
    endpoint.datagram_received(2, datagram(2, Data(Identifier(2, 1), b"c")), START)
    assert endpoint.core.waits()
    assert endpoint.next_deadline() is None
    endpoint.tick(START + 1e12)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_the_limit_is_positive(wrong: float) -> None:
    with pytest.raises(ValueError, match="more than 0 ms"):
        member(stall_ms=wrong)


DIFFERENT_ORDERS: list[tuple[Message, str]] = [
    (Data(Identifier(0, 1), b"other"), "two_payloads_for_one_identifier, by the data of process 2"),
    (Numbered(Identifier(2, 1), 2), "two_identifiers_for_one_number, by the numbered of process 2"),
    (Numbered(Identifier(0, 1), 3), "two_numbers_for_one_identifier"),
    (Numbered(None, 3), "null_elsewhere_than_at_number_one"),
    (Numbered(Identifier(1, 9), 3), "identifier_that_its_source_never_broadcast"),
    (Numbered(Identifier(2, 1), 5), "number_that_is_this_process_to_give"),
]
HARMLESS: list[Message] = [
    Ack(Identifier(2, 1), 4, 1),
    Numbered(Identifier(2, 1), 6),
    Data(Identifier(2, 4), b""),
]


def deep_in_a_run() -> Endpoint[Message]:
    """Process 1 of 3, which has given number 2 to the first message of process 0."""
    endpoint = member()
    endpoint.datagram_received(0, datagram(0, Ack(None, 1, 1)), START)
    endpoint.datagram_received(0, datagram(0, Data(Identifier(0, 1), b"a")), START)
    assert len(endpoint.deliveries()) == 1
    return endpoint


@pytest.mark.parametrize(("message", "told"), DIFFERENT_ORDERS)
def test_what_proves_that_the_order_is_not_common_ends_the_group(message: Message, told: str) -> None:
    with pytest.raises(GroupFailed, match=f"the order is no longer common: {told}"):
        deep_in_a_run().datagram_received(2, datagram(2, message), START)


@pytest.mark.parametrize("message", HARMLESS)
def test_what_cannot_be_yet_is_counted_and_ignored(message: Message) -> None:
    endpoint = deep_in_a_run()
    endpoint.datagram_received(2, datagram(2, message), START)
    assert endpoint.core.violations.total() == 1
    endpoint.datagram_received(2, datagram(2, Data(Identifier(2, 1), b"c")), START)
    assert endpoint.core.waits()
