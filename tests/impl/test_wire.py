"""A datagram is an envelope of this group or is dropped under one kind; nothing that arrives raises."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import InvalidMembership, PayloadTooLarge, Rejection
from antiphon.impl.protocols.core import MEMBERS_MAX, PAYLOAD_BYTES_MAX, Identifier
from antiphon.impl.protocols.rbp import MESSAGES, rbp
from antiphon.impl.protocols.rbp.messages import (
    NUMBERS_ASKED_MAX,
    Ack,
    Data,
    Message,
    Numbered,
    Request,
    RequestNumbers,
    flaw,
)
from antiphon.impl.transport import wire
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.wire import Admission, Codec, Envelope, Rejected

MEMBERS = 3
BIG = 2**63 - 1
numbers = st.integers(1, BIG)
identifiers = st.builds(Identifier, st.integers(0, MEMBERS - 1), numbers)
messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Data, identifiers, st.binary(max_size=200)),
    st.builds(Ack, st.none() | identifiers, numbers, st.integers(0, MEMBERS - 1)),
    st.builds(Numbered, st.none() | identifiers, numbers),
    st.builds(Request, identifiers),
    st.builds(
        lambda first, more: RequestNumbers(first, min(first + more, BIG)),
        numbers,
        st.integers(0, NUMBERS_ASKED_MAX - 1),
    ),
)
CODEC = Codec(MESSAGES)
envelopes = st.builds(CODEC.envelope, st.just("g"), st.sampled_from([0, 2]), numbers, messages)

EXAMPLE = CODEC.envelope("g", 0, 7, Data(Identifier(0, 1), b"payload"))


def admission() -> Admission[Message]:
    return Admission(CODEC, "g", 1, MEMBERS)


def raw(*fields: object) -> bytes:
    return msgspec.msgpack.encode(fields)


@given(envelopes)
def test_what_is_encoded_is_decoded(envelope: Envelope[Message]) -> None:
    data = CODEC.encode(envelope)
    assert CODEC.decode(data) == envelope
    admitting = admission()
    assert admitting.admit(data) == envelope
    assert not admitting.dropped


REJECTED = [
    (b"", Rejection.TRUNCATED),
    (b"\xc1", Rejection.MALFORMED),
    (b"hello", Rejection.MALFORMED),
    (b"\xff" * (wire.DATAGRAM_BYTES_MAX + 1), Rejection.OVERSIZED),
    (CODEC.encode(EXAMPLE)[:-1], Rejection.TRUNCATED),
    (CODEC.encode(EXAMPLE) + b"\x00", Rejection.MALFORMED),
    (b"\x96\xa3rbp\x01\xa1\xff\x00\x01\x01", Rejection.MALFORMED),
    (b"\x97\xa3rbp\x01\xa1g\x00\x07" + b"\x91" * 8_000, Rejection.MALFORMED),
    (b"\x97\xa3abc\x01\xa1g\x00\x07" + b"\x91" * 8_000, Rejection.MALFORMED),
    (raw("rbp", 2, "anything", ["else"]), Rejection.FOREIGN_VERSION),
    (raw("rbp", 2, "g", 0, 7, ["data", [0, 1], b""]), Rejection.FOREIGN_VERSION),
    (raw("dtp", 1, "g", 0, 7, ["data", [0, 1], b""]), Rejection.FOREIGN_VERSION),
    (raw("rbp", 1, "other", 0, 7, ["data", [0, 1], b""]), Rejection.FOREIGN_GROUP),
    (raw("rbp", 1, "g", 1, 7, ["data", [0, 1], b""]), Rejection.OWN_ECHO),
    (raw("rbp", 1, "g", 3, 7, ["data", [0, 1], b""]), Rejection.FOREIGN_SENDER),
    (raw("rbp", 1, "g", -1, 7, ["data", [0, 1], b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", MEMBERS_MAX, 7, ["data", [0, 1], b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", MEMBERS_MAX - 1, 7, ["data", [0, 1], b""]), Rejection.FOREIGN_SENDER),
    (raw("rbp", 1, "g", 0, 0, ["data", [0, 1], b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [0, 1], b""], 1), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [0, 0], b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [3, 1], b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [0, 1], "text"]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [0, 1], b"", 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", None, b""]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["data", [0, 1], bytes(PAYLOAD_BYTES_MAX + 1)]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["unheard", 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["truncated", 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["ack", None, 0, 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["ack", None, 1, 3]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["ack", [3, 1], 1, 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["ack", [0, 1], BIG + 1, 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["numbered", [5, 1], 1]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["request", [3, 1]]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["request_numbers", 3, 2]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["request_numbers", 1, 1 + NUMBERS_ASKED_MAX]), Rejection.MALFORMED),
    (raw("rbp", 1, "g", 0, 7, ["request_numbers", 1, BIG]), Rejection.MALFORMED),
]


@pytest.mark.parametrize(("data", "expected"), REJECTED)
def test_each_wrong_datagram_has_its_kind(data: bytes, expected: Rejection) -> None:
    admitting = admission()
    result = admitting.admit(data)
    assert isinstance(result, Rejected)
    assert result.kind is expected
    assert result.detail
    assert admitting.dropped == {expected: 1}


def admit_counts_under_at_most_one_kind(data: bytes) -> None:
    admitting = admission()
    result = admitting.admit(data)
    if isinstance(result, Rejected):
        assert admitting.dropped == {result.kind: 1}
    else:
        assert not admitting.dropped
        assert flaw(result.message, MEMBERS) is None


@given(st.binary(max_size=300))
def test_random_bytes_never_raise(data: bytes) -> None:
    admit_counts_under_at_most_one_kind(data)


@given(envelopes, st.data())
def test_mutated_datagrams_never_raise(envelope: Envelope[Message], data: st.DataObject) -> None:
    mutated = bytearray(CODEC.encode(envelope))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        mutated[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
        mutated = mutated or bytearray(b"\x00")
    admit_counts_under_at_most_one_kind(bytes(mutated))


@given(envelopes, st.data())
def test_truncated_datagrams_are_counted_as_truncated(
    envelope: Envelope[Message], data: st.DataObject
) -> None:
    encoded = CODEC.encode(envelope)
    admitting = admission()
    admitting.admit(encoded[: data.draw(st.integers(0, len(encoded) - 1))])
    assert admitting.dropped == {Rejection.TRUNCATED: 1}


def test_the_largest_payload_with_the_largest_envelope_fits_a_datagram() -> None:
    name = "g" * wire.GROUP_NAME_BYTES_MAX
    largest = Data(Identifier(2**15 - 1, BIG), bytes(PAYLOAD_BYTES_MAX))
    assert len(CODEC.encode(CODEC.envelope(name, 2**15 - 1, BIG, largest))) <= wire.DATAGRAM_BYTES_MAX
    with pytest.raises(PayloadTooLarge):
        CODEC.encode(CODEC.envelope(name, 0, 1, Data(Identifier(0, 1), bytes(wire.DATAGRAM_BYTES_MAX))))


def test_a_datagram_may_be_as_large_as_the_limit_and_no_larger() -> None:
    def envelope(size: int) -> Envelope[Message]:
        return CODEC.envelope("g", 0, 1, Data(Identifier(0, 1), bytes(size)))

    room = wire.DATAGRAM_BYTES_MAX - (len(CODEC.encode(envelope(PAYLOAD_BYTES_MAX))) - PAYLOAD_BYTES_MAX)
    largest = CODEC.encode(envelope(room))
    assert len(largest) == wire.DATAGRAM_BYTES_MAX
    with pytest.raises(PayloadTooLarge):
        CODEC.encode(envelope(room + 1))
    refused = [CODEC.decode(data) for data in (largest, largest + b"x")]
    assert [each.kind for each in refused if isinstance(each, Rejected)] == [
        Rejection.MALFORMED,
        Rejection.OVERSIZED,
    ]


@given(messages, st.data())
def test_whatever_is_let_in_can_be_sent_on(message: Message, data: st.DataObject) -> None:
    """A message at the limits of the gate fits a datagram of every member, whatever the counters are."""
    if isinstance(message, Data):
        size = data.draw(
            st.sampled_from([0, PAYLOAD_BYTES_MAX - 1, PAYLOAD_BYTES_MAX, PAYLOAD_BYTES_MAX + 1])
        )
        message = Data(message.identifier, bytes(size))
    arriving = msgspec.msgpack.encode(CODEC.envelope("g", 0, 1, message))
    if isinstance(admission().admit(arriving), Rejected):
        assert isinstance(message, Data)
        assert len(message.payload) > PAYLOAD_BYTES_MAX
    else:
        name = "g" * wire.GROUP_NAME_BYTES_MAX
        CODEC.encode(CODEC.envelope(name, MEMBERS_MAX - 1, BIG, message))


def test_the_limits_are_the_documented_ones() -> None:
    """The numbers that docs/library.md states."""
    assert (PAYLOAD_BYTES_MAX, wire.DATAGRAM_BYTES_MAX, NUMBERS_ASKED_MAX) == (63_800, 64_000, 8)
    assert (MEMBERS_MAX, wire.GROUP_NAME_BYTES_MAX) == (32_768, 64)


def test_a_member_survives_a_payload_above_the_limit() -> None:
    """Kept, it would end the member as soon as somebody asks for it."""
    endpoint = Endpoint(rbp(), "g", 1, MEMBERS)
    large = bytes(PAYLOAD_BYTES_MAX + 100)
    endpoint.datagram_received(0, raw("rbp", 1, "g", 0, 1, ["data", [0, 1], large]), 0.0)
    endpoint.datagram_received(2, raw("rbp", 1, "g", 2, 1, ["request", [0, 1]]), 0.0)
    assert endpoint.datagrams_to_send() == []
    assert endpoint.admission.dropped == {Rejection.MALFORMED: 1}


@pytest.mark.parametrize(
    ("group", "me"), [("", 0), ("g" * 65, 0), ("é" * 33, 0), ("\ud800", 0), ("g", 3), ("g", -1)]
)
def test_admission_refuses_an_impossible_membership(group: str, me: int) -> None:
    with pytest.raises(InvalidMembership):
        Admission(CODEC, group, me, MEMBERS)


def test_a_group_name_has_64_bytes_at_most() -> None:
    assert Admission(CODEC, "é" * 32, 0, 2).group == "é" * 32
    for name in ("", "é" * 32 + "e"):
        with pytest.raises(
            InvalidMembership, match=f"group name of {len(name.encode())} bytes; it has 1 to 64"
        ):
            Admission(CODEC, name, 0, 2)


def test_no_group_has_more_members_than_a_datagram_can_name() -> None:
    Admission(CODEC, "g", MEMBERS_MAX - 1, MEMBERS_MAX)
    with pytest.raises(InvalidMembership, match="at most 32768"):
        Admission(CODEC, "g", 0, MEMBERS_MAX + 1)


def test_the_kinds_have_the_names_on_the_wire() -> None:
    examples: list[Message] = [
        Data(Identifier(0, 1), b""),
        Ack(None, 1, 1),
        Numbered(None, 1),
        Request(Identifier(0, 1)),
        RequestNumbers(1, 2),
    ]
    names = [msgspec.msgpack.decode(CODEC.encode(CODEC.envelope("g", 0, 1, m)))[5][0] for m in examples]
    assert names == [MESSAGES.kind(message) for message in examples]
    assert names == ["data", "ack", "numbered", "request", "request_numbers"]
