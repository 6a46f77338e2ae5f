"""TOTAL agrees with its specification in every transition of small models, timers and losses included; its
planted faults are found; docs/lockstep.md holds the table.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.bindings import binding_of, bound_protocol
from antiphon.conformance.lockstep import Comparison, lockstep
from antiphon.conformance.stateful import run_stateful
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lockstep.md"

TWO: dict[str, Any] = dict(bound_protocol("total").small)
THREE: dict[str, Any] = {"processes": 3, "messages": 1, "losses": 1}
GAP: dict[str, Any] = {"processes": 2, "messages": 3, "losses": 1}

TIMERS = "process {}: the timers that run, milliseconds left and back-off"

CAUGHT: dict[str, tuple[dict[str, Any], int, str]] = {
    "acknowledges-highest": (TWO, 3, "variable network"),
    "acknowledges-news": (TWO, 5, "variable network"),
    "asks-for-one": (GAP, 5, "variable network"),
    "asks-once": (TWO, 1, TIMERS.format(1)),
    "believes-the-last": (TWO, 6, "variable acknowledged"),
    "forgets-the-suffix": (TWO, 1, TIMERS.format(0)),
    "keeps-the-lowest": (THREE, 3, "variable sent"),
    "numbers-again": (TWO, 4, "events"),
    "passes-one": (TWO, 4, "events"),
    "sends-suffix-to-all": (THREE, 4, "variable network"),
}
"""Where each fault shows, after how many steps, and what differs."""


@pytest.mark.parametrize(("constants", "transitions", "pairs"), [(TWO, 6_874, 2_339), (THREE, 1_256, 547)])
def test_total_agrees_in_every_transition(constants: dict[str, Any], transitions: int, pairs: int) -> None:
    report = lockstep(binding_of("total", **constants))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.pairs) == (transitions, pairs)


@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    constants, length, what = CAUGHT[fault]
    report = lockstep(binding_of("total", fault=fault, **constants))
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == (length, what)
    steps, start = report.difference.trace.steps, report.difference.trace.start
    assert Comparison(binding_of("total", **constants)).run(start, steps) is None


def test_every_planted_fault_is_caught_and_told_on_the_page() -> None:
    assert set(bound_protocol("total").faults) == set(CAUGHT)
    row = r"^\| total \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = {name: (length, what) for name, (_, length, what) in CAUGHT.items()}
    told = {name: (int(length), what) for name, length, what in rows}
    assert told.keys() == wanted.keys()
    for name, (length, what) in told.items():
        assert length == wanted[name][0]
        assert what in wanted[name][1]


def test_hypothesis_finds_a_fault_and_none_where_none_is() -> None:
    bound = bound_protocol("total")
    binding = bound.bind(fault="asks-for-one", **bound.random)
    faulty = run_stateful(binding, runs=100, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=5, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)


def test_views_that_change_are_refused() -> None:
    with pytest.raises(SpecError, match="views is 2, and the members of this core stay in one view"):
        binding_of("total", views=2)
