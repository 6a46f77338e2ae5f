"""Seeded random walks over a specification: what they measured, with the property verdicts."""

from antiphon.model.simulate.walk import simulate

__all__ = ["simulate"]
