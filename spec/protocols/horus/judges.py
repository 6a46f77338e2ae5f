"""What does each boundary promise? FIFO broadcast above NAK and FRAG, virtual synchrony above MBRSHIP and TOTAL, as machines over events.

They are the reference for layers, as `spec/services` is for whole protocols: a layer passes a property on when its judge finds it above too.
"""

from __future__ import annotations

from antiphon.spec.lang import expect, on
from antiphon.spec.services import Deliver, Message, ReliableBroadcast


class FifoBroadcast(ReliableBroadcast):
    """Reliable broadcast in which the messages of one sender are delivered in the order in which it broadcast them, which is that of `Message`."""

    @on(Deliver)
    def judge_fifo(self, event: Deliver) -> None:
        """No later message of the same sender was delivered before."""
        p = event.process
        m = event.message
        if m is not None:
            expect(not any(self.delivered[p][later] and self.origin[later] == self.origin[m] for later in self.each(Message) if later > m), "Fifo")
