"""What is proved by induction, since no exploration reaches it: the bounds of DTP."""

from __future__ import annotations

from typing import Any

from antiphon.conformance.report.words import settings
from antiphon.model.verdict import EvidenceKind
from antiphon.spec.lang import program
from antiphon.spec.protocols.dtp.induction import DtpBounds

__all__ = ["bounds_by_induction"]

BOUNDS = ("AckBound", "StableInTime", "OnlyTheLatest", "OneWithoutANumber")
"""At most n - 1 ACKs; stable after n - 1 more; of MSGs 2n - 2 with a gsn, and one of each sender without."""


def bounds_by_induction() -> tuple[bool, str]:
    """Two processes, three updates, one NULL after each gsn, one loss, any number of timeouts."""
    from antiphon.model.symbolic import prove  # here, because loading Z3 takes longer than many a check

    constants: dict[str, Any] = {"processes": 2, "messages": 3, "losses": 1, "unlimited": True, "nulls": 1}
    verdicts = prove(program(DtpBounds, repairs="all", **constants), properties=BOUNDS).verdicts
    good = all(item.evidence.kind is EvidenceKind.PROVED for item in verdicts)
    said = ", ".join(f"{item.property} {item.outcome.value}" for item in verdicts if item.property in BOUNDS)
    return good, f"{said} ({', '.join(settings(constants))})"
