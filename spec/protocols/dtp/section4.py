"""DTP as section 4 prints it: the token goes to the process that seems least active, and not round a ring.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed
Systems Engineering 4, 1997, sections 4.1 and 4.2. The paragraphs of section 4.2 are cited by their bold
headings; what stands in backquotes is printed.

| paper                              | here                                                             |
|------------------------------------|------------------------------------------------------------------|
| LTM_1 .. LTM_n                     | `Process(0)` ..                                                  |
| S.Token_i: HOLD, TRST, EMPT        | `holding[p]`; `passed[p]` is there; neither                      |
| S.ACK_i: WAIT, DONE                | `awaiting[p]`; not                                               |
| N_i[k], R_i[k]                     | `expected[p][k]`, `status[p][k]`                                 |
| BUF_i                              | `buffer[p]` (MSGs) and `acks[p]` (ACKs by gsn)                   |
| U_id = (i, l) and h of MSG(U, ..)  | `source`, `lsn` and `stamp` of the update                        |
| the ACK that is sent again         | `passed[p]`                                                      |
| the MSGs known to be lost          | `missed[p]`, by MSGs that came early; and those of ACKs in BUF   |
| the ACKs known to be lost          | those up to gsn `sought[p]` that are not in BUF                  |
| what was delivered to P_i          | `handed[p]`, gsns                                                |
| F                                  | `resilience`                                                     |

What is modelled: a group of n processes that do not fail; packets in flight may be lost (budget `losses`),
overtake each other, and be sent again. There is no time: timeouts and the end of a silence come whenever they
can. The group does not change. Updates are numbered in the order in which they are multicast. Gsns end at
`messages + spare`, and the number of a NULL, which only a repair needs, at `nulls`.

What is decided here, because the paper is silent:

1. "multicast" is to the others ("multicasts U's delivery order to the other LTMs", section 1); what a process
   keeps itself, the text says.
2. The procedure of an event runs to its end before the next event: who can acknowledge does so at once
   (`arrived` is the MSG whose own event it is). Which of several MSGs in BUF is acknowledged is open.
3. A message that is discarded changes nothing. A MSG with l > N_i[j] is not kept (reading `early`). An
   ACK with g > R_i[i] + 1 is not kept; only the holder that it names and the losses that it shows count.
4. An update that was missing when its ACK came is delivered when it comes.
5. A REQ is answered from BUF before its h counts.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import Between, Const, In, Map, Set, action, emit, everywhere, initial, require
from antiphon.spec.protocols.dtp.packets import (
    Ack,
    Acknowledged,
    AskMessage,
    AskNumber,
    Msg,
    Null,
    Number,
    Packet,
    Pass,
    Request,
    Status,
)
from antiphon.spec.services import Broadcast, Deliver, Group, Message, Process


class Dtp(Losses[Packet], Group):
    """Dynamic token passing, section 4."""

    resilience: Const[int] = 0
    spare: Const[int] = 0
    nulls: Const[int] = 0

    # 4.1. The data structures -------------------------------------------------------------------------------

    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Pass | None] = everywhere(None)
    awaiting: Map[Process, bool] = everywhere(False)
    expected: Map[Process, Map[Process, Annotated[int, Between(1, "messages + 1")]]] = everywhere(
        everywhere(1)
    )
    status: Map[Process, Map[Process, Status]] = everywhere(everywhere(0))
    buffer: Map[Process, Set[Message]] = everywhere(Set())
    acks: Map[Process, Map[Number, Acknowledged | None]] = everywhere(everywhere(None))
    sought: Map[Process, Status] = everywhere(0)
    missed: Map[Process, Set[Message]] = everywhere(Set())
    handed: Map[Process, Set[Number]] = everywhere(Set())
    source: Map[Message, Process | None] = everywhere(None)
    lsn: Map[Message, Annotated[int, Between(0, "messages")]] = everywhere(0)
    stamp: Map[Message, Status] = everywhere(0)
    arrived: Map[Process, Message | None] = everywhere(None)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @initial
    def start(self) -> None:
        """Begin with `S.Token_1 of LTM_1 is HOLD and EMPT for the others`; `N_i[k] = 1 and R_i[k] = 0 for all
        k`.
        """
        self.holding[Process(0)] = True

    # 4.2. Update arrival ------------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Multicast `MSG(U, (i, N_i[i]), R_i[i])`, if S.ACK_i is DONE; the holder acknowledges it at once."""
        require(m.index == self.broadcasts and not self.awaiting[p] and self.is_idle())
        self.broadcasts += 1
        self.source[m] = p
        self.lsn[m] = self.expected[p][p]
        self.stamp[m] = self.status[p][p]
        self.expected[p][p] += 1
        self.awaiting[p] = True
        self.buffer[p] |= {m}
        self.network |= {Msg(q, m) for q in self.each(Process) if q != p}
        if self.holding[p] and self.is_recovered(p):
            self.arrived[p] = m
        emit(Broadcast(p, m))

    @action(fairness="weak", per="p")
    def acknowledge(self, p: Process, m: Message, next_holder: Process) -> None:
        """Acknowledge a message: `increments R_i[i]`, selects LTM_m, `multicasts ACK(i, U_id, R_i[i], m)`,
        delivers U; then S.Token is TRST.
        """
        require(
            self.may_acknowledge(p)
            and self.is_due(p, m)
            and (self.arrived[p] is None or self.arrived[p] == m)
        )
        require(self.may_name(p, next_holder, self.status[p][p] + 1))
        number = self.status[p][p] + 1
        self.status[p][p] = number
        self.acks[p][number] = Acknowledged(m, p, next_holder)
        self.pass_token(p, Pass(m, number, next_holder, 0))
        self.reset(p, m)
        self.arrived[p] = None
        self.finish(p, False)

    def may_acknowledge(self, p: Process) -> bool:
        """Return True if p may acknowledge: it holds the token, `must recover all of the lost messages
        before`, and has a MSG without an ACK.
        """
        return self.holding[p] and self.is_recovered(p) and any(self.is_due(p, m) for m in self.each(Message))

    def is_due(self, p: Process, m: Message) -> bool:
        """Return True if m is an update that p may acknowledge now: it is the MSG that arrives (Receiving
        MSG), or it waits in BUF (Receiving ACK).
        """
        return self.arrived[p] == m or self.is_new(p, m)

    def is_new(self, p: Process, m: Message) -> bool:
        """Return True if BUF has no ACK for m (`BUF_i contains an unacknowledged MSG whose acknowledgment is
        not in BUF_i`).
        """
        return m in self.buffer[p] and not self.is_acknowledged(p, m)

    def may_name(self, p: Process, m: Process, own: Status) -> bool:
        """Return True if p may name m as next holder (`It selects the next token holder LTM_m`): any of
        several candidates.
        """
        return self.is_candidate(p, m, own)

    def is_candidate(self, p: Process, m: Process, own: Status) -> bool:
        """Return True if m is least active: `R_i[m] = min({R_i[k] | 1 <= k <= n})`."""
        return all(self.known(p, m, own) <= self.known(p, k, own) for k in self.each(Process))

    def known(self, p: Process, k: Process, own: Status) -> Status:
        """Return R_p[k]; for p itself the value `own`."""
        return own if k == p else self.status[p][k]

    def pass_token(self, p: Process, sent: Pass) -> None:
        """Pass the token: p `multicasts` the ACK and `sets S.Token_i to TRST`."""
        self.send_pass(p, sent)
        self.holding[p] = False
        self.passed[p] = sent

    def send_pass(self, p: Process, sent: Pass) -> None:
        """Send `ACK(i, U_id, g, m)` or `ACK(i, NULL, g, m)` to all."""
        m = sent.message
        for q in self.each(Process):
            if q != p:
                if m is None:
                    self.network |= {Null(q, p, sent.number, sent.next_holder, sent.nulls)}
                elif sent.number > 0:
                    self.network |= {Ack(q, p, m, sent.number, sent.next_holder)}

    def reset(self, p: Process, m: Message) -> None:
        """Reset S.ACK of p to DONE (section 4.1: `when it is acknowledged, S.ACK_i is reset to DONE`)."""
        if self.source[m] == p:
            self.awaiting[p] = False

    def is_idle(self) -> bool:
        """Return True if no procedure is unfinished: nobody can acknowledge."""
        return not any(self.may_acknowledge(p) for p in self.each(Process))

    # 4.2. Receiving MSG message -----------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_next_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """Receive the next MSG of j (`l = N_i[j]`): p `increments N_i[j], changes R_i[j] to h, puts the
        message in BUF_i`.
        """
        p = packet.to
        m = packet.message
        j = self.source[m]
        require(self.is_idle() and j is not None and self.lsn[m] == self.expected[p][j])
        self.network -= {packet}
        if j is not None:
            heard = self.stamp[m] > self.status[p][j]
            self.expected[p][j] += 1
            self.change_status(p, j, self.stamp[m])
            self.put_message(p, m)
            self.finish(p, heard)
        if self.holding[p] and self.is_recovered(p) and self.answers(p, m):
            self.arrived[p] = m

    @action(fairness="weak", per="packet")
    def receive_early_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """Receive an early MSG of j (`l > N_i[j]`): p `recognizes that it lost messages from LTM_j,
        constructs and multicasts REQ`.
        """
        p = packet.to
        m = packet.message
        j = self.source[m]
        require(self.is_idle() and j is not None and self.lsn[m] > self.expected[p][j])
        self.network -= {packet}
        if j is not None:
            self.missed[p] |= {
                x
                for x in self.each(Message)
                if x < m and self.source[x] == j and self.lsn[x] >= self.expected[p][j]
            }
            self.take_early_message(p, j, m)
        self.ask(p)

    @action(fairness="weak", per="packet")
    def receive_old_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """Receive an old MSG of j (`l < N_i[j]`): it is discarded; the holder `retransmits … the ACK message
        with U_id = (j, l) in BUF_i`.
        """
        p = packet.to
        m = packet.message
        j = self.source[m]
        require(self.is_idle() and j is not None and self.lsn[m] < self.expected[p][j])
        self.network -= {packet}
        if j is not None and self.holding[p]:
            for k in self.each(Number):
                item = self.acks[p][k]
                if item is not None and item.message == m:
                    self.network |= {Ack(j, item.sender, m, k, item.next_holder)}

    def take_early_message(self, p: Process, j: Process, m: Message) -> None:
        """Hook for a MSG of j with l > N_i[j]; it does nothing, since the paper does not say whether BUF
        takes the MSG.
        """

    def change_status(self, p: Process, j: Process, h: Status) -> None:
        """Set R_i[j]: a MSG `changes R_i[j] to h`, an ACK `updates … R_i[t] … to g`, a NULL `updates R_i[j]
        to g`.
        """
        self.status[p][j] = h

    def put_message(self, p: Process, m: Message) -> None:
        """Put the message into BUF_p (`puts the message in BUF_i`)."""
        self.buffer[p] |= {m}
        self.missed[p] -= {m}

    def answers(self, p: Process, m: Message) -> bool:
        """Return True if the holder acknowledges an arriving MSG: always (`it performs for the MSG the
        procedure`).
        """
        return True

    # 4.2. Receiving ACK message -----------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_next_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Receive the next ACK (`g = R_i[i] + 1`): p `puts ACK into BUF_i`; U is delivered, or asked for."""
        p = packet.to
        require(self.is_idle() and packet.number == self.status[p][p] + 1)
        self.network -= {packet}
        self.take_pass(p, packet.sender, Pass(packet.message, packet.number, packet.next_holder, 0))
        self.take_ack(p, packet)
        if self.misses_message(p, packet.number):
            self.ask_message(p, packet.message)

    @action(fairness="weak", per="packet")
    def receive_early_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Receive an early ACK (`g > R_i[i] + 1`): p `recognizes that it lost ACKs`, the ones before it, and
        requests them.
        """
        p = packet.to
        require(self.is_idle() and packet.number > self.status[p][p] + 1)
        self.network -= {packet}
        self.take_pass(p, packet.sender, Pass(packet.message, packet.number, packet.next_holder, 0))
        self.sought[p] = max(self.sought[p], packet.number - 1)
        self.take_early_ack(p, packet)
        self.ask(p)

    @action(fairness="weak", per="packet")
    def receive_old_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Receive an old ACK (`g < R_i[i] + 1`): p `discards the message`."""
        require(self.is_idle() and packet.number <= self.status[packet.to][packet.to])
        self.network -= {packet}

    def take_ack(self, p: Process, packet: Ack) -> None:
        """Take the next ACK: p `puts ACK into BUF_i`, `updates both R_i[t] and R_i[i] to g`, `delivers
        immediately U`.
        """
        if self.acks[p][packet.number] is None:
            self.acks[p][packet.number] = Acknowledged(packet.message, packet.sender, packet.next_holder)
        heard = packet.number > self.status[p][packet.sender]
        self.hear_ack(p, packet)
        self.advance(p, packet.number)
        self.finish(p, heard)
        if self.source[packet.message] == p and self.lsn[packet.message] == self.expected[p][p] - 1:
            self.awaiting[p] = False

    def take_early_ack(self, p: Process, packet: Ack) -> None:
        """Hook for an ACK with g > R_i[i] + 1; it does nothing, since the paper does not say whether BUF
        takes the ACK.
        """

    def hear_ack(self, p: Process, packet: Ack) -> None:
        """Update the sender's entry from an ACK (`updates … R_i[t] … to g`)."""
        self.change_status(p, packet.sender, packet.number)

    def advance(self, p: Process, g: Number) -> None:
        """Update p's own entry from an ACK (`updates … R_i[i] to g`)."""
        self.status[p][p] = g

    def ask(self, p: Process) -> None:
        """Multicast `REQ(i, R_i[i], msglst)` for everything that p knows to be lost."""
        for m in self.missed[p]:
            self.ask_message(p, m)
        for k in self.each(Number):
            item = self.acks[p][k]
            if self.misses_number(p, k):
                self.network |= {AskNumber(q, p, self.status[p][p], k) for q in self.each(Process) if q != p}
            if item is not None and self.misses_message(p, k):
                self.ask_message(p, item.message)

    def ask_message(self, p: Process, m: Message) -> None:
        """Ask for one update, `multicasting REQ(i, R_i[i], {('msg', U_id)})`."""
        self.network |= {AskMessage(q, p, self.status[p][p], m) for q in self.each(Process) if q != p}

    def take_pass(self, p: Process, sender: Process, seen: Pass) -> None:
        """Take news of a pass: the old holder goes `from TRST to EMPT`, the new one sets
        `S.Token_i to HOLD`.
        """
        if self.passed[p] is not None and self.ends_transfer(p, sender, seen):
            self.passed[p] = None
        if self.gives_token(p, seen):
            self.holding[p] = True
            self.passed[p] = None

    def ends_transfer(self, p: Process, sender: Process, seen: Pass) -> bool:
        """Return True if an ACK ends p's wait after its pass (`if g >= R_i[i] + 1 or i = m`)."""
        return seen.number > self.status[p][p] or seen.next_holder == p

    def gives_token(self, p: Process, seen: Pass) -> bool:
        """Return True if the pass names p (`If i = m`)."""
        return seen.next_holder == p

    # 4.2. Receiving REQ message -----------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def answer_holding(self, packet: Annotated[Request, In("network")]) -> None:
        """Answer a request as holder (`S.Token_i = HOLD`: `sends to LTM_j the requested message(s)`)."""
        require(self.is_idle() and self.holding[packet.to])
        self.network -= {packet}
        self.answer(packet.to, packet)

    @action(fairness="weak", per="packet")
    def answer_transferring(self, packet: Annotated[Request, In("network")]) -> None:
        """Answer a request in TRST, which `is multicast by its next token holder`."""
        p = packet.to
        require(self.is_idle() and self.passed[p] is not None and self.is_successor(p, packet.sender))
        self.network -= {packet}
        self.answer(p, packet)

    @action(fairness="weak", per="packet")
    def discard_request(self, packet: Annotated[Request, In("network")]) -> None:
        """Discard a request: S.Token_i is EMPT, or TRST and another process is the next holder."""
        p = packet.to
        require(self.is_idle() and not self.holding[p])
        require(self.passed[p] is None or not self.is_successor(p, packet.sender))
        self.network -= {packet}

    def is_successor(self, p: Process, j: Process) -> bool:
        """Return True if p named j (`m = j in ACK(i, U_id, R_i[i], m) stored in BUF_i`)."""
        own = self.status[p][p]
        item = self.acks[p][own] if own > 0 else None
        return item is not None and item.sender == p and item.next_holder == j

    def answer(self, p: Process, packet: Request) -> None:
        """Send the requested message `as a point-to-point message`, if BUF has it; the h of the request
        counts as the sender's delivery status.
        """
        j = packet.sender
        if isinstance(packet, AskMessage):
            if packet.message in self.buffer[p]:
                self.network |= {Msg(j, packet.message)}
        else:
            item = self.acks[p][packet.number]
            if item is not None:
                self.network |= {Ack(j, item.sender, item.message, packet.number, item.next_holder)}
        heard = packet.status > self.status[p][j]
        self.status[p][j] = max(self.status[p][j], packet.status)
        self.finish(p, heard)

    # 4.2. Timeout -------------------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def resend_message(self, p: Process, m: Message) -> None:
        """Send `the same MSG at every timeout until it receives an acknowledgment for the message`."""
        require(self.is_idle() and self.awaiting[p])
        require(self.source[m] == p and self.lsn[m] == self.expected[p][p] - 1)
        self.network |= {Msg(q, m) for q in self.each(Process) if q != p}

    @action(fairness="weak", per="p")
    def resend_pass(self, p: Process) -> None:
        """Send `the same ACK message at every timeout until` the token is passed."""
        sent = self.passed[p]
        require(self.is_idle() and sent is not None)
        if sent is not None:
            self.repeat_pass(p, sent)

    def repeat_pass(self, p: Process, sent: Pass) -> None:
        """Multicast p's last ACK once more (`multicasts the same ACK message`)."""
        self.send_pass(p, sent)

    @action(fairness="weak", per="p")
    def repeat_request(self, p: Process) -> None:
        """Send `the REQ message at every timeout until it receives the requested message`."""
        require(self.is_idle() and not self.is_recovered(p))
        self.ask(p)

    @action(fairness="weak", per="p")
    def pass_null(self, p: Process, next_holder: Process) -> None:
        """Pass the token after a silence (`If no new MSG arrives in T, LTM_i multicasts ACK(i, NULL, R_i[i],
        m)`).
        """
        require(self.holding[p] and self.is_recovered(p) and self.is_idle())
        require(self.may_name(p, next_holder, self.status[p][p]))
        self.pass_token(p, Pass(None, self.status[p][p], next_holder, self.next_null(p)))

    def next_null(self, p: Process) -> int:
        """Return the number of p's next NULL since the last gsn; as printed NULLs have no number, so 0."""
        return 0

    @action(fairness="weak", per="packet")
    def receive_null(self, packet: Annotated[Null, In("network")]) -> None:
        """Receive a NULL with `g >= R_i[i]`: p `updates R_i[j] to g`; `if g > R_i[i]`, ACKs were lost and are
        requested.
        """
        p = packet.to
        require(self.is_idle() and packet.number >= self.status[p][p])
        self.network -= {packet}
        self.take_pass(p, packet.sender, Pass(None, packet.number, packet.next_holder, packet.nulls))
        heard = packet.number > self.status[p][packet.sender]
        self.hear_null(p, packet)
        self.finish(p, heard)
        if packet.number > self.status[p][p]:
            self.sought[p] = max(self.sought[p], packet.number)
            self.ask(p)

    def hear_null(self, p: Process, packet: Null) -> None:
        """Update the sender's entry from a NULL (`it updates R_i[j] to g`)."""
        self.change_status(p, packet.sender, packet.number)

    @action(fairness="weak", per="packet")
    def receive_old_null(self, packet: Annotated[Null, In("network")]) -> None:
        """Receive a NULL with `g < R_i[i]`: `LTM_i discards the ACK message`."""
        require(self.is_idle() and packet.number < self.status[packet.to][packet.to])
        self.network -= {packet}

    # 4.2. Removing stable messages, Adjusting degree of fault tolerance -------------------------------------

    def finish(self, p: Process, heard: bool) -> None:
        """Deliver the updates that R_p covers; remove stable ones if p has `heard` a status `h > R_i[j]`."""
        self.deliver_covered(p)
        if heard:
            self.remove_stable(p)

    def deliver_covered(self, p: Process) -> None:
        """Deliver the updates that R_p[p] covers, in the order of gsn; with F > 0 p `defers the delivery`."""
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and k <= self.status[p][p] and k not in self.handed[p]:
                if item.message in self.buffer[p] and self.is_resilient(p, k):
                    self.handed[p] |= {k}
                    emit(Deliver(p, item.message))

    def remove_stable(self, p: Process) -> None:
        """Remove `stable MSGs whose gsn is less than or equal to min({R_i[k] | 1 <= k <= n})`, and their
        ACKs.
        """
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and item.message in self.buffer[p]:
                if all(self.status[p][j] >= k for j in self.each(Process)):
                    self.buffer[p] -= {item.message}
                    self.acks[p][k] = None

    def is_resilient(self, p: Process, g: Number) -> bool:
        """Return True if F + 1 different values reach g: `|{R_i[k] | R_i[k] >= g}| >= F + 1`."""
        return (
            len({self.status[p][k] for k in self.each(Process) if self.status[p][k] >= g})
            >= self.resilience + 1
        )

    # What a process knows to be lost ------------------------------------------------------------------------

    def has_ack(self, p: Process, k: Number, m: Message) -> bool:
        """Return True if BUF_p has `ACK(_, U_id, k, _)`."""
        item = self.acks[p][k]
        return item is not None and item.message == m

    def is_acknowledged(self, p: Process, m: Message) -> bool:
        """Return True if BUF_p has an ACK for m."""
        return any(self.has_ack(p, k, m) for k in self.each(Number))

    def misses_number(self, p: Process, k: Number) -> bool:
        """Return True if p knows that it lost the ACK with gsn k."""
        return self.status[p][p] < k and k <= self.sought[p] and self.acks[p][k] is None

    def misses_message(self, p: Process, k: Number) -> bool:
        """Return True if p has the ACK with gsn k and not the update."""
        item = self.acks[p][k]
        return item is not None and item.message not in self.buffer[p] and k not in self.handed[p]

    def is_recovered(self, p: Process) -> bool:
        """Return True if p misses no message and no ACK, as far as p knows."""
        return len(self.missed[p]) == 0 and not any(
            self.misses_number(p, k) or self.misses_message(p, k) for k in self.each(Number)
        )
