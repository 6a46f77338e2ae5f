"""COM turns a network that loses and reorders into casts to the endpoints of a view, and says who sent what.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "The COM layer translates the low-level network
interface into the Common Protocol Interface. If necessary, COM keeps track of the source of messages (by
pushing the address of the source endpoint on each outgoing message), and filters out spurious messages from
endpoints not in its view."

The view is a set of destinations, a member's own affair: `outside[p]` are the endpoints that are not in it.
COM provides no delivery guarantee, and knows nothing of what a header means. A cast goes to the others; a
member's own copy needs no layers, and whoever casts has it.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import InFlight
from antiphon.spec.lang import In, Map, Set, action, emit, everywhere, on
from antiphon.spec.protocols.horus.boundaries import Casts, ComCast, ComReceive, ComSend, ComView, Envelope
from antiphon.spec.services import Process


class Com(InFlight[Envelope], Casts):
    """The layer COM over a network that the subclass chooses."""

    outside: Map[Process, Set[Process]] = everywhere(Set())

    def listens(self, q: Process) -> bool:
        """Return True if q still receives packets; in this class every process does, since no member excludes
        itself.
        """
        return q not in self.outside[q]

    def is_destination(self, p: Process, q: Process) -> bool:
        """Return True if q gets the casts of p: q is another process, in p's view, and has not stopped."""
        return q != p and q not in self.outside[p] and self.listens(q)

    def accepts(self, p: Process, source: Process | None) -> bool:
        """Return True if p's filter lets a packet from `source` pass (None: the packet has no source)."""
        return source is None or source not in self.outside[p]

    def address(self, p: Process) -> Process | None:
        """Return the address of p, which it pushes on an outgoing message."""
        return p

    @on(ComCast)
    def transmit(self, call: ComCast) -> None:
        """Send one envelope to each other endpoint of the view."""
        p = call.process
        self.network |= {
            Envelope(q, self.address(p), call.header) for q in self.each(Process) if self.is_destination(p, q)
        }

    @on(ComSend)
    def transmit_to(self, call: ComSend) -> None:
        """Send the envelope of one packet to the endpoint that the call names."""
        if self.listens(call.to):
            self.network |= {Envelope(call.to, self.address(call.process), call.header)}

    @on(ComView)
    def leave_out(self, call: ComView) -> None:
        """Remove a member from the view of `process`."""
        self.outside[call.process] |= {call.member}

    @action(fairness="weak")
    def arrive(self, envelope: Annotated[Envelope, In("network")]) -> None:
        """Receive an envelope, and hand up its header if it passes the filter."""
        self.network -= {envelope}
        if self.accepts(envelope.to, envelope.source):
            emit(ComReceive(envelope.to, envelope.source, envelope.header))
