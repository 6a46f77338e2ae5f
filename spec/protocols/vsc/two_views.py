"""Views on two levels: intermediate views (i-views) change the order of the members, ordinary views exclude
and kill.

Source: Barchet-Estefanel 2002, section 4.3.5 (after Charron-Bost, Défago and Schiper): "The intermediate view
v_i^0 is equal to v_i, and the last intermediate view v_i^last is equal to v_{i+1}"; all before the last "only
differ in the order that processes are listed". Suspicions with aggressive timeouts make i-views, those with
conservative ones ordinary views. Modelled is the rotating coordinator: "When this coordinator is suspected,
an i-view change moves it to the end of the processes list".

That all members agree on views and i-views is taken for granted: there is one list. Who was excluded by an
ordinary view is killed (section 4.3.4). Requests are what makes blocking matter: the coordinator answers them
one by one, as the primary does.
"""

from __future__ import annotations

from typing import Annotated, Self

from antiphon.spec.environment import Crashes
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Map,
    Seq,
    action,
    emit,
    environment,
    everywhere,
    initial,
    invariant,
    leads_to,
    mutation,
    require,
    step_invariant,
    witness,
)
from antiphon.spec.services.events import Crash, Process, View, Views

Order = Annotated[Seq[Process], AtMost("processes")]
"""Order of the members in the i-view; the first is the coordinator."""


class TwoViews(Crashes, Views):
    """Model of i-views and ordinary views of one group: the present i-view, the present view, and the
    coordinator.

    `closing` is the process that the last i-view of a view lacks, from its installation until the next view.
    `wrong_i_views` and `wrong_views` bound the wrong suspicions with aggressive and with conservative
    timeouts. Up to `crashes` processes fail; a killed process counts as one.
    """

    wrong_i_views: Const[int] = 2
    wrong_views: Const[int] = 0

    view: View = 1
    listed: Order = ()
    order: Order = ()
    closing: Process | None = None
    killed: Map[Process, bool] = everywhere(False)
    rotated: Annotated[int, Between(0, "wrong_i_views")] = 0
    misjudged: Annotated[int, Between(0, "wrong_views")] = 0
    requests: Annotated[int, Between(0, "messages")] = 0
    answers: Annotated[int, Between(0, "messages")] = 0

    @initial
    def found(self) -> None:
        """Begin with all processes in their order: v_1^0 = v_1."""
        self.listed = tuple(self.each(Process))
        self.order = tuple(self.each(Process))

    # The coordinator ----------------------------------------------------------------------------------------

    @action
    def ask(self) -> None:
        """Add a request for the coordinator to answer."""
        require(self.requests < self.messages)
        self.requests += 1

    @action(fairness="weak")
    def answer(self, p: Process) -> None:
        """Answer a request at p, the first process of the i-view's list."""
        require(self.order[0] == p and self.answers < self.requests)
        self.answers += 1

    # I-views: suspicions with aggressive timeouts -----------------------------------------------------------

    @action(fairness="weak")
    def rotate(self) -> None:
        """Rotate the i-view's list, since the coordinator has failed and is suspected."""
        require(self.down[self.order[0]] and self.closing is None)
        self.change_i_view()

    @environment
    def rotate_wrongly(self) -> None:
        """Rotate the i-view's list, since the coordinator is wrongly suspected."""
        require(self.rotated < self.wrong_i_views and not self.down[self.order[0]] and self.closing is None)
        self.rotated += 1
        self.change_i_view()

    def change_i_view(self) -> None:
        """Move the coordinator to the end of the i-view's list."""
        self.order = self.order[1:] + (self.order[0],)  # noqa: RUF005

    # Ordinary views: suspicions with conservative timeouts --------------------------------------------------

    @action(fairness="weak")
    def exclude(self, p: Process, q: Process) -> None:
        """Exclude q, which has failed and which member p suspects."""
        require(p in self.order and self.down[q] and self.may_exclude(q))
        self.close_view(q)

    @environment
    def exclude_wrongly(self, p: Process) -> None:
        """Exclude p, which is up and is wrongly suspected."""
        require(self.misjudged < self.wrong_views and not self.down[p] and self.may_exclude(p))
        self.misjudged += 1
        self.close_view(p)

    def may_exclude(self, p: Process) -> bool:
        """Return True if p may be excluded: it is a member, not the only live one, and another
        view is left.
        """
        others = any(q != p and not self.down[q] for q in self.order)
        return p in self.order and others and self.view < self.views and self.closing is None

    def close_view(self, p: Process) -> None:
        """Close the view with its last i-view, which lacks p."""
        self.order = tuple(q for q in self.order if q != p)
        self.closing = p

    @action(fairness="weak")
    def open_view(self) -> None:
        """Open the next view, which equals the last i-view and its own first i-view; an excluded process is
        killed if it is up.
        """
        p = self.closing
        require(p is not None)
        self.view += 1
        self.listed = self.next_view()
        self.closing = None
        if p is not None:
            self.kill(p)

    def next_view(self) -> Order:
        """Return the members of the next view v_{i+1} in the order of the i-view: all of the present view but
        `closing`.
        """
        return tuple(q for q in self.order if q != self.closing)

    def kill(self, p: Process) -> None:
        """Kill p by a program-controlled crash."""
        if not self.down[p]:
            self.down[p] = True
            self.killed[p] = True
            emit(Crash(p))

    # What must be true --------------------------------------------------------------------------------------

    def have_same_members(self, a: Order, b: Order) -> bool:
        """Return True if two lists differ in their order at most."""
        return len(a) == len(b) and all((p in a) == (p in b) for p in self.each(Process))

    @invariant
    def SameMembers(self) -> bool:
        """Invariant: the i-view has the members of the view, unless it is the last."""
        return self.closing is not None or self.have_same_members(self.order, self.listed)

    @invariant
    def ExcludedAreKilled(self) -> bool:
        """Invariant: a process that is up is in the list, or is the one that the last i-view of the view
        lacks.
        """
        return all(self.down[p] or p in self.order or p == self.closing for p in self.each(Process))

    @step_invariant
    def OnlyTheOrder(self, before: Self) -> bool:
        """Step invariant: from one i-view to the next within a view only the order changes, unless that is
        the last.
        """
        return (
            self.view != before.view
            or self.closing != before.closing
            or self.have_same_members(self.order, before.order)
        )

    @step_invariant
    def NothingAfterTheLast(self, before: Self) -> bool:
        """Step invariant: the last i-view of a view is followed by the next view only."""
        return before.closing is None or self.order == before.order

    @step_invariant
    def AnsweredByTheFirst(self, before: Self) -> bool:
        """Step invariant: no request is answered while the first of the i-view is down."""
        return self.answers == before.answers or not before.down[before.order[0]]

    @step_invariant
    def LastIsNext(self, before: Self) -> bool:
        """Step invariant: a step to the next view makes the last i-view of the old view the next view and its
        first i-view: v_i^last = v_{i+1} = v_{i+1}^0.
        """
        return self.view == before.view or (self.listed == before.order and self.order == self.listed)

    @invariant
    def NobodyIsKilled(self) -> bool:
        """Invariant: no process has crashed except by failure."""
        return not any(self.killed[p] for p in self.each(Process))

    def is_asked(self) -> bool:
        """Return True if a request is open, and a process is up."""
        return self.answers < self.requests and not all(self.down[p] for p in self.order)

    def is_answered(self) -> bool:
        """Return True if no request is open, or no process is up."""
        return not self.is_asked()

    NeverBlocked = leads_to("is_asked", "is_answered")

    @witness
    def LastAnswered(self) -> bool:
        """Witness: all requests are answered after the coordinator has crashed and another was wrongly
        suspected.
        """
        failed = any(self.down[p] for p in self.each(Process))
        return self.answers == self.messages and self.rotated > 0 and failed

    @witness
    def ViewAfterRotation(self) -> bool:
        """Witness: a view was opened whose order is not that of the processes."""
        return self.view > 1 and self.listed[0] > self.listed[-1]


@mutation("there is one level: whoever is suspected with aggressive timeouts is excluded")
class OneLevel(TwoViews):
    """Planted fault: there is one level of views: a process that the aggressive detector suspects is excluded
    from the group. Correct code changes the order only (an i-view).
    """

    def change_i_view(self) -> None:
        """Exclude the coordinator from the next view, as long as another view is left."""
        if self.may_exclude(self.order[0]):
            self.close_view(self.order[0])
        else:
            super().change_i_view()


@mutation("the next view has its members in the order of the last")
class OldOrder(TwoViews):
    """Planted fault: the next view has the order of the last view. Correct code uses the order of the last
    i-view.
    """

    def next_view(self) -> Order:
        """Return v_{i+1} with the members that stay, in the order of the last view v_i, not of the last
        i-view.
        """
        return tuple(q for q in self.listed if q in self.order)


@mutation("an i-view leaves the suspected coordinator out")
class DropCoordinator(TwoViews):
    """Planted fault: an i-view leaves out the suspected coordinator. Correct code only moves it to the end of
    the order.
    """

    def change_i_view(self) -> None:
        """Remove the coordinator from the i-view's list, as long as another process is left in it."""
        self.order = self.order[1:] if len(self.order) > 1 else self.order


@mutation("there are no i-views")
class OrdinaryOnly(TwoViews):
    """Planted fault: there are no i-views, only ordinary views, which come late or not at all."""

    def rotate(self) -> None:
        """Require False, so that the i-view never changes."""
        require(False)


class TwoViewsChecked(TwoViews, mutations=(OneLevel, OldOrder, DropCoordinator, OrdinaryOnly)):
    """Two levels of views, with their properties."""
