"""Datagrams that are almost right: messages of every type of a protocol, and what a mutation makes of them.

Whatever draws them is a `random.Random`, or what behaves like one, so that Hypothesis can shrink the draws.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import inspect, msgpack

from antiphon.impl.protocols.core import Implementation

EDGES = (0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 2**15 - 1, 2**15, 2**31, 2**32, 2**62, 2**63 - 1)
LENGTHS = (b"\xc6", b"\xc9", b"\xdb", b"\xdd", b"\xdf")
"""The marks of MessagePack that a length of four bytes follows."""

FOREIGN = (
    msgpack.encode(float("nan")), msgpack.encode(float("inf")), msgpack.encode(1.0), b"\xc0", b"\xc1",
    b"\xd3" + struct.pack(">q", -(2**63)), b"\xcf" + b"\xff" * 8, b"\xd4\x05a", b"\xd6\xff" + bytes(4),
    b"\xc7\x00\xff", b"\xc7\x0c\xff" + b"\xff" * 12, b"\x80", b"\x81\xa1a\x01", b"\xa4\xff\xfe\xfd\xfc",
    b"\xc2", b"\xa0",
)  # fmt: skip
"""Values that no message has: floats, nothing, extensions, times, maps, text that is none."""


def value(draw: random.Random, kind: inspect.Type) -> Any:
    """Return a random value of a message type, as MessagePack would decode it."""
    match kind:
        case inspect.UnionType(types):
            return value(draw, draw.choice(types))
        case inspect.StructType():
            tag = [] if kind.tag is None else [kind.tag]
            return [*tag, *(value(draw, field.type) for field in kind.fields)]
        case inspect.NamedTupleType(_, fields):
            return [value(draw, field.type) for field in fields]
        case inspect.TupleType(items):
            return [value(draw, item) for item in items]
        case inspect.VarTupleType(item) | inspect.ListType(item) | inspect.FrozenSetType(item):
            return [value(draw, item) for _ in range(draw.choice((0, 1, 3, 40)))]
        case inspect.IntType():
            least, most = kind.ge or 0, kind.le or 2**63 - 1
            near = [edge for edge in EDGES if least <= edge <= most]
            return draw.choice(near[:4] if draw.random() < 0.7 else near)
        case inspect.BytesType():
            return draw.randbytes(draw.choice((0, 1, 8, 300)))
        case inspect.StrType():
            return draw.choice(("", "a", "é" * 40))
        case inspect.LiteralType(values):
            return draw.choice(values)
        case inspect.EnumType(made):
            return draw.choice(list(made)).value
        case inspect.BoolType():
            return draw.random() < 0.5
        case inspect.NoneType():
            return None
    raise TypeError(f"no values of {kind} yet: add a case")


def envelopes(
    draw: random.Random, implementation: Implementation[Any], group: str, count: int
) -> list[bytes]:
    """Envelopes of the protocol with messages of all its types."""
    messages = implementation.messages
    kind = inspect.type_info(messages.types)
    head = [messages.protocol, messages.version, group]
    return [
        msgpack.encode(
            [*head, draw.choice((0, 1, 1, 1, 1, 1, 2, 3)), draw.choice(EDGES[1:]), value(draw, kind)]
        )
        for _ in range(count)
    ]


def segment(number: int, item: bytes) -> bytes:
    """The datagram of a link with this number that carries one item."""
    return msgpack.encode([number, 0, 0, [item]])


def _flipped(draw: random.Random, data: bytearray, _: bytes) -> None:
    for _ in range(draw.choice((1, 1, 2, 8))):
        bit = draw.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8


def _cut(draw: random.Random, data: bytearray, _: bytes) -> None:
    del data[draw.randrange(len(data)) :]


def _spliced(draw: random.Random, data: bytearray, other: bytes) -> None:
    data[draw.randrange(len(data)) :] = other[draw.randrange(len(other) + 1) :]


def _repeated(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    part = bytes(data[at : at + draw.choice((1, 2, 9, 50))])
    data[at:at] = part * draw.choice((1, 2, 30))


def _removed(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    del data[at : at + draw.choice((1, 1, 2, 9))]


def _claims_length(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    length = draw.choice((0, 1, 2**16, 2**31, 2**32 - 1))
    data[at : at + draw.choice((0, 1, 5))] = draw.choice(LENGTHS) + struct.pack(">I", length)


def _nested(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    data[at:at] = draw.choice((b"\x91", b"\x81\xa0", b"\xdc\x00\x01")) * draw.choice((1, 100, 1_100, 20_000))


def _foreign(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    data[at : at + draw.choice((0, 1, 1, 9))] = draw.choice(FOREIGN)


def _longer_number(draw: random.Random, data: bytearray, _: bytes) -> None:
    """A small number in more bytes than it needs."""
    small = [at for at, byte in enumerate(data) if byte < 128]
    if small:
        at = draw.choice(small)
        mark, form = draw.choice(
            ((b"\xcc", ">B"), (b"\xcd", ">H"), (b"\xce", ">I"), (b"\xcf", ">Q"), (b"\xd3", ">q"))
        )
        data[at : at + 1] = mark + struct.pack(form, data[at])


def _other_number(draw: random.Random, data: bytearray, _: bytes) -> None:
    at = draw.randrange(len(data))
    data[at : at + draw.choice((1, 2, 9))] = msgpack.encode(draw.choice(EDGES))


def _noise(draw: random.Random, data: bytearray, _: bytes) -> None:
    data[:] = draw.randbytes(draw.choice((0, 1, 20, 100, 1_000)))


def _another_tree(draw: random.Random, data: bytearray, other: bytes) -> None:
    """One value of the tree comes from elsewhere, is gone, or stands twice."""
    try:
        tree, others = msgpack.decode(bytes(data)), msgpack.decode(other)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return
    data[:] = msgpack.encode(_changed(draw, tree, others))


def _changed(draw: random.Random, tree: Any, others: Any) -> Any:
    if not isinstance(tree, list) or not tree or draw.random() < 0.3:
        return draw.choice((None, -1, 2**64 - 1, float("nan"), "", b"", [], {}, True, others))
    at = draw.randrange(len(tree))
    match draw.randrange(5):
        case 0:
            return tree[:at] + tree[at + 1 :]
        case 1:
            return [*tree[: at + 1], *tree[at:]]
        case _:
            return [*tree[:at], _changed(draw, tree[at], others), *tree[at + 1 :]]


MUTATIONS: tuple[Callable[[random.Random, bytearray, bytes], None], ...] = (
    _flipped, _flipped, _cut, _spliced, _repeated, _removed, _claims_length, _nested, _foreign,
    _longer_number, _other_number, _another_tree, _another_tree, _noise,
)  # fmt: skip


def mutated(draw: random.Random, data: bytes, other: bytes) -> bytes:
    """A datagram after up to three mutations, one time in four after none."""
    if draw.random() < 0.25:
        return data
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        if changed:
            draw.choice(MUTATIONS)(draw, changed, other)
    return bytes(changed[:65_507])
