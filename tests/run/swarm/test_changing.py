"""A swarm of groups whose members change finds planted faults, and accuses nobody without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.compare.validation import Validation, read_logs, validate
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.swarm import (
    FaultKind,
    Schedule,
    Settings,
    command_of,
    core_of,
    keep,
    observed,
    pictured,
    read_schedule,
    run_schedule,
    run_seed,
    run_swarm,
    schedule_lines,
    shortened,
    swarm,
)
from antiphon.conformance.run.swarm.changing import draw
from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Leave,
    Once,
    Pause,
    Restart,
    Slow,
    Start,
)
from antiphon.impl.membership.membership import Membership
from antiphon.impl.registry import LISTED
from antiphon.model.export import program_named_in
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError

from .membership_faults import FAULTS

QUICK = Settings(join=True, messages=12)
TIMEOUTS = {"heartbeat_ms": 50.0, "suspect_ms": 150.0, "exclude_ms": 400.0}


def scripted(*entries: Entry, members: int = 3) -> Schedule:
    """A run in which each of three processes broadcasts now and then, and in which this happens."""
    said = tuple(Broadcast(100.0 + 40 * k, k % members) for k in range(12))
    return Schedule(members=members, entries=(*said, *entries), timeouts=TIMEOUTS)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("protocol", LISTED)
def test_no_protocol_is_accused_without_a_fault(protocol: str, often: Callable[[int, int], int]) -> None:
    """Thousands of seeds are in docs/swarm.md."""
    runs = often(11, 15)
    report = run_swarm(protocol, runs=runs, seed=1, settings=QUICK)
    assert report.failed == []
    assert report.outcomes == {Outcome.HOLDS: runs}
    assert set(report.met) == set(FaultKind.of(join=True))
    assert report.actions["view"] > 3 * runs
    assert report.actions["left"] > 0
    assert min(report.lost, report.duplicated, report.reordered, report.delivered) > 0
    assert report.never_sent == []


@pytest.mark.deep
@pytest.mark.parametrize("members", [3, 5])
@pytest.mark.parametrize("protocol", LISTED)
def test_no_protocol_is_accused_without_a_fault_in_many_runs(protocol: str, members: int) -> None:
    report = run_swarm(protocol, runs=300, seed=1_000, settings=Settings(join=True, members=members))
    assert report.failed == []


FOUND = {
    "adopts_nothing": "UniformIntegrity",
    "forgets_what_waits": "liveness",
    "counts_from_nothing": "UniformNumbering",
    "welcomes_with_no_counts": "UniformIntegrity",
    "anybody_is_a_majority": "ViewAgreement",
    "one_answer_decides": "violation",
    "keeps_its_decision": "liveness",
    "never_gives_up": "liveness",
    "forgets_ended_lists": "liveness",
    "ignores_that_it_is_excluded": "liveness",
}
"""Faults that a few runs of `irbp` find, and what is wrong then, among other things."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("fault", FOUND)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    settings = msgspec.structs.replace(QUICK, bound_ms=4_000.0)
    runs = (run_seed("irbp", seed, settings) for seed in range(24))
    found = next(result for result in runs if FOUND[fault] in result.symptoms)
    assert found.outcome is Outcome.VIOLATED


MISSED = {"takes_any_estimate", "only_the_own_report_counts"}
"""Faults that 400 runs do not show: they need a second round of a consensus, or reports that differ, at the
moment of a crash. The tests of the change of a list find the second one.
"""


@pytest.mark.deep
@pytest.mark.parametrize("fault", sorted(FAULTS.keys() - MISSED))
def test_every_other_planted_fault_is_found_by_some_protocol(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)
    results = (run_seed(name, seed, Settings(join=True)) for seed in range(100) for name in LISTED)
    assert any(result.outcome is Outcome.VIOLATED for result in results)


def test_a_failing_run_is_made_short_told_drawn_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    FAULTS["counts_from_nothing"](monkeypatch)
    settings = Settings(join=True, messages=4, faults=(FaultKind.LOSS, FaultKind.RESTART))
    result = next(found for seed in range(9) if (found := run_seed("total", seed, settings)).symptoms)
    assert result.schedule is not None
    short = shortened(result, settings)
    assert short.schedule is not None
    assert short.symptoms[0] == result.symptoms[0]
    assert len(short.schedule.entries) <= 4 < len(result.schedule.entries)
    assert schedule_lines(short.schedule)[0].startswith("3 processes, layers, 1 ms a datagram, heartbeat_ms ")
    picture = pictured(short, settings)
    assert picture.lanes == ("process 0", "process 1", "process 2")[: short.schedule.members]
    shown = [told for event in picture.events for told in (event.label, *event.emits)]
    for word in ("view 1: ", "view 2: ", "deliver ", "broadcast ", "welcome", "sends"):
        assert any(told.startswith(word) for told in shown), word
    assert any(arrow.kind == "welcome" and arrow.end > arrow.begin for arrow in picture.arrows)
    home = keep(short, tmp_path)
    kept = read_schedule(home / "schedule.json")
    assert kept == short.schedule
    run = load_run(home)
    found = judge_run(run, ("view-synchrony", "total-order", "fifo-order"))
    assert found.findings == short.findings
    monkeypatch.undo()
    assert run_schedule("total", kept).outcome is Outcome.HOLDS, "that it is of members that join it says"
    command = "antiphon swarm total --join --messages 4 --only loss --only restart"
    assert command_of("total", settings) == command
    assert command_of("irbp", QUICK) == "antiphon swarm irbp --messages 12"


@pytest.mark.deep
def test_what_was_found_once() -> None:
    """A member that did not hear another one asked for a view every 14 ms, as long as the others kept that
    one.
    """
    schedule = Schedule(
        members=3, entries=(Broadcast(50.0, 0), Cut(0.0, 1_200.0, ((1, 2),))), timeouts=TIMEOUTS,
    )  # fmt: skip
    assert run_schedule("vsc", schedule).outcome is Outcome.HOLDS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Membership, "_may_exclude", lambda _self, _member, _now: True)
        result = run_schedule("vsc", schedule)
    assert result.symptoms[0] == "storm"
    assert result.reasons[0].startswith("the list of p0 changes ")


@pytest.mark.parametrize("seed", [10_121, 10_428, 11_016, 11_549])
def test_what_was_accused_once(seed: int) -> None:
    """Rightly: who has just left had somebody to welcome; a new member that could tell the others nothing; a
    second group; a batch that a crashed member had left out, for which the others were accused.
    """
    assert run_seed("irbp", seed, Settings(join=True)).outcome is Outcome.HOLDS


# What happens -------------------------------------------------------------------------------------------


def test_a_run_is_again_the_run_of_its_schedule() -> None:
    """A run that is judged with a log was taken a second time, from what the first one met."""
    for seed in range(4):
        quick = run_seed("irbp", seed, QUICK)
        logged = run_seed("irbp", seed, msgspec.structs.replace(QUICK, logs=True))
        assert logged.schedule is not None
        assert (quick.outcome, quick.steps, quick.sent, quick.lost, quick.faults) == (
            Outcome.HOLDS, logged.steps, logged.sent, logged.lost, logged.faults,
        )  # fmt: skip
        assert msgspec.json.decode(msgspec.json.encode(logged.schedule), type=Schedule) == logged.schedule
        assert len(logged.logs) >= 3
        assert logged.logs[0].splitlines()[1].startswith(b'{"kind":"install"')


@pytest.mark.deep
def test_every_kind_of_fault_is_met_alone() -> None:
    for kind in FaultKind.of(join=True):
        settings = Settings(join=True, messages=3, faults=(kind,))
        report = run_swarm("total", runs=4, seed=0, settings=settings)
        assert set(report.met) == {kind}, kind
        assert report.outcome is Outcome.HOLDS, (kind, report.failed)


def test_the_kinds_of_faults_are_drawn_and_processes_come_and_go() -> None:
    kinds, spells = set[FaultKind](), set[str]()
    for seed in range(60):
        drawn = draw(seed, QUICK, core_of("irbp"))
        kinds |= set(drawn.faults)
        spells |= {type(entry).__name__ for entry in drawn.schedule.entries}
        assert not any(isinstance(entry, Start) and entry.process == 0 for entry in drawn.schedule.entries)
    assert kinds == set(FaultKind.of(join=True))
    assert spells == {
        "Broadcast", "Start", "Crash", "Restart", "Leave", "Pause", "Cut", "Slow", "Skew", "Jump",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "views", "action"),
    [
        (Crash(300.0, 2), 2, "view"),
        (Restart(300.0, 1), 2, "view"),
        (Leave(300.0, 1), 2, "left"),
        (Start(300.0, 2), 2, "view"),
        (Pause(300.0, 1_200.0, 1), 3, "excluded"),
        (Cut(300.0, 1_200.0, ((0, 1), (1, 0), (2, 1), (1, 2))), 3, "blocked"),
        (Slow(300.0, 420.0, ((1, 0), (1, 2)), 200.0), 1, "view"),
        (Once(0, 4, Crash(5.0, 2)), 2, "view"),
        (Once(0, 4, Leave(5.0, 0)), 2, "left"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, msgspec.Struct) else str(value),
)
def test_what_a_schedule_says_happens(entry: Entry, views: int, action: str) -> None:
    result = run_schedule("irbp", scripted(entry))
    assert result.outcome is Outcome.HOLDS, result.reasons
    installed = [line for log in result.logs for line in log.splitlines() if b'"install"' in line]
    assert max(msgspec.json.decode(line)["view"] for line in installed) >= views
    assert result.actions[action] > 0
    assert result.delivered > 20


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ((Crash(300.0, 2), Crash(400.0, 2)), "at 400 ms process 2 crashes, and it has ended"),
        ((Start(900.0, 2), Leave(300.0, 2)), "at 300 ms process 2 leaves, and it has not started"),
        ((Once(0, 4_000, Crash(0.0, 2)),), "process 0 has not delivered 4000 messages"),
        ((Crash(0.0, 0),), "nothing was delivered"),
        (
            (Cut(0.0, 2.0, ((2, 0),)), Restart(3.0, 2)),
            "processes were to come and go, and the view never changed",
        ),
        ((Cut(300.0, 300.1, ((0, 1),)),), "the cut at 300 ms lost no datagram"),
        ((Slow(300.0, 300.1, ((0, 1),), 5.0),), "no datagram was slower from 300 ms on"),
    ],
)
def test_a_run_that_shows_nothing_is_no_pass(entries: tuple[Entry, ...], why: str) -> None:
    result = run_schedule("irbp", scripted(*entries))
    assert result.outcome is Outcome.UNKNOWN
    assert why in result.reasons


@pytest.mark.parametrize(
    ("comes_back", "second"),
    [((), [1, 2]), ((Restart(250.0, 0),), [1, 2, 3])],
    ids=["stays away", "comes back"],
)
def test_a_group_goes_on_whose_founder_crashes_while_its_welcomes_are_on_their_way(
    comes_back: tuple[Entry, ...], second: list[int]
) -> None:
    slow = Slow(0.0, 600.0, ((0, 1), (0, 2)), 300.0)
    result = run_schedule("irbp", scripted(slow, Crash(200.0, 0), *comes_back))
    assert (result.outcome, result.reasons) == (Outcome.HOLDS, ())
    for log in result.logs[1:3]:
        views = [msgspec.json.decode(line) for line in log.splitlines() if b'"install"' in line]
        assert [view["members"] for view in views] == [[0, 1, 2], second]
        assert b'"deliver"' in log


def test_a_slow_group_that_gets_on_is_not_accused() -> None:
    """Its last delivery comes long after `bound_ms`, and none takes so long after the one before."""
    said = tuple(Broadcast(100.0, k % 3, size_bytes=1_500) for k in range(60))
    layers = {"ahead": 1, "datagram_bytes": 600}
    slow = Schedule(members=3, entries=said, delay_ms=20.0, timeouts=TIMEOUTS, layers=layers)
    result = run_schedule("total", slow, msgspec.structs.replace(QUICK, bound_ms=600.0))
    assert (result.outcome, result.reasons) == (Outcome.HOLDS, ())
    assert result.ms > 10 * 600.0


def test_a_draw_that_shows_nothing_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first draw of seed 1038 two of three processes crash before anything is delivered."""
    again = run_seed("irbp", 1038, Settings(join=True))
    assert (again.outcome, again.seed, again.name) == (Outcome.HOLDS, 1038, "irbp-1038")
    assert again.delivered
    monkeypatch.setattr(swarm, "_DRAWS", 1)
    first = run_seed("irbp", 1038, Settings(join=True))
    assert (first.outcome, first.reasons) == (Outcome.UNKNOWN, ("nothing was delivered",))


def test_a_draw_that_shows_a_fault_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later draw could hold, and hide it."""
    FAULTS["counts_from_nothing"](monkeypatch)
    drawn: list[int] = []
    seed_of = swarm._nth_draw
    monkeypatch.setattr(swarm, "_nth_draw", lambda seed, nth: drawn.append(nth) or seed_of(seed, nth))
    results = (run_seed("total", seed, QUICK) for seed in range(24))
    found = next(result for result in results if result.symptoms)
    assert found.outcome is Outcome.VIOLATED
    assert drawn[-1] == 0


def test_a_kind_of_fault_that_no_run_has_met_is_no_pass() -> None:
    settings = Settings(join=True, members=2, messages=4, faults=(FaultKind.JOIN,))
    report = run_swarm("total", runs=3, seed=1, settings=settings)
    assert report.outcomes == {Outcome.HOLDS: 3}
    assert (report.never_met, report.outcome) == ([FaultKind.JOIN], Outcome.UNKNOWN)


def test_a_run_that_is_given_up_is_no_pass() -> None:
    result = run_seed("irbp", 1, msgspec.structs.replace(QUICK, steps_max=50))
    assert (result.outcome, result.reasons) == (Outcome.UNKNOWN, ("given up after 50 steps",))


def test_a_group_that_has_lost_its_majority_owes_nothing_and_delivers_nothing() -> None:
    result = run_schedule("irbp", scripted(Crash(300.0, 1), Crash(300.0, 2)))
    assert result.outcome is Outcome.HOLDS
    assert result.actions["blocked"] == 1
    assert result.ms < 300.0 + 4_000.0


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(SpecError, match=r"no group whose members change has the protocol 'rbp'"):
        core_of("rbp", join=True)
    with pytest.raises(SpecError, match="irbp has no planted fault 'x' in groups whose members change"):
        core_of("irbp", "x")
    with pytest.raises(ValueError, match="faults is late-start; no group whose members change meets that"):
        Settings(join=True, faults=(FaultKind.LATE_START,))
    with pytest.raises(ValueError, match="faults is crash; no group whose members stay meets that"):
        Settings(faults=(FaultKind.CRASH,))
    with pytest.raises(ValueError, match="sealed is True; groups whose members change have no such"):
        Settings(join=True, sealed=True)


def explained(trace: dict[str, Any], file: Path) -> Validation:
    """The answer to whether the specification that a trace names explains it."""
    file.write_bytes(msgspec.json.encode(trace))
    named = program_named_in(file)
    assert named is not None
    return validate(named, read_logs(named, [file]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", LISTED)
def test_the_service_explains_what_applications_see_in_a_run(protocol: str, tmp_path: Path) -> None:
    settings = msgspec.structs.replace(QUICK, logs=True, messages=6)
    result = run_seed(protocol, 212, settings)
    assert result.outcome is Outcome.HOLDS
    found = explained(observed(result, settings), tmp_path / "run.itf.json")
    assert found.outcome is Outcome.HOLDS, found.reason
    assert found.trace is not None
    taken = Counter(step.action for step in found.trace.steps)
    assert taken["deliver"] == result.delivered > 0
    assert {"submit", "install", "crash"} <= taken.keys()


NOT_EXPLAINED = {
    "adopts_nothing": (10, "deliver"),
    "counts_from_nothing": (0, "deliver"),
    "welcomes_with_no_counts": (1, "deliver"),
    "anybody_is_a_majority": (1, "deliver"),
}
"""Planted faults that break what applications are promised, with a seed that shows it, and the event that the
service does not allow.
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", NOT_EXPLAINED)
def test_the_service_does_not_explain_the_run_with_a_planted_fault(
    fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    FAULTS[fault](monkeypatch)
    settings, (seed, event) = msgspec.structs.replace(QUICK, bound_ms=4_000.0), NOT_EXPLAINED[fault]
    result = run_seed("irbp", seed, settings)
    assert result.outcome is Outcome.VIOLATED
    found = explained(observed(result, settings), tmp_path / "run.itf.json")
    assert found.outcome is Outcome.VIOLATED
    assert found.failure is not None
    (line, _), *_ = found.failure.stuck[0].lines
    assert line.actions == (event,)
