"""Figures 23 and 24 over the normal phase of the service: Reformation checked alone.

What a site has is a prefix of the order of its list, so that it takes over what the new token site brings
by taking the list's order: `drop_the_rest` and `originator_recovers` are in the text here. That all it
does is a step of the service is a refinement (`ReformationIsService`).
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
    """Figures 23 and 24, and what they assume of the normal phase."""

    def is_agreed(self, a: ListName) -> bool:
        """A New Token was generated for list a."""
        return a == 0 or self.tokens[a]

    def recent(self, p: Process) -> int:
        """The number of the most recent message that p has."""
        return self.known[p][self.current[p]]

    def can_recover(self, j: Process, a: Attempt) -> bool:
        """The new token site is up, and on list a."""
        return any(
            self.is_site(s, a)
            and (s == j or (not self.down[s] and (self.belongs[s] == a or self.current[s] == a)))
            for s in self.each(Process)
        )

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """The list begins with what its site has."""
        a = self.belongs[p]
        super().announce(p, responders, site)
        self.order[a] = self.brought_by(site)

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        """The originator recovers too, before it commits (`originator_recovers`)."""
        require(any(a == self.belongs[p] and self.can_recover(p, a) for a in self.each(Attempt)))
        super().generate_token(p)

    def misses(self, p: Process) -> bool:
        """P must recover missing messages before it goes on."""
        return super().misses(p) or self.stage[p] is Stage.announcing

    def end(self, p: Process, a: Attempt) -> None:
        """P has what the list begins with."""
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
    """Names of the service for the lists that figures 23 and 24 make."""

    joined: Map[Attempt, Set[Process]] = everywhere(Set())

    def promised(self, p: Process) -> View:
        """The highest version that p has proposed or voted for."""
        return self.highest[p]

    def version_of(self, a: Attempt) -> int:
        """A list has a version when it is announced."""
        return self.version(a) if self.new_list[a] is not None else 0


class ReformationIsService(ReformationOfServiceBounded, ListsOfFigures, refines=TokenListService):
    """Figures 23 and 24, seen as Reformation's half of the service. The other half is the same."""

    def end(self, p: Process, a: Attempt) -> None:
        """Remember the sites that have committed a list."""
        super().end(p, a)
        self.joined[a] |= {p}
