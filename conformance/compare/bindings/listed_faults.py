"""Planted faults in the change of a list, each with one mistake, for whatever protocol runs on the list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.impl.membership import consensus
from antiphon.impl.membership.succession import Next, Out, Succession
from antiphon.impl.membership.view_change import Call, Decision, Kind, Message, ReportMessage, ViewChange
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.flush import Report

__all__ = ["CHANGE_FAULTS"]

Merge = Callable[[Sequence[Report], bool], Report]


class CallsOnce(ViewChange):
    """Planted fault in the change of a list (upon R-Deliver), half a broadcast: a process that receives a
    call does not relay it. Correct: it does.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message, and drop the relayed copies."""
        before = len(self._outputs)
        super().receive(sender, message)
        if isinstance(message, Call):
            del self._outputs[before:]


class CallsInSilence(ViewChange):
    """Planted fault in the change of a list (upon suspicion), forgotten message: a process that calls a
    change sends no call. Correct: it sends one.
    """

    def call(self, kind: Kind) -> None:
        """Start the change, and send no call."""
        self.kinds.add(kind)
        self._look()


class ReportsToTheFirst(ViewChange):
    """Planted fault in the change of a list (step 1), off by one: a process sends its report to one member.
    Correct: it sends it to all.
    """

    def report(self, report: Report) -> None:
        """Report, and drop all copies but the first."""
        before = len(self._outputs)
        super().report(report)
        del self._outputs[before + 1 :]


class ForgetsItself(ViewChange):
    """Planted fault in the change of a list (step 1), missing update: a process does not count its own report
    as received. Correct: it does.
    """

    def propose(self, merge: Merge) -> None:
        """Propose the merge of all reports, on a list that lacks this process."""
        own = self.heard.pop(self.me)
        super().propose(lambda reports, missing: merge([*reports, own.report], missing))
        self.heard[self.me] = own


class DropsEarlyReports(ViewChange):
    """Planted fault in the change of a list (step 2), lost message: a report that arrives before the own one
    is sent is dropped. Correct: it is kept.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Drop a report that arrives before this process has sent its own."""
        if not isinstance(message, ReportMessage) or self.me in self.heard:
            super().receive(sender, message)


class DropsEarlyDecisions(ViewChange):
    """Planted fault in the change of a list (step 4), lost message: a decision that arrives while reports are
    awaited is dropped. Correct: it is kept.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Drop a decision while reports are awaited."""
        if not isinstance(message, consensus.Decide) or self.complete:
            super().receive(sender, message)


class WaitsForNobody(ViewChange):
    """Planted fault in the change of a list (step 2), missing condition: a majority of reports suffices.
    Correct: every trusted member's report is awaited too.
    """

    def _look(self) -> None:
        """Note that the wait for reports is over as soon as a majority has reported."""
        self.complete = self.complete or (self.me in self.heard and 2 * len(self.heard) > self.members)


class NeedsNoMajority(ViewChange):
    """Planted fault in the change of a list (step 2, `await_majority`), missing condition: reports of
    suspected members are not awaited, even without a majority. Correct: a majority is required.
    """

    def _look(self) -> None:
        """Note that the wait for reports is over as soon as every process without a report is suspected,
        without asking for a majority.
        """
        others = (process for process in range(self.members) if process not in self.heard)
        self.complete = self.complete or (
            self.me in self.heard and all(process in self._suspected for process in others)
        )


class WaitsForTheSuspected(ViewChange):
    """Planted fault in the change of a list (step 2), missing condition: a suspicion ends no wait. Correct: a
    suspected member is not awaited.
    """

    def _look(self) -> None:
        """Wait for the reports of all members, suspected ones too."""
        before = self._suspected, self._given_up
        self._suspected = self._given_up = frozenset()
        super()._look()
        self._suspected, self._given_up = before


class SuspectsForEver(ViewChange):
    """Planted fault in the wait for reports (step 2), value that only grows: who was suspected once stays
    suspected. Correct: a suspicion ends, and the member is awaited again.
    """

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Add the suspected to those of before."""
        super().suspect(self._suspected | suspected, self._given_up | given_up)


class WaitsAgain(ViewChange):
    """Planted fault in the wait for reports (step 2), condition that is asked again: a wait that is over goes
    on when a suspicion ends. Correct: it stays over.
    """

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Note the suspicions, and look at the wait again from the beginning."""
        if self._suspected - suspected:
            self.complete = False
        super().suspect(suspected, given_up)


class HearsAgain(ViewChange):
    """Planted fault in the wait for reports (step 2), needless reset: when a suspicion ends, the member's
    report is dropped. Correct: it stays heard, since it is sent once.
    """

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Note the suspicions, and forget the reports of those that are trusted again."""
        for process in self._suspected - suspected:
            self.heard.pop(process, None)
        super().suspect(suspected, given_up)


class HearsNoSuspicion(ViewChange):
    """Planted fault in the change of a list (step 2), lost wake-up: a suspicion is recorded, and the waiting
    condition is not evaluated again. Correct: it is.
    """

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Record the suspicions, and do not check whether the wait is over."""
        self._suspected, self._given_up = suspected, given_up


class ListsTheSuspected(ViewChange):
    """Planted fault in the change of a list (step 3), wrong set: every member is on the next list. Correct:
    only members that reported are.
    """

    def _take_part(self, value: Decision) -> None:
        """Propose a list with every member, those without a report too."""
        super()._take_part(structs.replace(value, core=tuple(range(self.members))))


class LeavesOutTheSuspected(ViewChange):
    """Planted fault in the change of a list (step 3), wrong set: a suspected member that reported is not on
    the next list. Correct: it is.
    """

    def _take_part(self, value: Decision) -> None:
        """Propose a list without the suspected members, even if they have reported."""
        core = tuple(process for process in value.core if process not in self._suspected)
        super()._take_part(structs.replace(value, core=core))


class ListsTheFirstTwo(ViewChange):
    """Planted fault in the change of a list (step 3), off by one: the next list ends after a majority.
    Correct: it has every member that reported.
    """

    def _take_part(self, value: Decision) -> None:
        """Propose a list that ends after a majority of the members that reported."""
        super()._take_part(structs.replace(value, core=value.core[: self.members // 2 + 1]))


class MergesTheFirst(ViewChange):
    """Planted fault in the change of a list (step 3), wrong union: the proposal has the first member's report
    alone. Correct: it has the union of all reports.
    """

    def propose(self, merge: Merge) -> None:
        """Propose the first member's report."""
        super().propose(lambda reports, missing: merge(reports[:1], missing))


class MergesItsOwn(ViewChange):
    """Planted fault in the change of a list (step 3), wrong union: the proposal has the proposer's own
    knowledge. Correct: it has the union of all reports.
    """

    def propose(self, merge: Merge) -> None:
        """Propose this process's own report."""
        own = self.heard[self.me].report
        super().propose(lambda _, missing: merge([own], missing))


class ProposesTwice(ViewChange):
    """Planted fault in the change of a list (step 3), missing condition: a member proposes again with each
    late report. Correct: it proposes once.
    """

    @property
    def proposes(self) -> bool:
        """Return True if enough reports have arrived, even if this process has proposed before."""
        return self.complete and self._agreement.decision is None and len(self.heard) > self._tried

    def propose(self, merge: Merge) -> None:
        """Propose, and remember how many reports there were, so that a later one causes another proposal."""
        super().propose(merge)
        self._tried = len(self.heard)


class AdoptsUnheard(ViewChange):
    """Planted fault in the change of a list (step 4), missing condition: a member that still waits for
    reports adopts a decision. Correct: it proposes first.
    """

    @property
    def decision(self) -> Decision | None:
        """Return the decision, even while this process still waits for reports."""
        return self._agreement.decision if self.me in self.heard else None


class ReportsAgain(ViewChange):
    """Planted fault in the change of a list (upon R-Deliver), repeated work: a member sends its report with
    each call that arrives. Correct: it reports once.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message; if it is a call, send the own report once more."""
        super().receive(sender, message)
        if isinstance(message, Call) and self.me in self.heard:
            self._outputs += [Send(sender, self.heard[self.me])]


class SendsCallsAgain(ViewChange):
    """Planted fault in the change of a list (upon R-Deliver), repeated work: a call is relayed each time that
    it arrives. Correct: it is relayed once.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message, and relay the call again."""
        super().receive(sender, message)
        if isinstance(message, Call):
            self._outputs = [send for send in self._outputs if send.message != message]
            self._to_others(message)


class TakesLaterReports(ViewChange):
    """Planted fault in the change of a list (step 2), value that goes back: a second report of a member
    cancels its first one. Correct: the second has no effect.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message; if it is a second report of a member, delete that member's report."""
        if isinstance(message, ReportMessage) and self.heard.pop(sender, None) is not None:
            return
        super().receive(sender, message)


class GoesOnOrdering(Succession):
    """Planted fault in the change of a list (step 1, `block`), missing step: the protocol goes on ordering
    after its report. Correct: the report blocks it.
    """

    def report(self) -> bool:
        """Report without blocking the protocol."""
        done = super().report()
        self.stopped = False
        return done


class StopsLate(Succession):
    """Planted fault in the change of a list (step 1, `block`), wrong order: the protocol stops at the
    proposal. Correct: it stops at the report.
    """

    def report(self) -> bool:
        """Report without blocking the protocol."""
        done = super().report()
        self.stopped = False
        return done

    def propose(self) -> bool:
        """Propose, and block the protocol."""
        self.stopped = True
        return super().propose()


class InstallsUndelivered(Succession):
    """Planted fault in the change of a list (step 6, `deliver_first`), missing step: the next list is
    installed and its agreed messages are not delivered. Correct: they are delivered first.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the list without delivering."""
        before, self._deliver = self._deliver, lambda _: True
        follows = super().adopt()
        self._deliver = before
        return follows


class LivesOn(Succession):
    """Planted fault in the change of a list (step 7, `else suicide`), missing branch: a process that is not
    on the list goes on in its old one. Correct: it stops.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the agreed list, and return what follows. The fault: return None where this process is not on
        the list, so that it goes on in its old list; correct code returns `Out`, and the process stops.
        """
        follows = super().adopt()
        return None if isinstance(follows, Out) else follows


class TurnsTheListRound(Succession):
    """Planted fault in the change of a list (step 7), wrong order: the installed list has its members
    reversed. Correct: their order is the agreed one.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the agreed list with its members in reverse order."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster._replace(members=follows.roster.members[::-1])
        return follows._replace(roster=roster)


class StaysWithTheList(Succession):
    """Planted fault in the change of a list (step 7), forgotten update: the next list has its number and the
    previous members. Correct: it has the agreed members.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the number of the agreed list, with the members of the previous list."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster._replace(members=self.roster.members, core=self.roster.core)
        return follows._replace(roster=roster)


class SkipsANumber(Succession):
    """Planted fault in the change of a list (step 7), off by one: the list after number i has number i + 2.
    Correct: i + 1.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the list with its number plus one."""
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
    "hears-again": HearsAgain,
    "suspects-for-ever": SuspectsForEver,
    "waits-again": WaitsAgain,
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
"""Faulty changes of a list by name."""
