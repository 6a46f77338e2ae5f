"""The scenarios that the report tells of failures, as runs of the repaired protocols, step by step: a change
in one of these files is a finding.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.protocols.named_runs import GOLDEN, RUNS, SCENARIOS, run_again

from antiphon.conformance.ledger import Reports
from antiphon.conformance.ledger.checking import program_of
from antiphon.model.changes import trace_changes
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.claims import Check


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
