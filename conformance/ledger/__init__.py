"""Runs the ledger: every recorded check again, compared with what is recorded."""

from antiphon.conformance.ledger.checking import CheckResult, ClaimResult, program_of, run_ledger
from antiphon.conformance.ledger.kept import Reports

__all__ = ["CheckResult", "ClaimResult", "Reports", "program_of", "run_ledger"]
