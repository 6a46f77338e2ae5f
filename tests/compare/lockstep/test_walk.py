"""Lockstep takes every transition of the bounded model on the real code, and what it leaves out is sampled,
bounded or refused.
"""

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import BindingError, Effect, binding_of
from antiphon.conformance.compare.bindings.rbp import RbpBinding
from antiphon.conformance.compare.lockstep import Comparison, lockstep, walk
from antiphon.conformance.compare.suites import check_binding
from antiphon.conformance.report import diagram, text_diagram
from antiphon.model import limits
from antiphon.model.bounds import Bounds
from antiphon.model.engines import compiled_machine, transitions_of
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Step

SMALL = {"processes": 2, "messages": 1}


def test_every_transition_of_two_processes_agrees() -> None:
    """One loss, one retransmission; the numbers are those of the explicit checker."""
    report = lockstep(binding_of("rbp", **SMALL))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.states, report.pairs, report.compared) == (4_760, 1_286, 1_286, 4_760)
    assert report.complete
    assert sum(report.fired.values()) == 4_760
    assert set(report.fired) == {
        method.name for method in report.program.declaration.marked("action", "environment")
    } - {"receive_request_numbers"}
    assert report.executed < 200
    assert report.replayed == 50


@pytest.mark.deep
def test_every_transition_of_three_processes_agrees() -> None:
    """Every action takes part. Some states are met with two systems: equal packets of two senders."""
    report = lockstep(binding_of("rbp", processes=3, messages=1, urgent=True))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.states) == (172_657, 46_899)
    assert report.pairs > report.states
    assert report.compared > report.transitions
    assert report.repeated > 50
    assert set(report.fired) == {
        method.name for method in report.program.declaration.marked("action", "environment")
    }


@pytest.mark.deep
def test_the_reference_walks_the_same() -> None:
    """CPython executes the specification instead of generated code; what was walked is the same, to the last
    number.
    """
    binding = binding_of("rbp", **SMALL, losses=0)
    slow, fast = lockstep(binding, binding.program.reference), lockstep(binding)
    assert (slow.transitions, slow.states, slow.pairs, slow.fired) == (
        fast.transitions,
        fast.states,
        fast.pairs,
        fast.fired,
    )
    assert slow.executed == fast.executed


@pytest.mark.deep
def test_what_is_remembered_is_what_the_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly every transition executed again and compared by value, among them packets with several
    datagrams.
    """
    monkeypatch.setattr(walk, "AGAIN", 1)
    report = lockstep(binding_of("rbp", processes=3, messages=1, urgent=True), max_transitions=6_000)
    assert report.difference is None
    assert report.repeated > 1_000


@pytest.mark.parametrize("machine", ["generated", "compiled", "reference"])
def test_edges_are_the_transitions_of_the_reference(machine: str) -> None:
    binding = binding_of("rbp", **SMALL, losses=0, timeouts=0)
    reference = binding.program.reference
    edges = transitions_of(
        binding.program,
        {"generated": None, "compiled": compiled_machine(binding.program), "reference": reference}[machine],
    )
    todo, seen = [edges.pack(state) for state in reference.initial()], set[int]()
    while todo:
        packed = todo.pop()
        if packed in seen:
            continue
        seen.add(packed)
        found = {
            edges.step(number): (edges.unpack(after), edges.events(packed, number))
            for number, after in edges.successors(packed)
        }
        state = edges.unpack(packed)
        wanted = {step: reference.apply(state, step) for step in reference.enabled(state)}
        assert found == {step: (transition.state, transition.events) for step, transition in wanted.items()}
        todo += [after for _, after in edges.successors(packed)]
    assert len(seen) > 20


def test_another_protocol_is_walked_by_the_same_code(flood: Any) -> None:
    """Packets that stay in flight, a variable that is no map, steps in any order."""
    report = lockstep(flood)
    assert report.outcome is Outcome.HOLDS, report.difference
    assert (report.states, report.transitions) == (15, 24)
    assert report.fired == {"begin": 1, "hear": 6, "laugh": 17}


def test_the_binding_of_another_protocol_keeps_the_rules_of_all(flood: Any) -> None:
    check_binding(type(flood))


def test_a_share_that_is_not_joined_rightly_differs(flood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood, "join", lambda _variable, shares: all(shares))
    report = lockstep(flood)
    assert report.difference is not None
    assert report.difference.what == "variable anybody"
    assert len(report.difference.trace) == 1


def test_other_events_differ(flood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    perform = flood.perform
    monkeypatch.setattr(
        flood, "perform", lambda *arguments: Effect(perform(*arguments).after, perform(*arguments).sent)
    )
    report = lockstep(flood)
    assert report.difference is not None
    assert report.difference.what == "events"
    assert report.difference.specification
    assert report.difference.trace.transitions[-1].events == (), "the picture shows what the code did"
    assert "»" not in text_diagram(diagram(report.difference.trace)).plain.splitlines()[-2]


def test_an_offer_too_many_is_found_before_a_longer_difference(
    flood: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At depth 1 node 0 would laugh twice; at depth 2 a step differs. The shorter trace is shown, though the
    step was walked first.
    """
    offers, perform = flood.offers, flood.perform
    extra = Step("laugh", (None,))
    monkeypatch.setattr(
        flood,
        "offers",
        lambda me, snapshot: offers(me, snapshot) | ({extra} if me == 0 and snapshot else frozenset()),
    )
    monkeypatch.setattr(
        flood, "perform", lambda me, *rest: Effect(frozenset({"other"})) if me == 1 else perform(me, *rest)
    )
    report = lockstep(flood)
    assert report.difference is not None
    assert report.difference.what == "steps that only one side would take"
    assert len(report.difference.trace) == 1


def test_code_that_depends_on_more_than_its_snapshot_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that peeks at a global does something else the second time; the sample executes steps a second
    time.
    """

    class Peeking(RbpBinding):
        calls = 0

        def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
            effect = super().perform(me, snapshot, step, datagram)
            Peeking.calls += 1
            return effect if Peeking.calls < 100 else Effect(effect.after, (), effect.events)

    monkeypatch.setattr(walk, "AGAIN", 1)
    report = lockstep(Peeking(**SMALL))
    assert report.outcome is Outcome.VIOLATED


def test_a_bound_that_ends_the_walk_is_no_pass() -> None:
    report = lockstep(binding_of("rbp", **SMALL), max_transitions=100)
    assert report.outcome is Outcome.UNKNOWN
    assert not report.complete
    assert 100 <= report.transitions < 150


@pytest.mark.parametrize(
    "bounds", [Bounds(states=100), Bounds(seconds=0.0), Bounds(depth=3), Bounds(memory_mb=1)]
)
def test_every_bound_ends_the_walk_and_is_named(bounds: Bounds) -> None:
    report = lockstep(binding_of("rbp", **SMALL), bounds=bounds)
    assert report.outcome is Outcome.UNKNOWN
    assert str(report.stopped).startswith("the bound of")
    assert report.states < 150


def test_progress_tells_pairs_transitions_and_queue() -> None:
    told: list[tuple[int, int, int]] = []
    lockstep(binding_of("rbp", **SMALL), progress=lambda *numbers: told.append(numbers))
    assert told[-1] == (1_286, 4_760, 0)
    assert told == sorted(told, key=lambda numbers: numbers[:2])


def test_the_sample_depends_on_the_seed_alone() -> None:
    reports = [lockstep(binding_of("rbp", **SMALL), seed=seed, max_transitions=1_000) for seed in (4, 4)]
    assert len({(report.repeated, report.replayed, report.executed) for report in reports}) == 1


def test_a_variable_that_is_neither_projected_nor_exempt_is_an_error(
    flood: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = flood.project

    def forgetful(me: int, snapshot: Any) -> Mapping[str, object]:
        return MappingProxyType(
            {name: value for name, value in project(me, snapshot).items() if name != "laughed"}
        )

    monkeypatch.setattr(flood, "project", forgetful)
    with pytest.raises(BindingError, match="neither projects nor exempts 'laughed'"):
        lockstep(flood)


def test_an_exemption_of_nothing_is_an_error(flood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flood, "exempt", {"weather": "is not modelled here"})
    with pytest.raises(BindingError, match="exempts weather, which Flood does not have"):
        Comparison(flood)


@pytest.mark.deep
def test_a_bound_that_is_reached_with_the_last_pair_leaves_nothing_out() -> None:
    binding = binding_of("rbp", **SMALL)
    whole = lockstep(binding)
    exact = lockstep(binding, max_transitions=whole.transitions)
    assert (exact.complete, exact.transitions, exact.stopped) == (True, whole.transitions, None)
    assert not lockstep(binding, max_transitions=whole.transitions // 2).complete


def test_the_seconds_include_what_is_compiled_first(flood: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands still, but for what compiling is said to take."""
    now = [0.0]

    def compiled(*given: Any) -> Comparison:
        now[0] += 100
        return Comparison(*given)

    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(walk, "Comparison", compiled)
    assert lockstep(flood).seconds == 100
    assert lockstep(flood, bounds=Bounds(seconds=50)).outcome is Outcome.UNKNOWN
