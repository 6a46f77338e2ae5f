"""Defects of order or integrity in the ledger break the refinement, no later than the claim; defects of
liveness alone do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.bounds import Bounds
from antiphon.model.refinement import PROPERTY, check_refinement
from antiphon.model.verdict import Outcome, Verdict
from antiphon.spec.catalogue import refined, refinement_named, refinement_of
from antiphon.spec.claims.claim import Check
from antiphon.spec.claims.ledger import all_claims
from antiphon.spec.lang import Spec, program
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.unordered import BroadcastMachine
from antiphon.spec.services.view_machine import ViewSynchronousMachine

REFINEMENTS = {name: refinement_named(name) for name in refined()}
INTEGRITY = {"UniformIntegrity"}
UNIFORM = INTEGRITY | {"UniformTotalOrder", "UniformPrefixOrder", "UniqueNumbers", "AcknowledgedOnce"}
SURVIVORS = INTEGRITY | {"Integrity", "TotalOrder", "PrefixOrder", "ViewPrefix"}
VIEWS = INTEGRITY | {
    "Integrity", "BroadcastOnce", "ViewAgreement", "SelfInclusion", "LocalMonotonicity", "InitialView",
    "SendingViewDelivery", "SameViewDelivery", "ViewSynchrony",
}  # fmt: skip
LIVENESS = {"Validity", "Agreement", "UniformAgreement"}


@cache
def constants_of(spec: type[Spec]) -> Mapping[str, int | bool | str]:
    """Constants of a specification, with their defaults."""
    return {constant.name: constant.default for constant in program(spec).declaration.constants}


@cache
def repairs_of(spec: type[Spec]) -> tuple[str, ...]:
    """The repairs by their names."""
    return tuple(constant.name for constant in program(spec).declaration.constants if constant.repair)


class Run(NamedTuple):
    """A check of the ledger on a protocol that has a mapping."""

    claim: str
    protocol: str
    check: Check

    @property
    def refinement(self) -> Refinement:
        return REFINEMENTS[self.protocol]

    @property
    def promised(self) -> set[str]:
        """Properties of the abstract machine: one without numbers, one of view synchrony, or one with
        numbers, which may forget crashes.
        """
        if self.refinement.abstract is BroadcastMachine:
            return INTEGRITY
        if self.refinement.abstract is ViewSynchronousMachine:
            return VIEWS
        return SURVIVORS if self.refinement.sizes.get("forgets") else UNIFORM

    @property
    def switched_off(self) -> frozenset[str]:
        """The repairs that are left out."""
        known = repairs_of(self.check.spec)
        return frozenset(
            set(known) - set(known if self.check.repairs == "all" else self.check.repairs)
            | set(self.check.without)
        )

    def refined(self, max_states: int | None = None) -> Verdict:
        """Verdict of the refinement with the repairs and the constants of the check."""
        check = self.check
        concrete = self.refinement.concrete
        bound = program(concrete, repairs=check.repairs, without=check.without, **check.constants)
        if max_states is None:
            return Reports.private().check_refinement(bound, self.refinement)[PROPERTY]
        return check_refinement(bound, self.refinement, bounds=Bounds(states=max_states))[PROPERTY]


@cache
def actions_of(spec: type[Spec]) -> frozenset[str]:
    """Names of the actions, those of the environment included."""
    return frozenset(
        method.name for kind in ("action", "environment") for method in program(spec).declaration.marked(kind)
    )


def is_mapped(check: Check, refinement: Refinement) -> bool:
    """Return True if this check is of the protocol that is mapped, with at most services and properties
    added, and not of the machine.
    """
    texts = [
        base for base in refinement.concrete.__mro__ if base.__module__.startswith("antiphon.spec.protocols")
    ]
    protocol = next(base for base in texts if not base.__module__.endswith(".refinement"))
    same = issubclass(check.spec, protocol) and actions_of(check.spec) == actions_of(refinement.concrete)
    return (
        same and check.property != PROPERTY and set(check.constants) <= set(constants_of(refinement.concrete))
    )


RUNS = [
    Run(claim.id, name, check)
    for name, refinement in REFINEMENTS.items()
    for claim in all_claims()
    for check in claim.checks
    if isinstance(check, Check) and check.outcome == "violated" and is_mapped(check, refinement)
]
BROKEN = [run for run in RUNS if run.check.property in run.promised]
DISORDERED = {(run.protocol, run.switched_off) for run in BROKEN}
STALLED = [
    run
    for run in RUNS
    if run.check.property in LIVENESS
    and len(run.switched_off) == 1
    and (run.protocol, run.switched_off) not in DISORDERED
]
"""Each without one repair, which order never misses."""


ELSEWHERE = {"deliver_once", "number_passes", "acknowledge_new", "flush", "numbers_first"}
"""Repairs without which `test_refinement.py` looks at the larger protocols in any case; at the smaller ones
it looks without each repair.
"""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All with `make check-deep`; else of those that are quick one a protocol."""
    deep = metafunc.config.getoption("--hypothesis-profile", None) == "deep"
    elsewhere = ("figure-2", "figure-5", "moving-sequencer")
    for name, runs in (("broken", BROKEN), ("stalled", STALLED)):
        if name in metafunc.fixturenames:
            quick = [
                run
                for run in runs
                if not run.check.deep and len(run.switched_off) == 1 and run.protocol not in elsewhere
            ]
            one = {run.protocol: run for run in quick if not run.switched_off & ELSEWHERE}
            chosen = runs if deep else list(one.values())
            metafunc.parametrize(
                name, chosen, ids=[f"{run.protocol}-{run.claim}-{run.check.property}" for run in chosen]
            )


@pytest.mark.sampled(6)
def test_what_breaks_order_breaks_the_refinement(broken: Run) -> None:
    verdict = broken.refined()
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert broken.check.length is not None
    assert len(verdict.trace) <= broken.check.length


@pytest.mark.sampled(6)
def test_what_breaks_liveness_alone_does_not(stalled: Run) -> None:
    """The bound of states limits this: if it is hit, or nothing is delivered, nothing was refined and nothing
    was broken.
    """
    assert stalled.refined(max_states=20_000).outcome is not Outcome.VIOLATED


def row(protocol: str) -> str:
    """A row of the table in the manual: what order misses (also what X-10 records), and what liveness alone
    does.
    """
    repaired = {
        run.switched_off
        for run in BROKEN
        if run.protocol == protocol and run.check.repairs == "all" and run.switched_off
    }
    records = [
        check
        for claim in all_claims()
        for check in claim.checks
        if isinstance(check, Check) and check.property == PROPERTY and check.without
    ]
    repaired |= {
        frozenset(check.without) for check in records if refinement_of(check.spec) is REFINEMENTS[protocol]
    }
    repaired = {variant for variant in repaired if not any(other < variant for other in repaired)}
    stalled = {run.switched_off for run in STALLED if run.protocol == protocol}
    return f"| `{protocol}` | {listed(repaired)} | {listed(stalled)} |"


def listed(variants: set[frozenset[str]]) -> str:
    """Names in the order of the alphabet; those that only together make a difference are joined by `with`."""
    return (
        ", ".join(sorted(" with ".join(f"`{name}`" for name in sorted(variant)) for variant in variants))
        or "none"
    )


def test_the_manual_lists_what_breaks_each_refinement() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "layers.md").read_text(encoding="utf-8").splitlines()
    rows = [row(protocol) for protocol in REFINEMENTS if repairs_of(REFINEMENTS[protocol].concrete)]
    assert [line for line in rows if line not in manual] == []
