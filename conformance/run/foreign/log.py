"""Log of a run of a foreign program in the trace schema: what its nodes report, and what was done to them.

Events are kept without their index, which they get at the end: a broadcast that a node declines is taken
back.
This module knows events, and no protocol.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import msgspec

from antiphon.conformance.judge.trace import (
    Broadcast,
    Crash,
    Deliver,
    End,
    Event,
    Header,
    Receive,
    Recover,
    Send,
    digest,
)

_OURS = frozenset({"broadcast", "core-broadcast", "send", "receive", "crash", "recover", "end"})
"""Kinds of events that the harness itself writes, and that a node does not report."""


class NoEvent(ValueError):
    """Error: a report is no event of the trace schema; the message says why."""


class Log:
    """Events of each node, with the deliveries of each incarnation."""

    def __init__(self, nodes: int) -> None:
        self.events: tuple[list[Event], ...] = tuple([] for _ in range(nodes))
        self.delivered: tuple[list[str], ...] = tuple([] for _ in range(nodes))
        self._sent = [0] * nodes

    def broadcast(self, node: int, m: str, payload: bytes) -> Broadcast:
        """Record that a node is asked to broadcast; return the event, for `take_back`."""
        event = Broadcast(0, m, digest(payload))
        self.events[node].append(event)
        return event

    def take_back(self, node: int, event: Event) -> None:
        """Remove a broadcast that the node has declined."""
        self.events[node][:] = [other for other in self.events[node] if other is not event]

    def deliver(self, node: int, m: str, payload_digest: str) -> None:
        """Record that a node has delivered a message, with its place among the node's deliveries."""
        self.delivered[node].append(m)
        self.events[node].append(Deliver(0, m, len(self.delivered[node]), payload_digest))

    def report(self, node: int, body: Mapping[str, Any]) -> None:
        """Record an event that a node reports.

        Raises:
            NoEvent: it is none of the trace schema.
        """
        fields = {name: value for name, value in body.items() if name != "type"}
        if fields["kind"] in _OURS:
            raise NoEvent(f"a node does not report {fields['kind']!r}")
        if fields["kind"] in ("deliver", "core-deliver"):
            fields.setdefault("number", len(self.delivered[node]) + 1)
            if (text := fields.pop("bytes", None)) is not None:
                try:
                    fields["digest"] = digest(base64.b64decode(text, validate=True))
                except (binascii.Error, TypeError, ValueError) as error:
                    raise NoEvent("`bytes` is no base64") from error
        try:
            event = msgspec.convert({"i": 0, **fields}, Event)
        except msgspec.ValidationError as error:
            raise NoEvent(str(error)) from error
        if isinstance(event, Deliver):
            self.delivered[node].append(event.m)
        self.events[node].append(event)

    def send(self, node: int, to: int) -> str:
        """Record that a node sends a datagram, and return its name."""
        self._sent[node] += 1
        name = f"{node}:{self._sent[node]}"
        self.events[node].append(Send(0, name, to))
        return name

    def receive(self, node: int, datagram: str) -> None:
        """Record that a node receives a datagram."""
        self.events[node].append(Receive(0, datagram))

    def crash(self, node: int) -> None:
        """Record that a node has crashed, and has forgotten everything."""
        self.events[node].append(Crash(0))

    def recover(self, node: int) -> None:
        """Record that a node is back, and knows of nothing."""
        self.delivered[node].clear()
        self.events[node].append(Recover(0))

    def end(self) -> None:
        """Record that the run went to its end, so that no event is missing."""
        for events in self.events:
            events.append(End(0))

    def history(self) -> tuple[list[Event], ...]:
        """Return the events, each with its index."""
        return tuple(
            [msgspec.structs.replace(event, i=i) for i, event in enumerate(events)] for events in self.events
        )

    def lines(self, run: str, command: str, seed: int, messages: int) -> tuple[bytes, ...]:
        """Return the files of the logs, one for each node."""
        encode = msgspec.json.encode
        return tuple(
            b"".join(
                encode(line) + b"\n"
                for line in (
                    Header(
                        run=run, protocol=command, process=node, processes=len(self.events), seed=seed,
                        messages=messages,
                    ),
                    *events,
                )
            )
            for node, events in enumerate(self.history())
        )  # fmt: skip
