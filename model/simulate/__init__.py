"""Seeded random walks over a specification, with measured verdicts about its properties."""

from antiphon.model.simulate.walk import simulate

__all__ = ["simulate"]
