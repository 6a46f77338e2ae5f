"""Mutation strength: whether mutants of a specification can make each check fail that is recorded to hold."""

from antiphon.conformance.ledger.strength.answers import Answers
from antiphon.conformance.ledger.strength.asking import SEED, strength
from antiphon.conformance.ledger.strength.document import Section
from antiphon.conformance.ledger.strength.programs import checks_that_hold, is_text, meaning_of
from antiphon.conformance.ledger.strength.results import (
    FamilyStrength,
    GuardTally,
    Strength,
    Survivor,
    Tally,
    UnnoticedGuard,
)

__all__ = [
    "SEED", "Answers", "FamilyStrength", "GuardTally", "Section", "Strength", "Survivor", "Tally",
    "UnnoticedGuard", "checks_that_hold", "is_text", "meaning_of", "strength",
]  # fmt: skip
