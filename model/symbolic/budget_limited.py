"""An obligation that is false for want of budget only is not decided.

The search is made twice: first with budget-limited states counted as met, then without.

What is violated even so is violated. What is violated only when they do not count is not decided: more budget
might have met it.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.model.bounds import Stop, StopReason, Violated
from antiphon.model.ground.budgets import held_back, held_step, short_of_budget
from antiphon.model.symbolic.recovery import RecoverySearch
from antiphon.model.symbolic.search import Progress, Search
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import Target
from antiphon.model.verdict import PropertyKind


class BudgetLimitedSearch(RecoverySearch):
    """A search for a state from which one obligation cannot be met, and would not be with more budget."""

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        super().__init__(template, group, depth)
        held = held_back(template.program)
        self._strict = None if held is None else RecoverySearch(template, group, depth)
        if held is not None:
            self.count_as_met(template.condition(held))

    def run(
        self, progress: Callable[[Progress], None] | None = None, violated: Violated | None = None
    ) -> None:
        """Search with budget-limited states as met; where that finds nothing, say whether it was needed."""
        super().run(progress, violated)
        if self._strict is None or self.found or self.stopped:
            return
        self._strict.run(progress)
        self.clauses += self._strict.clauses
        self.stopped = self._strict.stopped
        for trace in self._strict.found.values():
            held = held_step(self.template.program, trace.states[-1])
            said = short_of_budget(len(trace), held).removeprefix("not decided: ")
            self.stopped = Stop(StopReason.UNDECIDED, said)


def search_for(template: Template, group: list[Target], depth: int) -> Search:
    """The search for a group of targets."""
    kind = BudgetLimitedSearch if group[0].kind is PropertyKind.OBLIGATION else Search
    return kind(template, group, depth)
