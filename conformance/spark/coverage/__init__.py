"""Coverage of the runs of a lake: which transitions of a bounded model they have exercised, and which no run
has.

Runs are read as paths of the model (`antiphon.conformance.coverage`) and joined with its transitions on
Spark, as tables of the lake (`joined`).
"""

from antiphon.conformance.spark.coverage.joined import Coverage, Exercised, coverage, rows_of

__all__ = ["Coverage", "Exercised", "coverage", "rows_of"]
