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

START: Final = b"start\n"
STOP: Final = b"stop\n"
ABANDON: Final = b"abandon\n"

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


class Bound(msgspec.Struct, frozen=True, tag_field="said", tag="bound"):
    """The node listens on this port of the loopback interface."""

    port: int


class Progress(msgspec.Struct, frozen=True, tag_field="said", tag="progress"):
    """How far the node is: deliveries, own broadcasts that the group took, what its member waits for."""

    delivered: int
    broadcast: int
    waits: tuple[str, ...]
    waiting_s: float


class Finished(msgspec.Struct, frozen=True, tag_field="said", tag="finished"):
    """The node has delivered all messages of the run, and goes on answering the others."""

    delivered: int


Said = Bound | Progress | Finished


def line(what: Orders | Said) -> bytes:
    """Encode one line, end of line included."""
    return msgspec.json.encode(what) + b"\n"


_orders = msgspec.json.Decoder(Orders)
_said: msgspec.json.Decoder[Said] = msgspec.json.Decoder(Said)


def orders(data: bytes) -> Orders:
    """Decode the parent's first line. Raises msgspec.DecodeError."""
    return _orders.decode(data)


def said(data: bytes) -> Said:
    """Decode one line of a node. Raises msgspec.DecodeError."""
    return _said.decode(data)
