"""Proofs for every n: the intermediate form, whose sizes have no numbers, as first-order logic, and Z3."""

from antiphon.model.proofs.proving import Progress, prove_every
from antiphon.model.proofs.values import Outside

__all__ = ["Outside", "Progress", "prove_every"]
