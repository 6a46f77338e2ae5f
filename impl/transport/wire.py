"""Wire format: one datagram holds one envelope in MessagePack, with its group and sender and one message of
one protocol.

The envelope is an array [protocol, version, group, sender, counter, message]; a message is an array that
starts with its kind. `(sender, counter)` names the datagram. `decode` never raises: what is not an envelope
of this protocol comes back as a `Rejected` with its kind. `Admission` adds what only a member can judge
(group, sender, ranges for so many members) and counts.

Nothing here is authenticated: a sender is who the datagram says, and `Endpoint` compares that with the
address it came from. This module must not know any protocol; what its messages are and that their fields are
in range is asked of its `MessageFormat`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Generic, TypeVar

from msgspec import DecodeError, Struct, msgpack

from antiphon.impl.errors import UNREADABLE, InvalidMembership, PayloadTooLarge, Rejection
from antiphon.impl.protocols.core import MEMBERS_MAX, PAYLOAD_BYTES_MAX, MessageFormat, Natural, Process

__all__ = [
    "DATAGRAM_BYTES_MAX",
    "ENVELOPE_BYTES",
    "EVERYBODY",
    "GROUP_NAME_BYTES_MAX",
    "Admission",
    "Codec",
    "Envelope",
    "Rejected",
]

M = TypeVar("M")

DATAGRAM_BYTES_MAX = 64_000
"""Largest envelope in bytes: less than UDP over IPv4 carries (65,507), by what carriers and shells add to it.

Each datagram costs a member's processor the same few steps whatever it holds, so large ones make a group fast
where the network takes them whole, as the loopback interface does (65,536). Ethernet carries one of this size
as 44 packets, and it is lost with any of them: `Layers.datagram_bytes` is for networks that lose.
"""

ENVELOPE_BYTES = DATAGRAM_BYTES_MAX - PAYLOAD_BYTES_MAX
"""Largest number of bytes that an envelope and a message add to the payload."""

EVERYBODY = -1
"""Receiver of a message to all other members in one datagram."""

GROUP_NAME_BYTES_MAX = 64
"""Largest number of bytes of a group name, in UTF-8."""


class Envelope(Struct, Generic[M], frozen=True, array_like=True, forbid_unknown_fields=True):
    """Envelope of one message; `(sender, counter)` is unique among the datagrams of a run."""

    protocol: str
    version: int
    group: str
    sender: Process
    counter: Natural
    message: M


class Rejected(Struct, frozen=True):
    """Rejection: the reason why bytes are no valid envelope; `detail` is for people."""

    kind: Rejection
    detail: str


class _Opening(Struct, frozen=True, array_like=True):
    """The two fields that every version of every protocol has in common."""

    protocol: str
    version: int


class Codec(Generic[M]):
    """Codec of the envelopes of one version of one protocol."""

    def __init__(self, messages: MessageFormat[M]) -> None:
        self.messages = messages
        self._encoder = msgpack.Encoder()
        types: Any = messages.types
        self._decoder: msgpack.Decoder[Envelope[M]] = msgpack.Decoder(Envelope[types])
        self._opening = msgpack.Decoder(_Opening)

    def envelope(self, group: str, sender: int, counter: int, message: M) -> Envelope[M]:
        """Return an envelope of this protocol and version."""
        return Envelope(self.messages.protocol, self.messages.version, group, sender, counter, message)

    def encode(self, envelope: Envelope[M]) -> bytes:
        """Return the datagram. Raises `PayloadTooLarge` when it would exceed DATAGRAM_BYTES_MAX."""
        data = self._encoder.encode(envelope)
        if len(data) > DATAGRAM_BYTES_MAX:
            raise PayloadTooLarge(f"{len(data)} bytes encoded; a datagram has at most {DATAGRAM_BYTES_MAX}")
        return data

    def decode(self, data: bytes | memoryview) -> Envelope[M] | Rejected:
        """Return the envelope in a datagram, or the reason why there is none: any bytes are allowed and
        nothing is raised.
        """
        if len(data) > DATAGRAM_BYTES_MAX:
            return Rejected(
                Rejection.OVERSIZED, f"{len(data)} bytes; a datagram has at most {DATAGRAM_BYTES_MAX}"
            )
        try:
            envelope = self._decoder.decode(data)
        except UNREADABLE as error:
            return self._foreign(data) or _unreadable(error)
        if (envelope.protocol, envelope.version) != (self.messages.protocol, self.messages.version):
            return self._foreign(data) or Rejected(Rejection.MALFORMED, "no protocol and version")
        return envelope

    def _foreign(self, data: bytes | memoryview) -> Rejected | None:
        """Return a rejection if the bytes begin like an envelope of another protocol or version, else
        None.
        """
        try:
            opening = self._opening.decode(data)
        except UNREADABLE:
            return None
        here = self.messages
        if (opening.protocol, opening.version) == (here.protocol, here.version):
            return None
        told = (
            f"protocol {opening.protocol!r} version {opening.version}; here {here.protocol!r} version "
            f"{here.version}"
        )
        return Rejected(Rejection.FOREIGN_VERSION, told)


def _unreadable(error: Exception) -> Rejected:
    """Return the rejection of undecodable bytes: truncated if they end too early, else malformed."""
    early = type(error) is DecodeError and "truncated" in str(error)
    return Rejected(Rejection.TRUNCATED if early else Rejection.MALFORMED, str(error))


class Admission(Generic[M]):
    """Filter of one member of one group: it admits envelopes for the member, and counts everything else by
    kind in `dropped`.
    """

    def __init__(self, codec: Codec[M], group: str, me: int, members: int) -> None:
        """Make the filter of member `me` of 0..members-1.

        Raises:
            InvalidMembership: the name is empty or too long, there are too many members, or `me` is not one.
        """
        try:
            size = len(group.encode())
        except UnicodeEncodeError as error:
            raise InvalidMembership(f"group name {group!r} has no UTF-8: {error.reason}") from error
        if not 1 <= size <= GROUP_NAME_BYTES_MAX:
            raise InvalidMembership(
                f"group name of {size} bytes; it has 1 to {GROUP_NAME_BYTES_MAX} bytes in UTF-8"
            )
        if members > MEMBERS_MAX:
            raise InvalidMembership(f"{members} members; a group has at most {MEMBERS_MAX}")
        if members < 2:
            raise InvalidMembership(f"{members} members; a group has at least 2")
        if not 0 <= me < members:
            raise InvalidMembership(
                f"process {me} of {members}: members are numbered from 0 to {members - 1}"
            )
        self.codec = codec
        self.group = group
        self.me = me
        self.members = members
        self.dropped: Counter[Rejection] = Counter()

    def admit(self, data: bytes | memoryview) -> Envelope[M] | Rejected:
        """Return the envelope in a datagram for this member, or its rejection; count a rejection in
        `dropped`.
        """
        result = self.codec.decode(data)
        if not isinstance(result, Rejected):
            refusal = self._refusal(result)
            if refusal is None:
                return result
            result = refusal
        return self.refuse(result)

    def refuse(self, rejected: Rejected) -> Rejected:
        """Count a rejection in `dropped`, and return it."""
        self.dropped[rejected.kind] += 1
        return rejected

    def _refusal(self, envelope: Envelope[M]) -> Rejected | None:
        if envelope.group != self.group:
            return Rejected(Rejection.FOREIGN_GROUP, f"group {envelope.group!r}; here {self.group!r}")
        if envelope.sender == self.me:
            return Rejected(Rejection.OWN_ECHO, f"sender {envelope.sender} is the receiver")
        if envelope.sender >= self.members:
            return Rejected(
                Rejection.FOREIGN_SENDER, f"sender {envelope.sender} is not one of {self.members} members"
            )
        flaw = self.codec.messages.flaw(envelope.message, self.members)
        return None if flaw is None else Rejected(Rejection.MALFORMED, flaw)
