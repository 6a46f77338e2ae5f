"""Coverage: transitions of a bounded model that runs of the real cores have exercised, and transitions that
no run has.

A run is read as a path of the model (`steps`), the model is explored once (`model`), and the two are joined
on Spark, as tables of a lake (`joined`).
"""

from antiphon.conformance.spark.coverage.joined import Coverage, Exercised, coverage, rows_of
from antiphon.conformance.spark.coverage.model import Model
from antiphon.conformance.spark.coverage.steps import Path, Reader, Transition

__all__ = ["Coverage", "Exercised", "Model", "Path", "Reader", "Transition", "coverage", "rows_of"]
