"""Every protocol of view-synchronous communication is a machine that sends and delivers within views, and
lets a process go on to the next view with exactly what the others took along.

It knows no packet, no flush, no consensus and no failure detector. The first member that goes on decides, for
all who stay, what was delivered in the view that ends: everything that a live member of the next view has
delivered there, and everything that it sent there. The others deliver the rest and follow. While a view ends
nothing is sent in it. Who is left out stops. Views come one after the other: this is a primary partition.

That the machine gives view synchrony is checked like any protocol (`ViewSynchronyChecked`), with a fault for
each property that breaks no other. That a protocol is such a machine is a refinement
(`antiphon.spec.refinement`): `steps_told` proposes its steps. Liveness is no part of it, but where the
machine can do nothing more, every obligation is met.

Source: what the machine says is Barchet-Estefanel 2002, section 4.3.2, the properties of VSC, and 4.3.4 on
processes that are excluded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.spec.lang import (
    Const,
    Map,
    Set,
    Step,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    initial,
    mutation,
    require,
    witness,
)
from antiphon.spec.services.events import (
    Broadcast,
    Crash,
    Deliver,
    Install,
    Installed,
    Message,
    Process,
    View,
    Views,
)
from antiphon.spec.services.views import ViewSynchrony


class ViewSynchronousMachine(Views):
    """Submit, deliver, install; crash, and stop when left out.

    State: `in_view[p]` is the view of p (0: none), `members_in[v]` the members of a view that somebody has
    installed (nobody: it is not formed), `sent_by[m]` and `sent_at[m]` who sent m and in which view,
    `handed[p][m]` the view in which p delivered m (0: it has not), `gone[p]` whether p has stopped.
    """

    in_view: Map[Process, Installed] = everywhere(0)
    members_in: Map[View, Set[Process]] = everywhere(Set())
    sent_by: Map[Message, Process | None] = everywhere(None)
    sent_at: Map[Message, Installed] = everywhere(0)
    handed: Map[Process, Map[Message, Installed]] = everywhere(everywhere(0))
    gone: Map[Process, bool] = everywhere(False)

    @initial
    def found(self) -> None:
        """All but the joiners are in view 1."""
        self.members_in[1] |= {p for p in self.each(Process) if self.begins_in_first(p)}
        for p in self.each(Process):
            if self.begins_in_first(p):
                self.in_view[p] = 1

    def latest(self) -> Installed:
        """The last view that has formed; 0: none."""
        return max((v for v in self.each(View) if self.has_formed(v)), default=0)

    def next_view(self, p: Process) -> Installed:
        """The view that p has to install now; 0: none has formed with p in it."""
        return min(
            (v for v in self.each(View) if v > self.in_view[p] and p in self.members_in[v]),
            default=0,
        )

    def has_formed(self, v: View) -> bool:
        """Somebody has installed v."""
        return len(self.members_in[v]) > 0

    def is_left_out(self, p: Process) -> bool:
        """P was in a view, and a later one has formed without it."""
        return self.in_view[p] > 0 and any(
            v > self.in_view[p] and self.has_formed(v) and p not in self.members_in[v]
            for v in self.each(View)
        )

    def has_followed(self, q: Process, v: Installed, w: Installed) -> bool:
        """Q has gone from view v to view w, which comes next."""
        return v > 0 and w > 0 and q in self.members_in[v] and self.in_view[q] >= w

    # Sending ----------------------------------------------------------------------------------------------

    @action
    def submit(self, p: Process, m: Message) -> None:
        """P hands m to the service."""
        require(not self.gone[p] and self.in_view[p] > 0)
        require(self.is_new(m) and self.may_send(p))
        self.sent_by[m] = p
        self.sent_at[m] = self.in_view[p]
        emit(Broadcast(p, m))

    def is_new(self, m: Message) -> bool:
        """M was not submitted before."""
        return self.sent_by[m] is None

    def may_send(self, p: Process) -> bool:
        """P's view does not end: nobody has gone on to a later one."""
        return self.in_view[p] == self.latest()

    # Delivering -------------------------------------------------------------------------------------------

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """P delivers a message of its view, unless those who have gone on did without it."""
        require(not self.gone[p] and self.in_view[p] > 0)
        require(self.is_honest(p, m) and self.is_in_place(p, m) and not self.is_too_late(p, m))
        self.handed[p][m] = self.in_view[p]
        emit(Deliver(p, m))

    def is_honest(self, p: Process, m: Message) -> bool:
        """M was submitted, and p has not delivered it."""
        return self.sent_by[m] is not None and self.handed[p][m] == 0

    def is_in_place(self, p: Process, m: Message) -> bool:
        """M was sent in p's view."""
        return self.sent_at[m] == self.in_view[p]

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Somebody has gone on to p's next view without m."""
        v = self.in_view[p]
        return any(
            self.has_followed(q, v, self.next_view(p)) and self.handed[q][m] != v for q in self.each(Process)
        )

    # Going on ---------------------------------------------------------------------------------------------

    @action
    def install(self, p: Process, v: View, members: Set[Process]) -> None:
        """P goes on to view v: as the first, who forms it, or as those before it did."""
        require(not self.gone[p] and self.has_own(p))
        require(self.is_told(p, v, members) and self.is_included(p, members))
        if self.has_formed(v):
            require(v == self.next_view(p) and self.has_the_same(p, v))
        else:
            require(v > self.latest() and self.is_primary(p, members) and self.is_complete(p, members))
            self.members_in[v] = members
        self.in_view[p] = v
        emit(Install(p, v, members))

    def stays(self, p: Process) -> bool:
        """P is in the last view that has formed."""
        return any(v == self.latest() and p in self.members_in[v] for v in self.each(View))

    def has_own(self, p: Process) -> bool:
        """P has delivered what it sent in its view."""
        return all(
            self.sent_by[m] != p or self.sent_at[m] != self.in_view[p] or self.handed[p][m] > 0
            for m in self.each(Message)
        )

    def is_told(self, p: Process, v: View, members: Set[Process]) -> bool:
        """The members are those with whom v has formed, if it has."""
        return not self.has_formed(v) or members == self.members_in[v]

    def is_included(self, p: Process, members: Set[Process]) -> bool:
        """P is a member of what it installs."""
        return p in members

    def has_the_same(self, p: Process, w: View) -> bool:
        """P has delivered in its view what those delivered who have gone on from there to w."""
        v = self.in_view[p]
        return all(
            not self.has_followed(q, v, w) or (self.handed[p][m] == v) == (self.handed[q][m] == v)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    def is_primary(self, p: Process, members: Set[Process]) -> bool:
        """P goes on from the last view that has formed, with members of it and new ones."""
        return self.in_view[p] == self.latest() and all(
            self.stays(q) or self.in_view[q] == 0 for q in members
        )

    def is_complete(self, p: Process, members: Set[Process]) -> bool:
        """P has delivered what any live member that stays has delivered in its view, and what it has sent."""
        v = self.in_view[p]
        return all(
            self.handed[p][m] == v or not (self.has_taken(q, m, v) or self.has_sent(q, m, v))
            for q in members
            for m in self.each(Message)
            if not self.gone[q] and self.in_view[q] == v and v > 0
        )

    def has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Q has delivered m in view v."""
        return self.handed[q][m] == v

    def has_sent(self, q: Process, m: Message, v: Installed) -> bool:
        """Q has sent m in view v."""
        return self.sent_by[m] == q and self.sent_at[m] == v

    # Stopping ---------------------------------------------------------------------------------------------

    @environment
    def crash(self, p: Process) -> None:
        """P stops for ever."""
        require(not self.gone[p])
        self.gone[p] = True
        emit(Crash(p))

    @action
    def commit_suicide(self, p: Process) -> None:
        """P stops for ever, since it was left out: program-controlled crash."""
        require(not self.gone[p] and self.is_left_out(p))
        self.gone[p] = True
        emit(Crash(p))

    @witness
    def DeliveredAfterAChange(self) -> bool:
        """Every process that has not stopped has delivered a message in a view after the first."""
        return all(
            self.gone[p] or any(self.handed[p][m] > 1 for m in self.each(Message)) for p in self.each(Process)
        )

    @witness
    def MessageOfTheGone(self) -> bool:
        """Somebody has taken along a message whose sender has stopped."""
        return any(
            self.sent_by[m] == q
            and self.gone[q]
            and self.handed[p][m] > 0
            and self.in_view[p] > self.handed[p][m]
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def LeftOut(self) -> bool:
        """A process that no later view has goes on in its own."""
        return any(
            not self.gone[p] and self.in_view[p] > 0 and not self.stays(p) and self.next_view(p) == 0
            for p in self.each(Process)
        )


# A fault for each property ----------------------------------------------------------------------------------


@mutation("a process is told other members than those before it")
class ToldOthers(ViewSynchronousMachine):
    """Breaks `ViewAgreement`."""

    def is_told(self, p: Process, v: View, members: Set[Process]) -> bool:
        """Whatever members."""
        return True


@mutation("a process that was left out installs the view without it, and stops")
class NotIncluded(ViewSynchronousMachine):
    """Breaks `SelfInclusion`."""

    @action
    def install_without(self, p: Process, v: View) -> None:
        """The next view, in which p is not."""
        require(not self.gone[p] and self.is_left_out(p) and p not in self.members_in[v])
        require(self.has_formed(v) and self.is_after(p, v) and self.has_own(p) and self.has_the_same(p, v))
        self.gone[p] = True
        emit(Install(p, v, self.members_in[v]))
        emit(Crash(p))

    def is_after(self, p: Process, v: View) -> bool:
        """V has formed after the view of p, and none between."""
        return v > self.in_view[p] and not any(
            w > self.in_view[p] and w < v and self.has_formed(w) for w in self.each(View)
        )


@mutation("a process installs its view again")
class InstallsAgain(ViewSynchronousMachine):
    """Breaks `LocalMonotonicity`."""

    @action
    def install_again(self, p: Process) -> None:
        """The same view, with the same members."""
        v = self.in_view[p]
        require(not self.gone[p] and v > 0)
        emit(Install(p, v, self.members_in[v]))


@mutation("a process that was left out forms a view of its own")
class SplitOff(ViewSynchronousMachine):
    """Breaks `PrimaryPartition`."""

    def is_primary(self, p: Process, members: Set[Process]) -> bool:
        """Or p goes on alone."""
        return super().is_primary(p, members) or members == Set({p})


@mutation("a process sends and stops before it is in a view")
class SendsOutside(ViewSynchronousMachine):
    """Breaks `InitialView`."""

    @environment
    def send_outside(self, p: Process, m: Message) -> None:
        """A message that nobody gets."""
        require(not self.gone[p] and self.in_view[p] == 0 and self.sent_by[m] is None)
        self.sent_by[m] = p
        self.gone[p] = True
        emit(Broadcast(p, m))
        emit(Crash(p))


@mutation("a process goes on with what it has")
class GoesOn(ViewSynchronousMachine):
    """Breaks `ViewSynchrony`."""

    def has_the_same(self, p: Process, w: View) -> bool:
        """Whatever p has delivered."""
        return True

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Whatever the others have taken along."""
        return False


@mutation("a message is delivered in the view in which it was delivered first")
class DeliveredLater(ViewSynchronousMachine):
    """Breaks `SendingViewDelivery`."""

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Nobody has delivered m in another view."""
        v = self.in_view[p]
        return self.sent_at[m] <= v and not any(
            self.handed[q][m] > 0 and self.handed[q][m] != v for q in self.each(Process)
        )


@mutation("a message is delivered in any view")
class DeliveredAnywhere(ViewSynchronousMachine):
    """Breaks `SameViewDelivery`, and with it `SendingViewDelivery`."""

    def is_in_place(self, p: Process, m: Message) -> bool:
        """M was sent before."""
        return self.sent_at[m] <= self.in_view[p]


@mutation("a message is delivered twice")
class DeliveredTwice(ViewSynchronousMachine):
    """Breaks `UniformIntegrity`, and with it `Integrity`."""

    def is_honest(self, p: Process, m: Message) -> bool:
        """M was submitted."""
        return self.sent_by[m] is not None


@mutation("a message is broadcast twice")
class BroadcastTwice(ViewSynchronousMachine):
    """Breaks `BroadcastOnce`."""

    @action
    def submit_again(self, p: Process, m: Message) -> None:
        """P has submitted m, and does so again."""
        require(not self.gone[p] and self.sent_by[m] == p)
        emit(Broadcast(p, m))


@mutation("messages are sent in a view that ends")
class SendsOn(ViewSynchronousMachine):
    """Breaks `VscValidity`."""

    def may_send(self, p: Process) -> bool:
        """Whatever the others have installed."""
        return True

    def has_own(self, p: Process) -> bool:
        """P goes on without what it has sent too late."""
        return True


@mutation("who goes on first leaves behind what others have delivered")
class Hasty(ViewSynchronousMachine):
    """Breaks `VscTermination`."""

    def has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Nobody is asked."""
        return False


@mutation("a process that was left out lives on")
class LivesOn(ViewSynchronousMachine):
    """Breaks `VscTermination`: it is correct, and never installs a new view."""

    def is_left_out(self, p: Process) -> bool:
        """It is not told."""
        return False


FAULTS = (
    ToldOthers, NotIncluded, InstallsAgain, SplitOff, SendsOutside, GoesOn, DeliveredLater, DeliveredAnywhere,
    DeliveredTwice, BroadcastTwice, SendsOn, Hasty, LivesOn,
)  # fmt: skip


class ViewSynchronyChecked(ViewSynchronousMachine, ViewSynchrony, mutations=FAULTS):
    """The abstract machine, judged by view synchrony.

    No process crashes in the last view, and none that has stopped is in it, since nothing could leave it out.
    """

    crashes: Const[int] = 1

    @constraint("crash")
    def can_be_left_out(self) -> bool:
        """A view is left that could leave p out."""
        return self.latest() < self.views and (
            sum(1 for q in self.each(Process) if self.gone[q]) < self.crashes
        )

    @constraint("install")
    def ends_well(self, v: View, members: Set[Process]) -> bool:
        """Members of the last view are up."""
        return v < self.views or not any(self.gone[q] for q in members)

    @constraint("submit")
    def is_next(self, m: Message) -> bool:
        """Messages are submitted in their order."""
        return all(self.sent_by[k] is not None for k in self.each(Message) if k < m)


def steps_told(
    _before: Mapping[str, Any], _after: Mapping[str, Any], events: tuple[Any, ...]
) -> tuple[Step, ...]:
    """The steps of the machine that would explain this change: one for each event, in their order.

    Args: events: what the protocol emitted; the states before and after tell nothing that they do not.
    """
    return tuple(_step(event) for event in events if isinstance(event, Broadcast | Deliver | Install | Crash))


def _step(event: Broadcast | Deliver | Install | Crash) -> Step:
    match event:
        case Broadcast(p, m):
            return Step("submit", (p, m))
        case Deliver(p, m):
            return Step("deliver", (p, m))
        case Install(p, v, members):
            return Step("install", (p, v, members))
        case Crash(p):
            return Step("crash", (p,))
