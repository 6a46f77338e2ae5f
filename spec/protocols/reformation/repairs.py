"""Repairs of figures 23 and 24: for each the printed text, its replacement, and the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import action, repair, require
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, Knowledge, ListName, Reformation, Stage
from antiphon.spec.protocols.reformation.normal_phase import NormalPhase
from antiphon.spec.services.events import Process, View


@repair(
    "figure 23, phase III: the version number is modified before the restart there too",
    answers="REF-21",
)
class ModifyAtEveryRestart(Reformation):
    """Repair of figure 23, phase III. Printed: `Wait and Restart`, where phase II has `Modify TL version
    number, Wait and Restart`. Repaired: phase III modifies the version number before the restart too.
    """

    def waits_as(self, p: Process) -> Stage:
        return Stage.waiting


@repair(
    "figure 23, phase II: originator k of n proposes only version numbers that are k modulo n",
    answers="REF-09",
)
class OwnVersions(Reformation):
    """Repair of figure 23, phase III. Printed: `Modify TL version number`, so that two originators may choose
    the same one. Repaired: originator k of n proposes only versions that are k modulo n.
    """

    def modified_version(self, p: Process) -> int:
        return next(
            (v for v in self.each(View) if v > self.highest[p] and (v - 2) % self.processes == p.index),
            self.views + 1,
        )


@repair(
    "section 3.2.3: the greatest knowledge is that of the most recent list, and only within one list of the "
    "highest number",
    answers="REF-11",
)
class MostRecentList(Reformation):
    """Repair of section 3.2.3. Printed: `the process with the most recent committed message`, by message
    number alone. Repaired: the site with the most recent list comes first, and the number decides only within
    one list.
    """

    def list_told(self, p: Process) -> ListName:
        return self.current[p]

    def is_more(self, a: Knowledge, b: Knowledge) -> bool:
        newer = self.version(a.list) > self.version(b.list)
        return newer or (a.list == b.list and a.number > b.number)


@repair(
    "figure 24, phase II: a slave also gives up the numbers that the new token site does not have",
    answers="REF-12",
)
class DropTheRest(NormalPhase):
    """Repair of figure 24, phase II. Printed: `Recover all missing messages`, and nothing about superfluous
    ones. Repaired: a slave also gives up numbers that the new token site does not have.
    """

    def take_over(self, j: Process, s: Process) -> None:
        self.log[j] = self.log[s]


@repair(
    "figure 23, phase III: the originator recovers the missing messages too, before it commits",
    answers="REF-10",
)
class OriginatorRecovers(Reformation):
    """Repair of figure 23, phase III. Printed: `Generate "a New Token" and pass to New Token Site; Commit New
    TL`, so the originator recovers nothing. Repaired: the originator recovers missing messages before it
    commits.
    """

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        require(any(a == self.belongs[p] and self.can_recover(p, a) for a in self.each(Attempt)))
        super().generate_token(p)

    def misses(self, p: Process) -> bool:
        return super().misses(p) or self.stage[p] is Stage.announcing

    def before_commit(self, p: Process, a: Attempt) -> None:
        self.recover(p, a)


REPAIRS = (ModifyAtEveryRestart, OwnVersions, MostRecentList, DropTheRest, OriginatorRecovers)
"""All repairs of figures 23 and 24."""
