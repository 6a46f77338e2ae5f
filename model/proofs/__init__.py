"""Proofs for every n: the intermediate form with symbolic sizes becomes first-order logic, which
Z3 decides.
"""

from antiphon.model.proofs.proving import Progress, prove_every
from antiphon.model.proofs.values import Outside

__all__ = ["Outside", "Progress", "prove_every"]
