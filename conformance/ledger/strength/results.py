"""Results of asking mutants, as data: the JSON file, the page, `--json` and this code use the same names.

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
    """Mutants of its specification, counted for one check that is recorded to hold: a row of the page.

    Attributes:
        claim: the claim's identifier.
        property: the property that the check asks.
        program: the specification, its repairs and its constants.
        touch: mutants that were asked and whose actions write what the property reads, or do what it judges.
        break_: those of them that break the check.
        keep: those of them that change something else, or were compared with nothing.
        same: those of them that change nothing within the constants.
        open: those of them that were not explored to the end.
        others: mutants that break the check although they do not touch it.
        by: the first mutant that breaks it.
        verdict: "holds" if some mutant breaks it, else why it is not said to hold.
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
        """Return True if no mutant breaks the check, and some were not asked or not explored to the end."""
        return self.verdict == UNDECIDED

    @builtins.property
    def trivial(self) -> str:
        """The reason why the check cannot fail with these constants; empty if it could."""
        return self.verdict.removeprefix(REFUSED) if self.verdict.startswith(REFUSED) else ""


def verdict_of(*, touch: int, breaking: int, left: int, trivial: str = "") -> str:
    """Return what is reported in the place of `holds`.

    Args:
        touch: mutants that touch what the property reads.
        breaking: mutants that break the check.
        left: mutants that were not asked in time, or touch it and were not explored to the end.
        trivial: why the check cannot fail with its constants.
    """
    if trivial:
        return f"{REFUSED}{trivial}"
    if breaking:
        return HOLDS
    if left:
        return UNDECIDED
    return "unknown: cannot fail" if touch else "unknown: no mutant touches it"


class Survivor(msgspec.Struct, frozen=True):
    """A mutant that can be seen in so many programs of the protocol, and that no check notices."""

    mutant: str
    programs: int


class UnnoticedGuard(msgspec.Struct, frozen=True, kw_only=True):
    """A changed guard of a literal file of which no check notices the change.

    Attributes:
        mutant: the change.
        file: the file of the guard.
        cited: the place of the document that the method names.
        same: the states and the steps are the same, wherever that was compared.
        to_the_end: the number of the family's programs in which it was asked to the end.
        programs: the number of the family's programs that have the guard. With none, the guard stands in the
            printed text alone, and no check that holds is about that.
    """

    mutant: str
    file: str
    cited: str
    same: bool
    to_the_end: int
    programs: int

    @property
    def is_decided(self) -> bool:
        """Return True if it was asked to the end in every program that has it."""
        return self.to_the_end >= self.programs


class GuardTally(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of the guards of a family's literal files: each guard is left out, and negated.

    Attributes:
        changes: all of them.
        noticed: those that a check notices.
        no_specification: those that are no specification, and were not explored to the end anywhere.
        unnoticed: the others.
    """

    changes: int = 0
    noticed: int = 0
    no_specification: int = 0
    unnoticed: tuple[UnnoticedGuard, ...] = ()


class Tally(msgspec.Struct, kw_only=True):
    """Mutants of one family, each counted once over all its programs.

    Attributes:
        tried: all that were asked.
        seen: those that change what can be seen of some program.
        killed: those of them that break a check of some program.
        inner: those that change states or steps that nobody sees.
        same: those that change nothing, or only steps that change nothing.
        undecided: those that were not explored to the end.
        no_specification: those that are no specification.
        survivors: those that can be seen and break nothing.
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
        """The part of the mutants that can be seen which is killed."""
        return self.killed / self.seen if self.seen else 1.0


class FamilyStrength(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found about a family.

    Attributes:
        family: its name.
        sample: the number of mutants of each text that were asked in all programs; None for all mutants.
        seed: it chooses the sample.
        left_out: checks that hold and were not asked.
        tally: the mutants.
        checks: the checks, in the order of the ledger.
        guards: the guards of its literal files, where they were asked.
    """

    family: str
    sample: int | None
    seed: int
    left_out: int
    tally: Tally
    checks: tuple[Strength, ...]
    guards: GuardTally | None = None
