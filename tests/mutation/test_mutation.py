"""A mutant is the text of a specification with one place changed; CPython and the front end read the same,
and what it breaks is what the checker says of it.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Annotated, Self

import pytest

from antiphon.model.bounds import Bounds, StopReason
from antiphon.model.explore import check
from antiphon.model.mutation import (
    OPERATORS,
    Answer,
    Fate,
    LeftOut,
    Mutant,
    Trial,
    changes_of,
    mutants_of,
    trial,
)
from antiphon.model.mutation.operators import Context
from antiphon.model.mutation.trial import _differing
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Program,
    Seq,
    Set,
    Spec,
    SpecError,
    action,
    budget,
    emit,
    everywhere,
    expect,
    initial,
    invariant,
    mutation,
    obligation,
    on,
    program,
    record,
    repair,
    require,
    step_invariant,
    witness,
)
from antiphon.spec.protocols.irbp.two_views import TwoViews
from antiphon.spec.protocols.irbp.two_views_checked import TwoViewsChecked


class Member(Index, size="members", ordered=True):
    """A member."""


Round = Annotated[int, Between(0, "rounds + 1")]


@record
class Letter:
    """A letter with its number."""

    to: Member
    number: Annotated[int, Between(0, "rounds")]


@record
class Taken:
    """A letter was taken."""

    number: Annotated[int, Between(0, "rounds")]


class Sizes(Spec):
    """Numbers of members and of letters."""

    members: Const[int] = 2
    rounds: Const[int] = 2


class Post(Sizes):
    """Letters are numbered, queued in order, and opened in order, once two wait or the last is there."""

    open: bool = False
    sent: Round = 0
    network: Set[Letter] = Set()
    queue: Annotated[Seq[Letter], AtMost("rounds")] = ()
    opened: Map[Member, Round] = everywhere(0)
    last: Round = 0

    @initial
    def begin(self) -> None:
        """The post office opens."""
        self.open = True

    @action
    def send(self, p: Member) -> None:
        """The next letter, when none is on its way."""
        require(budget(self.sent < self.rounds) and self.open and len(self.network) == 0)
        self.sent += 1
        self.network |= {Letter(p, self.sent)}

    @action
    def receive(self, letter: Annotated[Letter, In("network")]) -> None:
        """A letter that is not old is queued."""
        require(self.is_new(letter) or self.sent == 0)
        self.network -= {letter}
        self.queue += (letter,)
        emit(Taken(letter.number))

    def is_new(self, letter: Letter) -> bool:
        """Letter number higher than all that were opened."""
        return all(letter.number > self.opened[p] for p in self.each(Member))

    @action
    def unpack(self) -> None:
        """The first letter of the queue is opened."""
        require(len(self.queue) > 1 or (len(self.queue) > 0 and self.sent == self.rounds))
        letter = next((item for item in self.queue if item.number > self.last), None)
        require(letter is not None)
        if letter is not None:
            self.opened[letter.to] = max(self.opened[letter.to], letter.number)
            self.last = letter.number
            self.queue = self.queue[1:]


@repair("two letters are sent at once", answers="POST-01")
class InPairs(Post):
    """The queue fills at once."""

    @action
    def send(self, p: Member) -> None:
        """One letter as before, when an even number was sent."""
        super().send(p)
        self.open = self.sent % 2 == 0 or self.open


class Judge(Sizes):
    """Letters are taken in order."""

    latest: Round = 0

    @on(Taken)
    def judge(self, event: Taken) -> None:
        """Expect the next number."""
        expect(event.number == self.latest + 1, "InOrder")
        expect(event.number <= self.rounds, "InBounds")
        self.latest = event.number


class Judged(Post, Judge, repairs=(InPairs,)):
    """The post office and what is asked of it."""

    @invariant
    def NoneIsSkipped(self) -> bool:
        """Opened letters have no gap, and no letter is lost."""
        return self.last == max(self.opened[p] for p in self.each(Member)) and (
            self.last + len(self.queue) + len(self.network) == self.sent
        )

    @invariant
    def OneOnItsWay(self) -> bool:
        """One letter at a time."""
        return len(self.network) <= 1

    @invariant
    def OpensTwo(self) -> bool:
        """Letters are opened only after two were sent."""
        return self.last == 0 or self.sent > 1

    @invariant
    def Anything(self) -> bool:
        """True in every state."""
        return self.last >= 0

    @obligation
    def Empty(self) -> bool:
        """In the end nothing waits."""
        return len(self.queue) == 0

    @witness
    def AllOpened(self) -> bool:
        """All letters are opened."""
        return self.last == self.rounds

    @witness
    def ToTheSecond(self) -> bool:
        """The second member gets the last one."""
        return self.opened[Member(1)] == self.rounds


ASKED = ("InOrder", "NoneIsSkipped", "OneOnItsWay", "OpensTwo", "Empty", "AllOpened", "ToTheSecond")

Found = dict[str, tuple[Mutant, Answer]]


def is_text(part: type) -> bool:
    return part in (Post, InPairs)


@pytest.fixture(scope="module")
def bound() -> Program:
    return program(Judged)


@pytest.fixture(scope="module")
def found(bound: Program) -> Found:
    asked = Trial(bound, ASKED)
    return {str(mutant): (mutant, asked.ask(mutant)) for mutant in mutants_of(bound, is_text)}


def test_every_operator_makes_a_mutant_that_is_caught(found: Found) -> None:
    killed = {mutant.change.operator for mutant, answer in found.values() if answer.fate is Fate.KILLED}
    assert killed == set(OPERATORS)


def test_the_fates_of_all_mutants_of_an_example(found: Found) -> None:
    """Pinned: a change here is a finding. An event that is not told is seen by nobody who judges events."""
    fates = Counter(answer.fate.value for _, answer in found.values())
    assert fates == {"killed": 28, "equivalent": 11, "survived": 1}
    (survivor,) = (name for name, (_, answer) in found.items() if answer.fate is Fate.SURVIVED)
    assert survivor.endswith("update left out: `emit(Taken(letter.number))`")


@pytest.mark.deep
def test_a_mutant_breaks_what_the_checker_refutes_without_shared_steps(found: Found, bound: Program) -> None:
    """Mutants that run into an error later count too, for their violations before it."""
    in_error = 0
    for name, (mutant, answer) in found.items():
        asked = [item for item in ASKED if item not in answer.apart]
        report = check(mutant.of(bound), properties=asked, engine="generated")
        broken = {
            verdict.property
            for verdict in report.verdicts
            if verdict.outcome is Outcome.VIOLATED
            or (
                verdict.kind is PropertyKind.WITNESS
                and verdict.outcome is Outcome.UNKNOWN
                and report.exploration.complete
            )
        }
        in_error += report.exploration.stopped is StopReason.ERROR
        assert broken == set(answer.broken), name
    assert in_error == 2


class Counted(Post):
    """The post office, and what its steps may do, one of which cannot be."""

    @step_invariant
    def NumbersGrow(self, before: Self) -> bool:
        """Letters are opened one after the other."""
        return self.last == before.last + 1

    @step_invariant
    def OneAtATime(self, before: Self) -> bool:
        """Letters that enter the network have a new number."""
        return self.sent > before.sent or len(self.network) < len(before.network)

    @step_invariant
    def Anything(self, before: Self) -> bool:
        """True of every step."""
        return self.last >= 0 or before.last < 0


def test_a_mutant_breaks_step_invariants_as_the_checker_says() -> None:
    whole = program(Counted)
    names = ["NumbersGrow", "OneAtATime", "Anything"]
    asked = Trial(whole, names)
    assert {name for name in names if asked.trivial(name)} == {"Anything"}
    broken: Counter[str] = Counter()
    for mutant in mutants_of(whole, is_text):
        answer = asked.ask(mutant)
        seen = check(mutant.of(whole), properties=names, engine="generated")
        violated = {verdict.property for verdict in seen.verdicts if verdict.outcome is Outcome.VIOLATED}
        assert violated == set(answer.broken), str(mutant)
        broken.update(answer.broken)
    assert set(broken) == {"NumbersGrow", "OneAtATime"}


_TOLD_APART = {Fate.EQUIVALENT: Fate.INNER}
"""Fate of a mutant where states are compared, and not steps."""


def test_a_program_of_wide_states_is_asked_in_machine_code(
    found: Found, bound: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "WIDE_BITS", 0)
    asked = Trial(bound, ASKED)
    mutant, answer = next(item for item in found.values() if item[1].fate is Fate.EQUIVALENT)
    assert asked.ask(mutant) == Answer(Fate.INNER, answer.broken, answer.open, answer.apart)


def test_what_is_larger_than_machine_code_may_see_is_compared_with_nothing(
    found: Found, bound: Program
) -> None:
    asked = Trial(bound, ["OneOnItsWay"], Bounds(states=3), further=Bounds(states=8))
    closed = next(mutant for name, (mutant, _) in found.items() if name.startswith("Post.begin"))
    answer = asked.ask(closed)
    assert (answer.fate, answer.reason) == (Fate.UNDECIDED, "too large to be compared")


def test_machine_code_finds_what_generated_python_finds(
    found: Found, bound: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is larger than the bound is asked in machine code, and so is one whose states are wide;
    only `same` is not told then. Kernels of mutants are not kept: nobody asks for them again.
    """
    monkeypatch.setenv("ANTIPHON_CACHE", str(tmp_path))
    asked = Trial(bound, ASKED, Bounds(states=3))
    for mutant, answer in list(found.values())[::9]:
        large = asked.ask(mutant)
        assert set(large.broken) == set(answer.broken), str(mutant)
        assert set(large.open) == set(answer.open), str(mutant)
        assert large.fate is _TOLD_APART.get(answer.fate, answer.fate), str(mutant)
    assert not [item for item in tmp_path.rglob("*") if item.is_file()]


def test_cpython_and_the_front_end_read_the_same_mutant() -> None:
    """The changed text may be called by `super()`, or call it."""
    repaired = program(Judged, repairs="all")
    mutants = [item for item in mutants_of(repaired, is_text) if "send" in item.method]
    assert {item.owner for item in mutants} == {Post, InPairs}
    different = 0
    for mutant in mutants:
        changed = mutant.of(repaired)
        ours, reference = (check(changed, engine=name).exploration for name in ("generated", "reference"))
        assert (ours.states, ours.transitions) == (reference.states, reference.transitions), str(mutant)
        different += ours.states != check(repaired, engine="generated").exploration.states
    assert different > len(mutants) / 2


def test_an_equivalent_mutant_has_the_same_states_and_steps(found: Found, bound: Program) -> None:
    original = check(bound, engine="generated").exploration
    for name, (mutant, answer) in found.items():
        if answer.fate is Fate.EQUIVALENT:
            seen = check(mutant.of(bound), engine="generated").exploration
            assert (seen.states, seen.transitions) == (original.states, original.transitions), name


def test_a_place_in_a_mutant_is_the_place_in_the_file(bound: Program) -> None:
    """Lines stay where they are, whatever is replaced."""
    places = {item.name: item.at.line for item in bound.module.actions}
    for mutant in mutants_of(bound, is_text):
        try:
            changed = mutant.of(bound).module
        except SpecError:
            continue
        assert {item.name: item.at.line for item in changed.actions} == places, str(mutant)


def test_bounds_are_left_alone(found: Found) -> None:
    assert not [name for name, (mutant, _) in found.items() if "budget" in mutant.change.before]


@pytest.mark.deep
def test_what_a_bound_leaves_open_is_undecided_and_never_equivalent(found: Found, bound: Program) -> None:
    asked = Trial(bound, ["OpensTwo"], Bounds(states=3), further=Bounds(states=3))
    same = [mutant for mutant, answer in found.values() if answer.fate is Fate.EQUIVALENT]
    answers = [asked.ask(mutant) for mutant in same]
    assert {(answer.fate, answer.open) for answer in answers} == {(Fate.UNDECIDED, ("OpensTwo",))}


def test_a_mutant_that_is_asked_briefly_leaves_open_what_takes_long(
    found: Found, bound: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "BRIEF_STATES", 3)
    asked = Trial(bound, ["OpensTwo"])
    same = next(mutant for mutant, answer in found.values() if answer.fate is Fate.EQUIVALENT)
    brief = asked.ask(same, ["OpensTwo"], briefly=True)
    assert (brief.fate, brief.open) == (Fate.UNDECIDED, ("OpensTwo",))
    assert asked.ask(same, ["OpensTwo"]).open == ()


def test_a_property_that_the_constants_alone_make_true_is_trivial(bound: Program) -> None:
    asked = Trial(bound, [*ASKED, "Anything", "InBounds"])
    told = {name: asked.trivial(name) for name in (*ASKED, "Anything", "InBounds")}
    assert {name for name, why in told.items() if why} == {"Anything", "InBounds"}


def test_a_mutant_touches_what_its_action_writes(bound: Program) -> None:
    asked = Trial(bound, ASKED)
    touched = {item.method: asked.touched(item) for item in mutants_of(bound, is_text)}
    assert "OneOnItsWay" in touched["send"]
    assert "OneOnItsWay" not in touched["unpack"]
    assert "InOrder" in touched["receive"]


def test_a_repair_that_is_left_out_is_a_mutant() -> None:
    repaired = program(Judged, repairs="all")
    (left_out,) = LeftOut.of_program(repaired)
    assert left_out.of(repaired).constants == program(Judged).constants
    assert Trial(repaired, ASKED).ask(left_out).fate in (Fate.EQUIVALENT, Fate.SURVIVED, Fate.INNER)
    assert LeftOut.of_program(program(Judged)) == ()


@mutation("the first letter is thrown away")
class Thrown(Post):
    """Post that breaks `NoneIsSkipped`."""

    @action
    def receive(self, letter: Annotated[Letter, In("network")]) -> None:
        """Receive or queue the letter, as before."""
        if letter.number == 1:
            self.network -= {letter}
        else:
            super().receive(letter)


class Faulty(Judged, mutations=(Thrown,)):
    """The post office, in which letters may be thrown away."""


def test_a_planted_fault_that_is_off_is_a_mutant() -> None:
    sound = program(Faulty)
    (planted,) = LeftOut.of_program(sound)
    assert str(planted) == "fault planted: `thrown`"
    assert planted.of(sound).constants == {**sound.constants, "thrown": True}
    answer = Trial(sound, ASKED).ask(planted)
    assert answer.fate is Fate.KILLED
    assert "NoneIsSkipped" in answer.broken
    assert LeftOut.of_program(planted.of(sound)) == ()


@record
class Passed:
    """Event that a handler emits in turn."""

    number: Annotated[int, Between(0, "rounds")]


class Chain(Judged):
    """A handler speaks in turn, and who hears that counts with a helper: two layers that meet at events."""

    heard: Round = 0

    @on(Taken)
    def pass_on(self, event: Taken) -> None:
        """To the layer above."""
        emit(Passed(event.number))

    @on(Passed)
    def hear(self, event: Passed) -> None:
        """Count the event, as the layer above."""
        self.count(event.number)

    def count(self, number: Round) -> None:
        """Keep the highest number."""
        if number > self.heard:
            self.heard = number

    @invariant
    def HearsAll(self) -> bool:
        """The layer above has heard of what was judged."""
        return self.heard == self.latest

    @action
    def recount(self) -> None:
        """Call the helper from an action of its own."""
        self.count(0)


def test_a_change_behind_what_a_handler_emits_reaches_the_step_that_began_it() -> None:
    """Steps that it reaches are not shared with the program; else it would break nothing."""
    chain = program(Chain)
    asked = Trial(chain, ["HearsAll"])
    mutants = [item for item in mutants_of(chain, lambda part: part is Chain) if item.method == "count"]
    broken = {str(item): asked.ask(item).broken for item in mutants}
    assert [name for name, found in broken.items() if name.endswith("`self.heard = number`") and found]


def test_what_only_an_event_reaches_is_changed_too() -> None:
    """A layer that acts on what another one emits is text like any other."""
    chain = program(Chain)
    changed = {item.method for item in mutants_of(chain, lambda part: part is Chain)}
    assert changed == {"pass_on", "hear", "count", "recount"}


def test_a_number_that_is_one_more_is_none_more_and_two_more() -> None:
    """Such mutants skip a number that must not be skipped, and repeat one that must not come twice."""
    (method,) = ast.parse("def count(self): self.next = self.last + 1").body
    assert isinstance(method, ast.FunctionDef)
    shifted = [
        item.after for item in changes_of(method, Context(True, {}, {}, {})) if "shifted" in item.operator
    ]
    assert shifted == ["self.last", "self.last + 2"]


@pytest.mark.deep
def test_a_changed_text_moves_no_other_class() -> None:
    """Repairs of a class below it stay where they are, so that nothing else differs."""
    bound = program(TwoViewsChecked, repairs="all", processes=2, messages=1)
    changes = [item for item in mutants_of(bound, lambda part: part is TwoViews) if "fetch" in item.method]
    assert changes
    for mutant in changes:
        changed = mutant.of(bound)
        assert changed.variables == bound.variables
        assert all("fetch" in name for name in _differing(bound.module, changed.module))
