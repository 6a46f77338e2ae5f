"""Schema of events: one line of JSON, of one of eighteen kinds; all readers and tables use these fields.

This module does not know where a line comes from, who reads it or what it proves. It knows no clock: order
within a process is the index `i`, order between processes is a datagram's send and receive. Integers have 64
bits, as columns have. A change that an older reader would misread raises `VERSION`; unknown fields are
skipped here, and returned by the decoder of lines (`lines`).
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Final

import msgspec

SCHEMA: Final = "antiphon.trace"
VERSION: Final = 1

_MAX: Final = 2**63 - 1

Integer = Annotated[int, msgspec.Meta(ge=-_MAX - 1, le=_MAX)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=_MAX)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=_MAX)]
Processes = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Probability = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
PairName = Annotated[str, msgspec.Meta(pattern=r"\A(0|[1-9][0-9]*):(0|[1-9][0-9]*)\Z")]
Members = tuple[Natural, ...]
"""Numbers of processes, in any order."""

Hex = Annotated[str, msgspec.Meta(pattern=r"\A([0-9a-f]{2})*\Z")]


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a log: its process, its run, and the injected faults.

    `messages` counts the broadcasts of the whole run, 0 if unknown. The three probabilities are per datagram.
    """

    schema: str = SCHEMA
    version: int = VERSION
    run: Annotated[str, msgspec.Meta(min_length=1)]
    protocol: Annotated[str, msgspec.Meta(min_length=1)]
    process: Natural
    processes: Processes
    seed: Integer = 0
    messages: Natural = 0
    loss: Probability = 0.0
    duplication: Probability = 0.0
    reordering: Probability = 0.0


class _Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """The common part of all events: `i`, the index of the event in its process, from 0 without gaps."""

    i: Natural


class Broadcast(_Event, frozen=True, tag="broadcast"):
    """Event: the application broadcasts message `m` ("source:id"); `digest` names the payload's bytes.
    `destinations` are the processes that the message is for; None: all.
    """

    m: PairName
    digest: Hex
    destinations: Members | None = None


class Deliver(_Event, frozen=True, tag="deliver"):
    """Event: the application gets message `m` under its number in the total order, from 1."""

    m: PairName
    number: Positive
    digest: Hex


class CoreBroadcast(_Event, frozen=True, tag="core-broadcast"):
    """Event: the protocol takes the application's message `m`."""

    m: PairName
    digest: Hex


class CoreDeliver(_Event, frozen=True, tag="core-deliver"):
    """Event: the protocol delivers message `m`, which the application will get."""

    m: PairName
    number: Positive
    digest: Hex


class Install(_Event, frozen=True, tag="install"):
    """Event: the application learns that view number `view` begins, with these members."""

    view: Natural
    members: Members


class Transitional(_Event, frozen=True, tag="transitional"):
    """Event: the application learns, before the next view, which members of its view go on with it."""

    members: Members


class Safe(_Event, frozen=True, tag="safe"):
    """Event: the application learns that all members of the view get message `m`, which it has got."""

    m: PairName


class Propose(_Event, frozen=True, tag="propose"):
    """Event: the process proposes `value` in the consensus with this number."""

    consensus: Natural
    value: str


class Decide(_Event, frozen=True, tag="decide"):
    """Event: the process learns that `value` is the decision of the consensus with this number."""

    consensus: Natural
    value: str


class Suspect(_Event, frozen=True, tag="suspect"):
    """Event: the failure detector of the process begins to suspect process `suspected`."""

    suspected: Natural


class Trust(_Event, frozen=True, tag="trust"):
    """Event: the failure detector of the process no longer suspects process `trusted`."""

    trusted: Natural


class Alarm(_Event, frozen=True, tag="alarm"):
    """Event: the failure detector of the process notices that nothing happens, and suspects no particular
    process.
    """


class Violation(_Event, frozen=True, tag="violation"):
    """Event: the process has got an impossible message from process `sender`; `what` describes it."""

    sender: Natural
    what: str


class Send(_Event, frozen=True, tag="send"):
    """Event: the process hands datagram `d` ("sender:counter", unique in the run) to the network, for process
    `to`.

    A multicast datagram has one such event for each receiver.
    """

    d: PairName
    to: Natural


class Receive(_Event, frozen=True, tag="receive"):
    """Event: the process takes datagram `d` from the network; a duplicate is received more than once."""

    d: PairName


class Crash(_Event, frozen=True, tag="crash"):
    """Event: the process stops; only `End` may follow, or `Recover` if it returns."""


class Recover(_Event, frozen=True, tag="recover"):
    """Event: the process is back after a crash; all following events are of its new incarnation."""


class End(_Event, frozen=True, tag="end"):
    """Event: the log is complete: no event is missing before, and the process has finished its part in the
    run.
    """


Event = (
    Broadcast
    | Deliver
    | CoreBroadcast
    | CoreDeliver
    | Install
    | Transitional
    | Safe
    | Propose
    | Decide
    | Suspect
    | Trust
    | Alarm
    | Violation
    | Send
    | Receive
    | Crash
    | End
    | Recover
)

RESULTS: Final = (Deliver, Decide, Suspect, Alarm)
"""Kinds of events that are results of a run: a run without any shows nothing."""


def message_id(source: int, identifier: int) -> str:
    """Return the name of a message in the schema: "source:id"."""
    return f"{source}:{identifier}"


def datagram_id(sender: int, counter: int) -> str:
    """Return the name of a datagram in the schema: "sender:counter"."""
    return f"{sender}:{counter}"


def digest(payload: bytes) -> str:
    """Return the digest of a payload: the 128 bits of its BLAKE2b hash, as 32 hexadecimal digits."""
    return hashlib.blake2b(payload, digest_size=16).hexdigest()
