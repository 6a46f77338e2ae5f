"""Tally of the mutants: what became of each of them in all programs together."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from antiphon.conformance.ledger.strength.plan import Plan, Settled
from antiphon.conformance.ledger.strength.results import Survivor, Tally
from antiphon.model.bounds import Bounds
from antiphon.model.mutation import Fate
from antiphon.spec.claims.survivors import reason_of

__all__ = ["breaking_names", "settled_by", "stuttering", "tally_of", "unnoticed_by_all"]

MOST_PROGRAMS = 6
"""Largest number of programs in which a sampled mutant is checked for a visible effect."""


def settled_by(plans: Iterable[Plan]) -> Settled:
    """Return the digests of the sampled mutants that need no further check for a visible effect."""
    answered = [(digest, _fate(plan, digest)) for plan in plans for digest in plan.found.sample]
    often = Counter(digest for digest, _ in answered)
    seen = {digest for digest, fate in answered if fate in (Fate.KILLED, Fate.SURVIVED)}
    return seen | {digest for digest, count in often.items() if count >= MOST_PROGRAMS}


def breaking_names(plans: Iterable[Plan]) -> dict[str, list[str]]:
    """Return the names of the mutants that broke each property in some program, the last first."""
    found: dict[str, list[str]] = {}
    for plan in plans:
        for seen in (plan.found.sample, *(seen for _, seen in plan.found.others)):
            for digest, answer in seen.items():
                named = plan.names[digest]
                for name in answer.broken:
                    found[name] = [named, *(item for item in found.get(name, []) if item != named)]
    return found


def unnoticed_by_all(plans: Sequence[Plan]) -> dict[str, str]:
    """Return the digests and names of the mutants with a visible effect in some program that break no check
    of any, except for those with a stated reason.
    """
    names = {digest: name for plan in plans for digest, name in plan.names.items()}
    found = sorted(_seen(plans) - _killed(plans))
    return {digest: names[digest] for digest in found if not reason_of(names[digest])}


def _seen(plans: Sequence[Plan]) -> set[str]:
    """Return the digests of mutants that have a visible effect in some program, and break no check there."""
    return {digest for plan in plans for digest in plan.found.sample if _fate(plan, digest) is Fate.SURVIVED}


def _killed(plans: Sequence[Plan]) -> set[str]:
    """Return the digests of mutants that break a check of some program. A mutant counts too if one of the
    same name breaks a check in a program of another family.
    """
    broken = [(plan, digest) for plan in plans for digest in plan.found.sample if _kills(plan, digest)]
    names = {plan.names[digest] for plan, digest in broken if plan.is_guest}
    by_name = {digest for plan in plans for digest, name in plan.names.items() if name in names}
    return by_name | {digest for _, digest in broken}


def _kills(plan: Plan, digest: str) -> bool:
    """Return True if a mutant breaks a check of a program."""
    return _fate(plan, digest) is Fate.KILLED


def _fate(plan: Plan, digest: str) -> Fate | None:
    """Return the fate of a mutant in one program."""
    answer = plan.found.sample.get(digest)
    if answer is not None and answer.fate is Fate.SURVIVED and digest in plan.judged_elsewhere:
        return Fate.INNER
    return None if answer is None else answer.fate


def stuttering(plans: Sequence[Plan], bounds: Bounds, seconds: float) -> set[str]:
    """Return the sampled mutants that break no check and differ only in steps that change nothing, by their
    digests, within the time.
    """
    ends = time.process_time() + seconds
    unnoticed = _seen(plans) - _killed(plans)
    found = set()
    for digest in sorted(unnoticed):
        shown = [plan for plan in plans if _fate(plan, digest) is Fate.SURVIVED]
        if all(time.process_time() < ends and plan.differs_by_stuttering(digest, bounds) for plan in shown):
            found.add(digest)
    return found


def tally_of(plans: Sequence[Plan], same: AbstractSet[str]) -> Tally:
    """Count every mutant of the programs' own family once; those in `same` count as having no effect."""
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
            tally.same += 1
        elif digest in killed or Fate.SURVIVED in found:
            tally.seen += 1
            tally.killed += digest in killed
            if digest not in killed:
                tally.survivors.append(Survivor(names[digest], found.count(Fate.SURVIVED)))
        elif Fate.UNDECIDED in found:
            tally.undecided += 1
        elif Fate.INNER in found:
            tally.inner += 1
        elif Fate.EQUIVALENT in found:
            tally.same += 1
        else:
            tally.no_specification += 1
    tally.survivors.sort(key=lambda item: item.mutant)
    return tally
