"""`antiphon gate` runs commands, and a command that gives no answer is unknown, never a pass."""

import itertools
import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import typer

from antiphon.conformance.cli import documents, gate
from antiphon.conformance.cli.app import commands as app_commands
from antiphon.conformance.spark.pipeline.report import VerifyReport
from antiphon.model.verdict import Outcome
from antiphon.spec.claims import Check, all_claims, families

Run = Callable[..., Any]
HOLDS = gate.Row(
    "does two-phase commit hold?",
    ("check", "two-phase"),
    lambda document: f"{document['reports'][0]['states']} states",
)
BROKEN = gate.Row(
    "does figure 2 deliver once?",
    ("check", "figure-2", "--repair", "start_token", "--property", "UniformIntegrity"),
    lambda _: "it is not",
)
FAILS = gate.Row("does nothing hold?", ("check", "no-such-figure"), lambda _: "never told")
MUTE = gate.Row("is the document told?", ("check", "two-phase"), lambda document: str(document["nothing"]))


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the gate ask these questions only."""

    def choose(*chosen: gate.Row) -> None:
        monkeypatch.setattr(gate, "rows", lambda directory: (chosen[::2], chosen[1::2]))

    return choose


def document(answer: Any) -> documents.Gate:
    decoded = msgspec.json.decode(answer.out, type=documents.Gate)
    assert msgspec.to_builtins(decoded) == msgspec.json.decode(answer.out)
    assert decoded.exit_code == answer.code
    return decoded


def test_when_every_row_holds_the_gate_is_open(
    antiphon: Run, rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(HOLDS)
    answer = antiphon("gate", "--log", tmp_path / "gate")
    assert answer.code == 0
    assert "288 states" in answer.out
    assert answer.out.splitlines()[-1].startswith("✓ holds  1 of 1 rows hold")


def test_a_command_that_fails_is_unknown(antiphon: Run, rows: Callable[..., None], tmp_path: Path) -> None:
    rows(HOLDS, FAILS)
    answer = antiphon("gate", "--log", tmp_path / "gate")
    assert answer.code == 2
    assert "? unknown" in answer.out
    assert "does nothing hold?  antiphon check no-such-figure" in answer.out
    assert answer.out.splitlines()[-1].startswith("? unknown  1 of 2 rows hold")


@pytest.mark.deep
def test_the_document_holds_every_row_in_the_order_of_the_table(
    antiphon: Run, rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(HOLDS, FAILS)
    told = document(antiphon("gate", "--log", tmp_path / "gate", "--json"))
    assert [(row.question, row.outcome) for row in told.rows] == [
        (HOLDS.question, "holds"),
        (FAILS.question, "unknown"),
    ]
    assert told.rows[0].found == "288 states"
    assert "exit code 64: unknown specification 'no-such-figure'" in told.rows[1].found
    assert told.rows[1].command == "antiphon check no-such-figure"
    assert (told.outcome, told.directory) == ("unknown", str(tmp_path / "gate"))


def test_an_answer_that_cannot_be_told_is_unknown(
    antiphon: Run, rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(MUTE)
    (row,) = document(antiphon("gate", "--log", tmp_path / "gate", "--json")).rows
    assert row.outcome == "unknown"
    assert "KeyError('nothing')" in row.found


@pytest.mark.deep
def test_a_violation_weighs_more_than_a_failure(
    antiphon: Run, rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(BROKEN, FAILS)
    told = document(antiphon("gate", "--log", tmp_path / "gate", "--json"))
    assert [row.outcome for row in told.rows] == ["violated", "unknown"]
    assert told.exit_code == 1


def test_logs_of_an_earlier_gate_are_removed_and_nothing_else(
    antiphon: Run, rows: Callable[..., None], tmp_path: Path
) -> None:
    rows(HOLDS)
    (tmp_path / "gate" / "runs" / "old").mkdir(parents=True)
    (tmp_path / "gate" / "kept.txt").write_text("kept")
    assert antiphon("gate", "--log", tmp_path / "gate").code == 0
    assert sorted(path.name for path in (tmp_path / "gate").iterdir()) == ["kept.txt"]


@pytest.mark.deep
def test_a_deep_gate_runs_its_rows_side_by_side_and_tells_each_when_it_is_done(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The worst row decides, wherever it stands."""
    monkeypatch.setattr(gate, "deep_rows", lambda: (HOLDS, BROKEN, FAILS))
    answer = antiphon("gate", "--deep", "--log", tmp_path / "gate")
    assert answer.code == 1
    assert sorted(line.split()[0] for line in answer.err.splitlines()) == ["holds", "unknown", "violated"]
    assert answer.out.splitlines()[-1] == "✗ violated  1 of 3 rows hold"
    told = document(antiphon("gate", "--deep", "--log", tmp_path / "gate", "--json"))
    assert [row.question for row in told.rows] == [HOLDS.question, BROKEN.question, FAILS.question]


def test_ctrl_c_ends_every_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The commands that were running have ended, and none begins; they would have run for half a minute.

    Even if a signal wakes no waiting thread, as C code in the process may have left it.
    """
    command = ("check", "rbp", "--repair", "all", "--set", "messages=3", "--max-seconds", "30")
    slow = [gate.Row(f"state {number}", command, lambda _: "") for number in range(3)]
    ended = threading.Event()
    others = set(psutil.Process().children(recursive=True))  # of another test, as Spark's Java
    begun: list[gate.Row] = []
    order = itertools.count(1)  # two threads begin at once, and one of them interrupts
    start = gate._Board.start

    def interrupt(board: gate._Board, row: gate.Row) -> None:
        begun.append(row)
        if next(order) == 2:
            threading.Thread(target=interrupt_main, daemon=True).start()
        start(board, row)

    def interrupt_main() -> None:
        """Press Ctrl-C as a person does: again, if nothing happens."""
        while not ended.wait(timeout=3):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    signal.siginterrupt(signal.SIGINT, False)
    monkeypatch.setattr(gate, "deep_rows", lambda: tuple(slow))
    monkeypatch.setattr(gate.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(gate._Board, "start", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            gate.gate(tmp_path, deep=True)
    finally:
        ended.set()
        signal.siginterrupt(signal.SIGINT, True)
    assert len(begun) == 2
    assert set(psutil.Process().children(recursive=True)) <= others


def test_the_deep_gate_asks_every_family_for_its_claims_and_its_repairs() -> None:
    asked = [row.arguments for row in gate.deep_rows()]
    assert {words[-1] for words in asked if words[:3] == ("claims", "--deep", "--fresh")} == set(families())
    assert {words[-1] for words in asked if words[1:2] == ("--minimal",)} >= {
        "rbc",
        "msq",
        "rbp",
        "dtp",
        "tot",
        "seq",
        "hor",
    }
    assert {words[-1] for words in asked if words[1:3] == ("--mutants", "--deep")} == set(families())
    assert len([words for words in asked if "z3" in words]) == 2
    assert ("refine",) in asked
    long = {
        claim.id
        for claim in all_claims()
        if any(isinstance(check, Check) and check.long_for_z3 for check in claim.checks)
    }
    assert set(gate.LONG_FOR_Z3) <= long


def test_the_questions_of_the_gate_are_commands_that_exist(tmp_path: Path) -> None:
    asked = [row for group in gate.rows(tmp_path) for row in group]
    assert {row.arguments[0] for row in asked} == {
        "check",
        "claims",
        "refine",
        "cluster",
        "verify",
        "lockstep",
        "stateful",
    }
    asked += gate.deep_rows()
    commands: Any = typer.main.get_command(app_commands())
    for row in asked:
        name, *words = row.arguments
        commands.commands[name].make_context(name, words)


def test_the_gate_asks_every_family_once(tmp_path: Path) -> None:
    """A family that is added is asked without another word."""
    asked = [row.arguments for group in gate.rows(tmp_path) for row in group]
    named = [
        family
        for words in asked
        if words[:3] == ("claims", "--brief", "--fresh")
        for option, family in itertools.pairwise(words)
        if option == "--family"
    ]
    assert sorted(named) == sorted(families())


def test_no_group_waits_for_another_and_what_reads_logs_comes_after_who_writes_them(tmp_path: Path) -> None:
    told = [[row.arguments[0] for row in group] for group in gate.rows(tmp_path)]
    assert [words for words in told if len(words) > 1] == [["cluster", "cluster", "verify"]]


def test_spark_starts_once(tmp_path: Path) -> None:
    """A start takes seconds of every core, so one command judges all logs."""
    commands = [row.arguments[0] for group in gate.rows(tmp_path) for row in group]
    assert commands.count("verify") == 1


def test_the_row_of_spark_counts_what_the_report_counts(tmp_path: Path) -> None:
    """The count includes violations that the report does not list."""
    mixed = Counter({Outcome.HOLDS: 1, Outcome.UNKNOWN: 1})
    counts = {"Validity": Counter({Outcome.HOLDS: 2}), "Agreement": mixed}
    report = VerifyReport(counts, (), (), 0, 0, runs=2, suspects=1, events=1_234)
    (row,) = [row for group in gate.rows(tmp_path) for row in group if "Spark" in row.question]
    assert row.tell({"report": report.to_dict()}) == "2 runs, 1,234 events, 4 verdicts"
