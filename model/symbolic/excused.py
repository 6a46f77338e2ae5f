"""Is an obligation false for want of budget only? Asked twice: first with states that a spent budget ends counted as met, then without.

What is violated even so is violated. What is violated only without the excuse is not decided: more budget might have met it.
"""

from __future__ import annotations

from collections.abc import Callable

from antiphon.model.budgets import held_back, held_step, short_of_budget
from antiphon.model.symbolic.hunt import Hunt, Progress
from antiphon.model.symbolic.recovery import RecoveryHunt
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import Target


class ExcusedHunt(RecoveryHunt):
    """A search for a state from which one obligation cannot be met any more, and would not be with more budget."""

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        super().__init__(template, group, depth)
        held = held_back(template.program)
        self._strict = None if held is None else RecoveryHunt(template, group, depth)
        if held is not None:
            self.excuse(template.condition(held))

    def run(self, progress: Callable[[Progress], None] | None = None) -> None:
        """Search with the excuse; where that finds nothing, say whether it was needed."""
        super().run(progress)
        if self._strict is None or self.found or self.stopped:
            return
        self._strict.run(progress)
        self.clauses += self._strict.clauses
        self.stopped = self._strict.stopped
        for trace in self._strict.found.values():
            held = held_step(self.template.program, trace.states[-1])
            self.stopped = short_of_budget(len(trace), held).removeprefix("not decided: ")


def hunt_of(template: Template, group: list[Target], depth: int) -> Hunt:
    """The hunt for a group of targets."""
    kind = ExcusedHunt if group[0].kind == "obligation" else Hunt
    return kind(template, group, depth)
