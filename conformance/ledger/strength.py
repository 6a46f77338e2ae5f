"""A verdict that cannot fail is worth nothing: every check that is recorded to hold is asked again of mutants
of its specification, and says how many of them break it.

1. A check is *strong* when some mutant breaks it. One that no mutant breaks is *weak*: it cannot fail, as far
   as these mutants reach, and its `holds` is reported as unknown; as undecided, where a mutant that touches
   it was not explored to the end. One that no mutant breaks, and whose constants leave no state or step that
   could break it, is *trivial*, and is refused.
2. Mutants are sampled by their digests and a seed, the same ones for all programs of a text. One is asked in
   one program after the other until it breaks a check, or can be seen; where it cannot, in `MOST_PROGRAMS`.
3. One that can be seen in some program and breaks no check there is asked in all others too, until it breaks
   one: then in those of other families that have the changed class as a part, and in those of deep checks.
   One that adds and takes away nothing but steps which change nothing is the *same*. What then is
   left is told: there a check is missing, or the text says more than anybody can notice.
4. A check that no sampled mutant breaks is asked of the others too until one does: first of those that are
   known to have broken the property, from the table that is written, from an earlier program, or from what
   the ledger records to be violated; then of repairs left out and faults planted, of those in the method that
   judges it, of those of a fitting sort, of those that touch it. They are asked briefly, and those that this
   left open again.
5. Each of these steps ends for each program after `SECONDS` of processor time. What was not asked then leaves
   a check undecided: it never makes one weak, and neither does a sample.
6. What was asked is kept on disk as soon as it is answered; what is interrupted goes on where it was.
7. Programs are asked in rounds of one, two, four, …, and independently of one another in each, so that the
   answers do not depend on how many processes share them, as long as the time is enough.

This file knows which classes are a protocol's text, and nothing of any protocol.
"""

from __future__ import annotations

import hashlib
import math
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import msgspec

import antiphon.model.mutation
from antiphon.conformance.ledger.checking import program_of
from antiphon.model.bounds import Bounds
from antiphon.model.cache import Cache
from antiphon.model.explore.stuttering import differs_by_stuttering
from antiphon.model.mutation import BOUNDS, FURTHER, Answer, Fate, LeftOut, Mutant, Trial, mutants_of
from antiphon.model.mutation.mutants import reached
from antiphon.model.verdict import PropertyKind
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim, all_claims, is_borrowed
from antiphon.spec.claims.survivors import reason_of
from antiphon.spec.lang import Program, ir
from antiphon.spec.lang.dump import dump
from antiphon.spec.lang.variants import Restriction
from antiphon.spec.lang.walk import nodes

NOT_TEXT = ("bounds", "properties", "refinement", "resilience", "two_views_checked")
"""Modules of a protocol that bound it or judge it."""

SEED = 7
SAVED_SECONDS = 10.0
"""How often answers are written down."""

FORM = 2
"""The form of what is kept; a higher one asks everything anew."""

MOST_PROGRAMS = 6
"""In so many programs a mutant of the sample is asked whether it can be seen."""

TAKES_AWAY = ("update left out", "handler silent", "never happens")
"""Operators after which less happens."""

COMES_ABOUT = (PropertyKind.WITNESS, PropertyKind.OBLIGATION, PropertyKind.LIVENESS)
"""Properties that say what must come about."""

SECONDS = 120.0
"""So much processor time is spent on one program in each step."""

Anything = Mutant | LeftOut
Settled = AbstractSet[str]
Tell = Callable[[Anything], object]
Work = Callable[["_Plan", Tell], object]


@dataclass(frozen=True)
class Strength:
    """What the mutants of its specification did to one check that is recorded to hold.

    `asked` counts those that touch what the property reads; of them `killed` break it, `kept` change
    something or were not compared, and do not, `equivalent` change nothing within the constants
    and `open` were not explored far enough. `elsewhere` are further mutants that break it; `by` is the first
    that does. `unasked` were left when the time was over. `trivial` says why it cannot fail with these
    constants.
    """

    claim: Claim
    check: Check
    asked: int = 0
    killed: int = 0
    kept: int = 0
    equivalent: int = 0
    open: int = 0
    elsewhere: int = 0
    trivial: str = ""
    by: str = ""
    unasked: int = 0

    @property
    def can_fail(self) -> bool:
        """Whether some mutant breaks it."""
        return self.killed + self.elsewhere > 0

    @property
    def is_undecided(self) -> bool:
        """Whether no mutant breaks it, and one was not asked, or touches it and was not seen to the end."""
        return self.open + self.unasked > 0 and not self.can_fail

    @property
    def verdict(self) -> str:
        """What is reported in the place of `holds`."""
        if self.trivial:
            return f"refused: {self.trivial}"
        if self.can_fail:
            return "holds"
        if self.is_undecided:
            return "unknown: undecided"
        return "unknown: cannot fail" if self.asked else "unknown: no mutant touches it"


@dataclass(frozen=True)
class Survivor:
    """A mutant that changes the behaviour of some program of the protocol and that no check notices; in how
    many programs.
    """

    mutant: str
    programs: int


@dataclass
class Tally:
    """What became of the mutants of one family, each counted once over all its programs: `changing` ones
    change what can be seen of some program, `killed` ones break a check of some, `inner` ones change states
    or steps that nobody sees.
    """

    tried: int = 0
    changing: int = 0
    killed: int = 0
    inner: int = 0
    equivalent: int = 0
    undecided: int = 0
    invalid: int = 0
    survivors: list[Survivor] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Which part of the mutants that change the behaviour is killed."""
        return self.killed / self.changing if self.changing else 1.0


@dataclass(frozen=True)
class FamilyStrength:
    """The checks of a family, the mutants, and how they were chosen."""

    family: str
    checks: tuple[Strength, ...]
    tally: Tally
    sample: int | None
    seed: int
    left_out: int


def is_text(part: type) -> bool:
    """Whether a class is the text of a protocol: not what surrounds, bounds, restricts or judges it."""
    package, _, module = part.__module__.rpartition(".")
    ours = package.startswith("antiphon.spec.")
    around = ours and not package.startswith(("antiphon.spec.protocols", "antiphon.spec.examples"))
    restricts = isinstance(vars(part).get("__antiphon_variant__"), Restriction)
    return not (around or restricts or module in NOT_TEXT)


def strength(
    claims: Iterable[Claim],
    *,
    deep: bool = False,
    sample: int | None = None,
    seed: int = SEED,
    bounds: Bounds = BOUNDS,
    further: Bounds = FURTHER,
    answers: Answers | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    jobs: int = 1,
    hints: Mapping[str, str] | None = None,
    seconds: float = SECONDS,
) -> FamilyStrength:
    """Asks the mutants of every specification that these claims check; the claims are of one family.

    Args:
        claims: their checks that are recorded to hold are asked, but for refinements.
        deep: also those that take long.
        sample: how many mutants of each text are asked of all its programs; None for all of them.
        seed: chooses the sample.
        bounds: how far each mutant is explored by generated Python.
        further: how far machine code goes where that leaves something open.
        answers: what was answered before.
        progress: called before each mutant, or, with several processes, after each program, with its number,
            how many there are, and what it is.
        jobs: how many processes ask; each has one program at a time.
        hints: by the text of a check, the name of a mutant that broke it.
        seconds: how much processor time each step spends on one program.
    """
    claims, answers = tuple(claims), answers or Answers(Cache(None))
    known = _Known(hints or {}, claims)
    groups = _groups(item for item in _explored(claims) if not item[1].deep)
    late = _groups(item for item in _explored(claims) if item[1].deep)
    limits = _Limits((bounds, further), seconds)
    plans = [_Plan(group, limits, answers, sample, seed, known) for group in groups]
    beside = [_Plan(group, limits, answers, 0, seed, known) for group in late]
    told = [*plans, *(beside if deep else [])]
    if not told:
        return FamilyStrength("", (), Tally(), sample, seed, sum(1 for _ in held(claims)))
    judged = frozenset(digest for plan in (*plans, *beside) if plan.judges for digest in plan.names)
    for plan in plans:
        plan.judged_elsewhere = frozenset() if plan.judges else judged
    team = _Team(sum(len(plan.sampled) for plan in plans), jobs, progress)
    for some in _rounds(plans):
        team.all_do(some, partial(_Plan.ask_sample, settled=_settled(plans)))
    for some in _rounds(told):
        team.all_do(some, partial(_Plan.ask_others, breaking=_breaking([*plans, *beside])))
    guests = [
        _Plan(group, limits, answers, 0, seed, known, is_guest=True)
        for group in _groups(_elsewhere(claims, _owners([*plans, *beside])))
    ]
    everything = [*plans, *guests, *beside]
    for some in _rounds(everything):
        team.all_do(some, partial(_Plan.pursue, unnoticed=_unnoticed(everything)))
    answers.read += sum(plan.found.read for plan in everything)
    answers.asked += sum(plan.found.asked for plan in everything)
    found = tuple(item for plan in told for item in plan.strengths())
    order = {id(check): number for number, (_, check) in enumerate(held(claims))}
    return FamilyStrength(
        claims[0].protocol,
        tuple(sorted(found, key=lambda item: order[id(item.check)])),
        _tally(everything, _stuttering(everything, bounds, seconds)),
        sample,
        seed,
        len(order) - len(found),
    )


def held(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Check]]:
    """The checks that are recorded to hold, but for those that an earlier family asks of mutants."""
    for claim in claims:
        for check in claim.checks:
            if isinstance(check, Check) and check.outcome == "holds" and not is_borrowed(claim, check):
                yield claim, check


def meaning_of(program: Program, properties: Iterable[str]) -> str:
    """The digest of what a program does and of what some properties say of it; what else could be asked of it
    has no part in how these come out.
    """
    module, asked = program.module, set(properties)
    parts = replace(
        module,
        predicates=tuple(item for item in module.predicates if item.name in asked),
        step_invariants=tuple(item for item in module.step_invariants if item.name in asked),
        liveness=tuple(item for item in module.liveness if item.name in asked),
        properties=tuple(name for name in module.properties if name in asked),
    )
    needed = frozenset[str]().union(*(reached(part, module) for part in _parts(parts)))
    parts = replace(parts, functions=tuple(item for item in module.functions if item.name in needed))
    return _digest(dump(parts, prose=False))


def _parts(module: ir.Module) -> Iterator[object]:
    """Everything that calls functions."""
    yield from (*module.procedures, *module.initials, *module.actions, *module.handlers, *module.fair)
    yield from (*module.predicates, *module.step_invariants, *module.liveness, *module.variables)


Group = tuple[Program, list[tuple[Claim, Check]]]


def _explored(claims: Iterable[Claim]) -> Iterator[tuple[Claim, Check]]:
    """Those of them that are no refinement."""
    return (item for item in held(claims) if refinement_of(item[1].spec) is None)


def _groups(checks: Iterable[tuple[Claim, Check]]) -> list[Group]:
    """Checks of one program together, programs of one text one after the other."""
    found: dict[tuple[object, ...], Group] = {}
    for claim, check in checks:
        bound = program_of(check)
        key = bound.spec, tuple(sorted(bound.constants.items()))
        found.setdefault(key, (bound, []))[1].append((claim, check))
    texts = list(dict.fromkeys(bound.text for bound, _ in found.values()))
    return sorted(found.values(), key=lambda group: texts.index(group[0].text))


class Answers:
    """What mutants of a program did, kept on disk by all that it depends on; `read` counts what was there."""

    def __init__(self, cache: Cache, *, fresh: bool = False) -> None:
        self.cache, self.fresh, self.read, self.asked = cache, fresh, 0, 0

    @staticmethod
    def private(*, fresh: bool = False) -> Answers:
        """The answers that this user's earlier runs kept."""
        return Answers(Cache.private("mutants"), fresh=fresh)

    def of(self, key: str) -> dict[str, Answer]:
        """All answers under a key, by mutant and property."""
        content = None if self.fresh else self.cache.get(key)
        if content is None:
            return {}
        try:
            return msgspec.json.decode(content, type=dict[str, Answer])
        except msgspec.DecodeError:
            return {}

    def put(self, key: str, answers: dict[str, Answer]) -> None:
        """Keep all answers of a key."""
        self.cache.put(key, msgspec.json.encode(answers))


@dataclass
class _Found:
    """What the mutants of one program did: the answers of those that were asked about all its properties, by
    their digests; those of others, asked about some; why properties are trivial; which ones each mutant
    touches; of which properties which mutants were left when the time was over. How many answers were read,
    and how many asked.
    """

    sample: dict[str, Answer] = field(default_factory=dict)
    others: list[tuple[tuple[str, ...], dict[str, Answer]]] = field(default_factory=list)
    trivial: dict[str, str] = field(default_factory=dict)
    touched: dict[str, frozenset[str]] = field(default_factory=dict)
    unasked: set[tuple[str, str]] = field(default_factory=set)
    read: int = 0
    asked: int = 0


class _Asking:
    """Some properties of one program, the mutants that are asked about them, and their answers.

    `compares`: about all of its properties, and whether they change anything at all. `briefly`: within fewer
    states.
    """

    def __init__(
        self,
        plan: _Plan,
        properties: Sequence[str],
        seen: dict[str, Answer],
        *,
        compares: bool = False,
        briefly: bool = False,
    ) -> None:
        self.properties, self.seen, self.compares, self.briefly = properties, seen, compares, briefly
        self._plan, self._saved = plan, time.monotonic()
        program = plan.program
        question = (repr(plan.limits.bounds), f"{compares} {briefly}", *properties)
        asked = meaning_of(program, plan.properties), repr(sorted(program.constants.items()))
        self._key = _digest(f"{FORM} {_mutating_code()}", program.name, *asked, *question)
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


@dataclass(frozen=True)
class _Limits:
    """How far each mutant is explored by either engine, and how long a step may take for one program."""

    bounds: tuple[Bounds, Bounds]
    seconds: float


class _Known:
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


class _Plan:
    """One program and its checks: the sample is asked about all of them, the other mutants about those that
    none of the sample breaks.

    `judges`: somebody judges its events; `judged_elsewhere` are mutants of one where nobody does, and of
    another program where somebody does, which then says what can be seen.
    """

    def __init__(
        self,
        group: Group,
        limits: _Limits,
        answers: Answers,
        sample: int | None,
        seed: int,
        known: _Known,
        *,
        is_guest: bool = False,
    ) -> None:
        self.program, self.checks = group
        self.limits, self.answers, self.is_guest = limits, answers, is_guest
        self.properties = list(dict.fromkeys(check.property for _, check in self.checks))
        mutants: list[Anything] = [*_mutants(self.program), *LeftOut.of_program(self.program)]
        self.mutants = sorted(mutants, key=lambda item: _digest(str(seed), item.digest))
        self.names = {item.digest: item.name for item in mutants}
        self.sampled: Sequence[Anything] = self.mutants[:sample]
        self.judges = bool(self.program.module.handlers)
        self.judged_elsewhere: frozenset[str] = frozenset()
        self.found = _Found()
        self._known = known
        self._trial: Trial | None = None

    @property
    def trial(self) -> Trial:
        """The trial of the program, begun when it is needed."""
        if self._trial is None:
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

    def _ask_all(self, mutants: Sequence[Anything], tell: Tell, *, compares: bool = False) -> None:
        """Ask about all properties; what was answered is kept, however this ends."""
        if not mutants:
            return
        asking = _Asking(self, self.properties, self.found.sample, compares=compares)
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
        for is_likely in (True, False):
            some = [item for item in others if (item.name in likely) == is_likely]
            weak = self._unbroken_by(weak, some, breaking, tell, begun + seconds / 2, briefly=True)
            open_by = {digest: answer.open for _, seen in found.others for digest, answer in seen.items()}
            far = [item for item in some if not set(weak).isdisjoint(open_by.get(item.digest, ()))]
            weak = self._unbroken_by(weak, far, breaking, tell, begun + seconds, briefly=False)
        found.trivial = {name: why for name in weak if (why := self.trial.trivial(name))}

    def _suits(self, mutant: Anything, property: str) -> bool:
        """Whether a mutant is of the sort that breaks such a property: one that takes something away breaks
        what must come about, one that lets more happen what must not.
        """
        takes = isinstance(mutant, Mutant) and mutant.change.operator in TAKES_AWAY
        return takes == (self.trial.kinds[property] in COMES_ABOUT)

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
        asking = _Asking(self, properties, {}, briefly=briefly)
        self.found.others.append((tuple(properties), asking.seen))
        left = list(mutants)
        judged = _judged(self.program)
        places = {
            property: {name: place for place, name in enumerate(self._promising(property, breaking))}
            for property in properties
        }

        def promise(mutant: Anything) -> tuple[float, bool, bool, bool, bool]:
            place = min(places[property].get(mutant.name, math.inf) for property in unbroken)
            method = mutant.method.partition("_of_")[0] if isinstance(mutant, Mutant) else ""
            is_far = unbroken.isdisjoint(judged.get(method, ()))
            touches = not unbroken.isdisjoint(self.found.touched[mutant.digest])
            suits = any(self._suits(mutant, property) for property in unbroken)
            return place, isinstance(mutant, Mutant), is_far, not suits, not touches

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


class _Team:
    """The processes that ask the mutants of programs; with one there is no other than this."""

    working: ClassVar[tuple[Sequence[_Plan], Work]]
    """What the processes do that are begun now."""

    def __init__(self, total: int, jobs: int, progress: Callable[[int, int, str], None] | None) -> None:
        self.jobs = jobs
        self._progress = progress or (lambda *_: None)
        self._asked, self._total = 0, total

    def all_do(self, plans: Sequence[_Plan], work: Work) -> None:
        """Have this done with all of some programs."""
        if (jobs := min(self.jobs, len(plans))) == 1:
            for plan in plans:
                self._do(plan, work)
            return
        _Team.working = plans, work
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
            for plan, found in zip(plans, pool.map(_worked, range(len(plans))), strict=True):
                self._tell(plan.program.name, found.read + found.asked - plan.found.read - plan.found.asked)
                plan.found = found

    def _do(self, plan: _Plan, work: Work) -> None:
        work(plan, lambda mutant: self._tell(f"{plan.program.name} {mutant}"))
        plan.end_trial()

    def _tell(self, what: str, asked: int = 1) -> None:
        self._progress(min(self._asked, self._total), self._total, what)
        self._asked += asked


def _worked(number: int) -> _Found:
    """What a process of a team found out about one program."""
    plans, work = _Team.working
    work(plans[number], lambda _: None)
    plans[number].end_trial()
    return plans[number].found


def _rounds(plans: Sequence[_Plan]) -> Iterator[Sequence[_Plan]]:
    """One program, the next two, the next four: later ones ask first what broke something in earlier ones."""
    begin = 0
    while begin < len(plans):
        yield plans[begin : 2 * begin + 1]
        begin = 2 * begin + 1


def _owners(plans: Sequence[_Plan]) -> set[type]:
    """The classes whose text mutants change that can be seen and were not noticed."""
    unnoticed = _unnoticed(plans)
    mutants = (item for plan in plans for item in plan.mutants if item.digest in unnoticed)
    return {item.owner for item in mutants if isinstance(item, Mutant)}


def _elsewhere(claims: Sequence[Claim], owners: AbstractSet[type]) -> Iterator[tuple[Claim, Check]]:
    """Checks of other records that take no long time, of programs of which one of these classes is a part."""
    own = {claim.id for claim in claims}
    for claim, check in _explored(all_claims()):
        is_quick = claim.id not in own and not check.deep
        if is_quick and not owners.isdisjoint(program_of(check).text.__mro__ if owners else ()):
            yield claim, check


def _settled(plans: Iterable[_Plan]) -> Settled:
    """The mutants of the sample that need not be asked further whether they can be seen, by their digests."""
    answered = [(digest, _fate(plan, digest)) for plan in plans for digest in plan.found.sample]
    often = Counter(digest for digest, _ in answered)
    seen = {digest for digest, fate in answered if fate in (Fate.KILLED, Fate.SURVIVED)}
    return seen | {digest for digest, count in often.items() if count >= MOST_PROGRAMS}


def _breaking(plans: Iterable[_Plan]) -> dict[str, list[str]]:
    """The names of the mutants that broke each property in some program, the last first."""
    found: dict[str, list[str]] = {}
    for plan in plans:
        for seen in (plan.found.sample, *(seen for _, seen in plan.found.others)):
            for digest, answer in seen.items():
                named = plan.names[digest]
                for name in answer.broken:
                    found[name] = [named, *(item for item in found.get(name, []) if item != named)]
    return found


def _mutants(program: Program) -> tuple[Mutant, ...]:
    """The mutants of a protocol's text; of a service that is checked by itself, those of its own module."""
    own = program.spec.__module__
    return mutants_of(program, is_text) or mutants_of(program, lambda part: part.__module__ == own)


def _judged(program: Program) -> dict[str, set[str]]:
    """The properties that actions, procedures and handlers judge by themselves, by their names."""
    module = program.module
    return {
        item.name: {node.property for node in nodes(item.body) if isinstance(node, ir.Expect)}
        for item in (*module.actions, *module.procedures, *module.handlers)
    }


def _unnoticed(plans: Sequence[_Plan]) -> dict[str, str]:
    """The digests and names of the mutants that can be seen in some program and break no check of any; but
    for those of which it is said why none need notice them.
    """
    names = {digest: name for plan in plans for digest, name in plan.names.items()}
    found = sorted(_seen(plans) - _killed(plans))
    return {digest: names[digest] for digest in found if not reason_of(names[digest])}


def _seen(plans: Sequence[_Plan]) -> set[str]:
    """The mutants that can be seen in some program and break no check of it."""
    return {digest for plan in plans for digest in plan.found.sample if _fate(plan, digest) is Fate.SURVIVED}


def _killed(plans: Sequence[_Plan]) -> set[str]:
    """The mutants that break a check of some program, or one of the same name of another family's."""
    broken = [(plan, digest) for plan in plans for digest in plan.found.sample if _kills(plan, digest)]
    names = {plan.names[digest] for plan, digest in broken if plan.is_guest}
    by_name = {digest for plan in plans for digest, name in plan.names.items() if name in names}
    return by_name | {digest for _, digest in broken}


def _kills(plan: _Plan, digest: str) -> bool:
    """Whether a mutant breaks a check of a program."""
    return _fate(plan, digest) is Fate.KILLED


def _fate(plan: _Plan, digest: str) -> Fate | None:
    """What became of a mutant in one program."""
    answer = plan.found.sample.get(digest)
    if answer is not None and answer.fate is Fate.SURVIVED and digest in plan.judged_elsewhere:
        return Fate.INNER
    return None if answer is None else answer.fate


def _stuttering(plans: Sequence[_Plan], bounds: Bounds, seconds: float) -> set[str]:
    """The mutants of the sample that no check notices, and that wherever they can be seen differ from the
    program in nothing but steps that change nothing; by their digests, as far as the time goes.
    """
    ends = time.process_time() + seconds
    unnoticed = _seen(plans) - _killed(plans)
    found = set()
    for digest in sorted(unnoticed):
        shown = [plan for plan in plans if _fate(plan, digest) is Fate.SURVIVED]
        if all(time.process_time() < ends and plan.differs_by_stuttering(digest, bounds) for plan in shown):
            found.add(digest)
    return found


def _tally(plans: Sequence[_Plan], same: AbstractSet[str]) -> Tally:
    names: dict[str, str] = {}
    fates: dict[str, list[Fate]] = {}
    killed = _killed(plans)
    for plan in (item for item in plans if not item.is_guest):
        for mutant in plan.mutants:
            if (fate := _fate(plan, mutant.digest)) is not None:
                names[mutant.digest] = str(mutant)
                fates.setdefault(mutant.digest, []).append(fate)
    tally = Tally(tried=len(fates))
    for digest, found in fates.items():
        if digest in same:
            tally.equivalent += 1
        elif digest in killed or Fate.SURVIVED in found:
            tally.changing += 1
            tally.killed += digest in killed
            if digest not in killed:
                tally.survivors.append(Survivor(names[digest], found.count(Fate.SURVIVED)))
        elif Fate.UNDECIDED in found:
            tally.undecided += 1
        elif Fate.INNER in found:
            tally.inner += 1
        elif Fate.EQUIVALENT in found:
            tally.equivalent += 1
        else:
            tally.invalid += 1
    tally.survivors.sort(key=lambda item: item.mutant)
    return tally


@cache
def _mutating_code() -> str:
    """A digest of the code that tries mutants. What reads specifications and explores them may change
    meanwhile: what it finds of the same meaning stays the same.
    """
    files = sorted(Path(antiphon.model.mutation.__path__[0]).glob("*.py"))
    return _digest(*(file.read_text(encoding="utf-8") for file in files))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
