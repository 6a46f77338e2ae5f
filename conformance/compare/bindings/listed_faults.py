"""Plausible mistakes in the change of a list, whatever protocol is under it: one thing wrong in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.impl.membership import consensus
from antiphon.impl.membership.succession import Next, Out, Succession
from antiphon.impl.membership.view_change import Call, Decision, Kind, Message, Told, ViewChange
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.flush import Report

__all__ = ["CHANGE_FAULTS"]

Merge = Callable[[Sequence[Report], bool], Report]


class CallsOnce(ViewChange):
    """Half a broadcast (upon R-Deliver): who hears the call does not send it on."""

    def receive(self, sender: int, message: Message) -> None:
        """Drop the copies."""
        before = len(self._outputs)
        super().receive(sender, message)
        if isinstance(message, Call):
            del self._outputs[before:]


class CallsInSilence(ViewChange):
    """Forgotten message (upon suspicion): who calls tells nobody."""

    def call(self, kind: Kind) -> None:
        """Say nothing."""
        self.kinds.add(kind)
        self._look()


class ReportsToTheFirst(ViewChange):
    """Off by one (step 1): one member gets the report, and not all."""

    def report(self, report: Report) -> None:
        """Drop the other copies."""
        before = len(self._outputs)
        super().report(report)
        del self._outputs[before + 1 :]


class ForgetsItself(ViewChange):
    """Missing update (step 1): the own report does not count as heard."""

    def propose(self, merge: Merge) -> None:
        """Propose a list of the others."""
        own = self.heard.pop(self.me)
        super().propose(lambda reports, missing: merge([*reports, own.report], missing))
        self.heard[self.me] = own


class DropsEarlyReports(ViewChange):
    """Lost message (step 2): a report that comes before the own one is dropped."""

    def receive(self, sender: int, message: Message) -> None:
        """Look at the own one."""
        if not isinstance(message, Told) or self.me in self.heard:
            super().receive(sender, message)


class DropsEarlyDecisions(ViewChange):
    """Lost message (step 4): a decision that comes while reports are awaited is dropped."""

    def receive(self, sender: int, message: Message) -> None:
        """Look whether the wait is over."""
        if not isinstance(message, consensus.Decide) or self.complete:
            super().receive(sender, message)


class WaitsForNobody(ViewChange):
    """Missing condition (step 2): a majority of reports is enough, whoever else is trusted."""

    def _look(self) -> None:
        """Count."""
        self.complete = self.complete or (self.me in self.heard and 2 * len(self.heard) > self.members)


class NeedsNoMajority(ViewChange):
    """Missing condition (step 2, `await_majority`): whoever is suspected is not waited for."""

    def _look(self) -> None:
        """Do not count."""
        others = (process for process in range(self.members) if process not in self.heard)
        self.complete = self.complete or (
            self.me in self.heard and all(process in self._suspected for process in others)
        )


class WaitsForTheSuspected(ViewChange):
    """Missing condition (step 2): a suspicion ends no wait."""

    def _look(self) -> None:
        """Suspect nobody."""
        before = self._suspected, self._given_up
        self._suspected = self._given_up = frozenset()
        super()._look()
        self._suspected, self._given_up = before


class HearsNoSuspicion(ViewChange):
    """Lost wake-up (step 2): a suspicion is noted, and what waits for it is not looked at."""

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Note it."""
        self._suspected, self._given_up = suspected, given_up


class ListsTheSuspected(ViewChange):
    """Wrong set (step 3): all of the list are on the next one, whether they have reported or not."""

    def _take_part(self, value: Decision) -> None:
        """Put them in."""
        super()._take_part(structs.replace(value, core=tuple(range(self.members))))


class LeavesOutTheSuspected(ViewChange):
    """Wrong set (step 3): who is suspected is left out, though it has reported."""

    def _take_part(self, value: Decision) -> None:
        """Take them out."""
        core = tuple(process for process in value.core if process not in self._suspected)
        super()._take_part(structs.replace(value, core=core))


class ListsTheFirstTwo(ViewChange):
    """Off by one (step 3): the list ends behind the majority."""

    def _take_part(self, value: Decision) -> None:
        """Cut it."""
        super()._take_part(structs.replace(value, core=value.core[: self.members // 2 + 1]))


class MergesTheFirst(ViewChange):
    """Wrong union (step 3): of the reports the one of the first member is taken."""

    def propose(self, merge: Merge) -> None:
        """Take it."""
        super().propose(lambda reports, missing: merge(reports[:1], missing))


class MergesItsOwn(ViewChange):
    """Wrong union (step 3): a member proposes what it knows itself."""

    def propose(self, merge: Merge) -> None:
        """Take it."""
        own = self.heard[self.me].report
        super().propose(lambda _, missing: merge([own], missing))


class ProposesTwice(ViewChange):
    """Missing condition (step 3): a member proposes again with each report that comes late."""

    @property
    def proposes(self) -> bool:
        """Look at the reports alone."""
        return self.complete and self._agreement.decision is None and len(self.heard) > self._tried

    def propose(self, merge: Merge) -> None:
        """Count them."""
        super().propose(merge)
        self._tried = len(self.heard)


class AdoptsUnheard(ViewChange):
    """Missing condition (step 4): who still waits for reports takes a decision."""

    @property
    def decision(self) -> Decision | None:
        """Do not look at the wait."""
        return self._agreement.decision if self.me in self.heard else None


class ReportsAgain(ViewChange):
    """Work done again (upon R-Deliver): each call that comes makes a member report."""

    def receive(self, sender: int, message: Message) -> None:
        """Send the report once more."""
        super().receive(sender, message)
        if isinstance(message, Call) and self.me in self.heard:
            self._outputs += [Send(sender, self.heard[self.me])]


class SendsCallsAgain(ViewChange):
    """Work done again (upon R-Deliver): a call is sent on as often as it comes."""

    def receive(self, sender: int, message: Message) -> None:
        """Send it on."""
        super().receive(sender, message)
        if isinstance(message, Call):
            self._outputs = [send for send in self._outputs if send.message != message]
            self._to_others(message)


class TakesLaterReports(ViewChange):
    """Value that goes back (step 2): who is heard again is not heard any more."""

    def receive(self, sender: int, message: Message) -> None:
        """Forget it."""
        if isinstance(message, Told) and self.heard.pop(sender, None) is not None:
            return
        super().receive(sender, message)


class GoesOnOrdering(Succession):
    """Missing step (step 1, `block`): the protocol goes on after the report."""

    def report(self) -> bool:
        """Do not stop it."""
        done = super().report()
        self.stopped = False
        return done


class StopsLate(Succession):
    """Wrong order (step 1, `block`): the protocol stops with the proposal."""

    def report(self) -> bool:
        """Do not stop it."""
        done = super().report()
        self.stopped = False
        return done

    def propose(self) -> bool:
        """Stop it."""
        self.stopped = True
        return super().propose()


class InstallsUndelivered(Succession):
    """Missing step (step 6, `deliver_first`): the next list is installed, and nothing delivered."""

    def adopt(self) -> Next | Out | None:
        """Leave it out."""
        before, self._deliver = self._deliver, lambda _: True
        follows = super().adopt()
        self._deliver = before
        return follows


class LivesOn(Succession):
    """Missing branch (step 7, `else suicide`): who is not on the list stays where it is."""

    def adopt(self) -> Next | Out | None:
        """Stay."""
        follows = super().adopt()
        return None if isinstance(follows, Out) else follows


class TurnsTheListRound(Succession):
    """Wrong order (step 7): the last member of the list is the first of the next one."""

    def adopt(self) -> Next | Out | None:
        """Turn it round."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster._replace(members=follows.roster.members[::-1])
        return follows._replace(roster=roster)


class StaysWithTheList(Succession):
    """Forgotten update (step 7): the list gets its number, and its members are those of before."""

    def adopt(self) -> Next | Out | None:
        """Keep them."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster._replace(members=self.roster.members, core=self.roster.core)
        return follows._replace(roster=roster)


class SkipsANumber(Succession):
    """Off by one (step 7): the list after i is i + 2."""

    def adopt(self) -> Next | Out | None:
        """Count once more."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        return follows._replace(roster=follows.roster._replace(number=follows.roster.number + 1))


CHANGE_FAULTS: Mapping[str, type[Any]] = {
    "calls-once": CallsOnce,
    "calls-in-silence": CallsInSilence,
    "reports-to-the-first": ReportsToTheFirst,
    "forgets-itself": ForgetsItself,
    "drops-early-reports": DropsEarlyReports,
    "drops-early-decisions": DropsEarlyDecisions,
    "waits-for-nobody": WaitsForNobody,
    "needs-no-majority": NeedsNoMajority,
    "waits-for-the-suspected": WaitsForTheSuspected,
    "hears-no-suspicion": HearsNoSuspicion,
    "lists-the-suspected": ListsTheSuspected,
    "leaves-out-the-suspected": LeavesOutTheSuspected,
    "lists-the-first-two": ListsTheFirstTwo,
    "merges-the-first": MergesTheFirst,
    "merges-its-own": MergesItsOwn,
    "proposes-twice": ProposesTwice,
    "adopts-unheard": AdoptsUnheard,
    "reports-again": ReportsAgain,
    "sends-calls-again": SendsCallsAgain,
    "takes-later-reports": TakesLaterReports,
    "goes-on-ordering": GoesOnOrdering,
    "stops-late": StopsLate,
    "installs-undelivered": InstallsUndelivered,
    "lives-on": LivesOn,
    "turns-the-list-round": TurnsTheListRound,
    "stays-with-the-list": StaysWithTheList,
    "skips-a-number": SkipsANumber,
}
"""By their names."""
