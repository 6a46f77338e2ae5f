"""TOTAL on the lists of a group whose members change, message by message, under figure 32.

The first member of a list is the sequencer. What a change of the list needs, that a message is delivered when
all have it, is `irbp/one_orders.py`.

| document                              | here                                                        |
|---------------------------------------|-------------------------------------------------------------|
| TOTAL_REQUEST                         | `Requested`, to the sequencer                               |
| TOTAL_BCAST, the id assigned          | `Bcast`                                                     |
| TOTAL_CUM_SEQ_ACK, up to the id       | `CumAck`, sent for each TOTAL_BCAST                         |
| queue of what comes too early         | `queue[p]`                                                  |
| a message is kept until acknowledged  | `pending[p]`, until it is delivered                         |
| on a list: what is stable             | `StableTo`; `told[p]`, at the sequencer; `stable_to[p]`     |

The network loses, repeats and overtakes; what is in `sent` comes at any time, twice or never, so that asking
for it again (TOTAL_RESEND), and sending it again by a timer, adds nothing. These are walked with TOTAL.
Each process broadcasts one message at most.

Source: Cornell, "JavaGroups TOTAL"; Barchet-Estefanel 2002, sections 3.2 and 4.4.2.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, Map, Set, action, environment, everywhere, record, require
from antiphon.spec.protocols.irbp.by_message import Call, Decided, Told
from antiphon.spec.protocols.irbp.normal_phase import LastNumber, Number, Sequenced
from antiphon.spec.protocols.irbp.one_orders import OneOrders
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.services import Message, Process, View


@record
class Requested:
    """Packet TOTAL_REQUEST with a message for the sequencer, from the process that broadcasts it."""

    message: Message
    version: View


@record
class Bcast:
    """Packet TOTAL_BCAST with a message and its id."""

    message: Message
    number: Number
    version: View


@record
class CumAck:
    """Packet TOTAL_CUM_SEQ_ACK: `sender` has everything up to this id."""

    sender: Process
    number: LastNumber
    version: View


@record
class StableTo:
    """Notice of the sequencer: all of the list have everything up to this id."""

    number: LastNumber
    version: View


class TotalOnLists(OneOrders):
    """TOTAL under figure 32, message by message."""

    sent: Set[
        Requested | Bcast | CumAck | StableTo | Call | Told | Decided
    ] = Set()  # type: ignore[assignment]
    queue: Map[Process, Set[Sequenced]] = everywhere(Set())
    told: Map[Process, LastNumber] = everywhere(0)
    """Number that p, the sequencer, has told as stable."""
    stable_to: Map[Process, LastNumber | None] = everywhere(None)
    """Highest number that p has heard to be stable."""

    def submit(self, p: Process, m: Message) -> None:
        """Request a number of the sequencer; the sequencer numbers its own message."""
        self.pending[p] = m
        if self.orders(p):
            self.assign(p, m)
        else:
            self.sent |= {Requested(m, self.version[p])}

    def assign(self, p: Process, m: Message) -> None:
        """Assign, at the sequencer p, the next id to a message, and broadcast it."""
        k = self.last_number[p] + 1
        self.add(p, m, k)
        self.sent |= {Bcast(m, k, self.version[p])}

    def pass_up(self, p: Process, k: LastNumber) -> None:
        """Deliver, at p, the messages up to number k; a delivered message is not pending."""
        super().pass_up(p, k)
        m = self.pending[p]
        if m is not None and m in self.collected[p]:
            self.pending[p] = None

    def take_in(self, p: Process, item: Sequenced) -> None:
        """Receive, at p, a numbered message: take what follows without a gap, queue what does not, and
        deliver what is known to be stable.
        """
        waiting = self.queue[p] | {item}
        for k in self.each(Number):
            for m in self.each(Message):
                if k == self.last_number[p] + 1 and Sequenced(m, k) in waiting:
                    self.add(p, m, k)
        self.queue[p] = Set() | {one for one in waiting if one.number > self.last_number[p]}
        known = self.stable_to[p]
        if known is not None:
            self.pass_up(p, known)

    @action(fairness="weak")
    def arrive(  # type: ignore[override]
        self,
        p: Process,
        packet: Annotated[Requested | Bcast | CumAck | StableTo | Call | Told | Decided, In("sent")],
    ) -> None:
        """Receive a message that changes something at p."""
        require(self.matters(p, packet) and not self.is_gone(p))
        if isinstance(packet, Requested):
            self.assign(p, packet.message)
        elif isinstance(packet, Bcast):
            self.take_in(p, Sequenced(packet.message, packet.number))
            self.sent |= {CumAck(p, self.last_number[p], packet.version)}
        elif isinstance(packet, CumAck):
            self.acknowledged[p][packet.sender] = packet.number
            k = self.all_have(p)
            self.pass_up(p, k)
            if k > self.told[p]:
                self.told[p] = k
                self.sent |= {StableTo(k, packet.version)}
        elif isinstance(packet, StableTo):
            self.stable_to[p] = packet.number
            self.pass_up(p, packet.number)
        elif isinstance(packet, Call):
            self.r_deliver(p)
        elif isinstance(packet, Told):
            self.heard[p] |= {packet.sender}
        else:
            self.learned[p] = True
            self.proposal[p] = None

    @environment
    def arrive_in_vain(  # type: ignore[override]
        self,
        p: Process,
        packet: Annotated[Requested | Bcast | CumAck | StableTo | Call | Told | Decided, In("sent")],
    ) -> None:
        """Receive a packet that changes nothing at p. A process answers TOTAL_BCAST with what it has, and an
        acknowledgement that brings nothing new with what is stable.
        """
        require(packet.version == self.version[p] and not self.matters(p, packet) and not self.is_gone(p))
        require(self.is_for(p, packet))
        if self.is_active(p):
            if isinstance(packet, Bcast):
                self.sent |= {CumAck(p, self.last_number[p], packet.version)}
            elif isinstance(packet, CumAck):
                self.sent |= {StableTo(self.last_delivered[p], packet.version)}

    def is_for(
        self, p: Process, packet: Requested | Bcast | CumAck | StableTo | Call | Told | Decided
    ) -> bool:
        """Return True if the packet is for p, and not from p."""
        if isinstance(packet, Requested | CumAck):
            return self.orders(p)
        if isinstance(packet, Bcast | StableTo):
            return not self.orders(p)
        if isinstance(packet, Call | Told):
            return packet.sender != p
        return True

    def matters(  # type: ignore[override]
        self, p: Process, packet: Requested | Bcast | CumAck | StableTo | Call | Told | Decided
    ) -> bool:
        """Return True if the packet changes something: p is up, takes packets of this kind now, and does not
        have this one.
        """
        if packet.version != self.version[p] or not self.is_for(p, packet):
            return False
        if isinstance(packet, Requested):
            return self.is_active(p) and not self.has_ordered(p, packet.message)
        if isinstance(packet, Bcast):
            is_queued = Sequenced(packet.message, packet.number) in self.queue[p]
            return self.is_active(p) and packet.number > self.last_number[p] and not is_queued
        if isinstance(packet, CumAck):
            return self.is_active(p) and packet.number > self.acknowledged[p][packet.sender]
        if isinstance(packet, StableTo):
            known = self.stable_to[p]
            return self.is_active(p) and (known is None or packet.number > known)
        if isinstance(packet, Call):
            return not self.calls[p]
        if isinstance(packet, Told):
            return packet.sender not in self.heard[p]
        return not self.learned[p]

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Install the list (step 7): nothing of it is told, or queued."""
        super().enter(p, members)
        self.told[p] = self.last_delivered[p]
        self.stable_to[p] = None
        self.queue[p] = Set()

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
        super().clear(p)
        self.told[p] = 0
        self.stable_to[p] = None
        self.queue[p] = Set()


class TotalOnListsChecked(TotalOnLists, IrbpChecked):
    """TOTAL on lists, checked against total order broadcast and view-synchronous communication."""
