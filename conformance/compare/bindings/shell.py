"""Check that a core driven by a shell does what its single steps do, and reports it all.

Lockstep compares single steps with the specification: a reception, an internal step, one timer. A shell calls
only the first of these. It passes bytes, payloads and the time to an endpoint, and reads the endpoint's
outputs. Therefore every step from every snapshot is taken a second time through an endpoint, and compared:

1. The result of a single step and its traced events have the step's own identifiers, numbers and payloads.
2. The endpoint sends, delivers, traces and counts what the single step and all that follow from it do, and
   ends in the same snapshot.
3. At rest exactly those timers run that the specification would let expire. `tick` lets each expire at its
   deadline and none before, several at once if their time has come, with back-off within its bound.
4. A core is busy exactly while the specification lets it not broadcast.

This module must not know the specification's values: the timers that may expire are an argument. It must not
know a protocol: `Driven` has the parts that depend on one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from antiphon.conformance.compare.bindings.binding import Misreports
from antiphon.conformance.compare.bindings.driven import PAYLOAD, Asked, Driven, SteppedCore
from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Delivery, Implementation, ProtocolCore, Send
from antiphon.impl.transport import wire
from antiphon.impl.transport.endpoint import Datagram, Endpoint

START_MS = 2.0**20
"""Time at which the endpoint is set to a snapshot: not 0, and a large power of two, so that sums
are exact.
"""

BACKOFF_MAX = 4

TICKS = 7
"""Number of deadlines that are run in a row: every timer expires, and one reaches the bound of its
back-off.
"""

M = TypeVar("M")


class _Done(NamedTuple):
    """Result of a call, with everything that the core sent, delivered, traced and counted. The tracer's
    events are sorted by kind, those of a kind in their order.
    """

    result: object
    sends: tuple[Send[Any], ...]
    deliveries: tuple[Delivery, ...]
    delivered: tuple[tracing.Event, ...]
    steps: tuple[tracing.Event, ...]
    busy: bool
    snapshot: Hashable
    arrived: tuple[tracing.Event, ...] = ()


class Shell(Generic[M]):
    """Process `me` of `members`: a core that takes single steps, and an endpoint that a shell would drive."""

    def __init__(self, group: str, me: int, members: int, driven: Driven[M]) -> None:
        self.me, self.members, self.group, self.driven = me, members, group, driven
        self._told, self._traced = tracing.RecordingTracer(), tracing.RecordingTracer()
        self._core = driven.core(me, members, BACKOFF_MAX, self._told)
        implementation: Implementation[M] = Implementation(
            driven.messages, lambda me, members, tracer: driven.core(me, members, BACKOFF_MAX, tracer)
        )
        self._endpoint = Endpoint(implementation, group, me, members, self._traced)
        self._peers = [
            wire.Admission(self._endpoint.codec, group, peer, members) if peer != me else None
            for peer in range(members)
        ]
        self._gate = wire.Admission(self._endpoint.codec, group, me, members)
        self._seen: set[tuple[Hashable, Asked | None]] = set()

    def rest(self, snapshot: Hashable, waits: Iterable[Any]) -> None:
        """Check a core at rest in this snapshot. `waits` are the timers that the specification would let
        expire.

        Raises:
            Misreports: the core's timers, `busy` or its effect in a shell differ.
        """
        if (snapshot, None) in self._seen:
            return
        if not self._seen:
            self._core.start(START_MS)
            wanted = self._until_rest(self._core, None)
            self._agree("start", wanted, self._shell(partial(self._endpoint.start, START_MS)))
        expected = set(waits)
        waits = [timer for timer in self.driven.intervals_ms if timer in expected]
        timers = tuple((timer, self.driven.intervals_ms[timer], 1) for timer in waits)
        running = getattr(snapshot, "timers", ())
        self._same("the timers that run, milliseconds left and back-off", timers, running)
        self._busy(snapshot)
        settled = self._settled(snapshot)
        if settled.snapshot == snapshot:
            self._deadlines(snapshot, waits)
            self._late(snapshot, waits)
        self._seen.add((snapshot, None))

    def step(self, snapshot: Hashable, asked: Asked) -> None:
        """Check a step from this snapshot in two ways: by itself, and through an endpoint.

        Raises:
            Misreports: the reported effect differs from the actual one, or the endpoint's differs from the
                single step's.
        """
        if (snapshot, asked) in self._seen:
            return
        if asked.datagram is not None:
            self._received(snapshot, asked.action, asked.datagram)
        else:
            self._acted(snapshot, asked)
        self._seen.add((snapshot, asked))

    def _received(self, snapshot: Hashable, action: str, datagram: bytes) -> None:
        core, endpoint = self._at(snapshot), self._endpoint
        envelope = self._admitted(self._gate, datagram)
        core.receive(envelope.sender, envelope.message, START_MS)
        told = [event for event in self._told.events if not isinstance(event, tracing.Deliver)]
        self._same("what the tracer is told of a message", [], told)
        wanted = self._until_rest(core, None)
        endpoint.core.restore(snapshot, START_MS)
        done = self._shell(partial(endpoint.datagram_received, envelope.sender, datagram, START_MS))
        name = (envelope.sender, envelope.counter)
        arrival = tracing.Receive(self.me, name, self.driven.messages.kind(envelope.message))
        self._same("what the tracer is told of a datagram", (arrival,), done.arrived)
        self._agree(f"{action} through the endpoint", wanted, done)

    def _acted(self, snapshot: Hashable, asked: Asked) -> None:
        core, endpoint = self._at(snapshot), self._endpoint
        _, result = self.driven.single(core, asked.action, asked.payload, START_MS)
        self._reported(snapshot, core.snapshot(), asked, result)
        if asked.action == "broadcast":  # of the other steps a shell calls none: see `rest`
            wanted = self._until_rest(core, result)
            endpoint.core.restore(snapshot, START_MS)
            done = self._shell(partial(endpoint.broadcast, asked.payload, START_MS))
            self._agree("broadcast through the endpoint", wanted, done)

    # What a single step reports -----------------------------------------------------------------------------

    def _reported(self, before: Hashable, after: Hashable, asked: Asked, result: object) -> None:
        """Check that the result of a single step and its traced events name what the step changed (rule
        1).
        """
        answer, events = self.driven.reported(self.me, before, after, asked)
        self._same(f"what {asked.action} returns", answer, result)
        self._same(f"what the tracer is told of {asked.action}", events, tuple(self._told.events))

    # What a shell sees --------------------------------------------------------------------------------------

    def _busy(self, snapshot: Hashable) -> None:
        """Check that `busy` is True exactly when the specification allows no broadcast, and that a refused
        broadcast changes nothing (rule 4).
        """
        core = self._at(snapshot)
        waits = self.driven.busy(self.me, snapshot)
        self._same("busy", waits, core.busy)
        if waits:
            refused = False
            try:
                core.broadcast(PAYLOAD, START_MS)
            except Busy:
                refused = True
            self._same("whether a second broadcast is refused", True, refused)
            self._same("where a refused broadcast leaves it", snapshot, core.snapshot())

    def _settled(self, snapshot: Hashable) -> _Done:
        """Check that `settle` takes all internal steps that the process would take one by one (rule 2).
        Return its result.
        """
        wanted = self._until_rest(self._at(snapshot), None)
        self._endpoint.core.restore(snapshot, START_MS)
        self._agree("tick before any deadline", wanted, self._shell(partial(self._endpoint.tick, START_MS)))
        return wanted

    def _deadlines(self, snapshot: Hashable, waits: list[Any]) -> None:
        """Check, deadline after deadline, that each timer expires when its time has come, and not before
        (rule 3).
        """
        core, endpoint = self._at(snapshot), self._endpoint
        endpoint.core.restore(snapshot, START_MS)
        intervals_ms = self.driven.intervals_ms
        running = {timer: (START_MS + intervals_ms[timer], 1) for timer in waits}
        for _ in range(TICKS):
            deadline = min((at for at, _ in running.values()), default=None)
            self._same("next_deadline", deadline, endpoint.next_deadline())
            if deadline is None:
                return
            before = self._shell(partial(endpoint.tick, deadline - 0.5))
            self._same("what tick sends before the deadline", (), before.sends)
            due = [timer for timer in intervals_ms if timer in running and running[timer][0] <= deadline]
            wanted = self._expired(core, due, deadline)
            done = self._shell(partial(endpoint.tick, deadline))
            self._agree(f"tick at the deadline of {', '.join(due)}", wanted, done)
            if not self.driven.ending.isdisjoint(due):
                return
            for timer in due:
                factor = min(2 * running[timer][1], BACKOFF_MAX)
                running[timer] = (deadline + factor * intervals_ms[timer], factor)

    def _late(self, snapshot: Hashable, waits: list[Any]) -> None:
        """Check that a late call of `tick`, or one after a jump of the clock, lets each due timer expire
        once.
        """
        later = START_MS + 2.0**16
        wanted = self._expired(self._at(snapshot), waits, later)
        self._endpoint.core.restore(snapshot, START_MS)
        done = self._shell(partial(self._endpoint.tick, later))
        self._agree("tick long after every deadline", wanted, done)
        if self.driven.ending.isdisjoint(waits):
            first = min((later + 2 * self.driven.intervals_ms[timer] for timer in waits), default=None)
            self._same("next_deadline after a late tick", first, self._endpoint.next_deadline())

    # One side and the other ---------------------------------------------------------------------------------

    def _at(self, snapshot: Hashable) -> SteppedCore[M]:
        self._core.restore(snapshot, START_MS)
        self._told.events.clear()
        return self._core

    def _admitted(self, gate: wire.Admission[M], datagram: bytes) -> wire.Envelope[M]:
        envelope = gate.admit(datagram)
        if isinstance(envelope, wire.Rejected):
            told = f"dropped as {envelope.kind.value}: {envelope.detail}"
            raise Misreports(f"process {self.me}: a member's datagram for process {gate.me}", "let in", told)
        return envelope

    def _expired(self, core: SteppedCore[M], due: list[Any], now: float) -> _Done:
        for timer in due:
            self._same(f"whether {timer} expires", True, core.expire(timer, now))
        return self._until_rest(core, None, now)

    def _until_rest(self, core: SteppedCore[M], result: object, now: float = START_MS) -> _Done:
        """Take internal steps until none is left; a delivery comes before other steps. Return the result,
        which begins with that of an earlier call.
        """
        deliveries = self.driven.rest(core, now)
        events, sends = tuple(self._told.events), tuple(core.outputs())
        self._told.events.clear()
        return self._done(result, sends, tuple(deliveries), events, core)

    def _shell(self, call: Callable[[], object]) -> _Done:
        """Make a call on the endpoint, and take everything that a shell would then take from it; check its
        counters. Return it all.
        """
        endpoint = self._endpoint
        self._traced.events.clear()
        counted = (endpoint.datagrams.copy(), endpoint.transmissions.copy())
        result = call()
        events = list(self._traced.events)
        deliveries, datagrams = endpoint.deliveries(), endpoint.datagrams_to_send()
        sends = tuple(self._sent(datagrams, self._traced.events[len(events) :]))
        kinds = Counter(self.driven.messages.kind(send.message) for send in sends)
        self._same("the count of datagrams", kinds, endpoint.datagrams - counted[0])
        once = Counter(self.driven.messages.kind(message) for message in _messages(sends))
        self._same("the count of transmissions", once, endpoint.transmissions - counted[1])
        self._same("what the gate drops", Counter(), endpoint.admission.dropped)
        self._same("violations", Counter(), endpoint.core.violations)
        return self._done(result, sends, tuple(deliveries), tuple(events), endpoint.core)

    def _sent(self, datagrams: list[Datagram], told: list[tracing.Event]) -> Iterator[Send[M]]:
        """Yield the messages in the datagrams as their receivers decode them. Check that the tracer got an
        event for each.
        """
        self._same("how many datagrams the tracer is told of", len(datagrams), len(told))
        for datagram, event in zip(datagrams, told, strict=True):
            peer = self._peers[datagram.to]
            if peer is None:
                raise Misreports(f"process {self.me}: the receiver of a datagram", "another", "itself")
            envelope = self._admitted(peer, datagram.data)
            name = (envelope.sender, envelope.counter)
            kind = self.driven.messages.kind(envelope.message)
            wanted = tracing.Send(self.me, name, datagram.to, kind, len(datagram.data))
            self._same("what the tracer is told of a datagram", wanted, event)
            self._same("the sender in a datagram", self.me, envelope.sender)
            yield Send(datagram.to, envelope.message)

    def _done(
        self,
        result: object,
        sends: tuple[Send[M], ...],
        deliveries: tuple[Delivery, ...],
        events: tuple[tracing.Event, ...],
        core: ProtocolCore[M],
    ) -> _Done:
        delivered = tuple(event for event in events if isinstance(event, tracing.Deliver))
        told = tuple(Delivery(*event.identifier, event.number, event.payload) for event in delivered)
        self._same("what is delivered, and what the tracer is told of it", told, deliveries)
        arrived = tuple(event for event in events if isinstance(event, tracing.Receive))
        steps = tuple(event for event in events if event not in delivered and event not in arrived)
        return _Done(result, sends, deliveries, delivered, steps, core.busy, core.snapshot(), arrived)

    def _agree(self, what: str, wanted: _Done, done: _Done) -> None:
        for name, here, there in zip(_Done._fields[:-1], wanted, done, strict=False):
            self._same(f"{name} of {what}", here, there)

    def _same(self, what: str, wanted: object, found: object) -> None:
        if wanted != found:
            raise Misreports(f"process {self.me}: {what}", wanted, found)


def _messages(sends: Iterable[Send[M]]) -> Iterator[M]:
    """Yield the messages sent; a message that goes to several receivers in a row is yielded once."""
    last: M | None = None
    receivers: set[int] = set()
    for to, message in sends:
        if message != last or to in receivers:
            yield message
            last, receivers = message, set()
        receivers.add(to)
