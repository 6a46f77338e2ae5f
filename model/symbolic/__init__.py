"""Z3 answers: bounded checks with shortest counterexamples, and proofs by k-induction, from the ground form."""

from antiphon.model.symbolic.bounded import check_bounded
from antiphon.model.symbolic.hunt import Progress
from antiphon.model.symbolic.induction import prove

__all__ = ["Progress", "check_bounded", "prove"]
