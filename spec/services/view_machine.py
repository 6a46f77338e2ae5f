"""Machine of view-synchronous communication, which every protocol of that kind refines: it sends and delivers
within views, and lets a process go on to the next view with exactly the messages that the others took along.

The machine has no packets, no flush, no consensus and no failure detector. The first member that goes on
decides, for all who stay, the deliveries of the view that ends: everything that a live member of the next
view has delivered there, and everything that it sent there. The others deliver the rest and follow. While a
view ends nothing is sent in it. An excluded process stops. Views come one after the other: this is a primary
partition.

That the machine gives view synchrony is checked like any protocol (`ViewSynchronyChecked`), with a fault for
each property that breaks no other. That a protocol is such a machine is a refinement
(`antiphon.spec.refinement`): `steps_told` proposes its steps; `ViewSynchronousMonitor` asks the same as a
property, which every engine can check. The refinement says nothing of liveness, but where the machine can do
nothing more, every obligation is met.

Source: Barchet-Estefanel 2002, section 4.3.2, the properties of VSC, and 4.3.4 on processes that are
excluded.
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
    expect,
    initial,
    instance,
    invariant,
    mutation,
    on,
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
from antiphon.spec.services.views import PartitionableSynchrony, UniformViewSynchrony, ViewSynchrony


class ViewSynchronousState(Views):
    """State of the machine of view synchrony, with the condition and the effect of each of its steps.

    State: `current_view[p]` is the view of p (0: none), `view_members[v]` the members of a view that somebody
    has installed (nobody: it is not formed), `author[m]` and `sending_view[m]` who sent m and in which view,
    `delivery_view[p][m]` the view in which p delivered m (0: it has not), `dead[p]` whether p has stopped.
    """

    current_view: Map[Process, Installed] = everywhere(0)
    view_members: Map[View, Set[Process]] = everywhere(Set())
    author: Map[Message, Process | None] = everywhere(None)
    sending_view: Map[Message, Installed] = everywhere(0)
    delivery_view: Map[Process, Map[Message, Installed]] = everywhere(everywhere(0))
    dead: Map[Process, bool] = everywhere(False)

    @initial
    def found(self) -> None:
        """Begin with all but the joiners in view 1."""
        self.view_members[1] |= {p for p in self.each(Process) if self.begins_in_first(p)}
        for p in self.each(Process):
            if self.begins_in_first(p):
                self.current_view[p] = 1

    def is_in_a_view(self, p: Process) -> bool:
        """Return True if p lives, and has installed a view."""
        return not self.dead[p] and self.current_view[p] > 0

    def latest_view(self) -> Installed:
        """Return the latest view that some process has installed, 0 if none."""
        return max((v for v in self.each(View) if self.has_formed(v)), default=0)

    def next_view(self, p: Process) -> Installed:
        """Return the view that p has to install next: the lowest formed view after p's present one of which p
        is a member; 0 if there is none.
        """
        return min(
            (v for v in self.each(View) if v > self.current_view[p] and p in self.view_members[v]),
            default=0,
        )

    def has_formed(self, v: View) -> bool:
        """Return True if a process has installed v."""
        return len(self.view_members[v]) > 0

    def is_left_out(self, p: Process) -> bool:
        """Return True if p was in a view, and a later one has formed without it."""
        return self.current_view[p] > 0 and any(
            v > self.current_view[p] and self.has_formed(v) and p not in self.view_members[v]
            for v in self.each(View)
        )

    def has_followed(self, q: Process, v: Installed, w: Installed) -> bool:
        """Return True if q has gone from view v to view w, which follows v directly."""
        return v > 0 and w > 0 and q in self.view_members[v] and self.current_view[q] >= w

    # Sending ----------------------------------------------------------------------------------------------

    def may_submit(self, p: Process, m: Message) -> bool:
        """Return True if p may hand m to the service: p is in a view, m is new, and p may send now."""
        return self.is_in_a_view(p) and self.is_new(m) and self.may_send(p)

    def note_submission(self, p: Process, m: Message) -> None:
        """Record that m is sent in p's view."""
        self.author[m] = p
        self.sending_view[m] = self.current_view[p]

    def is_new(self, m: Message) -> bool:
        """Return True if m has not been handed to the service before."""
        return self.author[m] is None

    def may_send(self, p: Process) -> bool:
        """Return True if p's view is not ending: no next view has formed with p in it. A process outside the
        next view does not know of that view.
        """
        return self.next_view(p) == 0

    # Delivering -------------------------------------------------------------------------------------------

    def may_deliver(self, p: Process, m: Message) -> bool:
        """Return True if m is a message of p's view, and no process has gone on from the view without m."""
        return (
            self.is_in_a_view(p)
            and self.is_honest(p, m)
            and self.is_in_place(p, m)
            and not self.is_too_late(p, m)
        )

    def note_delivery(self, p: Process, m: Message) -> None:
        """Record that p has delivered m."""
        self.delivery_view[p][m] = self.current_view[p]

    def is_honest(self, p: Process, m: Message) -> bool:
        """Return True if m was submitted, and p has not delivered it."""
        return self.author[m] is not None and self.delivery_view[p][m] == 0

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view."""
        return self.sending_view[m] == self.current_view[p]

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Return True if m comes too late for p: a process has gone on to p's next view, and has not
        delivered m.
        """
        v = self.current_view[p]
        return any(
            self.has_followed(q, v, self.next_view(p)) and self.delivery_view[q][m] != v
            for q in self.each(Process)
        )

    # Going on ---------------------------------------------------------------------------------------------

    def may_install(self, p: Process, v: View, members: Set[Process]) -> bool:
        """Return True if p can go on to view v: as the first process, which forms v, or under the conditions
        that the processes before it fixed.
        """
        if self.dead[p] or not self.has_own(p):
            return False
        if not self.is_told(p, v, members) or not self.is_included(p, members):
            return False
        if self.has_formed(v):
            return v == self.next_view(p) and self.has_the_same(p, v)
        return v > self.latest_view() and self.is_primary(p, members) and self.is_complete(p, members)

    def note_installation(self, p: Process, v: View, members: Set[Process]) -> None:
        """Record that p is in view v, which forms with these members if it has not."""
        if not self.has_formed(v):
            self.view_members[v] = members
        self.current_view[p] = v

    def stays(self, p: Process) -> bool:
        """Return True if p is a member of the last view that has formed."""
        return any(v == self.latest_view() and p in self.view_members[v] for v in self.each(View))

    def has_own(self, p: Process) -> bool:
        """Return True if p has delivered every message that it sent in its present view."""
        return all(
            self.author[m] != p
            or self.sending_view[m] != self.current_view[p]
            or self.delivery_view[p][m] > 0
            for m in self.each(Message)
        )

    def is_told(self, p: Process, v: View, members: Set[Process]) -> bool:
        """Return True if v has formed with exactly these members, or has not formed yet."""
        return not self.has_formed(v) or members == self.view_members[v]

    def is_included(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p is one of the members of the view that it installs."""
        return p in members

    def has_the_same(self, p: Process, w: View) -> bool:
        """Return True if p has delivered in its view exactly the messages that the processes delivered there
        which went on from it to w.
        """
        v = self.current_view[p]
        return all(
            not self.has_followed(q, v, w)
            or (self.delivery_view[p][m] == v) == (self.delivery_view[q][m] == v)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    def is_primary(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p goes on from the last view that has formed, with members of it and new ones."""
        return self.current_view[p] == self.latest_view() and all(
            self.stays(q) or self.current_view[q] == 0 for q in members
        )

    def is_complete(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p has delivered every message that a live member which goes on to the next view has
        delivered or sent in p's present view.
        """
        v = self.current_view[p]
        return all(
            self.delivery_view[p][m] == v or not (self.has_taken(q, m, v) or self.has_sent(q, m, v))
            for q in members
            for m in self.each(Message)
            if not self.dead[q] and self.current_view[q] == v and v > 0
        )

    def has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Return True if q has delivered m in view v."""
        return self.delivery_view[q][m] == v

    def has_sent(self, q: Process, m: Message, v: Installed) -> bool:
        """Return True if q has sent m in view v."""
        return self.author[m] == q and self.sending_view[m] == v

    # What is reached --------------------------------------------------------------------------------------

    @witness
    def DeliveredAfterAChange(self) -> bool:
        """Witness: every process that is up has delivered a message in a view after the first."""
        return all(
            self.dead[p] or any(self.delivery_view[p][m] > 1 for m in self.each(Message))
            for p in self.each(Process)
        )

    @witness
    def MessageOfTheGone(self) -> bool:
        """Witness: a process has delivered a message of its view whose sender has stopped, and has gone on to
        the next view.
        """
        return any(
            self.author[m] == q
            and self.dead[q]
            and self.delivery_view[p][m] > 0
            and self.current_view[p] > self.delivery_view[p][m]
            for p in self.each(Process)
            for q in self.each(Process)
            for m in self.each(Message)
        )

    @witness
    def LeftOut(self) -> bool:
        """Witness: an excluded process goes on in its own view."""
        return any(
            not self.dead[p] and self.current_view[p] > 0 and not self.stays(p) and self.next_view(p) == 0
            for p in self.each(Process)
        )


class ViewSynchronousMachine(ViewSynchronousState):
    """Machine of view synchrony: submit, deliver, install; crash, and suicide of an excluded process."""

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Hand m to the service at p."""
        require(self.may_submit(p, m))
        self.note_submission(p, m)
        emit(Broadcast(p, m))

    @action
    def deliver(self, p: Process, m: Message) -> None:
        """Deliver m at p, if the rules of the view allow it."""
        require(self.may_deliver(p, m))
        self.note_delivery(p, m)
        emit(Deliver(p, m))

    @action
    def install(self, p: Process, v: View, members: Set[Process]) -> None:
        """Install view v with these members at p, if the rules of the machine allow it."""
        require(self.may_install(p, v, members))
        self.note_installation(p, v, members)
        emit(Install(p, v, members))

    @environment
    def crash(self, p: Process) -> None:
        """Crash p."""
        require(not self.dead[p])
        self.dead[p] = True
        emit(Crash(p))

    @action
    def commit_suicide(self, p: Process) -> None:
        """Stop p, since it was excluded (program-controlled crash)."""
        require(not self.dead[p] and self.is_left_out(p))
        self.dead[p] = True
        emit(Crash(p))


# A fault for each property ----------------------------------------------------------------------------------


@mutation("a process is told other members than those before it")
class ToldOthers(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a process installs a view with other members than the
    processes before it. Breaks `ViewAgreement`.
    """

    def is_told(self, p: Process, v: View, members: Set[Process]) -> bool:
        """Return True: a process may install v with any list of members."""
        return True


@mutation("a process that was left out installs the view without it, and stops")
class NotIncluded(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a process installs a view that does not contain it, and
    stops. Breaks `SelfInclusion`.
    """

    @action
    def install_without(self, p: Process, v: View) -> None:
        """Fault: install at p the next view, of which p is no member, and stop p."""
        require(not self.dead[p] and self.is_left_out(p) and p not in self.view_members[v])
        require(self.has_formed(v) and self.is_after(p, v) and self.has_own(p) and self.has_the_same(p, v))
        self.dead[p] = True
        self.note_installation(p, v, self.view_members[v])
        emit(Install(p, v, self.view_members[v]))
        emit(Crash(p))

    def is_after(self, p: Process, v: View) -> bool:
        """Return True if v is the first view that has formed after the view of p."""
        return v > self.current_view[p] and not any(
            w > self.current_view[p] and w < v and self.has_formed(w) for w in self.each(View)
        )


@mutation("a process installs its view again")
class InstallsAgain(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a process installs its view again. Breaks
    `LocalMonotonicity`.
    """

    @action
    def install_again(self, p: Process) -> None:
        """Fault: install p's present view at p once more."""
        v = self.current_view[p]
        require(not self.dead[p] and v > 0)
        emit(Install(p, v, self.view_members[v]))


@mutation("a process that was left out forms a view of its own")
class SplitOff(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: an excluded process forms a view of its own. Breaks
    `PrimaryPartition`.
    """

    def is_primary(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p goes on from the last view with its members and new ones, or if the list contains
        p only (fault).
        """
        return super().is_primary(p, members) or members == Set({p})


@mutation("a process sends and stops before it is in a view")
class SendsOutside(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a process sends before it is in a view, and stops.
    Breaks `InitialView`.
    """

    @environment
    def send_outside(self, p: Process, m: Message) -> None:
        """Fault: broadcast a message of p, which is in no view, and stop p."""
        require(not self.dead[p] and self.current_view[p] == 0 and self.author[m] is None)
        self.author[m] = p
        self.dead[p] = True
        emit(Broadcast(p, m))
        emit(Crash(p))


@mutation("a process goes on with what it has")
class GoesOn(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a process goes on to the next view with whatever it
    has. Breaks `ViewSynchrony`.
    """

    def has_the_same(self, p: Process, w: View) -> bool:
        """Return True: p may go on whatever it has delivered (fault)."""
        return True

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Return False: no message is ever too late for p, so that it may be delivered in any view."""
        return False


@mutation("a message is delivered in the view in which it was delivered first")
class DeliveredLater(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a message is delivered in the view of its first
    delivery, not in that of its sending. Breaks `SendingViewDelivery`.
    """

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view or an earlier one, and no process has delivered m in another
        view.
        """
        v = self.current_view[p]
        return self.sending_view[m] <= v and not any(
            self.delivery_view[q][m] > 0 and self.delivery_view[q][m] != v for q in self.each(Process)
        )


@mutation("a message is delivered in any view")
class DeliveredAnywhere(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a message is delivered in any view. Breaks
    `SameViewDelivery`, and with it `SendingViewDelivery`.
    """

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view or an earlier one."""
        return self.sending_view[m] <= self.current_view[p]


@mutation("a message is delivered twice")
class DeliveredTwice(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a message is delivered twice. Breaks
    `UniformIntegrity`, and with it `Integrity`.
    """

    def is_honest(self, p: Process, m: Message) -> bool:
        """Return True if m was submitted, even if p has delivered it already (fault)."""
        return self.author[m] is not None


@mutation("a message is broadcast twice")
class BroadcastTwice(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: a message is broadcast twice. Breaks
    `BroadcastOnce`.
    """

    @action
    def submit_again(self, p: Process, m: Message) -> None:
        """Submit again a message that p has submitted before."""
        require(not self.dead[p] and self.author[m] == p)
        emit(Broadcast(p, m))


@mutation("messages are sent in a view that ends")
class SendsOn(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: messages are sent in a view that others have left.
    Breaks `VscValidity`.
    """

    def may_send(self, p: Process) -> bool:
        """Return True: p may send even when a next view has formed (fault)."""
        return True

    def has_own(self, p: Process) -> bool:
        """Return True: p may go on to the next view without having delivered its own messages."""
        return True


@mutation("who goes on first leaves behind what others have delivered")
class Hasty(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: the first process to go on ignores what others have
    delivered. Breaks `VscTermination`.
    """

    def has_taken(self, q: Process, m: Message, v: Installed) -> bool:
        """Return False: no other process counts as having delivered m."""
        return False


@mutation("a process that was left out lives on")
class LivesOn(ViewSynchronousMachine):
    """Planted fault in the machine of view synchrony: an excluded process lives on, and never installs a new
    view. Breaks `VscTermination`.
    """

    def is_left_out(self, p: Process) -> bool:
        """Return False: p never learns that a view has formed without it (fault)."""
        return False


FAULTS = (
    ToldOthers, NotIncluded, InstallsAgain, SplitOff, SendsOutside, GoesOn, DeliveredLater, DeliveredAnywhere,
    DeliveredTwice, BroadcastTwice, SendsOn, Hasty, LivesOn,
)  # fmt: skip


class BoundedMachine(ViewSynchronousMachine):
    """Bounds of the machine: up to `crashes` processes crash, and messages are submitted in their order.

    No process crashes in the last view, and none that has stopped is in it, since no later view could exclude
    it.
    """

    crashes: Const[int] = 1

    @constraint("crash")
    def can_be_left_out(self) -> bool:
        """Bound: another view could exclude p, and fewer than `crashes` processes are dead."""
        return self.latest_view() < self.views and (
            sum(1 for q in self.each(Process) if self.dead[q]) < self.crashes
        )

    @constraint("install")
    def ends_well(self, v: View, members: Set[Process]) -> bool:
        """Bound: in the last view every member is up."""
        return v < self.views or not any(self.dead[q] for q in members)

    @constraint("submit")
    def is_next(self, m: Message) -> bool:
        """Bound: messages are submitted in their order."""
        return all(self.author[k] is not None for k in self.each(Message) if k < m)


class ViewSynchronyChecked(BoundedMachine, ViewSynchrony, mutations=FAULTS):
    """The machine of view synchrony, judged by view synchrony."""

    @invariant
    def ViewsAreToldOf(self) -> bool:
        """Invariant: every process is in the view that the service saw it install last, or in which it
        began.
        """
        return all(self.current_view[p] == self.view_of(p) for p in self.each(Process))


class UniformMachine(ViewSynchronousMachine):
    """Machine of view synchrony with uniform deliveries. The first process to go on has delivered what any
    process of the view delivered, and an excluded process delivers nothing more.
    """

    def is_complete(self, p: Process, members: Set[Process]) -> bool:
        """Return True if p has the deliveries of all processes of its view, also of dead and excluded
        ones.
        """
        v = self.current_view[p]
        return super().is_complete(p, members) and not any(
            self.is_asked(q) and self.delivery_view[q][m] == v and self.delivery_view[p][m] != v
            for q in self.each(Process)
            for m in self.each(Message)
        )

    def is_asked(self, q: Process) -> bool:
        """Return True: the deliveries of q count for processes that go on, whether or not q is up."""
        return True

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Return True if p's view has ended: a process has left it, or p is excluded."""
        return super().is_too_late(p, m) or self.is_left_out(p)


@mutation("what those have delivered who have stopped is forgotten")
class DeadForgotten(UniformMachine):
    """Planted fault in the uniform machine: deliveries of processes that have stopped are ignored. Breaks
    `UniformDelivery`.
    """

    def is_asked(self, q: Process) -> bool:
        """Return True if q is up: in this variant only the deliveries of live processes are required."""
        return not self.dead[q]


class UniformChecked(UniformMachine, BoundedMachine, UniformViewSynchrony, mutations=(DeadForgotten,)):
    """Uniform machine, judged by uniform view synchrony."""


class ViewSynchronousFollower(instance(ViewSynchronousState, "machine")):  # type: ignore[misc]
    """Machine beside a protocol that reports its steps to the machine: each must be a possible step of the
    machine.

    The state of the machine changes by these steps only. The protocol begins with `machine_found`.
    """

    def follow_broadcast(self, p: Process, m: Message) -> None:
        """Follow a broadcast of the protocol: p submits m to the machine."""
        expect(self.machine_may_submit(p, m), "StepOfTheMachine")
        self.machine_note_submission(p, m)

    def follow_delivery(self, p: Process, m: Message) -> None:
        """Follow a delivery of the protocol: p delivers m in the machine."""
        expect(self.machine_may_deliver(p, m), "StepOfTheMachine")
        self.machine_note_delivery(p, m)

    def follow_installation(self, p: Process, v: View, members: Set[Process]) -> None:
        """Follow an installation of the protocol: p installs v in the machine."""
        expect(self.machine_may_install(p, v, members), "StepOfTheMachine")
        self.machine_note_installation(p, v, members)

    def follow_crash(self, p: Process) -> None:
        """Follow a crash in the protocol: p stops in the machine, by a failure or by its own hand."""
        expect(not self.machine_dead[p], "StepOfTheMachine")
        self.machine_dead[p] = True


class ViewSynchronousMonitor(ViewSynchronousFollower):
    """Machine of view synchrony beside a protocol that emits events: each event must be a possible step of
    the machine.

    This is the refinement by `SynchronyOfEvents` and `steps_told` as a property of the composition, which
    every engine explores: each event is one step.
    """

    @on(Broadcast)
    def hear_broadcast(self, event: Broadcast) -> None:
        """Follow a broadcast as a submission in the machine."""
        self.follow_broadcast(event.process, event.message)

    @on(Deliver)
    def hear_delivery(self, event: Deliver) -> None:
        """Follow the delivery of a message in the machine."""
        m = event.message
        expect(m is not None, "StepOfTheMachine")
        if m is not None:
            self.follow_delivery(event.process, m)

    @on(Install)
    def hear_installation(self, event: Install) -> None:
        """Follow the installation of a view in the machine."""
        self.follow_installation(event.process, event.view, event.members)

    @on(Crash)
    def hear_crash(self, event: Crash) -> None:
        """Follow the crash of a process in the machine."""
        self.follow_crash(event.process)


class SynchronyOfEvents(PartitionableSynchrony, refines=ViewSynchronousMachine):
    """Mapping of any protocol that emits the events of view synchrony: the machine's state is what the
    service has recorded of the events. Compose a protocol with this class to map it.
    """

    def current_view(self, p: Process) -> Installed:
        """Return the view that p has installed last."""
        return self.view_of(p)

    def view_members(self, v: View) -> Set[Process]:
        """Return the members with which v was installed first."""
        members = self.agreed_members(v)
        return members if members is not None else Set()

    def author(self, m: Message) -> Process | None:
        """Return the process that has broadcast m."""
        return self.origin[m]

    def sending_view(self, m: Message) -> Installed:
        """Return the view in which m was broadcast."""
        v = self.sent_in[m]
        return v if v is not None else 0

    def delivery_view(self, p: Process, m: Message) -> Installed:
        """Return the view in which p has delivered m."""
        v = self.delivered_in[p][m]
        return v if v is not None else 0

    def dead(self, p: Process) -> bool:
        """Return True if p has crashed."""
        return self.crashed[p]


def steps_told(
    _before: Mapping[str, Any], _after: Mapping[str, Any], events: tuple[Any, ...]
) -> tuple[Step, ...]:
    """Return the steps of the machine of view synchrony that would explain a change of its state: one step
    for each event, in the order of the events.

    Args:
        events: what the protocol emitted; the states before and after add nothing to them.
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
