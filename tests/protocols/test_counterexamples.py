"""The shortest counterexamples of the main findings, step by step: a change in one of these files is a finding."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.conformance.ledger.run import program_of
from antiphon.model.changes import trace_changes
from antiphon.model.explicit import check
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.claims import LEDGER, Check, claim_of

MAIN = ["RBC-01", "RBC-03", "RBC-05", "RBC-06", "MSQ-02", "MSQ-03", "MSQ-05", "MSQ-09"]
MAIN += ["RBP-02", "RBP-03", "RBP-04", "RBP-05", "RBP-06", "RBP-11", "RBP-12", "RBP-37", "RBP-38", "RBP-39"]
MAIN += ["RBP-18", "RBP-19", "RBP-21", "RBP-24", "RBP-27", "RBP-42", "RBP-43"]
MAIN += ["SEQ-04", "SEQ-07", "SEQ-08", "SEQ-09", "SEQ-10", "SEQ-11", "SEQ-12", "SEQ-13", "SEQ-14", "SEQ-16", "SEQ-19", "SEQ-20", "SEQ-21", "SEQ-22"]
MAIN += ["TOT-05", "TOT-07", "TOT-09", "TOT-10", "TOT-11", "TOT-12", "TOT-13", "TOT-14", "TOT-15", "TOT-17", "TOT-18", "TOT-20", "TOT-21", "TOT-23"]
MAIN += ["HOR-04", "HOR-05", "HOR-06", "HOR-07", "HOR-09", "HOR-10", "HOR-11", "HOR-13", "HOR-14"]
MAIN += ["DTP-01", "DTP-02", "DTP-03", "DTP-04", "DTP-05", "DTP-09", "DTP-10", "DTP-11", "DTP-12", "DTP-13", "DTP-29"]

COMPLETE = ("rbc", "msq", "rbp", "seq", "tot")
"""The families of which every refuted claim is here, if a run refutes it in a few seconds."""


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
    engine = "native" if recorded.deep else "auto"
    trace = check(program_of(recorded), properties=[recorded.property], engine=engine)[recorded.property].trace
    assert trace is not None
    assert len(trace) == recorded.length
    golden(f"{name}.txt", told(name, recorded, trace))


def test_every_refuted_claim_of_these_families_has_its_run_here() -> None:
    """The others are refuted by what is never reached, by a measurement, or by reading: no run shows that."""
    refuted = [claim for claim in LEDGER if claim.protocol in COMPLETE and claim.verdict == "violated"]
    shown = {claim.id for claim in refuted if any(isinstance(item, Check) and item.outcome == "violated" and not item.deep for item in claim.checks)}
    assert shown <= set(MAIN)
    assert {claim.id for claim in refuted} - shown == {"RBC-08", "MSQ-07", "RBP-01", "RBP-08", "RBP-22", "RBP-40"}
