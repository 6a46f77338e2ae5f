"""Messages between antiphon and a node: Maelstrom's envelope and requests, and their superset, version 1.

A line is one JSON object with `src`, `dest` and `body`. A body has a `type`. A request has a `msg_id`, and
its reply names that number in `in_reply_to`. Nodes are called n0, n1, ...; antiphon writes as `antiphon`, as
`c0` and as `c1`. A type that begins with `antiphon.` is of the superset, all others are Maelstrom's. Readers
skip fields that they do not know.

Source: Maelstrom, doc/protocol.md and doc/workloads.md.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

VERSION: Final = 1
"""Version of the superset."""

US: Final = "antiphon"
"""Name by which antiphon writes the messages of the superset."""

STARTER: Final = "c0"
"""Name by which antiphon writes Maelstrom's `init` where the superset is not offered."""

CLIENT: Final = "c1"
"""Name by which antiphon writes Maelstrom's workload."""

TEMPORARY: Final = 11
"""Error code: the node cannot do that at present, and has not done it."""

NOT_SUPPORTED: Final = 10
"""Error code: the node does not know the type of the request, or what it is to do in a step."""

MALFORMED: Final = 12
"""Error code: the request does not have the form that its type demands."""

PRECONDITION: Final = 22
"""Error code: the step is not enabled."""

INDEFINITE: Final = frozenset({0, 13})
"""Error codes after which the request may have been done or not; after all others it was not."""

Ability = Literal["step", "clock", "state", "snapshot", "views", "restart", "disk", "deliver"]
"""Abilities that `init_ok` lists.

step: the node says when a step has ended. clock: it reads no clock but `now_ns`. state: each step ends with
the values of its variables. snapshot: it gives its whole state, and takes it back. views: it reports views,
and takes `leave`. restart: it takes `restart`, in which it forgets its memory. disk: what it has delivered or
acknowledged outlives a crash. deliver: it reports deliveries as they happen, and need not be read.
"""

NodeName = Annotated[str, msgspec.Meta(pattern=r"^n(0|[1-9][0-9]*)$")]
OurName = Annotated[str, msgspec.Meta(pattern=r"^(antiphon|c[0-9]+)$")]
Id = Annotated[int, msgspec.Meta(ge=0)]
Nanoseconds = Annotated[int, msgspec.Meta(ge=0)]


class Offer(msgspec.Struct, kw_only=True):
    """Part of `init` that says that antiphon speaks the superset.

    `disk` is a directory of this node alone, which outlives its crashes.
    """

    version: Literal[1] = 1
    seed: int = 0
    now_ns: Nanoseconds = 0
    disk: str = ""


class Abilities(msgspec.Struct, kw_only=True):
    """Part of `init_ok` that says what the node can do beyond Maelstrom's protocol."""

    version: Literal[1]
    can: list[Ability]


class _Request(msgspec.Struct, kw_only=True, tag_field="type"):
    msg_id: Id


class _Reply(msgspec.Struct, kw_only=True, tag_field="type"):
    in_reply_to: Id


class Init(_Request, tag="init"):
    """First message to a node: its name, and the names of all."""

    node_id: NodeName
    node_ids: list[NodeName]
    antiphon: Offer | msgspec.UnsetType = msgspec.UNSET


class InitOk(_Reply, tag="init_ok"):
    """Reply to `init`. A node without `antiphon` is one of Maelstrom's, and a black box."""

    antiphon: Abilities | msgspec.UnsetType = msgspec.UNSET


class Topology(_Request, tag="topology"):
    """Suggestion of neighbours: here all others."""

    topology: dict[str, list[str]]


class TopologyOk(_Reply, tag="topology_ok"):
    """Reply to `topology`."""


class Broadcast(_Request, tag="broadcast"):
    """Request that all nodes get a number."""

    message: int


class BroadcastOk(_Reply, tag="broadcast_ok"):
    """Reply to `broadcast`: the node answers for it that all get the number."""


class Read(_Request, tag="read"):
    """Question what the node has got."""


class ReadOk(_Reply, tag="read_ok"):
    """Reply to `read`: the numbers, in the order of delivery where an order is promised."""

    messages: list[int]


class Error(_Reply, tag="error"):
    """Reply that the request was not done; `code` says why."""

    code: int
    text: str = ""


class Step(_Request, tag="antiphon.step"):
    """Request of one step at the time `now_ns`.

    `do` has one key, the name of what is to be done, with its arguments; without a key nothing is done.
    """

    now_ns: Nanoseconds
    do: dict[str, dict[str, Any]]


class Event(msgspec.Struct, kw_only=True, tag_field="type", tag="antiphon.event"):
    """Report of an event of the step, or of a black box: a kind of the trace schema with its fields; in
    lockstep an event of the specification.

    A `deliver` has the payload as `bytes` in base64, as it came in `broadcast`, or its `digest`.
    """

    kind: str


class StepDone(_Reply, tag="antiphon.done"):
    """End of a step: all lines before it since its request belong to the step.

    `wake_ns` is the time of the next timer; None: there is none. `state` has the variables by name.
    """

    wake_ns: Nanoseconds | None = None
    state: dict[str, Any] | None = None


class Snapshot(_Request, tag="antiphon.snapshot"):
    """Question for the whole state of the node."""


class SnapshotOk(_Reply, tag="antiphon.snapshot_ok"):
    """Reply to `antiphon.snapshot`: any value, the same for states in which the node behaves equally."""

    snapshot: Any


class Restore(_Request, tag="antiphon.restore"):
    """Request to be in the state of a snapshot again."""

    snapshot: Any


class RestoreOk(_Reply, tag="antiphon.restore_ok"):
    """Reply to `antiphon.restore`."""


ToNode: TypeAlias = Init | Topology | Broadcast | Read | Step | Snapshot | Restore
FromNode: TypeAlias = (
    InitOk | TopologyOk | BroadcastOk | ReadOk | Error | Event | StepDone | SnapshotOk | RestoreOk
)


class ToNodeLine(msgspec.Struct, kw_only=True):
    """Line from antiphon to a node."""

    src: OurName
    dest: NodeName
    body: ToNode


class FromNodeLine(msgspec.Struct, kw_only=True):
    """Line from a node to antiphon."""

    src: NodeName
    dest: OurName
    body: FromNode


class AnyBody(msgspec.Struct, kw_only=True):
    """Body of a datagram between nodes: their own affair, but for the name of its type."""

    type: str


class Datagram(msgspec.Struct, kw_only=True):
    """Line from a node to another one, which the simulated network carries."""

    src: NodeName
    dest: NodeName
    body: AnyBody


LINES: Final = (ToNodeLine, FromNodeLine, Datagram)
"""The kinds of lines, of which each line is one."""

REPLIES: Final = {
    "init": "init_ok",
    "topology": "topology_ok",
    "broadcast": "broadcast_ok",
    "read": "read_ok",
    "antiphon.step": "antiphon.done",
    "antiphon.snapshot": "antiphon.snapshot_ok",
    "antiphon.restore": "antiphon.restore_ok",
}
"""The type of the reply to each type of request; any of them may be answered by `error` as well."""


def node_name(number: int) -> str:
    """Return the name of a node."""
    return f"n{number}"
