"""TOTAL, judged view by view by the service of view synchrony: TOTAL and the application install a view at
the same time.

Source: Cornell, "JavaGroups TOTAL", sections View Changes ("messages sent in a certain view may only be
received in that view (virtual synchrony)") and Future Improvements (a flush protocol).
"""

from __future__ import annotations

from antiphon.spec.lang import emit
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.services import Install, Process, ViewSynchrony


class TotalInViews(TotalBounded, ViewSynchrony):
    """TOTAL over a group that changes its view; requests and multicasts of earlier views stay in the
    network.
    """

    def install(self, p: Process) -> None:
        """Install the view at p (VIEW_CHANGE)."""
        super().install(p)
        emit(Install(p, self.installed[p], self.members_of(self.installed[p])))
