"""Liveness: a property holds on every fair run, or a fair lasso violates it: a way to a cycle on which the
goal never comes.

`judge` judges the liveness properties that `declared` returns, or that `question` states from outside, by the
names of predicates.
"""

from antiphon.model.explore.liveness.confirmation import shows_lasso
from antiphon.model.explore.liveness.fairness import Fairness, fair_on
from antiphon.model.explore.liveness.judge import judge, refuse_members
from antiphon.model.explore.liveness.questions import Question, declared, question

__all__ = [
    "Fairness", "Question", "declared", "fair_on", "judge", "question", "refuse_members", "shows_lasso",
]  # fmt: skip
