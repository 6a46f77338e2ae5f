"""Refinement: whether every transition of the bounded model, seen through a stated mapping, is a step of an
abstract machine or none.
"""

from antiphon.model.refinement.checking import check_refinement
from antiphon.model.refinement.explain import PROPERTY, Explainer, fails_at_the_end
from antiphon.model.refinement.mapping import Mapper

__all__ = ["PROPERTY", "Explainer", "Mapper", "check_refinement", "fails_at_the_end"]
