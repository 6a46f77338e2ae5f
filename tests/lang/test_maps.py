"""A map is a value: what was read stays what it was, equal maps are one element, and every reading agrees."""

from __future__ import annotations

import copy
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

from antiphon.conformance.report.documents import state_document
from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.export.itf import load, save
from antiphon.model.ground import layout
from antiphon.model.ground.form import Bits
from antiphon.model.ground.form import Number as NumberSort
from antiphon.model.notation import compact
from antiphon.model.symbolic import check_bounded
from antiphon.model.verdict import Outcome
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
    State,
    Step,
    action,
    everywhere,
    initial,
    invariant,
    program,
    record,
    require,
)


class P(Index, size="processes", symmetric=True):
    """A process."""


Number = Annotated[int, Between(0, "sends")]
Clock = Map[P, Number]


class Q(Index, size="processes"):
    """A process that may have a part of its own."""


@record
class Row:
    """A record whose default says a map by its one value."""

    owner: Q
    known: Map[Q, bool]


@record
class Stamped:
    """A message with the clock of its sender."""

    sender: P
    clock: Clock


class Clocks(Spec):
    """Processes count what they send and tell each other; a map stands in every place that a value has."""

    processes: Const[int] = 2
    sends: Const[int] = 1
    clock: Map[P, Clock] = everywhere(everywhere(0))
    sent: Set[Stamped] = Set()
    seen: Set[Clock] = Set()
    last: Clock | None = None
    log: Annotated[Seq[Clock], AtMost(2)] = ()
    first: Stamped | None = None

    def later(self, a: Clock, b: Clock) -> Clock:
        """The least clock that is behind neither."""
        return Map({p: max(a[p], b[p]) for p in self.each(P)})

    @action
    def send(self, p: P) -> None:
        """P counts, and sends its clock; what it had stays what it was."""
        require(self.clock[p][p] < self.sends)
        before = self.clock[p]
        self.clock[p][p] = before[p] + 1
        self.sent |= {Stamped(p, self.clock[p])}
        self.seen |= {before, before | {p: before[p] + 1}}
        self.last = before
        if self.first is None:
            self.first = Stamped(p, {q: 1 if q == p else 0 for q in self.each(P)})
        if len(self.log) < 2:
            self.log += (self.clock[p],)

    @action
    def receive(self, p: P, message: Annotated[Stamped, In("sent")]) -> None:
        """P learns what the sender knew."""
        self.clock[p] = self.later(self.clock[p], message.clock)

    @action
    def forget(self, clock: Clock) -> None:
        """A clock that was seen is forgotten."""
        require(clock in self.seen)
        self.seen -= {clock}

    @invariant
    def who_sends_knows_most_of_itself(self) -> bool:
        """Processes know at most as much of another one as it does itself."""
        return all(self.clock[p][q] <= self.clock[q][q] for p in self.each(P) for q in self.each(P))

    @invariant
    def the_last_is_behind(self) -> bool:
        """A clock that was read before a send is not that clock after it."""
        return all(self.last != message.clock or message.clock[message.sender] > 0 for message in self.sent)


class HastyClocks(Clocks):
    """Receivers count a message as one of the sender's own."""

    @action
    def receive(self, p: P, message: Annotated[Stamped, In("sent")]) -> None:
        """P knows of one more than was sent."""
        require(message.clock[message.sender] < self.sends + 1)
        self.clock[p] |= {message.sender: 1, p: 1}
        self.clock[message.sender] = everywhere(0)


class Color(Enum):
    """The keys of a map that is no index set."""

    RED, BLUE = range(2)


Marks = Map[P, bool]


@record
class Empty:
    """Record with no fields."""


@record
class Deep:
    """Maps of maps, and one that may be absent."""

    rows: Map[Color, Marks]
    maybe: Marks | None


class Ranged(Spec):
    """Maps are ranged over, are parameters of steps and of beginnings, results, and may be absent."""

    processes: Const[int] = 2
    marks: Marks = everywhere(False)
    seen: Set[Marks] = Set()
    deep: Deep = Deep(everywhere(everywhere(True)), None)
    empty: Map[P, Empty | None] = everywhere(None)
    kept: Map[P, Marks | None] = everywhere(None)

    @initial
    def start(self, marks: Marks) -> None:
        """Start with any marks."""
        self.marks = marks

    @action
    def pick(self, p: P) -> None:
        """A set of maps."""
        require(any(m[p] and m != self.marks and m not in self.seen for m in self.each(Marks)))
        self.seen |= {m for m in self.each(Marks) if m[p]}
        self.kept[p] = self.marks

    @action
    def flip(self, p: P, marks: Marks) -> None:
        """Maps within a record, and one that is narrowed."""
        self.marks |= {p: not marks[p]}
        self.deep = Deep(self.deep.rows | {Color.RED: marks}, None if marks[p] else marks)
        self.empty[p] = Empty()
        last = self.kept[p]
        if last is not None:
            self.kept[p] = last | {p: True}

    def warm(self) -> Map[Color, bool]:
        """Return a map."""
        return Map({c: c is Color.RED for c in self.each(Color)})

    @invariant
    def one_is_warm(self) -> bool:
        """Two of four marks hold for a process, and one of four maps is the result."""
        return len({m for m in self.each(Map[Color, bool]) if m == self.warm()}) == 1 and all(
            len({m for m in self.each(Marks) if m[p]}) == 2 for p in self.each(P)
        )


class Waiting(Spec):
    """A record with a map is a default."""

    processes: Const[int] = 2
    row: Row = Row(Q(0), everywhere(True))


class Overflowing(Spec):
    """A whole map is stored, and one value leaves its domain."""

    processes: Const[int] = 2
    sends: Const[int] = 1
    clock: Clock = everywhere(0)

    @action
    def count(self, p: P) -> None:
        """P counts too far."""
        self.clock |= {p: self.clock[p] + 1}


ENGINES = pytest.mark.parametrize("engine", ["reference", "generated", "native"])


@ENGINES
def test_every_engine_finds_the_same_states(engine: str) -> None:
    report = check(program(Clocks), engine=engine)
    assert (report.exploration.states, report.exploration.transitions) == (113, 594)
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}


def test_maps_are_ranged_over_passed_and_absent() -> None:
    bound = program(Ranged)
    for engine in ("generated", "native"):
        report = check(bound, engine=engine)
        assert (report.exploration.states, report.exploration.transitions) == (335, 2_844)
        assert report["one_is_warm"].outcome is Outcome.HOLDS
    reduced = check(bound, storage=StorageOptions(symmetry=True))
    assert reduced.exploration.states == 173
    assert "stand for 335 that differ" in reduced.notes[0]


@pytest.mark.parametrize(("processes", "states"), [(2, 113), (3, 18_001)])
def test_orbits_of_maps_that_are_keyed_by_a_symmetric_set_add_up(processes: int, states: int) -> None:
    bound = program(Clocks, processes=processes)
    report = check(bound, storage=StorageOptions(symmetry=True))
    assert check(bound).exploration.states == states
    assert report.exploration.states < states
    assert f"stand for {states:,} that differ" in report.notes[0]


def test_the_solver_and_the_search_agree() -> None:
    bound = program(HastyClocks)
    found = check(bound)["who_sends_knows_most_of_itself"].trace
    proved = check_bounded(bound, depth=4)["who_sends_knows_most_of_itself"].trace
    assert found is not None
    assert proved is not None
    assert len(found) == len(proved)


def test_a_set_of_messages_has_a_bit_for_each_choice_of_the_values_of_the_map_and_no_more() -> None:
    sizes = {"processes": 3, "sends": 2}
    bound = program(Clocks, **sizes)
    assert bound.domains["sent"].parts[0].cardinality == 3 * 3**3
    assert bound.domains["seen"].parts[0].cardinality == 3**3
    widths = {slot.name: slot.sort for slot in layout(bound).slots}
    assert widths["sent"] == Bits(81)
    assert widths["last[P(2)]"] == NumberSort(0, 2)


def after(bound: Program, state: State, *steps: Step) -> State:
    """The state that these steps of CPython lead to."""
    for step in steps:
        state = bound.reference.apply(state, step).state
    return state


def test_what_was_read_of_a_map_stays_what_it_was() -> None:
    bound = program(Clocks)
    [start] = bound.reference.initial()
    one = after(bound, start, Step("send", (P(0),)))
    clock, sent, seen, last, log, first = one
    assert clock == ((1, 0), (0, 0))
    assert last == Map({P(0): 0, P(1): 0})
    assert sent == {Stamped(P(0), Map({P(1): 0, P(0): 1}))}
    assert seen == {last, last | {P(0): 1}}
    assert (log, first) == ((Map({P(0): 1, P(1): 0}),), Stamped(P(0), log[0]))
    assert start[0] == ((0, 0), (0, 0))
    told = state_document(bound, one)
    assert told["sent"] == [{"#record": "Stamped", "sender": "p0", "clock": {"p0": 1, "p1": 0}}]
    assert told["last"] == {"p0": 0, "p1": 0}


def test_a_default_takes_its_keys_from_the_sizes_of_each_program() -> None:
    for processes in (2, 3):
        [start] = program(Waiting, processes=processes).reference.initial()
        assert start == (Row(Q(0), Map({Q(number): True for number in range(processes)})),)


def test_a_map_reads_in_one_glance_and_travels() -> None:
    clock = Map({P(1): 2, P(0): 1})
    assert compact(Stamped(P(0), clock)) == "Stamped(p0, {p0: 1, p1: 2})"
    assert repr(clock) == "Map({P(0): 1, P(1): 2})"
    assert dict(clock.items()) == {P(0): 1, P(1): 2}
    assert copy.deepcopy(clock) == clock
    assert hash(copy.deepcopy(clock)) == hash(clock)
    assert clock != Map({P(0): 1, P(1): 2, P(2): 0})
    assert clock != (1, 2)


def test_a_map_that_is_no_variable_is_not_assigned_to_and_has_no_other_keys() -> None:
    clock = Map({P(0): 1, P(1): 2})
    with pytest.raises(SpecError, match="a map is a value and never changes"):
        clock[P(0)] = 2
    with pytest.raises(SpecError, match=r"no such key; the keys are P\(0\), P\(1\)"):
        clock | {P(2): 0}
    with pytest.raises(SpecError, match="range over its keys"):
        list(clock)


def test_a_step_outside_the_values_of_a_map_is_a_bug_of_the_specification() -> None:
    bound = program(Overflowing)
    with pytest.raises(SpecError, match=r"self.clock\[P\(0\)\] = 2 leaves its domain, the integers 0 to 1"):
        after(bound, bound.reference.initial()[0], Step("count", (P(0),)), Step("count", (P(0),)))
    report = check(bound)
    assert report["specification"].outcome is Outcome.UNKNOWN


def test_traces_with_maps_are_written_and_read(tmp_path: Path) -> None:
    bound = program(HastyClocks)
    trace = check(bound)["who_sends_knows_most_of_itself"].trace
    assert trace is not None
    save(trace, tmp_path / "t.itf.json")
    assert load(tmp_path / "t.itf.json").states == trace.states
