"""Hypothesis state machines made from a specification and a binding; the failures that they find are
shortened.
"""

from antiphon.conformance.compare.stateful.machine import StatefulReport, run_stateful, state_machine
from antiphon.conformance.compare.stateful.run import Tally
from antiphon.conformance.compare.stateful.shorten import shorten

__all__ = ["StatefulReport", "Tally", "run_stateful", "shorten", "state_machine"]
