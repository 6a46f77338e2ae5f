"""Environment of figure 29, failures and wrong suspicions, and bounds of an exploration of it."""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment.detectors import DetectedAtOnce, EventuallyPerfect
from antiphon.spec.lang import (
    In,
    Map,
    action,
    budget,
    constraint,
    emit,
    environment,
    everywhere,
    mutation,
    require,
    restriction,
)
from antiphon.spec.protocols.vsc.figure29 import Data, Initial
from antiphon.spec.protocols.vsc.readings import READINGS
from antiphon.spec.protocols.vsc.repairs import REPAIRS
from antiphon.spec.protocols.vsc.stability import HastyStability, StabilityDetector, stable_when
from antiphon.spec.services.events import Install, Message, Process, View


class Failing(StabilityDetector, EventuallyPerfect):
    """Environment with up to `crashes` failures and `false_suspicions` false suspicions."""

    sent_by: Map[Message, Process | None] = everywhere(None)

    def vscast(self, p: Process, m: Message) -> None:
        super().vscast(p, m)
        self.sent_by[m] = p

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever; nothing reaches p any more."""
        require(not self.is_gone(p))
        super().crash(p)
        self.network -= {packet for packet in self.network if packet.to == p}

    @environment
    def lose(self, packet: Annotated[Data, In("network")]) -> None:
        """Lose a message of a process that has crashed."""
        sender = self.sent_by[packet.message]
        require(sender is not None and self.is_gone(sender))
        self.network -= {packet}


class VscFinite(Failing):
    """Figure 29 with finitely many views, where a process crashes only if a view is left to exclude it."""

    @constraint("call")
    def has_view_left(self, p: Process) -> bool:
        """Return True if the bound allows another view after p's present one."""
        return budget(self.in_view[p] < self.views)

    @constraint("crash")
    def can_be_left_out(self, p: Process) -> bool:
        """Return True if p can still be excluded from a view: p has not sent its set of unstable messages for
        the change to the last view.
        """
        i = self.in_view[p]
        return i < self.views and not (i == self.views - 1 and self.is_changing(p))


@restriction("message k comes from p_(k mod n)")
class Assigned(VscFinite):
    """Restriction: message k is multicast by process k mod n only."""

    @constraint("vscast")
    def is_its_turn(self, p: Process, m: Message) -> bool:
        """Return True if it is p's turn to multicast message m."""
        return p.index == m.index % self.processes


@restriction("a view change is called once, by the first process that suspects, as long as that is up")
class CalledOnce(VscFinite):
    """Restriction: nobody calls a change that a live process has called: one call is R-delivered by all."""

    @constraint("call")
    def is_not_called(self, p: Process) -> bool:
        """Bound: no process that is up has called a change of p's view."""
        i = self.in_view[p]
        return not any(self.has_cast(q, i) and not self.is_gone(q) for q in self.each(Process))


@mutation("without `for the first time`: a change that others have called too is begun once more")
class AnyTime(VscFinite):
    """Planted fault in figure 29: a view change is begun again when another call for it is R-delivered.
    Printed and correct: `for the first time`.
    """

    repeated: Map[Process, bool] = everywhere(False)

    @action
    def r_deliver_again(self, p: Process, i: View) -> None:
        """Run the change of view i (steps 1-7) once more at p, which has finished it: in one step p installs
        the decided view again, and is at its beginning.
        """
        decision = self.decided[i]
        require(self.in_view[p] == i + 1 and not self.left_out[p] and not self.repeated[p])
        require(decision is not None)
        self.repeated[p] = True
        self.taken[p] -= {self.in_view[p]}
        self.proposal[p] = None
        if decision is not None:
            emit(Install(p, self.in_view[p], decision.view))


@mutation("consensus: everybody takes its own initial value for the decision")
class NoConsensus(VscFinite):
    """Planted fault in figure 29, steps 4 and 5: every process takes its own proposal for the decision.
    Correct code uses consensus.
    """

    def is_decided(self, p: Process, q: Process) -> bool:
        return q == p

    def decision(self, p: Process, q: Process) -> Initial | None:
        return self.proposal[p]


@mutation("the failure detector is not complete: nobody suspects anybody")
class Incomplete(VscFinite):
    """Planted fault: the failure detector suspects nobody, so that steps 2 and 4 wait for crashed processes
    for ever. Correct detectors are complete.
    """

    def monitors(self, p: Process, q: Process) -> bool:
        return False


class VscBounded(
    VscFinite,
    repairs=REPAIRS,
    readings=(*READINGS, stable_when),
    restrictions=(DetectedAtOnce, Assigned, CalledOnce),
    mutations=(HastyStability, AnyTime, NoConsensus, Incomplete),
):
    """Figure 29 within bounds, with its variants to choose from."""
