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
"""A view, or 0: none yet."""


@record
class Broadcast:
    """`process` hands `message` to the service."""

    process: Process
    message: Message


@record
class Deliver:
    """The service hands `message` to `process`. None: the text delivers something that it has not got."""

    process: Process
    message: Message | None


@record
class Crash:
    """`process` stops for ever: by a failure, killed by another, or by its own hand."""

    process: Process


@record
class Install:
    """`process` installs view number `view` with these members."""

    process: Process
    view: View
    members: Set[Process]


@record
class Transition:
    """`process` enters the transitional configuration of its view: of its members, these go on with it."""

    process: Process
    members: Set[Process]


class Group(Spec):
    """The sizes that protocols and services share by name."""

    processes: Const[int] = 3
    messages: Const[int] = 2


class Views(Group):
    """Number of views, the first included, and of processes that are not in the first.

    The last `joiners` processes are in no view at the start; all others are together in view 1, without an
    event.
    """

    views: Const[int] = 2
    joiners: Const[int] = 0

    def begins_in_first(self, p: Process) -> bool:
        """P is in the first view from the start."""
        return p.index < self.processes - self.joiners
