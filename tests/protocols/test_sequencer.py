"""SEQUENCER (Ban 2005): the document's own example, what the repaired text reaches and holds, its readings,
and small changes that break it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import hypothesis
import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.explore import check as explore
from antiphon.model.trace import replay
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, Step, emit, expect, program
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Number
from antiphon.spec.protocols.sequencer.properties import (
    SequencerChecked,
    SequencerCopyChecked,
    SequencerViews,
)
from antiphon.spec.services import Deliver, Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

THREE = {"processes": 3, "messages": 2}
CRASH: dict[str, Any] = THREE | {"crashes": 1, "views": 2}

MODELS: dict[str, tuple[type[Spec], dict[str, Any], tuple[int, int, int]]] = {
    "two crashes": (SequencerChecked, THREE | {"crashes": 2, "views": 3}, (49551, 80638, 21)),
    "a crash and a stop": (
        SequencerChecked,
        THREE | {"crashes": 1, "stops": 1, "views": 3},
        (45448, 76676, 21),
    ),
    "another coordinator": (
        SequencerChecked,
        THREE | {"crashes": 0, "views": 2, "handovers": True},
        (4693, 11699, 18),
    ),
    "unordered unicasts": (SequencerChecked, CRASH | {"unicast": "unordered"}, (12651, 26536, 18)),
    "a joiner": (
        SequencerViews,
        THREE | {"messages": 1, "crashes": 1, "joiners": 1, "views": 3, "reforms": True},
        (2830, 4748, 15),
    ),
}
"""Specification, constants; states, transitions and depth."""

EXCEPT: dict[str, set[str]] = {
    "unordered unicasts": {"NextNumber", "SenderOrder"},
    "a joiner": {"Agreement", "UniformAgreement", "SurvivorsHeard"},
}
"""Properties that cannot hold: the order of numbers where messages overtake, and a joiner's delivery of
messages delivered before it came.
"""


@cache
def explored(name: str) -> Report:
    spec, constants, _ = MODELS[name]
    return check(program(spec, repairs="all", **constants))


def failed(report: Report, outcome: Outcome = Outcome.VIOLATED) -> set[str]:
    assert report.exploration.complete
    return {verdict.property for verdict in report.verdicts if verdict.outcome is outcome}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_holds_and_reaches_its_witnesses(name: str) -> None:
    assert failed(explored(name)) == EXCEPT.get(name, set())
    unreached = set() if name == "unordered unicasts" else {"Overtaken"}
    assert failed(explored(name), Outcome.UNKNOWN) == unreached


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert (seen.states, seen.transitions, seen.depth) == MODELS[name][2]


@pytest.mark.deep
def test_every_action_fires_in_some_repaired_model() -> None:
    """A kept FORWARD is never refused, and nobody is suspected who is up."""
    idle = {name for model in MODELS for name in explored(model).exploration.never_fired}
    fired = {name for model in MODELS for name, count in explored(model).exploration.fired if count > 0}
    assert idle - fired == {"refuse_forward", "refuse_loose_forward", "suspect"}


@pytest.mark.deep
def test_every_action_fires_in_the_literal_text_but_those_of_repairs() -> None:
    fired: set[str] = set()
    for constants in (CRASH, CRASH | {"unicast": "unordered"}):
        fired |= {
            name
            for name, count in check(program(SequencerChecked, **constants)).exploration.fired
            if count > 0
        }
    assert {
        "send",
        "receive_forward",
        "receive_loose_forward",
        "refuse_forward",
        "refuse_loose_forward",
        "receive_data",
        "change_view",
    } <= fired
    assert "pass_up" not in fired


EXAMPLE = [
    Step("send", (Process(2), Message(0))), Step("send", (Process(2), Message(1))),
    Step("receive_forward", (Process(0), Process(2))), Step("receive_forward", (Process(0), Process(2))),
    Step("receive_data", (Process(1), Process(0))), Step("receive_data", (Process(1), Process(0))),
    Step("receive_data", (Process(2), Process(0))),
    Step("crash", (Process(0),)), Step("exclude"), Step("change_view", (Process(1),)),
    Step("change_view", (Process(2),)),
    Step("receive_forward", (Process(1), Process(2))), Step("receive_data", (Process(2), Process(1))),
]  # fmt: skip
"""Section "Reliability on failover of coordinator", with two messages for six: all are broadcast, C misses
the last, and sends it again.
"""


def test_the_example_of_the_document_works_as_it_says() -> None:
    """B discards what it has, C delivers it and removes it from its forward-table; nothing else is sent, and
    nothing goes wrong.
    """
    bound = program(SequencerChecked, **CRASH)
    trace = replay(bound, bound.reference.initial()[0], EXAMPLE)
    assert [transition.refused for transition in trace.transitions] == [()] * len(EXAMPLE)
    assert trace.transitions[-2].events == ()
    assert trace.transitions[-1].events == (Deliver(Process(2), Message(1)),)
    assert all(
        bound.reference.holds(trace.states[-1], name) for name in ("Acknowledged", "Agreement", "Validity")
    )


READINGS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("loopback queued", {"loopback": "queued"}, set()),
    ("nothing from who has left", {"from_left": "refused"}, set()),
    ("unicasts to oneself queued", {"self_unicast": "queued"}, {"NextNumber", "SenderOrder"}),
]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("constants", "violated"), [case[1:] for case in READINGS], ids=[case[0] for case in READINGS]
)
def test_what_the_readings_come_to_in_the_repaired_protocol(
    constants: dict[str, Any], violated: set[str]
) -> None:
    """A new coordinator's slow message to itself is overtaken by its next one (SEQ-15)."""
    assert failed(check(program(SequencerChecked, repairs="all", **CRASH, **constants))) == violated


class Noting(SequencerBounded):
    """Figure as printed, with a note of every broadcast that Deliver discards."""

    def deliver(self, p: Process, s: Process, k: Number, m: Message) -> None:
        expect(not self.is_discarded(p, s, k) or self.is_received(p, s, k), "NothingForeign")
        expect(not self.is_received(p, s, k), "NothingTwice")
        super().deliver(p, s, k, m)


DISCARDED: list[tuple[tuple[str, ...] | str, dict[str, Any], set[str]]] = [
    ((), {"crashes": 1, "views": 2}, {"NothingTwice"}),
    (("flush", "keep_early"), {"crashes": 1, "views": 2}, set()),
    (("flush", "keep_early"), {"crashes": 2, "views": 3}, set()),
    ("all", {"crashes": 1, "views": 2}, {"NothingForeign"}),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("repairs", "constants", "discarded"), DISCARDED)
def test_over_a_flush_nothing_is_received_twice(
    repairs: tuple[str, ...] | str, constants: dict[str, Any], discarded: set[str]
) -> None:
    """SEQ-16: the duplicates that received-table is there for come from broadcasts that only some survivors
    have.
    """
    assert (
        failed(
            check(
                program(Noting, repairs=repairs, **THREE, **constants),
                properties=["NothingForeign", "NothingTwice"],
            )
        )
        == discarded
    )


class Decreasing(SequencerChecked):
    """Sends again in decreasing order of seqnos."""

    def resend_all(self, p: Process, to: Process) -> None:
        for k in self.each(Number):
            self.resend(p, to, self.messages + 1 - k)


class Accepting(SequencerChecked):
    """Planted fault: every message is delivered."""

    def is_received(self, p: Process, s: Process, k: Number) -> bool:
        return False


class Forgetting(SequencerChecked):
    """Removes nothing from the forward-table: what was received is sent again."""

    def deliver(self, p: Process, s: Process, k: Number, m: Message) -> None:
        if not self.is_received(p, s, k):
            self.update_entry(p, s, k)
            emit(Deliver(p, m))


MUTANTS: list[tuple[type[Spec], str, tuple[str, ...]]] = [
    (Decreasing, "Validity", ("flush", "keep_early")),
    (Accepting, "UniformIntegrity", ()),
    (Forgetting, "Acknowledged", ("flush", "keep_early")),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "property", "repairs"),
    [
        pytest.param(*case, id=case[0].__name__, marks=(pytest.mark.deep,) * (case[0] is Accepting))
        for case in MUTANTS
    ],
)
def test_a_small_change_breaks_the_property(
    spec: type[Spec], property: str, repairs: tuple[str, ...]
) -> None:
    """SEQ-15, SEQ-16, SEQ-22: the order of sending again, the comparison with received-table, the removal
    from forward-table.
    """
    changed = explore(program(spec, repairs=repairs, **CRASH), properties=[property], stop_at_first=True)
    assert changed[property].outcome is Outcome.VIOLATED
    assert (
        check(program(SequencerChecked, repairs=repairs, **CRASH), properties=[property])[property].outcome
        is Outcome.HOLDS
    )


def test_the_reference_sees_what_the_generated_code_sees() -> None:
    """With one message the same actions fire as with two, which the deep profile takes: CPython needs ten
    seconds then.
    """
    deep = hypothesis.settings().max_examples > hypothesis.settings.get_profile("derandomized").max_examples
    bound = program(
        SequencerChecked, repairs="all", processes=2, messages=2 if deep else 1, crashes=1, views=2
    )
    fast, slow = explore(bound), explore(bound, engine="reference")
    assert fast.exploration.states == slow.exploration.states
    assert fast.exploration.transitions == slow.exploration.transitions
    assert [(verdict.property, verdict.outcome) for verdict in fast.verdicts] == [
        (verdict.property, verdict.outcome) for verdict in slow.verdicts
    ]


def test_every_action_of_the_copy_fires() -> None:
    report = check(program(SequencerCopyChecked, processes=3, messages=1, losses=1))
    assert report.exploration.never_fired == ()
    assert failed(report) == set()
