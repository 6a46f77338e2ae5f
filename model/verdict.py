"""Verdicts of engines: an outcome with its evidence, and a trace when there is something to show.

All engines answer in this form. A bound that was hit, a checker that failed, an empty model are `unknown`,
never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from antiphon.model.bounds import Stop, StopReason
from antiphon.model.trace import Trace
from antiphon.model.trace_text import trace_text
from antiphon.spec.lang import Program
from antiphon.spec.lang.errors import MissingKey
from antiphon.spec.lang.hints import known_names

NO_STATE = "the model is empty: it has no initial state"
NO_STEP = "the model is empty: no step is possible"
"""Reason why nothing is claimed of a model in which nothing can happen."""


class InternalError(Exception):
    """Error: an engine contradicts the reference, or itself, which is our failure and never a result about
    the specification.
    """

    exit_code = 70


class Outcome(StrEnum):
    """Outcome of a check: holds, violated or unknown; `exit_code` is the exit code of a command."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def exit_code(self) -> int:
        """Return the exit code: 0, 1 or 2."""
        return {"holds": 0, "violated": 1, "unknown": 2}[self.value]

    @staticmethod
    def worst(outcomes: Iterable[Outcome]) -> Outcome:
        """Return the worst outcome: violated before unknown before holds; unknown when there is nothing to
        judge.
        """
        seen = set(outcomes)
        for outcome in (Outcome.VIOLATED, Outcome.UNKNOWN):
            if outcome in seen:
                return outcome
        return Outcome.HOLDS if seen else Outcome.UNKNOWN


class PropertyKind(StrEnum):
    """Kind of a judged property; `SPECIFICATION` is an error of the text, `SERVICE` a property of a composed
    service, `STEP` a step invariant.
    """

    INVARIANT = "invariant"
    SERVICE = "service"
    STEP = "step"
    OBLIGATION = "obligation"
    WITNESS = "witness"
    LIVENESS = "liveness"
    DEADLOCK = "deadlock"
    REFINEMENT = "refinement"
    SPECIFICATION = "specification"


BROKEN_BY_STEPS = (PropertyKind.SERVICE, PropertyKind.STEP)
"""Kinds of properties that a step breaks, and no state."""


class EvidenceKind(Enum):
    """Kind of evidence: explored up to a bound, proved for all traces, or measured on runs."""

    BOUNDED = "bounded"
    PROVED = "proved"
    MEASURED = "measured"


@dataclass(frozen=True)
class Evidence:
    """Evidence of a verdict: its kind, and its extent `bound` in words (`processes=3, messages=2; all 12,345
    states`).
    """

    kind: EvidenceKind
    bound: str

    @classmethod
    def explored(cls, program: Program, extent: str) -> Evidence:
        """Return the evidence of an exploration of `program`, in words: the constants, `extent`, and the
        restrictions that are on.
        """
        shown = ", ".join(
            f"{name}={value}" for name, value in program.constants.items() if value is not False
        )
        if program.restrictions:
            extent += f", restricted: {', '.join(program.restrictions)}"
        return cls(EvidenceKind.BOUNDED, f"{shown}; {extent}" if shown else extent)


@dataclass(frozen=True)
class Provenance:
    """Provenance of a verdict: program, engine and bounds, so that the check can be repeated."""

    spec: str
    digest: str
    constants: tuple[tuple[str, int | bool | str], ...]
    engine: str
    version: str

    @classmethod
    def of(cls, program: Program, engine: str) -> Provenance:
        """Return the provenance of a check of `program` by `engine`, with this package's version."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            release = version("antiphon")
        except PackageNotFoundError:
            release = "uninstalled"
        return cls(program.name, program.digest, tuple(sorted(program.constants.items())), engine, release)


@dataclass(frozen=True, repr=False)
class Verdict:
    """Verdict about one property of one program.

    `reason` says in one sentence what happened, above all why something is unknown. `trace` is a shortest
    counterexample of a violated property, or the shortest way to a witness.
    """

    property: str
    kind: PropertyKind
    outcome: Outcome
    evidence: Evidence
    provenance: Provenance
    reason: str = ""
    trace: Trace | None = None

    def __repr__(self) -> str:
        reason = f", {self.reason}" if self.reason else ""
        return f"<Verdict on {self.property}: {self.outcome.value}{reason}>"

    def __str__(self) -> str:
        """Return the outcome, the reason, and the run that shows it, as text."""
        reason = f": {self.reason}" if self.reason else ""
        shown = [] if self.trace is None else [trace_text(self.trace)]
        return "\n".join([f"{self.property}: {self.outcome.value}{reason}", *shown])


@dataclass(frozen=True)
class Exploration:
    """Explored part of a state space; all counts are over this part. `complete`: every reachable state was
    seen.

    `transitions` counts every enabled step of every expanded state, self loops too; `depth` is the number of
    steps to the deepest state. `fired` gives for each action with how many different argument tuples it was
    enabled somewhere, `never_fired` the actions with none; `stopped` is why it ended early, if it did.
    """

    states: int
    transitions: int
    depth: int
    complete: bool
    seconds: float
    fired: tuple[tuple[str, int], ...] = ()
    never_fired: tuple[str, ...] = ()
    stopped: StopReason | None = None


@dataclass(frozen=True)
class ObligationResult:
    """Result of one obligation of a proof for every n: a step, and a property that it must establish.

    Attributes:
        step: `initially`, an action, or `the text of the invariants`.
        property: an invariant, a property of steps, or `specification`: the text has a meaning.
        at: the place of the step.
        outcome: holds (proved) or unknown.
        seconds: the time of the first proof, or of all attempts.
        seeds: how many of the four seeds prove it within 10 s.
        given: the invariants that the proof uses.
        axioms: what is known of the sorts, as far as the proof leans on it.
        known: whether the proof was cached.
        reason: why it is unknown, when Z3 gave no answer.
        sizes: how many elements each sort has in the structure of a counterexample to induction.
        untouched: whether the step changes nothing that the property reads.
    """

    step: str
    property: str
    at: str
    outcome: Outcome
    seconds: float
    seeds: int
    given: tuple[str, ...] = ()
    axioms: tuple[str, ...] = ()
    known: bool = False
    reason: str = ""
    sizes: tuple[tuple[str, int], ...] = ()
    untouched: bool = False

    def words(self) -> str:
        """Return the result in words: `proved 12 ms`, `counterexample to induction (2 of Node)`, `unknown
        after 4 seeds x 10 s`.
        """
        if self.untouched:
            return "changes nothing of it"
        if self.outcome is Outcome.HOLDS:
            kept = ", kept" if self.known else ""
            return f"proved {self.seconds * 1000:.0f} ms{kept}" if self.seconds else "true at once"
        if self.reason:
            return f"unknown after {self.reason}"
        plain = [(name, size) for name, size in self.sizes if name != "int" and not name.startswith("Set[")]
        sizes = ", ".join(f"{size} of {name}" for name, size in plain)
        return f"counterexample to induction ({sizes})" if sizes else "counterexample to induction"


@dataclass(frozen=True, repr=False)
class Report:
    """Report of a program: all verdicts, and the exploration behind them. `obligations` are those of a proof
    for every value of the constants `every`.
    """

    program: Program
    verdicts: tuple[Verdict, ...]
    exploration: Exploration
    notes: tuple[str, ...] = field(default=())
    obligations: tuple[ObligationResult, ...] = field(default=())
    every: tuple[str, ...] = field(default=())

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome of the verdicts; a witness that was not reached counts as unknown."""
        return Outcome.worst([verdict.outcome for verdict in self.verdicts])

    def __repr__(self) -> str:
        count = len(self.verdicts)
        return f"<Report on {self.program.name}: {self.outcome.value}, {count} verdict{'s' * (count != 1)}>"

    def __str__(self) -> str:
        """Return the verdicts, one on each line, and the shortest counterexample, as text."""
        lines = [
            f"  {item.outcome.value:<9} {item.property}: {item.reason}".rstrip(": ") for item in self.verdicts
        ]
        return "\n".join([f"{self.program.name}: {self.outcome.value}", *lines, *self.shown()])

    def shown(self) -> list[str]:
        """Return the text of the shortest run that breaks a property or leads to an error; an empty list if
        there is none.
        """
        wrong = [
            item.trace
            for item in self.verdicts
            if item.trace is not None
            and (item.outcome is Outcome.VIOLATED or item.kind is PropertyKind.SPECIFICATION)
        ]
        return [trace_text(min(wrong, key=len))] if wrong else []

    def __getitem__(self, property: str) -> Verdict:
        """Return the verdict about a property, by its name.

        Raises:
            MissingKey: there is none; a KeyError that lists those that there are.
        """
        for verdict in self.verdicts:
            if verdict.property == property:
                return verdict
        raise MissingKey(
            f"no verdict about {property!r}; "
            f"{known_names(property, (verdict.property for verdict in self.verdicts))}"
        )


def unfinished(
    program: Program, kinds: Mapping[str, PropertyKind], stop: Stop, seconds: float, engine: str
) -> Report:
    """Return the report of an engine that was stopped before it saw any state: every property is unknown."""
    evidence, provenance = Evidence.explored(program, "no state"), Provenance.of(program, engine)
    verdicts = tuple(
        Verdict(name, kind, Outcome.UNKNOWN, evidence, provenance, f"not decided: {stop}")
        for name, kind in kinds.items()
    )
    explored = Exploration(0, 0, 0, complete=False, seconds=seconds, stopped=stop.reason)
    return Report(program, verdicts, explored, (stop.note,))
