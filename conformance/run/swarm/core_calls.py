"""Record of the members' deeds in a run, in their order: the calls to cores, and the messages that they sent.

A run is taken as `run_seed` takes it; its cores are wrapped and its tracer listens, and neither changes what
happens. A message is named as its datagram is, by sender, counter and receiver, also where layers put several
into one frame. This module knows no protocol and no specification.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from antiphon.conformance.run.swarm.chance import draw
from antiphon.conformance.run.swarm.running import Ending, run
from antiphon.conformance.run.swarm.settings import Settings
from antiphon.conformance.run.swarm.swarm import core_of
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier, Implementation, ProtocolCore, Send

__all__ = ["Broadcasts", "Deed", "Receives", "Rests", "Sends", "Steps", "core_calls_of"]

Sent = tuple[int, int, int]
"""Name of a message on its way: sender, the sender's own count of its messages, receiver."""


@dataclass(frozen=True, slots=True)
class Broadcasts:
    """Deed: the core of a process takes a payload, which may be a batch of several messages."""

    process: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Sends:
    """Deed: a message is sent; `arrives` is the number of its arrivals before the run was over."""

    process: int
    name: Sent
    message: Any
    arrives: int = 0


@dataclass(frozen=True, slots=True)
class Receives:
    """Deed: the core of a process takes a message of another."""

    process: int
    name: Sent
    message: Any


@dataclass(frozen=True, slots=True)
class Steps:
    """Deed: the core of a process takes an internal step, delivers (`deliver`), or a timer expires."""

    process: int
    action: str


@dataclass(frozen=True, slots=True)
class Rests:
    """Deed: the core of a process has taken all its possible steps, and has this snapshot."""

    process: int
    snapshot: Hashable


Deed = Broadcasts | Sends | Receives | Steps | Rests


def core_calls_of(core: str, seed: int, settings: Settings) -> tuple[Ending, list[Deed]]:
    """Take the run that a seed draws, with recorders around its cores; return its final state and the
    members' deeds.

    Raises:
        SpecError: as `core_of`.
    """
    implementation = core_of(core, settings.planted)
    _, drawn, weather = draw(seed, settings, implementation)
    recorder = _Recorder()
    ending = run(recorder.around(implementation), drawn, weather, settings, tracer=recorder)
    return ending, recorder.finished()


class _Recorder:
    """Tracer of the endpoints of a run, which also records the calls to their cores."""

    recording = True

    def __init__(self) -> None:
        self.deeds: list[Deed] = []
        self._leaving: dict[int, deque[Any]] = {}
        self._arriving: Sent | None = None
        self._arrived: dict[Sent, int] = {}

    def around(self, implementation: Implementation[Any]) -> Implementation[Any]:
        """Return the implementation with cores that record their calls."""

        def made(me: int, members: int, _: tracing.Tracer) -> ProtocolCore[Any]:
            return _Told(self, implementation.core(me, members, _Own(self.deeds)))

        resilient = implementation.resilient
        again = None if resilient is None else lambda holders: self.around(resilient(holders))
        return implementation._replace(core=made, resilient=again)

    def record(self, event: tracing.Event) -> None:
        """Record an event of an endpoint."""
        match event:
            case tracing.Send(process=me, datagram=(_, counter), to=to):
                receiver, message = self._leaving[me].popleft()
                assert receiver == to, f"process {me} was to send to {receiver}, and sends to {to}"
                self.deeds.append(Sends(me, (me, counter, to), message))
            case tracing.Receive(process=me, datagram=(sender, counter)):
                self._arriving = (sender, counter, me)

    def received(self, me: int, message: Any) -> None:
        """Record that a core receives the message of the event that `record` got last."""
        name = self._arriving
        assert name is not None
        self._arrived[name] = self._arrived.get(name, 0) + 1
        self.deeds.append(Receives(me, name, message))

    def rests(self, me: int, snapshot: Hashable, sends: list[Send[Any]]) -> None:
        """Record the snapshot of a core that has taken all its possible steps, and the messages that it
        sends.
        """
        self.deeds.append(Rests(me, snapshot))
        self._leaving[me] = deque(sends)

    def finished(self) -> list[Deed]:
        """Return all deeds of the run. Each sent message has its number of arrivals now."""
        return [
            Sends(deed.process, deed.name, deed.message, self._arrived.get(deed.name, 0))
            if isinstance(deed, Sends)
            else deed
            for deed in self.deeds
        ]


class _Own:
    """Tracer of a core, which records its internal steps."""

    recording = True

    def __init__(self, deeds: list[Deed]) -> None:
        self._deeds = deeds

    def record(self, event: tracing.Event) -> None:
        """Record an event of the core."""
        match event:
            case tracing.Step(process=me, action=action):
                self._deeds.append(Steps(me, action))
            case tracing.Deliver(process=me):
                self._deeds.append(Steps(me, "deliver"))


class _Told:
    """Wrapper of a core that records its calls and passes them on."""

    def __init__(self, recorder: _Recorder, core: ProtocolCore[Any]) -> None:
        self._recorder, self._core = recorder, core

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Broadcast a payload through the core; record the call unless the core raises."""
        at = len(self._recorder.deeds)
        identifier = self._core.broadcast(payload, now)
        self._recorder.deeds.insert(at, Broadcasts(self._core.me, bytes(payload)))
        return identifier

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Record that the core gets a message, and pass the message to the core."""
        self._recorder.received(self._core.me, message)
        self._core.receive(sender, message, now)

    def outputs(self) -> list[Send[Any]]:
        """Return the messages that the core sends, and record them with the core's snapshot."""
        sends = self._core.outputs()
        self._recorder.rests(self._core.me, self._core.snapshot(), sends)
        return sends
