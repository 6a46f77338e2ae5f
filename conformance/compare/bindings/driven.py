"""Interface of a core that is driven step by step, with its report of each step: by convention, or as a
binding overrides it.

1. `broadcast` takes a payload and returns the name of the message, which a tracer gets too.
2. An internal step is a method of the core with the name of the action; it takes the time, and returns
   whether there was something to do. `deliver` takes no time, and returns a `Delivery`.
3. Any other action is a timer of the same name: `core.expire(timer, now)`.
4. Deliveries of a step are in the snapshot's `deliveries` until `core.deliveries()` takes them; their numbers
   end at the snapshot's `delivered`.

This module must not know a protocol, or the values of a specification.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier, MessageFormat, ProtocolCore

__all__ = ["PAYLOAD", "Asked", "Driven", "SteppedCore"]

PAYLOAD = b"0"

M = TypeVar("M")


class Asked(NamedTuple):
    """Request of a step to a process: the action's name, and its datagram or payload."""

    action: str
    datagram: bytes | None = None
    payload: bytes = PAYLOAD


class SteppedCore(ProtocolCore[M], Protocol[M]):
    """Core whose timers can be made to expire one by one."""

    def expire(self, timer: Any, now: float) -> bool:
        """Let one timer expire, whatever its deadline; return False if it does not run."""
        ...

    def deliveries(self) -> list[Delivery]:
        """Return, once, the deliveries in order."""
        ...


class Driven(ABC, Generic[M]):
    """Facts about the cores of one protocol that a shell, and the check of what it observes, need.

    Attributes:
        messages: the format of their messages.
        internal: the steps that a core takes of its own accord, by name; a delivery comes before the others.
    """

    messages: MessageFormat[M]
    internal: tuple[str, ...] = ()

    @property
    def intervals_ms(self) -> Mapping[Any, float]:
        """Return the timers in their order with their first waiting times; two are equal, so that two are due
        together.
        """
        return {}

    @property
    def ending(self) -> frozenset[Any]:
        """Return the timers whose waiting ends when they expire. The other timers start again."""
        return frozenset()

    @abstractmethod
    def core(self, me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[M]:
        """Return a core of process `me`. `backoff_max` is the largest factor by which its waiting times
        grow.
        """

    @abstractmethod
    def broadcasts(self, me: int, snapshot: Any) -> int:
        """Return the number of messages that the process has broadcast."""

    def delivered(self, snapshot: Any) -> int:
        """Return the number of the message that the process delivered last."""
        found: int = snapshot.delivered
        return found

    def busy(self, me: int, snapshot: Any) -> bool:
        """Return True if the core refuses a broadcast; by default it never does, since no exploration fills
        the buffers.
        """
        del me, snapshot
        return False

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take the one step of this name; return whether the step was possible, and the core's result."""
        if action == "broadcast":
            return True, core.broadcast(payload, now)
        if action == "deliver":
            return (True, core.deliver()) if core.deliverable else (False, None)
        if action in self.internal:
            done = getattr(core, action)(now)
        else:
            done = core.expire(next(timer for timer in self.intervals_ms if timer == action), now)
        return done, done

    def rest(self, core: SteppedCore[M], now: float) -> list[Delivery]:
        """Take internal steps until none is left; return the deliveries in their order."""
        deliveries: list[Delivery] = []
        actions = list(self.internal)
        while actions:
            took, answer = self.single(core, actions[0], b"", now)
            actions = list(self.internal) if took else actions[1:]
            if isinstance(answer, Delivery):
                deliveries.append(answer)
        return deliveries + core.deliveries()

    def reported(
        self, me: int, before: Any, after: Any, asked: Asked
    ) -> tuple[object, tuple[tracing.Event, ...]]:
        """Return the result of the step that led from one snapshot to another, and the events that the core
        must have traced.
        """
        delivered: list[tracing.Event] = []
        if handed := getattr(after, "deliveries", ()):
            numbers = range(self.delivered(before) + 1, self.delivered(after) + 1)
            for number, (source, name, _, payload) in zip(numbers, handed, strict=True):
                delivered.append(tracing.Deliver(me, Identifier(source, name), number, payload))
        if asked.action == "broadcast":
            name = Identifier(me, self.broadcasts(me, after))
            return name, (tracing.Broadcast(me, name, asked.payload), *delivered)
        return True, (self.traced_step(me, before, after, asked.action), *delivered)

    def traced_step(self, me: int, before: Any, after: Any, action: str) -> tracing.Step:
        """Return the event with which the core must trace a step other than a delivery; by default it has the
        step's name alone.
        """
        del before, after
        return tracing.Step(me, action)
