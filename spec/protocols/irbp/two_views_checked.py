"""Figures 32 and 34 together: their readings, their repairs and their properties."""

from __future__ import annotations

from antiphon.spec.environment.detectors import DetectedAtOnce
from antiphon.spec.lang import (
    Set,
    action,
    budget,
    constraint,
    expect,
    invariant,
    obligation,
    repair,
    restriction,
    witness,
)
from antiphon.spec.protocols.irbp.bounds import Assigned, OutOfOrder, Urgent
from antiphon.spec.protocols.irbp.figure32 import Phase
from antiphon.spec.protocols.irbp.iviews import (
    ExchangeQueues,
    GoOnOutside,
    IViewsFinite,
    RepeatOwn,
    acknowledging,
)
from antiphon.spec.protocols.irbp.normal_phase import Sequenced
from antiphon.spec.protocols.irbp.readings import giving_up, refusing, watching
from antiphon.spec.protocols.irbp.repairs import REPAIRS
from antiphon.spec.protocols.irbp.two_views import Kind, TwoViews
from antiphon.spec.services import Message, Process, TotalOrderBroadcast, View, ViewSynchrony


@repair(
    "step 4: TL_{i+1} is decided once, by one consensus; the decision says of which kind it is",
    answers="IRB-15",
)
class AgreeOnce(TwoViews):
    """Repair of figures 32 and 34, step 4. Printed: each figure executes consensus for TL_{i+1}, so two may
    decide differently. Repaired: one consensus decides the list and its kind.
    """

    def is_undecided(self, p: Process, kind: Kind) -> bool:
        """Return True if neither figure has decided the next list."""
        v = self.version[p]
        return self.ruling[v] is None and self.decision[v] is None

    def takes_part(self, q: Process, p: Process) -> bool:
        """Return True if q has begun the consensus of p's list, which in this repair decides i-views and
        regular views alike.
        """
        return self.version[q] == self.version[p] and (
            self.proposal[q] is not None or self.regular_proposal[q] is not None
        )

    def takes_part_in_regular(self, q: Process, p: Process) -> bool:
        """Return True if q has begun the consensus of p's list, which in this repair decides i-views and
        regular views alike.
        """
        return self.takes_part(q, p)


@repair(
    "step 3: an external process is on the list only when it misses nothing that the core has collected",
    answers="IRB-32",
)
class UpToDate(TwoViews):
    """Repair of figure 34, step 3. Printed: `all processes that sent ack` are in the list. Repaired: an
    external process is in the list only if it misses nothing that the core has removed from its queues.
    """

    def may_return(self, q: Process, p: Process) -> bool:
        """Return True if the first message that q misses is not stable at p, so that q can still get it."""
        k = self.first_missed(q)
        return super().may_return(q, p) and (k is None or k > self.settled(p))


class TwoViewsFinite(IViewsFinite, TwoViews):
    """Figures 32 and 34 in one group, with finitely many lists."""

    @constraint("call_regular", "misjudge")
    def is_list_left(self, p: Process) -> bool:
        """Return True if the bound allows another list after p's present one."""
        return budget(self.version[p] < self.views)

    @constraint("refuse")
    def is_list_left_to_leave(self, p: Process) -> bool:
        """Bound: a process p that calls a view change before it gives up does so only if the bound allows
        another list.
        """
        return not self.leaves_first() or budget(self.version[p] < self.views)

    def clear(self, p: Process) -> None:
        """Forget messages that p keeps and nobody will ask for."""
        super().clear(p)
        self.kept[p] = Set()


@restriction("what a process can do alone it does before anything else happens, the first one first")
class Prompt(Urgent, TwoViewsFinite):
    """Restriction: a process takes all its possible internal steps before any step of either figure."""

    @constraint(
        "call_regular",
        "misjudge",
        "report_regular",
        "propose_regular",
        "decide_regular",
        "adopt_regular",
        "fetch",
        "refuse",
    )
    def nobody_goes_on_alone(self) -> bool:
        """Bound: no process can take an internal step."""
        return not any(self.goes_on(q) for q in self.each(Process))


class TwoViewsBounded(
    TwoViewsFinite,
    repairs=(*REPAIRS, GoOnOutside, ExchangeQueues, RepeatOwn, AgreeOnce, UpToDate),
    readings=(acknowledging, giving_up, refusing, watching),
    restrictions=(DetectedAtOnce, Prompt, Assigned),
    mutations=(OutOfOrder,),
):
    """Both figures, with the readings, repairs and restrictions to choose from."""


class TwoViewsProperties(TwoViewsBounded):
    """Properties of both figures together."""

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Go on with the new list, and check that the processes which installed it before have the same
        members in it.
        """
        v = self.version[p] + 1
        expect(len(self.listed[v]) == 0 or self.listed[v] == members, "ListAgreement")
        super().go_on(p, members)

    @invariant
    def NobodyKillsItself(self) -> bool:
        """Invariant: no process has killed itself."""
        return not any(self.left[p] for p in self.each(Process))

    @invariant
    def OneLifeASuspicion(self) -> bool:
        """Invariant: at most one process kills itself for each wrong suspicion."""
        return sum(1 for p in self.each(Process) if self.left[p]) <= self.false_so_far + self.misjudged

    @obligation
    def ChangesEnd(self) -> bool:
        """Obligation: in the end no process that is up is still in a list for which a view change was
        called.
        """
        return not any(
            (self.called[self.version[p]] or self.reformed[self.version[p]]) and not self.is_gone(p)
            for p in self.each(Process)
        )

    @obligation
    def GroupIsUp(self) -> bool:
        """Obligation: a process that has stopped is in no group any more."""
        return not any(
            not self.is_gone(p) and self.is_gone(q) and q in self.group(p)
            for p in self.each(Process)
            for q in self.each(Process)
        )


class TwoViewsChecked(TwoViewsProperties, TotalOrderBroadcast, ViewSynchrony):
    """Both figures, checked against total order broadcast and, for regular views, view synchrony."""

    fetched: Set[Process] = Set()

    @action(fairness="weak")
    def fetch(self, p: Process, q: Process, item: Sequenced) -> None:
        """Fetch a message, and record that p got one by retransmission."""
        super().fetch(p, q, item)
        self.fetched |= {p}

    @invariant
    def OwnMessagesAreSent(self) -> bool:
        """Invariant: a broadcast of a process is stable at that process, or has a number in its list, or is
        sent again.
        """
        return not any(
            self.origin[m] == p
            and not self.is_gone(p)
            and self.phase[p] == Phase.normal
            and m not in self.collected[p]
            and not self.is_numbered(p, m)
            and self.pending[p] != m
            for p in self.each(Process)
            for m in self.each(Message)
        )

    # The scenarios of section 5.2.3 -------------------------------------------------------------------------

    def have_crashed(self, several: bool) -> bool:
        """Return True if exactly one process has crashed, or with `several` exactly two."""
        return sum(1 for p in self.each(Process) if self.down[p]) == (2 if several else 1)

    def has_nobody_crashed(self) -> bool:
        """Return True if every process is up or has killed itself."""
        return not any(self.down[p] for p in self.each(Process))

    def all_go_on(self, v: View, regular: bool) -> bool:
        """Return True if all live processes use list v, which is of the given kind, and have delivered all
        messages, one of them numbered in v.
        """
        return (
            self.regular[v] == regular
            and all(self.is_gone(p) or self.version[p] == v for p in self.each(Process))
            and all(
                self.is_gone(p) or self.delivered[p][m]
                for p in self.each(Process)
                for m in self.each(Message)
            )
            and any(ack.version == v and ack.message is not None for ack in self.acks)
        )

    def is_crash_overcome(self, several: bool, regular: bool) -> bool:
        """Return True if one process (or two, with `several`) has crashed, no other was lost, and the others
        go on by a regular view or an i-view, as `regular` says.
        """
        return (
            self.have_crashed(several)
            and not any(self.left[p] for p in self.each(Process))
            and any(
                v > 1
                and self.all_go_on(v, regular)
                and not any(self.down[p] for p in self.listed[v])
                and all(self.regular[w] == regular for w in self.each(View) if w > 1 and w <= v)
                for v in self.each(View)
            )
        )

    @witness
    def SimpleCrashByIView(self) -> bool:
        """Witness: one process crashes, and the others go on in an i-view."""
        return self.is_crash_overcome(False, False)

    @witness
    def SimpleCrashByRegularView(self) -> bool:
        """Witness: one process crashes, and the others go on in a regular view."""
        return self.is_crash_overcome(False, True)

    @witness
    def MultipleCrashesByIView(self) -> bool:
        """Witness: two processes crash, and the others go on in an i-view."""
        return self.is_crash_overcome(True, False)

    @witness
    def MultipleCrashesByRegularView(self) -> bool:
        """Witness: two processes crash, and the others go on in a regular view."""
        return self.is_crash_overcome(True, True)

    def is_partition_over(self, p: Process) -> bool:
        """Return True if nobody has crashed, the core goes on without p, and all live processes have
        delivered all messages.
        """
        return self.has_nobody_crashed() and any(
            v > 1 and p not in self.listed[v] and self.all_go_on(v, self.left[p]) for v in self.each(View)
        )

    @witness
    def PartitionByIView(self) -> bool:
        """Witness: a process is cut off, becomes external, and gets the missed messages by retransmission."""
        return any(
            self.is_external(p) and p in self.fetched and self.is_partition_over(p)
            for p in self.each(Process)
        )

    @witness
    def PartitionByRegularView(self) -> bool:
        """Witness: a process is cut off, is excluded, and kills itself."""
        return any(self.left[p] and self.is_partition_over(p) for p in self.each(Process))

    @witness
    def NoMoreInTheBuffers(self) -> bool:
        """Witness: an external process has asked for a message that nobody keeps, and has killed itself."""
        return (
            self.has_nobody_crashed()
            and not any(self.ruling[v] is not None for v in self.each(View))
            and any(self.left[p] for p in self.each(Process))
        )

    def comes_back(self, regular: bool) -> bool:
        """Return True if a process was external in one list and is in the next one, a regular view or an
        i-view as `regular` says, and all go on.
        """
        return any(
            w == v + 1
            and self.all_go_on(w, regular)
            and any(p in self.listed[w] and p not in self.listed[v] for p in self.each(Process))
            for v in self.each(View)
            for w in self.each(View)
        )

    @witness
    def ReintegrationByIView(self) -> bool:
        """Witness: an external process is in the core again by a later i-view."""
        return self.comes_back(False)

    @witness
    def ReintegrationByRegularView(self) -> bool:
        """Witness: an external process is in the core again by a regular view."""
        return self.comes_back(True)
