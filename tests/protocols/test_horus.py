"""The Horus layers and their stacks: what the repaired text holds and reaches, the run that ranks cannot
order, and small changes that break it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.trace import replay
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, Step, action, emit, on, program, require
from antiphon.spec.protocols.horus.boundaries import ComCast, ComSend, Data, NakCast, NakReceive, Status, Unit
from antiphon.spec.protocols.horus.by_member import HorusByMemberChecked
from antiphon.spec.protocols.horus.fifo_stacks import FragStack, NakStack, NakStackRepeated
from antiphon.spec.protocols.horus.flushed_stacks import HorusFlushChecked
from antiphon.spec.protocols.horus.group import GroupView, NewView
from antiphon.spec.protocols.horus.ordered_stacks import (
    HorusChecked,
    HorusViews,
    MbrshipViews,
    TotalStack,
    TotalViews,
)
from antiphon.spec.services import Message, Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

Constants = dict[str, Any]

CRASH: Constants = {"processes": 3, "messages": 2, "crashes": 1, "stride": 1}
FRAG: Constants = {"processes": 2, "messages": 2, "casts": 4, "buffer": 2}
FULL_STACK: Constants = {"patient": True, "crashes": 1, "oracle": "one that waits"}
SURVIVORS = {"UniformAgreement", "UniformPrefixOrder"}
CLOSED = {"UniformAgreement", "Answered", "BuffersFlushed"}

MODELS: dict[str, tuple[type[Spec], Constants, tuple[str, ...] | str, set[str], set[str]]] = {
    "NAK with a window of one": (NakStack, {"processes": 2, "messages": 3, "casts": 3, "buffer": 1}, "all", set(), {"CameEarly"}),
    "NAK of three": (NakStack, {"processes": 3, "messages": 2, "casts": 2, "patient": True}, "all", set(), {"Replaced"}),
    "NAK over copies": (NakStackRepeated, {"processes": 2, "messages": 2, "casts": 2}, "all", set(), set()),
    "FRAG": (FragStack, FRAG, "all", set(), {"Skipping"}),
    "FRAG of three": (FragStack, {"processes": 3, "messages": 1, "casts": 2, "patient": True}, "all", set(), {"Replaced", "Skipping"}),
    "FRAG where messages are lost": (
        FragStack, FRAG | {"patient": True}, ("discard_after_loss", "mark_first"),
        {"Agreement", "UniformAgreement"}, set(),
    ),
    "MBRSHIP": (MbrshipViews, CRASH, "all", {"UniformAgreement"}, set()),
    "TOTAL": (TotalStack, CRASH, "all", SURVIVORS, set()),
    "TOTAL, its views": (TotalViews, CRASH, "all", SURVIVORS, set()),
    "the full stack of two": (
        HorusChecked, FULL_STACK | {"processes": 2, "messages": 1, "casts": 3, "buffer": 3}, "all", CLOSED,
        {"Replaced", "Skipping", "Gap"},
    ),
    "the full stack of two with its flush": (
        HorusFlushChecked,
        {
            "patient": True, "crashes": 1, "processes": 2, "messages": 1, "casts": 5, "buffer": 5,
            "oracle": "one that waits", "stride": 1,
        },
        "all", CLOSED, {"Replaced", "Skipping", "Gap", "CopyDelivered", "Waiting", "Buffered"},
    ),
    "the full stack of three": (
        HorusViews, FULL_STACK | {"processes": 3, "messages": 1, "casts": 2, "losses": 0}, "all", CLOSED,
        {"Replaced", "Skipping", "Asked", "Gap"},
    ),
    "the full stack as members can do it": (
        HorusByMemberChecked,
        {
            "patient": True, "crashes": 0, "views": 1, "processes": 2, "messages": 1, "casts": 3, "buffer": 1,
            "oracle": "next in rank",
        },
        (), set(), {"ViewChanged", "Continued", "Gap", "Buffered", "TokenLost", "CameEarly", "Replaced"},
    ),
}  # fmt: skip
"""Specification, constants, repairs; what cannot hold: of TOTAL what it does not promise to members that go
down, and below it what a member that is down owes to NAK; the witnesses that are out of reach within these
bounds.
"""

COUNTS: dict[str, tuple[int, int, int]] = {
    "NAK with a window of one": (1179, 5178, 26),
    "NAK of three": (378, 714, 14),
    "NAK over copies": (8232, 44394, 18),
    "FRAG": (12161, 79860, 26),
    "FRAG of three": (140, 233, 15),
    "FRAG where messages are lost": (209, 403, 14),
    "MBRSHIP": (373, 848, 11),
    "TOTAL": (4737, 12234, 21),
    "TOTAL, its views": (4547, 11875, 21),
    "the full stack of two": (571, 1024, 17),
    "the full stack of two with its flush": (284, 454, 16),
    "the full stack of three": (4730, 11341, 20),
    "the full stack as members can do it": (1134, 2086, 26),
}
"""States, transitions and depth."""


@cache
def explored(name: str) -> Report:
    spec, constants, repairs, _, _ = MODELS[name]
    return check(program(spec, repairs=repairs, **constants))


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", MODELS)
def test_the_repaired_stack_holds_what_it_promises(name: str) -> None:
    _, _, _, broken, unreached = MODELS[name]
    report = explored(name)
    assert {
        verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED
    } == broken & {verdict.property for verdict in report.verdicts}
    assert {
        verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.UNKNOWN
    } == unreached


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", MODELS)
def test_the_stack_has_as_many_states_as_it_had(name: str) -> None:
    seen = explored(name).exploration
    assert seen.complete
    assert (seen.states, seen.transitions, seen.depth) == COUNTS[name]


@pytest.mark.deep
def test_every_action_of_every_layer_fires_somewhere() -> None:
    """The two faults that these models leave out stand in the ledger's checks: suspicion, overtaking."""
    fired = {action for name in MODELS for action, _ in explored(name).exploration.fired}
    silent = {action for name in MODELS for action in explored(name).exploration.never_fired} - fired
    assert silent == {"suspect", "overtake"}


P0, P1, P2, P3 = Process(0), Process(1), Process(2), Process(3)
M0, M1, M2 = Message(0), Message(1), Message(2)

APART = [
    Step("broadcast", (P0, M0)), Step("receive", (P2, P0)), Step("broadcast", (P2, M1)),
    Step("broadcast", (P1, M2)), Step("pass_token", (P0, P2)),
    Step("receive", (P2, P0)), Step("receive", (P1, P2)), Step("pass_token", (P2, P1)),
    Step("receive", (P1, P2)), Step("receive", (P2, P1)),
    Step("suspect", (P0,)), Step("suspect", (P2,)), Step("start_flush", ()), Step("flush", (P1,)),
    Step("install", ()),
]  # fmt: skip
"""HOR-10: message 0 has number 1 and reaches p2 only; p2 numbers message 1 with 2, p1 message 2 with 3; p2
delivers 0, 1, 2; then p1 is alone.
"""


@pytest.mark.parametrize(
    ("repairs", "broken"), [((), ["TotalOrder", "UniformTotalOrder"]), (("numbers_first",), [])]
)
def test_a_gap_lets_the_rank_turn_the_order_round(repairs: tuple[str, ...], broken: list[str]) -> None:
    """The rank of the source orders all messages that are left: p1 delivers 2 before 1."""
    bound = program(TotalStack, processes=3, messages=3, crashes=0, suspicions=2, stride=2, repairs=repairs)
    trace = replay(bound, bound.reference.initial()[0], APART)
    refused = {item.property for transition in trace.transitions for item in transition.refused}
    assert sorted(refused & {"TotalOrder", "UniformTotalOrder"}) == broken
    assert "UniformPrefixOrder" in refused, "p1 never gets message 0: that no rule can mend"


FOUR_APART = [
    Step("suspect", (P0,)), Step("suspect", (P1,)), Step("start_flush", ()),
    Step("broadcast", (P0, M0)), Step("receive", (P1, P0)), Step("broadcast", (P3, M1)),
    Step("broadcast", (P2, M2)), Step("pass_token", (P0, P1)), Step("receive", (P1, P0)),
    Step("pass_token", (P1, P3)), Step("receive", (P3, P1)), Step("receive", (P0, P3)),
    Step("receive", (P2, P3)), Step("pass_token", (P3, P2)), Step("flush", (P3,)),
    Step("receive", (P2, P3)), Step("flush", (P2,)), Step("receive", (P0, P2)),
    Step("receive", (P3, P2)), Step("install", ()),
]  # fmt: skip
"""HOR-10 where only who stays has a rank: message 0 has number 1 and reaches p0 and p1, who leave; p3 numbers
message 1 with 2, p2 message 2 with 3; p0 delivers 0, 1, 2; p2 and p3 stay.
"""


@pytest.mark.parametrize(("repairs", "broken"), [((), True), (("numbers_first",), False)])
def test_ranks_of_those_who_stay_turn_the_order_round_among_four(
    repairs: tuple[str, ...], broken: bool
) -> None:
    bound = program(
        TotalStack, processes=4, messages=3, crashes=0, suspicions=2, stride=3, ranked="of who stays", repairs=repairs
    )
    trace = replay(bound, bound.reference.initial()[0], FOUR_APART)
    refused = {item.property for transition in trace.transitions for item in transition.refused}
    assert ("TotalOrder" in refused) == broken


# Small changes ----------------------------------------------------------------------------------------------


class Mute(NakStack):
    """Planted fault: no status is ever multicast."""

    @action
    def tell(self, p: Process) -> None:
        require(self.cast[p] > self.casts)
        emit(ComSend(p, p, Status(0, 0)))


class Hasty(NakStack):
    """Every message with a number that was not passed is passed up as it comes, without waiting for the ones
    before.
    """

    def take_in(self, p: Process, q: Process, unit: Unit) -> None:
        if unit.place >= self.expected[p][q]:
            self.expected[p][q] = unit.place + 1
            emit(NakReceive(p, q, unit))


class Unchecked(NakStack):
    """Numbers are not looked at."""

    def take_in(self, p: Process, q: Process, unit: Unit) -> None:
        emit(NakReceive(p, q, unit))


class Amnesic(NakStack):
    """A sender buffers nothing at all."""

    @on(NakCast)
    def number(self, call: NakCast) -> None:
        p = call.process
        self.cast[p] += 1
        self.oldest[p] = self.cast[p] + 1
        emit(ComCast(p, Data(Unit(p, self.cast[p]))))


class TwoHolders(TotalStack):
    """Planted fault: each process takes the token of a new view."""

    @on(GroupView)
    def enter(self, call: GroupView) -> None:
        p = call.process
        for q in self.each(Process):
            self.deliver_rank(p, q)
        self.next_number[p] = 1
        self.token[p] = 1
        emit(NewView(p))


NAK: Constants = {"processes": 2, "messages": 2, "casts": 2}

MUTANTS: list[tuple[type[Spec], Constants, str]] = [
    (Mute, NAK, "BuffersFlushed"),
    (Mute, NAK, "UniformAgreement"),
    (Hasty, NAK, "UniformAgreement"),
    (Unchecked, NAK, "Fifo"),
    (Amnesic, NAK, "UniformAgreement"),
    (TwoHolders, {"processes": 3, "messages": 1, "crashes": 1}, "OneHolder"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "constants", "property"), MUTANTS, ids=[f"{case[0].__name__}-{case[2]}" for case in MUTANTS]
)
def test_a_small_change_breaks_the_property_that_it_should(
    spec: type[Spec], constants: Constants, property: str
) -> None:
    sound = next(base for base in spec.__mro__[1:] if issubclass(base, Spec))
    changed, unchanged = (
        check(program(item, repairs="all", **constants), properties=[property])[property]
        for item in (spec, sound)
    )
    assert changed.outcome is Outcome.VIOLATED
    assert unchanged.outcome is Outcome.HOLDS
