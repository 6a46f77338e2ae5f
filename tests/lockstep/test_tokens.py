"""Tokens over queues: CM and Pinwheel agree with their specifications in every transition of small models,
and their planted faults are found; docs/lockstep.md holds the table.
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

PROTOCOLS = ("chang-maxemchuk", "pinwheel")

TWO: dict[str, Any] = {"processes": 2, "messages": 2}
SMALL: dict[str, Any] = dict(bound_protocol("chang-maxemchuk").small)
BACK: dict[str, Any] = {"processes": 3, "messages": 3, "first": 2, "step": 2}

ONE_SIDE = "steps that only one side would take"

CAUGHT: dict[tuple[str, str], tuple[dict[str, Any], int, str]] = {
    ("chang-maxemchuk", "acknowledges-early"): (SMALL, 5, ONE_SIDE),
    ("chang-maxemchuk", "delivers-unnumbered"): (TWO, 2, "variable status"),
    ("chang-maxemchuk", "delivers-when-stable"): (TWO, 2, ONE_SIDE),
    ("chang-maxemchuk", "drops-early-acks"): (SMALL, 9, "variable early"),
    ("chang-maxemchuk", "forgets-the-last"): (TWO, 2, "variable channel"),
    ("chang-maxemchuk", "forgets-what-waits"): (SMALL, 10, "variable acknowledged"),
    ("chang-maxemchuk", "keeps-the-token"): (TWO, 4, ONE_SIDE),
    ("chang-maxemchuk", "names-itself"): (SMALL, 3, "the implementation refuses the step"),
    ("chang-maxemchuk", "prefers-the-first"): (BACK, 8, ONE_SIDE),
    ("chang-maxemchuk", "removes-early"): (TWO, 3, "variable buffer"),
    ("chang-maxemchuk", "removes-nothing"): (TWO, 7, "variable buffer"),
    ("chang-maxemchuk", "sends-two"): (TWO, 1, "process 0: busy"),
    ("chang-maxemchuk", "turns-back"): (SMALL, 6, ONE_SIDE),
    ("pinwheel", "acknowledges-early"): (SMALL, 5, ONE_SIDE),
    ("pinwheel", "believes-the-last"): (TWO, 6, "variable heard"),
    ("pinwheel", "drops-early-acks"): (SMALL, 9, "variable early"),
    ("pinwheel", "forgets-itself"): (TWO, 5, "variable heard"),
    ("pinwheel", "forgets-the-giver"): (TWO, 2, "variable heard"),
    ("pinwheel", "keeps-the-token"): (TWO, 2, "variable token"),
    ("pinwheel", "passes-at-once"): (TWO, 4, "variable token"),
    ("pinwheel", "passes-never"): (TWO, 2, "variable token"),
    ("pinwheel", "removes-at-most"): (TWO, 3, "variable buffer"),
    ("pinwheel", "removes-nothing"): (TWO, 5, "variable buffer"),
    ("pinwheel", "says-nothing"): (TWO, 7, "variable heard"),
    ("pinwheel", "sends-one"): (TWO, 1, "process 0: busy"),
    ("pinwheel", "tells-what-it-has"): (TWO, 6, "variable heard"),
}
"""Where each fault shows, after how many steps, and what differs."""


@pytest.mark.parametrize(
    ("protocol", "constants", "transitions", "states"),
    [
        ("chang-maxemchuk", TWO, 106, 52),
        ("chang-maxemchuk", SMALL, 2_461, 744),
        ("chang-maxemchuk", {**SMALL, "messages": 3, "step": 0}, 4_913, 1_286),
        ("pinwheel", TWO, 190, 99),
        ("pinwheel", SMALL, 4_162, 1_265),
    ],
)
def test_the_core_agrees_in_every_transition(
    protocol: str, constants: dict[str, Any], transitions: int, states: int
) -> None:
    report = lockstep(binding_of(protocol, **constants))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.states, report.pairs) == (transitions, states, states)


@pytest.mark.parametrize(("protocol", "fault"), CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(protocol: str, fault: str) -> None:
    constants, length, what = CAUGHT[protocol, fault]
    report = lockstep(binding_of(protocol, fault=fault, **constants))
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == (length, what)
    steps, start = report.difference.trace.steps, report.difference.trace.start
    assert Comparison(binding_of(protocol, **constants)).run(start, steps) is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_planted_fault_is_caught_and_told_on_the_page(protocol: str) -> None:
    caught = {fault: entry[1:] for (name, fault), entry in CAUGHT.items() if name == protocol}
    assert set(bound_protocol(protocol).faults) == set(caught)
    row = rf"^\| {protocol} \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: (int(length), what) for name, length, what in rows} == caught


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_hypothesis_finds_a_fault_and_none_where_none_is(protocol: str) -> None:
    bound = bound_protocol(protocol)
    binding = bound.bind(fault="removes-nothing", **bound.random)
    faulty = run_stateful(binding, runs=60, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=5, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)
