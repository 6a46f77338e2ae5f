"""Readings of figure 25: two places where its columns do not say what belongs to which `if`. The text of
figure25.py has the nesting of figure 16 and of the comments.
"""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.rbp_resilient.figure25 import Number, RbpResilient, Sequenced
from antiphon.spec.services import Process

nesting = ambiguity(
    "nesting",
    "figure 16",
    about="where lines 45-63 belong: after the `if` of lines 35-44, in whose column they stand, as in figure "
    "16, or to the `else` of line 41, since they stand in the column of line 42 too",
)
removing = ambiguity(
    "removing",
    "stable",
    about="what lines 77-78 remove, which stand in the column of line 75: what has become stable, as line 76 "
    "and the comment say, or everything that line 74 finds",
)


@nesting.reading("else")
class NestingElse(RbpResilient):
    """Reading of figure 25: lines 45-63 belong to the `else` of line 41, so the handler ends after lines 38
    and 40, and a token that came after a gap is dropped.
    """

    def go_on_after_gap(self, p: Process) -> None:
        """End the handler after line 38, and drop the token."""
        self.arriving[p] = None

    def give_up_sequencer(self, p: Process) -> None:
        """Give up the sequencer; the handler ends after line 40, while line 51 follows line 50."""
        is_in_loop = self.catching_up[p]
        super().give_up_sequencer(p)
        if is_in_loop:
            self.holding[p] = False


@removing.reading("all")
class RemovingAll(RbpResilient):
    """Reading of figure 25: lines 77-78 stand beside the `if` of line 75, so every message leaves the queues,
    stable or not.
    """

    def leaves_queues(self, p: Process, k: Number) -> bool:
        """Return True: every message leaves the queues."""
        return True

    def keep_stable(self, p: Process, item: Sequenced) -> None:
        """Keep the message of an item in stableQ of p if it is stable (lines 75-76)."""
        if self.is_stable(p, item.number):
            super().keep_stable(p, item)


READINGS = (nesting, removing)
"""Both readings."""
