"""The commands that run the implementation: lockstep, Hypothesis, real processes, and the judgement of their
logs.
"""

import itertools
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import delivery, write_log, write_swap

from antiphon.conformance.run.swarm import Settings, read_schedule, run_schedule
from antiphon.conformance.spark import pipeline

Run = Callable[..., Any]
SMALL = ("--processes", 2, "--messages", 1, "--losses", 0, "--timeouts", 0)


def test_lockstep_walks_every_transition_of_a_small_model(antiphon: Run) -> None:
    answer = antiphon("lockstep", "rbp", *SMALL)
    assert answer.code == 0
    assert "all transitions" in answer.out
    assert "not compared: lost: " in answer.out
    assert answer.out.splitlines()[-1] == "✓ holds  rbp: they agree everywhere"


def test_lockstep_that_stops_early_is_unknown(antiphon: Run) -> None:
    document = antiphon("lockstep", "rbp", "--max-transitions", 50, "--json").document
    assert (document.outcome, document.complete, document.difference) == ("unknown", False, None)


@pytest.mark.parametrize("command", ["lockstep", "stateful"])
def test_a_planted_fault_is_found_shown_and_saved(antiphon: Run, tmp_path: Path, command: str) -> None:
    """Replayed on the implementation without the fault, the difference is gone."""
    file = tmp_path / "fault.itf.json"
    answer = antiphon(command, "rbp", *SMALL, "--fault", "keeps-token", "--seed", 1, "--save", file)
    assert answer.code == 1
    assert "sequence(p" in answer.out
    assert "  specification:  " in answer.out
    assert "  implementation: " in answer.out
    assert answer.out.splitlines()[-1].startswith("✗ violated  rbp: ")
    assert "run it again without the planted fault with antiphon replay" in answer.out
    assert antiphon("replay", file).code == 0


def test_stateful_prints_its_seed_first_and_agrees(antiphon: Run) -> None:
    answer = antiphon("stateful", "rbp", *SMALL, "--runs", 3, "--steps", 8)
    assert answer.code == 0
    seed = answer.out.splitlines()[0].removeprefix("seed ")
    document = antiphon(
        "stateful", "rbp", *SMALL, "--runs", 3, "--steps", 8, "--seed", seed, "--json"
    ).document
    assert f"{document.steps:,} steps" in answer.out


def test_a_cluster_runs_and_says_its_seed_and_what_it_dropped(antiphon: Run, tmp_path: Path) -> None:
    """The pipeline's tests, which have Java running, check that the command judges the logs."""
    few = ("--messages", 30, "--duplication-rate", 0.2, "--reordering-rate", 0.4)  # yet each fault happens
    answer = antiphon("cluster", "rbp", *few, "--seed", 7, "--log", tmp_path / "runs")
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "seed 7"
    assert "dropped" in answer.out


@pytest.mark.deep
def test_a_cluster_without_faults_that_were_asked_for_is_unknown(antiphon: Run, tmp_path: Path) -> None:
    arguments = (
        "--messages",
        3,
        "--loss-rate",
        0,
        "--duplication-rate",
        0,
        "--reordering-rate",
        0.0001,
        "--log",
        tmp_path / "runs",
    )
    document = antiphon("cluster", "rbp", *arguments, "--json").document
    assert document.outcome == "unknown"
    assert "none is not a pass" in document.record["reasons"][0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("cluster", "rpb"), "did you mean 'rbp'?"),
        (
            ("cluster", "rbp", "--loss-rate", 1.5),
            "--loss-rate is 1.5; a probability here is at least 0 and less than 1",
        ),
        (("cluster", "rbp", "--late", 500), "--late is 500.0; it is at least 0 and less than --max-seconds"),
        (("cluster", "rbp", "--processes", 1), "--processes is 1; a cluster has 2 to 64"),
        (("lockstep", "rpb"), "no implementation is bound to 'rpb'; known: chandra-toueg, chang-maxemchuk, "),
        (("lockstep", "rbp", "--set", "lossses=1"), "did you mean 'losses'?"),
        (("lockstep", "rbp", "--fault", "keep-token"), "did you mean 'keeps-token'?"),
        (("lockstep", "rbp", "--engine", "z3"), "--engine z3: it is one of 'generated', 'reference'"),
        (("stateful", "rbp", "--runs", 0), "--runs"),
        (("verify", "cli_courier.py"), "cli_courier.py: not a log"),
        (("verify", "nowhere", "--promise", "safe-delivry"), "did you mean 'safe-delivery'?"),
    ],
)
def test_what_cannot_be_run_is_wrong_usage(antiphon: Run, arguments: tuple[object, ...], says: str) -> None:
    answer = antiphon(*arguments)
    assert answer.code == 64
    assert says in answer.err


def test_few_logs_are_judged_here_without_spark(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deliveries alone, with the fields of another system beside; what to ask is told, and how much was
    judged.
    """
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for process in range(2):
        stamped = [delivery("0:1", 1).replace("}", ',"at":1.5}'), delivery("1:1", 2)]
        write_log(tmp_path / "a", process, *stamped)
    answer = antiphon("verify", tmp_path / "a")
    assert answer.code == 2
    assert "ask --promise prefix-order" in " ".join(answer.out.split())
    document = antiphon("verify", tmp_path, "--promise", "prefix-order", "--json").document
    assert (document.outcome, document.report["runs"]) == ("holds", 1)
    assert document.report["judged"]["UniformTotalOrder"] == 4
    for asked in (("--spark",), ("--master", "local[2]")):
        refused = antiphon("verify", tmp_path, *asked)
        assert (refused.code, "needs Spark, which is not installed (no pyspark)" in refused.err) == (64, True)


def test_runs_that_there_was_no_time_to_judge_are_unknown(antiphon: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        for process in range(2):
            write_log(tmp_path / name, process, delivery("0:1", 1))
    asked = ("verify", tmp_path, "--promise", "prefix-order")
    assert antiphon(*asked, "--max-seconds", 60, "--json").document.report["counts"] == (
        antiphon(*asked, "--json").document.report["counts"]
    )
    answer = antiphon(*asked, "--max-seconds", 0)
    assert answer.code == 2
    told = " ".join(answer.out.split())
    assert "the bound of 0 seconds ended the judging after 0 of 2 runs" in told
    report = antiphon(*asked, "--max-seconds", 0, "--json").document.report
    assert report["counts"]["UniformTotalOrder"] == {"unknown": 2}


def test_a_run_of_logs_has_a_picture(antiphon: Run, tmp_path: Path) -> None:
    """In the terminal and as SVG, with the first violation; of nothing that is no run."""
    write_swap(tmp_path / "a")
    answer = antiphon("show", tmp_path / "a", "--promise", "prefix-order", "--svg", tmp_path / "a.svg")
    assert answer.code == 0
    lines = [line.strip() for line in answer.out.splitlines()]
    assert "● deliver 1:1 as 2" in answer.out
    assert "✗ UniformTotalOrder: both deliver both messages" in answer.out
    assert "3 processes, 9 events; violated by prefix-order" in lines
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert picture.count("process 2") >= 1
    assert "UniformTotalOrder" in picture
    document = antiphon("show", tmp_path / "a", "--json").document
    assert (document.processes, document.events, document.damage) == (3, 9, [])
    nothing = antiphon("show", tmp_path)
    assert nothing.code == 64
    assert "no run; a run is a directory that holds process-0.ndjson" in nothing.err


def test_of_a_swap_one_line_tells(antiphon: Run, tmp_path: Path) -> None:
    write_swap(tmp_path / "a")
    answer = antiphon("verify", tmp_path, "--promise", "uniform-total-order")
    assert answer.code == 1
    told = " ".join(answer.out.split())
    assert "process 2 delivers 1:1 before 0:1, processes 0, 1 deliver 0:1 before 1:1" in told
    assert told.count("broken with UniformTotalOrder") == 2


def test_a_promise_that_nothing_in_the_logs_is_about_is_unknown(antiphon: Run, tmp_path: Path) -> None:
    for process in range(2):
        write_log(tmp_path / "a", process, delivery("0:1", 1))
    answer = antiphon("verify", tmp_path, "--promise", "consensus")
    assert answer.code == 2
    assert "nothing to judge: nothing is proposed or decided" in " ".join(answer.out.split())


def test_a_lake_that_cannot_be_written_is_wrong_usage(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise pipeline.InputError(f"{tmp_path / 'lake'} cannot be written: no space left on device")

    monkeypatch.setattr(pipeline, "ingest", full)
    answer = antiphon("ingest", tmp_path, "--lake", tmp_path / "lake")
    assert answer.code == 64
    assert "lake cannot be written: no space left on device" in answer.err


@pytest.mark.deep
def test_a_swarm_keeps_and_shows_the_first_run_that_fails_made_short(antiphon: Run, tmp_path: Path) -> None:
    """The commands that it prints give the same runs again."""
    faulty = ("swarm", "total", "--fault", "passes-one", "--log", tmp_path)
    answer = antiphon(*faulty, "--seed", 1, "--runs", 8, "--jobs", 1)
    assert answer.code == 1
    lines = answer.out.splitlines()
    assert lines[0] == "seed 1"
    assert lines[-1].startswith("✗ violated  total: 8 runs, ")
    again = "antiphon swarm total --fault passes-one"
    assert f"short:  {again} --schedule {tmp_path}/total-5-short/schedule.json" in answer.out
    assert f"again:  {again} --runs 1 --seed 5" in answer.out
    assert (tmp_path / "total-5" / "process-2.ndjson").exists()
    short = tmp_path / "total-5-short" / "schedule.json"
    answer = antiphon(*faulty, "--schedule", short)
    assert answer.code == 1
    assert "UniformAgreement" in answer.out
    document = antiphon("swarm", "total", "--schedule", short, "--json").document
    assert (document.outcome, document.failed) == ("holds", [])


def test_a_swarm_shows_each_way_to_fail_by_a_short_run(antiphon: Run, tmp_path: Path) -> None:
    words = ("--fault", "numbers-again", "--messages", 6, "--jobs", 1, "--log", tmp_path)
    answer = antiphon("swarm", "total", *words, "--seed", 1, "--runs", 10)
    assert answer.out.count("another kind, seed ") == 1
    schedules = [line.split()[-1] for line in answer.out.splitlines() if line.startswith("short:  ")]
    settings = Settings(planted="numbers-again", messages=6)
    worst = [run_schedule("total", read_schedule(Path(file)), settings).symptoms[0] for file in schedules]
    assert [raised.partition(" (")[0] for raised in worst] == [
        "raises StopIteration in _pass_up", "raises GroupFailed in _item_received",
    ]  # fmt: skip


def test_runs_within_a_model_are_drawn_as_the_model_says(antiphon: Run) -> None:
    few = ("--within-model", "--runs", 5, "--seed", 3, "--jobs", 1)
    document = antiphon("swarm", "total", *few, "--json").document
    assert (document.outcome, set(document.met)) == ("holds", {"loss", "reordering", "clock-skew"})
    assert document.delivered == 5 * 2 * 2
    answer = antiphon("swarm", "total", *few, "--processes", 4)
    assert answer.code == 64
    assert "leave out --processes" in answer.err


def test_a_swarm_that_holds_says_what_it_met(antiphon: Run) -> None:
    few = ("--runs", 5, "--seed", 3, "--jobs", 1, "--only", "loss")
    document = antiphon("swarm", "rbp", *few, "--json").document
    assert (document.outcome, document.runs, set(document.met)) == ("holds", 5, {"loss"})
    assert document.lost > 0


def test_what_applications_see_in_a_swarm_is_saved_and_replayed(antiphon: Run, tmp_path: Path) -> None:
    few = ("--seed", 7, "--runs", 1, "--messages", 4, "--jobs", 1, "--save", tmp_path)
    (trace,) = antiphon("swarm", "irbp", *few, "--json").document.traces
    assert trace == str(tmp_path / "irbp-7.itf.json")
    answer = antiphon("replay", trace)
    assert answer.code == 0
    assert "each one of OrderedGroup" in answer.out
    data = json.loads(Path(trace).read_text())
    delivered = [state for state in data["states"] if state["mbt::actionTaken"] == "deliver"]
    picks = delivered[-1]["mbt::nondetPicks"]
    picks["m"]["value"] = 0
    Path(trace).write_text(json.dumps(data))
    answer = antiphon("replay", trace)
    assert answer.code == 1
    assert "self.may_deliver(p, m)" in answer.out
    assert antiphon("swarm", "rbp", *few).code == 64


def test_a_swarm_that_runs_out_of_time_shows_what_has_failed(antiphon: Run, tmp_path: Path) -> None:
    """The first chunk of runs is taken in any case; nothing is left to shorten what failed."""
    faulty = ("swarm", "total", "--fault", "passes-one", "--log", tmp_path, "--seed", 1, "--jobs", 1)
    answer = antiphon(*faulty, "--runs", 200, "--messages", 10, "--max-seconds", 0)
    assert answer.code == 1
    assert "150 of 200 runs not taken: --max-seconds 0 are over" in answer.out
    (short, whole) = sorted(tmp_path.glob("total-*/schedule.json"))[:2]
    assert set(read_schedule(short).entries) == set(read_schedule(whole).entries)


def test_runs_that_were_asked_for_and_not_taken_are_unknown(antiphon: Run, tmp_path: Path) -> None:
    """`--max-seconds` alone asks for as many runs as fit into it, and whatever their number they are all."""
    few = ("swarm", "total", "--seed", 1, "--jobs", 1, "--messages", 5, "--max-seconds", 0)
    answer = antiphon(*few, "--runs", 51, "--junit", tmp_path / "junit.xml")
    assert answer.code == 2
    assert "1 of 51 runs not taken: --max-seconds 0 are over" in answer.out
    assert "1 run of 51 not taken" in (tmp_path / "junit.xml").read_text()
    document = antiphon(*few, "--runs", 51, "--json").document
    assert (document.outcome, document.runs, document.untaken) == ("unknown", 50, 1)
    answer = antiphon(*few)
    assert answer.code == 0
    assert "not taken" not in answer.out
    assert "50 runs" in answer.out


def test_a_swarm_in_processes_takes_as_many_runs_as_the_time_permits(antiphon: Run) -> None:
    few = ("--seed", 1, "--jobs", 2, "--messages", 5)
    answer = antiphon("swarm", "total", *few, "--max-seconds", 0.1, "--json")
    assert (answer.code, answer.document.untaken) == (0, 0)
    assert answer.document.runs >= 50


@pytest.mark.parametrize("verb", ["stateful", "simulate"])
def test_random_runs_that_a_bound_ends_are_unknown(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """By a clock that goes on with each look at it: the bound ends as many runs on any machine."""
    ticks = itertools.count(0.0, 0.02)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    subject, number = ("total", "--runs") if verb == "stateful" else ("two-phase", "--walks")
    few = (verb, subject, "--seed", 1, "--steps", 20, "--max-seconds", 3)
    cut = antiphon(*few, number, 10**7)
    assert cut.code == 2
    assert "not every" in cut.out
    whole = antiphon(*few)
    assert "not every" not in whole.out
    assert whole.code == 0


def test_a_swarm_of_members_that_change_says_what_it_met(antiphon: Run) -> None:
    few = ("--messages", 6, "--seed", 1, "--jobs", 1)
    answer = antiphon("swarm", "irbp", *few, "--runs", 4)
    assert answer.code == 0
    assert "crash " in answer.out
    assert "late-start" not in answer.out
    assert "steps of the cores' own: view " in answer.out
    document = antiphon("swarm", "total", "--join", *few, "--runs", 3, "--only", "leave", "--json").document
    assert (document.outcome, set(document.met)) == ("holds", {"leave"})
    answer = antiphon("swarm", "total", "--join", *few, "--processes", 2, "--runs", 1, "--only", "join")
    assert answer.code == 2
    assert "join was asked for, and no run has met it" in answer.out


def test_a_schedule_says_that_members_change(antiphon: Run, tmp_path: Path) -> None:
    """The schedule stands in docs/swarm.md."""
    page = (Path(__file__).parents[2] / "docs" / "swarm.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    (tmp_path / "schedule.json").write_text(text)
    answer = antiphon("swarm", "total", "--schedule", tmp_path / "schedule.json")
    assert answer.code == 0
    assert "when process 0 has delivered 2, after 5 ms more: process 2 crashes" in answer.out
    assert "» view 2: 0 1" in answer.out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rbp", "--join"), "whose members change has the protocol 'rbp'; known: horus, irbp, rbp-reforming"),
        (("rbp", "--only", "crash"), "--only is crash; no group whose members stay meets that"),
        (("vsc", "--only", "late-start"), "--only is late-start; no group whose members change meets that"),
        (("total", "--join", "--encrypted"), "--encrypted is True; groups whose members change have no such"),
        (("irbp", "--fault", "x"), "--fault is x; groups whose members change have no such"),
        (("irbp", "--within-model"), "--within-model is of groups whose members stay; leave it out"),
    ],
)
def test_a_swarm_refuses_what_is_of_the_other_kind_of_groups(
    antiphon: Run, words: tuple[str, ...], told: str
) -> None:
    answer = antiphon("swarm", *words, "--runs", 1, "--seed", 1, "--jobs", 1)
    assert answer.code == 64
    assert told in answer.err


def test_a_swarm_refuses_what_it_cannot_do(antiphon: Run, tmp_path: Path) -> None:
    for words, told in (
        (("--processes", 1), "--processes is 1"),
        (("--bound-ms", 0), "--bound-ms is 0.0, --steps 20000; both are positive"),
        (("--messages", 0), "messages is 0"),
        (("--layers", "never", "--deliver", "each"), "without layers no message waits"),
        (("--fault", "nonsense"), "no planted fault 'nonsense'"),
        (("--schedule", tmp_path / "none.json"), "No such file"),
    ):
        answer = antiphon("swarm", "rbp", "--seed", 1, "--runs", 1, "--jobs", 1, *words)
        assert answer.code == 64
        assert told in answer.err
