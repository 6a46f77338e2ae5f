"""The layers of Horus agree with their specifications in every transition of small models, in every call
between two layers too; their planted faults are found; docs/lockstep.md holds the table.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocol
from antiphon.conformance.compare.lockstep import Comparison, lockstep
from antiphon.conformance.compare.stateful import run_stateful
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.horus.boundaries import ComCast, NakCast
from antiphon.spec.protocols.horus.local_status import NakByMember

PAGE = Path(__file__).resolve().parents[3] / "docs" / "lockstep.md"

NAK: dict[str, Any] = dict(bound_protocol("horus-nak").small)
FRAG: dict[str, Any] = dict(bound_protocol("horus-frag").small)
THREE: dict[str, Any] = {"processes": 3, "messages": 1, "casts": 1, "buffer": 1, "losses": 0}
TWO: dict[str, Any] = {"processes": 2, "messages": 2, "casts": 4, "buffer": 4, "losses": 0, "patient": True}
LOWER = {"broadcast", "arrive", "ask", "tell", "lose"}
TOTAL: dict[str, Any] = dict(bound_protocol("horus-total").small)
STACK: dict[str, Any] = {"processes": 2, "messages": 1, "casts": 3, "buffer": 1, "losses": 1, "patient": True}
RING: dict[str, Any] = {
    "processes": 3, "messages": 1, "casts": 2, "fragments": 1, "buffer": 2, "losses": 0, "patient": True,
}  # fmt: skip

CAUGHT: dict[tuple[str, str], tuple[dict[str, Any], int, str]] = {
    ("horus-nak", "casts-to-one"): (THREE, 1, "variable network"),
    ("horus-nak", "filters-the-last"): (NAK, 4, "events"),
    ("horus-nak", "passes-up-twice"): (NAK, 2, "events"),
    ("horus-nak", "pushes-the-receiver"): (NAK, 2, "variable network"),
    ("horus-nak", "sends-to-all"): (THREE, 3, "variable network"),
    ("horus-nak", "answers-for-ever"): (NAK, 4, "variable owed"),
    ("horus-nak", "asks-for-the-newest"): (NAK, 4, "events"),
    ("horus-nak", "asks-only-once"): (
        NAK, 3, "process 1: the timers that run, milliseconds left and back-off",
    ),
    ("horus-nak", "believes-the-last"): (NAK, 8, "variable acknowledged"),
    ("horus-nak", "forgets-to-answer"): (NAK, 2, "variable owed"),
    ("horus-nak", "forgets-too-much"): (THREE, 4, "variable oldest"),
    ("horus-nak", "keeps-everything"): (NAK, 4, "variable oldest"),
    ("horus-nak", "passes-up-early"): (NAK, 3, "events"),
    ("horus-nak", "passes-up-one"): (NAK, 4, "events"),
    ("horus-nak", "sends-beyond-the-window"): (NAK, 2, "process 0: busy"),
    ("horus-nak", "tells-expected"): (NAK, 2, "events"),
    ("horus-frag", "drops-the-tail"): (TWO, 6, "events"),
    ("horus-frag", "keeps-the-parts"): (FRAG, 3, "variable gathered"),
    ("horus-frag", "marks-none"): (FRAG, 3, "events"),
    ("horus-frag", "marks-the-first"): (FRAG, 2, "events"),
    ("horus-frag", "turns-around"): (TWO, 6, "events"),
    ("horus-total", "begins-the-next-view"): (TOTAL, 1, "the implementation refuses the step"),
    ("horus-total", "hears-itself"): (TOTAL, 1, "events"),
    ("horus-total", "names-the-first"): (TOTAL, 4, "events"),
    ("horus-total", "delivers-as-it-comes"): (TOTAL, 6, "events"),
    ("horus-total", "delivers-one"): (TOTAL, 4, "events"),
    ("horus-total", "gives-number-again"): (TOTAL, 2, "events"),
    ("horus-total", "keeps-the-token"): (TOTAL, 1, "variable token"),
    ("horus-total", "names-another-rank"): (TOTAL, 6, "variable numbered"),
    ("horus-total", "passes-backwards"): (TOTAL, 1, "events"),
    ("horus-total", "rests-for-ever"): (
        TOTAL, 0, "process 0: the timers that run, milliseconds left and back-off",
    ),
    ("horus-total", "sends-newest-first"): (TOTAL, 4, "events"),
    ("horus-total", "sends-one"): (TOTAL, 4, "events"),
    ("horus-total", "waits-for-the-token"): (TOTAL, 1, "events"),
    ("horus", "forgets-what-waits"): (STACK, 4, "events"),
    ("horus", "overtakes-what-waits"): (STACK, 10, "the implementation refuses the step"),
    ("horus", "takes-every-token"): (RING, 2, "variable token"),
}  # fmt: skip
"""Step of the shortest run at which each fault shows, and the difference that it makes."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "constants", "transitions", "pairs", "fired"),
    [
        ("horus-nak", NAK, 46_004, 6_787, LOWER),
        ("horus-frag", FRAG, 17_857, 2_893, LOWER),
        ("horus-total", TOTAL, 1_275, 708, {"broadcast", "receive", "pass_token"}),
        ("horus", STACK, 2_086, 1_134, LOWER | {"pass_token"}),
    ],
)
def test_a_layer_agrees_in_every_transition(
    name: str, constants: dict[str, Any], transitions: int, pairs: int, fired: set[str]
) -> None:
    report = lockstep(binding_of(name, **constants))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.pairs) == (transitions, pairs)
    assert set(report.fired) == fired


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("name", "fault"), CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(name: str, fault: str) -> None:
    constants, length, what = CAUGHT[name, fault]
    report = lockstep(binding_of(name, fault=fault, **constants))
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == (length, what)
    steps, start = report.difference.trace.steps, report.difference.trace.start
    assert Comparison(binding_of(name, **constants)).run(start, steps) is None


def test_calls_between_layers_are_events_that_are_compared() -> None:
    machine = program(NakByMember, repairs=("await_room",), **NAK).reference
    (state,) = machine.initial()
    (step,) = machine.enabled(state)
    events = machine.apply(state, step).events
    assert {NakCast, ComCast} <= {type(event) for event in events}


def test_every_planted_fault_is_caught_and_told_on_the_page() -> None:
    names = ("horus-nak", "horus-frag", "horus-total", "horus")
    planted = [(name, fault) for name in names for fault in bound_protocol(name).faults]
    assert {fault for _, fault in planted} == {fault for _, fault in CAUGHT}
    assert CAUGHT.keys() <= set(planted)
    row = r"^\| (horus(?:-[a-z]+)?) \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {(name, fault): (int(length), what) for name, fault, length, what in rows}
    assert told.keys() == CAUGHT.keys()
    for key, (length, what) in told.items():
        assert length == CAUGHT[key][1]
        assert what in CAUGHT[key][2]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("horus-nak", "passes-up-one"),
        ("horus-frag", "keeps-the-parts"),
        ("horus-total", "delivers-as-it-comes"),
    ],
)
def test_hypothesis_finds_a_fault_and_none_where_none_is(name: str, fault: str) -> None:
    bound = bound_protocol(name)
    faulty = run_stateful(bound.bind(fault=fault, **bound.random), runs=20, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=3, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)
