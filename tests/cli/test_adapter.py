"""`antiphon adapter`: programs in any language, checked, run and walked from the shell."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.adapters import references
from tests.adapters.references import SPEC, made
from tests.report.forms import read_junit

from antiphon.conformance.cli import adapter as command
from antiphon.conformance.run.foreign import run_foreign

Run = Callable[..., Any]
ORDERED = ("--nodes", "Node", "--guarded", "broadcast", SPEC)
TOTAL = ("--promise", "total-order", "--only", "loss", "--only", "reordering")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the reference adapter in C."""
    return made("c", tmp_path_factory.mktemp("right"))


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of one that swaps messages."""
    return made("c", tmp_path_factory.mktemp("wrong"), "messages are swapped")


def test_a_right_program_holds_in_all_three_questions(antiphon: Run, right: list[str]) -> None:
    checked = antiphon("adapter", "check", *right)
    assert checked.code == 0
    assert "✓ holds  reads a line of 1 MiB" in checked.out
    assert "not asked: snapshots: it does not say that it can: snapshot" in checked.out
    ran = antiphon("adapter", "run", *TOTAL, "--runs", 2, "--seed", 1, *right)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "seed 1")
    assert "in virtual time" in ran.out
    walked = antiphon("adapter", "lockstep", "--set", "messages=1", *ORDERED, *right)
    assert walked.code == 0
    assert "they agree in every transition, each after one way to its state" in walked.out


def test_what_runs_and_a_walk_exercise_of_a_program_is_in_one_report(
    antiphon: Run, right: list[str], tmp_path: Path
) -> None:
    """Handlers are known by what the program is given, and states as it reports them."""
    file, name = tmp_path / "c.json", " ".join(right)
    walk = ("adapter", "lockstep", "--set", "messages=1", "--max-transitions", 20, "--coverage", file)
    assert antiphon(*walk, *ORDERED, *right).code == 2
    run = ("adapter", "run", "--only", "loss", "--runs", 2, "--seed", 1, "--coverage", file)
    assert antiphon(*run, "--promise", "total-order", *right).code == 0
    told = antiphon("coverage", name, file)
    assert told.code == 0
    _, _, walked, ran, *_ = map(str.split, told.out.splitlines())
    assert (walked[:3], walked[-2:]) == (["adapter", "lockstep", "1"], ["of", "56"])
    assert (ran[:4], ran[-1]) == (["adapter", "run", "2", "5"], "-")
    assert "adapter run has not met the handlers restart" in told.out
    assert "no run has taken " in told.out
    found = antiphon("coverage", name, file, "--json").document
    assert found.methods[1].handlers == ["broadcast", "receive ask", "receive order", "receive want", "tick"]
    assert found.methods[1].classes > found.methods[0].classes > 1
    bound = f"adapter({str(SPEC)!r}, {right!r}, nodes='Node')"
    (tmp_path / "covered_ordered.py").write_text(f"from antiphon.testing import adapter\nReal = {bound}\n")
    real, other = f"{tmp_path / 'covered_ordered.py'}:Real", tmp_path / "d.json"
    assert antiphon("lockstep", real, "--max-transitions", 20, "--coverage", other).code == 2
    (method,) = antiphon("coverage", real, other, "--json").document.methods
    assert "receive order" in method.handlers
    assert method.classes > 1
    assert antiphon("coverage", "another", file).code == 64
    assert antiphon(*run, sys.executable).code == 64, "the file is about another program"


def test_requests_and_datagrams_of_a_black_box_are_handlers(antiphon: Run, tmp_path: Path) -> None:
    words = ("adapter", "run", "--only", "loss", "--runs", 1, "--seed", 1, "--coverage", tmp_path / "c.json")
    program = [sys.executable, str(Path(references.__file__).with_name("gossip.py"))]
    assert antiphon(*words, *program).code in (0, 2), "its seed does not determine its speed"
    (method,) = antiphon("coverage", " ".join(program), tmp_path / "c.json", "--json").document.methods
    assert {"broadcast", "read", "topology"} < set(method.handlers)
    assert any(handler.startswith("receive ") for handler in method.handlers)


def test_the_time_of_runs_can_be_bounded(antiphon: Run, right: list[str]) -> None:
    told = antiphon("adapter", "run", *TOTAL, "--seed", 1, "--runs", 2, "--max-seconds", 0, *right)
    assert (told.code, "1 of 2 runs not taken: the time is over" in told.out) == (2, True)
    assert "--runs 2 --seed 1" in told.out, "the command that asks for all of them"
    assert len(antiphon("adapter", "run", "--max-seconds", 0, "--json", *right).document.program) == 1


@pytest.mark.deep
def test_a_run_that_fails_shows_its_schedule_and_keeps_its_logs(
    antiphon: Run, wrong: list[str], tmp_path: Path
) -> None:
    ran = antiphon("adapter", "run", *TOTAL, "--seed", 1, *wrong)
    assert ran.code == 1
    assert "UniformTotalOrder: " in ran.out
    assert "seed 1, shortened: " in ran.out
    home = next(word for word in ran.out.split() if word.startswith("runs/adapter-"))
    assert antiphon("verify", home, "--promise", "total-order").code == 1
    assert antiphon("verify", home, "--promise", "reliable-broadcast").code in (0, 2)
    assert antiphon("show", home).code == 0
    again = next(line for line in ran.out.splitlines() if line.startswith("again: "))
    assert antiphon(*again.split()[2:]).code == 1


def test_a_difference_is_saved_and_shown(antiphon: Run, wrong: list[str], tmp_path: Path) -> None:
    walked = antiphon("adapter", "lockstep", "--save", "found.itf.json", *ORDERED, *wrong)
    assert walked.code == 1
    assert "3  take_order(Order(n1, 2, m1))" in walked.out
    assert "trace saved: found.itf.json; antiphon show found.itf.json draws it" in walked.out
    assert antiphon("show", "found.itf.json").code == 0
    bound = f"adapter({str(SPEC)!r}, {wrong!r}, nodes='Node')"
    (tmp_path / "bound_ordered.py").write_text(f"from antiphon.testing import adapter\nReal = {bound}\n")
    assert antiphon("replay", "found.itf.json", "--on", "bound_ordered.py:Real").code == 1


def test_documents_and_reports(
    antiphon: Run, wrong: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "run_foreign", partial(run_foreign, shrink_seconds=0))
    checked = antiphon("adapter", "check", "--json", "--junit", "check.xml", *wrong).document
    assert (checked.outcome.value, len([c for c in checked.cases if c.outcome])) == ("holds", 16)
    assert "adapter check" in (tmp_path / "check.xml").read_text()
    asked = ("--json", "--junit", "run.xml", "--sarif", "run.sarif", "--html", "run.html")
    ran = antiphon("adapter", "run", *asked, *TOTAL, "--seed", 1, *wrong).document
    assert ran.outcome.value == "violated"
    assert ran.deterministic
    assert set(ran.happened) <= {"loss", "reordering"}
    cases = {
        c.attrib["name"]: [k.tag for k in c]
        for c in read_junit((tmp_path / "run.xml").read_text()).iter("testcase")
    }
    assert "failure" in cases["UniformTotalOrder"]
    assert "svg" in (tmp_path / "run.html").read_text()
    walked = antiphon("adapter", "lockstep", "--json", *ORDERED, *wrong).document
    assert walked.difference.what == "events"
    assert walked.one_way


def test_what_a_program_does_wrong_is_no_traceback(antiphon: Run, tmp_path: Path) -> None:
    program = tmp_path / "talks.py"
    program.write_text("import sys\nprint('hello', flush=True)\nprint('why', file=sys.stderr)\n")
    command = (sys.executable, "-S", program)
    for asked in (("check",), ("run", "--only", "loss"), ("lockstep", *ORDERED)):
        answer = antiphon("adapter", *asked, *command)
        assert answer.code == 1, answer.err
        assert "n0 writes a line that is no JSON" in answer.out
        assert "hello" in answer.out
        assert "Traceback" not in answer.err


def test_a_fault_that_did_not_happen_is_unknown(antiphon: Run, right: list[str]) -> None:
    ran = antiphon("adapter", "run", "--only", "partition", "--processes", 1, "--runs", 1, *right)
    assert ran.code == 2
    assert "partition was asked for, and has not happened: none is not a pass" in ran.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", "nonsense"), "no command 'nonsense'"),
        (("run", "nonsense"), "no command 'nonsense'"),
        (("lockstep", SPEC, "nonsense"), "no command 'nonsense'"),
        (("run", "--only", "clock-skew", "cat"), "--only is clock-skew: a foreign program meets loss"),
        (("run", "--processes", 0, "cat"), "--processes is 0: there are 1 to 64"),
        (("run", "--promise", "order", "cat"), "unknown promise 'order'"),
        (("lockstep", "--exempt", "log", SPEC, "cat"), "write NAME=REASON"),
        (("lockstep", "--nodes", "Nodes", SPEC, "cat"), "no index 'Nodes'"),
        (("check",), "Missing argument 'PROGRAM...'"),
        (("chekc", "cat"), "No such command 'chekc'"),
    ],
)
def test_wrong_usage_is_64(antiphon: Run, arguments: tuple[object, ...], told: str) -> None:
    answer = antiphon("adapter", *arguments)
    assert (answer.code, told in answer.err) == (64, True), answer.err


def test_options_of_the_program_are_its_own(antiphon: Run, tmp_path: Path) -> None:
    program = tmp_path / "tells.py"
    program.write_text("import sys\nprint(sys.argv[1:], flush=True)\n")
    answer = antiphon("adapter", "check", sys.executable, "-S", program, "--json", "-x")
    assert "['--json', '-x']" in answer.out


def test_help_lists_the_commands_of_the_family(antiphon: Run) -> None:
    told = antiphon("adapter", "--help").out
    assert all(verb in told for verb in ("check", "run", "lockstep"))
    assert antiphon("adapter").code in (0, 64)
    assert "PROGRAM" in antiphon("adapter", "run", "--help").out
