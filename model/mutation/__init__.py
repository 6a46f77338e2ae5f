"""Mutants of a specification: its text with one place changed, to see which checks notice the change."""

from antiphon.model.mutation.mutants import LeftOut, Mutant, mutants_of
from antiphon.model.mutation.operators import OPERATORS, Change, changes_of
from antiphon.model.mutation.trial import BOUNDS, FURTHER, Answer, Fate, Trial, is_always_true

__all__ = [
    "BOUNDS", "FURTHER", "OPERATORS", "Answer", "Change", "Fate", "LeftOut", "Mutant", "Trial", "changes_of",
    "is_always_true", "mutants_of",
]  # fmt: skip
