"""The events that services judge: broadcast, deliver, crash and install, over processes and application
messages.

A `Message` is what the application broadcasts, its identity apart from every identifier that a protocol gives
it: a retransmission under a new identifier is still the same message. Protocols emit these records; logs of
real runs are read into them. The view of a broadcast or of a delivery is what its process has installed last:
whoever judges keeps it.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, Index, Set, Spec, record


class Process(Index, size="processes", ordered=True):
    """A member of the group. Rings and ranks follow the order."""


class Message(Index, size="messages", ordered=True):
    """A message of the application, numbered in the order of broadcasting."""


View = Annotated[int, Between(1, "views")]
"""The number of a view."""

Installed = Annotated[int, Between(0, "views")]
"""Number of the view that a process has installed, or 0 for none."""


@record
class Broadcast:
    """Event: `process` hands `message` to the service."""

    process: Process
    message: Message


@record
class Deliver:
    """Event: the service hands `message` to `process`. None: the protocol delivers a message that it does not
    have.
    """

    process: Process
    message: Message | None


@record
class Crash:
    """Event: `process` stops for ever, by a failure, killed by another, or by its own hand."""

    process: Process


@record
class Install:
    """Event: `process` installs view number `view` with these members."""

    process: Process
    view: View
    members: Set[Process]


@record
class Transition:
    """Event: `process` enters the transitional configuration of its view; these members go on with it."""

    process: Process
    members: Set[Process]


class Group(Spec):
    """Constants that protocols and services share by name: the numbers of processes and of messages."""

    processes: Const[int] = 3
    messages: Const[int] = 2


class Views(Group):
    """Constants of views: how many there are, the first included, and how many processes are not in the
    first.

    The last `joiners` processes are in no view at the start; all others are together in view 1, without an
    event.
    """

    views: Const[int] = 2
    joiners: Const[int] = 0

    def begins_in_first(self, p: Process) -> bool:
        """Return True if p is in the first view from the start."""
        return p.index < self.processes - self.joiners
