"""MBRSHIP guarantees views, and that members which go together from one view to the next have delivered the
same messages.

Source: van Renesse, Birman, Friedman, Hayden, Karr 1995: "The COM, NAK, and FRAG layers do not provide
consistent views"; MBRSHIP "adds strong semantics to the VIEW upcall, that is, it guarantees that all members
in the view that were also in the previous view have delivered the same messages." How it does this stands in
a section that is not transcribed: this layer is abstract, the guarantee itself.

`Members` is the state that other layers may look at; `Mbrship` adds the flush. A part below adds the
channels: `MbrshipAlone` in this module, FRAG in `full_stack`. A flush that is made of messages is in `flush`.
What TOTAL may rely on:
1. Views shrink: members that are down or suspected leave, all at once; a view is the same for all its
   members. Nobody joins.
2. Before a view, every member that stays gets the upcall FLUSH; from then until the VIEW upcall nothing more
   is sent. The application is blocked too.
3. Messages of a sender are received in order, in the view in which they were sent, or by nobody that stays.
4. The view comes when the members that stay have received the same messages: of one another all, of one that
   leaves those that any of them has. They get the view in one step: a message that one of them sends in the
   new view reaches no other member before that member has the view too, so nothing could be seen in between.
`agreed` false takes away number 4: members go on with whatever they have received, which is no fault of
TOTAL.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import (
    AtMost,
    Const,
    Map,
    Seq,
    Set,
    action,
    emit,
    environment,
    everywhere,
    invariant,
    on,
    require,
    witness,
)
from antiphon.spec.protocols.horus.group import (
    Body,
    GroupCast,
    GroupFlush,
    GroupReceive,
    GroupView,
    Token,
)
from antiphon.spec.services import Crash, Process, View, Views


class Members(Crashes, Views):
    """State for the layers above MBRSHIP: `view[p]` the number of p's view, `left[p]` the processes that are
    not in it any more, `flushed[p]` True if p has sent its unstable messages; `suspected` the suspected
    processes.
    """

    suspicions: Const[int] = 0

    view: Map[Process, View] = everywhere(1)
    left: Map[Process, Set[Process]] = everywhere(Set())
    suspected: Map[Process, bool] = everywhere(False)
    flushed: Map[Process, bool] = everywhere(False)

    def is_current(self, p: Process) -> bool:
        """Return True if every view so far has p as a member."""
        return not any(p in self.left[q] for q in self.each(Process))

    def may_fail(self, p: Process) -> bool:
        """Return True if p may fail: p is not in the last view, after which no further view could exclude
        it.
        """
        return self.views == 1 or self.view[p] < self.views

    @environment
    def suspect(self, p: Process) -> None:
        """Take p for dead although it is up, up to `suspicions` times. The next view leaves p out, and p
        stays in its own view.
        """
        require(not self.down[p] and not self.suspected[p] and self.is_current(p) and self.may_fail(p))
        require(sum(1 for q in self.each(Process) if self.suspected[q]) < self.suspicions)
        self.suspected[p] = True

    @invariant
    def ConsistentViews(self) -> bool:
        """Invariant: members with the same view number have the same view."""
        return all(
            self.view[p] != self.view[q] or self.left[p] == self.left[q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @witness
    def ViewChanged(self) -> bool:
        """Witness: a member was left behind."""
        return any(len(self.left[p]) > 0 for p in self.each(Process))


class Mbrship(Members):
    """MBRSHIP: its views and its flush.

    State: `leaving` the members that the present flush leaves behind; empty without a flush.
    """

    agreed: Const[bool] = True

    leaving: Set[Process] = Set()

    def stays(self, p: Process) -> bool:
        """Return True if p is in the next view, to which the flush of the present view leads."""
        return self.is_current(p) and p not in self.leaving

    def must_leave(self, p: Process) -> bool:
        """Return True if p is down or suspected, and no flush leaves p behind so far."""
        return self.stays(p) and (self.down[p] or self.suspected[p])

    @action(fairness="weak")
    def start_flush(self) -> None:
        """Begin a flush that will leave out the members that are down or suspected, or add such members to
        the present flush.
        """
        require(any(self.must_leave(q) for q in self.each(Process)))
        require(any(self.stays(q) and not self.must_leave(q) for q in self.each(Process)))
        require(len(self.leaving) > 0 or all(self.view[q] < self.views for q in self.each(Process)))
        self.leaving |= {q for q in self.each(Process) if self.must_leave(q)}

    @action(fairness="weak", per="p")
    def flush(self, p: Process) -> None:
        """Give p the FLUSH upcall: p sends its remaining messages."""
        require(len(self.leaving) > 0 and self.stays(p) and not self.flushed[p])
        emit(GroupFlush(p))
        self.flushed[p] = True

    def move(self) -> None:
        """Go on to the next view: all staying members get the VIEW upcall."""
        for p in self.each(Process):
            if self.stays(p):
                self.left[p] |= self.leaving
        for p in self.each(Process):
            if self.stays(p):
                self.view[p] += 1
                self.flushed[p] = False
                emit(GroupView(p, Set(q for q in self.each(Process) if self.stays(q))))
        self.leaving = Set()


class MbrshipAlone(Mbrship):
    """MBRSHIP over queues, which are reliable and in the order of the sender.

    `queue[q][p]` is what is on its way from q to p. A token goes only to whom it is for. `in_order` false
    lets messages of one sender overtake each other, which is no fault of the layers above.
    """

    in_order: Const[bool] = True

    queue: Map[Process, Map[Process, Annotated[Seq[Body], AtMost("messages + 1")]]] = everywhere(
        everywhere(())
    )

    def is_reached(self, q: Process, p: Process) -> bool:
        """Return True if p will receive what q sends now: p is up, and in the same view as q."""
        return not self.down[p] and self.view[p] == self.view[q] and p not in self.left[q]

    @on(GroupCast)
    def spread(self, call: GroupCast) -> None:
        """Send a message to all others through the queues."""
        q = call.process
        body = call.body
        for p in self.each(Process):
            if p != q and self.is_reached(q, p) and not (isinstance(body, Token) and body.to != p):
                self.queue[q][p] += (body,)

    @action(fairness="weak", per=("p", "q"))
    def receive(self, p: Process, q: Process) -> None:
        """Receive at p the next message of q."""
        require(len(self.queue[q][p]) > 0)
        body = self.queue[q][p][0]
        self.queue[q][p] = self.queue[q][p][1:]
        emit(GroupReceive(p, q, body))

    @environment
    def overtake(self, p: Process, q: Process) -> None:
        """Let the first message on its way from q to p be overtaken by the others."""
        require(not self.in_order and len(self.queue[q][p]) > 1)
        self.queue[q][p] = self.queue[q][p][1:] + (self.queue[q][p][0],)  # noqa: RUF005

    def ahead(self, q: Process, p: Process) -> int:
        """Return the number of messages of q on their way to p, tokens not counted."""
        return sum(1 for body in self.queue[q][p] if not isinstance(body, Token))

    def have_the_same(self) -> bool:
        """Return True if the staying members have all messages of each other, and equal sets of messages of
        each leaving member.
        """
        return all(
            len(self.queue[q][p]) == 0
            if self.stays(q)
            else not self.agreed
            or all(self.ahead(q, p) == self.ahead(q, r) for r in self.each(Process) if self.stays(r))
            for p in self.each(Process)
            if self.stays(p)
            for q in self.each(Process)
        )

    @action(fairness="weak")
    def install(self) -> None:
        """Install the next view at all staying members in one step; messages to them that are still on their
        way are dropped.
        """
        require(len(self.leaving) > 0 and all(self.flushed[p] for p in self.each(Process) if self.stays(p)))
        require(not any(self.must_leave(p) for p in self.each(Process)) and self.have_the_same())
        for p in self.each(Process):
            for q in self.each(Process):
                if self.stays(p):
                    self.queue[q][p] = ()
        self.move()

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; nothing reaches p any more."""
        require(not self.down[p] and self.may_fail(p))
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        for q in self.each(Process):
            self.queue[q][p] = ()
        emit(Crash(p))
