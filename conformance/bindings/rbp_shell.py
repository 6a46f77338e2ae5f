"""Driven as a shell drives it, the core of figure 16 does what its single steps do, and reports all of it.

Lockstep compares single steps with the specification: accept, sequence, deliver, one timer. A shell calls
none of these. It hands bytes, payloads and the time to an endpoint, and takes what that has to say. So from
every snapshot that lockstep meets, every step is taken a second time in that way, and compared:

1. What a single step returns and what its tracer is told are the step's own: identifiers, numbers, payloads.
2. The endpoint sends, delivers, traces and counts what the single step and all that follow from it do, and
   ends in the same snapshot.
3. At rest exactly those timers run that the specification would let expire. `tick` lets each expire at its
   deadline and none before, several at once if their time has come, with back-off within its bound.
4. A core is busy exactly while the specification waits for the number of its broadcast.

This module must not know the specification's values: what it would let expire is an argument.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from antiphon.conformance.bindings.binding import Misreports
from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, Send
from antiphon.impl.protocols.rbp import MESSAGES, Core, Message, Snapshot, Timer
from antiphon.impl.transport import wire
from antiphon.impl.transport.endpoint import Datagram, Endpoint

START_MS = 2.0**20
"""When the endpoint is put to a snapshot: not 0, and so large a power of two that sums are exact."""

INTERVALS_MS = {Timer.RESEND: 48.0, Timer.RESEND_TOKEN: 48.0, Timer.REPEAT_REQUEST: 16.0}
"""The first waiting times: two are equal, so that two timers are due together."""

BACKOFF_MAX = 4

TICKS = 7
"""So many deadlines are kept in a row: every timer expires, and one reaches the bound of its back-off."""

PAYLOAD = b"0"


def core_of(kind: type[Core], me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> Core:
    """A core with the waiting times of this module."""
    resend_ms, token_ms, request_ms = (INTERVALS_MS[timer] for timer in Timer)
    return kind(
        me, members, resend_ms=resend_ms, token_ms=token_ms, request_ms=request_ms,
        backoff_max=backoff_max, tracer=tracer,
    )  # fmt: skip


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


class Asked(NamedTuple):
    """What a step asks of a process: the action's name, and the datagram or the payload that it brings."""

    action: str
    datagram: bytes | None = None
    payload: bytes = PAYLOAD


class _Done(NamedTuple):
    """What came of a call, all of it; the tracer's events by what they tell of, each in its order."""

    result: object
    sends: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    delivered: tuple[tracing.Event, ...]
    steps: tuple[tracing.Event, ...]
    busy: bool
    snapshot: Snapshot
    arrived: tuple[tracing.Event, ...] = ()


class RbpShell:
    """Process `me` of `members`: a core that takes single steps, and an endpoint that a shell would drive."""

    def __init__(self, group: str, me: int, members: int, kind: type[Core]) -> None:
        self.me, self.members, self.group = me, members, group
        self._told, self._traced = tracing.RecordingTracer(), tracing.RecordingTracer()
        self._core = core_of(kind, me, members, BACKOFF_MAX, self._told)
        implementation = Implementation(
            MESSAGES, lambda me, members, tracer: core_of(kind, me, members, BACKOFF_MAX, tracer)
        )
        self._endpoint = Endpoint(implementation, group, me, members, self._traced)
        self._peers = [
            wire.Admission(self._endpoint.codec, group, peer, members) if peer != me else None
            for peer in range(members)
        ]
        self._gate = wire.Admission(self._endpoint.codec, group, me, members)
        self._seen: set[tuple[Snapshot, Asked | None]] = set()

    def rest(self, snapshot: Snapshot, waits: Iterable[Timer]) -> None:
        """The process stands at this snapshot, and the specification would let `waits` expire.

        Raises:
            Misreports: its timers, `busy` or what a shell makes of it are others.
        """
        if (snapshot, None) in self._seen:
            return
        if not self._seen:
            self._core.start(START_MS)
            wanted = self._until_rest(self._core, None)
            self._agree("start", wanted, self._shell(partial(self._endpoint.start, START_MS)))
        waits = [timer for timer in Timer if timer in set(waits)]
        timers = tuple((timer, INTERVALS_MS[timer], 1) for timer in waits)
        self._same("the timers that run, milliseconds left and back-off", timers, snapshot.timers)
        self._busy(snapshot)
        settled = self._settled(snapshot)
        if settled.snapshot == snapshot:
            self._deadlines(snapshot, waits)
            self._late(snapshot, waits)
        self._seen.add((snapshot, None))

    def step(self, snapshot: Snapshot, asked: Asked) -> None:
        """The process takes a step from this snapshot: by itself, and as a shell would have it.

        Raises:
            Misreports: it reports something else than it does, or does something else for a shell.
        """
        if (snapshot, asked) in self._seen:
            return
        if asked.datagram is not None:
            self._received(snapshot, asked.action, asked.datagram)
        else:
            self._acted(snapshot, asked)
        self._seen.add((snapshot, asked))

    def _received(self, snapshot: Snapshot, action: str, datagram: bytes) -> None:
        core, endpoint = self._at(snapshot), self._endpoint
        envelope = self._admitted(self._gate, datagram)
        core.receive(envelope.sender, envelope.message, START_MS)
        self._same("what the tracer is told of a message", [], self._told.events)
        wanted = self._until_rest(core, None)
        endpoint.core.restore(snapshot, START_MS)
        done = self._shell(partial(endpoint.datagram_received, envelope.sender, datagram, START_MS))
        self._same("what the tracer is told of a datagram", _reception(self.me, envelope), done.arrived)
        self._agree(f"{action} through the endpoint", wanted, done)

    def _acted(self, snapshot: Snapshot, asked: Asked) -> None:
        core, endpoint = self._at(snapshot), self._endpoint
        _, result = single(core, asked.action, asked.payload, START_MS)
        self._reported(snapshot, core.snapshot(), asked, result)
        if asked.action == "broadcast":  # of the other steps a shell calls none: see `rest`
            wanted = self._until_rest(core, result)
            endpoint.core.restore(snapshot, START_MS)
            done = self._shell(partial(endpoint.broadcast, asked.payload, START_MS))
            self._agree("broadcast through the endpoint", wanted, done)

    # What a single step reports -----------------------------------------------------------------------------

    def _reported(self, before: Snapshot, after: Snapshot, asked: Asked, result: object) -> None:
        """The answer and the tracer's event of a single step name what it changed (rule 1)."""
        me, bodies, numbers = self.me, dict(after.received), dict(after.numbers)
        answer: object = True
        event: tracing.Event | None
        match asked.action:
            case "broadcast":
                answer = after.pending
                event = tracing.Broadcast(me, Identifier(me, after.message_id), asked.payload)
            case "accept":
                event = tracing.Step(me, "accept", number=before.arriving)
            case "sequence":
                number = after.passed or 0
                event = tracing.Step(me, "sequence", numbers.get(number), number)
            case "deliver":
                number = after.last_delivered
                name = numbers[number]
                answer = event = None
                if name is not None:
                    answer = Delivery(*name, number, bodies[name])
                    event = tracing.Deliver(me, name, number, bodies[name])
            case timer:
                event = tracing.Step(me, timer)
        self._same(f"what {asked.action} returns", answer, result)
        events = () if event is None else (event,)
        self._same(f"what the tracer is told of {asked.action}", events, tuple(self._told.events))

    # What a shell sees --------------------------------------------------------------------------------------

    def _busy(self, snapshot: Snapshot) -> None:
        """`busy` refuses a broadcast, which changes nothing (rule 4)."""
        core = self._at(snapshot)
        waits = snapshot.pending is not None
        self._same("busy", waits, core.busy)
        if waits:
            refused = False
            try:
                core.broadcast(PAYLOAD, START_MS)
            except Busy:
                refused = True
            self._same("whether a second broadcast is refused", True, refused)
            self._same("where a refused broadcast leaves it", snapshot, core.snapshot())

    def _settled(self, snapshot: Snapshot) -> _Done:
        """`settle` is all single steps that the process takes of its own accord (rule 2)."""
        wanted = self._until_rest(self._at(snapshot), None)
        self._endpoint.core.restore(snapshot, START_MS)
        self._agree("tick before any deadline", wanted, self._shell(partial(self._endpoint.tick, START_MS)))
        return wanted

    def _deadlines(self, snapshot: Snapshot, waits: list[Timer]) -> None:
        """Deadline after deadline, each timer expires when its time has come, and not before (rule 3)."""
        core, endpoint = self._at(snapshot), self._endpoint
        endpoint.core.restore(snapshot, START_MS)
        running = {timer: (START_MS + INTERVALS_MS[timer], 1) for timer in waits}
        for _ in range(TICKS):
            deadline = min((at for at, _ in running.values()), default=None)
            self._same("next_deadline", deadline, endpoint.next_deadline())
            if deadline is None:
                return
            before = self._shell(partial(endpoint.tick, deadline - 0.5))
            self._same("what tick sends before the deadline", (), before.sends)
            due = [timer for timer in Timer if timer in running and running[timer][0] <= deadline]
            wanted = self._expired(core, due, deadline)
            done = self._shell(partial(endpoint.tick, deadline))
            self._agree(f"tick at the deadline of {', '.join(due)}", wanted, done)
            for timer in due:
                factor = min(2 * running[timer][1], BACKOFF_MAX)
                running[timer] = (deadline + factor * INTERVALS_MS[timer], factor)

    def _late(self, snapshot: Snapshot, waits: list[Timer]) -> None:
        """A shell that comes late, or whose clock jumps, finds every timer due, and lets each expire once."""
        later = START_MS + 2.0**16
        wanted = self._expired(self._at(snapshot), waits, later)
        self._endpoint.core.restore(snapshot, START_MS)
        done = self._shell(partial(self._endpoint.tick, later))
        self._agree("tick long after every deadline", wanted, done)
        first = min((later + 2 * INTERVALS_MS[timer] for timer in waits), default=None)
        self._same("next_deadline after a late tick", first, self._endpoint.next_deadline())

    # One side and the other ---------------------------------------------------------------------------------

    def _at(self, snapshot: Snapshot) -> Core:
        self._core.restore(snapshot, START_MS)
        self._told.events.clear()
        return self._core

    def _admitted(self, gate: wire.Admission[Message], datagram: bytes) -> wire.Envelope[Message]:
        envelope = gate.admit(datagram)
        if isinstance(envelope, wire.Rejected):
            told = f"dropped as {envelope.kind.value}: {envelope.detail}"
            raise Misreports(f"process {self.me}: a member's datagram for process {gate.me}", "let in", told)
        return envelope

    def _expired(self, core: Core, due: list[Timer], now: float) -> _Done:
        for timer in due:
            self._same(f"whether {timer.value} expires", True, core.expire(timer, now))
        return self._until_rest(core, None, now)

    def _until_rest(self, core: Core, result: object, now: float = START_MS) -> _Done:
        """What single steps did so far and do until none is left; a delivery comes before other steps."""
        deliveries: list[Delivery] = []
        while core.deliverable or core.accept(now) or core.sequence(now):
            if core.deliverable and (delivery := core.deliver()) is not None:
                deliveries.append(delivery)
        events, sends = tuple(self._told.events), tuple(core.outputs())
        self._told.events.clear()
        return self._done(result, sends, tuple(deliveries), events, core)

    def _shell(self, call: Callable[[], object]) -> _Done:
        """A call on the endpoint, and all that a shell then takes from it; what it counts is compared."""
        endpoint = self._endpoint
        self._traced.events.clear()
        counted = (endpoint.datagrams.copy(), endpoint.transmissions.copy())
        result = call()
        events = list(self._traced.events)
        deliveries, datagrams = endpoint.deliveries(), endpoint.datagrams_to_send()
        sends = tuple(self._sent(datagrams, self._traced.events[len(events) :]))
        kinds = Counter(MESSAGES.kind(send.message) for send in sends)
        self._same("the count of datagrams", kinds, endpoint.datagrams - counted[0])
        once = Counter(MESSAGES.kind(message) for message in _messages(sends))
        self._same("the count of transmissions", once, endpoint.transmissions - counted[1])
        self._same("what the gate drops", Counter(), endpoint.admission.dropped)
        self._same("violations", Counter(), endpoint.core.violations)
        core = endpoint.core
        assert isinstance(core, Core)
        return self._done(result, sends, tuple(deliveries), tuple(events), core)

    def _sent(self, datagrams: list[Datagram], told: list[tracing.Event]) -> Iterator[Send[Message]]:
        """The messages in the datagrams as their receivers decode them; the tracer was told of each."""
        self._same("how many datagrams the tracer is told of", len(datagrams), len(told))
        for datagram, event in zip(datagrams, told, strict=True):
            peer = self._peers[datagram.to]
            if peer is None:
                raise Misreports(f"process {self.me}: the receiver of a datagram", "another", "itself")
            envelope = self._admitted(peer, datagram.data)
            name = (envelope.sender, envelope.counter)
            kind = MESSAGES.kind(envelope.message)
            wanted = tracing.Send(self.me, name, datagram.to, kind, len(datagram.data))
            self._same("what the tracer is told of a datagram", wanted, event)
            self._same("the sender in a datagram", self.me, envelope.sender)
            yield Send(datagram.to, envelope.message)

    def _done(
        self,
        result: object,
        sends: tuple[Send[Message], ...],
        deliveries: tuple[Delivery, ...],
        events: tuple[tracing.Event, ...],
        core: Core,
    ) -> _Done:
        delivered = tuple(event for event in events if isinstance(event, tracing.Deliver))
        arrived = tuple(event for event in events if isinstance(event, tracing.Receive))
        steps = tuple(event for event in events if event not in delivered and event not in arrived)
        return _Done(result, sends, deliveries, delivered, steps, core.busy, core.snapshot(), arrived)

    def _agree(self, what: str, wanted: _Done, done: _Done) -> None:
        for name, here, there in zip(_Done._fields[:-1], wanted, done, strict=False):
            self._same(f"{name} of {what}", here, there)

    def _same(self, what: str, wanted: object, found: object) -> None:
        if wanted != found:
            raise Misreports(f"process {self.me}: {what}", wanted, found)


def _reception(me: int, envelope: wire.Envelope[Message]) -> tuple[tracing.Event, ...]:
    datagram = (envelope.sender, envelope.counter)
    return (tracing.Receive(me, datagram, MESSAGES.kind(envelope.message)),)


def _messages(sends: Iterable[Send[Message]]) -> Iterator[Message]:
    """The messages sent, those once that go to several receivers in a row."""
    last: Message | None = None
    receivers: set[int] = set()
    for to, message in sends:
        if message != last or to in receivers:
            yield message
            last, receivers = message, set()
        receivers.add(to)
