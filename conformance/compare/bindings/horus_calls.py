"""Calls between the layers of a stack, recorded as the events that the specification's layers emit.

A stack links its layers in `_link`; here every link reports a call to a recorder before making it. The
content of calls is read as bytes, by the layers' own headers. This module must not change the effects of a
layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from antiphon.conformance.compare.bindings.binding import Refused
from antiphon.conformance.compare.bindings.core_binding import Recorder, message_of
from antiphon.impl.protocols.horus import Core
from antiphon.impl.protocols.horus.layers import nak as layer
from antiphon.impl.protocols.horus.layers import total
from antiphon.impl.protocols.horus.layers.layer import Cast
from antiphon.impl.protocols.horus.layers.mbrship import VIEW, InView
from antiphon.spec.protocols.horus import boundaries as spec
from antiphon.spec.protocols.horus import group
from antiphon.spec.services import Process

__all__ = ["NAK_LEVEL", "Calls", "body_of", "fragmented", "header_of", "in_view", "observed", "waiting_of"]

NAK_LEVEL = 1
"""Place of NAK in a stack, from the bottom; COM is at 0."""


class Calls(Recorder):
    """Recorder of the calls between layers. A payload is a message's number in decimal; without TOTAL each
    sender has every `senders`-th number. A numbered message of TOTAL consists of `fragments` fragments, a
    token of one.
    """

    def __init__(self, senders: int, fragments: int) -> None:
        super().__init__()
        self.senders, self.fragments = senders, fragments

    def unit(self, origin: Process, payload: bytes) -> spec.Unit | None:
        """Return the specification's unit for a payload that was put together from fragments; None if the
        payload is no message.
        """
        return spec.Unit(origin, int(payload) // self.senders + 1) if payload.isdigit() else None


def header_of(source: Process, body: bytes) -> spec.Header:
    """Return the specification's header for a message of NAK from this source."""
    header: layer.Header = msgspec.msgpack.decode(body, type=layer.Header)
    match header:
        case layer.Data(place=place):
            return spec.Data(spec.Unit(source, place))
        case layer.PlaceHolder(place=place):
            return spec.PlaceHolder(place)
        case layer.Negative(place=place):
            return spec.Negative(place)
        case layer.Status(received=received, sent=sent):
            return spec.Status(received, sent)


def body_of(body: bytes) -> group.Body:
    """Return the specification's body for a message of TOTAL."""
    header: total.Ordered | total.Token = msgspec.msgpack.decode(body, type=total.Ordered | total.Token)
    if isinstance(header, total.Token):
        return group.Token(Process(header.to), header.number)
    return group.Ordered(message_of(header.body), header.number)


def in_view(body: bytes) -> bytes:
    """Return the body of a message of MBRSHIP in the only view. Raise Refused for a message of another
    view.
    """
    header = msgspec.msgpack.decode(body, type=InView)
    if header.view != VIEW:
        raise Refused(f"a message of view {header.view}, while the view {VIEW} stays")
    return header.body


def fragmented(units: int, messages: int, fragments: int) -> int:
    """Return the number of FRAG's messages in so many units, of which `messages` are fragmented messages of
    TOTAL; the other units are tokens of one fragment.
    """
    return units - (fragments - 1) * messages


def waiting_of(snapshot: Any, origin: int) -> int:
    """Return the number of a member's messages that wait in TOTAL for a message with a lower number."""
    return sum(source == origin for _, source, _ in snapshot.numbered)


def observed(kind: type[Core], calls: Calls) -> type[Core]:
    """Return a class of stacks that report their calls."""
    return type("Observed", (_Telling, kind), {"calls": calls})


class _Telling(Core):
    """Stack of layers in which every link reports a call before it makes it."""

    calls: Calls

    def _link(self) -> None:
        super()._link()
        layers: list[Any] = self._layers
        down = {"COM": self._com, "NAK": self._cast, "FRAG": self._split, "MBRSHIP": self._group}
        up = {"COM": self._heard, "NAK": self._next, "FRAG": self._whole, "MBRSHIP": self._received}
        for level, name in enumerate(reversed(self.stack)):
            if name not in down:
                continue  # what is above TOTAL the tracer tells
            layers[level].above = _told(layers[level].above, self.calls, up[name])
            if level + 1 < len(layers):
                layers[level + 1].below = _told(layers[level + 1].below, self.calls, down[name])
            else:
                layers[level].down = _told(layers[level].down, self.calls, down[name])

    def _com(self, call: Any) -> object:
        me, header = Process(self.me), header_of(Process(self.me), call.body)
        if isinstance(call, Cast):
            return spec.ComCast(me, header)
        return spec.ComSend(me, Process(call.to), header)

    def _heard(self, call: Any) -> object:
        source = Process(call.origin)
        return spec.ComReceive(Process(self.me), source, header_of(source, call.body))

    def _cast(self, _: Any) -> object:
        return spec.NakCast(Process(self.me))

    def _next(self, call: Any) -> object:
        origin = Process(call.origin)
        return spec.NakReceive(Process(self.me), origin, spec.Unit(origin, self._came(call.origin)))

    def _came(self, origin: int) -> int:
        """Return the number of units of a member that NAK has passed up."""
        snapshot: Any = self._layers[NAK_LEVEL].snapshot()
        came: int = snapshot.expected[origin] - 1
        return came

    def _split(self, call: Any) -> object:
        frag: Any = self._layers[NAK_LEVEL + 1]
        return spec.FragCast(Process(self.me), -(-len(call.body) // frag._fragment_bytes))

    def _whole(self, call: Any) -> object:
        me, origin = Process(self.me), Process(call.origin)
        if "TOTAL" not in self.stack:
            return spec.FragReceive(me, origin, self.calls.unit(origin, call.body))
        messages = self._ids[call.origin] + waiting_of(self._layers[-1].snapshot(), call.origin)
        messages += isinstance(body_of(in_view(call.body)), group.Ordered)
        place = fragmented(self._came(call.origin), messages, self.calls.fragments)
        return spec.FragReceive(me, origin, spec.Unit(origin, place))

    def _group(self, call: Any) -> object:
        return group.GroupCast(Process(self.me), body_of(call.body))

    def _received(self, call: Any) -> object:
        return group.GroupReceive(Process(self.me), Process(call.origin), body_of(call.body))


def _told(call: Callable[[Any], None], calls: Calls, event: Callable[[Any], object]) -> Any:
    def told(given: Any) -> None:
        calls.events.append(event(given))
        call(given)

    return told
