"""Our failures (of the call, of this library) raise; what others do wrong is a value that is counted.

What an application may have to catch is a `GroupError`:

- `LocalError`: the call was wrong (a second broadcast in a core, a payload too large, a closed group, an
  address that nobody can bind); nothing has changed.
- `GroupFailed`: the group cannot go on, for the reason that it names, or this library failed inside a step
  and the cause is attached; the member has stopped.

What other members or strangers do wrong never raises in a core or a codec. A datagram that is no message of
this group is dropped and counted under one `Rejection`; a message that no correct member can have sent is
ignored and counted under one `Violation`. Both are also events for the tracer (`antiphon.impl.tracing`). A
violation which proves that there is no common order any more (`Violation.breaks_order`) ends the group. This
module knows no protocol and no transport.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "Busy",
    "ClientForgotten",
    "GroupClosed",
    "GroupError",
    "GroupFailed",
    "InvalidKey",
    "InvalidMembership",
    "InvalidSetting",
    "LocalError",
    "PayloadTooLarge",
    "Rejection",
    "RequestFailed",
    "SystemRefusal",
    "UnknownDelivery",
    "UnknownProtocol",
    "UnusableAddress",
    "Violation",
]


class GroupError(Exception):
    """Anything that a caller of this library may have to catch."""


class LocalError(GroupError):
    """The caller asked for something that cannot be done; nothing was changed."""


class Busy(LocalError):
    """A broadcast was asked of a core that cannot take another one yet."""


class PayloadTooLarge(LocalError):
    """A payload does not fit one datagram."""


class InvalidMembership(LocalError):
    """The members, their addresses or the own place among them do not fit together."""


class InvalidSetting(LocalError, ValueError):
    """An argument of a group is of another kind than it must be, or out of its range; the text names it."""


class InvalidKey(LocalError):
    """A key of a group has the wrong length, cannot be read, or everybody could read it."""


class GroupClosed(LocalError):
    """The group was used before it was opened or after it was closed."""


class UnknownDelivery(LocalError):
    """A message cannot be delivered so; the text says what there is."""


class UnknownProtocol(LocalError):
    """No protocol has this name; the message lists those that there are."""


class SystemRefusal(LocalError, OSError):
    """The operating system refused; `errno` is its number, and the text says what and why."""

    def __str__(self) -> str:
        return str(self.strerror)


class UnusableAddress(SystemRefusal):
    """An address cannot be resolved, bound or reached from the own one; the message says whose, and why."""


class GroupFailed(GroupError):
    """The group cannot go on; where the library itself failed, `__cause__` is what it failed with."""


class RequestFailed(GroupError):
    """A replicated service could not do what a client asked for, and has not changed; the text says why."""


class ClientForgotten(GroupError):
    """A replicated service keeps no answers for this client any more, so that none of its requests counts."""


class Rejection(StrEnum):
    """Why a datagram was dropped before any protocol saw it; each is counted under exactly one."""

    MALFORMED = "malformed"
    """Not the encoding of any message, or a field outside its range."""
    TRUNCATED = "truncated"
    """The beginning of an encoding: bytes are missing at the end."""
    OVERSIZED = "oversized"
    """More bytes than any datagram of this format has."""
    FOREIGN_VERSION = "foreign_version"
    """Another protocol, or another version of this one."""
    FOREIGN_GROUP = "foreign_group"
    """A message of a group with another name."""
    FOREIGN_ADDRESS = "foreign_address"
    """The address of the sender is no member's."""
    FOREIGN_INCARNATION = "foreign_incarnation"
    """Sent to an earlier run of the receiver, or to none."""
    FORGED = "forged"
    """Its seal does not verify: nobody with a key of the group sealed it, for this member, as this sender."""
    REPLAYED = "replayed"
    """Its counter has come before, or is too old to tell."""
    FOREIGN_SENDER = "foreign_sender"
    """The sender it names is not a member."""
    FALSE_SENDER = "false_sender"
    """The sender it names is another member than the one at whose address it came from."""
    OWN_ECHO = "own_echo"
    """The sender it names is the receiver itself."""


class Violation(StrEnum):
    """A message that no correct member sends; each protocol lists its kinds in a subclass."""

    @property
    def breaks_order(self) -> bool:
        """Return True if it proves that members disagree for good, so that the group cannot go on."""
        return False
