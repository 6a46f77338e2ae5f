"""How does a coordinator order what everybody sends? SEQUENCER: members forward their messages to it, it multicasts them, all deliver in its order.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005; the document has headings and no line numbers.

What is modelled: forward-table is `forward_table[p]`, received-table `received_table[p][s]` (which sequence numbers of s p has accepted; the text's
entry is the highest of them, and no entry is the empty set), a tag the pair of `sender` and `number`. UNICAST is a reliable channel for each pair
of processes, NAKACK a log for each coordinator, which everybody reads in order and without gaps for as long as the coordinator is in its view. A
coordinator's own copy comes back by the same way (`loopback`).

The document says of views only what to do when one comes. `Membership` is kind: views are the same for all, only who has crashed or stopped is
excluded, and no view forms before the last is installed everywhere. Kind, too: a broadcast is received only after the view that it was sent
in (a new coordinator's view comes before its broadcasts), and, unless `synchrony` says otherwise, no broadcast of a process that is not in the
receiver's view. `hand_over` makes another member coordinator, without a departure. Left out: messages without a header and unicasts,
which pass; the copy of the message, which is the matter of `sequencer_copy.py`. Every run ends, since messages, faults and views are limited: what
must come about is judged where nothing more can happen.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Installed, Membership, View
from antiphon.spec.environment.fifo import FifoMulticast, Position, Unicast
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Map,
    Reading,
    Repair,
    Set,
    action,
    emit,
    environment,
    everywhere,
    expect,
    invariant,
    obligation,
    on,
    reading,
    record,
    repair,
    require,
    witness,
)
from antiphon.spec.services import Broadcast, Crash, Deliver, Message, Process, TotalOrderBroadcast

Number = Annotated[int, Between(1, "messages")]
"""A sequence number that was given to a message."""


@record
class Forward:
    """A message with a FORWARD header, whose tag is (sender, number), on its way to one process."""

    to: Process
    sender: Process
    number: Number
    message: Message


@record
class Data:
    """A message with a DATA header, multicast in a view."""

    view: View
    sender: Process
    number: Number
    message: Message


class Sequencer(Membership, Unicast[Forward], FifoMulticast[Data]):
    """SEQUENCER, section "Design"."""

    stops: Const[int] = 0
    handovers: Const[bool] = False

    loopback: Reading = reading(
        "at once", "queued", about="whether the coordinator receives its own multicast as it sends it, or later, as everybody else"
    )
    self_unicast: Reading = reading(
        "at once", "queued", about="whether what a new coordinator sends to the new coordinator arrives as it is sent, or through UNICAST"
    )

    from_left: Reading = reading(
        "taken", "refused", about="whether UNICAST passes up what was sent by a process that is not in the view of the receiver any more"
    )

    keep_early: Repair = repair(
        "On reception, FORWARD: a process that is not coordinator keeps what was forwarded to it, until it is", answers="SEQ-11"
    )
    flush: Repair = repair(
        "On view change: the survivors leave a view only after all of them have received what any of them has, and send nothing meanwhile",
        answers="SEQ-08",
    )
    only_members: Repair = repair(
        "Deliver: a message of a sender who is not in the view, and whose entry is gone, is discarded", answers="SEQ-13"
    )
    resend_on_change: Repair = repair("On view change: resend whenever the coordinator is another one, not only if it left", answers="SEQ-21")
    remember_each: Repair = repair("Deliver: received-table remembers each seqno, not only the highest", answers="SEQ-04")
    remember_own: Repair = repair("On send: the coordinator, too, keeps its message in the forward-table until it has it back", answers="SEQ-10")
    wait_before_stop: Repair = repair("On stop: wait until forward-table is empty", answers="SEQ-19")
    wait_for_all: Repair = repair(
        "Deliver: a message is delivered after all members of the view have received it", answers="SEQ-20", builds_on=("flush",)
    )

    broadcasts: Annotated[int, Between(0, "messages")] = 0
    last_number: Map[Process, Annotated[int, Between(0, "messages")]] = everywhere(0)
    forward_table: Map[Process, Map[Number, Message | None]] = everywhere(everywhere(None))
    received_table: Map[Process, Map[Process, Set[Number]]] = everywhere(everywhere(Set()))
    passed_up: Map[Process, Map[Process, Position]] = everywhere(everywhere(0))
    stopped: Map[Process, bool] = everywhere(False)
    handed_over: Annotated[int, Between(0, "views")] = 0

    # Helpers -----------------------------------------------------------------------------------------------------------------------------

    def coordinator(self, p: Process) -> Process | None:
        """The coordinator of p's view: its first member, from the hand-over on its last."""
        if self.handed_over > 0 and self.handed_over <= self.installed[p]:
            return next((q for q in self.each(Process) if q in self.current_members(p) and not any(r > q for r in self.current_members(p))), None)
        return next((q for q in self.each(Process) if q in self.current_members(p)), None)

    def has_pending(self, p: Process) -> bool:
        """P has sent what it has not yet received as a broadcast."""
        return any(self.forward_table[p][k] is not None for k in self.each(Number))

    def is_blocked(self, p: Process) -> bool:
        """As repaired: p is about to leave its view, and sends nothing."""
        return self.flush and self.may_install(p)

    def goes_on(self, p: Process, q: Process) -> bool:
        """Q goes with p from p's view to the view that has formed."""
        return q in self.members[self.formed] and q in self.current_members(p)

    def is_held(self, s: Process, k: Position, q: Process) -> bool:
        """Q has received the multicast at position k of s (from 0), or is s itself."""
        return k < (len(self.log[s]) if q == s else self.heard[s][q])

    def may_hear(self, p: Process, s: Process) -> bool:
        """The next multicast of s may be received by p now."""
        if not self.has_multicast(s, p) or not self.is_member(p):
            return False
        k = self.heard[s][p]
        if self.log[s][k].view > self.installed[p]:
            return False
        if s not in self.current_members(p):
            return not self.flush and self.synchrony == "none"
        return not self.is_blocked(p) or any(self.goes_on(p, q) and self.is_held(s, k, q) for q in self.each(Process))

    def may_take_forward(self, p: Process, q: Process) -> bool:
        """P is the coordinator, and multicasts what q forwards to it."""
        return self.is_coordinator(p) and not self.is_blocked(p) and (self.from_left == "taken" or q in self.current_members(p))

    def is_flushed(self, p: Process) -> bool:
        """P has received and passed up what any of those has received who go on with it."""
        return all(
            (not self.may_hear(p, s)) and (not self.wait_for_all or self.passed_up[s][p] == self.heard[s][p])
            for s in self.each(Process)
        )

    def is_stable(self, p: Process, s: Process) -> bool:
        """What p would pass up next from s has arrived at all members of the view, or at all who go on from it."""
        k = self.passed_up[s][p]
        return all(
            self.is_held(s, k, q) or (self.is_blocked(p) and (self.down[q] or not self.goes_on(p, q)))
            for q in self.each(Process)
            if q in self.current_members(p)
        )

    def is_received(self, p: Process, s: Process, k: Number) -> bool:
        """Deliver: "If M was already delivered (M's seqno is <= the one in received-table)"."""
        return any(k == other or (k < other and not self.remember_each) for other in self.received_table[p][s])

    def first_view(self, p: Process) -> View:
        """The view with which p came into the group; nothing that was sent before reaches it."""
        return next((v for v in self.each(View) if p in self.members[v]), self.formed)

    # Multicast and Deliver ---------------------------------------------------------------------------------------------------------------

    def multicast_data(self, p: Process, s: Process, k: Number, m: Message) -> None:
        """Multicast(M,S): replace FORWARD by DATA and multicast."""
        self.multicast(p, Data(self.installed[p], s, k, m))
        if self.loopback == "at once":
            self.hear(p, p)
            if not self.wait_for_all:
                self.deliver(p, s, k, m)

    def deliver(self, p: Process, s: Process, k: Number, m: Message) -> None:
        """Deliver(M,S): the own message leaves the forward-table; what was already delivered is discarded."""
        if p == s:
            self.forward_table[p][k] = None
        foreign = self.only_members and s not in self.current_members(p)
        if not foreign and not self.is_received(p, s, k):
            expect(
                self.first_view(p) > 1
                or (all(other < k for other in self.received_table[p][s]) and (k == 1 or (k - 1) in self.received_table[p][s])),
                "NextNumber",
            )
            self.received_table[p][s] |= {k}
            emit(Deliver(p, m))

    # On send(M) --------------------------------------------------------------------------------------------------------------------------

    @action
    def send(self, p: Process, m: Message) -> None:
        """A member forwards to the coordinator and remembers, the coordinator multicasts (On send)."""
        to = self.coordinator(p)
        require(m.index == self.broadcasts and to is not None and not self.is_blocked(p))
        self.broadcasts += 1
        self.last_number[p] += 1
        k = self.last_number[p]
        emit(Broadcast(p, m))
        if to == p:
            if self.remember_own:
                self.forward_table[p][k] = m
            self.multicast_data(p, p, k, m)
        elif to is not None:
            self.forward_table[p][k] = m
            self.unicast_to(p, to, Forward(to, p, k, m))

    @environment
    def leave(self, p: Process) -> None:
        """Nobody waits (On stop: "I decided not to implement this"): p stops for ever, whatever is in its forward-table."""
        require(not self.down[p] and p in self.members[self.formed] and self.formed < self.views)
        require(any(q != p and not self.down[q] for q in self.members[self.formed]))
        require(sum(1 for q in self.each(Process) if self.stopped[q]) < self.stops)
        require(not self.wait_before_stop or not self.has_pending(p))
        self.stopped[p] = True
        self.down[p] = True
        emit(Crash(p))

    # On reception of M from S ------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_forward(self, p: Process, q: Process) -> None:
        """FORWARD, at the coordinator: Multicast(M,S)."""
        require(self.has_packet(q, p) and self.may_take_forward(p, q))
        packet = self.channel[q][p][0]
        self.take(q, p)
        self.multicast_data(p, packet.sender, packet.number, packet.message)

    @action(fairness="weak")
    def receive_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """The same, where UNICAST does not keep the order."""
        p = packet.to
        require(self.may_take_forward(p, packet.sender))
        self.loose -= {packet}
        self.multicast_data(p, packet.sender, packet.number, packet.message)

    @action(fairness="weak")
    def refuse_forward(self, p: Process, q: Process) -> None:
        """FORWARD, "If not coord: error and return"."""
        require(self.has_packet(q, p) and not self.is_coordinator(p) and not self.keep_early)
        self.take(q, p)

    @action(fairness="weak")
    def refuse_loose_forward(self, packet: Annotated[Forward, In("loose")]) -> None:
        """The same, where UNICAST does not keep the order."""
        require(not self.is_coordinator(packet.to) and not self.keep_early)
        self.loose -= {packet}

    @action(fairness="weak")
    def receive_data(self, p: Process, s: Process) -> None:
        """DATA: "Take sender S from header and call Deliver(M,S)"."""
        require(self.may_hear(p, s))
        packet = self.log[s][self.heard[s][p]]
        self.hear(s, p)
        if not self.wait_for_all and packet.view >= self.first_view(p):
            self.deliver(p, packet.sender, packet.number, packet.message)

    @action(fairness="weak")
    def pass_up(self, p: Process, s: Process) -> None:
        """Only as repaired: everybody has the message, and p delivers it."""
        require(self.wait_for_all and self.passed_up[s][p] < self.heard[s][p] and self.is_stable(p, s))
        packet = self.log[s][self.passed_up[s][p]]
        self.passed_up[s][p] += 1
        if packet.view >= self.first_view(p):
            self.deliver(p, packet.sender, packet.number, packet.message)

    # On view change ----------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """On view change: "If the coord leaves/crashes", resend in increasing order of seqnos; "Remove entries for left members"."""
        require(self.may_install(p) and (not self.flush or self.is_flushed(p)))
        before = self.coordinator(p)
        self.install(p)
        after = self.coordinator(p)
        if before is not None and after is not None:
            if before not in self.current_members(p) or (self.resend_on_change and before != after):
                for k in self.each(Number):
                    self.resend(p, after, k)
        for s in self.each(Process):
            if s not in self.current_members(p):
                self.received_table[p][s] = Set()

    def resend(self, p: Process, to: Process, k: Number) -> None:
        """Change M.dest to the new coord; send M to the new coord."""
        m = self.forward_table[p][k]
        if m is not None:
            if to == p and self.self_unicast == "at once":
                self.multicast_data(p, p, k, m)
            else:
                self.unicast_to(p, to, Forward(to, p, k, m))

    @environment
    def hand_over(self) -> None:
        """A view with the same members, whose coordinator is the last instead of the first, where `handovers` allows it."""
        require(self.handovers and self.handed_over == 0 and self.formed < self.views and self.is_settled())
        require(not any(self.down[p] for p in self.members[self.formed]))
        self.members[self.formed + 1] = self.members[self.formed]
        self.handed_over = self.formed + 1
        self.formed += 1

    # Properties --------------------------------------------------------------------------------------------------------------------------

    @invariant
    def UniqueTags(self) -> bool:
        """Each message "has a unique tag": what is multicast with one tag is one message (section "Reliability on failover of coordinator")."""
        return all(
            a.sender != b.sender or a.number != b.number or a.message == b.message
            for s in self.each(Process)
            for t in self.each(Process)
            for a in self.log[s]
            for b in self.log[t]
        )

    @invariant
    def OnlyCoordinatorMulticasts(self) -> bool:
        """In the first view "it is only the coordinator who sends multicasts" (section "Motivation")."""
        return self.formed > 1 or all(len(self.log[p]) == 0 or self.coordinator(p) == p for p in self.each(Process))

    @invariant
    def OwnUnseen(self) -> bool:
        """forward-table holds own messages "that have not yet been received (as bcasts)" (section "Design")."""
        return all(self.forward_table[p][k] is None or k not in self.received_table[p][p] for p in self.each(Process) for k in self.each(Number))

    @invariant
    def EntriesOfMembers(self) -> bool:
        """received-table "has N entries, where N is the number of members in the group" (section "Design"): at most, and only for members."""
        return all(
            len(self.received_table[p][s]) == 0 or s in self.current_members(p) for p in self.each(Process) for s in self.each(Process)
        )

    @obligation
    def Acknowledged(self) -> bool:
        """Every forward-table of a member that is up becomes empty: the member has received its messages as broadcasts."""
        return all(self.down[p] or not self.has_pending(p) for p in self.each(Process))

    @witness
    def Resent(self) -> bool:
        """A new coordinator multicasts a message of another member that was sent to the old one."""
        return any(packet.view > 1 and packet.sender != s for s in self.each(Process) for packet in self.log[s])

    @witness
    def AllDelivered(self) -> bool:
        """Everything was sent, and everybody has accepted it."""
        return self.broadcasts == self.messages and all(
            self.last_number[s] in self.received_table[p][s] or self.last_number[s] == 0 for p in self.each(Process) for s in self.each(Process)
        )


class SequencerJudged(Sequencer, TotalOrderBroadcast):
    """SEQUENCER, judged by total order broadcast."""

    @obligation
    def NothingLostAtStop(self) -> bool:
        """What was sent by a process that stopped is delivered by some member that is up."""
        return all(
            not any(self.origin[m] == p and self.stopped[p] for p in self.each(Process))
            or any(not self.down[q] and self.delivered[q][m] for q in self.each(Process))
            for m in self.each(Message)
        )

    @obligation
    def SurvivorsHeard(self) -> bool:
        """What a member that is up has sent is delivered by every member that is up ("Reliability on failover of coordinator")."""
        return all(
            not any(self.origin[m] == p and not self.down[p] for p in self.each(Process))
            or all(self.delivered[q][m] or self.down[q] for q in self.each(Process))
            for m in self.each(Message)
        )

    @invariant
    def SenderOrder(self) -> bool:
        """Messages of one sender are delivered in the order in which it sent them."""
        return not any(self.is_overtaken(p, m, n) for p in self.each(Process) for m in self.each(Message) for n in self.each(Message))

    @witness
    def Overtaken(self) -> bool:
        """Somebody delivers two messages of one sender, the later one first."""
        return any(self.is_overtaken(p, m, n) for p in self.each(Process) for m in self.each(Message) for n in self.each(Message))

    def is_overtaken(self, p: Process, m: Message, n: Message) -> bool:
        """P delivered n before m, which has the same sender and was sent earlier."""
        at = self.place[p][m]
        before = self.place[p][n]
        return m < n and self.origin[m] == self.origin[n] and at is not None and before is not None and before < at


class SequencerViews(SequencerJudged):
    """The same, with the view in which each process delivered each message (0: it has not)."""

    delivered_in: Map[Process, Map[Message, Installed]] = everywhere(everywhere(0))

    @on(Deliver)
    def judge_view(self, event: Deliver) -> None:
        """Members that are up deliver a message in one view; a joiner delivers nothing that one of them delivered before it was there."""
        p = event.process
        m = event.message
        if m is not None:
            for q in self.each(Process):
                v = self.delivered_in[q][m]
                if v > 0 and v != self.installed[p]:
                    expect(self.crashed[q], "SameViewDelivery", Deliver(q, m))
                if v > 0 and v < self.first_view(p):
                    expect(self.crashed[q], "NothingBeforeJoining", Deliver(q, m))
            self.delivered_in[p][m] = self.installed[p]
