"""Results of mutation testing as data: the JSON file, the page, `--json` and this code use the same names.

A count has one name everywhere. `Strength.touch` is `touch` in the JSON and the column `touch` of the page.
"""

from __future__ import annotations

import builtins  # since a check has a property

import msgspec

__all__ = ["FamilyStrength", "GuardTally", "Strength", "Survivor", "Tally", "UnnoticedGuard", "verdict_of"]

HOLDS = "holds"
REFUSED = "refused: "
UNDECIDED = "unknown: undecided"


class Strength(msgspec.Struct, frozen=True, kw_only=True, rename={"break_": "break"}):
    """Counts of mutants for one check that is recorded to hold: a row of the page.

    Attributes:
        claim: the claim's identifier.
        property: the property of the check.
        program: the specification, its repairs and its constants.
        touch: checked mutants whose actions write the variables that the property reads, or the events it
            judges.
        break_: those of them that break the check.
        keep: those of them that change something else, or were compared with nothing.
        same: those of them that change nothing within the constants.
        open: those of them that were not explored completely.
        others: mutants that break the check although they do not touch it.
        by: the first mutant that breaks it.
        verdict: "holds" if some mutant breaks it, else why it is not reported to hold.
    """

    claim: str
    property: str
    program: str
    touch: int = 0
    break_: int = 0
    keep: int = 0
    same: int = 0
    open: int = 0
    others: int = 0
    by: str = ""
    verdict: str

    @builtins.property
    def can_fail(self) -> bool:
        """Return True if some mutant breaks the check."""
        return self.verdict == HOLDS

    @builtins.property
    def is_undecided(self) -> bool:
        """Return True if no mutant breaks the check, and some were not checked or not explored completely."""
        return self.verdict == UNDECIDED

    @builtins.property
    def trivial(self) -> str:
        """Return the reason why the check cannot fail with these constants, or ""."""
        return self.verdict.removeprefix(REFUSED) if self.verdict.startswith(REFUSED) else ""


def verdict_of(*, touch: int, breaking: int, left: int, trivial: str = "") -> str:
    """Return the verdict that is reported in place of `holds`.

    Args:
        touch: the number of mutants that touch what the property reads.
        breaking: the number of mutants that break the check.
        left: the number of mutants that were not checked in time, or touch it and were not explored
            completely.
        trivial: the reason why the check cannot fail with its constants.
    """
    if trivial:
        return f"{REFUSED}{trivial}"
    if breaking:
        return HOLDS
    if left:
        return UNDECIDED
    return "unknown: cannot fail" if touch else "unknown: no mutant touches it"


class Survivor(msgspec.Struct, frozen=True):
    """Mutant that no check notices, with the number of programs of the protocol in which it has a visible
    effect.
    """

    mutant: str
    programs: int


class UnnoticedGuard(msgspec.Struct, frozen=True, kw_only=True):
    """Changed guard of a literal file that breaks no check.

    Attributes:
        mutant: the change.
        file: the file of the guard.
        cited: the place of the document that the method names.
        same: True if states and steps are the same, in every program in which they were compared.
        to_the_end: the number of the family's programs in which it was explored completely.
        programs: the number of the family's programs that have the guard. With 0 the guard is only in the
            printed text, and no check that holds concerns that.
    """

    mutant: str
    file: str
    cited: str
    same: bool
    to_the_end: int
    programs: int

    @property
    def is_decided(self) -> bool:
        """Return True if it was explored completely in every program that has it."""
        return self.to_the_end >= self.programs


class GuardTally(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of changes of the guards of a family's literal files: each guard is left out, and negated.

    Attributes:
        changes: all changes.
        noticed: those that break a check.
        no_specification: those that are no valid specification, and were explored completely nowhere.
        unnoticed: the others.
    """

    changes: int = 0
    noticed: int = 0
    no_specification: int = 0
    unnoticed: tuple[UnnoticedGuard, ...] = ()


class Tally(msgspec.Struct, kw_only=True):
    """Counts of mutants of one family, each counted once over all its programs.

    Attributes:
        tried: all that were checked.
        seen: those with a visible effect in some program.
        killed: those of them that break a check of some program.
        inner: those that change only states or steps without a visible effect.
        same: those that change nothing, or only steps that change nothing.
        undecided: those that were not explored completely.
        no_specification: those that are no valid specification.
        survivors: those with a visible effect that break no check.
    """

    tried: int = 0
    seen: int = 0
    killed: int = 0
    inner: int = 0
    same: int = 0
    undecided: int = 0
    no_specification: int = 0
    survivors: list[Survivor] = []

    @property
    def share(self) -> float:
        """Return the mutation score: the part of the mutants with a visible effect that are killed."""
        return self.killed / self.seen if self.seen else 1.0


class FamilyStrength(msgspec.Struct, frozen=True, kw_only=True):
    """Results of a family.

    Attributes:
        family: its name.
        sample: the number of mutants of each text that were checked in all programs; None for all mutants.
        seed: the seed of the sample.
        left_out: checks that hold and were not run on mutants.
        tally: the counts of mutants.
        checks: the checks, in the order of the ledger.
        guards: the counts of the guards of its literal files, if they were changed.
    """

    family: str
    sample: int | None
    seed: int
    left_out: int
    tally: Tally
    checks: tuple[Strength, ...]
    guards: GuardTally | None = None
