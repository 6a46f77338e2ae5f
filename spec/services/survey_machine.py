"""Machine of view synchrony with safe indications, and the one with total order.

That they have the properties which the survey lists beside view synchrony is checked (`IndicatingChecked`,
`OrderedChecked`), with a planted fault for each property. Both extend the machine of `view_machine`, which
defines views, sending and going on.

Source: Chockler, Keidar and Vitenberg 2001, in sense.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, emit, environment, everywhere, mutation, require, witness
from antiphon.spec.services.events import Crash, Deliver, Installed, Message, Process, View
from antiphon.spec.services.order import Count
from antiphon.spec.services.order_in_views import ReliableOrder
from antiphon.spec.services.survey import AgreementOnSuccessors, Indicate, SafeIndications, StableViews
from antiphon.spec.services.view_machine import BoundedMachine, ViewSynchronousMachine


class IndicatingMachine(ViewSynchronousMachine):
    """Machine of view synchrony that indicates to a process when every live member of the view has delivered
    a message.

    State: `told_safe[p]` the messages indicated to p as safe.
    """

    told_safe: Map[Process, Set[Message]] = everywhere(Set())

    @action
    def indicate(self, p: Process, m: Message) -> None:
        """Indicate to p that m is safe."""
        require(not self.dead[p] and m not in self.told_safe[p] and self.has_delivered_here(p, m))
        require(all(self.is_everywhere(p, k) for k in self.prefix(p, m)))
        self.told_safe[p] |= {m}
        emit(Indicate(p, m))

    def has_delivered_here(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered m in its present view."""
        return self.current_view[p] > 0 and self.delivery_view[p][m] == self.current_view[p]

    def prefix(self, p: Process, m: Message) -> Set[Message]:
        """Return the messages that must be safe if m is: all that p has delivered in its view up to m."""
        return Set() | {k for k in self.each(Message) if self.delivery_view[p][k] == self.current_view[p]}

    def is_everywhere(self, p: Process, m: Message) -> bool:
        """Return True if every live member of p's view has delivered m."""
        return all(
            self.dead[q] or self.delivery_view[q][m] > 0
            for v in self.each(View)
            if v == self.current_view[p]
            for q in self.view_members[v]
        )

    @witness
    def SafeBeforeAChange(self) -> bool:
        """Witness: a message was indicated as safe to a process in a view that another process has left
        already.
        """
        return any(
            m in self.told_safe[p] and self.delivery_view[p][m] < self.latest_view()
            for p in self.each(Process)
            for m in self.each(Message)
        )

    def is_last_of_all(self, p: Process) -> bool:
        """Return True if p is the last process, the one at which the planted faults act."""
        return p.index == self.processes - 1


@mutation("a process passes over a view of which it is a member")
class PassesOver(IndicatingMachine):
    """Planted fault in the survey's machine: a process skips a view of which it is a member. Breaks
    `AgreementOnSuccessors`.
    """

    def next_view(self, p: Process) -> Installed:
        """Return the last view that has p as a member, in place of the next one."""
        return max(
            (v for v in self.each(View) if v > self.current_view[p] and p in self.view_members[v]),
            default=0,
        )

    def stays(self, p: Process) -> bool:
        """Return True if p is a member of the latest view, even if it has skipped views."""
        return any(v == self.latest_view() and p in self.view_members[v] for v in self.each(View))


@mutation("a process is told that a message is safe before it has delivered it")
class ToldTooEarly(IndicatingMachine):
    """Planted fault in the survey's machine: a message is indicated as safe before it was delivered. Breaks
    `IndicatedIsDelivered`.
    """

    @action
    def indicate_early(self, p: Process, m: Message) -> None:
        """Indicate p's own message as safe when all other members have delivered it, and p has not."""
        require(not self.dead[p] and self.author[m] == p and m not in self.told_safe[p])
        require(self.delivery_view[p][m] == 0 and self.is_in_place(p, m))
        require(all(q == p or self.dead[q] or self.delivery_view[q][m] > 0 for q in self.each(Process)))
        self.told_safe[p] |= {m}
        emit(Indicate(p, m))


@mutation("what a process has delivered it is told to be safe")
class ToldAtOnce(IndicatingMachine):
    """Planted fault in the survey's machine: every delivered message is indicated as safe. Breaks
    `SafeIndication`, and with it `SafeIndicationPrefix`.
    """

    def is_everywhere(self, p: Process, m: Message) -> bool:
        """Return True: in this faulty machine every message counts as delivered everywhere."""
        return True


@mutation("a process is told that a message is safe, whatever it has delivered before")
class ToldAlone(IndicatingMachine):
    """Planted fault in the survey's machine: a message is indicated as safe, and those before it are not.
    Breaks `SafeIndicationPrefix`.
    """

    def prefix(self, p: Process, m: Message) -> Set[Message]:
        """Return only m: in this faulty machine the messages before m need not be safe."""
        return Set({m})


@mutation("the last process is told nothing")
class NeverTold(IndicatingMachine):
    """Planted fault in the survey's machine: the last process gets no safe indications. Breaks
    `SafeIndicationLiveness`.
    """

    @action
    def indicate(self, p: Process, m: Message) -> None:
        """Indicate to p that m is safe, but never to the last process (fault)."""
        require(not self.is_last_of_all(p))
        super().indicate(p, m)


@mutation("the last process, which sends nothing, never installs the last view, and nobody sends in that")
class StaysBehind(IndicatingMachine):
    """Planted fault in the survey's machine: the last process never installs the last view. Breaks
    `MembershipPrecision`.
    """

    def may_send(self, p: Process) -> bool:
        """Return True if p may send: p is neither in the last view nor the last process (fault)."""
        return super().may_send(p) and self.current_view[p] < self.views and not self.is_last_of_all(p)

    @action
    def install(self, p: Process, v: View, members: Set[Process]) -> None:
        """Install the view at p, but the last view never at the last process (fault)."""
        require(v < self.views or not self.is_last_of_all(p))
        super().install(p, v, members)


@mutation("the last process delivers in the last view only what it has sent")
class Deaf(IndicatingMachine):
    """Planted fault in the survey's machine: in the last view the last process delivers its own messages
    only. Breaks `MulticastLiveness`, and with it `TerminationOfDelivery` and `SafeIndicationLiveness`.
    """

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, but in the last view deliver only the own messages of the last process at it
        (fault).
        """
        require(self.author[m] == p or self.current_view[p] < self.views or not self.is_last_of_all(p))
        super().deliver(p, m)


@mutation("a process crashes in the last view, which nobody leaves")
class CrashesAtTheEnd(IndicatingMachine):
    """Planted fault in the survey's machine: a process crashes in the last view, after which no other view
    comes. Breaks `TerminationOfDelivery`.
    """

    @environment
    def crash_at_the_end(self, p: Process) -> None:
        """Crash the last process when it is in the last view (fault)."""
        require(self.is_last_of_all(p) and not self.dead[p] and self.current_view[p] == self.views)
        self.dead[p] = True
        emit(Crash(p))


class IndicatingChecked(
    IndicatingMachine,
    BoundedMachine,
    AgreementOnSuccessors,
    SafeIndications,
    StableViews,
    mutations=(
        PassesOver, ToldTooEarly, ToldAtOnce, ToldAlone, NeverTold, StaysBehind, Deaf, CrashesAtTheEnd,
    ),
):  # fmt: skip
    """The machine that announces safe messages, checked against the survey's properties."""


class OrderedMachine(ViewSynchronousMachine):
    """Machine of view synchrony that orders the messages of a view.

    State: `rank[m]` the place of m in the order of its view (0: nobody has delivered it).
    """

    rank: Map[Message, Count] = everywhere(0)

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, for which it is next in the view's order; if no process has delivered m, put it at
        the end of that order.
        """
        super().deliver(p, m)
        if self.rank[m] == 0:
            self.rank[m] = 1 + sum(
                1
                for k in self.each(Message)
                if self.rank[k] > 0 and self.sending_view[k] == self.sending_view[m]
            )

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view, and p has delivered everything before m in the view's
        order.
        """
        v = self.current_view[p]
        return self.sending_view[m] == v and all(
            self.delivery_view[p][k] > 0 or self.sending_view[k] != v or not self.is_before(k, m)
            for k in self.each(Message)
        )

    def is_before(self, k: Message, m: Message) -> bool:
        """Return True if k has a place in the order of the view, and m has a later place or none yet."""
        return self.rank[k] > 0 and (self.rank[m] == 0 or self.rank[k] < self.rank[m])

    def may_end(self, p: Process) -> bool:
        """Return True if p may begin to misbehave and crash: it is up, in a view, and another view can
        follow.
        """
        return not self.dead[p] and self.current_view[p] > 0 and self.latest_view() < self.views

    @witness
    def TwoInLine(self) -> bool:
        """Witness: every process that is up has delivered a message that is the second of its view."""
        return any(
            self.rank[m] == 2
            and all(self.dead[p] or self.delivery_view[p][m] > 0 for p in self.each(Process))
            for m in self.each(Message)
        )


@mutation("a process delivers what stands behind another message, and crashes")
class PassedOver(OrderedMachine):
    """Planted fault in the ordered machine: a process delivers a message before another that stands before
    it, and crashes. Breaks `ReliableTotalOrder`.
    """

    @environment
    def pass_over(self, p: Process, m: Message) -> None:
        """Deliver m at p before a message that precedes it in the view's order, and crash p."""
        require(self.may_end(p) and self.rank[m] > 1 and self.sending_view[m] == self.current_view[p])
        require(self.delivery_view[p][m] == 0 and not self.is_in_place(p, m))
        self.dead[p] = True
        emit(Deliver(p, m))
        emit(Crash(p))


@mutation("there is no line")
class AnyOrder(OrderedMachine):
    """Planted fault in the ordered machine: messages have no order. Breaks `WeakTotalOrder`, and with it
    `ReliableTotalOrder`.
    """

    def is_before(self, k: Message, m: Message) -> bool:
        """Return False: without an order no message comes before another."""
        return False


class OrderedChecked(
    OrderedMachine,
    BoundedMachine,
    ReliableOrder,
    mutations=(PassedOver, AnyOrder),
):
    """Machine with ordered messages, judged by weak and reliable total order."""
