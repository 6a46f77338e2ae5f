"""Z3: bounded checks with shortest counterexamples and proofs by k-induction, from the ground form."""

from antiphon.model.symbolic.bounded import check_bounded
from antiphon.model.symbolic.induction import counterexample_to_induction, prove
from antiphon.model.symbolic.search import Progress

__all__ = ["Progress", "check_bounded", "counterexample_to_induction", "prove"]
