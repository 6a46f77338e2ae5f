"""The shortest counterexample of every refuted claim that a run refutes, step by step: a change in one of
these files is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger.checking import program_of
from antiphon.model.bounds import Bounds
from antiphon.model.changes import trace_changes
from antiphon.model.explore import check as explore
from antiphon.model.explore import kinds_of
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.model.verdict import Report
from antiphon.spec.claims import Check, Claim, all_claims, claim_of
from antiphon.spec.lang import Program, program

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

GOLDEN = Path(__file__).parent / "golden"

NO_RUN = {
    "RBC-08", "MSQ-07", "RBP-01", "RBP-08", "RBP-22", "RBP-40", "IRB-16", "IRB-27",
}  # fmt: skip
"""Refuted by what is never reached, by a measurement, or by reading: no run shows that."""

OTHERS = [
    "DTP-09",
    "DTP-21",
    "MSQ-09",
    "RBP-21",
    "RBP-27",
    "SEQ-19",
    "TOT-17",
    "TOT-18",
    "TOT-20",
    "TOT-21",
    "TOT-23",
]
OTHERS += ["HOR-04", "HOR-05", "HOR-07", "HOR-09", "HOR-11", "HOR-13", "HOR-14", "REF-14", "REF-15"]
OTHERS += ["IRB-28", "IRB-34"]
"""Claims that are not refuted, with a run that shows what they rest on, or what another reading or a weaker
network would do.
"""


def shown(claim: Claim) -> Check | None:
    """The first check that is recorded as violated."""
    return next(
        (item for item in claim.checks if isinstance(item, Check) and item.outcome == "violated"), None
    )


REFUTED = [claim for claim in all_claims() if claim.verdict == "violated" and claim.id not in NO_RUN]
RUNS = {
    claim.id: recorded
    for claim in (*REFUTED, *map(claim_of, OTHERS))
    if (recorded := shown(claim)) is not None
}


NOT_MENDED = {"RBP-24"}
"""Claims whose repair is needed, but does not make the sentence true: `because` says so."""

REPAIRED = [claim.id for claim in REFUTED if claim.repairs and claim.id not in NOT_MENDED]

MANY = 3_000_000
"""The most states in which an obligation is judged here."""


def head(name: str, recorded: Check) -> str:
    """The first line of a run and how the second begins: the claim, its check, its shortest length."""
    return (
        f"{name}  {recorded}\n{recorded.length} step{'s' * (recorded.length != 1)} to {recorded.property}: "
    )


def told(name: str, recorded: Check, trace: Trace) -> str:
    """The run as text: each step, what it changed, what it emitted, what it broke."""
    lines = [f"{head(name, recorded)}{trace.why.partition(' (/')[0]}", ""]
    for number, (transition, changed) in enumerate(
        zip(trace.transitions, trace_changes(trace), strict=True), 1
    ):
        lines.append(f"{number:2}  {compact_step(transition.step)}")
        lines += [f"      {change}" for change in changed]
        lines += [f"      ! {compact(event)}" for event in transition.events]
        lines += [
            f"      breaks {property}"
            for property in dict.fromkeys(refusal.property for refusal in transition.refused)
        ]
    return "\n".join(lines) + "\n"


def model_of(recorded: Check) -> tuple[object, ...]:
    """Key that two checks with one exploration share: the specification with its repairs and constants, and
    its class of time.
    """
    return (
        recorded.spec,
        recorded.repairs,
        recorded.without,
        tuple(sorted(recorded.constants.items())),
        recorded.deep,
    )


@cache
def explored(model: tuple[object, ...]) -> Report:
    """One exploration for all runs of one model. Engines may find different runs of the shortest length, so
    that each model keeps to its own.
    """
    own = [recorded for recorded in RUNS.values() if model_of(recorded) == model]
    engine = "native" if own[0].deep else "auto"
    return check(
        program_of(own[0]), properties=dict.fromkeys(recorded.property for recorded in own), engine=engine
    )


MODELS = list(dict.fromkeys(model_of(recorded) for recorded in RUNS.values()))
SAMPLED = MODELS[::20]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The runs of all models with `make check-deep` and when they are written anew, else of every twentieth;
    `make check` looks at the lengths of all.
    """
    if "name" in metafunc.fixturenames:
        option = metafunc.config.getoption
        every = option("--hypothesis-profile", None) == "deep" or option("--rewrite")
        chosen = [name for name, recorded in RUNS.items() if every or model_of(recorded) in SAMPLED]
        metafunc.parametrize("name", chosen)
    if "repaired" in metafunc.fixturenames:
        every = metafunc.config.getoption("--hypothesis-profile", None) == "deep"
        quick = [name for name in REPAIRED if not RUNS[name].deep]
        metafunc.parametrize("repaired", REPAIRED if every else quick[::10])


@pytest.mark.sampled(6)
def test_the_shortest_counterexample_is_the_recorded_run(
    name: str, golden: Callable[[str, str], None]
) -> None:
    """The first violated check of each of these claims that the ledger records."""
    recorded = RUNS[name]
    trace = explored(model_of(recorded))[recorded.property].trace
    assert trace is not None
    assert len(trace) == recorded.length
    golden(f"{name}.txt", told(name, recorded, trace))


def with_own(recorded: Check, claim: Claim) -> Program:
    """The program of a check with the repairs of the claim switched on, and those that they build on."""
    bound = program_of(recorded)
    known = {item.name: item.repair for item in bound.declaration.constants if item.repair}
    on = {name for name in known if bound.constants[name]} | (set(claim.repairs) & set(known))
    while more := {name for repair in on for name in known[repair].needed} - on:
        on |= more
    return program(recorded.spec, repairs=sorted(on), **recorded.constants)


@pytest.mark.sampled(9)
def test_the_run_that_is_shown_disappears_with_the_repairs_of_its_claim(repaired: str) -> None:
    """A run that stays shows another defect. An obligation is judged at the end of runs, in all states."""
    recorded, claim = RUNS[repaired], claim_of(repaired)
    assert recorded.length is not None
    bound = with_own(recorded, claim)
    whole = kinds_of(bound)[recorded.property] in ("obligation", "liveness")
    bounds = Bounds(states=MANY) if whole else Bounds(depth=recorded.length)
    trace = explore(bound, properties=[recorded.property], bounds=bounds)[recorded.property].trace
    assert trace is None or len(trace) > recorded.length


def test_every_refuted_claim_has_its_run_here_or_is_refuted_by_none() -> None:
    assert [claim.id for claim in REFUTED if shown(claim) is None] == []
    assert [
        name
        for name in sorted(NO_RUN)
        if claim_of(name).verdict != "violated" or shown(claim_of(name)) is not None
    ] == []
    assert [
        name for name in OTHERS if claim_of(name).verdict == "violated" or shown(claim_of(name)) is None
    ] == []


def test_every_run_stands_here_as_recorded_and_no_other() -> None:
    """Without exploring anything: a file for each, of the recorded check and as many steps as it records."""
    assert sorted(file.stem for file in GOLDEN.glob("*.txt")) == sorted(RUNS)
    for name, recorded in RUNS.items():
        text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
        assert text.startswith(head(name, recorded)), name
        assert sum(line[:2].strip().isdigit() for line in text.splitlines()[3:]) == recorded.length, name
