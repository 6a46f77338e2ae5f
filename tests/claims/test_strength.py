"""The ledger's checks are asked of mutants: what cannot fail is not said to hold."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import pytest

from antiphon.conformance.ledger import program_of
from antiphon.conformance.ledger.strength import (
    Answers,
    FamilyStrength,
    asking,
    checks_that_hold,
    is_text,
    strength,
)
from antiphon.model.bounds import Bounds
from antiphon.model.cache import Cache
from antiphon.model.mutation import Trial, is_always_true, trial
from antiphon.model.properties import kinds_of
from antiphon.model.verdict import PropertyKind
from antiphon.spec.catalogue import refinement_of
from antiphon.spec.claims import Check, Claim, claim_of, claims_of, families
from antiphon.spec.environment import Losses
from antiphon.spec.lang import (
    Between,
    Program,
    Spec,
    action,
    emit,
    expect,
    invariant,
    on,
    program,
    record,
    require,
)
from antiphon.spec.protocols.moving_sequencer.bounds import MovingSequencerBounded, Urgent
from antiphon.spec.protocols.moving_sequencer.figure12 import MovingSequencer
from antiphon.spec.protocols.moving_sequencer.properties import MovingSequencerChecked
from antiphon.spec.services import TotalOrder
from antiphon.spec.services.ordering import OrderingChecked


class Lamps(Spec):
    """Lamps that are lit one after the other."""

    first: bool = False
    second: bool = False
    lit: Annotated[int, Between(0, 2)] = 0

    @action
    def light_first(self) -> None:
        """Light the first lamp."""
        require(not self.first)
        self.first = True
        self.lit += 1

    @action
    def light_second(self) -> None:
        """Light the second lamp after the first."""
        require(self.first and not self.second)
        self.second = True
        self.lit += 1

    @invariant
    def InTurn(self) -> bool:
        """The second follows the first."""
        return self.first or not self.second

    @invariant
    def Square(self) -> bool:
        """True of every number, though intervals alone do not show it."""
        return self.lit * self.lit >= self.lit

    @invariant
    def Constant(self) -> bool:
        """True at first sight."""
        return self.first or True


class Switched(Lamps):
    """The same, with a switch beside them."""

    switch: bool = False

    @action
    def press(self) -> None:
        """Press a switch on which nothing depends."""
        require(not self.switch and not self.first)
        self.switch = True


class Lit(Spec):
    """A lamp that is lit once."""

    first: bool = False

    @action
    def light(self) -> None:
        """Light the lamp while it is dark."""
        require(not self.first)
        self.first = True

    @invariant
    def FirstOrNot(self) -> bool:
        """True at all times, as far as intervals do not see."""
        return not (self.first and not self.first)


@record
class Rung:
    """Event of the bell."""

    times: Annotated[int, Between(1, 1)]


class Bell(Spec):
    """A bell that rings once, in a room where dust falls."""

    rung: bool = False
    dust: bool = False

    @action
    def ring(self) -> None:
        """Ring once."""
        require(not self.rung)
        self.rung = True
        emit(Rung(1))

    @action
    def gather(self) -> None:
        """Gather dust, which no property reads."""
        require(not self.dust)
        self.dust = True

    @invariant
    def RungOrNot(self) -> bool:
        """True at all times, as far as intervals do not see."""
        return not (self.rung and not self.rung)


class Heard(Bell):
    """A bell whose rings are counted."""

    heard: Annotated[int, Between(0, 1)] = 0

    @on(Rung)
    def hear(self, event: Rung) -> None:
        """Count the ring."""
        self.heard = event.times


class Watched(Lamps):
    """The same, where whoever lights the second counts them."""

    @action
    def light_second(self) -> None:
        """Light the second lamp, and expect both to be lit."""
        super().light_second()
        expect(self.lit > 1, "BothAreLit")


def claim(*checks: Check) -> Claim:
    """A record with these checks."""
    return replace(claim_of("MSQ-01"), checks=checks)


def lamps(*properties: str) -> Claim:
    return claim(*(Check(Lamps, name, "holds") for name in properties))


@pytest.fixture(scope="module")
def found() -> FamilyStrength:
    return strength([lamps("InTurn", "Square", "Constant")])


def test_a_check_that_no_mutant_breaks_is_unknown_and_not_said_to_hold(found: FamilyStrength) -> None:
    strong, weak, _ = found.checks
    assert (strong.verdict, strong.can_fail, strong.break_) == ("holds", True, 2)
    assert (weak.verdict, weak.can_fail, weak.break_) == ("unknown: cannot fail", False, 0)
    assert weak.touch == strong.touch == found.tally.seen


def test_a_check_that_the_constants_make_true_is_refused_with_the_reason(found: FamilyStrength) -> None:
    trivial = found.checks[2]
    assert trivial.verdict == "refused: it is true of every state that the types allow with these constants"
    assert not trivial.can_fail


def test_one_message_has_no_order_that_could_be_wrong() -> None:
    """With two messages the same check is asked."""
    told = []
    for messages in (1, 2):
        bound = program(MovingSequencerChecked, repairs="all", processes=2, messages=messages, losses=0)
        told.append(Trial(bound, ["UniformPrefixOrder"], Bounds(states=2_000)).trivial("UniformPrefixOrder"))
    assert told == ["no step could break it with these constants, in whatever state", ""]


def test_a_mutant_that_can_be_seen_and_breaks_nothing_is_told(found: FamilyStrength) -> None:
    told = [item.mutant for item in found.tally.survivors]
    assert (found.tally.seen, found.tally.killed) == (8, 2)
    assert len(told) == 6
    assert any("never happens: `light_second`" in mutant for mutant in told)


@pytest.mark.deep
def test_a_sample_never_makes_a_check_weak(found: FamilyStrength) -> None:
    """The sample only sets the order: mutants are asked until one breaks the check."""
    for seed in range(4):
        strong, weak, _ = strength([lamps("InTurn", "Square", "Constant")], sample=1, seed=seed).checks
        assert strong.can_fail
        assert (weak.can_fail, weak.touch) == (False, found.tally.seen)


def test_a_check_whose_mutants_are_not_explored_to_the_end_is_undecided() -> None:
    """The known fact is that no mutant broke it so far."""
    few = Bounds(states=2)
    (found,) = strength([lamps("Square")], bounds=few, further=few).checks
    assert (found.verdict, found.can_fail) == ("unknown: undecided", False)
    assert found.open > 0


@pytest.mark.deep
def test_what_broke_a_property_before_is_asked_first_in_the_next_program() -> None:
    """One mutant is enough then, beyond the sample and a mutant that the first program did not notice."""
    both = claim(Check(Lamps, "InTurn", "holds"), Check(Switched, "InTurn", "holds"))
    told: list[str] = []
    for seed in range(6):
        found = strength([both], sample=1, seed=seed, progress=lambda _, __, what: told.append(what))
        assert all(item.can_fail for item in found.checks)
    asked = [what for what in told if what.startswith("Switched ")]
    assert len(asked) <= 3 * 6


@pytest.mark.deep
def test_what_a_brief_question_leaves_open_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within two states nothing breaks the check; the mutants that this left open break it."""
    monkeypatch.setattr(trial, "BRIEF_STATES", 2)
    both = claim(Check(Lamps, "InTurn", "holds"), Check(Lamps, "Square", "holds"))
    for seed in range(4):
        strong, weak = strength([both], sample=1, seed=seed).checks
        assert (strong.can_fail, weak.verdict, weak.open) == (True, "unknown: cannot fail", 0)


@pytest.mark.deep
def test_a_mutant_in_the_method_that_judges_a_property_is_asked_first() -> None:
    """Beyond the sample, the first mutant of each seed is checked."""
    told: list[tuple[int, str]] = []
    for seed in range(16):
        strength(
            [claim(Check(Watched, "BothAreLit", "holds"))],
            sample=1,
            seed=seed,
            progress=lambda done, _, what: told.append((done, what)),
        )
    beyond = [after[1] for before, after in pairwise(told) if (before[0], after[0]) == (0, 1)]
    assert len(beyond) > 4
    assert all("light_second" in what for what in beyond)


@pytest.mark.deep
def test_a_mutant_that_one_program_does_not_notice_is_asked_in_the_others() -> None:
    """A sample never tells as unnoticed what another program of the family would notice."""
    both = claim(Check(Lamps, "Square", "holds"), Check(Switched, "InTurn", "holds"))
    unnoticed = {item.mutant for item in strength([both]).tally.survivors}
    for seed in range(10):
        sampled = strength([both], sample=4, seed=seed).tally
        assert {item.mutant for item in sampled.survivors} <= unnoticed


@pytest.mark.deep
def test_a_mutant_that_only_a_deep_check_breaks_is_noticed(found: FamilyStrength) -> None:
    """The deep check is in no row, and is left out."""
    quick, deep = Check(Lamps, "Square", "holds"), Check(Lamps, "InTurn", "holds", deep=True)
    unnoticed, noticed = strength([claim(quick)]), strength([claim(quick, deep)])
    assert (unnoticed.tally.killed, noticed.tally.killed) == (0, found.tally.killed)
    assert [item.property for item in noticed.checks] == [quick.property]
    assert noticed.left_out == 1


@pytest.mark.deep
def test_what_a_program_killed_is_not_asked_of_the_next() -> None:
    """The mutant that breaks the check there is asked again, and so is each that went unnoticed."""
    both = claim(Check(Lamps, "InTurn", "holds"), Check(Switched, "InTurn", "holds"))
    told: list[str] = []
    strength([both], progress=lambda _, __, what: told.append(what))
    first = {what.partition(" ")[2] for what in told if what.startswith("Lamps ")}
    then = {what.partition(" ")[2] for what in told if what.startswith("Switched ")}
    assert len(first - then) == strength([lamps("InTurn")]).tally.killed - 1 > 0


def test_what_broke_a_check_as_it_is_written_is_asked_first(found: FamilyStrength) -> None:
    """One mutant then breaks what without it may take all."""
    own = [lamps("InTurn")]
    for seed in range(6):
        told: list[str] = []
        some = strength(
            own, sample=0, seed=seed, earlier=found, progress=lambda _, __, what, to=told: to.append(what)
        )
        assert [item.can_fail for item in some.checks] == [True]
        assert len(told) == 1


def test_a_check_that_was_not_asked_in_time_is_undecided() -> None:
    """Lack of time never proves that a check cannot fail."""
    strong, weak = strength([lamps("InTurn", "Square")], sample=0, seconds=0.0).checks
    assert (strong.verdict, weak.verdict) == ("unknown: undecided", "unknown: undecided")
    assert strong.touch == weak.touch == 0


def test_what_a_deep_check_says_is_asked_briefly_where_deep_checks_are_asked() -> None:
    deep = claim(Check(Lamps, "InTurn", "holds", deep=True))
    assert strength([deep]).checks == ()
    (found,) = strength([deep], deep=True).checks
    assert found.can_fail
    assert found.by


def test_a_mutant_that_another_family_notices_is_noticed(
    found: FamilyStrength, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other family has the changed class as a part, here below another one."""
    other = replace(claim_of("RBC-01"), checks=(Check(Watched, "InTurn", "holds"),))
    alone = strength([claim(Check(Lamps, "Square", "holds"))]).tally
    monkeypatch.setattr(asking, "all_claims", lambda: (other,))
    beside = strength([claim(Check(Lamps, "Square", "holds"))]).tally
    assert (alone.killed, beside.killed) == (0, found.tally.killed)
    assert beside.tried == alone.tried


def test_a_mutant_that_adds_a_step_which_changes_nothing_is_the_same() -> None:
    """Lighting a lamp that is lit changes nothing."""
    tally = strength([claim(Check(Lit, "FirstOrNot", "holds"))]).tally
    again = "Lit.light, line"
    assert not any(item.mutant.startswith(again) and "dropped" in item.mutant for item in tally.survivors)
    assert tally.same == 1


def test_where_some_program_has_its_events_judged_that_one_says_what_can_be_seen() -> None:
    """By itself the bell shows everything: there is nobody to tell it from the dust."""
    dust = "never happens: `gather`"
    alone = strength([claim(Check(Bell, "RungOrNot", "holds"))]).tally
    heard = strength([claim(Check(Bell, "RungOrNot", "holds"), Check(Heard, "RungOrNot", "holds"))]).tally
    assert any(dust in item.mutant for item in alone.survivors)
    assert not any(dust in item.mutant for item in heard.survivors)
    assert any("never happens: `ring`" in item.mutant for item in heard.survivors)


def test_the_same_seed_gives_the_same_answer() -> None:
    checks = lamps("InTurn", "Square")
    assert strength([checks], sample=2, seed=3) == strength([checks], sample=2, seed=3)


def test_what_was_answered_is_read_and_what_was_interrupted_goes_on(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def interrupt(done: int, _: int, what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        strength([lamps("InTurn")], answers=Answers(cache), progress=interrupt)
    again = Answers(cache)
    first = strength([lamps("InTurn")], answers=again)
    assert (again.read, again.asked) == (2, first.tally.tried - 2)
    fresh = Answers(cache, fresh=True)
    assert strength([lamps("InTurn")], answers=fresh) == first
    assert fresh.read == 0


@pytest.mark.deep
def test_answers_do_not_depend_on_how_many_processes_ask(tmp_path: Path) -> None:
    """The answers are cached by the processes that found them and read by those that come later."""
    both = claim(Check(Lamps, "Square", "holds"), Check(Switched, "InTurn", "holds"))
    alone = strength([both], sample=2)
    kept = Answers(Cache(tmp_path))
    told: list[tuple[int, int]] = []
    shared = strength(
        [both], sample=2, jobs=2, answers=kept, progress=lambda done, total, _: told.append((done, total))
    )
    again = Answers(Cache(tmp_path))
    assert alone == shared == strength([both], sample=2, answers=again)
    assert (again.asked, again.read) == (0, kept.asked + kept.read)
    assert told[0] == (0, 4)
    assert told[-1][0] == 4


def test_what_surrounds_bounds_or_judges_a_protocol_is_not_its_text() -> None:
    assert is_text(MovingSequencer)
    assert not any(map(is_text, (Losses, TotalOrder, MovingSequencerBounded, MovingSequencerChecked, Urgent)))


@pytest.mark.deep
def test_a_service_that_is_checked_by_itself_is_its_own_text() -> None:
    check = Check(OrderingChecked, "UniformIntegrity", "holds", constants={"processes": 2, "messages": 1})
    (found,) = strength([claim(check)], sample=4, bounds=Bounds(states=500)).checks
    assert found.touch > 0


@pytest.mark.deep
def test_no_bound_of_dtp_that_is_recorded_to_hold_is_out_of_reach(subtests: pytest.Subtests) -> None:
    """Deep checks too: no invariant is true of every state for want of messages. Of DTP, whose claims state
    limits; of all families `antiphon claims --mutants` asks.
    """
    programs: dict[tuple[object, ...], Program] = {}
    asked = set()
    for recorded in (check for item in claims_of("dtp") for check in item.checks if isinstance(check, Check)):
        if recorded.outcome == "holds" and refinement_of(recorded.spec) is None:
            bound = program_of(recorded)
            bound = programs.setdefault((bound.text, tuple(sorted(bound.constants.items()))), bound)
            if kinds_of(bound).get(recorded.property) is PropertyKind.INVARIANT:
                asked.add((bound, recorded.property))
    for bound, invariant_name in asked:
        with subtests.test(f"{bound.name}.{invariant_name} {bound.constants}"):
            assert not is_always_true(bound, invariant_name)
    assert len(asked) > 20


def test_what_a_comparison_asks_again_is_asked_of_mutants_in_the_record_that_asked_it_first() -> None:
    """A comparison of documents repeats the checks of their records, and no mutant is asked twice."""
    again = [check for claim in claims_of("x") for check in claim.checks if isinstance(check, Check)]
    own = {id(check) for claim, check in checks_that_hold(claims_of("x"))}
    others = [family for family in families() if family != "x"]
    first = {id(check) for family in others for _, check in checks_that_hold(claims_of(family))}
    assert own
    assert first
    assert own.isdisjoint(first)
    assert {id(check) for check in again if check.outcome == "holds"} == own | (
        first & {id(check) for check in again}
    )
