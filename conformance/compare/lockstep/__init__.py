"""Lockstep: specification and implementation, walked together through every transition and compared after
each step.
"""

from antiphon.conformance.compare.lockstep.comparison import (
    LOCKSTEP,
    UNSTEADY,
    Comparison,
    Difference,
    Differs,
)
from antiphon.conformance.compare.lockstep.report import LockstepReport
from antiphon.conformance.compare.lockstep.walk import lockstep

__all__ = ["LOCKSTEP", "UNSTEADY", "Comparison", "Difference", "Differs", "LockstepReport", "lockstep"]
