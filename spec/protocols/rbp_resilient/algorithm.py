"""What does a process of figure 25 do? The lines in the order of the figure, and the failures around them."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, action, emit, environment, initial, require
from antiphon.spec.protocols.rbp_resilient.state import Ack, Data, Number, Numbered, ResilientState, Sequenced
from antiphon.spec.services import Broadcast, Crash, Deliver, Message, Process


class ResilientAlgorithm(ResilientState):
    """Figure 25, printed lines 1-82, up to the calls of Reformation."""

    # Lines 1-16 --------------------------------------------------------------------------------------------------------------------------

    @initial
    def start(self) -> None:
        """Lines 10-11: `if p=1 then send ACK(NULL, ts_p + 1, toknext_p) to p1`."""
        first = Process(0)
        if self.start_rotation:
            self.learn(first, Sequenced(None, 1))
            self.network |= {Ack(q, first, None, 1) for q in self.each(Process) if q != first}
            self.passed[first] = Sequenced(None, 1)
        else:
            self.network |= {Ack(first, first, None, 1)}
        if self.late:
            self.installed[Process(self.processes - 1)] = False

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Lines 12-15: (m, B, TL_p) to all. The procedure is busy until B is acknowledged (line 16)."""
        require(m.index == self.broadcasts and self.pending[p] is None and self.installed[p] and self.is_idle())
        require(not self.assigned or p.index == m.index % self.processes)
        self.broadcasts += 1
        self.pending[p] = m
        self.received[p] |= {m}
        self.network |= {Data(q, m) for q in self.each(Process) if q != p and not self.down[q]}
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def resend(self, p: Process) -> None:
        """Lines 13-16: until the ACK, the message is sent again."""
        m = self.pending[p]
        require(m is not None and self.may_expire())
        if m is not None:
            require(any(q != p and self.needs_data(q, m) for q in self.each(Process)))
            self.network |= {Data(q, m) for q in self.each(Process) if q != p and self.needs_data(q, m)}
        self.expire()

    # Lines 17-50: task 1, receiving ------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Lines 18-24: a message of this list that has no number yet is stored."""
        p = packet.to
        m = packet.message
        require(self.is_idle())
        self.network -= {packet}
        is_late = self.store_late_body and any(item.message == m for item in self.numbered[p])
        if self.installed[p] and m not in self.received[p] and (is_late or not self.is_numbered(p, m)):
            self.received[p] |= {m}

    @action(fairness="weak")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Lines 25-48: the number is recorded, whatever the version; the process that is named takes the token or answers it."""
        p = packet.to
        item = Sequenced(packet.message, packet.number)
        require(self.is_idle())
        self.network -= {packet}
        if self.installed[p] or not self.filter_versions:
            self.learn(p, item)
            if not self.await_successor and packet.sender == self.successor(p):
                self.passed[p] = None
            if self.successor(packet.sender) == p:
                self.take_token(p, packet.sender, item)

    def take_token(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Lines 34-48, for the process that the ACK names."""
        if self.old_token and self.was_accepted(p, item.number):
            self.network |= {Numbered(sender, later.message, later.number) for later in self.numbered[p] if later.number > item.number}
        else:
            if item.number == self.last_number[p] + 1:
                self.last_number[p] = item.number
            self.arriving[p] = item

    @action(fairness="weak")
    def receive_numbered(self, packet: Annotated[Numbered, In("network")]) -> None:
        """Line 43: an acknowledgement that is told again."""
        require(self.is_idle())
        self.network -= {packet}
        self.learn(packet.to, Sequenced(packet.message, packet.number))

    @action(fairness="weak")
    def obtain_number(self, p: Process, item: Sequenced) -> None:
        """Lines 31, 37 and 67-69: p misses a number below one that it knows, and some process tells it."""
        require(self.handled_replies and self.is_idle() and self.installed[p])
        require(item.number < self.highest_known(p) and not self.knows(p, item.number))
        require(any(q != p and self.is_active(q) and item in self.numbered[q] for q in self.each(Process)))
        require(not self.patient or not any(Ack(p, q, item.message, item.number) in self.network for q in self.each(Process)))
        self.learn(p, item)

    @action(fairness="weak")
    def obtain_body(self, p: Process, m: Message) -> None:
        """Lines 33, 47 and 64-66: p misses the body of a number that it knows, and some process has it."""
        require(self.handled_replies and self.store_late_body and self.is_idle() and self.installed[p])
        require(m not in self.received[p] and any(item.message == m for item in self.numbered[p]))
        require(any(q != p and self.is_active(q) and m in self.received[q] for q in self.each(Process)))
        require(not self.patient or Data(p, m) not in self.network)
        self.received[p] |= {m}

    @action(fairness="weak")
    def accept(self, p: Process) -> None:
        """Lines 38 and 48: p holds the token."""
        require(self.can_accept(p) and self.is_first(p))
        self.arriving[p] = None
        self.holding[p] = True

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        """A process that is late installs the token list."""
        require(not self.installed[p] and self.is_idle())
        self.installed[p] = True

    # Lines 51-63: sequencing -------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Lines 59-61: the first message of recvQ that has no number gets ts_p + 1; one ACK tells all."""
        require(self.can_sequence(p) and self.is_first(p) and not (self.urgent and self.can_accept(p)))
        m = next((one for one in self.each(Message) if one in self.received[p] and not self.is_numbered(p, one)), None)
        if m is not None:
            self.acknowledge(p, Sequenced(m, self.last_number[p] + 1))

    @action(fairness="weak")
    def pass_null(self, p: Process) -> None:
        """Lines 51-54: after a timeout without messages, a NULL message gets ts_p + 1."""
        require(self.holding[p] and self.has_number_left(p) and not self.can_sequence(p) and self.is_idle() and self.is_wanted())
        self.acknowledge(p, Sequenced(None, self.last_number[p] + 1))

    def acknowledge(self, p: Process, item: Sequenced) -> None:
        """ACK(B, ts_p + 1, toknext_p, TL_p) to all, lines 54 and 61."""
        self.holding[p] = False
        self.passed[p] = item
        self.learn(p, item)
        self.network |= {Ack(q, p, item.message, item.number) for q in self.each(Process) if q != p and not self.down[q]}

    @action(fairness="weak")
    def resend_token(self, p: Process) -> None:
        """Lines 53-55 and 60-62: until an ACK of toknext_p arrives, the ACK is sent again."""
        sent = self.passed[p]
        require(sent is not None and self.may_expire())
        if sent is not None:
            require(any(self.needs_ack(q, p, sent) for q in self.each(Process)))
            self.network |= {Ack(q, p, sent.message, sent.number) for q in self.each(Process) if self.needs_ack(q, p, sent)}
        self.expire()

    # Lines 38-40, 48-50, 55-57, 62-64, 70-71: failures -----------------------------------------------------------------------------------

    def give_up_sequencer(self, p: Process) -> None:
        """Lines 39-40 and 49-50; as printed, p goes on as the holder when Reformation returns."""
        self.reforming[p] = True
        self.arriving[p] = None
        if not self.leave_after_reformation:
            self.holding[p] = True

    def give_up_successor(self, p: Process) -> None:
        """Lines 56-57 and 63-64."""
        self.reforming[p] = True
        self.passed[p] = None

    @action(fairness="weak")
    def detect_sequencer(self, p: Process) -> None:
        """Lines 38-40 and 48-50: p waits for what it misses, and the sequencer that named it has failed."""
        require(self.awaits_sequencer(p) and self.down[self.predecessor(p)] and not self.reforming[p] and self.is_idle())
        self.give_up_sequencer(p)

    @action(fairness="weak")
    def detect_successor(self, p: Process) -> None:
        """Lines 55-57 and 62-64: p waits for its successor to accept, and the successor has failed."""
        after = self.successor(p)
        require(self.passed[p] is not None and after is not None and not self.reforming[p] and self.is_idle())
        if after is not None:
            require(self.down[after])
            self.give_up_successor(p)

    @action(fairness="weak")
    def detect_inactivity(self, p: Process) -> None:
        """Lines 70-71: no sequencer is active for too long."""
        require(self.passive and self.is_blocked() and not self.reforming[p] and self.is_idle())
        self.reforming[p] = True

    @environment
    def suspect_sequencer(self, p: Process) -> None:
        """Lines 38-40 and 48-50, where the sequencer has not failed."""
        require(self.suspected < self.suspicions and self.is_active(p) and not self.reforming[p] and self.is_idle())
        require(self.awaits_sequencer(p) and not self.down[self.predecessor(p)])
        self.suspected += 1
        self.give_up_sequencer(p)

    @environment
    def suspect_successor(self, p: Process) -> None:
        """Lines 55-57 and 62-64, where the successor has not failed."""
        after = self.successor(p)
        require(self.suspected < self.suspicions and self.is_active(p) and not self.reforming[p] and self.is_idle())
        require(self.passed[p] is not None and after is not None)
        if after is not None:
            require(not self.down[after])
            self.suspected += 1
            self.give_up_successor(p)

    @environment
    def crash(self, p: Process) -> None:
        """P stops for ever; what is on its way to it is gone."""
        require(not self.down[p] and self.is_idle())
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        self.network -= {packet for packet in self.network if packet.to == p}
        emit(Crash(p))

    @environment
    def stray(self, p: Process, sender: Process, k: Number) -> None:
        """An ACK of an excluded process comes to p: NULL has number k, and the old list's successor of the sender is named."""
        require(self.strayed < self.strays and self.is_active(p) and self.is_idle() and p != sender)
        self.strayed += 1
        if not self.filter_versions:
            self.learn(p, Sequenced(None, k))
            if self.successor(sender) == p:
                self.take_token(p, sender, Sequenced(None, k))

    # Lines 72-82: task 2 -----------------------------------------------------------------------------------------------------------------

    @action(fairness="weak")
    def settle(self, p: Process, item: Sequenced) -> None:
        """Lines 74-78: what all processes have becomes stable, and leaves recvQ and seqQ."""
        require(self.can_settle(p, item) and self.is_first(p))
        m = item.message
        self.numbered[p] -= {item}
        if self.resilience == 0:
            self.stable[p] |= {item}
        if m is not None:
            self.received[p] -= {m}
            self.collected[p] |= {m}

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Lines 79-82: the stable message whose number is next is delivered."""
        require(self.can_deliver(p, item) and self.is_first(p))
        self.last_delivered[p] = item.number
        self.stable[p] -= {item}
        if item.message is not None:
            emit(Deliver(p, item.message))
