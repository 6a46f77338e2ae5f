"""TOTAL: the holder of a token numbers messages; messages without a number at a flush are ordered at the
view.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "During normal operation, it utilizes a token. A
special ``oracle'' at each member decides who should get the token next. [...] In case of a failure, the token
may be lost. This, however, is not a problem. During the flush, all members that did not get the token in time
send their messages. These messages are not delivered, but buffered. When the new view is installed, each
member that remains connected to the system is guaranteed to have all messages from the previous view, and a
deterministic order can easily be constructed (e.g., messages are delivered in the order of the rank of the
source). Another deterministic rule decides who the first token holder in this view is (e.g., the lowest
ranked member), and normal operation can continue."

What is decided here, because the text is silent:
1. The holder numbers at once what its application broadcasts, and everything that waited when it gets the
   token; the token carries the next number. Numbers begin at 1 in each view, and messages are delivered in
   their order as far as there is no gap.
2. A token that arrives after the flush began is kept and does nothing: there is nothing left to send.
3. The rank is the order of `Process`, which views keep. Messages of one source keep their order.
4. The oracle may choose any member; what else it could mean stands in `readings`.
5. "When the new view is installed" the rest is delivered before the application gets its VIEW upcall: in the
   view in which it was broadcast. `view_upcall` turns that round.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Between,
    Map,
    Seq,
    action,
    emit,
    everywhere,
    initial,
    on,
    record,
    require,
)
from antiphon.spec.protocols.horus.group import (
    GroupCast,
    GroupFlush,
    GroupReceive,
    GroupView,
    NewView,
    NextNumber,
    Number,
    Ordered,
    Token,
    Unordered,
)
from antiphon.spec.protocols.horus.mbrship import Members
from antiphon.spec.services import Broadcast, Deliver, Message, Process


@record
class Numbered:
    """A numbered message that waits for the one before it, and who sent it."""

    message: Message
    source: Process


class Total(Members):
    """The layer TOTAL, and the application that broadcasts over it.

    State: `waiting[p]` what p has to send, `token[p]` the next number if p holds the token, `next_number[p]`
    the number that p delivers next, `numbered[p][k]` the message of number k if it waits, `held[p][q]` what p
    buffers of q's messages without numbers.
    """

    waiting: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    token: Map[Process, NextNumber | None] = everywhere(None)
    next_number: Map[Process, NextNumber] = everywhere(1)
    numbered: Map[Process, Map[Number, Numbered | None]] = everywhere(everywhere(None))
    held: Map[Process, Map[Process, Annotated[Seq[Message], AtMost("messages")]]] = everywhere(everywhere(()))
    broadcasts: Annotated[int, Between(0, "messages")] = 0

    @initial
    def begin(self) -> None:
        """Give the first token to the lowest ranked member."""
        self.token[Process(0)] = 1

    def can_send(self, p: Process) -> bool:
        """Return True if the layer below has room for one more message of p, besides those that wait."""
        return p not in self.left[p]

    def can_pass(self, p: Process) -> bool:
        """Return True if the layer below has room for a token from p."""
        return p not in self.left[p]

    # Sending ------------------------------------------------------------------------------------------------

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast a message of the application: the holder numbers it, any other member keeps it until it
        has the token.
        """
        require(m.index == self.broadcasts and not self.flushed[p] and self.can_send(p))
        self.broadcasts += 1
        emit(Broadcast(p, m))
        self.waiting[p] += (m,)
        self.send_numbered(p)

    def send_numbered(self, p: Process) -> None:
        """Number and send, as holder, all messages that wait at p."""
        for m in self.waiting[p]:
            k = self.token[p]
            if k is not None and k <= self.messages:
                self.token[p] = k + 1
                emit(GroupCast(p, Ordered(m, k)))
                self.numbered[p][k] = Numbered(m, p)
        if self.token[p] is not None:
            self.waiting[p] = ()
            self.deliver_numbered(p)

    def is_chosen(self, p: Process, q: Process) -> bool:
        """Return True if p's oracle may choose q: any other member."""
        return q != p

    @action(fairness="weak")
    def pass_token(self, p: Process, q: Process) -> None:
        """Pass the token from p to q, which the oracle has chosen."""
        k = self.token[p]
        require(
            k is not None
            and not self.flushed[p]
            and q not in self.left[p]
            and self.is_chosen(p, q)
            and self.can_pass(p)
        )
        if k is not None:
            self.token[p] = None
            emit(GroupCast(p, Token(q, k)))

    # Receiving ----------------------------------------------------------------------------------------------

    @on(GroupReceive)
    def take(self, call: GroupReceive) -> None:
        """Take what MBRSHIP hands up: a numbered message, one without a number, or the token."""
        p = call.process
        body = call.body
        if isinstance(body, Ordered):
            self.numbered[p][body.number] = Numbered(body.message, call.origin)
            self.deliver_numbered(p)
        elif isinstance(body, Unordered):
            self.keep(p, call.origin, body.message)
        elif body.to == p:
            self.token[p] = body.number
            self.send_numbered(p)

    def keep(self, p: Process, q: Process, m: Message) -> None:
        """Buffer a message without a number: it is not delivered before the next view."""
        self.held[p][q] += (m,)

    def hand_up(self, p: Process, q: Process, m: Message) -> None:
        """Deliver to p a message that q sent: hand it to the application."""
        emit(Deliver(p, m))

    def deliver_numbered(self, p: Process) -> None:
        """Deliver to p all messages that are next, in the order of their numbers, up to the first gap."""
        for k in self.each(Number):
            item = self.numbered[p][k]
            if k == self.next_number[p] and item is not None:
                self.numbered[p][k] = None
                self.next_number[p] = k + 1
                self.hand_up(p, item.source, item.message)

    # The change of view -------------------------------------------------------------------------------------

    @on(GroupFlush)
    def send_the_rest(self, call: GroupFlush) -> None:
        """Send p's waiting messages without numbers, since a flush has begun; a holder of the token has none
        left.
        """
        p = call.process
        for m in self.waiting[p]:
            emit(GroupCast(p, Unordered(m)))
            self.keep(p, p, m)
        self.waiting[p] = ()

    @on(GroupView)
    def enter(self, call: GroupView) -> None:
        """Enter a new view: deliver the remaining messages of the old view, and give the token of the new
        view to its lowest ranked member.
        """
        p = call.process
        self.go_on(p)
        self.numbered[p] = everywhere(None)
        self.next_number[p] = 1
        self.token[p] = 1 if not any(q in call.members for q in self.each(Process) if q < p) else None

    def go_on(self, p: Process) -> None:
        """Deliver, at p, the messages of the old view that wait, and then give the application the VIEW
        upcall (`view_upcall`).
        """
        self.deliver_the_rest(p)
        emit(NewView(p))

    def deliver_the_rest(self, p: Process) -> None:
        """Deliver all remaining messages from the previous view, in the order of the rank of their source."""
        for q in self.each(Process):
            self.deliver_rank(p, q)

    def deliver_rank(self, p: Process, q: Process) -> None:
        """Deliver the remaining messages of source q, in the order of sending: those with numbers first, then
        those without.
        """
        self.deliver_numbers_of(p, q)
        for m in self.held[p][q]:
            self.hand_up(p, q, m)
        self.held[p][q] = ()

    def deliver_numbers_of(self, p: Process, q: Process) -> None:
        """Deliver the remaining messages of one source with numbers."""
        for k in self.each(Number):
            item = self.numbered[p][k]
            if item is not None and item.source == q:
                self.numbered[p][k] = None
                self.hand_up(p, q, item.message)
