"""The calls between the layers of a stack, told as the events that the specification's layers emit.

A stack links its layers in `_link`; here every link tells a recorder of a call before it makes it. What the
calls hold is read as bytes, by the layers' own headers. This module must not change what a layer does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from antiphon.conformance.bindings.core_binding import Recorder
from antiphon.impl.protocols.horus import Core
from antiphon.impl.protocols.horus import nak as layer
from antiphon.impl.protocols.horus.layer import Cast
from antiphon.spec.protocols.horus import boundaries as spec
from antiphon.spec.services import Process

__all__ = ["NAK_LEVEL", "Calls", "header_of", "observed"]

NAK_LEVEL = 1
"""The place of NAK in a stack, from the bottom; COM is at 0."""


class Calls(Recorder):
    """A recorder that hears calls, too. A payload is a number in decimal; of each sender every
    `senders`-th.
    """

    def __init__(self, senders: int) -> None:
        super().__init__()
        self.senders = senders

    def unit(self, origin: Process, payload: bytes) -> spec.Unit | None:
        """The message that was put together; None if it is none."""
        return spec.Unit(origin, int(payload) // self.senders + 1) if payload.isdigit() else None


def header_of(source: Process, body: bytes) -> spec.Header:
    """The specification's header for one of NAK's, of this source."""
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


def observed(kind: type[Core], calls: Calls) -> type[Core]:
    """Stacks of this class that tell of their calls."""

    class Observed(kind):  # type: ignore[misc, valid-type]
        """Each link tells, and then calls."""

        def _link(self) -> None:
            super()._link()
            me, layers = Process(self.me), self._layers
            com, nak, top = layers[0], layers[NAK_LEVEL], layers[-1]
            nak.below = _telling(nak.below, calls, lambda call: _down(me, call))
            com.above = _telling(com.above, calls, lambda call: _up(me, call))
            nak.above = _telling(nak.above, calls, lambda call: self._next(me, call))
            if top is nak:
                top.down = _telling(top.down, calls, lambda _: spec.NakCast(me))
            else:
                top.below = _telling(top.below, calls, lambda _: spec.NakCast(me))
                top.above = _telling(top.above, calls, lambda call: _whole(calls, me, call))
                top.down = _telling(top.down, calls, lambda call: spec.FragCast(me, len(call.body)))

        def _next(self, me: Process, call: Any) -> spec.NakReceive:
            snapshot: Any = self._layers[NAK_LEVEL].snapshot()
            origin = Process(call.origin)
            return spec.NakReceive(me, origin, spec.Unit(origin, snapshot.expected[call.origin] - 1))

    return Observed


def _telling(call: Callable[[Any], None], calls: Calls, event: Callable[[Any], object]) -> Any:
    def told(given: Any) -> None:
        calls.events.append(event(given))
        call(given)

    return told


def _down(me: Process, call: Any) -> object:
    header = header_of(me, call.body)
    return spec.ComCast(me, header) if isinstance(call, Cast) else spec.ComSend(me, Process(call.to), header)


def _up(me: Process, call: Any) -> spec.ComReceive:
    source = Process(call.origin)
    return spec.ComReceive(me, source, header_of(source, call.body))


def _whole(calls: Calls, me: Process, call: Any) -> spec.FragReceive:
    origin = Process(call.origin)
    return spec.FragReceive(me, origin, calls.unit(origin, call.body))
