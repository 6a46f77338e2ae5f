"""Errors and counted faults: failures of a call or of this library raise; faults of other members and
strangers are values that are counted.

What an application may have to catch is a `GroupError`:

- `LocalError`: the call was wrong (a broadcast to a busy core, a payload too large, a closed group, an
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

from msgspec import MsgspecError

__all__ = [
    "UNREADABLE",
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

UNREADABLE = (MsgspecError, UnicodeDecodeError, RecursionError)
"""Exceptions with which a decoder refuses bytes: they have another form, a text that is no UTF-8, or arrays
that are nested too deeply.
"""


class GroupError(Exception):
    """Base of all errors that a caller of this library may have to catch."""


class LocalError(GroupError):
    """Error: the caller asked for something impossible; nothing was changed."""


class Busy(LocalError):
    """Error: a core was asked to broadcast while it can take no further message."""


class PayloadTooLarge(LocalError):
    """Error: a payload does not fit one datagram."""


class InvalidMembership(LocalError):
    """Error: the members, their addresses and this member's place among them contradict one another."""


class InvalidSetting(LocalError, ValueError):
    """Error: an argument of a group has a wrong type or is out of its range; the text names it."""


class InvalidKey(LocalError):
    """Error: a key of a group has the wrong length, cannot be read, or is readable by everybody."""


class GroupClosed(LocalError):
    """Error: the group was used before it was opened or after it was closed."""


class UnknownDelivery(LocalError):
    """Error: the group cannot deliver a message in the requested way; the text lists the possible ways."""


class UnknownProtocol(LocalError):
    """Error: no protocol has this name; the message lists the protocols."""


class SystemRefusal(LocalError, OSError):
    """Error: the operating system refused a call; `errno` is its number, and the text gives the call and the
    reason.
    """

    def __str__(self) -> str:
        return str(self.strerror)


class UnusableAddress(SystemRefusal):
    """Error: an address cannot be resolved, or bound, or reached from this member's own address; the message
    names it and the reason.
    """


class GroupFailed(GroupError):
    """Error: the group cannot go on. If the library itself failed, `__cause__` is the original error."""


class RequestFailed(GroupError):
    """Error: a replicated service could not do what a client asked for, and has not changed; the text says
    why.
    """


class ClientForgotten(GroupError):
    """Error: a replicated service keeps no answers for this client any more, so its requests no
    longer count.
    """


class Rejection(StrEnum):
    """Reason for dropping a datagram before any protocol saw it; each datagram is counted under
    exactly one.
    """

    MALFORMED = "malformed"
    """Bytes that encode no message, or a field outside its range."""
    TRUNCATED = "truncated"
    """Beginning of an encoding, whose last bytes are missing."""
    OVERSIZED = "oversized"
    """Datagram with more bytes than any datagram of this format."""
    FOREIGN_VERSION = "foreign_version"
    """Another protocol, or another version of this one."""
    FOREIGN_GROUP = "foreign_group"
    """Message of a group with another name."""
    FOREIGN_ADDRESS = "foreign_address"
    """Datagram from an address that is no member's."""
    FOREIGN_INCARNATION = "foreign_incarnation"
    """Datagram from an earlier run of its sender, for an earlier run of its receiver, or for no run."""
    FORGED = "forged"
    """Datagram whose seal does not verify: nobody with a key of the group sealed it for this member as this
    sender.
    """
    REPLAYED = "replayed"
    """Datagram whose counter has come before, or is so old that this cannot be decided."""
    TOO_MANY = "too_many"
    """Datagram of a process that has no session here, while as many of those were opened as are in a time."""
    FOREIGN_SENDER = "foreign_sender"
    """Message whose named sender is not a member."""
    FALSE_SENDER = "false_sender"
    """Message whose named sender is another member than the one at its address."""
    OWN_ECHO = "own_echo"
    """Message whose named sender is the receiver itself."""


class Violation(StrEnum):
    """Message that no correct member sends; each protocol lists its kinds in a subclass."""

    @property
    def breaks_order(self) -> bool:
        """Return True if the message proves that members disagree for good, so that the group
        cannot go on.
        """
        return False
