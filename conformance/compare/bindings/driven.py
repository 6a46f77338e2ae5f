"""The way in which a core is driven step by step, and its report of each step: by convention, or as a binding
says.

1. `broadcast` takes a payload and gives the name of the message, which a tracer is told.
2. An internal step is a method of the core with the name of the action; it takes the time, and says whether
   there was something to do. `deliver` takes none, and gives a `Delivery`.
3. Any other action is a timer of the same name: `core.expire(timer, now)`.
4. What a step delivered lies in the snapshot's `deliveries` until `core.deliveries()` takes it; its numbers
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
    """A request of a step to a process: the action's name, and the datagram or the payload that it brings."""

    action: str
    datagram: bytes | None = None
    payload: bytes = PAYLOAD


class SteppedCore(ProtocolCore[M], Protocol[M]):
    """A core whose timers can be let expire one by one."""

    def expire(self, timer: Any, now: float) -> bool:
        """Let one timer expire, whatever its deadline; False if it waits for nothing."""
        ...

    def deliveries(self) -> list[Delivery]:
        """Hand over, once, what was delivered, in order."""
        ...


class Driven(ABC, Generic[M]):
    """The facts about the cores of one protocol that a shell and its judge need.

    Attributes:
        messages: their messages.
        internal: the steps that a core takes of its own accord, by name; a delivery comes before the others.
    """

    messages: MessageFormat[M]
    internal: tuple[str, ...] = ()

    @property
    def intervals_ms(self) -> Mapping[Any, float]:
        """The timers in their order with their first waiting times; two are equal, so that two are due
        together.
        """
        return {}

    @property
    def ending(self) -> frozenset[Any]:
        """The timers whose expiry ends what they wait for, so that they are not put off."""
        return frozenset()

    @abstractmethod
    def core(self, me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[M]:
        """A core with these waiting times and this bound of its back-off."""

    @abstractmethod
    def broadcasts(self, me: int, snapshot: Any) -> int:
        """Return the number of messages that the process has broadcast."""

    def delivered(self, snapshot: Any) -> int:
        """The number of the message that the process delivered last."""
        found: int = snapshot.delivered
        return found

    def busy(self, me: int, snapshot: Any) -> bool:
        """True if a broadcast is refused: never, where no bound of an exploration fills what may wait."""
        del me, snapshot
        return False

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take the one step of this name: whether there was something to do, and what the core answered."""
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
        """Take internal steps until none is left; the deliveries in their order."""
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
        """Return the result of the step from one snapshot to another, and the events for its tracer."""
        delivered: list[tracing.Event] = []
        if handed := getattr(after, "deliveries", ()):
            numbers = range(self.delivered(before) + 1, self.delivered(after) + 1)
            for number, (source, name, _, payload) in zip(numbers, handed, strict=True):
                delivered.append(tracing.Deliver(me, Identifier(source, name), number, payload))
        if asked.action == "broadcast":
            name = Identifier(me, self.broadcasts(me, after))
            return name, (tracing.Broadcast(me, name, asked.payload), *delivered)
        return True, (self.told(me, before, after, asked.action), *delivered)

    def told(self, me: int, before: Any, after: Any, action: str) -> tracing.Step:
        """Return the event of a step for the tracer beside its deliveries: the name, unless a binding says
        more.
        """
        del before, after
        return tracing.Step(me, action)
