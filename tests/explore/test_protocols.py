"""On the published protocols both engines see the same graph, to a depth, and the fast one holds what it was
made for: its counts.
"""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.engines.python.transitions import _Entry, _Memory
from antiphon.model.explore import check
from antiphon.spec.lang import Spec, program
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked

CASES: list[tuple[type[Spec], Any, int]] = [
    (MovingSequencerChecked, (), 9), (MovingSequencerChecked, "all", 4), (RbpChecked, "all", 3),
    (RbpChecked, (), 2), (Figure2Checked, (), 9),
    (Figure2Checked, "all", 5), (Figure5Checked, "all", 4),
]  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("spec", "repairs", "depth"), CASES, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_both_engines_see_the_same(spec: type[Spec], repairs: Any, depth: int) -> None:
    bound = program(spec, repairs=repairs)
    seen = []
    for engine in ("generated", "reference"):
        report = check(bound, engine=engine, bounds=Bounds(depth=depth))
        verdicts = {
            verdict.property: (verdict.outcome, len(verdict.trace) if verdict.trace else None)
            for verdict in report.verdicts
        }
        shown = report.exploration
        seen.append(
            (
                verdicts,
                shown.states,
                shown.transitions,
                shown.depth,
                shown.complete,
                shown.fired,
                shown.never_fired,
            )
        )
    assert seen[0] == seen[1]
    assert seen[0][1] > 10


@pytest.mark.deep
def test_figure_16_is_remembered_in_few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed rests on this: each process's own variables take few values, so that hardly any state runs a
    generated function.
    """
    opened = []
    original = _Memory.open

    def count(self: _Memory, state: int) -> _Entry:
        opened.append(state)
        return original(self, state)

    monkeypatch.setattr(_Memory, "open", count)
    report = check(program(RbpChecked, repairs="all"), properties=(), bounds=Bounds(states=50_000))
    assert report.exploration.states >= 50_000
    assert len(opened) < 0.1 * report.exploration.states
