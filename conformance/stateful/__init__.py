"""Hypothesis state machines are made from a specification and a binding, and what they find is shortened."""

from antiphon.conformance.stateful.machine import StatefulReport, run_stateful, state_machine
from antiphon.conformance.stateful.run import Tally
from antiphon.conformance.stateful.shorten import shorten

__all__ = ["StatefulReport", "Tally", "run_stateful", "shorten", "state_machine"]
