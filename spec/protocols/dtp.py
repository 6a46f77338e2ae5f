"""How does DTP choose who orders next? The token goes to the process that seems least active: a moving sequencer without a ring.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, sections
4.1 and 4.2. The paragraphs of section 4.2 are cited by their bold headings.

What is modelled: a group of n processes without failures of processes; packets in flight may be lost (budget `losses`), overtake each other,
and be sent again. LTM_1..LTM_n are `Process(0)`..; S.Token_i is HOLD where `holding[p]`, TRST where `passed[p]` is there, else EMPT; S.ACK_i is
WAIT where `awaiting[p]`; N_i[k] is `expected[p][k]`, R_i[k] `status[p][k]`, BUF_i `buffer[p]` (MSGs) and `acks[p]` (ACKs by gsn). `sought[p]` is
the highest gsn that p asks for, `handed[p]` the gsns that it delivered, F is `resilience`; `turn[p]` (the last pass of the token that p knows) and
`told` (what an ACK carries) serve repairs only. Only a group that does not change is modelled, and
no time: timeouts and the end of a silence may come whenever they can, limited by `timeouts` (or `unlimited`, which obligations need) and
`nulls` (0: no silence is that long).

What is decided here, because the paper is silent:
1. "multicast" is to the others ("multicasts U's delivery order to the other LTMs", section 1); what a process keeps itself, the text says.
2. The procedure of an event runs to its end before the next event: who can acknowledge does so at once (`arrived` is the MSG whose own event it
   is). Which of several MSGs in BUF is acknowledged, and which of several least active processes is named, is open (reading `tie`).
3. A message that is discarded changes nothing. A MSG with l > N_i[j] is not kept; what it showed to be missing is asked for once, and again
   when an ACK shows it.
4. An update that was missing when its ACK came is delivered when it comes.
5. A REQ is answered from BUF before its h counts.
6. `senders` explores the runs in which update k comes from process k mod `senders` (0: from any), `patient` those in which timers expire only
   after losses, once for each, `instant` those in which everything in flight arrives before anything else is sent. Exploration stops where a
   run would need more than `messages + spare` numbers, and, as repaired, more than `nulls` NULLs in a row.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, action, emit, require
from antiphon.spec.protocols.dtp_packets import Ack, Acknowledged, AskMessage, AskNumber, Lowered, Msg, Null, Number, Pass, Request, Turn
from antiphon.spec.protocols.dtp_state import DtpState
from antiphon.spec.services import Broadcast, Deliver, Message, Process


class Dtp(DtpState):
    """Dynamic token passing, section 4."""

    # What the procedures share -----------------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Counts a timeout, when they are limited."""
        if not self.unlimited:
            self.expired += 1

    def hand_over(self, p: Process) -> None:
        """Delivers what R_p[p] covers, in the order of gsn; F > 0 defers it."""
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and k <= self.status[p][p] and k not in self.handed[p]:
                if item.message in self.buffer[p] and self.is_resilient(p, k):
                    self.handed[p] |= {k}
                    emit(Deliver(p, item.message))

    def collect(self, p: Process) -> None:
        """Removing stable messages: MSGs in BUF with gsn <= min({R_p[k] | 1 <= k <= n}), and the ACKs associated with them."""
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and item.message in self.buffer[p] and all(self.status[p][j] >= k for j in self.each(Process)):
                self.buffer[p] -= {item.message}
                self.acks[p][k] = None

    def settle(self, p: Process) -> None:
        """R_p[p] goes up to the last gsn before a gap."""
        for k in self.each(Number):
            item = self.acks[p][k]
            if item is not None and k == self.status[p][p] + 1:
                if not self.advance_on_delivery or item.message in self.buffer[p]:
                    if self.notified == "obtained" or self.is_resilient(p, k):
                        self.status[p][p] = k

    def finish(self, p: Process, heard: bool) -> None:
        """What R_p covers is delivered; stable messages are removed, as printed only when a status `h > R_i[j]` was heard."""
        self.hand_over(p)
        if heard or self.collect_always:
            self.collect(p)

    def ask(self, p: Process) -> None:
        """REQ(p, R_p[p], msglst) to all, for everything that p knows to be lost."""
        for k in self.each(Number):
            item = self.acks[p][k]
            if self.misses_number(p, k):
                self.network |= {AskNumber(q, p, self.status[p][p], k) for q in self.each(Process) if q != p}
            if item is not None and self.misses_message(p, k):
                self.network |= {AskMessage(q, p, self.status[p][p], item.message) for q in self.each(Process) if q != p}

    def take_pass(self, p: Process, sender: Process, next_holder: Process, turn: Turn, fresh: bool) -> None:
        """Receiving ACK message, the last two sentences of its first paragraph and the first of its second: TRST ends, HOLD begins."""
        sent = self.passed[p]
        named = next_holder == p and (not self.number_passes or turn > self.turn[p])
        if sent is not None:
            if self.end_by_number:
                if turn > self.turn_of(sent.number, sent.nulls):
                    self.passed[p] = None
            elif fresh or (next_holder == p if self.transfer == "named" else sender == sent.next_holder):
                self.passed[p] = None
        if named:
            self.holding[p] = True
            self.passed[p] = None
        if self.number_passes:
            self.turn[p] = max(self.turn[p], turn)

    def send_pass(self, p: Process, sent: Pass) -> None:
        """Multicasts ACK(p, U_id or NULL, g, m)."""
        m = sent.message
        for q in self.each(Process):
            if q != p:
                if m is None:
                    self.network |= {Null(q, p, sent.number, sent.next_holder, sent.nulls)}
                elif sent.number > 0:
                    self.network |= {Ack(q, p, m, sent.number, sent.next_holder)}

    # Update arrival ----------------------------------------------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """`MSG(U, (i, N_i[i]), R_i[i])` to all, if S.ACK_i is DONE; the holder acknowledges it."""
        require(m.index == self.broadcasts and not self.awaiting[p] and self.is_idle())
        require(self.senders == 0 or p.index == m.index % self.senders)
        require(not self.instant or len(self.network) == 0)
        self.broadcasts += 1
        self.source[m] = p
        self.lsn[m] = self.expected[p][p]
        self.stamp[m] = self.status[p][p]
        self.expected[p][p] += 1
        self.awaiting[p] = True
        self.buffer[p] |= {m}
        self.network |= {Msg(q, m) for q in self.each(Process) if q != p}
        if self.holding[p] and self.is_recovered(p):
            self.arrived = m
        emit(Broadcast(p, m))

    @action(fairness="weak", per="p")
    def acknowledge(self, p: Process, m: Message, next_holder: Process) -> None:
        """Update arrival, second paragraph: gsn, the next holder, `ACK(i, U_id, R_i[i], m)`, delivery, TRST."""
        require(self.may_acknowledge(p) and self.is_new(p, m) and (self.arrived is None or self.arrived == m))
        require(self.may_name(p, next_holder, self.status[p][p] + 1))
        number = self.status[p][p] + 1
        sent = Pass(m, number, next_holder, 0)
        self.status[p][p] = number
        self.acks[p][number] = Acknowledged(m, p, next_holder)
        self.send_pass(p, sent)
        self.holding[p] = False
        self.passed[p] = sent
        if self.number_passes:
            self.turn[p] = self.turn_of(number, 0)
        if self.source[m] == p and (self.reset_own or self.arrived == m):
            self.awaiting[p] = False
        self.arrived = None
        if self.carry_status:
            for j in self.each(Process):
                self.told[number][j] = self.status[p][j]
        self.finish(p, False)

    # Receiving MSG message ---------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_next_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """`l = N_i[j]`: into BUF; as printed, R_i[j] becomes h even if that is less."""
        p = packet.to
        m = packet.message
        j = self.source[m]
        require(self.is_idle() and j is not None and self.lsn[m] == self.expected[p][j])
        self.network -= {packet}
        if j is not None:
            heard = self.stamp[m] > self.status[p][j]
            self.expected[p][j] += 1
            self.buffer[p] |= {m}
            if self.stamp[m] < self.status[p][j] and not self.monotone_status:
                self.status[p][j] = self.stamp[m]
                emit(Lowered(p, j))
            self.status[p][j] = max(self.status[p][j], self.stamp[m])
            self.settle(p)
            self.finish(p, heard)
        if self.holding[p] and self.is_recovered(p) and (self.is_new(p, m) or not self.acknowledge_new):
            self.arrived = m

    @action(fairness="weak", per="packet")
    def receive_early_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """`l > N_i[j]`: what was lost from LTM_j is asked for."""
        p = packet.to
        m = packet.message
        j = self.source[m]
        require(self.is_idle() and j is not None and self.lsn[m] > self.expected[p][j])
        self.network -= {packet}
        if j is not None:
            for x in self.each(Message):
                if x < m and self.source[x] == j and self.lsn[x] >= self.expected[p][j]:
                    self.network |= {AskMessage(q, p, self.status[p][p], x) for q in self.each(Process) if q != p}

    @action(fairness="weak", per="packet")
    def receive_old_message(self, packet: Annotated[Msg, In("network")]) -> None:
        """`l < N_i[j]`: discarded; the holder sends LTM_j the ACK with that U_id, if BUF has it."""
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

    # Receiving ACK message ---------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def receive_next_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """`g = R_i[i] + 1`: into BUF, R_i[t] and R_i[i] become g, U is delivered, or asked for."""
        p = packet.to
        require(self.is_idle() and packet.number == self.status[p][p] + 1)
        self.network -= {packet}
        self.take_pass(p, packet.sender, packet.next_holder, self.turn_of(packet.number, 0), True)
        self.take_ack(p, packet)
        self.ask(p)

    @action(fairness="weak", per="packet")
    def receive_early_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """`g > R_i[i] + 1`: the ACKs before it are asked for; as printed, it is not put into BUF."""
        p = packet.to
        require(self.is_idle() and packet.number > self.status[p][p] + 1)
        self.network -= {packet}
        self.take_pass(p, packet.sender, packet.next_holder, self.turn_of(packet.number, 0), True)
        self.sought[p] = max(self.sought[p], packet.number - 1)
        if self.keep_early_ack:
            self.take_ack(p, packet)
        self.ask(p)

    @action(fairness="weak", per="packet")
    def receive_old_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """`g < R_i[i] + 1`: discarded."""
        require(self.is_idle() and packet.number <= self.status[packet.to][packet.to])
        self.network -= {packet}

    def take_ack(self, p: Process, packet: Ack) -> None:
        """Receiving ACK message: what is done with an ACK that is kept."""
        if self.acks[p][packet.number] is None:
            self.acks[p][packet.number] = Acknowledged(packet.message, packet.sender, packet.next_holder)
        if self.source[packet.message] == p and self.lsn[packet.message] == self.expected[p][p] - 1:
            self.awaiting[p] = False
        heard = packet.number > self.status[p][packet.sender]
        self.status[p][packet.sender] = max(self.status[p][packet.sender], packet.number)
        if self.carry_status:
            for j in self.each(Process):
                if j != p:
                    self.status[p][j] = max(self.status[p][j], self.told[packet.number][j])
        self.settle(p)
        self.finish(p, heard)

    # Timeout -----------------------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def pass_null(self, p: Process, next_holder: Process) -> None:
        """No new MSG in T: `ACK(i, NULL, R_i[i], m)`; the token passes without ordering any message."""
        require(self.nulls > 0 and self.holding[p] and self.is_recovered(p) and self.is_idle())
        require(not self.instant or len(self.network) == 0)
        require(not self.number_passes or self.turn[p] % (self.nulls + 1) < self.nulls)
        require(self.may_name(p, next_holder, self.status[p][p]))
        sent = Pass(None, self.status[p][p], next_holder, self.turn[p] % (self.nulls + 1) + 1 if self.number_passes else 0)
        self.send_pass(p, sent)
        self.holding[p] = False
        self.passed[p] = sent
        if self.number_passes:
            self.turn[p] += 1

    @action(fairness="weak", per="packet")
    def receive_null(self, packet: Annotated[Null, In("network")]) -> None:
        """`g >= R_i[i]`: R_i[j] becomes g; if g is higher, ACKs were lost and are asked for."""
        p = packet.to
        require(self.is_idle() and packet.number >= self.status[p][p])
        self.network -= {packet}
        fresh = packet.number > self.status[p][p]
        self.take_pass(p, packet.sender, packet.next_holder, self.turn_of(packet.number, packet.nulls), fresh)
        heard = packet.number > self.status[p][packet.sender]
        self.status[p][packet.sender] = max(self.status[p][packet.sender], packet.number)
        self.finish(p, heard)
        if fresh:
            self.sought[p] = max(self.sought[p], packet.number)
            self.ask(p)

    @action(fairness="weak", per="packet")
    def receive_old_null(self, packet: Annotated[Null, In("network")]) -> None:
        """`g < R_i[i]`: discarded."""
        require(self.is_idle() and packet.number < self.status[packet.to][packet.to])
        self.network -= {packet}

    @action(fairness="weak", per="p")
    def resend_message(self, p: Process, m: Message) -> None:
        """The same MSG at every timeout until it is acknowledged."""
        require(self.awaiting[p] and self.source[m] == p and self.lsn[m] == self.expected[p][p] - 1 and self.may_expire())
        self.network |= {Msg(q, m) for q in self.each(Process) if q != p}
        self.expire()

    @action(fairness="weak", per="p")
    def resend_pass(self, p: Process) -> None:
        """The same ACK at every timeout until the token is passed."""
        sent = self.passed[p]
        require(sent is not None and self.may_expire())
        if sent is not None:
            m = sent.message
            if self.resending == "same" or (m is not None and sent.number > 0 and self.has_ack(p, sent.number, m)):
                self.send_pass(p, sent)
        self.expire()

    @action(fairness="weak", per="p")
    def repeat_request(self, p: Process) -> None:
        """Receiving ACK message: the REQ at every timeout until the requested message is received."""
        require(not self.is_recovered(p) and self.may_expire())
        self.ask(p)
        self.expire()

    # Receiving REQ message ---------------------------------------------------------------------------------------------------------------

    @action(fairness="weak", per="packet")
    def answer_holding(self, packet: Annotated[Request, In("network")]) -> None:
        """HOLD: the requested message, if BUF has it, to LTM_j."""
        require(self.is_idle() and self.holding[packet.to])
        self.network -= {packet}
        self.answer(packet.to, packet)

    @action(fairness="weak", per="packet")
    def answer_transferring(self, packet: Annotated[Request, In("network")]) -> None:
        """TRST: only the next token holder is answered; as printed, the one of the ACK with gsn R_i[i] in BUF."""
        p = packet.to
        require(self.is_idle() and self.passed[p] is not None and self.is_successor(p, packet.sender))
        self.network -= {packet}
        self.answer(p, packet)

    @action(fairness="weak", per="packet")
    def discard_request(self, packet: Annotated[Request, In("network")]) -> None:
        """EMPT, or TRST and another process is the next token holder: discarded."""
        p = packet.to
        require(self.is_idle() and not self.holding[p] and (self.passed[p] is None or not self.is_successor(p, packet.sender)))
        self.network -= {packet}

    def is_successor(self, p: Process, j: Process) -> bool:
        """`m = j in ACK(i, U_id, R_i[i], m) stored in BUF_i`."""
        sent = self.passed[p]
        if self.answer_named:
            return sent is not None and sent.next_holder == j
        own = self.status[p][p]
        item = self.acks[p][own] if own > 0 else None
        return item is not None and item.sender == p and item.next_holder == j

    def answer(self, p: Process, packet: Request) -> None:
        """Sends the requested message as a point-to-point message; the h of the REQ is a delivery status."""
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
