"""Budget-limited states in symbolic searches: an obligation that is false for want of budget only is not
decided, nor is a deadlock.

The search is made twice: first with budget-limited states counted as fulfilled, then without.

A violation in the first search counts. One that only the second search finds is undecided: more budget might
have fulfilled the obligation.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.model.bounds import Stop, StopReason, Violated
from antiphon.model.ground.budgets import budget_blocked_step, held_back, short_of_budget
from antiphon.model.symbolic.recovery import RecoverySearch
from antiphon.model.symbolic.search import Progress, Search
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import Target
from antiphon.model.verdict import PropertyKind


class BudgetLimitedSearch(RecoverySearch):
    """Search for a state from which one obligation cannot be fulfilled, and could not be if budgets were
    larger.
    """

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        super().__init__(template, group, depth)
        held = held_back(template.program)
        self._strict = None if held is None else RecoverySearch(template, group, depth)
        if held is not None:
            self.count_as_met(template.condition(held))

    def run(
        self, progress: Callable[[Progress], None] | None = None, violated: Violated | None = None
    ) -> None:
        """Search for the obligation, counting states in which only a budget blocks a step as fulfilled. If
        nothing is found, find out whether that made a difference.
        """
        super().run(progress, violated)
        _ask_strictly(self, self._strict, progress, "it is false")


class BudgetLimitedDeadlock(Search):
    """Search for a state in which nothing but faults can happen, and nothing could happen if budgets were
    larger.
    """

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        super().__init__(template, group, depth)
        held = held_back(template.program)
        self._strict = None if held is None else Search(template, group, depth)
        if held is not None:
            self.unless = template.condition(held)

    def run(
        self, progress: Callable[[Progress], None] | None = None, violated: Violated | None = None
    ) -> None:
        """Search without budget-limited states; if that finds nothing, say whether a budget-limited one is
        quiescent.
        """
        super().run(progress, violated)
        _ask_strictly(self, self._strict, progress, "nothing but faults can happen")


def search_for(template: Template, group: list[Target], depth: int) -> Search:
    """Return the search for a group of targets that are judged together."""
    kinds = {PropertyKind.OBLIGATION: BudgetLimitedSearch, PropertyKind.DEADLOCK: BudgetLimitedDeadlock}
    return kinds.get(group[0].kind, Search)(template, group, depth)


def _ask_strictly(
    search: Search, strict: Search | None, progress: Callable[[Progress], None] | None, what: str
) -> None:
    """Search again without regard to budgets, if a search found nothing; say whether budget-limited states
    alone were found.
    """
    if strict is None or search.found or search.stopped:
        return
    strict.run(progress)
    search.clauses += strict.clauses
    search.stopped = strict.stopped
    for trace in strict.found.values():
        held = budget_blocked_step(search.template.program, trace.states[-1])
        said = short_of_budget(len(trace), held, what).removeprefix("not decided: ")
        search.stopped = Stop(StopReason.UNDECIDED, said)
