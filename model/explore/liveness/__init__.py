"""Liveness: what shall come about does so on every fair run, or a fair lasso shows it: a way to a cycle that
never brings it about.

`judge` answers for the liveness properties that `declared` gives, or that `question` states from outside, by
the names of predicates.
"""

from antiphon.model.explore.liveness.fairness import Fairness, fair_on
from antiphon.model.explore.liveness.judge import judge, refuse_members
from antiphon.model.explore.liveness.questions import Question, declared, question
from antiphon.model.explore.liveness.shown import shows_lasso

__all__ = [
    "Fairness", "Question", "declared", "fair_on", "judge", "question", "refuse_members", "shows_lasso",
]  # fmt: skip
