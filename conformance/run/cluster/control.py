"""Messages between parent and node: lines with one JSON object each, on the node's stdin and stdout.

The parent says `Orders` first, then `start`, and at last `stop` (write `end` and exit) or `abandon` (exit
without it). The node answers `Bound`, then `Progress` now and then, then `Finished` once. The end of the
node's stdin means that the parent has ended, and the node exits too.

This module knows no process, socket or protocol.
"""

from __future__ import annotations

from typing import Final

import msgspec

from antiphon.conformance.judge.trace import Header
from antiphon.conformance.run.cluster.protocols import Membership
from antiphon.impl.membership.detector import Timeouts

START: Final = b"start\n"
STOP: Final = b"stop\n"
ABANDON: Final = b"abandon\n"

HURRY: Final = b"hurry\n"
"""Command to a member that joins: broadcast the rest of the share without pauses."""
KEEP: Final = b"keep\n"
"""Command to a member that joins: write the state into a file."""
LAST: Final = b"last "
"""Command to a member that joins: broadcast once more, in the round whose number follows."""

EXIT_ABANDONED: Final = 75
"""Exit code of a node that was told to abandon the run, or whose parent has ended; its log has no `end`."""

EXIT_FAILED: Final = 70
"""Exit code of a node that failed; its stderr has the error."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """Orders to a node, before it binds its socket."""

    header: Header
    log: str
    share: int
    membership: Membership
    exercised: str = ""
    """File for what the process exercises; none if it is empty."""


class JoinOrders(msgspec.Struct, frozen=True, kw_only=True):
    """Orders to a process that is a member of a group whose members change.

    The others reach it at the address of its place among `seeds`. It broadcasts the messages of its share
    after the first `begun`, one in `every_s` seconds.
    """

    group: str
    protocol: str
    process: int
    run: int
    """Number of earlier starts of the process."""
    seeds: tuple[tuple[str, int], ...]
    expect: int
    key: bytes | None
    timeouts: Timeouts
    seed: int
    begun: int
    share: int
    every_s: float
    logs: str
    state: str
    """File into which the process writes its state at `keep`."""
    exercised: str = ""
    """File for what the process exercises; none if it is empty."""


class Bound(msgspec.Struct, frozen=True, tag_field="said", tag="bound"):
    """Report: the port of the loopback interface on which the node listens."""

    port: int


class Progress(msgspec.Struct, frozen=True, tag_field="said", tag="progress"):
    """Report on progress: deliveries, own broadcasts that the group took, messages that the member
    waits for.
    """

    delivered: int
    broadcast: int
    waits: tuple[str, ...]
    waiting_s: float


class Finished(msgspec.Struct, frozen=True, tag_field="said", tag="finished"):
    """Report: the node has delivered all messages of the run, and goes on answering the others."""

    delivered: int


class Standing(msgspec.Struct, frozen=True, tag_field="said", tag="standing"):
    """Report: the view of a member's application, by incarnations, and whether the application is blocked
    there.
    """

    view: int
    me: str
    members: tuple[str, ...]
    blocked: bool


class Sent(msgspec.Struct, frozen=True, tag_field="said", tag="sent"):
    """Report: the number of messages of the share that the group has taken."""

    count: int


class Everybody(msgspec.Struct, frozen=True, tag_field="said", tag="everybody"):
    """Report: the last messages of all processes in this round were delivered at this process."""

    round: int


class Kept(msgspec.Struct, frozen=True, tag_field="said", tag="kept"):
    """Report: the file of the state is written, with the number of messages in it."""

    messages: int


Said = Bound | Progress | Finished | Standing | Sent | Everybody | Kept


def line(what: Orders | JoinOrders | Said) -> bytes:
    """Return one line, end of line included."""
    return msgspec.json.encode(what) + b"\n"


_orders = msgspec.json.Decoder(Orders)
_join_orders = msgspec.json.Decoder(JoinOrders)
_said: msgspec.json.Decoder[Said] = msgspec.json.Decoder(Said)


def orders(data: bytes) -> Orders:
    """Decode the parent's first line.

    Raises:
        msgspec.DecodeError: the line is no orders.
    """
    return _orders.decode(data)


def join_orders(data: bytes) -> JoinOrders:
    """Decode the parent's first line to a process that joins.

    Raises:
        msgspec.DecodeError: the line is no orders.
    """
    return _join_orders.decode(data)


def said(data: bytes) -> Said:
    """Decode one line of a node.

    Raises:
        msgspec.DecodeError: the line is no report.
    """
    return _said.decode(data)
