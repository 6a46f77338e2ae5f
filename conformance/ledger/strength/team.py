"""Team of processes that check mutants: each has one program at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from antiphon.conformance.children import done_by_children
from antiphon.conformance.ledger.strength.plan import Found, Plan, Tell

__all__ = ["Team", "rounds"]

Work = Callable[["Plan", Tell], object]


class Team:
    """Team of processes that check the mutants of programs; with one job the work is done in this process."""

    working: ClassVar[tuple[Sequence[Plan], Work]]
    """The work of the processes that are being started."""

    def __init__(self, total: int, jobs: int, progress: Callable[[int, int, str], None] | None) -> None:
        self.jobs = jobs
        self._progress = progress or (lambda *_: None)
        self._asked, self._total = 0, total

    def all_do(self, plans: Sequence[Plan], work: Work) -> None:
        """Perform `work` on each of these plans, in the team's processes."""
        if (jobs := min(self.jobs, len(plans))) == 1:
            for plan in plans:
                self._do(plan, work)
            return
        Team.working = plans, work
        for plan, found in zip(
            plans, done_by_children(jobs, "fork", _worked, range(len(plans))), strict=True
        ):
            self._tell(plan.program.name, found.read + found.asked - plan.found.read - plan.found.asked)
            plan.found = found

    def _do(self, plan: Plan, work: Work) -> None:
        work(plan, lambda mutant: self._tell(f"{plan.program.name} {mutant}"))
        plan.end_trial()

    def _tell(self, what: str, asked: int = 1) -> None:
        self._progress(min(self._asked, self._total), self._total, what)
        self._asked += asked


def _worked(number: int) -> Found:
    """Do the team's work for one program in a child process, and return the results; `number` is the index of
    the program's plan.
    """
    plans, work = Team.working
    work(plans[number], lambda _: None)
    plans[number].end_trial()
    return plans[number].found


def rounds(plans: Sequence[Plan]) -> Iterator[Sequence[Plan]]:
    """Yield rounds of one program, the next two, the next four: later rounds first check mutants that broke a
    property in earlier ones.
    """
    begin = 0
    while begin < len(plans):
        yield plans[begin : 2 * begin + 1]
        begin = 2 * begin + 1
