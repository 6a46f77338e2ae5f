"""Two restrictions under which Reformation over figure 25 comes to an end: its timers are long enough, and
originators do not compete.

The figures promise neither; section 4.4 says what follows: "this events can force new rounds of the
reformation phase".
"""

from __future__ import annotations

from antiphon.spec.lang import Set, constraint, restriction
from antiphon.spec.protocols.reformation.figures23_24 import Attempt
from antiphon.spec.protocols.reformation.over_figure25 import OverFigure25
from antiphon.spec.services import Process


@restriction(
    "no timer expires before all answers, and the New Token, have come that will come; no invitation comes "
    "when its list is announced, or to who has joined it"
)
class LongTimers(OverFigure25):
    """Restriction on the timers of figures 23 and 24 (TIMEOUT_i, TIMEOUT_j, TIMEOUT_k) and of figure 25, line
    70: none expires while an answer or the New Token can still come.
    """

    @constraint("time_out")
    def is_due(self) -> bool:
        """Bound: this step never happens, so no timer expires while the awaited message may still come."""
        return False

    @constraint("detect_inactivity")
    def no_list_is_made(self) -> bool:
        """Bound: no live site is making a list, whose token would show activity."""
        return not any(self.is_at_it(q) and not self.down[q] for q in self.each(Process))

    @constraint("announce")
    def hears_all(self, p: Process, responders: Set[Process]) -> bool:
        """Bound: no vote can still come, and all sites that have voted are among the responders."""
        a = self.belongs[p]
        return not self.awaits_a_vote(p) and all(
            q in responders or not self.has_voted(a, q) for q in self.each(Process)
        )

    @constraint("give_up")
    def has_waited(self, p: Process) -> bool:
        """Bound: no vote can still come, and the votes that came do not suffice to announce a list."""
        return not self.awaits_a_vote(p) and not self.can_announce(p)

    @constraint("refuse")
    def comes_in_time(self, j: Process, a: Attempt) -> bool:
        """Return True if the invitation of attempt a reaches j in time: j has not received it yet, and the
        originator still waits for votes.
        """
        return self.belongs[j] != a and self.new_list[a] is None

    def awaits_a_vote(self, p: Process) -> bool:
        """Return True if p is an originator in phase I, and a site that is up will vote "Yes"."""
        return any(
            a == self.belongs[p] and self.has_begun(p, a) and self.new_list[a] is None
            and not self.down[q] and self.is_invited(q, a)
            and self.may_join(q, a)
            for a in self.each(Attempt)
            for q in self.each(Process)
        )  # fmt: skip

    def can_announce(self, p: Process) -> bool:
        """Return True if p is an originator in phase I, and has the votes of a majority."""
        return any(
            a == self.belongs[p] and self.has_begun(p, a) and self.new_list[a] is None
            and len(self.refusals[a]) == 0
            and self.has_majority(p, self.voters(p, a))
            for a in self.each(Attempt)
        )  # fmt: skip

    def voters(self, p: Process, a: Attempt) -> Set[Process]:
        """Return p and the sites that have voted for its attempt a."""
        return Set() | {q for q in self.each(Process) if q == p or self.has_voted(a, q)}


@restriction("nobody becomes an originator while another one, which is up, makes a list")
class OneOriginator(OverFigure25):
    """Restriction: no site becomes an originator while another one that is up makes a list; the figures do
    not guarantee this (REF-04).
    """

    @constraint("invite")
    def is_alone(self) -> bool:
        """Bound: no other originator that is up is making a list."""
        return not any(
            self.is_at_it(q) and not self.down[q] and any(self.has_begun(q, a) for a in self.attempts_of(q))
            for q in self.each(Process)
        )

    def attempts_of(self, q: Process) -> Set[Attempt]:
        """Return the attempt that q belongs to, as a set."""
        return Set() | {a for a in self.each(Attempt) if a == self.belongs[q]}
