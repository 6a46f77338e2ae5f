"""Planted faults of figures 23 and 24 and of the normal phase: each leaves out one guard, to show which
property needs it.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, mutation, require
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, ListName, Reformation, Stage
from antiphon.spec.protocols.reformation.normal_phase import NormalPhase
from antiphon.spec.services.events import Process


@mutation("a site goes on with its old list while it is in Reformation")
class WorkMeanwhile(Reformation):
    """Planted fault in Reformation: a site goes on with its old list during Reformation. Printed and correct,
    section 3.2.3: `the reformation phase is blocking`.
    """

    def works(self, p: Process) -> bool:
        """Return True: a site always works."""
        return True


@mutation("a New Token is accepted though k no longer belongs to the list")
class AcceptAnyToken(Reformation):
    """Planted fault in Reformation, figure 24, phase III: a site accepts a New Token though it has left the
    list meanwhile. Printed and correct: `and j still belongs to this list`.
    """

    @action(fairness="weak")
    def accept_token(self, k: Process) -> None:
        """Accept the New Token at k, which committed the list, without asking whether k still belongs to
        it.
        """
        require(self.stage[k] is not Stage.normal and self.is_site(k, self.current[k]))
        require(any(a == self.current[k] and self.tokens[a] for a in self.each(Attempt)))
        self.belongs[k] = 0
        self.stage[k] = Stage.normal


@mutation("a New TL is announced without a majority")
class AnyNumber(Reformation):
    """Planted fault in Reformation: an originator announces a list without the majority test."""

    def has_majority(self, p: Process, responders: Set[Process]) -> bool:
        """Return True: any set of responders counts as a majority."""
        return True


@mutation("a list with any version number is joined")
class AnyVersion(Reformation):
    """Planted fault in Reformation: a site joins a list with any version number, without the
    sequence test.
    """

    def passes_sequence_test(self, j: Process, a: Attempt) -> bool:
        """Return True: every version passes the sequence test."""
        return True


@mutation("any responder becomes the new token site, as figures 23 and 24 by themselves say")
class AnySite(Reformation):
    """Planted fault in Reformation: any responder becomes the new token site. Printed and correct, section
    3.2.3: `the process with the greatest knowledge from the previous list`.
    """

    def is_greatest(self, p: Process, responders: Set[Process], s: Process) -> bool:
        """Return True: any responder s counts as the one with the most knowledge."""
        return True


@mutation("a slave does not recover what it misses")
class RecoverNothing(NormalPhase):
    """Planted fault in Reformation, figure 24, phase II: a slave recovers nothing. Printed and correct:
    `Recover all missing messages`.
    """

    def take_over(self, j: Process, s: Process) -> None:
        """Do nothing, in place of recovering messages."""


@mutation("what comes from another list is taken")
class MixLists(NormalPhase):
    """Planted fault in the normal phase: messages of other token lists are taken. Printed and correct,
    section 3.2.3: `each message is tagged by the “token list version”`.
    """

    def is_of_list(self, p: Process, q: Process) -> bool:
        """Return True: every message counts as one of p's list."""
        return True


@mutation("a slave waits on though its originator has failed")
class WaitForTheFailed(Reformation):
    """Planted fault in Reformation, figure 24, phase II: a slave waits on after its originator has failed.
    Printed and correct: `or TIMEOUTj` ends the wait.
    """

    def has_left(self, q: Process, a: ListName) -> bool:
        """Return True only if q belongs to another attempt than a; a site that has failed does not count as
        having left.
        """
        return self.belongs[q] != a


MUTATIONS_OF_FIGURES = (WorkMeanwhile, AcceptAnyToken, AnyNumber, AnyVersion, AnySite, WaitForTheFailed)
"""Planted faults of figures 23 and 24."""

MUTATIONS = (*MUTATIONS_OF_FIGURES, RecoverNothing, MixLists)
"""All planted faults of this module."""
