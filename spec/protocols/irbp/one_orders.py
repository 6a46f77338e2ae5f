"""Figure 32 where the first member of a list orders, in place of the ring: the common part of SEQUENCER and
TOTAL on the lists of a group whose members change.

The change of views is that of `by_message.py`, with its repairs; a process reports what it has with a number
and what it has broadcast. A message is delivered when all of the list have it, as in figure 25: each
acknowledges to the first member, which tells all what is stable.

| sections 3.2 and 4.4.2       | here                                                             |
|------------------------------|------------------------------------------------------------------|
| seqQ, recvQ                  | numbered[p]: ordered, and not known to be stable; received[p]    |
| ts, lastdelivered            | last_number[p]; last_delivered[p]: all up to it is stable        |
| who has what                 | acknowledged[p][q], as the first member of a list hears it       |

No token goes round, so that NULL has no number. What is sent to all lies in `sent`, and comes at any time,
twice or never. A subclass says what is sent.

Source: Barchet-Estefanel 2002, section 4.4.2, figure 32, and section 3.2.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, constraint, emit, everywhere, invariant, require, witness
from antiphon.spec.protocols.irbp.by_message import IrbpByMessage
from antiphon.spec.protocols.irbp.figure32 import Phase
from antiphon.spec.protocols.irbp.normal_phase import LastNumber, Number, Sequenced
from antiphon.spec.services import Broadcast, Deliver, Message, Process


class OneOrders(IrbpByMessage):
    """Figure 32, message by message, over a normal phase in which the first of a list orders."""

    acknowledged: Map[Process, Map[Process, LastNumber]] = everywhere(everywhere(0))

    def orders(self, p: Process) -> bool:
        """Return True if p orders the messages of its list: it is the first member."""
        return self.first_of(self.token_list(p)) == p

    def send_number(self, p: Process, m: Message | None) -> None:
        """Send no NULL: no token goes round."""
        self.begins[p] = False

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message: send it to the first member, which orders its own at once."""
        require(m.index == self.broadcasts and self.is_active(p) and self.pending[p] is None)
        self.broadcasts += 1
        self.received[p] |= {m}
        emit(Broadcast(p, m))
        self.submit(p, m)

    def submit(self, p: Process, m: Message) -> None:
        """Hook of a subclass: send the message to the first member, or order it there."""

    def add(self, p: Process, m: Message, k: Number) -> None:
        """Add, at p, the message with the next number."""
        self.received[p] |= {m}
        self.numbered[p] |= {Sequenced(m, k)}
        self.last_number[p] = k

    def has_ordered(self, p: Process, m: Message) -> bool:
        """Return True if m has a number at p."""
        return self.is_numbered(p, m) or m in self.collected[p]

    def pass_up(self, p: Process, k: LastNumber) -> None:
        """Deliver, at p, the messages up to number k that p has, since all of the list have them."""
        last = self.last_delivered[p]
        for j in self.each(Number):
            if j > last and j <= k:
                for m in self.each(Message):
                    if Sequenced(m, j) in self.numbered[p]:
                        emit(Deliver(p, m))
        over = {item.message for item in self.numbered[p] if item.message is not None and item.number <= k}
        self.collected[p] |= over
        self.received[p] -= over
        self.numbered[p] = Set() | {item for item in self.numbered[p] if item.number > k}
        self.last_delivered[p] = max(last, min(k, self.last_number[p]))

    def all_have(self, p: Process) -> LastNumber:
        """Return the number up to which, as p has heard, all others of its list have everything."""
        return min((self.acknowledged[p][q] for q in self.token_list(p) if q != p), default=0)

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Install the list (step 7): nothing of it is acknowledged."""
        super().enter(p, members)
        self.acknowledged[p] = Map({q: self.last_delivered[p] for q in self.each(Process)})

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
        super().clear(p)
        self.acknowledged[p] = everywhere(0)

    # What a process can do it does --------------------------------------------------------------------------

    @constraint("sequence", "pass_null", "settle", "deliver")
    def is_of_the_ring(self) -> bool:
        """Bound: the steps of the ring never happen."""
        return False

    def can_step(self, p: Process) -> bool:
        """Return True if p is up, and can take a step without a message."""
        return not self.is_gone(p) and (
            (self.phase[p] == Phase.normal and self.calls[p])
            or (self.phase[p] == Phase.changing and self.may_propose(p, self.heard[p]))
            or (self.learned[p] and self.has_waited(p))
        )

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def SentIsSent(self) -> bool:
        """Invariant: nothing is sent as the ring sends it."""
        return len(self.data) == 0 and len(self.acks) == 0

    @invariant
    def DeliveredIsEverywhere(self) -> bool:
        """Invariant: all that are on p's list have what p has delivered."""
        return not any(
            self.last_delivered[p] > self.last_number[q]
            and not self.is_gone(q)
            and self.version[q] == self.version[p]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def StableByAcknowledgements(self) -> bool:
        """Witness: a process has delivered a message in the first list, since all of that list have it."""
        return any(self.version[p] == 1 and len(self.collected[p]) > 0 for p in self.each(Process))
