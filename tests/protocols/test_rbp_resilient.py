"""Figure 25 without Reformation: repaired it holds, every step fires, each repair is needed, and the failures
of figures 18 and 19 look alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.bounds import Bounds
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Step, action, mutation, program, require
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, RbpResilient, Sequenced
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked, RbpResilientOrdered
from antiphon.spec.services import Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

RUNS = {"losses": 0, "crashes": 0, "unlimited": True, "urgent": True, "assigned": True}
TWO = {"processes": 2, "messages": 1, "passes": 4, **RUNS, "losses": 1}
PAIR = {**TWO, "messages": 2, "patient": True}
THREE = {"processes": 3, "messages": 1, "passes": 5, **RUNS, "losses": 1, "patient": True}
RING = {**THREE, "passes": 3, "losses": 0}
TIMED = {
    "processes": 2,
    "messages": 1,
    "passes": 5,
    "losses": 0,
    "crashes": 0,
    "timeouts": 1,
    "urgent": True,
    "assigned": True,
}
LOSSY = {**TWO, "patient": True}
CALM = {**LOSSY, "losses": 0}
FAILED = {**LOSSY, "crashes": 1, "brief": False}
FAILURES = {**THREE, "passes": 1, "crashes": 2, "brief": False}

REPAIRS = tuple(item.name for item in program(RbpResilientChecked).declaration.constants if item.repair)

FAULTS = {"TokenLost", "BothFailed", "NextFailedBefore", "NextFailedAfter", "NextMissesMessages"}
"""Witnesses that need a failure."""


LATER = {"SomethingDelivered", "AllDelivered", "DeliveredAtTheBound"}
"""Witnesses that need more numbers than the runs with failures have here."""


@cache
def explored(
    without: tuple[str, ...],
    constants: tuple[tuple[str, Any], ...],
    properties: tuple[str, ...] | None = None,
) -> Report:
    bound = program(RbpResilientChecked, repairs="all", without=without, **dict(constants))
    return check(bound, properties=properties, bounds=Bounds(states=150_000))


def report(constants: Mapping[str, Any], *without: str, properties: tuple[str, ...] | None = None) -> Report:
    """The exploration of the figure with all repairs but these."""
    return explored(without, tuple(constants.items()), properties)


MODELS: dict[str, tuple[dict[str, Any], tuple[int, int, int]]] = {
    "two": (TWO, (8760, 39106, 39)),
    "two, two messages": (PAIR, (1200, 2085, 49)),
    "three": (THREE, (3421, 7119, 61)),
}
"""Constants; states, transitions, depth."""


@pytest.mark.deep
@pytest.mark.parametrize(
    "name", ["two", *(pytest.param(name, marks=pytest.mark.deep) for name in [*MODELS][1:])]
)
def test_the_repaired_figure_holds_and_reaches_its_witnesses(name: str) -> None:
    """Integrity, order, agreement, validity, one holder, unique numbers, stability and resilience, as far as
    there is no failure.
    """
    constants, counts = MODELS[name]
    seen = report(constants)
    failed = {verdict.property for verdict in seen.verdicts if verdict.outcome is not Outcome.HOLDS}
    assert failed == FAULTS
    assert {"invariant", "service", "obligation", "witness"} <= {verdict.kind for verdict in seen.verdicts}
    assert (seen.exploration.states, seen.exploration.transitions, seen.exploration.depth) == counts


@pytest.mark.deep
def test_every_step_of_the_repaired_figure_fires_somewhere() -> None:
    wrong, late, stray = ({**CALM, **fault} for fault in ({"suspicions": 1}, {"late": True}, {"strays": 1}))
    runs = [report(constants).exploration for constants in (TWO, THREE, FAILED, wrong, late, stray)]
    assert set.intersection(*(set(run.never_fired) for run in runs)) == set()
    assert all(run.complete for run in runs)


@pytest.mark.deep
def test_safety_holds_whoever_fails_and_every_failure_is_noticed() -> None:
    """Validity is Reformation's then: without it a failed ring delivers nothing more."""
    seen = report(FAILURES)
    failed = {verdict.property for verdict in seen.verdicts if verdict.outcome is not Outcome.HOLDS}
    assert failed == {"Validity", "EverybodyDelivers", "Returns", *LATER}


NEEDED: dict[str, tuple[str, int, dict[str, Any]]] = {
    "ring_from_one": ("Validity", 1, TWO),
    "start_rotation": ("Validity", 1, TWO),
    "one_identifier": ("UniformIntegrity", 23, {**TIMED, "passes": 2, "spare": 1, "brief": False}),
    "tag_every_ack": ("Validity", 1, TWO),
    "track_numbers": ("Validity", 1, TWO),
    "handled_replies": ("Validity", 8, LOSSY),
    "old_token": ("OneHolder", 11, TIMED),
    "skip_null": ("Validity", 1, TWO),
    "pass_over_null": ("Validity", 1, TWO),
    "await_all_bodies": ("StableAtAll", 27, RING),
    "await_successor": ("Validity", 9, TWO),
    "store_late_body": ("Validity", 8, LOSSY),
    "leave_after_reformation": ("UniqueNumbers", 8, {**RING, "passes": 1, "suspicions": 1}),
    "filter_versions": ("OneHolder", 4, {**CALM, "strays": 1}),
    "keep_collected": ("UniformIntegrity", 31, {**TIMED, "brief": False}),
}
"""Each repair but one: what the figure breaks without it, in how many steps, with which constants. With it
the property holds: the models above, and the checks of the ledger.
"""


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "repair",
    [pytest.param(name, marks=(pytest.mark.deep,) * (number % 3)) for number, name in enumerate(NEEDED)],
)
def test_without_the_repair_the_figure_breaks(repair: str) -> None:
    property, length, constants = NEEDED[repair]
    broken = report(constants, repair, properties=(property,))[property]
    assert (broken.outcome, broken.trace and len(broken.trace)) == (Outcome.VIOLATED, length)


@pytest.mark.deep
def test_one_repair_is_about_what_is_only_late() -> None:
    """Line 75 as printed is safe, and one acknowledgement later than the text: no property breaks, a witness
    is missed.
    """
    assert set(REPAIRS) - set(NEEDED) == {"stable_bound"}
    printed = report(LOSSY, "stable_bound", properties=("DeliveredAtTheBound", "AllDelivered"))
    assert printed["DeliveredAtTheBound"].outcome is Outcome.UNKNOWN
    assert printed["AllDelivered"].outcome is Outcome.HOLDS
    assert report(TWO)["DeliveredAtTheBound"].outcome is Outcome.HOLDS


@pytest.mark.deep
def test_the_run_of_the_old_token_is_one_of_its_nesting() -> None:
    """Claim RBP-18: where nothing follows line 40, nobody goes on from it with a number that was given; from
    line 50, which line 51 follows in both readings, a process goes on without what was sequenced before.
    """
    suspected = {**RING, "passes": 1, "suspicions": 1}
    for nesting, numbers in (("figure 16", Outcome.VIOLATED), ("else", Outcome.HOLDS)):
        both = ("UniqueNumbers", "HolderHasAll")
        seen = report({**suspected, "nesting": nesting}, "leave_after_reformation", properties=both)
        assert seen["UniqueNumbers"].outcome is numbers
        assert seen["HolderHasAll"].outcome is Outcome.VIOLATED


@pytest.mark.deep
def test_a_token_that_came_after_a_gap_is_dropped_if_nothing_follows_the_loop() -> None:
    """Claim RBP-46: number 2, with the token, comes before number 1, which closes the gap."""
    unwatched = {**RING, "crashes": 1, "brief": False, "passive": False}
    asked = ("GoesOnOrNoticed",)
    assert report(unwatched, properties=asked)["GoesOnOrNoticed"].outcome is Outcome.HOLDS
    trace = report({**unwatched, "nesting": "else"}, properties=asked)["GoesOnOrNoticed"].trace
    assert trace is not None
    assert [step.arguments[0].number for step in history(trace, Process(2))] == [2, 1]
    assert [step.action for step in trace.steps if step.action in ("lose", "crash")] == ["crash"]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("property", "length"), [("CollectedAtAll", 20), pytest.param("Validity", 8, marks=pytest.mark.deep)]
)
def test_nothing_may_leave_the_queues_before_it_is_stable(property: str, length: int) -> None:
    """Lines 77-78 beside the `if` of line 75: what all should deliver is gone."""
    few: dict[str, Any] = {**CALM, "passes": 2, "patient": False}
    assert report(few, properties=(property,))[property].outcome is Outcome.HOLDS
    beside = program(RbpResilientChecked, repairs="all", **few, removing="all")
    broken = check(beside, properties=(property,))[property]
    assert (broken.outcome, broken.trace and len(broken.trace)) == (Outcome.VIOLATED, length)


def test_as_printed_nobody_ever_holds_the_token() -> None:
    """The literal text reaches only sending, receiving and the first failure."""
    printed = report(FAILED, *REPAIRS)
    assert printed["TokenAccepted"].outcome is Outcome.UNKNOWN
    assert {"accept", "sequence", "pass_null", "settle", "deliver"} <= set(printed.exploration.never_fired)


@pytest.mark.deep
def test_urgent_runs_give_the_verdicts_of_all_runs() -> None:
    """Runs in which a process's own steps may wait have other states and the same outcomes."""
    few = {**CALM, "passes": 2}
    every, some = report({**few, "urgent": False}), report(few)
    assert every.exploration.complete
    assert every.exploration.states > some.exploration.states
    assert {verdict.property: verdict.outcome for verdict in every.verdicts} == {
        verdict.property: verdict.outcome for verdict in some.verdicts
    }


def history(trace: Trace, p: Process) -> list[Step]:
    """The steps that p takes and the packets that it receives: all that p can know."""
    mine = []
    for transition in trace.transitions:
        actor = transition.step.arguments[0]
        by_the_world = transition.step.action in ("lose", "crash")
        if not by_the_world and (actor == p or getattr(actor, "to", None) == p):
            mine.append(transition.step)
    return mine


def test_the_sequencer_cannot_tell_the_three_failures_of_the_next_one_apart() -> None:
    """Barchet-Estefanel 2002, section 3.2.1 b: it failed before it accepted the token, after it, or not at
    all (figures 18 and 19).
    """
    names = ("NextFailedBefore", "NextFailedAfter", "NextSilent")
    seen = report(FAILED, properties=names)
    traces = [trace for trace in (seen[name].trace for name in names) if trace is not None]
    assert len(traces) == len(names)
    first, second, third = (history(trace, Process(0)) for trace in traces)
    assert first == second == third
    assert len({trace.states[-1] for trace in traces}) == len(names)


class NeverInstalled(RbpResilientChecked):
    """A process that is late never installs the list."""

    @action(fairness="weak")
    def install(self, p: Process) -> None:
        require(False)


class Unnoticed(RbpResilientChecked):
    """A lost token looks as if it were still on its way."""

    def is_blocked(self) -> bool:
        return False


@pytest.mark.deep
def test_who_never_installs_the_list_delivers_nothing() -> None:
    """Claim RBP-20: agreement is empty there, and holds."""
    late = {**TWO, "late": True}
    bound = program(NeverInstalled, repairs="all", **late)
    report = check(bound, properties=("UniformAgreement", "EverybodyDelivers"))
    assert report["UniformAgreement"].outcome is Outcome.HOLDS
    assert report["EverybodyDelivers"].outcome is Outcome.VIOLATED


@pytest.mark.deep
def test_a_block_that_no_timeout_sees_is_not_noticed() -> None:
    """Claims RBP-33 and RBP-35: the property does not ask the guard of line 70."""
    report = check(program(Unnoticed, repairs="all", **FAILED), properties=("GoesOnOrNoticed",))
    assert report["GoesOnOrNoticed"].outcome is Outcome.VIOLATED


class Skipping(RbpResilientChecked):
    """Delivers any stable message after the last one delivered."""

    def can_deliver(self, p: Process, item: Sequenced) -> bool:
        return item in self.stable[p] and item.number > self.last_delivered[p]


@pytest.mark.deep
def test_order_under_a_failure_can_be_broken_with_two_messages() -> None:
    """RBP-23, whose check holds without this fault, is not one that no fault could fail."""
    skipping = program(Skipping, repairs="all", **{**PAIR, "crashes": 1})
    trace = check(skipping, properties=["UniformPrefixOrder"])["UniformPrefixOrder"].trace
    assert trace is not None
    assert len(trace) == 32


@mutation("the last message without a number is numbered first")
class LastFirst(RbpResilient):
    """Numbers the message that was broadcast last."""

    @action(fairness="weak")
    def sequence(self, p: Process) -> None:
        require(self.can_sequence(p))
        body = next((one for one in self.each(Body) if self.waits(p, one) and self.is_last(p, one)), None)
        if body is not None:
            self.holding[p] = False
            self.send_token(p, body, self.last_number[p] + 1)

    def waits(self, p: Process, one: Body) -> bool:
        return one in self.received[p] and not self.is_numbered(p, one)

    def is_last(self, p: Process, one: Body) -> bool:
        return not any(one.message < other.message and self.waits(p, other) for other in self.received[p])


class MutableOrdered(RbpResilientOrdered, mutations=(LastFirst,)):
    """Figure 25 in which `first` may become `last`."""


@pytest.mark.deep
def test_the_first_message_without_a_number_is_numbered_first() -> None:
    """Claim RBP-15, line 59 of figure 25: with `last` the check fails."""
    constants: dict[str, Any] = {"repairs": "all", **PAIR}
    for last_first, outcome in ((False, Outcome.HOLDS), (True, Outcome.VIOLATED)):
        bound = program(MutableOrdered, last_first=last_first, **constants)
        assert check(bound, ["OldestFirst"])["OldestFirst"].outcome is outcome
