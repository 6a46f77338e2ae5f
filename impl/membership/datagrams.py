"""Messages of a group's processes beside those of a protocol, and the form of a datagram.

Each datagram begins with its kind and a number: that of a list, that of a transfer, or 0. Then come bytes of
the list's endpoint or change, bytes of the transfer, one of the records below, or nothing.


"""

from __future__ import annotations

from struct import Struct as Packer
from typing import Annotated

from msgspec import Meta, Struct, msgpack

from antiphon.impl.errors import UNREADABLE
from antiphon.impl.membership.member import Member
from antiphon.impl.protocols.core import NATURAL_MAX, Natural

__all__ = [
    "DEAF",
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
    "group_in",
    "group_named",
    "kind_of",
    "look",
    "standing_in",
]

HEAD = Packer("!Bq")

DEAF = b"\1"
"""Body of a heartbeat whose sender does not hear its receiver. Other heartbeats have none, and earlier
versions of this library look at no body.
"""

_Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]


class DatagramKind:
    """Kinds of datagrams."""

    ENDPOINT, LINK, BEAT = range(3)
    """Kinds of datagrams that belong to one list."""
    JOIN, WELCOME, SUPERSEDED, STATE, ENDED, EXISTS, STOPPED, LOOK, STANDING, NO, NEEDS = range(3, 14)
    """Kinds that belong to no list."""
    GROUP = 14
    """Kind of the answer to a LOOK of somebody who does not know the group's name: its bytes are the name."""


_WORDS = {number: name.lower() for name, number in vars(DatagramKind).items() if name.isupper()}
"""Name of each kind, by its number."""


class Standing(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """State of a process, sent to anybody who has the group's key and asks for it."""

    me: Member
    view: Annotated[int, Meta(ge=0)]
    """Number of the view of the process, or 0 if it is no member."""
    members: tuple[Member, ...]
    reached: Annotated[int, Meta(ge=0)]
    """Number of members that the process reaches, itself too."""
    ordering: tuple[bytes, ...]
    """The incarnations of the members that order messages now."""
    suspected: tuple[bytes, ...]
    given_up: tuple[bytes, ...]
    delivered: _Count
    """The place in the common order of the last message that was delivered."""
    untaken: Annotated[int, Meta(ge=0)]
    """Number of events that the application of the process has not taken."""


class Join(Struct, frozen=True, array_like=True):
    """Wish to be a member, with the protocol of the process: a process with another protocol than the group's
    is not admitted.

    A later version of this library may add fields: unknown ones are ignored.
    """

    member: Member
    protocol: Annotated[str, Meta(max_length=64)]
    founds: bool = False
    """True if the process will make the first list, unless it hears of a group or of an earlier founder."""
    message_bytes_max: _Count = 0
    """Largest size of a message in bytes, the same at all members; 0 from a process that does not say it."""


class No(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Refusal: the sender does not admit the receiver."""

    why: Annotated[str, Meta(max_length=1_000)]
    final: bool
    """True if the receiver need not ask again."""


class Welcome(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """State of the group that a member needs when it has just joined."""

    number: Natural
    """Number of the list."""
    view: Natural
    members: tuple[Member, ...]
    """Members of the list, all of which order messages: the list is a regular view."""
    delivered: _Count
    """Number of messages that were delivered before this list."""
    counts: tuple[_Count, ...]
    """Number of messages that each member has broadcast, among those delivered before."""


encode = msgpack.Encoder().encode
decode_join = msgpack.Decoder(Join).decode
decode_welcome = msgpack.Decoder(Welcome).decode
decode_no = msgpack.Decoder(No).decode
_standing = msgpack.Decoder(Standing)


def kind_of(data: bytes) -> str:
    """Return the kind of a datagram in a word, or "unknown"."""
    return _WORDS.get(data[0], "unknown") if data else "unknown"


def look() -> bytes:
    """Return the datagram that asks a process for its state."""
    return HEAD.pack(DatagramKind.LOOK, 0)


def group_named(name: str) -> bytes:
    """Return the answer to `look` of somebody who does not know the group's name."""
    return HEAD.pack(DatagramKind.GROUP, 0) + name.encode()


def group_in(data: bytes) -> str | None:
    """Return the group's name in a datagram, or None for any other datagram."""
    if len(data) <= HEAD.size or HEAD.unpack_from(data)[0] != DatagramKind.GROUP:
        return None
    return data[HEAD.size :].decode(errors="replace")


def standing_in(data: bytes) -> Standing | None:
    """Return the answer to `look` in a datagram, or None for any other datagram."""
    if len(data) < HEAD.size or HEAD.unpack_from(data)[0] != DatagramKind.STANDING:
        return None
    try:
        return _standing.decode(data[HEAD.size :])
    except UNREADABLE:
        return None
