"""Replay of a saved trace: on the specification, on the implementation, or as a regression test."""

from antiphon.conformance.compare.replay.regression import regression_test
from antiphon.conformance.compare.replay.rerun import (
    NotBound,
    Replayed,
    binding_for,
    in_virtual_time,
    on_implementation,
    on_named,
    on_specification,
)

__all__ = [
    "NotBound", "Replayed", "binding_for", "in_virtual_time", "on_implementation", "on_named",
    "on_specification", "regression_test",
]  # fmt: skip
