"""The machine of view synchrony that tells when a message is safe, and the one that delivers in one order.

That they give what the survey lists beside view synchrony is checked (`IndicatingChecked`, `OrderedChecked`),
with a fault for each property. Both are the machine of `view_machine`, so views, sending and going on are
told there.

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
    """The machine of view synchrony, which tells a process when every member has what it has delivered.

    State: `told_safe[p]` what p was told to be safe.
    """

    told_safe: Map[Process, Set[Message]] = everywhere(Set())

    @action
    def indicate(self, p: Process, m: Message) -> None:
        """P is told that m is safe."""
        require(not self.dead[p] and m not in self.told_safe[p] and self.has_delivered_here(p, m))
        require(all(self.is_everywhere(p, k) for k in self.prefix(p, m)))
        self.told_safe[p] |= {m}
        emit(Indicate(p, m))

    def has_delivered_here(self, p: Process, m: Message) -> bool:
        """P has delivered m in the view that it is in."""
        return self.current_view[p] > 0 and self.delivery_view[p][m] == self.current_view[p]

    def prefix(self, p: Process, m: Message) -> Set[Message]:
        """Return the messages that have to be safe: all that p has delivered in its view, m among it."""
        return Set() | {k for k in self.each(Message) if self.delivery_view[p][k] == self.current_view[p]}

    def is_everywhere(self, p: Process, m: Message) -> bool:
        """Every member of p's view that is up has delivered m."""
        return all(
            self.dead[q] or self.delivery_view[q][m] > 0
            for v in self.each(View)
            if v == self.current_view[p]
            for q in self.view_members[v]
        )

    @witness
    def SafeBeforeAChange(self) -> bool:
        """A process was told in a view that others have left that a message is safe."""
        return any(
            m in self.told_safe[p] and self.delivery_view[p][m] < self.latest_view()
            for p in self.each(Process)
            for m in self.each(Message)
        )

    def is_last_of_all(self, p: Process) -> bool:
        """P is the process in which a fault shows."""
        return p.index == self.processes - 1


@mutation("a process passes over a view of which it is a member")
class PassesOver(IndicatingMachine):
    """Breaks `AgreementOnSuccessors`."""

    def next_view(self, p: Process) -> Installed:
        """The last one."""
        return max(
            (v for v in self.each(View) if v > self.current_view[p] and p in self.view_members[v]),
            default=0,
        )

    def stays(self, p: Process) -> bool:
        """Planted fault: p stays although it is behind."""
        return any(v == self.latest_view() and p in self.view_members[v] for v in self.each(View))


@mutation("a process is told that a message is safe before it has delivered it")
class ToldTooEarly(IndicatingMachine):
    """Breaks `IndicatedIsDelivered`."""

    @action
    def indicate_early(self, p: Process, m: Message) -> None:
        """P has sent it, and all others have delivered it."""
        require(not self.dead[p] and self.author[m] == p and m not in self.told_safe[p])
        require(self.delivery_view[p][m] == 0 and self.is_in_place(p, m))
        require(all(q == p or self.dead[q] or self.delivery_view[q][m] > 0 for q in self.each(Process)))
        self.told_safe[p] |= {m}
        emit(Indicate(p, m))


@mutation("what a process has delivered it is told to be safe")
class ToldAtOnce(IndicatingMachine):
    """Breaks `SafeIndication`, and with it `SafeIndicationPrefix`."""

    def is_everywhere(self, p: Process, m: Message) -> bool:
        """Wherever."""
        return True


@mutation("a process is told that a message is safe, whatever it has delivered before")
class ToldAlone(IndicatingMachine):
    """Breaks `SafeIndicationPrefix`."""

    def prefix(self, p: Process, m: Message) -> Set[Message]:
        """M."""
        return Set({m})


@mutation("the last process is told nothing")
class NeverTold(IndicatingMachine):
    """Breaks `SafeIndicationLiveness`."""

    @action
    def indicate(self, p: Process, m: Message) -> None:
        """The others are."""
        require(not self.is_last_of_all(p))
        super().indicate(p, m)


@mutation("the last process, which sends nothing, never installs the last view, and nobody sends in that")
class StaysBehind(IndicatingMachine):
    """Breaks `MembershipPrecision`."""

    def may_send(self, p: Process) -> bool:
        """Planted fault: p never stays where it has sent."""
        return super().may_send(p) and self.current_view[p] < self.views and not self.is_last_of_all(p)

    @action
    def install(self, p: Process, v: View, members: Set[Process]) -> None:
        """The last process stays where it is."""
        require(v < self.views or not self.is_last_of_all(p))
        super().install(p, v, members)


@mutation("the last process delivers in the last view only what it has sent")
class Deaf(IndicatingMachine):
    """Breaks `MulticastLiveness`, and with it `TerminationOfDelivery` and `SafeIndicationLiveness`."""

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Its own."""
        require(self.author[m] == p or self.current_view[p] < self.views or not self.is_last_of_all(p))
        super().deliver(p, m)


@mutation("a process crashes in the last view, which nobody leaves")
class CrashesAtTheEnd(IndicatingMachine):
    """Breaks `TerminationOfDelivery`."""

    @environment
    def crash_at_the_end(self, p: Process) -> None:
        """The last process."""
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
    """The machine that tells what is safe, judged by the survey."""


class OrderedMachine(ViewSynchronousMachine):
    """The machine of view synchrony in which the messages of a view stand in a line.

    State: `rank[m]` the place of m in the line of its view (0: nobody has delivered it).
    """

    rank: Map[Message, Count] = everywhere(0)

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """M comes next in the line, or at its end."""
        super().deliver(p, m)
        if self.rank[m] == 0:
            self.rank[m] = 1 + sum(
                1
                for k in self.each(Message)
                if self.rank[k] > 0 and self.sending_view[k] == self.sending_view[m]
            )

    def is_in_place(self, p: Process, m: Message) -> bool:
        """M was sent in p's view, and p has delivered what stands before it."""
        v = self.current_view[p]
        return self.sending_view[m] == v and all(
            self.delivery_view[p][k] > 0 or self.sending_view[k] != v or not self.is_before(k, m)
            for k in self.each(Message)
        )

    def is_before(self, k: Message, m: Message) -> bool:
        """Return True if, of two messages of a view, k stands in the line, and m behind it or not yet."""
        return self.rank[k] > 0 and (self.rank[m] == 0 or self.rank[k] < self.rank[m])

    def may_end(self, p: Process) -> bool:
        """P may do something wrong in its view, and crash."""
        return not self.dead[p] and self.current_view[p] > 0 and self.latest_view() < self.views

    @witness
    def TwoInLine(self) -> bool:
        """Witness: each process that is up has delivered two messages of one view."""
        return any(
            self.rank[m] == 2
            and all(self.dead[p] or self.delivery_view[p][m] > 0 for p in self.each(Process))
            for m in self.each(Message)
        )


@mutation("a process delivers what stands behind another message, and crashes")
class PassedOver(OrderedMachine):
    """Breaks `ReliableTotalOrder`."""

    @environment
    def pass_over(self, p: Process, m: Message) -> None:
        """Something stands before m."""
        require(self.may_end(p) and self.rank[m] > 1 and self.sending_view[m] == self.current_view[p])
        require(self.delivery_view[p][m] == 0 and not self.is_in_place(p, m))
        self.dead[p] = True
        emit(Deliver(p, m))
        emit(Crash(p))


@mutation("there is no line")
class AnyOrder(OrderedMachine):
    """Breaks `WeakTotalOrder`, and with it `ReliableTotalOrder`."""

    def is_before(self, k: Message, m: Message) -> bool:
        """Planted fault: no message stands before another."""
        return False


class OrderedChecked(
    OrderedMachine,
    BoundedMachine,
    ReliableOrder,
    mutations=(PassedOver, AnyOrder),
):
    """The machine with a line, judged by weak and reliable total order."""
