"""Readings of figures 32 and 34 together: what happens to early messages, which processes the conservative
detector watches, which process an external one asks, and how it gives up.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, action, ambiguity, environment, everywhere, require
from antiphon.spec.protocols.irbp.figure32 import Phase, ViewChange
from antiphon.spec.protocols.irbp.two_views import TwoViews
from antiphon.spec.services import Process, View

early = ambiguity(
    "early",
    "kept",
    about="a call or a report for TL_i comes to a process that has not installed TL_i: it is kept until "
    "then, or dropped, as figure 25 drops what belongs to another list (lines 19 and 27)",
)

watching = ambiguity(
    "watching",
    "group",
    about="whom the conservative detector watches: all of the group, `when a failure detector with "
    "conservative timeouts suspects a process` (section 4.4.5), or the core, `some process in TL_i` (figure "
    "32)",
)

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


@early.reading("dropped")
class DropsEarly(ViewChange):
    """Reading of figure 32: a call or report for the list after TL_p is dropped; nobody sends it again."""

    unread: Map[Process, Map[Process, View | None]] = everywhere(everywhere(None))
    uncalled: Map[Process, View | None] = everywhere(None)

    @environment
    def drop_call(self, p: Process) -> None:
        """Drop the call for a list that p has not installed yet."""
        require(self.version[p] < self.views)
        require(self.is_next_list_of(p, self.version[p] + 1) and self.called[self.version[p] + 1])
        require(self.uncalled[p] != self.version[p] + 1)
        self.uncalled[p] = self.version[p] + 1

    @environment
    def drop_report(self, p: Process, q: Process) -> None:
        """Drop the report of q, which p cannot use because it has not installed q's list yet."""
        require(self.version[q] == self.version[p] + 1 and self.is_next_list_of(p, self.version[q]))
        require(self.phase[q] != Phase.normal and self.unread[p][q] != self.version[q])
        self.unread[p][q] = self.version[q]

    def is_next_list_of(self, p: Process, v: View) -> bool:
        """Return True if p is up, and a member of list v, whether or not p is in the list before v."""
        return not self.is_gone(p) and p in self.listed[v]

    @action(fairness="weak")
    def report(self, p: Process) -> None:
        """Report, if p has not dropped the call."""
        require(self.uncalled[p] != self.version[p])
        super().report(p)

    def has_reported(self, q: Process, p: Process) -> bool:
        """Return True if p has the report of q and has not dropped it."""
        return super().has_reported(q, p) and self.unread[p][q] != self.version[p]


@watching.reading("core")
class WatchesCore(TwoViews):
    """Reading of section 4.4.5: a process watches the core only, since section 4.4.2 with figure 32 knows no
    external processes.
    """

    def is_watched(self, p: Process, q: Process) -> bool:
        """Return True if q belongs to the core."""
        return q in self.token_list(p)


@giving_up.reading("leave")
class LeavesFirst(TwoViews):
    """Reading of section 4.4.3: a process that gives up first calls a view change by R-Broadcast
    (reformation, i), and then leaves.
    """

    def leaves_first(self) -> bool:
        return True

    def give_up(self, p: Process) -> None:
        self.reformed[self.version[p]] = True
        super().give_up(p)


@refusing.reading("all")
class AsksAll(TwoViews):
    """Reading of section 4.4.3: p gives up only when no member of the core can still send what p misses."""

    def refuses(self, p: Process, q: Process) -> bool:
        return super().refuses(p, q) and not any(
            r in self.token_list(p) and self.may_send(p, r) for r in self.each(Process)
        )

    def may_send(self, p: Process, r: Process) -> bool:
        """Return True if r may still send the message that p misses: r uses another list, has not made the
        message stable yet, or has kept it.
        """
        k = self.first_missed(p)
        return not self.is_gone(r) and (
            not self.is_with(r, p) or k is None or k > self.settled(r) or self.has_kept(r, k)
        )
