"""Liveness: what shall come about does so on every fair run, or a fair lasso shows it: a way to a cycle that
never brings it about.

`judge` answers for the liveness properties that `declared` gives, or that `leads_to`, `eventually` and
`always_eventually` state from outside, by the names of predicates.
"""

from antiphon.model.explore.liveness.fairness import Fairness, fair_on
from antiphon.model.explore.liveness.judge import judge
from antiphon.model.explore.liveness.questions import (
    Question,
    always_eventually,
    declared,
    eventually,
    leads_to,
)
from antiphon.model.explore.liveness.shown import shows_lasso

__all__ = [
    "Fairness", "Question", "always_eventually", "declared", "eventually", "fair_on", "judge", "leads_to",
    "shows_lasso",
]  # fmt: skip
