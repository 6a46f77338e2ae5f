"""Both kinds of views, where all members of the view decide its next list, and not the core alone.

Source: Barchet-Estefanel 2002, sections 4.4.2 to 4.4.5, figures 32 and 34. Figure 34 prints in its step 4
"execute consensus among TL_i processes, with initial_k as the initial value", and TL_i is the core. A core
that an i-view has made smaller then stands fewer failures than the view would (claim IRB-24). In this module
an external process reports, proposes and votes as a member of the core does. An external process may lack
messages, and its vote must not lose them for the others, so reports contain two more things.

| steps of figures 32 and 34                     | here                                                   |
|------------------------------------------------|--------------------------------------------------------|
| 2: `∀ p_i, wait until receive [...]`           | `may_propose`: p_i of the view, and a majority of it   |
| 4: `consensus among TL_i processes`            | `has_majority_proposed`, `is_majority_up`: of the view |
| 3: `all processes that sent ack`               | `members_of`: those of them that will lack nothing     |
| 1: `send seqQ_k to all`                        | `complete[k]`, `gathered[k]`: what k has made stable   |

What is decided:
1. Each process watches all of the view, since it waits for all. A suspicion of an external process calls no
   i-view: figure 34 calls one "upon suspicion of some process in TL_i".
2. An i-view's core is more than half of the view, so that each majority has a process that has all that was
   delivered. Whoever hears of too few for that goes on waiting. A regular view needs no such number.
3. Whoever has killed itself is silent, and is not waited for.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, ambiguity, everywhere, invariant, repair, require, witness
from antiphon.spec.protocols.irbp.figure32 import Phase, Proposal
from antiphon.spec.protocols.irbp.iviews import ExchangeQueues, GoOnOutside
from antiphon.spec.protocols.irbp.normal_phase import LastNumber, Number, Sequenced
from antiphon.spec.protocols.irbp.repairs import AwaitMajority, CutHoles, OrderReceived, SendBodies
from antiphon.spec.protocols.irbp.two_views import Kind, TwoViews
from antiphon.spec.protocols.irbp.two_views_checked import AgreeOnce, TwoViewsChecked, UpToDate
from antiphon.spec.services import Message, Process


@repair(
    "steps 2 and 4: all members of the view, external ones too, report, propose and vote; a majority of the "
    "view is awaited and decides, and the list of an i-view has more than half of it",
    answers="IRB-35",
    builds_on=(AwaitMajority, ExchangeQueues, GoOnOutside, AgreeOnce, UpToDate),
)
class CountExternals(TwoViews):
    """Repair of both view changes. Printed: `execute consensus among TL_i processes`. Repaired: all members
    of the view report, propose and vote, external ones too; decisions need a majority of the view, and the
    list of an i-view more than half of it.
    """

    complete: Map[Process, LastNumber] = everywhere(0)
    """Number up to which p had made everything stable when it reported."""

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if p watches q: q is another member of p's view, and has not left."""
        return p != q and q in self.group(p) and not self.left[q]

    def send_report(self, p: Process) -> None:
        """Send the report (step 1), with the number up to which p has everything."""
        super().send_report(p)
        k = self.first_missed(p)
        self.complete[p] = self.highest if k is None else k - 1

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Go on with the new list, and forget the report for the old one."""
        super().go_on(p, members)
        self.complete[p] = 0

    def is_most(self, p: Process, members: Set[Process]) -> bool:
        """Return True if `members` are a majority of the view of p."""
        return 2 * len(members) > len(self.group(p))

    def may_propose(self, p: Process, heard: Set[Process]) -> bool:
        """Return True if p may propose (step 2): it has the reports of a majority of the view, and suspects
        the other members.
        """
        members = self.group(p)
        return (
            p in heard
            and self.is_most(p, heard)
            and all(
                (q in members and self.has_reported(q, p))
                if q in heard
                else q not in members or self.suspected[p][q] or self.left[q]
                for q in self.each(Process)
            )
        )

    def stable_to(self, p: Process, heard: Set[Process]) -> LastNumber:
        """Return the highest number that, as far as p knows, every process has; in this class the highest one
        stable at p.
        """
        return self.settled(p)

    def members_of(self, p: Process, heard: Set[Process]) -> Set[Process]:
        """Return the members of the next list (step 3): those that have everything stable, or get it with
        Msg.
        """
        last = self.stable_to(p, heard)
        brought = self.messages_of(p, heard)
        return Set() | {q for q in heard if self.will_be_complete(q, last, brought)}

    def will_be_complete(self, q: Process, last: LastNumber, brought: Set[Sequenced]) -> bool:
        """Return True if q has every number up to `last`, or gets it with the messages in `brought`."""
        return not any(
            k > self.complete[q] and k <= last and not any(one.number == k for one in brought)
            for k in self.each(Number)
        )

    @action(fairness="weak", per="p")
    def propose(self, p: Process, heard: Set[Process]) -> None:
        """Propose an i-view (steps 2-4 of figure 34), as a member of the core or as an external process."""
        open_ = self.is_undecided(p, Kind.intermediate)
        require(not open_ or self.is_most(p, self.members_of(p, heard)))
        super().propose(p, heard)
        if open_:
            self.proposal[p] = self.initial_value(p, heard)

    @action(fairness="weak", per="p")
    def propose_regular(self, p: Process, heard: Set[Process]) -> None:
        """Propose a regular view (steps 2-4 of figure 32), as a member of the core or as an external
        process.
        """
        super().propose_regular(p, heard)
        if self.is_undecided(p, Kind.regular):
            self.regular_proposal[p] = Proposal(
                self.regular_members(p, heard), self.messages_of(p, heard), self.bodies_of(heard)
            )

    def has_majority_proposed(self, p: Process) -> bool:
        """Return True if a majority of p's view has begun the consensus (step 4)."""
        return self.is_most(p, Set() | {q for q in self.group(p) if self.takes_part(q, p)})

    def has_regular_majority(self, p: Process) -> bool:
        """Return True if a majority of p's view has begun the consensus on a regular view (figure 32, step
        4).
        """
        return self.is_most(p, Set() | {q for q in self.group(p) if self.takes_part_in_regular(q, p)})

    def is_majority_up(self, p: Process) -> bool:
        """Return True if a majority of p's view is up (step 4)."""
        return self.is_most(p, Set() | {q for q in self.group(p) if not self.is_gone(q)})


@repair(
    "steps 1 and 3: how far it has all, and which messages, a process reports; Msg goes on behind the "
    "highest number that anybody reports so",
    answers="IRB-36",
    builds_on=(CountExternals, CutHoles, OrderReceived),
)
class ReportStable(CountExternals):
    """Repair of steps 1 and 3. Printed: `Msgs_k is the union of the seqQ sets received`, and a stable message
    is in no seqQ. Repaired: a process also reports the number up to which it has everything, and its stable
    messages; Msg continues behind the highest such number.
    """

    gathered: Map[Process, Set[Message]] = everywhere(Set())
    """Messages that p had made stable when it reported."""

    def send_report(self, p: Process) -> None:
        """Send the report (step 1), with the stable messages."""
        super().send_report(p)
        self.gathered[p] = self.collected[p]

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Go on with the new list, and forget the report for the old one."""
        super().go_on(p, members)
        self.gathered[p] = Set()

    def stable_to(self, p: Process, heard: Set[Process]) -> LastNumber:
        """Return the highest number up to which all members have everything, according to the reports of
        `heard`.
        """
        return max((self.complete[q] for q in heard), default=0)

    def messages_of(self, p: Process, heard: Set[Process]) -> Set[Sequenced]:
        """Return Msg (step 3): messages with bodies, without gaps behind the stable ones, and then those
        without a number.
        """
        bodies = self.bodies_of(heard)
        stable = self.stable_to(p, heard)
        found = {
            item
            for q in heard
            for item in self.reported[q]
            if item.message is None or item.message in bodies
        }
        whole = {
            item
            for item in found
            if all(
                k <= stable or any(one.number == k for one in found)
                for k in self.each(Number)
                if k <= item.number
            )
        }
        last = max(stable, max((item.number for item in whole), default=0))
        rest = {
            m
            for m in bodies
            if not any(item.message == m for item in whole)
            and not any(m in self.gathered[q] for q in heard)
        }
        return Set() | whole | {Sequenced(m, last + sum(1 for other in rest if other <= m)) for m in rest}


@repair(
    "step 1: what a process has made stable, and has or keeps, it reports with its seqQ",
    answers="IRB-35",
    builds_on=(CountExternals, SendBodies),
)
class ReportKept(CountExternals):
    """Repair of step 1. Printed: `send ack to all`; the repairs that exchange queues send seqQ and recvQ,
    which hold nothing stable. Repaired further: a process also reports the stable messages that it has or
    keeps.
    """

    brought: Map[Process, Set[Message]] = everywhere(Set())
    """Bodies of stable messages that came with the report of p."""

    def send_report(self, p: Process) -> None:
        """Send the report (step 1), with the stable messages that p has or keeps."""
        super().send_report(p)
        known = self.stable[p] | self.kept[p]
        self.reported[p] |= known
        self.brought[p] = Set() | {item.message for item in known if item.message is not None}

    def bodies_of(self, heard: Set[Process]) -> Set[Message]:
        """Return the bodies for step 3, those of stable messages included."""
        return super().bodies_of(heard) | {m for q in heard for m in self.brought[q]}

    def go_on(self, p: Process, members: Set[Process]) -> None:
        """Go on with the new list, and forget the report for the old one."""
        super().go_on(p, members)
        self.brought[p] = Set()


calling = ambiguity(
    "calling",
    "normal",
    about="a process that suspects somebody calls a regular view in the normal phase only, or in the middle "
    "of an i-view's change too; figure 32 has no more than `upon suspicion of some process in TL_i`",
)


@calling.reading("meanwhile")
class CallsMeanwhile(TwoViews):
    """Reading of iRBP: a process may call a regular view as long as it has not adopted a decision, not in the
    normal phase only.
    """

    def may_call_regular(self, p: Process, q: Process) -> bool:
        """Return True if p watches q, and no regular view has been called yet."""
        return (
            not self.is_gone(p)
            and p != q
            and self.phase[p] != Phase.adopting
            and self.is_watched(p, q)
            and not self.reformed[self.version[p]]
            and self.has_view_left(p)
        )


class WholeViewBounded(
    TwoViewsChecked,
    repairs=(CountExternals, ReportStable, ReportKept),
    readings=(calling,),
):
    """Figures 32 and 34 in one group, with the repair that all members of the view decide. A process keeps
    its knowledge of crashes.
    """

    def enter(self, p: Process, members: Set[Process]) -> None:
        """Enter the list; to bound the exploration, p forgets suspicions of processes outside the list."""
        known = self.suspected[p]
        super().enter(p, members)
        self.know_still(p, known)

    def end_outside(self, p: Process) -> None:
        """End p's membership in the core; to bound the exploration, p also forgets its suspicions."""
        known = self.suspected[p]
        super().end_outside(p)
        self.know_still(p, known)

    def know_still(self, p: Process, known: Map[Process, bool]) -> None:
        """Keep the suspicions in `known` of processes that have crashed and that p still watches."""
        self.suspected[p] = Map(
            {
                q: self.suspected[p][q] or (known[q] and self.down[q] and self.monitors(p, q))
                for q in self.each(Process)
            }
        )


class WholeViewChecked(WholeViewBounded):
    """Both figures where all members of the view decide, with further properties."""

    @invariant
    def CoreIsMost(self) -> bool:
        """Invariant: the list that a process uses is more than half of its view."""
        return all(
            2 * len(self.token_list(p) & self.group(p)) > len(self.group(p)) for p in self.each(Process)
        )

    @witness
    def ExternalProposes(self) -> bool:
        """Witness: an external process that lacks stable messages has proposed, and its proposal can be
        decided.
        """
        return any(
            self.is_external(p)
            and self.proposal[p] is not None
            and self.decision[self.version[p]] is None
            and self.has_majority_proposed(p)
            and any(self.misses_what_is_stable(p, q) for q in self.each(Process))
            for p in self.each(Process)
        )

    def misses_what_is_stable(self, p: Process, q: Process) -> bool:
        """Return True if q, of the list of p, has made messages stable that p lacks."""
        k = self.first_missed(p)
        is_core = self.version[q] == self.version[p] and self.is_core(q)
        return is_core and k is not None and k <= self.settled(q)
