"""Proofs for every n: a specification with symbolic sizes is proved obligation by obligation.

1. Before any proof the explicit engine explores a small n: what it refutes is violated, and is neither proved
   nor assumed.
2. Every obligation is a question in the decidable fragment, or the specification is refused with its place.
3. An invariant holds for every n when all its obligations are proved, all those of the invariants that these
   proofs use, and all that say that the text has a meaning.
4. An unproved obligation is shown by a step at a small n, and whether its first state can be reached there.

This file knows nothing of Z3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from antiphon.model import explore
from antiphon.model.bounds import Bounds, Violated
from antiphon.model.cache import Cache
from antiphon.model.limits import under_limits
from antiphon.model.proofs import smt
from antiphon.model.proofs.answers import SEEDS, Answer, Asker
from antiphon.model.proofs.formula import TRUE
from antiphon.model.proofs.fragment import GOAL, Question, question
from antiphon.model.proofs.induction import Decided, decide
from antiphon.model.proofs.obligations import INITIAL, Obligation, Part, Reading
from antiphon.model.proofs.theory import Axiom, QuorumClass, confirmed
from antiphon.model.properties import SPECIFICATION, kinds_of
from antiphon.model.symbolic.clock import Clock
from antiphon.model.symbolic.induction import PROVABLE
from antiphon.model.verdict import (
    Evidence,
    EvidenceKind,
    InternalError,
    ObligationResult,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
)
from antiphon.spec.lang import Program, SpecError
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.hints import known_names

SMALL = 3
"""Largest size of a sort in the exploration that comes before a proof."""

EXPLORED_SECONDS = 200.0
"""Wall time after which the exploration before a proof is ended all the same: several times what it takes for
each of our proofs, so that the number of states decides what is explored, however busy the machine.
"""

EXPLORED_STATES = 300_000
"""Number of states at which the exploration before a proof stops."""

STEP = "the step"
"""Name of the assumption that the step is taken."""


@dataclass(frozen=True)
class Progress:
    """Progress of a proof after each obligation: the number that is done, the number of all, and the last
    one.
    """

    done: int
    total: int
    last: ObligationResult


def prove_every(
    program: Program,
    every: Sequence[str],
    *,
    properties: Iterable[str] | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    violated: Violated | None = None,
    cache: Cache | None = None,
    seeds: int = len(SEEDS),
    states: int = EXPLORED_STATES,
) -> Report:
    """Prove invariants and properties of steps for every value, from 1, of some constants.

    Args:
        program: the specification; its other constants are as they are bound.
        every: names of constants that are sizes of indices or bounds of integers.
        properties: what to prove; None means all invariants and properties of steps. All invariants are
            assumed before a step.
        max_seconds: give up after so many seconds; what is not proved then is unknown.
        progress: called after each obligation.
        violated: called with each property that the exploration of a small n finds violated.
        cache: where the cores of proofs are kept; None is this user's.
        seeds: how many seeds are asked; a proof is stable if all of them find it.
        states: number of states at which the exploration before the proof stops.

    Returns:
        A verdict a property, with evidence `proved`: for which constants, leaning on which invariants, under
        which axioms. `obligations` has all of them. What is unknown has a step that breaks it as a trace.

    Raises:
        ArgumentError: no constant is named.
        Outside: the specification leaves the fragment; a SpecError with the place, and what would do instead.
        SpecError: a name is no constant, or no property of the kinds that are proved.
        InternalError: two of our engines contradict one another.
    """
    if not every:
        raise ArgumentError("a proof for every n needs the names of the constants that are n")
    kinds = {name: kind for name, kind in kinds_of(program).items() if kind in PROVABLE}
    asked = list(kinds) if properties is None else list(dict.fromkeys(properties))
    for name in asked:
        if name not in kinds:
            raise SpecError(
                f"{program.name} has no invariant or property of steps {name!r} to prove; "
                f"{known_names(name, kinds)}"
            )
    reading = Reading(program, tuple(every))
    with under_limits(Bounds(seconds=max_seconds)):
        clock = Clock(max_seconds)
        small = program.with_constants(**{name: min(SMALL, int(program.constants[name])) for name in every})
        limit = EXPLORED_SECONDS if max_seconds is None else min(EXPLORED_SECONDS, max_seconds / 2)
        bounds = Bounds(states=states, seconds=limit)
        base = explore.check(small, properties=list(kinds), bounds=bounds, violated=violated)
        if base.exploration.states == 0:  # for example since there are more than 3t processes
            base = explore.check(program, properties=list(kinds), bounds=bounds, violated=violated)
        asker = Asker(cache or Cache.private("proofs"), clock.left, seeds)
        proof = Proof(reading, kinds, base, asker)
        proof.run(asked, progress)
        verdicts = [proof.judged(name) for name in asked]
        notes = proof.notes()
    broken = [item for item in base.verdicts if item.kind is PropertyKind.SPECIFICATION]
    others = [name for name, kind in kinds_of(program).items() if kind not in PROVABLE]
    if properties is None and others:
        notes.append(f"not asked, since no single state or step breaks them: {', '.join(others)}")
    return replace(
        base, program=program, verdicts=(*verdicts, *broken), notes=tuple(notes),
        obligations=tuple(proof.results), every=tuple(every),
    )  # fmt: skip


class Proof:
    """Proof of one specification: its obligations and their answers.

    Attributes:
        results: what became of each obligation, in order.
        axioms: what was known of the sorts, by name, as far as a proof leaned on it.
    """

    def __init__(
        self, reading: Reading, kinds: dict[str, PropertyKind], base: Report, asker: Asker
    ) -> None:
        self.reading, self.kinds, self.base, self.asker = reading, kinds, base, asker
        self.refuted = {
            item.property for item in base.verdicts if item.outcome is Outcome.VIOLATED
        }
        self.results: list[ObligationResult] = []
        self.axioms: dict[str, Axiom] = {}
        self._decided: dict[str, Decided] = {}
        self._limited: dict[str, str] = {}
        self._last: tuple[Part, list[Axiom]] | None = None
        self._meeting: dict[tuple[QuorumClass, ...], bool] = {}

    def see_steps(self) -> None:
        """Check the translation to logic against the exploration: an action that some run has taken must be
        possible in it.

        Raises:
            InternalError: what is assumed contradicts itself or the step, which the exploration has taken.
        """
        fired = {name for name, count in self.base.exploration.fired if count}
        for step in self.reading.steps(without=self.refuted):
            if step.step in fired and all(self._is_impossible(part) for part in step.parts):
                raise InternalError(f"{step.step} is possible, and impossible by the translation to logic")

    def _is_impossible(self, part: Part) -> bool:
        asked = self._question(part)
        return smt.ask(asked.asserted, seconds=2.0).outcome is smt.Outcome.PROVED

    def run(self, asked: Sequence[str], progress: Callable[[Progress], None] | None = None) -> None:
        """Prove every obligation of the requested properties, and of the invariants that the proofs use."""
        self.see_steps()
        every = list(self.reading.obligations(without=self.refuted))
        wanted = {name for name in asked if name not in self.refuted} | {SPECIFICATION}
        done: set[str] = set()
        while wanted - done:
            turn = wanted - done
            listed = [item for item in every if item.property in turn]
            for obligation in listed:
                self.results.append(self.result(obligation))
                if progress is not None:
                    total = len(self.results) + len(listed) - listed.index(obligation) - 1
                    progress(Progress(len(self.results), total, self.results[-1]))
            done |= turn
            wanted |= {name for item in self.results for name in item.given if name in self.kinds}
        order = {(item.step, item.property): number for number, item in enumerate(every)}
        self.results.sort(key=lambda item: order[item.step, item.property])

    def result(self, obligation: Obligation) -> ObligationResult:
        """Return the result of one obligation."""
        answers = []
        for part in obligation.parts:
            answers.append(self._answer(part))
            if answers[-1].outcome is not smt.Outcome.PROVED:
                break
        worst = answers[-1].outcome if answers else smt.Outcome.PROVED
        core = dict.fromkeys(name for answer in answers for name in sorted(answer.core))
        given = tuple(name for name in core if name in self.kinds)
        return ObligationResult(
            step=obligation.step,
            property=obligation.property,
            at=str(obligation.at),
            outcome=_OUTCOMES[worst],
            seconds=sum(answer.seconds for answer in answers),
            seeds=min((answer.seeds for answer in answers), default=self.asker.seeds),
            given=given,
            axioms=tuple(name for name in core if name in self.axioms),
            known=bool(answers) and all(answer.known for answer in answers),
            reason=next((answer.reason for answer in answers if answer.reason), ""),
            sizes=next((answer.sizes for answer in answers if answer.sizes), ()),
            untouched=not obligation.parts,
        )

    def _answer(self, part: Part) -> Answer:
        if part.goal is TRUE:
            return Answer(smt.Outcome.PROVED, 0.0, self.asker.seeds)
        asked = self._question(part)
        self._limited |= dict(asked.limited)
        three = [axiom for axiom in self._axioms(part) if len(axiom.groups) > 2]
        fewer = [self._question(part, own=part.own, leaving_out=three)]
        if three:
            fewer.append(self._question(part, leaving_out=three))
        if len(three) > 1:
            rests = [[other for other in three if other is not one] for one in three]
            fewer += [self._question(part, leaving_out=rest) for rest in rests]
        return self.asker.ask(asked, frozenset((STEP, GOAL)), fewer)

    def _question(
        self, part: Part, own: str | None = None, leaving_out: Sequence[Axiom] = ()
    ) -> Question:
        """Return the question for a part of an obligation: with all assumptions, or with one invariant alone,
        or with fewer axioms.
        """
        step = [(STEP, item.formula) for item in part.hypotheses if item.name == STEP]
        assumed = [
            (item.name, item.formula)
            for item in part.hypotheses
            if item.name != STEP
            and item.name not in self.refuted
            and (own is None or item.name == own or item.name not in self.kinds)
        ]
        out = {axiom.name for axiom in leaving_out}
        known = [(item.name, item.formula) for item in self._axioms(part) if item.name not in out]
        return question(known, step, assumed, part.goal)

    def _axioms(self, part: Part) -> list[Axiom]:
        """Return the axioms about the sorts that occur in a part of an obligation."""
        if self._last is None or self._last[0] is not part:
            formulas = [item.formula for item in part.hypotheses if item.name not in self.refuted]
            self._last = part, self.reading.theory.axioms([*formulas, part.goal], self._overlap)
            for axiom in self._last[1]:
                self._see_confirmed(axiom)
        return self._last[1]

    def _overlap(self, groups: tuple[QuorumClass, ...]) -> bool:
        """Return True if sets of these classes always meet; the answer is cached."""
        if groups not in self._meeting:
            self._meeting[groups] = smt.overlap(groups)
        return self._meeting[groups]

    def _see_confirmed(self, axiom: Axiom) -> None:
        """Confirm an axiom that quorums meet, on all subsets of small sets."""
        if axiom.name in self.axioms:
            return
        constants, every = self.reading.program.constants, self.reading.every
        numbers = {
            name: value for name, value in constants.items() if type(value) is int and name not in every
        }
        if axiom.groups and not confirmed(axiom.groups, numbers):
            raise InternalError(f"{axiom.name}: not so for all sets of 1 to 6 members")
        self.axioms[axiom.name] = axiom

    # Verdicts -----------------------------------------------------------------------------------------------

    def judged(self, name: str) -> Verdict:
        """Return the verdict about a property, from the answers to its obligations."""
        base = self.base[name]
        if base.outcome is Outcome.VIOLATED or self.base.exploration.states == 0:
            return base
        provenance = Provenance.of(self.reading.program, "z3")
        needed, axioms = self._needed(name)
        missing = next(
            (item for item in self.results if item.property in needed and item.outcome is not Outcome.HOLDS),
            None,
        )
        if missing is None:
            return Verdict(
                name, self.kinds[name], Outcome.HOLDS,
                Evidence(EvidenceKind.PROVED, self._bound(name, needed, axioms)), provenance,
            )  # fmt: skip
        if missing.property not in self._decided:
            self._decided[missing.property] = decide(
                self.reading.program,
                self.reading.every,
                missing.property,
                initially=missing.step == INITIAL,
                without=sorted(self.refuted),
            )
        decided = self._decided[missing.property]
        if decided.verdict is not None and missing.property == name:
            return decided.verdict
        about = "" if missing.property == name else f"it leans on {missing.property}, and "
        what = f"{missing.step}: {missing.property} is not proved"
        reason = f"{about}{what} ({missing.words()}): {decided.why}"
        evidence = Evidence.explored(self.base.program, "a proof was tried")
        return Verdict(name, self.kinds[name], Outcome.UNKNOWN, evidence, provenance, reason, decided.trace)

    def _needed(self, name: str) -> tuple[set[str], list[str]]:
        """Return the properties that must be proved for the property `name`, and the axioms that these proofs
        use.
        """
        needed = {name, SPECIFICATION}
        axioms: dict[str, None] = {}
        while True:
            found = [item for item in self.results if item.property in needed]
            more = {given for item in found for given in item.given} - needed
            if not more:
                axioms |= {axiom: None for item in found for axiom in item.axioms}
                return needed, list(axioms)
            needed |= more

    def _bound(self, name: str, needed: set[str], axioms: list[str]) -> str:
        """Return the evidence in words: `for every nodes, by induction with A, B`, and the axioms that are
        worth mentioning.
        """
        every = self.reading.every
        others = [item for item in self.kinds if item in needed - {name}]
        fixed = [
            f"{constant}={value}"
            for constant, value in self.reading.program.constants.items()
            if constant not in every and value is not False
        ]
        said = f"for every {', '.join(every)}" + (f" ({', '.join(fixed)})" if fixed else "")
        with_ = f" with {', '.join(others)}" if others else ""
        shown = [item for item in axioms if self.axioms[item].is_worth_saying]
        under = f"; axioms: {'; '.join(shown)}" if shown else ""
        return f"{said}, by induction{with_}{under}"

    def notes(self) -> list[str]:
        """Return notes for the reader of the report."""
        done = [item for item in self.results if item.outcome is Outcome.HOLDS]
        asked = self.asker.seeds
        stable = sum(item.seeds == asked for item in done)
        total = sum(item.seconds for item in self.results)
        proved = f"{len(done)} of {len(self.results)} obligations proved in {total:.2f} s"
        by = "its one seed" if asked == 1 else f"all {asked} seeds"
        notes = [f"{proved}, {stable} of them by {by}"]
        explored = self.base.exploration
        extent = "all" if explored.complete else "not all"
        sizes = ", ".join(f"{name}={self.base.program.constants[name]}" for name in self.reading.every)
        notes.append(f"explored before, at {sizes}: {extent} states")
        for name, way in self._limited.items():
            notes.append(f"{name} is assumed of the terms of a step only, since it would close {way}")
        return notes


_OUTCOMES = {
    smt.Outcome.PROVED: Outcome.HOLDS,
    smt.Outcome.REFUTED: Outcome.UNKNOWN,
    smt.Outcome.UNKNOWN: Outcome.UNKNOWN,
}
