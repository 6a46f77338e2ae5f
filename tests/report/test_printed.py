"""Every report prints with the run that shows it, so that a failed `assert x, str(report)` does."""

from typing import Any

import pytest

import antiphon
from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.replay import on_implementation
from antiphon.conformance.run.swarm import Settings, run_swarm
from antiphon.model.explore import check
from antiphon.model.symbolic import check_bounded

RUN = ("NotSolved: 6 steps", "   1  fill_big_jug()", "        big: 0 -> 5", "   6  big_to_small()")


def explored() -> Any:
    return check(antiphon.program("die-hard"))


def bounded() -> Any:
    return check_bounded(antiphon.program("die-hard"), depth=6)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: antiphon.check("die-hard"),
        lambda: antiphon.check("die-hard")["NotSolved"],
        explored,
        bounded,
        lambda: antiphon.simulate("die-hard", seed=1, walks=500, steps=20),
    ],
)
def test_a_report_prints_with_its_counterexample(ask: Any) -> None:
    printed = str(ask())
    assert "violated" in printed
    assert "NotSolved" in printed
    assert "   1  fill_big_jug()" in printed or "   1  fill_small_jug()" in printed
    assert "big: " in printed


def test_the_shortest_counterexample_is_printed_whole() -> None:
    printed = str(antiphon.check("die-hard"))
    assert all(line in printed for line in RUN)
    assert printed.count("   1  fill_big_jug()") == 1


def test_what_holds_prints_no_run() -> None:
    assert "   1  " not in str(antiphon.check("two-phase"))


def test_an_answer_prints_with_the_way_to_it() -> None:
    printed = str(antiphon.find("die-hard", "self.big == 2"))
    assert printed.startswith("die-hard: holds: self.big == 2: after 2 steps")
    assert "   2  big_to_small()" in printed


@pytest.fixture(scope="module")
def difference() -> Any:
    """A walk that finds a mistake in the implementation."""
    return antiphon.lockstep(binding_of("rbp", fault="keeps-token", messages=1), max_transitions=2000)


def test_a_walk_beside_an_implementation_prints_what_differs(difference: Any) -> None:
    printed = str(difference)
    assert printed.startswith("LockstepReport on RbpBounded: violated")
    assert "   1  " in printed
    assert "  specification:  " in printed


def test_a_replay_prints_what_differs(difference: Any) -> None:
    again = on_implementation(difference.difference.trace)
    assert str(again).startswith(f"{again.outcome.value}: ")


def test_a_random_run_prints_what_differs() -> None:
    bound = binding_of("rbp", fault="keeps-token", messages=1)
    printed = str(antiphon.stateful(bound, runs=50, seed=1))
    assert "  implementation: " in printed


def test_a_swarm_prints_the_first_run_that_fails() -> None:
    report = run_swarm("rbp", runs=2, seed=1, settings=Settings(planted="accepts-old-tokens"))
    assert report.failed
    assert str(report).startswith("SwarmReport on rbp: violated, 2 runs from seed 1")
    assert report.failed[0].reasons[0] in str(report)
    assert "broadcasts" in str(report)
