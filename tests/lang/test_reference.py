"""The reference machine does what CPython does with the text, and says where a specification is wrong."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Annotated

import pytest
from tests.lang.texts import unmarked, with_body, with_methods

from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import (
    Between,
    Disabled,
    Index,
    Machine,
    Map,
    Program,
    Set,
    Spec,
    SpecError,
    State,
    Step,
    action,
    everywhere,
    program,
    record,
    require,
    types,
)


class Side(Index, size=2):
    """One of two."""


@record
class Mail:
    """A record with a field, a method and a property."""

    to: Side

    @property
    def answer(self) -> Side:
        """Return the other side."""
        return Side(1 - self.to.index)


@record
class Letter(Mail):
    """A record whose fields are those of its base; a constant is none."""

    weight = 3


@record
class Nothing:
    """A record without fields."""

    @classmethod
    def made(cls) -> Nothing:
        """Return the only value."""
        return cls()


class Overfull(Spec):
    """Specification that writes a value other than a bool into a map of maps."""

    deep: Map[Side, Map[Side, bool]] = everywhere(everywhere(False))

    @action
    def write(self) -> None:
        self.deep[Side(0)][Side(0)] = 3  # type: ignore[assignment]


class Several(Spec):
    """Specification with a set that can be large."""

    numbers: Set[Annotated[int, Between(0, 100)]] = Set()


def test_what_a_record_has_beside_fields_needs_no_type() -> None:
    assert (Letter(Side(0)).answer, Letter.weight, Nothing.made()) == (Side(1), 3, Nothing())


def explored(bound: Program) -> tuple[set[State], int]:
    """All reachable states, and the number of transitions out of them."""
    machine = bound.reference
    seen = dict.fromkeys(machine.initial())
    waiting, transitions = deque(seen), 0
    while waiting:
        for transition in machine.successors(waiting.popleft()):
            transitions += 1
            if transition.state not in seen:
                seen[transition.state] = None
                waiting.append(transition.state)
    return set(seen), transitions


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("managers", "states", "transitions"), [(3, 288, 1145), (5, 8832, 58145)])
def test_two_phase_commit_has_its_known_states(managers: int, states: int, transitions: int) -> None:
    """Gray and Lamport, "Consensus on Transaction Commit", 2006; the numbers of states are those that other
    checkers pin.
    """
    bound = program(TwoPhase, managers=managers)
    seen, steps = explored(bound)
    assert (len(seen), steps) == (states, transitions)
    assert all(bound.reference.holds(state, "consistent") for state in itertools.islice(seen, 300))


def _bound(methods: str, **constants: int | bool | str) -> tuple[Program, State]:
    bound = program(with_methods(methods)[0], **constants)
    return bound, bound.reference.initial()[0]


def _value(bound: Program, state: State, name: str) -> object:
    return state[bound.variables.index(name)]


def test_the_elements_of_a_large_set_are_looked_at_once_and_by_their_types() -> None:
    """Two that are equal may have other types: True is no 1, also behind a set with a 1."""
    domain = program(Several).domains["numbers"]
    large = frozenset(range(100))
    assert domain.contains(large)
    assert domain.contains(large | {100})
    assert not domain.contains((large - {1}) | {True})
    assert not domain.contains(large | {101})
    assert not domain.contains(large | {"x"})


def test_a_machine_is_a_machine() -> None:
    machine: Machine = _bound("")[0].reference
    assert len(machine.initial()) == 1


def test_a_false_guard_is_located_and_told() -> None:
    cls, place = with_body("«require(self.b and\n        self.n == 0)")
    with pytest.raises(Disabled) as caught:
        program(cls).reference.apply(program(cls).reference.initial()[0], Step("step"))
    assert (caught.value.at, caught.value.guard) == (place, "self.b and self.n == 0")


def test_gates_stop_actions_but_not_the_environment() -> None:
    bound, start = _bound("""
@guard
def up(self, q: Q) -> bool:
    return q not in self.qs_seen
@environment
def crash(self, q: Q) -> None:
    self.qs_seen |= {q}
@action
def go(self, q: Q) -> None:
    self.who = q
""")
    who = bound.domains["who"].value(0)
    crashed = bound.reference.apply(start, Step("crash", (who,))).state
    assert bound.reference.apply(crashed, Step("crash", (who,))).state == crashed
    with pytest.raises(Disabled) as caught:
        bound.reference.apply(crashed, Step("go", (who,)))
    assert caught.value.guard == "self.up(q)"
    assert [str(step) for step in bound.reference.enabled(crashed)] == [
        "crash(Q(0))",
        "crash(Q(1))",
        "go(Q(1))",
    ]


def test_handlers_run_at_every_event_and_name_what_breaks() -> None:
    bound, start = _bound("""
@action
def go(self, n: Small) -> None:
    emit(Happened(n))
    self.n = n
@on(Happened)
def judge(self, event: Happened) -> None:
    expect(event.n > self.n, "Growing", Happened(self.n))
    self.b = True
""")
    fine = bound.reference.apply(start, Step("go", (2,)))
    assert (fine.refused, [event.n for event in fine.events], _value(bound, fine.state, "b")) == (
        (),
        [2],
        True,
    )
    (refusal,) = bound.reference.apply(fine.state, Step("go", (1,))).refused
    assert (refusal.property, refusal.guard) == ("Growing", "event.n > self.n")
    assert (refusal.event.n, refusal.clash.n) == (1, 2)  # type: ignore[attr-defined]


def test_initial_states_range_over_their_parameters() -> None:
    bound, _ = _bound("""
@initial
def start(self, q: Q, n: Small) -> None:
    require(n <= 1)
    self.who = q
    self.n = n
""")
    initial = bound.reference.initial()
    found = [(str(_value(bound, state, "who")), _value(bound, state, "n")) for state in initial]
    assert found == [
        ("Q(0)", 0), ("Q(0)", 1), ("Q(1)", 0), ("Q(1)", 1),
    ]  # fmt: skip


WRONG = [
    ("self.n = «self.top + 1", "self.n = 4 leaves its domain"),
    ("«self.n -= 1", "self.n = -1 leaves its domain"),
    ("self.slot[«self.top + 1] = None", "no such key"),
    ("self.q = self.slot[«self.top + 1]", "no such key"),
    ("self.who = «present(self.q)", "present(None)"),
    ("self.who = «Q(2)", "Q(2) leaves its domain"),
    ("self.pair = «Ping(self.who, self.top + 1)", "leaves its domain"),
    ("self.n = self.n // «self.n", "ZeroDivisionError"),
    ("self.n = «self.queue[0]", "IndexError"),
    ("self.queue = (0, 0, 0)", "leaves its domain"),
    ("self.smalls |= {self.top + 1}", "leaves its domain"),
    ("self.n = «next(x for x in self.queue)", "StopIteration"),
    ("self.n = «max(x for x in self.queue)", "ValueError"),
    ("unused = self.queue[0]", "IndexError"),
    ("unused = self.twice(self.top + 1)", "twice(n=4) leaves its domain"),
    ("self.put(self.who, self.top + 1)", "put(n=4) leaves its domain"),
    ("self.b = self.b or self.owner(present(self.q)) is None", "present(None)"),
]


@pytest.mark.parametrize(("body", "reason"), WRONG)
def test_a_failing_check_is_a_located_error_not_a_guard(body: str, reason: str) -> None:
    text, _ = unmarked(body, "")
    cls, _ = with_body(text + "\nself.b = True")
    with pytest.raises(SpecError) as caught:
        program(cls).reference.apply(program(cls).reference.initial()[0], Step("step"))
    assert reason in caught.value.reason
    assert caught.value.at is not None
    assert caught.value.at.file.startswith("<test")
    assert caught.value.at.line > 60


def test_what_a_guard_protects_is_not_evaluated() -> None:
    cls, _ = with_body("require(self.q is not None and present(self.q) == self.who)\nself.n = self.queue[0]")
    with pytest.raises(Disabled):
        program(cls).reference.apply(program(cls).reference.initial()[0], Step("step"))


def test_maps_keep_what_no_step_looks_at_and_take_what_one_writes() -> None:
    """At one key, at one key of a map of maps, or as a whole; a step that fails leaves nothing behind."""

    class Boxes(Spec):
        untouched: Map[Side, bool] = everywhere(True)
        flat: Map[Side, Annotated[int, Between(0, 2)]] = everywhere(1)
        deep: Map[Side, Map[Side, bool]] = everywhere(everywhere(False))

        @action
        def write(self, a: Side, b: Side) -> None:
            self.deep[a][b] = not self.deep[b][a]
            self.flat[a] += 1

        @action
        def clear(self) -> None:
            self.flat = everywhere(0)
            require(self.flat[Side(0)] == 0 and not self.deep[Side(0)][Side(1)])

    machine = program(Boxes).reference
    (start,) = machine.initial()
    after = machine.apply(start, Step("write", (Side(0), Side(1)))).state
    assert after == ((True, True), (2, 1), ((False, True), (False, False)))
    assert after[0] is start[0]
    with pytest.raises(Disabled):
        machine.apply(after, Step("clear"))
    assert machine.apply(start, Step("clear")).state == (start[0], (0, 0), start[2])
    with pytest.raises(SpecError, match="leaves its domain"):
        machine.apply(after, Step("write", (Side(0), Side(0))))
    with pytest.raises(SpecError, match=r"self.deep\[Side\(0\)\]\[Side\(0\)\] = 3"):
        program(Overfull).reference.apply(start[2:], Step("write"))


def test_helpers_get_sets_that_cannot_change() -> None:
    bound, start = _bound("""
def first(self, qs: Set[Q]) -> Set[Q]:
    return qs | {self.who}
@action
def go(self) -> None:
    found = self.first({self.who})
    self.packets |= {Ping(self.who, len(found))}
    self.qs_seen = self.first(found)
""")
    after = bound.reference.apply(start, Step("go")).state
    assert _value(bound, after, "qs_seen") == frozenset({bound.domains["who"].value(0)})


def test_steps_that_are_none_are_refused() -> None:
    bound, start = _bound("@action\ndef go(self, n: Small) -> None:\n    self.n = n")
    for step, reason in (
        (Step("come"), "no action 'come'"),
        (Step("go"), "takes 1 arguments"),
        (Step("go", (9,)), "leaves the domain"),
    ):
        with pytest.raises(SpecError, match=reason):
            bound.reference.apply(start, step)


BINDINGS = [
    ({"tpo": 3}, "did you mean 'top'"),
    ({"top": True}, "it is an int"),
    ({"repairs": ["nothing"]}, "no repair 'nothing'"),
]


@pytest.mark.parametrize(("constants", "reason"), BINDINGS)
def test_constants_are_bound_by_name_and_kind(constants: dict[str, object], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        program(with_methods("")[0], **constants)  # type: ignore[arg-type]


def test_the_digest_changes_with_text_and_constants_only() -> None:
    one = program(with_body("self.n = 1")[0])
    moved = program(with_body("\n\nself.n = 1")[0])
    other = program(with_body("self.n = 2")[0])
    assert one.digest == moved.digest
    assert len({one.digest, other.digest, one.with_constants(top=2).digest}) == 3


def test_a_type_has_one_domain_for_all_constants_that_agree_in_what_its_sizes_name() -> None:
    numbers = types.Optional(types.Int("least", "most + 1"))
    constants = {"least": 0, "most": 2, "losses": 1}
    domain = types.bind(numbers, constants)
    assert types.bind(numbers, constants | {"losses": 5, "repaired": True}) is domain
    assert types.bind(numbers, constants | {"most": 3}).cardinality == domain.cardinality + 1
    with pytest.raises(SpecError, match=r"'most', which is no integer constant .* least, losses"):
        types.bind(numbers, {"least": 0, "losses": 1})


@pytest.mark.parametrize(
    ("kind", "inside", "outside"),
    [
        (types.Bool(), [False, True], [0, None]),
        (types.Int(1, "top"), [1, 3], [0, 4, True, None]),
        (types.Optional(types.Int(1, "top")), [None, 2], [False, 4]),
        (types.SetOf(types.Bool()), [frozenset(), frozenset({True})], [{True}, frozenset({1, None})]),
        (types.SequenceOf(types.Bool(), "top"), [(), (True, False, True)], [[True], (True,) * 4, (None,)]),
        (types.Enumeration("Reading", ("one", "other")), ["one"], ["neither"]),
        (types.MapOf(types.Bool(), types.Int(1, "top")), [(1, 3)], [(1,), (1, 0), 1, {False: 1, True: 1}]),
        (types.Optional(types.MapOf(types.Bool(), types.Bool())), [None], [(True, True)]),
    ],
)
def test_a_domain_contains_its_values_and_nothing_that_equals_them(
    kind: types.Type, inside: list[object], outside: list[object]
) -> None:
    domain = types.bind(kind, {"top": 3})
    assert [value for value in inside if not domain.contains(value)] == []
    assert [value for value in outside if domain.contains(value)] == []
