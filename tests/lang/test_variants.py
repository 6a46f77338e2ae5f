"""Repairs, readings, restrictions and constraints: classes that change a text at one hook, and what a verdict
must not hide.
"""

from __future__ import annotations

from typing import Annotated

import pytest

from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Program,
    Spec,
    SpecError,
    Step,
    action,
    ambiguity,
    budget,
    constraint,
    everywhere,
    invariant,
    mutation,
    program,
    repair,
    require,
    restriction,
    types,
)


class Node(Index, size="nodes", ordered=True):
    """A node."""


Count = Annotated[int, Between(0, "most")]


class Printed(Spec):
    """Specification as printed: a counter a node, which counts by twos and never stops."""

    nodes: Const[int] = 2
    most: Const[int] = 4
    count: Map[Node, Count] = everywhere(0)

    def step_of(self, p: Node) -> int:
        """By how much a node counts."""
        return 2

    def note(self, p: Node) -> None:
        """Do nothing after counting; a variant takes a note here."""

    @action
    def add(self, p: Node) -> None:
        """A node counts on."""
        require(self.count[p] + self.step_of(p) <= self.most)
        self.count[p] += self.step_of(p)
        self.note(p)


@repair("the step is one", answers="A-01")
class ByOne(Printed):
    def step_of(self, p: Node) -> int:
        return 1


@repair("the first node counts twice as fast", answers="A-02")
class FirstIsFast(Printed):
    def step_of(self, p: Node) -> int:
        return super().step_of(p) * (2 if p == Node(0) else 1)


@repair("the first node counts by three", answers="A-04")
class Careless(Printed):
    def step_of(self, p: Node) -> int:
        return 3


@repair("what was counted is written down", answers="A-03", builds_on=(ByOne,))
class Noted(Printed):
    written: Map[Node, bool] = everywhere(False)

    def note(self, p: Node) -> None:
        super().note(p)
        self.written[p] = True

    @action
    def forget(self, p: Node) -> None:
        require(self.written[p])
        self.written[p] = False


whose = ambiguity("whose", "own", about="whose count is compared")


@whose.reading("all")
class WhoseAll(Printed):
    @action
    def add(self, p: Node) -> None:
        require(all(self.count[q] < self.most for q in self.each(Node)))
        super().add(p)


@restriction("nodes count one after the other")
class InTurn(Printed):
    @constraint("add")
    def is_first(self, p: Node) -> bool:
        """No node before p is behind it."""
        return not any(self.count[q] < self.count[p] for q in self.each(Node) if q < p)


@mutation("a node counts back")
class Backwards(Printed):
    def note(self, p: Node) -> None:
        self.count[p] = 0


class Bounded(Printed, repairs=(ByOne, FirstIsFast, Noted), readings=(whose,), restrictions=(InTurn,)):
    """The text within bounds."""

    limit: Const[int] = 3

    @constraint()
    def is_small(self) -> bool:
        """Nothing leads on from a state whose counts sum up to the limit."""
        return budget(sum(self.count[p] for p in self.each(Node)) < self.limit)


class Checked(Bounded):
    """The text and what must be true of it."""

    @invariant
    def even(self) -> bool:
        return all(self.count[p] % 2 == 0 for p in self.each(Node))


def reached(bound: Program) -> set[tuple[object, ...]]:
    machine = bound.reference
    seen = set(machine.initial())
    fresh = list(seen)
    while fresh:
        state = fresh.pop()
        for transition in machine.successors(state):
            if transition.state not in seen:
                seen.add(transition.state)
                fresh.append(transition.state)
    return seen


def counts(bound: Program) -> set[tuple[int, int]]:
    place = bound.variables.index("count")
    return {state[place] for state in reached(bound)}  # type: ignore[misc]


def test_the_text_is_literal_by_default() -> None:
    assert counts(program(Checked, limit=9)) == {(a, b) for a in (0, 2, 4) for b in (0, 2, 4)}
    assert program(Checked).constants == {
        "nodes": 2, "most": 4, "limit": 3, "in_turn": False, "whose": "own", "by_one": False,
        "first_is_fast": False, "noted": False,
    }  # fmt: skip


def test_the_intermediate_form_keeps_what_variants_say() -> None:
    found = {item.name: item for item in program(Checked, repairs=["by_one"]).module.constants}
    assert (found["noted"].role, found["noted"].answers, found["noted"].builds_on) == (
        "repair",
        "A-03",
        ("by_one",),
    )
    assert found["by_one"].about == "the step is one"
    assert (found["whose"].role, found["whose"].type) == (
        "reading",
        types.Enumeration("whose", ("own", "all")),
    )
    assert (found["in_turn"].role, found["in_turn"].default) == ("constant", False)


def test_a_repair_replaces_one_hook_and_keeps_its_place_below_bounds_and_properties() -> None:
    bound = program(Checked, repairs=["by_one"])
    assert counts(bound) == {(a, b) for a in range(4) for b in range(4) if a + b <= 3}
    assert [part.__name__ for part in bound.text.__mro__[:5]] == [
        "Checked",
        "Checked",
        "Bounded",
        "ByOne",
        "Printed",
    ]
    assert not all(bound.reference.holds(state, "even") for state in reached(bound))


def test_super_means_what_would_be_there_without_the_repair() -> None:
    assert {a for a, _ in counts(program(Checked, repairs=["first_is_fast"], limit=9))} == {0, 4}
    assert {a for a, _ in counts(program(Checked, repairs=["by_one", "first_is_fast"], limit=9))} == {0, 2, 4}


def test_a_variable_and_an_action_of_a_repair_are_there_only_with_it() -> None:
    assert program(Checked).variables == ("count",)
    assert "forget" not in {item.name for item in program(Checked).module.actions}
    noted = program(Checked, repairs=["by_one", "noted"])
    assert noted.variables == ("count", "written")
    assert [item.name for item in noted.module.actions] == ["add", "forget"]


def test_a_reading_is_chosen_by_name() -> None:
    assert (4, 2) in counts(program(Checked, limit=9))
    assert counts(program(Checked, limit=9, whose="all")) == {
        (a, b) for a in (0, 2, 4) for b in (0, 2, 4) if (a, b) != (4, 4)
    }
    with pytest.raises(SpecError, match="its readings are own, all"):
        program(Checked, whose="nobody")


def test_a_restriction_is_a_constraint_that_is_off_by_default() -> None:
    assert [item.name for item in program(Checked).declaration.marked("constraint")] == ["is_small"]
    bound = program(Checked, in_turn=True, limit=9)
    assert [item.name for item in bound.declaration.marked("constraint")] == ["is_first", "is_small"]
    assert (0, 2) not in {state[0] for state in reached(bound)} - {(0, 2)}
    assert list(bound.reference.enabled(((2, 0),))) == [Step("add", (Node(0),)), Step("add", (Node(1),))]
    assert list(bound.reference.enabled(((0, 2),))) == [Step("add", (Node(0),))]


def test_no_text_asks_which_variants_are_on() -> None:
    class Asks(Bounded):
        @invariant
        def asked(self) -> bool:
            return self.by_one  # type: ignore[attr-defined,no-any-return]

    with pytest.raises(SpecError, match="by_one"):
        program(Asks).module  # noqa: B018
    with pytest.raises(SpecError, match="by_one"):
        program(Asks).reference.holds(((0, 0),), "asked")


def test_a_mutation_is_planted_over_whatever_is_on() -> None:
    class Faulty(Bounded, mutations=(Backwards,)):
        pass

    assert counts(program(Faulty, repairs="all", limit=9)) != {(0, 0)}
    assert counts(program(Faulty, repairs="all", backwards=True, limit=9)) == {(0, 0)}


def test_a_repair_without_what_it_builds_on_is_refused() -> None:
    with pytest.raises(SpecError, match="the repair noted of Checked builds on by_one"):
        program(Checked, repairs=["noted"])


def test_of_two_repairs_of_one_hook_the_later_must_mind_the_earlier() -> None:
    class Offered(Printed, repairs=(ByOne, Careless)):
        pass

    program(Offered, repairs=["careless"])
    with pytest.raises(SpecError, match=r"Careless\.step_of replaces what the variant ByOne says"):
        program(Offered, repairs="all")


def test_a_constraint_names_parameters_of_what_it_constrains() -> None:
    class Wrong(Printed):
        @constraint("add")
        def is_small(self, q: Node) -> bool:
            return self.count[q] < 2

    with pytest.raises(
        SpecError, match="is_small asks for q, and add has no parameter of that name and type"
    ):
        program(Wrong).module  # noqa: B018


def test_a_constraint_names_actions_that_there_are() -> None:
    class Misspelt(Printed):
        @constraint("ad")
        def is_small(self) -> bool:
            return True

    with pytest.raises(SpecError, match="is_small names ad, which is no action of Misspelt"):
        program(Misspelt)


def test_super_is_called_with_the_parameters_as_they_are() -> None:
    class Other(Printed):
        def step_of(self, p: Node) -> int:
            return super().step_of(Node(0))

    with pytest.raises(SpecError, match="called with the parameters of step_of, as they are"):
        program(Other).module  # noqa: B018


@pytest.mark.parametrize("repairs", [(), ("by_one",), ("by_one", "first_is_fast"), "all"])
@pytest.mark.parametrize("others", [{}, {"in_turn": True}, {"whose": "all"}])
def test_every_reading_of_a_composed_text_has_the_same_states(
    repairs: tuple[str, ...] | str, others: dict[str, bool | str]
) -> None:
    from antiphon.model.explore import check

    bound = program(Bounded, repairs=repairs, limit=5, **others)
    expected = len(reached(bound))
    for engine in ("reference", "native"):
        assert check(bound, engine=engine).exploration.states == expected


def test_a_constraint_that_these_constants_make_true_is_not_one_that_the_exploration_is_under() -> None:
    from antiphon.model.constraints import constraints_of

    assert [str(item) for item in constraints_of(program(Checked, in_turn=True))] == [
        "is_first of add: No node before p is behind it",
        "is_small: Nothing leads on from a state whose counts sum up to the limit",
    ]

    class Always(Printed):
        limit: Const[int] = 0

        @constraint("add")
        def is_within(self, p: Node) -> bool:
            """The node is among the first."""
            return self.limit == 0 or p.index < self.limit

    assert constraints_of(program(Always)) == ()
    assert [item.name for item in constraints_of(program(Always, limit=1))] == ["is_within"]


def test_a_repair_that_is_left_out_takes_along_what_builds_on_it() -> None:
    bound = program(Checked, repairs="all", without=["by_one"])
    switched = [name for name in ("by_one", "first_is_fast", "noted") if bound.constants[name]]
    assert switched == ["first_is_fast"]
    with pytest.raises(SpecError, match=r"no repair 'by_two' to leave out; .*did you mean 'by_one'"):
        program(Checked, repairs="all", without=["by_two"])
