"""Member of a group: one run of one process, with its name, its address and its incarnation.

A process that is started again, or was excluded, is another member with the same name and address.
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
"""Number of bytes that identify one run of one process."""

NAME_LENGTH_MAX = 64
"""Largest number of characters of a member's name."""

META_BYTES_MAX = 1_024
"""Largest number of bytes that an application publishes with its member."""


Version = Annotated[int, Meta(ge=1, le=65_535)]


class Member(Struct, frozen=True, array_like=True, order=True):
    """One run of one process. Two members are the same if their incarnations are.

    A later version of this library may add fields: unknown ones are ignored.
    """

    incarnation: Annotated[bytes, Meta(min_length=INCARNATION_BYTES, max_length=INCARNATION_BYTES)]
    name: Annotated[str, Meta(max_length=NAME_LENGTH_MAX)]
    """Name for people; it stays the same after a restart."""
    host: Annotated[str, Meta(max_length=255)]
    port: Annotated[int, Meta(ge=1, le=65_535)]
    """Port at which the other members reach this one."""
    meta: Annotated[bytes, Meta(max_length=META_BYTES_MAX)] = b""
    """Bytes that the application publishes for all members."""
    speaks: tuple[Version, Version] = (1, 1)
    """Oldest and newest version of the protocol's messages that the process understands."""

    @property
    def reachable(self) -> bool:
        """Return True if the host is a number, so that no name needs to be resolved."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True

    @property
    def address(self) -> tuple[str, int]:
        """Return the host and the port."""
        return (self.host, self.port)

    @property
    def run(self) -> str:
        """Return a short name for this run: the end of its incarnation, which is random. The beginning is the
        time, which is nearly the same for members that begin together.
        """
        return self.incarnation.hex()[-8:]

    def __str__(self) -> str:
        return f"{self.name} ({self.host}:{self.port}, {self.run})"


def spoken(members: Iterable[Member]) -> int | None:
    """Return the newest version that all of these members speak, or None if there is none."""
    ranges = [member.speaks for member in members]
    newest = min((newest for _, newest in ranges), default=0)
    return newest if newest and all(oldest <= newest for oldest, _ in ranges) else None


def those_that_fit(members: Sequence[Member], asking: Iterable[Member]) -> tuple[Member, ...]:
    """Return the applicants that can be added, one after the other, so that the members still have a common
    version of the protocol's messages.
    """
    fit: list[Member] = list(members)
    for one in asking:
        if spoken([*fit, one]) is not None:
            fit.append(one)
    return tuple(fit[len(members) :])


class View(NamedTuple):
    """Event: a new view begins; its members stay until the next one.

    All members that stay get this event between the same two messages.
    """

    number: int
    """Number of the view: each has one more than the view before it."""
    members: tuple[Member, ...]
    """Members in the order in which they came."""
    joined: tuple[Member, ...]
    """Members that were not in the view before; at a member that has just joined, all."""
    left: tuple[Member, ...]
    """Members that have left by their own decision."""
    failed: tuple[Member, ...]
    """Members that have crashed, or were silent for so long that they were taken for crashed."""

    @property
    def majority(self) -> int:
        """Number of members that must reach one another so that messages are delivered: more than half of the
        view.
        """
        return len(self.members) // 2 + 1


class Blocked(NamedTuple):
    """Event: this member reaches too few others; nothing is delivered until `Unblocked` or a `View`."""

    have: int
    """Number of members that this one reaches, itself too."""
    needs: int
    """Number of members that this one must reach: the majority of the view."""


class Unblocked(NamedTuple):
    """Event: this member reaches a majority again."""

    have: int


class Excluded(NamedTuple):
    """Event: the other members have excluded this one, and go on without it."""

    why: str


class Refused(NamedTuple):
    """Event: the members refuse to admit this process, for good."""

    why: str


class Left(NamedTuple):
    """Event: this member has left the group at its own request."""
