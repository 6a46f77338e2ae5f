"""What a shell and its judge need to know of stacks of Horus' layers."""

from __future__ import annotations

from functools import partial
from typing import Any

from antiphon.conformance.compare.bindings.core_binding import settled
from antiphon.conformance.compare.bindings.horus_calls import NAK_LEVEL, Calls, observed
from antiphon.conformance.compare.bindings.horus_faults import Fault
from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.horus import MESSAGES, Core, Frame, Snapshot, total
from antiphon.impl.protocols.horus import nak as layer
from antiphon.impl.protocols.horus.process import Settings, timer

__all__ = ["driven"]

INTERVAL_MS = 16.0


def driven(stack: tuple[str, ...], members: int, fault: Fault | None, settings: Settings) -> Driven[Frame]:
    """For a stack of these layers, top first, of these sizes; waiting times are the binding's."""
    lower = (layer.ASK, layer.TELL) if "NAK" in stack else ()
    names = [(NAK_LEVEL, name) for name in lower]
    if "TOTAL" in stack:
        names.append((len(stack) - 1, total.PASS))
    intervals_ms = {timer(level, name, of): INTERVAL_MS for level, name in names for of in range(members)}
    asking = {timer(NAK_LEVEL, layer.ASK, of) for of in range(members)}

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        timed = settings._replace(
            rest_ms=INTERVAL_MS, tell_ms=INTERVAL_MS, ask_ms=INTERVAL_MS, backoff_max=backoff_max
        )
        kind = fault or Core
        if isinstance(tracer, Calls):
            kind = observed(kind, tracer)
        return kind(stack, me, members, timed, tracer=tracer)

    return Driven(
        MESSAGES,
        intervals_ms,
        core,
        _single,
        settled,
        _reported,
        partial(_busy, settings.buffer if lower else 0),
        rested=settled,
        ending=frozenset(intervals_ms.keys() - asking),
    )


def _single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    if action == "broadcast":
        return True, core.broadcast(payload, now)
    name, _, of = action.partition(" ")
    level = len(core.stack) - 1 if name == total.PASS else NAK_LEVEL
    done = core.expire(timer(level, name, int(of or core.me)), now)
    return done, done


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    """A broadcast is told, and its own delivery: at once without TOTAL, and where the token is."""
    if asked.action != "broadcast":
        return True, (tracing.Step(me, asked.action.partition(" ")[0]),)
    name = Identifier(me, after.last_id)
    told: list[tracing.Event] = [tracing.Broadcast(me, name, asked.payload)]
    if after.delivered > before.delivered:
        told.append(tracing.Deliver(me, name, before.delivered + 1, asked.payload))
    return name, tuple(told)


def _busy(buffer: int, me: int, snapshot: Snapshot) -> bool:
    """NAK's window is full; what may wait for the token no exploration fills."""
    del me
    if not buffer:
        return False
    nak: Any = snapshot.layers[NAK_LEVEL]
    full: bool = nak.cast - nak.oldest + 1 >= buffer
    return full
