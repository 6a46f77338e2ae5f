"""The events that services judge: broadcast, deliver and crash, over processes and application messages.

A `Message` is what the application broadcasts, its identity apart from every identifier that a protocol gives
it: a retransmission under a new identifier is still the same message. Protocols emit these records; logs of
real runs are read into them.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Index, Spec, record


class Process(Index, size="processes", ordered=True):
    """A member of the group. Rings and ranks follow the order."""


class Message(Index, size="messages", ordered=True):
    """A message of the application, numbered in the order of broadcasting."""


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
    """`process` stops for ever."""

    process: Process


class Group(Spec):
    """The sizes that protocols and services share by name."""

    processes: Const[int] = 3
    messages: Const[int] = 2
