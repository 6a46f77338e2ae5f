"""`check --prove`: what is inductive holds for runs of every length; else the verdict says why not."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TEXT = '''
"""A walk whose invariant is inductive, inductive over two states, false, or neither."""

from typing import Annotated

from antiphon.spec.lang import Between, Spec, action, invariant, require


class Alone(Spec):
    """Two places; every good state leads to a good one."""

    place: Annotated[int, Between(0, 9)] = 0

    @action
    def turn(self) -> None:
        """To the other."""
        require(self.place < 2)
        self.place = 1 - self.place

    @invariant
    def Good(self) -> bool:
        """Nowhere else."""
        return self.place != 9


class Twice(Alone):
    """From 8 to 9 leads a step, but nothing leads to 8."""

    @action
    def fall(self) -> None:
        """Never taken."""
        require(self.place == 8)
        self.place = 9


class Chain(Twice):
    """What is never reached is a long way."""

    @action
    def climb(self) -> None:
        """Never taken."""
        require(1 < self.place < 8)
        self.place += 1


class Wrong(Chain):
    """And here it is reached."""

    @action
    def leave(self) -> None:
        """From the two places to the long way."""
        require(self.place == 1)
        self.place = 7
'''


@pytest.fixture
def walk(antiphon: Run, tmp_path: Path) -> Iterator[Run]:
    """The command with the specifications above at hand."""
    (tmp_path / "cli_walk.py").write_text(TEXT, encoding="utf-8")
    yield lambda name, *options: antiphon("check", f"cli_walk:{name}", "--prove", *options)
    sys.modules.pop("cli_walk", None)


def verdict(answer: Any) -> tuple[str, str, str]:
    """Outcome, evidence and bound of the one verdict."""
    (found,) = answer.document.reports[0].verdicts
    return found.outcome, found.evidence, found.bound


def test_what_is_inductive_is_proved(walk: Run) -> None:
    answer = walk("Alone")
    assert answer.code == 0
    assert "runs of every length, by 1-induction" in answer.out
    assert "evidence: proved" in answer.out
    assert verdict(walk("Alone", "--engine", "z3", "--json")) == (
        "holds",
        "proved",
        "runs of every length, by 1-induction",
    )


def test_depth_is_the_greatest_k(walk: Run) -> None:
    assert walk("Twice").code == 2
    assert verdict(walk("Twice", "--max-depth", 4, "--json")) == (
        "holds",
        "proved",
        "runs of every length, by 2-induction",
    )


def test_what_is_false_is_violated_by_a_run(walk: Run) -> None:
    answer = walk("Wrong", "--max-depth", 5, "--json")
    assert answer.code == 1
    (found,) = answer.document.reports[0].verdicts
    assert [step.step for step in found.trace.steps] == ["turn()", "leave()", "climb()", "fall()"]
    assert found.trace.start == {}
    assert walk("Wrong", "--max-depth", 3).code == 2


def test_what_is_true_but_not_inductive_is_unknown_with_its_states(walk: Run) -> None:
    answer = walk("Chain", "--max-depth", 2)
    assert answer.code == 2
    assert "not proved: counterexample to 2-induction" in " ".join(answer.out.split())
    assert "   0  a state of the domains, which need not be reachable\n        place = 7\n" in answer.out
    assert "        place: 7 -> 8\n" in answer.out
    assert "        place: 8 -> 9\n" in answer.out
    assert "again:  antiphon check cli_walk:Chain --engine z3 --max-depth 2 --prove" in answer.out
    (found,) = walk("Chain", "--max-depth", 2, "--json").document.reports[0].verdicts
    assert (found.outcome, found.evidence, found.bound) == (
        "unknown",
        "bounded",
        "no counterexample of at most 2 steps",
    )
    assert found.trace.start == {"place": "7"}
    assert [step.changes for step in found.trace.steps] == [["place: 7 -> 8"], ["place: 8 -> 9"]]


def test_a_counterexample_to_induction_is_not_saved_as_a_run(walk: Run, tmp_path: Path) -> None:
    assert walk("Chain", "--save", tmp_path / "chain.itf.json", "--json").document.saved is None


def test_a_protocol_s_invariant_is_proved(antiphon: Run) -> None:
    """Figure 5 of the RBP report, line 15: who passes the token on has delivered what it lists."""
    answer = antiphon(
        "check", "figure-5", "--repair", "all", "--property", "ListedWherePassed", "--prove", "--json"
    )
    assert verdict(answer) == (
        "holds",
        "proved",
        "losses=1, messages=2, processes=3; runs of every length, by 1-induction",
    )


def test_dijkstra_s_invariant_proves_that_termination_is_detected(antiphon: Run) -> None:
    answer = antiphon(
        "check", "ewd840", "--set", "nodes=4", "--property", "TerminationDetection", "--prove", "--json"
    )
    assert verdict(answer) == ("holds", "proved", "nodes=4; runs of every length, by 1-induction with Inv")


def test_time_that_is_over_is_unknown(antiphon: Run) -> None:
    answer = antiphon("check", "rbp", "--repair", "all", "--prove", "--max-depth", 9, "--max-seconds", 0.5)
    assert answer.code == 2
    assert "the search is not complete: the bound of 0.5 seconds" in answer.out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--engine", "native"), "--prove is done by z3, not by native"),
        (("--max-depth", 0), "say the greatest k, at least 1"),
        (("--property", "deadlock"), "known: Good"),
        (("--symmetry",), "are for explicit engines"),
    ],
)
def test_what_a_proof_cannot_take_is_wrong_usage(walk: Run, options: tuple[object, ...], says: str) -> None:
    answer = walk("Alone", *options)
    assert answer.code == 64
    assert says in answer.err


def test_ctrl_c_ends_a_proof_with_130(tmp_path: Path) -> None:
    told_when_loaded = (
        "import sys; from antiphon.conformance.cli import main; print('loaded', flush=True); sys.exit(main())"
    )
    command = [
        sys.executable,
        "-c",
        told_when_loaded,
        "check",
        "horus",
        "--repair",
        "all",
        "--prove",
        "--max-depth",
        "9",
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline() == b"loaded\n"
    time.sleep(2.0)
    running.send_signal(signal.SIGINT)
    told, complaint = running.communicate(timeout=60)
    assert running.returncode == 130
    assert complaint.endswith(b"antiphon: interrupted\n")
    assert b"interrupted" in told or not told
