"""What a shell and its judge need to know of the cores of DTP."""

from __future__ import annotations

from antiphon.conformance.compare.bindings.shell import Asked, Driven
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.dtp import MESSAGES, Core, Message, Settings, Snapshot, Timer
from antiphon.impl.protocols.dtp.messages import Ack

INTERVALS_MS = {
    Timer.RESEND_MESSAGE: 48.0,
    Timer.RESEND_PASS: 48.0,
    Timer.REPEAT_REQUEST: 16.0,
    Timer.PASS_NULL: 96.0,
}


def driven(kind: type[Core], resilience: int) -> Driven[Message]:
    """For cores of this kind, faulty ones too."""

    def core(me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
        resend_ms, pass_ms, request_ms, silence_ms = (INTERVALS_MS[timer] for timer in Timer)
        settings = Settings(
            resilience=resilience, resend_ms=resend_ms, pass_ms=pass_ms, request_ms=request_ms,
            silence_ms=silence_ms, backoff_max=backoff_max,
        )  # fmt: skip
        return kind(me, members, settings, tracer=tracer)

    return Driven(
        MESSAGES,
        INTERVALS_MS,
        core,
        _single,
        _rest,
        _reported,
        _busy,
        rested=Core.deliveries,
        ending=frozenset({Timer.PASS_NULL}),
    )


def _single(core: Core, action: str, payload: bytes, now: float) -> tuple[bool, object]:
    match action:
        case "broadcast":
            return True, core.broadcast(payload, now)
        case "acknowledge":
            done = core.acknowledge(now)
        case name:
            done = core.expire(Timer(name), now)
    return done, done


def _rest(core: Core, now: float) -> list[Delivery]:
    while core.acknowledge(now):
        pass
    return core.deliveries()


def _reported(
    me: int, before: Snapshot, after: Snapshot, asked: Asked
) -> tuple[object, tuple[tracing.Event, ...]]:
    match asked.action:
        case "broadcast":
            name = Identifier(me, before.expected[me])
            return name, (tracing.Broadcast(me, name, asked.payload),)
        case "acknowledge":
            assert isinstance(after.latest, Ack)
            told = tracing.Step(me, "acknowledge", after.latest.identifier, after.latest.number)
            delivered = (
                tracing.Deliver(me, Identifier(source, name), number, payload)
                for source, name, number, payload in after.deliveries
            )
            return True, (told, *delivered)
        case timer:
            return True, (tracing.Step(me, timer),)


def _busy(me: int, snapshot: Snapshot) -> bool:
    last = Identifier(me, snapshot.expected[me] - 1)
    has_number = any(ack.identifier == last for ack in snapshot.acks)
    return not has_number and any(message.identifier == last for message in snapshot.buffer)
