"""Figure 16 and its implementation speak of the same things by these names.

| paper            | specification `Rbp`       | implementation `Core`         |
|------------------|---------------------------|-------------------------------|
| recvQ_p          | received[p]               | observe()["received"]         |
| seqQ_p           | numbered[p]               | observe()["numbers"]          |
| ts_p             | last_number[p]            | observe()["last_number"]      |
| lastdelivered_p  | last_delivered[p]         | observe()["last_delivered"]   |
| message id_p     | message_id[p]             | observe()["message_id"]       |
| m                | Message(k)                | payload b"k"                  |
| B                | Identifier(Process(i), j) | Identifier(i, j)              |
| in flight        | network, a set of packets | the encoded datagrams         |

A datagram in flight is the bytes that a core's message was encoded to; the decoder reads them when the
specification receives the packet. The specification's packets carry no sender but in requests, so datagrams
of several senders may stand for the same packet. Cores run without back-off at a time that stands still, so
that a snapshot does not count retransmissions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from antiphon.conformance.bindings.binding import Bound, Effect, Misreports, Refused, Stimulus
from antiphon.conformance.bindings.links import Link
from antiphon.conformance.bindings.rbp_driven import driven, single
from antiphon.conformance.bindings.rbp_faults import FAULTS, SIZE_FAULTS
from antiphon.conformance.bindings.shell import Asked, Shell
from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.protocols.rbp import MESSAGES, Core, Observation, Snapshot, Timer
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.impl.tracing import NULL_TRACER
from antiphon.impl.transport import wire
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import Machine, Program, Step, program
from antiphon.spec.protocols.rbp import figure16 as spec
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.services import Broadcast, Deliver, Message, Process

NOW = 0.0
"""The binding's time stands still: the specification decides when a timer expires."""

GROUP = "lockstep"

CODEC = wire.Codec(MESSAGES)


class Recorder:
    """A tracer that keeps the application's events."""

    recording = True

    def __init__(self) -> None:
        self.events: list[object] = []

    def record(self, event: object) -> None:
        """Translate broadcasts and deliveries; the rest is the protocol's own."""
        match event:
            case tracing.Broadcast(process=p, payload=payload):
                self.events.append(Broadcast(Process(p), message_of(payload)))
            case tracing.Deliver(process=p, payload=payload):
                self.events.append(Deliver(Process(p), message_of(payload)))

    def drain(self) -> tuple[object, ...]:
        """The events since the last call."""
        events, self.events = tuple(self.events), []
        return events


def payload_of(message: Message) -> bytes:
    """The payload that stands for a message of the model."""
    return str(message.index).encode()


def message_of(payload: bytes) -> Message:
    """The message of the model that a payload stands for."""
    return Message(int(payload))


def identifier_of(name: tuple[int, int] | None) -> spec.Identifier | None:
    """The specification's B."""
    return None if name is None else spec.Identifier(Process(name[0]), name[1])


class RbpBinding:
    """The repaired figure 16 and the core of `antiphon.impl.protocols.rbp`, or a faulty core by its name."""

    channel = "network"
    links: tuple[Link, ...] = ()

    internal = frozenset({"accept", "sequence", "deliver"})

    exempt: Mapping[str, str] = {
        "catching_up": "repaired, it only repeats that the number of `arriving` was not reached when the "
        "token came",
        "lost": "counts the faults of the network, which is not the implementation's",
        "expired": "counts the timer rounds that the exploration allows",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        self.program: Program = program(RbpBounded, repairs="all", **constants)
        self.members = int(self.program.constants["processes"])
        self.ordered = bool(self.program.constants["urgent"])
        self.restores = 0
        self._driven = driven(Core if fault is None else (FAULTS | SIZE_FAULTS)[fault])
        self._recorder = Recorder()
        self._admissions = [wire.Admission(CODEC, GROUP, me, self.members) for me in range(self.members)]
        self._cores = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._probes = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._shells = [Shell(GROUP, me, self.members, self._driven) for me in range(self.members)]
        self._standing: list[Snapshot | None] = [None] * self.members

    def start(self, me: int) -> Effect:
        """A fresh core."""
        self._cores[me] = self._fresh(me, self._recorder)
        self._cores[me].start(NOW)
        return self._effect(me)

    def stimulus(self, step: Step) -> Stimulus:
        """A packet concerns its receiver, any other step the process that is its first argument."""
        if step.action == "lose":
            return Stimulus(None, step.arguments[0])
        if step.action.startswith("receive_"):
            return Stimulus(step.arguments[0].to.index, step.arguments[0])
        return Stimulus(step.arguments[0].index)

    def perform(self, me: int, snapshot: Snapshot, step: Step, datagram: bytes | None) -> Effect:
        """The step on the core of `me`."""
        core = self._cores[me]
        if self._standing[me] != snapshot:
            core.restore(snapshot, NOW)
            self.restores += 1
        self._standing[me] = None
        try:
            if datagram is not None:
                self._receive(core, datagram)
            else:
                self._act(core, step)
        except Refused:
            raise
        except Exception as crash:
            raise Refused(f"process {me} fails with {type(crash).__name__}: {crash}") from crash
        if core.violations:
            raise Refused(f"process {me} counts a protocol violation: {dict(core.violations)}")
        return self._effect(me)

    def drive(self, me: int, snapshot: Snapshot, step: Step | None, datagram: bytes | None) -> None:
        """The same from this snapshot through an endpoint, as `Shell` says."""
        try:
            if step is None:
                self._shells[me].rest(snapshot, self._waits(me, snapshot))
            else:
                self._shells[me].step(snapshot, _asked(step, datagram))
        except Misreports:
            raise
        except Exception as crash:
            failed = f"fails with {type(crash).__name__}: {crash}"
            raise Misreports(f"process {me}, driven by a shell", "goes on", failed) from crash

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Accept, sequence and deliver, where a core of its own, put to this snapshot, would do it."""
        probe = self._probes[me]
        probe.restore(snapshot, NOW)
        found: set[Step] = set()
        if probe.deliverable:
            view = probe.observe()
            number = view["last_delivered"] + 1
            found.add(
                Step("deliver", (Process(me), spec.Sequenced(identifier_of(view["numbers"][number]), number)))
            )
        for attempt in (probe.accept, probe.sequence):
            if attempt(NOW):
                found.add(Step(attempt.__name__, (Process(me),)))
                probe.restore(snapshot, NOW)
        return frozenset(found)

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the core of `me` shows, in the specification's values."""
        probe = self._probes[me]
        probe.restore(snapshot, NOW)
        view = probe.observe()
        return {
            "received": tuple(_body(name, payload) for name, payload in view["received"]),
            "numbered": frozenset(_sequenced(view, number) for number in view["numbers"]),
            "last_number": view["last_number"],
            "last_delivered": view["last_delivered"],
            "message_id": view["message_id"],
            "pending": None if view["pending"] is None else _body(view["pending"], _payload(view)),
            "arriving": None if view["arriving"] is None else _sequenced(view, view["arriving"]),
            "holding": view["holding"],
            "passed": None if view["passed"] is None else _sequenced(view, view["passed"]),
            "broadcasts": view["message_id"],
        }

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """All processes together have broadcast what each has."""
        assert variable == "broadcasts"
        return sum(shares)

    def _receive(self, core: Core, datagram: bytes) -> None:
        envelope = self._admissions[core.me].admit(datagram)
        if isinstance(envelope, wire.Rejected):
            raise Refused(
                f"process {core.me} drops its peer's datagram as {envelope.kind.value}: {envelope.detail}"
            )
        core.receive(envelope.sender, envelope.message, NOW)

    def _act(self, core: Core, step: Step) -> None:
        asked = _asked(step, None)
        try:
            done, _ = single(core, asked.action, asked.payload, NOW)
        except Busy as busy:
            raise Refused(f"{step.action} is refused: {busy}") from busy
        if not done:
            raise Refused(f"process {core.me} has nothing to do for {step.action}")

    def _fresh(self, me: int, tracer: tracing.Tracer) -> Core:
        core = self._driven.core(me, self.members, 1, tracer)
        assert isinstance(core, Core)
        return core

    def _waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """The timers that the specification would let expire if nothing bounded it."""
        machine = _unbounded(self.members, int(self.program.constants["messages"]))
        (state,) = machine.initial()
        view, values = self.project(me, snapshot), dict(zip(self.program.variables, state, strict=True))
        for name in view.keys() - {"broadcasts"}:  # the others' values decide nothing about its timers
            values[name] = (*values[name][:me], view[name], *values[name][me + 1 :])
        values |= {self.channel: frozenset(), "broadcasts": self.program.constants["messages"]}
        enabled = set(machine.enabled(tuple(values.values())))
        return [timer for timer in Timer if Step(timer.value, (Process(me),)) in enabled]

    def _effect(self, me: int) -> Effect:
        """What the core did since it was last looked at; what it sends is encoded here."""
        core = self._cores[me]
        sent = tuple(
            (packet_of(me, send.to, send.message), CODEC.encode(CODEC.envelope(GROUP, me, 1, send.message)))
            for send in core.outputs()
        )
        after = self._standing[me] = core.snapshot()
        return Effect(after, sent, self._recorder.drain())


def packet_of(sender: int, to: int, message: wire_messages.Message) -> spec.Packet:
    """The specification's packet that a message on its way stands for."""
    receiver = Process(to)
    match message:
        case wire_messages.Data(identifier=name, payload=payload):
            return spec.Data(receiver, _body(name, payload))
        case wire_messages.Ack(identifier=name, number=number, next_holder=holder):
            return spec.Ack(receiver, identifier_of(name), number, Process(holder))
        case wire_messages.Numbered(identifier=name, number=number):
            return spec.Numbered(receiver, identifier_of(name), number)
        case wire_messages.Request(identifier=name):
            return spec.Request(receiver, Process(sender), identifier_of(name))
        case wire_messages.RequestNumbers(first=first, last=last):
            return spec.RequestNumbers(receiver, Process(sender), first, last)


@cache
def _unbounded(processes: int, messages: int) -> Machine:
    """The specification without the bounds that an exploration puts on timers."""
    unbounded = program(RbpBounded, repairs="all", processes=processes, messages=messages, unlimited=True)
    return compiled_machine(unbounded)


def _asked(step: Step, datagram: bytes | None) -> Asked:
    """What the step asks of the core."""
    if step.action == "broadcast":
        return Asked("broadcast", payload=payload_of(step.arguments[1]))
    return Asked(step.action, datagram)


def _body(name: tuple[int, int], payload: bytes) -> spec.Body:
    return spec.Body(message_of(payload), spec.Identifier(Process(name[0]), name[1]))


def _sequenced(view: Observation, number: int) -> spec.Sequenced:
    return spec.Sequenced(identifier_of(view["numbers"].get(number)), number)


def _payload(view: Observation) -> bytes:
    return next(payload for name, payload in view["received"] if name == view["pending"])


RBP = Bound(
    RbpBinding,
    small={"processes": 3, "messages": 1, "losses": 1, "timeouts": 1, "urgent": True},
    random={"processes": 3, "messages": 3, "losses": 1, "timeouts": 1, "urgent": True},
    faults={name: (core.__doc__ or "").partition("\n")[0] for name, core in (FAULTS | SIZE_FAULTS).items()},
)
"""Figure 16."""
