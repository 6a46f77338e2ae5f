"""The repairs of figures 23 and 24: what is printed, what is put in its place, and the claim that asks for
it.
"""

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
    """Printed: `Wait and Restart`, where phase II prints `Modify TL version number, Wait and Restart`."""

    def waits_as(self, p: Process) -> Stage:
        return Stage.waiting


@repair(
    "figure 23, phase II: originator k of n proposes only version numbers that are k modulo n",
    answers="REF-09",
)
class OwnVersions(Reformation):
    """Printed: `Modify TL version number`."""

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
    """Printed: `the process with the most recent committed message`."""

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
    """Printed: `Recover all missing messages`."""

    def take_over(self, j: Process, s: Process) -> None:
        self.log[j] = self.log[s]


@repair(
    "figure 23, phase III: the originator recovers the missing messages too, before it commits",
    answers="REF-10",
)
class OriginatorRecovers(Reformation):
    """Printed: `Generate "a New Token" and pass to New Token Site; Commit New TL`."""

    @action(fairness="weak")
    def generate_token(self, p: Process) -> None:
        require(any(a == self.belongs[p] and self.can_recover(p, a) for a in self.each(Attempt)))
        super().generate_token(p)

    def misses(self, p: Process) -> bool:
        return super().misses(p) or self.stage[p] is Stage.announcing

    def before_commit(self, p: Process, a: Attempt) -> None:
        self.recover(p, a)


REPAIRS = (ModifyAtEveryRestart, OwnVersions, MostRecentList, DropTheRest, OriginatorRecovers)
"""All of them."""
