"""Liveness: does what is promised come about on every fair run? If not, a fair lasso shows it: a way to a cycle that never brings it about.

`judge` answers for a program's promises; `leads_to`, `eventually` and `always_eventually` ask from outside, by the names of predicates.
"""

from antiphon.model.liveness.fairness import Fairness, fair_on
from antiphon.model.liveness.judge import LIVENESS, judge
from antiphon.model.liveness.questions import Question, always_eventually, eventually, leads_to, promised
from antiphon.model.liveness.shown import shows_lasso

__all__ = [
    "LIVENESS", "Fairness", "Question", "always_eventually", "eventually", "fair_on", "judge", "leads_to", "promised", "shows_lasso",
]  # fmt: skip
