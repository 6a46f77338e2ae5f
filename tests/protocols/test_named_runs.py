"""The scenarios that the report tells of failures, as runs of the repaired protocols, step by step: a change
in one of these files is a finding.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger.checking import program_of
from antiphon.model.changes import trace_changes
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace, replay
from antiphon.spec.claims import Check, claim_of

GOLDEN = Path(__file__).parent / "golden" / "runs"

SCENARIOS = {
    "RBP-28": ("Figure26",),
    "RBP-30": ("SimpleProcessFails",),
    "RBP-31": ("NextSequencerFails",),
    "RBP-32": ("TokenIsLost",),
    "RBP-34": ("NextMissesMessages",),
    "RBP-35": ("SequencerAndNextFail",),
    "REF-16": ("CannotReturn",),
    "REF-17": ("ExcludedGoesOn",),
    "IRB-30": (
        "SimpleCrashByIView", "SimpleCrashByRegularView", "MultipleCrashesByIView",
        "MultipleCrashesByRegularView", "PartitionByIView", "NoMoreInTheBuffers", "PartitionByRegularView",
        "ReintegrationByIView", "ReintegrationByRegularView",
    ),
}  # fmt: skip
"""Section 3.2.1, figures 17 to 21 and 26, what section 4.4 says against Reformation, and section 5.2.3, by
the claims that record them.
"""

_MEANT = {"NextMissesMessages": "RbpReformingRuns"}
"""Specification of the scenario, for a name of which a claim records several witnesses."""

RUNS = {
    check.property: check
    for claim, names in SCENARIOS.items()
    for check in claim_of(claim).checks
    if isinstance(check, Check)
    and check.property in names
    and check.length is not None
    and check.spec.__name__ == _MEANT.get(check.property, check.spec.__name__)
}


def told(name: str, recorded: Check, trace: Trace) -> str:
    """The run as text: each step, what it changed, what it emitted."""
    lines = [f"{name}  {recorded}", ""]
    for number, (transition, changed) in enumerate(
        zip(trace.transitions, trace_changes(trace), strict=True), 1
    ):
        lines.append(f"{number:2}  {compact_step(transition.step)}")
        lines += [f"      {change}" for change in changed]
        lines += [f"      ! {compact(event)}" for event in transition.events]
    return "\n".join(lines) + "\n"


def run_again(recorded: Check, text: str) -> Trace:
    """The steps of a kept run, taken again by CPython."""
    bound = program_of(recorded)
    machine = bound.reference
    start = state = machine.initial()[0]
    steps = []
    for wanted in (line[4:] for line in text.splitlines() if line[:2].strip().isdigit()):
        step = next(step for step in machine.enabled(state) if compact_step(step) == wanted)
        steps.append(step)
        state = machine.apply(state, step).state
    return replay(bound, start, steps, shows=recorded.property)


def test_every_scenario_has_its_run() -> None:
    assert set(RUNS) == {name for names in SCENARIOS.values() for name in names}
    assert {file.stem for file in GOLDEN.glob("*.txt")} == set(RUNS)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", RUNS)
def test_the_kept_run_is_a_shortest_run_to_the_scenario(
    name: str, golden: Callable[[str, str], None], request: pytest.FixtureRequest
) -> None:
    """The run has as many steps as the ledger records, and ends with the witness true. `antiphon claims
    --deep` finds that there is no shorter one; `--rewrite` finds the run anew.
    """
    recorded = RUNS[name]
    if request.config.getoption("--rewrite"):
        found = Reports.private().check(program_of(recorded), properties={name: None}, engine="native")
        trace = found[name].trace
        assert trace is not None
    else:
        trace = run_again(recorded, (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))
    assert len(trace) == recorded.length
    assert trace.program.reference.holds(trace.states[-1], name)
    golden(f"runs/{name}.txt", told(name, recorded, trace))
