"""Figures 23 and 24 over the normal phase of the service: Reformation checked alone.

A site has a prefix of the order of its list, and recovers by taking the list's order: the repairs
`drop_the_rest` and `originator_recovers` are part of this text. `ReformationIsService` states that all its
steps are steps of the service.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, everywhere, require
from antiphon.spec.protocols.reformation.bounds import Terse
from antiphon.spec.protocols.reformation.faults import MUTATIONS_OF_FIGURES
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, ListName, Reformation, Stage
from antiphon.spec.protocols.reformation.readings import invited, leaving, majority
from antiphon.spec.protocols.reformation.repairs import ModifyAtEveryRestart, MostRecentList, OwnVersions
from antiphon.spec.protocols.reformation.service import NormalPhaseService, TokenListService
from antiphon.spec.services.events import Process, View


class ReformationOfService(Reformation, NormalPhaseService):
    """Figures 23 and 24, with their assumptions about the normal phase."""

    def is_agreed(self, a: ListName) -> bool:
        """Return True if a New Token was generated for list a."""
        return a == 0 or self.tokens[a]

    def recent(self, p: Process) -> int:
        """Return the number of the most recent message that p has."""
        return self.known[p][self.current[p]]

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """Return True if the new token site is up, and on list a."""
        return any(
            self.is_site(s, a)
            and (s == j or (not self.down[s] and (self.belongs[s] == a or self.current[s] == a)))
            for s in self.each(Process)
        )

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """Announce the New TL. Its order of messages begins with those that its token site has."""
        a = self.belongs[p]
        super().announce(p, responders, site)
        self.order[a] = self.brought_by(site)

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """Generate the New Token; the originator also recovers before it commits (repair
        `originator_recovers`).
        """
        require(any(a == self.belongs[p] and self.can_recover(p, a) for a in self.each(Attempt)))
        super().generate_token(p)

    def misses(self, p: Process) -> bool:
        """Return True if p must recover missing messages before it goes on: a slave on the New TL, or the
        originator that announced it.
        """
        return super().misses(p) or self.stage[p] is Stage.announcing

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation of attempt a at p: p has every message with which the new list begins."""
        super().end(p, a)
        self.begin_in(p, a)


class ReformationOfServiceBounded(
    ReformationOfService,
    repairs=(ModifyAtEveryRestart, OwnVersions, MostRecentList),
    readings=(majority, invited, leaving),
    mutations=MUTATIONS_OF_FIGURES,
    restrictions=(Terse,),
):
    """Reformation over the service's normal phase, within bounds."""


class ListsOfFigures(Reformation):
    """Variables of the service, computed for the lists that figures 23 and 24 make."""

    joined: Map[Attempt, Set[Process]] = everywhere(Set())

    def promised(self, p: Process) -> View:
        """Return the highest version that p has proposed or voted for."""
        return self.highest[p]

    def version_of(self, a: Attempt) -> int:
        """Return the version of the list of attempt a; 0 until the list is announced."""
        return self.version(a) if self.new_list[a] is not None else 0


class ReformationIsService(ReformationOfServiceBounded, ListsOfFigures, refines=TokenListService):
    """Refinement: figures 23 and 24 as Reformation's half of the service; the other half is the service's
    own.
    """

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation, and record the sites that have committed the list."""
        super().end(p, a)
        self.joined[a] |= {p}
