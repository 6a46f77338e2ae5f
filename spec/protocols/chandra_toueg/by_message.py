"""Figure 6 with its messages on their way: each message is received in a step of its own.

In figure 6 a process takes what it needs from everything that was sent to it. In this module a message lies
in `network` until its receiver has it, and then in the receiver's `inbox`. The steps are those of figure 6,
which read the inbox. So every run of this module is a run of figure 6; an implementation does the same steps
in the same order.

| figure 6                                          | here                                              |
|---------------------------------------------------|---------------------------------------------------|
| wait until estimates, replies of a majority came  | the step is taken as soon as they are in `inbox`  |
| select one estimate with the largest timestamp    | that of the first process                         |
| received the estimate, or suspect the coordinator | the estimate goes before the suspicion            |
| R-broadcast(decide), when R-deliver: decide       | a process decides, and sends the decision to all  |
|                                                   | others; whoever receives it first does the same   |

A process that has decided takes no more steps: its decision makes all others decide. A process drops messages
of rounds before its own, since it would never read them.

Source: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 6.2, figure 6; section 3.1.1 of Barchet-Estefanel 2002 for the R-broadcast.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, constraint, everywhere, record, require
from antiphon.spec.protocols.chandra_toueg.figure6 import Estimate, Phase, Proposal, Reply
from antiphon.spec.protocols.chandra_toueg.properties import ChandraTouegChecked
from antiphon.spec.services.consensus import Value
from antiphon.spec.services.events import Process


@record
class Decided:
    """Message of a decision: of the figure's (p, r_p, estimate_p, decide) it carries the estimate alone."""

    value: Value


@record
class Packet:
    """Packet that is on its way to the process `to`."""

    to: Process
    content: Estimate | Proposal | Reply | Decided


class ChandraTouegByMessage(ChandraTouegChecked):
    """Figure 6, message by message, with a failure detector of class eventually S."""

    network: Set[Packet] = Set()
    inbox: Map[Process, Set[Estimate | Proposal | Reply]] = everywhere(Set())

    # What a process has -------------------------------------------------------------------------------------

    def have_sent_estimates(self, p: Process) -> Set[Process]:
        """Return the processes whose estimates for p's round p has received."""
        return Set(
            q
            for q in self.each(Process)
            if any(
                isinstance(item, Estimate) and item.process == q and item.round == self.round[p]
                for item in self.inbox[p]
            )
        )

    def have_replied(self, p: Process) -> Set[Process]:
        """Return the processes whose replies for p's round p has received."""
        return Set(
            q
            for q in self.each(Process)
            if any(
                isinstance(item, Reply) and item.process == q and item.round == self.round[p]
                for item in self.inbox[p]
            )
        )

    def has_proposal(self, p: Process) -> bool:
        """Return True if p has received the proposal of its round."""
        return any(isinstance(item, Proposal) and item.round == self.round[p] for item in self.inbox[p])

    # Sending ------------------------------------------------------------------------------------------------

    def send(self, p: Process, q: Process, content: Estimate | Proposal | Reply) -> None:
        """Send a message from p to q; a message to itself is received at once."""
        if p == q:
            self.inbox[p] |= {content}
        else:
            self.network |= {Packet(q, content)}

    def tell_decision(self, p: Process, value: Value) -> None:
        """Send p's decision to all other processes, and empty p's inbox."""
        self.inbox[p] = Set()
        self.network |= Set(Packet(q, Decided(value)) for q in self.each(Process) if q != p)

    # The steps of figure 6 ----------------------------------------------------------------------------------

    @action
    def propose(self, p: Process, v: Value) -> None:
        """Propose v, if p has not decided."""
        require(not self.has_decided(p))
        super().propose(p, v)

    @action
    def begin_round(self, p: Process) -> None:
        """Begin a round (phase 1): send the estimate to the coordinator."""
        super().begin_round(p)
        r = self.round[p]
        self.inbox[p] = Set(item for item in self.inbox[p] if item.round >= r)
        value = self.estimate[p]
        if r >= 1 and value is not None:
            self.send(p, self.coordinator(r), Estimate(p, r, value, self.timestamp[p]))

    @action
    def gather(self, p: Process, heard: Set[Process], chosen: Estimate) -> None:
        """Select an estimate (phase 2) from all that the coordinator has received."""
        require(not self.has_decided(p) and heard == self.have_sent_estimates(p))
        require(
            not any(
                isinstance(item, Estimate)
                and item.round == chosen.round
                and item.timestamp == chosen.timestamp
                and item.process < chosen.process
                for item in self.inbox[p]
            )
        )
        super().gather(p, heard, chosen)
        for q in self.each(Process):
            self.send(p, q, Proposal(chosen.round, chosen.value))

    @action
    def adopt(self, p: Process, proposal: Proposal) -> None:
        """Adopt the coordinator's proposal (phase 3), which p has received."""
        require(not self.has_decided(p) and proposal in self.inbox[p])
        super().adopt(p, proposal)
        self.send(p, self.coordinator(proposal.round), Reply(p, proposal.round, True))

    @action
    def refuse(self, p: Process) -> None:
        """Refuse (phase 3): p suspects the coordinator, whose proposal p has not received."""
        require(not self.has_decided(p) and not self.has_proposal(p))
        r = self.round[p]
        super().refuse(p)
        if r >= 1:
            self.send(p, self.coordinator(r), self.reply_to_suspected(p, r))

    @action
    def count(self, p: Process, heard: Set[Process]) -> None:
        """Count the replies that have come (phase 4). A coordinator that broadcasts a decision delivers the
        decision to itself at once.
        """
        require(not self.has_decided(p) and heard == self.have_replied(p))
        super().count(p, heard)
        value = self.estimate[p]
        if value is not None and value in self.cast[p]:
            self.r_deliver(p, value)
            self.tell_decision(p, value)

    # Receiving ----------------------------------------------------------------------------------------------

    @action
    def receive(self, packet: Packet) -> None:
        """Receive a message from the network."""
        require(packet in self.network and not self.is_gone(packet.to))
        self.network -= {packet}
        p = packet.to
        content = packet.content
        if not self.has_decided(p):
            if isinstance(content, Decided):
                self.r_deliver(p, content.value)
                self.tell_decision(p, content.value)
            elif content.round >= self.round[p]:
                self.inbox[p] |= {content}

    @constraint("receive_cast")
    def in_a_packet(self) -> bool:
        """Bound: the step `receive_cast` never happens, since a packet carries the decision to each
        process.
        """
        return False

    @constraint("receive_last_cast")
    def in_a_packet_too(self) -> bool:
        """Bound: the step `receive_last_cast` never happens, since a packet carries the decision to each
        process.
        """
        return False

    # One process after the other ----------------------------------------------------------------------------

    def can_step(self, p: Process) -> bool:
        """Return True if p, which is up, can take a step of figure 6."""
        if self.is_gone(p) or self.has_decided(p):
            return False
        phase = self.phase[p]
        return (
            (phase is Phase.looping and self.round[p] < self.rounds)
            or (phase is Phase.gathering and self.is_majority(self.have_sent_estimates(p)))
            or (phase is Phase.waiting and self.has_proposal(p))
            or (phase is Phase.waiting and self.round[p] >= 1 and self.suspects_coordinator(p))
            or (phase is Phase.counting and self.is_majority(self.have_replied(p)))
        )

    def suspects_coordinator(self, p: Process) -> bool:
        """Return True if p suspects the coordinator of its round."""
        r = self.round[p]
        return r >= 1 and self.is_suspected(p, self.coordinator(r))

    @constraint("propose", "receive", "crash", "suspect", "detect", "trust")
    def nobody_can_step(self) -> bool:
        """Bound: no process can take a step, so that receptions wait until all steps that are possible are
        taken.
        """
        return not any(self.can_step(q) for q in self.each(Process))

    @constraint("begin_round", "gather", "adopt", "refuse", "count")
    def is_first_that_can_step(self, p: Process) -> bool:
        """Bound: p takes a step only if no process with a lower index can take one."""
        return not any(self.can_step(q) for q in self.each(Process) if q < p)
