"""The repaired figures: every action fires, every witness is reached, the counts are what they were, and the
shortcuts change no verdict.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.explore import check as explore
from antiphon.model.explore import kinds_of
from antiphon.model.trace import replay
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, Step, program
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.figure5 import Data, Request
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked
from antiphon.spec.services import Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

PAIR = {"processes": 2, "messages": 1, "losses": 1}
LIVE = PAIR | {"unlimited": True}
RING = {"processes": 3, "messages": 1, "losses": 1, "unlimited": True, "urgent": True, "assigned": True}

MODELS: dict[str, tuple[type[Spec], dict[str, Any], tuple[int, int, int], set[str]]] = {
    "figure 2": (Figure2Checked, {"processes": 3, "messages": 2, "losses": 1}, (20595, 62028, 16), set()),
    "figure 5": (Figure5Checked, {"processes": 2, "messages": 2, "losses": 1}, (7181, 30139, 26), set()),
    "moving sequencer": (MovingSequencerChecked, PAIR, (5929, 32949, 41), {"request_body"}),
    "rbp of two": (RbpChecked, LIVE, (3107, 18575, 19), {"receive_request_numbers"}),
    "rbp of three": (RbpChecked, RING, (62751, 363949, 26), set()),
}
"""Specification, constants; states, transitions and depth; the actions that never fire.

Where everything numbered is delivered before bodies are asked for (MSQ-06), `request_body` has nothing to ask
for. With two processes and one message nobody can miss a number that a later one shows:
`receive_request_numbers` needs three processes.
"""


@cache
def explored(name: str) -> Report:
    spec, constants, _, _ = MODELS[name]
    return check(program(spec, repairs="all", **constants))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_figure_holds_and_reaches_its_witnesses(name: str) -> None:
    report = explored(name)
    failed = {verdict.property for verdict in report.verdicts if verdict.outcome is not Outcome.HOLDS}
    assert failed == set()
    assert {"witness", "service", "obligation"} <= {verdict.kind for verdict in report.verdicts}
    assert all(verdict.trace is not None for verdict in report.verdicts if verdict.kind == "witness")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_figure_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert seen.complete
    assert (seen.states, seen.transitions, seen.depth) == MODELS[name][2]


@pytest.mark.parametrize("name", MODELS)
def test_every_action_fires(name: str) -> None:
    assert set(explored(name).exploration.never_fired) == MODELS[name][3]


SMALL: dict[str, tuple[type[Spec], dict[str, Any], int]] = {
    "figure 2": (Figure2Checked, PAIR, 46),
    "figure 5": (Figure5Checked, PAIR, 281),
    "rbp": (RbpChecked, PAIR | {"losses": 0, "timeouts": 0, "urgent": True}, 40),
}


def judged(report: Report) -> dict[str, tuple[str, int | None]]:
    """Outcome and length of every property."""
    return {
        verdict.property: (verdict.outcome.value, None if verdict.trace is None else len(verdict.trace))
        for verdict in report.verdicts
    }


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SMALL)
def test_the_reference_sees_what_the_generated_code_sees(name: str) -> None:
    spec, constants, states = SMALL[name]
    bound = program(spec, repairs="all", **constants)
    fast, slow = explore(bound), explore(bound, engine="reference")
    assert judged(fast) == judged(slow)
    assert fast.exploration.states == slow.exploration.states == states
    assert fast.exploration.transitions == slow.exploration.transitions
    assert fast.exploration.fired == slow.exploration.fired


URGENT: list[tuple[str, type[Spec], dict[str, Any], int, int]] = [
    ("rbp, one message", RbpChecked, LIVE, 3107, 531),
    (
        "rbp, two messages",
        RbpChecked,
        {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1},
        52791,
        5057,
    ),
    ("moving sequencer", MovingSequencerChecked, PAIR, 5929, 1357),
]


QUICK = 10_000
"""In more states than this obligations are not judged here: limited timers leave them unknown, after a long
look at each state.
"""


def safety(spec: type[Spec]) -> list[str]:
    """The invariants and the properties of steps."""
    return [name for name, kind in kinds_of(program(spec)).items() if kind in ("invariant", "service")]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "constants", "full", "few"), [case[1:] for case in URGENT], ids=[case[0] for case in URGENT]
)
def test_urgent_runs_give_the_verdicts_of_all_runs(
    spec: type[Spec], constants: dict[str, Any], full: int, few: int
) -> None:
    """Local steps at once: other states, the same outcomes; in small models also where obligations are false
    because timers are limited.
    """
    asked = None if full < QUICK else safety(spec)
    every = check(program(spec, repairs="all", **constants), properties=asked)
    some = check(program(spec, repairs="all", urgent=True, **constants), properties=asked)
    assert (every.exploration.states, some.exploration.states) == (full, few)
    assert {verdict.property: verdict.outcome for verdict in every.verdicts} == {
        verdict.property: verdict.outcome for verdict in some.verdicts
    }
    assert every.exploration.never_fired == some.exploration.never_fired


@pytest.mark.deep
@pytest.mark.parametrize(
    ("without", "fails"),
    [
        ("old_token", True),
        pytest.param("await_body", True, marks=pytest.mark.deep),
        pytest.param("await_all_bodies", False, marks=pytest.mark.deep),
    ],
)
def test_urgent_runs_find_the_violations_of_all_runs(without: str, fails: bool) -> None:
    """A shortcut that hid a counterexample, or made one, would show here: `await_all_bodies` is missed by
    three processes only.
    """
    repairs = [
        item.name
        for item in program(RbpChecked).declaration.constants
        if item.repair and item.name != without
    ]
    constants: dict[str, Any] = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
    every = check(program(RbpChecked, repairs=repairs, **constants), properties=safety(RbpChecked))
    some = check(
        program(RbpChecked, repairs=repairs, urgent=True, **constants), properties=safety(RbpChecked)
    )
    failed = {verdict.property for verdict in every.verdicts if verdict.outcome is Outcome.VIOLATED}
    assert failed == {verdict.property for verdict in some.verdicts if verdict.outcome is Outcome.VIOLATED}
    assert bool(failed) == fails


READINGS: list[tuple[type[Spec], dict[str, Any], set[str], int, dict[str, int]]] = [
    (RbpChecked, LIVE | {"nesting": "comment"}, set(), 3107, {}),
    (
        RbpChecked,
        LIVE | {"nesting": "comment"},
        {"store_late_body"},
        2906,
        {"UniformAgreement": 7, "Agreement": 7},
    ),
    (RbpChecked, LIVE | {"nesting": "printed"}, {"store_late_body"}, 190, {"Validity": 1, "Returns": 1}),
    (
        RbpChecked,
        LIVE | {"waiting": "blocking"},
        set(),
        1234,
        {"Validity": 2, "Returns": 2, "UniformAgreement": 6, "Agreement": 6},
    ),
    (RbpChecked, LIVE | {"asked": "all"}, set(), 3107, {}),
    (RbpChecked, LIVE | {"answering": "current"}, set(), 1430, {}),
    (Figure5Checked, {"processes": 2, "messages": 2, "losses": 2, "missed": "the listed"}, set(), 11483, {}),
    (
        MovingSequencerChecked,
        PAIR | {"recording": "when missing"},
        set(),
        5769,
        {"UniformAgreement": 7, "Agreement": 7},
    ),
    (
        MovingSequencerChecked,
        PAIR | {"spare": 1, "already_sequenced": "nothing"},
        set(),
        27533,
        {"UniqueNumbers": 12, "UniformIntegrity": 13, "Integrity": 13},
    ),
    (MovingSequencerChecked, PAIR | {"losses": 2, "sending": "send"}, set(), 4271, {}),
]
"""Specification, constants with the reading, repairs left out; states; violated properties with the lengths
of their shortest traces.
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("spec", "constants", "without", "states", "violated"),
    READINGS,
    ids=[
        " ".join([*(str(value) for value in case[1].values() if isinstance(value, str)), *sorted(case[2])])
        for case in READINGS
    ],
)
def test_what_the_other_readings_come_to(
    spec: type[Spec], constants: dict[str, Any], without: set[str], states: int, violated: dict[str, int]
) -> None:
    """Figure 16, lines 22, 29, 34-49 and 38; figure 12, lines 3, 17 and 31; figure 5, lines 28-29. The
    nesting of line 22 matters only while bodies that come late are not stored (RBP-39).
    """
    repairs = [
        item.name for item in program(spec).declaration.constants if item.repair and item.name not in without
    ]
    report = check(program(spec, repairs=repairs, **constants))
    assert report.exploration.complete
    assert report.exploration.states == states
    assert {
        name: length for name, (outcome, length) in judged(report).items() if outcome == "violated"
    } == violated


@pytest.mark.deep
def test_two_processes_agree_whoever_is_asked_but_three_do_not_ask_the_same() -> None:
    few, many = (
        check(program(RbpChecked, repairs="all", asked=who, **RING), properties=["UniformAgreement"])
        for who in ("the sequencer", "all")
    )
    assert few["UniformAgreement"].outcome is many["UniformAgreement"].outcome is Outcome.HOLDS
    assert few.exploration.states < many.exploration.states


def test_line_13_of_figure_5_delivers_what_line_25_has_delivered() -> None:
    """RBC-05 as it is told, figure 5, lines 13 and 25: the holder asks, the answer is delivered on arrival,
    and again after the wait.
    """
    p, q, m = Process(0), Process(1), Message(0)
    steps = [
        Step("broadcast", (p, m)), Step("lose", (Data(q, m),)), Step("receive_token", (p,)),
        Step("check", (p, None)), Step("pass_token", (p,)),
        Step("receive_token", (q,)), Step("check", (q, m)), Step("request", (q,)),
        Step("receive_request", (Request(p, q, m),)),
        Step("receive_data", (Data(q, m),)), Step("deliver_missing", (q,)),
    ]  # fmt: skip
    refused = {}
    for name, repairs in (("literal", ["start_token"]), ("repaired", ["start_token", "deliver_once"])):
        bound = program(Figure5Checked, repairs=repairs, **PAIR)
        trace = replay(bound, bound.reference.initial()[0], steps)
        refused[name] = [[item.property for item in transition.refused] for transition in trace.transitions]
    assert refused["literal"] == [[]] * 10 + [["UniformIntegrity", "Integrity"]]
    assert refused["repaired"] == [[]] * 11
