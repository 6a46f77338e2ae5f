"""Ledger runner: runs every recorded check again, and compares the results with the record."""

from antiphon.conformance.ledger.checking import CheckResult, ClaimResult, program_of, run_ledger
from antiphon.conformance.ledger.report_cache import Reports

__all__ = ["CheckResult", "ClaimResult", "Reports", "program_of", "run_ledger"]
