"""The generated engine is the reference, only faster: the same graphs, verdicts, lengths, steps in the same
order, events and errors.
"""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from antiphon.conformance.compare.suites import check_engine, check_transitions
from antiphon.model.engines import Engine, compiled_machine, transitions_by
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.engines.python.transitions import _Memory
from antiphon.model.explore import check, state_graph
from antiphon.model.verdict import Report
from antiphon.spec.lang import Disabled, Program, SpecError, Step, Transition, program

INSTANCES: list[tuple[str, dict[str, Any]]] = [
    ("TwoPhase", {"managers": 2}),
    ("TwoPhase", {"managers": 3}),
    ("HastyCommit", {}),
    ("Post", {}),
    ("Post", {"again": True, "losses": 2}),
    ("Post", {"letters": 1, "nodes": 3}),
    ("JudgedPost", {"again": True}),
    ("Lamp", {}),
    ("Overflow", {}),
    ("Absent", {}),
    ("Nothing", {}),
    ("Starts", {}),
]
EACH = pytest.mark.parametrize(("name", "constants"), INSTANCES, ids=lambda value: str(value))


def summary(report: Report) -> tuple[Any, ...]:
    """Results on which two engines must agree; a search that ended in an error saw as much as its block size
    let it.
    """
    verdicts = {
        verdict.property: (
            verdict.kind,
            verdict.outcome,
            None if verdict.trace is None else len(verdict.trace),
        )
        for verdict in report.verdicts
    }
    seen = report.exploration
    return (
        verdicts,
        seen.complete,
        (seen.states, seen.transitions, seen.depth, seen.fired, seen.never_fired) if seen.complete else None,
    )


@pytest.mark.deep
def test_generated_python_answers_and_steps_as_the_reference_does(specs: SimpleNamespace) -> None:
    programs = [program(getattr(specs, name), **constants) for name, constants in INSTANCES]
    check_engine("generated", programs=programs)
    check_transitions(lambda bound: transitions_by(bound, Engine.GENERATED), programs=programs)


def reachable(bound: Program) -> list[Any]:
    found = dict.fromkeys(bound.reference.initial())
    for state in (todo := list(found)):
        try:
            for transition in bound.reference.successors(state):
                if transition.state not in found:
                    found[transition.state] = None
                    todo.append(transition.state)
        except SpecError:
            continue
    return list(found)


def transitions(bound: Program, state: Any) -> list[Transition] | str:
    """The transitions of the reference, or its error."""
    try:
        return list(bound.reference.successors(state))
    except SpecError as error:
        return str(error)


@pytest.mark.sampled(6)
@EACH
def test_the_compiled_machine_takes_the_same_steps_in_the_same_order(
    specs: SimpleNamespace, name: str, constants: dict[str, Any]
) -> None:
    bound = program(getattr(specs, name), **constants)
    machine = compiled_machine(bound)
    assert list(machine.initial()) == list(bound.reference.initial())
    for state in reachable(bound):
        expected = transitions(bound, state)
        if isinstance(expected, str):
            with pytest.raises(SpecError) as raised:
                list(machine.enabled(state))
            assert str(raised.value) == expected
            continue
        assert list(machine.enabled(state)) == [transition.step for transition in expected]
        assert [machine.apply(state, transition.step) for transition in expected] == expected


def test_the_compiled_machine_refuses_as_the_reference_does(specs: SimpleNamespace) -> None:
    bound = program(specs.TwoPhase)
    machine = compiled_machine(bound)
    (start,) = machine.initial()
    for step in (Step("obey_commit", (specs.RM(0),)), Step("learn_prepared", (specs.Prepared(specs.RM(1)),))):
        with pytest.raises(Disabled) as ours:
            machine.apply(start, step)
        with pytest.raises(Disabled) as theirs:
            bound.reference.apply(start, step)
        assert str(ours.value) == str(theirs.value)
    with pytest.raises(SpecError, match="no action 'fly'"):
        machine.apply(start, Step("fly"))
    overflow = program(specs.Overflow)
    with pytest.raises(SpecError, match="leaves its domain"):
        compiled_machine(overflow).apply((3, False), Step("step"))


@pytest.mark.sampled(3)
@EACH
def test_the_state_graph_has_what_the_search_saw(
    specs: SimpleNamespace, name: str, constants: dict[str, Any]
) -> None:
    bound = program(getattr(specs, name), **constants)
    report = check(bound, properties=())
    if not report.exploration.complete:
        with pytest.raises(SpecError):
            state_graph(bound)
        return
    for engine in ("generated", "reference"):
        graph = state_graph(bound, engine=engine)
        assert graph.graph["complete"]
        assert (graph.number_of_nodes(), graph.number_of_edges()) == (
            report.exploration.states,
            report.exploration.transitions,
        )
        initial = [state for _, state in graph.nodes(data="state") if state in bound.reference.initial()]
        assert sum(flag for _, flag in graph.nodes(data="initial")) == len(initial)


def test_edges_carry_step_events_and_what_breaks(specs: SimpleNamespace) -> None:
    graph = state_graph(program(specs.JudgedPost))
    edges = [data for _, _, data in graph.edges(data=True)]
    assert {data["step"].action for data in edges} == {"send", "read", "lose"}
    assert all(data["fault"] == (data["step"].action == "lose") for data in edges)
    assert any(data["broken"] == ("SameOrder",) for data in edges)
    assert all(len(data["events"]) <= 1 for data in edges)
    assert any(data["events"] for data in edges)


def test_what_is_remembered_does_not_change_the_result(
    specs: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps that are worked out in every state again, in blocks of another size, give the same answers."""
    bound = program(specs.JudgedPost, again=True)
    expected = summary(check(bound))
    monkeypatch.setattr(_Memory, "entries", property(lambda _: {}, lambda _, value: None), raising=False)
    monkeypatch.setattr(TransitionSpace, "block", 7)
    assert summary(check(bound)) == expected


SCRIPT = """
import sys
from antiphon.model.explore import check
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program
report = check(program(TwoPhase, managers=3))
print(report.exploration.fired)
for verdict in report.verdicts:
    steps = [str(step) for step in verdict.trace.steps] if verdict.trace else None
    print(verdict.property, verdict.outcome, steps)
from antiphon.model.engines import Engine, open_space
space = open_space(program(TwoPhase, managers=3), Engine.GENERATED)
done = 0
while done < len(space):
    space.expand(done, done + 1)
    done += 1
known = range(len(space))
print([space.value(state)[1].value for state in known], [space.parent(state) for state in known])
"""


@pytest.mark.deep
def test_two_runs_are_the_same_run_whatever_the_hash_seed() -> None:
    outputs = set()
    for seed in ("0", "1", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        outputs.add(ran.stdout)
    assert len(outputs) == 1
    assert "all_committed holds" in outputs.pop()
