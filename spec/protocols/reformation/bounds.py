"""Restrictions of an exploration of Reformation, which leave out runs in which nothing else can go wrong."""

from __future__ import annotations

from antiphon.spec.lang import constraint, restriction
from antiphon.spec.protocols.reformation.faults import MUTATIONS
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Reformation, Stage
from antiphon.spec.protocols.reformation.normal_phase import NormalPhase
from antiphon.spec.protocols.reformation.readings import READINGS
from antiphon.spec.protocols.reformation.repairs import REPAIRS
from antiphon.spec.services.events import Process


@restriction("a `No` is lost, and a `Yes` comes while the originator still waits for it")
class Terse(Reformation):
    """Restriction: every `No` is lost, and a `Yes` arrives while the originator still waits for it.

    Nothing is left out by this: a `No` makes an originator do the same as its timer, and a late vote has no
    effect.
    """

    @constraint("refuse")
    def is_wanted(self) -> bool:
        """Bound: this step never happens, so that every `No` counts as lost."""
        return False

    @constraint("vote")
    def is_in_time(self, a: Attempt) -> bool:
        """Bound: the originator of attempt a waits for votes."""
        return any(
            self.has_begun(p, a)
            and self.belongs[p] == a
            and self.stage[p] is Stage.inviting
            and not self.down[p]
            for p in self.each(Process)
        )


@restriction("what can be delivered is delivered before anything else happens, the first process first")
class Eager(NormalPhase):
    """Restriction: a site delivers all that it can before any other step, since delivery reads and writes its
    own state only.
    """

    def can_deliver(self, p: Process) -> bool:
        """Return True if p can deliver some message."""
        return not self.down[p] and self.works(p) and self.last_delivered[p] < self.stable_up_to(p)

    @constraint(
        "invite", "announce", "generate_token", "vote", "agree", "accept_token", "give_up", "time_out",
        "sequence", "learn", "crash",
    )  # fmt: skip
    def nobody_delivers(self) -> bool:
        """Bound: no site has something to deliver."""
        return not any(self.can_deliver(q) for q in self.each(Process))

    @constraint("deliver")
    def is_first(self, p: Process) -> bool:
        """Bound: no site before p has something to deliver."""
        return not any(self.can_deliver(q) for q in self.each(Process) if q < p)


@restriction("no timer expires too early")
class Patient(Reformation):
    """Restriction: a timer expires only where the awaited message will never come."""

    @constraint("time_out")
    def is_due(self) -> bool:
        """Bound: this step never happens, so no timer expires while the awaited message may still come."""
        return False


class ReformationBounded(
    NormalPhase,
    repairs=REPAIRS,
    readings=READINGS,
    mutations=MUTATIONS,
    restrictions=(Terse, Eager, Patient),
):
    """Reformation within bounds, with all variants to choose from."""
