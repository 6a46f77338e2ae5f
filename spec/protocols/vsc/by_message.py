"""Figure 29 with its messages on their way: multicasts, acknowledgements and decisions arrive one by one.

In figure 29 a set that was sent is received when it is used, a decision is known to all as soon as one
process knows it, and a detector sees which messages are stable. In this module each of these is a packet that
lies in `sent`, and a process goes on with the next step of the figure once it has the packet. A step that
needs no packet is taken as soon as it is possible, by the first process first; an implementation does the
same steps in the same order.

| figure 29                                | here                                                            |
|------------------------------------------|-----------------------------------------------------------------|
| (i, m)                                   | `Copy`                                                          |
| R-Broadcast(view-change, i)              | `Call`, sent on by whoever receives the first                   |
| send unstable_k to all, wait             | `Told`; `heard[p]` are those whose sets p has                   |
| (View, Msg), the decision of consensus   | `Decided`, from who knows it; `learned[p]`                      |
| the message stability detector           | each acknowledges a message to its source (`Acked`), and when   |
|                                          | all have, the source tells all (`Stable`)                       |

What differs from figure 29, and why it may:
1. A majority of the sets is awaited, as in figure 32: fewer runs.
2. Msg leaves out a message that any process which was heard knows to be stable: all of the view have
   delivered it.
3. `unstable_k` is emptied when a view is installed: all members of the view have delivered its messages.
4. A process that is not in View kills itself before it delivers Msg: it counts as failed.
5. A message that has not arrived when its sender crashes simply stays in `sent`: the step `lose` is not
   needed.

Source: Barchet-Estefanel 2002, section 4.3.2, figure 29; section 3.1.1 for the R-broadcast.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    In,
    Map,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    record,
    require,
)
from antiphon.spec.protocols.vsc.bounds import VscBounded
from antiphon.spec.protocols.vsc.figure29 import Data, Initial
from antiphon.spec.protocols.vsc.properties import VscChecked
from antiphon.spec.services.events import Deliver, Message, Process, View


@record
class Copy:
    """Packet (i, m): message m, multicast in view i, sent to all of the view."""

    message: Message
    view: View


@record
class Acked:
    """Acknowledgement to a message's source: `sender` has the message."""

    sender: Process
    message: Message
    view: View


@record
class Stable:
    """Notice of a message's source: all of the view have the message."""

    message: Message
    view: View


@record
class Call:
    """Packet (view-change, i): the call to change view i, sent or sent on by `sender`."""

    sender: Process
    view: View


@record
class Told:
    """Packet with the set unstable_k of `sender`, sent for the change of this view."""

    sender: Process
    view: View


@record
class Decided:
    """Packet with the decision (View, Msg) for the change of this view."""

    view: View


class VscByMessage(VscBounded):
    """Figure 29, message by message. With `assigned` message k comes from process k, which sends only this
    one.
    """

    sent: Set[Copy | Acked | Stable | Call | Told | Decided] = Set()
    acked: Map[Process, Set[Process]] = everywhere(Set())
    heard: Map[Process, Set[Process]] = everywhere(Set())
    learned: Map[Process, bool] = everywhere(False)
    sent_stable: Map[View, Map[Process, Set[Message]]] = everywhere(everywhere(Set()))

    def source(self, m: Message) -> Process:
        """Return the process that multicasts this message."""
        return Process(m.index % self.processes)

    # What is sent -------------------------------------------------------------------------------------------

    @action
    def vscast(self, p: Process, m: Message) -> None:
        """Multicast m: `send (i,m) to all in v_i(g)`."""
        super().vscast(p, m)
        self.sent |= {Copy(m, self.in_view[p])}

    @action(fairness="weak", per="p")
    def call(self, p: Process, q: Process) -> None:
        """Call a view change (`R-Broadcast(view-change, i)`), and R-deliver it at the caller."""
        require(self.suspects(p, q) and not self.is_changing(p))
        self.r_deliver(p, self.in_view[p])

    def r_deliver(self, p: Process, m: View) -> None:
        """Take up, at p, the call of a view change (step 1), and send the call on to all."""
        super().r_deliver(p, m)
        self.sent_stable[m][p] = Set() | {
            one
            for one in self.each(Message)
            if Copy(one, m) in self.sent and one in self.handed[p] and one not in self.unstable[p]
        }
        self.heard[p] |= {p}
        self.sent |= {Call(p, m), Told(p, m)}

    # What comes in ------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def arrive(
        self, p: Process, packet: Annotated[Copy | Acked | Stable | Call | Told | Decided, In("sent")]
    ) -> None:
        """Receive a message that changes something at p."""
        require(not self.is_gone(p) and packet.view == self.in_view[p] and self.matters(p, packet))
        if isinstance(packet, Copy):
            self.network -= {Data(p, packet.view, packet.message)}
            self.take(p, packet.message)
            self.sent |= {Acked(p, packet.message, packet.view)}
        elif isinstance(packet, Acked):
            self.acked[p] |= {packet.sender}
            if all(q in self.acked[p] or q == p for q in self.group[p]):
                self.unstable[p] -= {packet.message}
                self.sent |= {Stable(packet.message, packet.view)}
        elif isinstance(packet, Stable):
            self.unstable[p] -= {packet.message}
        elif isinstance(packet, Call):
            self.r_deliver(p, packet.view)
        elif isinstance(packet, Told):
            self.heard[p] |= {packet.sender}
        else:
            self.learned[p] = True

    @environment
    def arrive_in_vain(
        self, p: Process, packet: Annotated[Copy | Acked | Stable | Call | Told | Decided, In("sent")]
    ) -> None:
        """Receive at p a packet that changes nothing: a repeated packet of the view change, or any packet
        that p no longer takes while it changes its view.
        """
        require(not self.is_gone(p) and packet.view == self.in_view[p] and not self.matters(p, packet))
        require(self.is_for(p, packet) and (self.is_changing(p) or self.is_of_change(packet)))

    def is_of_change(self, packet: Copy | Acked | Stable | Call | Told | Decided) -> bool:
        """Return True if the packet is part of a change of views, and not one of application data."""
        return isinstance(packet, Call | Told | Decided)

    def is_for(self, p: Process, packet: Copy | Acked | Stable | Call | Told | Decided) -> bool:
        """Return True if the message is for p, and not from p."""
        if isinstance(packet, Acked):
            return self.source(packet.message) == p
        if isinstance(packet, Copy | Stable):
            return self.source(packet.message) != p
        if isinstance(packet, Call | Told):
            return packet.sender != p
        return True

    def matters(self, p: Process, packet: Copy | Acked | Stable | Call | Told | Decided) -> bool:
        """Return True if the packet changes something: it was sent in p's view, p takes packets of this kind
        now, and does not have it.
        """
        if not self.is_for(p, packet):
            return False
        if isinstance(packet, Copy):
            return self.takes_messages(p) and packet.message not in self.handed[p]
        if isinstance(packet, Acked):
            return self.takes_messages(p) and packet.sender not in self.acked[p]
        if isinstance(packet, Stable):
            return self.takes_messages(p) and packet.message in self.unstable[p]
        if isinstance(packet, Call):
            return not self.is_changing(p)
        if isinstance(packet, Told):
            return packet.sender not in self.heard[p]
        return not self.learned[p]

    @constraint("receive", "receive_cast", "receive_last_cast", "stabilise", "lose", "change")
    def in_another_step(self) -> bool:
        """Bound: messages arrive only by `sent`, and views are installed only by `adopt`."""
        return False

    # Steps 2-7 ----------------------------------------------------------------------------------------------

    def has_majority_heard(self, p: Process) -> bool:
        """Return True if p has received the sets of unstable messages of a majority of its view."""
        return 2 * len(self.heard[p]) > len(self.group[p])

    def is_waited(self, p: Process) -> bool:
        """Return True if p need not wait longer in step 2: p has the sets of a majority, and suspects every
        member whose set it has not.
        """
        return self.has_majority_heard(p) and all(
            q in self.heard[p] or self.suspects(p, q) for q in self.group[p]
        )

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process], named: Process) -> None:
        """Propose, at p, a value of the consensus (steps 2-4): the members from which p has received a set,
        and the messages in the sets.
        """
        require(self.is_changing(p) and self.proposal[p] is None and not self.learned[p])
        require(heard == self.heard[p] and named == p and self.is_waited(p))
        self.proposal[p] = Initial(heard, self.messages_of(p, heard))

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Message]:
        """Return Msg (step 3): the messages in some set of `heard` that no process in `heard` knows to be
        stable.
        """
        v = self.in_view[p]
        return Set() | {
            m
            for q in heard
            for m in self.each(Message)
            if self.is_in_set(p, q, m) and not any(m in self.sent_stable[v][r] for r in heard)
        }

    @action(fairness="weak")
    def decide(self, p: Process) -> None:
        """Decide p's proposal by consensus (step 4); p knows the decision."""
        v = self.in_view[p]
        proposed = self.proposal[p]
        require(proposed is not None and self.decided[v] is None and self.has_majority(p))
        self.decided[v] = proposed
        self.learned[p] = True
        self.sent |= {Decided(v)}

    def has_waited(self, p: Process) -> bool:
        """Return True if p has finished step 2, the wait for the sets of the other members."""
        return self.is_changing(p) and (self.proposal[p] is not None or self.is_waited(p))

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision (steps 5-7): p delivers Msg and installs View; or it kills itself at once."""
        decided = self.decided[self.in_view[p]]
        require(self.learned[p] and self.has_waited(p) and decided is not None)
        if decided is not None:
            self.proposal[p] = None
            if p in decided.view:
                for m in self.each(Message):
                    if m in decided.messages and m not in self.handed[p]:
                        emit(Deliver(p, m))
                self.handed[p] |= decided.messages
                self.install(p, decided.view)
            else:
                self.stay_out(p)

    def install(self, p: Process, members: Set[Process]) -> None:
        """Install the view (step 7)."""
        super().install(p, members)
        self.unstable[p] = Set()
        self.acked[p] = Set()
        self.heard[p] = Set()
        self.learned[p] = False

    # What a process can do it does --------------------------------------------------------------------------

    def can_step(self, p: Process) -> bool:
        """Return True if p is up, and can take a step without a message."""
        return (
            not self.is_gone(p)
            and self.is_changing(p)
            and (
                (self.learned[p] and self.has_waited(p))
                or (self.proposal[p] is None and not self.learned[p] and self.is_waited(p))
            )
        )

    @constraint("vscast", "crash", "suspect", "detect", "trust", "call", "arrive", "arrive_in_vain", "decide")
    def nobody_can_step(self) -> bool:
        """Bound: no process can take a step without a message."""
        return not any(self.can_step(q) for q in self.each(Process))

    @constraint("propose", "adopt")
    def is_first_that_can_step(self, p: Process) -> bool:
        """Bound: p takes a step only if no process with a lower index can take one."""
        return not any(self.can_step(q) for q in self.each(Process) if q < p)


class VscByMessageChecked(VscByMessage, VscChecked):
    """Figure 29 message by message, checked against view-synchronous communication."""
