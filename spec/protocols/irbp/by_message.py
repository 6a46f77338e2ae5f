"""Figure 32 with its messages on their way: calls, reports and decisions are received one by one.

In figure 32 a call is R-delivered by all, a report is heard by all, and a decision is known to all, as soon
as they exist. In this module each of them is a packet that lies in `sent`, and a process goes on with the
next step of the figure once it has the packet. A step that needs no packet is taken as soon as it is
possible, by the first process first. Every run of this module is a run of figure 32 with its repairs
(`by_message_refinement.py`); an implementation does the same steps in the same order.

| figure 32                                  | here                                                         |
|--------------------------------------------|--------------------------------------------------------------|
| R-Broadcast (reformation, i)               | `Call`, sent on by whoever receives the first; `calls[p]`    |
| send seqQ_k to all, wait until received    | `Told`; `heard[p]` are those whose reports p has             |
| the decision of consensus                  | `Decided`, from a process that knows it; `learned[p]`        |
| steps 5 to 7                               | one step, `adopt`: nothing of the process lies between them  |
| first msg of recvQ without a number        | `waiting[p]`: in the order in which they came                |
| the first member of TL holds the token     | it passes it on by NULL in the same step, as in lines 10-11  |

What is folded, and why that is sound:
1. `sent` only grows: a message may come at any time, twice, or never. A process takes a call and a report
   once, and a packet of another list than its own not at all. A packet that comes too early stays in `sent`
   until its list is installed, as the channel keeps it; one that comes too late has no reader.
2. A report is what its sender has in `reported` and `bodies`: it is sent once for each list, and no process
   reports for another list while a process that uses this list still waits (`nobody_waits_behind`).
3. What is received in the normal phase may come from whoever has it, as in `normal_phase.py`.
4. Consensus is the service of figure32.py; a process that proposes after the decision learns the decision.
5. Who is not in TL kills itself without delivering Msg before: `deliver_first` is about those who install a
   list, and who is excluded counts as failed.

Source: Barchet-Estefanel 2002, section 4.4.2, figure 32; section 3.1.1 for the R-broadcast.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Const,
    In,
    Map,
    Seq,
    Set,
    action,
    budget,
    constraint,
    emit,
    environment,
    everywhere,
    initial,
    invariant,
    record,
    require,
    witness,
)
from antiphon.spec.protocols.irbp.figure32 import Phase
from antiphon.spec.protocols.irbp.normal_phase import Ack, Data, Number, Sequenced
from antiphon.spec.protocols.irbp.properties import IrbpChecked, IrbpProperties
from antiphon.spec.services import Deliver, Message, Process, View
from antiphon.spec.services.detectors import Trust


@record
class Call:
    """Packet (reformation, i): a call of a view change, sent or sent on by `sender`."""

    sender: Process
    version: View


@record
class Told:
    """Packet with the report of `sender` for the list with this version."""

    sender: Process
    version: View


@record
class Decided:
    """Packet with the decision (TL, Msg) for the list with this version."""

    version: View


class IrbpByMessage(IrbpProperties):
    """iRBP with regular views, message by message."""

    trusting: Const[bool] = False
    """True if a suspicion of a process that is up may end."""

    sent: Set[Data | Ack | Call | Told | Decided] = Set()
    calls: Map[Process, bool] = everywhere(False)
    heard: Map[Process, Set[Process]] = everywhere(Set())
    learned: Map[Process, bool] = everywhere(False)
    waiting: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())

    @initial
    def start(self) -> None:
        """Begin with the token at the first member of the first list, which passes it on (lines 10-11)."""
        super().start()
        first = Process(0)
        if not self.announced:
            self.send_number(first, None)

    # The normal phase: what is sent to all lies in `sent` ---------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message (lines 12-15)."""
        super().broadcast(p, m)
        self.sent |= {Data(m, self.version[p])}
        self.waiting[p] += (m,)

    def send_number(self, p: Process, m: Message | None) -> None:
        """Send p's next number with m, or with NULL, to all (lines 54 and 61)."""
        k = self.last_number[p] + 1
        super().send_number(p, m)
        self.sent |= {Ack(self.version[p], p, m, k)}

    def unnumbered(self, p: Process) -> Message | None:
        """Return the message to number (line 59): of those without a number, the one that p received
        first.
        """
        return next((m for m in self.waiting[p]), None)

    def learn(self, p: Process, item: Sequenced) -> None:
        """Add the number of a message to seqQ_p (line 26); the message no longer waits for a number."""
        super().learn(p, item)
        self.waiting[p] = tuple(m for m in self.waiting[p] if m != item.message)

    # Calls --------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def call(self, p: Process, q: Process) -> None:
        """Call a reformation when p suspects a member of TL_i: R-Broadcast (reformation, i), even if others
        have called.
        """
        require(self.phase[p] == Phase.normal and not self.calls[p])
        require(q in self.token_list(p) and self.suspected[p][q] and self.has_view_left(p))
        self.r_deliver(p)

    def r_deliver(self, p: Process) -> None:
        """Receive, at p, the call of a view change, and send it on to all."""
        v = self.version[p]
        self.called[v] = True
        self.calls[p] = True
        self.sent |= {Call(p, v)}

    @environment
    def trust(self, p: Process, q: Process) -> None:
        """End p's suspicion of q, which is up. The figure does not say that a suspicion ends; what p has done
        because of it stays done.
        """
        require(self.trusting and self.suspected[p][q] and not self.is_gone(p) and not self.is_gone(q))
        self.suspected[p][q] = False
        emit(Trust(p, q))

    # What comes in ------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def arrive(self, p: Process, packet: Annotated[Data | Ack | Call | Told | Decided, In("sent")]) -> None:
        """Receive a message that changes something at p."""
        require(self.matters(p, packet) and not self.is_gone(p))
        if isinstance(packet, Data):
            self.received[p] |= {packet.message}
            if not self.is_numbered(p, packet.message):
                self.waiting[p] += (packet.message,)
        elif isinstance(packet, Ack):
            self.learn(p, Sequenced(packet.message, packet.number))
        elif isinstance(packet, Call):
            self.r_deliver(p)
        elif isinstance(packet, Told):
            self.heard[p] |= {packet.sender}
        else:
            self.learned[p] = True
            self.proposal[p] = None

    @environment
    def arrive_in_vain(
        self, p: Process, packet: Annotated[Data | Ack | Call | Told | Decided, In("sent")]
    ) -> None:
        """Receive a packet that changes nothing at p: a repeated one, or one of a kind that p does not take
        now.
        """
        require(packet.version == self.version[p] and not self.matters(p, packet) and not self.is_gone(p))
        require(not self.is_from(p, packet))

    def is_from(self, p: Process, packet: Data | Ack | Call | Told | Decided) -> bool:
        """Return True if p itself sent the packet; with `assigned` process k mod n sends message k."""
        if isinstance(packet, Data):
            return p.index == packet.message.index % self.processes
        if isinstance(packet, Decided):
            return False
        return packet.sender == p

    def matters(self, p: Process, packet: Data | Ack | Call | Told | Decided) -> bool:
        """Return True if the packet changes something: p is up, takes packets of this kind now, and does not
        have this one.
        """
        if isinstance(packet, Data):
            return packet.version == self.version[p] and self.is_missing(p, packet.message)
        if isinstance(packet, Ack):
            return self.is_news(p, packet)
        if packet.version != self.version[p]:
            return False
        if isinstance(packet, Call):
            return not self.calls[p]
        if isinstance(packet, Told):
            return packet.sender not in self.heard[p]
        return not self.learned[p]

    @constraint("receive", "receive_late", "hear", "hear_late", "install")
    def in_another_step(self) -> bool:
        """Bound: messages arrive only by `sent`, and a list is installed only when its decision is
        adopted.
        """
        return False

    # The steps of figure 32 ---------------------------------------------------------------------------------

    @action(fairness="weak")
    def report(self, p: Process) -> None:
        """Send p's report to all (step 1), once p has received the call of a view change."""
        require(self.calls[p])
        super().report(p)
        self.heard[p] |= {p}
        self.sent |= {Told(p, self.version[p])}

    def forget_report(self, p: Process) -> None:
        """Keep p's report, since other processes may still read it."""

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process]) -> None:
        """Propose, at p, a value of the consensus (steps 2-4) that is computed from all reports that p has
        received; p must not know the decision yet.
        """
        require(self.is_waiting(p) and heard == self.heard[p] and self.may_propose(p, heard))
        require(not self.learned[p])
        self.phase[p] = Phase.agreeing
        self.proposal[p] = self.initial_value(p, heard)

    def has_reported(self, q: Process, p: Process) -> bool:
        """Return True if p has the report of q."""
        return q in self.heard[p]

    @action(fairness="weak")
    def decide(self, p: Process) -> None:
        """Decide, by consensus, p's proposal (step 4); p knows the decision."""
        v = self.version[p]
        proposed = self.proposal[p]
        require(proposed is not None and self.decision[v] is None)
        require(self.has_majority_proposed(p) and self.is_majority_up(p))
        self.decision[v] = proposed
        self.learned[p] = True
        self.proposal[p] = None
        self.sent |= {Decided(v)}

    def has_waited(self, p: Process) -> bool:
        """Return True if p is through with step 2, and may adopt a decision."""
        return self.phase[p] == Phase.agreeing or (
            self.phase[p] == Phase.changing and self.may_propose(p, self.heard[p])
        )

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision (steps 5-7): p takes and delivers Msg, and installs TL; or it kills itself at
        once.
        """
        decided = self.decision[self.version[p]]
        require(self.learned[p] and self.has_waited(p) and decided is not None)
        if decided is not None:
            self.phase[p] = Phase.adopting
            if p in decided.members:
                self.take(p, decided)
                self.deliver_all(p)
                self.enter(p, decided.members)
            else:
                self.leave(p)

    def deliver_all(self, p: Process) -> None:
        """Deliver, at p, all stable messages in the order of their numbers (lines 79-82). Their bodies are
        there, since each came with Msg.
        """
        for k in self.each(Number):
            if k == self.last_delivered[p] + 1 and any(item.number == k for item in self.stable[p]):
                self.last_delivered[p] = k
                for m in self.each(Message):
                    if Sequenced(m, k) in self.stable[p]:
                        emit(Deliver(p, m))
                self.stable[p] = Set() | {item for item in self.stable[p] if item.number > k}

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Install the list (step 7); its first member passes the token on by NULL."""
        super().enter(p, members)
        self.waiting[p] = ()
        self.calls[p] = False
        self.heard[p] = Set()
        self.learned[p] = False
        self.begins[p] = False
        if self.first_of(members) == p:
            self.send_number(p, None)

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
        super().clear(p)
        self.waiting[p] = ()

    # What a process can do it does --------------------------------------------------------------------------

    def can_step(self, p: Process) -> bool:
        """Return True if p is up, and can take a step without a message."""
        return not self.is_gone(p) and (
            (self.unnumbered(p) is not None and self.holds_token(p))
            or any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p])
            or (self.phase[p] == Phase.normal and self.calls[p])
            or (self.phase[p] == Phase.changing and self.may_propose(p, self.heard[p]))
            or (self.learned[p] and self.has_waited(p))
        )

    @constraint(
        "broadcast", "pass_null", "crash", "suspect", "detect", "trust", "call", "arrive", "arrive_in_vain",
        "decide",
    )  # fmt: skip
    def nobody_can_step(self) -> bool:
        """Bound: no process can take a step without a message."""
        return not any(self.can_step(q) for q in self.each(Process))

    @constraint("sequence", "settle", "deliver", "report", "propose", "adopt")
    def is_first_that_can_step(self, p: Process) -> bool:
        """Bound: p takes a step only if no process with a lower index can take one."""
        return not any(self.can_step(q) for q in self.each(Process) if q < p)

    # Bounds -------------------------------------------------------------------------------------------------

    @constraint("pass_null")
    def spares_numbers(self, p: Process) -> bool:
        """Return True if p may give a number: enough numbers are left for every message that p knows without
        one, and for one NULL of each later list.
        """
        waiting = sum(
            1 for m in self.each(Message) if not self.is_numbered(p, m) and m not in self.collected[p]
        )
        later = self.views - self.version[p]
        return budget(self.last_number[p] + waiting * (1 + self.spare) + later < self.highest)

    @constraint("call")
    def nobody_waits_behind(self) -> bool:
        """Bound: no live process waits in step 2 of a list that others have left."""
        return budget(
            not any(
                not self.is_gone(p)
                and not self.learned[p]
                and any(self.version[q] > self.version[p] for q in self.each(Process))
                for p in self.each(Process)
            )
        )

    @invariant
    def SentIsSent(self) -> bool:
        """Invariant: every message and every ACK that figure 32 remembers as sent is in `sent`."""
        return all(item in self.sent for item in self.data) and all(item in self.sent for item in self.acks)

    @witness
    def StableByDecision(self) -> bool:
        """Witness: the decision (step 6) will deliver a message that no round of the token made stable."""
        return any(
            self.learned[p]
            and self.has_waited(p)
            and not self.is_gone(p)
            and any(
                item.message is not None and item.number > self.settled(p)
                for item in self.agreed(self.version[p])
            )
            for p in self.each(Process)
        )

    def agreed(self, v: View) -> Set[Sequenced]:
        """Return Msg of the decision for list v; empty before the decision."""
        decided = self.decision[v]
        return Set() if decided is None else decided.messages


class IrbpByMessageChecked(IrbpByMessage, IrbpChecked):
    """iRBP message by message, checked against total order broadcast and view-synchronous communication."""
