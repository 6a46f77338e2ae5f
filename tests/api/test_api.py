"""The public names: documented, loaded when used, and each question answered as the engines answer it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest

import antiphon
from antiphon.model import explore
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Between, Spec, SpecError, action, invariant, require


@pytest.mark.parametrize("name", antiphon.__all__)
def test_every_public_name_says_what_it_is(name: str) -> None:
    assert (inspect.getdoc(getattr(antiphon, name)) or "").split("\n")[0].endswith((".", ":"))


def test_names_are_loaded_when_they_are_used_and_stay() -> None:
    told = (
        "import sys, antiphon\n"
        "before = 'antiphon.impl.group' in sys.modules\n"
        "antiphon.Group\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('antiphon.')}\n"
        "print(before, 'Group' in vars(antiphon), *sorted(rooms))"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "impl"]


def test_an_unknown_name_is_answered_with_the_public_ones() -> None:
    unknown = "chek"
    with pytest.raises(AttributeError, match=r"antiphon has no 'chek'; it has .*check, explore, find"):
        getattr(antiphon, unknown)
    assert set(antiphon.__all__) < set(dir(antiphon))


def test_a_subject_is_a_name_a_class_or_a_program() -> None:
    named, meant, bound = (
        antiphon.check(subject) for subject in ("two-phase", TwoPhase, antiphon.program("two-phase"))
    )
    outcomes = [
        [(item.property, item.outcome) for item in report.verdicts] for report in (named, meant, bound)
    ]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert named.exploration.states == explore.check(antiphon.program(TwoPhase)).exploration.states


def test_repairs_are_switched_on_by_name_and_left_out_again() -> None:
    everything = antiphon.program("rbp", repairs="all")
    names = [item.name for item in everything.declaration.constants if item.repair]
    but_one = antiphon.program("rbp", repairs="all", without=["await_body"], processes=2)
    assert [name for name in names if everything.constants[name]] == names
    assert [name for name in names if not but_one.constants[name]] == ["await_body"]
    assert antiphon.program("rbp", repairs=["await_body"]).constants["await_body"] is True
    with pytest.raises(
        SpecError, match=r"has no repair 'await_bodies' to leave out; .*did you mean 'await_body'"
    ):
        antiphon.program("rbp", repairs="all", without=["await_bodies"])


def test_the_shortest_counterexample_prints_draws_and_is_read_again(tmp_path: Path) -> None:
    report = antiphon.check("die-hard")
    run = report.counterexample
    assert run is not None
    assert len(run) == 6
    assert run.end["big"] == "4"
    assert repr(run) == "<Trace of die-hard: NotSolved, 6 steps>"
    assert str(run).splitlines()[0].startswith("die-hard")
    assert repr(report) == "<Report on die-hard: violated, 1 verdict; str() shows NotSolved: 6 steps>"
    assert "violated  NotSolved: false after 6 steps" in str(report)
    run.save(tmp_path / "jugs.itf.json")
    again = antiphon.load(tmp_path / "jugs.itf.json")
    assert (again.states, again.steps, again.shows) == (run.states, run.steps, run.shows)


def test_what_is_looked_for_is_found_or_is_nowhere_or_is_unknown() -> None:
    found = antiphon.find("die-hard", "self.big == 1")
    assert (found.outcome, found.state["big"]) == (antiphon.Outcome.HOLDS, "1")
    assert antiphon.find("die-hard", "self.big == 5 and self.small == 1").outcome is antiphon.Outcome.HOLDS
    assert antiphon.find("die-hard", "self.big == 1 and self.small == 2").outcome is antiphon.Outcome.VIOLATED
    assert antiphon.find("die-hard", "self.big == 1", max_depth=1).outcome is antiphon.Outcome.UNKNOWN


def test_z3_says_which_bounds_it_needs_and_which_it_does_not_know() -> None:
    assert len(antiphon.check("die-hard", engine="z3", max_depth=6).counterexample or ()) == 6
    with pytest.raises(ValueError, match="max_depth=10"):
        antiphon.check("die-hard", engine="z3")
    with pytest.raises(ValueError, match="max_states, symmetry: for explicit engines"):
        antiphon.check("die-hard", engine="z3", max_depth=3, max_states=5, symmetry=True)


class Switch(Spec):
    """On or off, and never anything else."""

    place: Annotated[int, Between(0, 9)] = 0

    @action
    def turn(self) -> None:
        """To the other side."""
        require(self.place < 2)
        self.place = 1 - self.place

    @invariant
    def OnOrOff(self) -> bool:
        """True on the first two places."""
        return self.place < 2


def test_what_holds_for_runs_of_every_length_is_proved() -> None:
    verdict = antiphon.check(Switch, prove=True)["OnOrOff"]
    assert (verdict.outcome, verdict.evidence.kind.value) == (antiphon.Outcome.HOLDS, "proved")
    with pytest.raises(ValueError, match="prove is done by z3, not by 'native'"):
        antiphon.check(Switch, prove=True, engine="native")


def test_an_argument_that_check_does_not_have_is_answered_with_those_it_has() -> None:
    wrong: dict[str, Any] = {"max_state": 5}
    with pytest.raises(
        TypeError, match=r"check has no argument 'max_state'; known: .*did you mean 'max_states'"
    ):
        antiphon.check("die-hard", **wrong)
    first = antiphon.check("two-phase", engine="native", threads=1, cone=True, stop_at_first=True)
    assert first.outcome is antiphon.check("two-phase").outcome


def test_walks_repeat_with_their_seed() -> None:
    first, again = (antiphon.simulate("die-hard", seed=3, walks=20, steps=12) for _ in range(2))
    assert first.verdicts == again.verdicts
    assert first.exploration.transitions == 240


def test_the_state_graph_has_all_states_and_steps() -> None:
    graph = antiphon.state_graph("die-hard")
    explored = antiphon.check("die-hard", properties=[]).exploration
    assert (len(graph), graph.number_of_edges()) == (explored.states, explored.transitions)
    with pytest.raises(SpecError, match="more than 3 states"):
        antiphon.state_graph("die-hard", max_states=3)


@pytest.mark.deep
def test_an_implementation_is_walked_and_run_at_random() -> None:
    small = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 0}
    assert antiphon.lockstep(antiphon.binding("rbp", **small)).outcome is antiphon.Outcome.HOLDS
    assert antiphon.binding("rbp").program.constants["urgent"] is True
    report = antiphon.stateful(
        antiphon.binding("rbp", fault="keeps-token", processes=2, messages=1), runs=100, seed=1
    )
    assert report.outcome is antiphon.Outcome.VIOLATED
    assert "difference" in vars(report)
