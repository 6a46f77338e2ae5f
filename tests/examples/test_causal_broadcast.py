"""Messages that wait for what their vector timestamps say are delivered in causal order, all of them; without
the wait, a run of four steps shows an answer before its question.
"""

from __future__ import annotations

import pytest

from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.symbolic import check_bounded
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.causal_broadcast import CausalBroadcast
from antiphon.spec.lang import program

COUNTS = {(3, 1): (416, 939), (2, 2): (134, 188), (2, 3): (1_426, 2_178)}
"""States and transitions for so many processes and broadcasts of each; TLC and SPIN count the same in the
exported models.
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("processes", "broadcasts", "engine"),
    [(*sizes, engine) for sizes in COUNTS for engine in ("generated", "native")] + [(3, 1, "reference")],
)
def test_every_engine_finds_as_many_states_and_all_properties_hold(
    processes: int, broadcasts: int, engine: str
) -> None:
    report = check(program(CausalBroadcast, processes=processes, broadcasts=broadcasts), engine=engine)
    explored = report.exploration
    assert (explored.states, explored.transitions) == COUNTS[processes, broadcasts]
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


def test_clocks_are_permuted_with_their_processes() -> None:
    report = check(program(CausalBroadcast), storage=StorageOptions(symmetry=True))
    assert report.exploration.states == 82
    assert "stand for 416 that differ" in report.notes[0]


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        ("first_in_first_out", {"CausalDelivery", "ClocksCount", "Delivery"}),
        ("hasty", {"CausalDelivery", "ClocksCount"}),
    ],
)
def test_without_the_wait_an_answer_comes_before_its_question(fault: str, broken: set[str]) -> None:
    bound = program(CausalBroadcast, **{fault: True})
    report = check(bound)
    assert {item.property for item in report.verdicts if item.outcome is Outcome.VIOLATED} == broken
    trace = report["CausalDelivery"].trace
    assert trace is not None
    assert [step.action for step in trace.steps] == ["broadcast", "deliver", "broadcast", "deliver"]
    solved = check_bounded(bound, depth=4, properties=["CausalDelivery"])["CausalDelivery"]
    assert solved.outcome is Outcome.VIOLATED
    assert len(solved.trace or ()) == 4
