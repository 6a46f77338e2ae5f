"""Guards of figures 23 and 24, and of the normal phase, left out one by one, to see what each is good for."""

from __future__ import annotations

from antiphon.spec.lang import Set, action, mutation, require
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, ListName, Reformation, Stage
from antiphon.spec.protocols.reformation.normal_phase import NormalPhase
from antiphon.spec.services.events import Process


@mutation("a site goes on with its old list while it is in Reformation")
class WorkMeanwhile(Reformation):
    """Section 3.2.3: `the reformation phase is blocking`."""

    def works(self, p: Process) -> bool:
        """Always."""
        return True


@mutation("a New Token is accepted though k no longer belongs to the list")
class AcceptAnyToken(Reformation):
    """Figure 24, phase III: `and j still belongs to this list`."""

    @action(fairness="weak")
    def accept_token(self, k: Process) -> None:
        """Only the list that k has committed counts."""
        require(self.stage[k] is not Stage.normal and self.is_site(k, self.current[k]))
        require(any(a == self.current[k] and self.tokens[a] for a in self.each(Attempt)))
        self.belongs[k] = 0
        self.stage[k] = Stage.normal


@mutation("a New TL is announced without a majority")
class AnyNumber(Reformation):
    """Majority test."""

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        """Always."""
        return True


@mutation("a list with any version number is joined")
class AnyVersion(Reformation):
    """Sequence test."""

    def passes_sequence_test(self, j: Process, a: Attempt) -> bool:
        """Always."""
        return True


@mutation("any responder becomes the new token site, as figures 23 and 24 by themselves say")
class AnySite(Reformation):
    """Section 3.2.3: `the process with the greatest knowledge from the previous list`."""

    def is_greatest(self, p: Process, responders: Set[Process], s: Process) -> bool:
        """Planted fault: nobody is compared."""
        return True


@mutation("a slave does not recover what it misses")
class RecoverNothing(NormalPhase):
    """Figure 24, phase II: `Recover all missing messages`."""

    def take_over(self, j: Process, s: Process) -> None:
        """Planted fault: nothing changes."""


@mutation("what comes from another list is taken")
class MixLists(NormalPhase):
    """Section 3.2.3: `each message is tagged by the “token list version”`."""

    def is_of_list(self, p: Process, q: Process) -> bool:
        """Always."""
        return True


@mutation("a slave waits on though its originator has failed")
class WaitForTheFailed(Reformation):
    """Figure 24, phase II: `or TIMEOUTj`."""

    def has_left(self, q: Process, a: ListName) -> bool:
        """Only who has left is gone."""
        return self.belongs[q] != a


MUTATIONS_OF_FIGURES = (WorkMeanwhile, AcceptAnyToken, AnyNumber, AnyVersion, AnySite, WaitForTheFailed)
"""Planted faults of figures 23 and 24."""

MUTATIONS = (*MUTATIONS_OF_FIGURES, RecoverNothing, MixLists)
"""All of them."""
