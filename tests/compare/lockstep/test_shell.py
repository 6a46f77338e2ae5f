"""Comparison includes the calls that only a shell makes, and their results: timers, answers, events, counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from antiphon.conformance.compare.bindings.rbp import RbpBinding
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.rbp import Core, Timer
from antiphon.impl.transport.endpoint import Endpoint

SMALL: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 0}


class LosesDeliveries(Core):
    def settle(self, now: float) -> list[Delivery]:
        return super().settle(now)[1:]


class AltersDeliveries(Core):
    def settle(self, now: float) -> list[Delivery]:
        return [delivery._replace(payload=b"") for delivery in super().settle(now)]


class CountsDeliveries(Core):
    def settle(self, now: float) -> list[Delivery]:
        return [delivery._replace(number=delivery.number - 1) for delivery in super().settle(now)]


class SettlesOnce(Core):
    def settle(self, now: float) -> list[Delivery]:
        delivery = self.deliver() if self.deliverable else None
        return [] if delivery is None else [delivery]


class HidesDeadlines(Core):
    def next_deadline(self) -> float | None:
        return None if self._passed is not None and self._pending is None else super().next_deadline()


class TicksEarly(Core):
    def tick(self, now: float) -> None:
        super().tick(now + 1.0)


class TicksOneTimer(Core):
    def tick(self, now: float) -> None:
        for timer in self._deadlines.due(now)[:1]:
            self.expire(timer, now)


class TicksLate(Core):
    def tick(self, now: float) -> None:
        super().tick(now - 1.0)


class ForgetsToStop(Core):
    def _watch(self) -> None:
        super()._watch()
        if self._message_id:
            self._deadlines.start(Timer.RESEND, self._now)


class ForgetsToStart(Core):
    def broadcast(self, payload: bytes, now: float) -> Identifier:
        identifier = super().broadcast(payload, now)
        self._deadlines.stop(Timer.RESEND)
        return identifier


class BacksOffForever(Core):
    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._deadlines._backoff_max = 10**9 if self._deadlines._backoff_max > 1 else 1


class NeverBusy(Core):
    @property
    def busy(self) -> bool:
        return False


class NamesTheNext(Core):
    def broadcast(self, payload: bytes, now: float) -> Identifier:
        return super().broadcast(payload, now)._replace(id=self._message_id + 1)


class Tells(Core):
    """A core whose tracer is told something else."""

    wrong: Callable[[Any], Any]

    def __init__(self, *arguments: Any, tracer: tracing.Tracer, **settings: Any) -> None:
        told = self.wrong

        class Crooked:
            recording = tracer.recording

            def record(self, event: tracing.Event) -> None:
                crooked = told(event)
                if crooked is not None:
                    tracer.record(crooked)

        super().__init__(*arguments, tracer=Crooked(), **settings)


def telling(kind: type[tracing.Event], action: str | None, **changes: Any) -> type[Core]:
    """A core that tells its tracer of such an event with these changes; without changes nothing."""

    def wrong(_core: Core, event: Any) -> Any:
        if not isinstance(event, kind) or getattr(event, "action", action) != action:
            return event
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        return kind(**fields | changes) if changes else None

    return type("Faulty", (Tells,), {"wrong": wrong})


CORES: dict[str, tuple[type[Core], str]] = {
    "settle loses a delivery": (LosesDeliveries, "what is delivered, and what"),
    "settle alters a payload": (AltersDeliveries, "what is delivered, and what"),
    "settle gives another number": (CountsDeliveries, "what is delivered, and what"),
    "settle stops after one step": (SettlesOnce, "steps of receive_ack through the endpoint"),
    "a deadline is hidden": (HidesDeadlines, "next_deadline"),
    "a timer expires early": (TicksEarly, "before the deadline"),
    "the second timer is swallowed": (TicksOneTimer, "sends of tick at the deadline of resend, resend_token"),
    "a timer expires late": (TicksLate, "of tick at the deadline"),
    "a timer goes on": (ForgetsToStop, "the timers that run"),
    "a timer is not started": (ForgetsToStart, "the timers that run"),
    "back-off has no bound": (BacksOffForever, "next_deadline"),
    "never busy": (NeverBusy, "busy"),
    "broadcast returns another name": (NamesTheNext, "what broadcast returns"),
    "a broadcast is told of another name": (
        telling(tracing.Broadcast, None, identifier=(0, 9)),
        "is told of broadcast",
    ),
    "a delivery is told with another number": (
        telling(tracing.Deliver, None, number=9),
        "what is delivered, and what the tracer is told",
    ),
    "a delivery is told of another message": (
        telling(tracing.Deliver, None, identifier=(1, 9)),
        "what is delivered, and what the tracer is told",
    ),
    "an accept is not told": (telling(tracing.Step, "accept"), "is told of accept"),
    "an accept is told with another number": (telling(tracing.Step, "accept", number=9), "told of accept"),
    "a number is told of another message": (
        telling(tracing.Step, "sequence", identifier=(0, 9)),
        "told of sequence",
    ),
    "another number is told": (telling(tracing.Step, "sequence", number=9), "told of sequence"),
    "an expiry is not told": (telling(tracing.Step, "resend"), "told of resend"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", CORES)
def test_a_core_that_serves_a_shell_wrongly_differs(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Single steps of all these cores are right: without a shell nothing would differ."""
    core, told = CORES[fault]
    monkeypatch.setitem(RbpBinding.faults, "planted", core)
    difference = lockstep(RbpBinding(fault="planted", **SMALL)).difference
    assert difference is not None
    assert told in difference.what


ENDPOINTS: dict[str, tuple[str, Callable[[Any, Any], Any], str]] = {
    "an endpoint keeps a datagram": (
        "datagrams_to_send",
        lambda _endpoint, datagrams: datagrams[1:],
        "how many datagrams",
    ),
    "an endpoint sends to another": (
        "datagrams_to_send",
        lambda _endpoint, datagrams: [datagram._replace(to=0) for datagram in datagrams],
        "the receiver of a datagram",
    ),
    "an endpoint counts twice": (
        "_encode",
        lambda endpoint, data: endpoint.datagrams.update(["ack"]) or data,
        "the count of datagrams",
    ),
    "an endpoint counts every copy": (
        "_encode",
        lambda endpoint, data: setattr(endpoint, "_last_counted", None) or data,
        "the count of transmissions",
    ),
    "an endpoint repeats a delivery": (
        "deliveries",
        lambda _endpoint, deliveries: deliveries * 2,
        "what is delivered, and what the tracer is told",
    ),
    "an endpoint hides a deadline": ("next_deadline", lambda _endpoint, _deadline: None, "next_deadline"),
}


@pytest.mark.parametrize("fault", ENDPOINTS)
def test_an_endpoint_that_serves_a_shell_wrongly_differs(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, change, told = ENDPOINTS[fault]
    right = getattr(Endpoint, name)
    monkeypatch.setattr(Endpoint, name, lambda self, *arguments: change(self, right(self, *arguments)))
    processes = 3 if "copy" in fault or "another" in fault else 2
    difference = lockstep(RbpBinding(**SMALL | {"processes": processes, "urgent": True})).difference
    assert difference is not None
    assert told in difference.what
