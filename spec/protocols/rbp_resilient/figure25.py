"""RBP with failures, as figure 25 prints it: NULL acknowledgements, stability, garbage collection, failure
detection.

Source: L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable Channels",
2002, sections 3.2.1, 3.2.2 and 4.2, figure 25, printed lines 1-82 (64 is printed twice). Modelled is
everything up to a call of `Reformation()`; what the call does is figures 22 to 24. What departs from the
print stands in repairs.py, how else its columns can be read in readings.py, what an exploration adds and
bounds in faults.py, resilience.py and bounds.py: none of it is known here.

| figure 25           | here                                                                                |
|---------------------|-------------------------------------------------------------------------------------|
| p1..pn              | `Process(0)` .. `Process(n - 1)`                                                    |
| (m, B)              | `Body(m, name)`: B is told by m and by how many names the message had before        |
| recvQ_p, stableQ_p  | `received[p]`, `stable[p]`                                                          |
| seqQ_p              | `numbered[p]`                                                                       |
| lastdelivered_p     | `last_delivered[p]`                                                                 |
| message id_p        | the name of `pending[p]`                                                            |
| toknext_p           | `successor(p)`                                                                      |
| ts_p                | `last_number[p]`                                                                    |
| TL_p                | `installed[p]`: the version of the list that is used here; another one where false  |
| lines 13-16         | p stands there while `pending[p]` is the message that it sends                      |
| lines 35-48         | while `arriving[p]` is the token; in 36-38 while `catching_up[p]`                   |
| line 51             | while `holding[p]`                                                                  |
| lines 53-55, 60-62  | while `passed[p]` is the ACK that it sent last                                      |
| Reformation()       | `reforming[p]`: p has called it                                                     |

What is abstracted, and why that is sound:
1. Loops, lossy channels, one's own copy, a second token that comes while a process waits: as in figure16.py.
2. What no `when receive` takes changes nothing when it arrives, so it is not kept: the ACKs of lines 11, 22
   and 61, which lack the TL of line 25, and the answers of lines 43, 66 and 69. A request for such an answer
   is not kept either. Nor is (m, B, TL) of a process on another list, which line 19 refuses.
3. `failure(q)` is true of a process that has stopped. ActivityFailure is detected where no process that is up
   holds the token, waits for it or sends it, and no packet carries it: a timeout that is long enough.
4. What is sent to a stopped process is not kept.

What is decided, because the figure is silent:
1. Of several messages without a number the first is the one that was broadcast first (line 59).
2. `retransmits_acks(seqnum, nts_p)` of line 43 sends what follows seqnum in seqQ_p in the shape of line 69 to
   q.
3. An ACK has a sender, and names the successor of its sender.
4. `toknext` of line 21, which is in no scope there, is toknext_p (RBP-08).
5. The TL_p of lines 16 and 25 names the fourth field of an ACK, and is compared with nothing: otherwise the
   test of line 27 would always be true. So an ACK of whichever list ends the loop of line 16.

The columns of the print do not say what belongs to which `if`. The `else` of lines 34 and 58 stand one level
deeper than their `if`, that of line 41 one level higher, and after the page break every line of 77-82 stands
in one column. It is decided:
1. Line 41 is the `else` of line 35. As that of line 39, nearer to it, it would leave a token that comes
   without a gap, as the first one does, to nobody, and the rotation would never begin.
2. Lines 45-63 follow the `if` of lines 35-44: they stand in the column of line 35, and follow it in figure
   16. They also stand in the column of line 42, and belong to line 41 then: reading `nesting`. RBP-46 and
   RBP-18 depend on it, and are asked in both readings.
3. Lines 77-78 belong to the `if` of line 75, as line 76 does. Beside it, what one process has leaves its
   queues before the others have it, and is never delivered: reading `removing`.
4. Lines 79-82 belong to the loop of line 73, as lines 74-78 do: what is next in stableQ is delivered whenever
   task 2 comes to it. After the loop of line 74 it never would while a message is not stable; within that
   loop, or within the `if` of line 75, it is delivered at once when it becomes stable, which is one of the
   orders that are explored.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Crashes, Losses
from antiphon.spec.lang import (
    Between,
    Const,
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
from antiphon.spec.services import Broadcast, Deliver, Message, Process

Number = Annotated[int, Between(1, "messages + 1 + passes")]
"""A sequence number that is assigned."""

LastNumber = Annotated[int, Between(0, "messages + 1 + passes")]

Name = Annotated[int, Between(0, "spare")]
"""Name of a message: the number of names that it had before."""


@record
class Body:
    """Message (m, B): `message` is m, and `name` distinguishes its identifiers B."""

    message: Message
    name: Name


@record
class Sequenced:
    """Element of seqQ or stableQ: (B, seqnum), a message and its number. `body` None: the NULL message."""

    body: Body | None
    number: Number


@record
class Data:
    """Packet (m, B, TL), on its way to one process. TL is the version of the list that is used here."""

    to: Process
    body: Body


@record
class Ack:
    """Packet ACK(B, seqnum, toknext, TL) to one process. It names the sender's successor as next holder."""

    to: Process
    sender: Process
    body: Body | None
    number: Number


@record
class Numbered:
    """Packet (B, seqnum) of lines 43 and 69: the number of a message. It passes no token."""

    to: Process
    body: Body | None
    number: Number


Packet = Data | Ack | Numbered


class RbpResilient(Losses[Packet], Crashes):
    """RBP with failures, figure 25, without Reformation."""

    passes: Const[int] = 4
    """Number of numbers that NULL may take after the first."""

    spare: Const[int] = 0
    """Number of additional names that a message may get."""

    received: Map[Process, Set[Body]] = everywhere(Set())  # line 2
    numbered: Map[Process, Set[Sequenced]] = everywhere(Set())  # line 3
    stable: Map[Process, Set[Sequenced]] = everywhere(Set())  # line 4
    last_delivered: Map[Process, LastNumber] = everywhere(0)  # line 5
    last_number: Map[Process, LastNumber] = everywhere(0)  # line 8
    installed: Map[Process, bool] = everywhere(True)  # line 9
    pending: Map[Process, Body | None] = everywhere(None)
    arriving: Map[Process, Sequenced | None] = everywhere(None)
    catching_up: Map[Process, bool] = everywhere(False)
    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Sequenced | None] = everywhere(None)
    reforming: Map[Process, bool] = everywhere(False)
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    # Lines 1-11: initialization -----------------------------------------------------------------------------

    def successor(self, p: Process) -> Process | None:
        """Return the successor of p (line 7, `toknext_p ← p + 1 (mod n)`). p_k is `Process(k - 1)`, and there
        is no p0.
        """
        number = (p.index + 2) % self.processes
        return Process(number - 1) if number > 0 else None

    def predecessor(self, p: Process) -> Process:
        """Return the process before p in the ring, whose ACK names p."""
        return Process((p.index + self.processes - 1) % self.processes)

    @initial
    def start(self) -> None:
        """Send the first token (lines 10-11): `if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1`."""
        self.send_first_ack(Process(0))

    def send_first_ack(self, first: Process) -> None:
        """Send the first ACK (line 11). It has three fields, and no `when receive` takes it."""

    # Lines 12-16: procedure TO-broadcast --------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message (lines 12-15, first round). The procedure is busy until line 16 ends it."""
        require(m.index == self.broadcasts and self.pending[p] is None)
        self.broadcasts += 1
        self.send_message(p, Body(m, 0))
        emit(Broadcast(p, m))

    @action(fairness="weak")
    def resend(self, p: Process) -> None:
        """Send p's pending message again (lines 13-16, another round of the loop)."""
        own = self.pending[p]
        require(own is not None)
        if own is not None:
            self.send_message(p, Body(own.message, self.name_of_next_round(own)))

    def name_of_next_round(self, own: Body) -> int:
        """Return the name for the next round: line 14, `message id_p ← message id_p + 1`, is inside the loop,
        so each round takes a new one.
        """
        return own.name + 1

    def send_message(self, p: Process, body: Body) -> None:
        """Send (m, B, TL_p) to all (line 15). A process on another list than the others sends it to itself
        only.
        """
        self.pending[p] = body
        self.take_message(p, body)
        self.network |= {
            Data(q, body)
            for q in self.each(Process)
            if q != p and self.installed[p] and self.gets_message(q, body)
        }

    def gets_message(self, q: Process, body: Body) -> bool:
        """Return True if a message to q is kept in the network."""
        return not self.down[q]

    # Lines 17-24: task 1, a message is received -------------------------------------------------------------

    @action(fairness="weak")
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        """Receive a message (lines 18-24)."""
        self.network -= {packet}  # line 18
        if self.installed[packet.to]:  # line 19: TL_q is the version of the list
            self.take_message(packet.to, packet.body)

    def take_message(self, p: Process, body: Body) -> None:
        """Take the message of `body` at p (lines 20-24): put it into recvQ_p, unless it has a number."""
        if self.is_old(p, body):  # line 20
            if self.successor(p) == p:  # line 21
                self.repeat_ack(p, body)  # line 22
        else:  # line 23
            self.received[p] |= {body}  # line 24

    def is_old(self, p: Process, body: Body) -> bool:
        """Return True if seqQ_p has the message already (line 20, `∃(B, seqnum') ∈ seqQ_p`)."""
        return self.is_numbered(p, body)

    def is_numbered(self, p: Process, body: Body) -> bool:
        """Return True if seqQ_p has a pair (B, seqnum)."""
        return any(item.body == body for item in self.numbered[p])

    def repeat_ack(self, p: Process, body: Body) -> None:
        """Send the number of the message again (line 22, `send ACK(B, seqnum', ⊥) to q`). The ACK has three
        fields, and no `when receive` takes it.
        """

    # Lines 25-48: an ACK is received ------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_ack(self, packet: Annotated[Ack, In("network")]) -> None:
        """Receive an ACK (lines 25-48), and take it if it is recorded."""
        self.network -= {packet}  # line 25
        if self.records_ack(self.installed[packet.to]):
            self.take_ack(packet.to, packet.sender, Sequenced(packet.body, packet.number))

    def records_ack(self, of_same_list: bool) -> bool:
        """Return True if the ACK is recorded (lines 26-28): always, since line 26 records it before line 27
        compares versions.
        """
        return True

    def take_ack(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Take an ACK (lines 26-48): record it, ask for what is missing, take the token if p is next."""
        self.learn(p, item)  # line 26
        if sender == self.successor(p):
            self.hear_successor(p)  # line 55, line 62
        if self.successor(sender) != p:  # line 29
            if item.number > self.last_number[p] + 1:  # line 30
                self.ask_for_numbers(p, item.number)  # line 31
            if not self.has_body(p, item.body):  # line 32
                self.ask_for_body(p, item.body)  # line 33
        else:  # line 34
            self.take_token(p, sender, item)

    def learn(self, p: Process, item: Sequenced) -> None:
        """Record a number (line 26); it may end the loop of line 16 (`until receive ACK (B, seqnum, toknext,
        TL_p)`).
        """
        self.record(p, item)
        if self.pending[p] == item.body:
            self.pending[p] = None

    def record(self, p: Process, item: Sequenced) -> None:
        """Add the number of a message to seqQ_p (line 26, `seqQ_p ← seqQ_p + (B, seqnum)`)."""
        self.numbered[p] |= {item}

    def take_token(self, p: Process, sender: Process, item: Sequenced) -> None:
        """Take the token (lines 35-48): p is the next holder, and waits until it has all earlier numbers and
        bodies.
        """
        self.catching_up[p] = item.number > self.last_number[p] + 1
        if item.number > self.last_number[p] + 1:  # line 35
            self.ask_for_numbers(p, item.number)  # line 37
        else:  # line 41
            if self.last_number[p] > item.number:  # line 42
                self.retransmits_acks(p, sender, item.number)  # line 43
            else:
                self.last_number[p] = item.number  # line 44
            if not self.has_body(p, item.body):  # line 45
                self.ask_for_body(p, item.body)  # line 47
        self.arriving[p] = item

    def retransmits_acks(self, p: Process, q: Process, seqnum: Number) -> None:
        """Answer an old token (line 43, `retransmits_acks (seqnum, nts_p)`)."""
        for item in self.numbered[p]:
            if item.number > seqnum:
                self.send_number(q, item)

    def send_number(self, q: Process, item: Sequenced) -> None:
        """Send a number (lines 43 and 69, `send (B, seqnum) to q`). No `when receive` takes this shape."""

    def has_body(self, p: Process, body: Body | None) -> bool:
        """Return True if B is in recvQ_p; NULL is in no queue."""
        return body is not None and body in self.received[p]

    def tells(self, q: Process, p: Process) -> bool:
        """Return True if q receives the requests of p for what is missing (lines 64-69): q is another
        process, and active.
        """
        return q != p and self.is_active(q)

    def ask_for_numbers(self, p: Process, k: Number) -> None:
        """Ask for numbers (lines 31 and 37, `request_sn (ts_p + 1, seqnum)`). No `when receive` takes the
        answer.
        """

    def ask_for_body(self, p: Process, body: Body | None) -> None:
        """Ask for a body (lines 33 and 47, `request (B)`). No `when receive` takes the answer."""

    def leave_loop(self, p: Process) -> None:
        """Leave the loop of lines 36-38, which asks for missing numbers (`until (ts_p = seqnum)`)."""
        token = self.arriving[p]
        if token is not None and self.catching_up[p] and self.last_number[p] == token.number:
            self.catching_up[p] = False
            self.go_on_after_gap(p)

    def go_on_after_gap(self, p: Process) -> None:
        """Go on after line 38, at which p missed a message. As printed line 45 follows: p waits for B as
        after line 44, so nothing is done here.
        """

    @action(fairness="weak")
    def accept(self, p: Process) -> None:
        """Accept the token (line 48); p then waits for a message to number (line 51)."""
        require(self.can_accept(p))
        self.arriving[p] = None
        self.holding[p] = True

    def can_accept(self, p: Process) -> bool:
        """Return True if p has the body of the token (line 48, `until (B ∈ recvQ_p)`)."""
        token = self.arriving[p]
        if token is None or self.holding[p] or self.catching_up[p]:
            return False
        return self.has_body(p, token.body)

    # Lines 51-63: the holder sequences and passes on --------------------------------------------------------

    @action(fairness="weak")
    def pass_null(self, p: Process) -> None:
        """Give ts_p + 1 to NULL after a timeout without messages (lines 51-54, first round)."""
        require(self.holding[p] and not self.can_sequence(p))  # line 52
        self.holding[p] = False
        self.send_token(p, None, self.last_number[p] + 1)  # line 54

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        """Give ts_p + 1 to the first message without a number (lines 59-61, first round)."""
        require(self.can_sequence(p))
        body = next(
            (one for one in self.each(Body) if one in self.received[p] and not self.is_numbered(p, one)), None
        )  # line 59
        if body is not None:
            self.holding[p] = False
            self.send_token(p, body, self.last_number[p] + 1)  # line 61

    def can_sequence(self, p: Process) -> bool:
        """Return True if p has a message to number (line 51, `recvQ_p - seqQ_p ≠ ε`, printed with a
        backslash).
        """
        return self.holding[p] and any(not self.is_numbered(p, body) for body in self.received[p])

    @action(fairness="weak")
    def resend_token(self, p: Process) -> None:
        """Send the token of p again (lines 53-55 and 60-62, another round of the loop)."""
        sent = self.passed[p]
        require(sent is not None)
        if sent is not None:
            self.send_token(p, sent.body, self.number_of_next_round(p, sent))

    def number_of_next_round(self, p: Process, sent: Sequenced) -> int:
        """Return the number for the next round: lines 54 and 61, with `ts_p + 1`, are inside the loop, so the
        number is computed in each round.
        """
        return self.last_number[p] + 1

    def send_token(self, p: Process, body: Body | None, k: Number) -> None:
        """Send ACK(B, ts_p + 1, toknext_p), with or without TL_p, to all (lines 54 and 61)."""
        item = Sequenced(body, k)
        self.learn(p, item)
        self.network |= {
            Ack(q, p, body, k)
            for q in self.each(Process)
            if q != p and self.carries_version(body) and self.gets_ack(q, p, item)
        }
        self.passed[p] = item

    def carries_version(self, body: Body | None) -> bool:
        """Return True if the ACK carries TL_p: line 54 sends it, line 61 does not. Line 25 receives only ACKs
        with it.
        """
        return body is None

    def gets_ack(self, q: Process, p: Process, item: Sequenced) -> bool:
        """Return True if an ACK from p to q is kept in the network."""
        return not self.down[q]

    def hear_successor(self, p: Process) -> None:
        """End the wait at an ACK of the successor (lines 55 and 62, `until receive ACK from toknext_p`)."""
        self.passed[p] = None

    # Lines 38-40, 48-50, 55-57, 62-64, 70-71: failures ------------------------------------------------------

    def awaits_sequencer(self, p: Process) -> bool:
        """Return True if p was named, and waits for numbers or bodies (lines 36-38 and 46-48)."""
        return self.arriving[p] is not None and not self.can_accept(p) and not self.holding[p]

    @action(fairness="weak")
    def detect_sequencer(self, p: Process) -> None:
        """Detect the failure of the sequencer that named p, while p waits (lines 38-40 and 48-50)."""
        require(self.awaits_sequencer(p) and self.down[self.predecessor(p)] and not self.reforming[p])
        self.give_up_sequencer(p)

    def give_up_sequencer(self, p: Process) -> None:
        """Call Reformation because of the sequencer (lines 39-40 and 49-50). When Reformation returns, p goes
        on: after line 50 with line 51, after line 40 with line 45, where `failure(q)` is still true, and so
        with line 51.
        """
        self.reforming[p] = True
        self.arriving[p] = None
        self.catching_up[p] = False
        self.holding[p] = True

    @action(fairness="weak")
    def detect_successor(self, p: Process) -> None:
        """Detect the failure of the successor, while p waits for it to accept (lines 55-57 and 62-64)."""
        after = self.successor(p)
        require(self.passed[p] is not None and after is not None and not self.reforming[p])
        if after is not None:
            require(self.down[after])
            self.give_up_successor(p)

    def give_up_successor(self, p: Process) -> None:
        """Call Reformation because of the successor (lines 56-57 and 63-64)."""
        self.reforming[p] = True
        self.passed[p] = None

    @action(fairness="weak")
    def detect_inactivity(self, p: Process) -> None:
        """Detect that no sequencer has been active for too long (lines 70-71)."""
        require(self.is_blocked() and not self.reforming[p])
        self.reforming[p] = True

    def is_blocked(self) -> bool:
        """Return True if the token is lost: no active process holds it, waits for it or for its acceptance,
        and no packet carries it.
        """
        return not any(
            self.is_active(p)
            and (self.holding[p] or self.arriving[p] is not None or self.passed[p] is not None)
            for p in self.each(Process)
        ) and not any(self.carries_token(packet) for packet in self.network)

    def carries_token(self, packet: Packet) -> bool:
        """Return True if the packet brings the token to an active process that has not accepted it."""
        if isinstance(packet, Ack):
            names = self.successor(packet.sender) == packet.to
            return names and self.is_active(packet.to) and not self.was_accepted(packet.to, packet.number)
        return False

    def is_active(self, p: Process) -> bool:
        """Return True if p is up. A subclass whose lists change also requires that p works in its list."""
        return not self.down[p]

    def was_accepted(self, p: Process, k: Number) -> bool:
        """Return True if p has accepted the token with number k: p holds it, or knows a later number."""
        return (self.holding[p] and self.last_number[p] == k) or self.highest_known(p) > k

    def highest_known(self, p: Process) -> LastNumber:
        """Return the highest number that p knows, or 0."""
        return max((k for k in self.each(Number) if self.knows(p, k)), default=0)

    def knows(self, p: Process, k: Number) -> bool:
        """Return True if p knows the message of number k, or knew it until delivery."""
        return (
            k <= self.last_delivered[p]
            or any(item.number == k for item in self.numbered[p])
            or any(item.number == k for item in self.stable[p])
        )

    # Lines 72-82: task 2 ------------------------------------------------------------------------------------

    @action(fairness="weak")
    def settle(self, p: Process, item: Sequenced) -> None:
        """Make a message stable that all processes have (lines 74-78); it leaves recvQ and seqQ."""
        require(self.can_settle(p, item))
        self.keep_stable(p, item)  # line 76
        self.numbered[p] -= {item}  # line 77
        self.drop_body(p, item.body)  # line 78

    def can_settle(self, p: Process, item: Sequenced) -> bool:
        """Return True if the item can become stable at p (lines 74-75)."""
        there = item in self.numbered[p] and self.is_there(p, item.body)
        return there and self.leaves_queues(p, item.number)

    def leaves_queues(self, p: Process, k: Number) -> bool:
        """Return True if number k leaves seqQ and recvQ: lines 77-78 belong to the `if` of line 75."""
        return self.is_stable(p, k)

    def is_there(self, p: Process, body: Body | None) -> bool:
        """Return True if (m', B) is in recvQ_p (line 74); NULL never is."""
        return body is not None and body in self.received[p]

    def is_stable(self, p: Process, k: Number) -> bool:
        """Return True if number k is stable at p (line 75, `seqnum' < (ts_p - n + 1)`)."""
        return k < self.last_number[p] - self.processes + 1

    def keep_stable(self, p: Process, item: Sequenced) -> None:
        """Add the message to stableQ (line 76, `stableQ_p ← stableQ_p + (m', seqnum')`)."""
        self.stable[p] |= {item}

    def drop_body(self, p: Process, body: Body | None) -> None:
        """Remove m' from recvQ_p (line 78)."""
        if body is not None:
            self.received[p] -= {body}

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        """Deliver the next stable message (lines 79-82)."""
        require(self.can_deliver(p, item))  # line 79
        self.stable[p] -= {item}  # line 81
        self.last_delivered[p] = item.number  # line 82
        if item.body is not None:
            emit(Deliver(p, item.body.message))  # line 80

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        """Return True if p can deliver the item (line 79, `∃ m' s.t. (m', lastdelivered_p + 1) ∈
        stableQ_p`).
        """
        return item in self.stable[p] and item.number == self.last_delivered[p] + 1
