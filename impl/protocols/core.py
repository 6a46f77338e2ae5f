"""Interface of protocol cores, the same for every shell: messages and the time go in, messages and deliveries
come out.

A shell calls `start` once, and then does the same four things with any core: it calls `receive` for each
message and `tick` when `next_deadline` has come, calls `settle` after either, sends what `outputs` drains,
and gives the deliveries to the application. `now` is a number of milliseconds from any fixed origin, the same
for all calls to one core, and never decreases. A core that was only made has no time yet, and no timer runs.

What a core hands out is immutable or a copy, and what it does follows from its snapshot and its calls alone.

This module must not know any protocol, any wire format or where the time comes from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Generic, NamedTuple, Protocol, TypeVar

from msgspec import Meta, Struct

from antiphon.impl.errors import PayloadTooLarge, Violation
from antiphon.impl.tracing import Tracer

__all__ = [
    "MEMBERS_MAX",
    "NATURAL_MAX",
    "PAYLOAD_BYTES_MAX",
    "Delivery",
    "Identifier",
    "Implementation",
    "MessageFormat",
    "Natural",
    "Network",
    "Payload",
    "Process",
    "ProtocolCore",
    "Send",
    "Wait",
    "bytes_copy",
    "payload_copy",
    "source_flaw",
    "standing",
]

MEMBERS_MAX = 2**15
"""Largest number of members of a group."""

PAYLOAD_BYTES_MAX = 63_800
"""Largest payload: the room in a datagram when every other field is at its largest."""

Process = Annotated[int, Meta(ge=0, le=MEMBERS_MAX - 1)]
"""A member's number in its group, from 0."""

Payload = Annotated[bytes, Meta(max_length=PAYLOAD_BYTES_MAX)]
"""Bytes of an application, as a message type declares them: a longer payload cannot be sent."""

NATURAL_MAX = 2**63 - 1
"""Largest number, identifier or datagram counter: a group that has used it fails, and never wraps."""

Natural = Annotated[int, Meta(ge=1, le=NATURAL_MAX)]
"""Integer from 1 to the largest signed 64-bit integer."""

M = TypeVar("M")

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    S = TypeVarWithDefault("S", default=int)
if not TYPE_CHECKING:
    S = TypeVar("S")


def bytes_copy(payload: bytes | bytearray | memoryview) -> bytes:
    """Return an application's payload as an immutable copy. Raises `TypeError`: it is not bytes-like."""
    if type(payload) is bytes:
        return payload
    try:
        return memoryview(payload).tobytes()
    except TypeError:
        told = f"a payload is bytes, bytearray or another buffer, not {type(payload).__name__}"
        raise TypeError(f"{told}: encode it first") from None


def payload_copy(payload: bytes | bytearray | memoryview) -> bytes:
    """Return an immutable copy of a payload that must fit one datagram.

    Raises:
        TypeError: it is not bytes-like; text has to be encoded.
        PayloadTooLarge: more bytes than fit one datagram.
    """
    copied = bytes_copy(payload)
    if len(copied) > PAYLOAD_BYTES_MAX:
        told = f"{len(copied)} bytes; a payload has at most {PAYLOAD_BYTES_MAX}"
        raise PayloadTooLarge(f"{told}: split it or send a reference")
    return copied


class Identifier(NamedTuple):
    """Name of a broadcast message: its source, and the source's own count from 1 (`B` in RBP)."""

    source: Process
    id: Natural


class Delivery(NamedTuple, Generic[S]):
    """Event: a message with its number in the total order. Numbers grow, and some may be left out."""

    source: S
    """Place of the member that has broadcast the message; in a group whose members change, the `Member`."""
    id: int
    number: int
    payload: bytes


class Send(NamedTuple, Generic[M]):
    """One message for one member. Equal copies for several members are the same object."""

    to: int
    message: M


class Wait(NamedTuple):
    """Message that a member needs before it can go on."""

    what: str
    """Description of the missing message: "number 7"."""
    of: int
    """Member from which the message has to come."""

    def __str__(self) -> str:
        return f"{self.what} of process {self.of}"


class ProtocolCore(Protocol[M]):
    """Interface between a protocol and the shell or network that carries its messages."""

    @property
    def me(self) -> int:
        """Place of this member among the members."""
        ...

    @property
    def members(self) -> int:
        """Number of members."""
        ...

    @property
    def violations(self) -> Counter[Violation]:
        """Number of messages that no correct member sends, by kind; a copy."""
        ...

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused now."""
        ...

    def start(self, now: float) -> None:
        """Take part: once, before every other call."""
        ...

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this member needs from others before it can go on; they change only with
        `progress`.
        """
        ...

    @property
    def progress(self) -> int:
        """Return a measure of this member's progress: it grows with everything that brings the member
        further, or lets it go further.
        """
        ...

    @property
    def broken(self) -> Violation | None:
        """Return the violation that proves that the members have no common order any more, or None."""
        ...

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Broadcast a message to the group. Raise `Busy` when `busy` is True, and the errors of
        `payload_copy`; then nothing was done.
        """
        ...

    def receive(self, sender: int, message: M, now: float) -> None:
        """Handle one message of another member."""
        ...

    def settle(self, now: float) -> list[Delivery]:
        """Take all steps that need neither message nor time; return the deliveries in their order."""
        ...

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        ...

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        ...

    def outputs(self) -> list[Send[M]]:
        """Return, once, the messages to send, in order."""
        ...

    def snapshot(self) -> Hashable:
        """Return the whole state, immutable and canonical: cores with equal snapshots behave equally."""
        ...

    def restore(self, snapshot: Any, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        ...


class Network(Enum):
    """Guarantees that a core needs from the network below it."""

    LOSSY = "lossy"
    """Network that may lose, repeat and reorder messages; the core sends lost ones again."""
    FIFO = "fifo"
    """Network with a reliable queue between each pair of members: a message arrives once and in order."""


def standing(core: ProtocolCore[Any]) -> str:
    """Describe a member in words: its place, its progress and the messages that it waits for."""
    waits = "; ".join(map(str, core.waits()))
    broken = f"; broken: {core.broken.value}" if core.broken is not None else ""
    told = f"process {core.me} of {core.members}, progress {core.progress}{', busy' if core.busy else ''}"
    return f"{told}{broken}; waits for {waits or 'nothing'}"


class MessageFormat(NamedTuple, Generic[M]):
    """Message format of one version of one protocol, as the wire needs it."""

    protocol: str
    version: int
    types: Any
    """Union of the message types; each starts with its own tag."""
    flaw: Callable[[M, int], str | None]
    """Function that names a field which is out of range for a group of this size; a core takes no such
    message.
    """

    def kind(self, message: M) -> str:
        """Return the name of a message's kind: its tag on the wire."""
        return str(message.__struct_config__.tag)  # type: ignore[attr-defined]


class HasIdentifier(Protocol):
    """Interface of a message about one broadcast."""

    @property
    def identifier(self) -> Identifier:
        """Return the identifier of the broadcast message."""
        ...


def source_flaw(message: HasIdentifier, members: int) -> str | None:
    """Return the reason why an identifier is impossible in a group of this size, or None."""
    source = message.identifier.source
    return f"source {source} is not one of {members} members" if source >= members else None


class Implementation(NamedTuple, Generic[M]):
    """Protocol in the form in which groups and networks run it: its messages, and the function that makes the
    core of one member.
    """

    messages: MessageFormat[M]
    core: Callable[[int, int, Tracer], ProtocolCore[M]]
    """Function that makes a core from the member's place, the number of members and a tracer. Raises
    `InvalidMembership`.
    """
    network: Network = Network.LOSSY
    """The guarantees that the core needs below it. The carrier of its messages provides them; the core does
    not check them.
    """
    resilient: Callable[[int], Implementation[M]] | None = None
    """Function that makes, for a number k, the same protocol with delivery when k members have a message.
    None: the core delivers what is ordered.
    """
    holders: int = 1
    """Least number of members that have a message when the core delivers it; 0: all members."""
    forgets: bool = True
    """True if a member keeps, at rest, no more than a few messages for each member."""
    listed: Callable[[int, int, int, Tracer], ProtocolCore[M]] | None = None
    """Function that makes the core of one list, for a group whose members change.

    It is like `core`, with one more argument before the tracer: the number of the first members that take
    part in the ordering; the others only listen. The core is also a `Flushes`. None: the protocol has no such
    core.
    """
    settings: Struct | None = None
    """Settings of the protocol's cores, where they have such a record."""
    external: bool = True
    """True if a list can have members that only listen. Without such members, a list excludes nobody who is
    only suspected.
    """
    ordered: bool = True
    """True if all members deliver in one order; otherwise they have only the same messages at the end of a
    list.
    """
    reforms: bool = False
    """True if the members of a view make their lists by Reformation (figures 22 to 24), False if by the
    change of figures 32 and 34; it matters only with `listed`."""
    older: tuple[Implementation[Any], ...] = ()
    """The same protocol with the messages of earlier versions, the newest first. Members of a group that
    changes speak the newest version that all of them know.
    """

    @property
    def versions(self) -> tuple[int, int]:
        """Return the oldest and the newest version of the protocol's messages."""
        last = self.older[-1] if self.older else self
        return last.messages.version, self.messages.version

    def speaking(self, version: int) -> Implementation[Any]:
        """Return the protocol with the messages of this version, which is one of `versions`."""
        found: Implementation[Any] = next(
            one for one in (self, *self.older) if one.messages.version == version
        )
        return found

    @classmethod
    def of(
        cls,
        messages: MessageFormat[M],
        kind: Callable[..., ProtocolCore[M]],
        settings: Struct,
        network: Network = Network.LOSSY,
    ) -> Implementation[M]:
        """Make an implementation whose cores are of this class with these settings: `kind(me, members,
        settings, tracer=tracer)`.
        """

        def core(me: int, members: int, tracer: Tracer) -> ProtocolCore[M]:
            return kind(me, members, settings, tracer=tracer)

        return cls(messages, core, network, settings=settings)
