"""MBRSHIP of a group whose members stay: one view, in which everything is sent and delivered.

Source: van Renesse and others 1995: "each member that remains connected to the system is guaranteed to have
all messages from the previous view". Here there is no previous view: the others wait for a member that stops,
and view synchrony holds because no view ends. The view's number is pushed all the same, for later versions in
which views change.
"""

from __future__ import annotations

import msgspec

from antiphon.impl.protocols.core import Natural
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive, popped, pushed
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["Mbrship"]

VIEW = 1


class InView(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Message body with the view in which it was sent."""

    view: Natural
    body: bytes


_DECODER = msgspec.msgpack.Decoder(InView)


class Mbrship(Layer):
    """Layer MBRSHIP, with the first view for ever."""

    def down(self, call: Down) -> None:
        """Push the number of the view."""
        self.below(Cast(pushed(InView(VIEW, call.body))))

    def up(self, call: Receive) -> None:
        """Pop the number of the view, and hand up the body; another view's number is a violation."""
        header = popped(_DECODER, call.body)
        if header is None or header.view != VIEW:
            self.violated(HorusViolation.MALFORMED, call.origin)
        else:
            self.above(Receive(call.origin, header.body))

    def snapshot(self) -> tuple[()]:
        """Return an empty snapshot."""
        return ()

    def restore(self, snapshot: tuple[()]) -> None:
        """Do nothing: the layer has no state."""
