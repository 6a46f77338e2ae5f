"""Do other checkers see what ours sees? Exported models run in them, and the counts and verdicts are compared."""

from antiphon.conformance.exports.compare import Comparison, Model, compare, small_models
from antiphon.conformance.exports.spin import SpinRun, ToolMissing, find_tools, run_spin

__all__ = ["Comparison", "Model", "SpinRun", "ToolMissing", "compare", "find_tools", "run_spin", "small_models"]
