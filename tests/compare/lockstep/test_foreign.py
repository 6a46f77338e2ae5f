"""Exceptions of an implementation or its binding, and attempts to end the process, are differences with their
steps; breaches of the rules of bindings are errors of the binding; chance is found, and never lost.
"""

import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.compare.lockstep.conftest import Node

from antiphon.conformance.compare.bindings import BindingError, Effect, Guarded
from antiphon.conformance.compare.lockstep import UNSTEADY, Difference, lockstep
from antiphon.conformance.compare.replay import on_implementation
from antiphon.conformance.compare.stateful import run_stateful
from antiphon.model.export import load, save
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program, Step


def exits() -> None:
    """Ask Python to end."""
    sys.exit(0)


def exits_at_once() -> None:
    """End the process."""
    os._exit(0)


def replaces() -> None:
    """Replace the process by another program."""
    os.execv("/bin/true", ["/bin/true"])


def interrupts() -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does."""
    raise KeyboardInterrupt


def closes() -> None:
    """Raise GeneratorExit, as a closed generator does."""
    raise GeneratorExit


def descends() -> None:
    """Recurse for ever."""
    descends()


def fails() -> None:
    """Raise an ordinary error."""
    raise RuntimeError("the database is locked")


WAYS = [exits, exits_at_once, replaces, interrupts, closes, descends, fails]
METHODS = ["start", "stimulus", "perform", "drive", "offers", "project", "join"]


def spoiled(flood: Any, monkeypatch: pytest.MonkeyPatch, method: str, way: Callable[[], None]) -> None:
    """Let a method do that once node 0 has laughed; the first time where it is asked about no node."""
    honest = getattr(flood, method)

    def call(*given: Any) -> Any:
        if method in ("start", "join") or "laugh" in str(given):
            way()
        return honest(*given)

    monkeypatch.setattr(flood, method, call)


def walked(flood: Any) -> Difference | None:
    return lockstep(flood).difference


def tried(flood: Any) -> Difference | None:
    return run_stateful(flood, runs=30, seed_number=0).difference


@pytest.mark.parametrize("find", [walked, tried])
@pytest.mark.parametrize("method", METHODS)
def test_an_exception_in_any_call_is_a_difference_with_the_shortest_steps(
    flood: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, method: str, find: Any
) -> None:
    spoiled(flood, monkeypatch, method, fails)
    found = find(flood)
    assert found is not None
    assert "the implementation raises" in found.what
    assert "RuntimeError: the database is locked" in str(found)
    assert "test_foreign.py:" in str(found)
    assert len(found.trace) == (0 if method in ("start", "join") else 2)
    save(found.trace, tmp_path / "found.itf.json")
    assert on_implementation(load(tmp_path / "found.itf.json"), flood).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("find", [walked, tried])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_that_a_step_raises_ends_more_than_the_step(
    flood: Any, monkeypatch: pytest.MonkeyPatch, way: Callable[[], None], find: Any
) -> None:
    spoiled(flood, monkeypatch, "perform", way)
    found = find(flood)
    assert found is not None
    assert [str(step) for step in found.trace.steps] == ["begin(Node(0))", "laugh(Node(0))"]


@pytest.mark.parametrize(
    ("method", "gives", "says"),
    [
        ("start", Effect([]), "a snapshot must be hashable and immutable"),
        ("start", None, "None, not an Effect"),
        ("start", Effect(0, events=[1]), "its events are a tuple"),  # type: ignore[arg-type]
        ("start", Effect(0, sent=((1, "text"),)), "a tuple of \\(packet, bytes\\)"),  # type: ignore[arg-type]
        ("stimulus", 3, "not a Stimulus"),
        ("offers", {3}, "an int in it; it is a set of Steps"),
        ("offers", None, "None in it; it is a set of Steps"),
        ("project", None, "not a mapping"),
    ],
)
def test_what_breaks_the_rules_of_bindings_is_an_error_of_the_binding(
    flood: Any, monkeypatch: pytest.MonkeyPatch, method: str, gives: object, says: str
) -> None:
    monkeypatch.setattr(flood, method, lambda *_: gives)
    for ask in (lockstep, run_stateful):
        with pytest.raises(BindingError, match=says):
            ask(flood)


def test_a_binding_without_an_attribute_is_an_error_of_the_binding(flood: Any) -> None:
    with pytest.raises(BindingError, match="has no attribute 'program'"):
        Guarded(object())  # type: ignore[arg-type]
    assert isinstance(Guarded(flood).program, Program)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("program", 3, "is an int, not program"),
        ("members", "1", "is a str, not a number"),
        ("links", None, "is None, not a tuple of links"),
        ("exempt", None, "is None, not a mapping"),
        ("internal", None, "is None, not a set"),
    ],
)
def test_an_attribute_of_another_kind_is_an_error_of_the_binding(
    flood: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: object, says: str
) -> None:
    monkeypatch.setattr(flood, name, value)
    with pytest.raises(BindingError, match=says):
        lockstep(flood)


class Odd:
    """A value, of a snapshot or an event, whose own method fails."""

    def __init__(self, method: str) -> None:
        self.method = method

    def __eq__(self, other: object) -> bool:
        return self._or_fail("__eq__") and self is other

    def __hash__(self) -> int:
        return self._or_fail("__hash__")

    def __repr__(self) -> str:
        return str(self._or_fail("__repr__"))

    def _or_fail(self, method: str) -> bool:
        if method == self.method:
            raise ZeroDivisionError(f"in {method}")
        return True


@pytest.mark.parametrize("find", [walked, tried])
@pytest.mark.parametrize(
    ("method", "is_event", "says"),
    [
        ("__hash__", False, "ZeroDivisionError: in __hash__"),
        ("__eq__", False, "the implementation"),
        ("__eq__", True, "events"),
        ("__repr__", True, "a tuple that cannot be shown: ZeroDivisionError"),
    ],
)
def test_what_an_implementation_gives_may_fail_when_it_is_looked_at(
    flood: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    method: str,
    is_event: bool,
    says: str,
    find: Any,
) -> None:
    honest = flood.perform

    def perform(me: int, snapshot: Any, step: Any, datagram: bytes | None) -> Effect:
        effect: Effect = honest(me, snapshot, step, datagram)
        if step.action != "laugh":
            return effect
        odd = Odd(method)
        return Effect(effect.after, events=(odd,)) if is_event else Effect((effect.after, odd))

    project = flood.project
    monkeypatch.setattr(flood, "perform", perform)
    monkeypatch.setattr(
        flood, "project", lambda me, found: project(me, found[0] if isinstance(found, tuple) else found)
    )
    found = find(flood)
    assert found is not None
    assert says in str(found)
    assert len(found.shown().splitlines()) > 3
    save(found.trace, tmp_path / "found.itf.json")


def lucky(flood: Any, monkeypatch: pytest.MonkeyPatch, draws: Callable[[], bool]) -> None:
    """Nodes that do not laugh, now and then, when they should."""
    honest = flood.perform

    def perform(me: int, snapshot: Any, step: Any, datagram: bytes | None) -> Effect:
        if step.action == "laugh" and draws():
            return Effect(snapshot)
        effect: Effect = honest(me, snapshot, step, datagram)
        return effect

    monkeypatch.setattr(flood, "perform", perform)


def test_chance_out_of_the_global_generator_differs_between_runs_and_comes_again(
    flood: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Hypothesis sets the global `random` alike for every run, which would try one draw of many only."""
    lucky(flood, monkeypatch, lambda: random.randrange(20) == 7)
    first, second = (run_stateful(flood, runs=100, seed_number=1) for _ in range(2))
    assert first.difference is not None
    assert second.difference is not None
    assert first.difference.trace.steps == second.difference.trace.steps
    assert UNSTEADY not in first.difference.what
    save(first.difference.trace, tmp_path / "found.itf.json")
    assert on_implementation(load(tmp_path / "found.itf.json"), flood).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("method", ["start", "perform", "offers", "project"])
def test_a_walk_sees_what_is_something_else_the_second_time(
    flood: Any, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The first time each call says what the specification does."""
    turns, honest = Counter[str](), getattr(flood, method)
    others: dict[str, Any] = {
        "start": Effect(frozenset({"otherwise"})),
        "perform": Effect(frozenset({"otherwise"})),
        "offers": frozenset({Step("laugh", (Node(0),))}),
        "project": {"knows": True, "laughed": True, "anybody": True},
    }

    def call(*given: Any) -> Any:
        asked = str(given)
        turns[asked] += 1
        return honest(*given) if turns[asked] == 1 else others[method]

    monkeypatch.setattr(flood, method, call)
    report = lockstep(flood)
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert "raises" not in report.difference.what


def test_a_difference_that_does_not_come_again_is_told_as_chance(
    flood: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A replay that does not meet it is unknown, and never holds."""
    left = [1]

    def once() -> bool:
        left[0] -= 1
        return left[0] == 0

    lucky(flood, monkeypatch, once)
    report = run_stateful(flood, runs=30, seed_number=0)
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert UNSTEADY in report.difference.what
    save(report.difference.trace, tmp_path / "found.itf.json")
    assert on_implementation(load(tmp_path / "found.itf.json"), flood).outcome is Outcome.UNKNOWN
