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
5. Each of these steps ends for each program after `SECONDS` of processor time, `DEEP_SECONDS` where it takes
   long. What was not asked then leaves a check undecided: it never makes one weak, and neither does a sample.
6. What was asked is kept on disk as soon as it is answered; what is interrupted goes on where it was.
7. Where guards are asked (guards.py), every guard of a literal file is left out and asked for the other way
   round, whatever the sample is, and those are told of which no check notices that.
8. Programs are asked in rounds of one, two, four, …, and independently of one another in each, so that the
   answers do not depend on how many processes share them, as long as the time is enough.

This file knows which classes are a protocol's text, and nothing of any protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from antiphon.conformance.ledger.strength.programs import by_program, explored, held, refined
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
"""So much processor time is spent on one program in each step."""

DEEP_SECONDS = 120.0
"""So much is on one that takes long: another run goes on where it was."""

DEEP_STATES = 4_000_000
"""How far machine code explores mutants of a program that takes long: an obligation needs all states."""

DEEP_WALKS = Walks(walks=4_000, steps=500, live=Bounds(states=200_000, seconds=120.0))
"""What is asked of a program that takes long besides."""


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
    guards: bool = False,
) -> FamilyStrength:
    """Asks the mutants of every specification that these claims check; the claims are of one family.

    Args:
        claims: their checks that are recorded to hold are asked.
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
        guards: also tell of which guards of the literal files no check notices the loss.
    """
    claims, answers = tuple(claims), answers or Answers(Cache(None))
    known = Known(hints or {}, claims)
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
        return FamilyStrength("", (), Tally(), sample, seed, sum(1 for _ in held(claims)))
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
    found = tuple(item for plan in told for item in plan.strengths())
    order = {id(check): number for number, (_, check) in enumerate(held(claims))}
    return FamilyStrength(
        claims[0].protocol,
        tuple(sorted(found, key=lambda item: order[id(item.check)])),
        tally_of(everything, stuttering(everything, bounds, seconds)),
        sample,
        seed,
        len(order) - len(found),
        asked_guards,
    )


def _guards(claims: Sequence[Claim], own: Sequence[Plan], guests: Sequence[Plan], team: Team) -> GuardTally:
    """Ask every guard of the family's literal files until a check notices, in `MOST_PROGRAMS` programs, those
    with the most checks first: briefly in each, then further in the family's own.
    """
    family = claims[0].protocol
    everybody = sorted((*own, *guests), key=lambda plan: (plan.is_guest, -len(plan.checks)))
    own = [plan for plan in everybody if not plan.is_guest]
    asked_in: Counter[str] = Counter()
    for plan in everybody:
        found = (item for item in guards_of(plan.program) if home_of(item.owner.__module__) in (family, ""))
        plan.guards = {
            name: item for item in found if asked_in[name := guard_of(item)] < MOST_PROGRAMS
        }
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
            str(mutant),
            file_of(mutant),
            cited(mutant),
            is_same(answers[name]),
            ended[name],
            sum(name in plan.guards for plan in own),
        )
        for name, mutant in everything.items()
        if name not in noticed | invalid
    ]
    unnoticed.sort(key=lambda item: (item.file, item.mutant))
    return GuardTally(len(everything), len(noticed & everything.keys()), len(invalid), tuple(unnoticed))


def _literal_guards(claims: Sequence[Claim], family: str) -> dict[str, Mutant]:
    """The changed guards of the specifications that are checked as they are printed, by their names."""
    found: dict[str, Mutant] = {}
    for group in by_program(held(claims)):
        for _, check in group[1][:1]:
            try:
                printed = program_of(replace(check, repairs=(), without=()))
                found |= {guard_of(item): item for item in guards_of(printed)}
            except SpecError:  # it means something with its repairs alone
                continue
    return {name: item for name, item in found.items() if home_of(item.owner.__module__) in (family, "")}


def _owners(plans: Sequence[Plan]) -> set[type]:
    """The classes whose text mutants change that can be seen and were not noticed."""
    unnoticed = unnoticed_by_all(plans)
    mutants = (item for plan in plans for item in plan.mutants if item.digest in unnoticed)
    return {item.owner for item in mutants if isinstance(item, Mutant)}


def _elsewhere(claims: Sequence[Claim], owners: AbstractSet[type]) -> Iterator[tuple[Claim, Check]]:
    """Checks of other records that take no long time, of programs of which one of these classes is a part."""
    own = {claim.id for claim in claims}
    for claim, check in explored(all_claims()):
        is_quick = claim.id not in own and not check.deep
        if is_quick and not owners.isdisjoint(program_of(check).text.__mro__ if owners else ()):
            yield claim, check
