"""Mutation testing of a program that takes long: random walks first, then a bounded exploration, then
liveness in more states.

A violation of an order or an obligation needs many steps, which a breadth-first search reaches last; a walk
reaches the end of a run soon. Every run that a walk finds is taken again by CPython. A walk ends before a
step with an error of the specification: its earlier violations count. A walk never proves that a property
holds.

This file knows nothing of claims, and of operators nothing but that they make mutants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.model.bounds import Bounds
from antiphon.model.engines.choice import Engine
from antiphon.model.explore import liveness
from antiphon.model.mutation import Answer, Fate, LeftOut, Mutant, Trial
from antiphon.model.simulate import simulate
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import Program, SpecError, ir

SEED = 7


@dataclass(frozen=True)
class Walks:
    """Random walks: their number, their largest number of steps, and the number of states that are explored
    for liveness.
    """

    walks: int
    steps: int
    live: Bounds


NEVER_BROKEN_ON_WALKS = (PropertyKind.WITNESS, PropertyKind.LIVENESS)
"""Properties that walks cannot break: they need all states, or endless runs."""


class WalkedTrial(Trial):
    """Trial that takes random walks first, and, where its bounds end, explores further. A brief check takes
    walks alone.

    Args:
        program: the specification with its constants.
        properties: names of properties that hold of it.
        bounds: the bounds for each mutant in generated Python.
        further: the bounds for machine code where that leaves something open.
        walks: the random walks.
    """

    def __init__(
        self, program: Program, properties: Iterable[str], bounds: Bounds, further: Bounds, walks: Walks
    ) -> None:
        super().__init__(program, properties, bounds, further)
        self.walks = walks
        self._walked: dict[str, frozenset[str]] = {}

    def ask(
        self, mutant: Mutant | LeftOut, properties: Iterable[str] | None = None, *, briefly: bool = False
    ) -> Answer:
        """Check a mutant against these properties of the program, or all: first on random walks, then, unless
        `briefly`, in a bounded exploration and, for liveness, in more states.
        """
        names = tuple(self.kinds if properties is None else properties)
        try:
            changed = mutant.of(self.program)
            apart = self._apart(changed, names)
        except SpecError as error:
            return Answer(Fate.INVALID, reason=error.reason)
        walked = self._on_walks(mutant, changed).difference(apart)
        broken = tuple(name for name in names if name in walked)
        left = tuple(name for name in names if name not in walked and name not in apart)
        if briefly or not left:
            fate = Fate.KILLED if broken else Fate.UNDECIDED
            return Answer(fate, broken, left, apart, "" if broken else "not seen on walks")
        answer = super().ask(mutant, None if properties is None and not broken else left)
        lively = {name for name in answer.open if self.kinds[name] is PropertyKind.LIVENESS}
        found = {*broken, *answer.broken, *self._on_fair_runs_of(changed, lively)}
        if not found:
            return answer
        unsaid = left if answer.fate is Fate.INVALID else answer.open
        still_open = tuple(name for name in unsaid if name not in found)
        return Answer(Fate.KILLED, tuple(name for name in names if name in found), still_open, apart)

    def _apart(self, changed: Program, names: Iterable[str]) -> tuple[str, ...]:
        """Return the properties whose definitions the mutant changes."""
        changes = _definitions(self.program.module) ^ _definitions(changed.module)
        differing = {item.name for item in changes}
        return tuple(name for name in names if differing & self._texts_of(name))

    def _on_walks(self, mutant: Mutant | LeftOut, changed: Program) -> frozenset[str]:
        """Return the properties that random walks of the mutant violate before a step with an error of the
        specification.
        """
        if mutant.digest not in self._walked:
            try:
                report = simulate(
                    changed,
                    seed=SEED,
                    walks=self.walks.walks,
                    steps=self.walks.steps,
                    to_errors=True,
                    engine=Engine.NATIVE,
                    threads=1,
                    bounds=Bounds(seconds=self.further.seconds),
                )
            except SpecError:  # the mutant is none
                self._walked[mutant.digest] = frozenset()
            else:
                # A mutant that has no beginning is told of by itself, and nothing of the properties.
                broken = {item.property for item in report.verdicts if item.outcome is Outcome.VIOLATED}
                self._walked[mutant.digest] = frozenset(broken & self.kinds.keys())
        return self._walked[mutant.digest]

    def _on_fair_runs_of(self, changed: Program, lively: set[str]) -> set[str]:
        """Return the liveness properties that a mutant breaks within more states."""
        if not lively:
            return set()
        try:
            questions = [item for name, item in liveness.declared(changed).items() if name in lively]
            verdicts = liveness.judge(changed, questions, bounds=self.walks.live).verdicts
        except SpecError:  # further on, the mutant is no specification
            return set()
        return {verdict.property for verdict in verdicts if verdict.outcome is Outcome.VIOLATED}


def _definitions(module: ir.Module) -> set[ir.Definition]:
    acts = (*module.procedures, *module.initials, *module.actions, *module.handlers)
    return {*module.functions, *acts, *module.predicates, *module.step_invariants}
