"""The scenarios of sections 3.2.1 and 5.2.3 on the implementation, both ways.

A run of the specification is given to a group in virtual time, which shows the same; and what the
applications of that group see is a run of the service.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.protocols.named_runs import GOLDEN, RUNS, run_again

from antiphon.conformance.compare.replay import on_named
from antiphon.conformance.compare.validation import read_logs, validate
from antiphon.conformance.run.swarm.changing.scenario import NoScenario, scenario_of, show
from antiphon.impl.membership.detector import Detector
from antiphon.impl.membership.view_change import ViewChange
from antiphon.model.export import program_named_in
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace, replay
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Step, program
from antiphon.spec.protocols.irbp.two_views_checked import TwoViewsChecked
from antiphon.spec.services import Process
from antiphon.spec.services.group_machine import OrderedGroup


def kept(name: str) -> Trace:
    return run_again(RUNS[name], (GOLDEN / f"{name}.txt").read_text(encoding="utf-8"))


SHOWN = {
    "SimpleProcessFails": ("rbp-reforming", 0),
    "NextSequencerFails": ("rbp-reforming", 0),
    "TokenIsLost": ("rbp-reforming", 1),
    "NextMissesMessages": ("rbp-reforming", 1),
    "SequencerAndNextFail": ("rbp-reforming", 2),
    "SimpleCrashByIView": ("irbp", 0),
    "SimpleCrashByRegularView": ("irbp", 0),
    "MultipleCrashesByRegularView": ("irbp", 5),
    "PartitionByIView": ("irbp", 0),
    "NoMoreInTheBuffers": ("irbp", 49),
    "PartitionByRegularView": ("irbp", 5),
    "ReintegrationByIView": ("irbp", 4),
    "ReintegrationByRegularView": ("irbp", 99),
}
"""The protocol whose groups show each run, and the first draw that does."""


def see_both_ways(trace: Trace, protocol: str, draw: int, file: Path) -> None:
    """The group shows what the run shows, and the service explains what its applications see."""
    shown = show(scenario_of(trace), protocol, [draw])
    assert shown.draw == draw, shown.why
    assert len(shown.events) == shown.total > 0
    file.write_bytes(msgspec.json.encode(shown.observed))
    named = program_named_in(file)
    assert named is not None
    found = validate(named, read_logs(named, [file]))
    assert found.outcome is Outcome.HOLDS, found.reason
    assert found.trace is not None
    delivered = sum(step.action == "deliver" for step in found.trace.steps)
    assert delivered == sum(one.what == "deliver" for one in shown.events)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SHOWN)
def test_a_group_shows_the_run_and_the_service_explains_the_group(name: str, tmp_path: Path) -> None:
    see_both_ways(kept(name), *SHOWN[name], tmp_path / "seen.itf.json")


@pytest.mark.deep
@pytest.mark.parametrize("name", SHOWN)
def test_no_earlier_draw_shows_it(name: str) -> None:
    protocol, draw = SHOWN[name]
    assert show(scenario_of(kept(name)), protocol).draw == draw


def crashes_by_i_view() -> Trace:
    """Two of five processes crash, one after the other, and the others go on in i-views."""
    four, three = "{p0, p2, p3, p4}", "{p0, p3, p4}"
    ring, item = (0, 3, 4), "Sequenced(m0, 1)"
    wanted = [
        "crash(p1)", "call(p0, p1)", *(f"report(p{k})" for k in (0, 2, 3, 4)),
        *(f"propose(p{k}, {four})" for k in (0, 2, 3, 4)), "decide(p0)", "crash(p2)",
        *(f"adopt(p{k})" for k in ring), "install(p0)", "call(p0, p2)", "report(p0)",
        "install(p3)", "report(p3)", "install(p4)", "report(p4)", *(f"propose(p{k}, {three})" for k in ring),
        "decide(p0)", *(f"adopt(p{k})" for k in ring), "install(p0)", "broadcast(p0, m0)", "sequence(p0)",
        "install(p3)", "receive_late(p3, m0)", "hear(p3, Ack(3, p0, m0, 1))", "pass_null(p3)",
        "install(p4)", "receive_late(p4, m0)", "hear(p4, Ack(3, p0, m0, 1))", "hear(p4, Ack(3, p3, none, 2))",
        "pass_null(p4)", f"settle(p4, {item})", f"deliver(p4, {item})",
        "hear(p0, Ack(3, p3, none, 2))", "hear(p0, Ack(3, p4, none, 3))", f"settle(p0, {item})",
        f"deliver(p0, {item})", "hear(p3, Ack(3, p4, none, 3))", f"settle(p3, {item})",
        f"deliver(p3, {item})",
    ]  # fmt: skip
    bound = program(
        TwoViewsChecked, repairs="all", processes=5, messages=1, highest=3, spare=3, views=3, crashes=2,
        false_suspicions=0, detected_at_once=True, assigned=True, prompt=True,
    )  # fmt: skip
    start = state = next(iter(bound.reference.initial()))
    steps = []
    for words in wanted:
        step = next(one for one in bound.reference.enabled(state) if compact_step(one) == words)
        steps.append(step)
        state = bound.reference.apply(state, step).state
    return replay(bound, start, steps, shows="MultipleCrashesByIView")


def test_two_crashes_by_i_views_are_too_many_of_four_members() -> None:
    """The figures let the core decide, three of four with one crash; in the implementation all members of the
    view do, of which two are no majority.
    """
    of_four = show(scenario_of(kept("MultipleCrashesByIView")), "irbp", range(2))
    assert (of_four.draw, of_four.total) == (None, 6)


@pytest.mark.deep
def test_two_crashes_by_i_views_are_shown_by_five_members(tmp_path: Path) -> None:
    of_five = crashes_by_i_view()
    assert of_five.program.reference.holds(of_five.states[-1], "MultipleCrashesByIView")
    see_both_ways(of_five, "irbp", 11, tmp_path / "seen.itf.json")


def ends_every_list_by_a_regular_view(patch: pytest.MonkeyPatch) -> None:
    """Plant that every list ends by a regular view, so that nobody becomes external."""
    before = ViewChange.__init__

    def init(self: ViewChange, *given: Any, **more: Any) -> None:
        before(self, *given, **{**more, "external": False})

    patch.setattr(ViewChange, "__init__", init)


def suspects_nobody(patch: pytest.MonkeyPatch) -> None:
    """Plant that both detectors are missing."""
    patch.setattr(Detector, "suspected", property(lambda _: frozenset()))
    patch.setattr(Detector, "given_up", property(lambda _: frozenset()))


@pytest.mark.parametrize(
    ("name", "plant"),
    [
        ("PartitionByIView", ends_every_list_by_a_regular_view),
        ("TokenIsLost", suspects_nobody),
    ],
)
def test_a_group_with_a_mistake_does_not_show_the_run(
    name: str, plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    shown = show(scenario_of(kept(name)), SHOWN[name][0], range(6))
    assert shown.draw is None
    assert shown.best < shown.total


def test_the_answer_names_the_group_and_what_it_shows() -> None:
    replayed = on_named(kept("SimpleCrashByIView"), "irbp")
    assert (replayed.outcome, replayed.reason) == (
        Outcome.HOLDS,
        "a group of irbp in virtual time shows this run, all 4 deliveries, views and lists (draw 0)",
    )


def test_a_run_in_which_nobody_sees_anything_is_no_scenario() -> None:
    trace = kept("SimpleCrashByIView")
    early = replay(trace.program, trace.start, trace.steps[:3])
    with pytest.raises(NoScenario, match="delivers or installs anything in this run"):
        scenario_of(early)


def test_a_run_of_the_service_with_members_that_join_is_no_scenario() -> None:
    """The group begins with all processes in one view."""
    bound = program(OrderedGroup, processes=2, joiners=2, views=1, messages=1)
    p0, both = Process(0), frozenset({Process(0), Process(1)})
    start = next(iter(bound.reference.initial()))
    with pytest.raises(NoScenario, match="begins with all processes of OrderedGroup in one view"):
        scenario_of(replay(bound, start, [Step("install", (p0, 1, both))]))
