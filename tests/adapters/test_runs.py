"""Runs of a program that knows nothing of antiphon, in real time, and of one that takes steps."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from antiphon.conformance.adapters import CommandError
from antiphon.conformance.adapters.cases import check_adapter, outcome_of
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.foreign import (
    KINDS,
    ForeignReport,
    Settings,
    drawing,
    group,
    kept,
    run_foreign,
    run_schedule,
)
from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Fate,
    Leave,
    Pause,
    Restart,
    Schedule,
)
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.model.verdict import Outcome

GOSSIP = [sys.executable, "-S", str(Path(__file__).with_name("gossip.py"))]
LEAVING = [sys.executable, "-S", str(Path(__file__).with_name("leaving.py"))]


@pytest.fixture(autouse=True)
def soon_calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs in real time take as long as their faults."""
    monkeypatch.setattr(drawing, "CALM_MS", (300.0, 400.0))


USUAL = (FaultKind.LOSS, FaultKind.DUPLICATION)


def gossip(*faults: str, only: tuple[FaultKind, ...] = USUAL) -> ForeignReport:
    settings = Settings(nodes=2, messages=12, only=only, settle_s=0.8, reply_s=0.8)
    return run_foreign([*GOSSIP, *faults], seed=5, settings=settings)


def test_a_node_of_maelstrom_is_run_as_it_is() -> None:
    kinds = tuple(
        kind for kind in KINDS if kind not in (FaultKind.DELAY, FaultKind.CRASH, FaultKind.LEAVE)
    )
    report = gossip(only=kinds)
    assert (report.outcome, report.reasons) == (Outcome.HOLDS, ())
    assert set(report.happened) == set(kinds)
    assert report.runs[0].delivered == 24
    assert not report.runs[0].deterministic


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("gives-up", "Agreement: delivered by one process, not by the other"),
        ("doubles", "UniformIntegrity: delivered a second time"),
        ("exits", "exits with code 1"),
        ("forgets", "has no longer"),
        ("repeats", "a second time"),
    ],
)
def test_what_a_node_of_maelstrom_does_wrong_is_found(fault: str, told: str) -> None:
    report = gossip(fault)
    assert report.outcome is Outcome.VIOLATED
    assert told in report.reasons[0]


def test_a_finding_shows_the_lines_that_lead_to_it_and_the_standard_error() -> None:
    (reason,) = [reason for reason in gossip("exits").reasons if "exits" in reason]
    assert '  > {"src":"c1","dest":"n' in reason
    assert '  < {"src": "n' in reason
    assert "  stderr: out of luck" in reason


def test_a_node_that_hangs_is_found_and_ended() -> None:
    before = _children()
    assert 'has not answered {"type":"broadcast"' in gossip("hangs").reasons[0]
    assert _children() == before


def _children() -> set[str]:
    """The nodes of this process; other workers have theirs."""
    ours = ["ps", "-o", "pid,args", "--ppid", str(os.getpid())]
    listed = subprocess.run(ours, capture_output=True, text=True, check=True).stdout
    return {line for line in listed.splitlines() if GOSSIP[-1] in line}


def test_a_node_that_sends_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "STEPS_MAX", 100)
    report = gossip("floods", only=(FaultKind.LOSS,))
    assert report.outcome is not Outcome.HOLDS
    assert report.runs[0].datagrams > 100


def test_a_crash_of_a_node_without_a_disk_is_an_incarnation() -> None:
    """A node loses what it had acknowledged and not passed on; no property says what it owes afterwards."""
    run = gossip(only=(FaultKind.CRASH,)).runs[0]
    kinds = {line.split(b'"')[3] for log in run.logs for line in log.splitlines()[1:]}
    assert {b"crash", b"recover"} <= kinds
    assert run.outcome is not Outcome.VIOLATED


def test_a_fault_that_did_not_happen_is_unknown(adapter: Callable[..., list[str]]) -> None:
    alone = run_foreign(
        adapter("c"), settings=Settings(nodes=1, only=(FaultKind.LOSS,), promise=("total-order",))
    )
    assert alone.outcome is Outcome.UNKNOWN
    assert "loss was asked for, and has not happened: none is not a pass" in alone.reasons


def test_runs_that_the_time_does_not_permit_are_missing(adapter: Callable[..., list[str]]) -> None:
    """Without a number, those that fit are what was asked."""
    command, loss = adapter("c"), Settings(only=(FaultKind.LOSS,), promise=("total-order",))
    short = run_foreign(command, runs=5, max_seconds=0.0, settings=loss)
    assert (len(short.runs), short.untaken, short.outcome) == (1, 4, Outcome.UNKNOWN)
    assert short.reasons == ("4 of 5 runs not taken: the time is over",)
    fitting = run_foreign(command, runs=None, max_seconds=0.0, settings=loss)
    assert (len(fitting.runs), fitting.untaken, fitting.outcome) == (1, 0, Outcome.HOLDS)


def test_nothing_delivered_is_unknown(tmp_path: Path) -> None:
    """A node that declines every broadcast does nothing wrong, and nothing right."""
    program = tmp_path / "declines.py"
    program.write_text(DECLINES, encoding="utf-8")
    settings = Settings(nodes=2, messages=3, only=(FaultKind.PAUSE,))
    report = run_foreign([sys.executable, "-S", str(program)], settings=settings)
    assert report.outcome is Outcome.UNKNOWN
    assert report.reasons[0] == "nothing was delivered"
    assert report.runs[0].declined == 3


DECLINES = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    body, me = message["body"], message["dest"]
    reply = {"type": "init_ok", "antiphon": {"version": 1, "can": ["step", "clock"]}}
    if body["type"] == "antiphon.step":
        reply = {"type": "error", "code": 11} if body["do"] else {"type": "antiphon.done"}
    reply["in_reply_to"] = body["msg_id"]
    print(json.dumps({"src": me, "dest": message["src"], "body": reply}), flush=True)
"""


def test_a_failing_run_is_made_short_and_its_logs_are_judged_as_all_logs_are(
    adapter: Callable[..., list[str]], tmp_path: Path
) -> None:
    settings = Settings(promise=("total-order",), only=(FaultKind.CRASH, FaultKind.LOSS))
    report = run_foreign(
        adapter("python", "a restart forgets"), seed=3, runs=3, settings=settings, shrink_seconds=500
    )
    assert report.shortened is not None
    entries = report.shortened.schedule.entries
    assert sorted(type(entry).__name__ for entry in entries if not isinstance(entry, Fate))[-3:] == [
        "Broadcast",
        "Crash",
        "Restart",
    ]
    assert len(entries) <= 6
    home = kept(report.shortened, tmp_path / "runs")
    judged = judge_run(load_run(home), settings.promise)
    assert judged.worst is Outcome.VIOLATED
    assert {f.property for f in judged.findings if judged.outcome(f) is Outcome.VIOLATED} == {
        f.property
        for f in report.shortened.judged.findings
        if report.shortened.judged.outcome(f) is Outcome.VIOLATED
    }


def test_a_schedule_is_a_run(adapter: Callable[..., list[str]]) -> None:
    """Node 1 broadcasts; the sequencer crashes when it has numbered that, and its answer is lost."""
    schedule = Schedule(
        members=2,
        entries=(Broadcast(10.0, 1), Fate(0, 1, 1), Crash(20.0, 0), Restart(30.0, 0)),
        calm_ms=40.0,
    )
    settings = Settings(promise=("total-order",))
    forgets = run_schedule(adapter("python", "a restart forgets"), schedule, settings)
    assert "delivered a second time" in forgets.reasons[0]
    found = run_schedule(adapter("python"), schedule, settings)
    assert not found.symptom
    assert found.delivered == 2


VIEWS = Settings(promise=("view-synchrony", "total-order"), settle_s=5.0)


def test_a_group_with_views_goes_on_without_the_one_that_leaves() -> None:
    """`check` finds the program right; a run draws that a node leaves, among the faults of the network."""
    assert outcome_of(check_adapter(LEAVING)) is Outcome.HOLDS
    report = run_foreign(LEAVING, runs=4, seed=1, settings=VIEWS)
    assert (report.outcome, report.reasons) == (Outcome.HOLDS, ())
    assert report.happened[FaultKind.LEAVE] == 4
    assert len(report.happened) > 3
    for run in report.runs:
        kinds = [[line.split(b'"')[3] for line in log.splitlines()[1:]] for log in run.logs]
        assert sorted(log.count(b"install") for log in kinds) == [1, 2, 2]
        assert [log[-2] for log in kinds].count(b"crash") == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("hurries", "ViewSynchrony"),
        ("lingers", "has not left within 5 s of the last fault"),
        ("refuses", "refuses `leave` (n0 answers with error 22)"),
        ("runs-away", "VscValidity"),
    ],
)
def test_what_is_wrong_with_leaving_is_found(fault: str, told: str) -> None:
    """Node 0, which orders, leaves after a broadcast, and both are lost on the way to node 2.

    It has to send them again before it ends, and node 2 installs the view without it after the message.
    """
    schedule = Schedule(
        members=3,
        entries=(Broadcast(10.0, 0), Leave(20.0, 0), Broadcast(300.0, 2), Fate(0, 2, 1), Fate(0, 2, 2)),
        calm_ms=400.0,
    )
    fates = {"hurries": schedule.entries[:-1]}
    met = msgspec.structs.replace(schedule, entries=fates.get(fault, schedule.entries))
    right, wrong = (run_schedule(command, met, VIEWS) for command in (LEAVING, [*LEAVING, fault]))
    assert (right.outcome, right.happened[FaultKind.LEAVE]) == (Outcome.HOLDS, 1), right.reasons
    assert wrong.outcome is Outcome.VIOLATED
    assert any(told in reason for reason in wrong.reasons), wrong.reasons


def test_a_program_without_views_leaves_no_group(adapter: Callable[..., list[str]]) -> None:
    settings = Settings(promise=("total-order",), only=(FaultKind.LEAVE,))
    report = run_foreign(adapter("c"), settings=settings)
    assert report.outcome is Outcome.UNKNOWN
    assert "leave was asked for, and has not happened: none is not a pass" in report.reasons


def test_a_broadcast_of_a_node_that_has_left_is_made_by_nobody() -> None:
    """One that waits while the node is stopped, and one after it has left; the run ends all the same."""
    schedule = Schedule(
        members=3,
        entries=(
            Broadcast(5.0, 1), Broadcast(6.0, 0), Pause(10.0, 60.0, 2), Leave(20.0, 2), Broadcast(30.0, 2),
            Broadcast(200.0, 2), Crash(250.0, 2), Restart(260.0, 2),
        ),
        calm_ms=300.0,
    )  # fmt: skip
    run = run_schedule(LEAVING, schedule, VIEWS)
    assert run.outcome is Outcome.HOLDS, run.reasons
    assert run.delivered == 6


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"nodes": 0}, "nodes is 0: there are 1 to 64"),
        ({"messages": 0}, "at least 1"),
        ({"only": (FaultKind.SKEW,)}, "only is clock-skew: a foreign program meets loss"),
        ({"settle_s": 0.0}, "more than 0"),
        ({"promise": ("order",)}, "unknown promise 'order'"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Settings(**wrong)


def test_a_command_that_cannot_be_started_is_no_finding(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no command 'nonsense'"):
        run_foreign(["nonsense"])
    (tmp_path / "text").write_text("no program", encoding="utf-8")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(CommandError, match="cannot be started"):
        run_foreign([str(tmp_path / "text")])
