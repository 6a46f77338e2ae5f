"""A message with a part more or less than its kind has is malformed, whatever the kind."""

import msgspec
import pytest

from antiphon.impl.errors import Rejection
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.rbp import MESSAGES
from antiphon.impl.protocols.rbp.messages import (
    Ack,
    Data,
    Gone,
    Message,
    Numbered,
    Request,
    RequestNumbers,
    RingMessage,
)
from antiphon.impl.transport.wire import Codec, Rejected

CODEC = Codec(MESSAGES)
ONE_OF_EACH: list[Message] = [
    Data(Identifier(0, 1), b"x"),
    Ack(Identifier(0, 1), 1, 2),
    Numbered(Identifier(0, 1), 1),
    Request(Identifier(0, 1)),
    RequestNumbers(1, 2),
]


@pytest.mark.parametrize("message", ONE_OF_EACH, ids=lambda message: type(message).__name__)
def test_a_message_has_all_its_parts_and_no_other(message: Message) -> None:
    whole = msgspec.msgpack.decode(CODEC.encode(CODEC.envelope("g", 0, 1, message)))
    assert CODEC.decode(msgspec.msgpack.encode(whole)) == CODEC.envelope("g", 0, 1, message)
    *envelope, body = whole
    for other in ([*envelope, [*body, 0]], [*envelope, body[:-1]], [*whole, 0], envelope):
        refused = CODEC.decode(msgspec.msgpack.encode(other))
        assert isinstance(refused, Rejected), other
        assert refused.kind is Rejection.MALFORMED


def test_each_kind_of_message_stands_here() -> None:
    assert {type(message) for message in ONE_OF_EACH} == set(RingMessage.__args__)
    assert set(Message.__args__) == {*RingMessage.__args__, Gone}, "only who changes its list says this"
