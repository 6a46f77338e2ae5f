"""No verdict of any kind of property rests on a spent budget alone: a run that is fair only because of one, a
deadlock, a state that was not reached.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest

import antiphon
from antiphon.conformance.compare.replay import on_specification
from antiphon.model.explore import liveness
from antiphon.model.explore.liveness import walk
from antiphon.model.ground import budgets
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    action,
    always_eventually,
    budget,
    environment,
    eventually,
    eventually_always,
    everywhere,
    fair,
    leads_to,
    obligation,
    program,
    require,
    witness,
)

Count = Annotated[int, Between(0, 6)]
EXPLICIT = ["auto", "generated", "reference", "native"]


class Climb(Spec):
    """A counter goes up to six, fairly; a budget may end it before."""

    budget_at: Const[int] = 4
    at: Count = 0

    @action(fairness="weak")
    def up(self) -> None:
        """Climb one step."""
        require(self.at < 6 and budget(self.at < self.budget_at))
        self.at += 1

    def is_low(self) -> bool:
        """Height at the beginning."""
        return self.at == 0

    def at_top(self) -> bool:
        """Height six."""
        return self.at == 6

    top = eventually("at_top")
    again = always_eventually("at_top")
    stays = eventually_always("at_top")
    rises = leads_to("is_low", "at_top")

    @obligation
    def gets_up(self) -> bool:
        """The same as an obligation."""
        return self.at == 6

    @witness
    def Up(self) -> bool:
        """The same as a witness."""
        return self.at == 6


ALL = ["top", "again", "stays", "rises", "gets_up", "Up", "deadlock"]


def outcomes(spec: type[Spec], names: list[str], engine: str, **constants: Any) -> dict[str, str]:
    report = antiphon.check(program(spec, **constants), properties=names, engine=engine)  # type: ignore[arg-type]
    return {name: report[name].outcome.value for name in names}


@pytest.mark.parametrize("engine", EXPLICIT)
def test_what_only_a_spent_budget_breaks_is_unknown_in_every_kind(engine: str) -> None:
    assert outcomes(Climb, ALL, engine) == dict.fromkeys(ALL, "unknown")
    enough = outcomes(Climb, ALL, engine, budget_at=6)
    assert enough == dict.fromkeys(ALL, "holds") | {"deadlock": "violated"}


def test_the_reason_names_the_step_and_the_guard() -> None:
    report = antiphon.check(Climb, properties=["top", "deadlock", "Up"])
    for name in ("top", "deadlock", "Up"):
        assert "up()" in report[name].reason
        assert "budget(self.at < self.budget_at)" in report[name].reason


def test_z3_says_so_of_a_deadlock_too() -> None:
    for constants, said in (({}, "unknown"), ({"budget_at": 6}, "violated")):
        report = antiphon.check(
            program(Climb, **constants), properties=["deadlock"], engine="z3", max_depth=7
        )
        assert report["deadlock"].outcome == said


def test_a_state_that_a_budget_keeps_out_of_reach_is_not_found_and_unknown() -> None:
    assert antiphon.find(Climb, "self.at == 5").outcome is Outcome.UNKNOWN
    assert antiphon.find(program(Climb, budget_at=6), "self.at == 5").outcome is Outcome.HOLDS
    assert antiphon.find(program(Climb, budget_at=6), "self.at > 6").outcome is Outcome.VIOLATED


class Optional(Climb):
    """The counter need not go up: no budget would make it."""

    @action
    def up(self) -> None:
        """Climb one step."""
        require(self.at < 6 and budget(self.at < self.budget_at))
        self.at += 1


class Member(Index, size=2):
    """One of two."""


class Turns(Spec):
    """Each of two has a fair turn, again and again: the second for ever, the first as the budget lasts."""

    turns: Const[int] = 1
    taken: Count = 0
    on: bool = False
    had: Map[Member, bool] = everywhere(False)

    @action(fairness="weak")
    def spin(self) -> None:
        """Switch on and off for ever."""
        self.on = not self.on

    @action
    def turn(self, p: Member) -> None:
        """Take a member's turn."""
        require(not self.had[p] and self.on and budget(self.taken < self.turns))
        self.taken += 1
        self.had[p] = True

    def is_on(self) -> bool:
        """While it is on."""
        return self.on

    def all_had(self) -> bool:
        """Both members had their turn."""
        return all(self.had[p] for p in self.each(Member))

    progress = fair("turn", fairness="strong", per="p", where="is_on")
    served = eventually("all_had")


class Loses(Climb):
    """A fault has a budget of its own, which excuses nothing."""

    lost: Count = 0
    dead: bool = False

    @action(fairness="weak")
    def up(self) -> None:
        """One more, while it lives."""
        require(self.at < 6 and not self.dead)
        self.at += 1

    @environment
    def die(self) -> None:
        """Die: the budget allows one death."""
        require(not self.dead and budget(self.lost < 1))
        self.lost += 1
        self.dead = True


@pytest.mark.parametrize("engine", EXPLICIT)
def test_what_no_budget_would_mend_is_violated(engine: str, tmp_path: Path) -> None:
    assert outcomes(Optional, ["top"], engine) == {"top": "violated"}
    assert outcomes(Loses, ["top"], engine) == {"top": "violated"}
    found = antiphon.check(Loses, properties=["top"], engine=engine)["top"].trace  # type: ignore[arg-type]
    assert found is not None
    assert liveness.shows_lasso(found)


@pytest.mark.parametrize("engine", ["generated", "reference"])
def test_promises_to_each_where_something_is_true_are_looked_at_one_by_one(engine: str) -> None:
    assert outcomes(Turns, ["served"], engine) == {"served": "unknown"}
    assert outcomes(Turns, ["served"], engine, turns=2) == {"served": "holds"}


def test_with_too_many_steps_to_look_at_every_run_is_excused(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (budgets, walk):
        monkeypatch.setattr(module, "MOST_STEPS", 0)
    assert antiphon.check(Climb, properties=["top"])["top"].outcome is Outcome.UNKNOWN


def test_a_saved_run_that_ends_for_lack_of_budget_shows_nothing() -> None:
    for budget_at, outcome in ((6, Outcome.VIOLATED), (4, Outcome.UNKNOWN)):
        bound = program(Climb, budget_at=budget_at)
        state, taken = bound.reference.initial()[0], []
        for _ in range(budget_at):
            (move,) = bound.reference.successors(state)
            taken.append(move)
            state = move.state
        trace = Trace(bound, bound.reference.initial()[0], tuple(taken), "deadlock")
        assert on_specification(trace).outcome is outcome
