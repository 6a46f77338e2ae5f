"""The checks find today the results that the ledger records; a wrong record is noticed; each repair makes its
counterexample disappear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType

import pytest

from antiphon.conformance.ledger import ClaimResult, Reports, run_ledger
from antiphon.conformance.ledger.checking import program_of
from antiphon.conformance.ledger.minimal import needs
from antiphon.model.engines.python.machine import compiled_machine
from antiphon.model.explore import kinds_of
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.model.verdict import Outcome
from antiphon.spec.claims import Basis, Check, Claim, Proof, all_claims, claim_of, claims_of
from antiphon.spec.examples.proved.majority_vote import MajorityVote, MajorityVoteProof
from antiphon.spec.lang import Program, Spec, SpecError, State
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked

reports = Reports.private()
"""Cache of reports: explorations by this same code are reused."""

LARGE: tuple[Mapping[str, object], ...] = (
    {"processes": 3, "messages": 2, "losses": 0},
    {"processes": 2, "messages": 2, "losses": 1, "unlimited": True},
    {"processes": 2, "messages": 3, "losses": 0},
)
"""Constants of figure 16 whose exploration takes seconds; `antiphon claims` runs them all."""


def is_large(check: Check, constants: tuple[Mapping[str, object], ...] = LARGE) -> bool:
    """Return True if a check of figure 16 has such constants, whatever others it has."""
    has = check.constants.items()
    return check.spec is RbpChecked and any(large.items() <= has for large in constants)


def shallow(claim: Claim) -> Claim:
    """The claim with the checks that `antiphon claims` runs unless it is told `--deep`."""
    return replace(claim, checks=tuple(check for check in claim.checks if not check.deep))


def quick(claim: Claim) -> Claim:
    """The claim with those of its checks that take a second or two at most."""
    return replace(
        claim,
        checks=tuple(
            check for check in shallow(claim).checks if not (isinstance(check, Check) and is_large(check))
        ),
    )


def without_failures(claim: Claim) -> bool:
    """Return True if the claim is about figures 2 to 16, whose every quick check is run here."""
    with_failures = any(
        isinstance(check, Check) and check.spec is RbpResilientChecked for check in claim.checks
    )
    return claim.protocol in ("rbc", "msq", "rbp") and not with_failures


HERE = [claim for claim in all_claims() if without_failures(claim)]
SAMPLE = [
    next(
        claim
        for claim in claims_of(family)
        if claim.verdict == "violated" and claim.checks and claim.checks == shallow(claim).checks
    )
    for family in ("dtp",)
]
"""A refuted claim of another family; `antiphon gate` runs a part of every claim, `make check-deep` all of
them.
"""


TOGETHER = 2
"""Claims that stand together in the ledger ask about the same models, which are explored once; few enough
that several workers have a share.
"""


@cache
def results(first: int) -> dict[str, ClaimResult]:
    """The results of the claims from this one on."""
    return {
        result.claim.id: result
        for result in run_ledger(map(quick, [*HERE, *SAMPLE][first : first + TOGETHER]), reports=reports)
    }


def together(claim: Claim) -> int:
    """Number of the part, among claims explored together, that holds this claim."""
    return [*HERE, *SAMPLE].index(claim) // TOGETHER


def found(claim: Claim) -> ClaimResult:
    """Result of a claim of this file."""
    return results(together(claim) * TOGETHER)[claim.id]


def late(claim: Claim) -> tuple[pytest.MarkDecorator, ...]:
    """Every twenty-seventh part is asked each time."""
    return (pytest.mark.deep,) if together(claim) % 27 and claim in HERE else ()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "claim", [pytest.param(claim, marks=late(claim), id=claim.id) for claim in [*HERE, *SAMPLE]]
)
def test_what_is_found_is_what_is_recorded(claim: Claim) -> None:
    result = found(claim)
    assert [(str(item.check), item.found) for item in result.results if not item.agrees] == []
    assert result.agrees
    assert len(result.results) == len(quick(claim).checks)


def test_few_checks_are_left_to_the_command() -> None:
    left = [
        str(check) for claim in HERE for check in shallow(claim).checks if check not in quick(claim).checks
    ]
    assert len(left) == 16


def wrong(claim: Claim, **changed: object) -> Claim:
    """The claim with its first check recorded differently."""
    return replace(claim, checks=(replace(claim.checks[0], **changed),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changed", [{"outcome": "holds"}, {"outcome": "unknown"}, {"length": 3}, {"length": 5}], ids=str
)
def test_a_wrong_record_is_noticed(changed: dict[str, object]) -> None:
    right = replace(claim_of("RBC-01"), checks=claim_of("RBC-01").checks[:1])
    assert run_ledger([right])[0].agrees
    (result,) = run_ledger([wrong(right, **changed)])
    assert not result.agrees
    assert result.results[0].found == "violated in 4 steps"


def test_a_wrong_expectation_of_a_measurement_is_noticed() -> None:
    (result,) = run_ledger([wrong(claim_of("RBP-25"), outcome="violated")])
    assert not result.agrees
    assert "'ack': 401, 'data': 400" in result.results[0].found


def test_a_record_that_names_no_repair_is_refused() -> None:
    with pytest.raises(SpecError, match=r"no repair 'deliver_ones' to leave out; known: start_token"):
        run_ledger([wrong(claim_of("RBC-01"), without=("deliver_ones",))])


def test_checks_of_one_program_share_an_exploration() -> None:
    seen: list[tuple[int, int]] = []
    run_ledger([claim_of("RBC-06")], progress=lambda number, total, what: seen.append((number, total)))
    checks = [check for check in shallow(claim_of("RBC-06")).checks if isinstance(check, Check)]
    programs = {program_of(check).digest for check in checks}
    assert len(programs) < len(checks)
    assert seen == [(number, len(programs)) for number in range(1, len(programs) + 1)]


REPAIRED = [
    (claim.id, check)
    for claim in HERE
    for check in claim.checks
    if isinstance(check, Check)
    and check.outcome == "violated"
    and check.without
    and not is_large(check, LARGE[1:2])
]


def false_somewhere(trace: Trace, property: str, kind: str) -> bool:
    """True if the run breaks the service's property, or has a state in which the invariant is false."""
    if kind == "service":
        return any(
            refusal.property == property for transition in trace.transitions for refusal in transition.refused
        )
    return any(not trace.program.reference.holds(state, property) for state in trace.states)


def recovers(program: Program, state: State, obligation: str, most: int = 30_000) -> bool:
    """Return True if a state in which the obligation is true can be reached from `state`, breadth first among
    at most `most` states.
    """
    machine = compiled_machine(program)
    seen, front = {state}, [state]
    while front and len(seen) < most:
        if any(machine.holds(one, obligation) for one in front):
            return True
        after = {machine.apply(one, step).state for one in front for step in machine.enabled(one)}
        front = list(after - seen)
        seen |= after
    return False


@pytest.mark.parametrize(
    ("claim", "check"),
    [
        pytest.param(claim, check, marks=late(claim_of(claim)), id=f"{claim}-{check.property}")
        for claim, check in REPAIRED
    ],
)
def test_the_missing_repair_makes_the_counterexample_disappear(claim: str, check: Check) -> None:
    """The run is a counterexample of the text without the repair. On the text with it, a step is disabled, or
    it does no harm.
    """
    broken = program_of(check)
    verdict = next((item.verdict for item in found(claim_of(claim)).results if item.check is check), None)
    verdict = verdict or reports.check(broken, [check.property])[check.property]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    kind = kinds_of(broken)[check.property]
    repaired = program_of(replace(check, without=()))
    if kind != "obligation":
        assert false_somewhere(verdict.trace, check.property, kind)
    try:
        again = replay(repaired, repaired.reference.initial()[0], verdict.trace.steps)
    except ReplayError as error:
        assert "is not enabled" in str(error)  # noqa: PT017 - either way the counterexample is gone
        return
    if kind == "obligation":
        assert recovers(repaired, again.states[-1], check.property)
    else:
        assert not false_somewhere(again, check.property, kind)


@pytest.mark.parametrize(
    ("claim", "check"),
    [
        pytest.param(claim, check, marks=late(claim_of(claim)), id=f"{claim}-{check.property}")
        for claim, check in REPAIRED
    ],
)
def test_each_repair_that_is_left_out_is_one_that_the_claim_demands(claim: str, check: Check) -> None:
    demanded = set(claim_of(claim).repairs)
    extra = {"MSQ-02": {"answer_last"}, "RBP-11": {"await_body"}, "RBP-41": {"store_late_body"}}.get(
        claim, set()
    )
    assert set(check.without) <= demanded | extra


def test_a_check_says_how_it_differs_from_the_printed_text() -> None:
    first = claim_of("RBC-01").checks[0]
    assert (
        str(first)
        == "Figure2Checked.UniformIntegrity (repairs: start_token; processes=2, messages=1, losses=1)"
    )
    assert (
        str(replace(first, repairs=(), constants=MappingProxyType({})))
        == "Figure2Checked.UniformIntegrity (literal; )"
    )  # type: ignore[arg-type]


def test_a_run_that_is_recorded_without_a_repair_shows_that_it_is_needed() -> None:
    """A repair that no check would miss is shown by the record's counterexample with all repairs but this
    one.
    """
    claim = claim_of("DTP-10")
    (need,) = needs(
        [
            replace(
                claim,
                checks=tuple(item for item in claim.checks if isinstance(item, Check) and item.without)[:1],
            )
        ]
    )
    assert need.noticed is not None
    assert (need.noticed.length, need.tried, need.is_wrong) == (4, 1, False)
    (idle,) = needs([replace(claim, checks=())])
    assert idle.is_wrong


def test_a_repair_that_only_a_deep_check_could_miss_is_not_called_idle() -> None:
    """The verdict on such a repair waits for deep checks."""
    claim = claim_of("DTP-10")
    deep = replace(claim.checks[1], deep=True)  # type: ignore[type-var]
    (need,) = needs([replace(claim, checks=(deep,))])
    assert (need.noticed, need.tried, need.left, need.is_open, need.is_wrong) == (None, 0, 1, True, False)
    (asked,) = needs([replace(claim, checks=(deep,))], deep=True)
    assert (asked.is_open, asked.is_wrong) == (False, False)


MEET = "any two sets with 2 * len > nodes, of Node, have a member in common"


@pytest.mark.parametrize(
    ("spec", "axioms", "agrees"),
    [(MajorityVoteProof, (MEET,), True), (MajorityVoteProof, (), False), (MajorityVote, (MEET,), False)],
)
def test_a_recorded_proof_is_made_again(spec: type[Spec], axioms: tuple[str, ...], agrees: bool) -> None:
    """One that leans on an axiom which is not recorded differs, and so does one that is not found."""
    recorded = Proof(spec, "OneDecision", ("nodes", "values"), axioms)
    (result,) = run_ledger([replace(claim_of("RBC-01"), checks=(recorded,))])
    (found,) = result.results
    assert found.agrees == result.agrees == agrees
    assert ("proved for every nodes, values, by induction" in found.found) == (spec is MajorityVoteProof)
    assert Basis.PROVED in result.claim.rests_on
