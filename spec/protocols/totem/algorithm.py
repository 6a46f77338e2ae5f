"""The single ring of Totem: the token carries the sequence number, and only its holder multicasts.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, section 5, the paragraph on Totem (Amir, Moser, Melliar-Smith, Agarwal, Ciarfella
1995) and its footnote.

What is modelled: `seq` of the token is `assigned`, the token's holder `holder`; `info[p]` is the delivery
information of p in the token, written when p passes it on; `seen[p]` is the least of them that p saw at its
last visit, up to which it takes updates for stable; `order[k]` is the update that was multicast under k,
`obtained[p]` the numbers that p has.
What is abstracted: membership, flow control and retransmission lists are left out, as the paragraph does. An
update that was multicast comes to a process at any time, first or repeated. Updates are numbered in the order
of multicasting.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, emit, everywhere, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count, Number
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


class Totem(Group):
    """The ordering of the single-ring protocol."""

    obtained: Map[Process, Set[Number]] = everywhere(Set())
    order: Map[Number, Message | None] = everywhere(None)
    status: Map[Process, Count] = everywhere(0)
    assigned: Count = 0
    holder: Process = Process(0)
    info: Map[Process, Count] = everywhere(0)
    seen: Map[Process, Count] = everywhere(0)

    def least(self) -> int:
        """Return the least delivery number in the token (`the message delivery information in the token`)."""
        return min(self.info[p] for p in self.each(Process))

    @action
    def multicast(self, p: Process, m: Message) -> None:
        """Multicast an update: the holder `increments the seq field … and sets the sequence number of the
        message to this value`.
        """
        require(p == self.holder and m.index == self.assigned)
        number = self.assigned + 1
        self.assigned += 1
        self.order[number] = m
        self.obtained[p] |= {number}
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def receive_message(self, p: Process, k: Number) -> None:
        """Receive at p the update with number k, a first or a later copy; p lacks it so far."""
        require(k <= self.assigned and k not in self.obtained[p])
        self.obtained[p] |= {k}

    @action(fairness="weak")
    def deliver(self, p: Process, k: Number) -> None:
        """Deliver the update with the next number (`The total ordering is achieved by using a single sequence
        of message sequence numbers`).
        """
        m = self.order[k]
        require(k == self.status[p] + 1 and k in self.obtained[p] and m is not None)
        self.status[p] = k
        if m is not None:
            emit(Deliver(p, m))

    @action(fairness="weak")
    def pass_token(self, p: Process) -> None:
        """Pass the token (`transmits the token with its own message delivery information`), also with nothing
        to send.
        """
        require(p == self.holder)
        self.info[p] = self.status[p]
        self.seen[p] = self.least()
        self.holder = Process((p.index + 1) % self.processes)
