"""All that a check does obeys its bounds, and the seconds that it reports are those of all of it.

The clock is the test's: it stands still but for what the test lets a phase take.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any

import pytest

import antiphon
from antiphon.model.bounds import Bounds, Enough, Progress, Stop, StopReason
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore import liveness
from antiphon.model.explore.verdicts import Judge
from antiphon.model.limits import count_from, leaving, only_time, under_limits
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    Between,
    Spec,
    action,
    always_eventually,
    initial,
    invariant,
    obligation,
    require,
    watch,
)
from antiphon.spec.lang.reference import Reference
from antiphon.spec.lang.watch import working

spaces = import_module("antiphon.model.engines.over_transitions")
checking = import_module("antiphon.model.explore.checking")
judging = import_module("antiphon.model.explore.liveness.judge")
"""The module; the package has a function of its name."""

Number = Annotated[int, Between(0, 99)]


class Walk(Spec):
    """Up, and sometimes back to the beginning."""

    number: Number = 0

    @initial
    def begin(self, first: Number) -> None:
        """Begin with a low number."""
        require(first * first < 10)
        self.number = first

    @action(fairness="weak")
    def up(self) -> None:
        """Count up by one."""
        require(self.number < 99)
        self.number += 1

    @invariant
    def NotEverything(self) -> bool:
        """True, after a loop whose rounds an engine unrolls."""
        return any(n > self.number for n in self.each(Number)) or self.number == 99

    @obligation
    def Arrives(self) -> bool:
        """The count ends at 99."""
        return self.number == 99

    def is_home(self) -> bool:
        """The count is zero."""
        return self.number == 0

    comes_home = always_eventually("is_home")


class Clock:
    """Stands still; `let` makes a function take so many seconds."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.patch = 0.0, monkeypatch
        for module in ("limits", "explore.explorer"):
            monkeypatch.setattr(f"antiphon.model.{module}.time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(watch, "SMALL", 1)

    def let(self, where: Any, name: str, seconds: float) -> None:
        """Whenever the function is called, the clock goes on before it does anything."""
        function: Callable[..., Any] = getattr(where, name)

        def taking(*given: Any, **named: Any) -> Any:
            self.now += seconds
            return function(*given, **named)

        self.patch.setattr(where, name, taking)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time, as the checkers see it."""
    return Clock(monkeypatch)


def test_the_seconds_of_a_report_include_beginning_compiling_confirming_and_liveness(clock: Clock) -> None:
    clock.let(Reference, "_beginnings", 1)
    clock.let(PythonTransitions, "__init__", 10)
    clock.let(Judge, "_judge", 100)
    clock.let(liveness, "judge", 1_000)
    clock.let(judging, "find_lasso", 10_000)
    report = antiphon.check(Walk)
    assert report.exploration.states == 100
    assert report.exploration.seconds == clock.now
    assert clock.now == 11_221, "begun once, compiled for the search and for liveness, two judged, one lasso"


@pytest.mark.parametrize(
    ("where", "name", "undecided", "phase"),
    [
        (Reference, "_beginnings", {"NotEverything", "Arrives", "comes_home"}, "trying ways to begin"),
        (PythonTransitions, "__init__", {"NotEverything", "Arrives", "comes_home"}, "generating up"),
        (Judge, "_future", {"Arrives", "comes_home"}, "compiling"),
        (spaces, "futures", {"Arrives", "comes_home"}, "judging obligations, "),
        (judging, "find_lasso", {"comes_home"}, "judging liveness, 0 states"),
    ],
)
def test_whatever_takes_too_long_is_ended_and_named(
    clock: Clock, where: Any, name: str, undecided: set[str], phase: str
) -> None:
    clock.let(where, name, 60)
    report = antiphon.check(Walk, max_seconds=50)
    assert {item.property for item in report.verdicts if item.outcome == "unknown"} == undecided
    reasons = {item.reason for item in report.verdicts if item.property in undecided}
    assert any(phase in reason for reason in reasons), reasons
    assert all(reason.startswith("not decided: the bound of 50 seconds") for reason in reasons)


def test_what_was_found_before_the_time_was_over_is_judged_and_confirmed(clock: Clock) -> None:
    """Confirming is not cut short: what is violated stays violated, however late."""
    clock.let(Judge, "_trace", 1_000)

    class Wrong(Walk):
        @invariant
        def Low(self) -> bool:
            """Number below 50: broken there."""
            return self.number < 50

    report = antiphon.check(Wrong, max_seconds=50, properties=["Low"])
    assert report["Low"].outcome == "violated"
    assert report.exploration.seconds == 1_000


def test_a_phase_reports_its_progress(clock: Clock) -> None:
    told: list[Progress] = []
    clock.let(watch, "working", 0)
    with under_limits(Bounds(seconds=10), told.append) as limits:
        clock.now += 1
        watch.working("sorting", large=True)
        watch.working("sorting", large=True)
        clock.now += 10
        with pytest.raises(Enough) as ended, under_limits(Bounds(seconds=1_000)):
            watch.working("sorting", large=True)
    assert [(item.phase, item.seconds) for item in told] == [("sorting", 1)]
    assert ended.value.stop.reason is StopReason.SECONDS
    assert str(ended.value) == "the bound of 10 seconds, while sorting"
    assert limits.elapsed() == 11
    watch.working("nobody is watching", large=True)


def test_z3_ends_where_the_time_is_over_before_it_is_asked(clock: Clock) -> None:
    clock.let(Reference, "_beginnings", 60)
    report = antiphon.check(Walk, engine="z3", max_depth=2, max_seconds=50, properties=["NotEverything"])
    assert report["NotEverything"].outcome == "unknown"
    assert "the bound of 50 seconds, while trying ways to begin" in report["NotEverything"].reason


def test_walks_and_refinements_end_while_they_are_compiled(clock: Clock) -> None:
    clock.let(PythonTransitions, "__init__", 60)

    class Mapped(Walk, refines=Walk):
        """A walk refined by itself."""

    for report in (antiphon.simulate(Walk, walks=9, max_seconds=50), antiphon.refine(Mapped, max_seconds=50)):
        assert {item.outcome.value for item in report.verdicts} == {"unknown"}
        assert "the bound of 50 seconds, while generating up" in report.verdicts[0].reason


def test_a_search_leaves_a_part_of_what_is_left_of_the_time() -> None:
    with under_limits(Bounds(seconds=1e6)):
        half = leaving(Bounds(seconds=1e6), 0.5)
    assert half.part == pytest.approx(0.5, abs=1e-3)
    assert half.reached(0, 6e5) is not None
    assert half.reached(0, 4e5) is None
    assert str(half.reached(0, 6e5)) == "the bound of 1e+06 seconds"
    assert leaving(Bounds(), 0.5) == Bounds()


def test_of_what_a_search_has_found_is_judged_what_there_is_time_for() -> None:
    """A bound on states leaves all the time for it; where memory is short it is judged all the same."""
    with only_time(Bounds(memory_mb=0)):
        working("judging", large=True)
    with pytest.raises(Enough, match="while judging"), only_time(Bounds(seconds=0)):
        working("judging", large=True)


def test_seconds_count_from_where_somebody_said() -> None:
    with count_from(time.monotonic() - 1e6):
        with under_limits(Bounds()) as limits:
            assert limits.elapsed() < 1e5, "a question without a bound of seconds does not ask"
        with under_limits(Bounds(seconds=1.0)) as limits:
            assert limits.elapsed() > 1e5
        with under_limits(Bounds(seconds=1.0)) as limits:
            assert limits.elapsed() < 1e5, "the first question took it"


@pytest.mark.deep
def test_a_violation_is_confirmed_though_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counterexample runs on CPython and reads the table of machine code, whatever the clock says."""

    def over(what: str) -> None:
        raise Enough(Stop(StopReason.SECONDS, f"the bound of 1 second, while {what}"))

    monkeypatch.setattr(watch, "SMALL", 1)
    monkeypatch.setattr(checking, "only_time", lambda _: watch.watched_by(over))
    for engine in ("native", "generated"):
        report = antiphon.check("sequencer", engine=engine, max_states=400)  # type: ignore[arg-type]
        assert report["UniformPrefixOrder"].outcome is Outcome.VIOLATED
        assert any("the bound of 1 second" in verdict.reason for verdict in report.verdicts)
