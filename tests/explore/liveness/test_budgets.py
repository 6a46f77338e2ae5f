"""A budget bounds the exploration: what is missing only because one is spent is unknown, and not violated, by
every engine.
"""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from tests.lang.random_specs import program_of, random_states

from antiphon.model.engines import Engine, open_space
from antiphon.model.engines.native import NativeSpace
from antiphon.model.engines.native.driver import space as native_space
from antiphon.model.engines.python.source import compile_functions, predicate_source
from antiphon.model.explore import check
from antiphon.model.explore.search import Search
from antiphon.model.ground import budgets, flatten, layout
from antiphon.model.ground.budgets import budget_blocked_step, held_back, held_back_among, unspent
from antiphon.model.ground.form import Bits, Expression
from antiphon.model.ground.packing import Packing
from antiphon.model.symbolic import check_bounded
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Program,
    Set,
    Spec,
    SpecError,
    State,
    action,
    budget,
    environment,
    obligation,
    program,
    require,
)
from antiphon.spec.lang.dump import dump
from antiphon.spec.protocols.rbp.properties import RbpChecked


class Timer(Spec):
    """A packet is sent, may be lost twice, and is sent again while the budget lasts; unless the timer is
    `broken`.
    """

    timeouts: Const[int] = 1
    broken: Const[bool] = False

    sent: bool = False
    flying: bool = False
    arrived: bool = False
    lost: Annotated[int, Between(0, 2)] = 0
    expired: Annotated[int, Between(0, "timeouts")] = 0

    def may_expire(self) -> bool:
        """A budget in a helper."""
        return not self.broken and budget(self.expired < self.timeouts)

    @action
    def send(self) -> None:
        """Send once."""
        require(not self.sent)
        self.sent = True
        self.flying = True

    @action
    def send_again(self) -> None:
        """Send again when the timer expires."""
        require(self.sent and not self.arrived and not self.flying and self.may_expire())
        self.flying = True
        self.expired += 1

    @action
    def receive(self) -> None:
        """Receive the message."""
        require(self.flying)
        self.flying = False
        self.arrived = True

    @environment
    def lose(self) -> None:
        """Up to two are lost; this budget is the environment's, whose steps are no progress."""
        require(self.flying and budget(self.lost < 2))
        self.flying = False
        self.lost += 1

    @obligation
    def arrives(self) -> bool:
        """The message has arrived."""
        return self.arrived


class Item(Index, size=2):
    """An item in the box."""


class Box(Spec):
    """Items go out of a box, one for each unit of budget: a parameter that ranges over a set."""

    units: Const[int] = 1
    box: Set[Item] = Set()
    full: bool = False
    used: Annotated[int, Between(0, "units")] = 0

    @action
    def fill(self) -> None:
        """Put both items in."""
        require(not self.full)
        self.full = True
        self.box |= {item for item in self.each(Item) if item not in self.box}

    @action
    def take(self, item: Annotated[Item, In("box")]) -> None:
        """Take one item out."""
        require(budget(self.used < self.units))
        self.box -= {item}
        self.used += 1

    @obligation
    def emptied(self) -> bool:
        """The box was full, and is empty."""
        return self.full and len(self.box) == 0


def outcomes(spec: type[Spec], property: str, **constants: Any) -> set[tuple[Outcome, str]]:
    """Verdicts of all engines; reasons of violations and holds are dropped, as each engine words them in its
    own way.
    """
    bound = program(spec, **constants)
    reports = [check(bound), check(bound, engine="reference"), check_bounded(bound, depth=8)]
    verdicts = [report[property] for report in reports]
    return {
        (verdict.outcome, verdict.reason if verdict.outcome is Outcome.UNKNOWN else "")
        for verdict in verdicts
    }


def test_what_only_a_spent_budget_keeps_from_happening_is_unknown_for_every_engine() -> None:
    ((outcome, reason),) = outcomes(Timer, "arrives")
    assert outcome is Outcome.UNKNOWN
    assert reason.startswith(
        "not decided: after 4 steps it is false, and only a spent budget keeps send_again() from happening "
        "(self.sent and"
    )
    ((outcome, reason),) = outcomes(Box, "emptied")
    assert outcome is Outcome.UNKNOWN
    assert (
        reason
        == "not decided: after 0 steps it is false, and what could lead on is kept back by a spent budget "
        "only"
    )


def test_what_more_budget_could_not_mend_is_violated_and_enough_budget_holds() -> None:
    assert outcomes(Timer, "arrives", broken=True) == {(Outcome.VIOLATED, "")}
    assert outcomes(Timer, "arrives", timeouts=2) == {(Outcome.HOLDS, "")}
    assert outcomes(Box, "emptied", units=2) == {(Outcome.HOLDS, "")}


def test_a_place_further_on_where_a_budget_is_spent_excuses_as_well() -> None:
    class Waits(Timer):
        """A step that leads from the loss to where the timer would expire: the lost packet alone is no place
        of a spent budget.
        """

        noticed: bool = False

        @action
        def notice(self) -> None:
            """Notice the missing answer: the timer waits for that."""
            require(self.sent and not self.flying and not self.arrived and not self.noticed)
            self.noticed = True

        def may_expire(self) -> bool:
            """Guard the timer by `noticed` and by its budget."""
            return self.noticed and budget(self.expired < self.timeouts)

    ((outcome, reason),) = outcomes(Waits, "arrives", timeouts=0)
    assert outcome is Outcome.UNKNOWN
    assert "spent budget" in reason


def test_a_budget_means_its_condition_and_stands_in_the_intermediate_form() -> None:
    bound = program(Timer, timeouts=0)
    assert "(budget (compare < (read expired) (constant timeouts)))" in dump(bound.module)
    free = unspent(bound)
    assert free is not None
    assert "(budget" not in dump(free.module)
    assert unspent(program(RbpChecked, unlimited=True)) is not None
    assert held_back(program(RbpChecked, unlimited=True, processes=2, messages=1)) is None, (
        "an unlimited budget is never spent"
    )


def held_in(bound: Program, condition: Expression | None) -> Callable[[State], bool]:
    """The condition as the explicit checker compiles it."""
    if condition is None:
        return lambda state: False
    packing = Packing(layout(bound).slots)
    held: Any = compile_functions([("held", predicate_source("held", condition, (), packing))])["held"]
    return lambda state: bool(held(packing.pack(flatten(bound, state))))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(20))
def test_grounded_condition_and_reference_agree_where_a_budget_holds_a_step_back(seed: int) -> None:
    bound = program_of(seed)
    held = held_in(bound, held_back(bound))
    for state in random_states(bound, random.Random(seed), 15):
        try:
            list(bound.reference.successors(state))
        except SpecError:
            continue  # an error of the specification, which ends a search before anything is excused
        assert (budget_blocked_step(bound, state) is not None) is held(state)


class Half(Box):
    """A box that takes only the first item."""

    @action
    def fill(self) -> None:
        require(not self.full)
        self.full = True
        self.box |= {Item(0)}


@pytest.mark.parametrize("spec", [Box, Half])
@pytest.mark.parametrize("engine", [Engine.GENERATED, Engine.NATIVE, Engine.REFERENCE])
def test_only_steps_for_what_is_in_some_state_need_to_be_looked_at(spec: type[Box], engine: Engine) -> None:
    bound = program(spec, units=0)
    space = open_space(bound, engine)
    Search(space).run()
    states = [space.value(number) for number in range(len(space))]
    held = held_in(bound, held_back(bound))
    assert list(space.budget_limited() or ()) == [held(state) for state in states] == [False, True]
    assert held_back_among(bound, states[0]) is None, "nothing is in the box at first"
    whole, here = held_back(bound), held_back_among(bound, states[1])
    assert (whole is here) is (spec is Box), "the second is never in the box of Half"


@pytest.mark.deep
def test_machine_code_and_reference_agree_where_a_budget_holds_a_step_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(native_space, "STATES_AT_ONCE", 7)
    bound = program(RbpChecked, repairs="all", processes=2, messages=1)
    space = NativeSpace(bound, bound.reference.initial())
    Search(space).run()
    sets = [position for position, slot in enumerate(layout(bound).slots) if isinstance(slot.sort, Bits)]
    leaves = [flatten(bound, space.value(number)) for number in range(len(space))]
    assert [space.union()[place] for place in sets] == [
        functools.reduce(operator.or_, (row[place] for row in leaves)) for place in sets
    ]
    held = space.budget_limited()
    assert held is not None
    assert 0 < sum(held) < len(held) == len(space)
    for number in random.Random(1).sample(range(len(space)), 60):
        assert bool(held[number]) is (budget_blocked_step(bound, space.value(number)) is not None)


def test_with_too_many_steps_to_look_at_everything_is_excused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "MOST_STEPS", 0)
    budgets.held_back.cache_clear()
    bound = program(Timer, broken=True)
    assert check(bound)["arrives"].outcome is Outcome.UNKNOWN
    assert check_bounded(bound, depth=3)["arrives"].outcome is Outcome.UNKNOWN
    budgets.held_back.cache_clear()


def test_limited_timers_of_rbp_leave_its_obligations_open() -> None:
    report = check(program(RbpChecked, repairs="all", processes=2, messages=1))
    assert {report[name].outcome for name in ("Validity", "UniformAgreement", "Agreement", "Returns")} == {
        Outcome.UNKNOWN
    }
    assert report["Validity"].reason.endswith("keeps resend(Process(0)) from happening (self.may_expire())")


def test_budget_takes_one_condition() -> None:
    class Two(Timer):
        def may_expire(self) -> bool:
            return budget(self.expired < self.timeouts, True)  # type: ignore[call-arg]

    with pytest.raises(SpecError, match="budget takes one condition"):
        program(Two).module  # noqa: B018 - reading is what is tested
