"""A member of a group is one run of one process: its name, where it listens, and its incarnation.

A process that is started again, or was left out, is another member with the same name and address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

__all__ = [
    "INCARNATION_BYTES",
    "META_BYTES_MAX",
    "NAME_LENGTH_MAX",
    "Blocked",
    "Excluded",
    "Left",
    "Member",
    "Refused",
    "Unblocked",
    "View",
    "spoken",
    "those_that_fit",
]

INCARNATION_BYTES = 16
"""The bytes that name one run of one process."""

NAME_LENGTH_MAX = 64
"""The most characters of a member's name."""

META_BYTES_MAX = 1_024
"""The most bytes that an application gives its member for others to see."""


Version = Annotated[int, Meta(ge=1, le=65_535)]


class Member(Struct, frozen=True, array_like=True, order=True):
    """One run of one process. Two members are the same if their incarnations are.

    A later version of this library may say more of a member: what is unknown is passed over.
    """

    incarnation: Annotated[bytes, Meta(min_length=INCARNATION_BYTES, max_length=INCARNATION_BYTES)]
    name: Annotated[str, Meta(max_length=NAME_LENGTH_MAX)]
    """The name that people know it by; the same after a restart."""
    host: Annotated[str, Meta(max_length=255)]
    port: Annotated[int, Meta(ge=1, le=65_535)]
    """Port at which the other members reach it."""
    meta: Annotated[bytes, Meta(max_length=META_BYTES_MAX)] = b""
    """Bytes that the application gives itself, for all others to see."""
    speaks: tuple[Version, Version] = (1, 1)
    """The oldest and the newest version of the protocol's messages that its process understands."""

    @property
    def reachable(self) -> bool:
        """Return True if the host is a number, which can be sent to without asking anybody for it."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        return (self.host, self.port)

    def __str__(self) -> str:
        return f"{self.name} ({self.host}:{self.port}, {self.incarnation.hex()[:8]})"


def spoken(members: Iterable[Member]) -> int | None:
    """Return the newest version that all of these speak, or None: they have none in common."""
    ranges = [member.speaks for member in members]
    newest = min((newest for _, newest in ranges), default=0)
    return newest if newest and all(oldest <= newest for oldest, _ in ranges) else None


def those_that_fit(members: Sequence[Member], asking: Iterable[Member]) -> tuple[Member, ...]:
    """Return those that ask and, one after the other, speak one version with the members."""
    fit: list[Member] = list(members)
    for one in asking:
        if spoken([*fit, one]) is not None:
            fit.append(one)
    return tuple(fit[len(members) :])


class View(NamedTuple):
    """The members from here on in the stream of events: all that stay see it between the same messages."""

    number: int
    """1, 2, 3, ...: each view has one more than the view before it."""
    members: tuple[Member, ...]
    """In the order in which they came."""
    joined: tuple[Member, ...]
    """Members that were not in the view before; at a member that has just joined, all."""
    left: tuple[Member, ...]
    """Members that have left by their own will."""
    failed: tuple[Member, ...]
    """Members that have crashed, or did not answer for so long that they were taken for crashed."""

    @property
    def majority(self) -> int:
        """Number of members that have to reach one another for messages to be delivered."""
        return len(self.members) // 2 + 1


class Blocked(NamedTuple):
    """Event: this member reaches too few others; nothing is delivered until `Unblocked` or a `View`."""

    have: int
    """Number of members that it reaches, itself too."""
    needs: int
    """Number of members that it has to reach: the majority of the view."""


class Unblocked(NamedTuple):
    """Event: this member reaches a majority again."""

    have: int


class Excluded(NamedTuple):
    """The others have gone on without this member: it is not in the group any more."""

    why: str


class Refused(NamedTuple):
    """The members do not take this process in, and will not."""

    why: str


class Left(NamedTuple):
    """Event: this member has left the group as it wanted."""
