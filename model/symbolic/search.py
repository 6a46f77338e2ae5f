"""Iterative deepening: whether a run of so many steps exists whose last state shows one of the targets.

1. At each depth one question asks for all targets that are still open; an answer closes the targets that it
   shows, and the question is put again. A refutation at a depth is asserted as a fact.
2. When no run has more steps (steps that a shortest run does not need are left out, `dominated`), the search
   is complete.
3. Time that runs out stops it, with the depth that was finished.

This file knows nothing of verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from antiphon.model.bounds import Stop, Violated, Violation
from antiphon.model.symbolic.circuit import FALSE
from antiphon.model.symbolic.counterexample import decode
from antiphon.model.symbolic.dominated import Closure, Roles, closure
from antiphon.model.symbolic.initial_states import InitialStates, initial_states
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.steps import Template
from antiphon.model.symbolic.targets import Target, shown, wanted
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.model.trace import Trace
from antiphon.model.verdict import PropertyKind


@dataclass(frozen=True)
class Progress:
    """Progress of the search, reported after each depth.

    Attributes in order: the depth, the seconds since the start, the number of Z3's clauses, and the
    properties that are still open.

    Depths begin anew for each group of properties that is searched for together, and last for errors of the
    specification.
    """

    depth: int
    seconds: float
    clauses: int
    open: tuple[str, ...]


_NO_VIOLATION = (PropertyKind.WITNESS, PropertyKind.SPECIFICATION)
"""Kinds of properties whose finding is no violation."""


class Search:
    """Search for runs that show any of a group of targets.

    Attributes:
        finished: the last depth at which everything was judged; -1 before the first.
        found: the run that shows each closed target.
        stopped: why the search ended early, if it did.
        unless: a literal of the template; a state in which it is true shows nothing.
        complete: whether longer runs show nothing that shorter ones do not show.
        clauses: how many Z3 was given.
    """

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        self.template, self.targets, self.depth, self.clock = template, group, depth, template.clock
        self.finished, self.complete, self.clauses = -1, False, 0
        self.stopped: Stop | None = None
        self.found: dict[Target, Trace] = {}
        self.unless = FALSE
        self._violated: Violated | None = None

    @property
    def open(self) -> list[Target]:
        """Return the targets for which the search has found no run."""
        return [target for target in self.targets if target not in self.found]

    def run(self, progress: Callable[[Progress], None] | None, violated: Violated | None = None) -> None:
        """Search for runs of more and more steps, until the bound of depth, the end of all runs, or the end
        of the time. `violated` is called with each result.
        """
        self._violated = violated
        solver = Solver(self.template.circuit)
        start = initial_states(self.template, solver)
        reachable = closure(self.template, start.literals, self.depth)
        roles = Roles(self.template, reachable, self._sought(reachable))
        unrolling = Unrolling(self.template, solver, start.literals, roles=roles)
        for now in range(self.depth + 1):
            if not self._judge(unrolling, start, now):
                return
            self.finished, self.clauses = now, solver.clauses
            if progress is not None:
                left = tuple(target.property for target in self.open)
                progress(Progress(now, self.clock.elapsed(), solver.clauses, left))
            if now == self.depth or not self.open:
                return
            unrolling.grow()
            answer = solver.check(seconds=self.clock.left())
            self.complete = answer is Answer.UNSATISFIABLE
            if answer is Answer.UNKNOWN:
                self.stopped = self.clock.why(solver.reason, f" at depth {now + 1}")
            if answer is not Answer.SATISFIABLE:
                return

    def _shown(self, target: Target, unrolling: Unrolling, now: int) -> int:
        literal = shown(target, unrolling, now)
        if self.unless == FALSE:
            return literal
        return unrolling.circuit.conjunction((literal, -unrolling.at(now, self.unless)))

    def _sought(self, reachable: Closure) -> Iterator[int]:
        """Yield the literals that are read in the last state of a run."""
        for target in self.targets:
            yield from wanted(target, self.template, reachable.instances)
        if self.unless != FALSE:
            yield -self.unless

    def _judge(self, unrolling: Unrolling, start: InitialStates, now: int) -> bool:
        """Close the targets that a run of this depth shows; return False when Z3 gave up."""
        solver = unrolling.solver
        judged = [target for target in self.open if now < self.depth or not target.is_about_a_step()]
        asked = {target: self._shown(target, unrolling, now) for target in judged}
        while True:
            left = {target: literal for target, literal in asked.items() if target not in self.found}
            possible = {target: literal for target, literal in left.items() if literal != FALSE}
            if not possible:
                return True
            question = unrolling.circuit.variable()
            solver.clause((-question, *possible.values()))
            answer = solver.check((question,), seconds=self.clock.left())
            if answer is Answer.UNKNOWN:
                self.stopped = self.clock.why(solver.reason, f" at depth {now}")
                return False
            if answer is Answer.UNSATISFIABLE:
                for literal in possible.values():
                    solver.require(-literal)
                return True
            for target, literal in possible.items():
                if solver.value(literal):
                    self.found[target] = decode(target, unrolling, start, now)
                    if self._violated is not None and target.kind not in _NO_VIOLATION:
                        self._violated(Violation(target.property, len(self.found[target])))
