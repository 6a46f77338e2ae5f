"""Hypothesis state machines are made from a specification and a binding, and what they find is shortened."""

from antiphon.conformance.compare.stateful.machine import StatefulReport, run_stateful, state_machine
from antiphon.conformance.compare.stateful.run import Tally
from antiphon.conformance.compare.stateful.shorten import shorten

__all__ = ["StatefulReport", "Tally", "run_stateful", "shorten", "state_machine"]
