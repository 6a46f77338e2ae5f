"""Mutation testing of checks: every check that is recorded to hold is run on mutants of its specification,
and the mutants that break it are counted.

1. A check is *strong* if some mutant breaks it. A check that no mutant breaks is *undecided* if a mutant that
   touches it was not explored to the end. It is *trivial*, and refused, if its constants leave no state and
   no step that could break it. Else it is *weak*: it cannot fail, as far as these mutants reach, and its
   `holds` is reported as unknown.
2. Mutants are sampled by their digests and a seed: all programs of a text have the same sample. A sampled
    mutant is checked in one program after the other until it breaks a check or has a visible effect, in at
    most `MOST_PROGRAMS` programs.
3. A mutant with a visible effect in some program that breaks no check there is checked in all other programs
    until it breaks one: then in programs of other families that have the changed class as a part, and in
    those of
   deep checks. A mutant that only adds or removes steps that change nothing is the *same*. The others are
       reported: a check is missing, or the text has an effect that no property concerns.
4. A check that no sampled mutant breaks is run on the other mutants until one does. First come mutants that
    are known to have broken the property: by earlier results, in an earlier program, or by the ledger. Then
    come repairs left out and planted faults, mutants of the method that judges the property, those of a
    matching operator, and those that touch it. They are checked briefly; those that this leaves open are
    checked again.
5. Each of these steps ends for each program after `SECONDS` of processor time, or `DEEP_SECONDS` where the
   program takes long. A mutant that was not checked by then leaves its check undecided. It never makes a
     check
   weak, and neither does a sample.
6. Answers are cached on disk as soon as they are known, so that an interrupted run goes on.
7. With `guards`, every guard of a literal file is left out, and negated, whatever the sample is. The changes
  that no check notices are reported.
8. Programs are checked in rounds of one, two, four, and so on, independently of one another in each round, so
  that the answers do not depend on the number of processes while the time suffices.

This file knows which classes are a protocol's text, and no protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial

from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.ledger.strength.answers import Answers
from antiphon.conformance.ledger.strength.guards import (
    cited,
    file_of,
    guard_of,
    guards_of,
    home_of,
    is_same,
)
from antiphon.conformance.ledger.strength.plan import Known, Limits, Plan
from antiphon.conformance.ledger.strength.programs import by_program, checks_that_hold, explored, refined
from antiphon.conformance.ledger.strength.results import (
    FamilyStrength,
    GuardTally,
    Tally,
    UnnoticedGuard,
)
from antiphon.conformance.ledger.strength.tally import (
    MOST_PROGRAMS,
    breaking_names,
    settled_by,
    stuttering,
    tally_of,
    unnoticed_by_all,
)
from antiphon.conformance.ledger.strength.team import Team, rounds
from antiphon.conformance.ledger.strength.walked import Walks
from antiphon.model.bounds import Bounds
from antiphon.model.cache import Cache
from antiphon.model.mutation import BOUNDS, FURTHER, Fate, Mutant
from antiphon.spec.claims import Check, Claim, all_claims
from antiphon.spec.lang import SpecError

__all__ = ["SEED", "strength"]

SEED = 7

SECONDS = 600.0
"""Processor time for one program in each step."""

DEEP_SECONDS = 120.0
"""Processor time for a program that takes long. A later run goes on with the cached answers."""

DEEP_STATES = 4_000_000
"""Number of states that machine code explores of a mutant of a program that takes long: an obligation needs
all.
"""

DEEP_WALKS = Walks(walks=4_000, steps=500, live=Bounds(states=200_000, seconds=120.0))
"""Number of random walks of a program that takes long."""


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
    earlier: FamilyStrength | None = None,
    seconds: float = SECONDS,
    guards: bool = False,
) -> FamilyStrength:
    """Check the mutants of every specification of these claims.

    Args:
        claims: claims of one family; their checks that are recorded to hold are run.
        deep: also run the checks that take long.
        sample: the number of mutants of each text that are checked in all its programs; None for all mutants.
        seed: chooses the sample.
        bounds: bounds for each mutant in generated Python.
        further: bounds for machine code, where generated Python leaves something open.
        answers: cached answers.
        progress: called before each mutant, or, with several processes, after each program, with its number,
            the number of mutants, and its name.
        jobs: the number of processes; each has one program at a time.
        earlier: earlier results, whose breaking mutants are checked first.
        seconds: processor time for one program in each step.
        guards: also change the guards of the literal files.
    """
    claims, answers = tuple(claims), answers or Answers(Cache(None))
    known = Known(earlier, claims)
    groups = by_program(item for item in explored(claims) if not item[1].deep)
    late = by_program(item for item in explored(claims) if item[1].deep)
    limits = Limits((bounds, further), seconds)
    plans = [Plan(group, limits, answers, sample, seed, known) for group in groups]
    deepest = bounds, replace(further, states=DEEP_STATES)
    deeper = Limits(deepest, min(seconds, DEEP_SECONDS), DEEP_WALKS) if deep else limits
    beside = [Plan(group, deeper, answers, 0, seed, known) for group in late]
    mapped = [
        Plan(group, limits, answers, 0, seed, known)
        for group in by_program(item for item in refined(claims) if deep or not item[1].deep)
    ]
    told = [*plans, *mapped, *(beside if deep else [])]
    if not told:
        left_out = sum(1 for _ in checks_that_hold(claims))
        return FamilyStrength(
            family="", sample=sample, seed=seed, left_out=left_out, tally=Tally(), checks=()
        )
    judged = frozenset(digest for plan in (*plans, *beside) if plan.judges for digest in plan.names)
    for plan in plans:
        plan.judged_elsewhere = frozenset() if plan.judges else judged
    team = Team(sum(len(plan.sampled) for plan in plans), jobs, progress)
    for some in rounds(plans):
        team.all_do(some, partial(Plan.ask_sample, settled=settled_by(plans)))
    for some in rounds(told):
        team.all_do(some, partial(Plan.ask_others, breaking=breaking_names([*plans, *mapped, *beside])))
    guests = [
        Plan(group, limits, answers, 0, seed, known, is_guest=True)
        for group in by_program(_elsewhere(claims, _owners([*plans, *beside])))
    ]
    everything = [*plans, *guests, *mapped, *beside]
    for some in rounds(everything):
        team.all_do(some, partial(Plan.pursue, unnoticed=unnoticed_by_all(everything)))
    asked_guards = _guards(claims, told, guests, team) if guards else None
    answers.read += sum(plan.found.read for plan in everything)
    answers.asked += sum(plan.found.asked for plan in everything)
    found = [item for plan in told for item in plan.strengths()]
    order = {id(check): number for number, (_, check) in enumerate(checks_that_hold(claims))}
    found.sort(key=lambda item: order[id(item[0])])
    return FamilyStrength(
        family=claims[0].protocol,
        sample=sample,
        seed=seed,
        left_out=len(order) - len(found),
        tally=tally_of(everything, stuttering(everything, bounds, seconds)),
        checks=tuple(counted for _, counted in found),
        guards=asked_guards,
    )


def _guards(claims: Sequence[Claim], own: Sequence[Plan], guests: Sequence[Plan], team: Team) -> GuardTally:
    """Drop or negate each guard of the family's literal files, and run checks until one notices.

    Check each changed guard in at most `MOST_PROGRAMS` programs, those with the most checks first: briefly in
    each program, then further in the family's own.
    """
    family = claims[0].protocol
    everybody = sorted((*own, *guests), key=lambda plan: (plan.is_guest, -len(plan.checks)))
    own = [plan for plan in everybody if not plan.is_guest]
    asked_in: Counter[str] = Counter()
    for plan in everybody:
        found = (item for item in guards_of(plan.program) if home_of(item.owner.__module__) in (family, ""))
        plan.guards = {name: item for item in found if asked_in[name := guard_of(item)] < MOST_PROGRAMS}
        asked_in.update(plan.guards.keys())
    for plans, briefly in ((everybody, True), (own, False)):
        for some in rounds(plans):
            settled = {name for plan in everybody for name in plan.noticed_guards()}
            team.all_do(some, partial(Plan.ask_guards, settled=settled, briefly=briefly))
    everything = _literal_guards(claims, family)
    for plan in own:
        everything |= plan.guards
    answers = {
        name: [plan.found.guards[name] for plan in everybody if name in plan.found.guards]
        for name in everything
    }
    noticed = {name for plan in everybody for name in plan.noticed_guards()}
    ended = {
        name: sum(not item.open and item.fate is not Fate.INVALID for item in found)
        for name, found in answers.items()
    }
    invalid = {
        name
        for name, found in answers.items()
        if name not in noticed and not ended[name] and any(item.fate is Fate.INVALID for item in found)
    }
    unnoticed = [
        UnnoticedGuard(
            mutant=str(mutant),
            file=file_of(mutant),
            cited=cited(mutant),
            same=is_same(answers[name]),
            to_the_end=ended[name],
            programs=sum(name in plan.guards for plan in own),
        )
        for name, mutant in everything.items()
        if name not in noticed | invalid
    ]
    unnoticed.sort(key=lambda item: (item.file, item.mutant))
    return GuardTally(
        changes=len(everything),
        noticed=len(noticed & everything.keys()),
        no_specification=len(invalid),
        unnoticed=tuple(unnoticed),
    )


def _literal_guards(claims: Sequence[Claim], family: str) -> dict[str, Mutant]:
    """Return the changed guards of the specifications as they are printed, by their names."""
    found: dict[str, Mutant] = {}
    for group in by_program(checks_that_hold(claims)):
        for _, check in group[1][:1]:
            try:
                printed = program_of(replace(check, repairs=(), without=()))
                found |= {guard_of(item): item for item in guards_of(printed)}
            except SpecError:  # it means something with its repairs alone
                continue
    return {name: item for name, item in found.items() if home_of(item.owner.__module__) in (family, "")}


def _owners(plans: Sequence[Plan]) -> set[type]:
    """Return the classes that contain mutants with a visible effect that no check noticed."""
    unnoticed = unnoticed_by_all(plans)
    mutants = (item for plan in plans for item in plan.mutants if item.digest in unnoticed)
    return {item.owner for item in mutants if isinstance(item, Mutant)}


def _elsewhere(claims: Sequence[Claim], owners: AbstractSet[type]) -> Iterator[tuple[Claim, Check]]:
    """Yield the quick checks of other families whose programs contain one of these classes."""
    own = {claim.id for claim in claims}
    for claim, check in explored(all_claims()):
        is_quick = claim.id not in own and not check.deep
        if is_quick and not owners.isdisjoint(program_of(check).text.__mro__ if owners else ()):
            yield claim, check
