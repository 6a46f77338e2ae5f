"""A protocol core is the same to every shell: messages and the time go in, messages and deliveries come out.

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
"""The most members of a group."""

PAYLOAD_BYTES_MAX = 63_800
"""The largest payload: what is left of a datagram when every other field is at its largest."""

Process = Annotated[int, Meta(ge=0, le=MEMBERS_MAX - 1)]
"""A member's number in its group, from 0."""

Payload = Annotated[bytes, Meta(max_length=PAYLOAD_BYTES_MAX)]
"""An application's bytes, as a message type has to declare them: a longer payload cannot be sent on."""

NATURAL_MAX = 2**63 - 1
"""The last number, identifier and datagram counter: a group that has used it up fails, and never wraps."""

Natural = Annotated[int, Meta(ge=1, le=NATURAL_MAX)]
"""1, 2, 3, ..., as far as a signed 64-bit integer goes."""

M = TypeVar("M")

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    S = TypeVarWithDefault("S", default=int)
if not TYPE_CHECKING:
    S = TypeVar("S")


def bytes_copy(payload: bytes | bytearray | memoryview) -> bytes:
    """An application's payload as bytes that nobody can change. Raises `TypeError`: it is not bytes-like."""
    if type(payload) is bytes:
        return payload
    try:
        return memoryview(payload).tobytes()
    except TypeError:
        told = f"a payload is bytes, bytearray or another buffer, not {type(payload).__name__}"
        raise TypeError(f"{told}: encode it first") from None


def payload_copy(payload: bytes | bytearray | memoryview) -> bytes:
    """As `bytes_copy`, for a payload that has to travel whole in one datagram.

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
    """`B`: names one broadcast message by its source and the source's own count, from 1."""

    source: Process
    id: Natural


class Delivery(NamedTuple, Generic[S]):
    """A message at its place in the total order; numbers grow, and may leave some out."""

    source: S
    """The place of the member that has broadcast it; in a group whose members change, the `Member`."""
    id: int
    number: int
    payload: bytes


class Send(NamedTuple, Generic[M]):
    """One message for one member. Equal copies for several members are the same object."""

    to: int
    message: M


class Wait(NamedTuple):
    """Something that a member cannot do without."""

    what: str
    """The missing thing in words: "number 7"."""
    of: int
    """The member from which it has to come."""

    def __str__(self) -> str:
        return f"{self.what} of process {self.of}"


class ProtocolCore(Protocol[M]):
    """The interface between a protocol and whatever carries its messages."""

    @property
    def me(self) -> int:
        """The own place among the members."""
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
        """Take part from now on: once, before every other call."""
        ...

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this member needs from others before it can go on; they change only with
        `progress`.
        """
        ...

    @property
    def progress(self) -> int:
        """Progress of this member: it grows with everything that brings the member, or gives it, further to
        go.
        """
        ...

    @property
    def broken(self) -> Violation | None:
        """The violation that proves that the members have no common order any more, if there was one."""
        ...

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Send a message to the group. Raises `Busy` when `busy`, and as `payload_copy`; nothing was done."""
        ...

    def receive(self, sender: int, message: M, now: float) -> None:
        """Handle one message of another member."""
        ...

    def settle(self, now: float) -> list[Delivery]:
        """Do what needs no message and no time, until nothing is left; the deliveries come in their order."""
        ...

    def tick(self, now: float) -> None:
        """Let every timer expire whose deadline has come."""
        ...

    def next_deadline(self) -> float | None:
        """The `now` from which `tick` has something to do; None while no timer runs."""
        ...

    def outputs(self) -> list[Send[M]]:
        """Hand over, once, what is to be sent, in order."""
        ...

    def snapshot(self) -> Hashable:
        """The whole state, immutable and canonical: cores with equal snapshots behave equally."""
        ...

    def restore(self, snapshot: Any, now: float) -> None:
        """Become what `snapshot` was taken of, as if that had been at `now`; parameters and tracer stay."""
        ...


class Network(Enum):
    """The guarantees that a core needs from the network below it."""

    LOSSY = "lossy"
    """Messages may be lost, repeated and reordered; the core sends again what it has to."""
    FIFO = "fifo"
    """A reliable queue joins every pair of members: what one sends to another arrives once and in order."""


def standing(core: ProtocolCore[Any]) -> str:
    """Describe a member in words: its place, its progress and what it waits for."""
    waits = "; ".join(map(str, core.waits()))
    broken = f"; broken: {core.broken.value}" if core.broken is not None else ""
    told = f"process {core.me} of {core.members}, progress {core.progress}{', busy' if core.busy else ''}"
    return f"{told}{broken}; waits for {waits or 'nothing'}"


class MessageFormat(NamedTuple, Generic[M]):
    """The messages of one version of one protocol, as the wire needs to know them."""

    protocol: str
    version: int
    types: Any
    """The union of the message types; each starts with a tag of its own."""
    flaw: Callable[[M, int], str | None]
    """Function that names the field which is out of range for a group of so many members; a core takes no
    such message.
    """

    def kind(self, message: M) -> str:
        """The name of a message's kind: its tag on the wire."""
        return str(message.__struct_config__.tag)  # type: ignore[attr-defined]


class HasIdentifier(Protocol):
    """A message about one broadcast."""

    @property
    def identifier(self) -> Identifier:
        """The identifier of the message."""
        ...


def source_flaw(message: HasIdentifier, members: int) -> str | None:
    """A broadcast that is none of a group of so many members, or None."""
    source = message.identifier.source
    return f"source {source} is not one of {members} members" if source >= members else None


class Implementation(NamedTuple, Generic[M]):
    """A protocol as groups and networks run it: its messages, and how to make the core of one member."""

    messages: MessageFormat[M]
    core: Callable[[int, int, Tracer], ProtocolCore[M]]
    """Takes the member's place, the number of members and a tracer. Raises `InvalidMembership`."""
    network: Network = Network.LOSSY
    """The guarantees that the core needs below it. The carrier of its messages provides them; a core does not
    look.
    """
    resilient: Callable[[int], Implementation[M]] | None = None
    """Makes the same with delivery when so many have a message; None: when it is ordered."""
    holders: int = 1
    """Number of members that have a message when the core delivers it; 0: all."""
    forgets: bool = True
    """True if a member keeps, at rest, no more than a few messages for each member."""
    listed: Callable[[int, int, int, Tracer], ProtocolCore[M]] | None = None
    """Makes the core of one list of members, for a group whose members change: as `core`, with the number of
    the first members that take part in the ordering before the tracer; the others only listen. It is also a
    `Flushes`. None: the protocol has no such core."""
    settings: Struct | None = None
    """The settings of its cores, where they have such a record."""
    external: bool = True
    """With lists: whether a list can have members that only listen. Without, nobody leaves a list who is only
    suspected."""
    ordered: bool = True
    """True if all members deliver in one order; otherwise only between two lists is what they have the same.
    """
    reforms: bool = False
    """With lists: whether the members of a view make their lists by Reformation (figures 22 to 24), and not
    by the change of figures 32 and 34."""
    older: tuple[Implementation[Any], ...] = ()
    """The same protocol with the messages of earlier versions, one after the other, the newest first. Members
    of a group that changes speak the newest version that all of them know."""

    @property
    def versions(self) -> tuple[int, int]:
        """The oldest and the newest version of its messages."""
        last = self.older[-1] if self.older else self
        return last.messages.version, self.messages.version

    def speaking(self, version: int) -> Implementation[Any]:
        """The protocol with the messages of this version, which is one of `versions`."""
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
        """Cores of this class with these settings: `kind(me, members, settings, tracer=tracer)`."""

        def core(me: int, members: int, tracer: Tracer) -> ProtocolCore[M]:
            return kind(me, members, settings, tracer=tracer)

        return cls(messages, core, network, settings=settings)
