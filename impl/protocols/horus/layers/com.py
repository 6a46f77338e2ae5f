"""COM identifies senders: it pushes the own address, and filters out messages from outside the view.

Source: van Renesse and others 1995: "COM keeps track of the source of messages (by pushing the address of the
source endpoint on each outgoing message), and filters out spurious messages from endpoints not in its view."
The view is all members, who stay; a false address is a violation.
"""

from __future__ import annotations

import msgspec

from antiphon.impl.protocols.core import Process
from antiphon.impl.protocols.horus.layers.layer import Cast, Down, Layer, Receive, Send, popped, pushed
from antiphon.impl.protocols.horus.messages import HorusViolation

__all__ = ["Com"]


class Addressed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """Message body with the address of its source."""

    source: Process
    body: bytes


_DECODER = msgspec.msgpack.Decoder(Addressed)


class Com(Layer):
    """Layer COM, which has no state."""

    def down(self, call: Down) -> None:
        """Push this member's address on the message, and pass it down."""
        body = pushed(Addressed(self.me, call.body))
        self.below(Cast(body) if isinstance(call, Cast) else Send(call.to, body))

    def up(self, call: Receive) -> None:
        """Pop the address, compare it with the sender's, and hand up the body if they agree."""
        addressed = popped(_DECODER, call.body)
        if addressed is None:
            self.violated(HorusViolation.MALFORMED, call.origin)
        elif addressed.source != call.origin or addressed.source >= self.members:
            self.violated(HorusViolation.FALSE_SOURCE, call.origin)
        else:
            self.above(Receive(addressed.source, addressed.body))

    def snapshot(self) -> tuple[()]:
        """Return an empty snapshot."""
        return ()

    def restore(self, snapshot: tuple[()]) -> None:
        """Do nothing: the layer has no state."""
