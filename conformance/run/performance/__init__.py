"""Costs of a total order for a group under a Poisson load, in virtual time, as in Kim and Kim 1997, section
5.

`simulate` runs one point with the real cores, `sweep` many, and `on_spark` the same on Spark; `theory` has
the computed values, `sentences` the paper's sentences about its figures, `page` writes docs/dtp-figures.md.
"""

from __future__ import annotations

from antiphon.conformance.run.performance.group import simulate
from antiphon.conformance.run.performance.meter import Result
from antiphon.conformance.run.performance.setting import PROTOCOLS, Setting

__all__ = ["PROTOCOLS", "Result", "Setting", "simulate"]
