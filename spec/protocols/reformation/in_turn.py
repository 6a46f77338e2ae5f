"""Figures 23 and 24, repaired, as an implementation takes their steps: with two choices that they leave open.

1. Of several sites with the greatest knowledge the first is the new token site.
2. The new token site has agreed, or has made the list, before another site recovers from it: it answers when
   it knows that it is the site.

Each run of this specification is a run of figures 23 and 24.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, constraint
from antiphon.spec.protocols.reformation.bounds import ReformationBounded
from antiphon.spec.services.events import Process


class ReformationInTurn(ReformationBounded):
    """Reformation over the abstract normal phase, with the choices of an implementation."""

    @constraint("announce")
    def is_first_of_the_greatest(self, p: Process, responders: Set[Process], site: Process) -> bool:
        """Bound: no responder before `site` has as much knowledge as it."""
        return self.belongs[p] == 0 or not any(
            q < site and self.is_greatest(p, responders, q) for q in responders
        )

    @constraint("agree")
    def knows_its_site(self, j: Process) -> bool:
        """Bound: j is the new token site, or that site has agreed to the list, or has made it."""
        a = self.belongs[j]
        return any(
            self.is_site(s, a)
            and (s == j or self.current[s] == a or (self.has_begun(s, a) and self.belongs[s] == a))
            for s in self.each(Process)
        )
