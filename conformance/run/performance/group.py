"""Simulation of a group of bare cores in virtual time: Poisson arrivals, one bus or a constant delay, no
failures.

Rules of this file:
1. Everything random comes from one generator, seeded also by members, rate and activity: protocols
   at the same point get the same requests at the same times.
2. A message to all is one event, occupies the bus once, and arrives at all others at once. No layer stands
   around a core: the paper counts the protocol's own messages.
3. A process whose core is busy waits with its requests, in their order.
4. CM and Pinwheel have no NULL here. Where `silence_ms` pass without a message, the process at the holder
   broadcasts an update without content, which costs nothing and is in no mean and no buffer; the ACK that
   numbers it, and passes the token, is what a NULL would be.
5. A ring in which only a token circulates is in the same state after each round: rounds
   up to the next request are counted, not executed.

This module must not know any protocol's rules: it knows which messages carry an update, and who has a token.
"""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, cast

from antiphon.conformance.run.performance.meter import Meter, Result
from antiphon.conformance.run.performance.setting import Setting, implementation_of
from antiphon.impl.protocols.core import ProtocolCore, Send
from antiphon.impl.tracing import NULL_TRACER

__all__ = ["simulate"]

_UPDATE, _NULL = b"u", b""


class _Core(ProtocolCore[Any], Protocol):
    """A core that orders by a token, and knows what is stable."""

    @property
    def holding(self) -> bool: ...

    @property
    def stable(self) -> int: ...


class _Request:
    """Event: a process requests to multicast an update."""


class _Silence:
    """Event: a silence ends, after which the holder may pass the token."""


class _Alarm(NamedTuple):
    """Event: a timer of a member expires."""

    process: int


class _Arrival(NamedTuple):
    """Event: a message arrives at these members; `carries` says whether it has an update."""

    sender: int
    receivers: tuple[int, ...]
    message: Any
    carries: bool


class _Round(NamedTuple):
    """The beginning of a round of the token: the requests and messages before it, and the state of all
    members.
    """

    at: float
    asked: int
    sent: tuple[int, ...]
    cores: tuple[Hashable, ...]


def simulate(setting: Setting, seed: int) -> Result:
    """Simulate one point once. The same setting and seed give the same result, bit by bit, on any machine.

    Raises:
        RuntimeError: a core counted a violation, or the group stopped before all was stable: a defect.
    """
    return _Group(setting, seed).run()


class _Group:
    """The members of one run, and the queue of future events."""

    def __init__(self, setting: Setting, seed: int) -> None:
        members = setting.members
        implementation = implementation_of(setting)
        self.setting = setting
        self.meter = Meter(members)
        self.cores = [cast(_Core, implementation.core(me, members, NULL_TRACER)) for me in range(members)]
        self._random = random.Random(f"{seed}/{members}/{setting.interarrival_ms:g}/{setting.activity}")
        self._weights = list(accumulate(setting.activity or [1.0] * members))
        self._others = [tuple(other for other in range(members) if other != me) for me in range(members)]
        self._waiting: list[deque[tuple[float, bool]]] = [deque() for _ in range(members)]
        self._agenda: list[tuple[float, int, object]] = []
        self._alarms = [float("inf")] * members
        self._stable = [0] * members
        self._now = self._bus_free = self._heard = 0.0
        self._asked = self._order = self._handled = 0
        self._round: _Round | None = None

    def run(self) -> Result:
        """Run until all members know that the last measured update is stable; return the result."""
        setting, meter, agenda = self.setting, self.meter, self._agenda
        for process, core in enumerate(self.cores):
            core.start(0.0)
            self._settle(process)
        self._schedule_request()
        if setting.fills:
            self._schedule(setting.silence_ms, _Silence())
        while meter.stable < setting.messages:
            if not agenda:
                raise RuntimeError(f"{setting}: nothing happens any more, and updates are not stable")
            self._now, _, event = heapq.heappop(agenda)
            match event:
                case _Arrival():
                    self._arrive(event)
                case _Alarm(process):
                    self._alarms[process] = float("inf")
                    self.cores[process].tick(self._now)
                    self._settle(process)
                case _Request():
                    self._request()
                case _Silence():
                    self._break_silence()
        meter.stop(self._now)
        violations = [core.violations for core in self.cores if core.violations]
        if violations:
            raise RuntimeError(f"{setting}: a correct member said what no correct member says: {violations}")
        return meter.result(setting.messages, self._handled)

    # What happens ---------------------------------------------------------------------------------------

    def _request(self) -> None:
        process = bisect_right(self._weights, self._random.random() * self._weights[-1])
        self._asked += 1
        self._waiting[process].append((self._now, self._asked <= self.setting.messages))
        if self._asked == self.setting.messages and self.setting.endless:
            self.meter.stop(self._now)
        self._settle(process)
        self._schedule_request()

    def _arrive(self, arrival: _Arrival) -> None:
        if arrival.receivers == (0,):
            self._skip_rounds()
        sender, receivers, message, carries = arrival
        now, cores, meter = self._now, self.cores, self.meter
        self._heard = now
        self._handled += len(receivers)
        for process in receivers:
            cores[process].receive(sender, message, now)
            self._settle(process)
            if carries:
                meter.keeps(process, now)

    def _break_silence(self) -> None:
        due = max(self._heard, self._bus_free) + self.setting.silence_ms
        if self._now < due:
            self._schedule(due, _Silence())
            return
        self._heard = self._now
        for process, core in enumerate(self.cores):
            if core.holding:
                self.meter.requested(core.broadcast(_NULL, self._now), None, False)
                self._settle(process)
        self._schedule(self._now + self.setting.silence_ms, _Silence())

    def _settle(self, process: int) -> None:
        """Let a member take its enabled steps and its process multicast waiting updates, until neither has
        anything to do.
        """
        core, now, meter, waiting = self.cores[process], self._now, self.meter, self._waiting[process]
        while True:
            for delivery in core.settle(now):
                meter.delivers(process, delivery.source, delivery.id, delivery.number, now)
            if not waiting or core.busy:
                break
            at, counts = waiting.popleft()
            meter.requested(core.broadcast(_UPDATE, now), at, counts)
        stable = core.stable
        if stable > self._stable[process]:
            self._stable[process] = stable
            meter.learns(process, stable, now)
        outputs = core.outputs()
        if outputs:
            self._transmit(process, outputs)
        deadline = core.next_deadline()
        if deadline is not None and deadline < self._alarms[process]:
            self._alarms[process] = deadline
            self._schedule(deadline, _Alarm(process))

    # The bus --------------------------------------------------------------------------------------------

    def _transmit(self, sender: int, outputs: Sequence[Send[Any]]) -> None:
        """Send each message of a member once, after the messages that already wait for the bus."""
        others, at = self._others[sender], 0
        while at < len(outputs):
            last = outputs[min(at + len(others), len(outputs)) - 1]
            message = outputs[at].message
            to_all = outputs[at].to == others[0] and last.to == others[-1] and last.message is message
            receivers = others if to_all else (outputs[at].to,)
            at += len(receivers)
            self._put_on_bus(sender, receivers, message)

    def _put_on_bus(self, sender: int, receivers: tuple[int, ...], message: Any) -> None:
        setting = self.setting
        payload = getattr(message, "payload", None)
        carries, size = bool(payload), setting.control_bytes
        if payload is not None:
            size = setting.message_bytes if payload else 0
        if payload != _NULL:
            self.meter.sends(sender, carries)
        if carries:
            self.meter.keeps(sender, self._now)
        self._bus_free = max(self._now, self._bus_free) + setting.transmission_ms(size)
        self._schedule(self._bus_free + setting.delay_ms, _Arrival(sender, receivers, message, carries))

    def _skip_rounds(self) -> None:
        """Skip idle rounds of the token (rule 5), if the last round restored the state of all members and no
        message is on its way.
        """
        agenda, last, self._round = self._agenda, self._round, None
        if len(agenda) != 1 or not isinstance(agenda[0][2], _Request):
            return
        sent = tuple(self.meter.orderings)
        self._round = _Round(self._now, self._asked, sent, ())
        if last is None or last.asked != self._asked:
            return
        cores = tuple(core.snapshot() for core in self.cores)
        if cores == last.cores:
            period = self._now - last.at
            rounds = int((agenda[0][0] - self._now) / period)
            self._now += rounds * period
            for process, before in enumerate(last.sent):
                self.meter.sends(process, False, rounds * (sent[process] - before))
        self._round = _Round(self._now, self._asked, tuple(self.meter.orderings), cores)

    # Time -----------------------------------------------------------------------------------------------

    def _schedule_request(self) -> None:
        if self.setting.endless or self._asked < self.setting.messages:
            gap = self._random.expovariate(self.setting.arrivals_a_ms)
            self._schedule(self._now + gap, _Request())

    def _schedule(self, at: float, event: object) -> None:
        self._order += 1
        heapq.heappush(self._agenda, (at, self._order, event))
