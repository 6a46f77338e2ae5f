"""Grounding of the intermediate form: a step becomes boolean, number and bit-set expressions over numbered
slots, with all domains bound.
"""

from antiphon.model.ground.evaluate import Evaluator, Taken, step
from antiphon.model.ground.execute import GroundPredicate, ground, ground_formula, ground_predicate
from antiphon.model.ground.layout import flatten, ground_initial, layout, unflatten
from antiphon.model.ground.run import LargeStep

__all__ = [
    "Evaluator", "GroundPredicate", "LargeStep", "Taken", "flatten", "ground", "ground_formula",
    "ground_initial", "ground_predicate",
    "layout", "step", "unflatten",
]  # fmt: skip
