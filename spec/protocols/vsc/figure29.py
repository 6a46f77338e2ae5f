"""The view change of view-synchronous communication (VSC), as figure 29 prints it.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, section 4.3.2, figure 29 (after A. Schiper 2002), steps 1-7. What departs from the print stands in
repairs.py and readings.py, the message stability detector that runs concurrently in stability.py, failures
and bounds in bounds.py: none of it is known here.

| figure 29              | here                                                                            |
|------------------------|---------------------------------------------------------------------------------|
| v_i(g)                 | `group[p]`, where p is in view i, `in_view[p]`                                   |
| (i, m)                 | `Data(to, i, m)`, on its way to one process                                     |
| unstable_k             | `unstable[p]`; as it was sent for the change of view i, `sent_unstable[i][p]`    |
| R-Broadcast(view-change, i) | `r_broadcast(p, i)` of `Casting`                                           |
| steps 1-7              | while `is_changing(p)`                                                          |
| init_k                 | `proposal[p]`                                                                   |
| (View, Msg)            | `decided[i]`                                                                    |
| VS-delivered           | `handed[p]`                                                                     |

What is abstracted, and why that is sound:
1. Channels are reliable: what a process sends to one that stays up arrives, in any order. What a process that
   crashes has sent may be lost.
2. Reliable broadcast is a service, `Casting`: what is R-broadcast all that stay up R-deliver, or nobody does,
   and each R-delivers (view-change, i) once, whoever has called: "for the first time". Consensus is one too,
   as `services.consensus` has it: whoever learns the decision first makes it, from the initial values.
3. A set `unstable_i` that was sent is received when it is used: a process that has sent one by then is heard,
   or, if it is suspected, perhaps not. A delay in the channel can make no other difference.
4. Whoever suspects a member of its view goes on doing so: a view change is called as long as it does.
5. Steps 2-4 from the end of the waiting on, and steps 5-7, are one step each: p alone takes them. A crash
   between them is, for the others, one before or after.

What is decided, because the figure is silent:
1. A message of a later view that arrives early is received once p is in that view (a reading drops
   it); one of an earlier view never is. So it is with (view-change, i), whose step 2 speaks of v_i(g).
2. Sets `unstable_i` carry no view. Of two of them that one process has sent the older is read first.
3. `unstable_k` is not emptied by step 7.
4. A process that is not in View stays where it is.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import InFlight
from antiphon.spec.environment.detectors import Suspicions
from antiphon.spec.lang import (
    Between,
    In,
    Map,
    Set,
    action,
    emit,
    everywhere,
    initial,
    record,
    require,
)
from antiphon.spec.services.broadcast import Casting
from antiphon.spec.services.events import Broadcast, Deliver, Install, Message, Process, View, Views


@record
class Data:
    """Message (i, m): m, multicast in view i, on its way to one process."""

    to: Process
    view: View
    message: Message


@record
class Initial:
    """Pair (View, Msg): an initial value of consensus, and its decision."""

    view: Set[Process]
    messages: Set[Message]


class ViewChange(InFlight[Data], Casting[View], Suspicions, Views):
    """View-synchronous communication: VSCast, and the change from a view to the next."""

    in_view: Map[Process, View] = everywhere(1)
    group: Map[Process, Set[Process]] = everywhere(Set())
    handed: Map[Process, Set[Message]] = everywhere(Set())
    unstable: Map[Process, Set[Message]] = everywhere(Set())
    left_out: Map[Process, bool] = everywhere(False)
    sent_unstable: Map[View, Map[Process, Set[Message] | None]] = everywhere(everywhere(None))
    unread: Map[Process, Map[Process, View | None]] = everywhere(everywhere(None))
    proposal: Map[Process, Initial | None] = everywhere(None)
    decided: Map[View, Initial | None] = everywhere(None)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @initial
    def found(self) -> None:
        """Found the first view, with all processes."""
        for p in self.each(Process):
            self.group[p] = Set(self.each(Process))

    # VSCast(m) executed by p_k ------------------------------------------------------------------------------

    @action
    def vscast(self, p: Process, m: Message) -> None:
        """Multicast m: `send (i,m) to all in v_i(g)`."""
        require(m.index == self.broadcasts and self.may_send(p))
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.send_to_all(p, m)

    def may_send(self, p: Process) -> bool:
        """Return True if the application may multicast now: the figure has no condition."""
        return True

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send the message to all processes in p's view that have not gone on to a later one."""
        i = self.in_view[p]
        self.network |= {
            Data(q, i, m) for q in self.group[p] if self.is_one_of_all(p, q) and self.in_view[q] <= i
        }

    def is_one_of_all(self, p: Process, q: Process) -> bool:
        """Return True: "all" in `send to all` includes every member of the view, p itself as well."""
        return True

    # Upon reception of (i,m) by p_k while in view v_i(g) ----------------------------------------------------

    @action(fairness="weak")
    def receive(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive a message: `VS-Deliver m`, `add m to the set unstable_k`."""
        p = packet.to
        require(self.arrives(packet))
        self.network -= {packet}
        if self.is_delivered(packet):
            self.take(p, packet.message)

    def arrives(self, packet: Data) -> bool:
        """Return True if the receiver is in the view in which the message was sent."""
        return packet.view == self.in_view[packet.to] and self.takes_messages(packet.to)

    def is_delivered(self, packet: Data) -> bool:
        """Return True if a received message is delivered: it was sent in the present view of its receiver."""
        return packet.view == self.in_view[packet.to]

    def takes_messages(self, p: Process) -> bool:
        """Return True: p always receives messages; the figure's only condition is the view."""
        return True

    def take(self, p: Process, m: Message) -> None:
        """Take m at p: deliver it, and add it to the unstable messages."""
        emit(Deliver(p, m))
        self.handed[p] |= {m}
        self.unstable[p] |= {m}

    # Upon suspicion of some process in v_i(g) ---------------------------------------------------------------

    @action(fairness="weak", per="p")
    def call(self, p: Process, q: Process) -> None:
        """Call a view change: `R-Broadcast(view-change, i)`."""
        i = self.in_view[p]
        require(self.suspects(p, q) and not self.has_cast(p, i))
        self.r_broadcast(p, i)

    def suspects(self, p: Process, q: Process) -> bool:
        """Return True if p suspects q, a process of its view."""
        return q in self.group[p] and self.suspected[p][q]

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if p's failure detector watches q: the other members of its view."""
        return p != q and q in self.group[p]

    # Upon R-Deliver (view-change,i) by p_k for the first time -----------------------------------------------

    def r_deliver(self, p: Process, m: View) -> None:
        """Take up, at p, the call of a view change (step 1): `send unstable_k to all`."""
        super().r_deliver(p, m)
        self.sent_unstable[m][p] = self.unstable[p]

    def may_deliver(self, p: Process, m: View) -> bool:
        """Return True if p may R-deliver the call to change view m: p is in view m, and is not excluded."""
        return m == self.in_view[p] and not self.left_out[p]

    def is_changing(self, p: Process) -> bool:
        """Return True if p has begun to leave its view."""
        return self.in_view[p] in self.taken[p] and not self.left_out[p]

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process], named: Process) -> None:
        """Propose (steps 2-4), when p has heard from every member or suspects it: the members that p has
        heard from, and the messages in their sets.
        """
        require(self.is_changing(p) and self.proposal[p] is None and self.is_named(p, named))
        require(all(q in self.group[p] and self.is_one_of_all(q, p) and self.has_set(p, q) for q in heard))
        require(
            all(q in heard or not self.is_one_of_all(q, p) or self.suspects(p, q) for q in self.group[p])
        )  # step 2
        self.proposal[p] = Initial(
            Set({named}) | heard,
            Set() | {m for q in heard for m in self.each(Message) if self.is_in_set(p, q, m)},
        )  # step 3
        for q in self.each(Process):
            self.note_unread(p, q, q in heard)

    def is_named(self, p: Process, named: Process) -> bool:
        """Return True if `named` may be the p_i of View_k = `p_i ∪` those heard from (step 3): no quantifier
        binds it, so it is any member.
        """
        return named in self.group[p]

    def set_read(self, p: Process, q: Process) -> View:
        """Return the view at whose change q sent the set of unstable messages that p reads next."""
        older = self.unread[p][q]
        return older if older is not None else self.in_view[p]

    def has_set(self, p: Process, q: Process) -> bool:
        """Return True if q has sent a set that p has not read."""
        return self.sent_unstable[self.set_read(p, q)][q] is not None

    def is_in_set(self, p: Process, q: Process, m: Message) -> bool:
        """Return True if m is in the set of q that p reads."""
        sent = self.sent_unstable[self.set_read(p, q)][q]
        return sent is not None and m in sent

    def note_unread(self, p: Process, q: Process, heard: bool) -> None:
        """Note that p goes on without the set of q, if `heard` is False, and will read that set in the next
        change.
        """
        i = self.in_view[p]
        older = self.unread[p][q]
        if heard and older is not None:
            self.unread[p][q] = i
        if not heard and older is None and q in self.group[p]:
            self.unread[p][q] = i

    @action(fairness="weak", per="p")
    def change(self, p: Process, q: Process) -> None:
        """Change the view (steps 4-7): p learns the decision of consensus among v_i(g), delivers the missing
        messages, and installs the view.
        """
        require(self.proposal[p] is not None and self.is_decided(p, q))
        decision = self.decision(p, q)
        if decision is not None:
            self.decided[self.in_view[p]] = decision
            for m in self.each(Message):
                if m in decision.messages and m not in self.handed[p]:
                    emit(Deliver(p, m))  # step 6
            self.handed[p] |= decision.messages
            self.proposal[p] = None
            if p in decision.view:  # step 7
                self.install(p, decision.view)
            else:
                self.stay_out(p)

    def is_decided(self, p: Process, q: Process) -> bool:
        """Return True if p can learn the decision. The first process that learns one chooses it: the proposal
        of some q. For every later one it is chosen, and q = p stands for that one choice.
        """
        if self.decided[self.in_view[p]] is not None:
            return q == p
        return self.proposal[q] is not None and self.in_view[q] == self.in_view[p] and self.has_majority(p)

    def has_majority(self, p: Process) -> bool:
        """Return True if a majority of p's view is up, which consensus needs."""
        return 2 * sum(1 for q in self.group[p] if not self.is_gone(q)) > len(self.group[p])

    def decision(self, p: Process, q: Process) -> Initial | None:
        """Return the decision (step 5, `let (View, Msg) the decision of consensus`)."""
        told = self.decided[self.in_view[p]]
        return told if told is not None else self.proposal[q]

    def install(self, p: Process, members: Set[Process]) -> None:
        """Install the view (step 7, `install View as the next view`), and drop messages that p can no longer
        receive.
        """
        self.network -= {packet for packet in self.network if packet.to == p and self.is_over(p, packet)}
        self.in_view[p] += 1
        self.group[p] = members
        emit(Install(p, self.in_view[p], members))

    def is_over(self, p: Process, packet: Data) -> bool:
        """Return True if the packet is too late for p: it was sent in p's present view, which p is leaving,
        or earlier.
        """
        return packet.view <= self.in_view[p]

    def stay_out(self, p: Process) -> None:
        """Stay in the old view: step 7 has no `else`."""
        self.left_out[p] = True
