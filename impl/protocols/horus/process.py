"""A stack of layers is a core like any other: an application on top, the network below, and one clock.

Rules of this file:
1. No clock, socket, randomness or thread: `now` comes in, messages and deliveries go out as data.
2. A call goes down or up through the layers in one step, and no layer waits. `settle` only hands over what
   came up.
3. A layer's timer runs exactly while the layer lists it; a layer knows no time itself.
4. A header that a layer cannot read is counted in `violations`, and changes nothing.
5. The layers bound their state: a member is busy while one of them is full.

A message needs no identifier in it: casts of one member come up in their order, and all of them, so that they
are counted here.

| paper                            | here                                                           |
|----------------------------------|----------------------------------------------------------------|
| the stack TOTAL:MBRSHIP:FRAG:... | `Settings.stack`; `calculus` says which are well-formed        |
| downcalls, upcalls               | `down`, `up` of `layer.Layer`                                  |
| what is said of a layer          | the table at the head of its own file                          |

Repairs: AWAIT_ROOM in NAK. The files of FRAG and TOTAL say why their repairs are not needed here.

Source: R. van Renesse, K. Birman, R. Friedman, M. Hayden, D. Karr, "A framework for protocol composition in
Horus", 1995.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

from msgspec import Struct

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, Violation
from antiphon.impl.protocols.base import TimedCore
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    PAYLOAD_BYTES_MAX,
    Delivery,
    Identifier,
    Send,
    Wait,
    payload_copy,
    standing,
)
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.protocols.horus.calculus import ORDERED, STACK, parsed, properties
from antiphon.impl.protocols.horus.layers.com import Com
from antiphon.impl.protocols.horus.layers.frag import Frag
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive
from antiphon.impl.protocols.horus.layers.layer import Timer as LayerTimer
from antiphon.impl.protocols.horus.layers.mbrship import Mbrship
from antiphon.impl.protocols.horus.layers.nak import ASK, TELL, Nak
from antiphon.impl.protocols.horus.layers.total import PASS, Total
from antiphon.impl.protocols.horus.messages import HEADER_BYTES_MAX, Frame, HorusViolation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["DEFAULTS", "Core", "Settings", "Snapshot", "made", "timer"]


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a stack: its layers, its sizes, and first waiting times, which double up to a bound.

    All members of a group have the same stack and sizes.
    """

    stack: str = STACK
    """Names of the layers, top first; the stack has to be well-formed (`calculus.flaw`)."""
    buffer: int = 64
    """Number of own casts that a member keeps for members that lack them; also its window."""
    fragment_bytes: int = 32_768
    """Largest size of what FRAG hands down in one piece."""
    rest_ms: float = 5.0
    """Milliseconds that TOTAL's token stays with each member."""
    tell_ms: float = 10.0
    """Milliseconds that NAK waits before it sends its status."""
    ask_ms: float = 10.0
    """Milliseconds that NAK waits for a late message before it asks for it again."""
    backoff_max: int = 8
    """Largest multiple of the first waiting times."""


DEFAULTS = Settings()
"""The stack of the paper."""


def timer(level: int, name: str, of: int) -> str:
    """Return the name of a timer: the level of its layer (0 is the lowest), the layer's name for it, and the
    member that it concerns.
    """
    return f"{level} {name} {of}"


class Snapshot(NamedTuple):
    """The whole state of a stack, immutable and canonical: the layers' from the bottom, and the rest."""

    layers: tuple[Hashable, ...]
    last_id: int
    ids: tuple[int, ...]
    delivered: int
    timers: tuple[tuple[str, float, int], ...]
    outputs: tuple[Send[Frame], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(TimedCore[Frame, str]):
    """Process `me` of the members; `antiphon.impl.protocols.core` tells a shell how to use it."""

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with nothing cast.

        Raises:
            IllFormedStack: a layer is unknown.
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: a size or a waiting time is not positive, or a fragment does not fit a datagram.
        """
        super().__init__(me, members, tracer)
        self.stack = stack = parsed(settings.stack)
        self._own_comes_up = ORDERED in properties(stack)
        self._last_id = 0
        self._ids = [0] * members
        self._delivered = 0
        self._layers = self._made(settings)
        self._link()
        self._waiting: dict[str, int] = {}
        intervals_ms = {ASK: settings.ask_ms, TELL: settings.tell_ms, PASS: settings.rest_ms}
        self._timers = {
            timer(level, name, process): (layer, LayerTimer(name, process))
            for level, layer in enumerate(self._layers)
            for name in layer.intervals
            for process in range(members)
        }
        self._deadlines = Deadlines(
            {name: intervals_ms[of.name] for name, (_, of) in self._timers.items()}, settings.backoff_max
        )

    def _made(self, settings: Settings) -> list[Layer]:
        """Make the layers, the lowest first."""
        return [made(name, self.me, self.members, self.stack, settings) for name in reversed(self.stack)]

    def _link(self) -> None:
        """Connect the layers with their neighbours, the network below and the application above."""
        for below, above in zip(self._layers, self._layers[1:], strict=False):
            below.above, above.below = above.up, below.down
        self._layers[0].below, self._layers[-1].above = self._transmit, self._deliver
        for layer in self._layers:
            layer.violated = self._refused

    def start(self, now: float) -> None:
        """Take part; the first token holder begins to wait."""
        self._now = now
        self._watch()

    # The application --------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if a layer is full."""
        return any(layer.full for layer in self._layers)

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Cast a message.

        Raises:
            Busy: a layer is full.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        if NATURAL_MAX in (self._last_id, self._delivered):
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            raise Busy(f"{' and '.join(self._full())} full; broadcast again when `busy` is false")
        self._now = now
        self._last_id += 1
        identifier = Identifier(self.me, self._last_id)
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        self._layers[-1].down(Cast(payload))
        if not self._own_comes_up:
            self._deliver(Receive(self.me, payload))
        self._watch()
        return identifier

    def _full(self) -> list[str]:
        """Return the names of the layers that are full, the lowest first."""
        return [name for name, layer in zip(self.stack[::-1], self._layers, strict=True) if layer.full]

    def _deliver(self, call: Receive) -> None:
        """Deliver a payload that comes up: the next message of its origin."""
        source, payload = call
        self._ids[source] += 1
        self._delivered += 1
        identifier = Identifier(source, self._ids[source])
        self._deliveries.append(Delivery(*identifier, self._delivered, payload))
        if self._tracer.recording:
            self._tracer.record(tracing.Deliver(self.me, identifier, self._delivered, payload))

    # The network ------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: Frame, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        self._layers[0].up(Receive(sender, message.body))
        self._watch()

    def _transmit(self, call: Down) -> None:
        """Queue a message of the lowest layer for its receivers; equal messages in a row are one object."""
        receivers = self._others if isinstance(call, Cast) else (call.to,)
        last = self._outputs[-1] if self._outputs else None
        again = last is not None and last.to < receivers[0] and last.message.body == call.body
        frame = last.message if last is not None and again else Frame(call.body)
        self._outputs += [Send(process, frame) for process in receivers]

    def _refused(self, kind: HorusViolation, sender: int) -> None:
        self._violated(kind, sender, kind.value)

    # Time -------------------------------------------------------------------------------------------------

    def expire(self, name: str, now: float) -> bool:
        """Run the action of the timer of this name, whatever its deadline; return False if the timer does not
        run.
        """
        self._now = now
        layer, waiting = self._timers[name]
        if waiting not in layer.timers():
            return False
        if self._tracer.recording:
            self._tracer.record(tracing.Step(self.me, waiting.name))
        layer.expire(waiting)
        self._deadlines.put_off(name, now)
        self._watch()
        return True

    def _watch(self) -> None:
        """Run exactly the timers that the layers list; progress of a layer makes its timer ring sooner."""
        before, self._waiting = self._waiting, self._all_waiting()
        for name in before.keys() - self._waiting.keys():
            self._deadlines.stop(name)
        for name, mark in self._waiting.items():
            if before.get(name, mark) != mark:
                self._deadlines.hasten(name, self._now)
            self._deadlines.start(name, self._now)

    def _all_waiting(self) -> dict[str, int]:
        """Return the running timers of all layers by name, each with the number that its layer gives."""
        return {
            timer(level, of.name, of.of): mark
            for level, layer in enumerate(self._layers)
            if layer.intervals
            for of, mark in layer.timers().items()
        }

    # Looking at a core from outside -----------------------------------------------------------------------

    def __repr__(self) -> str:
        full = "".join(f", {layer} full" for layer in self._full())
        told = f"{':'.join(self.stack)}, broadcast {self._last_id}, delivered {self._delivered}{full}"
        return f"<horus: {told}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Measure of progress: broadcasts, deliveries, and the progress of each layer."""
        return self._last_id + self._delivered + sum(layer.progress for layer in self._layers)

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that each layer waits for, the highest layer first, with the layer's name."""
        named = zip(self.stack, reversed(self._layers), strict=True)
        return tuple(
            Wait(f"{name}'s {wait.what}", wait.of) for name, layer in named for wait in layer.waits()
        )

    def snapshot(self) -> Snapshot:
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return Snapshot(
            tuple(layer.snapshot() for layer in self._layers),
            self._last_id,
            tuple(self._ids),
            self._delivered,
            self._deadlines.relative(self._now),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        self._now = now
        for layer, taken in zip(self._layers, snapshot.layers, strict=True):
            layer.restore(taken)
        self._last_id, self._ids, self._delivered = snapshot.last_id, list(snapshot.ids), snapshot.delivered
        self._deadlines.resume(snapshot.timers, now)
        self._waiting = self._all_waiting() if snapshot.timers else {}
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))


def made(name: str, me: int, members: int, stack: tuple[str, ...], settings: Settings) -> Layer:
    """Return the layer of this name. Raises ValueError: a size does not fit."""
    headers = HEADER_BYTES_MAX * len(stack)
    if not 1 <= settings.fragment_bytes <= PAYLOAD_BYTES_MAX - headers:
        told = f"fragment_bytes is {settings.fragment_bytes}; with the headers of {len(stack)} layers"
        raise ValueError(f"{told} it is at least 1 and at most {PAYLOAD_BYTES_MAX - headers}")
    makers: dict[str, Any] = {
        "COM": lambda: Com(me, members),
        "NAK": lambda: Nak(me, members, settings.buffer),
        "FRAG": lambda: Frag(me, members, settings.fragment_bytes, PAYLOAD_BYTES_MAX + headers),
        "MBRSHIP": lambda: Mbrship(me, members),
        "TOTAL": lambda: Total(me, members),
    }
    layer: Layer = makers[name]()
    return layer
