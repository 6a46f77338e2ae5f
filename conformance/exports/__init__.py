"""Exports to other checkers: the exported models run there, and counts and verdicts are compared
with ours.
"""

from antiphon.conformance.exports.compare import Comparison, Model, compare, small_models
from antiphon.conformance.exports.members import seen_members
from antiphon.conformance.exports.spin import SpinFailure, SpinRun, ToolMissing, find_tools, run_spin

__all__ = [
    "Comparison",
    "Model",
    "SpinFailure",
    "SpinRun",
    "ToolMissing",
    "compare",
    "find_tools",
    "run_spin",
    "seen_members",
    "small_models",
]
