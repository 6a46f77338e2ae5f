"""What a shell and its judge need to know of the cores of the ring, figures 16 and 25."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.rbp import (
    MESSAGES,
    RESILIENT_MESSAGES,
    Core,
    Message,
    Settings,
    Snapshot,
    Timer,
)

INTERVALS_MS = {
    Timer.RESEND: 48.0,
    Timer.RESEND_TOKEN: 48.0,
    Timer.REPEAT_REQUEST: 16.0,
    Timer.PASS_ON: 8.0,
    Timer.PASS_NULL: 96.0,
}

NAMES = ("resend", "token", "request", "hurry", "silence")
"""The settings of these waiting times, without their unit."""


def driven(kind: type[Core], settings: Settings) -> Driven[Message]:
    """For cores of this kind, faulty ones too; their waiting times are those above."""
    times = {f"{name}_ms": INTERVALS_MS[timer] for name, timer in zip(NAMES, Timer, strict=True)}

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        return kind(me, members, replace(settings, backoff_max=backoff_max, **times), tracer=tracer)

    messages = RESILIENT_MESSAGES if settings.stability else MESSAGES
    ending = frozenset({Timer.PASS_ON, Timer.PASS_NULL})
    return Driven(messages, INTERVALS_MS, core, single, rest, _reported, _busy, ending=ending)


def single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    """The one step of this name; that of lines 74-78 has its number as payload."""
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "deliver":
            return core.deliverable, core.deliver()
        case "settle":
            done = core.collect(int(payload), now)
        case "accept":
            done = core.accept(now)
        case "sequence":
            done = core.sequence(now)
        case "pass_null":
            done = core.expire(Timer.PASS_ON, now) or core.expire(Timer.PASS_NULL, now)
        case name:
            done = core.expire(Timer(name), now)
    return done, done


def rest(core: Core, now: float) -> list[Delivery]:
    """Single steps until none is left; a delivery comes before other steps, what is stable last."""
    deliveries: list[Delivery] = []
    while core.deliverable or core.accept(now) or core.sequence(now) or _collect(core, now):
        if core.deliverable and (delivery := core.deliver()) is not None:
            deliveries.append(delivery)
    return deliveries


def _collect(core: Core, now: float) -> bool:
    return any(core.collect(number, now) for number in core.observe()["numbers"])


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    numbers = dict(after.numbers)
    match asked.action:
        case "broadcast":
            name = Identifier(me, after.message_id)
            return after.pending, (tracing.Broadcast(me, name, asked.payload),)
        case "accept":
            return True, (tracing.Step(me, "accept", number=before.arriving),)
        case "sequence" | "pass_null":
            number = after.passed or 0
            return True, (tracing.Step(me, asked.action, numbers.get(number), number),)
        case "deliver":
            return _delivered(me, before, after.last_delivered)
        case "settle":
            return True, ()
        case timer:
            return True, (tracing.Step(me, timer),)


def _delivered(me: int, before: Snapshot, number: int) -> tuple[object, tuple[tracing.Event, ...]]:
    bodies = {at: (name, body) for at, name, body in before.stable}
    if number not in bodies:
        name = dict(before.numbers)[number]
        bodies[number] = (name, b"" if name is None else dict(before.received)[name])
    name, body = bodies[number]
    if name is None:
        return None, ()
    return Delivery(*name, number, body), (tracing.Deliver(me, name, number, body),)


def _busy(me: int, snapshot: Snapshot) -> bool:
    del me
    return snapshot.pending is not None
