"""The exported Promela model has the states, the transitions and the verdicts of its specification: read from
its text, without SPIN.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any

import pytest
from tests.ground.small_specs import Logs
from tests.lang.random_specs import ABSTRACT, program_of

from antiphon.model.explore import check
from antiphon.model.export import members_of, promela
from antiphon.model.export.possible import possible
from antiphon.model.ground import flatten, layout
from antiphon.model.ground.form import Bits
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import AtMost as Most
from antiphon.spec.lang import (
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
    State,
    action,
    everywhere,
    invariant,
    ir,
    program,
    record,
    require,
)
from antiphon.spec.lang.walk import nodes
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked

RunPromela = Callable[[Any], Any]


def reachable(bound: Program) -> list[State]:
    """All reachable states, found by the reference."""
    states = list(bound.reference.initial())
    seen = set(states)
    for state in states:
        for transition in bound.reference.successors(state):
            if transition.state not in seen:
                seen.add(transition.state)
                states.append(transition.state)
    return states


class Node(Index, size="nodes", ordered=True):
    """A node."""


class Mood(Enum):
    """Mood of a node."""

    GOOD, BAD = range(2)


@record
class Note:
    """A note to a node."""

    to: Node
    weight: Annotated[int, Between(-2, 2)]


class Mixture(Spec):
    """A bit of every type: negative numbers, division, sequences, optional values, sets of records, counts, a
    bug, and two false invariants.
    """

    nodes: Const[int] = 2
    level: Annotated[int, Between(-2, 2)] = 0
    mood: Mood = Mood.GOOD
    last: Node | None = None
    notes: Set[Note] = Set()
    queue: Annotated[Seq[Node], Most("nodes")] = ()
    counts: Map[Node, Annotated[int, Between(0, 2)]] = everywhere(0)

    @action
    def write(self, p: Node) -> None:
        require(len(self.notes) < 2)
        self.notes |= {Note(p, self.level)}
        self.last = p

    @action
    def read(self, note: Annotated[Note, In("notes")]) -> None:
        self.notes -= {note}
        self.level = note.weight // 2 + (self.level - 1) % 3 - 1
        self.mood = Mood.BAD if self.level < 0 else Mood.GOOD
        if note.to not in self.queue and len(self.queue) < self.nodes:
            self.queue += (note.to,)

    @action
    def swap(self) -> None:
        require(len(self.queue) > 1 and self.last is not None)
        self.counts[Node(0)] = self.counts[Node(1)]
        self.counts[Node(1)] = self.counts[Node(0)] + (1 if self.counts[Node(0)] < 2 else 0)
        self.queue = self.queue[1:]

    @invariant
    def Calm(self) -> bool:
        return self.mood is Mood.GOOD

    @invariant
    def Few(self) -> bool:
        return len(self.notes) <= 2

    @invariant
    def Light(self) -> bool:
        return all(note.weight < 1 for note in self.notes)


CASES = [
    program(DieHard),
    program(DiningPhilosophers),
    program(DiningPhilosophers, philosophers=3, alike=True),
    program(EWD840),
    program(ChangRoberts),
    program(TwoPhase),
    program(Mixture),
    program(Logs),
    program(Figure2Checked, processes=2, messages=1),
    program(Figure2Checked, repairs="all", processes=3, messages=1),
    program(Figure5Checked, repairs=["start_token"], processes=2, messages=1),
    program(RbpChecked, processes=2, messages=1),
    program(RbpChecked, repairs="all", processes=2, messages=1, urgent=True),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "bound", [*CASES[:-1], pytest.param(CASES[-1], marks=pytest.mark.deep)], ids=lambda bound: f"{bound.name}"
)
def test_the_model_has_the_states_transitions_and_verdicts_of_the_specification(
    bound: Program, run_promela: RunPromela
) -> None:
    model = promela(bound)
    found = run_promela(model)
    explored = check(bound, properties=()).exploration
    assert found.stored - model.extra == explored.states
    safety = [
        *(method.mark.name for method in bound.declaration.marked("invariant") if method.mark),
        *bound.module.properties,
    ]
    broken = {
        verdict.property
        for verdict in check(bound, properties=safety).verdicts
        if verdict.outcome is Outcome.VIOLATED
    }
    assert found.broken == broken
    if not broken and model.counts_steps:
        assert found.transitions - model.idle * explored.states == explored.transitions + (
            len(bound.reference.initial()) if model.extra else 0
        )


WITHOUT_ERRORS = (
    33, 52, 69, 103, 123, 153, 164, 194, 210, 220, 244, 371, 398, 414, 438, 443, 464, 533, 602, 623, 639, 696,
    697, 699,
)  # fmt: skip
"""Seeds of random specifications in which nothing is an error: the model goes on after one, others do not."""


@pytest.mark.deep
def test_random_specifications_have_the_same_states_and_broken_properties_as_models(
    run_promela: RunPromela,
) -> None:
    kinds: set[type[ir.Node]] = set()
    for seed in WITHOUT_ERRORS:
        bound = program_of(seed)
        model = promela(bound)
        found = run_promela(model)
        states = reachable(bound)
        assert found.stored - model.extra == len(states), f"seed {seed}"
        invariants = [method.name for method in bound.declaration.marked("invariant")]
        broken: set[str] = set()
        for state in states:
            broken |= {name for name in invariants if not bound.reference.holds(state, name)}
            moves = bound.reference.successors(state)
            broken |= {item.property for move in moves for item in move.refused}
        assert found.broken == broken, f"seed {seed}"
        kinds |= {type(node) for node in nodes(tuple(vars(bound.module).values()))}
    every = {kind for kind in vars(ir).values() if isinstance(kind, type) and issubclass(kind, ir.Node)}
    assert every - kinds == set(ABSTRACT)


def test_the_mixture_breaks_what_it_says() -> None:
    """A mixture that broke nothing would make the case worthless."""
    broken = {
        verdict.property
        for verdict in check(program(Mixture)).verdicts
        if verdict.outcome is Outcome.VIOLATED
    }
    assert broken == {"Calm", "Light"}


class Overflow(Mixture):
    """A value leaves its domain."""

    def swap(self) -> None:
        self.counts[Node(0)] += 1


def test_a_bug_of_the_specification_is_an_assertion(run_promela: RunPromela) -> None:
    assert "specification" in run_promela(promela(program(Overflow))).broken
    assert "specification" not in promela(program(Overflow), checks=False).properties.values()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("bound", CASES, ids=lambda bound: f"{bound.name}")
def test_no_reachable_state_and_no_step_lies_outside_the_computed_bound(bound: Program) -> None:
    found = possible(bound)
    known = {(step.name, step.arguments) for step in found.steps}
    for state in reachable(bound):
        for raw, values in zip(flatten(bound, state), found.slots, strict=True):
            assert (
                int(raw) & ~values == 0 if isinstance(values, int) else values is None or int(raw) in values
            )
        assert all((step.action, step.arguments) in known for step in bound.reference.enabled(state))


@pytest.mark.deep
def test_sets_are_as_narrow_as_an_exploration_says_and_the_model_checks_it(run_promela: RunPromela) -> None:
    bound = program(RbpChecked, repairs="all", processes=2, messages=1, urgent=True)
    states = [flatten(bound, state) for state in reachable(bound)]
    members = members_of(bound, states)
    narrow, wide = promela(bound, members=members), promela(bound)
    assert narrow.bits < wide.bits
    assert narrow.steps < wide.steps
    assert run_promela(narrow).stored == run_promela(wide).stored == len(states)
    network = next(
        position
        for position, slot in enumerate(layout(bound).slots)
        if slot.variable == "network" and isinstance(slot.sort, Bits)
    )
    lowest = members[network] & -members[network]
    start = flatten(bound, bound.reference.initial()[0])[network]
    assert not lowest & int(start)
    cut = promela(bound, members=members | {network: members[network] & ~lowest})
    assert "outside" in run_promela(cut).broken


def test_only_the_state_is_in_the_state() -> None:
    """Scratch variables are hidden, what never changes is left out, and every variable is read, so that SPIN
    keeps it.
    """
    text = promela(program(Figure2Checked, repairs="all", processes=3, messages=1)).text
    assert set(
        re.findall(r"^(\w+) ", text[text.index("unsigned") : text.index("active")], flags=re.MULTILINE)
    ) == {"unsigned", "hidden"}
    assert "crashed" not in text
    (kept,) = re.findall(r"false -> assert\((.*) >= 0\)", text)
    assert set(kept.split(" + ")) == set(re.findall(r"^unsigned (\w+)", text, flags=re.MULTILINE))


def test_a_model_with_some_properties_asserts_these_only() -> None:
    model = promela(program(EWD840), properties=["Inv"])
    assert set(model.properties.values()) == {"Inv"}
    with pytest.raises(
        SpecError, match="no property 'Liveness' that is exported; known: TerminationDetection, Inv"
    ):
        promela(program(EWD840), properties=["Liveness"])


class Huge(Spec):
    """A number that 32 bits do not hold."""

    count: Annotated[int, Between(0, 5_000_000_000)] = 0

    @action
    def more(self) -> None:
        require(self.count < 5_000_000_000)
        self.count += 1


def test_numbers_that_promela_cannot_hold_are_refused() -> None:
    with pytest.raises(SpecError, match="does not fit the 32 bits"):
        promela(program(Huge))
