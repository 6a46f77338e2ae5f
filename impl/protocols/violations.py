"""A core counts what no correct member says, tells its tracer, and knows whether there is still one order.

This module must not know a protocol.
"""

from __future__ import annotations

from collections import Counter

from antiphon.impl import tracing
from antiphon.impl.errors import Violation
from antiphon.impl.tracing import Tracer

__all__ = ["CountsViolations"]


class CountsViolations:
    """What every core does with a message that is ignored; the core is process `me` and has a tracer."""

    me: int
    _tracer: Tracer
    _violations: Counter[Violation]

    @property
    def violations(self) -> Counter[Violation]:
        """How often a member said what no correct member says, by kind; a copy."""
        return self._violations.copy()

    @property
    def broken(self) -> Violation | None:
        """The first violation that proves two orders."""
        return next((kind for kind in self._violations if kind.breaks_order), None)

    def _violated(self, kind: Violation, sender: int, message: object) -> None:
        self._violations[kind] += 1
        if self._tracer.recording:
            detail = repr(message)[: tracing.DETAIL_MAX]
            self._tracer.record(tracing.Violation(self.me, kind, sender, detail))
