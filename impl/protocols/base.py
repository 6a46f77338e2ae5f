"""The common part of all protocol cores: their place, their outputs, their refusals, their timers.

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
        """Begin with nothing sent.

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
        """The first violation that proves two orders."""
        return next((kind for kind in self._violations if kind.breaks_order), None)

    def start(self, now: float) -> None:
        """Take part: there is nothing to do before the first message."""

    def settle(self, now: float) -> list[Delivery]:
        """Hand over, once, what was delivered, in order: nothing happens without a message or a timer."""
        del now
        return self.deliveries()

    def deliveries(self) -> list[Delivery]:
        """Hand over, once, what was delivered, in order."""
        deliveries, self._deliveries = self._deliveries, []
        return deliveries

    def tick(self, now: float) -> None:
        """Do nothing: no timer runs."""

    def next_deadline(self) -> float | None:
        """None: no timer runs."""
        return None

    def outputs(self) -> list[Send[M]]:
        """Hand over, once, the messages to send, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def _to(self, process: int, message: M) -> None:
        self._outputs.append(Send(process, message))

    def _to_others(self, message: M) -> None:
        for process in self._others:
            self._outputs.append(Send(process, message))

    def _violated(self, kind: Violation, sender: int, message: object) -> None:
        """Count what is ignored, and tell the tracer."""
        self._violations[kind] += 1
        if self._tracer.recording:
            detail = repr(message)[: tracing.DETAIL_MAX]
            self._tracer.record(tracing.Violation(self.me, kind, sender, detail))


class TimedCore(CoreBase[M], ABC, Generic[M, T]):
    """A core with timers: it sends again what it has had no answer to."""

    _deadlines: Deadlines[T]
    """To be made by the subclass, which knows the intervals."""

    def __init__(self, me: int, members: int, tracer: Tracer) -> None:
        """There is no time yet. Raises `InvalidMembership` as `CoreBase`."""
        super().__init__(me, members, tracer)
        self._now = 0.0

    def start(self, now: float) -> None:
        """Take part: there is nothing to do before the first message."""
        self._now = now

    def settle(self, now: float) -> list[Delivery]:
        """Hand over, once, what was delivered, in order: nothing happens without a message or a timer."""
        self._now = now
        return self.deliveries()

    @abstractmethod
    def expire(self, timer: T, now: float) -> bool:
        """Do what `timer` waits to do, whatever its deadline; False if it waits for nothing."""

    def tick(self, now: float) -> None:
        """Let every timer expire whose deadline has come."""
        self._now = now
        for timer in self._deadlines.due(now):
            self.expire(timer, now)

    def next_deadline(self) -> float | None:
        """The `now` from which `tick` has something to do; None while nothing is waited for."""
        return self._deadlines.next()
