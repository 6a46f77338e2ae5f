"""SEQUENCER on the lists of a group whose members change, message by message, under figure 32.

The first member of a list is the coordinator. What Ban leaves to "a layer above", that a message is delivered
when all have it, is `irbp/one_orders.py`.

| document                          | here                                                        |
|-----------------------------------|-------------------------------------------------------------|
| FORWARD                           | `Forwarded`, to the coordinator                             |
| DATA                              | `Ordered`, with the place that the queue gives it           |
| forward-table                     | those of `received[p]` that p has broadcast, without a number |
| the layer above                   | `Acked`, `StableTo`; `told[p]`                              |

The queues between members lose nothing and keep their order. Here `Forwarded` comes once, `Ordered` in the
order of its numbers, and anything else in any order, or twice: more runs than queues have. Each process
broadcasts one message at most, so that the order of each source does not matter.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005; Barchet-Estefanel 2002,
sections 3.2 and 4.4.2.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, Map, Set, action, environment, everywhere, record, require
from antiphon.spec.protocols.irbp.by_message import Call, Decided, Told
from antiphon.spec.protocols.irbp.normal_phase import LastNumber, Number
from antiphon.spec.protocols.irbp.one_orders import OneOrders
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.services import Message, Process, View


@record
class Forwarded:
    """Packet FORWARD with a message for the coordinator, from the process that broadcasts it."""

    message: Message
    version: View


@record
class Ordered:
    """Packet DATA of the coordinator with a message, the one with this number of the list."""

    message: Message
    number: Number
    version: View


@record
class Acked:
    """Acknowledgement to the coordinator: `sender` has everything up to this number."""

    sender: Process
    number: Number
    version: View


@record
class StableTo:
    """Notice of the coordinator: all of the list have everything up to this number."""

    number: Number
    version: View


class SequencerOnLists(OneOrders):
    """SEQUENCER under figure 32, message by message."""

    sent: Set[
        Forwarded | Ordered | Acked | StableTo | Call | Told | Decided
    ] = Set()  # type: ignore[assignment]
    told: Map[Process, LastNumber] = everywhere(0)
    """Number that p has acknowledged, or, at the coordinator, has told as stable."""

    def submit(self, p: Process, m: Message) -> None:
        """Forward the message to the coordinator; the coordinator orders its own."""
        if self.orders(p):
            self.order(p, m)
        else:
            self.sent |= {Forwarded(m, self.version[p])}

    def order(self, p: Process, m: Message) -> None:
        """Multicast, at the coordinator p, a message as the next one."""
        k = self.last_number[p] + 1
        self.add(p, m, k)
        self.sent |= {Ordered(m, k, self.version[p])}

    @action(fairness="weak")
    def arrive(  # type: ignore[override]
        self,
        p: Process,
        packet: Annotated[Forwarded | Ordered | Acked | StableTo | Call | Told | Decided, In("sent")],
    ) -> None:
        """Receive a message that changes something at p."""
        require(self.matters(p, packet) and not self.is_gone(p))
        if isinstance(packet, Forwarded):
            self.order(p, packet.message)
        elif isinstance(packet, Ordered):
            self.add(p, packet.message, packet.number)
            self.told[p] = packet.number
            self.sent |= {Acked(p, packet.number, packet.version)}
        elif isinstance(packet, Acked):
            self.acknowledged[p][packet.sender] = packet.number
            k = self.all_have(p)
            self.pass_up(p, k)
            if k > self.told[p]:
                self.told[p] = k
                self.sent |= {StableTo(k, packet.version)}
        elif isinstance(packet, StableTo):
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
        packet: Annotated[Forwarded | Ordered | Acked | StableTo | Call | Told | Decided, In("sent")],
    ) -> None:
        """Receive a packet that changes nothing at p: a repeated one, or one of a kind that p does not take
        now.
        """
        require(packet.version == self.version[p] and not self.matters(p, packet) and not self.is_gone(p))
        require(self.is_for(p, packet) and self.may_come(p, packet))

    def is_for(
        self, p: Process, packet: Forwarded | Ordered | Acked | StableTo | Call | Told | Decided
    ) -> bool:
        """Return True if the packet is for p, and not from p."""
        if isinstance(packet, Forwarded | Acked):
            return self.orders(p)
        if isinstance(packet, Ordered | StableTo):
            return not self.orders(p)
        if isinstance(packet, Call | Told):
            return packet.sender != p
        return True

    def may_come(
        self, p: Process, packet: Forwarded | Ordered | Acked | StableTo | Call | Told | Decided
    ) -> bool:
        """Return True if a queue may bring the packet now: a forwarded message once, and what the coordinator
        sends in its order.
        """
        if isinstance(packet, Forwarded):
            return not self.has_ordered(p, packet.message) or not self.is_active(p)
        if isinstance(packet, Ordered):
            return packet.number <= self.last_number[p] + 1
        if isinstance(packet, StableTo):
            return packet.number <= self.last_number[p]
        return True

    def matters(  # type: ignore[override]
        self, p: Process, packet: Forwarded | Ordered | Acked | StableTo | Call | Told | Decided
    ) -> bool:
        """Return True if the packet changes something: p is up, takes packets of this kind now, and does not
        have this one.
        """
        if packet.version != self.version[p] or not self.is_for(p, packet):
            return False
        if isinstance(packet, Forwarded):
            return self.is_active(p) and not self.has_ordered(p, packet.message)
        if isinstance(packet, Ordered):
            return self.is_active(p) and packet.number == self.last_number[p] + 1
        if isinstance(packet, Acked):
            return self.is_active(p) and packet.number > self.acknowledged[p][packet.sender]
        if isinstance(packet, StableTo):
            is_news = packet.number > self.last_delivered[p] and self.may_come(p, packet)
            return self.is_active(p) and is_news
        if isinstance(packet, Call):
            return not self.calls[p]
        if isinstance(packet, Told):
            return packet.sender not in self.heard[p]
        return not self.learned[p]

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Install the list (step 7): nothing of it is told."""
        super().enter(p, members)
        self.told[p] = self.last_delivered[p]

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
        super().clear(p)
        self.told[p] = 0


class SequencerOnListsChecked(SequencerOnLists, IrbpChecked):
    """SEQUENCER on lists, checked against total order broadcast and view-synchronous communication."""
