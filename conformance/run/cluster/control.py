"""Parent and node speak in lines, one JSON object each, on the node's stdin and stdout.

The parent says `Orders` first, then `start`, and at last `stop` (write `end` and go) or `abandon`
(go without it). The node answers `Bound`, then `Progress` now and then, then `Finished` once. The
end of the node's stdin means that the parent is gone, and the node goes too.

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
"""A member that joins broadcasts the rest of its share without rests."""
KEEP: Final = b"keep\n"
"""A member that joins writes its state into a file."""
LAST: Final = b"last "
"""A member that joins broadcasts once more, in the round whose number follows."""

EXIT_ABANDONED: Final = 75
"""The node was told to go, or its parent is gone; its log has no `end`."""

EXIT_FAILED: Final = 70
"""The node itself failed; its stderr says how."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """All that a node must know before it binds its socket."""

    header: Header
    log: str
    share: int
    membership: Membership


class JoinOrders(msgspec.Struct, frozen=True, kw_only=True):
    """All that a process must know to be a member of a group whose members change.

    The others reach it at the address of its place among `seeds`. It broadcasts the messages of its share
    behind the first `begun`, one in `every_s` seconds.
    """

    group: str
    protocol: str
    process: int
    run: int
    """Number of times that the process was started before."""
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
    """The file for the state, if there is one."""


class Bound(msgspec.Struct, frozen=True, tag_field="said", tag="bound"):
    """The node listens on this port of the loopback interface."""

    port: int


class Progress(msgspec.Struct, frozen=True, tag_field="said", tag="progress"):
    """Progress of the node: deliveries, own broadcasts that the group took, messages that its member waits
    for.
    """

    delivered: int
    broadcast: int
    waits: tuple[str, ...]
    waiting_s: float


class Finished(msgspec.Struct, frozen=True, tag_field="said", tag="finished"):
    """The node has delivered all messages of the run, and goes on answering the others."""

    delivered: int


class Standing(msgspec.Struct, frozen=True, tag_field="said", tag="standing"):
    """The view that the application of a member has, by incarnations, and whether it is blocked there."""

    view: int
    me: str
    members: tuple[str, ...]
    blocked: bool


class Sent(msgspec.Struct, frozen=True, tag_field="said", tag="sent"):
    """The group has taken so many messages of the share."""

    count: int


class Everybody(msgspec.Struct, frozen=True, tag_field="said", tag="everybody"):
    """The last messages of all processes were delivered, those of this round."""

    round: int


class Kept(msgspec.Struct, frozen=True, tag_field="said", tag="kept"):
    """The file of the state is written, and has so many messages."""

    messages: int


Said = Bound | Progress | Finished | Standing | Sent | Everybody | Kept


def line(what: Orders | JoinOrders | Said) -> bytes:
    """Encode one line, end of line included."""
    return msgspec.json.encode(what) + b"\n"


_orders = msgspec.json.Decoder(Orders)
_join_orders = msgspec.json.Decoder(JoinOrders)
_said: msgspec.json.Decoder[Said] = msgspec.json.Decoder(Said)


def orders(data: bytes) -> Orders:
    """Decode the parent's first line. Raises msgspec.DecodeError."""
    return _orders.decode(data)


def join_orders(data: bytes) -> JoinOrders:
    """Decode the parent's first line to a process that joins. Raises msgspec.DecodeError."""
    return _join_orders.decode(data)


def said(data: bytes) -> Said:
    """Decode one line of a node. Raises msgspec.DecodeError."""
    return _said.decode(data)
