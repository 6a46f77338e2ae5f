"""Runner of the checks of claims: it compares their results with the ledger's record.

Checks of one program (the same specification, repairs and constants) share one exploration. A claim agrees
when all its checks do; a difference is an error of the record or of the code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from antiphon.conformance.ledger.measurements import measure
from antiphon.conformance.ledger.report_cache import Reports
from antiphon.conformance.report.words import counted
from antiphon.model.bounds import StopReason
from antiphon.model.explore import kinds_of
from antiphon.model.trace_text import trace_text
from antiphon.model.verdict import BROKEN_BY_STEPS, EvidenceKind, Outcome, Verdict
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim, Measurement, Proof
from antiphon.spec.lang import Program, program

HUNTED = 24
"""Largest number of steps of a run on which Z3 looks for a counterexample that the ledger records."""

SEARCHED = 6
"""Largest number of steps of a run on which Z3 looks where the ledger records no counterexample."""

EXPLORED = 20_000
"""Number of states after which an exploration before a proof stops: the other checks explore more."""

Z3_SECONDS = 600.0
"""Seconds after which Z3 gives up on one program; open checks are then unknown, and differ from
the record.
"""


@dataclass(frozen=True)
class CheckResult:
    """Check with its result. `verdict` is None for a measurement, whose finding is in `found`."""

    check: Check | Measurement | Proof
    outcome: Outcome
    found: str
    verdict: Verdict | None = None
    length: int | None = None

    def __str__(self) -> str:
        """Return the check, its result beside the recorded one, and its run, as text."""
        head = f"{self.check}: {self.outcome.value}, recorded {self.check.outcome}: {self.found}"
        trace = None if self.verdict is None else self.verdict.trace
        return head if trace is None else f"{head}\n{trace_text(trace)}"

    @property
    def agrees(self) -> bool:
        """Return True if outcome and shortest length are as recorded; of a proof, if it was found, and leans
        on no axiom but the recorded ones.
        """
        if isinstance(self.check, Proof):
            return _is_proved(self.verdict) and axioms_of(self.verdict) <= set(self.check.axioms)
        recorded = self.check.length if isinstance(self.check, Check) else None
        return self.outcome.value == self.check.outcome and (recorded is None or recorded == self.length)


@dataclass(frozen=True)
class ClaimResult:
    """Claim with the results of its checks, in order. `deep` is the number of its checks that were skipped
    because they take long.
    """

    claim: Claim
    results: tuple[CheckResult, ...]
    deep: int = 0

    def __str__(self) -> str:
        """Return the claim, and every check with an unexpected outcome, with its run, as text."""
        other = [str(result) for result in self.results if not result.agrees]
        return "\n".join([f"{self.claim.id}: {'as recorded' if not other else 'differs'}", *other])

    @property
    def agrees(self) -> bool:
        """Return True if every check that was run has the recorded result."""
        return all(result.agrees for result in self.results)


def program_of(recorded: Check | Proof) -> Program:
    """Return the specification of a check with its repairs and constants.

    Raises:
        SpecError: the record names a constant or repair that does not exist.
    """
    return program(recorded.spec, repairs=recorded.repairs, without=recorded.without, **recorded.constants)


def run_ledger(
    claims: Iterable[Claim],
    *,
    engine: str = "auto",
    deep: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
    reports: Reports | None = None,
) -> tuple[ClaimResult, ...]:
    """Run the checks of `claims`; `progress` is called before each exploration with its number, their count,
    and its name.

    `reports` has cached reports; None explores everything. Results of Z3 are never cached.

    `engine` is an engine of the explicit checker, or "z3". Checks that are recorded as deep are skipped
    unless `deep`, whatever the engine.

    Z3 looks for the counterexample of every check that is recorded as violated, on runs of up to `HUNTED`
    steps and without knowing its length. Where an invariant or a service is recorded to hold, it looks for
    one on runs of up to `SEARCHED` steps. It skips other checks, and, unless `deep`, those for which Z3 alone
    needs long. Proofs for every n, for which Z3 follows an exploration, are made with "auto" alone.
    """
    claims, reports = tuple(claims), reports or Reports.none()
    groups: dict[tuple[object, ...], list[Check]] = {}
    for recorded in (
        recorded for claim in claims for recorded in claim.checks if isinstance(recorded, Check)
    ):
        if deep or not _takes_long(recorded, engine):
            bound = program_of(recorded)
            if engine != "z3" or _suits_z3(bound, recorded):
                groups.setdefault(
                    (bound.spec, tuple(sorted(bound.constants.items())), engine == "z3" and recorded.outcome),
                    [],
                ).append(recorded)
    results: dict[int, CheckResult] = {}
    for number, group in enumerate(groups.values(), 1):
        if progress is not None:
            progress(number, len(groups), str(group[0]))
        properties = list(dict.fromkeys(recorded.property for recorded in group))
        refinement = refinement_of(group[0].spec)
        if refinement is not None:
            report = reports.check_refinement(program_of(group[0]), refinement, engine=engine)
        elif engine == "z3":
            depth = HUNTED if group[0].outcome == "violated" else SEARCHED
            from antiphon.model.symbolic import (
                check_bounded,
            )  # here, because loading Z3 takes longer than many a check

            report = check_bounded(
                program_of(group[0]), depth=depth, properties=properties, max_seconds=Z3_SECONDS
            )
            if report.exploration.stopped is StopReason.INTERRUPTED:
                raise KeyboardInterrupt  # no further question is asked
        else:
            report = reports.check(program_of(group[0]), properties, engine=engine)
        for recorded in group:
            verdict = report[recorded.property]
            length = None if verdict.trace is None else len(verdict.trace)
            results[id(recorded)] = CheckResult(
                recorded, verdict.outcome, _found(verdict, length), verdict, length
            )
    if engine == "auto":
        results |= _proofs(claims, deep=deep)
    return tuple(
        ClaimResult(
            claim,
            tuple(_results(claim, results, engine, deep=deep)),
            0 if deep else _left_out(claim, engine),
        )
        for claim in claims
    )


def axioms_of(verdict: Verdict | None) -> set[str]:
    """Return the axioms on which a proof for every n leans, beside the order of numbers."""
    said = "" if verdict is None else verdict.evidence.bound.partition("; axioms: ")[2]
    return set(said.split("; ")) - {""}


def _is_proved(verdict: Verdict | None) -> bool:
    return (
        verdict is not None
        and verdict.outcome is Outcome.HOLDS
        and verdict.evidence.kind is EvidenceKind.PROVED
    )


def _proofs(claims: tuple[Claim, ...], *, deep: bool) -> dict[int, CheckResult]:
    """Return the results of the proofs that the claims record, by the identity of the record; those of one
    program are made together.
    """
    groups: dict[tuple[object, ...], list[Proof]] = {}
    for recorded in (item for claim in claims for item in claim.checks if isinstance(item, Proof)):
        if deep or not recorded.deep:
            bound = program_of(recorded)
            key = (bound.spec, tuple(sorted(bound.constants.items())), recorded.every)
            groups.setdefault(key, []).append(recorded)
    found: dict[int, CheckResult] = {}
    for group in groups.values():
        from antiphon.model.proofs import prove_every  # here, because loading Z3 takes long

        properties = list(dict.fromkeys(recorded.property for recorded in group))
        report = prove_every(program_of(group[0]), group[0].every, properties=properties, states=EXPLORED)
        if report.exploration.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt  # no further question is asked
        for recorded in group:
            verdict = report[recorded.property]
            said = f"proved {verdict.evidence.bound}" if _is_proved(verdict) else verdict.reason
            found[id(recorded)] = CheckResult(recorded, verdict.outcome, said, verdict)
    return found


def _takes_long(recorded: Check | Measurement | Proof, engine: str) -> bool:
    return recorded.deep or (engine == "z3" and isinstance(recorded, Check) and recorded.long_for_z3)


def _left_out(claim: Claim, engine: str) -> int:
    return sum(_takes_long(recorded, engine) for recorded in claim.checks)


def _suits_z3(bound: Program, recorded: Check) -> bool:
    if refinement_of(bound.spec) is not None:
        return False
    if kinds_of(bound)[recorded.property] == "liveness":
        return False
    if recorded.outcome == "violated":
        return True
    asked = kinds_of(bound)[recorded.property]
    return recorded.outcome == "holds" and asked in ("invariant", *BROKEN_BY_STEPS)


def _results(
    claim: Claim, results: dict[int, CheckResult], engine: str, *, deep: bool
) -> Iterator[CheckResult]:
    for recorded in claim.checks:
        if id(recorded) in results:
            yield results[id(recorded)]
        elif isinstance(recorded, Measurement) and engine != "z3" and (deep or not recorded.deep):
            holds, found = measure(recorded.name)
            yield CheckResult(recorded, Outcome.HOLDS if holds else Outcome.VIOLATED, found)


def _found(verdict: Verdict, length: int | None) -> str:
    """Return the result in a few words."""
    if length is not None:
        return f"{verdict.outcome.value} in {counted(length, 'step')}"
    explored = verdict.evidence.bound.rpartition("; ")[2]
    return f"{verdict.outcome.value}: {verdict.reason or explored}"
