"""Liveness: what shall come about does so on every fair run, or a fair lasso shows it: a way to a cycle that never brings it about.

`judge` answers for a program's promises; `leads_to`, `eventually` and `always_eventually` ask from outside, by the names of predicates.
"""

from antiphon.model.explore.liveness.fairness import Fairness, fair_on
from antiphon.model.explore.liveness.judge import judge
from antiphon.model.explore.liveness.questions import Question, always_eventually, eventually, leads_to, promised
from antiphon.model.explore.liveness.shown import shows_lasso

__all__ = [
    "Fairness", "Question", "always_eventually", "eventually", "fair_on", "judge", "leads_to", "promised", "shows_lasso",
]  # fmt: skip
