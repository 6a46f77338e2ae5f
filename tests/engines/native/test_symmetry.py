"""One state stands for its orbit: as many states as there are orbits, counted by hand, with the same verdicts
and lengths, and real traces.
"""

from __future__ import annotations

import itertools
import math

import pytest

from antiphon.model.engines import StorageOptions
from antiphon.model.engines.native import NativeSpace
from antiphon.model.engines.native.compiler.symmetry import (
    Exchange,
    columns,
    exchanged_state,
    exchanges,
    orders,
    rounds,
    symmetric_sets,
)
from antiphon.model.explore import check
from antiphon.model.ground.layout import layout, plan
from antiphon.model.properties import kinds_of
from antiphon.model.trace import replay
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Program,
    Spec,
    SpecError,
    State,
    action,
    eventually,
    everywhere,
    program,
    require,
)
from antiphon.spec.protocols.rbp.properties import RbpProperties


def orbit(bound: Program, state: State) -> frozenset[State]:
    """All states that differ from this one by the order of interchangeable members, by exchanging until
    nothing is new.
    """
    made = exchanges(bound)
    found = {state}
    todo = [state]
    while todo:
        one = todo.pop()
        for exchange in made:
            other = exchanged_state(bound, one, exchange)
            if other not in found:
                found.add(other)
                todo.append(other)
    return frozenset(found)


def reachable(bound: Program) -> list[State]:
    space = NativeSpace(bound, bound.reference.initial(), threads=1)
    first = 0
    while first < len(space):
        first, _ = len(space), space.expand(first, len(space))
    return [space.value(number) for number in range(len(space))]


class Guest(Index, size="guests", symmetric=True):
    """A guest at the table."""


class Table(Index, size="tables", symmetric=True):
    """A table at which guests sit."""


class Dish(Index, size="dishes", symmetric=True):
    """A dish that guests eat."""


class Seating(Spec):
    """Guests sit down and get up."""

    guests: Const[int] = 3
    tables: Const[int] = 2
    at: Map[Guest, Table | None] = everywhere(None)

    @action
    def sit(self, guest: Guest, table: Table) -> None:
        require(self.at[guest] is None)
        self.at[guest] = table

    @action
    def leave(self, guest: Guest) -> None:
        require(self.at[guest] is not None)
        self.at[guest] = None


class Dinner(Seating):
    """A seating whose guests also eat."""

    dishes: Const[int] = 2
    eats: Map[Guest, Dish | None] = everywhere(None)

    @action
    def choose(self, guest: Guest, dish: Dish) -> None:
        require(self.at[guest] is not None)
        self.eats[guest] = dish


class Party(Spec):
    """Specification in which no variable joins a guest and a table."""

    guests: Const[int] = 3
    tables: Const[int] = 3
    here: Map[Guest, bool] = everywhere(False)
    laid: Map[Table, bool] = everywhere(False)

    @action
    def come(self, guest: Guest) -> None:
        self.here[guest] = not self.here[guest]

    @action
    def lay(self, table: Table) -> None:
        self.laid[table] = not self.laid[table]


CASES = [
    program(TwoPhase, managers=2),
    program(TwoPhase, managers=3),
    program(Chameneos, creatures=3, meetings=2),
    program(Seating),
    program(Dinner, guests=2, tables=2, dishes=2),
    program(Party, guests=2, tables=2),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("bound", CASES, ids=lambda bound: f"{bound.name}, {dict(bound.constants)}")
def test_there_are_as_many_states_as_orbits(bound: Program) -> None:
    states = reachable(bound)
    orbits = {orbit(bound, state) for state in states}
    assert sum(map(len, orbits)) == len(set(states))
    reduced = check(bound, storage=StorageOptions(symmetry=True))
    assert reduced.exploration.states == len(orbits)
    assert reduced.notes[0].startswith(f"{len(orbits):,} states stand for {len(states):,} that differ")
    whole = check(bound, engine="native")
    assert [(item.property, item.outcome, item.trace and len(item.trace)) for item in reduced.verdicts] == [
        (item.property, item.outcome, item.trace and len(item.trace)) for item in whole.verdicts
    ]


def test_an_exchange_is_its_own_inverse_and_all_orders_are_passed_through() -> None:
    bound = program(TwoPhase, managers=4)
    made, steps = exchanges(bound), rounds(bound)
    [index] = symmetric_sets(bound)
    assert made == tuple(Exchange(index, first) for first in range(3))
    assert len(steps) == orders(bound) == math.factorial(4)
    order = list(range(4))
    seen = set()
    for number in steps:
        seen.add(tuple(order))
        first = made[number].first
        order[first], order[first + 1] = order[first + 1], order[first]
    assert seen == set(itertools.permutations(range(4)))
    assert order == [0, 1, 2, 3]
    for several in (program(Seating), program(Seating, guests=3, tables=3), program(Dinner, guests=3)):
        steps = rounds(several)
        made = exchanges(several)
        names = {(one.index, member) for one in made for member in (one.first, one.first + 1)}
        at = start = tuple(sorted(names, key=str))
        passed = set()
        for number in steps:
            passed.add(at)
            pair = [(made[number].index, made[number].first + k) for k in (0, 1)]
            swap = {pair[0]: pair[1], pair[1]: pair[0]}
            at = tuple(swap.get(name, name) for name in at)
        assert len(steps) == len(passed) == orders(several)
        assert at == start
    made = exchanges(bound)
    for state in reachable(bound)[::200]:
        for exchange in made:
            assert exchanged_state(bound, exchanged_state(bound, state, exchange), exchange) == state


def test_a_counterexample_found_with_symmetry_is_a_real_run() -> None:
    bound = program(TwoPhase, managers=3)
    for verdict in check(bound, storage=StorageOptions(symmetry=True)).verdicts:
        if verdict.trace is not None:
            again = replay(bound, verdict.trace.states[0], [item.step for item in verdict.trace.transitions])
            assert again.states == verdict.trace.states


def test_the_states_that_are_left_out_are_counted() -> None:
    report = check(program(TwoPhase, managers=6), storage=StorageOptions(symmetry=True))
    assert report.exploration.states == 553
    assert report.notes == (
        "553 states stand for 50,816 that differ in the names of interchangeable members only",
    )


def test_it_goes_with_fingerprints_and_any_number_of_threads() -> None:
    bound = program(TwoPhase, managers=5)
    names = [name for name, kind in kinds_of(bound).items() if kind in ("invariant", "witness")]
    whole = check(bound, properties=names, storage=StorageOptions(symmetry=True, threads=1))
    for storage in (
        StorageOptions(symmetry=True, threads=3),
        StorageOptions(symmetry=True, fingerprints=True),
    ):
        other = check(bound, properties=names, storage=storage)
        assert other.exploration.states == whole.exploration.states
        assert [(item.outcome, item.trace and item.trace.steps) for item in other.verdicts] == [
            (item.outcome, item.trace and item.trace.steps) for item in whole.verdicts
        ]


class Worker(Index, size="workers", symmetric=True):
    """A worker that takes turns."""


class Turns(Spec):
    """Each of some workers works again and again."""

    workers: Const[int] = 2
    worked: Map[Worker, bool] = everywhere(False)

    @action(fairness="weak", per="w")
    def work(self, w: Worker) -> None:
        require(not self.worked[w])
        self.worked[w] = True

    def everybody(self) -> bool:
        return all(self.worked[w] for w in self.each(Worker))

    AllWork = eventually("everybody")


def test_a_promise_to_each_member_is_refused() -> None:
    with pytest.raises(SpecError, match=r"fairness per w \(work\): it tells members apart"):
        check(program(Turns), storage=StorageOptions(symmetry=True))


def test_a_program_without_symmetric_sets_is_refused() -> None:
    with pytest.raises(SpecError, match="no symmetric index set"):
        check(program(RbpProperties, processes=2, messages=1), storage=StorageOptions(symmetry=True))


@pytest.mark.deep
def test_too_many_orders_are_refused() -> None:
    with pytest.raises(SpecError, match="40,320 orders of its symmetric sets are too many"):
        check(program(Chameneos, creatures=8, meetings=1), storage=StorageOptions(symmetry=True))
    with pytest.raises(SpecError, match="21 members of symmetric sets are too many; at most 20"):
        check(program(TwoPhase, managers=21), storage=StorageOptions(symmetry=True))


def test_columns_are_sorted_where_nothing_speaks_of_two_members() -> None:
    two_phase, chameneos = program(TwoPhase, managers=3), program(Chameneos, creatures=3, meetings=2)
    assert columns(chameneos, range(len(layout(chameneos).slots))) is None
    first, second = columns(two_phase, range(len(layout(two_phase).slots))) or ()
    assert first[1] == second[0]
    assert not {*first[0]} & {*first[1]}
    report = check(
        program(TwoPhase, managers=10),
        properties=["consistent", "all_committed"],
        storage=StorageOptions(symmetry=True),
    )
    assert (
        report.notes[-1]
        == "3,300 states stand for 61,515,776 that differ in the names of interchangeable members only"
    )


def test_every_variable_is_exchanged() -> None:
    bound = program(TwoPhase, managers=3)
    [exchange, _] = exchanges(bound)
    widths = [shape.width for shape, _ in plan(bound).variables.values()]
    moved = [state for state in reachable(bound) if exchanged_state(bound, state, exchange) != state]
    assert moved
    assert all(len(state) == len(widths) for state in moved)
