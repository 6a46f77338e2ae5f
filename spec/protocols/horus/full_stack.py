"""The full stack TOTAL:MBRSHIP:FRAG:NAK:COM over a network that loses and reorders, as one specification.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995, the section on this stack: MBRSHIP "relies on the
FIFO ordering provided by the NAK layer, and on the FRAG layer for sending large messages."

MBRSHIP is abstract, as in `mbrship`, but rests on FRAG: its casts go down, and what FRAG hands up is what
members receive. `log[q]` is what q cast, `got[p][q]` what p has received of it. During the flush members that
stay complete one another (`complete`): how, stands in a section that is not transcribed. A message of the
application is as large as a message can be, a token is one fragment.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import (
    AtMost,
    Map,
    Seq,
    Set,
    action,
    emit,
    environment,
    everywhere,
    on,
    record,
    require,
)
from antiphon.spec.protocols.horus.boundaries import ComView, Envelope, FragCast, FragReceive, Place
from antiphon.spec.protocols.horus.frag import Frag
from antiphon.spec.protocols.horus.group import Body, GroupCast, GroupReceive, GroupView, Token
from antiphon.spec.protocols.horus.mbrship import Mbrship
from antiphon.spec.protocols.horus.nak import Nak
from antiphon.spec.protocols.horus.total import Total
from antiphon.spec.services import Crash, Deliver, Process, View


@record
class Entry:
    """A cast of a member, and the view in which it was sent."""

    view: View
    body: Body


class MbrshipOverFrag(Mbrship, Frag):
    """MBRSHIP:FRAG over any layer that casts."""

    log: Map[Process, Annotated[Seq[Entry], AtMost("casts")]] = everywhere(())
    got: Map[Process, Map[Process, Set[Place]]] = everywhere(everywhere(Set()))

    @on(GroupCast)
    def send_down(self, call: GroupCast) -> None:
        """Hand a cast of MBRSHIP down to FRAG, and log it with the view in which it is sent. The token is one
        fragment, any other message is `fragments` of them.
        """
        q = call.process
        self.log[q] += (Entry(self.view[q], call.body),)
        emit(FragCast(q, 1 if isinstance(call.body, Token) else self.fragments))

    @on(FragReceive)
    def receive_up(self, call: FragReceive) -> None:
        """Accept a message that FRAG hands up, if it belongs to p's view and is new; a unit that nobody cast
        is dropped.
        """
        unit = call.unit
        if unit is None:
            emit(Deliver(call.process, None))
        else:
            self.accept(call.process, call.origin, unit.place)

    def accept(self, p: Process, q: Process, k: Place) -> None:
        """Accept cast k of q at p, and hand it up."""
        if k not in self.got[p][q] and self.is_mine(p, q, k):
            self.got[p][q] |= {k}
            emit(GroupReceive(p, q, self.log[q][k - 1].body))

    def is_mine(self, p: Process, q: Process, k: Place) -> bool:
        """Return True if cast k of q was sent in p's present view, by a member of that view."""
        return k <= len(self.log[q]) and self.log[q][k - 1].view == self.view[p] and q not in self.left[p]

    def has(self, p: Process, q: Process, k: Place) -> bool:
        """Return True if p has cast k of q: its own, or received."""
        return p == q or k in self.got[p][q]

    def is_lacked(self, p: Process, q: Process, k: Place) -> bool:
        """Return True if p, which stays, lacks cast k of q, and another staying member has it."""
        return (
            self.stays(p)
            and self.is_mine(p, q, k)
            and not self.has(p, q, k)
            and any(self.stays(r) and not self.down[r] and self.has(r, q, k) for r in self.each(Process))
        )

    def all_flushed(self) -> bool:
        """Return True if all members that stay have sent their unstable messages."""
        return len(self.leaving) > 0 and all(self.flushed[p] for p in self.each(Process) if self.stays(p))

    @action(fairness="weak")
    def complete(self, p: Process, q: Process) -> None:
        """Give p the first cast of q that p lacks, from another staying member."""
        require(self.all_flushed() and self.agreed)
        k = next((j for j in self.each(Place) if self.is_lacked(p, q, j)), None)
        require(k is not None)
        if k is not None:
            self.accept(p, q, k)

    @action(fairness="weak")
    def install(self) -> None:
        """Install the next view at all staying members, in one step."""
        require(self.all_flushed() and not any(self.must_leave(p) for p in self.each(Process)))
        require(
            not self.agreed
            or not any(
                self.is_lacked(p, q, k)
                for p in self.each(Process)
                for q in self.each(Process)
                for k in self.each(Place)
            )
        )
        self.move()

    @on(GroupView)
    def tell_below(self, call: GroupView) -> None:
        """Remove the members that left from the destinations of the layers below."""
        for q in self.each(Process):
            if q not in call.members:
                emit(ComView(call.process, q))


class Horus(Total, MbrshipOverFrag, Nak, Losses[Envelope]):
    """Stack TOTAL:MBRSHIP:FRAG:NAK:COM, whose MBRSHIP is abstract."""

    def listens(self, q: Process) -> bool:
        """Return True if q is up: nothing reaches a member that is down."""
        return not self.down[q]

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; messages on their way to p are lost."""
        require(not self.down[p] and self.may_fail(p))
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        self.network -= {envelope for envelope in self.network if envelope.to == p}
        emit(Crash(p))

    def can_send(self, p: Process) -> bool:
        """Return True if NAK has room for another message of p and for all messages that wait at p, which are
        cast together when the token comes.
        """
        return self.room(p) >= self.fragments * (len(self.waiting[p]) + 1)

    def can_pass(self, p: Process) -> bool:
        """Return True if p may pass the token: NAK has room for one cast more."""
        return self.room(p) >= 1
