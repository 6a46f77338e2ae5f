"""The ledger as data: what the documents claim, how each claim is checked, and what came out."""

from antiphon.spec.claims.claim import Basis, Check, Claim, Document, Kind, Measurement, Source, Standing
from antiphon.spec.claims.ledger import all_claims, claim_of, claims_of, families, is_borrowed

__all__ = [
    "Basis", "Check", "Claim", "Document", "Kind", "Measurement", "Source", "Standing", "all_claims",
    "claim_of", "claims_of", "families", "is_borrowed",
]  # fmt: skip
