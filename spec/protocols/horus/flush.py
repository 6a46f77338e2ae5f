"""MBRSHIP with its flush as messages: FLUSH, the unstable messages, FLUSH_OK, the view.

None of this stands in the paper (van Renesse, Birman, Friedman, Hayden, Karr 1995), which says of the flush
what `Mbrship` assumes. It is ours, after what is known of Horus' documentation: a coordinator, the oldest
member that has not failed, casts FLUSH; every member returns its unstable messages from failed members, then
FLUSH_OK, and ignores the failed from then on; the coordinator casts again what is unstable, and then the new
view comes; new failures begin a new round.

What is decided here:
1. FLUSH_OK goes to all members that stay, as a marker behind everything that its sender has cast: a member
   that has the markers of all staying members has received all their casts. It installs the view only then,
   since the view may overtake casts of others.
2. No message is known to be stable: everything that was received in a view from a member that has failed is
   returned. Tokens are not: they are worth nothing in the next view.
3. All members learn at once who has failed, and whom `suspicions` take for dead: failures are detected
   outside. A member that is taken for dead does not learn of this, and stays in its view.
4. FLUSH, FLUSH_OK and the view say of which view they are, and whom the flush leaves behind. What belongs to
   a later view waits.

Below are channels that are reliable and in order, as FRAG:NAK:COM gives them with a window.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Map,
    Seq,
    Set,
    action,
    constraint,
    emit,
    environment,
    everywhere,
    mutation,
    on,
    record,
    require,
    restriction,
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
from antiphon.spec.protocols.horus.mbrship import Members
from antiphon.spec.services import Crash, Process, View


@record
class Flush:
    """Packet: the coordinator begins a flush that leaves these members behind."""

    view: View
    leaving: Set[Process]


@record
class FlushOk:
    """Packet FLUSH_OK: the sender has sent everything that it had to send in this view, and has passed on the
    messages that it has of the members left behind.
    """

    view: View
    leaving: Set[Process]


@record
class NextView:
    """Packet: the view without these members may be installed."""

    view: View
    leaving: Set[Process]


@record
class Copy:
    """Packet: a message of a member that is left behind, sent on by another member."""

    view: View
    origin: Process
    body: Body


Packet = Body | Flush | FlushOk | NextView | Copy


class MbrshipFlush(Members):
    """MBRSHIP over channels that are reliable and in order.

    State: `channel[q][p]` the packets from q to p, `kept[p][q]` the messages of q that p has in its view,
    `leaving[p]` the members that p's flush leaves behind (empty: p takes part in no flush), `heard[p]` the
    members whose FLUSH_OK p has, `told[p]` True if p may install the view once it has every FLUSH_OK.
    """

    channel: Map[Process, Map[Process, Annotated[Seq[Packet], AtMost("2 * messages + 6")]]] = everywhere(
        everywhere(())
    )
    kept: Map[Process, Map[Process, Annotated[Seq[Body], AtMost("messages")]]] = everywhere(everywhere(()))
    leaving: Map[Process, Set[Process]] = everywhere(Set())
    heard: Map[Process, Set[Process]] = everywhere(Set())
    told: Map[Process, bool] = everywhere(False)

    # Who is who ---------------------------------------------------------------------------------------------

    def has_failed(self, p: Process) -> bool:
        """Return True if p is down, or suspected."""
        return self.down[p] or self.suspected[p]

    def failed_of(self, p: Process) -> Set[Process]:
        """Return the members of p's view that have failed."""
        return Set() | {q for q in self.each(Process) if q not in self.left[p] and self.has_failed(q)}

    def stay(self, p: Process) -> Set[Process]:
        """Return the members of p's view that stay: the flush that p takes part in does not leave them
        behind.
        """
        return Set() | {q for q in self.each(Process) if q not in self.left[p] and q not in self.leaving[p]}

    def is_coordinator(self, p: Process) -> bool:
        """Return True if p is the oldest member of its view that has not failed."""
        return not self.has_failed(p) and all(
            q in self.left[p] or self.has_failed(q) for q in self.each(Process) if q < p
        )

    # Casts --------------------------------------------------------------------------------------------------

    @on(GroupCast)
    def spread(self, call: GroupCast) -> None:
        """Send a message to all others in the view; a token only to its receiver."""
        body = call.body
        to = self.others(call.process, Set())
        self.multicast(call.process, body, to & Set({body.to}) if isinstance(body, Token) else to)

    def others(self, p: Process, failed: Set[Process]) -> Set[Process]:
        """Return the members of p's view other than p and the members in `failed`."""
        return Set() | {
            q for q in self.each(Process) if q != p and q not in self.left[p] and q not in failed
        }

    def multicast(self, q: Process, packet: Packet, to: Set[Process]) -> None:
        """Send a packet from q to these members, except those that are down or have left q behind."""
        for p in self.each(Process):
            if p in to and not self.down[p] and q not in self.left[p] and q not in self.leaving[p]:
                self.channel[q][p] += (packet,)

    # The flush ----------------------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def start_flush(self, p: Process) -> None:
        """Begin a flush at p, the coordinator, by a cast of FLUSH: a member of p's view has failed that p's
        present flush does not leave behind.
        """
        failed = self.failed_of(p)
        require(self.is_coordinator(p) and self.view[p] < self.views)
        require(not failed <= self.leaving[p])
        self.multicast(p, Flush(self.view[p], failed), self.others(p, failed))
        self.take_part(p, p, failed)

    def take_part(self, p: Process, coordinator: Process, failed: Set[Process]) -> None:
        """Take part in a flush: give the FLUSH upcall, once a view; send p's messages of the failed members,
        then FLUSH_OK; ignore the failed members from then on.
        """
        if not self.flushed[p]:
            emit(GroupFlush(p))
        self.flushed[p] = True
        self.leaving[p] = failed
        self.heard[p] = Set({p})
        self.told[p] = False
        for q in self.each(Process):
            if q in failed:
                self.channel[q][p] = ()
                self.return_unstable(p, Set({coordinator}) - {p}, q)
        self.multicast(p, FlushOk(self.view[p], failed), self.others(p, failed))

    def return_unstable(self, p: Process, to: Set[Process], q: Process) -> None:
        """Send to the members `to` the messages of q that p has received."""
        for body in self.kept[p][q]:
            self.multicast(p, Copy(self.view[p], q, body), to)

    @action(fairness="weak", per="p")
    def send_view(self, p: Process) -> None:
        """Cast the unstable messages, and then the view, when the coordinator has every FLUSH_OK."""
        require(self.is_coordinator(p) and len(self.leaving[p]) > 0 and not self.told[p])
        require(self.failed_of(p) <= self.leaving[p] and self.stay(p) <= self.heard[p])
        self.told[p] = True
        to = self.others(p, self.leaving[p])
        for q in self.each(Process):
            if q in self.leaving[p]:
                self.return_unstable(p, to, q)
        self.multicast(p, NextView(self.view[p], self.leaving[p]), to)

    @action(fairness="weak", per="p")
    def install(self, p: Process) -> None:
        """Install the next view, with the VIEW upcall, when p has the view and every FLUSH_OK."""
        require(self.told[p] and self.has_all(p))
        self.left[p] |= self.leaving[p]
        self.view[p] += 1
        self.flushed[p] = False
        self.leaving[p] = Set()
        self.heard[p] = Set()
        self.told[p] = False
        self.kept[p] = everywhere(())
        emit(GroupView(p, Set(q for q in self.each(Process) if q not in self.left[p])))

    def has_all(self, p: Process) -> bool:
        """Return True if p has heard that all staying members have sent everything in this view, so that p
        has received all of it.
        """
        return self.stay(p) <= self.heard[p]

    # Receiving ----------------------------------------------------------------------------------------------

    @action(fairness="weak", per=("p", "q"))
    def receive(self, p: Process, q: Process) -> None:
        """Receive at p the next message from q."""
        require(len(self.channel[q][p]) > 0 and not self.belongs_later(p, q))
        packet = self.channel[q][p][0]
        self.channel[q][p] = self.channel[q][p][1:]
        if isinstance(packet, Flush):
            if self.is_newer(p, packet.view, packet.leaving):
                self.take_part(p, q, packet.leaving)
        elif isinstance(packet, FlushOk):
            if packet.view == self.view[p] and packet.leaving == self.leaving[p]:
                self.heard[p] |= {q}
        elif isinstance(packet, NextView):
            if packet.view == self.view[p] and packet.leaving == self.leaving[p]:
                self.told[p] = True
        elif isinstance(packet, Copy):
            if packet.view == self.view[p]:
                self.accept(p, packet.origin, packet.body)
        else:
            self.accept(p, q, packet)

    def is_newer(self, p: Process, v: View, leaving: Set[Process]) -> bool:
        """Return True if a flush of view v that leaves `leaving` behind supersedes the flush that p takes
        part in: it leaves more members of p's view behind.
        """
        return v == self.view[p] and self.leaving[p] <= leaving and self.leaving[p] != leaving

    def belongs_later(self, p: Process, q: Process) -> bool:
        """Return True if the next packet from q is for a flush that p has not heard of, or a view that p is
        not in.
        """
        packet = self.channel[q][p][0]
        if isinstance(packet, FlushOk):
            return packet.view > self.view[p] or self.is_newer(p, packet.view, packet.leaving)
        if isinstance(packet, Flush | NextView | Copy):
            return packet.view > self.view[p]
        return q in self.heard[p]

    def accept(self, p: Process, origin: Process, body: Body) -> None:
        """Pass up a message of `origin`, unless p has received it before; keep it unless it is a token."""
        if body not in self.kept[p][origin]:
            if not isinstance(body, Token):
                self.kept[p][origin] += (body,)
            emit(GroupReceive(p, origin, body))

    # Failures -----------------------------------------------------------------------------------------------

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; nothing reaches p any more."""
        require(not self.down[p] and self.may_fail(p))
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        for q in self.each(Process):
            self.channel[q][p] = ()
        emit(Crash(p))

    @witness
    def CopyDelivered(self) -> bool:
        """Witness: a member has got a message of a failed member from a third member, and goes on to the next
        view with it.
        """
        return any(
            isinstance(packet, Copy) and packet.body not in self.kept[p][packet.origin]
            for p in self.each(Process)
            for q in self.each(Process)
            for packet in self.channel[q][p]
        )


# What each sentence is good for -----------------------------------------------------------------------------


@mutation("members return nothing: what a failed member has cast stays with who has received it")
class ReturnNothing(MbrshipFlush):
    """Planted fault in the flush of MBRSHIP: members answer with FLUSH_OK alone. Correct code first sends the
    messages received from the failed members.
    """

    def return_unstable(self, p: Process, to: Set[Process], q: Process) -> None:
        """Send nothing, in place of the unstable messages."""


@mutation(
    "a member installs the view as soon as it comes, though it may have overtaken what others have cast"
)
class InstallAtOnce(MbrshipFlush):
    """Planted fault in the flush of MBRSHIP: a member installs the view as soon as the view arrives. Correct
    code waits until the member has everything that the staying members have cast.
    """

    def has_all(self, p: Process) -> bool:
        """Return True: p waits for no other process."""
        return True


@restriction("one member fails, or is taken for dead, and no other before or after")
class OneFailure(MbrshipFlush):
    """Restriction: at most one member fails or is suspected, which is what the flush survives."""

    @constraint("crash", "suspect")
    def nobody_has_failed(self) -> bool:
        """Bound: no member is down or suspected."""
        return not any(self.has_failed(q) for q in self.each(Process))


class MbrshipFlushed(MbrshipFlush, restrictions=(OneFailure,), mutations=(ReturnNothing, InstallAtOnce)):
    """MBRSHIP with its flush, with the restriction and the planted faults of this module to choose from."""
