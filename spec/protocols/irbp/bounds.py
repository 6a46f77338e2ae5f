"""Bounds of an exploration of iRBP: how many views and numbers there are, what nobody will look at any more,
and which runs are left out.
"""

from __future__ import annotations

from antiphon.spec.environment.detectors import DetectedAtOnce
from antiphon.spec.lang import (
    Const,
    Map,
    Set,
    budget,
    constraint,
    environment,
    everywhere,
    mutation,
    require,
    restriction,
)
from antiphon.spec.protocols.irbp.figure32 import Phase, ViewChange
from antiphon.spec.protocols.irbp.normal_phase import Ack, NormalPhase, Sequenced
from antiphon.spec.protocols.irbp.readings import early
from antiphon.spec.protocols.irbp.repairs import REPAIRS
from antiphon.spec.services import Message, Process


class NormalFinite(NormalPhase):
    """The normal phase with finitely many numbers."""

    @constraint("sequence", "pass_null")
    def has_number_left(self, p: Process) -> bool:
        """The number after ts_p is not too large."""
        return budget(self.last_number[p] < self.highest)


class NormalSparing(NormalFinite):
    """The normal phase where NULL leaves a number to each message that has none.

    With `brief` it is passed only while a member of the list has not collected a message of it.
    """

    brief: Const[bool] = True

    spare: Const[int] = 0
    """Number of numbers that NULL leaves to each of them beyond its own, so that it becomes stable too."""

    @constraint("pass_null")
    def spares_numbers(self, p: Process) -> bool:
        """Every message that p has not numbered finds a number, and `spare` numbers behind it."""
        waiting = sum(
            1 for m in self.each(Message) if not self.is_numbered(p, m) and m not in self.collected[p]
        )
        return budget(self.last_number[p] + waiting * (1 + self.spare) < self.highest)

    @constraint("pass_null")
    def is_wanted(self, p: Process) -> bool:
        """A member that is up has not collected a message that was sent to the list."""
        return not self.brief or any(
            self.was_sent(p, m) and m not in self.collected[q] and not self.is_gone(q)
            for m in self.each(Message)
            for q in self.token_list(p)
        )


class ViewsFinite(ViewChange, NormalSparing):
    """iRBP with finitely many views. What nobody will look at any more is forgotten."""

    @constraint("call")
    def is_view_left(self, p: Process) -> bool:
        """Another view is left."""
        return budget(self.version[p] < self.views)

    @environment
    def crash(self, p: Process) -> None:
        """P stops. Its report stays, and what it has sent; what it knows is gone with it."""
        super().crash(p)
        self.clear(p)

    def leave(self, p: Process) -> None:
        super().leave(p)
        self.clear(p)
        self.forget_report(p)

    def clear(self, p: Process) -> None:
        """Forget what p knows nobody will ask for."""
        self.received[p] = Set()
        self.numbered[p] = Set()
        self.stable[p] = Set()
        self.collected[p] = Set()
        self.last_delivered[p] = 0
        self.last_number[p] = 0
        self.pending[p] = None
        self.begins[p] = False
        self.suspected[p] = everywhere(False)

    def forget_report(self, p: Process) -> None:
        """The decision is there, and the report of p is not asked for any more."""
        self.reported[p] = Set()

    def enter(self, p: Process, members: Set[Process]) -> None:
        super().enter(p, members)
        self.forget_report(p)
        self.suspected[p] = Map({q: self.suspected[p][q] and q in members for q in self.each(Process)})


@restriction("what a process can do alone it does before anything else happens, the first one first")
class Urgent(ViewsFinite):
    """To make stable and to deliver read and write one process's own state."""

    def goes_on(self, p: Process) -> bool:
        """P can do something alone."""
        return not self.is_gone(p) and (
            any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p])
        )

    @constraint(
        "broadcast", "receive", "receive_late", "hear", "hear_late", "pass_null", "sequence",
        "crash", "suspect", "detect", "call", "report", "propose", "decide", "adopt", "install",
    )  # fmt: skip
    def nobody_goes_on(self) -> bool:
        """Bound: no process can do anything alone."""
        return not any(self.goes_on(q) for q in self.each(Process))

    @constraint("settle", "deliver")
    def is_first(self, p: Process) -> bool:
        """Bound: no process before p can do anything alone."""
        return not any(self.goes_on(q) for q in self.each(Process) if q < p)


@restriction("what can be delivered is delivered before anything else happens, the first process first")
class Delivering(ViewsFinite):
    """To deliver reads and writes one process's own state, and nothing that another step of the repaired
    protocol asks for depends on it: it commutes with every other step. Only a crash would take it away, and
    who delivers and then crashes has delivered more than who crashes before.
    """

    def is_next_here(self, p: Process) -> bool:
        """P can deliver."""
        return not self.is_gone(p) and any(self.can_deliver(p, item) for item in self.stable[p])

    @constraint(
        "broadcast", "receive", "receive_late", "hear", "hear_late", "pass_null", "sequence", "settle",
        "crash", "suspect", "detect", "call", "report", "propose", "decide", "adopt", "install",
    )  # fmt: skip
    def nobody_can_deliver(self) -> bool:
        """Bound: no process can deliver."""
        return not any(self.is_next_here(q) for q in self.each(Process))

    @constraint("deliver")
    def is_first_to_deliver(self, p: Process) -> bool:
        """Bound: no process before p can deliver."""
        return not any(self.is_next_here(q) for q in self.each(Process) if q < p)


@restriction("a false suspicion ends when its process is on the next list: it has reported")
class Forgiving(ViewsFinite):
    """Each wrong suspicion costs one view, not one after another."""

    def enter(self, p: Process, members: Set[Process]) -> None:
        super().enter(p, members)
        self.suspected[p] = Map({q: self.suspected[p][q] and self.down[q] for q in self.each(Process)})


@restriction("message k comes from p_(k mod n)")
class Assigned(ViewsFinite):
    """Restriction: message k is broadcast by process k mod n only."""

    @constraint("broadcast")
    def is_its_turn(self, p: Process, m: Message) -> bool:
        """The message is p's."""
        return p.index == m.index % self.processes


@mutation("an ACK of any list is taken")
class Unfiltered(ViewChange):
    """Figure 25, line 27, left out."""

    def is_news(self, p: Process, ack: Ack) -> bool:
        return self.is_active(p) and not self.knows(p, ack.number)


@mutation("who is excluded lives on")
class LivesOn(ViewChange):
    """Figure 32, step 7, `else suicide`, left out."""

    def leave(self, p: Process) -> None:
        """P does not go on, and does not stop."""


@mutation("nobody is suspected")
class Unwatched(ViewChange):
    """No detector watches anybody."""

    def monitors(self, p: Process, q: Process) -> bool:
        return False


@mutation("the view change runs over unreliable channels: one report is lost")
class Unreliable(ViewChange):
    """Section 5.1, `we were forced to use also TCP`, left out."""

    unheard: Process | None = None

    @environment
    def lose_report(self, p: Process) -> None:
        """Lose what p has sent in step 1: it arrives nowhere."""
        require(self.unheard is None and self.phase[p] != Phase.normal)
        self.unheard = p

    def has_reported(self, q: Process, p: Process) -> bool:
        return super().has_reported(q, p) and self.unheard != q


@mutation("what is stable is delivered in any order")
class OutOfOrder(ViewChange):
    """Figure 25, line 79, `lastdelivered_p + 1`, left out."""

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        return item in self.stable[p] and self.had_body(p, item.message)


class IrbpBounded(
    ViewsFinite,
    repairs=REPAIRS,
    readings=(early,),
    restrictions=(DetectedAtOnce, Forgiving, Delivering, Urgent, Assigned),
    mutations=(Unfiltered, LivesOn, Unwatched, Unreliable, OutOfOrder),
):
    """iRBP with what can be switched on."""
