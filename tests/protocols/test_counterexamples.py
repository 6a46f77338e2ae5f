"""The shortest counterexamples of the main findings, step by step: a change in one of these files is a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.conformance.ledger.run import program_of
from antiphon.model.changes import trace_changes
from antiphon.model.explicit import check
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.claims import Check, claim_of

MAIN = ["RBC-01", "RBC-05", "RBC-06", "MSQ-02", "MSQ-03", "MSQ-05", "RBP-03", "RBP-06", "RBP-12", "RBP-37"]
MAIN += ["RBP-18", "RBP-19", "RBP-21", "RBP-27", "RBP-42"]
MAIN += ["SEQ-04", "SEQ-08", "SEQ-09", "SEQ-11", "SEQ-13", "SEQ-14", "SEQ-21"]
MAIN += ["TOT-05", "TOT-07", "TOT-09", "TOT-11", "TOT-13", "TOT-14", "TOT-15", "TOT-17", "TOT-18", "TOT-20", "TOT-21", "TOT-23"]
MAIN += ["HOR-04", "HOR-05", "HOR-06", "HOR-07", "HOR-09", "HOR-10", "HOR-11", "HOR-13", "HOR-14"]
MAIN += ["DTP-01", "DTP-02", "DTP-03", "DTP-04", "DTP-05", "DTP-09", "DTP-10", "DTP-11", "DTP-12", "DTP-13", "DTP-29"]


def told(name: str, recorded: Check, trace: Trace) -> str:
    """The run as text: each step, what it changed, what it emitted, what it broke."""
    lines = [f"{name}  {recorded}", f"{len(trace)} steps to {recorded.property}: {trace.why.partition(' (/')[0]}", ""]
    for number, (transition, changed) in enumerate(zip(trace.transitions, trace_changes(trace), strict=True), 1):
        lines.append(f"{number:2}  {compact_step(transition.step)}")
        lines += [f"      {change}" for change in changed]
        lines += [f"      ! {compact(event)}" for event in transition.events]
        lines += [f"      breaks {property}" for property in dict.fromkeys(refusal.property for refusal in transition.refused)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", MAIN)
def test_the_shortest_counterexample_is_the_recorded_run(name: str, golden: Callable[[str, str], None]) -> None:
    """The first violated check of each of these claims that the ledger records."""
    recorded = next(item for item in claim_of(name).checks if isinstance(item, Check) and item.outcome == "violated")
    trace = check(program_of(recorded), properties=[recorded.property])[recorded.property].trace
    assert trace is not None
    assert len(trace) == recorded.length
    golden(f"{name}.txt", told(name, recorded, trace))
