"""Ledger as data: the claims of the documents, the checks of each claim, and the recorded results."""

from antiphon.spec.claims.claim import (
    Basis,
    Check,
    Claim,
    Document,
    Kind,
    Measurement,
    Proof,
    Source,
    Standing,
)
from antiphon.spec.claims.ledger import all_claims, claim_of, claims_of, families, is_borrowed

__all__ = [
    "Basis", "Check", "Claim", "Document", "Kind", "Measurement", "Proof", "Source", "Standing", "all_claims",
    "claim_of", "claims_of", "families", "is_borrowed",
]  # fmt: skip
