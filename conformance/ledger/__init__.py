"""Runs the ledger: every recorded check again, compared with what is recorded."""

from antiphon.conformance.ledger.checking import CheckResult, ClaimResult, program_of, run_ledger

__all__ = ["CheckResult", "ClaimResult", "program_of", "run_ledger"]
