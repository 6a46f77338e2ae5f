"""FRAG cuts large messages into fragments, says on each whether it is the last, and delivers when the last
one comes.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "When a user of the FRAG layer attempts to send a
message that is larger than that maximum size, the FRAG layer splits the message into multiple fragments. On
each fragment the FRAG layer pushes a boolean value that indicates whether it is the last one or not. The FRAG
layer depends on FIFO ordering for reassembly. When the last fragment is received, it delivers the message."

What the text does not say is what FRAG does at the upcall LOST_MESSAGE: as printed, nothing. `Piece`
remembers which part of which message a fragment is, so that what is reassembled can be judged; the layer
itself looks at the pushed bit only, `last`.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Const, Map, Seq, Spec, emit, everywhere, on, record
from antiphon.spec.protocols.horus.boundaries import (
    Casts,
    FragCast,
    FragReceive,
    NakCast,
    NakReceive,
    Place,
    Unit,
)
from antiphon.spec.services import Process


@record
class Piece:
    """A fragment: part `part` of the `message`-th message of its author; the pushed bit, `last`."""

    message: Place
    part: Annotated[int, Between(1, "fragments")]
    last: bool


class Fragments(Spec):
    """Bound on a message: the number of fragments of the largest one."""

    fragments: Const[int] = 2


class Frag(Casts, Fragments):
    """The layer FRAG.

    State: `pieces[p]` what p handed to NAK, `handed[p]` how many messages that were, `gathered[p][q]` the
    fragments from q that wait for a last one.
    """

    pieces: Map[Process, Annotated[Seq[Piece], AtMost("casts")]] = everywhere(())
    handed: Map[Process, Annotated[int, Between(0, "casts")]] = everywhere(0)
    gathered: Map[Process, Map[Process, Annotated[Seq[Piece], AtMost("casts")]]] = everywhere(everywhere(()))

    @on(FragCast)
    def split(self, call: FragCast) -> None:
        """Cast a message as fragments, one cast of NAK each."""
        p = call.process
        self.handed[p] += 1
        for part in self.each(Annotated[int, Between(1, "fragments")]):
            if part <= call.size:
                self.pieces[p] += (Piece(self.handed[p], part, part == call.size),)
                emit(NakCast(p))

    @on(NakReceive)
    def gather(self, call: NakReceive) -> None:
        """Receive a fragment; the last one delivers the message."""
        p = call.process
        q = call.origin
        piece = self.pieces[call.unit.author][call.unit.place - 1]
        self.collect(p, q, call.unit.author, piece)

    def collect(self, p: Process, q: Process, author: Process, piece: Piece) -> None:
        """Keep a fragment; if it is the last one, deliver the message."""
        self.gathered[p][q] += (piece,)
        if piece.last:
            self.reassemble(p, q, author)

    def reassemble(self, p: Process, q: Process, author: Process) -> None:
        """Hand up the message that the gathered fragments make up, or None if they are not exactly the parts
        of one message, and forget the fragments.
        """
        parts = self.gathered[p][q]
        intact = all(
            piece.message == parts[0].message and sum(1 for other in parts if other.part == piece.part) == 1
            for piece in parts
        ) and len(parts) == max(piece.part for piece in parts)
        whole = Unit(author, parts[0].message) if intact else None
        self.gathered[p][q] = ()
        emit(FragReceive(p, q, whole))
