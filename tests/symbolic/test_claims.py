"""On the claims about figures 2, 5 and 12 that are violated, Z3 finds by itself a counterexample of the
recorded, shortest length.

The records were made by breadth-first search; Z3 is given the specification, its constants and the property,
nothing else.
"""

from __future__ import annotations

import pytest

from antiphon.model.symbolic import check_bounded
from antiphon.model.verdict import Outcome
from antiphon.spec.claims import Check, claims_of
from antiphon.spec.lang import program

VIOLATED = [
    (claim.id, recorded)
    for family in ("rbc", "msq")
    for claim in claims_of(family)
    for recorded in claim.checks
    if isinstance(recorded, Check) and recorded.outcome == "violated" and recorded.length is not None
]


@pytest.mark.sampled(30)
@pytest.mark.parametrize(
    ("claim", "recorded"), VIOLATED, ids=[f"{claim} {recorded}" for claim, recorded in VIOLATED]
)
def test_a_violated_claim_is_refuted_by_a_shortest_run(claim: str, recorded: Check) -> None:
    repairs = [item.name for item in program(recorded.spec).declaration.constants if item.repair]
    chosen = repairs if recorded.repairs == "all" else recorded.repairs
    bound = program(
        recorded.spec, repairs=[name for name in chosen if name not in recorded.without], **recorded.constants
    )
    verdict = check_bounded(bound, depth=20, properties=[recorded.property])[recorded.property]
    assert verdict.outcome is Outcome.VIOLATED, claim
    assert verdict.trace is not None
    assert len(verdict.trace) == recorded.length
