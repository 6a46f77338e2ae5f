"""The scenarios that the report tells of failures, as runs that are kept as text, step by step."""

from __future__ import annotations

from pathlib import Path

from antiphon.conformance.ledger.checking import program_of
from antiphon.model.notation import compact_step
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
