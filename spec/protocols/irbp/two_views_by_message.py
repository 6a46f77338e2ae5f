"""Figures 32 and 34 in one group, with their messages on their way: `by_message.py` with i-views and external
processes.

All members of the view decide its next list, external ones too (`whole_view.py`). A process reports once,
whichever of the two views was called, and the proposal says which one comes next.

| figures 32 and 34, sections 4.4.3 to 4.4.5      | here                                                     |
|-------------------------------------------------|----------------------------------------------------------|
| R-Broadcast (i-view, i), (reformation, i)       | `Called`, sent on by whoever receives one of a new kind  |
| p has R-delivered them                          | `begun[p]`                                               |
| "aggressive" and "conservative" timeouts        | `suspected[p][q]`, `given_up[p][q]`                      |
| step 1, for both kinds                          | `report`: seqQ, recvQ, and what `whole_view.py` adds     |
| steps 3 and 4: initial_k                        | `value[i][p]`, a `Choice`: TL, Msg, and the kind of view |
| step 3: "(TL_k)" that is too small              | `Lacks`; `Offered` from who has a value                  |
| step 6 of figure 34, with its `else`            | `adopt`: a process outside TL has the list too           |
| "keep messages while there is available space"  | `kept[p]`, the last `room` of them                       |
| regular view, and the group between two of them | `regular[i]`, `group(p)`                                 |

What is decided, beyond `by_message.py`:
1. A regular view is proposed if one was called, and each process without a report is given up by p or by
   somebody who has reported; otherwise an i-view. A call for either kind may come at any time.
2. Either view ends a list as figure 32 does: all deliver Msg, and all queues are empty then. NULL has the
   first number of each list.
3. Msg has what the proposer keeps for external processes too, as far as somebody lacks it. On the list are
   those that have all numbers before those of Msg.
4. Who finds fewer than a majority for an i-view says so (`Lacks`), and proposes what another one offers.
5. A process that lacks something before Msg when it adopts a decision kills itself, in an i-view also.
6. The members of an i-view keep the order of the list before. Those that are not in TL come after TL.
7. A message that its sender has not delivered when a list ends is sent again, with the same identifier, when
   the sender is in the core (`outstanding`).
8. An external process broadcasts nothing. It calls an i-view when it lacks nothing (`come_back`).
9. A process that is alone in its view exchanges no messages, and takes no step any more here.
10. Numbers become stable in their order.

Source: Barchet-Estefanel 2002, sections 4.4.2 to 4.4.5, figures 32 and 34; section 3.1.1 for the R-broadcast.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Map,
    Seq,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    initial,
    invariant,
    record,
    require,
    restriction,
    witness,
)
from antiphon.spec.protocols.irbp.by_message import Decided, IrbpByMessage, Told
from antiphon.spec.protocols.irbp.figure32 import Phase
from antiphon.spec.protocols.irbp.normal_phase import Ack, Data, LastNumber, Number, Sequenced
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.irbp.two_views import Kind
from antiphon.spec.services import Deliver, Install, Message, Process, View


@record
class Called:
    """Packet (i-view, i) or (reformation, i): a call for a view of this kind, sent or sent on by `sender`."""

    sender: Process
    version: View
    kind: Kind


@record
class Lacks:
    """Packet of a process that finds too few members for an i-view."""

    sender: Process
    version: View


@record
class Offered:
    """Packet with the value that `sender` has proposed, for a process that has none itself."""

    sender: Process
    to: Process
    version: View


@record
class Choice:
    """Value (TL, Msg) with the kind of the view; after Msg, all messages up to number `settled` are over."""

    kind: Kind
    members: Set[Process]
    messages: Set[Sequenced]
    bodies: Set[Message]
    settled: LastNumber


class TwoViewsByMessage(IrbpByMessage):
    """iRBP with regular views and i-views, message by message."""

    room: Const[int] = 3
    """Number of messages that a process of the core keeps for external processes, the last ones."""

    misjudgements: Const[int] = 0
    """Number of times that a conservative detector is wrong."""

    outside: Const[int] = 0
    """Number of processes that are external in the first list, which is then an i-view; its order is the
    first process, and then the others from the last one on.
    """

    misjudged: Annotated[int, Between(0, "misjudgements")] = 0
    sent: Set[Data | Ack | Called | Told | Decided | Lacks | Offered] = Set()  # type: ignore[assignment]
    proposal: Map[Process, Choice | None] = everywhere(None)  # type: ignore[assignment]
    decision: Map[View, Choice | None] = everywhere(None)  # type: ignore[assignment]
    regular: Map[View, bool] = everywhere(False)
    order: Map[View, Annotated[Seq[Process], AtMost("processes")]] = everywhere(())
    given_up: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))
    begun: Map[Process, Set[Kind]] = everywhere(Set())
    kept: Map[Process, Set[Sequenced]] = everywhere(Set())
    outstanding: Map[Process, Set[Message]] = everywhere(Set())
    complete: Map[Process, LastNumber] = everywhere(0)
    """Number up to which p had made everything stable when it reported."""
    gathered: Map[Process, Set[Message]] = everywhere(Set())
    """Messages that p had made stable when it reported."""
    abandoned: Map[Process, Set[Process]] = everywhere(Set())
    """Processes that p had given up when it reported."""
    value: Map[View, Map[Process, Choice | None]] = everywhere(everywhere(None))
    tried: Map[Process, Annotated[int, Between(0, "processes")]] = everywhere(0)
    """Number of reports that p had when they were too few for an i-view; 0: p has not tried since."""
    lacking: Map[Process, Set[Process]] = everywhere(Set())
    offer: Map[Process, Choice | None] = everywhere(None)

    @initial
    def start(self) -> None:
        """Begin with all processes in one view. A list begins with nothing, so that a first list with
        external processes stands for any later one.
        """
        super().start()
        self.listed[1] -= {p for p in self.each(Process) if p.index > 0 and p.index <= self.outside}
        self.regular[1] = self.outside == 0
        first = tuple(p for p in self.each(Process) if p.index == 0)
        rest = tuple(p for p in self.each(Process) if p.index > 0)
        self.order[1] = first + rest if self.outside == 0 else first + tuple(reversed(rest))

    # The view, its core and their order ---------------------------------------------------------------------

    def group(self, p: Process) -> Set[Process]:
        """Return the last regular view: the core and the external processes."""
        v = max((v for v in self.each(View) if v <= self.version[p] and self.regular[v]), default=0)
        return self.listed[v] if v > 0 else self.everybody()

    def everybody(self) -> Set[Process]:
        """Return all processes."""
        return Set() | {q for q in self.each(Process)}

    def is_most(self, p: Process, members: Set[Process]) -> bool:
        """Return True if `members` are a majority of the view of p."""
        return 2 * len(members) > len(self.group(p))

    def is_core(self, p: Process) -> bool:
        """Return True if p is in the token list that it knows."""
        return p in self.token_list(p)

    def is_alone(self, p: Process) -> bool:
        """Return True if p's view has no other member."""
        return len(self.group(p)) == 1

    def is_active(self, p: Process) -> bool:
        """Return True if p takes part in the normal phase: there is somebody to exchange messages with."""
        return super().is_active(p) and not self.is_alone(p)

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if p watches q: a process watches its whole view, since it waits for all of it."""
        return p != q and q in self.group(p)

    def rank(self, v: View, q: Process) -> int:
        """Return the place of q in the order of list v, from 0."""
        return next((i for i in range(len(self.order[v])) if self.order[v][i] == q), 0)

    def is_next(self, members: Set[Process], q: Process, p: Process) -> bool:
        """Return True if p follows q in the ring (line 7), in the order of p's list."""
        v = self.version[p]
        if self.rank(v, q) < self.rank(v, p):
            return not any(
                self.rank(v, q) < self.rank(v, r) and self.rank(v, r) < self.rank(v, p) for r in members
            )
        return not any(
            self.rank(v, q) < self.rank(v, r) or self.rank(v, r) < self.rank(v, p) for r in members
        )

    def first_in(self, v: View) -> Process | None:
        """Return the first process of token list v."""
        return next((q for q in self.order[v] if q in self.listed[v]), None)

    # The normal phase ---------------------------------------------------------------------------------------

    def holds_token(self, p: Process) -> bool:
        """Return True if p holds the token, which is passed among the core only (section 4.4.3)."""
        return self.is_core(p) and super().holds_token(p)

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message, as a member of the core."""
        require(self.is_core(p))
        super().broadcast(p, m)
        self.outstanding[p] |= {m}

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can become stable at p: it has the lowest number in seqQ."""
        return super().can_settle(p, item) and all(one.number >= item.number for one in self.numbered[p])

    @action(fairness="weak")
    def settle(self, p: Process, item: Sequenced) -> None:
        """Make a message stable, and keep it while there are external processes (section 4.4.3)."""
        super().settle(p, item)
        if self.is_core(p) and self.group(p) != self.token_list(p):
            self.kept[p] = Set() | {
                one for one in self.kept[p] | {item} if one.number > item.number - self.room
            }

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Deliver the next stable message."""
        super().deliver(p, item)
        if item.message is not None:
            self.outstanding[p] -= {item.message}

    # Suspicions ---------------------------------------------------------------------------------------------

    def begin(self, p: Process, q: Process) -> None:
        """Let the aggressive detector of p suspect q; p tries again to find enough members."""
        super().begin(p, q)
        self.tried[p] = 0

    @action(fairness="weak")
    def detect(self, p: Process, q: Process) -> None:
        """Let p suspect q, which has crashed or killed itself."""
        require(self.is_gone(q) and self.may_begin(p, q))
        self.begin(p, q)

    @environment
    def suspect(self, p: Process, q: Process) -> None:
        """Suspect q wrongly."""
        require(not self.is_gone(q))
        super().suspect(p, q)

    @action(fairness="weak")
    def conclude(self, p: Process, q: Process) -> None:
        """Give up q, which is gone: the conservative detector of p suspects q as well."""
        require(self.is_gone(q) and self.suspected[p][q] and not self.given_up[p][q] and not self.is_gone(p))
        self.give_up(p, q)

    @environment
    def misjudge(self, p: Process, q: Process) -> None:
        """Give up q wrongly: the conservative detector of p suspects q as well."""
        require(not self.is_gone(q) and self.misjudged < self.misjudgements)
        require(self.suspected[p][q] and not self.given_up[p][q] and not self.is_gone(p))
        self.misjudged += 1
        self.give_up(p, q)

    def give_up(self, p: Process, q: Process) -> None:
        """Note that p has given up q; p tries again to find enough members."""
        self.given_up[p][q] = True
        self.tried[p] = 0

    # Calls --------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def call(self, p: Process, q: Process) -> None:
        """Call an i-view upon suspicion of some process in TL_i (figure 34). An external process does so if
        it suspects the whole core.
        """
        require(q in self.token_list(p) and self.suspected[p][q] and self.has_view_left(p))
        require(self.is_core(p) or all(self.suspected[p][r] for r in self.token_list(p)))
        require(Kind.intermediate not in self.begun[p])
        self.r_deliver(p)

    @action(fairness="weak")
    def call_regular(self, p: Process, q: Process) -> None:
        """Call a regular view because p has given up q (section 4.4.5)."""
        require(q in self.group(p) and self.given_up[p][q] and self.has_view_left(p))
        require(Kind.regular not in self.begun[p])
        self.r_deliver_kind(p, Kind.regular)

    @action(fairness="weak")
    def come_back(self, p: Process) -> None:
        """Call an i-view as an external process that lacks nothing (section 5.2.3, `reintegration of external
        processes in a new i-view`).
        """
        require(self.is_caught_up(p) and self.has_view_left(p) and Kind.intermediate not in self.begun[p])
        self.r_deliver(p)

    def is_caught_up(self, p: Process) -> bool:
        """Return True if the external process p knows a number of its list, and lacks neither a number before
        the highest one that it knows nor a body.
        """
        return (
            not self.is_core(p)
            and self.last_number[p] == self.highest_known(p)
            and all(self.has_body(p, item.message) for item in self.numbered[p])
            and any(ack.version == self.version[p] and self.knows(p, ack.number) for ack in self.acks)
        )

    def r_deliver(self, p: Process) -> None:
        """Receive, at p, the call for an i-view."""
        self.r_deliver_kind(p, Kind.intermediate)

    def r_deliver_kind(self, p: Process, kind: Kind) -> None:
        """Receive, at p, the call for a view of this kind, and send it on to all."""
        v = self.version[p]
        self.called[v] = True
        self.calls[p] = True
        self.begun[p] |= {kind}
        self.tried[p] = 0
        self.sent |= {Called(p, v, kind)}

    # What comes in ------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def arrive(  # type: ignore[override]
        self,
        p: Process,
        packet: Annotated[Data | Ack | Called | Told | Decided | Lacks | Offered, In("sent")],
    ) -> None:
        """Receive a message that changes something at p."""
        require(self.matters(p, packet) and not self.is_gone(p))
        if isinstance(packet, Data):
            self.received[p] |= {packet.message}
            if not self.is_numbered(p, packet.message):
                self.waiting[p] += (packet.message,)
        elif isinstance(packet, Ack):
            self.learn(p, Sequenced(packet.message, packet.number))
        elif isinstance(packet, Called):
            self.r_deliver_kind(p, packet.kind)
        elif isinstance(packet, Told):
            self.heard[p] |= {packet.sender}
        elif isinstance(packet, Lacks):
            self.lacking[p] |= {packet.sender}
            if self.value[packet.version][p] is not None:
                self.sent |= {Offered(p, packet.sender, packet.version)}
        elif isinstance(packet, Offered):
            self.take_offer(p, self.value[packet.version][packet.sender])
        else:
            self.learned[p] = True
            self.proposal[p] = None

    @environment
    def arrive_in_vain(  # type: ignore[override]
        self,
        p: Process,
        packet: Annotated[Data | Ack | Called | Told | Decided | Lacks | Offered, In("sent")],
    ) -> None:
        """Receive a packet that changes nothing at p: a repeated one, or one of a kind that p does not take
        now.
        """
        require(packet.version == self.version[p] and not self.matters(p, packet) and not self.is_gone(p))
        require(not self.is_from(p, packet) and not self.is_alone(p))
        require(not isinstance(packet, Offered) or packet.to == p)

    def is_from(  # type: ignore[override]
        self, p: Process, packet: Data | Ack | Called | Told | Decided | Lacks | Offered
    ) -> bool:
        """Return True if p itself sent the packet; with `assigned` process k mod n sends message k."""
        if isinstance(packet, Data):
            return p.index == packet.message.index % self.processes
        if isinstance(packet, Decided):
            return False
        return packet.sender == p

    def matters(  # type: ignore[override]
        self, p: Process, packet: Data | Ack | Called | Told | Decided | Lacks | Offered
    ) -> bool:
        """Return True if the packet changes something: p takes packets of this kind now, and does not have
        this one.
        """
        if isinstance(packet, Data):
            return packet.version == self.version[p] and self.is_missing(p, packet.message)
        if isinstance(packet, Ack):
            return self.is_news(p, packet)
        if packet.version != self.version[p]:
            return False
        if isinstance(packet, Called):
            return packet.kind not in self.begun[p]
        if isinstance(packet, Told):
            return packet.sender not in self.heard[p]
        if isinstance(packet, Lacks):
            return packet.sender != p and packet.sender not in self.lacking[p]
        if isinstance(packet, Offered):
            return packet.to == p and self.offer[p] is None
        return not self.learned[p]

    # Step 1 -------------------------------------------------------------------------------------------------

    def send_report(self, p: Process) -> None:
        """Send the report (step 1): seqQ and recvQ, the stable messages by their identifiers, and those that
        p has given up.
        """
        super().send_report(p)
        self.complete[p] = self.whole_to(p)
        self.gathered[p] = self.collected[p]
        self.abandoned[p] = Set() | {q for q in self.each(Process) if self.given_up[p][q]}

    def whole_to(self, p: Process) -> int:
        """Return the number up to which p has made everything stable."""
        last = self.last_number[p]
        return min(last, min((item.number - 1 for item in self.numbered[p]), default=last))

    # Steps 2 to 4 -------------------------------------------------------------------------------------------

    def has_heard_enough(self, p: Process) -> bool:
        """Return True if the wait of step 2 is over: p has the reports of a majority of the view, its own
        among them, and suspects the other members.
        """
        heard = self.heard[p]
        return (
            p in heard
            and self.is_most(p, heard)
            and all(q in heard or self.suspected[p][q] for q in self.group(p))
        )

    def has_waited(self, p: Process) -> bool:
        """Return True if p is through with step 2, and may adopt a decision."""
        return self.phase[p] == Phase.agreeing or (
            self.phase[p] == Phase.changing and self.has_heard_enough(p)
        )

    def must_propose(self, p: Process) -> bool:
        """Return True if p now looks for a value to propose."""
        return (
            self.phase[p] == Phase.changing
            and not self.learned[p]
            and self.has_heard_enough(p)
            and len(self.heard[p]) > self.tried[p]
        )

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process]) -> None:
        """Propose a view (steps 2-4), or what another process offers if these are too few for an i-view."""
        require(heard == self.heard[p] and self.must_propose(p))
        choice = self.choice_of(p, heard)
        if choice.kind == Kind.regular or self.is_most(p, choice.members):
            self.take_part(p, choice)
        else:
            self.tried[p] = len(heard)
            self.sent |= {Lacks(p, self.version[p])}
            offered = self.offer[p]
            if offered is not None:
                self.take_part(p, offered)

    def take_part(self, p: Process, choice: Choice) -> None:
        """Propose a value, and offer it to those that have none."""
        v = self.version[p]
        self.phase[p] = Phase.agreeing
        self.value[v][p] = choice
        self.sent |= {Offered(p, q, v) for q in self.lacking[p]}
        if not self.learned[p]:
            self.proposal[p] = choice

    def take_offer(self, p: Process, choice: Choice | None) -> None:
        """Note the first offer; propose it if p has found too few members itself."""
        self.offer[p] = choice
        if choice is not None and self.tried[p] > 0 and self.value[self.version[p]][p] is None:
            self.take_part(p, choice)

    def kind_of(self, p: Process, heard: Set[Process]) -> Kind:
        """Return the kind of view to propose: a regular one if it was called, and those that are not heard
        are given up.
        """
        regular = Kind.regular in self.begun[p] and all(
            q in heard or self.given_up[p][q] or any(q in self.abandoned[r] for r in heard)
            for q in self.group(p)
        )
        return Kind.regular if regular else Kind.intermediate

    def brought(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        """Return what p keeps and somebody lacks: a process that is not heard lacks everything."""
        lacks_all = self.kind_of(p, heard) == Kind.intermediate and heard != self.group(p)
        return Set() | {
            item for item in self.kept[p] if lacks_all or any(item.number > self.complete[q] for q in heard)
        }

    def choice_of(self, p: Process, heard: Set[Process]) -> Choice:
        """Return the value to propose (step 3)."""
        brought = self.brought(p, heard)
        bodies = self.bodies_of(heard) | {item.message for item in brought if item.message is not None}
        stable = max((self.complete[q] for q in heard), default=0)
        found = brought | {
            item
            for q in heard
            for item in self.reported[q]
            if item.message is None or item.message in bodies
        }
        whole = {
            item
            for item in found
            if all(
                k <= stable or any(one.number == k for one in found)
                for k in self.each(Number)
                if k <= item.number
            )
        }
        last = max(stable, max((item.number for item in whole), default=0))
        rest = {
            m
            for m in bodies
            if not any(item.message == m for item in whole)
            and not any(m in self.gathered[q] for q in heard)
        }
        messages = whole | {
            Sequenced(m, last + sum(1 for other in rest if self.is_before(p, other, m))) for m in rest
        }
        return Choice(
            self.kind_of(p, heard),
            self.complete_with(heard, Set() | messages, last + len(rest)),
            Set() | messages,
            Set() | {item.message for item in messages if item.message is not None},
            last + len(rest),
        )

    def is_before(self, p: Process, other: Message, m: Message) -> bool:
        """Return True if a message is m, or comes before m in the order of the sources on p's list."""
        v = self.version[p]
        first = self.rank(v, Process(other.index % self.processes))
        return first <= self.rank(v, Process(m.index % self.processes))

    def complete_with(self, heard: Set[Process], messages: Set[Sequenced], last: LastNumber) -> Set[Process]:
        """Return those of `heard` that lack nothing with these messages: all numbers up to `last` are among
        them, or are stable by the process's report.
        """
        return Set() | {
            q
            for q in heard
            if all(
                k <= self.complete[q] or k > last or any(one.number == k for one in messages)
                for k in self.each(Number)
            )
        }

    def has_majority_proposed(self, p: Process) -> bool:
        """Return True if a majority of p's view has begun the consensus (step 4)."""
        return self.is_most(p, Set() | {q for q in self.group(p) if self.takes_part(q, p)})

    def is_majority_up(self, p: Process) -> bool:
        """Return True if a majority of p's view is up (step 4)."""
        return self.is_most(p, Set() | {q for q in self.group(p) if not self.is_gone(q)})

    # Steps 5 to 7 -------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def adopt(self, p: Process) -> None:
        """Adopt the decision (steps 5-7, or 5 and 6): p delivers Msg and goes on, in the core or external; or
        it kills itself at once.
        """
        decided = self.decision[self.version[p]]
        require(self.learned[p] and self.has_waited(p) and decided is not None)
        if decided is not None:
            self.phase[p] = Phase.adopting
            if self.goes_on_with(p, decided):
                self.deliver_agreed(p, decided)
                self.go_on_with(p, decided)
            else:
                self.leave(p)

    def decided(self, p: Process) -> Choice | None:  # type: ignore[override]
        """Return the decision about the list after p's."""
        return self.decision[self.version[p]]

    def goes_on_with(self, p: Process, decided: Choice) -> bool:
        """Return True if p is on a regular list, and has what comes before Msg."""
        known = self.numbered[p] | self.stable[p] | decided.messages
        return (decided.kind == Kind.intermediate or p in decided.members) and all(
            k <= self.last_delivered[p]
            or k > decided.settled
            or any(
                item.number == k and (self.has_body_of(p, item) or item.message in decided.bodies)
                for item in known
            )
            for k in self.each(Number)
        )

    def has_body_of(self, p: Process, item: Sequenced) -> bool:
        """Return True if p has the body of an item, in recvQ or in stableQ."""
        return self.has_body(p, item.message) or item in self.stable[p]

    def deliver_agreed(self, p: Process, decided: Choice) -> None:
        """Deliver, at p, all messages up to the last number of Msg, in the order of their numbers."""
        known = self.numbered[p] | self.stable[p] | decided.messages
        last = self.last_delivered[p]
        for k in self.each(Number):
            if k > last and k <= decided.settled:
                for m in self.each(Message):
                    if Sequenced(m, k) in known:
                        emit(Deliver(p, m))
        over = {item.message for item in known if item.message is not None and item.number <= decided.settled}
        self.collected[p] |= over
        self.outstanding[p] -= over
        self.last_delivered[p] = decided.settled

    def go_on_with(self, p: Process, decided: Choice) -> None:
        """Install the list (step 7, or 6), with empty queues. The first of the core passes the token on by
        NULL; p sends again what it has broadcast, and not delivered.
        """
        v = self.version[p] + 1
        before = self.order[v - 1]
        core = tuple(q for q in before if q in decided.members)
        is_regular = decided.kind == Kind.regular
        self.listed[v] = decided.members
        self.regular[v] = is_regular
        if is_regular:
            self.order[v] = tuple(q for q in self.each(Process) if q in decided.members)
        else:
            self.order[v] = core + tuple(q for q in before if q not in decided.members)
        self.version[p] = v
        self.phase[p] = Phase.normal
        self.empty(p)
        self.last_number[p] = decided.settled
        if not self.is_alone(p):
            if self.first_in(v) == p:
                self.send_number(p, None)
            if p in decided.members:
                for m in self.each(Message):
                    if m in self.outstanding[p]:
                        self.send_again_own(p, m)
        if is_regular:
            emit(Install(p, v, decided.members))

    def send_again_own(self, p: Process, m: Message) -> None:
        """Send m, which p has broadcast, to the list that p uses now."""
        self.pending[p] = m
        self.received[p] |= {m}
        self.waiting[p] += (m,)
        self.data |= {Data(m, self.version[p])}
        self.sent |= {Data(m, self.version[p])}

    def empty(self, p: Process) -> None:
        """Empty p's queues and what it knows of the change; suspicions of the view's members stay."""
        self.received[p] = Set()
        self.waiting[p] = ()
        self.numbered[p] = Set()
        self.stable[p] = Set()
        self.kept[p] = Set()
        self.pending[p] = None
        self.calls[p] = False
        self.begun[p] = Set()
        self.heard[p] = Set()
        self.learned[p] = False
        self.tried[p] = 0
        self.lacking[p] = Set()
        self.offer[p] = None
        self.suspected[p] = Map(
            {q: self.suspected[p][q] and q in self.group(p) for q in self.each(Process)}
        )
        self.given_up[p] = Map({q: self.given_up[p][q] and q in self.group(p) for q in self.each(Process)})

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
        super().clear(p)
        self.kept[p] = Set()
        self.outstanding[p] = Set()
        self.given_up[p] = everywhere(False)

    # What a process can do it does --------------------------------------------------------------------------

    def can_step(self, p: Process) -> bool:
        """Return True if p is up, and can take a step without a message."""
        return not self.is_gone(p) and (
            (self.unnumbered(p) is not None and self.holds_token(p))
            or any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p])
            or (self.phase[p] == Phase.normal and self.calls[p])
            or self.must_propose(p)
            or (self.learned[p] and self.has_waited(p))
        )

    @constraint(
        "broadcast", "pass_null", "crash", "suspect", "detect", "conclude", "misjudge", "call",
        "call_regular", "come_back", "arrive", "arrive_in_vain", "decide",
    )  # fmt: skip
    def nobody_can_step(self) -> bool:
        """Bound: no process can take a step without a message."""
        return super().nobody_can_step()

    # Bounds -------------------------------------------------------------------------------------------------

    @constraint("call", "call_regular", "come_back")
    def is_view_left(self, p: Process) -> bool:
        """Bound: the number of lists allows another one."""
        return super().is_view_left(p)

    @constraint("call", "call_regular", "come_back")
    def nobody_waits_behind(self) -> bool:
        """Bound: no live process waits in step 2 of a list that others have left."""
        return super().nobody_waits_behind()

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def MajorityInList(self) -> bool:
        """Invariant: the core of an i-view is more than half of its view."""
        return all(
            self.is_gone(p) or self.regular[self.version[p]] or self.is_most(p, self.token_list(p))
            for p in self.each(Process)
        )

    @witness
    def ExternalLives(self) -> bool:
        """Witness: an external process lacks nothing, so that it may come back."""
        return any(not self.is_gone(p) and self.is_caught_up(p) for p in self.each(Process))

    @witness
    def ExternalReturns(self) -> bool:
        """Witness: a process that was external is in the core of the next list."""
        return any(
            p in self.listed[v] and p not in self.listed[v - 1]
            for p in self.each(Process)
            for v in self.each(View)
            if v > 1
        )

    @witness
    def OfferTaken(self) -> bool:
        """Witness: a process has proposed what another one has offered."""
        return any(
            self.value[v][p] is not None and self.offer[p] is not None and self.tried[p] > 0
            for p in self.each(Process)
            for v in self.each(View)
            if v == self.version[p]
        )


@restriction("no conservative detector suspects anybody, so that all views are i-views")
class NobodyGivenUp(TwoViewsByMessage):
    """Restriction: nobody is given up."""

    @constraint("conclude", "misjudge")
    def nobody_is_given_up(self) -> bool:
        """Bound: no conservative detector suspects anybody."""
        return False


class TwoViewsByMessageBounded(TwoViewsByMessage, restrictions=(NobodyGivenUp,)):
    """Both figures message by message, with the restriction to choose."""


class TwoViewsByMessageChecked(TwoViewsByMessageBounded, IrbpChecked):
    """Both figures message by message, checked against total order broadcast and view synchrony."""
