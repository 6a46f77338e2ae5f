"""Record of a claim: its place and text, its checks with their expected results, and its repairs.

A record holds no engine and no result of today: it is the expectation that a run is compared with.
`Claim.verdict` is about the claim as the document states it; each `Check` has its own expected outcome, since
a claim is often judged by what must not hold.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Literal

from antiphon.spec.lang import Spec, SpecError, program

RecordedOutcome = Literal["holds", "violated", "unknown"]
"""Outcome of a check, and verdict on a claim."""

ORDERS = frozenset(
    {
        "Causal", "ExtendedTotalOrder", "Fifo", "OldestFirst", "PrefixOrder",
        "ReliableTotalOrder", "SafeIndicationPrefix", "SenderOrder", "TotalOrder", "UniformNumbering",
        "UniformPrefixOrder", "UniformTotalOrder", "ViewPrefix", "WeakTotalOrder",
    }
)  # fmt: skip
"""Properties that compare the places of two messages."""


class Document(Enum):
    """Documents whose claims are recorded, by the name that citations use."""

    RBP = (
        "Barchet-Estefanel 2002",
        (
            'L. A. Barchet-Estefanel, "Analysing RBP, a Total Order Broadcast Protocol for Unreliable '
            'Channels", 2002'
        ),
    )
    TOTAL = (
        "JavaGroups TOTAL 1999",
        (
            'Cornell University, "JavaGroups TOTAL", design document of the protocol layer that M. Sambhu '
            "implemented in 1999; it bears no date itself"
        ),
    )

    HORUS = (
        "van Renesse 1995",
        (
            'R. van Renesse, K. P. Birman, R. Friedman, M. Hayden, D. A. Karr, "A Framework for Protocol '
            'Composition in Horus", 1995'
        ),
    )
    DTP = (
        "Kim 1997",
        (
            'J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", '
            "Distributed Systems Engineering 4, 1997"
        ),
    )
    CHANDRA_TOUEG = (
        "Chandra and Toueg 1996",
        (
            'T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", '
            "Journal of the ACM 43(2), 1996"
        ),
    )
    SEQUENCER = (
        "Ban 2005",
        'B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005',
    )

    @property
    def short(self) -> str:
        """Return author and year of the document."""
        return str(self.value[0])

    @property
    def long(self) -> str:
        """Return the full reference of the document."""
        return str(self.value[1])


@dataclass(frozen=True)
class Source:
    """Place in a document: section, figure and printed lines (empty where there are none), and the document's
    own words.
    """

    document: Document
    section: str
    quotation: str
    figure: str = ""
    lines: str = ""

    def __str__(self) -> str:
        parts = [self.document.short, f"section {self.section}"]
        parts += [f"figure {self.figure}"] if self.figure else []
        parts += (
            [f"lines {self.lines}" if any(mark in self.lines for mark in "-,") else f"line {self.lines}"]
            if self.lines
            else []
        )
        return ", ".join(parts)


class Standing(Enum):
    """Standing of a claim: the document says it, implies it, or leaves it open and the question is ours."""

    STATED = "stated"
    IMPLIED = "implied"
    QUESTION = "question"


class Basis(Enum):
    """The kind of evidence on which a verdict rests."""

    QUESTION = "our question"
    """Question that the document leaves open, so that a refutation charges nobody."""
    CONSTRUCTION = "by construction"
    """Construction of the model: it cannot do otherwise, so that no search could have refuted the claim."""
    PROVED = "proved for every n"
    """A property was proved by induction for every value of some constants, such as the number of processes:
    as the document has it, or as repaired.
    """
    STATES = "states"
    """Searches judged at least one property that is more than a witness."""
    WITNESSES = "witnesses only"
    """Searches for witnesses only: they show that something can happen, not that it always does."""
    RUNS = "measured runs"
    """Figures that were counted on runs."""
    TEXT = "text count"
    """Evidence of a count in the printed text; nothing was run."""
    READING = "reading"
    """The sentence was judged by reading it."""


class Kind(Enum):
    """Kind of a claim. Negative: a flaw that the authors state themselves."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    BOUND = "bound"
    PERFORMANCE = "performance"
    COMPOSITION = "composition"
    NEGATIVE = "negative"


@dataclass(frozen=True)
class Check:
    """One run of a checker: a specification, its constants, a property, and the expected outcome.

    `repairs`: names, or "all"; `without` are left out of them. `outcome` is the expected one; `length`, where
    the outcome has a trace, its shortest length. `deep`: the explicit checker needs more than about five
    seconds for it, so that no engine runs it unless deep checks are asked for. `long_for_z3`: only Z3 needs
    long, so that only Z3 leaves it out.
    """

    spec: type[Spec]
    property: str
    outcome: RecordedOutcome
    repairs: tuple[str, ...] | str = ()
    without: tuple[str, ...] = ()
    constants: Mapping[str, int | bool | str] = field(default_factory=lambda: MappingProxyType({}))
    length: int | None = None
    deep: bool = False
    long_for_z3: bool = False

    def __post_init__(self) -> None:
        """Refuse a check that an order of messages holds, if there are not at least two messages.

        The constant `messages`, or its default, bounds from above how many the application broadcasts (FRAG
        over TOTAL makes one message of the application from several); a specification without it names its
        messages in another way.

        Raises:
            SpecError: fewer than two messages.
        """
        messages = self.constants.get("messages", getattr(self.spec, "messages", None))
        if self.outcome == "holds" and self.property in ORDERS and isinstance(messages, int) and messages < 2:
            raise SpecError(
                f"{self} cannot be recorded to hold: an order is of two messages, and there "
                f"{'is 1' if messages == 1 else 'are none'}, so that nothing could break it"
            )

    def __str__(self) -> str:
        chosen = self.repairs if isinstance(self.repairs, str) else ", ".join(self.repairs)
        switched = (f"repairs: {chosen}" if chosen else "literal") + (
            f" without {', '.join(self.without)}" if self.without else ""
        )
        bound = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        return f"{self.spec.__name__}.{self.property} ({switched}; {bound})"


@dataclass(frozen=True)
class Measurement:
    """Measurement instead of a check, such as a count on runs: its name, the expected result in words, and
    the expected outcome. `deep` as for a check. `of_text`: it counts in the printed text, and runs nothing.
    """

    name: str
    expectation: str
    outcome: RecordedOutcome
    deep: bool = False
    of_text: bool = False


@dataclass(frozen=True)
class Proof:
    """Proof of a property for every value, from 1, of the constants `every`; the specification has the
    invariants that the induction needs, and its other constants are `constants`.

    `axioms` are the facts about orders and sets, in words, on which the proof leans, beside the order of
    numbers: the proof of a run may lean on these, and on no others. `repairs`, `without` and `deep` as for a
    check; a proof that does not succeed differs from the record.
    """

    spec: type[Spec]
    property: str
    every: tuple[str, ...]
    axioms: tuple[str, ...] = ()
    repairs: tuple[str, ...] | str = ()
    without: tuple[str, ...] = ()
    constants: Mapping[str, int | bool | str] = field(default_factory=lambda: MappingProxyType({}))
    deep: bool = False

    @builtins.property
    def outcome(self) -> RecordedOutcome:
        """Return `holds`: only proofs that succeed are recorded."""
        return "holds"

    @builtins.property
    def name(self) -> str:
        """Return the property, with the constants that stand for every number."""
        return f"{self.spec.__name__}.{self.property} for every {', '.join(self.every)}"

    @builtins.property
    def expectation(self) -> str:
        """Return the expected result in words."""
        return "proved by induction" + (f", under {'; '.join(self.axioms)}" if self.axioms else "")

    def __str__(self) -> str:
        return f"{self.name}: {self.expectation}"


@dataclass(frozen=True)
class Claim:
    """A claim of a document.

    `verdict` (holds, violated, unknown) is what the checks show about the claim as it stands; `because` says
    it in one or two sentences. `defect` says, for a violated claim, whether the idea fails ("design") or only
    the printed text ("text"), which a repair or another reading then mends. `repairs` is the smallest set of
    repairs that the claim demands: without any one of them, something that the record says to hold does not.
    `covered` are those of `repairs` without which no check fails within the record's bounds, because other
    repairs cover them or the question is open, as `because` says. `by_construction` says why the model cannot
    do otherwise, where it cannot.
    """

    id: str
    source: Source
    claim: str
    standing: Standing
    kind: Kind
    verdict: RecordedOutcome
    because: str
    checks: tuple[Check | Measurement | Proof, ...] = ()
    defect: str = ""
    repairs: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    by_construction: str = ""

    @property
    def rests_on(self) -> tuple[Basis, ...]:
        """Return the kinds of evidence for the verdict: whether the question is ours, whether something is
        proved for every n, and how it was judged.
        """
        asked = (Basis.QUESTION,) if self.standing is Standing.QUESTION else ()
        proved = (Basis.PROVED,) if any(isinstance(check, Proof) for check in self.checks) else ()
        return (*asked, *proved, self._judged)

    @property
    def _judged(self) -> Basis:
        """Return the kind of evidence by which the claim was judged, the weakest that describes all its
        checks.
        """
        checks = [check for check in self.checks if isinstance(check, Check)]
        if self.by_construction:
            return Basis.CONSTRUCTION
        if checks:
            return Basis.WITNESSES if all(map(_is_witness, checks)) else Basis.STATES
        if not self.checks:
            return Basis.READING
        of_text = all(isinstance(check, Measurement) and check.of_text for check in self.checks)
        return Basis.TEXT if of_text else Basis.RUNS

    @property
    def protocol(self) -> str:
        """Return the family of the claim: the letters of its identifier before the dash, in lower case."""
        return self.id.split("-")[0].lower()

    @property
    def readings(self) -> tuple[str, ...]:
        """Return the readings, of what the document leaves open, that mend the claim: the choices in which a
        check that holds differs from a check of the same property that is violated.
        """
        asked = [check for check in self.checks if isinstance(check, Check)]
        chosen = {
            name
            for bad in asked
            for good in asked
            if (bad.outcome, good.outcome) == ("violated", "holds")
            and (bad.spec, bad.property) == (good.spec, good.property)
            for name, value in good.constants.items()
            if isinstance(value, str) and bad.constants.get(name) != value
        }
        return tuple(sorted(chosen))


def _is_witness(check: Check) -> bool:
    """Return True if the property of a check is a witness, a state to be reached, and no promise."""
    marks = [method.mark for method in program(check.spec).declaration.marked("witness")]
    return any(mark is not None and mark.name == check.property for mark in marks)
