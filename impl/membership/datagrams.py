"""Messages of a group's processes beside those of a protocol, and the form of a datagram.

Each datagram begins with its kind and a number: that of its list, of a transfer, or 0. Those of one list hold
what its endpoint or its change says; the others hold the records below, or nothing.

This module must not know what is done about any of it.
"""

from __future__ import annotations

from struct import Struct as Packer
from typing import Annotated

from msgspec import Meta, MsgspecError, Struct, msgpack

from antiphon.impl.membership.member import Member
from antiphon.impl.protocols.core import NATURAL_MAX, Natural

__all__ = [
    "HEAD",
    "DatagramKind",
    "Join",
    "No",
    "Standing",
    "Welcome",
    "decode_join",
    "decode_no",
    "decode_welcome",
    "encode",
    "kind_of",
    "look",
    "standing_in",
]

HEAD = Packer("!Bq")

_Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class DatagramKind:
    """Kinds of datagrams."""

    ENDPOINT, LINK, BEAT = range(3)
    """Kinds that belong to one list."""
    JOIN, WELCOME, SUPERSEDED, STATE, ENDED, EXISTS, STOPPED, LOOK, STANDING, NO = range(3, 13)
    """Kinds that belong to none."""


_WORDS = {number: name.lower() for name, number in vars(DatagramKind).items() if name.isupper()}
"""The kinds in words."""


class Standing(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Standing of a process, for whoever has the key and looks at it."""

    me: Member
    view: Annotated[int, Meta(ge=0)]
    """The number of its view; 0: it is no member."""
    members: tuple[Member, ...]
    reached: Annotated[int, Meta(ge=0)]
    """Number of members that it reaches, itself too."""
    ordering: tuple[bytes, ...]
    """The incarnations of those that order messages now."""
    suspected: tuple[bytes, ...]
    given_up: tuple[bytes, ...]
    delivered: _Count
    """The place in the common order of the last message that was delivered."""
    untaken: Annotated[int, Meta(ge=0)]
    """Number of events that its application has not taken."""


class Join(Struct, frozen=True, array_like=True):
    """Wish to be a member, with the protocol of the process: one with another than the group's is not taken
    in.

    A later version of this library may say more: what is unknown is passed over.
    """

    member: Member
    protocol: Annotated[str, Meta(max_length=64)]


class No(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The sender does not take the receiver in."""

    why: Annotated[str, Meta(max_length=1_000)]
    final: bool
    """True if that will stay so."""


class Welcome(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Knowledge that a member which has just joined needs."""

    number: Natural
    """Number of the list."""
    view: Natural
    members: tuple[Member, ...]
    """All of them order messages: the list is a regular view."""
    delivered: _Count
    """Number of messages that were delivered before."""
    counts: tuple[_Count, ...]
    """Number of those that each member has broadcast."""


encode = msgpack.Encoder().encode
decode_join = msgpack.Decoder(Join).decode
decode_welcome = msgpack.Decoder(Welcome).decode
decode_no = msgpack.Decoder(No).decode
_standing = msgpack.Decoder(Standing)


def kind_of(data: bytes) -> str:
    """Return in a word what a datagram is, or "unknown"."""
    return _WORDS.get(data[0], "unknown") if data else "unknown"


def look() -> bytes:
    """Return the datagram that asks a process where it stands."""
    return HEAD.pack(DatagramKind.LOOK, 0)


def standing_in(data: bytes) -> Standing | None:
    """Return the answer to `look` that is in a datagram, or None: it is another one."""
    if len(data) < HEAD.size or HEAD.unpack_from(data)[0] != DatagramKind.STANDING:
        return None
    try:
        return _standing.decode(data[HEAD.size :])
    except MsgspecError:
        return None
