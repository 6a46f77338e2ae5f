"""Common part of all bindings of protocol cores: it runs the core on bytes, at a time that stands still.

A datagram in flight is the bytes that a core's message was encoded to; the decoder reads them when the
specification receives the packet. Cores run without back-off at a time that stands still, so that a snapshot
does not count retransmissions; the specification decides when a timer expires.

A subclass names the protocol and its specification, and says which packet a message is (`packet`) and which
values a snapshot stands for (`project`). The rest goes by convention, and is a method that a subclass may
replace where its protocol differs:

1. What is in flight is in the set `network`, or, where `queues` names a variable, in one queue a pair.
2. A step concerns the process that is its first argument, or that its packet goes to; what it takes from a
   queue was sent by the process that is its second argument.
3. A process offers the internal steps that a second core, put to its snapshot, would take.
4. A timer has to run where the action of its name is enabled, all other processes being in their first state.
5. The settings of a core whose names end in `_ms` are the first waiting times of its timers, in their order.
6. A variable that is no map over processes is the sum of what all processes count.
7. Internal steps of different processes come in one order only where the constant `urgent` is True.

How a core takes a step and what it reports stands in `driven`. This module must not know a protocol.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

from antiphon.conformance.compare.bindings.binding import (
    Bound,
    Effect,
    Misreports,
    Refused,
    Stimulus,
    told_faults,
)
from antiphon.conformance.compare.bindings.driven import Asked, Driven, SteppedCore
from antiphon.conformance.compare.bindings.links import Link, Queue
from antiphon.conformance.compare.bindings.shell import Shell
from antiphon.impl import tracing
from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Implementation, Send
from antiphon.impl.registry import implementation
from antiphon.impl.tracing import NULL_TRACER
from antiphon.impl.transport import wire
from antiphon.model.bounds import Enough
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import Machine, Program, Spec, SpecError, Step, program
from antiphon.spec.lang.types import MapOf
from antiphon.spec.services import Broadcast, Deliver, Message, Process

__all__ = ["GROUP", "NOW", "CoreBinding", "Recorder", "message_of", "payload_of"]

M = TypeVar("M")

NOW = 0.0
"""Present time of the binding, which stands still."""

GROUP = "lockstep"


class Recorder:
    """Tracer that stores the application's events: broadcasts and deliveries."""

    recording = True

    def __init__(self) -> None:
        self.events: list[object] = []

    def record(self, event: object) -> None:
        """Store broadcasts and deliveries as events of the model; ignore events that are internal to the
        protocol.
        """
        match event:
            case tracing.Broadcast(process=p, payload=payload):
                self.events.append(Broadcast(Process(p), message_of(payload)))
            case tracing.Deliver(process=p, payload=payload):
                self.events.append(Deliver(Process(p), message_of(payload)))

    def drain(self) -> tuple[object, ...]:
        """Return the events since the last call."""
        events, self.events = tuple(self.events), []
        return events


def payload_of(message: Message) -> bytes:
    """Return the payload that stands for a message of the model."""
    return str(message.index).encode()


def message_of(payload: bytes) -> Message:
    """Return the message of the model that a payload stands for."""
    return Message(int(payload))


class CoreBinding(Driven[M]):
    """Binding of a specification's program to the cores of a protocol; `Binding` documents the methods.

    Attributes:
        protocol: the name of the implementation (`antiphon.impl.registry`).
        specification: the specification that it is compared with, within bounds.
        repairs: the repairs that the core makes.
        chosen: constants of the specification in place of its defaults; the caller may choose others.
        fixed: constants that the caller may not change: the core is compared with these values alone.
        faults: the planted faults, each a class of cores, by name.
        queues: the variable of the specification that has a queue for every pair of processes, if there is
            one; then nothing is in a set.
    """

    protocol: str
    specification: type[Spec]
    repairs: tuple[str, ...] | str = ()
    chosen: Mapping[str, int | bool | str] = {}
    fixed: Mapping[str, int | bool | str] = {}
    faults: Mapping[str, type[Any]] = {}
    queues: str = ""
    channel = "network"
    links: tuple[Link, ...] = ()
    exempt: Mapping[str, str] = {}

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the program with these constants, and cores, those of a planted fault if it is named.

        Raises:
            SpecError: the specification has no such constant, or the core is not compared with it.
        """
        self.program = program(
            self.specification, repairs=self.repairs, **{**self.fixed, **self.chosen, **constants}
        )
        for name, value in self.fixed.items():
            if (asked := self.program.constants[name]) != value:
                told = f"{name} is {asked}; this core is compared where it is {value}"
                raise SpecError(f"{told}: leave {name} out")
        self.kind = None if fault is None else self.faults[fault]
        self.members = int(self.program.constants["processes"])
        self.ordered = bool(self.program.constants.get("urgent", False))
        self.restores = 0
        if self.queues:
            self.channel, everybody = "", range(self.members)
            self.links = tuple(Queue(self.queues, s, p) for s in everybody for p in everybody)
        self.messages = implementation(self.protocol).messages
        self.codec = wire.Codec(self.messages)
        self._recorder = Recorder()
        self._admissions = [wire.Admission(self.codec, GROUP, me, self.members) for me in range(self.members)]
        self._cores = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._probes = [self._fresh(me, NULL_TRACER) for me in range(self.members)]
        self._shells = [Shell(GROUP, me, self.members, self) for me in range(self.members)]
        self._standing: list[Hashable] = [None] * self.members

    @classmethod
    def bound(
        cls,
        *,
        small: Mapping[str, int | bool],
        random: Mapping[str, int | bool],
        every: Mapping[str, int | bool] | None = None,
        never: Iterable[str] = (),
    ) -> Bound:
        """Return the catalogue's entry for this binding, with its planted faults and the implementation as
        groups run it. `Bound` explains the arguments.
        """

        def made(fault: str | None) -> Implementation[Any]:
            return implementation(cls.protocol, **({} if fault is None else {"kind": cls.faults[fault]}))

        return Bound(cls, small, every or {}, random, told_faults(cls.faults), made, frozenset(never))

    # What a subclass says -----------------------------------------------------------------------------------

    @abstractmethod
    def packet(self, sender: int, to: int, message: M) -> object:
        """Return the specification's packet for a message in flight."""

    @abstractmethod
    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the state of the core of `me` in the specification's values."""

    # What goes by convention --------------------------------------------------------------------------------

    def sizes(self) -> Mapping[str, object]:
        """Return the core's settings that differ from the defaults, without its waiting times."""
        return {}

    def core(self, me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[M]:
        """Return a core with the waiting times of `intervals_ms`, and this bound of its back-off."""
        made = implementation(self.protocol).settings
        fields = () if made is None else made.__struct_fields__
        times = [name for name in fields if name.endswith("_ms")]
        settings: dict[str, Any] = dict(zip(times, self.intervals_ms.values(), strict=True))
        if "backoff_max" in fields:
            settings["backoff_max"] = backoff_max
        return self.made({**settings, **self.sizes()}, me, members, tracer)

    def made(
        self, settings: Mapping[str, Any], me: int, members: int, tracer: tracing.Tracer
    ) -> SteppedCore[M]:
        """Return a core with these settings, a faulty one where a fault is planted."""
        kind: dict[str, Any] = {} if self.kind is None else {"kind": self.kind}
        core: Any = implementation(self.protocol, **kind, **settings).core(me, members, tracer)
        found: SteppedCore[M] = core
        return found

    def broadcasts(self, me: int, snapshot: Any) -> int:
        """Return the number of messages that the process has broadcast."""
        count: Any = self.project(me, snapshot)["broadcasts"]
        return int(count)

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Return the internal steps that the process would take in the state of a snapshot."""
        found: set[Step] = set()
        probe = self.probe(me, snapshot)
        for action in self.internal:
            took, _ = self.single(probe, action, b"", NOW)
            if took:
                step = self.offered(me, snapshot, probe, action)
                found.update(() if step is None else (step,))
                probe.restore(snapshot, NOW)
        return frozenset(found)

    def offered(self, me: int, snapshot: Any, probe: Any, action: str) -> Step | None:
        """Return the specification's step for an action that `probe` has just taken from this snapshot; None
        if the bounds of the exploration exclude it.
        """
        del snapshot, probe
        return Step(action, (Process(me),))

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable that is no map over processes: the sum of the shares."""
        del variable
        return sum(shares)

    def waits(self, me: int, snapshot: Any) -> Iterable[Any]:
        """Return the timers that the specification, without bounds on its timers, would let expire."""
        if not self.intervals_ms:
            return ()
        enabled = {step.action for step in self.enabled(me, self.project(me, snapshot))}
        return [timer for timer in self.intervals_ms if timer in enabled]

    def unbounded(self) -> Program:
        """Return the specification without bounds on its timers; by default the program itself."""
        return self.program

    @cached_property
    def _timing(self) -> Machine:
        return compiled_machine(self.unbounded())

    def enabled(
        self, me: int, view: Mapping[str, object], whole: Mapping[str, object] = MappingProxyType({})
    ) -> list[Step]:
        """Return the enabled steps of `me` in a state with these values of its variables: every message was
        broadcast, nothing is in flight, and the other processes are in their initial state. `whole` are
        values of variables that are no maps over processes.
        """
        (state,) = self._timing.initial()
        values: dict[str, Any] = dict(zip(self.program.variables, state, strict=True))
        for name, value in view.items():
            if isinstance(self.program.domains[name].type, MapOf):
                values[name] = (*values[name][:me], value, *values[name][me + 1 :])
        if "broadcasts" in values:
            values["broadcasts"] = int(self.program.constants["messages"])
        if self.channel:
            values[self.channel] = frozenset()
        values |= whole
        enabled = self._timing.enabled(tuple(values.values()))
        return [step for step in enabled if step.arguments and step.arguments[0] == Process(me)]

    # What `Binding` asks ------------------------------------------------------------------------------------

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`: the snapshot of a fresh core."""
        self._cores[me] = self._fresh(me, self._recorder)
        self._cores[me].start(NOW)
        return self._effect(me)

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that a step concerns: the receiver of its packet, else the
        process that is its first argument.
        """
        match step.arguments:
            case (Process(index=me), Process(index=sender)) if self.queues:
                return Stimulus(me, link=Queue(self.queues, sender, me))
            case (Process(index=me), *_):
                return Stimulus(me)
        packet: Any = step.arguments[0]
        return Stimulus(None if step.action == "lose" else packet.to.index, packet)

    def perform(self, me: int, snapshot: Hashable, step: Step, datagram: bytes | None) -> Effect:
        """Take the step in the core of `me`, set to a snapshot; return the effect."""
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
        """Drive the step from this snapshot through an endpoint, as `Shell` does."""
        try:
            if step is None:
                self._shells[me].rest(snapshot, self.waits(me, snapshot))
            else:
                self._shells[me].step(snapshot, self.asked(step, datagram))
        except (Misreports, Enough):
            raise
        except Exception as crash:
            failed = f"fails with {type(crash).__name__}: {crash}"
            raise Misreports(f"process {me}, driven by a shell", "goes on", failed) from crash

    # Helpers ------------------------------------------------------------------------------------------------

    def probe(self, me: int, snapshot: Hashable) -> Any:
        """Return a separate core, set to this snapshot, so that queries change no other core."""
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
            done, _ = self.single(core, asked.action, asked.payload, NOW)
        except Busy as busy:
            raise Refused(f"{step.action} is refused: {busy}") from busy
        if not done:
            raise Refused(f"process {core.me} has nothing to do for {step.action}")

    def asked(self, step: Step, datagram: bytes | None) -> Asked:
        """Return what the step asks of the core: the action's name, with a datagram or a payload."""
        message = next((given for given in step.arguments if isinstance(given, Message)), None)
        if datagram is None and message is not None and step.action in SENDING:
            return Asked("broadcast", payload=payload_of(message))
        return Asked(step.action, datagram)

    def _fresh(self, me: int, tracer: tracing.Tracer) -> SteppedCore[M]:
        return self.core(me, self.members, 1, tracer)

    def _effect(self, me: int) -> Effect:
        """Return the effect on the core of `me` since the last effect; encode its messages."""
        core = self._cores[me]
        core.deliveries()
        outputs = core.outputs()
        after = self._standing[me] = core.snapshot()
        sent, queued = tuple(self.sent(me, outputs)), tuple(self.queued(me, outputs))
        return Effect(after, sent, self._recorder.drain(), queued)

    def sent(self, me: int, sends: list[Send[M]]) -> Iterable[tuple[object, bytes]]:
        """Return the sent packets that go into the set of packets in flight: all, or none if the
        specification has queues.
        """
        if not self.channel:
            return ()
        return ((self.packet(me, to, message), self.encoded(me, message)) for to, message in sends)

    def queued(self, me: int, sends: list[Send[M]]) -> Iterable[tuple[Link, object, bytes]]:
        """Return the sent packets that go into queues, in order: all, or none if the specification has a
        set.
        """
        if not self.queues:
            return ()
        return (
            (Queue(self.queues, me, to), self.packet(me, to, message), self.encoded(me, message))
            for to, message in sends
        )

    def encoded(self, me: int, message: M) -> bytes:
        """Return the datagram of a message from `me`; its counter is always 1, as a walk counts no
        datagrams.
        """
        return self.codec.encode(self.codec.envelope(GROUP, me, 1, message))


SENDING = frozenset({"broadcast", "send"})
"""Names of an application's broadcast in the specifications."""
