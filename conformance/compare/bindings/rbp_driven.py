"""What a shell and its judge need to know of the cores of figure 16."""

from __future__ import annotations

from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message, Snapshot, Timer

INTERVALS_MS = {Timer.RESEND: 48.0, Timer.RESEND_TOKEN: 48.0, Timer.REPEAT_REQUEST: 16.0}


def driven(kind: type[Core]) -> Driven[Message]:
    """For cores of this kind, faulty ones too."""

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        resend_ms, token_ms, request_ms = (INTERVALS_MS[timer] for timer in Timer)
        return kind(
            me, members, resend_ms=resend_ms, token_ms=token_ms, request_ms=request_ms,
            backoff_max=backoff_max, tracer=tracer,
        )  # fmt: skip

    return Driven(MESSAGES, INTERVALS_MS, core, single, rest, _reported, _busy)


def single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    """The one step of this name on the core: whether there was something to do, and what it answered."""
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "deliver":
            return core.deliverable, core.deliver()
        case "accept":
            done: object = core.accept(now)
        case "sequence":
            done = core.sequence(now)
        case name:
            done = core.expire(Timer(name), now)
    return bool(done), done


def rest(core: Core, now: float) -> list[Delivery]:
    """Accept, sequence and deliver until none of them does anything; a delivery comes before other steps."""
    deliveries: list[Delivery] = []
    while core.deliverable or core.accept(now) or core.sequence(now):
        if core.deliverable and (delivery := core.deliver()) is not None:
            deliveries.append(delivery)
    return deliveries


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    bodies, numbers = dict(after.received), dict(after.numbers)
    match asked.action:
        case "broadcast":
            name = Identifier(me, after.message_id)
            return after.pending, (tracing.Broadcast(me, name, asked.payload),)
        case "accept":
            return True, (tracing.Step(me, "accept", number=before.arriving),)
        case "sequence":
            number = after.passed or 0
            return True, (tracing.Step(me, "sequence", numbers.get(number), number),)
        case "deliver":
            number = after.last_delivered
            delivered = numbers[number]
            if delivered is None:
                return None, ()
            body = bodies[delivered]
            return Delivery(*delivered, number, body), (tracing.Deliver(me, delivered, number, body),)
        case timer:
            return True, (tracing.Step(me, timer),)


def _busy(me: int, snapshot: Snapshot) -> bool:
    del me
    return snapshot.pending is not None
