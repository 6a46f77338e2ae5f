"""CM over queues: what a process sends to another arrives in the order of sending, and is kept until stable.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 2: "every LTM will receive all messages eventually from its local
transport module"; section 1: "All LTMs deliver U to local processes in the delivery order and store it in the
local buffer for retransmission until U is stable".

What is modelled: MSGs and ACKs as packets, `buffer[p]` what p stores, and `early[p]` the gsns of ACKs that
overtook the ACK of another process, for which they wait. In `algorithm` a packet that was multicast may come
at any time; in this module it comes when it is the next in its queue. What is decided here: of several MSGs
the holder acknowledges its own, else that of the process that is next in the cycle, and those of one process
in the order of sending; so no MSG waits for ever.
"""

from __future__ import annotations

from antiphon.spec.environment.fifo import FifoChannels
from antiphon.spec.lang import Const, Map, Set, action, everywhere, record, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import ChangMaxemchuk, Count, Number, Sequence
from antiphon.spec.services import Message, Process


@record
class Packet:
    """Packet MSG(U, U_id), which has `number` 0, or ACK(t, U_id, g), which has number g."""

    message: Message
    number: Count


class InQueues(Sequence, FifoChannels[Packet]):
    """Common part of CM and Pinwheel over queues; a queue has room for an MSG and an ACK of each message."""

    room: Const[int] = 3

    buffer: Map[Process, Set[Message]] = everywhere(Set())
    early: Map[Process, Set[Number]] = everywhere(Set())

    # What is sent -----------------------------------------------------------------------------------------

    def after_broadcast(self, p: Process, m: Message) -> None:
        """Multicast m (`it multicasts the message MSG(U, U_id)`); its sender p puts m in its own buffer at
        once.
        """
        self.buffer[p] |= {m}
        self.push_to_others(p, Packet(m, 0))

    def give_number(self, p: Process, m: Message) -> None:
        """Give the next number to m, and multicast the ACK (`by multicasting ACK(t, U_id, g)`)."""
        super().give_number(p, m)
        self.push_to_others(p, Packet(m, self.assigned))

    def is_first(self, p: Process, m: Message) -> bool:
        """Return True if m is the message that p acknowledges next: of p's messages without a number, m has
        the least `rank`.
        """
        return all(
            self.is_numbered(other) or self.rank(p, m) <= self.rank(p, other) for other in self.obtained[p]
        )

    def rank(self, p: Process, m: Message) -> int:
        """Return the rank of m for p: the distance from p to the source of m in the cycle, then the place of
        m among the messages of its source.
        """
        s = self.source[m]
        return 0 if s is None else (s.index - p.index) % self.processes * self.messages + m.index

    # What arrives -----------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_message(self, p: Process, s: Process) -> None:  # type: ignore[override]
        """Receive the next packet from s, which is a MSG."""
        require(self.has_packet(s, p) and self.channel[s][p][0].number == 0)
        m = self.channel[s][p][0].message
        self.take(s, p)
        self.buffer[p] |= {m}
        self.obtain(p, m)
        self.collect(p)

    @action(fairness="weak")
    def receive_ack(self, p: Process, s: Process) -> None:  # type: ignore[override]
        """Receive the next packet from s, an ACK, which waits while p lacks an ACK with a lower gsn."""
        require(self.has_packet(s, p) and self.channel[s][p][0].number > 0)
        self.early[p] |= {self.channel[s][p][0].number}
        self.take(s, p)
        for k in self.each(Number):
            if k in self.early[p] and k == self.acknowledged[p] + 1:
                self.early[p] -= {k}
                self.learn(p)
        self.collect(p)

    # What is delivered and removed ------------------------------------------------------------------------

    def after_deliver(self, p: Process) -> None:
        """Remove stable updates from p's buffer after a delivery."""
        self.collect(p)

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return False; a subclass returns True if p knows that all processes have the update with gsn k."""
        return False

    def collect(self, p: Process) -> None:
        """Remove stable updates once they are delivered (`Stable messages … are immediately removed from the
        local buffers`).
        """
        for k in self.each(Number):
            m = self.order[k]
            if m is not None and k <= self.status[p] and self.is_stable(p, k):
                self.buffer[p] -= {m}


class ChangMaxemchukInQueues(InQueues, ChangMaxemchuk):
    """CM over queues."""

    @action(fairness="weak")
    def acknowledge(self, p: Process, m: Message) -> None:
        """Acknowledge an update as token holder (`LTM_t acknowledges … after receiving all the messages
        already acknowledged`).
        """
        require(self.is_first(p, m))
        super().acknowledge(p, m)
        self.collect(p)

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if n - 1 later updates were acknowledged (`U becomes stable after … n-1 subsequent
        messages are acknowledged`).
        """
        return k + self.processes - 1 <= self.acknowledged[p]
