"""Figure 25 where recvQ is a sequence: of several messages without a number the one that came first is next.

Line 59, `select first msg s.t. (m, B) ∈ recvQ_p`, leaves open which message is first. In figure25.py it is
the one that was broadcast first, so that recvQ is a set and a state is small. No process knows that order;
line 2 keeps the order that a process knows, that of reception: the "sequence of received messages".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Map, Seq, everywhere, require
from antiphon.spec.protocols.rbp_resilient.bounds import RbpResilientBounded
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, Sequenced
from antiphon.spec.services import Process


class RbpResilientQueued(RbpResilientBounded):
    """Figure 25 within bounds, with its repairs and its queue."""

    waiting: Map[Process, Annotated[Seq[Body], AtMost("messages + spare")]] = everywhere(())

    def take_message(self, p: Process, body: Body) -> None:
        """Put a new message at the end of recvQ (line 24). If it has a number already, it does not enter
        `waiting`, the messages that `sequence` still has to number.
        """
        is_new = body not in self.received[p]
        super().take_message(p, body)
        if is_new and body in self.received[p] and not self.is_numbered(p, body):
            self.waiting[p] += (body,)

    def record(self, p: Process, item: Sequenced) -> None:
        """Add the number of a message to seqQ_p (line 26); the message no longer waits for a number."""
        super().record(p, item)
        self.waiting[p] = tuple(body for body in self.waiting[p] if body != item.body)

    def sequence(self, p: Process) -> None:
        """Give ts_p + 1 to the first message of recvQ without a number (lines 59-61)."""
        require(self.can_sequence(p))
        body = self.waiting[p][0]
        self.holding[p] = False
        self.send_token(p, body, self.last_number[p] + 1)
