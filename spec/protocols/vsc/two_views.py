"""Views on two levels: intermediate views put the members in another order, ordinary views exclude and kill.

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
"""The members in the order of the i-view; the first is the coordinator."""


class TwoViews(Crashes, Views):
    """The list of the current i-view, the list of the ordinary view, and what the coordinator does.

    `closing` is whom the last i-view of a view lacks, from when that is installed until the next view is.
    `wrong_i_views` and `wrong_views`: how often a process that is up is suspected with aggressive timeouts,
    and with conservative ones. No process fails but up to `crashes`; who is killed counts as one.
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
        """v_1^0 = v_1: all, in their order."""
        self.listed = tuple(self.each(Process))
        self.order = tuple(self.each(Process))

    # The coordinator ----------------------------------------------------------------------------------------

    @action
    def ask(self) -> None:
        """Another request."""
        require(self.requests < self.messages)
        self.requests += 1

    @action(fairness="weak")
    def answer(self, p: Process) -> None:
        """The first of the i-view answers."""
        require(self.order[0] == p and self.answers < self.requests)
        self.answers += 1

    # I-views: suspicions with aggressive timeouts -----------------------------------------------------------

    @action(fairness="weak")
    def rotate(self) -> None:
        """The coordinator has failed, and is suspected."""
        require(self.down[self.order[0]] and self.closing is None)
        self.change_i_view()

    @environment
    def rotate_wrongly(self) -> None:
        """The coordinator has not failed, and is suspected."""
        require(self.rotated < self.wrong_i_views and not self.down[self.order[0]] and self.closing is None)
        self.rotated += 1
        self.change_i_view()

    def change_i_view(self) -> None:
        """The coordinator goes to the end of the list."""
        self.order = self.order[1:] + (self.order[0],)  # noqa: RUF005

    # Ordinary views: suspicions with conservative timeouts --------------------------------------------------

    @action(fairness="weak")
    def exclude(self, p: Process, q: Process) -> None:
        """P suspects q, which has failed."""
        require(p in self.order and self.down[q] and self.may_exclude(q))
        self.close_view(q)

    @environment
    def exclude_wrongly(self, p: Process) -> None:
        """P has not failed, and is suspected."""
        require(self.misjudged < self.wrong_views and not self.down[p] and self.may_exclude(p))
        self.misjudged += 1
        self.close_view(p)

    def may_exclude(self, p: Process) -> bool:
        """P is a member, not the only one that is up, and there is another view."""
        others = any(q != p and not self.down[q] for q in self.order)
        return p in self.order and others and self.view < self.views and self.closing is None

    def close_view(self, p: Process) -> None:
        """The last i-view of the view: it lacks p."""
        self.order = tuple(q for q in self.order if q != p)
        self.closing = p

    @action(fairness="weak")
    def open_view(self) -> None:
        """The next view is the last i-view, and its first i-view; who is not in it is killed if it is up."""
        p = self.closing
        require(p is not None)
        self.view += 1
        self.listed = self.next_view()
        self.closing = None
        if p is not None:
            self.kill(p)

    def next_view(self) -> Order:
        """v_{i+1}: whoever stays, in the order of the i-view."""
        return tuple(q for q in self.order if q != self.closing)

    def kill(self, p: Process) -> None:
        """P crashes, by program."""
        if not self.down[p]:
            self.down[p] = True
            self.killed[p] = True
            emit(Crash(p))

    # What must be true --------------------------------------------------------------------------------------

    def have_same_members(self, a: Order, b: Order) -> bool:
        """Two lists differ in their order at most."""
        return len(a) == len(b) and all((p in a) == (p in b) for p in self.each(Process))

    @invariant
    def SameMembers(self) -> bool:
        """The i-view has the members of the view, unless it is the last."""
        return self.closing is not None or self.have_same_members(self.order, self.listed)

    @invariant
    def ExcludedAreKilled(self) -> bool:
        """Invariant: a process that is up is in the list, or is the one that the last i-view of the view
        lacks.
        """
        return all(self.down[p] or p in self.order or p == self.closing for p in self.each(Process))

    @step_invariant
    def OnlyTheOrder(self, before: Self) -> bool:
        """From one i-view to the next within a view only the order changes, unless that is the last."""
        return (
            self.view != before.view
            or self.closing != before.closing
            or self.have_same_members(self.order, before.order)
        )

    @step_invariant
    def NothingAfterTheLast(self, before: Self) -> bool:
        """After the last i-view of a view there is none but the first of the next view, which is the same."""
        return before.closing is None or self.order == before.order

    @step_invariant
    def AnsweredByTheFirst(self, before: Self) -> bool:
        """Require that nothing is answered while the first of the i-view is down."""
        return self.answers == before.answers or not before.down[before.order[0]]

    @step_invariant
    def LastIsNext(self, before: Self) -> bool:
        """v_i^last = v_{i+1} = v_{i+1}^0."""
        return self.view == before.view or (self.listed == before.order and self.order == self.listed)

    @invariant
    def NobodyIsKilled(self) -> bool:
        """No process has crashed but by failure."""
        return not any(self.killed[p] for p in self.each(Process))

    def is_asked(self) -> bool:
        """A request is open, and somebody is up."""
        return self.answers < self.requests and not all(self.down[p] for p in self.order)

    def is_answered(self) -> bool:
        """No request is open, or nobody is up."""
        return not self.is_asked()

    NeverBlocked = leads_to("is_asked", "is_answered")

    @witness
    def LastAnswered(self) -> bool:
        """All requests are answered after the coordinator has crashed and another was wrongly suspected."""
        failed = any(self.down[p] for p in self.each(Process))
        return self.answers == self.messages and self.rotated > 0 and failed

    @witness
    def ViewAfterRotation(self) -> bool:
        """A view was opened whose order is not that of the processes."""
        return self.view > 1 and self.listed[0] > self.listed[-1]


@mutation("there is one level: whoever is suspected with aggressive timeouts is excluded")
class OneLevel(TwoViews):
    """I-views that are ordinary views."""

    def change_i_view(self) -> None:
        """The coordinator is left out of the next view, as long as there is one."""
        if self.may_exclude(self.order[0]):
            self.close_view(self.order[0])
        else:
            super().change_i_view()


@mutation("the next view has its members in the order of the last")
class OldOrder(TwoViews):
    """Planted fault: the next view has the order of the last one, not of the last i-view."""

    def next_view(self) -> Order:
        """As if there had been no i-views."""
        return tuple(q for q in self.listed if q in self.order)


@mutation("an i-view leaves the suspected coordinator out")
class DropCoordinator(TwoViews):
    """Planted fault: the i-view has not only another order."""

    def change_i_view(self) -> None:
        """The list is shortened, as long as somebody is left."""
        self.order = self.order[1:] if len(self.order) > 1 else self.order


@mutation("there are no i-views")
class OrdinaryOnly(TwoViews):
    """Ordinary views alone, which come late or not at all."""

    def rotate(self) -> None:
        """Never."""
        require(False)


class TwoViewsChecked(TwoViews, mutations=(OneLevel, OldOrder, DropCoordinator, OrdinaryOnly)):
    """Two levels of views and what must be true of them."""
