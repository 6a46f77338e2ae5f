"""A program that takes long is tried further: what bounds leave open of obligations is asked on random walks,
and what they leave open of liveness in more states.

An obligation that a mutant breaks is false at the end of runs, which a breadth-first search reaches last; a
walk reaches an end soon. Every run that a walk finds is taken again by CPython. A walk never says that
something is kept.

This file knows nothing of claims, and of operators nothing but that they make mutants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from antiphon.model.bounds import Bounds
from antiphon.model.engines.choice import Engine
from antiphon.model.explore import liveness
from antiphon.model.mutation import Answer, Fate, LeftOut, Mutant, Trial
from antiphon.model.simulate import simulate
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import Program, SpecError

SEED = 7


@dataclass(frozen=True)
class Walks:
    """How many walks are taken, of at most how many steps, and how many states are walked for liveness."""

    walks: int
    steps: int
    live: Bounds


class WalkedTrial(Trial):
    """A trial that goes on where its bounds end.

    Args:
        program: the specification with its constants.
        properties: names of properties that hold of it.
        bounds: how far each mutant is explored by generated Python.
        further: how far machine code goes where that leaves something open.
        walks: what is asked then.
    """

    def __init__(
        self, program: Program, properties: Iterable[str], bounds: Bounds, further: Bounds, walks: Walks
    ) -> None:
        super().__init__(program, properties, bounds, further)
        self.walks = walks

    def ask(
        self, mutant: Mutant | LeftOut, properties: Iterable[str] | None = None, *, briefly: bool = False
    ) -> Answer:
        """See `Trial.ask`; liveness is asked further where the question is not brief."""
        answer = super().ask(mutant, properties, briefly=briefly)
        owed = self._open(answer, PropertyKind.OBLIGATION)
        lively = set[str]() if briefly else self._open(answer, PropertyKind.LIVENESS)
        if answer.fate is Fate.INVALID or not (owed or lively):
            return answer
        changed = mutant.of(self.program)
        try:
            broken = self._broken_on_walks(changed, owed) | self._broken_on_fair_runs(changed, lively)
        except SpecError:  # further on, the mutant is no specification
            return answer
        if not broken:
            return answer
        left_open = tuple(name for name in answer.open if name not in broken)
        return replace(answer, fate=Fate.KILLED, broken=(*answer.broken, *sorted(broken)), open=left_open)

    def _open(self, answer: Answer, kind: PropertyKind) -> set[str]:
        """The properties of this kind that the answer leaves open."""
        return {name for name in answer.open if self.kinds.get(name) is kind}

    def _broken_on_walks(self, changed: Program, owed: set[str]) -> set[str]:
        if not owed:
            return set()
        report = simulate(
            changed,
            seed=SEED,
            walks=self.walks.walks,
            steps=self.walks.steps,
            engine=Engine.NATIVE,
            threads=1,
            bounds=Bounds(seconds=self.further.seconds),
        )
        return {name for name in owed if report[name].outcome is Outcome.VIOLATED}

    def _broken_on_fair_runs(self, changed: Program, lively: set[str]) -> set[str]:
        if not lively:
            return set()
        questions = [item for name, item in liveness.declared(changed).items() if name in lively]
        verdicts = liveness.judge(changed, questions, bounds=self.walks.live).verdicts
        return {verdict.property for verdict in verdicts if verdict.outcome is Outcome.VIOLATED}
