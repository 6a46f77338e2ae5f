"""What the mutants did to the checks of a family, as it is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from antiphon.spec.claims import Check, Claim

__all__ = ["FamilyStrength", "GuardTally", "Strength", "Survivor", "Tally", "UnnoticedGuard"]


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


@dataclass(frozen=True)
class UnnoticedGuard:
    """A changed guard of a literal file of which no check notices the change: what is changed, in which file,
    and which place of a document the method names.

    `same`: the states and the steps are the same, wherever that was compared. It was asked to the end in
    `ended` of `programs` programs; of none, the guard stands in no program of a check that holds.
    """

    mutant: str
    file: str
    cited: str
    same: bool
    ended: int
    programs: int

    @property
    def is_decided(self) -> bool:
        """Whether it was asked to the end in every program that has it."""
        return self.ended >= self.programs


@dataclass(frozen=True)
class GuardTally:
    """What became of the guards of a family's literal files: how many changes there are, each guard left out
    and asked for the other way round; how many a check notices; how many are no specification, and not
    seen to the end anywhere; the others.
    """

    changes: int = 0
    noticed: int = 0
    invalid: int = 0
    unnoticed: tuple[UnnoticedGuard, ...] = ()


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
    """The checks of a family, the mutants, and how they were chosen; the guards, where they were asked."""

    family: str
    checks: tuple[Strength, ...]
    tally: Tally
    sample: int | None
    seed: int
    left_out: int
    guards: GuardTally | None = None
