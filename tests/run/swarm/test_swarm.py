"""A swarm finds planted faults, raises no false alarm, and gives the same for the same seed everywhere."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.compare.bindings import protocols_of_groups
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.swarm import (
    FaultKind,
    RunResult,
    Schedule,
    ScheduleError,
    Settings,
    command_of,
    core_of,
    keep,
    pictured,
    read_schedule,
    run_schedule,
    run_seed,
    run_swarm,
    schedule_lines,
    shortened,
    spreading,
    within_model,
)
from antiphon.conformance.run.swarm.chance import draw
from antiphon.conformance.run.swarm.judging import PROMISE
from antiphon.impl.layers.batches import Batches
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.rbp.process import Core
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError


def first_failure(core: str, fault: str, seeds: int = 100) -> tuple[RunResult, Settings]:
    settings = Settings(planted=fault)
    for seed in range(seeds):
        result = run_seed(core, seed, settings)
        if result.outcome is not Outcome.HOLDS:
            return result, settings
    raise AssertionError(f"{core} with {fault} holds in {seeds} runs")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("core", protocols_of_groups())
def test_no_core_is_accused_without_a_fault(core: str, often: Callable[[int, int], int]) -> None:
    """Thousands of seeds are in docs/swarm.md."""
    runs = often(10, 25)
    report = run_swarm(core, runs=runs, seed=1)
    assert report.failed == []
    assert report.outcomes == {Outcome.HOLDS: runs}
    assert report.delivered == runs * 50 * 3
    assert min(report.lost, report.duplicated, report.reordered) > 0
    assert sum(report.messages.values()) > runs * 50
    assert report.never_sent == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("core", protocols_of_groups())
def test_what_is_seen_at_a_glance_is_what_the_judge_finds(
    core: str, often: Callable[[int, int], int]
) -> None:
    """With a log the whole judge is asked of runs that hold, and nothing changes but that there is a log."""
    for seed in range(often(1, 3)):
        result = run_seed(core, seed)
        logged = run_seed(core, seed, Settings(logs=True))
        assert (logged.outcome, logged.symptoms, logged.reasons) == (Outcome.HOLDS, (), ())
        assert (logged.sent, logged.steps, logged.ms) == (result.sent, result.steps, result.ms)
        assert logged.findings
        assert len(logged.logs) == 3


@pytest.mark.parametrize("logs", [False, True])
def test_a_run_of_one_message_has_no_order(logs: bool) -> None:
    result = run_seed("total", 1, Settings(messages=1, logs=logs))
    assert result.outcome is Outcome.UNKNOWN
    assert result.reasons[0].startswith("UniformTotalOrder: nothing to judge: ")
    assert {each.property: each.judged for each in result.findings}["Validity"] == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("core", ["rbp-resilient", "sequencer", "horus"])
def test_each_message_is_delivered_when_so_many_have_it_as_it_asks(core: str) -> None:
    report = run_swarm(core, runs=12, seed=1, settings=Settings(deliver="each"))
    assert (report.failed, report.outcomes) == ([], {Outcome.HOLDS: 12})


def test_who_delivers_before_so_many_have_it_is_found_and_made_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(batches: Batches) -> list[Delivery]:
        kept = [message for _, messages in batches._kept for message in messages]
        batches._kept.clear()
        return kept

    monkeypatch.setattr(Batches, "_released", at_once)
    settings = Settings(deliver="each", layers="always")
    result = run_seed("rbp", 2, settings)
    assert result.symptoms == ("holders",)
    short = shortened(result, settings)
    broken = r"process \d delivers \d:1, which 1 members have, and it asked for 2"
    assert re.fullmatch(broken, short.reasons[0])
    assert short.schedule is not None
    assert schedule_lines(short.schedule)[1].endswith("broadcasts, delivered when 2 have it")
    assert len(short.schedule.entries) == 1


def test_groups_over_multicast_meet_although_greetings_are_lost() -> None:
    """Seeds 21 and 137 once left members that could read nothing that was for everybody."""
    settings = Settings(sealed=True, multicast=True)
    for core, seed in (("total", 21), ("dtp", 137)):
        result, apart = run_seed(core, seed, settings), run_seed(core, seed, Settings(sealed=True))
        assert (result.outcome, apart.outcome) == (Outcome.HOLDS, Outcome.HOLDS)
        assert result.sent != apart.sent


@pytest.mark.parametrize(("core", "seed"), [("sequencer", 504_266), ("horus", 500_655)])
def test_what_was_accused_once(core: str, seed: int) -> None:
    """A clock that jumped was taken for a round trip of ten seconds; one was asked too soon what it keeps."""
    assert run_seed(core, seed).outcome is Outcome.HOLDS


def test_sealed_groups_keep_their_promises_and_take_no_datagram_twice() -> None:
    report = run_swarm("rbp", runs=15, seed=1, settings=Settings(sealed=True))
    assert report.outcomes == {Outcome.HOLDS: 15}
    assert report.duplicated > 0
    plain, sealed = (
        b"".join(run_seed("total", 4, Settings(sealed=sealed, logs=True)).logs) for sealed in (False, True)
    )
    assert plain != sealed
    received = [line for line in sealed.splitlines() if b'"kind":"receive"' in line]
    assert len({(line[line.index(b'"d"') :]) for line in received}) == len(received)


FOUND = [
    ("rbp", "accepts-old-tokens", "raises"),
    ("rbp", "delivers-without-body", "order"),
    ("rbp", "drops-late-bodies", "liveness"),
    ("dtp", "acknowledges-again", "raises"),
    ("dtp", "counts-itself-out", "liveness"),
    ("chang-maxemchuk", "removes-nothing", "memory"),
    ("sequencer", "forwards-to-all", "violation"),
    ("sequencer", "leaves-one-out", "liveness"),
    ("total", "passes-one", "liveness"),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("core", "fault", "symptom"), FOUND)
def test_a_planted_fault_is_found_and_its_schedule_made_short(core: str, fault: str, symptom: str) -> None:
    result, settings = first_failure(core, fault)
    assert result.symptoms[0].partition(" ")[0] == symptom
    assert result.schedule is not None
    short = shortened(result, settings)
    assert short.schedule is not None
    assert short.outcome is Outcome.VIOLATED
    assert result.symptoms[0] in short.symptoms
    assert len(short.schedule.entries) <= 5 < len(result.schedule.entries)
    assert run_schedule(core, short.schedule).outcome is Outcome.HOLDS, "without the fault nothing is broken"


def test_a_run_that_is_given_up_is_no_pass() -> None:
    result = run_seed("rbp", 1, Settings(steps_max=50))
    assert result.outcome is Outcome.UNKNOWN
    assert result.reasons == ("given up after 50 steps",)


def test_what_a_run_that_is_given_up_has_broken_stays_broken() -> None:
    result, settings = first_failure("rbp", "delivers-without-body")
    early = run_seed("rbp", result.seed or 0, msgspec.structs.replace(settings, steps_max=result.steps - 1))
    assert early.outcome is Outcome.VIOLATED
    assert "capped" in early.symptoms


def test_the_logs_of_a_run_are_judged_alike_from_their_files(tmp_path: Path) -> None:
    """`antiphon verify` reads the same directory with the same reader and judge, and what is promised."""
    result, settings = first_failure("rbp", "drops-late-bodies")
    home = keep(result, tmp_path)
    run = load_run(home)
    assert run.problems == ()
    assert judge_run(run, PROMISE).findings == result.findings
    again = run_schedule("rbp", read_schedule(home / "schedule.json"), settings, result.seed)
    assert (again.logs, again.reasons) == (result.logs, result.reasons)


def test_the_logs_of_a_run_say_what_it_was_drawn_from(tmp_path: Path) -> None:
    """The long and the short form of a failing run are told apart, and by the seed the long one is found."""
    result, settings = first_failure("rbp", "drops-late-bodies")
    for kept, name in (
        (result, f"rbp-{result.seed}"),
        (shortened(result, settings), f"rbp-{result.seed}-short"),
    ):
        header = load_run(keep(kept, tmp_path)).header
        assert header is not None
        assert (header.run, header.seed) == (name, result.seed)
        assert (tmp_path / name / "schedule.json").is_file()


def test_a_file_that_is_no_schedule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScheduleError, match="No such file"):
        read_schedule(tmp_path / "schedule.json")
    (tmp_path / "schedule.json").write_text('{"members": "three"}')
    with pytest.raises(ScheduleError, match=r"not a schedule: .*members"):
        read_schedule(tmp_path / "schedule.json")


_LOGS = (
    "import sys; from antiphon.conformance.run.swarm import Settings, run_seed;"
    "sys.stdout.buffer.write(b''.join(run_seed(sys.argv[1], 11, Settings(logs=True)).logs))"
)


def test_the_same_seed_gives_the_same_log_byte_for_byte() -> None:
    """The hash seed of Python has no effect; `check_core` shows that no core depends on it."""
    core = "sequencer"
    written = [
        subprocess.run(
            [sys.executable, "-c", _LOGS, core],
            env=os.environ | {"PYTHONHASHSEED": hash_seed}, capture_output=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]  # fmt: skip
    assert written[0] == written[1] == b"".join(run_seed(core, 11, Settings(logs=True)).logs)
    assert written[0].count(b'"kind":"deliver"') == 150


@pytest.mark.deep
def test_results_travel_between_processes_and_do_not_depend_on_how_many_there_are() -> None:
    settings = Settings(messages=10, logs=True)
    alone, together = (run_swarm("total", runs=60, seed=5, settings=settings, jobs=jobs) for jobs in (1, 2))
    assert (alone.outcomes, alone.met, alone.sent, alone.lost) == (
        together.outcomes, together.met, together.sent, together.lost,
    )  # fmt: skip


def test_a_run_within_a_model_is_again_the_run_of_its_schedule_and_command() -> None:
    settings = within_model("total")
    assert command_of("total", settings) == "antiphon swarm total --within-model"
    wrong = msgspec.structs.replace(settings, planted="passes-one")
    assert command_of("total", wrong) == "antiphon swarm total --within-model --fault passes-one"
    for seed in range(1, 9):
        quick = run_seed("total", seed, settings)
        logged = run_seed("total", seed, msgspec.structs.replace(settings, logs=True))
        assert logged.schedule is not None
        assert (quick.outcome, quick.steps, quick.sent, quick.lost) == (
            Outcome.HOLDS, logged.steps, logged.sent, logged.lost,
        )  # fmt: skip


def test_every_kind_of_fault_is_drawn_in_half_of_the_runs() -> None:
    """Source: Groce and others, "Swarm Testing", 2012."""
    counts = Counter(kind for seed in range(400) for kind in draw(seed, Settings(), core_of("rbp")).faults)
    assert set(counts) == set(FaultKind.of(join=False))
    assert all(150 < count < 250 for count in counts.values())


def test_a_run_meets_the_kinds_of_faults_that_are_asked_for() -> None:
    for kind in FaultKind.of(join=False):
        report = run_swarm("rbp", runs=10, seed=1, settings=Settings(faults=(kind,), messages=20))
        assert set(report.met) == {kind}
        assert report.outcome is Outcome.HOLDS
        quiet = kind not in {
            FaultKind.LOSS, FaultKind.ONE_WAY_CUT, FaultKind.PARTITION, FaultKind.LATE_START,
        }  # fmt: skip
        assert (report.lost == 0) is quiet, kind
        assert (report.duplicated == 0) is (kind is not FaultKind.DUPLICATION), kind


def test_an_unknown_core_or_fault_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match="rbp"):
        core_of("rpb")
    with pytest.raises(SpecError, match=r"no planted fault 'keeps-tokens'.*keeps-token"):
        core_of("rbp", "keeps-tokens")


@pytest.mark.deep
def test_a_schedule_is_told_in_words_and_drawn() -> None:
    result, settings = first_failure("total", "passes-one")
    short = shortened(result, settings)
    assert short.schedule is not None
    lines = schedule_lines(short.schedule)
    assert lines[0].startswith("2 members") or lines[0].startswith("3 members")
    assert any("broadcasts" in line for line in lines)
    picture = pictured(short, settings)
    assert picture.lanes == tuple(f"process {p}" for p in range(short.schedule.members))
    assert any("deliver" in emitted for event in picture.events for emitted in event.emits)


def test_a_schedule_is_data() -> None:
    """The schedule survives JSON, with every kind of entry."""
    kinds, holders = set[str](), set[int | None]()
    for seed in range(20):
        _, schedule, weather = draw(seed, Settings(), core_of("dtp"))
        kinds |= {type(entry).__name__ for entry in schedule.entries}
        assert msgspec.json.decode(msgspec.json.encode(schedule), type=Schedule) == schedule
        assert weather.met == []
        holders.add(schedule.holders)
    assert kinds == {"Broadcast", "Cut", "Pause", "Start", "Skew", "Jump"}
    assert holders == {None, 1, 2, 3}
    usual = draw(seed, Settings(deliver="usual"), core_of("dtp")).schedule
    assert (usual.holders, draw(seed, Settings(), core_of("rbp")).schedule.holders) == (None, None)


def test_a_process_that_is_killed_leaves_its_runs_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(
        _jobs: int, _method: str, take: Callable[[range], object], chunks: Iterable[range]
    ) -> Iterator[object]:
        yield take(next(iter(chunks)))
        raise BrokenProcessPool

    monkeypatch.setattr(spreading, "done_by_children", broken)
    monkeypatch.setattr(spreading, "_CHUNK", 2)
    report = run_swarm("rbp", runs=6, seed=0, jobs=2)
    assert report.outcome is Outcome.UNKNOWN
    assert (report.runs, report.failed[0].seed) == (3, 2)
    assert "gave no answer" in report.failed[0].reasons[0]


@pytest.mark.deep
def test_chance_inside_a_core_is_that_of_the_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A core that fails by the global `random` fails in some runs, and again in the same, also when the run
    is taken from its file.
    """
    received = Core.receive

    def unlucky(self: Core, *given: Any, **named: Any) -> Any:
        if random.randrange(300) == 7:
            raise RuntimeError("unlucky")
        return received(self, *given, **named)

    monkeypatch.setattr(Core, "receive", unlucky)
    first, second = (run_swarm("rbp", runs=20, seed=5) for _ in range(2))
    failing = [result.seed for result in first.failed]
    assert 0 < len(failing) < 20
    assert [result.seed for result in second.failed] == failing
    assert not any("otherwise" in reason for result in first.failed for reason in result.reasons)
    for seed in failing:
        result = run_seed("rbp", seed or 0)
        kept = read_schedule(keep(result, tmp_path) / "schedule.json")
        assert (kept.chance, run_schedule("rbp", kept).symptoms) == (seed, result.symptoms)
    others = (msgspec.structs.replace(kept, chance=other) for other in range(20))
    assert {bool(run_schedule("rbp", other).symptoms) for other in others} == {True, False}
