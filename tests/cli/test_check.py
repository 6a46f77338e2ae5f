"""`check` and `simulate` answer by verdict, show what they found, and say how to find it again."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.cli.check import default_job
from antiphon.model.export import load

Run = Callable[..., Any]
COURIER = "cli_courier:Courier"


def test_a_violation_exits_with_1_and_is_shown_with_its_changes_and_its_picture(antiphon: Run) -> None:
    answer = antiphon("check", COURIER)
    assert answer.code == 1
    assert "✗ violated" in answer.out
    assert "no repairs: the literal text" in answer.out
    assert "count: 2 -> 3" in answer.out
    assert "✗ AtMostTwo: AtMostTwo is false" in answer.out
    assert answer.out.splitlines()[-1].startswith("✗ violated  cli_courier:Courier")
    told = "AtMostTwo is violated after 6 steps, among 13 states so far"
    assert answer.err == f"✗ cli_courier:Courier: {told}\n", "told while the search went on"
    assert antiphon("check", COURIER, "--json").err == ""


def test_the_repaired_text_exits_with_0(antiphon: Run) -> None:
    answer = antiphon("check", COURIER, "--repair", "all")
    assert (answer.code, answer.out.splitlines()[-1]) == (0, f"✓ holds  {COURIER}")


def test_a_bound_that_is_hit_exits_with_2(antiphon: Run) -> None:
    answer = antiphon("check", COURIER, "--repair", "stop", "--max-depth", 1)
    assert answer.code == 2
    assert "? unknown" in answer.out


@pytest.mark.parametrize("engine", [(), ("--engine", "reference"), ("--engine", "z3", "--max-depth", 7)])
def test_every_engine_finds_the_same_shortest_counterexample(
    antiphon: Run, engine: tuple[object, ...]
) -> None:
    document = antiphon("check", COURIER, "--json", *engine).document
    verdicts = {verdict.property: verdict for verdict in document.reports[0].verdicts}
    assert verdicts["AtMostTwo"].outcome == "violated"
    assert len(verdicts["AtMostTwo"].trace.steps) == 6


def test_the_command_that_is_printed_finds_it_again(antiphon: Run) -> None:
    first = antiphon(
        "check",
        COURIER,
        "--processes",
        1,
        "--reading",
        "tone=loud",
        "--property",
        "AtMostTwo",
        "--max-states",
        500,
        "--json",
    )
    command = shlex.split(first.document.reports[0].reproduce)
    assert command[0] == "antiphon"
    again = antiphon(*command[1:], "--json")
    assert again.document.reports[0].verdicts == first.document.reports[0].verdicts
    assert again.document.reports[0].constants == {"processes": 1, "tone": "loud", "stop": False}


def test_the_saved_counterexample_is_the_one_that_was_shown(trace: Path) -> None:
    assert (load(trace).shows, len(load(trace))) == ("AtMostTwo", 6)


@pytest.mark.deep
def test_without_a_specification_the_default_set_holds(antiphon: Run) -> None:
    document = antiphon("check", "--json").document
    assert document.outcome == "holds"
    assert [report.name for report in document.reports] == [job.name for job in default_job()]
    assert all(report.complete and report.states > 100 for report in document.reports)


def test_several_specifications_exit_with_the_worst(antiphon: Run) -> None:
    document = antiphon("check", "two-phase", COURIER, "--json").document
    assert [report.outcome for report in document.reports] == ["holds", "violated"]
    assert document.exit_code == 1


def test_walks_print_their_seed_first_and_repeat_with_it(antiphon: Run) -> None:
    first = antiphon("simulate", COURIER, "--walks", 20, "--steps", 15)
    seed = first.out.splitlines()[0].removeprefix("seed ")
    again = antiphon("simulate", COURIER, "--walks", 20, "--steps", 15, "--seed", seed, "--json")
    assert first.code == again.code == 1
    assert str(again.document.seed) == seed
    assert f"{again.document.report.states:,} states" in first.out


def test_walks_that_miss_a_witness_are_no_pass(antiphon: Run) -> None:
    assert antiphon("simulate", COURIER, "--repair", "all", "--walks", 1, "--steps", 1, "--seed", 1).code == 2


def test_a_file_with_one_specification_needs_no_class(antiphon: Run, tmp_path: Path) -> None:
    there = tmp_path / "elsewhere"
    there.mkdir()
    text = (tmp_path / "cli_courier.py").read_text()
    (there / "one_courier.py").write_text(text[: text.index("@repair(")])
    answer = antiphon("check", "elsewhere/one_courier.py", "elsewhere/one_courier.py:Letters", "--json")
    assert [report.name for report in answer.document.reports] == [
        "elsewhere/one_courier.py", "elsewhere/one_courier.py:Letters",
    ]  # fmt: skip
    assert len({report.states for report in answer.document.reports}) == 1
    (there / "json.py").write_text(text)
    answer = antiphon("check", "elsewhere/json.py")
    assert (answer.code, answer.out) == (64, "")
    assert "Python knows another module 'json'; rename the file" in answer.err
    sys.modules.pop("one_courier")


def test_a_search_may_end_with_the_first_violation(antiphon: Run) -> None:
    asked = ("check", "cli_courier:Courier", "--property", "AtMostTwo", "--property", "deadlock", "--json")
    whole, first = antiphon(*asked).document, antiphon(*asked, "--stop-at-first").document
    assert [verdict.outcome for verdict in whole.reports[0].verdicts] == ["violated", "holds"]
    assert [verdict.outcome for verdict in first.reports[0].verdicts] == ["violated", "unknown"]
    assert first.reports[0].reproduce.endswith("--property deadlock --stop-at-first")
    assert antiphon("check", "rbp", "--engine", "z3", "--max-depth", 2, "--stop-at-first").code == 64
