"""By default what needs seven certain steps is found, and a search that finds nothing says what it saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pytest

import antiphon
from antiphon.conformance.compare.bindings import BindingError, Effect, Stimulus
from antiphon.conformance.compare.stateful import run_stateful
from antiphon.model.bounds import StopReason
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Between, Const, Index, Map, Spec, Step, action, everywhere, program, require

KEYS = 4


class Key(Index, size="keys"):
    """A key."""


class Box(Index, size=1):
    """The box that is locked."""


class Lock(Spec):
    """Seven right keys in a row open it; a wrong one, and all begins anew. One step more errs, if it may."""

    keys: Const[int] = KEYS
    errs: Const[bool] = False
    right: Map[Box, Annotated[int, Between(0, 7)]] = everywhere(0)

    @action
    def press(self, b: Box, k: Key) -> None:
        """Press a key; the right one counts."""
        require(self.right[b] < 7 or self.errs)
        if k.index == (self.right[b] * 3) % self.keys:
            self.right[b] += 1
        else:
            self.right[b] = 0


class LockBinding:
    """The implementation counts; with a fault it forgets that at the end."""

    members, channel, links, exempt = 1, "", (), {}
    internal: frozenset[str] = frozenset()
    ordered, restores = False, 0

    def __init__(self, *, faulty: bool = False, errs: bool = False) -> None:
        self.program = program(Lock, errs=errs)
        self.faulty = faulty

    def start(self, me: int) -> Effect:
        """Start with a count of zero."""
        return Effect(0)

    def stimulus(self, step: Step) -> Stimulus:
        """Address each step to the one process."""
        return Stimulus(0)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Count a right key; begin again after a wrong one."""
        if step.arguments[1].index != (snapshot * 3) % KEYS or (self.faulty and snapshot == 6):
            return Effect(0)
        return Effect(snapshot + 1)

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """No shell drives it."""

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Offer no steps."""
        return frozenset()

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the count of right keys."""
        return {"right": snapshot}

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the share of the only process."""
        return shares[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_bug_of_seven_certain_steps_is_found_by_default(seed: int) -> None:
    report = antiphon.stateful(LockBinding(faulty=True), seed=seed)  # type: ignore[arg-type]
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert len(report.difference.trace) == 7


def test_what_was_met_is_counted_among_the_transitions_of_a_small_model() -> None:
    some, whole = (antiphon.stateful(LockBinding(), runs=runs) for runs in (2, 10))  # type: ignore[arg-type]
    assert some.transitions == whole.transitions == whole.met == 28
    assert 0 < some.met < 28
    assert some.share == f"took {some.met} of the 28 transitions of the bounded model"
    assert whole.share == "took all 28 transitions of the bounded model"
    assert whole.outcome is Outcome.HOLDS


def test_a_model_that_could_not_be_counted_is_not_called_large() -> None:
    """Here an error of the specification ends the count; 28 transitions are no more than 5,000 states."""
    report = run_stateful(LockBinding(errs=True), runs=2, steps=3)  # type: ignore[arg-type]
    assert report.outcome is Outcome.HOLDS
    assert report.share == f"took {report.met} different transitions"


@pytest.mark.deep
def test_a_model_of_more_states_is_called_large() -> None:
    report = antiphon.stateful("rbp", runs=1, steps=5)
    assert report.share.endswith("of a model of more than 5,000 states")


def test_a_broken_rule_of_bindings_that_does_not_come_again_is_not_lost() -> None:
    """Hypothesis takes the run again, calls it flaky, and says no more."""
    bound: Any = LockBinding()
    honest, left = bound.perform, [45]

    def perform(*given: Any) -> Any:
        left[0] -= 1
        return honest(*given) if left[0] else None

    bound.perform = perform
    with pytest.raises(BindingError, match="gives None, not an Effect"):
        run_stateful(bound, runs=4, steps=20)


def test_runs_that_have_no_time_say_so() -> None:
    report = antiphon.stateful(LockBinding(), max_seconds=0)  # type: ignore[arg-type]
    assert report.outcome is Outcome.UNKNOWN
    assert report.stopped is not None
    assert report.stopped.reason is StopReason.SECONDS


def test_an_error_of_the_specification_is_unknown() -> None:
    """In random runs and in lockstep."""
    bound: Any = LockBinding(errs=True)
    for report in (antiphon.stateful(bound), antiphon.lockstep(bound)):
        assert report.outcome is Outcome.UNKNOWN
        assert report.stopped is not None
        assert "leaves its domain" in str(report.stopped)
