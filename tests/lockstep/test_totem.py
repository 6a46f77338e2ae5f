"""Totem's ring agrees with its specification in every transition of small models; its planted faults are
found; docs/lockstep.md holds the table.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.bindings import binding_of, bound_protocol
from antiphon.conformance.lockstep import Comparison, lockstep
from antiphon.conformance.stateful import run_stateful
from antiphon.model.verdict import Outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lockstep.md"

TWO: dict[str, Any] = dict(bound_protocol("totem").small)
RING: dict[str, Any] = {"processes": 3, "messages": 2, "visit_max": 1, "unstable_max": 2}
ONE: dict[str, Any] = {"processes": 3, "messages": 1}

TIMERS = "process {}: the timers that run, milliseconds left and back-off"

CAUGHT: dict[str, tuple[dict[str, Any], int, str]] = {
    "believes-the-token": (TWO, 6, "variable stable"),
    "counts-for-ever": (TWO, 3, "variable visit"),
    "delivers-as-it-comes": (TWO, 5, "events"),
    "delivers-one": (TWO, 6, "events"),
    "forgets-its-own": (TWO, 9, "steps that only one side would take"),
    "forgets-itself": (TWO, 2, "events"),
    "gives-number-again": (TWO, 2, "variable token"),
    "keeps-the-token": (TWO, 1, "variable token"),
    "leaves-one-out": (TWO, 2, "variable network"),
    "never-rests": (TWO, 0, TIMERS.format(0)),
    "passes-backwards": (RING, 1, "variable network"),
    "rests-early": (TWO, 5, TIMERS.format(1)),
    "sends-all": (RING, 3, "steps that only one side would take"),
    "sends-newest-first": (TWO, 3, "events"),
    "sends-one-a-visit": (TWO, 3, "steps that only one side would take"),
    "takes-own-for-all": (TWO, 3, "variable stable"),
    "tells-nothing": (TWO, 3, "variable network"),
    "tells-what-was-given": (TWO, 5, "variable network"),
}
"""Where each fault shows, after how many steps, and what differs."""


@pytest.mark.parametrize(("constants", "transitions", "pairs"), [(TWO, 5_944, 3_610), (ONE, 348, 336)])
def test_the_ring_agrees_in_every_transition(constants: dict[str, Any], transitions: int, pairs: int) -> None:
    report = lockstep(binding_of("totem", **constants))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.pairs) == (transitions, pairs)


@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    constants, length, what = CAUGHT[fault]
    report = lockstep(binding_of("totem", fault=fault, **constants))
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == (length, what)
    steps, start = report.difference.trace.steps, report.difference.trace.start
    assert Comparison(binding_of("totem", **constants)).run(start, steps) is None


def test_every_planted_fault_is_caught_and_told_on_the_page() -> None:
    assert set(bound_protocol("totem").faults) == set(CAUGHT)
    row = r"^\| totem \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = {name: (length, what) for name, (_, length, what) in CAUGHT.items()}
    told = {name: (int(length), what) for name, length, what in rows}
    assert told.keys() == wanted.keys()
    for name, (length, what) in told.items():
        assert length == wanted[name][0]
        assert what in wanted[name][1]


def test_hypothesis_finds_a_fault_and_none_where_none_is() -> None:
    bound = bound_protocol("totem")
    binding = bound.bind(fault="rests-early", **bound.random)
    faulty = run_stateful(binding, runs=12, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=3, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)
