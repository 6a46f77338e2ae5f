"""Every property of figure 16 has a small change of the protocol that breaks it, and holds without the
change.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.bounds import Bounds
from antiphon.model.explore import check as explore
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Spec, action, emit, program, require
from antiphon.spec.protocols.rbp.figure16 import Body, Data, Identifier, Sequenced
from antiphon.spec.protocols.rbp.properties import RbpChecked, RbpProperties
from antiphon.spec.services import Broadcast, Deliver, Message, Process, TotalOrderBroadcast

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""


class ByReception(RbpProperties):
    """Delivers numbered messages in the order of reception."""

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        k = self.last_delivered[p]
        require(item in self.numbered[p] and k < len(self.received[p]))
        body = self.received[p][k]
        require(item.identifier == body.identifier)
        self.last_delivered[p] += 1
        emit(Deliver(p, body.message))


class Skipping(RbpProperties):
    """Delivers any numbered message beyond the last one delivered: order is kept, gaps are left."""

    @action(fairness="weak")
    def deliver(self, p: Process, item: Sequenced) -> None:
        require(item in self.numbered[p] and item.number > self.last_delivered[p])
        body = next((stored for stored in self.received[p] if stored.identifier == item.identifier), None)
        require(body is not None)
        self.last_delivered[p] = item.number
        if body is not None:
            emit(Deliver(p, body.message))


class Impatient(RbpProperties):
    """Broadcasts again before the first message is acknowledged."""

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        require(m.index == self.broadcasts)
        body = Body(m, Identifier(p, self.message_id[p] + 1))
        self.message_id[p] += 1
        self.broadcasts += 1
        self.pending[p] = body
        self.received[p] += (body,)
        self.network |= {Data(q, body) for q in self.each(Process) if q != p}
        emit(Broadcast(p, m))


class LastFirst(RbpProperties):
    """Numbers the message that came last."""

    @action(fairness="weak", per="p")
    def sequence(self, p: Process) -> None:
        require(self.can_sequence(p))
        for item in self.received[p]:
            newer = any(
                not self.is_numbered(p, other.identifier) and self.is_after(p, other, item)
                for other in self.received[p]
            )
            if not self.is_numbered(p, item.identifier) and not newer and self.holding[p]:
                self.holding[p] = False
                self.send_token(p, item.identifier, self.last_number[p] + 1)

    def is_after(self, p: Process, other: Body, item: Body) -> bool:
        return self.ahead_of(p, other.identifier) > self.ahead_of(p, item.identifier)


class ByReceptionJudged(ByReception, TotalOrderBroadcast):
    pass


class LastFirstJudged(LastFirst, TotalOrderBroadcast):
    pass


class SkippingJudged(Skipping, TotalOrderBroadcast):
    pass


class ImpatientJudged(Impatient, TotalOrderBroadcast):
    pass


LIVE = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True}
SAFE = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1, "urgent": True}
FEW = {"processes": 2, "messages": 2, "losses": 0, "timeouts": 0}
THIRD = {"processes": 2, "messages": 3, "losses": 0, "timeouts": 1, "urgent": True}
RING = {"processes": 3, "messages": 2, "losses": 0, "timeouts": 0, "assigned": True}

MUTANTS: list[tuple[str, type[Spec], str, dict[str, Any]]] = [
    ("Validity", RbpChecked, "ring_from_one", LIVE),
    ("Returns", RbpChecked, "ring_from_one", LIVE),
    ("UniformAgreement", RbpChecked, "store_late_body", LIVE | {"nesting": "comment"}),
    ("UniformIntegrity", RbpChecked, "await_body", SAFE),
    ("UniformTotalOrder", ByReceptionJudged, "", FEW),
    ("UniformPrefixOrder", SkippingJudged, "", FEW),
    ("UniqueNumbers", RbpChecked, "old_token", THIRD),
    ("OneHolder", RbpChecked, "old_token", SAFE),
    ("HolderHasAll", RbpChecked, "await_all_bodies", RING),
    ("SenderOrder", ImpatientJudged, "", FEW),
    ("OldestFirst", LastFirstJudged, "", FEW),
]
"""The property, the changed specification, the repair that is left out, constants."""


def outcome(spec: type[Spec], property: str, without: str, constants: dict[str, Any]) -> Outcome:
    repairs = [
        item.name for item in program(spec).declaration.constants if item.repair and item.name != without
    ]
    report = explore(
        program(spec, repairs=repairs, **constants),
        properties=[property],
        stop_at_first=True,
        bounds=Bounds(states=150_000),
    )
    assert [verdict.property for verdict in report.verdicts] == [property], (
        "the changed text is in the language"
    )
    return report[property].outcome


def late(constants: dict[str, Any]) -> tuple[pytest.MarkDecorator, ...]:
    """Three messages take seconds: RBP-06 records, too, what comes of unique numbers without `old_token`."""
    return (pytest.mark.deep,) * (constants == THIRD)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("property", "spec", "without", "constants"),
    [pytest.param(*case, id=case[0], marks=late(case[3])) for case in MUTANTS],
)
def test_a_small_change_breaks_the_property(
    property: str, spec: type[Spec], without: str, constants: dict[str, Any]
) -> None:
    assert outcome(spec, property, without, constants) is Outcome.VIOLATED


UNCHANGED = {(case[0], tuple(sorted(case[3].items()))) for case in MUTANTS if case[0] != "HolderHasAll"}


@cache
def unchanged(constants: tuple[tuple[str, Any], ...]) -> Report:
    """Figure 16 with all repairs, explored once for all that is asked of these constants."""
    asked = sorted(property for property, others in UNCHANGED if others == constants)
    return check(
        program(RbpChecked, repairs="all", **dict(constants)), properties=asked, bounds=Bounds(states=150_000)
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("property", "constants"),
    [pytest.param(*case, id=case[0], marks=late(dict(case[1]))) for case in sorted(UNCHANGED)],
)
def test_the_property_holds_without_the_change(property: str, constants: tuple[tuple[str, Any], ...]) -> None:
    assert unchanged(constants)[property].outcome is Outcome.HOLDS


@pytest.mark.deep
def test_the_holder_has_everything_among_three_as_far_as_this_looks() -> None:
    """The complete exploration is one of RBP-37's checks."""
    assert outcome(RbpChecked, "HolderHasAll", "", RING) is Outcome.UNKNOWN
