"""What is open where figures 32 and 34 meet: whom an external process asks, and how it gives up."""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.irbp.two_views import TwoViews
from antiphon.spec.services import Process

giving_up = ambiguity(
    "giving_up",
    "suicide",
    about="a process that cannot acquire what it missed commits suicide (section 4.4.3), or executes leave "
    "before (section 4.4.5, `a fair behavior`)",
)

refusing = ambiguity(
    "refusing",
    "one",
    about="`if core member sends a no more in the buffers message`: one member is asked, or all are",
)


@giving_up.reading("leave")
class LeavesFirst(TwoViews):
    """The group is told: R-Broadcast (reformation, i)."""

    def leaves_first(self) -> bool:
        return True

    def give_up(self, p: Process) -> None:
        self.reformed[self.version[p]] = True
        super().give_up(p)


@refusing.reading("all")
class AsksAll(TwoViews):
    """P gives up when every member of the core has had what p misses, and keeps it no more."""

    def refuses(self, p: Process, q: Process) -> bool:
        return super().refuses(p, q) and not any(
            r in self.token_list(p) and self.may_send(p, r) for r in self.each(Process)
        )

    def may_send(self, p: Process, r: Process) -> bool:
        """R has not answered yet, or will have what p misses first, or has kept it."""
        k = self.first_missed(p)
        return not self.is_gone(r) and (
            not self.is_with(r, p) or k is None or k > self.settled(r) or self.has_kept(r, k)
        )
