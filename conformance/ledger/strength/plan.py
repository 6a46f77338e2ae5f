"""Plan for one program: the mutants that are checked in it.

Sampled mutants are checked against all properties of the program, the others against those that no sampled
mutant breaks.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from antiphon.conformance.ledger.strength.answers import FORM, Answers, mutating_code, walking_code
from antiphon.conformance.ledger.strength.guards import GUARD_SECONDS, guard_of
from antiphon.conformance.ledger.strength.programs import (
    Group,
    checks_that_hold,
    digest_of,
    judged_by,
    meaning_of,
    program_text,
    text_mutants,
)
from antiphon.conformance.ledger.strength.refined import RefinementTrial
from antiphon.conformance.ledger.strength.results import FamilyStrength, Strength, verdict_of
from antiphon.conformance.ledger.strength.walked import NEVER_BROKEN_ON_WALKS, WalkedTrial, Walks
from antiphon.model.bounds import Bounds
from antiphon.model.explore.stuttering import differs_by_stuttering
from antiphon.model.mutation import Answer, Fate, LeftOut, Mutant, Trial
from antiphon.model.verdict import PropertyKind
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim

__all__ = ["Anything", "Found", "Known", "Limits", "Plan", "Settled", "Tell"]

SAVED_SECONDS = 10.0
"""Seconds between two writes of the answers to disk."""

TAKES_AWAY = ("never happens", "handler silent", "update left out")
"""Operators that remove steps or effects, the one that removes most first."""

COMES_ABOUT = (PropertyKind.WITNESS, PropertyKind.OBLIGATION, PropertyKind.LIVENESS)
"""Kinds of properties that demand an event."""

Anything = Mutant | LeftOut

Settled = AbstractSet[str]

Tell = Callable[[Anything], object]


@dataclass(frozen=True)
class Limits:
    """Limits of the checks of one program: bounds for each mutant in generated Python and in machine code,
    seconds for each phase, and, for a program that takes long, random walks.
    """

    bounds: tuple[Bounds, Bounds]
    seconds: float
    walks: Walks | None = None


class Known:
    """Mutants that are known to break properties, by their names.

    Earlier results name the first mutant that broke each check. The ledger records which properties are
    violated with a repair left out, or a fault planted.
    """

    def __init__(self, earlier: FamilyStrength | None, claims: Sequence[Claim]) -> None:
        rows = {} if earlier is None else {_row(item): item.by for item in earlier.checks if item.by}
        checks = [
            (claim.id, check.property, program_text(check)) for claim, check in checks_that_hold(claims)
        ]
        self._by = {key[1:]: rows[key] for key in checks if key in rows}
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
        for (property, _), name in self._by.items():
            self._often.setdefault(property, Counter())[name] += 1

    def by(self, check: Check) -> str:
        """Return the name of the mutant that broke a check before; "" if none is known."""
        return self._by.get((check.property, program_text(check)), "")

    def of(self, property: str) -> list[str]:
        """Return the names of the mutants that broke a property in any program, the most frequent first, then
        the recorded ones.
        """
        often = self._often.get(property, Counter()).most_common()
        return [*(name for name, _ in often), *self._recorded.get(property, ())]


def _row(item: Strength) -> tuple[str, str, str]:
    return item.claim, item.property, item.program


@dataclass
class Found:
    """Answers of the mutants of one program.

    Attributes:
        sample: answers about all properties, by the digests of the mutants.
        others: answers about some properties, with these.
        trivial: the reasons why properties cannot fail, by the properties.
        touched: the properties that each mutant touches, by its digest.
        unasked: properties with the mutants that were left when the time was over.
        guards: answers of changed guards, by their names.
        read: the number of answers that were on disk.
        asked: the number of answers that were computed.
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
    """Mutants checked against some properties of one program, with cached answers.

    With `compares` they are checked against all properties, and for any visible change. With `briefly` fewer
    states are explored.
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
        """Return True if the answer is known."""
        return mutant.digest in self._kept

    def ask(self, mutant: Anything) -> None:
        """Check a mutant, unless its answer is known."""
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
        """Return the properties that no mutant broke."""
        return set(self.properties).difference(*(answer.broken for answer in self.seen.values()))

    def save(self) -> None:
        """Write the answers to disk."""
        self._plan.answers.put(self._key, self._kept)
        self._saved = time.monotonic()


class Plan:
    """Plan for one program: its checks and its mutants.

    `judges` is True if the program has handlers, which judge its events. Mutants in `judged_elsewhere` are
    also mutants of a program with handlers, while this one has none: there they may have a visible effect.
    `guards` are changed guards, by their names.
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
        """Return the trial of the program, which is made at the first call."""
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
        """Return True if a mutant differs from the original program only by added or removed steps that
        change nothing.
        """
        mutant = next(item for item in self.mutants if item.digest == digest)
        return differs_by_stuttering(self.program, mutant.of(self.program), bounds)

    def end_trial(self) -> None:
        """Free the memory of the trial."""
        self._trial = None

    def ask_sample(self, tell: Tell, settled: Settled) -> None:
        """Check the sample against all properties, and for visible changes, without mutants in `settled`."""
        self._ask_all([item for item in self.sampled if item.digest not in settled], tell, compares=True)

    def pursue(self, tell: Tell, unnoticed: Mapping[str, str]) -> None:
        """Check mutants with a visible effect that break no check of another program, unless they were
        checked.

        `unnoticed` has their names by their digests. In a program of another family they are found by name:
        another class may stand above the changed one there, so that digests differ.
        """
        names = set(unnoticed.values()) if self.is_guest else set()
        wanted = unnoticed.keys() - self.found.sample.keys()
        chosen = [item for item in self.mutants if item.digest in wanted or item.name in names]
        self._ask_all(chosen, tell)

    def ask_guards(self, tell: Tell, settled: Settled, *, briefly: bool = False) -> None:
        """Check the changed guards, except those in `settled`, against all properties.

        A check that is not brief explores further, and also finds whether a guard has any effect, in a
        program of the family that does not take long.
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
        """Yield the names of the changed guards that break some check of this program."""
        changed = {item.digest: item for item in self.mutants if isinstance(item, Mutant)}
        for seen in (self.found.sample, *(seen for _, seen in self.found.others)):
            broken = (digest for digest, answer in seen.items() if answer.broken)
            yield from (guard_of(changed[digest]) for digest in broken if digest in changed)
        yield from (name for name, answer in self.found.guards.items() if answer.broken)

    def _ask_all(self, mutants: Sequence[Anything], tell: Tell, *, compares: bool = False) -> None:
        """Check mutants against all properties. Store the answers, even after an interruption."""
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
        """Check the mutants beyond the sample, until every property that no sampled mutant breaks is broken.

        Each phase checks some mutants against the properties that are still unbroken. A brief phase ends
        after half of the time. A phase that is not brief repeats the checks that the brief one left open.

        Args:
            tell: called before each mutant.
            breaking: names of mutants by the properties that they broke in some program, the last first.
        """
        found, begun = self.found, time.process_time()
        weak = sorted(set(self.properties).difference(*(answer.broken for answer in found.sample.values())))
        found.touched = {item.digest: self.trial.touched(item) for item in self.mutants}
        for mutants, briefly in self._phases(weak, breaking):
            if briefly:
                chosen, asked = mutants, [name for name in weak if self._is_brief(name)]
            else:
                chosen, asked = [item for item in mutants if self._is_open(item, weak)], weak
            ends = begun + self.limits.seconds / (2 if briefly else 1)
            unbroken = self._unbroken_by(asked, chosen, breaking, tell, ends, briefly=briefly)
            weak = [name for name in weak if name not in asked or name in unbroken]
        found.trivial = {name: why for name in weak if (why := self.trial.trivial(name))}

    def _phases(
        self, weak: Sequence[str], breaking: Mapping[str, list[str]]
    ) -> list[tuple[list[Anything], bool]]:
        """Return the mutants of each phase, and whether it is brief.

        Mutants that are known to break a weak property come before the rest. In a program that takes long the
        killers of earlier results come first of all, and every brief phase comes before the others: a brief
        question takes walks there, which find more in less time.
        """
        others = [item for item in self.mutants if item.digest not in self.found.sample]
        likely = {name for property in weak for name in self._promising(property, breaking)}
        first = [item for item in others if item.name in likely]
        rest = [item for item in others if item.name not in likely]
        if self.limits.walks is None:
            return [(first, True), (first, False), (rest, True), (rest, False)]
        written = {self._known.by(check) for _, check in self.checks}
        again = [item for item in others if item.name in written]
        return [(again, True), (again, False), (first, True), (rest, True), (first, False), (rest, False)]

    def _is_brief(self, property: str) -> bool:
        """Return True if a brief check of a mutant can show that the property is violated."""
        return self.limits.walks is None or self.trial.kinds[property] not in NEVER_BROKEN_ON_WALKS

    def _is_open(self, mutant: Anything, properties: Sequence[str]) -> bool:
        """Return True if the last answer about a mutant leaves one of the properties undecided, or if there
        is no answer.
        """
        answers = [seen[mutant.digest] for _, seen in self.found.others if mutant.digest in seen]
        return not answers or not set(properties).isdisjoint(answers[-1].open)

    def _unsuited(self, mutant: Anything, property: str) -> int:
        """Return the sort key of a mutant by its chance to break a property, the most promising first.

        A mutant that takes something away breaks what must happen: the more it takes, the sooner. A mutant
        that lets more happen breaks what must not happen.
        """
        operator = mutant.change.operator if isinstance(mutant, Mutant) else ""
        takes = TAKES_AWAY.index(operator) if operator in TAKES_AWAY else len(TAKES_AWAY)
        if self.trial.kinds[property] in COMES_ABOUT:
            return takes
        return 0 if takes == len(TAKES_AWAY) else 1

    def _promising(self, property: str, breaking: Mapping[str, list[str]]) -> list[str]:
        """Name the mutants that are known to break a property: first in this program, then in others."""
        known = (self._known.by(check) for _, check in self.checks if check.property == property)
        here = [name for name in known if name]
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
        """Check the mutants against some properties, the most promising mutants first, until each property is
        broken or the time ends.

        Return the properties that no mutant broke.
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

    def strengths(self) -> Iterator[tuple[Check, Strength]]:
        """Yield every check with its counts and its verdict."""
        for claim, check in self.checks:
            if why := self.found.trivial.get(check.property, ""):
                refused = verdict_of(touch=0, breaking=0, left=0, trivial=why)
                name, text = check.property, program_text(check)
                yield check, Strength(claim=claim.id, property=name, program=text, verdict=refused)
            else:
                yield check, self._counted(claim, check)

    def _counted(self, claim: Claim, check: Check) -> Strength:
        name, others = check.property, 0
        counts: Counter[str] = Counter()
        later: dict[str, Answer] = {}
        by = ""
        for properties, seen in self.found.others:
            later |= seen if name in properties else {}
        for digest, answer in (*self.found.sample.items(), *later.items()):
            if answer.fate is Fate.INVALID or name in answer.apart:
                continue
            by = by or (digest if name in answer.broken else "")
            if name not in self.found.touched[digest]:
                others += name in answer.broken
            elif name in answer.broken:
                counts["break_"] += 1
            elif name in answer.open:
                counts["open"] += 1
            else:
                counts["same" if answer.fate is Fate.EQUIVALENT else "keep"] += 1
        unasked = sum(property == name for property, _ in self.found.unasked)
        touch = counts.total()
        return Strength(
            claim=claim.id,
            property=name,
            program=program_text(check),
            touch=touch,
            **counts,
            others=others,
            by=self.names.get(by, ""),
            verdict=verdict_of(
                touch=touch, breaking=counts["break_"] + others, left=counts["open"] + unasked
            ),
        )
