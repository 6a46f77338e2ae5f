"""Exploration of iRBP within bounds: limits on views and numbers, state that is forgotten once no step reads
it, and restrictions that leave out runs.
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
    """Normal phase of iRBP with finitely many numbers."""

    @constraint("sequence", "pass_null")
    def has_number_left(self, p: Process) -> bool:
        """Return True if the number after ts_p is within the bound."""
        return budget(self.last_number[p] < self.highest)


class NormalSparing(NormalFinite):
    """Normal phase in which a NULL takes a number only if enough are left for the messages without one.

    With `brief` a NULL is passed only while some live member has not removed a message that was sent to the
    list.
    """

    brief: Const[bool] = True

    spare: Const[int] = 0
    """Number of further numbers left for each message when NULL takes one, so that it becomes stable."""

    @constraint("pass_null")
    def spares_numbers(self, p: Process) -> bool:
        """Bound: after a NULL, numbers are left for all messages without a number at p, and `spare` more for
        each of them.
        """
        waiting = sum(
            1 for m in self.each(Message) if not self.is_numbered(p, m) and m not in self.collected[p]
        )
        return budget(self.last_number[p] + waiting * (1 + self.spare) < self.highest)

    @constraint("pass_null")
    def is_wanted(self, p: Process) -> bool:
        """Bound: a live member has not removed some message that was sent to the list, or `brief` is off."""
        return not self.brief or any(
            self.was_sent(p, m) and m not in self.collected[q] and not self.is_gone(q)
            for m in self.each(Message)
            for q in self.token_list(p)
        )


class ViewsFinite(ViewChange, NormalSparing):
    """iRBP with finitely many views, where state that no step reads any more is forgotten."""

    @constraint("call")
    def is_view_left(self, p: Process) -> bool:
        """Bound: the number of views allows another one."""
        return budget(self.version[p] < self.views)

    @environment
    def crash(self, p: Process) -> None:
        """Stop p. Its report and its messages stay; its knowledge is forgotten."""
        super().crash(p)
        self.clear(p)

    def leave(self, p: Process) -> None:
        super().leave(p)
        self.clear(p)
        self.forget_report(p)

    def clear(self, p: Process) -> None:
        """Forget the parts of p's state that no process will read any more."""
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
        """Forget the report of p, which no process will read any more: the decision is made."""
        self.reported[p] = Set()

    def enter(self, p: Process, members: Set[Process]) -> None:
        super().enter(p, members)
        self.forget_report(p)
        self.suspected[p] = Map({q: self.suspected[p][q] and q in members for q in self.each(Process)})


@restriction("what a process can do alone it does before anything else happens, the first one first")
class Urgent(ViewsFinite):
    """Restriction: a process makes stable and delivers all that it can before any other step, since both read
    and write its own state only.
    """

    def goes_on(self, p: Process) -> bool:
        """Return True if p can make a message stable, or deliver one."""
        return not self.is_gone(p) and (
            any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p])
        )

    @constraint(
        "broadcast", "receive", "receive_late", "hear", "hear_late", "pass_null", "sequence",
        "crash", "suspect", "detect", "call", "report", "propose", "decide", "adopt", "install",
    )  # fmt: skip
    def nobody_goes_on(self) -> bool:
        """Bound: no process can make a message stable, or deliver one."""
        return not any(self.goes_on(q) for q in self.each(Process))

    @constraint("settle", "deliver")
    def is_first(self, p: Process) -> bool:
        """Bound: p is the first process that can make a message stable, or deliver one."""
        return not any(self.goes_on(q) for q in self.each(Process) if q < p)


@restriction("what can be delivered is delivered before anything else happens, the first process first")
class Delivering(ViewsFinite):
    """Restriction: a process delivers all that it can before any other step."""

    def is_next_here(self, p: Process) -> bool:
        """Return True if p is up and can deliver some message now."""
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
        """Bound: p delivers only if no process with a lower index can deliver."""
        return not any(self.is_next_here(q) for q in self.each(Process) if q < p)


@restriction("a false suspicion ends when its process is on the next list: it has reported")
class Forgiving(ViewsFinite):
    """Restriction: a false suspicion ends when the suspected process is in the next list, so each costs one
    view only.
    """

    def enter(self, p: Process, members: Set[Process]) -> None:
        super().enter(p, members)
        self.suspected[p] = Map({q: self.suspected[p][q] and self.down[q] for q in self.each(Process)})


@restriction("message k comes from p_(k mod n)")
class Assigned(ViewsFinite):
    """Restriction: message k is broadcast by process k mod n only."""

    @constraint("broadcast")
    def is_its_turn(self, p: Process, m: Message) -> bool:
        """Return True if it is p's turn to broadcast message m."""
        return p.index == m.index % self.processes


@mutation("an ACK of any list is taken")
class Unfiltered(ViewChange):
    """Planted fault in the normal phase (figure 25, line 27): an ACK of any token list is taken. Correct code
    drops an ACK of another list.
    """

    def is_news(self, p: Process, ack: Ack) -> bool:
        return self.is_active(p) and not self.knows(p, ack.number)


@mutation("who is excluded lives on")
class LivesOn(ViewChange):
    """Planted fault in figure 32, step 7: an excluded process lives on. Printed and correct: `else
    suicide`.
    """

    def leave(self, p: Process) -> None:
        """Do nothing: the process neither joins the list nor stops."""


@mutation("nobody is suspected")
class Unwatched(ViewChange):
    """Planted fault in iRBP: the failure detectors suspect nobody, so that view changes wait for crashed
    processes for ever.
    """

    def monitors(self, p: Process, q: Process) -> bool:
        return False


@mutation("the view change runs over unreliable channels: one report is lost")
class Unreliable(ViewChange):
    """Planted fault in iRBP's view change: one report may be lost. Correct code runs the view change over
    reliable channels (section 5.1: `we were forced to use also TCP`).
    """

    unheard: Process | None = None

    @environment
    def lose_report(self, p: Process) -> None:
        """Lose the report that p has sent in step 1 to all receivers."""
        require(self.unheard is None and self.phase[p] != Phase.normal)
        self.unheard = p

    def has_reported(self, q: Process, p: Process) -> bool:
        return super().has_reported(q, p) and self.unheard != q


@mutation("what is stable is delivered in any order")
class OutOfOrder(ViewChange):
    """Planted fault in delivery (figure 25, line 79): stable messages are delivered in any order. Correct
    code delivers number `lastdelivered_p + 1` next.
    """

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        return item in self.stable[p] and self.had_body(p, item.message)


class IrbpBounded(
    ViewsFinite,
    repairs=REPAIRS,
    readings=(early,),
    restrictions=(DetectedAtOnce, Forgiving, Delivering, Urgent, Assigned),
    mutations=(Unfiltered, LivesOn, Unwatched, Unreliable, OutOfOrder),
):
    """iRBP, with the restrictions, planted faults, readings and repairs to choose from."""
