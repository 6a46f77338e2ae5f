"""Reformations as single steps: which sites respond, which of them commit, and whether all do. For many
sites, where the figures themselves have too many runs.

Source: Barchet-Estefanel 2002, section 3.2.3, figures 23 and 24. A step stands for a reformation in which
nobody else interferes: its version number is higher than all before, its votes come, its New TL reaches some
of the sites, and it is valid if they all agree. What goes wrong here goes wrong in the figures.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, Set, action, ambiguity, everywhere, invariant, require, witness
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, ListName
from antiphon.spec.services.events import Group, Process

majority = ambiguity(
    "majority",
    "static",
    about="`The list must have a majority of the processes`: of all processes, or of the originator's "
    "previous "
    "list",
)


class TokenLists(Group):
    """Token lists that reformations make."""

    attempts: Const[int] = 3
    begun: ListName = 0
    members: Map[Attempt, Set[Process]] = everywhere(Set())
    current: Map[Process, ListName] = everywhere(0)
    works: Map[Process, bool] = everywhere(True)

    @action
    def reform(self, p: Process, responders: Set[Process], committed: Set[Process]) -> None:
        """Make a new list in one step: p invites, `responders` vote "Yes", and `committed` of them commit.
        The other responders wait.
        """
        require(self.begun < self.attempts)
        require(p in responders and committed <= responders and len(committed) > 0)
        require(self.has_majority(p, responders))
        require(all(q == p or q > p or self.current[q] != self.current[p] for q in responders))
        a = self.begun + 1
        self.begun = a
        self.members[a] = responders
        for q in committed:
            self.current[q] = a
        for q in responders:
            self.works[q] = q in committed

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        """Return True if the responders are a majority of all processes."""
        return 2 * len(responders) > self.processes

    def list_of(self, p: Process) -> Set[Process]:
        """Return the members of the list that p has committed last."""
        a = self.current[p]
        return self.members[a] if a > 0 else Set() | {q for q in self.each(Process)}


@majority.reading("dynamic")
class ListsDynamic(TokenLists):
    """Reading of the majority test: a majority of the list that the originator has committed last, not of all
    processes.
    """

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        """Return True if `responders` include more than half of the list that p committed last."""
        return 2 * len(responders & self.list_of(p)) > len(self.list_of(p))


class ListsChecked(TokenLists, readings=(majority,)):
    """Token lists, checked for a split of the group."""

    def is_complete(self, a: ListName) -> bool:
        """Return True if every site of list a works in list a, and has no later list."""
        return all(
            self.current[q] == a and self.works[q]
            for q in self.each(Process)
            if a == 0 or q in self.members[a]
        )

    @invariant
    def NoTwoComplete(self) -> bool:
        """Invariant: of two different lists at most one is complete, that is, has all its sites working in
        it.
        """
        return not any(
            a < b and b <= self.begun and self.is_complete(a) and self.is_complete(b)
            for a in self.each(ListName)
            for b in self.each(ListName)
        )

    @invariant
    def InOwnList(self) -> bool:
        """Invariant: a site that works in a list is one of its members."""
        return all(p in self.list_of(p) for p in self.each(Process))

    @witness
    def AllOfAListWork(self) -> bool:
        """Witness: all sites of a list work in it."""
        return any(a > 0 and a <= self.begun and self.is_complete(a) for a in self.each(ListName))

    @witness
    def MinorityWorks(self) -> bool:
        """Witness: all sites of a list work in it, and they are no majority of all processes."""
        return any(
            a > 0 and a <= self.begun and self.is_complete(a) and 2 * len(self.members[a]) <= self.processes
            for a in self.each(ListName)
        )
