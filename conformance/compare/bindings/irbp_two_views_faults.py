"""Planted faults in i-views and external processes: cores, changes and successions with one mistake each.

`antiphon lockstep irbp-two-views --fault NAME` shows the shortest trace to where it differs. Faults in
what figure 32 has are planted where that figure is walked (`irbp_faults.py`, `listed_faults.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from antiphon.conformance.compare.bindings.listed_faults import Merge
from antiphon.impl.membership.member import Excluded
from antiphon.impl.membership.succession import Next, Out, Succession
from antiphon.impl.membership.view_change import (
    Call,
    Decision,
    Kind,
    Lacking,
    Message,
    Offer,
    ViewChange,
)
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import KEPT_BYTES, Report
from antiphon.impl.protocols.rbp import Core
from antiphon.impl.protocols.rbp import messages as wire_messages

__all__ = ["FAULTS"]

# The kind of the next view ------------------------------------------------------------------------------


class ExcludesTheSuspected(ViewChange):
    """Planted fault in the kind of a view (section 4.4.5), missing condition: a member that is only suspected
    is excluded when a regular view was called. Correct: it must be given up.
    """

    def propose(self, merge: Merge) -> None:
        """Propose as if every suspected member were given up."""
        before, self._given_up = self._given_up, self._suspected
        super().propose(merge)
        self._given_up = before


class NeverExcludes(ViewChange):
    """Planted fault in the kind of a view (section 4.4.5), missing branch: every view is an i-view. Correct:
    it is a regular view where one was called and all who are absent are given up.
    """

    def propose(self, merge: Merge) -> None:
        """Propose as if nobody had called a regular view."""
        before, self.kinds = self.kinds, {Kind.INTERMEDIATE}
        super().propose(merge)
        self.kinds = before


class BelievesItselfAlone(ViewChange):
    """Planted fault in the kind of a view (step 3), wrong union: only those are given up whom the proposer
    has given up itself. Correct: also those whom somebody who has reported has given up.
    """

    def propose(self, merge: Merge) -> None:
        """Propose as if the reports named nobody."""
        before = self.heard
        self.heard = {at: structs.replace(told, given_up=()) for at, told in before.items()}
        super().propose(merge)
        self.heard = before


class ReportsNobodyGivenUp(ViewChange):
    """Planted fault in the report (step 1), missing field: a report names nobody whom its sender has given
    up. Correct: it names them.
    """

    def report(self, report: Report) -> None:
        """Report as if nobody were given up."""
        before, self._given_up = self._given_up, frozenset()
        super().report(report)
        self._given_up = before
        self._look()


class WaitsForTheSlowDetector(ViewChange):
    """Planted fault in the wait for reports (figure 34, step 2), wrong detector: a member is awaited until it
    is given up. Correct: until it is suspected.
    """

    def _look(self) -> None:
        """Wait for all members that are not given up."""
        before, self._suspected = self._suspected, self._given_up
        super()._look()
        self._suspected = before


class KeepsTheOtherCall(ViewChange):
    """Planted fault in the calls (upon R-Deliver), half a broadcast: the call for the other kind of view is
    not sent on. Correct: the first call of each kind is.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message, and drop copies of a second call."""
        second, before = bool(self.kinds), len(self._outputs)
        super().receive(sender, message)
        if isinstance(message, Call) and second:
            del self._outputs[before:]


class TakesOneCall(ViewChange):
    """Planted fault in the calls (upon R-Deliver), missing update: a call for the other kind of view has no
    effect. Correct: both kinds count.
    """

    def call(self, kind: Kind) -> None:
        """Take only the first call."""
        if not self.kinds:
            super().call(kind)


# Who is in the core of an i-view ------------------------------------------------------------------------


class ListsTheIncomplete(ViewChange):
    """Planted fault in the list of an i-view (step 3, `up_to_date`), missing condition: all that have
    reported are in the core. Correct: only those that will lack nothing.
    """

    def _take_part(self, value: Decision) -> None:
        """Propose a core of all that have reported."""
        super()._take_part(structs.replace(value, core=tuple(sorted(self.heard))))


class GoesOnWithFew(ViewChange):
    """Planted fault in the list of an i-view (step 3), missing condition: an i-view's core may be less than a
    majority. Correct: then the process proposes nothing itself.
    """

    def propose(self, merge: Merge) -> None:
        """Propose as if the list had fewer members."""
        before, self.members = self.members, len(self.heard)
        kinds = self.kinds
        super().propose(merge)
        self.members, self.kinds = before, kinds
        if self._value is None:
            core = tuple(sorted(self.heard))[:1]
            agreed = merge([told.report for told in self.heard.values()], True)
            self._take_part(Decision(Kind.INTERMEDIATE, core, (), (), agreed))


class LacksInSilence(ViewChange):
    """Planted fault where members are too few for an i-view (step 3), forgotten message: nobody hears of it.
    Correct: `Lacking` goes to all others.
    """

    def propose(self, merge: Merge) -> None:
        """Propose, and drop the notice."""
        super().propose(merge)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, Lacking)]


class OffersNothing(ViewChange):
    """Planted fault where members are too few for an i-view (step 3), forgotten answer: a process with a
    value does not answer `Lacking`. Correct: it offers its value.
    """

    def receive(self, sender: int, message: Message) -> None:
        """Handle the message, and offer nothing for it."""
        super().receive(sender, message)
        if isinstance(message, Lacking):
            self._outputs = [send for send in self._outputs if not isinstance(send.message, Offer)]


class OffersToNobodyBefore(ViewChange):
    """Planted fault where members are too few for an i-view (step 3), forgotten message: who lacked members
    before this process proposed gets no offer. Correct: it gets one.
    """

    def _take_part(self, value: Decision) -> None:
        """Propose, and offer the value to nobody."""
        before, self._lacking = self._lacking, set()
        super()._take_part(value)
        self._lacking = before


class RefusesOffers(ViewChange):
    """Planted fault where members are too few for an i-view (step 4), missing step: an offer is not taken.
    Correct: the process proposes it.
    """

    def _take_offer(self) -> None:
        """Propose nothing."""


class TriesAgain(ViewChange):
    """Planted fault where members are too few for an i-view (step 3), repeated work: the process tries again
    and again. Correct: it tries again after news.
    """

    @property
    def proposes(self) -> bool:
        """Return True as long as nothing is proposed."""
        return self.complete and self._value is None and self._agreement.decision is None


class TriesOnce(ViewChange):
    """Planted fault where members are too few for an i-view (step 3), lost wake-up: another report, call or
    suspicion does not make the process try again. Correct: each does.
    """

    @property
    def proposes(self) -> bool:
        """Return True if the process has not tried."""
        return super().proposes and not self._tried_once

    @property
    def _tried_once(self) -> bool:
        return any(process == self.me for process in self._lacking)

    def propose(self, merge: Merge) -> None:
        """Propose, and remember that members were too few."""
        super().propose(merge)
        if self._value is None:
            self._lacking.add(self.me)


# Steps 5 to 7 -------------------------------------------------------------------------------------------


class ExcludesExternals(Succession):
    """Planted fault in an i-view (figure 34, step 6, `go_on_outside`), wrong branch: a process outside the
    core kills itself. Correct: it goes on, external.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the decision; end outside the core of an i-view too."""
        follows = super().adopt()
        if isinstance(follows, Next) and self.me not in follows.decision.core:
            return Out(Excluded("outside the core"))
        return follows


class GoesOnLacking(Succession):
    """Planted fault in an i-view (step 5), missing condition: a process that lacks messages before Msg goes
    on. Correct: it ends.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the decision, whether this process has everything or not."""
        deliver = self._deliver

        def try_to(agreed: Report) -> bool:
            deliver(agreed)
            return True

        self._deliver = try_to
        follows = super().adopt()
        self._deliver = deliver
        return follows


class ListsExternalsFirst(Succession):
    """Planted fault in an i-view (step 6), wrong order: the external processes come before the core. Correct:
    the core comes first.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the decision, with the external processes first."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster
        return follows._replace(
            roster=roster._replace(members=roster.members[roster.core :] + roster.members[: roster.core])
        )


class SortsTheList(Succession):
    """Planted fault in an i-view (step 6), wrong order: the core has the order of the processes' addresses.
    Correct: it has the order of the list before.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the decision, and sort the core."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster
        core, rest = roster.members[: roster.core], roster.members[roster.core :]
        return follows._replace(roster=roster._replace(members=(*sorted(core), *rest)))


class PutsAllInTheCore(Succession):
    """Planted fault in an i-view (step 6), wrong set: all members of the view order messages. Correct: those
    in TL do.
    """

    def adopt(self) -> Next | Out | None:
        """Adopt the decision, with everybody in the core."""
        follows = super().adopt()
        if not isinstance(follows, Next):
            return follows
        roster = follows.roster
        return follows._replace(roster=roster._replace(core=len(roster.members)))


# The core, and those outside ----------------------------------------------------------------------------


class PassesToExternals(Core):
    """Planted fault in the ring (section 4.4.3), wrong set: the token goes round among all members of the
    list. Correct: among the core.
    """

    def __init__(self, me: int, members: int, *settings: Any, ring: int | None = None, **more: Any) -> None:
        """Make a ring of all members."""
        del ring
        super().__init__(me, members, *settings, **more)


class AwaitsExternals(Core):
    """Planted fault in stability (figure 25, line 75), off by the external processes: a number waits for them
    too. Correct: for the core.
    """

    def _collectable(self, number: int) -> bool:
        """Return True if as many members as the list has follow the number."""
        return super()._collectable(number) and number <= self._queues.last_number - self.members + 1


class KeepsNothing(Core):
    """Planted fault in what the core keeps (section 4.4.3), missing step: nothing. Correct: what is stable,
    as far as there is room.
    """

    def _keep(self, number: int, identifier: Identifier | None, payload: bytes) -> None:
        """Keep nothing."""


class KeepsTheOldest(Core):
    """Planted fault in what the core keeps (section 4.4.3), wrong choice: when there is no room the newest
    message goes. Correct: the oldest one.
    """

    def _keep(self, number: int, identifier: Identifier | None, payload: bytes) -> None:
        """Keep the message if there is room."""
        if self._kept_bytes + len(payload) + KEPT_BYTES <= self._kept_bytes_max:
            super()._keep(number, identifier, payload)


class ExternalsKeep(Core):
    """Planted fault in what is kept (section 4.4.3), wrong condition: an external process keeps messages too.
    Correct: only the core does.
    """

    def collect(self, number: int, now: float) -> bool:
        """Delete the message, and keep it in any case."""
        before, self.external = self.external, False
        done = super().collect(number, now)
        self.external = before
        return done


class MergesNothingKept(Core):
    """Planted fault in Msg (step 3, `report_kept`), missing part: what the proposer keeps is not in it.
    Correct: as much as somebody lacks.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge without what is kept."""
        kept, self._kept = self._kept, {}
        agreed = super().merge(reports, missing)
        self._kept = kept
        return agreed


class MergesForTheHeard(Core):
    """Planted fault in Msg (step 3), missing condition: what only those lack who are not heard is not in it.
    Correct: they adopt it too.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge as if all had reported."""
        del missing
        return super().merge(reports, False)


class MergesAllKept(Core):
    """Planted fault in Msg (step 3), missing condition: everything that is kept is in it. Correct: what
    nobody lacks is not.
    """

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Merge as if somebody had not reported."""
        del missing
        return super().merge(reports, True)


class AnswersWithoutBodies(Core):
    """Planted fault in an answer (section 4.4.3), missing message: an external process gets numbers of kept
    messages and no bodies. Correct: both.
    """

    def _receive_request_numbers(self, sender: int, message: wire_messages.RequestNumbers) -> None:
        """Answer, and drop the bodies."""
        super()._receive_request_numbers(sender, message)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, wire_messages.Data)]


class SaysNothingIsGone(Core):
    """Planted fault in an answer (section 4.4.3, `no more in the buffers`), forgotten message: nobody hears
    that something is gone. Correct: whoever asks does.
    """

    def _receive_request_numbers(self, sender: int, message: wire_messages.RequestNumbers) -> None:
        """Answer, and drop the notice."""
        super()._receive_request_numbers(sender, message)
        self._outputs = [send for send in self._outputs if not isinstance(send.message, wire_messages.Gone)]


class SaysMoreIsGone(Core):
    """Planted fault in an answer (section 4.4.3, `no more in the buffers`), off by one: one number too many
    is said to be gone. Correct: those below the lowest that is kept.
    """

    def _receive_request_numbers(self, sender: int, message: wire_messages.RequestNumbers) -> None:
        """Answer, with one more number that is gone."""
        before = len(self._outputs)
        super()._receive_request_numbers(sender, message)
        for at, send in enumerate(self._outputs[before:], before):
            if isinstance(send.message, wire_messages.Gone):
                self._outputs[at] = send._replace(message=wire_messages.Gone(send.message.number + 1))


class AsksOneMember(Core):
    """Planted fault in a request (section 4.4.3), missing update: an external process asks the same member
    again and again. Correct: it asks the members of the core in turn.
    """

    def _repeat_request(self) -> bool:
        """Ask, and go back to the member that was asked last."""
        before = self._asks
        done = super()._repeat_request()
        self._asks = before
        return done


class GivesUpAtOnce(Core):
    """Planted fault in what is lost (section 4.4.3), any for all: an external process is lost when one member
    has said that what it needs is gone. Correct: when all have.
    """

    @property
    def lost(self) -> bool:
        """Return True if one member has deleted what is needed."""
        return any(number > self._queues.last_number for number in self._gone.values())


class NeverGivesUp(Core):
    """Planted fault in what is lost (section 4.4.3), off by one: an external process is lost when what comes
    after what it needs is gone. Correct: when what it needs next is.
    """

    @property
    def lost(self) -> bool:
        """Return True if all members have deleted one number more."""
        needed = self._queues.last_number + 2
        return len(self._gone) >= self.ring and min(self._gone.values()) >= needed


class ComesBackLacking(Core):
    """Planted fault in the return of an external process (section 5.2.3), missing condition: it comes back
    while it lacks a body. Correct: it lacks nothing.
    """

    @property
    def caught_up(self) -> bool:
        """Return True if no number is missing."""
        return self.external and not self._misses_numbers and self._answered is not None


class ComesBackUnheard(Core):
    """Planted fault in the return of an external process (section 5.2.3), missing condition: it comes back
    before a member of the core has answered how far it is. Correct: it has the answer.
    """

    @property
    def caught_up(self) -> bool:
        """Return True if nothing is known to be missing."""
        return self.external and not self._incomplete


class ComesBackUnasked(Core):
    """Planted fault in the return of an external process (section 5.2.3), missing condition: each number that
    comes counts as the answer to how far the core is. Correct: the number of its own question.
    """

    def _receive_numbered(self, sender: int, message: wire_messages.Numbered) -> None:
        """Take any number for the answer."""
        super()._receive_numbered(sender, message)
        self._answered = self._now


class HidesHowFarItIs(Core):
    """Planted fault in an answer (section 4.4.3), missing message: a member of the core gives the numbers
    that it is asked for, and not the highest one. Correct: both.
    """

    def _receive_request_numbers(self, sender: int, message: wire_messages.RequestNumbers) -> None:
        """Answer, and drop what was not asked for."""
        before = len(self._outputs)
        super()._receive_request_numbers(sender, message)
        self._outputs[before:] = [
            send
            for send in self._outputs[before:]
            if not isinstance(send.message, wire_messages.Numbered) or send.message.number <= message.last
        ]


class NeverAsksHowFar(Core):
    """Planted fault in a request (section 4.4.3), missing message: an external process does not ask how far
    the core is. Correct: it asks again and again.
    """

    def _ask_how_far(self) -> bool:
        """Ask nothing."""
        return False


FAULTS: Mapping[str, type[Any]] = {
    "excludes-the-suspected": ExcludesTheSuspected,
    "never-excludes": NeverExcludes,
    "believes-itself-alone": BelievesItselfAlone,
    "reports-nobody-given-up": ReportsNobodyGivenUp,
    "waits-for-the-slow-detector": WaitsForTheSlowDetector,
    "keeps-the-other-call": KeepsTheOtherCall,
    "takes-one-call": TakesOneCall,
    "lists-the-incomplete": ListsTheIncomplete,
    "goes-on-with-few": GoesOnWithFew,
    "lacks-in-silence": LacksInSilence,
    "offers-nothing": OffersNothing,
    "offers-to-nobody-before": OffersToNobodyBefore,
    "refuses-offers": RefusesOffers,
    "tries-again": TriesAgain,
    "tries-once": TriesOnce,
    "excludes-externals": ExcludesExternals,
    "goes-on-lacking": GoesOnLacking,
    "lists-externals-first": ListsExternalsFirst,
    "sorts-the-list": SortsTheList,
    "puts-all-in-the-core": PutsAllInTheCore,
    "passes-to-externals": PassesToExternals,
    "awaits-externals": AwaitsExternals,
    "keeps-nothing": KeepsNothing,
    "keeps-the-oldest": KeepsTheOldest,
    "externals-keep": ExternalsKeep,
    "merges-nothing-kept": MergesNothingKept,
    "merges-for-the-heard": MergesForTheHeard,
    "merges-all-kept": MergesAllKept,
    "answers-without-bodies": AnswersWithoutBodies,
    "says-nothing-is-gone": SaysNothingIsGone,
    "says-more-is-gone": SaysMoreIsGone,
    "asks-one-member": AsksOneMember,
    "gives-up-at-once": GivesUpAtOnce,
    "never-gives-up": NeverGivesUp,
    "comes-back-lacking": ComesBackLacking,
    "comes-back-unheard": ComesBackUnheard,
    "comes-back-unasked": ComesBackUnasked,
    "hides-how-far-it-is": HidesHowFarItIs,
    "never-asks-how-far": NeverAsksHowFar,
}
"""Faulty cores, changes and successions by name."""
