"""Log of a simulated run in the trace schema, as processes of a cluster would write it.

This module knows events on both sides, and no protocol.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from antiphon.conformance.judge.trace import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Deliver,
    End,
    Event,
    Header,
    Receive,
    Send,
    Violation,
    datagram_id,
    digest,
    message_id,
)
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.transport.simulated import SimulatedNetwork

__all__ = ["Actions", "Log"]


class Actions:
    """Tracer that only counts the internal steps of cores, by the protocol's words."""

    recording = True

    def __init__(self) -> None:
        self.actions: Counter[str] = Counter()

    def record(self, event: tracing.Event) -> None:
        """Count an event, if it is an internal step."""
        if type(event) is tracing.Step:
            self.actions[event.action] += 1


class Log(Actions):
    """Log of a run in the trace schema: a tracer, and the application's broadcasts and deliveries.

    The application requests a broadcast at the scheduled time, and the core may take it much later.
    """

    def __init__(self, members: int) -> None:
        super().__init__()
        self.events: tuple[list[Event], ...] = tuple([] for _ in range(members))

    def record(self, event: tracing.Event) -> None:
        """Record an event of a member, as far as a judge needs it."""
        log = self.events[event.process]
        match event:
            case tracing.Broadcast(identifier=name, payload=payload):
                log.append(CoreBroadcast(len(log), message_id(*name), digest(payload)))
            case tracing.Deliver(identifier=name, number=number, payload=payload):
                log.append(CoreDeliver(len(log), message_id(*name), number, digest(payload)))
            case tracing.Violation(sender=sender, kind=kind, detail=detail):
                log.append(Violation(len(log), sender, f"{kind}: {detail}"))
            case tracing.Send(datagram=name, to=to):
                log.append(Send(len(log), datagram_id(*name), to))
            case tracing.Receive(datagram=name):
                log.append(Receive(len(log), datagram_id(*name)))
            case tracing.Step():
                super().record(event)

    def watch(self, network: SimulatedNetwork[Any]) -> None:
        """Store the network of the run, whose time is used."""

    def fault(self, process: int | None, what: str) -> None:
        """Do nothing: the begin or end of a fault of the environment is no event of a process."""

    def broadcast(self, process: int, k: int, payload: bytes) -> None:
        """Record that the application of a process requests its k-th broadcast."""
        log = self.events[process]
        log.append(Broadcast(len(log), message_id(process, k), digest(payload)))

    def deliver(self, process: int, delivery: Delivery) -> None:
        """Record that the application of a process gets a message."""
        source, name, number, payload = delivery
        log = self.events[process]
        log.append(Deliver(len(log), message_id(source, name), number, digest(payload)))

    def end(self) -> None:
        """Record that the run went to its end, so that no event is missing."""
        for log in self.events:
            log.append(End(len(log)))

    def lines(self, run: str, protocol: str, seed: int, messages: int) -> tuple[bytes, ...]:
        """Return the files of the logs, one for each process."""
        encode = msgspec.json.encode
        return tuple(
            b"".join(encode(line) + b"\n" for line in (self._header(run, protocol, seed, messages, p), *log))
            for p, log in enumerate(self.events)
        )

    def _header(self, run: str, protocol: str, seed: int, messages: int, process: int) -> Header:
        return Header(
            run=run, protocol=protocol, process=process, processes=len(self.events), seed=seed,
            messages=messages,
        )  # fmt: skip
