"""CM, Pinwheel and Totem have no repair to leave out: faults are planted, and the refinement fails with those
that break order, and only those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.refinement import PROPERTY
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Spec, action, emit, program, require
from antiphon.spec.protocols.chang_maxemchuk.algorithm import Count, Number
from antiphon.spec.protocols.chang_maxemchuk.refinement import CHANG_MAXEMCHUK, ChangMaxemchukOrdering
from antiphon.spec.protocols.pinwheel.refinement import PINWHEEL, PinwheelOrdering
from antiphon.spec.protocols.totem.refinement import TOTEM, TotemOrdering
from antiphon.spec.refinement import Refinement
from antiphon.spec.services import Deliver, Message, Process, TotalOrderBroadcast

reports = Reports.private()
"""Cache of reports: explorations by this same code are reused."""

ORDER = ("UniformIntegrity", "UniformTotalOrder", "UniformPrefixOrder")
SMALL = {"processes": 2, "messages": 2}


class Sound(ChangMaxemchukOrdering, TotalOrderBroadcast):
    """CM as it is described, mapped and judged at once."""


class Lagging(ChangMaxemchukOrdering, TotalOrderBroadcast):
    """The holder asks only whether it knows a number of the update, and may lack what is acknowledged."""

    @action
    def acknowledge(self, p: Process, m: Message) -> None:
        require(
            p == self.holder()
            and m in self.obtained[p]
            and not self.is_known(p, m)
            and self.assigned < self.messages
        )
        self.give_number(p, m)


class Hasty(ChangMaxemchukOrdering, TotalOrderBroadcast):
    """The holder lacks acknowledged updates: they are stable later than the paper says, in order."""

    @action
    def acknowledge(self, p: Process, m: Message) -> None:
        require(p == self.holder() and m in self.obtained[p] and not self.is_numbered(m))
        self.give_number(p, m)


class Rewriting(PinwheelOrdering, TotalOrderBroadcast):
    """The holder gives the number after the last that it knows, whether others were given or not."""

    @action
    def acknowledge(self, p: Process, m: Message) -> None:
        number = self.acknowledged[p] + 1
        require(
            p == self.holder and m in self.obtained[p] and not self.is_known(p, m) and number <= self.messages
        )
        self.order[number] = m
        self.assigned = max(self.assigned, number)
        self.acknowledged[p] = number


class Boasting(PinwheelOrdering, TotalOrderBroadcast):
    """A process piggybacks what it knows to be numbered, delivered or not: stable too soon, and in order."""

    def piggybacked(self, p: Process) -> Count:
        return self.acknowledged[p]


class Skipping(TotemOrdering, TotalOrderBroadcast):
    """Updates are delivered as they come, as long as numbers rise."""

    @action
    def deliver(self, p: Process, k: Number) -> None:
        m = self.order[k]
        require(k > self.status[p] and k in self.obtained[p] and m is not None)
        self.status[p] = k
        emit(Deliver(p, m))


class Boasted(TotemOrdering, TotalOrderBroadcast):
    """A process writes the token's number into the token as its own: stable too soon, and in order."""

    @action
    def pass_token(self, p: Process) -> None:
        require(p == self.holder)
        self.info[p] = self.assigned
        self.seen[p] = self.least()
        self.holder = Process((p.index + 1) % self.processes)
        self.passes += 1


class Fault(NamedTuple):
    """A specification, mapped and judged at once; what the refinement says of it (or nothing), after how many
    steps.
    """

    spec: type[Spec]
    refinement: Refinement
    constants: Mapping[str, int]
    why: str = ""
    length: int = 0


FAULTS = [
    Fault(Sound, CHANG_MAXEMCHUK, SMALL),
    Fault(Lagging, CHANG_MAXEMCHUK, SMALL, "any((other.message == item.message", 4),
    Fault(Hasty, CHANG_MAXEMCHUK, SMALL),
    Fault(Rewriting, PINWHEEL, SMALL, "self.forgets is false", 5),
    Fault(Boasting, PINWHEEL, SMALL),
    Fault(
        Skipping,
        TOTEM,
        {**SMALL, "visits": 2},
        "the protocol emits Deliver(p0, m1), OrderingMachine Deliver(p0, m0), Deliver(p0, m1)",
        3,
    ),
    Fault(Boasted, TOTEM, {**SMALL, "visits": 3}),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.spec.__name__ for fault in FAULTS])
def test_a_planted_fault_breaks_the_refinement_if_it_breaks_order_and_only_then(fault: Fault) -> None:
    bound = program(fault.spec, **fault.constants)
    verdict = reports.check_refinement(bound, replace(fault.refinement, concrete=fault.spec))[PROPERTY]
    report = reports.check(bound, properties=ORDER)
    broken = [item for item in report.verdicts if item.outcome is Outcome.VIOLATED]
    assert report.exploration.complete or len(broken) == len(ORDER)
    assert (verdict.outcome is Outcome.VIOLATED) == bool(broken) == bool(fault.why)
    assert verdict.outcome is Outcome.HOLDS or fault.why in verdict.reason
    assert (
        len(verdict.trace or ()) == fault.length <= max((len(item.trace or ()) for item in broken), default=0)
    )
