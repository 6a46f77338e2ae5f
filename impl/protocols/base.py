"""Common part of all protocol cores: their place, their outputs, their counted violations, their timers.

This module must not know a protocol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import Generic, TypeVar

from antiphon.impl import tracing
from antiphon.impl.errors import InvalidMembership, Violation
from antiphon.impl.protocols.core import Delivery, Send
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.tracing import Tracer

__all__ = ["CoreBase", "TimedCore"]

M = TypeVar("M")
T = TypeVar("T")


class CoreBase(Generic[M]):
    """Common part of all cores: process `me` of the members 0..members-1. Subclasses add timers."""

    def __init__(self, me: int, members: int, tracer: Tracer) -> None:
        """Begin as process `me`, with nothing sent.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
        """
        if members < 2 or not 0 <= me < members:
            raise InvalidMembership(
                f"process {me} of {members}: a group has at least 2 members, numbered from 0 to members - 1"
            )
        self.me = me
        self.members = members
        self._others = tuple(process for process in range(members) if process != me)
        self._tracer = tracer
        self._outputs: list[Send[M]] = []
        self._deliveries: list[Delivery] = []
        self._violations: Counter[Violation] = Counter()

    @property
    def violations(self) -> Counter[Violation]:
        """Number of messages that no correct member sends, by kind; a copy."""
        return self._violations.copy()

    @property
    def broken(self) -> Violation | None:
        """Violation that proves a broken order, the first one; or None."""
        return next((kind for kind in self._violations if kind.breaks_order), None)

    def start(self, now: float) -> None:
        """Set the time at which the core begins; a core that has to act then overrides this method."""

    def settle(self, now: float) -> list[Delivery]:
        """Return, once, the deliveries in order. A core with internal steps overrides this method and takes
        them first.
        """
        del now
        return self.deliveries()

    def deliveries(self) -> list[Delivery]:
        """Return, once, the deliveries in order."""
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def tick(self, now: float) -> None:
        """Do nothing: the core has no timers."""

    def next_deadline(self) -> float | None:
        """Return None: the core has no timers."""
        return None

    def outputs(self) -> list[Send[M]]:
        """Return, once, the messages to send, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def _to(self, process: int, message: M) -> None:
        self._outputs.append(Send(process, message))

    def _to_others(self, message: M) -> None:
        for process in self._others:
            self._outputs.append(Send(process, message))

    def _violated(self, kind: Violation, sender: int, message: object) -> None:
        """Count a violation, and report it to the tracer; the message is ignored."""
        self._violations[kind] += 1
        if self._tracer.recording:
            detail = repr(message)[: tracing.DETAIL_MAX]
            self._tracer.record(tracing.Violation(self.me, kind, sender, detail))


class TimedCore(CoreBase[M], ABC, Generic[M, T]):
    """Base of cores with timers, which send messages again that were not answered."""

    _deadlines: Deadlines[T]
    """Timers of the core; the subclass makes them, since it knows the intervals."""

    def __init__(self, me: int, members: int, tracer: Tracer) -> None:
        """Begin without a time, so that no timer runs. Raise `InvalidMembership` as `CoreBase` does."""
        super().__init__(me, members, tracer)
        self._now = 0.0

    def start(self, now: float) -> None:
        """Set the time at which the core begins; a core that has to act then overrides this method."""
        self._now = now

    def settle(self, now: float) -> list[Delivery]:
        """Return, once, the deliveries in order. A core with internal steps overrides this method and takes
        them first.
        """
        self._now = now
        return self.deliveries()

    @abstractmethod
    def expire(self, timer: T, now: float) -> bool:
        """Run the action of `timer`, whatever its deadline; return False if the timer does not run."""

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        self._now = now
        for timer in self._deadlines.due(now):
            self.expire(timer, now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        return self._deadlines.next()
