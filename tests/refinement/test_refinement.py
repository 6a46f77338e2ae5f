"""A refinement holds where the safety claims hold, and fails, at a guard that it names, where one of them
fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from antiphon.conformance.compare.replay import on_specification
from antiphon.conformance.ledger import Reports
from antiphon.model.bounds import Bounds
from antiphon.model.export import load, save
from antiphon.model.refinement import PROPERTY, check_refinement, fails_at_the_end
from antiphon.model.symbolic import prove
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.catalogue import refined, refinement_named, refinement_of
from antiphon.spec.lang import Program, Set, Spec, SpecError, program
from antiphon.spec.protocols.chandra_toueg.properties import ChandraTouegChecked
from antiphon.spec.protocols.chang_maxemchuk.properties import ChangMaxemchukChecked
from antiphon.spec.protocols.dtp.properties import DtpChecked
from antiphon.spec.protocols.horus.flushed_stacks import FlushTotal, FlushViews
from antiphon.spec.protocols.horus.ordered_stacks import HorusChecked, TotalStack
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.protocols.moving_sequencer.refinement import MOVING_SEQUENCER
from antiphon.spec.protocols.pinwheel.properties import PinwheelChecked
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.rbp.refinement import RBP, RbpOrdering
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked
from antiphon.spec.protocols.sequencer.properties import SequencerChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked
from antiphon.spec.protocols.token_broadcast.refinement import Figure2Ordered, Figure5Ordered
from antiphon.spec.protocols.total.properties import TotalChecked
from antiphon.spec.protocols.totem.properties import TotemChecked
from antiphon.spec.protocols.totem.ring_properties import TotemRingChecked
from antiphon.spec.protocols.vsc.properties import VscChecked
from antiphon.spec.refinement import Refinement
from antiphon.spec.services import Process
from antiphon.spec.services.ordering import Assigned, OrderingChecked, OrderingMachine, Position
from antiphon.spec.services.unordered import BroadcastChecked

reports = Reports.private()
"""Cache of reports: explorations by this same code are reused."""

REFINEMENTS = {name: refinement_named(name) for name in refined()}
UNIFORM = ("UniformIntegrity", "UniformTotalOrder", "UniformPrefixOrder")
FIGURE_12 = {"processes": 2, "messages": 1, "losses": 1, "spare": 1}
FIGURE_16 = {"processes": 2, "messages": 1, "losses": 1, "timeouts": 1, "spare": 1}


def repairs_of(refinement: Refinement) -> list[str]:
    return [
        constant.name for constant in program(refinement.concrete).declaration.constants if constant.repair
    ]


def refine(refinement: Refinement, *without: str, **constants: int | bool | str) -> Report:
    """All repairs but these."""
    bound = program(refinement.concrete, repairs="all", without=without, **constants)
    return reports.check_refinement(bound, refinement)


def test_the_machine_gives_uniform_total_order_and_integrity() -> None:
    """Barchet-Estefanel 2002, section 3.1.2: a globally agreed sequence, and delivery in that order."""
    report = reports.check(program(OrderingChecked, processes=2, messages=2, numbers=3))
    held = {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.HOLDS}
    assert report.exploration.states == 20_032
    assert {
        "NumberToMessage",
        "UniformIntegrity",
        "UniformTotalOrder",
        "UniformPrefixOrder",
        "UniformAgreement",
        "Delivered",
    } <= held


def test_over_several_series_order_is_kept_and_prefixes_are_not() -> None:
    """A process that enters a later series leaves a gap; what two processes both deliver, they deliver in one
    order.
    """
    report = reports.check(program(OrderingChecked, processes=2, messages=2, numbers=1, series=2))
    assert report["UniformTotalOrder"].outcome is Outcome.HOLDS
    assert report["UniformPrefixOrder"].outcome is Outcome.VIOLATED
    assert report.exploration.never_fired == ("crash", "forget")


def test_that_numbers_are_unique_is_proved_for_runs_of_every_length() -> None:
    verdict = prove(
        program(OrderingMachine, processes=2, messages=2, numbers=2), properties=["NumberToMessage"]
    )["NumberToMessage"]
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.evidence.kind.value == "proved"


STATES = [
    ("moving-sequencer", {**FIGURE_12, "spare": 0}, 5_392, ("submit", "assign + learn", "learn", "deliver")),
    ("rbp", {**FIGURE_16, "spare": 0}, 1_286, ("submit", "assign + learn", "learn", "deliver")),
    (
        "chang-maxemchuk",
        {"processes": 3, "messages": 2},
        6_512,
        ("submit", "assign + learn", "learn", "deliver"),
    ),
    ("pinwheel", {"processes": 2, "messages": 2}, 2_930, ("submit", "assign + learn", "learn", "deliver")),
    (
        "totem",
        {"processes": 2, "messages": 2, "visits": 6},
        5_287,
        ("submit + assign + learn", "learn", "deliver"),
    ),
    (
        "totem-ring",
        {"processes": 2, "messages": 2},
        316,
        ("submit", "assign + learn + deliver", "learn + deliver"),
    ),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("name", "constants", "states", "steps"), STATES, ids=[name for name, *_ in STATES])
def test_repaired_figures_and_protocols_without_repairs_refine_the_machine(
    name: str, constants: dict[str, int], states: int, steps: tuple[str, ...]
) -> None:
    report = refine(REFINEMENTS[name], **constants)
    assert report[PROPERTY].outcome is Outcome.HOLDS
    assert (report.exploration.states, report.exploration.complete) == (states, True)
    assert all(f"{action} " in report.notes[0] for action in steps)


GUARDS = [
    (
        "moving-sequencer",
        ("wait_for_missing_number", "answer_last"),
        FIGURE_12,
        10,
        "any((other.message == item.message",
    ),
    (
        "moving-sequencer",
        ("await_body",),
        FIGURE_12,
        7,
        "the protocol emits Deliver(p1, none), OrderingMachine Deliver(p1, m0)",
    ),
    ("rbp", ("one_identifier",), {**FIGURE_16, "losses": 0}, 9, "any((other.message == item.message"),
    ("rbp", ("await_body",), FIGURE_16, 7, "the protocol emits Deliver(p0, none)"),
    (
        "rbp",
        ("old_token",),
        {"processes": 2, "messages": 3, "losses": 0, "timeouts": 1},
        14,
        "other.series == item.series and other.number == ",
    ),
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("name", "without", "constants", "length", "guard"),
    GUARDS,
    ids=[f"{name}-{without[0]}" for name, without, *_ in GUARDS],
)
def test_a_violation_has_a_shortest_trace_and_names_the_guard(
    name: str, without: tuple[str, ...], constants: dict[str, int], length: int, guard: str
) -> None:
    """MSQ-02, MSQ-05, RBP-03, RBP-12, RBP-06."""
    verdict = refine(REFINEMENTS[name], *without, **constants)[PROPERTY]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace) == length
    assert guard in verdict.reason
    assert fails_at_the_end(verdict.trace, REFINEMENTS[name]) == verdict.reason
    before = replace(verdict.trace, transitions=verdict.trace.transitions[:-1])
    assert fails_at_the_end(before, REFINEMENTS[name]) == ""


class Judged(NamedTuple):
    """A protocol with its service, the properties that its mapping answers for, and small constants."""

    spec: type[Spec]
    safety: tuple[str, ...]
    constants: Mapping[str, int | bool | str]


DTP_SMALL = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1, "nulls": 1}
FIGURE_25 = {
    "processes": 2,
    "messages": 1,
    "losses": 0,
    "crashes": 1,
    "passes": 2,
    "timeouts": 1,
    "strays": 1,
    "urgent": True,
}
COLLECTED = {
    "processes": 2,
    "messages": 1,
    "losses": 0,
    "crashes": 0,
    "passes": 5,
    "timeouts": 1,
    "urgent": True,
    "assigned": True,
    "brief": False,
}
REFORM = {
    "processes": 2,
    "messages": 2,
    "losses": 0,
    "crashes": 0,
    "views": 2,
    "reforms": True,
    "first_ids": 2,
    "assigned": True,
}
FAILOVER = {"processes": 3, "messages": 2, "crashes": 1, "views": 2}
APART: dict[str, int | bool | str] = {
    "processes": 3, "messages": 3, "crashes": 0, "suspicions": 2, "stride": 2, "oracle": "one that waits",
}  # fmt: skip
FULL_STACK: dict[str, int | bool | str] = {
    "processes": 2, "messages": 1, "casts": 2, "buffer": 2, "crashes": 0, "views": 1, "patient": True,
    "oracle": "itself",
}  # fmt: skip
ONE_ROUND: dict[str, int | bool | str] = {
    "processes": 3, "values": 2, "crashes": 1, "false_suspicions": 1, "rounds": 1, "urgent": True,
    "detected_at_once": True,
}  # fmt: skip
ONE_SUSPICION: dict[str, int | bool | str] = {
    "processes": 3, "messages": 1, "views": 2, "crashes": 0, "false_suspicions": 1, "detected_at_once": True,
}  # fmt: skip
IRBP_CRASH: dict[str, int | bool | str] = {
    "processes": 3, "messages": 1, "highest": 3, "crashes": 1, "false_suspicions": 0, "assigned": True,
    "detected_at_once": True, "urgent": True,
}  # fmt: skip
ONE_FAILURE = {"processes": 3, "messages": 1, "crashes": 1, "suspicions": 1, "one_failure": True}
FLUSHED: dict[str, int | bool | str] = {
    "processes": 3, "messages": 1, "crashes": 1, "stride": 1, "oracle": "one that waits",
}  # fmt: skip
JUDGED = {
    "figure-2": Judged(Figure2Checked, ("UniformIntegrity",), {"processes": 2, "messages": 1, "losses": 1}),
    "figure-5": Judged(Figure5Checked, ("UniformIntegrity",), {"processes": 2, "messages": 1, "losses": 1}),
    "moving-sequencer": Judged(MovingSequencerChecked, ("UniqueNumbers", *UNIFORM), FIGURE_12),
    "rbp": Judged(RbpChecked, ("UniqueNumbers", *UNIFORM), FIGURE_16),
    "rbp-resilient": Judged(RbpResilientChecked, ("UniqueNumbers", *UNIFORM), FIGURE_25),
    "irbp": Judged(IrbpChecked, UNIFORM, IRBP_CRASH),
    "dtp": Judged(DtpChecked, ("UniqueNumbers", "AcknowledgedOnce", *UNIFORM), DTP_SMALL),
    "chang-maxemchuk": Judged(ChangMaxemchukChecked, UNIFORM, {"processes": 2, "messages": 2}),
    "pinwheel": Judged(PinwheelChecked, UNIFORM, {"processes": 2, "messages": 1}),
    "totem-ring": Judged(TotemRingChecked, UNIFORM, {"processes": 2, "messages": 2}),
    "totem": Judged(TotemChecked, UNIFORM, {"processes": 2, "messages": 2, "visits": 4}),
    "total": Judged(TotalChecked, ("Integrity", "TotalOrder", "ViewPrefix"), REFORM),
    "sequencer": Judged(SequencerChecked, ("Integrity", "TotalOrder", "PrefixOrder"), FAILOVER),
    "horus-total": Judged(TotalStack, ("Integrity", "TotalOrder"), APART),
    "horus-flush": Judged(FlushViews, ("ViewSynchrony", "UniformIntegrity", "ViewAgreement"), ONE_FAILURE),
    "horus-flush-total": Judged(FlushTotal, ("Integrity", "TotalOrder"), FLUSHED),
    "horus": Judged(HorusChecked, ("Integrity", "TotalOrder"), FULL_STACK),
    "vsc": Judged(VscChecked, ("ViewSynchrony", "UniformIntegrity", "VscValidity"), ONE_SUSPICION),
    "chandra-toueg": Judged(ChandraTouegChecked, ("Integrity", "Validity", "UniformAgreement"), ONE_ROUND),
}
"""Non-uniform properties where the document promises nothing about those that crash; prefixes of a view where
views are series.
"""

VARIANTS = [
    (name, without)
    for name in JUDGED
    for without in [(), *((repair,) for repair in repairs_of(REFINEMENTS[name]))]
]
VARIANTS += [
    ("moving-sequencer", ("wait_for_missing_number", "answer_last")),
    ("rbp", ("skip_null", "await_body")),
    ("horus", ("await_room", "discard_after_loss")),
]
VARIANTS += [
    (name, tuple(repairs_of(REFINEMENTS[name]))) for name in JUDGED if len(repairs_of(REFINEMENTS[name])) > 1
]

TELLING = (
    "old_token",
    "number_passes",
    "monotone_status",
    "acknowledge_new",
    "identify_requests",
    "flush",
    "only_members",
    "numbers_first",
)
"""Repairs of the larger protocols that break the refinement when left out, and some that do not."""


LATE = ("horus-total", "horus-flush-total", "irbp", "vsc")
"""Protocols that another is made of, and those that take longest."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All variants in a deep run (`make check-deep`); else every second of the small protocols, and of the
    larger ones a few that tell.
    """
    if "variant" in metafunc.fixturenames:
        deep = metafunc.config.getoption("--hypothesis-profile", None) == "deep"
        small = ("figure-2", "figure-5", "moving-sequencer")
        chosen = [
            (name, without)
            for number, (name, without) in enumerate(VARIANTS)
            if deep
            or (name in small and number % 2 == 0)
            or (name not in LATE and (not without or without[0] in TELLING[::3]))
        ]
        metafunc.parametrize("variant", chosen, ids=[f"{name}-{called(without)}" for name, without in chosen])


def called(without: tuple[str, ...]) -> str:
    return "repaired" if not without else "literal" if len(without) > 2 else "-".join(without)


def constants_of(name: str, without: tuple[str, ...]) -> Mapping[str, int | bool | str]:
    """Constants of the protocol, or those that make this variant fail."""
    if "await_room" in without:
        return {**FULL_STACK, "buffer": 1}
    return COLLECTED if without == ("keep_collected",) else JUDGED[name].constants


def test_every_refinement_of_a_protocol_with_repairs_is_among_them() -> None:
    """A protocol without repairs has none to leave out."""
    repaired = {name for name, refinement in REFINEMENTS.items() if repairs_of(refinement)}
    assert repaired < set(JUDGED) <= set(REFINEMENTS)


@pytest.mark.sampled(32)
def test_the_refinement_fails_exactly_where_a_safety_claim_fails(
    variant: tuple[str, tuple[str, ...]],
) -> None:
    """The repaired text, every repair left out alone, two pairs, and the literal text.

    Where nothing is ever delivered the refinement says so (unknown), and no safety claim fails.
    """
    name, without = variant
    judged = JUDGED[name]
    constants = constants_of(name, without)
    verdict = refine(REFINEMENTS[name], *without, **constants)[PROPERTY]
    report = reports.check(
        program(judged.spec, repairs="all", without=without, **constants), properties=judged.safety
    )
    broken = [item for item in report.verdicts if item.outcome is Outcome.VIOLATED]
    assert report.exploration.complete or len(broken) == len(judged.safety)
    assert (verdict.outcome is Outcome.VIOLATED) == bool(broken), [item.property for item in broken]
    assert verdict.outcome is Outcome.HOLDS or without
    if verdict.trace is not None:
        assert len(verdict.trace) <= max(len(item.trace or ()) for item in broken)


def test_crashes_that_are_forgotten_cost_uniformity_and_nothing_else() -> None:
    report = reports.check(program(OrderingChecked, processes=2, messages=2, numbers=2, forgets=True))
    outcome = {verdict.property: verdict.outcome for verdict in report.verdicts}
    assert {
        outcome[name] for name in ("Integrity", "UniformIntegrity", "TotalOrder", "PrefixOrder", "Agreement")
    } == {Outcome.HOLDS}
    assert {outcome[name] for name in ("UniformTotalOrder", "UniformPrefixOrder", "UniformAgreement")} == {
        Outcome.VIOLATED
    }


def test_a_member_that_crashes_alone_with_a_message_needs_a_machine_that_forgets() -> None:
    """TOTAL promises nothing about members that crash: the refinement of the uniform machine fails."""
    crash = {
        "processes": 2,
        "messages": 2,
        "losses": 0,
        "crashes": 1,
        "views": 2,
        "assigned": True,
        "patient": True,
    }
    assert refine(REFINEMENTS["total"], **crash)[PROPERTY].outcome is Outcome.HOLDS
    uniform = replace(REFINEMENTS["total"], sizes={**REFINEMENTS["total"].sizes, "forgets": False})
    assert refine(uniform, **crash)[PROPERTY].outcome is Outcome.VIOLATED


def test_a_message_with_two_numbers_is_seen_before_there_is_a_second_one_to_disorder() -> None:
    """SEQ-08: a mapping may fail within smaller bounds than the claim. With one message two numbers break no
    order yet; with two they do (above).
    """
    constants = {**FAILOVER, "messages": 1}
    verdict = refine(REFINEMENTS["sequencer"], "flush", **constants)[PROPERTY]
    repairs = [repair for repair in repairs_of(REFINEMENTS["sequencer"]) if repair != "flush"]
    report = reports.check(
        program(SequencerChecked, repairs=repairs, **constants), properties=JUDGED["sequencer"].safety
    )
    assert verdict.outcome is Outcome.VIOLATED
    assert "other.message == item.message" in verdict.reason
    assert report.exploration.complete
    assert {item.outcome for item in report.verdicts} == {Outcome.HOLDS}


def test_what_is_removed_without_being_delivered_is_starved_and_not_out_of_order() -> None:
    """DTP as printed counts values, not processes: Validity fails, and nothing is delivered that could be
    refined.
    """
    constants: dict[str, int | bool | str] = {
        "processes": 2,
        "messages": 1,
        "losses": 1,
        "nulls": 2,
        "resilience": 1,
        "unlimited": True,
    }
    verdict = refine(REFINEMENTS["dtp"], "count_processes", **constants)[PROPERTY]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "no state is mapped to one in which Delivered is true" in verdict.reason


def test_the_machine_without_numbers_promises_integrity_and_no_order() -> None:
    report = reports.check(program(BroadcastChecked, processes=2, messages=2))
    outcome = {verdict.property: verdict.outcome for verdict in report.verdicts}
    assert report.exploration.states == 117
    assert {outcome[name] for name in ("UniformIntegrity", "BroadcastOnce", "Delivered")} == {Outcome.HOLDS}
    assert {outcome[name] for name in ("TotalOrder", "PrefixOrder")} == {Outcome.VIOLATED}


@pytest.mark.parametrize("spec", [Figure2Ordered, Figure5Ordered])
def test_figures_2_and_5_are_no_ordering_machines(spec: type[Spec]) -> None:
    """The figures give no total order, so no mapping to the machine that gives it can exist."""
    verdict = reports.check(
        program(spec, repairs="all", processes=2, messages=2, losses=0), properties=["TotalOrder"]
    )["TotalOrder"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert len(verdict.trace) == 4


@pytest.mark.deep
def test_what_the_flush_sends_must_be_buffered() -> None:
    """HOR-11: delivered at once, it stands at one member before the numbered messages that follow it at
    another.
    """
    crash = {"processes": 3, "messages": 2, "crashes": 1, "stride": 1}
    assert refine(REFINEMENTS["horus-total"], **crash)[PROPERTY].outcome is Outcome.HOLDS
    at_once = refine(REFINEMENTS["horus-total"], deliver_at_once=True, **crash)[PROPERTY]
    assert at_once.outcome is Outcome.VIOLATED
    assert at_once.trace is not None
    assert len(at_once.trace) == 6


def test_cpython_alone_finds_the_same() -> None:
    bound = program(RBP.concrete, repairs="all", processes=2, messages=1, losses=0, timeouts=0)
    fast, slow = check_refinement(bound, RBP), check_refinement(bound, RBP, engine="reference")
    assert (fast.exploration.states, fast.exploration.transitions, fast.notes) == (
        slow.exploration.states, slow.exploration.transitions, slow.notes,
    )  # fmt: skip
    assert slow[PROPERTY].outcome is Outcome.HOLDS


class Ahead(RbpOrdering):
    """A wrong mapping: a process is taken to be one number further."""

    def at(self, p: Process) -> Position:
        return Position(1, min(self.last_delivered[p] + 1, self.numbers))


class Forgetful(RbpOrdering):
    """A wrong mapping: what was delivered is taken out of the history."""

    def history(self) -> Set[Assigned]:
        return Set() | {
            Assigned(1, item.number, self.named(item.identifier))
            for p in self.each(Process)
            for item in self.numbered[p]
            if item.number > self.last_delivered[p]
        }


class Blind(RbpOrdering):
    """A wrong mapping: nothing is ever seen."""

    def history(self) -> Set[Assigned]:
        return Set()

    def learned(self, p: Process) -> Set[Assigned]:
        return Set() | {Assigned(1, 1, None) for item in self.numbered[p] if item.number > self.numbers}

    def at(self, p: Process) -> Position:
        return Position(1, 0)


class Overflowing(RbpOrdering):
    """A wrong mapping: a series that the machine does not have."""

    def at(self, p: Process) -> Position:
        return Position(2 if self.holding[p] else 1, 0)


def mistaken(spec: type[RbpOrdering]) -> Report:
    refinement = replace(RBP, concrete=spec)
    return reports.check_refinement(
        program(spec, repairs="all", processes=2, messages=1, losses=0), refinement
    )


@pytest.mark.parametrize(
    ("spec", "outcome", "reason"),
    [
        (Ahead, Outcome.VIOLATED, "item in self.learned[p] is false"),
        (
            Forgetful,
            Outcome.VIOLATED,
            "forget(Assigned(1, 1, none)) is not enabled in OrderingMachine: self.forgets is false",
        ),
        (Blind, Outcome.VIOLATED, "the protocol emits Deliver(p"),
        (Overflowing, Outcome.UNKNOWN, "leaves its domain"),
    ],
)
def test_a_wrong_mapping_is_found(spec: type[RbpOrdering], outcome: Outcome, reason: str) -> None:
    verdict = mistaken(spec)[PROPERTY]
    assert verdict.outcome is outcome
    assert reason in verdict.reason


def test_where_nothing_is_delivered_nothing_was_refined() -> None:
    """RBC-08: as printed nobody ever gets the token of figure 12."""
    verdict = reports.check_refinement(
        program(MOVING_SEQUENCER.concrete, processes=2, messages=1), MOVING_SEQUENCER
    )[PROPERTY]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "no state is mapped to one in which Delivered is true" in verdict.reason


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds(states=50), "the bound of 50 states"), (Bounds(seconds=0.0), "the bound of 0 seconds"),
        (Bounds(depth=3), "the bound of 3 steps"),
        (Bounds(memory_mb=1), "the bound of 1 MiB"),
    ],
)  # fmt: skip
def test_a_bound_that_is_hit_is_unknown(bounds: Bounds, words: str) -> None:
    bound = program(RbpOrdering, repairs="all", processes=2, messages=2)
    report = check_refinement(bound, RBP, bounds=bounds)
    assert report[PROPERTY].outcome is Outcome.UNKNOWN
    assert words in report[PROPERTY].reason
    assert not report.exploration.complete


def test_a_mapping_without_a_helper_and_a_foreign_program_are_refused() -> None:
    foreign: Program = program(RbpChecked)
    with pytest.raises(SpecError, match="is not RbpOrdering"):
        check_refinement(foreign, RBP)
    half = replace(RBP, concrete=RbpChecked, sizes={})
    with pytest.raises(SpecError, match="does not say what submitted is"):
        check_refinement(foreign, half)


def test_refinements_are_found_by_their_protocol() -> None:
    assert [refinement_of(refinement.concrete) is refinement for refinement in REFINEMENTS.values()] == [
        True
    ] * len(REFINEMENTS)
    assert refinement_of(RbpChecked) is None


def test_a_saved_trace_still_shows_the_refinement_broken(tmp_path: Path) -> None:
    trace = refine(RBP, "await_body", **FIGURE_16)[PROPERTY].trace
    assert trace is not None
    save(trace, tmp_path / "broken.itf.json")
    again = on_specification(load(tmp_path / "broken.itf.json"))
    assert again.outcome is Outcome.VIOLATED
    save(replace(trace, transitions=trace.transitions[:-1]), tmp_path / "whole.itf.json")
    assert on_specification(load(tmp_path / "whole.itf.json")).outcome is Outcome.UNKNOWN
