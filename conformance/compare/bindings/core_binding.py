"""What every binding of a protocol core does: it runs the core on bytes, at a time that stands still.

A datagram in flight is the bytes that a core's message was encoded to; the decoder reads them when the
specification receives the packet. Cores run without back-off at a time that stands still, so that a snapshot
does not count retransmissions; the specification decides when a timer expires.

This module must not know a protocol; a subclass says what its packets, steps and variables are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from antiphon.conformance.compare.bindings.binding import Effect, Misreports, Refused, Stimulus
from antiphon.conformance.compare.bindings.links import Link
from antiphon.conformance.compare.bindings.shell import Asked, Driven, Shell, SteppedCore
from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Delivery, ProtocolCore, Send
from antiphon.impl.tracing import NULL_TRACER
from antiphon.impl.transport import wire
from antiphon.spec.lang import Program, Step
from antiphon.spec.services import Broadcast, Deliver, Message, Process

__all__ = ["GROUP", "NOW", "CoreBinding", "Recorder", "message_of", "payload_of", "settled"]

M = TypeVar("M")

NOW = 0.0
"""The binding's time stands still."""

GROUP = "lockstep"


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


def settled(core: ProtocolCore[Any], now: float = NOW) -> list[Delivery]:
    """`rest` and `rested` of a core whose deliveries come out when it settles."""
    return core.settle(now)


class CoreBinding(ABC, Generic[M]):
    """A specification's program and the cores of a protocol, as `Binding` asks for them."""

    channel = "network"
    links: tuple[Link, ...] = ()
    internal: frozenset[str]
    exempt: Mapping[str, str]

    def __init__(self, program: Program, driven: Driven[M], *, ordered: bool = False) -> None:
        self.program = program
        self.members = int(program.constants["processes"])
        self.ordered = ordered
        self.restores = 0
        self.driven = driven
        self.codec = wire.Codec(driven.messages)
        self._recorder = Recorder()
        self._admissions = [wire.Admission(self.codec, GROUP, me, self.members) for me in range(self.members)]
        self._cores = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._probes = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._shells = [Shell(GROUP, me, self.members, driven) for me in range(self.members)]
        self._standing: list[Hashable] = [None] * self.members

    # What a subclass says -----------------------------------------------------------------------------------

    @abstractmethod
    def packet(self, sender: int, to: int, message: M) -> object:
        """The specification's packet that a message on its way stands for."""

    @abstractmethod
    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """The internal steps that the process would take now."""

    @abstractmethod
    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """What the core of `me` shows, in the specification's values."""

    @abstractmethod
    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """The value of a variable that is no map over processes, from the shares of all."""

    @abstractmethod
    def waits(self, me: int, snapshot: Any) -> Iterable[Any]:
        """The timers that the specification would let expire if nothing bounded it."""

    # What `Binding` asks ------------------------------------------------------------------------------------

    def start(self, me: int) -> Effect:
        """A fresh core."""
        self._cores[me] = self._fresh(me, self._recorder)
        self._cores[me].start(NOW)
        return self._effect(me)

    def stimulus(self, step: Step) -> Stimulus:
        """A packet concerns its receiver, any other step the process that is its first argument."""
        first: Any = step.arguments[0]
        if step.action == "lose":
            return Stimulus(None, first)
        if isinstance(first, Process):
            return Stimulus(first.index)
        return Stimulus(first.to.index, first)

    def perform(self, me: int, snapshot: Hashable, step: Step, datagram: bytes | None) -> Effect:
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

    def drive(self, me: int, snapshot: Hashable, step: Step | None, datagram: bytes | None) -> None:
        """The same from this snapshot through an endpoint, as `Shell` says."""
        try:
            if step is None:
                self._shells[me].rest(snapshot, self.waits(me, snapshot))
            else:
                self._shells[me].step(snapshot, self.asked(step, datagram))
        except Misreports:
            raise
        except Exception as crash:
            failed = f"fails with {type(crash).__name__}: {crash}"
            raise Misreports(f"process {me}, driven by a shell", "goes on", failed) from crash

    # Helpers ------------------------------------------------------------------------------------------------

    def probe(self, me: int, snapshot: Hashable) -> Any:
        """A core of its own, put to this snapshot, to be asked."""
        core = self._probes[me]
        core.restore(snapshot, NOW)
        return core

    def _receive(self, core: SteppedCore[M], datagram: bytes) -> None:
        envelope = self._admissions[core.me].admit(datagram)
        if isinstance(envelope, wire.Rejected):
            raise Refused(
                f"process {core.me} drops its peer's datagram as {envelope.kind.value}: {envelope.detail}"
            )
        core.receive(envelope.sender, envelope.message, NOW)

    def _act(self, core: SteppedCore[M], step: Step) -> None:
        asked = self.asked(step, None)
        try:
            done, _ = self.driven.single(core, asked.action, asked.payload, NOW)
        except Busy as busy:
            raise Refused(f"{step.action} is refused: {busy}") from busy
        if not done:
            raise Refused(f"process {core.me} has nothing to do for {step.action}")

    def asked(self, step: Step, datagram: bytes | None) -> Asked:
        """What the step asks of the core."""
        message = next((given for given in step.arguments if isinstance(given, Message)), None)
        if datagram is None and message is not None and step.action in SENDING:
            return Asked("broadcast", payload=payload_of(message))
        return Asked(step.action, datagram)

    def _fresh(self, me: int, tracer: tracing.Tracer) -> SteppedCore[M]:
        return self.driven.core(me, self.members, 1, tracer)

    def _effect(self, me: int) -> Effect:
        """What the core did since it was last looked at; what it sends is encoded here."""
        core = self._cores[me]
        self.driven.rested(core)
        outputs = core.outputs()
        after = self._standing[me] = core.snapshot()
        sent, queued = tuple(self.sent(me, outputs)), tuple(self.queued(me, outputs))
        return Effect(after, sent, self._recorder.drain(), queued)

    def sent(self, me: int, sends: list[Send[M]]) -> Iterable[tuple[object, bytes]]:
        """What goes into the set of packets: all, unless a subclass says otherwise."""
        return ((self.packet(me, to, message), self.encoded(me, message)) for to, message in sends)

    def queued(self, me: int, sends: list[Send[M]]) -> Iterable[tuple[Link, object, bytes]]:
        """What goes into links, in order: nothing, unless a subclass says otherwise."""
        del me, sends
        return ()

    def encoded(self, me: int, message: M) -> bytes:
        """The datagram of a message, as every one of them is named: a walk does not count."""
        return self.codec.encode(self.codec.envelope(GROUP, me, 1, message))


SENDING = frozenset({"broadcast", "send"})
"""What an application's broadcast is called in the specifications."""
