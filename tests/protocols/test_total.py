"""JavaGroups TOTAL: what the repaired text holds and reaches, which branches of the text are ever taken, and
small changes that break it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.trace import replay
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, Step, expect, program
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.headers import Bcast, NewView, Number, Request
from antiphon.spec.protocols.total.properties import TotalChecked, TotalRepeatedChecked
from antiphon.spec.services import Message, Process, TotalOrderBroadcast

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

THREE: dict[str, Any] = {"processes": 3, "messages": 2, "losses": 1, "patient": True, "assigned": True}
PAIR: dict[str, Any] = {"processes": 2, "messages": 2, "crashes": 0, "reforms": True, "assigned": True}
FREED = {"suffix": "acknowledged", "keeping": "until acknowledged", "early": "dropped"}

MODELS: dict[str, tuple[type[Spec], dict[str, Any], tuple[int, int, int]]] = {
    "one view": (TotalChecked, {"views": 1, "processes": 2, "messages": 2, "losses": 2}, (6130, 43409, 18)),
    "a crash": (TotalChecked, THREE | {"first_ids": 2}, (8572, 18554, 17)),
    "the same members": (TotalChecked, PAIR | {"losses": 0, "first_ids": 2}, (6318, 36111, 19)),
    "acknowledgements": (TotalChecked, PAIR | {"losses": 1} | FREED, (10551, 62166, 20)),
    "a joiner": (TotalChecked, THREE | {"joiners": 1, "crashes": 0}, (3469, 11123, 19)),
    "a wrong suspicion": (
        TotalChecked,
        THREE | {"messages": 1, "crashes": 0, "suspicions": True},
        (536, 1122, 12),
    ),
    "repeated packets": (
        TotalRepeatedChecked,
        {"views": 1, "processes": 2, "messages": 2, "losses": 0, "spare": 1},
        (12716, 77049, 16),
    ),
}
"""Specification, constants; states, transitions and depth."""

ALONE = {"UniformPrefixOrder", "UniformTotalOrder"}
JOINED = {"UniformPrefixOrder", "PrefixOrder", "UniformAgreement", "Agreement"}
CUT_OFF = {"Validity", "UniformAgreement", "Agreement", "ViewAgreement"}

EXCEPT: dict[str, set[str]] = {"a crash": ALONE, "a joiner": JOINED, "a wrong suspicion": CUT_OFF}
"""Properties that cannot hold: a sequencer may pass messages up and crash before it has sent them; a joiner
does not pass up earlier messages; a member that is cut off has left its view's others behind.
"""

UNREACHED: dict[str, set[str]] = {
    "one view": {"NextView", "BeginsElsewhere"},
    "a joiner": {"BeginsElsewhere"},
    "a wrong suspicion": {"BeginsElsewhere"},
    "repeated packets": {"NextView", "BeginsElsewhere"},
}
"""A new sequencer begins at another id than 1 only where there is a second view, and `first_ids` let it."""


@cache
def explored(name: str) -> Report:
    spec, constants, _ = MODELS[name]
    return check(program(spec, repairs="all", **constants))


def having(report: Report, outcome: Outcome) -> set[str]:
    assert report.exploration.complete
    return {verdict.property for verdict in report.verdicts if verdict.outcome is outcome}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_holds_and_reaches_its_witnesses(name: str) -> None:
    assert having(explored(name), Outcome.VIOLATED) == EXCEPT.get(name, set())
    assert having(explored(name), Outcome.UNKNOWN) == UNREACHED.get(name, set())


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_protocol_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert (seen.states, seen.transitions, seen.depth) == MODELS[name][2]


@pytest.mark.deep
def test_every_action_fires_in_some_repaired_model() -> None:
    """Every header that the document describes as used is sent and received, and so are those that repairs
    and readings put to use.
    """
    idle = {name for model in MODELS for name in explored(model).exploration.never_fired}
    assert (
        idle - {name for model in MODELS for name, count in explored(model).exploration.fired if count > 0}
        == set()
    )


def test_the_literal_text_uses_five_of_the_eight_headers() -> None:
    """TOTAL_UNICAST passes by; TOTAL_NEW_VIEW_ACK and TOTAL_CUM_SEQ_ACK have no sender in the text,
    TOTAL_SEQ_ACK has none in any repair.
    """
    fired = {
        name for name, count in check(program(TotalChecked, **PAIR, losses=1)).exploration.fired if count > 0
    }
    received = {name for name in fired if name.startswith("receive_")}
    assert received == {"receive_request", "receive_bcast", "receive_new_view", "receive_resend"}
    assert "ask" in fired


class Branches(TotalBounded, TotalOrderBroadcast):
    """Every branch that leaves no other trace is a broken promise."""

    def discard_lower(self, p: Process, m: Message) -> None:
        expect(False, "NothingOld")

    def discard_twin(self, p: Process, queued: Message, m: Message) -> None:
        expect(False, "NothingQueuedTwice")


BRANCHES = {"NothingOld", "NothingQueuedTwice"}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("repairs", [(), "all"], ids=["literal", "repaired"])
def test_both_ways_to_discard_a_message_are_taken_while_the_view_stays(repairs: Any) -> None:
    """Section Members: so that TOT-05 and TOT-06 are about something."""
    report = check(
        program(Branches, repairs=repairs, views=1, processes=2, messages=3, losses=0, assigned=True),
        properties=sorted(BRANCHES),
    )
    assert {
        verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED
    } == BRANCHES


P0, P1, M0 = Process(0), Process(1), Message(0)


@pytest.mark.parametrize("repairs", [(), "all"], ids=["literal", "repaired"])
def test_a_run_that_begins_later_begins_where_a_view_change_ends(repairs: Any) -> None:
    """The runs of TOT-10 to TOT-13 begin here: p1 has passed up id 1 and changed its view, p0 has announced
    id 1.
    """
    whole = program(TotalChecked, repairs=repairs, **PAIR, losses=0)
    steps = [
        Step("broadcast", (P1, M0)),
        Step("receive_request", (Request(P0, 1, M0),)),
        Step("receive_bcast", (Bcast(P1, 1, 1, M0),)),
        Step("reform", ()),
        Step("change_view", (P0, 1)),
        Step("change_view", (P1, 1)),
    ]
    later = program(TotalChecked, repairs=repairs, processes=2, messages=2, losses=0, views=1, expected=2)
    changed = dict(
        zip(whole.variables, replay(whole, whole.reference.initial()[0], steps).states[-1], strict=True)
    )
    begun = dict(zip(later.variables, later.reference.initial()[0], strict=True))
    kept = {"next_expected", "queue", "next_to_assign", "sent", "unacknowledged", "first_assigned", "known"}
    assert {"next_expected", "queue", "next_to_assign", "sent"} <= begun.keys()
    for name in kept & begun.keys():
        assert begun[name] == changed[name], name
    assert (begun["network"], changed["network"]) == ({NewView(P1, 1, 1)}, {NewView(P1, 2, 1)})


@pytest.mark.deep
def test_a_request_that_was_numbered_before_is_ignored_as_repaired() -> None:
    """Without the repair, the same duplicate gets a second id (TOT-15)."""
    constants = {"views": 1, "processes": 2, "messages": 1, "losses": 0, "spare": 1}
    for without, outcome in (("", Outcome.HOLDS), ("identify_requests", Outcome.VIOLATED)):
        repairs = [
            item.name
            for item in program(TotalRepeatedChecked).declaration.constants
            if item.repair and item.name != without
        ]
        verdict = check(
            program(TotalRepeatedChecked, repairs=repairs, **constants), properties=["UniformIntegrity"]
        )["UniformIntegrity"]
        assert verdict.outcome is outcome


class SkippingSequencer(TotalChecked):
    """The second id is skipped."""

    def assign(self, p: Process, m: Message) -> None:
        number = self.next_to_assign[p] + (1 if self.next_to_assign[p] == 2 else 0)
        self.next_to_assign[p] = number + 1
        self.sent[p][number] = m
        self.take_in(p, number, m)


class Hasty(TotalChecked):
    """Planted fault: arriving messages are passed up at once."""

    def take_in(self, p: Process, k: Number, m: Message) -> None:
        if not self.delivered[p][m]:
            self.pass_up(p, k, m)


class TwoOfThree(TotalChecked):
    """Planted fault: the second process in the list takes itself for the first."""

    def sequencer(self, p: Process) -> Process | None:
        return p if p.index < 2 else super().sequencer(p)


MUTANTS: dict[str, tuple[type[Spec], set[str], dict[str, Any]]] = {
    "an id is skipped": (
        SkippingSequencer,
        {"NoIdSkipped", "GapsAreFilled"},
        {"views": 1, "processes": 2, "messages": 2, "losses": 0, "spare": 1, "assigned": True},
    ),
    "nothing waits": (
        Hasty,
        {"UniformTotalOrder", "ViewPrefix"},
        {"views": 1, "processes": 2, "messages": 2, "losses": 0, "patient": True},
    ),
    "two find themselves first": (
        TwoOfThree,
        {"OneSequencer"},
        {"views": 1, "processes": 3, "messages": 1, "losses": 0},
    ),
}
"""The changed text, the properties that it breaks and the text as it is keeps, constants."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_small_change_breaks_the_property(name: str) -> None:
    spec, properties, constants = MUTANTS[name]
    for text, outcome in ((spec, Outcome.VIOLATED), (TotalChecked, Outcome.HOLDS)):
        report = check(program(text, **constants), properties=sorted(properties))
        assert {verdict.property: verdict.outcome for verdict in report.verdicts} == dict.fromkeys(
            sorted(properties), outcome
        )
