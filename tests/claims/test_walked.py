"""Random walks find violations of mutants beyond the reach of a search, and a further search those of
liveness; neither ever reports that a property holds.
"""

from __future__ import annotations

from typing import Annotated

import pytest

from antiphon.conformance.ledger.strength.walked import SEED, WalkedTrial, Walks
from antiphon.model.bounds import Bounds
from antiphon.model.mutation import Answer, Fate, Trial, mutants_of
from antiphon.model.simulate import simulate
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    leads_to,
    obligation,
    program,
    require,
)

FEW = Bounds(states=20)
WALKS = Walks(walks=20, steps=100, live=Bounds(states=2_000))


class Climber(Index, size="climbers"):
    """A climber on a stair."""


class Stairs(Spec):
    """Climbers take one step after the other: the end is far away from the beginning."""

    climbers: Const[int] = 3
    top: Const[int] = 6

    height: Map[Climber, Annotated[int, Between(0, "top")]] = everywhere(0)
    rested: Map[Climber, bool] = everywhere(False)

    @action(fairness="weak", per="c")
    def climb(self, c: Climber) -> None:
        """One step up."""
        require(self.height[c] + 1 <= self.top)
        self.height[c] += 1

    @action
    def rest(self, c: Climber) -> None:
        """Rest once."""
        require(not self.rested[c])
        self.rested[c] = True

    @obligation
    def everybody_is_up(self) -> bool:
        """All are at the top in the end."""
        return all(self.height[c] == self.top for c in self.each(Climber))

    def anywhere(self) -> bool:
        """True in every state."""
        return True

    comes_up = leads_to("anywhere", "everybody_is_up")


class Ladder(Spec):
    """A climber that turns round on the way, but not at the top."""

    top: Const[int] = 30

    height: Annotated[int, Between(0, "top")] = 0
    turned: bool = False

    @action
    def climb(self) -> None:
        """One step up."""
        require(not self.turned)
        require(self.height < self.top)
        self.height += 1

    @action
    def turn(self) -> None:
        """Turn round, or back."""
        require(self.height + 1 <= self.top)
        self.turned = not self.turned

    @invariant
    def NotTurnedAtTheTop(self) -> bool:
        """Climbers at the top look up."""
        return not (self.turned and self.height == self.top)


class Apart(Spec):
    """Specification whose invariant calls a helper of the protocol's text."""

    height: Annotated[int, Between(0, 9)] = 0

    def is_low(self) -> bool:
        """Height below the top."""
        return self.height < 9

    @action
    def climb(self) -> None:
        """One step up."""
        require(self.is_low())
        self.height += 1

    @invariant
    def Low(self) -> bool:
        """Height is low, or that of the top."""
        return self.is_low() or self.height == 9


class Leaning(Ladder):
    """A climber that leans out on the way, low and not too often."""

    leaned: Annotated[int, Between(0, 20)] = 0
    highest: Annotated[int, Between(0, "top")] = 0

    @action
    def lean(self) -> None:
        """Out of the ladder."""
        require(self.height + self.leaned < 9)
        self.leaned += 1
        self.highest = self.height

    @invariant
    def LeansLow(self) -> bool:
        """Below the ninth rung."""
        return self.highest < 9


STAIRS = program(Stairs)
APART = program(Apart)
STAYS_BELOW = (
    "Stairs.climb: comparison shifted: "
    "`self.height[c] + 1 <= self.top` becomes `self.height[c] + 1 < self.top`"
)
NEVER_RESTS = "Stairs.rest: never happens: `rest`"


def asked(property: str, name: str, *, walked: bool, briefly: bool = False) -> Answer:
    """Effect of the named mutant on the property."""
    mutant = next(item for item in mutants_of(STAIRS, lambda part: part is Stairs) if item.name == name)
    trial = (
        WalkedTrial(STAIRS, [property], FEW, FEW, WALKS) if walked else Trial(STAIRS, [property], FEW, FEW)
    )
    return trial.ask(mutant, [property], briefly=briefly)


@pytest.mark.parametrize("briefly", [True, False])
def test_an_obligation_that_is_broken_at_the_end_of_runs_is_found_broken_on_walks(*, briefly: bool) -> None:
    before = asked("everybody_is_up", STAYS_BELOW, walked=False, briefly=briefly)
    assert (before.fate, before.open) == (Fate.UNDECIDED, ("everybody_is_up",))
    after = asked("everybody_is_up", STAYS_BELOW, walked=True, briefly=briefly)
    assert (after.fate, after.broken, after.open) == (Fate.KILLED, ("everybody_is_up",), ())


def test_liveness_is_asked_in_more_states_where_the_question_is_not_brief() -> None:
    brief = asked("comes_up", STAYS_BELOW, walked=True, briefly=True)
    assert (brief.fate, brief.open) == (Fate.UNDECIDED, ("comes_up",))
    answer = asked("comes_up", STAYS_BELOW, walked=True)
    assert (answer.fate, answer.broken, answer.open) == (Fate.KILLED, ("comes_up",), ())


@pytest.mark.parametrize("property", ["everybody_is_up", "comes_up"])
def test_walks_that_find_nothing_say_nothing(property: str) -> None:
    answer = asked(property, NEVER_RESTS, walked=True)
    assert answer == asked(property, NEVER_RESTS, walked=False)
    assert (answer.fate, answer.open) == (Fate.UNDECIDED, (property,))


@pytest.mark.parametrize("property", ["everybody_is_up", "comes_up"])
def test_a_mutant_that_is_no_specification_further_on_is_left_open(property: str) -> None:
    """A climb beyond the top leaves the domain, after more states than the search sees."""
    beyond = "Stairs.climb: guard dropped: `self.height[c] + 1 <= self.top`"
    answer = asked(property, beyond, walked=True)
    assert (answer.broken, answer.open) == ((), (property,))


@pytest.mark.parametrize("briefly", [True, False])
def test_what_a_search_does_not_reach_is_broken_on_walks(*, briefly: bool) -> None:
    ladder = program(Ladder)
    name = "Ladder.turn: guard dropped: `self.height + 1 <= self.top`"
    mutant = next(item for item in mutants_of(ladder, lambda part: part is Ladder) if item.name == name)
    searched = Trial(ladder, ["NotTurnedAtTheTop"], FEW, FEW).ask(mutant, briefly=briefly)
    assert (searched.broken, searched.open) == ((), ("NotTurnedAtTheTop",))
    walked = WalkedTrial(ladder, ["NotTurnedAtTheTop"], FEW, FEW, WALKS).ask(mutant, briefly=briefly)
    assert (walked.fate, walked.broken, walked.open) == (Fate.KILLED, ("NotTurnedAtTheTop",), ())


@pytest.mark.parametrize("briefly", [True, False])
def test_what_a_walk_breaks_before_it_runs_into_an_error_is_broken(*, briefly: bool) -> None:
    """A climber that leans out without end leaves the domain, sooner or later in every walk."""
    leaning = program(Leaning)
    name = "Leaning.lean: guard dropped: `self.height + self.leaned < 9`"
    mutant = next(item for item in mutants_of(leaning, lambda part: part is Leaning) if item.name == name)
    report = simulate(mutant.of(leaning), seed=SEED, walks=WALKS.walks, steps=WALKS.steps)
    (err,) = [verdict for verdict in report.verdicts if "leaves its domain" in verdict.reason]
    assert (err.kind, err.outcome) == ("specification", Outcome.UNKNOWN)
    answer = WalkedTrial(leaning, ["LeansLow"], FEW, FEW, WALKS).ask(mutant, briefly=briefly)
    assert (answer.fate, answer.broken, answer.open) == (Fate.KILLED, ("LeansLow",), ())


@pytest.mark.parametrize("walked", [True, False])
def test_an_error_that_a_search_meets_after_what_it_breaks_is_no_property(*, walked: bool) -> None:
    leaning, many = program(Leaning), Bounds(states=100_000)
    name = "Leaning.lean: guard dropped: `self.height + self.leaned < 9`"
    mutant = next(item for item in mutants_of(leaning, lambda part: part is Leaning) if item.name == name)
    asked = ["LeansLow", "NotTurnedAtTheTop"]
    trial = WalkedTrial(leaning, asked, FEW, many, WALKS) if walked else Trial(leaning, asked, FEW, many)
    answer = trial.ask(mutant, asked)
    assert (answer.fate, answer.broken, answer.open) == (Fate.KILLED, ("LeansLow",), ("NotTurnedAtTheTop",))


def test_a_property_whose_own_text_is_changed_is_not_asked_on_walks() -> None:
    """The mutant changes what the invariant says, and the invariant would be broken."""
    asked_apart = [
        WalkedTrial(APART, ["Low"], FEW, FEW, WALKS).ask(mutant, briefly=True)
        for mutant in mutants_of(APART, lambda part: part is Apart)
        if mutant.method == "is_low"
    ]
    assert asked_apart
    assert {(answer.broken, answer.open, answer.apart) for answer in asked_apart} == {((), (), ("Low",))}


class Placed(Spec):
    """A climber that begins at a height chosen by a test."""

    height: Annotated[int, Between(0, 3)] = 0

    @initial
    def place(self) -> None:
        """On the third rung."""
        self.height = 3 if self.is_long() else self.height - 1

    def is_long(self) -> bool:
        """The ladder has three rungs."""
        return self.height + 3 <= 3

    @action
    def climb_down(self) -> None:
        """One step."""
        require(self.height > 0)
        self.height -= 1

    @invariant
    def Near(self) -> bool:
        """Climbers stay close to the ground."""
        return self.height * self.height < 10


def test_a_mutant_that_has_no_beginning_breaks_nothing() -> None:
    """Walks then tell of the specification alone."""
    bound = program(Placed)
    wrong = next(
        item
        for item in mutants_of(bound, lambda _: True)
        if item.change.operator == "guard negated" and item.method == "is_long"
    )
    trial = WalkedTrial(bound, ["Near"], FEW, FEW, WALKS)
    assert trial.ask(wrong, ["Near"], briefly=True).broken == ()
    assert trial.ask(wrong).fate is Fate.INVALID
