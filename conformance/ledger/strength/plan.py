"""One program and the mutants that are asked in it: the sample about all its properties, the others
about what none of the sample breaks.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from antiphon.conformance.ledger.strength.answers import FORM, Answers, mutating_code, walking_code
from antiphon.conformance.ledger.strength.guards import GUARD_SECONDS, guard_of
from antiphon.conformance.ledger.strength.programs import (
    Group,
    digest_of,
    judged_by,
    meaning_of,
    text_mutants,
)
from antiphon.conformance.ledger.strength.refined import RefinementTrial
from antiphon.conformance.ledger.strength.results import Strength
from antiphon.conformance.ledger.strength.walked import NEVER_BROKEN_ON_WALKS, WalkedTrial, Walks
from antiphon.model.bounds import Bounds
from antiphon.model.explore.stuttering import differs_by_stuttering
from antiphon.model.mutation import Answer, Fate, LeftOut, Mutant, Trial
from antiphon.model.verdict import PropertyKind
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim

__all__ = ["Anything", "Found", "Known", "Limits", "Plan", "Settled", "Tell"]

SAVED_SECONDS = 10.0
"""How often answers are written down."""

TAKES_AWAY = ("never happens", "handler silent", "update left out")
"""Operators after which less happens, the one after which least does first."""

COMES_ABOUT = (PropertyKind.WITNESS, PropertyKind.OBLIGATION, PropertyKind.LIVENESS)
"""Properties that say what must come about."""

Anything = Mutant | LeftOut

Settled = AbstractSet[str]

Tell = Callable[[Anything], object]


@dataclass(frozen=True)
class Limits:
    """How far each mutant is explored by either engine, how long a step may take for one program, and what is
    asked besides.
    """

    bounds: tuple[Bounds, Bounds]
    seconds: float
    walks: Walks | None = None


class Known:
    """What broke checks before, as it is written: by the text of each check the name of a mutant; and what
    breaks properties as the ledger records it: a repair left out, a fault planted.
    """

    def __init__(self, by: Mapping[str, str], claims: Iterable[Claim]) -> None:
        self.by = by
        self._recorded: dict[str, dict[str, None]] = {}
        for check in (item for claim in claims for item in claim.checks if isinstance(item, Check)):
            if check.outcome == "violated":
                left = [LeftOut(name) for name in check.without]
                planted = [
                    LeftOut(name, planted=True) for name, value in check.constants.items() if value is True
                ]
                names = [item.name for item in (*left, *planted)]
                self._recorded.setdefault(check.property, {}).update(dict.fromkeys(names))
        self._often: dict[str, Counter[str]] = {}
        for asked, name in by.items():
            property = asked.partition(" (")[0].partition(".")[2]
            self._often.setdefault(property, Counter())[name] += 1

    def of(self, property: str) -> list[str]:
        """The mutants that broke a property in whatever program, the most frequent first, then those of which
        it is recorded.
        """
        often = self._often.get(property, Counter()).most_common()
        return [*(name for name, _ in often), *self._recorded.get(property, ())]


@dataclass
class Found:
    """What the mutants of one program did: the answers of those that were asked about all its properties, by
    their digests; those of others, asked about some; why properties are trivial; which ones each mutant
    touches; of which properties which mutants were left when the time was over. What the guards did that were
    asked as such, by their names. How many answers were read, and how many asked.
    """

    sample: dict[str, Answer] = field(default_factory=dict)
    others: list[tuple[tuple[str, ...], dict[str, Answer]]] = field(default_factory=list)
    trivial: dict[str, str] = field(default_factory=dict)
    touched: dict[str, frozenset[str]] = field(default_factory=dict)
    unasked: set[tuple[str, str]] = field(default_factory=set)
    guards: dict[str, Answer] = field(default_factory=dict)
    read: int = 0
    asked: int = 0


class Asking:
    """Some properties of one program, the mutants that are asked about them, and their answers.

    `compares`: about all of its properties, and whether they change anything at all. `briefly`: within fewer
    states.
    """

    def __init__(
        self,
        plan: Plan,
        properties: Sequence[str],
        seen: dict[str, Answer],
        *,
        compares: bool = False,
        briefly: bool = False,
    ) -> None:
        self.properties, self.seen, self.compares, self.briefly = properties, seen, compares, briefly
        self._plan, self._saved = plan, time.monotonic()
        program = plan.program
        limits = plan.limits
        further = "" if limits.walks is None else f"{limits.walks} {walking_code()}"
        question = (repr(limits.bounds) + further, f"{compares} {briefly}", *properties)
        asked = meaning_of(program, plan.properties), repr(sorted(program.constants.items()))
        self._key = digest_of(f"{FORM} {mutating_code()}", program.name, *asked, *question)
        self._kept = plan.answers.of(self._key)

    def knows(self, mutant: Anything) -> bool:
        """Whether the answer is kept."""
        return mutant.digest in self._kept

    def ask(self, mutant: Anything) -> None:
        """Have the answer of the mutant, from what is kept if it is there."""
        if mutant.digest in self._kept:
            self._plan.found.read += 1
        else:
            asked = None if self.compares else self.properties
            self._kept[mutant.digest] = self._plan.trial.ask(mutant, asked, briefly=self.briefly)
            self._plan.found.asked += 1
            if time.monotonic() - self._saved > SAVED_SECONDS:
                self.save()
        self.seen[mutant.digest] = self._kept[mutant.digest]

    def unbroken(self) -> set[str]:
        """The properties that no mutant broke."""
        return set(self.properties).difference(*(answer.broken for answer in self.seen.values()))

    def save(self) -> None:
        """Write down what was answered."""
        self._plan.answers.put(self._key, self._kept)
        self._saved = time.monotonic()


class Plan:
    """One program and its checks: the sample is asked about all of them, the other mutants about those that
    none of the sample breaks.

    `judges`: somebody judges its events; `judged_elsewhere` are mutants of one where nobody does, and of
    another program where somebody does, which then says what can be seen. `guards` are the changed guards
    that are asked as such, by their names.
    """

    def __init__(
        self,
        group: Group,
        limits: Limits,
        answers: Answers,
        sample: int | None,
        seed: int,
        known: Known,
        *,
        is_guest: bool = False,
    ) -> None:
        self.program, self.checks = group
        self.limits, self.answers, self.is_guest = limits, answers, is_guest
        self.properties = list(dict.fromkeys(check.property for _, check in self.checks))
        mutants: list[Anything] = [*text_mutants(self.program), *LeftOut.of_program(self.program)]
        self.mutants = sorted(mutants, key=lambda item: digest_of(str(seed), item.digest))
        self.names = {item.digest: item.name for item in mutants}
        self.guards: dict[str, Mutant] = {}
        self.sampled: Sequence[Anything] = self.mutants[:sample]
        self.judges = bool(self.program.module.handlers)
        self.judged_elsewhere: frozenset[str] = frozenset()
        self.found = Found()
        self._known = known
        self._trial: Trial | RefinementTrial | None = None

    @property
    def trial(self) -> Trial | RefinementTrial:
        """The trial of the program, begun when it is needed."""
        if self._trial is None:
            refinement, walks = refinement_of(self.program.spec), self.limits.walks
            if refinement is not None:
                self._trial = RefinementTrial(self.program, refinement, self.limits.bounds[0])
            elif walks is not None:
                self._trial = WalkedTrial(self.program, self.properties, *self.limits.bounds, walks)
            else:
                self._trial = Trial(self.program, self.properties, *self.limits.bounds)
        return self._trial

    def differs_by_stuttering(self, digest: str, bounds: Bounds) -> bool:
        """Whether a mutant changes nothing in this program but steps that change nothing."""
        mutant = next(item for item in self.mutants if item.digest == digest)
        return differs_by_stuttering(self.program, mutant.of(self.program), bounds)

    def end_trial(self) -> None:
        """Give its memory back."""
        self._trial = None

    def ask_sample(self, tell: Tell, settled: Settled) -> None:
        """Ask the sample about all properties, and whether they change anything; but for mutants of which
        this is known.
        """
        self._ask_all([item for item in self.sampled if item.digest not in settled], tell, compares=True)

    def pursue(self, tell: Tell, unnoticed: Mapping[str, str]) -> None:
        """Ask mutants that no check of another program notices, by their digests with their names, if they
        were not asked; in a program of another family by their names: another class may stand above the
        changed one there.
        """
        names = set(unnoticed.values()) if self.is_guest else set()
        wanted = unnoticed.keys() - self.found.sample.keys()
        chosen = [item for item in self.mutants if item.digest in wanted or item.name in names]
        self._ask_all(chosen, tell)

    def ask_guards(self, tell: Tell, settled: Settled, *, briefly: bool = False) -> None:
        """Ask the changed guards about all properties, but for those that are settled: briefly; or further,
        and where it does not take long whether they change anything at all.
        """
        left = {name: mutant for name, mutant in self.guards.items() if name not in settled}
        if not left:
            return
        compares = not briefly and self.limits.walks is None and not self.is_guest
        asking = Asking(self, self.properties, {}, compares=compares, briefly=briefly)
        ends = time.process_time() + min(GUARD_SECONDS, self.limits.seconds)
        try:
            for name, mutant in left.items():
                if time.process_time() < ends or asking.knows(mutant):
                    tell(mutant)
                    asking.ask(mutant)
                    self.found.guards[name] = asking.seen[mutant.digest]
        finally:
            asking.save()

    def noticed_guards(self) -> Iterator[str]:
        """The names of the changed guards of which some check of this program noticed the change."""
        changed = {item.digest: item for item in self.mutants if isinstance(item, Mutant)}
        for seen in (self.found.sample, *(seen for _, seen in self.found.others)):
            broken = (digest for digest, answer in seen.items() if answer.broken)
            yield from (guard_of(changed[digest]) for digest in broken if digest in changed)
        yield from (name for name, answer in self.found.guards.items() if answer.broken)

    def _ask_all(self, mutants: Sequence[Anything], tell: Tell, *, compares: bool = False) -> None:
        """Ask about all properties; what was answered is kept, however this ends."""
        if not mutants:
            return
        asking = Asking(self, self.properties, self.found.sample, compares=compares)
        ends = time.process_time() + self.limits.seconds
        try:
            for mutant in mutants:
                if time.process_time() < ends or asking.knows(mutant):
                    tell(mutant)
                    asking.ask(mutant)
        finally:
            asking.save()

    def ask_others(self, tell: Tell, breaking: Mapping[str, list[str]]) -> None:
        """Ask the mutants beyond the sample about what none of the sample breaks, until each such property is
        broken; `breaking` are names of mutants by the properties that they broke in some program, the last
        first.
        """
        found, seconds = self.found, self.limits.seconds
        begun = time.process_time()
        weak = sorted(set(self.properties).difference(*(answer.broken for answer in found.sample.values())))
        found.touched = {item.digest: self.trial.touched(item) for item in self.mutants}
        others = [item for item in self.mutants if item.digest not in found.sample]
        likely = {name for property in weak for name in self._promising(property, breaking)}
        written = {self._known.by.get(str(check), "") for _, check in self.checks}
        first = [item for item in others if item.name in likely]
        rest = [item for item in others if item.name not in likely]
        phases = [(first, True), (first, False), (rest, True), (rest, False)]
        if self.limits.walks is not None:  # a brief question takes walks, which find more in less time
            again = [item for item in others if item.name in written]
            phases = [(again, True), (again, False), (first, True), (rest, True)]
            phases += [(first, False), (rest, False)]
        for some, briefly in phases:
            if briefly:
                chosen, ends = some, begun + seconds / 2
                asked = [name for name in weak if self._is_brief(name)]
            else:
                chosen, ends = [item for item in some if self._is_open(item, weak)], begun + seconds
                asked = weak
            unbroken = self._unbroken_by(asked, chosen, breaking, tell, ends, briefly=briefly)
            weak = [name for name in weak if name not in asked or name in unbroken]
        found.trivial = {name: why for name in weak if (why := self.trial.trivial(name))}

    def _is_brief(self, property: str) -> bool:
        """Whether a brief question can find it broken."""
        return self.limits.walks is None or self.trial.kinds[property] not in NEVER_BROKEN_ON_WALKS

    def _is_open(self, mutant: Anything, properties: Sequence[str]) -> bool:
        """Whether what was asked of a mutant leaves open what it does to one of the properties."""
        answers = [seen[mutant.digest] for _, seen in self.found.others if mutant.digest in seen]
        return not answers or not set(properties).isdisjoint(answers[-1].open)

    def _unsuited(self, mutant: Anything, property: str) -> int:
        """How little a mutant is of the sort that breaks such a property: one that takes something away
        breaks what must come about, the more it takes the sooner; one that lets more happen what must not.
        """
        operator = mutant.change.operator if isinstance(mutant, Mutant) else ""
        takes = TAKES_AWAY.index(operator) if operator in TAKES_AWAY else len(TAKES_AWAY)
        if self.trial.kinds[property] in COMES_ABOUT:
            return takes
        return 0 if takes == len(TAKES_AWAY) else 1

    def _promising(self, property: str, breaking: Mapping[str, list[str]]) -> list[str]:
        """The names of mutants that are known to break a property: here as far as is written, elsewhere."""
        written = [self._known.by.get(str(check)) for _, check in self.checks if check.property == property]
        here = [name for name in written if name is not None]
        return list(dict.fromkeys((*here, *breaking.get(property, ()), *self._known.of(property))))

    def _unbroken_by(
        self,
        properties: Sequence[str],
        mutants: Sequence[Anything],
        breaking: Mapping[str, list[str]],
        tell: Tell,
        ends: float,
        *,
        briefly: bool,
    ) -> list[str]:
        """Ask the mutants about some properties until each is broken or the time is over, the most promising
        first; the properties that none broke.
        """
        if not properties or not mutants:
            return list(properties)
        asking = Asking(self, properties, {}, briefly=briefly)
        self.found.others.append((tuple(properties), asking.seen))
        left = list(mutants)
        judged = judged_by(self.program)
        places = {
            property: {name: place for place, name in enumerate(self._promising(property, breaking))}
            for property in properties
        }

        def promise(mutant: Anything) -> tuple[float, bool, bool, int, bool]:
            place = min(places[property].get(mutant.name, math.inf) for property in unbroken)
            method = mutant.method.partition("_of_")[0] if isinstance(mutant, Mutant) else ""
            is_far = unbroken.isdisjoint(judged.get(method, ()))
            touches = not unbroken.isdisjoint(self.found.touched[mutant.digest])
            unsuited = min(self._unsuited(mutant, property) for property in unbroken)
            must_come = all(self.trial.kinds[property] is PropertyKind.WITNESS for property in unbroken)
            is_later = isinstance(mutant, LeftOut if must_come else Mutant)
            return place, is_later, is_far, unsuited, not touches

        try:
            while left and (unbroken := asking.unbroken()):
                mutant = min(left, key=promise)
                left.remove(mutant)
                if time.process_time() < ends or asking.knows(mutant):
                    tell(mutant)
                    asking.ask(mutant)
                else:
                    self.found.unasked.update((name, mutant.digest) for name in unbroken)
        finally:
            asking.save()
        return sorted(asking.unbroken())

    def strengths(self) -> Iterator[Strength]:
        """How each check came out."""
        for claim, check in self.checks:
            if why := self.found.trivial.get(check.property, ""):
                yield Strength(claim, check, trivial=why)
            else:
                yield self._counted(claim, check)

    def _counted(self, claim: Claim, check: Check) -> Strength:
        name, elsewhere = check.property, 0
        fates: Counter[str] = Counter()
        later: dict[str, Answer] = {}
        by = ""
        for properties, seen in self.found.others:
            later |= seen if name in properties else {}
        for digest, answer in (*self.found.sample.items(), *later.items()):
            if answer.fate is Fate.INVALID or name in answer.apart:
                continue
            by = by or (digest if name in answer.broken else "")
            if name not in self.found.touched[digest]:
                elsewhere += name in answer.broken
            elif name in answer.broken:
                fates["killed"] += 1
            elif name in answer.open:
                fates["open"] += 1
            else:
                fates["equivalent" if answer.fate is Fate.EQUIVALENT else "kept"] += 1
        return Strength(
            claim,
            check,
            fates.total(),
            fates["killed"],
            fates["kept"],
            fates["equivalent"],
            fates["open"],
            elsewhere,
            by=self.names.get(by, ""),
            unasked=sum(property == name for property, _ in self.found.unasked),
        )
