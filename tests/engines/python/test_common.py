"""Steps are shared by programs that have them in common, and by no others."""

from __future__ import annotations

from typing import Annotated

from antiphon.model.engines.python.common import made_of
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore import check
from antiphon.spec.lang import (
    Between,
    Const,
    Program,
    Spec,
    action,
    emit,
    expect,
    invariant,
    on,
    program,
    record,
    repair,
    require,
)

Count = Annotated[int, Between(0, "most")]


@record
class Told:
    """Event that reports a count."""

    count: Count


class Counting(Spec):
    """Two counters; what the first comes to is told, and judged by a handler."""

    most: Const[int] = 3
    first: Count = 0
    second: Count = 0

    def by(self) -> int:
        """By how much the second counts."""
        return 2

    def allowed(self, count: Count) -> bool:
        """Counts up to two may be reported."""
        return count <= 2

    @action
    def tell(self) -> None:
        """The first counts, and tells."""
        require(self.first < self.most)
        self.first += 1
        emit(Told(self.first))

    @action
    def count(self) -> None:
        """The second counts, and says nothing."""
        require(self.second + self.by() <= self.most)
        self.second += self.by()

    @on(Told)
    def judged(self, told: Told) -> None:
        """Only what is allowed is told."""
        expect(self.allowed(told.count), "Allowed")

    @invariant
    def SecondIsEven(self) -> bool:
        """The second counts by twos."""
        return self.second % 2 == 0


@repair("the second counts by ones", answers="A-01")
class ByOne(Counting):
    def by(self) -> int:
        return 1


@repair("everything may be told", answers="A-02")
class AllAllowed(Counting):
    def allowed(self, count: Count) -> bool:
        return True


class Counted(Counting, repairs=(ByOne, AllAllowed)):
    """A counting specification with its repairs."""


def shared(one: Program, other: Program) -> set[str]:
    """The actions whose steps two programs have in common."""
    first, second = made_of(one), made_of(other)
    return {name for name in first if first[name] is second[name]}


def test_an_action_is_shared_unless_a_text_below_it_differs() -> None:
    """The same holds for a text that runs only because of the action's event."""
    plain = program(Counted)
    assert shared(plain, program(Counted)) == {"tell", "count"}
    assert shared(plain, program(Counted, repairs=["by_one"])) == {"tell"}
    assert shared(plain, program(Counted, repairs=["all_allowed"])) == {"count"}


def test_nothing_is_shared_where_sizes_differ() -> None:
    assert shared(program(Counted), program(Counted, most=4)) == set()


def test_shared_steps_do_in_each_program_what_the_reference_does() -> None:
    """The programs are explored one after the other, so that each finds what those before it have made."""
    for repairs in ((), ("by_one",), ("all_allowed",), ("by_one", "all_allowed"), ()):
        bound = program(Counted, repairs=repairs)
        made, by_reference = (check(bound, engine=name) for name in ("generated", "reference"))
        assert [verdict.outcome for verdict in made.verdicts] == [
            verdict.outcome for verdict in by_reference.verdicts
        ]
        assert (made.exploration.states, made.exploration.transitions) == (
            by_reference.exploration.states,
            by_reference.exploration.transitions,
        )


def test_what_was_made_for_one_program_is_there_for_the_next() -> None:
    met = [PythonTransitions(program(Counted, repairs=repairs)).met() for repairs in ((), ("by_one",))]
    tells, counts = (
        [step for made in met for step in made if step.name == name] for name in ("tell", "count")
    )
    assert len({id(step) for step in tells}) == 1
    assert len({id(step) for step in counts}) == 2
